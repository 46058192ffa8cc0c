/**
 * Promise: what a preview of an order of a perpetual says is what placing it gives, when nothing comes between: accepted or why not, what
 * is filled at which prices, the fee, and the figures of the bucket afterwards with its liquidation price. In random margin trading, with
 * makers whose buckets cannot bear their fills, several orders of one maker in the path, and reduce-only orders that shrink on the way.
 * A preview changes nothing that is kept.
 */
import t from 'tap'
import { CommandType, COMMAND_SLOTS, Flag, FLAG_ORDER_MASK, Option, ORDER_COMMAND, typeOfKind } from '../../core/layout/command.ts'
import { APPLICATION_FEE, EventType, eventTypeOf, ORDER_ENDED, Reason, RESULT } from '../../core/layout/event.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { sessionAccount } from '../../core/programs/sessions.ts'
import { PREVIEW_QUESTION as Q } from '../../core/ring/questions.ts'
import { createPreviewScratch, writePreview } from '../../core/sequencer/preview_answer.ts'
import { createTimers, writeDue } from '../../core/sequencer/timers.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { ACCOUNT, SCALAR, TERMS } from '../../core/state/columns.ts'
import { accountRow, bucketRow, get, getF64, scalar, termsRow } from '../../core/state/rows.ts'
import { RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { addOnsOf } from '../../core/view/builder.ts'
import { readBucket } from '../../core/view/margin.ts'
import { bucketFigures, liquidationPrice, type LadderOf } from '../../core/view/margin_figures.ts'
import { afterOrder, type Previewed } from '../../core/view/preview_figures.ts'
import { readPreview } from '../../gateway/bridge/previews.ts'
import { createBench } from '../support/naive_compare.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'
import { MarginWorkload } from '../support/workload_margin.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const COMMANDS = Number(process.env['COMMANDS'] ?? 15_000)
const AGAIN = `SEED=${SEED} COMMANDS=${COMMANDS} npm test -- test/property/preview_equals_placing.test.ts`
const NOT_PREVIEWED =
  Flag.POST_ONLY | Flag.CANCEL_BOTH | Flag.STP_GIVEN | Flag.EXPIRES | Flag.MASTER_FUNDED | Flag.CLOSE | Flag.FOK | ~FLAG_ORDER_MASK
const NOT_ASKED = [
  REFUSALS.STRATEGY_KEY_UNKNOWN.number, REFUSALS.AGENT_NOT_ALLOWED.number, REFUSALS.SESSION_INVALID.number,
]
const TURN_MOST = 256
const C = ORDER_COMMAND.at

const bench = createBench(genesisText(VARIANTS['perps']!))
const { state } = bench
const workload = new MarginWorkload(SEED, state.genesis, { builder: true })
const [gate, scratch, timers] = [new Int32Array(new SharedArrayBuffer(64)), createPreviewScratch(), createTimers()]
const payload = viewsOf(new ArrayBuffer(64 * 1024))
const none = new Int32Array(64)
const cell = { words: none, wait: none, question: none, figures: new Float64Array(8), ...payload }
const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
const due = viewsOf(new ArrayBuffer(TURN_MOST * RECORD_BYTES))
const ladderOf: LadderOf = (pair) => {
  const { perp, tickLotAtoms } = state.genesis.pairs[pair]!
  return { tiers: perp!.tiers, tickLotAtoms }
}

/** Whether it can be asked what the order in `command` would come to. */
function isPreviewed({ i32, u32, i64 }: typeof command): boolean {
  const flags = u32[C.flags]!
  return typeOfKind(u32[0]!) === CommandType.PLACE_ORDER && (flags & NOT_PREVIEWED) === 0 && (flags & Flag.MARGIN) !== 0 &&
    (u32[C.options]! & Option.KEYED) === 0 && i64[C.collateral >>> 1] === 0n && i32[C.lots]! > 0 &&
    scalar(state, SCALAR.MAINTENANCE) === 0 &&
    i32[C.pair]! >= 0 && i32[C.pair]! < state.genesis.pairs.length && get(state, termsRow(state, i32[C.pair]!), TERMS.PERP) !== 0 &&
    sessionAccount(state, command, 0) >= 0
}

function preview(account: number): Previewed {
  const question = new Int32Array(32)
  const { i32 } = command
  question[Q.PAIR] = i32[C.pair]!
  question[Q.ACCOUNT] = account
  question[Q.FLAGS] = i32[C.flags]!
  question[Q.PRICE] = i32[C.price]!
  question[Q.LOTS] = i32[C.lots]!
  question[Q.LEVERAGE] = i32[C.leverage]!
  question[Q.SLIPPAGE_BPS] = i32[C.slippageBps]!
  question[Q.MARGIN_ACCOUNT] = i32[C.marginAccount]!
  question[Q.BUCKET] = i32[C.bucket]!
  question[Q.SEQUENCE_LOW] = i32[C.namedSequence]!
  question[Q.SEQUENCE_HIGH] = i32[C.namedSequence + 1]!
  question[Q.KEY_LOW] = i32[C.keyLow]!
  question[Q.KEY_HIGH] = i32[C.keyHigh]!
  if (writePreview(state, gate, scratch, question, cell as never, workload.time) < 0) throw new Error('it is no question')
  return readPreview(cell as never)
}

function apply(views: typeof command, base: number): number {
  const records = bench.run(views, base, workload.time)
  workload.learn(bench.said, records)
  return records
}

/** What timers write, until nothing is due: what ended by time is gone before anybody asks. */
function settleTime(): void {
  for (let turn = 0; turn < 50; turn++) {
    const used = writeDue(timers, state, workload.time, due, 0, TURN_MOST)
    for (let place = 0; place < used; place++) apply(due, place * RECORD_WORDS)
    if (used === 0) return
  }
}

const seen = { accepted: 0, refused: 0, filled: 0, endedMakers: 0, charged: 0 }

/** Bucket of the order that was placed, and its figures with the liquidation price of its position. */
function figuresAfter(said: Previewed, account: number): object {
  const order = { pair: command.i32[C.pair]! }
  const row = said.bucket.row >= 0 ? said.bucket.row : newestBucket(account)
  const { bucket } = readBucket(state, gate, account, row, getF64(state, bucketRow(state, row), RISK_BUCKET.CREATED_SEQUENCE))!
  const position = bucket.positions.find(({ pair }) => pair === order.pair)
  const { equity, requirement, maintenance } = bucketFigures(ladderOf, bucket)
  const liquidation = position === undefined ? null : liquidationPrice(ladderOf, bucket, position, state.priceTicks)
  return { equity, requirement, maintenance, liquidation }
}

function newestBucket(account: number): number {
  let [found, sequence] = [-1, 0]
  for (let row = 0; row < state.scalars[SCALAR.BUCKETS_USED]!; row++) {
    const made = getF64(state, bucketRow(state, row), RISK_BUCKET.CREATED_SEQUENCE)
    if (get(state, bucketRow(state, row), RISK_BUCKET.ACCOUNT) === account && made > sequence) [found, sequence] = [row, made]
  }
  return found
}

function differs(what: string, said: unknown, placed: unknown, index: number): void {
  const text = (value: unknown): string => JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each))
  if (text(said) === text(placed)) return
  throw new Error(`command ${index}: ${what}\npreview ${text(said)}\nplaced  ${text(placed)}\nagain: ${AGAIN}`)
}

