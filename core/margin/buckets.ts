/**
 * Margin accounts and risk buckets as rows: finding, making, reusing and settling them (state/margin_rows.ts says what they are).
 *
 * - The parent of an account is made on first use. Sub-accounts stand behind it in the account's list.
 * - The buckets of a margin account are a list, newest first, of at most `limits.bucketsPerMarginAccount`: finding one walks it, and is
 *   bounded by that.
 * - A bucket that was closed stays in the list, so that it can be read. The same (mode, pair, strategy key) gets it again, with its id;
 *   it is ACTIVE again as soon as it has collateral or a position row. When no row is left for another bucket, the one that was closed
 *   longest ago becomes that, with another id.
 * - Rows are shared out among families (state/shares.ts).
 *
 * Margin accounts, buckets and positions are named by the addresses of their rows; -1: there is none.
 */
import { CollateralReason } from '../layout/margin_events.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { emitCollateral } from '../events/margin.ts'
import { assert } from '../lib/assert.ts'
import { R, touchAccount } from '../state/balances.ts'
import { ACCOUNT, PROFILE, SCALAR } from '../state/columns.ts'
import {
  BucketState, MARGIN_ACCOUNT, MARGIN_ACCOUNT_WORDS, MarginAccountKind, MarginMode, RISK_BUCKET, RISK_BUCKET_WORDS,
} from '../state/margin_rows.ts'
import {
  accountRow, add, addF64, addScalar, bucketAt, bucketRow, clearWords, gain, get, getF64, getI64, isZero, lose, marginAccountAt,
  marginAccountRow, now, profileRow, scalar, sequence, set, setF64, setI64, setScalar,
} from '../state/rows.ts'
import { countForFamily, familyMayTake, familyRow, mayTake } from '../state/shares.ts'
import type { State } from '../state/state.ts'
import { delistBucket } from './liquidation_list.ts'

const { FAMILY_BUCKETS, PARENT_MARGIN, MARGIN_ACCOUNTS } = ACCOUNT

/** The parent margin account of `account`, or -1. */
export function parentOf(state: State, account: number): number {
  const parent = get(state, accountRow(state, account), PARENT_MARGIN)
  return parent === 0 ? -1 : marginAccountRow(state, parent - 1)
}

/**
 * The open margin account of `account` that a command names: `margin` is the row, and the sequence that made it `createdSequence`. -1 for
 * `margin` is the parent, whatever the sequence. -1: there is none; the parent may be one that is not made yet.
 */
export function findMarginAccount(state: State, account: number, margin: number, createdSequence: number): number {
  if (margin < 0) return parentOf(state, account)
  if (margin >= scalar(state, SCALAR.MARGIN_ACCOUNTS_USED)) return -1
  const row = marginAccountRow(state, margin)
  const named = get(state, row, MARGIN_ACCOUNT.OPEN) !== 0 && get(state, row, MARGIN_ACCOUNT.ACCOUNT) === account &&
    getF64(state, row, MARGIN_ACCOUNT.CREATED_SEQUENCE) === createdSequence
  return named ? row : -1
}

/** True when a row is left for one more margin account. */
export const roomForMarginAccount = (state: State): boolean =>
  scalar(state, SCALAR.MARGIN_ACCOUNTS_LIVE) < state.genesis.limits.marginAccounts

/** Margin accounts of the family of `account`, parents included. Walks at most `subAccountsPerMaster` accounts. */
export function marginAccountsOfFamily(state: State, account: number): number {
  const master = get(state, accountRow(state, account), ACCOUNT.FAMILY)
  let held = get(state, accountRow(state, master), MARGIN_ACCOUNTS)
  let next = get(state, profileRow(state, master), PROFILE.FIRST_SUB)
  while (next !== 0) {
    held += get(state, accountRow(state, next - 1), MARGIN_ACCOUNTS)
    next = get(state, profileRow(state, next - 1), PROFILE.NEXT_SUB)
  }
  return held
}

