/**
 * Promise: the adapter with ccxt's verbs never places another order than it was asked for, goes on when its session is
 * over, and never hands on a book that is not the service's or waits for what cannot come. Against a service in this
 * file.
 */
import t from 'tap'
import {
  AuthenticationError, BadSymbol, ExchangeError, NotSupported, RequestTimeout, Ringbook,
} from '../../gateway/client/ccxt/index.ts'
import { createClient, createSigner, type ClientOptions } from '../../gateway/client/index.ts'
import { crc32 } from '../../gateway/client/checksum.ts'
import type { SocketType } from '../../gateway/client/reconnecting_socket.ts'
import { until } from '../support/stream_server.ts'

t.setTimeout(20_000)
const PAIR = '7a1c0000-0000-4000-8000-000000000001'
const ORDER_ID = '5d1c0000-0000-4000-8000-000000000001'
const TIME = '2026-01-01T00:00:00.000Z'
const MARKET = {
  id: PAIR, symbol: 'BTC/USDC', baseToken: 'BTC', quoteToken: 'USDC', baseAssetId: 'b', quoteAssetId: 'q',
  isActive: true, takerFeeBps: '5', makerFeeBps: '-0.5', lotSize: '0.0001', tickSize: '0.01', minOrderSize: '0.0001',
  maxOrderSize: '1000', minNotional: '1',
}
const PERPETUAL = { ...MARKET, id: '7a1c0000-0000-4000-8000-000000000005', symbol: 'BTC/USDC-PERP', marketType: 'MARGIN' }
const ORDER = {
  orderId: ORDER_ID, symbol: 'BTC/USDC', tradingPairId: PAIR, orderType: 'LIMIT', side: 'BUY', price: '10',
  quantity: '1', status: 'SUBMITTED', filledQuantity: '0', remainingQuantity: '1', fee: '0', createdAt: TIME,
  updatedAt: TIME, commandSequence: 9,
}
type Json = Record<string, unknown>
interface Asked {
  readonly operation: string
  readonly body: Json
  readonly key: string | undefined
}

const PLACED = { orderId: ORDER_ID, matchResult: { totalFilled: '0', remainingQuantity: '1', status: 'SUBMITTED' } }

/** A service of one market: answers what it is asked, and keeps it. */
class Service {
  readonly asked: Asked[] = []
  readonly sockets: Socket[] = []
  /** Keys of sessions that are open. */
  readonly keys = new Set<string>()
  signIns = 0
  /** What becomes of a sign-in from now on: whether it is done, and whether the session is known then. */
  opens = true
  knows = true
  /** What is different of orders that are asked for. */
  ended: Json = {}
  /** Orders that rest, as snapshots have them. */
  resting: Json[] = []

  readonly fetch: typeof globalThis.fetch = async (url, init) => {
    const operation = `${init!.method} ${new URL(String(url)).pathname.slice('/api/v1'.length)}`
    const text = init!.body === undefined ? '{}' : new TextDecoder().decode(init!.body as Uint8Array)
    const body = JSON.parse(text) as Json
    const key = (init!.headers as Record<string, string>)['X-Svc-PublicKey']
    this.asked.push({ operation, body, key })
    if (key !== undefined && !this.keys.has(key)) return refusal(401, 'SESSION_INVALID')
    const answer = this.answer(operation, body)
    return answer === null ? refusal(503, 'VERIFICATION_UNAVAILABLE') : Response.json(answer)
  }

  private answer(operation: string, body: Json): Json | null {
    if (operation === 'POST /auth/challenge') return { nonce: 'n', message: 'm' }
    if (operation === 'POST /auth/verify') {
      if (!this.opens) return null
      this.signIns++
      if (this.knows) this.keys.add(body['sessionPublicKey'] as string)
      return {}
    }
    if (operation === 'GET /market/pairs') return { tradingPairs: [MARKET, PERPETUAL], totalPages: 1 }
    if (operation === 'POST /orders' || operation.startsWith('PUT /orders/')) return PLACED
    const [, orderId] = /^GET .orders.(.*)$/.exec(operation) ?? []
    if (orderId !== undefined) return { ...ORDER, ...this.ended, orderId }
    throw new Error(operation)
  }

