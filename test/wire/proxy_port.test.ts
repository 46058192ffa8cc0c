/**
 * Promise: on the port for proxies REST and WebSocket have the address of the client that the PROXY header names, with TLS and
 * without; only trusted proxies may connect to it, with a header; no client behind the proxy can write another one; and bounds of
 * connections are those of the client.
 */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import { portBlock, PORT_COUNTER, type PortCounter, type PortName } from '../../core/ring/ports.ts'
import { certificateFiles } from '../support/certificates.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { parseReplies, startHarness, type Reply } from '../support/gateway_harness.ts'
import { LOCAL_HEADER, proxyHeader, proxyHeader6, rawProxyHeader } from '../support/proxy_header.ts'
import { until } from '../support/until.ts'

const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))
const files = certificateFiles(join(directory, 'certificates'))
const [PROXY, STRANGER] = ['127.0.0.1', '127.0.0.2']
const CLIENT = proxyHeader('198.51.100.1')

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, PROXY, resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const BODY = JSON.stringify({ address: `0x${'1'.repeat(40)}`, sessionPublicKey: '2'.repeat(64), clientId: 'ringbook' })
const head = (line: string, ...more: string[]): string => [`${line} HTTP/1.1`, 'Host: x', 'User-Agent: test', ...more, '', ''].join('\r\n')
const HEALTH = head('GET /health')
const challenge = (...headers: string[]): string =>
  head('POST /api/v1/auth/challenge', 'Content-Type: application/json', `Content-Length: ${BODY.length}`, ...headers) + BODY
const UPGRADE = head(
  'GET /ws', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
)

interface Raw {
  readonly replies: () => Reply[]
  readonly text: () => string
  readonly closed: () => boolean
  readonly socket: Socket
  send(bytes: string | Buffer): void
}

