/**
 * Promise: orders of any age, trades, movements and the portfolio are exactly what happened: against the whole exchange, with the
 * answers of trading as the truth; read after each order, by page and by cursor, with the history killed, and after a restart.
 */
import { Decimal } from 'decimal.js'
import t from 'tap'
import { parseId, IdKind } from '../../core/layout/ids.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { createClient, RingbookError, type Client, type Output } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf, type Trader } from '../support/traders.ts'

t.setTimeout(900_000)
const SEED = Number(process.env['SEED'] ?? 3)
const random = createPrng(SEED)
t.comment(`SEED=${SEED} npm run test:deep -- test/e2e/history_reads.deep.ts`)
const STEPS = 240

interface Party extends Trader {
  /** Every order that was accepted, oldest first. */
  readonly placed: string[]
}
type Order = Output<'GetOrder'>

const directory = temporaryDirectory()
let exchange: Exchange = await startExchange(directory, ['--gateways', '2'])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})
const parties: Party[] = []
for (let i = 0; i < 3; i++) parties.push({ ...(await newTrader(exchange.baseUrl, 4)), placed: [] })
const anyone = createClient({ baseUrl: exchange.baseUrl })
const MARKETS: [symbol: string, price: number, tick: number, lot: string][] = [
  ['BTC/USDC', 60_000, 2, '0.0001'], ['ETH/USDC', 3_000, 2, '0.001'], ['SEI/USDC', 0.25, 4, '10'],
]
const pairs = await Promise.all(MARKETS.map(([symbol]) => pairOf(anyone, symbol)))

const sequenceOf = (id: string): number => parseId(IdKind.ORDER, id)!.sequence
const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)
const sum = (values: readonly string[]): string => Decimal.sum(0, ...values).toFixed()

/** All of a listing by cursor. */
async function walk<Row>(
  size: number, ask: (pageToken: string, pageSize: number) => Promise<{ rows: Row[]; next?: string }>,
): Promise<Row[]> {
  const rows: Row[] = []
  let token = ''
  for (let step = 0; step < 10_000; step++) {
    const answer = await ask(token, size)
    rows.push(...answer.rows)
    token = answer.next ?? ''
    if (token === '') return rows
  }
  throw new Error('a walk without end')
}
const allOrders = (client: Client, size = 50): Promise<Order[]> => walk(size, async (pageToken, pageSize) => {
  const { orders, nextPageToken: next } = await client.ListOrders({ pageToken, pageSize })
  return { rows: orders, next }
})
const allTrades = (client: Client, size = 50): Promise<Output<'ListAccountTrades'>['trades']> => walk(size, async (pageToken, pageSize) => {
  const { trades, nextPageToken: next } = await client.ListAccountTrades({ pageToken, pageSize })
  return { rows: trades, next }
})
type Movement = Output<'ListMovements'>['movements'][0]
const allMovements = (client: Client, size = 50): Promise<Movement[]> => walk(size, async (pageToken, pageSize) => {
  const { movements, nextPageToken: next } = await client.ListMovements({ pageToken, pageSize })
  return { rows: movements, next }
})

/** One random order, replacement or cancel; the id of the order it made or ended. */
async function act(party: Party): Promise<string> {
  const { client, placed } = party
  const market = random.below(MARKETS.length)
  const [, price, digits, lot] = MARKETS[market]!
  const near = (): string => (price * (1 + (random.below(9) - 4) / 10_000)).toFixed(digits)
  const choice = random.below(10)
  const { orders: open } = choice >= 8 ? await client.ListOrders({ status: ['SUBMITTED', 'PARTIALLY_FILLED'] }) : { orders: [] }
  const target = open.length === 0 ? null : open[random.below(open.length)]!
  if (target !== null && choice === 8) {
    await client.CancelOrder({ orderId: target.orderId })
    return target.orderId
  }
  if (target !== null) {
    const price = new Decimal(target.price!).mul(random.below(2) === 0 ? '0.999' : '1.001').toFixed(target.symbol === 'SEI/USDC' ? 4 : 2)
    placed.push((await client.ReplaceOrder({ orderId: target.orderId, price })).orderId)
    return placed.at(-1)!
  }
  const common = {
    tradingPairId: pairs[market]!,
    side: random.below(2) === 0 ? 'BUY' : 'SELL',
    quantity: new Decimal(lot).mul(10 + random.below(50)).toFixed(),
    ...(random.below(4) === 0 ? { clientOrderId: `c${placed.length}` } : {}),
  } as const
  const created = choice === 7
    ? await client.CreateOrder({ ...common, orderType: 'MARKET', slippageToleranceBps: 100 })
    : await client.CreateOrder({ ...common, orderType: 'LIMIT', price: near(), timeInForce: choice === 6 ? 'IOC' : 'GTC' })
  placed.push(created.orderId)
  return created.orderId
}

