/** The quick thread of triggers.ts: opens positions, attaches, times turns in which nothing fires, then moves the price. */
import { parentPort, workerData } from 'node:worker_threads'
import { COMMAND_LAYOUTS, CommandType, Flag, kindOf, ORDER_COMMAND } from '../../core/layout/command.ts'
import { CONDITIONAL_ORDER, ConditionalReason, conditionalReasonOf } from '../../core/layout/conditional.ts'
import { EventType, eventTypeOf, RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { apply, setTime } from '../../core/engine/apply.ts'
import { createTriggerTimers, TRIGGERS_MAX, writeTriggers } from '../../core/sequencer/trigger_timers.ts'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { POSITION, POSITION_WORDS } from '../../core/state/margin_rows.ts'
import type { State } from '../../core/state/state.ts'
import { quantile } from '../result.ts'
import { benchGenesis, fundedState, MIDDLE, PERPETUAL_PAIR, poolOf, START_TIME } from './flow.ts'

export interface TriggersWork {
  readonly longs: number
  readonly ordersPerTurn: number
  readonly calmTurns: number
}

/** us. */
export interface Latencies {
  readonly p50: number
  readonly p99: number
}

export interface TriggersEnd {
  readonly idleUs: number
  readonly priceUs: number
  readonly fired: number
  readonly steps: number
  readonly mostSteps: number
  readonly turns: number
  readonly ms: number
  readonly longestMs: number
  readonly calm: Latencies
  readonly storm: Latencies
  /** A number for the order in which they fired. */
  readonly order: number
}

const work = workerData as TriggersWork
const { longs, ordersPerTurn } = work
const LOTS = 1_000
const LEVERAGE = 500
const MAKERS = 50
/** The price falls by so many ticks; one stop-loss of five is within them, each at a tick of its own where there are enough. */
const FALL = Math.round(MIDDLE * 0.02)
const TURNS_MAX = 1_000_000

const accounts = 2 * longs + 2 * MAKERS
const state: State = fundedState(benchGenesis(poolOf(4_096), accounts, true), accounts)
const batch = viewsOf(new ArrayBuffer((TRIGGERS_MAX + ordersPerTurn) * RECORD_BYTES))
const timers = createTriggerTimers()
let fired = 0
let order = 0

const generation = (account: number): number => state.sessions[account * SESSION_WORDS + SESSION.GENERATION]!
const signed = (account: number): Decoded => ({ session: account, sessionGeneration: generation(account) })

function send(type: number, gateway: number, values: Decoded): void {
  encode(COMMAND_LAYOUTS[type]!, batch, 0, { kind: kindOf(type, 1, gateway), ...values })
  apply(state, batch, 0)
  const code = state.outbox.i32[(state.outbox.count - 1) * RECORD_WORDS + RESULT.at.code]!
  if (code !== 0) throw new Error(`command ${type} was refused: ${code}`)
  drain()
}

function place(slot: number, pair: number, account: number, sell: boolean, price: number, lots: number, leverage: number): void {
  encode(ORDER_COMMAND, batch, slot * RECORD_WORDS, {
    kind: kindOf(CommandType.PLACE_ORDER, 1, 1), ...signed(account), pair,
    flags: (sell ? Flag.SELL : 0) | (leverage > 0 ? Flag.MARGIN : 0), price, lots, leverage,
  })
}

function now(slot: number): void {
  apply(state, batch, slot * RECORD_WORDS)
  const code = state.outbox.i32[(state.outbox.count - 1) * RECORD_WORDS + RESULT.at.code]!
  if (code !== 0) throw new Error(`an order was refused: ${code}`)
  state.outbox.count = 0
}

/** A long and a short in turn, which trade with each other. */
function openPositions(): void {
  for (let account = 0; account < 2 * longs; account++) {
    place(0, PERPETUAL_PAIR, account, account % 2 === 1, MIDDLE, LOTS, LEVERAGE)
    now(0)
  }
}

/** A stop-loss and a trailing stop for each long: one of five stop-losses is above where the price will fall to. */
function attachAll(): void {
  for (let long = 0; long < longs; long++) {
    const account = 2 * long
    const row = positionOf(account)
    const near = long % 5 === 0
    const stopTrigger = near ? MIDDLE - 1 - (long % (FALL - 1)) : MIDDLE - 2 * FALL - (long % 1_000)
    send(CommandType.ATTACH_CONDITIONALS, 1, {
      ...signed(account), position: row, openedSequence: state.positionsF64[(row * POSITION_WORDS + POSITION.OPENED_SEQUENCE) >>> 1]!,
      stopTrigger, trailBps: 500 + (long % 1_500),
    })
  }
}

/** Rows are taken in the order in which positions were opened. */
const rows = new Map<number, number>()
function positionOf(account: number): number {
  if (rows.size === 0) {
    for (let row = 0; row < 2 * longs; row++) rows.set(state.positions[row * POSITION_WORDS + POSITION.ACCOUNT]!, row)
  }
  return rows.get(account)!
}

/** Bids that take all that is sold, and asks above. */
function openBook(): void {
  const lots = Math.ceil(((longs / 5) * LOTS) / MAKERS) * 2
  for (let maker = 0; maker < MAKERS; maker++) {
    for (const sell of [false, true]) {
      place(0, PERPETUAL_PAIR, 2 * longs + 2 * maker + (sell ? 1 : 0), sell, MIDDLE - FALL + (sell ? FALL + 10 : -10), lots, 1000)
      now(0)
    }
  }
}

const took = new Float64Array(4_000_000).fill(1)
let timed = 0

function drain(): void {
  const { outbox } = state
  for (let event = 0; event < outbox.count; event++) {
    const at = event * RECORD_WORDS
    if (eventTypeOf(outbox.u32[at]!) !== EventType.CONDITIONAL) continue
    if (conditionalReasonOf(outbox.i32[at + CONDITIONAL_ORDER.at.what]!) !== ConditionalReason.TRIGGERED) continue
    fired++
    order = (Math.imul(order, 31) + outbox.i32[at + CONDITIONAL_ORDER.at.account]!) | 0
  }
  outbox.count = 0
}

/** One turn: commands of triggers, then users' orders; the commands of triggers that there were. */
function turn(): number {
  const from = performance.now()
  const steps = writeTriggers(timers, state, batch, 0, TRIGGERS_MAX)
  for (let step = 0; step < steps; step++) apply(state, batch, step * RECORD_WORDS)
  for (let at = 0; at < ordersPerTurn; at++) {
    place(steps + at, 0, at % longs, at % 2 === 1, MIDDLE, 1, 0)
    apply(state, batch, (steps + at) * RECORD_WORDS)
    if (timed < took.length) took[timed++] = (performance.now() - from) * 1000
  }
  drain()
  return steps
}

function latencies(): Latencies {
  const sorted = took.slice(0, timed).sort()
  timed = 0
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
}

function calm(): Latencies {
  for (let i = 0; i < work.calmTurns; i++) turn()
  if (fired > 0) throw new Error('something fired before the price fell')
  return latencies()
}

function price(ticks: number): number {
  const from = performance.now()
  send(CommandType.SET_INDEX_PRICE, 0, { session: -1, pair: PERPETUAL_PAIR, price: ticks, force: 1, observedAt: START_TIME })
  return (performance.now() - from) * 1000
}

setTime(state, START_TIME)
openPositions()
attachAll()
openBook()
calm()
const before = calm()
const idle: number[] = []
for (let step = 0; step < 200; step++) idle.push(price(MIDDLE + 1 + (step % 10)))
const idleUs = idle.sort((a, b) => a - b)[100]!
if (fired > 0) throw new Error('a price that crosses nothing fired something')
const priceUs = price(MIDDLE - FALL)
let [steps, mostSteps, turns, longestMs] = [0, 0, 0, 0]
const began = performance.now()
for (let last = -1; last !== 0; turns++) {
  if (turns === TURNS_MAX) throw new Error(`triggers did not end in ${TURNS_MAX} turns`)
  const from = performance.now()
  last = turn()
  steps += last
  mostSteps = Math.max(mostSteps, last)
  longestMs = Math.max(longestMs, performance.now() - from)
}
const end: TriggersEnd = {
  idleUs, priceUs, fired, steps, mostSteps, turns, ms: performance.now() - began, longestMs, calm: before, storm: latencies(), order,
}
parentPort!.postMessage(end)
