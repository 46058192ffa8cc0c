/**
 * Money in and out on the embedded chain, and what trading notices of it.
 *
 * Users withdraw and deposit (chain_thread.ts): an authorisation is asked for, submitted with the user's own wallet and awaited until it is
 * CONFIRMED; a deposit is awaited until it is credited. Wallets and chain are not on the machine of an exchange, and here are on the same
 * two cores; so they compute when those are idle (`--chain-idle`), and how many plain transfers a second that chain does alone is told.
 * Then a batch of settlement of 10,000 trades, from its opening to its confirmation.
 *
 * Then orders at fixed times, in short turns of three kinds: nothing else; money that moves at the pace of a large exchange while a batch
 * of 10,000 trades is settled; and money that moves as fast as four users can, each of whom asks 20 times a second whether it is there.
 * Before each turn a third of the trades of a batch is made, and history catches up, so that all begin alike. Every half a minute a commit
 * of the journal waits for a flush of other files, 0.1 to 0.3 s, whatever goes on; a turn that has one is no turn to compare. So a kind's
 * figure is the middle one of the p99 of its turns.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Exchange } from '../../test/support/exchange.ts'
import { until } from '../../test/support/money.ts'
import type { Trader } from '../../test/support/traders.ts'
import { amount, median, quantile, type Result } from '../result.ts'
import type { Moved, MoversWork, Order, Paces } from './chain_thread.ts'
import { endOrders, makeTraders, signOrders } from './orders.ts'
import { withExchange } from './own_exchange.ts'
import { atFixedTimes, bytesOf } from './timed_orders.ts'

const MOVERS = 4
const CYCLES = amount(25, 2)
const TRANSFERS = amount(200, 10)
/** Withdrawals and deposits a second of users who take their time: 170,000 a day. */
const STROLL_PER_SECOND = 2
/** Of a batch; and how many of them the orders of a turn make themselves. */
const [TRADES, LAST_TRADES] = [amount(10_000, 300), amount(100, 10)]
const [PER_SECOND, TURN_MS, ROUNDS, CONNECTIONS] = [250, amount(3000, 500), amount(30, 2), 32] as const
/** Orders before the first turn: code that is not compiled yet would count for one kind. */
const WARM_MS = amount(10_000, 300)

/** Tells the thread of the movers what to do; resolves with its answer. */
type Movers = <T>(order: Order) => Promise<T>

async function startMovers({ baseUrl, chainPort }: Exchange): Promise<{ movers: Movers; worker: Worker }> {
  const workerData: MoversWork = {
    exchange: { baseUrl, chainPort }, movers: MOVERS, cycles: CYCLES, transfers: TRANSFERS, perSecond: STROLL_PER_SECOND,
  }
  const worker = new Worker(join(import.meta.dirname, 'chain_thread.ts'), { workerData })
  await once(worker, 'message')
  const movers = async <T>(order: Order): Promise<T> => {
    worker.postMessage(order)
    return ((await once(worker, 'message')) as [T])[0]
  }
  return { movers, worker }
}

interface Settlement {
  readonly opened: number
  readonly confirmed: number
  /** Trades behind the last batch. */
  readonly waiting: number
}

async function settlement({ operatorPort, operatorToken }: Exchange): Promise<Settlement> {
  const response = await fetch(`http://127.0.0.1:${operatorPort}/settlement`, { headers: { 'x-operator-token': operatorToken } })
  return (await response.json()) as Settlement
}

/** Two of the traders trade with one another until so many trades wait for a batch, or a hundred fewer. */
async function makeTrades(exchange: Exchange, traders: readonly Trader[], pair: string, trades: number): Promise<void> {
  const [one, other] = traders as [Trader, Trader]
  const left = trades - (await settlement(exchange)).waiting
  const order = { tradingPairId: pair, orderType: 'LIMIT', quantity: '10', price: '0.2500', timeInForce: 'GTC' } as const
  for (let made = 0; made + 100 <= left; made += 100) {
    // In turns, so that neither runs out.
    const [seller, buyer] = made % 200 === 0 ? [one, other] : [other, one]
    await seller.client.BatchCreateOrders({ orders: Array.from({ length: 100 }, () => ({ ...order, side: 'SELL' as const })) })
    await buyer.client.BatchCreateOrders({ orders: Array.from({ length: 100 }, () => ({ ...order, side: 'BUY' as const })) })
  }
}

