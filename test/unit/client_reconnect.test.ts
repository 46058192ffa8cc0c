/**
 * Promise: streams come back. After every close that is not the client's own there is another socket in time, not too soon, and everything
 * begins anew on it; a session that is over stops private subscriptions only. Time and chance are the test's.
 */
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { Backoff } from '../../gateway/client/clock.ts'
import { createSigner, type SocketType, type StreamError } from '../../gateway/client/index.ts'
import type { Frame } from '../support/sockets.ts'
import {
  BASE, confirmed, PAIR, record, snapshot, stage, TestClock, until, type ServedSocket, type Stage, type StreamServer,
} from '../support/stream_server.ts'

const HALF = BASE / 2
const OPEN_MS = 10_000

/** The pause that stands, when nothing else does. */
async function pauseOf({ clock }: Stage): Promise<number> {
  // While a socket is open or being opened something else is waited for.
  await until('a pause', () => clock.waiting.length === 1 && clock.waiting[0]! <= OPEN_MS / 2)
  return clock.waiting[0]!
}

/** Ends of a socket: the pause in half bounds of the base that follows the first of them. */
const ENDS: Record<string, { end: (socket: ServedSocket) => void; pause: number }> = {
  'begin anew, 1013': { end: (socket) => socket.close(1013, 'resync'), pause: HALF },
  'a stop, 1001': { end: (socket) => socket.close(1001, 'shutting down'), pause: 4 * HALF },
  'an orderly close, 1000': { end: (socket) => socket.close(1000), pause: 2 * HALF },
  'too large, 1009': { end: (socket) => socket.close(1009), pause: 2 * HALF },
  'a close frame without a code': { end: (socket) => socket.close(), pause: 2 * HALF },
  'a drop in the middle of a frame': { end: (socket) => socket.dropInFrame(), pause: 2 * HALF },
  'too many messages, 1008': { end: (socket) => socket.close(1008, 'MESSAGE_RATE_LIMIT'), pause: 16 * HALF },
  'too many messages, and the close frame lost': {
    end: (socket) => {
      socket.send({ type: 'error', code: 'MESSAGE_RATE_LIMIT', message: 'Too many messages' })
      socket.dropInFrame()
    },
    pause: 16 * HALF,
  },
}
for (const [what, { end, pause }] of Object.entries(ENDS)) {
  t.test(`${what}: after a pause everything is there again`, async (t) => {
    const statuses: string[] = []
    const set = await stage(t, { status: (status) => statuses.push(status) })
    const { server, clock, streams } = set
    const { told, handlers } = record()
    streams.subscribe('instruments', {}, handlers)
    streams.subscribe('trades', { tradingPairId: PAIR }, {})
    const socket = await server.socket()
    await confirmed(socket)
    socket.send(snapshot('instruments', { instruments: [1] }))
    await until('a snapshot', () => told.length === 2)
    end(socket)
    t.equal(await pauseOf(set), pause)
    clock.advance(pause - 1)
    t.strictSame(clock.waiting, [pause], 'not yet')
    clock.advance(1)
    const next = await server.socket(1)
    t.match(await next.said('subscribe', 2), [{ channel: 'instruments' }, { channel: 'trades' }])
    await confirmed(next)
    next.send(snapshot('instruments', { instruments: [2] }))
    await until('a snapshot', () => told.length === 5)
    t.strictSame(told, ['open', ['snapshot', { instruments: [1] }], 'reconnecting', 'open', ['snapshot', { instruments: [2] }]])
    t.strictSame(statuses, ['connecting', 'open', 'reconnecting', 'open'])
  })
}

t.test('pauses double up to the cap, and begin again when a socket stood for a while', async (t) => {
  const set = await stage(t, { capMs: 1600, stableMs: OPEN_MS })
  const { server, clock, streams } = set
  streams.subscribe('instruments', {}, {})
  const bounds = [100, 200, 400, 800, 1600, 1600, 1600]
  for (const [round, bound] of bounds.entries()) {
    const socket = await server.socket(round)
    await socket.said('subscribe')
    // One second short of what counts as standing.
    clock.advance(OPEN_MS - 1000)
    clock.chance = round / 10
    socket.close(1013)
    const pause = await pauseOf(set)
    t.equal(pause, bound * (round / 10), 'any time up to the bound')
    clock.advance(pause)
  }
  const last = await server.socket(bounds.length)
  await last.said('subscribe')
  clock.advance(OPEN_MS)
  clock.chance = 0.5
  last.close(1013)
  t.equal(await pauseOf(set), HALF)
})

