/**
 * The answer to the question what an order of a perpetual would come to (orders/preview.ts): what it says, and the bucket as it stands.
 *
 * While it is worked out the gate is odd, as while a batch is applied, because admission supposes the order in a row that readers copy.
 */
import { COMMAND_SLOTS, ORDER_COMMAND } from '../layout/command.ts'
import { Flag, FLAG_ORDER_MASK } from '../layout/flags.ts'
import { RECORD_BYTES, viewsOf, type Views } from '../layout/table.ts'
import { APPLYING } from '../ring/counters.ts'
import {
  PREVIEW_ANSWER as A, PREVIEW_POSITION as P, PREVIEW_POSITION_WORDS, PREVIEW_QUESTION as Q, PREVIEW_WORDS, type Cell,
} from '../ring/questions.ts'
import { R } from '../state/balances.ts'
import { SCALAR, TERMS } from '../state/columns.ts'
import { MARGIN_ACCOUNT, PERP, POSITION, RISK_BUCKET, STRATEGY_KEY_WORDS } from '../state/margin_rows.ts'
import {
  bucketAt, get, getF64, getI64, marginAccountAt, perpRow, positionRow, scalar, termsRow, wordOf,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { PERP_PATH_MAX } from '../book/match.ts'
import { previewOrder } from '../orders/preview.ts'
import { noPreview, type Preview } from '../orders/preview_walk.ts'

const C = ORDER_COMMAND.at
const SCOPE_WORDS = 8

/** What answering needs to keep: a record for the order, and what is said of it. */
export interface PreviewScratch {
  readonly record: Views
  readonly preview: Preview
}

export const createPreviewScratch = (): PreviewScratch =>
  ({ record: viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES)), preview: noPreview() })

/** Flags that a preview may have: nothing of it rests, is post-only, funded by a master or a close. */
const FLAGS =
  FLAG_ORDER_MASK & ~(Flag.POST_ONLY | Flag.CANCEL_BOTH | Flag.STP_GIVEN | Flag.EXPIRES | Flag.MASTER_FUNDED | Flag.CLOSE | Flag.FOK)

/** Writes the answer to `question`, which names a pair; the orders that it looked at, at most; -1: it is no question. */
export function writePreview(
  state: State, gate: Int32Array, { record, preview }: PreviewScratch, question: Int32Array, cell: Cell, time: number,
): number {
  const pair = question[Q.PAIR]!
  const account = question[Q.ACCOUNT]!
  const flags = question[Q.FLAGS]!
  if (account < 0 || account >= scalar(state, SCALAR.ACCOUNTS) || get(state, termsRow(state, pair), TERMS.PERP) === 0) return -1
  if ((flags & ~FLAGS) !== 0 || (flags & Flag.MARGIN) === 0 || question[Q.LOTS]! < 1) return -1
  record.i32.fill(0)
  record.i32[C.pair] = pair
  record.i32[C.flags] = flags
  record.i32[C.price] = question[Q.PRICE]!
  record.i32[C.lots] = question[Q.LOTS]!
  record.i32[C.leverage] = question[Q.LEVERAGE]!
  record.i32[C.slippageBps] = question[Q.SLIPPAGE_BPS]!
  record.i32[C.marginAccount] = question[Q.MARGIN_ACCOUNT]!
  record.i32[C.bucket] = question[Q.BUCKET]!
  record.i32[C.namedSequence] = question[Q.SEQUENCE_LOW]!
  record.i32[C.namedSequence + 1] = question[Q.SEQUENCE_HIGH]!
  record.i32[C.keyLow] = question[Q.KEY_LOW]!
  record.i32[C.keyHigh] = question[Q.KEY_HIGH]!
  Atomics.add(gate, APPLYING, 1)
  previewOrder(state, record, 0, account, time, preview)
  Atomics.add(gate, APPLYING, 1)
  writeSaid(state, preview, pair, cell)
  writeBucket(state, preview, cell)
  return 2 * PERP_PATH_MAX
}