  of(operation: string): Asked[] {
    return this.asked.filter((each) => each.operation.startsWith(operation))
  }

  /** WebSockets of this service. */
  readonly WebSocket = ((service: Service) => class extends Socket {
    constructor() {
      super(service)
    }
  })(this) as unknown as SocketType

  /** The session is over, on every socket too. */
  end(): void {
    this.keys.clear()
    for (const socket of this.sockets.filter(({ isOpen }) => isOpen)) socket.end('SESSION_INVALID')
  }
}

const refusal = (status: number, code: string): Response =>
  Response.json({ error: 'X', message: 'no', code, statusCode: status }, { status })

class Socket {
  onmessage: ((event: { data: unknown }) => void) | null = null
  onclose: ((event: { code: number; reason: string }) => void) | null = null
  onerror = null
  isOpen = true
  readonly said: Json[] = []
  /** Subscriptions that were confirmed. */
  confirmed = 0
  readonly #service: Service

  constructor(service: Service) {
    this.#service = service
    service.sockets.push(this)
    setImmediate(() => this.tell({ type: 'connected' }))
  }

  tell(frame: Json): void {
    if (this.isOpen) this.onmessage?.({ data: JSON.stringify(frame) })
  }

  send(text: string): void {
    const message = JSON.parse(text) as Json
    this.said.push(message)
    setImmediate(() => this.#take(message))
  }

  #take(message: Json): void {
    const { type, id, channel, params } = message
    if (type === 'auth' && !this.#service.keys.has(message['publicKey'] as string)) return this.end('AUTH_FAILED')
    if (type === 'auth') return this.tell({ type: 'authenticated' })
    if (type !== 'subscribe') return
    const isRefused = (params as Json)['refused'] === true
    if (isRefused) return this.tell({ type: 'error', id, channel, code: 'INVALID_SUBSCRIPTION', message: 'no' })
    this.tell({ type: 'subscribed', id, channel, params })
    this.confirmed++
    const data = { orders: this.#service.resting, more: false, commandSequence: 1, ...(params as Json) }
    if (channel === 'orders') this.tell({ channel, type: 'snapshot', data })
  }

  end(reason: string): void {
    this.tell({ type: 'error', code: reason, message: 'words' })
    if (this.isOpen) this.onclose?.({ code: 1008, reason })
    this.isOpen = false
  }

  close(): void {
    this.isOpen = false
  }
}

const wallet = { address: '0x00', signMessage: () => '0x00' }
type Teardown = { teardown(act: () => void): void }
function venueOf(t: Teardown, service: Service, more: Partial<ClientOptions> = {}): Ringbook {
  const streams = { WebSocket: service.WebSocket, baseMs: 1 }
  const venue = new Ringbook({ baseUrl: 'http://x', wallet, fetch: service.fetch, streams, ...more })
  t.teardown(() => void venue.close())
  return venue
}

t.test('an order with a parameter that the service would ignore is not placed', async (t) => {
  const service = new Service()
  const venue = venueOf(t, service)
  const trigger = ['triggerPrice', 'stopPrice', 'trailingTriggerPrice', 'trigger']
  for (const name of [...trigger, 'cost', 'test', 'constructor']) {
    await t.rejects(venue.createOrder('BTC/USDC', 'market', 'sell', 1, undefined, { [name]: 9 }), NotSupported, name)
    await t.rejects(venue.editOrder('x', 'BTC/USDC', 'limit', 'buy', 1, 1, { [name]: 9 }), NotSupported, name)
  }
  for (const name of ['stopLossPrice', 'takeProfitPrice', 'trailingPercent']) {
    await t.rejects(venue.createOrder('BTC/USDC', 'market', 'sell', 1, undefined, { [name]: 9 }), BadSymbol, `${name} is of a position`)
    await t.rejects(venue.editOrder('x', 'BTC/USDC', 'limit', 'buy', 1, 1, { [name]: 9 }), NotSupported, name)
  }
  t.strictSame([service.of('POST /orders'), service.of('PUT /orders')], [[], []])
  const params = { stopPrice: undefined, clientOrderId: 'mine', reduceOnly: false }
  await venue.createOrder('BTC/USDC', 'limit', 'buy', 1, 10, params)
  t.match(service.of('POST /orders')[0]!.body, { clientOrderId: 'mine', reduceOnly: false, price: '10' })
})

t.test('the price of a market order does not count', async (t) => {
  const service = new Service()
  await venueOf(t, service).createOrder('BTC/USDC', 'market', 'buy', 1, 10)
  const wanted = { tradingPairId: PAIR, orderType: 'MARKET', side: 'BUY', quantity: '1', returnFills: true }
  t.strictSame(service.of('POST /orders').map(({ body }) => body), [wanted])
})

t.test('a perpetual is a swap, and its orders say leverage and margin mode as the service has them', async (t) => {
  const service = new Service()
  const venue = venueOf(t, service)
  const markets = await venue.loadMarkets()
  t.strictSame(Object.keys(markets), ['BTC/USDC', 'BTC/USDC:USDC'])
  t.match(markets['BTC/USDC'], { type: 'spot', spot: true, swap: false, contract: false, settle: undefined })
  t.match(markets['BTC/USDC:USDC'], {
    type: 'swap', spot: false, swap: true, contract: true, linear: true, inverse: false, contractSize: 1, settle: 'USDC', settleId: 'q',
  })
  const params = { leverage: 10, marginMode: 'cross', reduceOnly: true }
  const order = await venue.createOrder('BTC/USDC:USDC', 'market', 'buy', 1, undefined, params)
  t.match(order, { symbol: 'BTC/USDC:USDC', reduceOnly: true })
  t.strictSame(service.of('POST /orders').map(({ body }) => body), [{
    tradingPairId: PERPETUAL.id, orderType: 'MARKET', side: 'BUY', quantity: '1', returnFills: true, tradingMode: 'MARGIN', leverage: '10',
    marginMode: 'CROSS', reduceOnly: true,
  }])
  service.ended = { symbol: 'BTC/USDC-PERP', reduceOnly: true, fee: '0.5' }
  t.match(await venue.fetchOrder(ORDER_ID), { symbol: 'BTC/USDC:USDC', reduceOnly: true, fee: { cost: 0.5, currency: 'USDC' } })
  await t.rejects(venue.setLeverage(), NotSupported)
})

t.test('a session that is over is renewed, and what was refused because of it is done once', async (t) => {
  const service = new Service()
  const { fetch } = service
  let refused = 0
  const late: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init)
    // The first refusal comes behind the sign-in that another one led to.
    if (answer.status === 401 && refused++ === 0) await until('a sign-in', () => service.signIns === 2)
    return answer
  }
  const venue = venueOf(t, service, { fetch: late })
  await venue.createOrder('BTC/USDC', 'limit', 'buy', 1, 10)
  service.end()
  await Promise.all([1, 2, 3].map((price) => venue.createOrder('BTC/USDC', 'limit', 'buy', 1, price)))
  t.equal(service.signIns, 2, 'one sign-in for all of them')
  const done = service.of('POST /orders').filter(({ key }) => service.keys.has(key!)).map(({ body }) => body['price'])
  t.strictSame(done.sort(), ['1', '2', '3'])
  service.end()
  await venue.editOrder(ORDER_ID, 'BTC/USDC', 'limit', 'buy', 1, 10)
  t.equal(service.of('PUT /orders').length, 2)
  service.end()
  service.opens = false
  await t.rejects(venue.fetchOrder(ORDER_ID), AuthenticationError, 'no new session is to be had')
  service.opens = true
  t.equal((await venue.fetchOrder(ORDER_ID)).id, ORDER_ID, 'the next call tries again')
})

