/**
 * The engine alone: commands made beforehand, applied in batches of 256 by a quick thread, as the matcher is one. Balances, fees
 * and events are all there; journal, rings and answers are not. `runCore` is shared with core_large.ts.
 *
 * Figures: the median and the best round (the machine may do other things meanwhile; both rounds of warming up left out), garbage
 * collections over a million warm commands, and latencies from a pass of its own that reads the clock after every command, so they
 * include one reading (`clockNs`). `timesOrderBook` is the rate over that of nodejs-order-book for the same orders and cancels, which
 * keeps no balances, fees or records.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { OrderBook, Side } from 'nodejs-order-book'
import { CommandType, Flag, ORDER_COMMAND, typeOfKind } from '../../core/layout/command.ts'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import { startQuickThread } from '../../core/lib/quick_thread.ts'
import { median, type Result } from '../result.ts'
import type { CoreFigures, CoreWork } from './core_thread.ts'
import { mixedFlow, type Flow } from './flow.ts'

export interface CoreOptions {
  readonly live: number
  readonly accounts: number
  readonly timed: number
  readonly rounds: number
}

const SEED = 1
/** Commands the other order book is timed with: it takes microseconds for each. */
const PEER_COMMANDS = 200_000

type Operation = { readonly cancel: string } | { readonly side: Side; readonly id: string; readonly size: number; readonly price: number }

/** The flow's record `index` for an order book that names orders by text. The sequence is its own number after the sign-ins. */
function operationOf(flow: Flow, index: number): Operation {
  const { i32, u32, f64 } = flow.records
  const base = index * RECORD_WORDS
  const { at } = ORDER_COMMAND
  if (typeOfKind(u32[base]!) === CommandType.CANCEL_ORDER) return { cancel: String(f64[(base + at.targetSequence) >>> 1]!) }
  const side = (i32[base + at.flags]! & Flag.SELL) !== 0 ? Side.SELL : Side.BUY
  return { side, id: String(flow.accounts + index + 1), size: i32[base + at.lots]!, price: i32[base + at.price]! }
}

/** ns per command of nodejs-order-book. */
function timePeer(flow: Flow): number {
  const operations = Array.from({ length: flow.build + PEER_COMMANDS }, (_, index) => operationOf(flow, index))
  const book = new OrderBook()
  let started = 0
  operations.forEach((operation, index) => {
    if (index === flow.build) started = performance.now()
    if ('cancel' in operation) book.cancel(operation.cancel)
    else book.limit(operation)
  })
  return ((performance.now() - started) * 1e6) / PEER_COMMANDS
}

/** Rounds of the flow in a quick thread. */
export async function timeCore(flow: Flow, options: CoreOptions): Promise<CoreFigures> {
  const work: CoreWork = { ...options, build: flow.build, records: flow.records.i32.buffer as SharedArrayBuffer }
  const worker = startQuickThread(join(import.meta.dirname, 'core_thread.ts'), { workerData: work })
  const [figures] = (await once(worker, 'message')) as [CoreFigures]
  return figures
}

export function figuresOf(core: CoreFigures): Record<string, number> {
  const ns = median(core.rounds)
  return {
    commandsPerSecond: 1e9 / ns, nsPerCommand: ns, bestNsPerCommand: Math.min(...core.rounds), collectionsPerMillion: core.collections,
    p50Us: core.p50, p99Us: core.p99, p999Us: core.p999, maxUs: core.max, clockNs: core.clock,
    fillsPerCommand: core.fills, liveAtTheEnd: core.live,
  }
}

export async function run(options: CoreOptions = { live: 10_000, accounts: 1000, timed: 1_000_000, rounds: 9 }): Promise<Result> {
  const flow = mixedFlow(options.live, options.accounts, options.timed, SEED)
  const core = await timeCore(flow, options)
  const peer = timePeer(flow)
  return {
    name: 'core',
    settings: { ...options, seed: SEED, flow: '64 % new, 36 % cancel' },
    figures: { ...figuresOf(core), orderBookNsPerCommand: peer, timesOrderBook: peer / median(core.rounds) },
    targets: [
      { figure: 'commandsPerSecond', atLeast: 8_000_000, unit: 'commands/s' },
      { figure: 'collectionsPerMillion', atMost: 0, unit: 'collections' },
      { figure: 'p999Us', atMost: 5, unit: 'us' },
      { figure: 'timesOrderBook', atLeast: 20, unit: 'times' },
    ],
  }
}
