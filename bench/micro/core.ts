/**
 * The engine alone: commands made beforehand, applied in batches of 256 by a quick thread, as the matcher is one. Balances, fees
 * and events are all there; journal, rings and answers are not. `timeCore` is shared with core_large.ts and core_against.ts.
 *
 * Figures: the median and the best round (the machine may do other things meanwhile; both rounds of warming up left out), garbage
 * of a warm round, and latencies from a pass of its own that reads the clock after every command, so they include one reading
 * (`clockNs`). `timesPeer` is the median of the ratios to nodejs-order-book, which keeps no balances, fees or records: the same
 * orders and cancels in a quick thread of its own, warmed by as many rounds, a round of the one and a round of the other in turn.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { startQuickThread } from '../../core/lib/quick_thread.ts'
import { amount, median, type Result } from '../result.ts'
import type { CoreEnd, CoreRound, CoreWork } from './core_thread.ts'
import { mixedFlow, type Flow } from './flow.ts'

export interface CoreOptions {
  readonly live: number
  readonly accounts: number
  readonly timed: number
  readonly rounds: number
}

export interface CoreFigures extends CoreEnd {
  /** ns per command of each round after the warming ones. */
  readonly rounds: readonly number[]
  readonly fills: number
  readonly live: number
}

const SEED = 1
export const WARM_ROUNDS = 2

export function start(file: string, flow: Flow, { live, accounts, timed }: CoreOptions, programs?: CoreWork['programs']): Worker {
  const perpetual = flow.genesis.limits.perps > 0
  const records = flow.records.i32.buffer as SharedArrayBuffer
  const work: CoreWork = { live, accounts, timed, perpetual, programs, build: flow.build, records }
  return startQuickThread(join(import.meta.dirname, file), { workerData: work })
}

export async function ask<Answer>(worker: Worker, what: 'round' | 'finish'): Promise<Answer> {
  const answer = once(worker, 'message')
  worker.postMessage(what)
  return (await answer)[0] as Answer
}

/** Rounds of the flow in a quick thread; before each one of them `beside` runs. */
export async function timeCore(flow: Flow, options: CoreOptions, beside?: () => Promise<void>): Promise<CoreFigures> {
  const worker = start('core_thread.ts', flow, options)
  const rounds: CoreRound[] = []
  for (let i = 0; i < WARM_ROUNDS + options.rounds; i++) {
    await beside?.()
    rounds.push(await ask<CoreRound>(worker, 'round'))
  }
  const end = await ask<CoreEnd>(worker, 'finish')
  const { fills, live } = rounds.at(-1)!
  return { ...end, rounds: rounds.slice(WARM_ROUNDS).map(({ ns }) => ns), fills, live }
}

export function figuresOf(core: CoreFigures): Record<string, number> {
  const ns = median(core.rounds)
  return {
    commandsPerSecond: 1e9 / ns, nsPerCommand: ns, bestNsPerCommand: Math.min(...core.rounds),
    collectionsPerMillion: core.garbage.collections, bytesPerCommand: core.garbage.bytes,
    p50Us: core.p50, p99Us: core.p99, p999Us: core.p999, maxUs: core.max, clockNs: core.clock,
    fillsPerCommand: core.fills, liveAtTheEnd: core.live,
  }
}

const OPTIONS: CoreOptions = { live: 10_000, accounts: 1000, timed: amount(1_000_000, 100_000), rounds: amount(9, 1) }

export async function run(options = OPTIONS): Promise<Result> {
  const flow = mixedFlow(options.live, options.accounts, options.timed, SEED)
  const peer = start('peer_thread.ts', flow, options)
  const peers: number[] = []
  const core = await timeCore(flow, options, async () => void peers.push(await ask<number>(peer, 'round')))
  peer.postMessage('finish')
  const timed = peers.slice(WARM_ROUNDS)
  return {
    name: 'core',
    settings: { ...options, warmRounds: WARM_ROUNDS, seed: SEED, flow: '64 % new, 36 % cancel', peer: 'nodejs-order-book 10.1.1' },
    figures: {
      ...figuresOf(core),
      peerNsPerCommand: median(timed),
      timesPeer: median(timed.map((ns, round) => ns / core.rounds[round]!)),
    },
    targets: [
      { figure: 'commandsPerSecond', atLeast: 8_000_000, unit: 'commands/s' },
      { figure: 'collectionsPerMillion', atMost: 0, unit: 'collections' },
      { figure: 'bytesPerCommand', atMost: 0.01, unit: 'bytes' },
      { figure: 'p999Us', atMost: 5, unit: 'us' },
      { figure: 'timesPeer', atLeast: 20, unit: 'times' },
    ],
  }
}
