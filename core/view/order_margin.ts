/**
 * Where orders of perpetuals stand: margin account and risk bucket, by the rows and sequences that name them in public. And what an order
 * may name of them: whose a margin account or bucket is, and whether a margin account has a bucket for a strategy key.
 *
 * Readers look while the matcher writes. Links are followed no further than there may be rows, so that a torn copy ends, and is thrown away
 * where it stands in {@link consistently}; elsewhere the engine decides again at sequence time.
 */
import { ACCOUNT, SCALAR } from '../state/columns.ts'
import {
  BucketState, MARGIN_ACCOUNT, MarginAccountKind, MarginMode, ORDER_MARGIN, POSITION, RISK_BUCKET, STRATEGY_KEY_BYTES,
} from '../state/margin_rows.ts'
import {
  accountRow, bucketRow, bytesOf, get, getF64, marginAccountRow, orderMarginRow, positionRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'

export { MarginMode, STRATEGY_KEY_BYTES }

/** A thing of the engine: the sequence that made it, and its row. */
export interface NamedRow {
  sequence: number
  row: number
}

/** Where an order of a perpetual stands. */
export interface OrderMarginView {
  /** Of the parent: the sequence of its user, row -1. */
  marginAccount: NamedRow
  bucket: NamedRow
  /** MarginMode. */
  mode: number
  /** '': none. */
  strategyKey: string
  /** Hundredths; 0: it was reduce-only. */
  leverage: number
}

/** The text in so many bytes of printable ASCII, zero padded. */
export function paddedText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  return String.fromCharCode(...(end < 0 ? bytes : bytes.subarray(0, end)))
}

/** Of the margin order that rests in `slot`: consistent only inside {@link consistently}. */
export function copyOrderMargin(state: State, slot: number): OrderMarginView {
  const extra = orderMarginRow(state, slot)
  return {
    ...copyPlace(state, get(state, extra, ORDER_MARGIN.POSITION) - 1),
    leverage: get(state, extra, ORDER_MARGIN.LEVERAGE),
  }
}

/** Where a position stands, and all that hangs on it. */
export type PlaceView = Omit<OrderMarginView, 'leverage'>

/** Of the position in row `position`. */
export const copyPlace = (state: State, position: number): PlaceView =>
  copyBucketPlace(state, get(state, positionRow(state, position), POSITION.BUCKET))

/** Of what trades in the risk bucket in row `number`. */
export function copyBucketPlace(state: State, number: number): PlaceView {
  const bucket = bucketRow(state, number)
  return {
    marginAccount: copyMarginAccountName(state, get(state, bucket, RISK_BUCKET.MARGIN_ACCOUNT)),
    bucket: { sequence: getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE), row: number },
    mode: get(state, bucket, RISK_BUCKET.MODE),
    strategyKey: paddedText(bytesOf(state, bucket, RISK_BUCKET.STRATEGY_KEY, STRATEGY_KEY_BYTES)),
  }
}

/** The name of the margin account in row `number`. */
export function copyMarginAccountName(state: State, number: number): NamedRow {
  const row = marginAccountRow(state, number)
  if (get(state, row, MARGIN_ACCOUNT.KIND) !== MarginAccountKind.PARENT) {
    return { sequence: getF64(state, row, MARGIN_ACCOUNT.CREATED_SEQUENCE), row: number }
  }
  return { sequence: getF64(state, accountRow(state, get(state, row, MARGIN_ACCOUNT.ACCOUNT)), ACCOUNT.CREATED_SEQUENCE), row: -1 }
}

/** Whether there is such a margin sub-account of `account`. The parent is named by its user and need not be there yet. */
export function ownsMarginAccount(state: State, account: number, { row: number, sequence }: NamedRow): boolean {
  if (number < 0 || number >= state.scalars[SCALAR.MARGIN_ACCOUNTS_USED]!) return false
  const row = marginAccountRow(state, number)
  return get(state, row, MARGIN_ACCOUNT.ACCOUNT) === account && getF64(state, row, MARGIN_ACCOUNT.CREATED_SEQUENCE) === sequence &&
    get(state, row, MARGIN_ACCOUNT.OPEN) === 1 && get(state, row, MARGIN_ACCOUNT.KIND) === MarginAccountKind.SUB
}

/** A risk bucket that an order names, as far as the order's own terms follow from it. */
export interface BucketView {
  /** Row of its margin account; -1: the parent. */
  readonly marginAccount: number
  readonly keyLow: number
  readonly keyHigh: number
}

/** The risk bucket of `account` with this name, whatever its state; `null`: there is none. */
export function findOwnBucket(state: State, account: number, { row: number, sequence }: NamedRow): BucketView | null {
  if (number < 0 || number >= state.scalars[SCALAR.BUCKETS_USED]!) return null
  const row = bucketRow(state, number)
  const margin = get(state, row, RISK_BUCKET.MARGIN_ACCOUNT)
  const [keyLow, keyHigh] = [get(state, row, RISK_BUCKET.KEY_LOW), get(state, row, RISK_BUCKET.KEY_HIGH)]
  const theirs = get(state, row, RISK_BUCKET.ACCOUNT) === account && get(state, row, RISK_BUCKET.STATE) !== BucketState.FREE &&
    getF64(state, row, RISK_BUCKET.CREATED_SEQUENCE) === sequence
  if (!theirs) return null
  const parent = get(state, marginAccountRow(state, margin), MARGIN_ACCOUNT.KIND) === MarginAccountKind.PARENT
  return { marginAccount: parent ? -1 : margin, keyLow, keyHigh }
}

/** A strategy key as commands name it, and where it is looked for. */
export interface KeyedBucket {
  /** Row of the margin account; -1: the parent of whoever asks. */
  readonly marginAccount: number
  /** Of an isolated bucket; -1: a cross one. */
  readonly pair: number
  readonly keyLow: number
  readonly keyHigh: number
}

/**
 * Whether the margin account has a bucket with this key; one that is closed is reused. A reader may miss one that is just being made,
 * and opening it again does no harm.
 */
export const hasBucket = (state: State, account: number, keyed: KeyedBucket): boolean => findBucket(state, account, keyed) >= 0

/** Row of that bucket, or -1. */
export function findBucket(state: State, account: number, { marginAccount, pair, keyLow, keyHigh }: KeyedBucket): number {
  const margin = marginAccount >= 0 ? marginAccount : get(state, accountRow(state, account), ACCOUNT.PARENT_MARGIN) - 1
  if (margin < 0) return -1
  const { riskBuckets, bucketsPerMarginAccount } = state.genesis.limits
  const mode = pair < 0 ? MarginMode.CROSS : MarginMode.ISOLATED
  let number = get(state, marginAccountRow(state, margin), MARGIN_ACCOUNT.FIRST_BUCKET) - 1
  for (let step = 0; step < bucketsPerMarginAccount && number >= 0 && number < riskBuckets; step++) {
    const row = bucketRow(state, number)
    if (get(state, row, RISK_BUCKET.MODE) === mode && (pair < 0 || get(state, row, RISK_BUCKET.PAIR) === pair) &&
      get(state, row, RISK_BUCKET.KEY_LOW) === keyLow && get(state, row, RISK_BUCKET.KEY_HIGH) === keyHigh) return number
    number = get(state, row, RISK_BUCKET.NEXT) - 1
  }
  return -1
}
