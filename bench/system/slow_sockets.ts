/**
 * What trading notices of listeners that stopped reading: the same flow of orders with 1,000 stalled WebSockets, for each of which frames
 * pile up in the gateway, and with none, one round after the other. Nothing reads, so all it costs is the exchange's. No round is long
 * enough for a socket to be cut.
 */
import { findPython } from '../../test/support/python.ts'
import { SlowSockets } from '../../test/support/slow_sockets.ts'
import { amount, median, quantile, type Result } from '../result.ts'
import { richGenesis } from './batch.ts'
import { lateness } from './open_loop.ts'
import { withExchange } from './own_exchange.ts'
import { metricsOf, SteadyFlow } from './steady_flow.ts'

const SOCKETS = 1000
const ORDERS_PER_SECOND = 1000
const TRADERS = 4
const SECONDS = amount(4, 1)
const ROUNDS = amount(6, 1)

interface Round {
  readonly p50: number
  readonly p99: number
  readonly late: Record<string, number>
}

async function round(flow: SteadyFlow): Promise<Round> {
  const { latencies, late } = await flow.run(ORDERS_PER_SECOND, SECONDS * 1000)
  return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), late: lateness(late) }
}

export async function run(): Promise<Result> {
  const found = findPython('socket')
  if ('reason' in found) throw new Error(`stalled sockets need Python: ${found.reason}`)
  const none: Round[] = []
  const stalled: Round[] = []
  let lost = 0
  let memory = 0
  const flags = ['--gateways', '1', '--ws-idle-seconds', '960']
  await withExchange((directory) => ['--genesis', richGenesis(directory), ...flags], async (exchange) => {
    const flow = await SteadyFlow.open(exchange, TRADERS)
    await flow.run(ORDERS_PER_SECOND, 3000)
    for (let i = 0; i < ROUNDS; i++) {
      none.push(await round(flow))
      const sockets = await SlowSockets.open(found.python, exchange.port, SOCKETS, flow.pairs)
      const before = await metricsOf(exchange)
      stalled.push(await round(flow))
      const after = await metricsOf(exchange)
      lost += SOCKETS - after.get('exchange_websocket_connections{gateway="1"}')!
      memory = Math.max(memory, after.get('exchange_resident_memory_bytes')! - before.get('exchange_resident_memory_bytes')!)
      sockets.stop()
      await flow.run(ORDERS_PER_SECOND, 500)
    }
  })
  return {
    name: 'slow-sockets: trading beside WebSockets that do not read',
    settings: {
      sockets: `${SOCKETS}, each subscribed to one of four books`,
      flow: `${ORDERS_PER_SECOND} orders/s over gRPC sessions at fixed times, durable`,
      rounds: `${ROUNDS} of ${SECONDS} s without and with them, one after the other; medians`,
    },
    figures: {
      'order due to answer, none, p50, ms': median(none.map(({ p50 }) => p50)),
      'order due to answer, none, p99, ms': median(none.map(({ p99 }) => p99)),
      'order due to answer, stalled sockets, p50, ms': median(stalled.map(({ p50 }) => p50)),
      'order due to answer, stalled sockets, p99, ms': median(stalled.map(({ p99 }) => p99)),
      'p99 of due to answer, stalled sockets by none': median(stalled.map(({ p99 }, i) => p99 / none[i]!.p99)),
      ...Object.fromEntries(Object.keys(stalled[0]!.late).map((name) => [name, median(stalled.map(({ late }) => late[name]!))])),
      'more memory in a round, at most, MiB': memory / 2 ** 20,
      'sockets cut': lost,
    },
    targets: [{ figure: 'p99 of due to answer, stalled sockets by none', atMost: 1.1, unit: 'times' }],
  }
}
