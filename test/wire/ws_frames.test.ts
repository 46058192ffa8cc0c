/**
 * Promise: the WebSocket keeps to RFC 6455. What is allowed is answered; whoever breaks the protocol loses his connection and nobody
 * else does; handshakes that are none are refused; messages that are none get an error frame.
 */
import t from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { startHarness } from '../support/gateway_harness.ts'
import { rawFrame, RawSocket, SocketClient, UPGRADE } from '../support/sockets.ts'

const harness = await startHarness(['--ws-message-burst', '100000'])
t.teardown(() => harness.close())
const { port } = harness
const PING = '{"type":"ping"}'
const PONG = /^\{"type":"pong"/
const [TEXT, BINARY, CLOSE, PING_FRAME, PONG_FRAME] = [0x81, 0x82, 0x88, 0x89, 0x8a]

/** An upgraded socket, behind its first frame. */
async function upgraded(): Promise<RawSocket> {
  const raw = new RawSocket(port)
  if (!(await raw.until(() => raw.frames.length === 1))) throw new Error('no upgrade')
  return raw
}

const without = (name: string): string[] => UPGRADE.filter((line) => !line.toLowerCase().startsWith(`${name}:`))
const instead = (name: string, line: string): string[] => [...without(name), line]

t.test('the handshake of the RFC is answered with its key, without extension or subprotocol', async (t) => {
  const raw = new RawSocket(port, [...UPGRADE, 'Sec-WebSocket-Extensions: permessage-deflate', 'Sec-WebSocket-Protocol: chat'])
  t.ok(await raw.until(() => raw.frames.length === 1))
  t.equal(raw.status, 101)
  t.match(raw.head, 's3pplmbitxaq9kygzzhzrbk+xoo=')
  t.notMatch(raw.head, /sec-websocket-(extensions|protocol)/)
  t.match(JSON.parse(raw.frames[0]!.payload.toString()), { type: 'connected', connectionId: /^[0-9a-f-]{36}$/, heartbeatMs: 60_000 })
  raw.destroy()
})

const HANDSHAKES: [what: string, head: string[], status: number][] = [
  ['without a User-Agent', without('user-agent'), 403],
  ['with an empty User-Agent', instead('user-agent', 'User-Agent: '), 403],
  ['without a version', without('sec-websocket-version'), 400],
  ['of version 8', instead('sec-websocket-version', 'Sec-WebSocket-Version: 8'), 400],
  ['without an upgrade', without('upgrade'), 400],
  ['to something else', instead('upgrade', 'Upgrade: h2c'), 400],
  ['without a key', without('sec-websocket-key'), 404],
  ['with a short key', instead('sec-websocket-key', 'Sec-WebSocket-Key: abc'), 404],
  ['by POST', ['POST /ws HTTP/1.1', ...UPGRADE.slice(1), 'Content-Length: 0'], 404],
  ['with a body', [...UPGRADE, 'Content-Length: 5'], 400],
  ['with two Content-Lengths', [...UPGRADE, 'Content-Length: 0', 'Content-Length: 0'], 400],
  ['with two hosts', [...UPGRADE, 'Host: other'], 400],
  ['at another path', ['GET /wss HTTP/1.1', ...UPGRADE.slice(1)], 404],
]
for (const [what, head, status] of HANDSHAKES) {
  t.test(`a handshake ${what} is ${status}`, async (t) => {
    const raw = new RawSocket(port, head)
    t.ok(await raw.until(() => raw.status !== 0))
    t.equal(raw.status, status)
    raw.destroy()
  })
}

/** Bytes, and the opcodes and texts of what comes back; the connection stays. */
const ALLOWED: [what: string, frames: Buffer[], answers: [opcode: number, text: RegExp | string][]][] = [
  ['a text', [rawFrame(TEXT, PING)], [[1, PONG]]],
  ['two texts in one packet', [rawFrame(TEXT, PING), rawFrame(TEXT, PING)], [[1, PONG], [1, PONG]]],
  ['a text in two fragments', [rawFrame(0x01, PING.slice(0, 5)), rawFrame(0x80, PING.slice(5))], [[1, PONG]]],
  ['a text in single bytes', [
    rawFrame(0x01, PING[0]), ...[...PING.slice(1, -1)].map((byte) => rawFrame(0x00, byte)), rawFrame(0x80, PING.at(-1)),
  ], [[1, PONG]]],
  ['empty fragments', [rawFrame(0x01), rawFrame(0x00), rawFrame(0x00, PING), rawFrame(0x80)], [[1, PONG]]],
  ['a ping', [rawFrame(PING_FRAME)], [[10, '']]],
  ['a ping with a payload', [rawFrame(PING_FRAME, 'are you there')], [[10, 'are you there']]],
  ['a ping of 125 bytes', [rawFrame(PING_FRAME, 'x'.repeat(125))], [[10, 'x'.repeat(125)]]],
  ['a ping between fragments', [rawFrame(0x01, PING.slice(0, 5)), rawFrame(PING_FRAME, 'p'), rawFrame(0x80, PING.slice(5))], [
    [10, 'p'], [1, PONG],
  ]],
  ['a pong nobody asked for', [rawFrame(PONG_FRAME, 'x'), rawFrame(TEXT, PING)], [[1, PONG]]],
  ['text of several bytes a character', [rawFrame(TEXT, '{"type":"ping","note":"é漢🂡"}')], [[1, PONG]]],
  ['a character cut by a fragment', [rawFrame(0x01, Buffer.from('{"type":"ping","n":"é"}').subarray(0, 21)),
    rawFrame(0x80, Buffer.from('{"type":"ping","n":"é"}').subarray(21))], [[1, PONG]]],
  ['a length of 16 bits', [rawFrame(TEXT, `${PING}${' '.repeat(200)}`)], [[1, PONG]]],
  ['the longest message', [rawFrame(TEXT, PING.padEnd(16_384))], [[1, PONG]]],
]
for (const [what, frames, answers] of ALLOWED) {
  t.test(`${what} is answered`, async (t) => {
    const raw = await upgraded()
    raw.write(...frames)
    t.ok(await raw.until(() => raw.frames.length === 1 + answers.length))
    raw.frames.slice(1).forEach(({ opcode, payload }, i) => {
      t.equal(opcode, answers[i]![0])
      t.match(payload.toString(), answers[i]![1])
    })
    raw.write(rawFrame(TEXT, PING))
    t.ok(await raw.until(() => raw.frames.length === 2 + answers.length), 'the connection is still good')
    raw.destroy()
  })
}

t.test('bytes that come one by one are one frame', async (t) => {
  const raw = await upgraded()
  raw.socket.setNoDelay(true)
  for (const byte of rawFrame(TEXT, PING)) {
    await new Promise<void>((resolve) => raw.socket.write(Buffer.from([byte]), () => resolve()))
  }
  t.ok(await raw.until(() => raw.frames.length === 2))
  t.match(raw.frames[1]!.payload.toString(), PONG)
  raw.destroy()
})

const utf8 = (...bytes: number[]): Buffer => Buffer.from(bytes)
const BROKEN: [what: string, frames: Buffer[]][] = [
  ['reserved bit 1', [rawFrame(TEXT | 0x40, PING)]],
  ['reserved bit 2', [rawFrame(TEXT | 0x20, PING)]],
  ['reserved bit 3', [rawFrame(TEXT | 0x10, PING)]],
  ['a reserved bit of a ping', [rawFrame(PING_FRAME | 0x40)]],
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode): [string, Buffer[]] => [`opcode ${opcode}`, [rawFrame(0x80 | opcode, PING)]]),
  ['a ping in fragments', [rawFrame(0x09, 'p')]],
  ['a close in fragments', [rawFrame(0x08)]],
  ['a ping of 126 bytes', [rawFrame(PING_FRAME, 'x'.repeat(126))]],
  ['a close of 126 bytes', [rawFrame(CLOSE, 'x'.repeat(126))]],
  ['a continuation of nothing', [rawFrame(0x80, PING)]],
  ['an unfinished continuation of nothing', [rawFrame(0x00, PING)]],
  ['a text inside a fragmented text', [rawFrame(0x01, PING), rawFrame(TEXT, PING)]],
  ['a lone continuation byte', [rawFrame(TEXT, utf8(0x80))]],
  ['a sequence cut short', [rawFrame(TEXT, utf8(0xe2, 0x82))]],
  ['an overlong sequence', [rawFrame(TEXT, utf8(0xc0, 0xaf))]],
  ['a surrogate', [rawFrame(TEXT, utf8(0xed, 0xa0, 0x80))]],
  ['a code point that is too high', [rawFrame(TEXT, utf8(0xf4, 0x90, 0x80, 0x80))]],
  ['broken text over fragments', [rawFrame(0x01, utf8(0xc3)), rawFrame(0x80, utf8(0x28))]],
  ['an announced length beyond all bounds', [Buffer.from([TEXT, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4])]],
  ['a length with its highest bit set', [Buffer.from([TEXT, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5])]],
  ['fragments that are too much together', [rawFrame(0x01, 'x'.repeat(40_000)), rawFrame(0x00, 'x'.repeat(40_000))]],
]
for (const [what, frames] of BROKEN) {
  t.test(`${what} ends the connection, and no other`, async (t) => {
    const [raw, bystander] = [await upgraded(), await upgraded()]
    raw.write(...frames)
    t.ok(await raw.until(() => raw.closed))
    t.notOk(raw.frames.slice(1).some(({ opcode }) => opcode < 8), 'nothing is answered')
    bystander.write(rawFrame(TEXT, PING))
    t.ok(await bystander.until(() => bystander.frames.length === 2))
    bystander.destroy()
  })
}

