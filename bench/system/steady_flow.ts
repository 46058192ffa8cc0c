/**
 * A steady flow of orders over four books, and what the operator's metrics say of it. Most orders rest and a few meet another; each
 * changes a book.
 */
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { Exchange } from '../../test/support/exchange.ts'
import { countedAction, openConnection, signedAction, StreamLoad } from './grpc_load.ts'
import { makeTraders } from './orders.ts'

/** Prices are around the middle, in ticks. */
export const MARKETS: readonly { symbol: string; middle: number; tick: number; digits: number; quantity: string }[] = [
  { symbol: 'BTC/USDC', middle: 500, tick: 0.01, digits: 2, quantity: '0.02' },
  { symbol: 'ETH/USDC', middle: 50, tick: 0.01, digits: 2, quantity: '0.1' },
  { symbol: 'SEI/USDC', middle: 0.5, tick: 0.0001, digits: 4, quantity: '10' },
  { symbol: 'ETH/BTC', middle: 0.05, tick: 0.00001, digits: 5, quantity: '0.1' },
]
const REACH = 200
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
  /** Ids of the pairs, in the order of the markets. */
  readonly pairs: readonly string[]
  readonly #streams: StreamLoad[] = []
  readonly #counters: number[] = []
  readonly #random = createPrng(1)
  #sent = 0

  private constructor(pairs: readonly string[]) {
    this.pairs = pairs
  }

  /** A flow of this many traders, who sign in and are given funds. */
  static async open({ baseUrl, grpcPort }: Exchange, count: number): Promise<SteadyFlow> {
    const { traders } = await makeTraders(baseUrl, count)
    const { tradingPairs } = await traders[0]!.client.ListTradingPairs({ pageSize: 100 })
    const flow = new SteadyFlow(MARKETS.map(({ symbol }) => tradingPairs.find((pair) => pair.symbol === symbol)!.id))
    for (const trader of traders) {
      const stream = new StreamLoad(openConnection(grpcPort))
      const opening = [signedAction(trader, { requestId: 'open', counter: 1, openSession: {} })]
      await stream.drive(() => opening.shift() ?? null, 1)
      flow.#streams.push(stream)
      flow.#counters.push(1)
    }
    return flow
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
    return countedAction(counter, order(this.pairs, this.#sent++, this.#random))
  }
}

/** Value of every sample of the operator's metrics. */
export async function metricsOf({ operatorPort }: Exchange): Promise<Map<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${operatorPort}/metrics`)).text()
  return new Map(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const at = line.lastIndexOf(' ')
    return [line.slice(0, at), Number(line.slice(at + 1))]
  }))
}

/** Quantile of what a histogram counted between two scrapes, between the bounds of its bucket in proportion; seconds. */
export function bucketQuantile(name: string, since: Map<string, number>, until: Map<string, number>, q: number): number {
  const buckets = [...until].filter(([key]) => key.startsWith(`${name}_bucket{gateway="1"`) || key.startsWith(`${name}_bucket{le=`))
    .map(([key, value]) => [Number(/le="([^"]+)"/.exec(key)![1]!.replace('+Inf', 'Infinity')), value - since.get(key)!] as const)
  const wanted = q * buckets.at(-1)![1]
  let [low, below] = [0, 0]
  for (const [bound, count] of buckets) {
    if (count >= wanted) return bound === Infinity ? low : low + (bound - low) * ((wanted - below) / Math.max(1, count - below))
    ;[low, below] = [bound, count]
  }
  return low
}
