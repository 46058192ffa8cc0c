/**
 * Margin accounts, risk buckets and positions of one user, from the shared columns.
 *
 * All rows of a user are one consistent copy: whatever changes one of them changes the version of the account. Prices and cumulative
 * funding belong to everybody and change without it, so each of these words is read by itself (state/shared_words.ts): it is one that stood
 * while the rows did.
 *
 * Bounded: a user has so many margin accounts, each so many buckets, and a bucket one position a perpetual at most. A torn copy may lead
 * anywhere and is thrown away; until then rows stay in range and steps are counted.
 */
import { ACCOUNT, SCALAR } from '../state/columns.ts'
import {
  BucketState, MARGIN_ACCOUNT, MarginAccountKind, PERP, POSITION, RISK_BUCKET, STRATEGY_KEY_BYTES,
} from '../state/margin_rows.ts'
import {
  accountRow, bucketRow, bytesOf, get, getF64, getI64, marginAccountRow, perpRow, positionRow, wordOf,
} from '../state/rows.ts'
import { loadDouble, loadWord } from '../state/shared_words.ts'
import type { State } from '../state/state.ts'
import { rateSoFar } from '../margin/funding_rate.ts'
import { consistently } from './consistent.ts'

export {
  BUCKET_STATE_NAMES, BucketState, MARGIN_MODE_NAMES, MarginAccountKind, MarginMode, STRATEGY_KEY_BYTES,
} from '../state/margin_rows.ts'

/** Prices of a perpetual: words that change together may be of two commands. */
export interface PerpView {
  pair: number
  /** Ticks; 0: there was none yet. */
  index: number
  mark: number
  /** PerpMode. */
  mode: number
  /** Unix ms; 0: never. */
  indexAt: number
  nextFundingAt: number
  lastFundingAt: number
  /** 10^-8 of the notional; positive: longs pay. */
  lastRate: number
  /** 10^-6 atoms a long lot has paid ever; wraps at 64 bits. */
  cumulative: bigint
  openLots: number
}

export interface PositionView {
  row: number
  pair: number
  /** Signed; 0: only orders rest. */
  lots: number
  /** Hundredths. */
  leverage: number
  /** Atoms, signed as the lots. */
  cost: bigint
  realized: bigint
  /** Atoms that funding brought and that are settled; 10^-6 atoms as of which they are. */
  funding: bigint
  fundedTo: bigint
  fees: bigint
  /** Resting orders that may open or enlarge it: lots, and atoms at their limits. */
  bidLots: number
  askLots: number
  bidValue: bigint
  askValue: bigint
  /** With the row its identity; 0: it is not open. */
  openedSequence: number
  /** Unix ms. */
  openedAt: number
  updatedAt: number
  version: number
  /** Of its perpetual: ticks, 10^-6 atoms, PerpMode, and when its index price came, Unix ms. */
  mark: number
  cumulative: bigint
  mode: number
  indexAt: number
}

export interface BucketView {
  row: number
  /** Row of its margin account. */
  marginAccount: number
  /** MarginMode. */
  mode: number
  /** -1: a cross one. */
  pair: number
  /** BucketState. */
  state: number
  /** Atoms: committed, brought by resting orders, realised since it was settled, realised ever. */
  allocated: bigint
  pending: bigint
  realized: bigint
  lifetime: bigint
  createdSequence: number
  createdAt: number
  updatedAt: number
  version: number
  /** Resting orders. */
  orders: number
  /** '' without one. */
  strategyKey: string
  /** Pairs that it traded, of a cross one. */
  scope: number[]
  positions: PositionView[]
}

export interface MarginAccountView {
  /** -1: a parent that was not used yet. */
  row: number
  /** MarginAccountKind. */
  kind: number
  /** Atoms. */
  deposited: bigint
  earmarked: bigint
  settled: bigint
  /** Of a parent that was not used yet: of the user, as are its times. */
  createdSequence: number
  createdAt: number
  updatedAt: number
  /** UTF-8 text, '' without one. */
  label: string
  buckets: BucketView[]
}

/** Which of a user's margin accounts are read: all, or the one in this row, the parent before it has one. */
type Which = 'all' | 'parent' | number

/** The prices of a perpetual, each by itself. */
export function readPerp(state: State, pair: number): PerpView {
  const row = perpRow(state, pair)
  return {
    pair,
    index: loadWord(state, row, PERP.INDEX),
    mark: loadWord(state, row, PERP.MARK),
    mode: loadWord(state, row, PERP.MODE),
    indexAt: loadDouble(state, row, PERP.INDEX_AT),
    nextFundingAt: loadDouble(state, row, PERP.NEXT_FUNDING_AT),
    lastFundingAt: loadDouble(state, row, PERP.LAST_FUNDING_AT),
    lastRate: loadWord(state, row, PERP.LAST_RATE),
    cumulative: Atomics.load(state.i64, wordOf(row, PERP.CUMULATIVE) >>> 1),
    openLots: loadDouble(state, row, PERP.OPEN_LOTS),
  }
}