t.test('who cannot be reached, or says nothing, is tried again', async (t) => {
  let calls = 0
  const deaf = createServer((socket) => {
    calls++
    socket.on('error', () => undefined)
    socket.destroy()
  })
  await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve))
  t.teardown(() => deaf.close())
  const set = await stage(t, {}, `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`)
  const subscription = set.streams.subscribe('instruments', {}, {})
  for (let round = 1; round <= 3; round++) {
    const pause = await pauseOf(set)
    t.equal(calls, round)
    set.clock.advance(pause)
  }
  t.equal(set.streams.status, 'connecting', 'it never was there')
  t.equal(subscription.status, 'connecting')

  const silent = await stage(t)
  silent.server.greets = false
  silent.streams.subscribe('instruments', {}, {})
  await silent.server.socket()
  silent.clock.advance(OPEN_MS)
  silent.server.greets = true
  silent.clock.advance(await pauseOf(silent))
  await (await silent.server.socket(1)).said('subscribe')
  await until('the close of the first', () => silent.server.sockets[0]!.closed !== null)
})

t.test('silence is broken by a ping; who does not answer it is given up', async (t) => {
  const set = await stage(t, { pingMs: 1000, answerMs: 400 })
  const { server, clock, streams } = set
  const { told, handlers } = record()
  streams.subscribe('instruments', {}, handlers)
  const socket = await server.socket()
  await confirmed(socket)
  await until('a confirmation', () => told.length === 1)
  clock.advance(999)
  socket.send(snapshot('instruments', { instruments: [] }))
  await until('a snapshot', () => told.length === 2)
  clock.advance(999)
  t.equal(socket.messages.filter(({ type }) => type === 'ping').length, 0, 'what came counts')
  clock.advance(1)
  await socket.said('ping')
  clock.advance(399)
  socket.send({ type: 'pong' })
  socket.send(snapshot('instruments', { instruments: [] }))
  await until('a snapshot', () => told.length === 3)
  clock.advance(1000)
  await socket.said('ping', 2)
  clock.advance(400)
  t.equal(streams.status, 'reconnecting')
  await until('a close', () => socket.closed !== null)
  clock.advance(await pauseOf(set))
  await server.socket(1)
})

t.test('messages keep the pace of the service', async (t) => {
  const sent: string[] = []
  class Counted extends WebSocket {
    override send(text: string): void {
      sent.push(text)
      super.send(text)
    }
  }
  const set = await stage(t, {
    WebSocket: Counted as unknown as SocketType, messagesPerSecond: 10, messageBurst: 20, pingMs: 600_000,
  })
  const { server, clock, streams } = set
  const pairs = Array.from({ length: 100 }, (_, i) => `pair ${i}`)
  const subscriptions = pairs.map((tradingPairId) => streams.subscribe('trades', { tradingPairId }, {}))
  await (await server.socket()).said('subscribe', 20)
  t.equal(sent.length, 20)
  clock.advance(99)
  t.equal(sent.length, 20)
  clock.advance(1)
  t.equal(sent.length, 21)
  clock.advance(1000)
  t.equal(sent.length, 31)
  // What is given up before it was asked for is never asked for.
  for (const subscription of subscriptions.slice(40)) subscription.close()
  clock.advance(60_000)
  t.equal(sent.length, 40)
  t.strictSame(sent.map((text) => (JSON.parse(text) as Frame)['params'].tradingPairId), pairs.slice(0, 40), 'each once, in order')
  subscriptions.slice(0, 25).forEach((subscription) => subscription.close())
  t.equal(sent.length, 60, 'the burst filled again, and not beyond')
  server.sockets[0]!.close(1013)
  clock.advance(await pauseOf(set))
  await (await server.socket(1)).said('subscribe', 15)
  t.equal(sent.length, 75, 'what stands, and nothing that was left to be said')
})

