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
  ['at a path below', ['GET /ws/ HTTP/1.1', ...UPGRADE.slice(1)], 404],
  ['without a Connection', without('connection'), 400],
  ['whose connection is only kept alive', instead('connection', 'Connection: keep-alive'), 400],
  ['with a key that is no base64', instead('sec-websocket-key', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j!Q=='), 400],
  ['with two keys', [...UPGRADE, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='], 400],
  ['of versions 13 and 8', instead('sec-websocket-version', 'Sec-WebSocket-Version: 13, 8'), 400],
  ['without a host', without('host'), 400],
  ['by PUT', ['PUT /ws HTTP/1.1', ...UPGRADE.slice(1)], 404],
  ['of HTTP/1.0', ['GET /ws HTTP/1.0', ...UPGRADE.slice(1)], 505],
  ['with a chunked body', [...UPGRADE, 'Transfer-Encoding: chunked'], 411],
  ['with headers beyond all bounds', [...UPGRADE, `X-Fill: ${'x'.repeat(20_000)}`], 431],
  ['with hundreds of headers', [...UPGRADE, ...Array.from({ length: 200 }, (_, i) => `X-${i}: 1`)], 431],
  ['with credentials of two protocols', [...UPGRADE, 'X-Svc-PublicKey: a', 'Signature: b'], 401],
]
const GOOD_HANDSHAKES: [what: string, head: string[]][] = [
  ['names in lower case', UPGRADE.map((line, i) => (i === 0 ? line : line.replace(/^[^:]+/, (name) => name.toLowerCase())))],
  ['a connection that is kept alive too', instead('connection', 'Connection: keep-alive, Upgrade')],
  ['two Connection headers', [...UPGRADE, 'Connection: keep-alive']],
  ['an Upgrade in capitals', instead('upgrade', 'Upgrade: WebSocket')],
  ['any Origin: what is private wants a signature', [...UPGRADE, 'Origin: https://elsewhere.example']],
  ['a query', ['GET /ws?v=1 HTTP/1.1', ...UPGRADE.slice(1)]],
]
for (const [what, head] of GOOD_HANDSHAKES) {
  t.test(`a handshake may have ${what}`, async (t) => {
    const raw = new RawSocket(port, head)
    t.ok(await raw.until(() => raw.frames.length === 1))
    t.equal(raw.status, 101)
    raw.destroy()
  })
}
for (const [what, head, status] of HANDSHAKES) {
  t.test(`a handshake ${what} is ${status}`, async (t) => {
    const raw = new RawSocket(port, head)
    t.ok(await raw.until(() => raw.status !== 0))
    t.equal(raw.status, status)
    raw.destroy()
  })
}

/** A masked frame whose length is written in this many bits. */
function sized(first: number, text: string, bits: 7 | 16 | 64, mask: number[] = [1, 2, 3, 4]): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  const long = Buffer.alloc(8)
  long.writeBigUInt64BE(BigInt(length))
  const size = bits === 7 ? [0x80 | length] : bits === 16 ? [0xfe, ...long.subarray(6)] : [0xff, ...long]
  payload.forEach((byte, i) => (payload[i] = byte ^ mask[i & 3]!))
  return Buffer.concat([Buffer.from([first, ...size, ...mask]), payload])
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
  ['text of the whole range', [rawFrame(TEXT, '{"type":"ping","note":"\u{ffff}\u{10ffff}\u{fdd0}"}')], [[1, PONG]]],
  ['a ping of bytes that are no text', [rawFrame(PING_FRAME, Buffer.from([0xc3, 0x28]))], [[10, /^.+$/]]],
  ['a ping between all fragments', [
    rawFrame(0x01, PING[0]), ...[...PING.slice(1, -1)].flatMap((byte) => [rawFrame(PING_FRAME, byte), rawFrame(0x00, byte)]),
    rawFrame(0x80, PING.at(-1)),
  ], [...[...PING.slice(1, -1)].map((byte): [number, string] => [10, byte]), [1, PONG]]],
  ['a pong between fragments', [rawFrame(0x01, PING.slice(0, 5)), rawFrame(PONG_FRAME), rawFrame(0x80, PING.slice(5))], [[1, PONG]]],
  ['a mask of zeros', [sized(TEXT, PING, 7, [0, 0, 0, 0])], [[1, PONG]]],
  ['a mask of ones', [sized(TEXT, PING, 7, [255, 255, 255, 255])], [[1, PONG]]],
  ['125 bytes', [sized(TEXT, PING.padEnd(125), 7)], [[1, PONG]]],
  ['126 bytes', [sized(TEXT, PING.padEnd(126), 16)], [[1, PONG]]],
  ['127 bytes', [sized(TEXT, PING.padEnd(127), 16)], [[1, PONG]]],
  ['a length of 16 bits that 7 would hold', [sized(TEXT, PING, 16)], [[1, PONG]]],
  ['a length of 64 bits that 7 would hold', [sized(TEXT, PING, 64)], [[1, PONG]]],
  ['a length of 64 bits that 16 would hold', [sized(TEXT, PING.padEnd(16_384), 64)], [[1, PONG]]],
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
  ['four bytes of a character in four fragments, the last of them wrong', [
    rawFrame(0x01, utf8(0xf0)), rawFrame(0x00, utf8(0x9f)), rawFrame(0x00, utf8(0x82)), rawFrame(0x80, utf8(0x28)),
  ]],
  ['a byte that no text has', [rawFrame(TEXT, utf8(0xff))]],
  ['a first fragment with a reserved bit', [rawFrame(0x41, PING)]],
  ['a reserved bit of a continuation', [rawFrame(0x01, PING), rawFrame(0xc0, ' ')]],
  ['131,073 bytes', [sized(TEXT, PING.padEnd(131_073), 64)]],
  ['an announced length beyond all bounds', [Buffer.from([TEXT, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4])]],
  ['a length with its highest bit set', [Buffer.from([TEXT, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5])]],
  ['fragments that are too much together', [rawFrame(0x01, 'x'.repeat(80_000)), rawFrame(0x00, 'x'.repeat(80_000))]],
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

const closing = (code: number, reason = ''): Buffer => Buffer.concat([Buffer.from([code >>> 8, code & 0xff]), Buffer.from(reason)])
/** Payloads, and what is answered: itself, or no code when the library knows none such. */
const CLOSES: [what: string, payload: Buffer, answer: Buffer][] = [
  ['1000', closing(1000), closing(1000)],
  ['1000 and a reason', closing(1000, 'bye'), closing(1000, 'bye')],
  ['the longest reason', closing(1000, 'r'.repeat(123)), closing(1000, 'r'.repeat(123))],
  ...[1001, 1002, 1003, 1007, 1008, 1009, 1011, 4000, 4999].map((code): [string, Buffer, Buffer] => [
    `${code}`, closing(code), closing(code),
  ]),
  ...[0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535].map((code): [string, Buffer, Buffer] => [
    `${code}, which nobody may send`, closing(code), Buffer.alloc(0),
  ]),
  ['1012, of the registry', closing(1012), Buffer.alloc(0)],
  ['3000, of a library', closing(3000), Buffer.alloc(0)],
  ['no code', Buffer.alloc(0), Buffer.alloc(0)],
  ['half a code', Buffer.from([0x03]), Buffer.alloc(0)],
  ['a reason that is no text', Buffer.from([0x03, 0xe8, 0xc3, 0x28]), Buffer.alloc(0)],
]
for (const [what, payload, answer] of CLOSES) {
  t.test(`a close with ${what} is answered and ends the connection`, async (t) => {
    const raw = await upgraded()
    raw.write(rawFrame(CLOSE, payload), rawFrame(TEXT, PING))
    t.ok(await raw.until(() => raw.closed))
    t.equal(raw.frames.length, 2, 'what comes behind it is not answered')
    t.equal(raw.frames[1]!.opcode, 8)
    t.strictSame(raw.frames[1]!.payload, answer)
  })
}

t.test('a close between fragments closes, and the text is never read', async (t) => {
  const raw = await upgraded()
  raw.write(rawFrame(0x01, PING), rawFrame(CLOSE, closing(1000)), rawFrame(0x80))
  t.ok(await raw.until(() => raw.closed))
  t.strictSame(raw.frames.slice(1).map(({ opcode }) => opcode), [8])
})

t.test('a client that only ends its half of the connection loses the other', async (t) => {
  const raw = await upgraded()
  raw.socket.end()
  t.ok(await raw.until(() => raw.closed))
})

t.test('a frame in the packet of the handshake does no harm', async (t) => {
  const raw = new RawSocket(port)
  // The library drops what comes in the same packet; a client must wait for the answer (RFC 6455, 4.1).
  raw.socket.prependListener('connect', () => raw.socket.cork())
  raw.socket.on('connect', () => {
    raw.write(rawFrame(TEXT, PING))
    raw.socket.uncork()
  })
  t.ok(await raw.until(() => raw.frames.length > 0))
  t.equal(raw.status, 101)
  raw.write(rawFrame(PING_FRAME, 'there?'))
  t.ok(await raw.until(() => raw.frames.some(({ opcode, payload }) => opcode === 10 && payload.toString() === 'there?')))
  raw.destroy()
})

t.test('an independent client: no extension is agreed to, pings are answered, codes are echoed', async (t) => {
  const client = await SocketClient.open(port)
  t.equal(client.socket.extensions, '')
  const pong = new Promise<string>((resolve) => client.socket.on('pong', (data) => resolve(data.toString())))
  client.socket.ping('echo')
  t.equal(await pong, 'echo')
  client.socket.close(4321)
  t.match(await client.closed, { code: 4321 })
})

t.test('bytes inside a fragmented text are no message', async (t) => {
  const raw = await upgraded()
  raw.write(rawFrame(0x01, PING), rawFrame(BINARY, PING))
  t.ok(await raw.until(() => raw.closed || raw.frames.length === 2))
  t.notOk(raw.frames.some(({ payload }) => PONG.test(payload.toString())))
  raw.destroy()
})

for (const length of [16_385, 65_535, 65_536, 65_537, 131_072]) {
  t.test(`a message of ${length} bytes is closed with 1009`, async (t) => {
    const raw = await upgraded()
    raw.write(rawFrame(TEXT, PING.padEnd(length)))
    t.ok(await raw.until(() => raw.closed))
    t.equal(raw.frames[1]!.opcode, 8)
    t.equal(raw.frames[1]!.payload.readUInt16BE(0), 1009)
  })
}

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
  ['another type', '{"type":"order.make"}', { message: /type/ }],
  ['a type that is none', '{"type":{}}', { message: /type/ }],
  ['bytes', Buffer.from(PING), { message: /text frames/ }],
  ['no channel', '{"type":"subscribe","id":"a"}', { message: /channel/, id: 'a' }],
  ['a channel that is none', '{"type":"subscribe","id":1,"channel":7}', { message: /channel/, id: 1 }],
  ['an id that is none', '{"type":"subscribe","id":{},"channel":"trades"}', { message: /id/ }],
  ['a long id', `{"type":"subscribe","id":"${'x'.repeat(65)}","channel":"trades"}`, { message: /id/ }],
  ['params that are none', '{"type":"subscribe","channel":"trades","params":[]}', { message: /params/, channel: 'trades' }],
  ['an unknown channel', '{"type":"subscribe","channel":"weather"}', { message: /no such channel/, channel: 'weather' }],
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
  // The logarithm of the last two rounds to a whole number.
  for (const magnitude of [0, -1, 2, 1.5, 10_000_000, '10', null, {}, true, [10], 99.99999999999999, 999_999.9999999999]) {
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
