/**
 * Promise: a client that only listens has exactly what REST answers: books at every magnitude, balances, open orders and trades, whenever
 * it came. No frame leaves a gap and none repeats, while accounts and a family trade at random through two gateway threads.
 */
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import t from 'tap'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { createClient, type Client } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { Listener } from '../support/listener.ts'
import { SocketClient } from '../support/sockets.ts'
import { newTrader, pairOf, sodiumSigner, type Trader } from '../support/traders.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const STEPS = 150
const MAGNITUDES = [1, 10, 100]
t.setTimeout(300_000)

const directory = temporaryDirectory()
const exchange = await startExchange(directory, ['--gateways', '2', '--sign-in-per-ip', '1000', '--chain', '0'])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/e2e/ws_consistency.test.ts`)

/** A sub-account of `master`, that may spend of its balances. */
async function newSubAccount(master: Client, assets: readonly string[]): Promise<Trader> {
  const account = privateKeyToAccount(generatePrivateKey())
  const { subAccount } = await master.CreateSubAccount({ address: account.address })
  for (const assetId of assets) await master.CreateSubAccountLimit({ subAccountId: subAccount.id, assetId, maxAmount: '1000000' })
  const signer = sodiumSigner()
  const wallet = { address: account.address, signMessage: (message: string) => account.signMessage({ message }) }
  const client = createClient({ baseUrl: exchange.baseUrl, wallet, signer })
  await client.signIn()
  return { client, signer, address: account.address }
}

/** Random orders, cancels and replacements of one trader; what the exchange refuses is refused. */
async function trade({ client }: Trader, pair: string, random: Prng, funded: boolean): Promise<void> {
  const open: string[] = []
  // One for certain.
  const low = { tradingPairId: pair, orderType: 'LIMIT', side: 'BUY', quantity: '5', price: '0.2', useMasterBalance: funded } as const
  open.push((await client.ReplaceOrder({ orderId: (await client.CreateOrder(low)).orderId, price: '0.2001' })).orderId)
  const some = <T>(list: readonly T[]): T => list[random.below(list.length)]!
  for (let step = 0; step < STEPS; step++) {
    const price = (0.3 + (random.below(60) - 30) * 0.0001).toFixed(4)
    const quantity = String(5 * (1 + random.below(8)))
    const dice = random.unit()
    try {
      if (dice < 0.15 && open.length > 0) await client.CancelOrder({ orderId: open.splice(random.below(open.length), 1)[0]! })
      else if (dice < 0.3 && open.length > 0) {
        const orderId = open.splice(random.below(open.length), 1)[0]!
        const terms = random.unit() < 0.5 ? { price } : { quantity: '5' }
        open.push((await client.ReplaceOrder({ orderId, ...terms })).orderId)
      } else if (dice < 0.32) await client.BatchCancelAllOrders({})
      else if (dice < 0.36) await client.Mint()
      else {
        const market = random.unit() < 0.1
        const terms = market ? { orderType: 'MARKET' as const } : {
          orderType: 'LIMIT' as const, price, timeInForce: some(['GTC', 'GTC', 'GTC', 'IOC', 'FOK'] as const),
          postOnly: random.unit() < 0.1,
        }
        const { orderId } = await client.CreateOrder({
          tradingPairId: pair, side: some(['BUY', 'SELL'] as const), quantity, ...terms,
          ...(random.unit() < 0.3 ? { clientOrderId: `c${step}-${random.u32()}` } : {}),
          ...(random.unit() < 0.3 ? { selfTradePreventionMode: 'CANCEL_BOTH' as const } : {}),
          ...(funded && random.unit() < 0.7 ? { useMasterBalance: true } : {}),
        })
        open.push(orderId)
      }
    } catch (error) {
      if ((error as { status?: number }).status === undefined) throw error
    }
  }
}

async function listen(trader: Trader, pair: string): Promise<Listener> {
  const listener = new Listener(await SocketClient.open(exchange.port))
  const { client } = listener
  await client.authenticate(trader.signer)
  for (const magnitude of MAGNITUDES) await client.subscribe('orderbook', { tradingPairId: pair, magnitude })
  await client.subscribe('trades', { tradingPairId: pair })
  await client.subscribe('balances')
  await client.subscribe('orders')
  return listener
}

/** Open orders over REST, all pages. */
async function openOrders(client: Client): Promise<Record<string, object>> {
  const found: Record<string, object> = {}
  for (let page = 1, pages = 1; page <= pages; page++) {
    const answer = await client.ListOrders({ status: ['SUBMITTED', 'PARTIALLY_FILLED'], page, pageSize: 100 })
    pages = answer.totalPages ?? 1
    for (const order of answer.orders) found[order.orderId] = order
  }
  return found
}

const priced = (levels: readonly { price: string; quantity: string }[]) => levels.map(({ price, quantity }) => ({ price, quantity }))

t.test('whoever listens has what REST answers', async (t) => {
  const traders = await Promise.all(Array.from({ length: 3 }, () => newTrader(exchange.baseUrl, 5)))
  const { client } = traders[0]!
  const pair = await pairOf(client, 'SEI/USDC')
  const { tradingPair } = await client.GetTradingPair({ tradingPairId: pair })
  const sub = await newSubAccount(client, [tradingPair.baseAssetId, tradingPair.quoteAssetId])
  const all = [...traders, sub]
  const listeners = await Promise.all(all.map((trader) => listen(trader, pair).then((listener) => ({ trader, listener }))))
  const first = [...listeners]
  let trading = true
  const late = (async () => {
    for (let i = 0; trading && i < 40; i++) {
      const trader = all[i % all.length]!
      listeners.push({ trader, listener: await listen(trader, pair) })
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  })()
  await Promise.all(all.map((trader, i) => trade(trader, pair, createPrng(SEED + 1 + i), i === 3)))
  trading = false
  await late
  t.ok(listeners.length > first.length, `${listeners.length} listeners`)

  const books = new Map(await Promise.all(MAGNITUDES.map(async (magnitude) =>
    [magnitude, await client.GetOrderbook({ tradingPairId: pair, depth: 1000, magnitude })] as const)))
  for (const { trader, listener } of listeners) {
    const { balances } = await trader.client.ListBalances({ pageSize: 100 })
    const orders = await openOrders(trader.client)
    const isThere = (): boolean => {
      listener.catchUp()
      return MAGNITUDES.every((magnitude) => (listener.books.get(magnitude)?.sequence ?? -1) >= books.get(magnitude)!.sequence) &&
        balances.every(({ assetId, version }) => (listener.balances.get(assetId)?.['version'] ?? -1) >= version)
    }
    for (let i = 0; i < 2000 && !isThere(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
    for (const [magnitude, book] of books) {
      const mirrored = listener.books.get(magnitude)!
      t.equal(mirrored.sequence, book.sequence)
      t.equal(mirrored.checksum, book.checksum)
      t.strictSame(mirrored.side('bids'), priced(book.bids), `bids by ${magnitude}`)
      t.strictSame(mirrored.side('asks'), priced(book.asks), `asks by ${magnitude}`)
    }
    t.strictSame(Object.fromEntries(listener.balances), Object.fromEntries(balances.map((row) => [row.assetId, row])), 'balances')
    t.strictSame(Object.fromEntries(listener.orders), orders, 'open orders')
  }
  const told = new Map<string, number>()
  for (const { listener } of first) for (const [name, count] of listener.events) told.set(name, (told.get(name) ?? 0) + count)
  for (const { listener } of first) t.ok(listener.books.get(1)!.updates > 0, 'the book was followed, not only copied')
  t.comment([...told].map(([name, count]) => `${name} ${count}`).join(', '))
  const certain = ['OrderSubmitted', 'OrderPartiallyFilled', 'OrderFilled', 'OrderCancelled', 'OrderReplaced']
  for (const name of certain) t.ok(told.get(name)! > 0, name)

  const trades: Record<string, object> = {}
  for (let pageToken: string | undefined = ''; pageToken !== undefined;) {
    const answer: Awaited<ReturnType<Client['ListTrades']>> = await client.ListTrades({ tradingPairId: pair, pageSize: 1000, pageToken })
    for (const each of answer.trades) trades[each.id] = each
    pageToken = answer.nextPageToken === '' ? undefined : answer.nextPageToken
  }
  for (const { listener } of first) {
    // The trades of a turn come behind its books.
    for (let i = 0; i < 2000 && listener.trades.length < Object.keys(trades).length; i++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      listener.catchUp()
    }
    t.strictSame(Object.fromEntries(listener.trades.map((each) => [each['id'], each])), trades, 'trades')
    t.equal(listener.trades.length, Object.keys(trades).length, 'each once')
  }
  for (const { listener } of listeners) listener.client.close()
})