const NOISE: Record<string, string | Buffer | Frame> = {
  bytes: Buffer.from('{"type":"pong"}'),
  'no JSON': '{"type":',
  'a list': '[]',
  text: '"pong"',
  nothing: 'null',
  'a confirmation without parameters': { type: 'subscribed', id: 1, channel: 'orderbook' },
  'an error without a code': { type: 'error', id: 1 },
  'a book without asks': { channel: 'orderbook', type: 'snapshot', sequence: 1, data: { tradingPairId: PAIR, bids: [] } },
  'a level of numbers': {
    channel: 'orderbook', type: 'snapshot', sequence: 1, data: { tradingPairId: PAIR, bids: [{ price: 1, quantity: 1 }], asks: [] },
  },
  'a book without sequence': { channel: 'orderbook', type: 'snapshot', data: { tradingPairId: PAIR, bids: [], asks: [] } },
}
t.test('a service that talks nonsense is left, and tried again', async (t) => {
  for (const [what, frame] of Object.entries(NOISE)) {
    const set = await stage(t)
    set.streams.subscribe('orderbook', { tradingPairId: PAIR }, {})
    const socket = await set.server.socket()
    const [asked] = await socket.said('subscribe')
    if ((frame as Frame)['type'] !== 'subscribed') socket.confirm(asked!)
    socket.send(frame)
    set.clock.advance(await pauseOf(set))
    t.match(await (await set.server.socket(1)).said('subscribe'), [{ channel: 'orderbook' }], what)
    set.streams.close()
  }
})

t.test('handlers may close everything, whenever they are called', async (t) => {
  for (const when of ['open', 'reconnecting'] as const) {
    const set = await stage(t, { status: (status) => status === when && set.streams.close() })
    set.streams.subscribe('instruments', {}, {})
    const socket = await set.server.socket()
    if (when === 'reconnecting') {
      await socket.said('subscribe')
      socket.close(1001)
    }
    await until('the end', () => set.streams.status === 'closed')
    t.strictSame(set.clock.waiting, [], when)
    t.equal(set.server.sockets.length, 1)
  }
})

const authenticated = async (socket: ServedSocket, count = 1): Promise<void> => {
  await socket.said('auth', count)
  socket.send({ type: 'authenticated', expiresAt: 1 })
}

/** Ways in which the service says that the session is of no use. */
const REFUSALS: Record<string, (socket: ServedSocket) => void> = Object.fromEntries(
  ['SESSION_INVALID', 'AUTH_FAILED', 'SUBSCRIPTION_LIMIT'].map((code) => [code, (socket: ServedSocket) => {
    socket.send({ type: 'error', code, message: 'words' })
    socket.close(1008, code)
  }]),
)
REFUSALS['SESSION_INVALID in the close frame alone'] = (socket) => socket.close(1008, 'SESSION_INVALID')
REFUSALS['SESSION_INVALID without a close frame'] = (socket) => {
  socket.send({ type: 'error', code: 'SESSION_INVALID', message: 'words' })
  socket.dropInFrame()
}
for (const [what, refuse] of Object.entries(REFUSALS)) {
  t.test(`${what}: private subscriptions wait for a sign-in, public ones go on`, async (t) => {
    const code = what.split(' ')[0]!
    const ended: string[] = []
    const set = await stage(t, { sessionEnded: (error: StreamError) => ended.push(error.code) })
    const { server, clock, streams, session } = set
    const [mine, other, open] = [record(), record(), record()]
    streams.subscribe('balances', {}, mine.handlers)
    streams.subscribe('instruments', {}, open.handlers)
    const socket = await server.socket()
    await authenticated(socket)
    for (const asked of await socket.said('subscribe', 2)) socket.confirm(asked)
    await until('confirmations', () => mine.told.length === 1 && open.told.length === 1)
    refuse(socket)
    clock.advance(await pauseOf(set))
    const next = await server.socket(1)
    t.match(await confirmed(next), { channel: 'instruments' })
    await until('public ones', () => open.told.length === 3)
    t.strictSame(open.told, ['open', 'reconnecting', 'open'])
    t.strictSame(mine.told.filter((each) => each !== 'reconnecting'), ['open', code, 'closed'])
    t.strictSame(ended, [code], 'told once')
    const late = streams.subscribe('orders', {}, other.handlers)
    await t.rejects(late.ready, { code })
    t.strictSame(next.messages.map(({ type }) => type), ['subscribe'], 'nothing was tried with the old key')

    session.signer = createSigner()
    streams.signedIn()
    t.match(await next.said('auth'), [{ publicKey: session.signer.publicKey }])
    await authenticated(next)
    await next.said('subscribe', 3)
    t.strictSame(new Set(next.messages.slice(-2).map(({ channel }) => channel)), new Set(['balances', 'orders']))
    for (const asked of next.messages.slice(-2)) next.confirm(asked)
    await until('private ones', () => mine.told.at(-1) === 'open' && other.told.at(-1) === 'open')
    t.equal(server.sockets.length, 2, 'on the same socket')
  })
}

