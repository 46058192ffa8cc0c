/**
 * Settlement of one fill: the fees of both orders, the four balance rows and the house's fee account.
 *
 * The taker pays from available (its order locks only what rests), at the rate of its account's tier; the maker pays from locked, at
 * the rate its order was placed with. So do both with what their applications add (add_ons.ts). The rows are those of whoever pays for
 * the orders, the rates those of their owners. Sum over the four rows and the fee account is zero in both assets (I1, I3), but for what
 * applications get (fill_shares.ts).
 *
 * What paid is looked at afterwards: an available, a locked or a hold below zero (I2) means that funds or hold were never checked, and
 * stops the process before anybody sees it. The sign of an i64 is that of its upper word.
 */
import { broken } from '../lib/assert.ts'
import { Flag } from '../layout/command.ts'
import { ACCOUNT, BALANCE, ORDER, TERMS, TOTAL } from '../state/columns.ts'
import {
  accountRow, balanceRow, gain, get, getF64, getI64, lose, signOf, totalRow, touchBalance,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { R, touchAccount } from '../state/balances.ts'
import { chargeAddOn } from './add_ons.ts'
import { chargeFill } from './fees.ts'
import { payerOf } from './holds.ts'
import { countFill } from './spending.ts'

const { AVAILABLE, LOCKED } = BALANCE

/**
 * Settles `lots` at `price` between the orders `taker` and `maker`. Registers QUOTE, BASE, TAKER_FEE and MAKER_FEE say afterwards what
 * moved, and, of orders with Flag.ADD_ON, TAKER_ADD_ON and MAKER_ADD_ON.
 */
export function settle(state: State, taker: number, maker: number, terms: number, sell: number, price: number, lots: number): void {
  const { registers } = state
  registers[R.QUOTE] = BigInt(price | 0) * BigInt(lots | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  registers[R.BASE] = BigInt(lots | 0) * getI64(state, terms, TERMS.LOT_ATOMS)
  const takes = get(state, taker, ORDER.ACCOUNT)
  const owner = get(state, maker, ORDER.ACCOUNT)
  const flags = get(state, taker, ORDER.FLAGS) | get(state, maker, ORDER.FLAGS)
  const funded = (flags & Flag.MASTER_FUNDED) !== 0
  const takerPays = funded ? payerOf(state, taker) : takes
  const makerPays = funded ? payerOf(state, maker) : owner
  const discount = get(state, accountRow(state, takes), ACCOUNT.TAKER_DISCOUNT)
  chargeFill(state, taker, get(state, terms, TERMS.TAKER_PPM) - discount, R.TAKER_FEE)
  chargeFill(state, maker, get(state, maker, ORDER.MAKER_PPM), R.MAKER_FEE)
  const quote = get(state, terms, TERMS.QUOTE)
  const base = get(state, terms, TERMS.BASE)
  const takerBase = balanceRow(state, takerPays, base)
  const takerQuote = balanceRow(state, takerPays, quote)
  const makerBase = balanceRow(state, makerPays, base)
  const makerQuote = balanceRow(state, makerPays, quote)
  // The buyer pays the value and gets the lots; each pays its own fee in quote.
  if (sell === 0) {
    lose(state, takerQuote, AVAILABLE, R.QUOTE)
    gain(state, takerBase, AVAILABLE, R.BASE)
    gain(state, makerQuote, AVAILABLE, R.QUOTE)
    lose(state, makerQuote, AVAILABLE, R.MAKER_FEE)
    lose(state, makerBase, LOCKED, R.BASE)
    lose(state, maker, ORDER.HOLD, R.BASE)
  } else {
    lose(state, takerBase, AVAILABLE, R.BASE)
    gain(state, takerQuote, AVAILABLE, R.QUOTE)
    gain(state, makerBase, AVAILABLE, R.BASE)
    lose(state, makerQuote, LOCKED, R.QUOTE)
    lose(state, maker, ORDER.HOLD, R.QUOTE)
    // A resting BUY pays a positive fee out of its hold; a rebate goes to its available.
    if (get(state, maker, ORDER.MAKER_PPM) > 0) {
      lose(state, makerQuote, LOCKED, R.MAKER_FEE)
      lose(state, maker, ORDER.HOLD, R.MAKER_FEE)
    } else lose(state, makerQuote, AVAILABLE, R.MAKER_FEE)
  }
  lose(state, takerQuote, AVAILABLE, R.TAKER_FEE)
  if ((flags & Flag.ADD_ON) !== 0) payAddOns(state, taker, maker, takerQuote, makerQuote, sell)
  const paid = sell === 0 ? takerQuote : takerBase
  const held = sell === 0 ? makerBase : makerQuote
  const signs = signOf(state, paid, AVAILABLE) | signOf(state, held, LOCKED) | signOf(state, maker, ORDER.HOLD)
  if ((signs | signOf(state, makerQuote, AVAILABLE)) < 0) stopOverdrawn(state, taker, maker)
  touchBalance(state, takerBase)
  touchBalance(state, takerQuote)
  touchBalance(state, makerBase)
  touchBalance(state, makerQuote)
  const house = totalRow(state, quote)
  gain(state, house, TOTAL.FEES, R.TAKER_FEE)
  gain(state, house, TOTAL.FEES, R.MAKER_FEE)
  if (funded) countFill(state, taker, maker)
  touchAccount(state, owner)
}

/** What the applications of both orders charge, out of the quote balances of whoever pays for them: TAKER_ADD_ON, MAKER_ADD_ON. */
function payAddOns(state: State, taker: number, maker: number, takerQuote: number, makerQuote: number, sell: number): void {
  chargeAddOn(state, taker, sell !== 0, R.TAKER_FEE, R.TAKER_ADD_ON)
  chargeAddOn(state, maker, sell === 0, R.MAKER_FEE, R.MAKER_ADD_ON)
  lose(state, takerQuote, AVAILABLE, R.TAKER_ADD_ON)
  if (sell === 0) lose(state, makerQuote, AVAILABLE, R.MAKER_ADD_ON)
  else {
    lose(state, makerQuote, LOCKED, R.MAKER_ADD_ON)
    lose(state, maker, ORDER.HOLD, R.MAKER_ADD_ON)
  }
}

/** Stops everything: a fill took more than its orders' payers had. Out of the way of {@link settle}, which is hot. */
function stopOverdrawn(state: State, taker: number, maker: number): never {
  const [took, gave] = [getF64(state, taker, ORDER.SEQUENCE), getF64(state, maker, ORDER.SEQUENCE)]
  broken('I2', `the fill between orders ${took} and ${gave} left a balance or a hold below zero`)
}
