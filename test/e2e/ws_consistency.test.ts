/**
 * Promise: a client that only listens has exactly what REST answers: books at every magnitude, balances, open orders, trades and its own
 * fills with their fees to the atom, whenever it came and however often it subscribed anew. Accounts, a family and an agent trade at random
 * over two gateway threads and gRPC, while the operator halts the pair and the exchange. Every event and every reason occurs.
 */
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import type { Client } from '../../gateway/client/index.ts'
import { historyReached, operate, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { connectGrpc } from '../support/grpc.ts'
import { differences, Listener, type AtRest, type Fill } from '../support/listener.ts'
import { SocketClient, type SocketSigner } from '../support/sockets.ts'
import { pairOf } from '../support/traders.ts'
import { agentDealer, grpcDealer, restDealer, subDealer, tradeAtRandom, type Dealer } from '../support/trading_session.ts'
import type { Json } from '../support/transports.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const STEPS = 100
const MAGNITUDES = [1, 10, 100]
t.setTimeout(600_000)

const directory = temporaryDirectory()
const exchange = await startExchange(directory, ['--gateways', '2', '--sign-in-per-ip', '1000', '--chain', '0'])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/e2e/ws_consistency.test.ts`)
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const grpc = connectGrpc(exchange.grpcPort)
t.teardown(() => grpc.close())
const [master, owner] = [await restDealer(exchange), await restDealer(exchange)]
const remote = await grpcDealer(grpc)
const { client } = master
const pair = await pairOf(client, 'ETH/USDC')
const { tradingPair } = await client.GetTradingPair({ tradingPairId: pair })
const sub = await subDealer(exchange, master, [tradingPair.baseAssetId, tradingPair.quoteAssetId])
const agent = await agentDealer(exchange, owner, pair)
const accounts: readonly Dealer[] = [master, owner, remote, sub]

async function listen(signer: SocketSigner): Promise<Listener> {
  const socket = await SocketClient.open(exchange.port)
  await socket.authenticate(signer)
  for (const magnitude of MAGNITUDES) await socket.subscribe('orderbook', { tradingPairId: pair, magnitude })
  for (const channel of ['balances', 'orders']) await socket.subscribe(channel)
  await socket.subscribe('trades', { tradingPairId: pair })
  return new Listener(socket)
}
/** Since before the first order. */
const first = await Promise.all(accounts.map(async (dealer) => ({ dealer, listener: await listen(dealer.signer) })))
const listeners = [...first]

/** All pages of a listing. */
async function everything<T>(
  name: 'ListOrders' | 'ListAccountTrades' | 'ListTrades', items: string, { does }: Dealer, input: Json,
): Promise<T[]> {
  const found: T[] = []
  for (let pageToken: string | undefined = ''; pageToken !== undefined;) {
    const answer: Json = await does(name, { ...input, pageSize: 100, pageToken })
    found.push(...(answer[items] as T[]))
    pageToken = (answer['nextPageToken'] ?? '') === '' ? undefined : answer['nextPageToken']
  }
  return found
}
const openOrders = (dealer: Dealer): Promise<{ orderId: string; expirationDate?: string }[]> =>
  everything('ListOrders', 'orders', dealer, { status: ['SUBMITTED', 'PARTIALLY_FILLED'] })

/** Until this listener was told that an order ended. */
const ended = ({ listener }: { listener: Listener }, orderId: string): Promise<Json> =>
  listener.client.next(({ data }) => data?.orderId === orderId && ['CANCELLED', 'EXPIRED', 'FILLED'].includes(data.status))

t.test('every event and every reason, in an order that is known', async (t) => {
  const [maker, taker] = first as [typeof first[0], typeof first[0]]
  type Placed = Promise<string>
  const place = async ({ dealer }: { dealer: Dealer }, side: string, quantity: string, price?: number, more: Json = {}): Placed => {
    const terms = price === undefined ? { orderType: 'MARKET' } : { orderType: 'LIMIT', price: String(price) }
    return (await dealer.does('CreateOrder', { tradingPairId: pair, side, quantity, ...terms, ...more }))['orderId']
  }
  await place(maker, 'SELL', '0.1', 3000, { postOnly: true })
  await place(maker, 'SELL', '0.1', 3001)
  await place(taker, 'BUY', '0.15', 3001)
  await place(taker, 'BUY', '0.1', 3001, { timeInForce: 'IOC' })
  await place(taker, 'BUY', '0.1', 3001, { timeInForce: 'FOK' })
  await place(maker, 'SELL', '0.01', 3000)
  const far = await place(maker, 'SELL', '0.1', 3500)
  await place(taker, 'BUY', '0.1')
  await maker.dealer.does('CancelOrder', { orderId: far })
  const own = await place(maker, 'SELL', '0.1', 3000)
  for (const selfTradePreventionMode of ['CANCEL_TAKER', 'CANCEL_BOTH']) {
    const stopped = await place(maker, 'BUY', '0.1', 3000, { selfTradePreventionMode })
    t.match(await ended(maker, stopped), { data: { terminalReason: 'SELF_TRADE_PREVENTION', stpCounterpartyOrderId: own } })
  }
  t.match(await ended(maker, own), { data: { terminalReason: 'SELF_TRADE_PREVENTION', stpCounterpartyOrderId: String } })
  const low = await place(taker, 'BUY', '0.1', 2000)
  const { orderId } = await taker.dealer.does('ReplaceOrder', { orderId: low, price: '2001' })
  const short = await place(taker, 'BUY', '0.1', 2000, { expirationDate: new Date(Date.now() + 5_000).toISOString() })
  t.match(await ended(taker, short), { data: { eventType: 'OrderExpired', terminalReason: 'EXPIRED', status: 'EXPIRED' } })
  await taker.dealer.does('CancelOrder', { orderId })
  await master.does('TransferSubAccountBalance', {
    subAccountId: sub.id, assetId: tradingPair.quoteAssetId, amount: '100', direction: 'TO_SUB_ACCOUNT',
  })
  await place({ dealer: sub }, 'BUY', '0.01', 1999, { useMasterBalance: true })
  await sub.does('Mint', {})
  const held = await place({ dealer: agent }, 'BUY', '0.01', 1998)
  t.ok(await taker.listener.client.next(({ data }) => data?.orderId === held), 'what the agent does is told to its owner')
})

/** Subscribes anew in the middle of trading, with and without ending the subscription before. */
async function turn({ signer }: Dealer, isOver: () => boolean): Promise<Listener> {
  const listener = await listen(signer)
  const socket = listener.client
  const random = createPrng(SEED + 100 + listeners.length)
  for (let i = 0; i < 60 && !isOver(); i++) {
    const channel = ['orders', 'balances', 'orderbook'][random.below(3)]!
    const params = channel === 'orderbook' ? { tradingPairId: pair, magnitude: MAGNITUDES[random.below(3)]! } : {}
    if (random.unit() < 0.6) await socket.ask({ type: 'unsubscribe', channel, params })
    await socket.subscribe(channel, params)
    await pause(random.below(40))
  }
  return listener
}

/** The operator stops and resumes the pair and the exchange. */
async function interfere(isOver: () => boolean): Promise<void> {
  for (let i = 0; i < 8 && !isOver(); i++) {
    for (const status of ['HALTED', 'CANCEL_ONLY', 'ACTIVE']) await operate(exchange, '/pairs', { pair, status })
    for (const on of [true, false]) await operate(exchange, '/maintenance', { on })
    await master.does('TransferSubAccountBalance', {
      subAccountId: sub.id, assetId: tradingPair.quoteAssetId, amount: '1', direction: i % 2 === 0 ? 'TO_SUB_ACCOUNT' : 'FROM_SUB_ACCOUNT',
    })
    await pause(100)
  }
}

t.test('random trading, with listeners that come late and subscribe anew', async (t) => {
  let over = false
  const isOver = (): boolean => over
  const late = (async () => {
    for (let i = 0; !over && i < 16; i++) {
      const dealer = accounts[i % accounts.length]!
      listeners.push({ dealer, listener: await listen(dealer.signer) })
      await pause(50)
    }
  })()
  const turning = accounts.map(async (dealer) => listeners.push({ dealer, listener: await turn(dealer, isOver) }))
  const operator = interfere(isOver)
  await Promise.all([...accounts, agent].map((dealer, i) =>
    tradeAtRandom(dealer, { pair, steps: STEPS, random: createPrng(SEED + 1 + i), funded: dealer === sub })))
  over = true
  await Promise.all([late, operator, ...turning])
  t.ok(listeners.length > 2 * first.length, `${listeners.length} listeners`)
  await agent.does('CreateOrder', { tradingPairId: pair, orderType: 'LIMIT', side: 'BUY', quantity: '0.01', price: '1000' })
  t.match(await owner.does('RevokeDelegatedAgent', { agentId: agent.agentId }), { revoked: true })
  for (const [i, { dealer }] of first.entries()) {
    await dealer.does('CreateOrder', {
      tradingPairId: pair, orderType: 'LIMIT', side: 'BUY', quantity: '0.01', price: String(900 + i), useMasterBalance: dealer === sub,
    })
    const soon = async (): Promise<boolean> =>
      (await openOrders(dealer)).some(({ expirationDate }) => Date.parse(expirationDate!) < Date.now() + 3_600_000)
    for (let i = 0; i < 200 && await soon(); i++) await pause(50)
    t.notOk(await soon(), 'nothing is about to expire')
  }
})

t.test('at rest everybody has what REST answers', async (t) => {
  const books = new Map(await Promise.all(MAGNITUDES.map(async (magnitude) =>
    [magnitude, await client.GetOrderbook({ tradingPairId: pair, depth: 1000, magnitude })] as const)))
  t.ok(books.get(1)!.bids.length >= first.length, 'something rests')
  await historyReached(exchange)
  const trades = await everything<{ id: string }>('ListTrades', 'trades', master, { tradingPairId: pair })
  for (const { dealer, listener } of listeners) {
    const { balances } = (await dealer.does('ListBalances', {})) as Awaited<ReturnType<Client['ListBalances']>>
    const whole = first.some((each) => each.listener === listener)
    const rest: AtRest = {
      books, balances, orders: await openOrders(dealer),
      ...(whole ? { trades, fills: await everything<Fill>('ListAccountTrades', 'trades', dealer, {}) } : {}),
    }
    const found = (): string[] => {
      listener.catchUp()
      return differences(listener, rest)
    }
    for (let i = 0; i < 2000 && found().length > 0; i++) await pause(5)
    t.strictSame(found().map((each) => each.slice(0, 1500)), [], whole ? 'all of it' : 'late, or subscribed anew')
    if (!whole) continue
    t.ok(listener.books.get(1)!.updates > 0, 'the book was followed, not only copied')
    t.equal(listener.trades.length, trades.length, 'each trade once')
    t.ok(listener.fills.size > 0, `${listener.fills.size} fills`)
  }
})

t.test('each event, each end and each reason was told', async (t) => {
  const sum = (counts: (listener: Listener) => Map<string, number>): Map<string, number> => {
    const all = new Map<string, number>()
    for (const { listener } of first) for (const [name, count] of counts(listener)) all.set(name, (all.get(name) ?? 0) + count)
    t.comment([...all].map(([name, count]) => `${name} ${count}`).join(', '))
    return all
  }
  const has = (counts: Map<string, number>, names: readonly string[]): void => {
    for (const name of names) t.ok((counts.get(name) ?? 0) > 0, name)
  }
  has(sum(({ events }) => events), [
    'OrderSubmitted', 'OrderMatched', 'OrderPartiallyFilled', 'OrderFilled', 'OrderCancelled', 'OrderExpired', 'OrderReplaced',
  ])
  has(sum(({ endings }) => endings), [
    'FILLED', 'SELF_TRADE_PREVENTION', 'USER_CANCELLED', 'REPLACED', 'EXPIRED', 'SLIPPAGE_LIMIT', 'INSUFFICIENT_DEPTH', 'IOC_REMAINDER',
    'DELEGATION_REVOKED', 'CANCEL_BOTH names the other order', 'CANCEL_TAKER names the other order',
  ])
  has(sum(({ reasons }) => reasons), ['trade', 'fee', 'rebate', 'lock', 'unlock', 'transfer', 'faucet'])
  for (const { listener } of listeners) listener.client.close()
})