t.test('a replacement is not repeated when the session ends behind it', async (t) => {
  const service = new Service()
  const venue = venueOf(t, service)
  await venue.fetchOrder(ORDER_ID)
  const { fetch } = service
  const ending: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init)
    if (init!.method === 'PUT') service.end()
    return answer
  }
  const other = venueOf(t, service, { fetch: ending })
  t.equal((await other.editOrder(ORDER_ID, 'BTC/USDC', 'limit', 'buy', 1, 10)).id, ORDER_ID)
  t.equal(service.of('PUT /orders').length, 1)
})

t.test('an order of which nobody knows is not placed again, because a later try found the session over', async (t) => {
  const service = new Service()
  const { fetch } = service
  let lost = 0
  const losing: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init)
    if (!String(url).endsWith('/orders') || lost++ > 0) return answer
    service.end()
    throw new TypeError('fetch failed')
  }
  const venue = venueOf(t, service, { fetch: losing, retry: { attempts: 2, baseMs: 1 } })
  const params = { idempotencyKey: 'k' }
  await t.rejects(venue.createOrder('BTC/USDC', 'limit', 'buy', 1, 10, params), RequestTimeout)
  t.same([service.of('POST /orders').length, service.signIns], [2, 1])
})

t.test('a session that was given is not replaced', async (t) => {
  const service = new Service()
  const signer = createSigner()
  service.keys.add(signer.publicKey)
  const streams = { WebSocket: service.WebSocket }
  const client = createClient({ baseUrl: 'http://x', wallet, signer, fetch: service.fetch, streams })
  const venue = new Ringbook({ client })
  t.teardown(() => void venue.close())
  await venue.fetchOrder(ORDER_ID)
  service.end()
  await t.rejects(venue.fetchOrder(ORDER_ID), AuthenticationError)
  await t.rejects(venue.watchOrders(), AuthenticationError)
  t.equal(service.signIns, 0, 'it may be that of an agent, for another account')
})

