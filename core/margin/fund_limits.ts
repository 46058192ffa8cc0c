/**
 * How much the insurance fund covers, by market and by owner, in a day (UTC). A position beyond it is deleveraged at once; a debt beyond it
 * stays bad debt until a day whose allowance is not used up.
 *
 * **Cover** is what the fund gives away for a bankruptcy: of a take-over the lots × the distance of its price from the mark, if that is a
 * loss; of a deficit what it pays. Both have to stay within
 *
 *   market   FUND_SHARE of what the fund has committed (ALLOCATED), less what it covered on this perpetual today
 *   owner    FUND_ALLOWANCE, less what it covered today for the family of the bankrupt account, on all perpetuals
 *
 * and the notional of the position that the fund has of one perpetual, when a take-over enlarges it, within what is left of the market. So
 * one market never empties the fund: a long loses its notional at most, a short no more until the price has doubled. A share of 10^6 ppm is
 * the whole fund: then the market has no bound of its own. A deficit is of the pair of an isolated bucket; of a cross bucket it counts on
 * the first perpetual.
 *
 * The terms are those of the genesis, or what the operator set since (PerpSetting.FUND_COVER). Before the rules 5 nothing bounds the cover.
 *
 * Widest products: lots × (price - mark) × atoms of a tick and lot < 2^60; ALLOCATED is split at 10^6 before it meets a share.
 */
