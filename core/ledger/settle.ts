/**
 * Settlement of one fill: the fees of both orders, the four balance rows and the house's fee account.
 *
 * The taker pays from available (its order locks only what rests), at the rate of its account's tier; the maker pays from locked, at
 * the rate its order was placed with. The rows are those of whoever pays for the orders, the rates those of their owners. Sum over the
 * four rows and the fee account is zero in both assets (I1, I3).
 *
 * What paid is looked at afterwards: an available, a locked or a hold below zero (I2) means that funds or hold were never checked, and
 * stops the process before anybody sees it. The sign of an i64 is that of its upper word.
 */
import { Flag } from '../layout/command.ts'
import { broken } from '../lib/assert.ts'
import { ACCOUNT, ACCOUNT_WORDS, ADDRESS_BITS, BALANCE, BALANCE_WORDS, ORDER, TERMS, TOTAL, TOTAL_WORDS } from '../state/columns.ts'
import type { State } from '../state/state.ts'
import { R } from '../state/balances.ts'
import { chargeFill } from './fees.ts'
import { countFill, payerOf } from './spending.ts'

/**
 * Settles `lots` at `price` between the orders at rows `taker` and `maker`. Registers QUOTE, BASE, TAKER_FEE and MAKER_FEE say
 * afterwards what moved.
 */
export function settle(state: State, taker: number, maker: number, terms: number, sell: number, price: number, lots: number): void {
  taker &= ADDRESS_BITS
  maker &= ADDRESS_BITS
  terms &= ADDRESS_BITS
  const { i32, i64 } = state
  i64[R.QUOTE] = BigInt(price | 0) * BigInt(lots | 0) * i64[(terms + TERMS.TICK_LOT_ATOMS) >>> 1]!
  i64[R.BASE] = BigInt(lots | 0) * i64[(terms + TERMS.LOT_ATOMS) >>> 1]!
  const takes = i32[taker + ORDER.ACCOUNT]!
  const owner = i32[maker + ORDER.ACCOUNT]!
  const funded = ((i32[taker + ORDER.FLAGS]! | i32[maker + ORDER.FLAGS]!) & Flag.MASTER_FUNDED) !== 0
  const takerPays = funded ? payerOf(state, taker) : takes
  const makerPays = funded ? payerOf(state, maker) : owner
  const discount = i32[(state.accountsAt + takes * ACCOUNT_WORDS + ACCOUNT.TAKER_DISCOUNT) & ADDRESS_BITS]!
  chargeFill(state, taker, i32[terms + TERMS.TAKER_PPM]! - discount, R.TAKER_FEE)
  chargeFill(state, maker, i32[maker + ORDER.MAKER_PPM]!, R.MAKER_FEE)
  const quote = i32[terms + TERMS.QUOTE]!
  const base = i32[terms + TERMS.BASE]!
  const takerRow = (state.balancesAt + Math.imul(takerPays, state.balanceStride)) & ADDRESS_BITS
  const makerRow = (state.balancesAt + Math.imul(makerPays, state.balanceStride)) & ADDRESS_BITS
  const takerBase = (takerRow + base * BALANCE_WORDS) & ADDRESS_BITS
  const takerQuote = (takerRow + quote * BALANCE_WORDS) & ADDRESS_BITS
  const makerBase = (makerRow + base * BALANCE_WORDS) & ADDRESS_BITS
  const makerQuote = (makerRow + quote * BALANCE_WORDS) & ADDRESS_BITS
  const hold = (maker + ORDER.HOLD) >>> 1
  if (sell === 0) {
    i64[hold] = i64[hold]! - i64[R.BASE]!
    i64[takerQuote + BALANCE.AVAILABLE] = i64[takerQuote + BALANCE.AVAILABLE]! - i64[R.QUOTE]! - i64[R.TAKER_FEE]!
    i64[takerBase + BALANCE.AVAILABLE] = i64[takerBase + BALANCE.AVAILABLE]! + i64[R.BASE]!
    i64[makerQuote + BALANCE.AVAILABLE] = i64[makerQuote + BALANCE.AVAILABLE]! + i64[R.QUOTE]! - i64[R.MAKER_FEE]!
    i64[makerBase + BALANCE.LOCKED] = i64[makerBase + BALANCE.LOCKED]! - i64[R.BASE]!
  } else {
    i64[takerBase + BALANCE.AVAILABLE] = i64[takerBase + BALANCE.AVAILABLE]! - i64[R.BASE]!
    i64[takerQuote + BALANCE.AVAILABLE] = i64[takerQuote + BALANCE.AVAILABLE]! + i64[R.QUOTE]! - i64[R.TAKER_FEE]!
    i64[makerBase + BALANCE.AVAILABLE] = i64[makerBase + BALANCE.AVAILABLE]! + i64[R.BASE]!
    // A resting BUY pays value and a positive fee out of its hold; a rebate goes to its available.
    if (i32[maker + ORDER.MAKER_PPM]! > 0) {
      i64[hold] = i64[hold]! - i64[R.QUOTE]! - i64[R.MAKER_FEE]!
      i64[makerQuote + BALANCE.LOCKED] = i64[makerQuote + BALANCE.LOCKED]! - i64[R.QUOTE]! - i64[R.MAKER_FEE]!
    } else {
      i64[hold] = i64[hold]! - i64[R.QUOTE]!
      i64[makerQuote + BALANCE.LOCKED] = i64[makerQuote + BALANCE.LOCKED]! - i64[R.QUOTE]!
      i64[makerQuote + BALANCE.AVAILABLE] = i64[makerQuote + BALANCE.AVAILABLE]! - i64[R.MAKER_FEE]!
    }
  }
  const paid = sell === 0 ? takerQuote : takerBase
  const held = sell === 0 ? makerBase : makerQuote
  const signs = i32[(paid + BALANCE.AVAILABLE) * 2 + 1]! | i32[(held + BALANCE.LOCKED) * 2 + 1]! | i32[maker + ORDER.HOLD + 1]!
  if ((signs | i32[(makerQuote + BALANCE.AVAILABLE) * 2 + 1]!) < 0) stopOverdrawn(state, taker, maker)
  i64[takerBase + BALANCE.VERSION] = i64[takerBase + BALANCE.VERSION]! + 1n
  i64[takerQuote + BALANCE.VERSION] = i64[takerQuote + BALANCE.VERSION]! + 1n
  i64[makerBase + BALANCE.VERSION] = i64[makerBase + BALANCE.VERSION]! + 1n
  i64[makerQuote + BALANCE.VERSION] = i64[makerQuote + BALANCE.VERSION]! + 1n
  const fees = (state.totalsAt + quote * TOTAL_WORDS + TOTAL.FEES) & ADDRESS_BITS
  i64[fees] = i64[fees]! + i64[R.TAKER_FEE]! + i64[R.MAKER_FEE]!
  if (funded) countFill(state, taker, maker)
  i32[(state.accountsAt + owner * ACCOUNT_WORDS + ACCOUNT.VERSION) & ADDRESS_BITS]!++
}

/** Stops everything: a fill took more than its orders' payers had. Out of the way of {@link settle}, which is hot. */
function stopOverdrawn({ f64 }: State, taker: number, maker: number): never {
  const [took, gave] = [f64[(taker + ORDER.SEQUENCE) >>> 1], f64[(maker + ORDER.SEQUENCE) >>> 1]]
  broken('I2', `the fill between orders ${took} and ${gave} left a balance or a hold below zero`)
}
