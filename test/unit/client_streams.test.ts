/**
 * Promise: what the client hands on of a subscription is complete and in order, or it says that it is not, against a service that leaves
 * gaps, repeats itself and refuses. Time and chance are the test's.
 */
import t from 'tap'
import { signRequest, type Frame as StreamFrame, type Subscription } from '../../gateway/client/index.ts'
import type { Streams } from '../../gateway/client/streams.ts'
import type { Frame } from '../support/sockets.ts'
import { BASE, confirmed, NOW, PackageWebSocket, PAIR, record, snapshot, stage, until, update } from '../support/stream_server.ts'

const NO_BYTES = new Uint8Array(0)
const OTHER = '22222222-2222-4222-8222-222222222222'
const trade = (id: string, tradingPairId = PAIR): object => ({ trades: [{ id, tradingPairId }] })

t.test('one socket, opened by the first subscription and closed behind the last, carries all', async (t) => {
  const statuses: string[] = []
  const { server, clock, streams } = await stage(t, { status: (status) => statuses.push(status) })
  t.equal(streams.status, 'closed')
  const [one, two] = [record(), record()]
  const first = streams.subscribe('trades', { tradingPairId: PAIR }, one.handlers)
  const second = streams.subscribe('trades', { tradingPairId: OTHER }, two.handlers)
  t.equal(first.status, 'connecting')
  const socket = await server.socket()
  t.equal(socket.path, '/ws')
  t.match(await socket.said('subscribe', 2), [
    { channel: 'trades', params: { tradingPairId: PAIR } }, { channel: 'trades', params: { tradingPairId: OTHER } },
  ])
  for (const asked of socket.messages) socket.confirm(asked)
  await Promise.all([first.ready, second.ready])
  socket.send(update('trades', trade('a')))
  socket.send(update('trades', trade('b', OTHER)))
  socket.send(update('instruments', { instruments: [] }))
  socket.send(update('trades', trade('c')))
  await until('trades', () => one.told.length === 3 && two.told.length === 2)
  t.strictSame(one.told, ['open', ['trades_update', trade('a')], ['trades_update', trade('c')]])
  t.strictSame(two.told, ['open', ['trades_update', trade('b', OTHER)]])
  first.close()
  t.match(await socket.said('unsubscribe'), [{ channel: 'trades', params: { tradingPairId: PAIR } }])
  second.close()
  second.close()
  await socket.said('unsubscribe', 2)
  t.equal(socket.closed, null, 'kept for a while')
  clock.advance(1000)
  await until('a close', () => socket.closed !== null)
  t.same([one.told.at(-1), two.told.at(-1), streams.status], ['closed', 'closed', 'closed'])
  t.strictSame(statuses, ['connecting', 'open', 'closed'])
  t.strictSame(clock.waiting, [], 'nothing is left to do')
})

t.test('whoever changes from one subscription to another keeps the socket', async (t) => {
  const { server, clock, streams } = await stage(t)
  const first = streams.subscribe('trades', { tradingPairId: PAIR }, {})
  await confirmed(await server.socket())
  await first.ready
  first.close()
  streams.subscribe('trades', { tradingPairId: OTHER }, {})
  clock.advance(5000)
  await server.sockets[0]!.said('subscribe', 2)
  t.equal(server.sockets.length, 1)
})

t.test('listeners of one subscription share it, and whoever comes later makes a new snapshot for all', async (t) => {
  const { server, streams } = await stage(t)
  const [one, two] = [record(), record()]
  const first = streams.subscribe('instruments', {}, one.handlers)
  const socket = await server.socket()
  await confirmed(socket)
  socket.send(snapshot('instruments', { instruments: [1] }))
  await first.ready
  const second = streams.subscribe('instruments', {}, two.handlers)
  await socket.said('subscribe', 2)
  socket.send(update('instruments', { instruments: ['before the second confirmation'] }))
  await confirmed(socket, 2)
  socket.send(snapshot('instruments', { instruments: [2] }))
  await until('snapshots', () => two.told.length === 2)
  t.strictSame(one.told, ['open', ['snapshot', { instruments: [1] }], ['snapshot', { instruments: [2] }]])
  t.strictSame(two.told, ['open', ['snapshot', { instruments: [2] }]])
  first.close()
  socket.send(update('instruments', { instruments: [3] }))
  await until('an update', () => two.told.length === 3)
  t.strictSame(one.told.at(-1), 'closed', 'who closed hears nothing more')
  t.equal(socket.messages.filter(({ type }) => type === 'unsubscribe').length, 0)
  second.close()
  await socket.said('unsubscribe')
})

