/**
 * Signed single orders over HTTP at fixed times, durable, far below what the exchange can do: from when each was due to the whole answer.
 * A due order goes out on a keep-alive connection that is free; when none is, it waits for one, and that is part of its latency
 * (open_loop.ts). Before that such orders go one after the other, each sent when the one before is answered: what the path takes when the
 * next order waits for a slow one (closed loop).
 */
import { connect, type Socket } from 'node:net'
import { amount, quantile, type Result } from '../result.ts'
import { makeTraders, signOrders } from './orders.ts'
import { withExchange } from './own_exchange.ts'
import { atFixedTimes, bytesOf, exchangeOne, lateness, type Answers } from './timed_orders.ts'

const WARM = amount(3000, 200)
const PER_SECOND = 250
const SECONDS = amount(20, 1)
const CONNECTIONS = 32
/** One after the other. */
const ORDERS = amount(5000, 200)

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
    const answers = await atFixedTimes({ perSecond: PER_SECOND, ms: SECONDS * 1000 }, requests(PER_SECOND * SECONDS, 3), sockets)
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
