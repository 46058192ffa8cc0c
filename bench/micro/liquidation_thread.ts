/** The quick thread of liquidation.ts: opens positions, times turns without a liquidation, moves the price, times turns until all ended. */
import { parentPort, workerData } from 'node:worker_threads'
import { COMMAND_LAYOUTS, CommandType, Flag, kindOf, ORDER_COMMAND } from '../../core/layout/command.ts'
import { EventType, eventTypeOf, RESULT } from '../../core/layout/event.ts'
import { LIQUIDATION, LiquidationStatus } from '../../core/layout/margin_events.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { apply, setTime } from '../../core/engine/apply.ts'
import { createLiquidationTimers, STEPS_MAX, writeLiquidations } from '../../core/sequencer/liquidation_timers.ts'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import type { State } from '../../core/state/state.ts'
import { quantile } from '../result.ts'
import { benchGenesis, fundedState, MIDDLE, PERPETUAL_PAIR, poolOf, START_TIME } from './flow.ts'

export interface StormWork {
  readonly positions: number
  readonly ordersPerTurn: number
  readonly calmTurns: number
  readonly market: 'book' | 'gap'
}

/** us. */
export interface Latencies {
  readonly p50: number
  readonly p99: number
}

export interface StormEnd {
  readonly priceUs: number
  readonly ended: number
  readonly steps: number
  readonly mostSteps: number
  readonly turns: number
  readonly ms: number
  readonly longestMs: number
  readonly calm: Latencies
  readonly storm: Latencies
}

const work = workerData as StormWork
const { positions, ordersPerTurn } = work
/** Of the fallen price, in ticks. */
const FALLEN = work.market === 'book' ? Math.round(MIDDLE * 0.993) : Math.round(MIDDLE * 0.97)
const LOTS = 1_000
/** One position of so many fails. */
const EVERY = 10
const RISKY = 10_000
const CAREFUL = 500
const MAKERS = 50
/** More turns than this: it does not end. */
const TURNS_MAX = 1_000_000

const accounts = positions + 2 * MAKERS
const state: State = fundedState(benchGenesis(poolOf(4_096), accounts, true), accounts)
const batch = viewsOf(new ArrayBuffer((STEPS_MAX + ordersPerTurn) * RECORD_BYTES))
const timers = createLiquidationTimers()
let ended = 0

function send(type: number, gateway: number, values: Decoded): void {
  encode(COMMAND_LAYOUTS[type]!, batch, 0, { kind: kindOf(type, 1, gateway), ...values })
  apply(state, batch, 0)
  const code = state.outbox.i32[(state.outbox.count - 1) * RECORD_WORDS + RESULT.at.code]!
  if (code !== 0) throw new Error(`command ${type} was refused: ${code}`)
  state.outbox.count = 0
}

const generation = (account: number): number => state.sessions[account * SESSION_WORDS + SESSION.GENERATION]!

function order(slot: number, pair: number, account: number, sell: boolean, price: number, lots: number, leverage: number): void {
  encode(ORDER_COMMAND, batch, slot * RECORD_WORDS, {
    kind: kindOf(CommandType.PLACE_ORDER, 1, 1), session: account, sessionGeneration: generation(account),
    pair, flags: (sell ? Flag.SELL : 0) | (leverage > 0 ? Flag.MARGIN : 0), price, lots, leverage,
  })
}

/** Longs and shorts in turn; a short that is there for each long. */
function openPositions(): void {
  for (let account = 0; account < positions; account++) {
    const leverage = account % (EVERY * 2) < 4 && account % 2 === 0 ? RISKY : CAREFUL
    order(0, PERPETUAL_PAIR, account, account % 2 === 1, MIDDLE, LOTS, leverage)
    apply(state, batch, 0)
    const code = state.outbox.i32[(state.outbox.count - 1) * RECORD_WORDS + RESULT.at.code]!
    if (code !== 0) throw new Error(`position ${account} was refused: ${code}`)
    state.outbox.count = 0
  }
}

/** Bids that can take all that fails, and asks above, so that the middle of the book is the fallen price. */
function openBook(): void {
  const lots = Math.ceil((positions / EVERY) * LOTS / MAKERS) * 2
  for (let maker = 0; maker < MAKERS; maker++) {
    for (const sell of [false, true]) {
      const account = positions + 2 * maker + (sell ? 1 : 0)
      order(0, PERPETUAL_PAIR, account, sell, FALLEN + (sell ? 10 : -10), lots, 1000)
      apply(state, batch, 0)
      state.outbox.count = 0
    }
  }
}

const took = new Float64Array(4_000_000).fill(1)
let timed = 0

function drain(): void {
  const { outbox } = state
  for (let event = 0; event < outbox.count; event++) {
    const at = event * RECORD_WORDS
    if (eventTypeOf(outbox.u32[at]!) !== EventType.LIQUIDATION) continue
    if (outbox.i32[at + LIQUIDATION.at.status] === LiquidationStatus.COMPLETED) ended++
  }
  outbox.count = 0
}

/** One turn: commands of liquidation, then users' orders; the commands of liquidation that there were. */
function turn(now: number): number {
  setTime(state, now)
  const from = performance.now()
  const steps = writeLiquidations(timers, state, now, batch, 0, STEPS_MAX)
  for (let step = 0; step < steps; step++) apply(state, batch, step * RECORD_WORDS)
  for (let at = 0; at < ordersPerTurn; at++) {
    const sell = at % 2 === 1
    order(steps + at, 0, at % positions, sell, MIDDLE, 1, 0)
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

/** Turns without a liquidation; users' orders alone. */
function calm(): Latencies {
  for (let i = 0; i < work.calmTurns; i++) turn(START_TIME)
  if (ended > 0) throw new Error('a position failed before the price fell')
  return latencies()
}

function fall(): number {
  if (work.market === 'book') openBook()
  const from = performance.now()
  send(CommandType.SET_INDEX_PRICE, 0, { session: -1, pair: PERPETUAL_PAIR, price: FALLEN, observedAt: START_TIME })
  return (performance.now() - from) * 1000
}

openPositions()
calm()
const before = calm()
const priceUs = fall()
let [steps, mostSteps, turns, longestMs] = [0, 0, 0, 0]
const began = performance.now()
for (let last = -1; last !== 0; turns++) {
  if (turns === TURNS_MAX) throw new Error(`liquidation did not end in ${TURNS_MAX} turns`)
  const from = performance.now()
  last = turn(START_TIME)
  steps += last
  mostSteps = Math.max(mostSteps, last)
  longestMs = Math.max(longestMs, performance.now() - from)
}
const end: StormEnd = {
  priceUs, ended, steps, mostSteps, turns, ms: performance.now() - began, longestMs, calm: before, storm: latencies(),
}
parentPort!.postMessage(end)