/** Waits until no batch is open and history has projected everything. */
async function calmDown(exchange: Exchange): Promise<void> {
  await until('the end of what goes on behind', async () => {
    const [{ opened, confirmed }, metrics] = await Promise.all([
      settlement(exchange), fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`).then((response) => response.text()),
    ])
    return opened === confirmed && /^exchange_history_lag_records 0$/m.test(metrics)
  })
}

/** Ms from the opening of a batch of so many trades to its confirmation on the chain. */
async function settle(exchange: Exchange, traders: readonly Trader[], pair: string): Promise<number> {
  const { opened: before } = await settlement(exchange)
  await makeTrades(exchange, traders, pair, TRADES)
  await until(`the batch behind ${before}`, async () => (await settlement(exchange)).opened > before)
  const started = performance.now()
  await until('its confirmation', async () => (await settlement(exchange)).confirmed > before)
  return performance.now() - started
}

type Kind = 'calm' | Extract<Order, 'stroll' | 'run'>

interface Turns {
  /** p99 of orders of each turn, ms. */
  readonly p99: Record<Kind, number[]>
  /** Withdrawals and deposits a second. */
  readonly moves: Record<Kind, number[]>
  /** Batches that were opened in turns. */
  readonly batches: Record<Kind, number>
}

/** Orders at fixed times, in turns of each kind. */
async function takeTurns(exchange: Exchange, movers: Movers, traders: readonly Trader[], pair: string): Promise<Turns> {
  const sockets: Socket[] = Array.from({ length: CONNECTIONS }, () => connect(exchange.port, '127.0.0.1').setNoDelay(true))
  let seed = 1
  const orders = async (ms: number): Promise<Float64Array> => {
    const signed = signOrders(traders, pair, Math.ceil((PER_SECOND * ms) / 1000), seed++)
    const requests = signed.map((order) => bytesOf(order, exchange.port))
    return (await atFixedTimes({ perSecond: PER_SECOND, ms }, requests, sockets)).latencies
  }
  await orders(WARM_MS)
  const turns: Turns = {
    p99: { calm: [], stroll: [], run: [] }, moves: { calm: [], stroll: [], run: [] }, batches: { calm: 0, stroll: 0, run: 0 },
  }
  const turn = async (kind: Kind, trades: number): Promise<void> => {
    await endOrders(traders)
    await makeTrades(exchange, traders, pair, trades)
    await calmDown(exchange)
    const { opened } = await settlement(exchange)
    const started = performance.now()
    if (kind !== 'calm') await movers<Moved>(kind)
    turns.p99[kind].push(quantile(await orders(TURN_MS), 0.99))
    const { moves } = await movers<Moved>('rest')
    turns.moves[kind].push((1000 * moves) / (performance.now() - started))
    turns.batches[kind] += (await settlement(exchange)).opened - opened
  }
  const third = (TRADES - LAST_TRADES) / 3
  for (let round = 0; round < ROUNDS; round++) {
    // The batch is due in the last one; the two others change places.
    for (const [place, kind] of (round % 2 === 0 ? ['calm', 'run'] as const : ['run', 'calm'] as const).entries()) {
      await turn(kind, (place + 1) * third)
    }
    await turn('stroll', 3 * third)
  }
  for (const socket of sockets) socket.destroy()
  return turns
}

function visible({ p99, moves, batches }: Turns): Record<string, number> {
  const ratio = (kind: Kind, from = 0, to = ROUNDS): number => median(p99[kind].slice(from, to)) / median(p99.calm.slice(from, to))
  const half = Math.floor(ROUNDS / 2)
  return {
    'p99 of orders, with money and settlement by without': ratio('stroll'),
    'p99 of orders, that of the first half': ratio('stroll', 0, half),
    'p99 of orders, that of the second half': ratio('stroll', half),
    'p99 of orders, as fast as users can by without': ratio('run'),
    'p99 of orders without, ms': median(p99.calm),
    'p99 of orders with money and settlement, ms': median(p99.stroll),
    'p99 of orders, as fast as users can, ms': median(p99.run),
    'withdrawals and deposits a second meanwhile': median(moves.stroll),
    'withdrawals and deposits a second, as fast as users can': median(moves.run),
    'turns with a batch of settlement': batches.stroll,
    'other turns with one': batches.calm + batches.run,
  }
}

export async function run(): Promise<Result> {
  const flags = [
    '--vault', '1', '--settlement-trades', String(TRADES), '--settlement-seconds', '60', '--chain-poll-ms', '100', '--chain-idle', '1',
  ]
  const figures = await withExchange(flags, async (exchange): Promise<Record<string, number>> => {
    const { traders, pair } = await makeTraders(exchange.baseUrl, 8)
    const { movers, worker } = await startMovers(exchange)
    const { withdrawals, deposits, transfers } = await movers<Paces>('paces')
    // First, so that the batch is opened by the last of its trades.
    const batch = await settle(exchange, traders, pair)
    const turns = await takeTurns(exchange, movers, traders, pair)
    await worker.terminate()
    return {
      'withdrawals a second, to their confirmation': withdrawals,
      'deposits a second, until credited': deposits,
      'plain transfers a second of that chain, one after the other': transfers,
      [`settlement of ${TRADES} trades, opened to confirmed, ms`]: batch,
      ...visible(turns),
    }
  })
  return {
    name: 'chain: deposits, withdrawals and settlement on the embedded chain, and orders meanwhile',
    settings: {
      users: `${MOVERS} who withdraw and deposit, one step after the other, ${CYCLES} times each; they compute when a core is idle`,
      chain: 'embedded, computes when a core is idle, one block a transaction, confirmed with its own block; looked at every 100 ms',
      orders: `${PER_SECOND} a second at fixed times over ${CONNECTIONS} sockets, ${ROUNDS} turns of ${TURN_MS} ms of each kind`,
      meanwhile: `${STROLL_PER_SECOND} withdrawals and deposits a second and one batch of ${TRADES} trades, or as fast as the users can`,
    },
    figures,
    targets: [{ figure: 'p99 of orders, with money and settlement by without', atMost: 1.1, unit: 'times' }],
  }
}