t.test('who watches orders goes on in the next session', async (t) => {
  const service = new Service()
  const venue = venueOf(t, service)
  const coming = venue.watchOrders('BTC/USDC')
  // Confirmed, not only asked for: a session that ends before it was good for anything is told instead of renewed.
  const subscribed = (): Socket | undefined => service.sockets.find(({ isOpen, confirmed }) => isOpen && confirmed > 0)
  for (let end = 0; end < 3; end++) {
    await until('a subscription', () => subscribed() !== undefined)
    service.end()
  }
  await until('a subscription', () => subscribed() !== undefined)
  t.equal(service.signIns, 4)
  const tell = (): void => subscribed()?.tell({ channel: 'orders', type: 'order_update', data: ORDER })
  const timer = setInterval(tell, 5)
  t.teardown(() => clearInterval(timer))
  t.equal((await coming)[0]!.id, ORDER_ID)
})

t.test('orders that ended while the connection was lost are told', async (t) => {
  const service = new Service()
  const venue = venueOf(t, service)
  service.resting = ['a', 'b', 'c'].map((orderId) => ({ ...ORDER, orderId }))
  const first = venue.watchOrders()
  const subscribed = (count: number): boolean =>
    service.sockets.filter(({ confirmed }) => confirmed > 0).length === count
  await until('a subscription', () => subscribed(1))
  const told = (orderId: string, status: string): void =>
    service.sockets.at(-1)!.tell({ channel: 'orders', type: 'order_update', data: { ...ORDER, orderId, status } })
  told('b', 'CANCELLED')
  told('d', 'SUBMITTED')
  t.same((await first).map(({ id, status }) => [id, status]), [['b', 'canceled']])
  t.same((await venue.watchOrders()).map(({ id, status }) => [id, status]), [['d', 'open']])
  service.resting = [{ ...ORDER, orderId: 'c' }]
  service.ended = { status: 'FILLED', filledQuantity: '1', remainingQuantity: '0' }
  service.sockets.at(-1)!.onclose?.({ code: 1006, reason: '' })
  const found: string[][] = []
  while (found.length < 3) found.push(...(await venue.watchOrders()).map(({ id, status }) => [id, status]))
  t.same(found, [['c', 'open'], ['a', 'closed'], ['d', 'closed']])
  t.equal(service.of('GET /orders').length, 2, 'b had been told')
})

