/** The quick thread of core.ts: rounds on fresh states when asked, then a count of garbage and a pass that times every command. */
import { PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import { RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { apply } from '../../core/engine/apply.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import type { State } from '../../core/state/state.ts'
import { quantile } from '../result.ts'
import { applyFlow, BATCH, benchGenesis, fundedState, poolOf } from './flow.ts'
import { stagePrograms } from './programs_stage.ts'

export interface CoreWork {
  readonly live: number
  readonly accounts: number
  readonly timed: number
  /** Half of the flow is on a perpetual. */
  readonly perpetual: boolean
  /** Programs stand ready (programs_stage.ts), switched on or off. */
  readonly programs?: 'on' | 'off'
  readonly build: number
  readonly records: SharedArrayBuffer
}

export interface CoreRound {
  /** A command, on the average. */
  readonly ns: number
  /** The same by the processor's time, which those who also want the processor do not lengthen; to 4 ms of a round. */
  readonly processorNs: number
  /** A command. */
  readonly fills: number
  /** Orders at the end. */
  readonly live: number
}

export interface CoreEnd {
  readonly garbage: Garbage
  /** Latencies in us, each with one reading of the clock. */
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
  /** ns for reading the clock. */
  readonly clock: number
}

const work = workerData as CoreWork
const records = viewsOf(work.records)

function populated(): State {
  const state = fundedState(benchGenesis(poolOf(work.live), work.accounts, work.perpetual), work.accounts)
  if (work.programs !== undefined) stagePrograms(state, work.accounts, work.programs === 'on')
  applyFlow(state, records, 0, work.build)
  return state
}

/** ns per command of the timed records, by the clock and by the processor's time. */
function timeRound(state: State): Pick<CoreRound, 'ns' | 'processorNs'> {
  const before = process.threadCpuUsage()
  const started = performance.now()
  applyFlow(state, records, work.build, work.build + work.timed)
  const ns = ((performance.now() - started) * 1e6) / work.timed
  const { user, system } = process.threadCpuUsage(before)
  return { ns, processorNs: ((user + system) * 1000) / work.timed }
}

/** What a warm round leaves for the garbage collector. */
export interface Garbage {
  /** Collections, per million commands. */
  readonly collections: number
  /** Bytes a command, without those of reading the heap's size; NaN: there was a collection, so nobody can say. */
  readonly bytes: number
}

/** Collections and bytes while a fresh state gets the timed records. */
async function countGarbage(state: State): Promise<Garbage> {
  const times: number[] = []
  const observer = new PerformanceObserver((list) => list.getEntries().forEach((entry) => times.push(entry.startTime)))
  observer.observe({ entryTypes: ['gc'] })
  // What was made before is collected before.
  await sleep(200)
  const used = new Float64Array(4)
  const started = performance.now()
  for (let i = 0; i < 3; i++) used[i] = getHeapStatistics().used_heap_size
  applyFlow(state, records, work.build, work.build + work.timed)
  used[3] = getHeapStatistics().used_heap_size
  const ended = performance.now()
  await sleep(200)
  observer.disconnect()
  const collections = (times.filter((time) => time >= started && time <= ended).length * 1e6) / work.timed
  const reading = used[2]! - used[1]!
  return { collections, bytes: collections > 0 ? NaN : Math.max(0, used[3]! - used[2]! - reading) / work.timed }
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

async function finish(): Promise<CoreEnd> {
  const garbage = await countGarbage(populated())
  const took = timeCommands(populated(), records)
  return {
    garbage,
    p50: quantile(took, 0.5), p99: quantile(took, 0.99), p999: quantile(took, 0.999), max: took[took.length - 1]!,
    clock: timeClock(),
  }
}

function oneRound(): CoreRound {
  const state = populated()
  const before = state.clock[CLOCK.FILLS]!
  const took = timeRound(state)
  return { ...took, fills: (state.clock[CLOCK.FILLS]! - before) / work.timed, live: state.scalars[SCALAR.ORDERS_LIVE]! }
}

// One round for each message `round`; `finish` has the passes of their own and is the last.
parentPort!.on('message', async (asked: 'round' | 'finish') => {
  if (asked === 'round') return parentPort!.postMessage(oneRound())
  parentPort!.postMessage(await finish())
  parentPort!.close()
})
