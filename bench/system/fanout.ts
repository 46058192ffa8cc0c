/**
 * Books told to many: 2,000 WebSockets listen to the books of four pairs while every millisecond an order changes one of them, durable,
 * through the real exchange; and the same flow with the sockets connected and nobody listening, one round after the other. Load,
 * listeners and exchange share the two cores.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../../test/support/exchange.ts'
import type { Trader } from '../../test/support/traders.ts'
import { median, quantile, type Result } from '../result.ts'
import { richGenesis } from './batch.ts'
import type { Order, Report } from './fanout_listeners.ts'
import { countedAction, openConnection, signedAction, StreamLoad } from './grpc_load.ts'
import { makeTraders } from './orders.ts'

const SOCKETS = 2000
const PROBE_EVERY = 50
const CHANGES_PER_SECOND = 1000
const TRADERS = 4
const SECONDS = 5
const ROUNDS = 4

/** Ticks around a price: most orders rest, one in twelve meets another. */
const MARKETS: readonly { symbol: string; middle: number; tick: number; digits: number; quantity: string }[] = [
  { symbol: 'BTC/USDC', middle: 500, tick: 0.01, digits: 2, quantity: '0.02' },
  { symbol: 'ETH/USDC', middle: 50, tick: 0.01, digits: 2, quantity: '0.1' },
  { symbol: 'SEI/USDC', middle: 0.5, tick: 0.0001, digits: 4, quantity: '10' },
  { symbol: 'ETH/BTC', middle: 0.05, tick: 0.00001, digits: 5, quantity: '0.1' },
]
const REACH = 200
const LISTENERS = join(import.meta.dirname, 'fanout_listeners.ts')
const OVERLAP = 20

function order(pairs: readonly string[], number: number, random: Prng): object {
  const { middle, tick, digits, quantity } = MARKETS[number % MARKETS.length]!
  const sells = random.below(2) === 0
  const away = random.below(REACH) - OVERLAP
  const price = (middle + (sells ? away : -away) * tick).toFixed(digits)
  return {
    tradingPairId: pairs[number % MARKETS.length]!, orderType: 'ORDER_TYPE_LIMIT', side: sells ? 'SIDE_SELL' : 'SIDE_BUY', quantity, price,
    timeInForce: 'TIME_IN_FORCE_GTC',
  }
}

/** Orders at a steady rate, over streams in sessions. */
export class SteadyFlow {
  readonly #streams: StreamLoad[] = []
  readonly #counters: number[] = []
  readonly #pairs: readonly string[]
  readonly #random = createPrng(1)
  #sent = 0

  constructor(pairs: readonly string[]) {
    this.#pairs = pairs
  }

  async open(port: number, traders: readonly Trader[]): Promise<void> {
    for (const trader of traders) {
      const stream = new StreamLoad(openConnection(port))
      const opening = [signedAction(trader, { requestId: 'open', counter: 1, openSession: {} })]
      await stream.drive(() => opening.shift() ?? null, 1)
      this.#streams.push(stream)
      this.#counters.push(1)
    }
  }

  /** Sends `perSecond` orders a second for `ms`; latencies of the answers, ms, sorted, and how many were refused. */
  async run(perSecond: number, ms: number): Promise<{ latencies: Float64Array; refused: number }> {
    for (const { tally } of this.#streams) tally.latencies.length = tally.refused = 0
    const started = performance.now()
    await Promise.all(this.#streams.map(async (stream, i) => {
      const rate = perSecond / this.#streams.length / 1000
      for (let sent = 0, now = 0; now < ms; now = performance.now() - started) {
        let due = Math.floor(now * rate) - sent
        sent += Math.max(0, due)
        if (due > 0) await stream.drive(() => (due-- > 0 ? this.#next(i) : null), Infinity)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }))
    const tallies = this.#streams.map(({ tally }) => tally)
    return {
      latencies: Float64Array.from(tallies.flatMap(({ latencies }) => latencies)).sort(),
      refused: tallies.reduce((sum, { refused }) => sum + refused, 0),
    }
  }

  #next(stream: number): Buffer {
    const counter = ++this.#counters[stream]!
    return countedAction(counter, order(this.#pairs, this.#sent++, this.#random))
  }
}

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

/** Value of every sample of the operator's metrics. */
async function metricsOf({ operatorPort }: Exchange): Promise<Map<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${operatorPort}/metrics`)).text()
  return new Map(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const at = line.lastIndexOf(' ')
    return [line.slice(0, at), Number(line.slice(at + 1))]
  }))
}

/** Quantile of what a histogram counted between two scrapes, between the bounds of its bucket in proportion; seconds. */
function bucketQuantile(name: string, since: Map<string, number>, until: Map<string, number>, q: number): number {
  const buckets = [...until].filter(([key]) => key.startsWith(`${name}_bucket{gateway="1"`))
    .map(([key, value]) => [Number(/le="([^"]+)"/.exec(key)![1]!.replace('+Inf', 'Infinity')), value - since.get(key)!] as const)
  const wanted = q * buckets.at(-1)![1]
  let [low, below] = [0, 0]
  for (const [bound, count] of buckets) {
    if (count >= wanted) return bound === Infinity ? low : low + (bound - low) * ((wanted - below) / Math.max(1, count - below))
    ;[low, below] = [bound, count]
  }
  return low
}

interface Round {
  readonly p50: number
  readonly p99: number
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
    '--genesis', richGenesis(directory), '--gateways', '1', '--ws-connections', String(SOCKETS + 10), '--ws-idle-seconds', '960',
  ])
  const listeners = new Listeners()
  const alone: Round[] = []
  const told: Round[] = []
  try {
    const { traders } = await makeTraders(exchange.baseUrl, TRADERS)
    const { tradingPairs } = await traders[0]!.client.ListTradingPairs({ pageSize: 100 })
    const pairs = MARKETS.map(({ symbol }) => tradingPairs.find((pair) => pair.symbol === symbol)!.id)
    const flow = new SteadyFlow(pairs)
    await flow.open(exchange.grpcPort, traders)
    await listeners.ask({ do: 'connect', port: exchange.port, sockets: SOCKETS, pairs, probeEvery: PROBE_EVERY })
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
  const lag = 'match to socket write, oldest of a turn to its last byte, p99, ms'
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
      'p99 of answers, told to many by nobody listens': median(told.map(({ p99 }, i) => p99 / alone[i]!.p99)),
    },
    targets: [
      { figure: lag, atMost: 50, unit: 'ms' },
      { figure: 'p99 of answers, told to many by nobody listens', atMost: 1.1, unit: 'times' },
    ],
  }
}
