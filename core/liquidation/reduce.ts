/**
 * Reducing a position of a bucket in liquidation through the book: an order of its account, IOC and reduce-only, that comes in where every
 * other order does (orders/place.ts). Its origin is LIQUIDATION; it is answered to nobody, and its RESULT and FILL events tell of it.
 *
 * **Which price.** Not worse than the mark moved by its band, so that one thin side of the book is not swept; and not worse than what
 * leaves the bucket with equity after the fee (bankruptcy.ts).
 * **How many lots.** Down to the tier below, so that less margin is needed for each that is left, but a fifth at least; in the first tier
 * all. No more than one order may have.
 * **Own orders.** One of the same account in another bucket that stands in the way ends (CANCEL_BOTH), and the rest is asked for once more;
 * at most {@link TRIES_MAX} times, so that nobody holds up his liquidation with orders of his own.
 * **How many orders of the book.** As many as the command may meet (note LOOKS), by all its orders together.
 *
 * Widest product: notional of the position < 2^60 (margin/tiers.ts); mark × atoms of a tick and lot < 2^36; the value of what is asked, and
 * so of what is filled, < 2^49 (MAX_NOTIONAL). In doubles: mark × band in ppm < 2^49.
 */
import { ORDER_ANSWER } from '../layout/answers.ts'
import { Flag, Origin } from '../layout/command.ts'
import { Reason } from '../layout/event.ts'
import { N, R } from '../state/balances.ts'
import { ACCOUNT, TERMS } from '../state/columns.ts'
import { PERP_TERMS, POSITION, TIER } from '../state/margin_rows.ts'
import { accountRow, get, getI64, noted, perpTermsRow, termsRow, tierRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { bestOpposite, crosses } from '../book/match.ts'
import { markOf } from '../margin/figures.ts'
import { notionalOf, tierOf } from '../margin/tiers.ts'
import { mostLots } from '../orders/most_lots.ts'
import { closingFlags, namePosition, ownRecord, writeOwnOrder } from '../orders/own_record.ts'
import { enterOrder } from '../orders/place.ts'
import { worstTick } from './bankruptcy.ts'

const MILLION = 1_000_000
/** Orders of one command. */
export const TRIES_MAX = 8

/** Lots by which the open position is to be reduced next. */
export function lotsToReduce(state: State, position: number): number {
  const { registers } = state
  const pair = get(state, position, POSITION.PAIR)
  const size = Math.abs(get(state, position, POSITION.LOTS))
  const mark = markOf(state, pair)
  notionalOf(state, pair, size, mark)
  const tier = tierOf(state, pair)
  if (tier === 0) return size
  const atoms = getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
  registers[R.M0] = (getI64(state, tierRow(state, pair, tier), TIER.LOWER_BOUND) - 1n) / (BigInt(mark | 0) * atoms)
  return Math.max(size - Number(registers[R.M0]!), Math.ceil(size / 5))
}

/** The mark moved by `ppm` against a side that sells or buys, ticks. */
export function movedMark(state: State, pair: number, sells: boolean, ppm: number): number {
  const mark = markOf(state, pair)
  const band = Math.floor((mark * ppm) / MILLION)
  return sells ? Math.max(1, mark - band) : Math.min(state.priceTicks - 1, mark + band)
}

/** The worst price at which the open position may be reduced while its bucket is in liquidation. Register EQUITY is that of the bucket. */
export function liquidationTick(state: State, position: number): number {
  const pair = get(state, position, POSITION.PAIR)
  const discount = get(state, accountRow(state, get(state, position, POSITION.ACCOUNT)), ACCOUNT.TAKER_DISCOUNT)
  const ppm = Math.max(0, get(state, termsRow(state, pair), TERMS.TAKER_PPM) - discount)
  const worst = worstTick(state, position, ppm)
  const sells = get(state, position, POSITION.LOTS) > 0
  const band = movedMark(state, pair, sells, get(state, perpTermsRow(state, pair), PERP_TERMS.MARK_BAND_PPM))
  return sells ? Math.max(worst, band) : Math.min(worst, band)
}

/** True when the book has an order at `limit` or better for who reduces the position. */
export function meetsBook(state: State, position: number, limit: number): boolean {
  const sell = get(state, position, POSITION.LOTS) > 0 ? Flag.SELL : 0
  return crosses(sell, limit, bestOpposite(state, get(state, position, POSITION.PAIR), sell))
}

/**
 * Reduces the open position by `lots` at most, at `limit` or better. The lots that were filled; their value is in register QUOTE. The row
 * of the position may be free afterwards.
 */
export function reduce(state: State, position: number, lots: number, limit: number): number {
  const { registers } = state
  const pair = get(state, position, POSITION.PAIR)
  const sell = get(state, position, POSITION.LOTS) > 0 ? Flag.SELL : 0
  let left = Math.min(lots, mostLots(state, pair, sell !== 0, limit))
  const wanted = left
  registers[R.LIQUIDATION_FEE] = 0n
  for (let tries = 0; left > 0 && tries < TRIES_MAX && noted(state, N.LOOKS) > 0; tries++) {
    if (!crosses(sell, limit, bestOpposite(state, pair, sell))) break
    const flags = writeOrder(state, position, sell, left, limit)
    const { outbox } = state
    const account = get(state, position, POSITION.ACCOUNT)
    const result = enterOrder(state, ownRecord, 0, account, -1, flags)
    if (result < 0) break
    left -= outbox.i32[result + ORDER_ANSWER.at.lots]! - outbox.i32[result + ORDER_ANSWER.at.remaining]!
    registers[R.LIQUIDATION_FEE] = registers[R.LIQUIDATION_FEE]! + outbox.i64[(result + ORDER_ANSWER.at.filledQuote) >>> 1]!
    if (outbox.i32[result + ORDER_ANSWER.at.outcome]! >>> 8 !== Reason.SELF_TRADE_PREVENTION) break
  }
  registers[R.QUOTE] = registers[R.LIQUIDATION_FEE]!
  return wanted - left
}

function writeOrder(state: State, position: number, sell: number, lots: number, limit: number): number {
  const flags = closingFlags(state, position, sell, Origin.LIQUIDATION) | Flag.IOC | Flag.CANCEL_BOTH
  writeOwnOrder(get(state, position, POSITION.PAIR), flags, limit, lots)
  namePosition(state, position)
  return flags
}
