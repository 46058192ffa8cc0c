/**
 * What an idempotency key costs: the same number of orders with a key of its own for each and without, in sessions over WebSockets,
 * durable, one round of the one and one of the other in turn, on connections of their own. The ratio of each pair of rounds counts, and
 * which of them goes first changes. Keys are remembered for a day, so their table fills while the bench lasts, as it does in use.
 */
import type { Exchange } from '../../test/support/exchange.ts'
import type { Trader } from '../../test/support/traders.ts'
import { amount, median, type Result } from '../result.ts'
import { richGenesis } from './batch.ts'
import { endOrders, makeTraders } from './orders.ts'
import { withExchange } from './own_exchange.ts'
import { drive, once } from './rounds.ts'
import { countedFrames, openingFrame, SocketLoad } from './ws_load.ts'

/** One trader each. A family has a share of the keys that are remembered. */
const CONNECTIONS = 16
/** Of each connection in a round. */
const ORDERS = amount(4000, 500)
const ROUNDS = amount(9, 2)
const IN_FLIGHT = 128
/** Keys remembered at most, so that none is refused. */
const RECEIPTS = 1 << 22
/** Rounds end when their orders are used up. */
const LONG_MS = 600_000

interface Round {
  readonly rate: number
  readonly refused: number
}

async function round({ port }: Exchange, traders: readonly Trader[], pair: string, seed: number, keyed: boolean): Promise<Round> {
  const sockets = await Promise.all(traders.map(() => SocketLoad.open(port)))
  const key = keyed ? (i: number) => (order: number) => `bench-${seed}-${i}-${order}` : () => undefined
  const frames = sockets.map((_, i) => countedFrames(pair, ORDERS, seed * 100 + i, 1, key(i)))
  for (const [i, socket] of sockets.entries()) {
    await socket.drive(once([openingFrame(traders[i]!)]), 1)
    if (socket.tally.accepted !== 1) throw new Error('the session is not open')
    socket.tally.accepted = 0
  }
  const { seconds, tallies } = await drive(sockets, frames.map((each) => once(each)), { ms: LONG_MS }, IN_FLIGHT)
  for (const socket of sockets) socket.close()
  await endOrders(traders)
  const sum = (of: 'accepted' | 'refused'): number => tallies.reduce((total, tally) => total + tally[of], 0)
  return { rate: sum('accepted') / seconds, refused: sum('refused') }
}

export async function run(): Promise<Result> {
  const rounds: Round[][] = [[], []]
  const flags = ['--ws-order-entry', '1', '--gateways', '1']
  await withExchange((directory) => ['--genesis', richGenesis(directory, { receipts: RECEIPTS }), ...flags], async (exchange) => {
    const { traders, pair } = await makeTraders(exchange.baseUrl, CONNECTIONS)
    let seed = 1
    const take = (keyed: number): Promise<Round> => round(exchange, traders, pair, seed++, keyed === 1)
    for (const keyed of [0, 1]) await take(keyed)
    for (let i = 0; i < ROUNDS; i++) for (const keyed of i % 2 === 0 ? [0, 1] : [1, 0]) rounds[keyed]!.push(await take(keyed))
  })
  const [plain, keyed] = rounds as [Round[], Round[]]
  const ratios = keyed.map(({ rate }, i) => rate / plain[i]!.rate)
  return {
    name: 'keyed: orders with idempotency keys, by orders without',
    settings: {
      client: 'own, plain sockets, frames made beforehand, same two cores',
      connections: `${CONNECTIONS}, a session each, one gateway thread, ${IN_FLIGHT} messages in flight per connection (closed loop)`,
      rounds: `${ROUNDS} of ${CONNECTIONS * ORDERS} orders with and without keys in turn, after one of each`,
      keys: `${(ROUNDS + 1) * CONNECTIONS * ORDERS} different ones in all, of ${RECEIPTS} that are remembered`,
    },
    figures: {
      'with keys by without (median of rounds)': median(ratios),
      'with keys by without, least': Math.min(...ratios),
      'with keys by without, largest': Math.max(...ratios),
      'orders/s without keys': median(plain.map(({ rate }) => rate)),
      'orders/s with keys': median(keyed.map(({ rate }) => rate)),
      refused: rounds.flat().reduce((total, each) => total + each.refused, 0),
    },
    targets: [
      { figure: 'with keys by without (median of rounds)', atLeast: 0.9, unit: 'of those without' },
      { figure: 'refused', atMost: 0, unit: 'orders' },
    ],
  }
}