function writeSaid(state: State, preview: Preview, pair: number, { i32, i64 }: Cell): void {
  const { registers } = state
  const perp = perpRow(state, pair)
  i32[A.CODE] = preview.code
  i32[A.LOTS] = preview.lots
  i32[A.LIMIT] = preview.limit
  i32[A.TOUCH] = preview.touch
  i32[A.FILLED] = preview.filled
  i32[A.TRADES] = preview.trades
  i32[A.BEST] = preview.best
  i32[A.WORST] = preview.worst
  i32[A.MEETS_OWN] = preview.meetsOwn
  i32[A.TOO_LONG] = preview.tooLong
  i32[A.UNBORNE] = preview.unborne
  i32[A.MARK] = get(state, perp, PERP.MARK)
  i64[A.BROUGHT] = registers[R.BROUGHT]!
  i64[A.REQUIRED] = registers[R.REQUIRED]!
  i64[A.AVAILABLE] = registers[R.AMOUNT]!
  i64[A.COST] = registers[R.COST]!
  i64[A.UNCOMMITTED] = registers[R.RELEASE]!
  i64[A.CUMULATIVE] = getI64(state, perp, PERP.CUMULATIVE)
}

/** The bucket and its margin account; where there is none yet, nothing. */
function writeBucket(state: State, { bucket, margin }: Preview, cell: Cell): void {
  const { i32, i64, f64 } = cell
  i32.fill(0, A.STRATEGY_KEY, PREVIEW_WORDS)
  i32[A.MARGIN] = margin < 0 ? -1 : marginAccountAt(state, margin)
  i32[A.MARGIN_KIND] = margin < 0 ? 0 : get(state, margin, MARGIN_ACCOUNT.KIND)
  f64[A.MARGIN_SEQUENCE] = margin < 0 ? 0 : getF64(state, margin, MARGIN_ACCOUNT.CREATED_SEQUENCE)
  i32[A.BUCKET] = bucket < 0 ? -1 : bucketAt(state, bucket)
  i32[A.POSITIONS] = 0
  i64[A.ALLOCATED] = 0n
  i64[A.PENDING] = 0n
  i64[A.REALIZED] = 0n
  f64[A.BUCKET_SEQUENCE] = 0
  if (bucket < 0) return
  i64[A.ALLOCATED] = getI64(state, bucket, RISK_BUCKET.ALLOCATED)
  i64[A.PENDING] = getI64(state, bucket, RISK_BUCKET.PENDING)
  i64[A.REALIZED] = getI64(state, bucket, RISK_BUCKET.REALIZED)
  f64[A.BUCKET_SEQUENCE] = getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE)
  for (let word = 0; word < STRATEGY_KEY_WORDS; word++) {
    i32[A.STRATEGY_KEY + word] = state.i32[wordOf(bucket, RISK_BUCKET.STRATEGY_KEY) + word]!
  }
  for (let word = 0; word < SCOPE_WORDS; word++) i32[A.SCOPE + word] = state.i32[wordOf(bucket, RISK_BUCKET.SCOPE) + word]!
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  for (let count = 0; next !== 0; count++) {
    const position = positionRow(state, next - 1)
    writePosition(state, position, PREVIEW_WORDS + count * PREVIEW_POSITION_WORDS, cell)
    i32[A.POSITIONS] = count + 1
    next = get(state, position, POSITION.NEXT)
  }
}

function writePosition(state: State, position: number, at: number, { i32, i64, f64 }: Cell): void {
  const perp = perpRow(state, get(state, position, POSITION.PAIR))
  i32[at + P.PAIR] = get(state, position, POSITION.PAIR)
  i32[at + P.LOTS] = get(state, position, POSITION.LOTS)
  i32[at + P.LEVERAGE] = get(state, position, POSITION.LEVERAGE)
  i32[at + P.REDUCE_LOTS] = get(state, position, POSITION.REDUCE_LOTS)
  i32[at + P.MARK] = get(state, perp, PERP.MARK)
  const half = at >>> 1
  i64[half + P.COST] = getI64(state, position, POSITION.COST)
  i64[half + P.FUNDED_TO] = getI64(state, position, POSITION.FUNDED_TO)
  i64[half + P.CUMULATIVE] = getI64(state, perp, PERP.CUMULATIVE)
  i64[half + P.BID_VALUE] = getI64(state, position, POSITION.BID_VALUE)
  i64[half + P.ASK_VALUE] = getI64(state, position, POSITION.ASK_VALUE)
  f64[half + P.BID_LOTS] = getF64(state, position, POSITION.BID_LOTS)
  f64[half + P.ASK_LOTS] = getF64(state, position, POSITION.ASK_LOTS)
}
