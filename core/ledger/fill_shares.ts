/**
 * What others than the house get of a fill, after FILL was told: the payout account of each order's application what that order's add-on is
 * (add_ons.ts); while the operator shares revenue a part of what the house earned; and of what the house has left of it the referrers of
 * whoever paid it their rewards (rewards.ts).
 *
 *   net income   of the taker: its fee, less the rebate of the maker; of the maker: its fee. Never less than nothing, so the parts are
 *                never more than what the house earned.
 *   share        net income × REVENUE_SHARE_PPM / 10^6, truncated; of an application that takes part in the program
 */
import { WHOLE_PPM } from '../lib/ppm.ts'
import { CreditSource } from '../layout/event.ts'
import { emitApplicationFee } from '../events/emit.ts'
import { R } from '../state/balances.ts'
import { ACCOUNT, APPLICATION, ORDER, SCALAR, TERMS, TOTAL } from '../state/columns.ts'
import { accountRow, applicationRow, get, lose, scalar, termsRow, totalRow } from '../state/rows.ts'
import { hasReferrals } from '../state/referral_links.ts'
import type { State } from '../state/state.ts'
import { hasAddOn } from './add_ons.ts'
import { credit } from './credit.ts'
import { rewardReferrers } from './rewards.ts'

const ALL = BigInt(WHOLE_PPM)

/** True when somebody else than the house may get something of a fill of these two. */
export const isShared = (state: State, taker: number, maker: number): boolean =>
  hasAddOn(state, taker) || hasAddOn(state, maker) || scalar(state, SCALAR.REVENUE_SHARE_PPM) !== 0 || hasReferrals(state)

/** Of the fill that registers TAKER_FEE, MAKER_FEE, TAKER_ADD_ON and MAKER_ADD_ON describe. Scratch: M0. */
export function shareFill(state: State, taker: number, maker: number): void {
  payOut(state, taker, taker, R.TAKER_ADD_ON)
  payOut(state, maker, taker, R.MAKER_ADD_ON)
  const { registers } = state
  registers[R.M0] = registers[R.TAKER_FEE]!
  if (registers[R.MAKER_FEE]! < 0n) registers[R.M0] = registers[R.M0]! + registers[R.MAKER_FEE]!
  shareIncome(state, taker, taker)
  registers[R.M0] = registers[R.MAKER_FEE]!
  shareIncome(state, maker, taker)
}

/** Gives away parts of register M0, what the house earned of the order at `row` with the last fill of `taker`. */
function shareIncome(state: State, row: number, taker: number): void {
  if (state.registers[R.M0]! <= 0n) return
  if (scalar(state, SCALAR.REVENUE_SHARE_PPM) !== 0) shareRevenue(state, row)
  if (hasReferrals(state)) rewardReferrers(state, row, taker, quoteOf(state, row))
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

/** A part of register M0 to the payout account of the application of the order at `row`; the register has the rest. */
function shareRevenue(state: State, row: number): void {
  const { registers } = state
  const application = applicationOf(state, row)
  if (get(state, application, APPLICATION.ENROLLED) === 0) return
  registers[R.AMOUNT] = registers[R.M0]! * BigInt(scalar(state, SCALAR.REVENUE_SHARE_PPM) | 0)
  registers[R.AMOUNT] = registers[R.AMOUNT]! / ALL
  if (registers[R.AMOUNT]! === 0n) return
  registers[R.M0] = registers[R.M0]! - registers[R.AMOUNT]!
  lose(state, totalRow(state, quoteOf(state, row)), TOTAL.FEES, R.AMOUNT)
  credit(state, get(state, application, APPLICATION.PAYOUT) - 1, quoteOf(state, row), CreditSource.REVENUE_SHARE)
}