t.test('two spellings of one subscription: when one ends the other is subscribed to again', async (t) => {
  const { server, streams } = await stage(t)
  const written = { tradingPairId: PAIR, magnitude: 1 }
  const short = streams.subscribe('orderbook', { tradingPairId: PAIR }, {})
  const long = record()
  streams.subscribe('orderbook', { tradingPairId: PAIR, magnitude: 1 }, long.handlers)
  const socket = await server.socket()
  for (const asked of await socket.said('subscribe', 2)) socket.confirm(asked, written)
  await short.ready
  short.close()
  const [left] = await socket.said('unsubscribe')
  socket.send({ type: 'unsubscribed', id: left!['id'], channel: 'orderbook', params: written })
  t.match((await socket.said('subscribe', 3))[2], { channel: 'orderbook', params: written })
})

t.test('a pair by its symbol: frames carry its id, and go where the confirmation said', async (t) => {
  const { server, streams } = await stage(t)
  const ids: Readonly<Record<string, string>> = { 'BTC/USDC': PAIR, 'eth/usdc': OTHER, [PAIR]: PAIR }
  const records = new Map(Object.keys(ids).map((name) => [name, record()]))
  const subscriptions = [...records].map(([name, { handlers }]) => streams.subscribe('orderbook', { tradingPairId: name }, handlers))
  const socket = await server.socket()
  const asked = await socket.said('subscribe', 3)
  t.strictSame(asked.map(({ params }) => (params as Frame)['tradingPairId']), Object.keys(ids), 'the service is asked by the name given')
  const written = (pair: string): object => ({ tradingPairId: pair, magnitude: 1 })
  // In another order than asked: the id of the request says which subscription stands.
  for (const each of [...asked].reverse()) {
    const { id, channel, params } = each
    socket.send({ type: 'subscribed', id, channel, params: written(ids[(params as Frame)['tradingPairId'] as string]!) })
  }
  await Promise.all(subscriptions.map(({ ready }) => ready))
  for (const pair of [PAIR, OTHER]) {
    socket.send(snapshot('orderbook', { ...written(pair), bids: [], asks: [], checksum: 0 }, { sequence: 10 }))
    socket.send(update('orderbook', { ...written(pair), previousSequence: 10, bids: [], asks: [], checksum: 1 }, { sequence: 11 }))
  }
  const heard = (name: string): string[] =>
    (records.get(name)!.told as [string, Frame][]).slice(1).map(([type, data]) => `${type} ${String(data['tradingPairId'])}`)
  await until('all frames', () => Object.keys(ids).every((name) => heard(name).length === 2))
  for (const [name, id] of Object.entries(ids)) t.strictSame(heard(name), [`snapshot ${id}`, `orderbook_update ${id}`], name)
  subscriptions[0]!.close()
  const [left] = await socket.said('unsubscribe')
  t.match(left, { params: { tradingPairId: 'BTC/USDC' } })
  socket.send({ type: 'unsubscribed', id: left!['id'], channel: 'orderbook', params: written(PAIR) })
  t.match((await socket.said('subscribe', 4))[3], { params: { tradingPairId: PAIR } }, 'who named it by id is subscribed again')
  t.equal(subscriptions[1]!.status, 'open', 'the other pair is not touched')
})

t.test('what is refused is told and over', async (t) => {
  const { server, streams } = await stage(t, { subscriptions: 2 })
  const [one, two, three] = [record(), record(), record()]
  const refused = streams.subscribe('trades', { tradingPairId: 'nonsense' }, one.handlers)
  const socket = await server.socket()
  const [asked] = await socket.said('subscribe')
  socket.send({ type: 'error', id: asked!['id'], channel: 'trades', code: 'INVALID_SUBSCRIPTION', message: 'no such pair' })
  await t.rejects(refused.ready, { name: 'StreamError', code: 'INVALID_SUBSCRIPTION', message: 'no such pair' })
  t.strictSame(one.told, ['INVALID_SUBSCRIPTION', 'closed'])
  const ended = streams.subscribe('trades', { tradingPairId: PAIR }, two.handlers)
  streams.subscribe('instruments', {}, {})
  const surplus = streams.subscribe('trades', { tradingPairId: OTHER }, three.handlers)
  await t.rejects(surplus.ready, { code: 'SUBSCRIPTION_LIMIT' })
  t.strictSame(three.told, ['SUBSCRIPTION_LIMIT', 'closed'])
  await confirmed(socket, 2)
  await ended.ready
  socket.send({ type: 'error', channel: 'trades', code: 'SUBSCRIPTION_LIMIT', message: 'for too long' })
  socket.send({ type: 'unsubscribed', channel: 'trades', params: { tradingPairId: PAIR } })
  await until('the end', () => two.told.length === 3)
  t.strictSame(two.told, ['open', 'SUBSCRIPTION_LIMIT', 'closed'])
  t.equal(streams.status, 'open', 'the others go on')
  const early = streams.subscribe('trades', { tradingPairId: OTHER }, {})
  early.close()
  await t.rejects(early.ready, /closed/)
})