import { dayOf } from '../lib/day.ts'
import { R } from '../state/balances.ts'
import { ACCOUNT, FUND_OWNER, SCALAR, TERMS } from '../state/columns.ts'
import { PERP, PERP_TERMS, RISK_BUCKET } from '../state/margin_rows.ts'
import {
  accountRow, fundOwnerRow, gain, get, getF64, getI64, now, pairCount, perpRow, perpTermsRow, scalar, set, setI64, termsRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { markOf } from './figures.ts'
import { fundBucket } from './fund.ts'
import { notionalOf } from './tiers.ts'

const PPM = 1_000_000

const isBounded = (state: State): boolean => scalar(state, SCALAR.RULES) >= 5

/** Share of the fund that one day of the perpetual may cost, ppm. */
export const fundShare = (state: State, pair: number): number => {
  const set = get(state, perpRow(state, pair), PERP.FUND_SHARE)
  return set === 0 ? get(state, perpTermsRow(state, pair), PERP_TERMS.FUND_SHARE) : set - 1
}

/** What the fund covers for one owner on one day of the perpetual, atoms. */
export const fundAllowance = (state: State, pair: number): number => {
  const set = getF64(state, perpRow(state, pair), PERP.FUND_ALLOWANCE)
  return set === 0 ? getF64(state, perpTermsRow(state, pair), PERP_TERMS.FUND_ALLOWANCE) : set - 1
}

const ownerRow = (state: State, bucket: number): number =>
  fundOwnerRow(state, get(state, accountRow(state, get(state, bucket, RISK_BUCKET.ACCOUNT)), ACCOUNT.FAMILY))

/** The perpetual that a deficit of the bucket counts on. */
function marketOf(state: State, bucket: number): number {
  if (get(state, bucket, RISK_BUCKET.PAIR) >= 0) return get(state, bucket, RISK_BUCKET.PAIR)
  const count = pairCount(state)
  for (let pair = 0; pair < count; pair++) if (get(state, termsRow(state, pair), TERMS.PERP) !== 0) return pair
  return -1
}

/** Register M0 = what the market has left today, atoms; it may be below 0. Of a share that is less than the whole fund. */
function marketLeft(state: State, pair: number): void {
  const { registers } = state
  const share = BigInt(fundShare(state, pair) | 0)
  registers[R.M0] = getI64(state, fundBucket(state), RISK_BUCKET.ALLOCATED)
  if (registers[R.M0]! < 0n) registers[R.M0] = 0n
  registers[R.M1] = (registers[R.M0]! % 1_000_000n) * share
  registers[R.M0] = (registers[R.M0]! / 1_000_000n) * share + registers[R.M1]! / 1_000_000n
  const perp = perpRow(state, pair)
  if (get(state, perp, PERP.FUND_DAY) === dayOf(now(state))) registers[R.M0] = registers[R.M0]! - getI64(state, perp, PERP.FUND_PAID)
}

/** Holds register COVER, what the fund would pay for the bucket on `pair`, to what market and owner have left today; 0 at least. */
function boundCover(state: State, bucket: number, pair: number): void {
  const { registers } = state
  if (fundShare(state, pair) < PPM) {
    marketLeft(state, pair)
    if (registers[R.COVER]! > registers[R.M0]!) registers[R.COVER] = registers[R.M0]!
  }
  const owner = ownerRow(state, bucket)
  registers[R.M0] = BigInt(fundAllowance(state, pair))
  if (get(state, owner, FUND_OWNER.DAY) === dayOf(now(state))) registers[R.M0] = registers[R.M0]! - getI64(state, owner, FUND_OWNER.PAID)
  if (registers[R.COVER]! > registers[R.M0]!) registers[R.COVER] = registers[R.M0]!
  if (registers[R.COVER]! < 0n) registers[R.COVER] = 0n
}

/** Counts register COVER for today, on the market and for the owner of the bucket. */
function countCover(state: State, bucket: number, pair: number): void {
  if (state.registers[R.COVER] === 0n) return
  const day = dayOf(now(state))
  const perp = perpRow(state, pair)
  if (get(state, perp, PERP.FUND_DAY) !== day) setI64(state, perp, PERP.FUND_PAID, 0n)
  set(state, perp, PERP.FUND_DAY, day)
  gain(state, perp, PERP.FUND_PAID, R.COVER)
  const owner = ownerRow(state, bucket)
  if (get(state, owner, FUND_OWNER.DAY) !== day) setI64(state, owner, FUND_OWNER.PAID, 0n)
  set(state, owner, FUND_OWNER.DAY, day)
  gain(state, owner, FUND_OWNER.PAID, R.COVER)
}

/** Register AMOUNT, what the fund can pay for a bucket that owes register OWED, is held to what its market and owner have left today. */
export function boundDeficit(state: State, bucket: number): void {
  if (!isBounded(state)) return
  const { registers } = state
  registers[R.COVER] = registers[R.AMOUNT]!
  boundCover(state, bucket, marketOf(state, bucket))
  registers[R.AMOUNT] = registers[R.COVER]!
}

/** The fund paid register MOVED for the bucket. */
export function countDeficit(state: State, bucket: number): void {
  if (!isBounded(state)) return
  state.registers[R.COVER] = state.registers[R.MOVED]!
  countCover(state, bucket, marketOf(state, bucket))
}

/** Register COVER = what it costs the fund to take `lots` of `pair`, signed, at `price`; 0 at least. */
function coverOfTakeOver(state: State, pair: number, lots: number, price: number): void {
  const { registers } = state
  registers[R.COVER] = BigInt(lots | 0) * BigInt((price - markOf(state, pair)) | 0)
  registers[R.COVER] = registers[R.COVER]! * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
  if (registers[R.COVER]! < 0n) registers[R.COVER] = 0n
}

/** True when market and owner have enough left for the fund to take `lots` of the bucket at `price`, of which it has `after` then. */
export function mayTakeOver(state: State, bucket: number, pair: number, lots: number, after: number, price: number): boolean {
  if (!isBounded(state)) return true
  const { registers } = state
  coverOfTakeOver(state, pair, lots, price)
  registers[R.MOVED] = registers[R.COVER]!
  boundCover(state, bucket, pair)
  if (registers[R.COVER]! < registers[R.MOVED]!) return false
  if (fundShare(state, pair) === PPM || Math.abs(after) <= Math.abs(after - lots)) return true
  notionalOf(state, pair, after, markOf(state, pair))
  marketLeft(state, pair)
  return registers[R.NOTIONAL]! <= registers[R.M0]!
}

/** The fund took `lots` of the bucket at `price`. */
export function countTakeOver(state: State, bucket: number, pair: number, lots: number, price: number): void {
  if (!isBounded(state)) return
  coverOfTakeOver(state, pair, lots, price)
  countCover(state, bucket, pair)
}
