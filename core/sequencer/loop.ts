/**
 * The sequencer: drain, stamp, journal, apply, publish. One batch after the other on one thread.
 *
 *   rings --drain--> batch --commit (fsync)--> apply --> answers, events
 *
 * Nothing of a batch is visible anywhere before its commit returned: the state itself changes only afterwards, so gateways that read
 * the shared columns see durable facts only. A commit that throws ends the process with nothing answered. Time never goes back,
 * whatever the wall clock does. Between ring read and journal write there is no allocation but the journal's own.
 */
import { crc32 } from 'node:zlib'
import { askedKindOf } from '../layout/answers.ts'
import {
  COMMAND_LAYOUTS, CommandType, gatewayOfKind, kindOf, SESSION_COMMAND, slotsOfKind, typeOfKind,
} from '../layout/command.ts'
import { CONDITIONAL_ORDER, conditionalReasonOf, ConditionalReason, conditionOf, ConditionType } from '../layout/conditional.ts'
import { EventType, ORDER_ENDED, RESULT } from '../layout/event.ts'
import { LIQUIDATION } from '../layout/margin_events.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../layout/table.ts'
import { TWAP_ORDER, twapReasonOf, TwapReason } from '../layout/twap.ts'
import { apply, setTime } from '../engine/apply.ts'
import { CLOCK } from '../state/columns.ts'
import type { State } from '../state/state.ts'
import { warmAhead } from '../engine/warm.ts'
import type { JournalWriter } from '../journal/writer.ts'
import { broadcast, type Broadcast } from '../ring/broadcast.ts'
import { APPLYING, STOP } from '../ring/counters.ts'
import { waitFor } from '../ring/wait.ts'
import type { SequencerClock } from './clock.ts'
import { recordChecks, recordFault, recordRefusal } from './check.ts'
import { paceCopies } from './copy_timers.ts'
import { anyCommand, answer, answerAs, drain, publishAnswers, type Admit, type MatcherLane } from './lanes.ts'
import type { Meter } from './meter.ts'
import { answerQuestion, anyQuestion, type Questions } from './questions.ts'
import { createTimers, writeDue, type Timers } from './timers.ts'

export interface Sequencer {
  readonly state: State
  readonly writer: JournalWriter
  readonly batch: Views
  readonly lanes: readonly MatcherLane[]
  readonly questions: Questions
  readonly events: Broadcast
  /** Words APPLYING and STOP. */
  readonly gate: Int32Array
  readonly wait: Int32Array
  readonly meter: Meter
  readonly clock: SequencerClock
  /** Says once that a record was refused before the journal. */
  readonly warn: (message: string) => void
  readonly admit: Admit
  readonly timers: Timers
  /** Sequenced time at which timers are looked at next, Unix ms. */
  timersAt: number
  /** Whether timers wait, because what they did could not be recorded. */
  readonly timersRest: () => boolean
  readonly maxSlots: number
  readonly spin: number
  /** Chained checksum of all events so far. */
  eventsChecksum: number
  firstLane: number
  /** Lane and first undelivered record of the command being applied, for an outbox that fills in the middle of it. */
  gateway: number
  commandType: number
  /** Its own number for the answer. */
  correlation: number
  delivered: number
}

export type SequencerParts =
  Omit<Sequencer, 'batch' | 'admit' | 'firstLane' | 'gateway' | 'commandType' | 'correlation' | 'delivered' | 'timers' | 'timersAt'>

export function createSequencer(parts: SequencerParts): Sequencer {
  const { words } = parts.writer
  const sequencer: Sequencer = {
    ...parts,
    batch: viewsOf(words.buffer, words.byteOffset, words.byteLength),
    admit: admission(parts),
    timers: createTimers(),
    timersAt: 0,
    firstLane: 0,
    gateway: 0,
    commandType: 0,
    correlation: 0,
    delivered: 0,
  }
  parts.state.outbox.overflow = () => {
    deliver(sequencer)
    publishEvents(sequencer)
  }
  return sequencer
}

/** Lets records pass that can be applied; counts the others and says the first of them, for they are a fault of ours and never a user's. */
function admission({ state, meter, warn }: Pick<SequencerParts, 'state' | 'meter' | 'warn'>): Admit {
  let checks = recordChecks(state)
  let { buffers } = state
  let said = false
  return (batch, at, lane) => {
    // Of other limits than before.
    if (state.buffers !== buffers) {
      checks = recordChecks(state)
      buffers = state.buffers
    }
    const code = recordRefusal(checks, batch, at, lane)
    if (code === 0) return 0
    meter.invalid()
    if (!said) warn(`a record was refused before it was journaled: ${recordFault(checks, batch, at, lane)}; others are counted only`)
    said = true
    return code
  }
}