const CLOSES: [what: string, payload: Buffer][] = [
  ['1000', Buffer.from([0x03, 0xe8])],
  ['1000 and a reason', Buffer.concat([Buffer.from([0x03, 0xe8]), Buffer.from('bye')])],
  ['3000, of a library', Buffer.from([0x0b, 0xb8])],
  ['4999, of an application', Buffer.from([0x13, 0x87])],
  ['no code', Buffer.alloc(0)],
  ['half a code', Buffer.from([0x03])],
  ['a reason that is no text', Buffer.from([0x03, 0xe8, 0xc3, 0x28])],
]
for (const [what, payload] of CLOSES) {
  t.test(`a close with ${what} is answered and ends the connection`, async (t) => {
    const raw = await upgraded()
    raw.write(rawFrame(CLOSE, payload), rawFrame(TEXT, PING))
    t.ok(await raw.until(() => raw.closed))
    t.equal(raw.frames.length, 2, 'what comes behind it is not answered')
    t.equal(raw.frames[1]!.opcode, 8)
  })
}

t.test('bytes inside a fragmented text are no message', async (t) => {
  const raw = await upgraded()
  raw.write(rawFrame(0x01, PING), rawFrame(BINARY, PING))
  t.ok(await raw.until(() => raw.closed || raw.frames.length === 2))
  t.notOk(raw.frames.some(({ payload }) => PONG.test(payload.toString())))
  raw.destroy()
})

