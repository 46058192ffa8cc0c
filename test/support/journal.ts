/**
 * Journals for crash tests, written by the real sequencer through real rings and the real LMDB writer, in this thread and with a clock
 * of their own; and what they must replay to, according to an engine that ran beside it.
 */
import { inWords } from './command_words.ts'
import { mkdirSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { realIo, type Io } from '../../core/lib/io.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { journalPath, openJournal, type JournalDatabase } from '../../core/journal/file.ts'
import { GENESIS_MAX_BYTES, genesisSlots, writeGenesis } from '../../core/journal/genesis_batch.ts'
import { lastSequence } from '../../core/journal/reader.ts'
import { catchUp, rebuild } from '../../core/recovery/recover.ts'
import { createWriter, type JournalWriter } from '../../core/journal/writer.ts'
import { COMMAND_LAYOUTS, CommandType, gatewayOfKind, kindOf, slotsOfKind, typeOfKind, COMMAND_SLOTS } from '../../core/layout/command.ts'
import { EVENT_LAYOUTS, eventName, eventTypeOf, RESULT } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../../core/layout/table.ts'
import { createBroadcast, createReader, read, type Reader } from '../../core/ring/broadcast.ts'
import { countersBytes, matcherCounters } from '../../core/ring/counters.ts'
import { attachQuestions, createQuestions as createCell, type Cell } from '../../core/ring/questions.ts'
import { attachRing, available, consume, createRing, front, publish, reserve, type Ring } from '../../core/ring/spsc.ts'
import { WAIT_WORDS } from '../../core/ring/wait.ts'
import { recordChecks, recordRefusal } from '../../core/sequencer/check.ts'
import { SequencerClock } from '../../core/sequencer/clock.ts'
import { attachLanes } from '../../core/sequencer/lanes.ts'
import { createSequencer, turn, type Sequencer } from '../../core/sequencer/loop.ts'
import { createMeter } from '../../core/sequencer/meter.ts'
import { createQuestions } from '../../core/sequencer/questions.ts'
import { writeSnapshot, snapshotFiles } from '../../core/snapshot/file.ts'
import { createBench, type Bench } from './naive_compare.ts'
import { genesisText, VARIANTS } from './variants.ts'
import { Workload } from './workload.ts'

export const GENESIS = genesisText(VARIANTS['market']!)
export const START_TIME = 1_700_000_000_000

/** The gateway's side of a lane. */
export interface GatewayLane {
  readonly commands: Ring
  readonly replies: Ring
  readonly wait: Int32Array
  readonly questions: Cell
}

/** A matcher without its thread. */
export interface Matcher {
  readonly dataDir: string
  readonly database: JournalDatabase
  readonly sequencer: Sequencer
  readonly gateways: readonly GatewayLane[]
  /** Reads the event ring from its start. */
  readonly events: Reader
  readonly counters: Float64Array
  /** The wall clock of the matcher. */
  clock: number
  /** One turn of the sequencer at the clock's time; its commands. */
  turn(timersDue?: boolean): number
}

export interface MatcherOptions {
  genesis?: string
  lanes?: number
  maxSlots?: number
  commandRing?: number
  /** When the exchange was made and its clock stands, Unix ms. */
  startTime?: number
  /** Hears what the sequencer warns of. */
  warn?: (message: string) => void
  /** Replaces the commit of the journal's writer. */
  commit?: (real: JournalWriter['commit']) => JournalWriter['commit']
}

/** Recovers what the directory has and stands ready to turn. */
export function startMatcher(dataDir: string, options: MatcherOptions = {}): Matcher {
  const { lanes = 4, maxSlots = 64, commandRing = 256, startTime = START_TIME } = options
  mkdirSync(journalPath(dataDir), { recursive: true })
  const database = openJournal(dataDir, false, 1)
  if (lastSequence(database) === 0) {
    writeGenesis(createWriter(database, genesisSlots(GENESIS_MAX_BYTES)), options.genesis ?? GENESIS, startTime)
  }
  const { replayer } = rebuild(database, snapshotFiles(dataDir), Infinity, () => undefined)
  catchUp(database, replayer, Infinity, realIo.seconds, () => undefined)
  const writer = createWriter(database, maxSlots, replayer.place)
  if (options.commit !== undefined) writer.commit = options.commit(writer.commit)
  const shared = Array.from({ length: lanes }, () => ({
    commands: createRing(commandRing).buffer,
    replies: createRing(4096).buffer,
    wait: new SharedArrayBuffer(WAIT_WORDS * 4),
    questions: createCell(),
  }))
  const events = createBroadcast(16_384)
  const counters = matcherCounters(new SharedArrayBuffer(countersBytes(lanes)))
  const time = { wall: startTime }
  const io: Io = { ...realIo, now: () => time.wall }
  const clock = new SequencerClock(io, replayer.state.clock[CLOCK.TIME]!, { jumpMs: 1000, gapMs: 86_400_000 }, counters, () => undefined)
  const sequencer = createSequencer({
    state: replayer.state, writer, clock, events, maxSlots,
    lanes: attachLanes(shared),
    questions: createQuestions(shared.map(({ questions }) => questions)),
    gate: new Int32Array(new SharedArrayBuffer(64)),
    wait: new Int32Array(new SharedArrayBuffer(WAIT_WORDS * 4)),
    warn: options.warn ?? (() => undefined),
    timersRest: () => false,
    meter: createMeter(counters, io),
    spin: 0,
    eventsChecksum: replayer.events,
  })
  const matcher: Matcher = {
    dataDir, database, sequencer, counters,
    gateways: shared.map((lane) => ({
      commands: attachRing(lane.commands), replies: attachRing(lane.replies), wait: new Int32Array(lane.wait),
      questions: attachQuestions(lane.questions),
    })),
    events: createReader(events, 4096, 0),
    get clock() {
      return time.wall
    },
    set clock(wall) {
      time.wall = wall
    },
    turn: (timersDue = false) => turn(sequencer, io.now(), timersDue),
  }
  return matcher
}

/** Posts the command at word `base` on the lane that its header names. */
export function post(matcher: Matcher, command: Views, base = 0): void {
  const kind = command.u32[base]!
  const ring = matcher.gateways[gatewayOfKind(kind)]!.commands
  const slots = slotsOfKind(kind)
  for (let slot = 0; slot < slots; slot++) {
    const at = reserve(ring, slot)
    if (at < 0) throw new Error('the command ring is full')
    const from = base + slot * RECORD_WORDS
    ring.slots.i32.set(command.i32.subarray(from, from + RECORD_WORDS), at)
  }
  publish(ring, slots)
}

/** Takes every waiting answer of a lane, as records. */
export function takeAnswers(lane: GatewayLane): Views {
  const count = available(lane.replies)
  const answers = viewsOf(new ArrayBuffer(count * RECORD_BYTES))
  for (let index = 0; index < count; index++) {
    const at = front(lane.replies, index)
    answers.i32.set(lane.replies.slots.i32.subarray(at, at + RECORD_WORDS), index * RECORD_WORDS)
  }
  consume(lane.replies, count)
  return answers
}

/** Posts one command; `slots` beyond the first are zero. */
export function postCommand(matcher: Matcher, lane: number, type: CommandType, values: Decoded, slots = 1): void {
  const command = viewsOf(new ArrayBuffer(Math.max(slots, COMMAND_SLOTS) * RECORD_BYTES))
  encode(COMMAND_LAYOUTS[type]!, command, 0, { kind: kindOf(type, slots, lane), ...inWords(type, values) })
  post(matcher, command)
}

/** Records as plain values, each with the name of its event. */
export const printed = (records: Views, count = records.i32.length / RECORD_WORDS): Decoded[] =>
  Array.from({ length: count }, (_, index) => {
    const type = eventTypeOf(records.u32[index * RECORD_WORDS]!)
    return { event: eventName(type), ...decode(EVENT_LAYOUTS[type]!, records, index * RECORD_WORDS) }
  })

/** Takes every waiting answer of a lane. */
export const answersOf = (matcher: Matcher, lane: number): Decoded[] => printed(takeAnswers(matcher.gateways[lane]!))

/** Takes what the event ring has for the matcher's reader. */
export function eventsOf(matcher: Matcher): Decoded[] {
  const events: Decoded[] = []
  for (let count = read(matcher.events); count !== 0; count = read(matcher.events)) {
    if (count < 0) throw new Error('the event reader was lapped')
    events.push(...printed(viewsOf(matcher.events.copy.buffer as ArrayBuffer), count))
  }
  return events
}

export interface Signed {
  readonly session: number
  readonly sessionGeneration: number
}

/** Signs somebody in and asks the faucet for everything, in batches of their own. */
export function openAccount(matcher: Matcher, lane: number, name: string): Signed {
  const hex = (bytes: number): string => Buffer.from(name).toString('hex').padEnd(bytes * 2, '0')
  postCommand(matcher, lane, CommandType.OPEN_SESSION, { session: -1, address: hex(20), publicKey: hex(32) })
  matcher.turn()
  const answer = decode(RESULT, takeAnswers(matcher.gateways[lane]!), 0)
  const signed = { session: Number(answer['detail']), sessionGeneration: Number(answer['detail2']) }
  postCommand(matcher, lane, CommandType.MINT, { ...signed, asset: -1 })
  matcher.turn()
  takeAnswers(matcher.gateways[lane]!)
  eventsOf(matcher)
  return signed
}

/** What is true after a batch. */
export interface After {
  /** Its first and last sequence. */
  readonly first: number
  readonly last: number
  readonly time: number
  readonly digest: string
  /** Chained checksum of all events so far. */
  readonly events: number
  /** Checksum of the batch. */
  readonly checksum: number
}

export interface MadeJournal {
  readonly database: JournalDatabase
  /** By batch; number 0 is the genesis. */
  readonly after: readonly After[]
}

export interface JournalOptions {
  seed?: number
  batches?: number
  /** Most commands of a batch. */
  commands?: number
  /** Writes a snapshot after these batches. */
  snapshots?: readonly number[]
  /** Masters make sub-accounts, move money and pay for orders. */
  families?: boolean
  /** Of the exchange: a name of variants.ts; absent: market. */
  variant?: string
}

/** Makes a journal of engine commands. What it says about each batch comes from an engine of its own, not from the sequencer. */
export function makeJournal(
  dataDir: string, { seed = 1, batches = 20, commands = 8, snapshots = [], families = false, variant = 'market' }: JournalOptions = {},
): MadeJournal {
  const genesis = genesisText(VARIANTS[variant]!)
  // Each batch takes all of its commands, whatever they carry.
  const matcher = startMatcher(dataDir, { genesis, maxSlots: Math.max(64, COMMAND_SLOTS * commands) })
  const { sequencer } = matcher
  const { writer } = sequencer
  const bench = createBench(genesis)
  bench.state.clock[CLOCK.SEQUENCE] = 1
  bench.state.clock[CLOCK.TIME] = START_TIME
  const workload = new Workload(seed, parseGenesis(genesis), { families })
  const after: After[] = [{ first: 1, last: 1, time: START_TIME, digest: stateDigest(bench.state), events: 0, checksum: writer.checksum }]
  for (let batch = 1; batch <= batches; batch++) {
    const { last, events } = after[batch - 1]!
    const count = 1 + ((batch * 5 + seed) % commands)
    matcher.clock = workload.time
    const made = fillBatch(matcher, bench, workload, count, 1 + (batch % 3), events)
    if (matcher.turn() !== count) throw new Error('the sequencer took other commands than were posted')
    for (const lane of matcher.gateways) takeAnswers(lane)
    const time = sequencer.state.clock[CLOCK.TIME]!
    after.push({ first: last + 1, last: last + count, time, digest: stateDigest(bench.state), events: made, checksum: writer.checksum })
    if (snapshots.includes(batch)) writeSnapshot(dataDir, sequencer.state, genesis, writer.checksum, sequencer.eventsChecksum)
  }
  return { database: matcher.database, after }
}

/** Posts `count` commands on one lane, which keeps their order, and applies them to the engine beside; its chained event checksum. */
function fillBatch(matcher: Matcher, bench: Bench, workload: Workload, count: number, lane: number, events: number): number {
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  const checks = recordChecks(matcher.sequencer.state)
  let checksum = events
  for (let made = 0; made < count; made++) {
    // What no gateway sends never gets as far as a journal.
    do {
      workload.next(command, 0)
      command.u32[0] = kindOf(typeOfKind(command.u32[0]!), slotsOfKind(command.u32[0]!), lane)
    } while (recordRefusal(checks, command, 0, lane) !== 0)
    post(matcher, command)
    const records = bench.run(command, 0, matcher.clock)
    checksum = crc32(bench.said.bytes.subarray(0, records * RECORD_BYTES), checksum)
    workload.learn(bench.said, records)
  }
  return checksum
}