/**
 * The rate that the running funding interval of `pair` would have if it ended now, 10^-8 of the notional; 0 before its first sample;
 * `null`: unreadable. A sum and a count that do not belong together would be a rate of nothing, so both are of one state: the count is
 * their version, as it changes with each sample and with the interval.
 */
export const readPredictedRate = (state: State, gate: Int32Array, pair: number): number | null =>
  consistently(gate, state.i32, wordOf(perpRow(state, pair), PERP.SAMPLES), () => rateSoFar(state, pair))

/** The margin accounts of `account`, the parent first, which is there before it was used; `null` when they are unreadable. */
export const readMarginAccounts = (state: State, gate: Int32Array, account: number): MarginAccountView[] | null =>
  consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () => copyMarginAccounts(state, account, 'all'))

/** The parent of `account`. */
export const readParent = (state: State, gate: Int32Array, account: number): MarginAccountView | null =>
  consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () =>
    copyMarginAccounts(state, account, 'parent')[0]!)

/** The margin account in `row` that the command `sequence` made, if it is of `account` and open; `undefined`: it is not. */
export function readMarginAccount(
  state: State, gate: Int32Array, account: number, row: number, sequence: number,
): MarginAccountView | undefined | null {
  if (row < 0 || row >= state.scalars[SCALAR.MARGIN_ACCOUNTS_USED]!) return undefined
  return consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () =>
    copyMarginAccounts(state, account, row).find((each) => each.createdSequence === sequence))
}

/** A bucket with its margin account, which has no other one here. */
export interface BucketInAccount {
  readonly margin: MarginAccountView
  readonly bucket: BucketView
}

/** The bucket in `row` that the command `sequence` made, if it is of `account`; `undefined`: it is not. */
export function readBucket(
  state: State, gate: Int32Array, account: number, row: number, sequence: number,
): BucketInAccount | undefined | null {
  if (row < 0 || row >= state.scalars[SCALAR.BUCKETS_USED]!) return undefined
  return consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () => {
    const at = bucketRow(state, row)
    const known = get(state, at, RISK_BUCKET.STATE) !== BucketState.FREE && get(state, at, RISK_BUCKET.ACCOUNT) === account
    if (!known || getF64(state, at, RISK_BUCKET.CREATED_SEQUENCE) !== sequence) return undefined
    return { margin: copyAccount(state, get(state, at, RISK_BUCKET.MARGIN_ACCOUNT), false), bucket: copyBucket(state, row) }
  })
}

/** A position with its bucket and margin account. */
export interface PositionInBucket extends BucketInAccount {
  readonly position: PositionView
}

/** The open position in `row` that the command `sequence` opened, if it is of `account`; `undefined`: it is not. */
export function readPosition(
  state: State, gate: Int32Array, account: number, row: number, sequence: number,
): PositionInBucket | undefined | null {
  if (row < 0 || row >= state.scalars[SCALAR.POSITIONS_USED]! || sequence <= 0) return undefined
  return consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () => {
    const at = positionRow(state, row)
    if (getF64(state, at, POSITION.OPENED_SEQUENCE) !== sequence || get(state, at, POSITION.ACCOUNT) !== account) return undefined
    const bucket = copyBucket(state, inRange(get(state, at, POSITION.BUCKET), state.genesis.limits.riskBuckets))
    const position = bucket.positions.find((each) => each.row === row)
    return position === undefined ? undefined : { margin: copyAccount(state, bucket.marginAccount, false), bucket, position }
  })
}

/** A row number that may be torn, made one of the column. */
const inRange = (row: number, rows: number): number => (row >= 0 && row < rows ? row : 0)

function copyMarginAccounts(state: State, account: number, which: Which): MarginAccountView[] {
  const { marginAccounts, marginSubAccounts } = state.genesis.limits
  const user = accountRow(state, account)
  const copies: MarginAccountView[] = []
  let row = get(state, user, ACCOUNT.PARENT_MARGIN) - 1
  if (row < 0 && typeof which !== 'number') {
    const [createdAt, createdSequence] = [getF64(state, user, ACCOUNT.CREATED_AT), getF64(state, user, ACCOUNT.CREATED_SEQUENCE)]
    copies.push({
      row, kind: MarginAccountKind.PARENT, deposited: 0n, earmarked: 0n, settled: 0n, createdSequence, createdAt, updatedAt: createdAt,
      label: '', buckets: [],
    })
  }
  for (let left = marginSubAccounts + 1; left > 0 && row >= 0 && row < marginAccounts; left--) {
    if (typeof which !== 'number' || which === row) copies.push(copyAccount(state, row, true))
    if (which === 'parent' || which === row) break
    row = get(state, marginAccountRow(state, row), MARGIN_ACCOUNT.NEXT) - 1
  }
  return copies
}

const text = new TextDecoder()

function textOf(bytes: Uint8Array): string {
  // Shared memory cannot be decoded where it is.
  const copy = bytes.slice()
  const end = copy.indexOf(0)
  return text.decode(end < 0 ? copy : copy.subarray(0, end))
}