function compare(index: number): void {
  settleTime()
  if (!isPreviewed(command)) return void apply(command, 0)
  const account = sessionAccount(state, command, 0)
  const pair = command.i32[C.pair]!
  const flags = command.i32[C.flags]!
  const terms = termsRow(state, pair)
  const takerPpm = get(state, terms, TERMS.TAKER_PPM) - get(state, accountRow(state, account), ACCOUNT.TAKER_DISCOUNT)
  const digest = index % 50 === 0 ? stateDigest(state) : ''
  const said = preview(account)
  if (digest !== '' && digest !== stateDigest(state)) throw new Error(`command ${index}: the preview changed something; again: ${AGAIN}`)
  const leverage = (flags & Flag.REDUCE_ONLY) !== 0 ? 0 : command.i32[C.leverage]!
  const order = { pair, flags, price: command.i32[C.price]!, leverage, makerPpm: 0, takerPpm, adds: addOnsOf(state, account) }
  const expected = afterOrder(ladderOf, state.priceTicks, said, order)
  const records = apply(command, 0)
  const at = (records - 1) * RECORD_WORDS
  const { i32, i64 } = bench.said
  // Who signs is not asked of a preview; and the gateway makes the bucket of a new strategy key first.
  if (NOT_ASKED.includes(i32[at + RESULT.at.code]!)) return
  differs('code', said.code, i32[at + RESULT.at.code], index)
  if (i32[at + RESULT.at.code] !== 0) return void seen.refused++
  seen.accepted++
  if (said.filled > 0) seen.filled++
  let added = 0n
  for (let record = 0; record < records; record++) {
    const base = record * RECORD_WORDS
    const ended = eventTypeOf(bench.said.u32[base]!) === EventType.ORDER_ENDED
    if (ended && i32[base + ORDER_ENDED.at.outcome]! >>> 8 === Reason.INSUFFICIENT_MARGIN) seen.endedMakers++
    const charged = eventTypeOf(bench.said.u32[base]!) === EventType.APPLICATION_FEE && i32[base + APPLICATION_FEE.at.rested] === 0
    if (charged) added += i64[(base + APPLICATION_FEE.at.amount) >>> 1]!
  }
  if (added > 0n) seen.charged++
  const quote = said.tickLots * ladderOf(pair).tickLotAtoms
  // What rests of a reduce-only order may be cut again.
  const lots = (flags & Flag.REDUCE_ONLY) !== 0 ? i32[at + RESULT.at.lots]! : said.lots
  differs('match', [lots, said.filled, said.trades, said.best, said.worst, quote], [
    i32[at + RESULT.at.lots], i32[at + RESULT.at.lots]! - i32[at + RESULT.at.remaining]!, i32[at + RESULT.at.trades],
    i32[at + RESULT.at.bestPrice], i32[at + RESULT.at.worstPrice], i64[(at + RESULT.at.filledQuote) >>> 1],
  ], index)
  if (expected.resting === 0) differs('fee', expected.fee, i64[(at + RESULT.at.fee) >>> 1]! + added, index)
  const { equity, requirement, maintenance, liquidation } = expected
  differs('figures', { equity, requirement, maintenance, liquidation }, figuresAfter(said, account), index)
}

t.test(`previews and placements (again: ${AGAIN})`, async (t) => {
  for (let index = 0; index < COMMANDS; index++) {
    workload.next(command, 0)
    compare(index)
  }
  t.comment(JSON.stringify(seen))
  t.ok(seen.accepted > COMMANDS / 50, `${seen.accepted} were accepted`)
  t.ok(seen.filled > COMMANDS / 200 && seen.refused > 0 && seen.charged > 0, JSON.stringify(seen))
})
