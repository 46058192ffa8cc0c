/**
 * Books told to many: 2,000 WebSockets listen to the books of four pairs while every millisecond an order changes one of them, durable,
 * through the real exchange; and the same flow with the sockets connected and nobody listening, one round after the other. Load,
 * listeners and exchange share the two cores.
 *
 * Timed are trades and books, both from the sequenced time to the receipt by some probes among the sockets. A trade says when it was
 * made. A book says which change is its last; the change's time is in the journal, and its receipt is that of the first frame of its
 * book that goes so far, so a change that waits for its book's turn is charged with the wait.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { openJournal } from '../../core/journal/file.ts'
import { readBatches, START } from '../../core/journal/reader.ts'
import type { Exchange } from '../../test/support/exchange.ts'
import { amount, median, quantile, type Result } from '../result.ts'
import { richGenesis } from './batch.ts'
import type { Order, ProbeBooks, Report } from './fanout_listeners.ts'
import { lateness } from './open_loop.ts'
import { withExchange } from './own_exchange.ts'
import { bucketQuantile, MARKETS, metricsOf, SteadyFlow, type Change } from './steady_flow.ts'

const SOCKETS = 2000
/** Odd, so that there are probes on every book. */
const PROBE_EVERY = 49
const CHANGES_PER_SECOND = 1000
const TRADERS = 4
const SECONDS = amount(5, 1)
const ROUNDS = amount(4, 1)

const LISTENERS = join(import.meta.dirname, 'fanout_listeners.ts')

/** A process of listeners, asked one thing at a time. */
class Listeners {
  readonly #child: ChildProcess = fork(LISTENERS, { execArgv: ['--disable-warning=ExperimentalWarning'] })

  ask(order: Order): Promise<Report> {
    return new Promise((resolve, reject) => {
      this.#child.once('exit', (code) => reject(new Error(`the listeners ended with ${code}`)))
      this.#child.once('message', (report) => {
        this.#child.removeAllListeners('exit')
        resolve(report as Report)
      })
      this.#child.send(order)
    })
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}

interface Round {
  readonly p50: number
  readonly p99: number
  /** 99th percentile of the matcher's commits, ms. */
  readonly commit: number
  readonly changes: readonly Change[]
  readonly books: readonly ProbeBooks[]
  readonly figures: Record<string, number>
}

/** What is on its way to the probes when the last order is answered gets this long, ms. */
const REST_MS = 1000

async function round(exchange: Exchange, flow: SteadyFlow, listeners: Listeners): Promise<Round> {
  const since = await metricsOf(exchange)
  await listeners.ask({ do: 'report' })
  const started = performance.now()
  flow.takeChanges()
  const { latencies, late, refused } = await flow.run(CHANGES_PER_SECOND, SECONDS * 1000)
  const seconds = (performance.now() - started) / 1000
  const until = await metricsOf(exchange)
  await new Promise((resolve) => setTimeout(resolve, REST_MS))
  const heard = await listeners.ask({ do: 'report' })
  const grown = (name: string): number => {
    const key = `${name}{gateway="1"}`
    return until.get(key)! - since.get(key)!
  }
  const lags = Float64Array.from(heard.lags).sort()
  const lag = 'exchange_websocket_lag_seconds'
  return {
    p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99),
    commit: 1000 * bucketQuantile('exchange_journal_commit_seconds', since, until, 0.99),
    changes: flow.takeChanges(),
    books: heard.books,
    figures: {
      'changes/s': latencies.length / seconds,
      refused,
      'turns/s': grown(`${lag}_count`) / seconds,
      'frames/s': grown('exchange_websocket_frames_total') / seconds,
      'MB/s': grown('exchange_websocket_frame_bytes_total') / seconds / 1e6,
      'match to socket write, oldest of a turn to its last byte, p50, ms': 1000 * bucketQuantile(lag, since, until, 0.5),
      'match to socket write, oldest of a turn to its last byte, p99, ms': 1000 * bucketQuantile(lag, since, until, 0.99),
      'trade, match to receipt by probes, p50, ms': quantile(lags, 0.5),
      'trade, match to receipt by probes, p99, ms': quantile(lags, 0.99),
      'processor of the gateway for it, share of a core': grown('exchange_websocket_cpu_seconds_total') / seconds,
      'processor of the gateway for it, us a frame': (1e6 * grown('exchange_websocket_cpu_seconds_total')) /
        grown('exchange_websocket_frames_total'),
      'share of a core, listeners': heard.cpuSeconds / seconds,
      'sockets lost': heard.closed,
      ...lateness(late),
    },
  }
}

