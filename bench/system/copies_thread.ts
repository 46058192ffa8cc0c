/**
 * The quick thread of copies.ts: 10,000 followers of one leader, made beside the journal; then the sequencer's own turns over a real
 * journal (core/sequencer/loop.ts), one after the other. What is due by then is put into the lane before each turn, so an order waits for
 * the turn that it came in and for its own, as it does in the exchange, and nobody else needs a core.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { apply, setTime } from '../../core/engine/apply.ts'
import { openJournal } from '../../core/journal/file.ts'
import { makeRoom } from '../../core/journal/room.ts'
import { createWriter } from '../../core/journal/writer.ts'
import { COMMAND_LAYOUTS, CommandType, Flag, kindOf } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { realIo } from '../../core/lib/io.ts'
import { firstLead } from '../../core/margin/leads.ts'
import { findPosition } from '../../core/margin/positions.ts'
import { bucketOfFollow } from '../../core/orders/copy_orders.ts'
import { attachBroadcast, createBroadcast } from '../../core/ring/broadcast.ts'
import { countersBytes, MATCHER, matcherCounters } from '../../core/ring/counters.ts'
import { createQuestions as createCell } from '../../core/ring/questions.ts'
import { available, consume, createRing, front, publish, reserve, room } from '../../core/ring/spsc.ts'
import { WAIT_WORDS } from '../../core/ring/wait.ts'
import type { SequencerClock } from '../../core/sequencer/clock.ts'
import { attachLanes, copyRecord } from '../../core/sequencer/lanes.ts'
import { createSequencer, step } from '../../core/sequencer/loop.ts'
import { createMeter } from '../../core/sequencer/meter.ts'
import { createQuestions } from '../../core/sequencer/questions.ts'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { POSITION } from '../../core/state/margin_rows.ts'
import { followRow, get } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import type { Lane } from '../../core/threads.ts'
import { quantile } from '../result.ts'
import { benchGenesis, fundedState, MIDDLE, PERPETUAL_PAIR, poolOf, START_TIME } from '../micro/flow.ts'

export interface CopiesWork {
  readonly directory: string
  readonly followers: number
  /** Orders of others, at fixed times. */
  readonly perSecond: number
  /** Without copies, before each fill. */
  readonly calmMs: number
  /** Rounds of the leader's four fills; the first one of all finds code that was not compiled yet. */
  readonly rounds: number
}

/** A fill of the leader, and what others noticed of it. */
export interface MirroredFill {
  /** From when the leader sent his order until all followers have theirs. */
  readonly ms: number
  /** Commands that mirrored. */
  readonly steps: number
  /** From when each order of others was due to its answer, ms: before the fill, and until it was mirrored. */
  readonly calm: Latencies
  readonly meanwhile: Latencies
}

export interface Latencies {
  readonly p50: number
  readonly p99: number
  /** The longest turn, ms. */
  readonly longest: number
  readonly orders: number
}

const work = workerData as CopiesWork
const { followers, perSecond } = work
const MAKERS = 50
const TRADERS = 1000
/** Of the leader, lots: opened, added, closed in part, and all that is left. */
const FILLS = [1_000_000, 500_000, -750_000, -750_000]
const LEADER = followers
const HANDLE = 'lea'
const BATCH_MAX = 2048
const GIBIBYTES = 8
/** A fill that is not mirrored by then ends the bench. */
const MIRRORED_WITHIN_MS = 20_000
/** Correlation of the leader's orders. */
const LEADERS = 1

const accounts = followers + 1 + 2 * MAKERS + TRADERS
const limits = { marginAccounts: 4 * accounts, follows: 2 * accounts, followersPerLeader: followers }
const state: State = fundedState(benchGenesis(poolOf(4_096), accounts, true, limits), accounts)
const record = viewsOf(new ArrayBuffer(RECORD_BYTES))

