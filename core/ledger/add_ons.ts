/**
 * Add-ons: what an application charges for the fills of its users' orders, on top of the fee of the house (specification, Builder fee).
 *
 *   rates     An order has those of its application from when it was placed, the taker's for what it fills on arrival, the maker's for what
 *             it fills at rest: a change of them reaches the orders behind it. An order of an application that adds nothing has no
 *             Flag.ADD_ON, and nothing here is asked. A liquidation is no order of the user's, and has none.
 *   amount    One rounding per order, downward: the sum of quote atoms × ppm over its fills / 10^6, less what it was charged before. A spot
 *             SELL pays out of what it gets: never more than a fill leaves after the fee of the house; what is cut comes with a later fill.
 *   payer     Whoever pays for the order: a resting BUY out of its hold, everything else out of available; on a perpetual the bucket.
 *   payee     The balance of the payout account of the application.
 *
 * The fee of the house is what it would be without.
 *
 * Range: a rate is at most 10,000 ppm (BUILDER_CAP_MOST_BPS), so sums stay below 2^63 as those of fees do.
 */
import { PPM_OF_BPS } from '../layout/builder.ts'
import { Flag, Origin, originOf } from '../layout/flags.ts'
import { APPLICATION, ACCOUNT, ADD_ON, ORDER, SCALAR } from '../state/columns.ts'
import { R } from '../state/balances.ts'
import { accountRow, addOnRow, applicationRow, get, getI64, scalar, set, setI64, setScalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const PPM = 1_000_000n

/** Row of the application that adds to an order of `account` placed now; -1: nobody does. */
function adding(state: State, account: number, flags: number): number {
  if (scalar(state, SCALAR.BUILDER_FEES) === 0 || originOf(flags) === Origin.LIQUIDATION) return -1
  const application = applicationRow(state, get(state, accountRow(state, account), ACCOUNT.APPLICATION))
  return get(state, application, APPLICATION.ENROLLED) === 0 ? -1 : application
}

/** What the application at `row` adds, ppm: for a taker, or for a maker. */
function ppmOf(state: State, row: number, maker: boolean): number {
  const bps = get(state, row, maker ? APPLICATION.BUILDER_MAKER_BPS : APPLICATION.BUILDER_BPS)
  const cap = scalar(state, SCALAR.BUILDER_CAP_BPS)
  return (bps < cap ? bps : cap) * PPM_OF_BPS
}

/** What the application of `account` adds for an order placed now, ppm: for a taker, or for a maker. */
export function addOnOf(state: State, account: number, flags: number, maker: boolean): number {
  const application = adding(state, account, flags)
  return application < 0 ? 0 : ppmOf(state, application, maker)
}

/** The most that it adds for an order placed now, ppm: for a maker, and, when the order `meets` another, for a taker. */
export function largestAddOn(state: State, account: number, flags: number, meets: boolean): number {
  const application = adding(state, account, flags)
  if (application < 0) return 0
  const maker = ppmOf(state, application, true)
  const taker = meets ? ppmOf(state, application, false) : 0
  return taker > maker ? taker : maker
}

/** The most that orders of `account` at rest may add, ppm: what its application ever asked of makers. */
export const mostAddOn = (state: State, account: number): number =>
  get(state, applicationRow(state, get(state, accountRow(state, account), ACCOUNT.APPLICATION)), APPLICATION.MOST_MAKER_BPS) * PPM_OF_BPS

/** Gives the order at `row`, which was just written, the rates of its application. */
export function giveAddOn(state: State, row: number): void {
  const account = get(state, row, ORDER.ACCOUNT)
  const flags = get(state, row, ORDER.FLAGS)
  const application = adding(state, account, flags)
  if (application < 0) return
  const taker = ppmOf(state, application, false)
  const maker = ppmOf(state, application, true)
  if ((taker | maker) === 0) return
  const slot = get(state, row, ORDER.SLOT)
  if (slot >= scalar(state, SCALAR.ADD_ONS_USED)) setScalar(state, SCALAR.ADD_ONS_USED, slot + 1)
  const own = addOnRow(state, slot)
  setI64(state, own, ADD_ON.NUMERATOR, 0n)
  setI64(state, own, ADD_ON.CHARGED, 0n)
  set(state, own, ADD_ON.TAKER_PPM, taker)
  set(state, own, ADD_ON.MAKER_PPM, maker)
  set(state, row, ORDER.FLAGS, flags | Flag.ADD_ON)
}

/** True when the order at `row` has an add-on. */
export const hasAddOn = (state: State, row: number): boolean => (get(state, row, ORDER.FLAGS) & Flag.ADD_ON) !== 0

/** The rate of the next fill of the order at `row`, which has Flag.ADD_ON, ppm. */
function rateOf(state: State, row: number): number {
  const own = addOnRow(state, get(state, row, ORDER.SLOT))
  return get(state, own, (get(state, row, ORDER.FLAGS) & Flag.RESTING) !== 0 ? ADD_ON.MAKER_PPM : ADD_ON.TAKER_PPM)
}

/** Register ADD_ON = what a fill of register QUOTE adds to the order at `row`; 0 without Flag.ADD_ON. Nothing is changed but AMOUNT. */
export function addOnOfFill(state: State, row: number): void {
  const { registers } = state
  registers[R.ADD_ON] = 0n
  if (!hasAddOn(state, row)) return
  const own = addOnRow(state, get(state, row, ORDER.SLOT))
  registers[R.AMOUNT] = getI64(state, own, ADD_ON.NUMERATOR) + registers[R.QUOTE]! * BigInt(rateOf(state, row) | 0)
  registers[R.ADD_ON] = registers[R.AMOUNT]! / PPM - getI64(state, own, ADD_ON.CHARGED)
}

/**
 * Charges register QUOTE to the order at `row`: register `to` = what this fill adds, 0 without Flag.ADD_ON. Of one that `sells` spot it is
 * at most QUOTE less the fee in register `fee`.
 */
export function chargeAddOn(state: State, row: number, sells: boolean, fee: number, to: number): void {
  const { registers } = state
  addOnOfFill(state, row)
  registers[to] = registers[R.ADD_ON]!
  if (!hasAddOn(state, row)) return
  const own = addOnRow(state, get(state, row, ORDER.SLOT))
  setI64(state, own, ADD_ON.NUMERATOR, registers[R.AMOUNT]!)
  if (sells) {
    registers[R.AMOUNT] = registers[R.QUOTE]! - registers[fee]!
    if (registers[to]! > registers[R.AMOUNT]!) registers[to] = registers[R.AMOUNT]!
  }
  setI64(state, own, ADD_ON.CHARGED, getI64(state, own, ADD_ON.CHARGED) + registers[to]!)
}

/** Register ADD_ON = what may still be added to the order at `row`, a BUY at rest whose lots are worth register HOLD. Scratch: AMOUNT. */
export function addOnOfHold(state: State, row: number): void {
  const { registers } = state
  registers[R.ADD_ON] = 0n
  if (!hasAddOn(state, row)) return
  const own = addOnRow(state, get(state, row, ORDER.SLOT))
  registers[R.AMOUNT] = getI64(state, own, ADD_ON.NUMERATOR) + registers[R.HOLD]! * BigInt(get(state, own, ADD_ON.MAKER_PPM) | 0)
  registers[R.ADD_ON] = registers[R.AMOUNT]! / PPM - getI64(state, own, ADD_ON.CHARGED)
}

/** Adds to register REQUIRED the most that `ppm` adds to an order that is worth register COST. */
export function requireAddOn(state: State, ppm: number): void {
  if (ppm === 0) return
  const { registers } = state
  registers[R.AMOUNT] = registers[R.COST]! * BigInt(ppm | 0)
  registers[R.REQUIRED] = registers[R.REQUIRED]! + registers[R.AMOUNT]! / PPM
}
