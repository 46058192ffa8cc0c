/**
 * Reads by autocannon against the real exchange with a populated book: the public order book, and the caller's open orders, signed.
 * Both come from the shared columns in the gateway thread. Nothing else runs; the load generator shares the two cores.
 */
import type autocannon from 'autocannon'
import { signRequest } from '../../gateway/client/index.ts'
import type { Trader } from '../../test/support/traders.ts'
import { amount, median, type Result } from '../result.ts'
import { round, type Round } from './http_load.ts'
import { makeTraders } from './orders.ts'
import { ownDirectory, removeDirectory, startExchange } from './own_exchange.ts'

const CONNECTIONS = 64
const SECONDS = amount(8, 1)
const ROUNDS = amount(3, 1)
const TRADERS = 20
const LEVELS = 100
const OPEN_ORDERS = '/api/v1/orders?status=SUBMITTED&status=PARTIALLY_FILLED&pageSize=20'

/** Every trader rests one order at each of the price levels, in turn bids and asks. */
async function populate(traders: readonly Trader[], tradingPairId: string): Promise<void> {
  for (const [number, { client }] of traders.entries()) {
    const side = number % 2 === 0 ? 'BUY' : 'SELL'
    const price = (level: number): string => (side === 'BUY' ? 0.25 - level * 0.0001 : 0.2501 + level * 0.0001).toFixed(4)
    const orders = Array.from({ length: LEVELS }, (_, level) =>
      ({ tradingPairId, orderType: 'LIMIT', side, quantity: String(10 + number), price: price(level) }) as const)
    const { totalSucceeded } = await client.BatchCreateOrders({ orders })
    if (totalSucceeded !== LEVELS) throw new Error(`only ${totalSucceeded} of ${LEVELS} orders rest`)
  }
}

/** One signed request of each trader, fresh for the next 30 s. */
const openOrders = (traders: readonly Trader[]): autocannon.Request[] => traders.map(({ signer }) => {
  const headers = signRequest(signer, 'GET', OPEN_ORDERS, Buffer.alloc(0), Date.now())
  return { method: 'GET', path: OPEN_ORDERS, headers: { ...headers, 'User-Agent': 'bench' } }
})

function figures(what: string, rounds: readonly Round[]): Record<string, number> {
  return {
    [`${what}/s (2xx, median of rounds)`]: median(rounds.map((r) => r.rate)),
    [`${what}: saturated, p50, ms`]: median(rounds.map((r) => r.p50)),
    [`${what}: saturated, p99, ms`]: median(rounds.map((r) => r.p99)),
    [`${what}: answers other than 2xx`]: rounds.reduce((sum, r) => sum + r.other, 0),
  }
}

export async function run(): Promise<Result> {
  const directory = ownDirectory()
  const exchange = await startExchange(directory)
  const books: Round[] = []
  const listings: Round[] = []
  try {
    const { traders, pair } = await makeTraders(exchange.baseUrl, TRADERS)
    await populate(traders, pair)
    const book: autocannon.Request[] = [{ method: 'GET', path: `/api/v1/orderbook/${pair}`, headers: { 'User-Agent': 'bench' } }]
    await round(exchange.baseUrl, book, 3, CONNECTIONS)
    await round(exchange.baseUrl, openOrders(traders), 3, CONNECTIONS)
    for (let i = 0; i < ROUNDS; i++) {
      books.push(await round(exchange.baseUrl, book, SECONDS, CONNECTIONS))
      listings.push(await round(exchange.baseUrl, openOrders(traders), SECONDS, CONNECTIONS))
    }
  } finally {
    await exchange.stop()
    removeDirectory(directory)
  }
  return {
    name: 'reads: order book and open orders',
    settings: {
      client: 'autocannon 9, same two cores',
      connections: CONNECTIONS,
      pipelining: 1,
      seconds: SECONDS,
      rounds: ROUNDS,
      'order book': `depth 50 of ${LEVELS} levels a side`,
      'open orders': `signed, 20 of ${LEVELS} of each of ${TRADERS} accounts`,
      gateways: 'default',
    },
    figures: { ...figures('order books', books), ...figures('open orders', listings) },
    targets: [],
  }
}