const signed = (account: number): Decoded =>
  ({ session: account, sessionGeneration: state.sessions[account * SESSION_WORDS + SESSION.GENERATION]! })
const handle = { length: HANDLE.length, handle: Buffer.from(HANDLE).toString('hex').padEnd(48, '0') }

function write(type: CommandType, lane: number, values: Decoded): void {
  encode(COMMAND_LAYOUTS[type]!, record, 0, { kind: kindOf(type, 1, lane), ...values })
}

/** Applied at once: what is there before the sequencer begins. */
function send(type: CommandType, values: Decoded): void {
  write(type, 1, values)
  apply(state, record, 0)
  const code = state.outbox.i32[(state.outbox.count - 1) * RECORD_WORDS + RESULT.at.code]!
  if (code !== 0) throw new Error(`command ${type} was refused: ${code}`)
  state.outbox.count = 0
}

const sideOf = (sell: boolean): number => (sell ? Flag.SELL : 0)

/** Books that every fill finds enough in; a leader, and followers of whom each gives another part. */
function prepare(): void {
  for (let maker = 0; maker < 2 * MAKERS; maker++) {
    const sell = maker % 2 === 1
    const terms = { pair: PERPETUAL_PAIR, price: sell ? MIDDLE + 1 : MIDDLE - 1, lots: 10_000_000, leverage: 1000 }
    send(CommandType.PLACE_ORDER, { ...signed(followers + 1 + maker), ...terms, flags: sideOf(sell) | Flag.MARGIN })
  }
  send(CommandType.REGISTER_LEADER, { ...signed(LEADER), ...handle })
  for (let account = 0; account < followers; account++) {
    const allocation = BigInt(5_000 + 7 * (account % 1000)) * 1_000_000n
    send(CommandType.CREATE_FOLLOW, { ...signed(account), ...handle, mode: 0, maxLeverage: 0, allocation })
  }
}

setTime(state, START_TIME)
prepare()

const journal = join(work.directory, 'journal')
mkdirSync(journal, { recursive: true })
const database = openJournal(work.directory, false, GIBIBYTES)
const writer = createWriter(database, BATCH_MAX)
const began = performance.now()
const clock = { now: () => START_TIME + Math.floor(performance.now() - began), waits: false } as SequencerClock
const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)
const lane = (): Lane => ({
  commands: createRing(8192).buffer, replies: createRing(16384).buffer, wait: cell(), questions: createCell(),
})
const lanes = attachLanes([lane(), lane()])
const counters = matcherCounters(new SharedArrayBuffer(countersBytes(1)))
const sequencer = createSequencer({
  state, clock, writer, lanes,
  questions: createQuestions([]),
  events: attachBroadcast(createBroadcast(65536).buffer),
  gate: new Int32Array(cell()), wait: new Int32Array(cell()),
  meter: createMeter(counters, realIo),
  warn: (message: string) => { throw new Error(message) },
  timersRest: () => false, maxSlots: BATCH_MAX, spin: 0, eventsChecksum: 0,
})

/** Puts the record that was written into a lane. */
function post(number: number, from = record.i32, at = 0): void {
  const { commands } = lanes[number]!
  copyRecord(from, at, commands.slots.i32, reserve(commands, 0))
  publish(commands, 1)
}

/** Orders of others, made beforehand: half of them rest, and the next one takes each. */
const others = viewsOf(new ArrayBuffer(TRADERS * RECORD_BYTES))
for (let i = 0; i < TRADERS; i++) {
  const values = { ...signed(followers + 1 + 2 * MAKERS + i), pair: 0, flags: sideOf(i % 2 === 1), price: MIDDLE, lots: 1, leverage: 0 }
  encode(COMMAND_LAYOUTS[CommandType.PLACE_ORDER]!, others, i * RECORD_WORDS, { kind: kindOf(CommandType.PLACE_ORDER, 1, 1), ...values })
}

