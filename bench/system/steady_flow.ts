/**
 * A steady flow of orders over four books, sent at fixed times (open_loop.ts), and what the operator's metrics say of it. Most orders
 * rest and a few meet another; each changes a book.
 */
import { IdKind, parseId } from '../../core/layout/ids.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { Exchange } from '../../test/support/exchange.ts'
import { countedAction, createdIn, openConnection, signedAction, StreamLoad } from './grpc_load.ts'
import { offer, until } from './open_loop.ts'
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

/** Any trader on any market: one with a market of its own would only meet itself. */
function order(pairs: readonly string[], market: number, random: Prng): object {
  const { middle, tick, digits, quantity } = MARKETS[market]!
  const sells = random.below(2) === 0
  const away = random.below(REACH) - OVERLAP
  const price = (middle + (sells ? away : -away) * tick).toFixed(digits)
  return {
    tradingPairId: pairs[market]!, orderType: 'ORDER_TYPE_LIMIT', side: sells ? 'SIDE_SELL' : 'SIDE_BUY', quantity, price,
    timeInForce: 'TIME_IN_FORCE_GTC',
  }
}

/** Of a book, by an order that rests or met another. */
export interface Change {
  readonly market: number
  readonly sequence: number
}

export interface Ran {
  /** Of the answers, ms since the orders were due, sorted. */
  readonly latencies: Float64Array
  /** How late the generator was with each, ms, sorted; part of its latency. */
  readonly late: Float64Array
  readonly refused: number
}

/** An order that is not answered so long after the last was sent ends the bench. */
const ANSWERED_WITHIN_MS = 30_000

/** Orders at a steady rate, over streams in sessions. */
export class SteadyFlow {
  /** Ids of the pairs, in the order of the markets. */
  readonly pairs: readonly string[]
  readonly #streams: StreamLoad[] = []
  readonly #counters: number[] = []
  readonly #random = createPrng(1)
  /** Of each stream, by counter. */
  readonly #markets: number[][] = []
  #changes: Change[] | null = null

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
      flow.#markets.push([])
    }
    return flow
  }

  /** From now on notes the changes of books, which costs the generator the decoding of its answers. */
  noteChanges(): void {
    this.#changes = []
    for (const [i, stream] of this.#streams.entries()) stream.onResponse = (message) => this.#note(i, message)
  }

  /** Those since the last call, by sequence. */
  takeChanges(): Change[] {
    const taken = this.#changes ?? []
    this.#changes = []
    return taken.sort((a, b) => a.sequence - b.sequence)
  }

  #note(stream: number, message: Buffer): void {
    for (const { requestId, createOrder } of createdIn(message)) {
      // One that would have met its own was cancelled instead, and changed nothing.
      if (createOrder === undefined || createOrder.matchResult?.status === 'ORDER_STATUS_CANCELLED') continue
      const { sequence } = parseId(IdKind.ORDER, createOrder.orderId)!
      this.#changes!.push({ market: this.#markets[stream]![Number(requestId)]!, sequence })
    }
  }

  /** Sends `perSecond` orders a second for `ms`, at fixed times in turn over the streams, and waits for what was not answered then. */
  async run(perSecond: number, ms: number): Promise<Ran> {
    const streams = this.#streams
    for (const { tally } of streams) tally.latencies.length = tally.refused = 0
    const send = (due: number, index: number): void => streams[index % streams.length]!.send(this.#next(index % streams.length), due)
    const late = await offer({ perSecond, ms }, send, () => streams.forEach((stream) => stream.flush()))
    if (!(await until(() => streams.every(({ open }) => open === 0), ANSWERED_WITHIN_MS))) throw new Error('orders were not answered')
    return {
      late,
      latencies: Float64Array.from(streams.flatMap(({ tally }) => tally.latencies)).sort(),
      refused: streams.reduce((sum, { tally }) => sum + tally.refused, 0),
    }
  }

  #next(stream: number): Buffer {
    const counter = ++this.#counters[stream]!
    const market = this.#random.below(MARKETS.length)
    if (this.#changes !== null) this.#markets[stream]![counter] = market
    return countedAction(counter, order(this.pairs, market, this.#random))
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
