/**
 * Signed single orders over HTTP by autocannon against the real exchange: verified, journaled with fsync, matched, answered. The
 * load generator shares the two cores. V is measured before and after, in the same run, while nothing else runs.
 */
import { availableParallelism } from 'node:os'
import { defaultsFor } from '../../core/config.ts'
import { amount, median, type Result } from '../result.ts'
import { round, type Round } from './http_load.ts'
import { makeTraders, signOrders, verifiesPerSecond } from './orders.ts'
import { ownDirectory, removeDirectory, startExchange } from './own_exchange.ts'

const CONNECTIONS = 64
const SECONDS = amount(8, 1)
const ROUNDS = amount(3, 1)
/** Each connection of autocannon keeps its own copy of every request: many of them make the generator the bottleneck. */
const ORDERS = 400

export async function run(): Promise<Result> {
  const before = verifiesPerSecond(2)
  const directory = ownDirectory()
  const exchange = await startExchange(directory)
  const rounds: Round[] = []
  try {
    const { traders, pair } = await makeTraders(exchange.baseUrl, 20)
    await round(exchange.baseUrl, signOrders(traders, pair, ORDERS, 1), 4, CONNECTIONS)
    for (let i = 0; i < ROUNDS; i++) {
      rounds.push(await round(exchange.baseUrl, signOrders(traders, pair, ORDERS, 2 + i), SECONDS, CONNECTIONS))
    }
  } finally {
    await exchange.stop()
    removeDirectory(directory)
  }
  const verifies = (before + verifiesPerSecond(2)) / 2
  const rate = median(rounds.map((r) => r.rate))
  return {
    name: 'rest: signed single orders, durable',
    settings: {
      client: 'autocannon 9, same two cores',
      connections: CONNECTIONS,
      pipelining: 1,
      seconds: SECONDS,
      rounds: ROUNDS,
      accounts: 20,
      orders: `${ORDERS} LIMIT GTC orders around one price, signed before each round`,
      'gateway threads': `default, ${defaultsFor(availableParallelism()).gateways}`,
    },
    figures: {
      'orders/s (2xx, median of rounds)': rate,
      'V, verifies/s of one core': verifies,
      'orders/s as fraction of V': rate / verifies,
      'saturated, p50, ms': median(rounds.map((r) => r.p50)),
      'saturated, p99, ms': median(rounds.map((r) => r.p99)),
      'answers other than 2xx': rounds.reduce((sum, r) => sum + r.other, 0),
    },
    targets: [{ figure: 'orders/s as fraction of V', atLeast: 0.55, unit: 'V' }],
  }
}