/** Of the orders of others, ms, in the order of their answers. */
const took = new Float64Array(1_000_000).fill(1)
let offered = 0
/** The leader's order has its answer. */
let filled = false

/** Takes the answers of a turn, of which each must be a yes; how many are of orders of others, which come in the order of their sending. */
function takeAnswers(): number {
  let answered = 0
  for (const { replies } of lanes) {
    const count = available(replies)
    for (let i = 0; i < count; i++) {
      const at = front(replies, i)
      const code = replies.slots.i32[at + RESULT.at.code]!
      if (code !== 0) throw new Error(`an order was refused: ${code}`)
      if (replies.slots.i32[at + RESULT.at.correlation] === LEADERS) filled = true
      else if (replies === lanes[1]!.replies) answered++
    }
    consume(replies, count)
  }
  return answered
}

/** Turns until `until` says so, with the orders of others at their times, and then until all of those are answered. */
function turns(until: () => boolean): Latencies {
  let [sent, answered, longest] = [0, 0, 0]
  const from = performance.now()
  const dueAt = (order: number): number => from + (order * 1000) / perSecond
  for (let over = until(); !over || answered < sent; over ||= until()) {
    const turned = performance.now()
    const { commands } = lanes[1]!
    for (; !over && dueAt(sent) <= turned && room(commands, 1) > 0; sent++) post(1, others.i32, (offered++ % TRADERS) * RECORD_WORDS)
    step(sequencer)
    const answers = takeAnswers()
    const ended = performance.now()
    longest = Math.max(longest, ended - turned)
    for (const last = answered + answers; answered < last; answered++) took[answered] = ended - dueAt(answered)
  }
  const sorted = took.slice(0, sent).sort()
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), longest, orders: sent }
}

const passed = (ms: number): (() => boolean) => {
  const end = performance.now() + ms
  return () => performance.now() >= end
}

/** The same price again: an old one would let nobody open anything. */
function postPrice(): void {
  write(CommandType.SET_INDEX_PRICE, 0, { session: -1, pair: PERPETUAL_PAIR, price: MIDDLE, force: 1, observedAt: clock.now() })
  post(0)
}

async function fill(lots: number): Promise<MirroredFill> {
  await makeRoom(work.directory)
  postPrice()
  const calm = turns(passed(work.calmMs))
  const before = counters[MATCHER.timers]!
  const order = { pair: PERPETUAL_PAIR, flags: sideOf(lots < 0) | Flag.MARGIN | Flag.MARKET, price: 0, lots: Math.abs(lots), leverage: 500 }
  write(CommandType.PLACE_ORDER, 1, { ...signed(LEADER), correlation: LEADERS, ...order })
  post(1)
  filled = false
  const from = performance.now()
  let ms = 0
  const meanwhile = turns(() => {
    ms = performance.now() - from
    if (ms > MIRRORED_WITHIN_MS) throw new Error('a fill was not mirrored in time')
    return filled && firstLead(state) < 0
  })
  return { ms, steps: counters[MATCHER.timers]! - before, calm, meanwhile }
}

/** Followers with a position. */
function copies(): number {
  let held = 0
  for (let number = 0; number < followers; number++) {
    const bucket = bucketOfFollow(state, followRow(state, number), PERPETUAL_PAIR)
    const position = bucket < 0 ? -1 : findPosition(state, bucket, PERPETUAL_PAIR)
    if (position >= 0 && get(state, position, POSITION.LOTS) > 0) held++
  }
  return held
}

const fills: MirroredFill[] = []
for (let round = 0; round < work.rounds; round++) {
  for (const [i, lots] of FILLS.entries()) {
    fills.push(await fill(lots))
    const should = i === FILLS.length - 1 ? 0 : followers
    if (copies() !== should) throw new Error(`${copies()} followers have a copy, not ${should}`)
  }
}
writer.close()
await database.close()
parentPort!.postMessage(fills)