/**
 * Why the parent of `account` may not be made: OVERLOADED: no row is left for anybody; TOO_MANY_MARGIN_ACCOUNTS: its family has its share
 * of them (state/shares.ts). 0: it may.
 */
export function mayMakeParent(state: State, account: number): number {
  if (!roomForMarginAccount(state)) return REFUSALS.OVERLOADED.number
  const { marginAccounts } = state.genesis.limits
  const free = marginAccounts - scalar(state, SCALAR.MARGIN_ACCOUNTS_LIVE)
  return mayTake(marginAccountsOfFamily(state, account), marginAccounts, free) ? 0 : REFUSALS.TOO_MANY_MARGIN_ACCOUNTS.number
}

/** A new margin account of `account`, behind its parent if it has one. The caller looked for room. */
export function makeMarginAccount(state: State, account: number, kind: number): number {
  const free = scalar(state, SCALAR.MARGIN_ACCOUNTS_FREE)
  const number = free === 0 ? scalar(state, SCALAR.MARGIN_ACCOUNTS_USED) : free - 1
  const row = marginAccountRow(state, number)
  if (free === 0) addScalar(state, SCALAR.MARGIN_ACCOUNTS_USED, 1)
  else setScalar(state, SCALAR.MARGIN_ACCOUNTS_FREE, get(state, row, MARGIN_ACCOUNT.NEXT))
  addScalar(state, SCALAR.MARGIN_ACCOUNTS_LIVE, 1)
  const version = getF64(state, row, MARGIN_ACCOUNT.VERSION)
  clearWords(state, row, 0, MARGIN_ACCOUNT_WORDS)
  set(state, row, MARGIN_ACCOUNT.ACCOUNT, account)
  set(state, row, MARGIN_ACCOUNT.KIND, kind)
  set(state, row, MARGIN_ACCOUNT.OPEN, 1)
  setF64(state, row, MARGIN_ACCOUNT.CREATED_SEQUENCE, sequence(state))
  setF64(state, row, MARGIN_ACCOUNT.CREATED_AT, now(state))
  setF64(state, row, MARGIN_ACCOUNT.VERSION, version)
  const owner = accountRow(state, account)
  if (kind === MarginAccountKind.PARENT) set(state, owner, PARENT_MARGIN, number + 1)
  else {
    const parent = parentOf(state, account)
    set(state, row, MARGIN_ACCOUNT.NEXT, get(state, parent, MARGIN_ACCOUNT.NEXT))
    set(state, parent, MARGIN_ACCOUNT.NEXT, number + 1)
  }
  add(state, owner, MARGIN_ACCOUNTS, 1)
  touchMargin(state, row)
  return row
}

/** The parent margin account of `account`, made if it was not. The caller looked for room ({@link mayMakeParent}). */
export function makeParent(state: State, account: number): number {
  const parent = parentOf(state, account)
  return parent >= 0 ? parent : makeMarginAccount(state, account, MarginAccountKind.PARENT)
}

/** Takes a margin sub-account without buckets out of its owner's list; the row is free. */
export function giveUpMarginAccount(state: State, sub: number): void {
  const number = marginAccountAt(state, sub)
  const account = get(state, sub, MARGIN_ACCOUNT.ACCOUNT)
  // The parent is the first of the list, and stays.
  let before = parentOf(state, account)
  while (get(state, before, MARGIN_ACCOUNT.NEXT) !== number + 1) {
    before = marginAccountRow(state, get(state, before, MARGIN_ACCOUNT.NEXT) - 1)
  }
  set(state, before, MARGIN_ACCOUNT.NEXT, get(state, sub, MARGIN_ACCOUNT.NEXT))
  add(state, accountRow(state, account), MARGIN_ACCOUNTS, -1)
  set(state, sub, MARGIN_ACCOUNT.OPEN, 0)
  set(state, sub, MARGIN_ACCOUNT.NEXT, scalar(state, SCALAR.MARGIN_ACCOUNTS_FREE))
  setScalar(state, SCALAR.MARGIN_ACCOUNTS_FREE, number + 1)
  addScalar(state, SCALAR.MARGIN_ACCOUNTS_LIVE, -1)
}

