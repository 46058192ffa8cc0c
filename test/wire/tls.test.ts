/**
 * Promise: with a certificate the port of REST and WebSocket speaks TLS 1.2 and 1.3 and nothing else, with ciphers of today; another
 * certificate is taken at once for new connections while open ones go on, here and over gRPC; one that is not good changes nothing.
 * Bounds of connections count for TLS as they do without. What silent handshakes get is in tls_silent.deep.ts.
 */
import { X509Certificate } from 'node:crypto'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { join } from 'node:path'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import t from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { portBlock, PORT_COUNTER } from '../../core/ring/ports.ts'
import { certificateFiles, makeCertificate } from '../support/certificates.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { parseReplies, startHarness, type Reply } from '../support/gateway_harness.ts'
import { pathOf, statusOf } from '../support/grpc.ts'
import { SocketClient } from '../support/sockets.ts'
import { until } from '../support/until.ts'

t.setTimeout(120_000)
const directory = temporaryDirectory()
const first = makeCertificate(30)
const files = certificateFiles(join(directory, 'certificates'), first)
const pair = (name: string): string[] => [`--${name}-cert`, files.cert, `--${name}-key`, files.key]
const harness = await startHarness(['--grpc-thread', '1', ...pair('tls'), ...pair('grpc')])
t.teardown(async () => {
  await harness.close()
  removeDirectory(directory)
})
const { port, grpcPort } = harness
const HOST = '127.0.0.1'
const [GATEWAY_THREAD, GRPC_THREAD] = [1, 2]
const fingerprint = ({ cert }: { cert: string }): string => new X509Certificate(cert).fingerprint256

const expiry = (thread: number): number => gatewayCounters(harness.shared.counters, thread)[GATEWAY.certificate_expires_ms]!

/** A connection after its handshake, which trusts `ca`; or the code of its error. */
function secure(options: ConnectionOptions = {}, ca = first.cert, to = port): Promise<TLSSocket | string> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port: to, servername: 'localhost', ca, ...options }, () => resolve(socket))
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    t.teardown(() => socket.destroy())
  })
}

const GET = 'GET /health HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\n\r\n'

/** Answers to a request on an open connection. */
async function ask(socket: TLSSocket | string, text = GET): Promise<Reply[]> {
  if (typeof socket === 'string') throw new Error(socket)
  let received = Buffer.alloc(0)
  const take = (data: Buffer): void => void (received = Buffer.concat([received, data]))
  socket.on('data', take)
  socket.write(text)
  await until(() => parseReplies(received).replies.length > 0 || socket.destroyed)
  socket.off('data', take)
  return parseReplies(received).replies
}