/** Calls until the answer is what is waited for. */
async function until<T>(ask: () => Promise<T>, good: (answer: T) => boolean): Promise<T> {
  for (let attempt = 0; attempt < 3000; attempt++) {
    const answer = await ask()
    if (good(answer)) return answer
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('it did not come')
}
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(() => 'answered', (error: unknown) => (error instanceof RingbookError ? (error.code ?? '') : String(error)))

t.test('what was done is there at once', async (t) => {
  let first = 0
  for (let step = 0; step < STEPS; step++) {
    const party = parties[random.below(parties.length)]!
    const { client, placed } = party
    const id = await act(party)
    let reads = 0
    const listed = await until(() => (reads++, client.ListOrders({ pageSize: 1 })), ({ orders }) => orders[0]?.id === placed.at(-1))
    if (reads === 1) first++
    t.equal(listed.total, placed.length)
    const { createdAt } = await client.GetOrder({ orderId: id })
    const since = await client.ListOrders({ startTime: createdAt, endTime: createdAt, pageSize: 100 })
    t.equal(since.orders.filter((order) => order.id === id).length, 1, 'and it is found by its time')
  }
  // The reader waits a tenth of a second for the history, which a crowded machine may not give it in time.
  t.ok(first > STEPS / 2, `at once ${first} times of ${STEPS}`)
})

t.test('orders: every one, once, newest first, whichever way it is read', async (t) => {
  for (const { client, placed } of parties) {
    const newest = [...placed].reverse()
    t.same(idsOf(await allOrders(client)), newest)
    t.same(idsOf(await allOrders(client, 7)), newest)
    const paged: Order[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const answer = await client.ListOrders({ page, pageSize: 30 })
      t.match(answer, { total: placed.length, totalPages: Math.ceil(placed.length / 30), totalCapped: false })
      paged.push(...answer.orders)
      pages = answer.totalPages!
    }
    t.same(idsOf(paged), newest)
    for (const order of paged) t.strictSame(await client.GetOrder({ orderId: order.id }), order, 'alone and in the list the same')
    for (const status of ['FILLED', 'CANCELLED', 'SUBMITTED'] as const) {
      const wanted = paged.filter((order) => order.status === status)
      t.same((await client.ListOrders({ status: [status, 'EXPIRED'], pageSize: 100 })).total, wanted.length, status)
    }
    const labelled = paged.find(({ clientOrderId }) => clientOrderId !== undefined)!
    t.ok((await client.ListOrders({ clientOrderId: labelled.clientOrderId! })).orders.some(({ id }) => id === labelled.id))
  }
})

t.test('trades: they add up to the orders, and both sides are the same trades', async (t) => {
  const everybody = await walk(100, async (pageToken, pageSize) => {
    const { trades, nextPageToken: next } = await anyone.ListTrades({ pageToken, pageSize })
    return { rows: trades, next }
  })
  t.ok(everybody.length > 20, `${everybody.length} trades`)
  const sides: string[] = []
  for (const { client } of parties) {
    const trades = await allTrades(client)
    t.same(idsOf(await allTrades(client, 3)), idsOf(trades))
    sides.push(...trades.map(({ id, role }) => `${id} ${role}`))
    for (const order of await allOrders(client)) {
      const of = trades.filter(({ orderId }) => orderId === order.id)
      t.equal(sum(of.map(({ quantity }) => quantity)), order.filledQuantity)
      t.equal(sum(of.map(({ fee }) => fee)), order.fee)
      t.ok(of.every(({ side, tradingPairId }) => side === order.side && tradingPairId === order.tradingPairId))
      t.same(idsOf((await client.ListAccountTrades({ orderId: order.id, pageSize: 100 })).trades), idsOf(of))
    }
  }
  t.same(sides.sort(), everybody.flatMap(({ id }) => [`${id} maker`, `${id} taker`]).sort())
  for (const trade of everybody.slice(0, 20)) t.strictSame(await anyone.GetTrade({ tradeId: trade.id }), trade)
  for (const [market, tradingPairId] of pairs.entries()) {
    const of = everybody.filter((trade) => trade.tradingPairId === tradingPairId)
    const { trades, total } = await anyone.ListTrades({ tradingPairId, pageSize: 100 })
    t.equal(total, of.length, MARKETS[market]![0])
    t.same(idsOf(trades), idsOf(of.slice(0, 100)))
  }
})

t.test('movements: each follows from the one before, and the last is the balance', async (t) => {
  for (const { client } of parties) {
    const movements = await allMovements(client)
    t.same(idsOf(await allMovements(client, 11)), idsOf(movements))
    t.equal(new Set(idsOf(movements)).size, movements.length)
    const books = new Map<string, { available: Decimal; locked: Decimal }>()
    for (const { assetId, entryType, amount, balanceAfter, lockedAfter } of [...movements].reverse()) {
      const before = books.get(assetId) ?? { available: new Decimal(0), locked: new Decimal(0) }
      const after = { available: new Decimal(balanceAfter), locked: new Decimal(lockedAfter) }
      const change = { CREDIT: amount, DEBIT: `-${amount}`, LOCK: '0', UNLOCK: '0' }[entryType]
      const total = after.available.plus(after.locked).minus(before.available).minus(before.locked)
      t.equal(total.toFixed(), new Decimal(change).toFixed(), entryType)
      if (entryType === 'LOCK') t.equal(after.locked.minus(before.locked).toFixed(), amount)
      if (entryType === 'UNLOCK') t.equal(before.locked.minus(after.locked).toFixed(), amount)
      books.set(assetId, after)
    }
    for (const { assetId, availableBalance, lockedBalance } of (await client.ListBalances()).balances) {
      const book = books.get(assetId)
      t.same([book?.available.toFixed() ?? '0', book?.locked.toFixed() ?? '0'], [availableBalance, lockedBalance])
    }
    const fees = movements.filter(({ transactionType }) => transactionType === 'FEE')
    t.same(idsOf((await client.ListMovements({ transactionType: 'FEE', pageSize: 100 })).movements), idsOf(fees.slice(0, 100)))
  }
})

t.test('portfolio: volume and fees are those of the trades, equity that of the balances at the last prices', async (t) => {
  for (const { client } of parties) {
    const trades = await allTrades(client)
    const { volume, fees, points } = await client.GetPortfolio({ period: 'all' })
    t.equal(volume, sum(trades.map(({ quoteQuantity }) => quoteQuantity)))
    t.equal(fees, sum(trades.map(({ fee }) => fee)))
    const prices = new Map<string, string>([['USDC', '1']])
    for (const [market, tradingPairId] of pairs.entries()) {
      prices.set(MARKETS[market]![0].split('/')[0]!, (await anyone.ListTrades({ tradingPairId, pageSize: 1 })).trades[0]!.price)
    }
    const { balances } = await client.ListBalances()
    const equity = Decimal.sum(...balances.map(({ symbol, totalBalance }) => new Decimal(totalBalance).mul(prices.get(symbol!)!)))
    t.ok(equity.minus(points.at(-1)!.equity!).abs().lessThan('0.00001'), `${equity.toFixed()} is ${points.at(-1)!.equity}`)
    t.equal((await client.GetPortfolio({})).period, '24h')
  }
})

/** Process number of the follower that runs now. */
const followerOf = ({ log }: Exchange): number => log.findLast(({ msg }) => msg === 'history follower started')!['pid'] as number

t.test('the follower killed: the past is 503, trading goes on, and nothing is missing afterwards', async (t) => {
  const [{ client, placed }] = parties as [Party]
  for (let round = 0; round < 2; round++) {
    const killed = followerOf(exchange)
    process.kill(killed, 'SIGKILL')
    t.equal(await until(() => codeOf(client.ListOrders()), (code) => code !== 'answered'), 'HISTORY_UNAVAILABLE')
    const order = { tradingPairId: pairs[0]!, orderType: 'LIMIT', side: 'BUY', quantity: '0.001', price: '30000' } as const
    const { orderId } = await client.CreateOrder(order)
    placed.push(orderId)
    t.equal((await client.GetOrder({ orderId })).status, 'SUBMITTED')
    t.ok((await client.ListOrders({ status: ['SUBMITTED'] })).orders.some(({ id }) => id === orderId))
    await client.CancelOrder({ orderId })
    t.equal((await client.GetOrder({ orderId })).status, 'CANCELLED')
    await until(() => codeOf(client.GetPortfolio()), (code) => code === 'answered')
    t.not(followerOf(exchange), killed)
    t.same(idsOf(await allOrders(client)), [...placed].reverse())
  }
})

t.test('after a restart: orders of any age, page tokens, and nobody else', async (t) => {
  const before = await Promise.all(parties.map(({ client }) => allOrders(client)))
  const { nextPageToken } = await parties[0]!.client.ListOrders({ pageSize: 5 })
  t.equal(await exchange.stop(), 0)
  exchange = await startExchange(directory, ['--gateways', '2'])
  const clients = parties.map(({ signer }) => createClient({ baseUrl: exchange.baseUrl, signer }))
  await until(() => codeOf(clients[0]!.ListOrders()), (code) => code === 'answered')
  for (const [index, client] of clients.entries()) {
    t.strictSame(await allOrders(client), before[index])
    const other = clients[(index + 1) % clients.length]!
    for (const order of before[index]!.slice(-30)) {
      t.strictSame(await client.GetOrder({ orderId: order.id }), order)
      t.equal(await codeOf(other.GetOrder({ orderId: order.id })), 'ORDER_NOT_FOUND', "somebody else's")
    }
    t.ok(before[index]!.every((order, at, all) => at === 0 || sequenceOf(order.id) < sequenceOf(all[at - 1]!.id)))
  }
  const rest = await clients[0]!.ListOrders({ pageToken: nextPageToken!, pageSize: 1000 })
  t.same(idsOf(rest.orders), idsOf(before[0]!.slice(5)), 'a walk goes on')
  t.equal(await codeOf(clients[1]!.ListOrders({ pageToken: nextPageToken! })), 'VALIDATION_ERROR', 'but not for another')
})
