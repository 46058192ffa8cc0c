/**
 * The thread of an honest trader (attack.ts). It sends orders and cancels in turn on a schedule that does not wait for answers, so that a
 * slow exchange is seen as slow: latency counts from the moment a request was due. It asks from an address of its own.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { RingbookError } from '../../gateway/client/index.ts'
import { fetchFrom } from './fetch_from.ts'
import { newTrader, pairOf } from './traders.ts'

export interface HonestData {
  readonly baseUrl: string
  /** Address of the loopback network that it asks from. */
  readonly address: string
  /** Requests a second. */
  readonly rate: number
}

/** What it saw in one run. */
export interface Seen {
  readonly requests: number
  /** Requests that were done. */
  readonly done: number
  readonly perSecond: number
  /** Milliseconds from when a request was due to its answer. */
  readonly p50: number
  readonly p99: number
  /** Refusals by code; `network`: no answer at all. */
  readonly refused: Readonly<Record<string, number>>
}

/** Requests under way at most; what is due then waits, and its latency counts. */
const UNDER_WAY = 64

const { baseUrl, address, rate } = workerData as HonestData
const { fetch } = fetchFrom(address, UNDER_WAY)
const { client } = await newTrader(baseUrl, 5, fetch)
const tradingPairId = await pairOf(client, 'SEI/USDC')

const quantile = (sorted: readonly number[], q: number): number =>
  sorted.length === 0 ? 0 : sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!

/** Trades for so long, then waits for what is under way. */
async function trade(ms: number): Promise<Seen> {
  const refused: Record<string, number> = {}
  const latencies: number[] = []
  const resting: string[] = []
  const total = Math.max(2, Math.round((ms / 1000) * rate))
  const begun = performance.now()
  const one = async (number: number): Promise<void> => {
    const due = begun + (number * 1000) / rate
    try {
      const orderId = number % 2 === 1 ? resting.pop() : undefined
      if (orderId !== undefined) await client.CancelOrder({ orderId })
      else {
        const order = { tradingPairId, orderType: 'LIMIT' as const, side: 'BUY' as const, quantity: '10', price: '0.1' }
        resting.push((await client.CreateOrder(order)).orderId)
      }
      latencies.push(performance.now() - due)
    } catch (error) {
      const code = error instanceof RingbookError ? error.code : 'network'
      refused[code] = (refused[code] ?? 0) + 1
    }
  }
  const underWay = new Set<Promise<void>>()
  for (let number = 0; number < total; number++) {
    const wait = begun + (number * 1000) / rate - performance.now()
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait))
    while (underWay.size >= UNDER_WAY) await Promise.race(underWay)
    const call: Promise<void> = one(number).finally(() => underWay.delete(call))
    underWay.add(call)
  }
  await Promise.all(underWay)
  await client.BatchCancelAllOrders({})
  const seconds = (performance.now() - begun) / 1000
  latencies.sort((a, b) => a - b)
  return {
    requests: total, done: latencies.length, perSecond: latencies.length / seconds, refused,
    p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99),
  }
}

parentPort!.on('message', (ms: number) => void trade(ms).then((seen) => parentPort!.postMessage(seen)))
parentPort!.postMessage('ready')
