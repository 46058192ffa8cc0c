/**
 * Books told to many: 2,000 WebSockets listen to the books of four pairs while every millisecond an order changes one of them, durable,
 * through the real exchange; and the same flow with the sockets connected and nobody listening, one round after the other. Load,
 * listeners and exchange share the two cores.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../../test/support/exchange.ts'
import { median, quantile, type Result } from '../result.ts'
import { richGenesis } from './batch.ts'
import type { Order, Report } from './fanout_listeners.ts'
import { bucketQuantile, MARKETS, metricsOf, SteadyFlow } from './steady_flow.ts'

const SOCKETS = 2000
const PROBE_EVERY = 50
const CHANGES_PER_SECOND = 1000
const TRADERS = 4
const SECONDS = 5
const ROUNDS = 4

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
  readonly figures: Record<string, number>
}

async function round(exchange: Exchange, flow: SteadyFlow, listeners: Listeners): Promise<Round> {
  const since = await metricsOf(exchange)
  await listeners.ask({ do: 'report' })
  const started = performance.now()
  const { latencies, refused } = await flow.run(CHANGES_PER_SECOND, SECONDS * 1000)
  const seconds = (performance.now() - started) / 1000
  const until = await metricsOf(exchange)
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
    figures: {
      'changes/s': latencies.length / seconds,
      refused,
      'turns/s': grown(`${lag}_count`) / seconds,
      'frames/s': grown('exchange_websocket_frames_total') / seconds,
      'MB/s': grown('exchange_websocket_frame_bytes_total') / seconds / 1e6,
      'match to socket write, oldest of a turn to its last byte, p50, ms': 1000 * bucketQuantile(lag, since, until, 0.5),
      'match to socket write, oldest of a turn to its last byte, p99, ms': 1000 * bucketQuantile(lag, since, until, 0.99),
      'match to receipt by probes, p50, ms': quantile(lags, 0.5),
      'match to receipt by probes, p99, ms': quantile(lags, 0.99),
      'processor of the gateway for it, share of a core': grown('exchange_websocket_cpu_seconds_total') / seconds,
      'processor of the gateway for it, us a frame': (1e6 * grown('exchange_websocket_cpu_seconds_total')) /
        grown('exchange_websocket_frames_total'),
      'share of a core, listeners': heard.cpuSeconds / seconds,
      'sockets lost': heard.closed,
    },
  }
}

export async function run(): Promise<Result> {
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory, [
    '--genesis', richGenesis(directory), '--gateways', '1', '--ws-connections', String(2 * SOCKETS + 20), '--ws-idle-seconds', '960',
  ])
  const listeners = new Listeners()
  const alone: Round[] = []
  const told: Round[] = []
  try {
    const flow = await SteadyFlow.open(exchange, TRADERS)
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
  } finally {
    listeners.stop()
    await exchange.stop()
    removeDirectory(directory)
  }
  const middle = (name: string): number => median(told.map(({ figures }) => figures[name]!))
  return {
    name: 'fanout: books told to many WebSockets',
    settings: {
      sockets: `${SOCKETS} raw sockets in a process of their own, ${SOCKETS / PROBE_EVERY} of them probes with trades too`,
      flow: `${CHANGES_PER_SECOND} orders/s over gRPC sessions, durable, each changes one of ${MARKETS.length} books`,
      gateways: 1,
      rounds: `${ROUNDS} of ${SECONDS} s without and with subscriptions, one after the other; medians`,
    },
    figures: {
      ...Object.fromEntries(Object.keys(told[0]!.figures).map((name) => [name, middle(name)])),
      'answer to an order, nobody listens, p50, ms': median(alone.map(({ p50 }) => p50)),
      'answer to an order, nobody listens, p99, ms': median(alone.map(({ p99 }) => p99)),
      'answer to an order, told to many, p50, ms': median(told.map(({ p50 }) => p50)),
      'answer to an order, told to many, p99, ms': median(told.map(({ p99 }) => p99)),
      'matcher, p99 of commits, nobody listens, ms': median(alone.map(({ commit }) => commit)),
      'matcher, p99 of commits, told to many, ms': median(told.map(({ commit }) => commit)),
      'p99 of answers, told to many by nobody listens': median(told.map(({ p99 }, i) => p99 / alone[i]!.p99)),
    },
    targets: [
      // A receipt is later than the write that must be in time.
      { figure: 'match to receipt by probes, p99, ms', atMost: 50, unit: 'ms' },
      { figure: 'p99 of answers, told to many by nobody listens', atMost: 1.1, unit: 'times' },
    ],
  }
}