/** The margin account changed, and with it what readers see of its owner. */
export function touchMargin(state: State, margin: number): void {
  addF64(state, margin, MARGIN_ACCOUNT.VERSION, 1)
  setF64(state, margin, MARGIN_ACCOUNT.UPDATED_AT, now(state))
  touchAccount(state, get(state, margin, MARGIN_ACCOUNT.ACCOUNT))
}

/** The bucket changed, and with it what readers see of its owner. */
export function touchBucket(state: State, bucket: number): void {
  addF64(state, bucket, RISK_BUCKET.VERSION, 1)
  setF64(state, bucket, RISK_BUCKET.UPDATED_AT, now(state))
  touchAccount(state, get(state, bucket, RISK_BUCKET.ACCOUNT))
}

/** The margin account of a bucket. */
export const marginAccountOf = (state: State, bucket: number): number =>
  marginAccountRow(state, get(state, bucket, RISK_BUCKET.MARGIN_ACCOUNT))

/** True when the margin account (-1: a parent not made yet) is that of a follow: copies alone move in it (programs/follows.ts). */
export const isOfFollow = (state: State, margin: number): boolean => margin >= 0 && get(state, margin, MARGIN_ACCOUNT.FOLLOW) !== 0

/** True when the bucket has neither positions nor resting orders. */
export const isFlat = (state: State, bucket: number): boolean => get(state, bucket, RISK_BUCKET.POSITIONS) === 0

/** True when orders and collateral of users are refused. */
export const isInLiquidation = (state: State, bucket: number): boolean => {
  const now = get(state, bucket, RISK_BUCKET.STATE)
  return now === BucketState.LIQUIDATING || now === BucketState.BAD_DEBT
}

/** True when the bucket is the one of (mode, pair, strategy key). A cross bucket has no pair. */
export const isBucketOf = (state: State, bucket: number, mode: number, pair: number, keyLow: number, keyHigh: number): boolean =>
  get(state, bucket, RISK_BUCKET.MODE) === mode && (mode === MarginMode.CROSS || get(state, bucket, RISK_BUCKET.PAIR) === pair) &&
  get(state, bucket, RISK_BUCKET.KEY_LOW) === keyLow && get(state, bucket, RISK_BUCKET.KEY_HIGH) === keyHigh

/** The bucket of (margin account, mode, pair, strategy key), closed ones too, or -1. A margin account of -1 has none. */
export function findBucket(state: State, margin: number, mode: number, pair: number, keyLow: number, keyHigh: number): number {
  if (margin < 0) return -1
  let next = get(state, margin, MARGIN_ACCOUNT.FIRST_BUCKET)
  while (next !== 0) {
    const bucket = bucketRow(state, next - 1)
    if (isBucketOf(state, bucket, mode, pair, keyLow, keyHigh)) return bucket
    next = get(state, bucket, RISK_BUCKET.NEXT)
  }
  return -1
}

/** The bucket of `account` that a command names by row and the sequence that made it, or -1. */
export function namedBucket(state: State, account: number, number: number, createdSequence: number): number {
  if (number < 0 || number >= scalar(state, SCALAR.BUCKETS_USED)) return -1
  const bucket = bucketRow(state, number)
  const named = get(state, bucket, RISK_BUCKET.STATE) !== BucketState.FREE && get(state, bucket, RISK_BUCKET.ACCOUNT) === account &&
    getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE) === createdSequence
  return named ? bucket : -1
}

/** ms of sequenced time for which an empty bucket is kept: the order that it was made for is on its way. */
export const EMPTY_MS = 60_000

