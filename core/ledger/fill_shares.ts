/**
 * What others than the house get of a fill, after FILL was told: the payout account of each order's application what that order's add-on is
 * (add_ons.ts), and, while the operator shares revenue, a part of what the house earned.
 *
 *   net income   of the taker: its fee, less the rebate of the maker; of the maker: its fee. Never less than nothing, so the parts are
 *                never more than what the house earned.
 *   share        net income × REVENUE_SHARE_PPM / 10^6, truncated; of an application that takes part in the program
 */
import { WHOLE_PPM } from '../layout/builder.ts'
import { CreditSource } from '../layout/event.ts'
import { emitApplicationFee, emitCredit } from '../events/emit.ts'
import { R, touchAccount } from '../state/balances.ts'
import { ACCOUNT, APPLICATION, BALANCE, ORDER, SCALAR, TERMS, TOTAL } from '../state/columns.ts'
import { accountRow, applicationRow, balanceRow, gain, get, lose, scalar, termsRow, totalRow, touchBalance } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { hasAddOn } from './add_ons.ts'

const ALL = BigInt(WHOLE_PPM)

/** True when somebody else than the house may get something of a fill of these two. */
export const isShared = (state: State, taker: number, maker: number): boolean =>
  hasAddOn(state, taker) || hasAddOn(state, maker) || scalar(state, SCALAR.REVENUE_SHARE_PPM) !== 0

/** Of the fill that registers TAKER_FEE, MAKER_FEE, TAKER_ADD_ON and MAKER_ADD_ON describe. APPLICATION_FEE and CREDIT events. */
export function shareFill(state: State, taker: number, maker: number): void {
  payOut(state, taker, taker, R.TAKER_ADD_ON)
  payOut(state, maker, taker, R.MAKER_ADD_ON)
  if (scalar(state, SCALAR.REVENUE_SHARE_PPM) === 0) return
  const { registers } = state
  registers[R.AMOUNT] = registers[R.TAKER_FEE]!
  if (registers[R.MAKER_FEE]! < 0n) registers[R.AMOUNT] = registers[R.AMOUNT]! + registers[R.MAKER_FEE]!
  shareIncome(state, taker)
  registers[R.AMOUNT] = registers[R.MAKER_FEE]!
  shareIncome(state, maker)
}

/** Row of the application of the owner of the order at `row`. */
const applicationOf = (state: State, row: number): number =>
  applicationRow(state, get(state, accountRow(state, get(state, row, ORDER.ACCOUNT)), ACCOUNT.APPLICATION))

const quoteOf = (state: State, row: number): number => get(state, termsRow(state, get(state, row, ORDER.PAIR)), TERMS.QUOTE)

/** Register `addOn`, which the order at `row` was charged for the last fill of `taker`, to the payout account. */
function payOut(state: State, row: number, taker: number, addOn: number): void {
  const { registers } = state
  if (!hasAddOn(state, row) || registers[addOn]! === 0n) return
  registers[R.AMOUNT] = registers[addOn]!
  emitApplicationFee(state, row, get(state, taker, ORDER.TRADES) - 1, row !== taker, quoteOf(state, row))
  credit(state, get(state, applicationOf(state, row), APPLICATION.PAYOUT) - 1, quoteOf(state, row), CreditSource.APPLICATION_FEE)
}

/** A part of register AMOUNT, what the house earned of the order at `row`, to the payout account of its application. */
function shareIncome(state: State, row: number): void {
  const { registers } = state
  if (registers[R.AMOUNT]! <= 0n) return
  const application = applicationOf(state, row)
  if (get(state, application, APPLICATION.ENROLLED) === 0) return
  registers[R.AMOUNT] = registers[R.AMOUNT]! * BigInt(scalar(state, SCALAR.REVENUE_SHARE_PPM) | 0)
  registers[R.AMOUNT] = registers[R.AMOUNT]! / ALL
  if (registers[R.AMOUNT]! === 0n) return
  lose(state, totalRow(state, quoteOf(state, row)), TOTAL.FEES, R.AMOUNT)
  credit(state, get(state, application, APPLICATION.PAYOUT) - 1, quoteOf(state, row), CreditSource.REVENUE_SHARE)
}

/** Register AMOUNT to the balance of `account`; CREDIT says where from. */
function credit(state: State, account: number, asset: number, source: number): void {
  const balance = balanceRow(state, account, asset)
  gain(state, balance, BALANCE.AVAILABLE, R.AMOUNT)
  touchBalance(state, balance)
  touchAccount(state, account)
  emitCredit(state, account, asset, source)
}
