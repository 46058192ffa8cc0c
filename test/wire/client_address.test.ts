/**
 * Promise: behind a trusted proxy a client is who X-Forwarded-For says, over REST, WebSocket and gRPC; strangers cannot choose their
 * address with it, and nobody can with a header of the PROXY protocol on the port of REST and WebSocket.
 *
 * 127.0.0.1 is the proxy here and 127.0.0.2 a stranger; the sign-in desk is told the address of who asks for a challenge.
 */
import { connect } from 'node:net'
import { connect as connectHttp2 } from 'node:http2'
import t from 'tap'
import { portBlock, PORT_COUNTER } from '../../core/ring/ports.ts'
import { parseReplies, startHarness, type Reply } from '../support/gateway_harness.ts'
import { encodeMessage, pathOf } from '../support/grpc.ts'
import { until } from '../support/until.ts'

const harness = await startHarness(['--grpc-thread', '1', '--trusted-proxies', '127.0.0.1', '--ws-connections', '8'])
t.teardown(() => harness.close())
const { port, grpcPort, asked } = harness
const [PROXY, STRANGER] = ['127.0.0.1', '127.0.0.2']

interface Raw {
  readonly replies: () => Reply[]
  readonly closed: () => boolean
  send(bytes: string | Buffer): void
}

function open(from: string, bytes: string | Buffer): Raw {
  const socket = connect({ port, host: PROXY, localAddress: from })
  let received = Buffer.alloc(0)
  let closed = false
  socket.on('error', () => (closed = true)).on('close', () => (closed = true))
  socket.on('data', (data: Buffer) => (received = Buffer.concat([received, data])))
  socket.write(bytes)
  t.teardown(() => socket.destroy())
  return { replies: () => parseReplies(received).replies, closed: () => closed, send: (more) => void socket.write(more) }
}

const BODY = { address: `0x${'1'.repeat(40)}`, sessionPublicKey: '2'.repeat(64), clientId: 'ringbook' }
const head = (line: string, ...more: string[]): string => [`${line} HTTP/1.1`, 'Host: x', 'User-Agent: test', ...more, '', ''].join('\r\n')
const challenge = (...headers: string[]): string =>
  head('POST /api/v1/auth/challenge', 'Content-Type: application/json', `Content-Length: ${JSON.stringify(BODY).length}`, ...headers) +
  JSON.stringify(BODY)

/** The address the desk was told by what `act` does. */
async function addressAfter(act: () => void): Promise<string> {
  const before = asked.length
  act()
  await until(() => asked.length > before)
  return asked[before]?.ip ?? 'nothing was asked'
}

t.test('REST', async (t) => {
  const of = (from: string, ...headers: string[]): Promise<string> => addressAfter(() => open(from, challenge(...headers)))
  t.equal(await of(PROXY), PROXY)
  t.equal(await of(PROXY, 'X-Forwarded-For: 203.0.113.9, 198.51.100.1'), '198.51.100.1')
  t.equal(await of(PROXY), PROXY, 'and nothing of the request before')
  t.equal(await of(PROXY, 'x-forwarded-for: 203.0.113.9', 'X-Forwarded-For: 198.51.100.2'), '198.51.100.2', 'in two headers')
  t.equal(await of(PROXY, 'X-Forwarded-For: unknown'), PROXY)
  t.equal(await of(STRANGER, 'X-Forwarded-For: 198.51.100.1'), STRANGER)
})

t.test('gRPC', async (t) => {
  const of = async (from: string, metadata: Record<string, string | string[]> = {}): Promise<string> => {
    const session = connectHttp2(`http://${PROXY}:${grpcPort}`, {
      createConnection: () => connect({ port: grpcPort, host: PROXY, localAddress: from }),
    })
    session.on('error', () => undefined)
    const address = await addressAfter(() => {
      const call = session.request({
        ':method': 'POST', ':path': pathOf('Challenge'), 'content-type': 'application/grpc', te: 'trailers', ...metadata,
      })
      call.on('error', () => undefined)
      const message = encodeMessage('ChallengeRequest', BODY)
      const frame = Buffer.alloc(5)
      frame.writeUInt32BE(message.length, 1)
      call.end(Buffer.concat([frame, message]))
    })
    session.destroy()
    return address
  }
  t.equal(await of(PROXY), PROXY)
  t.equal(await of(PROXY, { 'x-forwarded-for': '203.0.113.9, 198.51.100.1' }), '198.51.100.1')
  t.equal(await of(PROXY, { 'x-forwarded-for': ['203.0.113.9', '198.51.100.2'] }), '198.51.100.2', 'in two entries')
  t.equal(await of(STRANGER, { 'x-forwarded-for': '198.51.100.1' }), STRANGER)
})

const UPGRADE = ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']

t.test('WebSockets: the places of a client are its own, behind a proxy too', async (t) => {
  const upgrade = (from: string, client: string): Raw => open(from, head('GET /ws', ...UPGRADE, `X-Forwarded-For: ${client}`))
  const [block, { open: at }] = [portBlock(harness.shared.ports, 1, 'websocket'), PORT_COUNTER]
  for (let i = 1; i <= 4; i++) {
    upgrade(PROXY, '198.51.100.1')
    t.ok(await until(() => block[at] === i))
  }
  const fifth = upgrade(PROXY, '198.51.100.1')
  t.ok(await until(() => fifth.replies()[0]?.status === 503), 'one client has half of eight')
  upgrade(PROXY, '198.51.100.2')
  t.ok(await until(() => block[at] === 5), 'and another one has a place')
  upgrade(STRANGER, '198.51.100.3')
  t.ok(await until(() => block[at] === 6))
  const stranger = upgrade(STRANGER, '198.51.100.4')
  t.ok(await until(() => stranger.replies()[0]?.status === 503), 'a stranger is one client, whatever it writes')
})

/** A header of the PROXY protocol, version 2, for TCP over IPv4. */
const PROXIED = Buffer.concat([
  Buffer.from('0d0a0d0a000d0a515549540a2111000c', 'hex'), Buffer.from([198, 51, 100, 1, 127, 0, 0, 1, 0, 80, 0, 81]),
])

t.test('a PROXY header is refused and the connection closed, at its beginning or later, from proxies too', async (t) => {
  for (const from of [PROXY, STRANGER]) {
    const before = asked.length
    const first = open(from, Buffer.concat([PROXIED, Buffer.from(challenge())]))
    t.ok(await until(() => first.closed()), from)
    t.same(first.replies().map(({ status }) => status), [400])
    const upgrade = open(from, Buffer.concat([PROXIED, Buffer.from(head('GET /ws', ...UPGRADE))]))
    t.ok(await until(() => upgrade.closed()))
    t.same(upgrade.replies().map(({ status }) => status), [400])
    const later = open(from, head('GET /health'))
    t.ok(await until(() => later.replies().length === 1))
    later.send(Buffer.concat([PROXIED, Buffer.from(challenge())]))
    t.ok(await until(() => later.closed()))
    t.same(later.replies().map(({ status }) => status), [200, 400])
    const pipelined = open(from, Buffer.concat([PROXIED, Buffer.from(challenge() + challenge())]))
    t.ok(await until(() => pipelined.closed()), 'what stands behind it is not read')
    t.equal(asked.length, before)
  }
})