t.test('a snapshot that could not be read is asked for again after a pause', async (t) => {
  const { server, clock, streams } = await stage(t)
  const { told, handlers } = record()
  streams.subscribe('instruments', {}, handlers)
  const socket = await server.socket()
  const asked = await confirmed(socket)
  socket.send({ type: 'error', id: asked['id'], channel: 'instruments', code: 'SNAPSHOT_UNAVAILABLE', message: 'later' })
  await until('a pause', () => clock.waiting.includes(BASE / 2))
  t.strictSame(told, ['open', 'reconnecting'])
  clock.advance(BASE / 2)
  await confirmed(socket, 2)
  socket.send(snapshot('instruments', { instruments: [] }))
  await until('a snapshot', () => told.length === 4)
  t.strictSame(told, ['open', 'reconnecting', 'open', ['snapshot', { instruments: [] }]])
})

t.test('a book whose frames leave a gap or repeat begins anew; updates before its snapshot are nothing', async (t) => {
  const { server, clock, streams } = await stage(t)
  const { told, handlers } = record()
  streams.subscribe('orderbook', { tradingPairId: PAIR }, handlers)
  const socket = await server.socket()
  const terms = { tradingPairId: PAIR, magnitude: 1 }
  const level = { price: '1', quantity: '1' }
  const book = (previousSequence: number): object => ({ ...terms, previousSequence, bids: [level], asks: [], checksum: 0 })
  const deltas: [sequence: number, previous: number][][] = [[[12, 11]], [[11, 10], [11, 10]], [[11, 10], [10, 11]]]
  for (const [round, frames] of deltas.entries()) {
    const asked = (await socket.said('subscribe', round + 1))[round]!
    socket.confirm(asked, terms)
    socket.send(update('orderbook', book(9), { sequence: 10 }))
    socket.send(snapshot('orderbook', { ...terms, bids: [], asks: [], checksum: 0 }, { sequence: 10 }))
    for (const [sequence, previous] of frames) socket.send(update('orderbook', book(previous), { sequence }))
    await until('a pause', () => told.filter((each) => each === 'reconnecting').length === round + 1)
    t.ok(clock.waiting.includes((BASE / 2) * 2 ** round), 'the longer the more often')
    clock.advance((BASE / 2) * 2 ** round)
  }
  await socket.said('subscribe', 4)
  const taken = (told as [string][]).map((each) => (Array.isArray(each) ? each[0] : each))
  t.strictSame(taken, [
    'open', 'snapshot', 'reconnecting', 'open', 'snapshot', 'orderbook_update', 'reconnecting',
    'open', 'snapshot', 'orderbook_update', 'reconnecting',
  ])
})

t.test('rows count by version, order events behind their snapshot, whose frames come as one', async (t) => {
  const { server, streams } = await stage(t)
  const [rows, all, one] = [record(), record(), record()]
  streams.subscribe('balances', {}, rows.handlers)
  streams.subscribe('orders', {}, all.handlers)
  streams.subscribe('orders', { tradingPairId: PAIR }, one.handlers)
  const socket = await server.socket()
  await socket.said('auth')
  socket.send({ type: 'authenticated', expiresAt: 1 })
  for (const asked of await socket.said('subscribe', 3)) socket.confirm(asked)
  const row = (assetId: string, version: number): object => ({ assetId, version })
  const balance = (assetId: string, version: number): Frame => ({ ...update('balances', row(assetId, version)), type: 'balance_update' })
  socket.send(balance('a', 1))
  socket.send(snapshot('balances', { balances: [row('a', 5), row('b', 1)] }))
  const versions = [['a', 4], ['a', 5], ['a', 7], ['a', 6], ['b', 2], ['c', 0]] as const
  for (const [assetId, version] of versions) socket.send(balance(assetId, version))
  const order = (sequence: number, tradingPairId = PAIR): Frame =>
    ({ ...update('orders', { orderId: sequence, commandSequence: sequence, tradingPairId }), type: 'order_update' })
  socket.send(order(1))
  socket.send(snapshot('orders', { commandSequence: 20, orders: [1, 2].map((orderId) => ({ orderId, tradingPairId: PAIR })), more: true }))
  socket.send(snapshot('orders', { commandSequence: 20, orders: [{ orderId: 3, tradingPairId: OTHER }], more: false }))
  socket.send(snapshot('orders', { tradingPairId: PAIR, commandSequence: 22, orders: [], more: false }))
  for (const frame of [order(20), order(21), order(23), order(24, OTHER), order(25)]) socket.send(frame)
  const isLast = (told: unknown[]): boolean => JSON.stringify(told).includes(':25')
  await until('the last', () => isLast(one.told) && isLast(all.told))
  t.strictSame(rows.told.slice(2), [row('a', 7), row('b', 2), row('c', 0)].map((each) => ['balance_update', each]))
  t.match(all.told[1], ['snapshot', { orders: [{ orderId: 1 }, { orderId: 2 }, { orderId: 3 }], more: false }])
  t.strictSame((all.told.slice(2) as [string, Frame][]).map(([, { orderId }]) => orderId), [21, 23, 24, 25])
  t.strictSame(one.told[1], ['snapshot', { tradingPairId: PAIR, commandSequence: 22, orders: [], more: false }])
  t.strictSame((one.told.slice(2) as [string, Frame][]).map(([, { orderId }]) => orderId), [23, 25])
})

