/**
 * The thread of an honest trader (attack.ts). It sends orders and cancels in turn on a schedule that does not wait for answers, so that a
 * slow exchange is seen as slow: latency counts from the moment a request was due. It asks from an address of its own.
 */
import { createHash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { RingbookError } from '../../gateway/client/index.ts'
import { fetchFrom } from './fetch_from.ts'
import { connectGrpc, encodeMessage, pathOf } from './grpc.ts'
import { newTrader, pairOf } from './traders.ts'

export interface HonestData {
  readonly baseUrl: string
  /** Address of the loopback network that it asks from. */
  readonly address: string
  /** Requests a second. */
  readonly rate: number
  /** Where its orders and cancels go over gRPC; 0: by REST. */
  readonly grpcPort: number
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

const { baseUrl, address, rate, grpcPort } = workerData as HonestData
const { fetch } = fetchFrom(address, UNDER_WAY)
const { client, signer } = await newTrader(baseUrl, 5, fetch)
const tradingPairId = await pairOf(client, 'SEI/USDC')

interface Order {
  readonly tradingPairId: string
  readonly orderType: 'LIMIT'
  readonly side: 'BUY'
  readonly quantity: string
  readonly price: string
}

/** The two calls it makes over and over, over gRPC; refusals as over REST. */
function overGrpc(): { create(order: Order): Promise<string>; cancel(orderId: string): Promise<unknown> } {
  const grpc = connectGrpc(grpcPort)
  const ask = async (name: string, request: object): Promise<Record<string, string>> => {
    const [path, bytes, timestamp] = [pathOf(name), encodeMessage(`${name}Request`, request), String(Date.now())]
    const digest = createHash('sha256').update(bytes).digest('hex')
    const signature = Buffer.from(signer.sign(Buffer.from(`POST\n${path}\n${timestamp}\n${digest}`))).toString('hex')
    const credentials = { 'x-svc-publickey': signer.publicKey, 'x-svc-timestamp': timestamp, 'x-svc-signature': signature }
    const { code, reason, message, response } = await grpc.send(path, bytes, credentials, `${name}Response`)
    if (code !== 0) throw new RingbookError({ error: '', code: reason ?? String(code), message, statusCode: 500 })
    return response
  }
  return {
    create: async ({ orderType, side, ...order }) =>
      (await ask('CreateOrder', { ...order, orderType: `ORDER_TYPE_${orderType}`, side: `SIDE_${side}` }))['orderId']!,
    cancel: (orderId) => ask('CancelOrder', { orderId }),
  }
}

const calls = grpcPort > 0 ? overGrpc() : {
  create: async (order: Order) => (await client.CreateOrder(order)).orderId,
  cancel: (orderId: string) => client.CancelOrder({ orderId }),
}

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
      if (orderId !== undefined) await calls.cancel(orderId)
      else {
        const order: Order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1' }
        resting.push(await calls.create(order))
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