/** How long an idle matcher parks at most, ms: its heartbeat and the grain of timers. */
const PARK_MS = 20
/** Timers that are not behind are looked at no more often than this, ms. */
const TIMER_MS = 10

/** Runs until STOP is set and the rings are empty. */
export function runSequencer(sequencer: Sequencer): void {
  const { gate, lanes, meter, wait, questions } = sequencer
  const ready = (): boolean => anyCommand(lanes) || anyQuestion(questions) || Atomics.load(gate, STOP) !== 0
  for (;;) {
    if (step(sequencer) > 0) continue
    if (Atomics.load(gate, STOP) !== 0 && !anyCommand(lanes)) return
    meter.beat()
    waitFor(wait, ready, sequencer.spin, PARK_MS)
    meter.awake()
  }
}

/** One turn at the clock's time, with timers when they are due, and an answer to a question; returns its commands. */
export function step(sequencer: Sequencer): number {
  const { clock } = sequencer
  const now = clock.now()
  const timersDue = now >= sequencer.timersAt
  if (timersDue) {
    sequencer.timersAt = now + TIMER_MS
    sequencer.meter.waiting(sequencer.state.receiptStore.retry())
  }
  const commands = turn(sequencer, now, timersDue && !clock.waits && !sequencer.timersRest())
  if (sequencer.timers.behind) sequencer.timersAt = 0
  answerQuestion(sequencer, now, commands > 0)
  return commands
}

/** One batch; returns its commands, 0 when there was nothing to do. */
export function turn(sequencer: Sequencer, now: number, timersDue: boolean): number {
  const { state, batch, lanes, maxSlots } = sequencer
  const time = Math.max(now, state.clock[CLOCK.TIME]!)
  let slots = timersDue ? writeDue(sequencer.timers, state, time, batch, 0, (maxSlots + 1) >>> 1) : 0
  const timers = slots
  slots = drain(lanes, sequencer.firstLane, batch, slots, maxSlots, sequencer.admit)
  sequencer.firstLane = (sequencer.firstLane + 1) % lanes.length
  if (slots === 0) {
    publishAnswers(lanes)
    return 0
  }
  let commands = 0
  for (let slot = 0; slot < slots; slot += slotsOfKind(batch.u32[slot * RECORD_WORDS]!)) commands++
  if (timers > 0) sequencer.meter.timed(timers)
  sequencer.meter.drained(slots - timers)
  commitAndApply(sequencer, commands, slots, time)
  return commands
}

/**
 * One command of the sequencer itself, of one slot and in a batch of its own, without session and answered to nobody. For what a
 * start or the operator's flags decide: it must be in the journal, because it changes state.
 */
export function commitOwn(sequencer: Sequencer, type: CommandType, values: Decoded): void {
  const { state, batch, clock } = sequencer
  encode(COMMAND_LAYOUTS[type]!, batch, 0, { kind: kindOf(type, 1, 0), session: -1, ...values })
  commitAndApply(sequencer, 1, 1, Math.max(clock.now(), state.clock[CLOCK.TIME]!))
}

/** Makes the first `slots` slots durable, then applies them and lets everybody see what happened. */
function commitAndApply(sequencer: Sequencer, commands: number, slots: number, time: number): void {
  const { state, writer, meter } = sequencer
  meter.committing()
  const bytes = writer.commit(state.clock[CLOCK.SEQUENCE]! + 1, time, commands, slots, sequencer.eventsChecksum)
  paceCopies(sequencer.timers.copies, meter.committed(bytes))
  applyBatch(sequencer, slots, time)
  meter.applied(state, commands)
}

/** ACCEPT_CLOCK of the operator, as its header says it; of any other lane the engine refuses it. */
const ACCEPT_CLOCK = kindOf(CommandType.ACCEPT_CLOCK, 1, 0)