/** Sequenced time, Unix ms, of every command in the journal: those of a batch have one time. */
function sequencedTimes({ dataDir }: Exchange): (sequence: number) => number {
  const database = openJournal(dataDir, true)
  const batches: { sequence: number; time: number }[] = []
  for (const { sequence, time } of readBatches(database, START)) batches.push({ sequence, time })
  void database.close()
  return (sequence) => {
    let [low, high] = [0, batches.length]
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (batches[middle]!.sequence <= sequence) low = middle
      else high = middle
    }
    return batches[low]!.time
  }
}

/** From every change to its receipt by every probe of its book, ms, sorted; and how many were never received. */
function bookLags({ changes, books }: Round, timeOf: (sequence: number) => number): { lags: Float64Array; missed: number } {
  const lags: number[] = []
  let missed = 0
  for (const { market, sequences, times } of books) {
    let frame = 0
    for (const change of changes) {
      if (change.market !== market) continue
      while (frame < sequences.length && sequences[frame]! < change.sequence) frame++
      if (frame === sequences.length) missed++
      else lags.push(times[frame]! - timeOf(change.sequence))
    }
  }
  return { lags: Float64Array.from(lags).sort(), missed }
}

async function takeRounds(exchange: Exchange, listeners: Listeners): Promise<{ alone: Round[]; told: Round[] }> {
  const alone: Round[] = []
  const told: Round[] = []
  const flow = await SteadyFlow.open(exchange, TRADERS)
  flow.noteChanges()
  await listeners.ask({ do: 'connect', port: exchange.port, sockets: SOCKETS, pairs: flow.pairs, probeEvery: PROBE_EVERY })
  await listeners.ask({ do: 'subscribe' })
  await flow.run(CHANGES_PER_SECOND, 3000)
  for (let i = 0; i < ROUNDS; i++) {
    await listeners.ask({ do: 'unsubscribe' })
    await flow.run(CHANGES_PER_SECOND, 500)
    alone.push(await round(exchange, flow, listeners))
    await listeners.ask({ do: 'subscribe' })
    await flow.run(CHANGES_PER_SECOND, 500)
    told.push(await round(exchange, flow, listeners))
  }
  const timeOf = sequencedTimes(exchange)
  for (const each of told) {
    const { lags, missed } = bookLags(each, timeOf)
    each.figures['book, match to receipt by probes, p50, ms'] = quantile(lags, 0.5)
    each.figures['book, match to receipt by probes, p99, ms'] = quantile(lags, 0.99)
    each.figures['book, match to receipt by probes, at most, ms'] = lags.at(-1)!
    each.figures['changes of books not received by a probe'] = missed
  }
  return { alone, told }
}

export async function run(): Promise<Result> {
  const listeners = new Listeners()
  const flags = ['--gateways', '1', '--ws-connections', String(2 * SOCKETS + 20), '--ws-idle-seconds', '960']
  const { alone, told } = await withExchange(
    (directory) => ['--genesis', richGenesis(directory), ...flags], (exchange) => takeRounds(exchange, listeners),
  ).finally(() => listeners.stop())
  const middle = (name: string): number => median(told.map(({ figures }) => figures[name]!))
  return {
    name: 'fanout: books told to many WebSockets',
    settings: {
      sockets: `${SOCKETS} raw sockets in a process of their own, ${Math.ceil(SOCKETS / PROBE_EVERY)} of them probes with trades too`,
      flow: `${CHANGES_PER_SECOND} orders/s over gRPC sessions at fixed times, durable, each changes one of ${MARKETS.length} books`,
      gateways: 1,
      rounds: `${ROUNDS} of ${SECONDS} s without and with subscriptions, one after the other; medians`,
    },
    figures: {
      ...Object.fromEntries(Object.keys(told[0]!.figures).map((name) => [name, middle(name)])),
      'order due to answer, nobody listens, p50, ms': median(alone.map(({ p50 }) => p50)),
      'order due to answer, nobody listens, p99, ms': median(alone.map(({ p99 }) => p99)),
      'order due to answer, told to many, p50, ms': median(told.map(({ p50 }) => p50)),
      'order due to answer, told to many, p99, ms': median(told.map(({ p99 }) => p99)),
      'matcher, p99 of commits, nobody listens, ms': median(alone.map(({ commit }) => commit)),
      'matcher, p99 of commits, told to many, ms': median(told.map(({ commit }) => commit)),
      'p99 of due to answer, told to many by nobody listens': median(told.map(({ p99 }, i) => p99 / alone[i]!.p99)),
    },
    targets: [
      // A receipt is later than the write that must be in time.
      { figure: 'trade, match to receipt by probes, p99, ms', atMost: 50, unit: 'ms' },
      { figure: 'book, match to receipt by probes, p99, ms', atMost: 50, unit: 'ms' },
      { figure: 'p99 of due to answer, told to many by nobody listens', atMost: 1.1, unit: 'times' },
    ],
  }
}