t.test('who signs in when it is told that the session ended goes on with the new one', async (t) => {
  const set: Stage = await stage(t, {
    sessionEnded: () => {
      set.session.signer = createSigner()
      set.streams.signedIn()
    },
  })
  const { server, clock, streams } = set
  const { told, handlers } = record()
  streams.subscribe('balances', {}, handlers)
  const socket: StreamServer['sockets'][number] = await server.socket()
  await socket.said('auth')
  REFUSALS['SESSION_INVALID']!(socket)
  const pause = await pauseOf(set)
  t.ok(pause > 0, 'not at once, in case that is refused as well')
  clock.advance(pause)
  const next = await server.socket(1)
  await authenticated(next)
  await confirmed(next)
  await until('the confirmation', () => told.at(-1) === 'open')
  t.strictSame(told, ['SESSION_INVALID', 'closed', 'connecting', 'open'])
  t.equal(next.messages[0]!['publicKey'], set.session.signer!.publicKey)
})

t.test('a sign-in while the socket is authenticated takes another socket, because a socket keeps its account', async (t) => {
  const { server, streams, session } = await stage(t)
  const { told, handlers } = record()
  streams.subscribe('balances', {}, handlers)
  const socket = await server.socket()
  await authenticated(socket)
  await confirmed(socket)
  await until('the confirmation', () => told.length === 1)
  session.signer = createSigner()
  streams.signedIn()
  const next = await server.socket(1)
  t.match(await next.said('auth'), [{ publicKey: session.signer.publicKey }])
  await authenticated(next)
  await confirmed(next)
  await until('the confirmation', () => told.length === 3)
  t.strictSame(told, ['open', 'reconnecting', 'open'])
})

t.test('without a sign-in private subscriptions wait for the first', async (t) => {
  const { server, streams, session } = await stage(t)
  session.signer = null
  const { told, handlers } = record()
  const early = streams.subscribe('orders', { tradingPairId: PAIR }, handlers)
  await t.rejects(early.ready, { code: 'AUTH_REQUIRED' })
  const closed = streams.subscribe('balances', {}, {})
  closed.close()
  session.signer = createSigner()
  streams.signedIn()
  const socket = await server.socket()
  await authenticated(socket)
  t.match(await confirmed(socket), { channel: 'orders' })
  await until('the confirmation', () => told.at(-1) === 'open')
  t.strictSame(told, ['AUTH_REQUIRED', 'closed', 'connecting', 'open'])
})

t.test('the longest pause is 10 s: for so long a client may be blind when the service is back', async (t) => {
  const clock = new TestClock()
  clock.chance = 1
  const backoff = new Backoff(clock, {})
  const pauses = Array.from({ length: 20 }, () => backoff.pause())
  t.same(pauses.slice(0, 6), [250, 500, 1000, 2000, 4000, 8000])
  t.ok(pauses.slice(6).every((pause) => pause === 10_000))
})