for (const tls of [false, true]) {
  t.test(tls ? 'with TLS' : 'without TLS', async (t) => {
    const proxyPort = await freePort()
    const pair = tls ? ['--tls-cert', files.cert, '--tls-key', files.key] : []
    const harness = await startHarness([
      '--proxy-port', String(proxyPort), '--trusted-proxies', `${PROXY},2001:db8::/32`, '--first-request-seconds', '1',
      '--http-connections', '64', '--ws-connections', '8', ...pair,
    ])
    t.teardown(() => harness.close())
    const { asked } = harness
    const count = (name: PortName, counter: PortCounter): number => portBlock(harness.shared.ports, 1, name)[PORT_COUNTER[counter]]!

    /** A connection that says `header` first and then `bytes`, these in TLS. */
    const open = (header: Buffer, bytes: string | Buffer = '', from = PROXY): Raw => {
      const raw = connect({ port: proxyPort, host: PROXY, localAddress: from })
      let received = Buffer.alloc(0)
      let closed = false
      raw.on('error', () => undefined).on('close', () => (closed = true))
      if (header.length > 0) raw.write(header)
      const socket = tls ? connectTls({ socket: raw, rejectUnauthorized: false }).on('error', () => undefined) : raw
      socket.on('data', (data: Buffer) => (received = Buffer.concat([received, data])))
      if (bytes.length > 0) socket.write(bytes)
      t.teardown(() => raw.destroy())
      const text = (): string => received.toString('latin1')
      const replies = (): Reply[] => parseReplies(received).replies
      return { replies, text, closed: () => closed, socket: raw, send: (more) => void socket.write(more) }
    }
    const addressOf = async (header: Buffer, ...headers: string[]): Promise<string> => {
      const before = asked.length
      const { closed, socket } = open(header, challenge(...headers))
      await until(() => asked.length > before || closed())
      socket.destroy()
      return asked[before]?.ip ?? 'refused'
    }

    await t.test('addresses', async (t) => {
      t.equal(await addressOf(CLIENT), '198.51.100.1')
      t.equal(await addressOf(proxyHeader('198.51.100.2', Buffer.alloc(300))), '198.51.100.2')
      t.equal(await addressOf(proxyHeader6('2001:db9:0:0:0:0:0:7')), '2001:db9:0:0:0:0:0:7')
      t.equal(await addressOf(LOCAL_HEADER), PROXY)
      t.equal(await addressOf(CLIENT, 'X-Forwarded-For: 203.0.113.9'), '198.51.100.1', 'the client is not trusted')
      t.equal(await addressOf(proxyHeader6('2001:db8:0:0:0:0:0:1'), 'X-Forwarded-For: 203.0.113.9'), '203.0.113.9', 'another proxy is')
    })

    await t.test('who may connect, and with what', async (t) => {
      const refused = [
        open(CLIENT, HEALTH, STRANGER), open(Buffer.alloc(0), HEALTH), open(rawProxyHeader(0x21, 0x12, CLIENT.subarray(16)), HEALTH),
        open(CLIENT.subarray(0, 14)),
      ]
      t.ok(await until(() => refused.every(({ closed }) => closed())), 'a stranger, no header, a bad one, one that does not end')
      for (const { text } of refused) t.equal(text(), '')
      const second = open(Buffer.concat([CLIENT, proxyHeader('203.0.113.9')]), challenge())
      const before = asked.length
      t.ok(await until(() => second.closed()), 'a second header is the client’s')
      const works = open(CLIENT, HEALTH)
      t.ok(await until(() => works.replies().length === 1))
      works.send(Buffer.concat([proxyHeader('203.0.113.9'), Buffer.from(challenge())]))
      t.ok(await until(() => works.closed()), 'nor later')
      t.same(works.replies().map(({ status }) => status), [200, 400])
      t.equal(asked.length, before)
    })

    await t.test('one connection, many requests; both sides end it', async (t) => {
      const { replies, send, socket } = open(CLIENT, HEALTH)
      for (let i = 1; i <= 5; i++) {
        t.ok(await until(() => replies().length === i))
        send(HEALTH)
      }
      socket.end()
      t.ok(await until(() => count('proxy', 'open') === 0 && count('http', 'open') === 0))
      const last = open(CLIENT, head('POST /api/v1/orders', 'Transfer-Encoding: chunked'))
      t.ok(await until(() => last.closed()), 'closed by the service, behind its answer')
      t.same(last.replies().map(({ status }) => status), [411])
    })

    await t.test('who opens one connection after the other is one client', async (t) => {
      const before = count('http', 'refused_share')
      const beside = [open(proxyHeader('198.51.100.7'), HEALTH), open(proxyHeader('198.51.100.8'), HEALTH)]
      t.ok(await until(() => beside.every(({ replies }) => replies().length === 1)), 'others are there')
      for (let i = 0; i < 80 && count('http', 'refused_share') === before; i++) {
        const { replies, closed, socket } = open(proxyHeader('198.51.100.5'), HEALTH)
        await until(() => replies().length === 1 || closed())
        socket.destroy()
      }
      t.ok(count('http', 'refused_share') > before)
      const other = open(proxyHeader('198.51.100.6'), HEALTH)
      t.ok(await until(() => other.replies().length === 1), 'and not the others')
    })

    await t.test('places are those of the client', async (t) => {
      for (let i = 1; i <= 4; i++) {
        open(CLIENT, UPGRADE)
        t.ok(await until(() => count('websocket', 'open') === i))
      }
      const fifth = open(CLIENT, UPGRADE)
      t.ok(await until(() => fifth.replies()[0]?.status === 503), 'of WebSockets half')
      open(proxyHeader('198.51.100.2'), UPGRADE)
      t.ok(await until(() => count('websocket', 'open') === 5))
      const many = Array.from({ length: 40 }, () => open(proxyHeader('198.51.100.3')))
      t.ok(await until(() => count('proxy', 'refused_share') > 0 && many.some(({ closed }) => closed())), 'of connections too')
      const other = open(proxyHeader('198.51.100.4'), HEALTH)
      t.ok(await until(() => other.replies().length === 1), 'and another one gets in')
    })
  })
}