/** What a new connection shows. */
async function shown(to = port): Promise<string> {
  const socket = await secure({ rejectUnauthorized: false, ...(to === grpcPort ? { ALPNProtocols: ['h2'] } : {}) }, first.cert, to)
  if (typeof socket === 'string') return socket
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

async function openSocket(ca = first.cert): Promise<SocketClient> {
  const client = await SocketClient.open(port, { 'User-Agent': 'test' }, ca)
  t.teardown(() => client.socket.terminate())
  return client
}
const pongs = ({ frames }: SocketClient): number => frames.filter(({ type }) => type === 'pong').length

t.test('TLS 1.2 and 1.3 with ciphers of today, and nothing else', async (t) => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await secure({ minVersion: version, maxVersion: version })
    t.same((await ask(socket)).map(({ status }) => status), [200], version)
    t.equal((socket as TLSSocket).getProtocol(), version)
    t.equal((await ask(await secure({ minVersion: version, maxVersion: version, servername: '' }, first.cert))).length, 1, 'without a name')
  }
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  for (const [options, what] of [
    [old, 'TLS 1.1'], [{ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' }, 'CBC'],
    [{ maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' }, 'no forward secrecy'],
  ] as const) {
    t.match(await secure(options), /^(ERR_SSL|ECONNRESET)/, what)
    t.match(await secure({ ...options, ALPNProtocols: ['h2'] }, first.cert, grpcPort), /^(ERR_SSL|ECONNRESET)/, `${what}, gRPC`)
  }
  let text = ''
  const plain = connectTcp(port, HOST, () => plain.write(GET))
  plain.on('data', (data) => (text += data.toString('latin1'))).on('error', () => undefined)
  t.ok(await until(() => plain.destroyed || plain.readableEnded), 'plain HTTP is closed')
  t.notMatch(text, /HTTP\/1.1/)
})

t.test('WebSockets over TLS', async (t) => {
  const client = await openSocket()
  client.socket.send(JSON.stringify({ type: 'ping' }))
  t.ok(await until(() => pongs(client) === 1))
  client.socket.terminate()
})

t.test('another certificate for new connections, and open ones go on', async (t) => {
  const kept = await secure()
  t.equal((await ask(kept)).length, 1)
  const client = await openSocket()
  let closed = false
  void client.closed.then(() => (closed = true))
  const grpc = connectHttp2(`https://${HOST}:${grpcPort}`, { ca: first.cert })
  grpc.on('error', () => undefined)
  t.teardown(() => grpc.destroy())
  const call = (): Promise<string> => {
    const stream = grpc.request({ ':method': 'POST', ':path': pathOf('Check'), 'content-type': 'application/grpc', te: 'trailers' })
    const status = statusOf(stream)
    stream.end(Buffer.alloc(5))
    return status
  }
  t.equal(await call(), '0')
  const second = makeCertificate(60)
  for (let round = 0; round < 3; round++) {
    const next = round === 0 ? second : makeCertificate(60 + round)
    files.write(next)
    harness.tell({ type: 'certificates' })
    const expires = Date.parse(new X509Certificate(next.cert).validTo)
    t.ok(await until(() => [GATEWAY_THREAD, GRPC_THREAD].every((thread) => expiry(thread) === expires)))
    for (const to of [port, grpcPort]) t.equal(await shown(to), fingerprint(next), to === port ? 'REST' : 'gRPC')
    t.same((await ask(await secure({}, next.cert))).map(({ status }) => status), [200])
    ;(await openSocket(next.cert)).socket.terminate()
    t.same((await ask(kept)).map(({ status }) => status), [200], 'an open connection goes on')
    client.socket.send(JSON.stringify({ type: 'ping' }))
    t.ok(await until(() => pongs(client) === round + 1), 'and a WebSocket')
    t.equal(await call(), '0', 'and one for gRPC')
  }
  t.notOk(closed)
  client.socket.terminate()
})

/** Fewer than one client may open in a quarter of a minute. */
const CONNECTIONS_MAX = 2_000

t.test('while connections come, none is lost at a change', async (t) => {
  const outcomes: string[] = []
  let going = true
  const knock = async (): Promise<void> => {
    while (going && outcomes.length < CONNECTIONS_MAX) outcomes.push(await shown())
  }
  const knocking = [knock(), knock()]
  const next = [70, 71, 72].map((days) => makeCertificate(days))
  for (const certificate of next) {
    files.write(certificate)
    harness.tell({ type: 'certificates' })
    const seen = outcomes.length
    t.ok(await until(() => outcomes.slice(seen).includes(fingerprint(certificate))))
  }
  going = false
  await Promise.all(knocking)
  t.same(outcomes.filter((each) => !/^[0-9A-F:]{95}$/.test(each)), [], `${outcomes.length} connections`)
})

t.test('what is not good is said, and the old one stays', async (t) => {
  const before = [await shown(), await shown(grpcPort)]
  const good = makeCertificate(80)
  const other = makeCertificate(80)
  for (const [change, reason] of [
    [{ cert: good.cert }, /does not belong/], [{ cert: 'nothing', key: good.key }, /no certificate in PEM/],
    [{ cert: good.cert, key: 'nothing' }, /no private key/], [{ cert: good.cert, key: other.key }, /does not belong/],
    [makeCertificate(-1), /expired on/],
    [{ ...good, cert: good.cert.replace(/[A-Za-z]{8}\n/, 'AAAAAAAA\n') }, /cannot be read|does not belong/],
  ] as const) {
    files.write(change)
    const said = harness.logs.length
    harness.tell({ type: 'certificates' })
    const news = (): string[] => harness.logs.slice(said).map((log) => ('fields' in log ? String(log.fields?.['reason']) : ''))
    t.ok(await until(() => news().length === 2), 'both threads say so')
    for (const text of news()) t.match(text, reason)
    t.same([await shown(), await shown(grpcPort)], before)
  }
})

t.test('one client has half of the places, however far its handshakes are', async (t) => {
  files.write(makeCertificate())
  const small = await startHarness(['--http-connections', '24', ...pair('tls')])
  t.teardown(() => small.close())
  const [block, { open, refused_share: refused }] = [portBlock(small.shared.ports, GATEWAY_THREAD, 'http'), PORT_COUNTER]
  for (let i = 0; i < 24; i++) {
    const socket = connectTcp({ port: small.port, host: HOST, localAddress: '127.0.0.9' })
    socket.on('error', () => undefined)
    t.teardown(() => socket.destroy())
  }
  t.ok(await until(() => block[open]! + block[refused]! === 24))
  t.equal(block[open], 12)
  const other = await secure({ rejectUnauthorized: false, localAddress: '127.0.0.10' } as ConnectionOptions, first.cert, small.port)
  t.same((await ask(other)).map(({ status }) => status), [200], 'others get in')
})