const LABEL_BYTES = 32

/** `buckets`: with those it has. */
function copyAccount(state: State, named: number, buckets: boolean): MarginAccountView {
  const { riskBuckets, bucketsPerMarginAccount, marginAccounts } = state.genesis.limits
  const row = inRange(named, marginAccounts)
  const at = marginAccountRow(state, row)
  const copies: BucketView[] = []
  let bucket = buckets ? get(state, at, MARGIN_ACCOUNT.FIRST_BUCKET) - 1 : -1
  for (let left = bucketsPerMarginAccount; left > 0 && bucket >= 0 && bucket < riskBuckets; left--) {
    copies.push(copyBucket(state, bucket))
    bucket = get(state, bucketRow(state, bucket), RISK_BUCKET.NEXT) - 1
  }
  return {
    row,
    kind: get(state, at, MARGIN_ACCOUNT.KIND),
    deposited: getI64(state, at, MARGIN_ACCOUNT.DEPOSITED),
    earmarked: getI64(state, at, MARGIN_ACCOUNT.EARMARKED),
    settled: getI64(state, at, MARGIN_ACCOUNT.SETTLED),
    createdSequence: getF64(state, at, MARGIN_ACCOUNT.CREATED_SEQUENCE),
    createdAt: getF64(state, at, MARGIN_ACCOUNT.CREATED_AT),
    updatedAt: getF64(state, at, MARGIN_ACCOUNT.UPDATED_AT),
    label: textOf(bytesOf(state, at, MARGIN_ACCOUNT.LABEL, LABEL_BYTES)),
    buckets: copies,
  }
}

function copyBucket(state: State, row: number): BucketView {
  const { positions: most, pairs } = state.genesis.limits
  const at = bucketRow(state, row)
  const positions: PositionView[] = []
  let position = get(state, at, RISK_BUCKET.FIRST_POSITION) - 1
  for (let left = pairs; left > 0 && position >= 0 && position < most; left--) {
    positions.push(copyPosition(state, position))
    position = get(state, positionRow(state, position), POSITION.NEXT) - 1
  }
  return {
    row,
    marginAccount: get(state, at, RISK_BUCKET.MARGIN_ACCOUNT),
    mode: get(state, at, RISK_BUCKET.MODE),
    pair: get(state, at, RISK_BUCKET.PAIR),
    state: get(state, at, RISK_BUCKET.STATE),
    allocated: getI64(state, at, RISK_BUCKET.ALLOCATED),
    pending: getI64(state, at, RISK_BUCKET.PENDING),
    realized: getI64(state, at, RISK_BUCKET.REALIZED),
    lifetime: getI64(state, at, RISK_BUCKET.LIFETIME),
    createdSequence: getF64(state, at, RISK_BUCKET.CREATED_SEQUENCE),
    createdAt: getF64(state, at, RISK_BUCKET.CREATED_AT),
    updatedAt: getF64(state, at, RISK_BUCKET.UPDATED_AT),
    version: getF64(state, at, RISK_BUCKET.VERSION),
    orders: get(state, at, RISK_BUCKET.ORDERS),
    strategyKey: textOf(bytesOf(state, at, RISK_BUCKET.STRATEGY_KEY, STRATEGY_KEY_BYTES)),
    scope: pairsIn(bytesOf(state, at, RISK_BUCKET.SCOPE, 32)),
    positions,
  }
}

/** Numbers of the bits that are set, ascending. */
function pairsIn(bits: Uint8Array): number[] {
  const pairs: number[] = []
  for (let pair = 0; pair < bits.length * 8; pair++) if ((bits[pair >>> 3]! & (1 << (pair & 7))) !== 0) pairs.push(pair)
  return pairs
}

function copyPosition(state: State, row: number): PositionView {
  const at = positionRow(state, row)
  const pair = inRange(get(state, at, POSITION.PAIR), state.genesis.limits.pairs)
  const { mark, cumulative, mode, indexAt } = readPerp(state, pair)
  return {
    row,
    pair,
    lots: get(state, at, POSITION.LOTS),
    leverage: get(state, at, POSITION.LEVERAGE),
    cost: getI64(state, at, POSITION.COST),
    realized: getI64(state, at, POSITION.REALIZED),
    funding: getI64(state, at, POSITION.FUNDING),
    fundedTo: getI64(state, at, POSITION.FUNDED_TO),
    fees: getI64(state, at, POSITION.FEES),
    bidLots: getF64(state, at, POSITION.BID_LOTS),
    askLots: getF64(state, at, POSITION.ASK_LOTS),
    bidValue: getI64(state, at, POSITION.BID_VALUE),
    askValue: getI64(state, at, POSITION.ASK_VALUE),
    openedSequence: getF64(state, at, POSITION.OPENED_SEQUENCE),
    openedAt: getF64(state, at, POSITION.OPENED_AT),
    updatedAt: getF64(state, at, POSITION.UPDATED_AT),
    version: getF64(state, at, POSITION.VERSION),
    mark,
    cumulative,
    mode,
    indexAt,
  }
}