/** True when nothing is in the bucket, of an order that was refused or ended without a fill, and it was not made just now. */
const isEmpty = (state: State, bucket: number): boolean =>
  get(state, bucket, RISK_BUCKET.STATE) === BucketState.ACTIVE && isFlat(state, bucket) &&
  now(state) - getF64(state, bucket, RISK_BUCKET.CREATED_AT) >= EMPTY_MS && isZero(state, bucket, RISK_BUCKET.ALLOCATED) &&
  isZero(state, bucket, RISK_BUCKET.PENDING) && isZero(state, bucket, RISK_BUCKET.REALIZED)

/**
 * The bucket that the margin account gives up for another one: the one that was closed longest ago; when none is closed, of those that
 * are empty and older than {@link EMPTY_MS} the one that was made first. -1: there is none.
 */
function leastNeeded(state: State, margin: number): number {
  let [closed, empty] = [-1, -1]
  let next = get(state, margin, MARGIN_ACCOUNT.FIRST_BUCKET)
  while (next !== 0) {
    const bucket = bucketRow(state, next - 1)
    // Of those that were closed at the same time the last one of the list is the oldest.
    if (get(state, bucket, RISK_BUCKET.STATE) === BucketState.CLOSED) {
      const older = closed < 0 || getF64(state, bucket, RISK_BUCKET.UPDATED_AT) <= getF64(state, closed, RISK_BUCKET.UPDATED_AT)
      if (older) closed = bucket
    } else if (isEmpty(state, bucket)) empty = bucket
    next = get(state, bucket, RISK_BUCKET.NEXT)
  }
  return closed < 0 ? empty : closed
}

/** True when the margin account (-1: a parent not made yet) may have a bucket more without giving one up. */
function roomForBucket(state: State, account: number, margin: number): boolean {
  const { bucketsPerMarginAccount, riskBuckets } = state.genesis.limits
  if (margin >= 0 && get(state, margin, MARGIN_ACCOUNT.BUCKETS) >= bucketsPerMarginAccount) return false
  return familyMayTake(state, account, FAMILY_BUCKETS, scalar(state, SCALAR.BUCKETS_LIVE), riskBuckets)
}

/** Why `account` may not have a bucket more in the margin account (-1: its parent, not made yet): number of a refusal; 0: it may. */
export function mayMakeBucket(state: State, account: number, margin: number): number {
  const code = margin < 0 ? mayMakeParent(state, account) : 0
  if (code !== 0) return code
  if (roomForBucket(state, account, margin) || (margin >= 0 && leastNeeded(state, margin) >= 0)) return 0
  return REFUSALS.TOO_MANY_RISK_BUCKETS.number
}

/** A new bucket without strategy text; {@link mayMakeBucket} said that there may be one. */
export function makeBucket(state: State, margin: number, mode: number, pair: number, keyLow: number, keyHigh: number): number {
  const account = get(state, margin, MARGIN_ACCOUNT.ACCOUNT)
  if (!roomForBucket(state, account, margin)) {
    const given = leastNeeded(state, margin)
    assert(given >= 0, 'there is no room for a bucket')
    // It may wait there for a price that it does not need any more.
    delistBucket(state, given)
    giveUpBucket(state, margin, given)
  }
  const free = scalar(state, SCALAR.BUCKETS_FREE)
  const number = free === 0 ? scalar(state, SCALAR.BUCKETS_USED) : free - 1
  const bucket = bucketRow(state, number)
  if (free === 0) addScalar(state, SCALAR.BUCKETS_USED, 1)
  else setScalar(state, SCALAR.BUCKETS_FREE, get(state, bucket, RISK_BUCKET.NEXT))
  addScalar(state, SCALAR.BUCKETS_LIVE, 1)
  countForFamily(state, account, FAMILY_BUCKETS)
  const version = getF64(state, bucket, RISK_BUCKET.VERSION)
  clearWords(state, bucket, 0, RISK_BUCKET_WORDS)
  set(state, bucket, RISK_BUCKET.ACCOUNT, account)
  set(state, bucket, RISK_BUCKET.MARGIN_ACCOUNT, marginAccountAt(state, margin))
  set(state, bucket, RISK_BUCKET.MODE, mode)
  set(state, bucket, RISK_BUCKET.PAIR, mode === MarginMode.CROSS ? -1 : pair)
  set(state, bucket, RISK_BUCKET.STATE, BucketState.ACTIVE)
  set(state, bucket, RISK_BUCKET.KEY_LOW, keyLow)
  set(state, bucket, RISK_BUCKET.KEY_HIGH, keyHigh)
  setF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE, sequence(state))
  setF64(state, bucket, RISK_BUCKET.CREATED_AT, now(state))
  setF64(state, bucket, RISK_BUCKET.VERSION, version)
  set(state, bucket, RISK_BUCKET.NEXT, get(state, margin, MARGIN_ACCOUNT.FIRST_BUCKET))
  set(state, margin, MARGIN_ACCOUNT.FIRST_BUCKET, number + 1)
  add(state, margin, MARGIN_ACCOUNT.BUCKETS, 1)
  touchBucket(state, bucket)
  return bucket
}