t.test('a message that is too large is closed with 1009', async (t) => {
  const raw = await upgraded()
  raw.write(rawFrame(TEXT, PING.padEnd(16_385)))
  t.ok(await raw.until(() => raw.closed))
  t.equal(raw.frames[1]!.opcode, 8)
  t.equal(raw.frames[1]!.payload.readUInt16BE(0), 1009)
})

t.test('a frame without a mask is not understood, and harms nobody', async (t) => {
  const [raw, bystander] = [await upgraded(), await upgraded()]
  raw.write(rawFrame(TEXT, PING, false), rawFrame(TEXT, PING, false))
  bystander.write(rawFrame(TEXT, PING))
  t.ok(await bystander.until(() => bystander.frames.length === 2))
  t.notOk(raw.frames.some(({ payload }) => PONG.test(payload.toString())))
  raw.destroy()
  bystander.destroy()
})

const MALFORMED: [what: string, message: string | Buffer, answer: object][] = [
  ['no JSON', 'hello', { message: /no JSON/ }],
  ['nothing', '', { message: /no JSON/ }],
  ['a list', '[]', { message: /no JSON object/ }],
  ['null', 'null', { message: /no JSON object/ }],
  ['a number', '1', { message: /no JSON object/ }],
  ['no type', '{}', { message: /type/ }],
  ['another type', '{"type":"order.create"}', { message: /type/ }],
  ['a type that is none', '{"type":{}}', { message: /type/ }],
  ['bytes', Buffer.from(PING), { message: /text frames/ }],
  ['no channel', '{"type":"subscribe","id":"a"}', { message: /channel/, id: 'a' }],
  ['a channel that is none', '{"type":"subscribe","id":1,"channel":7}', { message: /channel/, id: 1 }],
  ['an id that is none', '{"type":"subscribe","id":{},"channel":"trades"}', { message: /id/ }],
  ['a long id', `{"type":"subscribe","id":"${'x'.repeat(65)}","channel":"trades"}`, { message: /id/ }],
  ['params that are none', '{"type":"subscribe","channel":"trades","params":[]}', { message: /params/, channel: 'trades' }],
  ['an unknown channel', '{"type":"subscribe","channel":"weather"}', { message: /no such channel/, channel: 'weather' }],
  ['a channel that is still to come', '{"type":"subscribe","channel":"positions"}', { message: /no such channel/ }],
  ['the name of a property of objects', '{"type":"subscribe","channel":"constructor"}', { message: /no such channel/ }],
  ['no pair', '{"type":"subscribe","channel":"trades"}', { message: /tradingPairId/ }],
  ['an unknown pair', '{"type":"subscribe","channel":"orderbook","params":{"tradingPairId":"x"}}', { message: /tradingPairId/ }],
  ['what was not subscribed', '{"type":"unsubscribe","id":2,"channel":"instruments"}', { message: /no such subscription/, id: 2 }],
]
for (const [what, message, answer] of MALFORMED) {
  t.test(`${what} gets an error frame`, async (t) => {
    const client = await SocketClient.open(port)
    client.send(message)
    t.match(await client.next(({ type }) => type === 'error'), { code: 'INVALID_SUBSCRIPTION', ...answer })
    client.send(PING)
    t.ok(await client.next(({ type }) => type === 'pong'), 'the connection is still good')
    client.close()
  })
}

t.test('magnitudes are powers of ten', async (t) => {
  const client = await SocketClient.open(port)
  const tradingPairId = harness.genesis.pairs[0]!.id
  for (const magnitude of [0, -1, 2, 1.5, 10_000_000, '10', null, {}]) {
    const { type, code } = await client.subscribe('orderbook', { tradingPairId, magnitude })
    if (magnitude === null) t.equal(type, 'subscribed', 'null is absent')
    else t.equal(code, 'INVALID_SUBSCRIPTION', String(magnitude))
  }
  t.match((await client.subscribe('orderbook', { tradingPairId: tradingPairId.toUpperCase(), magnitude: 10 }))['params'], {
    tradingPairId, magnitude: 10,
  })
  client.close()
})

t.test('nothing went wrong inside', async (t) => {
  const counters = gatewayCounters(harness.shared.counters, 1)
  t.equal(counters[GATEWAY.unhandled], 0)
  for (let i = 0; i < 1000 && counters[GATEWAY.ws_connections]! > 0; i++) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(counters[GATEWAY.ws_connections], 0)
  t.equal(counters[GATEWAY.ws_subscriptions], 0)
})