t.test('a session that is refused again and again is told, and what is watched then begins anew', async (t) => {
  const service = new Service()
  const venue = venueOf(t, service)
  await venue.fetchOrder(ORDER_ID)
  service.end()
  service.opens = false
  await t.rejects(venue.watchOrders(), AuthenticationError)
  await t.rejects(venue.watchOrders(), AuthenticationError, 'it does not wait for what cannot come')
  service.opens = true
  service.knows = false
  const before = service.signIns
  await t.rejects(venue.watchOrders(), AuthenticationError, 'a new session that is refused as well')
  t.ok(service.signIns - before <= 2, 'not again and again')
  service.knows = true
  const coming = venue.watchOrders()
  const tell = (): void => service.sockets.at(-1)!.tell({ channel: 'orders', type: 'order_update', data: ORDER })
  const timer = setInterval(tell, 5)
  t.teardown(() => clearInterval(timer))
  t.equal((await coming)[0]!.id, ORDER_ID)
})

t.test('what was refused is asked for again by the next call', async (t) => {
  const service = new Service()
  const venue = venueOf(t, service)
  const { client } = venue
  const subscribe = client.subscribe.bind(client)
  let refused = true
  const odd = (channel: never, params: Json, handlers: never): unknown =>
    subscribe(channel, { ...params, refused } as never, handlers)
  Object.defineProperty(client, 'subscribe', { value: odd })
  await t.rejects(venue.watchTrades('BTC/USDC'), ExchangeError)
  refused = false
  const coming = venue.watchTrades('BTC/USDC')
  const trade = { id: 't', price: '1', quantity: '1', quoteQuantity: '1', makerSide: 'BUY', executedAt: TIME }
  const data = { tradingPairId: PAIR, refused: false, trades: [trade] }
  const tell = (): void => service.sockets.at(-1)?.tell({ channel: 'trades', type: 'trades_update', data })
  const timer = setInterval(tell, 5)
  t.teardown(() => clearInterval(timer))
  t.equal((await coming)[0]!.id, 't')
})

t.test('a book is handed on only while it is the book of the service', async (t) => {
  const service = new Service()
  const venue = venueOf(t, service)
  const level = (price: string): object[] => [{ price, quantity: '1' }]
  const tell = (price: string, sequence: number, wrong = 0): void => {
    const data = { tradingPairId: PAIR, bids: level(price), asks: [], checksum: crc32(`${price}:1`) + wrong }
    service.sockets.at(-1)!.tell({ channel: 'orderbook', type: 'snapshot', sequence, data })
  }
  const subscribed = (): boolean => (service.sockets.at(-1)?.confirmed ?? 0) > 0
  const first = venue.watchOrderBook('BTC/USDC')
  await until('a subscription', () => subscribed())
  const timer = setInterval(() => tell('10', 5), 5)
  t.same((await first).bids, [[10, 1]])
  clearInterval(timer)
  tell('11', 6)
  service.sockets.at(-1)!.onclose?.({ code: 1006, reason: '' })
  let isThere = false
  const next = venue.watchOrderBook('BTC/USDC').finally(() => (isThere = true))
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(isThere, 'what came before the connection was lost is old')
  await until('another socket', () => service.sockets.length === 2 && subscribed())
  const again = setInterval(() => tell('12', 7), 5)
  t.same((await next).bids, [[12, 1]])
  clearInterval(again)
  tell('13', 8)
  tell('14', 9, 1)
  const last = venue.watchOrderBook('BTC/USDC')
  await until('a renewal', () => service.sockets.at(-1)!.confirmed === 2)
  const renewed = setInterval(() => tell('15', 10), 5)
  t.same((await last).bids, [[15, 1]], 'a book with a wrong checksum is empty, and not told')
  clearInterval(renewed)
})