t.test('handlers that throw stop nobody', async (t) => {
  const uncaught: unknown[] = []
  const { queueMicrotask: original } = globalThis
  globalThis.queueMicrotask = (act) => original(() => {
    try {
      act()
    } catch (error) {
      uncaught.push(error)
    }
  })
  t.teardown(() => (globalThis.queueMicrotask = original))
  const { server, streams } = await stage(t)
  const { told, handlers } = record()
  const fail = (): never => {
    throw new Error('of the application')
  }
  streams.subscribe('instruments', {}, { snapshot: fail, status: fail })
  streams.subscribe('instruments', {}, handlers)
  const socket = await server.socket()
  await confirmed(socket)
  socket.send(snapshot('instruments', { instruments: [] }))
  await until('a snapshot', () => told.length === 2)
  t.match(uncaught, [/of the application/, /of the application/], 'it comes up where nobody catches it')
})

t.test('the socket is that of the platform, or any that is given', async (t) => {
  const { server, streams } = await stage(t, { WebSocket: PackageWebSocket })
  const subscription = streams.subscribe('instruments', {}, {})
  await confirmed(await server.socket())
  await subscription.ready
  t.equal(subscription.status, 'open')
})

/** Never called: this is for the compiler. */
export function typesOf({ subscribe }: Pick<Streams, 'subscribe'>): Subscription[] {
  // @ts-expect-error: no such channel
  subscribe('nothing', {}, {})
  // @ts-expect-error: the pair is missing
  subscribe('orderbook', {}, {})
  // @ts-expect-error: no such field
  subscribe('orderbook', { tradingPairId: PAIR }, { update: (data) => data.nothing })
  // @ts-expect-error: a snapshot has no frame before it
  subscribe('orderbook', { tradingPairId: PAIR }, { snapshot: ({ previousSequence }) => previousSequence })
  return [
    subscribe('orderbook', { tradingPairId: PAIR }, { update: ({ previousSequence, bids }) => previousSequence + Number(bids[0]!.price) }),
    subscribe('orders', {}, { update: ({ eventType, commandSequence }): [string, number] => [eventType, commandSequence] }),
    subscribe('balances', {}, { update: (_, { reason }: StreamFrame<'balances'>) => reason === 'trade' }),
  ]
}

t.test('private channels: the socket is authenticated first, with the time of the service', async (t) => {
  const { server, streams, session } = await stage(t)
  const subscription = streams.subscribe('balances', {}, {})
  const open = streams.subscribe('instruments', {}, {})
  const socket = await server.socket()
  const [auth] = await socket.said('auth')
  const headers = signRequest(session.signer!, 'GET', '/ws', NO_BYTES, NOW)
  t.strictSame(auth, {
    type: 'auth', publicKey: headers['X-Svc-PublicKey'], timestamp: String(NOW), signature: headers['X-Svc-Signature'],
  })
  await confirmed(socket)
  await open.ready
  t.equal(socket.messages.filter(({ channel }) => channel === 'balances').length, 0, 'public ones do not wait for it')
  socket.send({ type: 'authenticated', expiresAt: 1 })
  t.match(await confirmed(socket, 2), { channel: 'balances', params: {} })
  await subscription.ready
})