/** Applies the records of a durable batch, then lets everybody see what happened. */
function applyBatch(sequencer: Sequencer, slots: number, time: number): void {
  const { state, batch, gate } = sequencer
  const { outbox } = state
  Atomics.add(gate, APPLYING, 1)
  setTime(state, time)
  for (let slot = 0, warmed = 0; slot < slots; ) {
    const at = slot * RECORD_WORDS
    if (at >= warmed) warmed = warmAhead(state, batch, at, slots * RECORD_WORDS)
    const kind = batch.u32[at]!
    sequencer.gateway = gatewayOfKind(kind)
    sequencer.commandType = typeOfKind(kind)
    sequencer.correlation = batch.u32[at + SESSION_COMMAND.at.correlation]!
    apply(state, batch, at)
    if (kind === ACCEPT_CLOCK) sequencer.clock.accept()
    deliver(sequencer)
    if (outbox.count > outbox.capacity >>> 1) publishEvents(sequencer)
    slot += slotsOfKind(kind)
  }
  Atomics.add(gate, APPLYING, 1)
  // In this order: a gateway that has an answer looks for its fills in the event ring (gateway/bridge/arrival_fills.ts).
  publishEvents(sequencer)
  publishAnswers(sequencer.lanes)
}

/** Commands that the sequencer makes itself: nobody waits for their answers. */
const isOwn = (type: number): boolean =>
  type === CommandType.EXPIRE_ORDER || type === CommandType.CONTINUE_CANCEL || type === CommandType.SET_RULES ||
  type === CommandType.ENTER_ORDER || type === CommandType.LIMITS_IN_FORCE || type === CommandType.FUNDING_STEP ||
  type === CommandType.LIQUIDATION_STEP || type === CommandType.SETTLEMENT_STEP || type === CommandType.EXPIRE_CONDITIONAL ||
  type === CommandType.TRIGGER_STEP || type === CommandType.TWAP_STEP || type === CommandType.COPY_STEP

/** Copies the answers among the events of the current command to the lane that asked. */
function deliver(sequencer: Sequencer): void {
  const { state, lanes, commandType } = sequencer
  const { outbox } = state
  const lane = lanes[sequencer.gateway]!
  const asks = !isOwn(commandType)
  const cancels = commandType === CommandType.CANCEL_ALL
  for (let record = sequencer.delivered; record < outbox.count; record++) {
    const at = record * RECORD_WORDS
    const type = outbox.i32[at]! & 0xff
    if (type === EventType.RESULT && outbox.i32[at + RESULT.at.code] !== 0) sequencer.meter.refused()
    if (type === EventType.LIQUIDATION) sequencer.meter.liquidated(outbox.i32[at + LIQUIDATION.at.status]!)
    else if (type === EventType.CONDITIONAL) sequencer.meter.waited(outbox.i32[at + CONDITIONAL_ORDER.at.what]!)
    else if (type === EventType.TWAP) sequencer.meter.sliced(outbox.i32[at + TWAP_ORDER.at.what]!)
    if (asks && type === EventType.RESULT) answer(lane, outbox.i32, at)
    else if (cancels && type === EventType.ORDER_ENDED) {
      // An order that ended along with something else, as the slice of a TWAP order, has no correlation, and nobody reckons with it.
      if (outbox.u32[at + ORDER_ENDED.at.correlation] === sequencer.correlation) answer(lane, outbox.i32, at)
    } else if (cancels && isCancelled(type, outbox.i32, at)) answerAs(lane, outbox.i32, at, askedKindOf(type, sequencer.correlation))
  }
  sequencer.delivered = outbox.count
}

/** A conditional or TWAP order that its owner cancelled. What ended along with an order, as its legs, is nobody's answer. */
function isCancelled(type: number, words: Int32Array, at: number): boolean {
  if (type === EventType.TWAP) return twapReasonOf(words[at + TWAP_ORDER.at.what]!) === TwapReason.USER_CANCELLED
  if (type !== EventType.CONDITIONAL) return false
  const what = words[at + CONDITIONAL_ORDER.at.what]!
  return conditionalReasonOf(what) === ConditionalReason.USER_CANCELLED && conditionOf(what) !== ConditionType.TWAP_START
}

/** Moves the waiting events to the event ring and into the chained checksum. */
function publishEvents(sequencer: Sequencer): void {
  const { outbox } = sequencer.state
  if (outbox.count > 0) {
    sequencer.eventsChecksum = crc32(outbox.bytes.subarray(0, outbox.count * RECORD_BYTES), sequencer.eventsChecksum)
    broadcast(sequencer.events, outbox.i32, outbox.count)
    sequencer.meter.published(outbox.count)
  }
  outbox.count = 0
  sequencer.delivered = 0
}