/** Takes a bucket with nothing in it out of its margin account; the row is free. */
export function giveUpBucket(state: State, margin: number, bucket: number): void {
  const number = bucketAt(state, bucket)
  const following = get(state, bucket, RISK_BUCKET.NEXT)
  const first = get(state, margin, MARGIN_ACCOUNT.FIRST_BUCKET)
  if (first === number + 1) set(state, margin, MARGIN_ACCOUNT.FIRST_BUCKET, following)
  else {
    let before = bucketRow(state, first - 1)
    while (get(state, before, RISK_BUCKET.NEXT) !== number + 1) before = bucketRow(state, get(state, before, RISK_BUCKET.NEXT) - 1)
    set(state, before, RISK_BUCKET.NEXT, following)
  }
  add(state, margin, MARGIN_ACCOUNT.BUCKETS, -1)
  set(state, bucket, RISK_BUCKET.STATE, BucketState.FREE)
  set(state, bucket, RISK_BUCKET.NEXT, scalar(state, SCALAR.BUCKETS_FREE))
  setScalar(state, SCALAR.BUCKETS_FREE, number + 1)
  addScalar(state, SCALAR.BUCKETS_LIVE, -1)
  add(state, familyRow(state, get(state, margin, MARGIN_ACCOUNT.ACCOUNT)), FAMILY_BUCKETS, -1)
}

/** A closed bucket is used again. */
export function useBucket(state: State, bucket: number): void {
  if (get(state, bucket, RISK_BUCKET.STATE) === BucketState.CLOSED) set(state, bucket, RISK_BUCKET.STATE, BucketState.ACTIVE)
}

/**
 * Settles a flat bucket with its margin account and closes it: what it realised becomes the margin account's, what it had is free again.
 * COLLATERAL says so. Leaves register AMOUNT = what went to the margin account, negated. Of a bucket with negative equity the
 * margin account pays the rest, so its free collateral must be that much.
 */
export function closeOut(state: State, bucket: number): void {
  const { registers } = state
  const margin = marginAccountOf(state, bucket)
  registers[R.AMOUNT] = getI64(state, bucket, RISK_BUCKET.ALLOCATED)
  lose(state, margin, MARGIN_ACCOUNT.EARMARKED, R.AMOUNT)
  registers[R.MOVED] = getI64(state, bucket, RISK_BUCKET.REALIZED)
  gain(state, margin, MARGIN_ACCOUNT.DEPOSITED, R.MOVED)
  gain(state, margin, MARGIN_ACCOUNT.SETTLED, R.MOVED)
  setI64(state, bucket, RISK_BUCKET.ALLOCATED, 0n)
  setI64(state, bucket, RISK_BUCKET.REALIZED, 0n)
  set(state, bucket, RISK_BUCKET.STATE, BucketState.CLOSED)
  // It may have waited there for a price.
  delistBucket(state, bucket)
  touchBucket(state, bucket)
  touchMargin(state, margin)
  registers[R.AMOUNT] = -registers[R.AMOUNT]! - registers[R.MOVED]!
  emitCollateral(state, margin, bucket, CollateralReason.SETTLED)
}
