/**
 * Promise: streams of the client outlive the exchange. It is stopped, killed and stopped again while accounts trade; each time books,
 * balances and open orders come back by themselves, and at rest they are what REST answers. Every channel there is can be listened to.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import t, { type Test } from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { createClient, NetworkError, RingbookError, type ChannelName, type Client, type LocalBook } from '../../gateway/client/index.ts'
import { DECLARATIONS } from '../../gateway/ws/channels/index.ts'
import { historyReached, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { until } from '../support/stream_server.ts'
import { pairOf, sodiumSigner } from '../support/traders.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const MAGNITUDES = [1, 10]
/** Orders of each account before the exchange goes, and after it is back. */
const ORDERS = 25
t.setTimeout(900_000)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm run test:deep -- test/e2e/client_streams.deep.ts`)

/** One address for an exchange that comes back on another port. */
async function relayTo(port: () => number): Promise<{ baseUrl: string; close(): void }> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port(), '127.0.0.1')
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

type Row = Record<string, unknown>

/** An account, and all that its client was told. */
interface Dealer {
  readonly client: Client
  readonly books: readonly LocalBook[]
  readonly balances: Map<string, Row>
  readonly orders: Map<string, Row>
  /** Of its subscriptions. */
  readonly snapshots: { balances: number; orders: number }
  readonly errors: string[]
}

const amounts = ({ availableBalance, lockedBalance, version }: Row): Row => ({ availableBalance, lockedBalance, version })
const rest = ({ price, quantity, remainingQuantity, side }: Row): Row => ({ price, quantity, remainingQuantity, side })

async function newDealer(baseUrl: string): Promise<Dealer> {
  const account = privateKeyToAccount(generatePrivateKey())
  const wallet = { address: account.address, signMessage: (message: string) => account.signMessage({ message }) }
  const client = createClient({ baseUrl, wallet, signer: sodiumSigner(), streams: { baseMs: 20, capMs: 200 } })
  await client.signIn()
  for (let i = 0; i < 3; i++) await client.Mint()
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const [balances, orders] = [new Map<string, Row>(), new Map<string, Row>()]
  const snapshots = { balances: 0, orders: 0 }
  const errors: string[] = []
  const error = ({ code }: { code: string }): unknown => errors.push(code)
  const books = MAGNITUDES.map((magnitude) => client.book({ tradingPairId, magnitude }, { error }))
  const subscriptions = [
    client.subscribe('balances', {}, {
      error,
      snapshot: (data) => {
        snapshots.balances++
        balances.clear()
        for (const row of data.balances) balances.set(row.assetId, amounts(row))
      },
      update: (row) => balances.set(row.assetId, amounts(row)),
    }),
    client.subscribe('orders', {}, {
      error,
      snapshot: (data) => {
        snapshots.orders++
        orders.clear()
        for (const order of data.orders) orders.set(order.orderId, rest(order))
      },
      update: (order) => {
        if (['SUBMITTED', 'PARTIALLY_FILLED'].includes(order.status)) orders.set(order.orderId, rest(order))
        else orders.delete(order.orderId)
      },
    }),
  ]
  await Promise.all([...books, ...subscriptions].map(({ ready }) => ready))
  return { client, books, balances, orders, snapshots, errors }
}

/** Whether the exchange took the call. */
async function took(call: Promise<unknown>): Promise<boolean> {
  try {
    await call
    return true
  } catch (error) {
    if (error instanceof NetworkError || (error instanceof RingbookError && error.status !== 500)) return false
    throw error
  }
}

t.test('three restarts in the middle of trading leave what REST answers', async (t) => {
  const directory = temporaryDirectory()
  const start = (): Promise<Exchange> => startExchange(directory, ['--chain', '0'])
  let exchange = await start()
  const relay = await relayTo(() => exchange.port)
  const dealers = await Promise.all([newDealer(relay.baseUrl), newDealer(relay.baseUrl)])
  t.teardown(async () => {
    for (const { client } of dealers) client.closeStreams()
    relay.close()
    await exchange.kill()
    removeDirectory(directory)
  })
  const prng = createPrng(SEED)
  const tradingPairId = await pairOf(dealers[0]!.client, 'SEI/USDC')
  const place = ({ client }: Dealer): Promise<boolean> => took(client.CreateOrder({
    tradingPairId, orderType: 'LIMIT', side: prng.below(2) === 0 ? 'BUY' : 'SELL', quantity: String(10 + prng.below(50)),
    price: (0.2 + prng.below(60) / 1000).toFixed(3),
  }))
  const trade = async (): Promise<void> => {
    for (let i = 0; i < ORDERS; i++) for (const dealer of dealers) await place(dealer)
  }
  for (const way of ['stop', 'kill', 'stop'] as const) {
    const before = dealers.map(({ snapshots }) => ({ ...snapshots }))
    await trade()
    let isDown = false
    const trading = (async () => {
      while (!isDown) for (const dealer of dealers) await place(dealer)
    })()
    await exchange[way]()
    isDown = true
    await trading
    await until('the books to say so', () => dealers.every(({ books }) => books.every(({ live }) => !live)))
    exchange = await start()
    await until('everything to be back', () => dealers.every(({ books, snapshots }, i) =>
      books.every(({ live }) => live) && snapshots.balances > before[i]!.balances && snapshots.orders > before[i]!.orders))
    await trade()
  }
  for (const dealer of dealers) await compare(t, dealer, tradingPairId)
  await historyReached(exchange)
  await everyChannel(t, dealers[0]!, tradingPairId)
  t.ok(await place(dealers[0]!) || await place(dealers[1]!), 'trading goes on')
})

/** Every channel there is, of one pair by id and by symbol and of all, gives its snapshot to whom it belongs. */
async function everyChannel(t: Test, { client }: Dealer, tradingPairId: string): Promise<void> {
  const values: Record<string, unknown> = { tradingPairId, interval: '1m' }
  const wanted: [ChannelName, Record<string, unknown>][] = []
  for (const { name, params } of DECLARATIONS) {
    const given = Object.keys(params.properties).filter((field) => field in values)
    wanted.push([name, Object.fromEntries(given.map((field) => [field, values[field]]))])
    const { required = [] } = params as { required?: string[] }
    if (given.some((field) => !required.includes(field))) wanted.push([name, {}])
  }
  const ofPair = wanted.filter(([, params]) => params['tradingPairId'] !== undefined)
  wanted.push(...ofPair.map(([name, params]): [ChannelName, Row] => [name, { ...params, tradingPairId: 'SEI/USDC' }]))
  const heard = wanted.map(() => [] as Row[])
  const subscriptions = wanted.map(([name, params], i) =>
    client.subscribe(name, params as never, { snapshot: (data: unknown) => heard[i]!.push(data as Row) }))
  await Promise.all(subscriptions.map(({ ready }) => ready))
  await until('every snapshot', () => heard.every((each) => each.length > 0))
  wanted.forEach(([name, params], i) => {
    const pairs = heard[i]!.map((data) => data['tradingPairId'])
    const asked = params['tradingPairId'] === undefined ? undefined : tradingPairId
    t.ok(pairs.every((pair) => pair === asked), `${name} ${JSON.stringify(params)}: its own`)
  })
  t.ok(wanted.length > DECLARATIONS.length)
  for (const subscription of subscriptions) subscription.close()
}

async function compare(t: Test, { client, books, balances, orders, errors }: Dealer, tradingPairId: string): Promise<void> {
  const bookOf = (magnitude: number) => client.GetOrderbook({ tradingPairId, depth: 1000, magnitude })
  const truth = await Promise.all(MAGNITUDES.map(bookOf))
  const owned = (await client.ListBalances({ pageSize: 100 })).balances
  const open: Row[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const answer = await client.ListOrders({ status: ['SUBMITTED', 'PARTIALLY_FILLED'], page, pageSize: 100 })
    pages = answer.totalPages ?? 1
    open.push(...answer.orders)
  }
  await until('the last change', () => books.every((book, i) => book.sequence >= truth[i]!.sequence) &&
    owned.every(({ assetId, version }) => (balances.get(assetId)!['version'] as number) >= version) && orders.size === open.length)
  for (const [i, book] of books.entries()) {
    const priced = (levels: readonly { price: string; quantity: string }[]): object[] =>
      levels.map(({ price, quantity }) => ({ price, quantity }))
    t.match(book, { live: true, sequence: truth[i]!.sequence, checksum: truth[i]!.checksum })
    t.strictSame(book.bids, priced(truth[i]!.bids))
    t.strictSame(book.asks, priced(truth[i]!.asks))
    t.ok(book.bids.length > 0 && book.asks.length > 0, 'there is a book')
  }
  t.strictSame(Object.fromEntries(balances), Object.fromEntries(owned.map((row) => [row.assetId, amounts(row)])))
  t.strictSame(Object.fromEntries(orders), Object.fromEntries(open.map((order) => [order['orderId'], rest(order)])))
  t.strictSame(errors, [], 'nothing was refused')
}
