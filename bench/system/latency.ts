/**
 * Signed single orders over HTTP at fixed times, durable, far below what the exchange can do: from when each was due to the whole answer.
 * A due order goes out on a keep-alive connection that is free; when none is, it waits for one, and that is part of its latency
 * (open_loop.ts). Before that such orders go one after the other, each sent when the one before is answered: what the path takes when the
 * next order waits for a slow one (closed loop).
 */
import { connect, type Socket } from 'node:net'
import { amount, quantile, type Result } from '../result.ts'
import { lateness, offer, until } from './open_loop.ts'
import { makeTraders, signOrders, type SignedOrder } from './orders.ts'
import { withExchange } from './own_exchange.ts'

const WARM = amount(3000, 200)
const PER_SECOND = 250
const SECONDS = amount(20, 1)
const CONNECTIONS = 32
/** One after the other. */
const ORDERS = amount(5000, 200)

function bytesOf({ path, headers, body }: SignedOrder, port: number): Buffer {
  const head = Object.entries({ Host: `127.0.0.1:${port}`, ...headers, 'Content-Length': Buffer.byteLength(body) })
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`)
}

/** Sends one request; resolves when its answer is complete, with the status. */
function exchangeOne(socket: Socket, request: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const closed = (): void => reject(new Error('the exchange closed a connection'))
    let answer = ''
    const listen = (chunk: Buffer): void => {
      answer += chunk.toString('latin1')
      const head = answer.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = Number(/content-length: (\d+)/i.exec(answer)?.[1] ?? 'NaN')
      if (answer.length < head + 4 + length) return
      socket.off('data', listen)
      socket.off('error', reject)
      socket.off('close', closed)
      resolve(answer.slice(9, 12))
    }
    socket.on('data', listen)
    socket.once('error', reject)
    socket.once('close', closed)
    socket.write(request)
  })
}

interface Answers {
  /** ms, sorted. */
  readonly latencies: Float64Array
  readonly late: Float64Array
  readonly refused: number
}

async function atFixedTimes(requests: readonly Buffer[], sockets: readonly Socket[]): Promise<Answers> {
  const latencies: number[] = []
  let refused = 0
  let failure: Error | null = null
  const free = [...sockets]
  const waiting: { due: number; request: Buffer }[] = []
  const take = (): void => {
    while (free.length > 0 && waiting.length > 0) {
      // The one that rested longest: the service ends connections without requests.
      const socket = free.shift()!
      const { due, request } = waiting.shift()!
      exchangeOne(socket, request).then((status) => {
        latencies.push(performance.now() - due)
        if (status !== '200') refused++
        free.push(socket)
        take()
      }, (error: Error) => void (failure = error))
    }
  }
  const late = await offer({ perSecond: PER_SECOND, ms: SECONDS * 1000, exact: true }, (due, index) => {
    waiting.push({ due, request: requests[index]! })
    take()
  })
  const answered = await until(() => latencies.length === late.length || failure !== null, 30_000)
  if (failure !== null) throw failure
  if (!answered) throw new Error('orders were not answered')
  return { latencies: Float64Array.from(latencies).sort(), late, refused }
}

async function oneByOne(requests: readonly Buffer[], socket: Socket): Promise<Float64Array> {
  const latencies = new Float64Array(requests.length)
  for (const [index, request] of requests.entries()) {
    const started = performance.now()
    await exchangeOne(socket, request)
    latencies[index] = performance.now() - started
  }
  return latencies.sort()
}

export async function run(): Promise<Result> {
  const [timed, back] = await withExchange([], async ({ baseUrl, port }): Promise<[Answers, Float64Array]> => {
    const { traders, pair } = await makeTraders(baseUrl, 8)
    const requests = (count: number, seed: number): Buffer[] => signOrders(traders, pair, count, seed).map((order) => bytesOf(order, port))
    const open = (): Socket => connect(port, '127.0.0.1').setNoDelay(true)
    const alone = open()
    await oneByOne(requests(WARM, 1), alone)
    const latencies = await oneByOne(requests(ORDERS, 2), alone)
    const sockets = Array.from({ length: CONNECTIONS }, open)
    const answers = await atFixedTimes(requests(PER_SECOND * SECONDS, 3), sockets)
    for (const socket of [alone, ...sockets]) socket.destroy()
    return [answers, latencies]
  })
  return {
    name: 'latency: signed orders over HTTP at fixed times, durable',
    settings: {
      transport: `HTTP/1.1 keep-alive, ${CONNECTIONS} raw sockets on the same two cores`,
      offered: `${PER_SECOND} orders/s at fixed times for ${SECONDS} s; latency counts from when an order was due`,
      warm: WARM,
      'one by one': `${ORDERS} orders, each sent when the one before is answered (closed loop)`,
    },
    figures: {
      'at fixed times, p50, ms': quantile(timed.latencies, 0.5),
      'at fixed times, p90, ms': quantile(timed.latencies, 0.9),
      'at fixed times, p99, ms': quantile(timed.latencies, 0.99),
      'at fixed times, p99.9, ms': quantile(timed.latencies, 0.999),
      'at fixed times, at most, ms': timed.latencies.at(-1)!,
      ...lateness(timed.late),
      'refused': timed.refused,
      'one by one, p50, ms': quantile(back, 0.5),
      'one by one, p99, ms': quantile(back, 0.99),
    },
    targets: [
      { figure: 'at fixed times, p50, ms', atMost: 0.8, unit: 'ms' },
      { figure: 'at fixed times, p99, ms', atMost: 3, unit: 'ms' },
    ],
  }
}
