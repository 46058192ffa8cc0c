/** The quick thread of core.ts: rounds on fresh states, a count of garbage collections, and a pass that times every command. */
import { PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { apply } from '../../core/engine/apply.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import type { State } from '../../core/state/state.ts'
import { quantile } from '../result.ts'
import { applyFlow, BATCH, benchGenesis, fundedState, poolOf } from './flow.ts'

export interface CoreWork {
  readonly live: number
  readonly accounts: number
  readonly timed: number
  readonly rounds: number
  readonly build: number
  readonly records: SharedArrayBuffer
}

export interface CoreFigures {
  /** ns per command of each round after the warming ones. */
  readonly rounds: readonly number[]
  /** Garbage collections during a warm round, per million commands. */
  readonly collections: number
  /** Latencies in us, each with one reading of the clock. */
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
  /** ns for reading the clock. */
  readonly clock: number
  readonly fills: number
  readonly live: number
}

const WARM_ROUNDS = 2

const work = workerData as CoreWork
const records = viewsOf(work.records)

function populated(): State {
  const state = fundedState(benchGenesis(poolOf(work.live), work.accounts), work.accounts)
  applyFlow(state, records, 0, work.build)
  return state
}

/** ns per command of the timed records. */
function timeRound(state: State): number {
  const started = performance.now()
  applyFlow(state, records, work.build, work.build + work.timed)
  return ((performance.now() - started) * 1e6) / work.timed
}

/** Garbage collections while a fresh state gets the timed records, per million of them. */
async function countCollections(state: State): Promise<number> {
  const times: number[] = []
  const observer = new PerformanceObserver((list) => list.getEntries().forEach((entry) => times.push(entry.startTime)))
  observer.observe({ entryTypes: ['gc'] })
  // What was made before is collected before.
  await sleep(200)
  const started = performance.now()
  timeRound(state)
  const ended = performance.now()
  await sleep(200)
  observer.disconnect()
  return (times.filter((time) => time >= started && time <= ended).length * 1e6) / work.timed
}

/** us of every timed command, sorted. */
function timeCommands(state: State, commands: Views): Float64Array {
  // Touched beforehand: the first write to each of its pages is a page fault, one in 512 commands, and none of the engine's.
  const took = new Float64Array(work.timed).fill(1)
  let before = performance.now()
  for (let index = 0; index < work.timed; index++) {
    apply(state, commands, (work.build + index) * RECORD_WORDS)
    const after = performance.now()
    took[index] = (after - before) * 1000
    before = after
    if (index % BATCH === 0) {
      state.outbox.count = 0
      before = performance.now()
    }
  }
  return took.sort()
}

/** ns for one reading of the clock. */
function timeClock(): number {
  const readings = 1_000_000
  const started = performance.now()
  for (let i = 0; i < readings; i++) performance.now()
  return ((performance.now() - started) * 1e6) / readings
}

const rounds: number[] = []
let fills = 0
let live = 0
for (let round = 0; round < WARM_ROUNDS + work.rounds; round++) {
  const state = populated()
  const before = state.clock[CLOCK.FILLS]!
  const ns = timeRound(state)
  if (round >= WARM_ROUNDS) rounds.push(ns)
  fills = (state.clock[CLOCK.FILLS]! - before) / work.timed
  live = state.scalars[SCALAR.ORDERS_LIVE]!
}
const collections = await countCollections(populated())
const took = timeCommands(populated(), records)
const figures: CoreFigures = {
  rounds, collections, fills, live,
  p50: quantile(took, 0.5), p99: quantile(took, 0.99), p999: quantile(took, 0.999), max: took[took.length - 1]!,
  clock: timeClock(),
}
parentPort!.postMessage(figures)
