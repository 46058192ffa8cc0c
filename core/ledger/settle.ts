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
import * as spending from './spending.ts'

// Local constants: the compiler folds them; an imported binding is read each time.
const ADDRESS = ADDRESS_BITS
const { HOLD, MAKER_PPM, ACCOUNT: OWNER, FLAGS } = ORDER
const { AVAILABLE, LOCKED, VERSION } = BALANCE
const { QUOTE, BASE, TAKER_FEE, MAKER_FEE } = R
const { TICK_LOT_ATOMS, LOT_ATOMS, TAKER_PPM, BASE: BASE_ASSET, QUOTE: QUOTE_ASSET } = TERMS
const ROW = BALANCE_WORDS
const ACCOUNT_ROW = ACCOUNT_WORDS
const { VERSION: ACCOUNT_VERSION, TAKER_DISCOUNT } = ACCOUNT
const TOTAL_ROW = TOTAL_WORDS
const { FEES } = TOTAL
const charge = chargeFill
const { MASTER_FUNDED } = Flag
const { countFill, payerOf } = spending
const overdrawn = stopOverdrawn

/**
 * Settles `lots` at `price` between the orders at rows `taker` and `maker`. Registers QUOTE, BASE, TAKER_FEE and MAKER_FEE say
 * afterwards what moved.
 */
export function settle(state: State, taker: number, maker: number, terms: number, sell: number, price: number, lots: number): void {
  taker &= ADDRESS
  maker &= ADDRESS
  terms &= ADDRESS
  const { i32, i64 } = state
  i64[QUOTE] = BigInt(price | 0) * BigInt(lots | 0) * i64[(terms + TICK_LOT_ATOMS) >>> 1]!
  i64[BASE] = BigInt(lots | 0) * i64[(terms + LOT_ATOMS) >>> 1]!
  const takes = i32[taker + OWNER]!
  const owner = i32[maker + OWNER]!
  const funded = ((i32[taker + FLAGS]! | i32[maker + FLAGS]!) & MASTER_FUNDED) !== 0
  const takerPays = funded ? payerOf(state, taker) : takes
  const makerPays = funded ? payerOf(state, maker) : owner
  const discount = i32[(state.accountsAt + takes * ACCOUNT_ROW + TAKER_DISCOUNT) & ADDRESS]!
  charge(state, taker, i32[terms + TAKER_PPM]! - discount, TAKER_FEE)
  charge(state, maker, i32[maker + MAKER_PPM]!, MAKER_FEE)
  const quote = i32[terms + QUOTE_ASSET]!
  const base = i32[terms + BASE_ASSET]!
  const takerRow = (state.balancesAt + Math.imul(takerPays, state.balanceStride)) & ADDRESS
  const makerRow = (state.balancesAt + Math.imul(makerPays, state.balanceStride)) & ADDRESS
  const takerBase = (takerRow + base * ROW) & ADDRESS
  const takerQuote = (takerRow + quote * ROW) & ADDRESS
  const makerBase = (makerRow + base * ROW) & ADDRESS
  const makerQuote = (makerRow + quote * ROW) & ADDRESS
  const hold = (maker + HOLD) >>> 1
  if (sell === 0) {
    i64[hold] = i64[hold]! - i64[BASE]!
    i64[takerQuote + AVAILABLE] = i64[takerQuote + AVAILABLE]! - i64[QUOTE]! - i64[TAKER_FEE]!
    i64[takerBase + AVAILABLE] = i64[takerBase + AVAILABLE]! + i64[BASE]!
    i64[makerQuote + AVAILABLE] = i64[makerQuote + AVAILABLE]! + i64[QUOTE]! - i64[MAKER_FEE]!
    i64[makerBase + LOCKED] = i64[makerBase + LOCKED]! - i64[BASE]!
  } else {
    i64[takerBase + AVAILABLE] = i64[takerBase + AVAILABLE]! - i64[BASE]!
    i64[takerQuote + AVAILABLE] = i64[takerQuote + AVAILABLE]! + i64[QUOTE]! - i64[TAKER_FEE]!
    i64[makerBase + AVAILABLE] = i64[makerBase + AVAILABLE]! + i64[BASE]!
    // A resting BUY pays value and a positive fee out of its hold; a rebate goes to its available.
    if (i32[maker + MAKER_PPM]! > 0) {
      i64[hold] = i64[hold]! - i64[QUOTE]! - i64[MAKER_FEE]!
      i64[makerQuote + LOCKED] = i64[makerQuote + LOCKED]! - i64[QUOTE]! - i64[MAKER_FEE]!
    } else {
      i64[hold] = i64[hold]! - i64[QUOTE]!
      i64[makerQuote + LOCKED] = i64[makerQuote + LOCKED]! - i64[QUOTE]!
      i64[makerQuote + AVAILABLE] = i64[makerQuote + AVAILABLE]! - i64[MAKER_FEE]!
    }
  }
  const paid = sell === 0 ? takerQuote : takerBase
  const held = sell === 0 ? makerBase : makerQuote
  const signs = i32[(paid + AVAILABLE) * 2 + 1]! | i32[(held + LOCKED) * 2 + 1]! | i32[maker + HOLD + 1]!
  if ((signs | i32[(makerQuote + AVAILABLE) * 2 + 1]!) < 0) overdrawn(state, taker, maker)
  i64[takerBase + VERSION] = i64[takerBase + VERSION]! + 1n
  i64[takerQuote + VERSION] = i64[takerQuote + VERSION]! + 1n
  i64[makerBase + VERSION] = i64[makerBase + VERSION]! + 1n
  i64[makerQuote + VERSION] = i64[makerQuote + VERSION]! + 1n
  const fees = (state.totalsAt + quote * TOTAL_ROW + FEES) & ADDRESS
  i64[fees] = i64[fees]! + i64[TAKER_FEE]! + i64[MAKER_FEE]!
  if (funded) countFill(state, taker, maker)
  i32[(state.accountsAt + owner * ACCOUNT_ROW + ACCOUNT_VERSION) & ADDRESS]!++
}

/** Stops everything: a fill took more than its orders' payers had. Out of the way of {@link settle}, which is hot. */
function stopOverdrawn({ f64 }: State, taker: number, maker: number): never {
  const [took, gave] = [f64[(taker + ORDER.SEQUENCE) >>> 1], f64[(maker + ORDER.SEQUENCE) >>> 1]]
  broken('I2', `the fill between orders ${took} and ${gave} left a balance or a hold below zero`)
}
