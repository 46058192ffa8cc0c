/**
 * Promise: on the gRPC port a trusted proxy may name the client of a connection in a header of the PROXY protocol, with TLS behind it and
 * without. Nobody else may, nor the client behind the proxy; and a header that does not end, or is bad, ends the connection.
 *
 * 127.0.0.1 is the proxy here and 127.0.0.2 a stranger; the sign-in thread is told the address of who asks for a challenge.
 */
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import { portBlock, PORT_COUNTER, type PortCounter } from '../../core/ring/ports.ts'
import { certificateFiles } from '../support/certificates.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { startHarness, type Harness } from '../support/gateway_harness.ts'
import { encodeMessage, pathOf } from '../support/grpc.ts'
import { LOCAL_HEADER, proxyHeader, proxyHeader6, rawProxyHeader } from '../support/proxy_header.ts'
import { until } from '../support/until.ts'

const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))
const files = certificateFiles(join(directory, 'certificates'))
const [PROXY, STRANGER] = ['127.0.0.1', '127.0.0.2']
const ANY = { rejectUnauthorized: false, ALPNProtocols: ['h2'] }
const BODY = { address: `0x${'1'.repeat(40)}`, sessionPublicKey: '2'.repeat(64), clientId: 'ringbook' }

/** The address the sign-in thread is told when somebody calls behind these bytes; 'refused' when the connection ends before. */
async function addressOf(
  { grpcPort, asked }: Harness, tls: boolean, pieces: readonly Buffer[], from = PROXY, metadata: Record<string, string> = {},
): Promise<string> {
  const before = asked.length
  const socket = connect({ port: grpcPort, host: PROXY, localAddress: from })
  let closed = false
  socket.on('error', () => undefined).on('close', () => (closed = true))
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const session = connectHttp2(`http${tls ? 's' : ''}://${PROXY}:${grpcPort}`, {
    createConnection: () => (tls ? connectTls({ ...ANY, socket }).on('error', () => undefined) : socket),
  })
  session.on('error', () => undefined)
  const call = session.request({
    ':method': 'POST', ':path': pathOf('Challenge'), 'content-type': 'application/grpc', te: 'trailers', ...metadata,
  })
  call.on('error', () => undefined)
  const message = encodeMessage('ChallengeRequest', BODY)
  const frame = Buffer.alloc(5)
  frame.writeUInt32BE(message.length, 1)
  call.end(Buffer.concat([frame, message]))
  await until(() => asked.length > before || closed)
  session.destroy()
  socket.destroy()
  return asked[before]?.ip ?? 'refused'
}

for (const tls of [false, true]) {
  t.test(tls ? 'with TLS' : 'without TLS', async (t) => {
    const pair = tls ? ['--grpc-cert', files.cert, '--grpc-key', files.key] : []
    const flags = ['--grpc-thread', '1', '--grpc-connections', '16', '--first-request-seconds', '2']
    const trusted = ['--trusted-proxies', `${PROXY},2001:db8::/32`]
    const harness = await startHarness([...flags, ...trusted, ...pair])
    t.teardown(() => harness.close())
    const of = (pieces: readonly Buffer[], from?: string, metadata?: Record<string, string>): Promise<string> =>
      addressOf(harness, tls, pieces, from, metadata)
    const count = (counter: PortCounter): number => portBlock(harness.shared.ports, 2, 'grpc')[PORT_COUNTER[counter]]!
    const client = proxyHeader('198.51.100.1')
    t.equal(await of([client]), '198.51.100.1')
    t.equal(await of([...client].map((byte) => Buffer.from([byte]))), '198.51.100.1', 'byte by byte')
    t.equal(await of([proxyHeader('198.51.100.1', Buffer.alloc(300))]), '198.51.100.1', 'with more fields')
    t.equal(await of([proxyHeader6('2001:db9:0:0:0:0:0:7')]), '2001:db9:0:0:0:0:0:7')
    t.equal(await of([LOCAL_HEADER]), PROXY, 'the proxy itself')
    t.equal(await of([client], PROXY, { 'x-forwarded-for': '203.0.113.9' }), '198.51.100.1', 'the client is not trusted')
    const forwarded = { 'x-forwarded-for': '203.0.113.9' }
    t.equal(await of([proxyHeader6('2001:db8:0:0:0:0:0:1')], PROXY, forwarded), '203.0.113.9', 'a proxy behind a proxy is')
    t.equal(await of([], PROXY, forwarded), '203.0.113.9', 'without a header')
    t.equal(await of([client, proxyHeader('203.0.113.9')]), 'refused', 'the client behind the proxy cannot write another')
    t.equal(await of([client], STRANGER), 'refused', 'nor a stranger one')
    t.equal(await of([rawProxyHeader(0x21, 0x12, client.subarray(16))]), 'refused', 'a bad one')
    t.ok(await until(() => count('open') === 0))

    const sockets: Socket[] = []
    t.teardown(() => sockets.forEach((socket) => socket.destroy()))
    const open = (bytes: Buffer): void => {
      const socket = connect(harness.grpcPort, PROXY, () => socket.write(bytes))
      socket.on('error', () => undefined)
      sockets.push(socket)
    }
    const cut = count('cut_first')
    open(client.subarray(0, 14))
    t.ok(await until(() => count('cut_first') === cut + 1), 'one that does not end')
    for (let i = 0; i < 12; i++) open(client)
    // More than 4 when several have a place already before the header of the first is read.
    t.ok(await until(() => count('refused_share') >= 4), 'a client has half of the places, behind a proxy too')
    t.equal(await of([proxyHeader('198.51.100.2')]), '198.51.100.2', 'and another one gets in')
  })
}
