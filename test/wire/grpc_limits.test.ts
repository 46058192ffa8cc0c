/**
 * What one client may take of the gRPC port: sizes, metadata, streams, connections, idleness, pings; deadlines and cancelled calls; and
 * an orderly stop.
 */
import { once } from 'node:events'
import { connect, constants, createServer, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { PORT_COUNTERS } from '../../core/ring/ports.ts'
import { Calls, METADATA_MAX } from '../../gateway/grpc/calls.ts'
import { Connections } from '../../gateway/grpc/connections.ts'
import { PING_EVERY_MS } from '../../gateway/grpc/pings.ts'
import { Backlog } from '../../gateway/limits/backlog.ts'
import { ConnectionPort } from '../../gateway/limits/port.ts'
import { Shares } from '../../gateway/limits/shares.ts'
import { startHarness, type Harness } from '../support/gateway_harness.ts'
import { connectGrpc, credentialsFor, encodeMessage, pathOf, statusOf, type GrpcClient } from '../support/grpc.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
/** Number of the gRPC thread behind one gateway. */
const GRPC = 2

async function serve(t: Test, ...flags: string[]): Promise<{ harness: Harness; client: GrpcClient; counters: Float64Array }> {
  const harness = await startHarness(['--grpc-thread', '1', ...flags])
  const client = connectGrpc(harness.grpcPort)
  t.teardown(async () => {
    client.close()
    await harness.close()
  })
  return { harness, client, counters: gatewayCounters(harness.shared.counters, GRPC) }
}

const CHECK = pathOf('Check')

/** A bare HTTP/2 connection; errors of it are only noted. */
function open(t: Test, port: number): { session: ClientHttp2Session; goaway: number[]; closed: Promise<unknown> } {
  const session = connect(`http://127.0.0.1:${port}`)
  const goaway: number[] = []
  session.on('error', () => undefined)
  session.on('goaway', (code) => goaway.push(code))
  const closed = new Promise((resolve) => session.once('close', resolve))
  t.teardown(() => session.destroy())
  return { session, goaway, closed }
}

/** Sends frames on a call to `path`; resolves with grpc-status, or 'reset CODE'. */
function callRaw(session: ClientHttp2Session, path: string, body: Buffer, headers: Record<string, string> = {}): Promise<string> {
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...headers })
  const status = statusOf(stream)
  stream.end(body)
  return status
}

const frame = (flag: number, bytes: Buffer, length = bytes.length): Buffer => {
  const head = Buffer.alloc(5)
  head[0] = flag
  head.writeUInt32BE(length, 1)
  return Buffer.concat([head, bytes])
}

t.test('messages, metadata and streams are bounded', async (t) => {
  const { harness, client } = await serve(t)
  const path = pathOf('Challenge')
  t.equal((await client.send(path, Buffer.alloc(2 * MIB), {})).code, status.INVALID_ARGUMENT, '2 MiB are read and found to be no message')
  t.equal((await client.send(path, Buffer.alloc(2 * MIB + 1), {})).code, status.RESOURCE_EXHAUSTED, 'one byte more is not')
  const { session } = open(t, harness.grpcPort)
  const bomb = frame(1, gzipSync(Buffer.alloc(64 * MIB)))
  t.ok(bomb.length < 100_000)
  const nothing = Buffer.alloc(0)
  const gzip = { 'grpc-encoding': 'gzip' }
  const bodies: [what: string, body: Buffer, code: status, headers?: Record<string, string>][] = [
    ['a message that unpacks to 64 MiB', bomb, status.RESOURCE_EXHAUSTED, gzip],
    ['a length prefix of 4 GiB', frame(0, nothing, 0xffffffff), status.RESOURCE_EXHAUSTED],
    ['a message that is shorter than its prefix', frame(0, Buffer.alloc(3), 9), status.UNIMPLEMENTED],
    ['an encoding nobody knows', frame(1, Buffer.from('x')), status.UNIMPLEMENTED, { 'grpc-encoding': 'zstd' }],
    ['no gzip', frame(1, Buffer.from('x')), status.INTERNAL, gzip],
    ['two messages', Buffer.concat([frame(0, nothing), frame(0, nothing)]), status.UNIMPLEMENTED],
    ['no message', nothing, status.UNIMPLEMENTED],
  ]
  for (const [what, body, code, headers] of bodies) t.equal(await callRaw(session, CHECK, body, headers), String(code), what)

  const large = { 'x-large': 'x'.repeat(METADATA_MAX / 2) }
  t.equal((await client.send(CHECK, Buffer.alloc(0), large, 'CheckResponse')).code, status.OK, 'half of the metadata allowed')
  t.not((await client.send(CHECK, Buffer.alloc(0), { 'x-large': 'x'.repeat(METADATA_MAX) })).code, status.OK, 'more than is allowed')
  t.equal((await client.call('Check')).code, status.OK, 'and the next call is served')
  t.equal(session.remoteSettings.maxConcurrentStreams, 100)
  t.equal(session.remoteSettings.maxHeaderListSize, METADATA_MAX)
  t.equal(await callRaw(session, CHECK, frame(0, Buffer.alloc(0))), '0', 'the connection of all of this is still good')
})

t.test('calls beyond the streams of a connection wait for their turn', async (t) => {
  const { harness } = await serve(t)
  const trader = await harness.openSession()
  harness.hold(true)
  const { session } = open(t, harness.grpcPort)
  await once(session, 'remoteSettings')
  const path = pathOf('Refresh')
  const bytes = encodeMessage('RefreshRequest', {})
  let answered = 0
  const calls = Array.from({ length: 150 }, async () => {
    const code = await callRaw(session, path, frame(0, bytes), credentialsFor(trader, path, bytes))
    answered++
    return code
  })
  const counters = gatewayCounters(harness.shared.counters, GRPC)
  t.ok(await until(() => counters[GATEWAY.pending] === 100), 'one hundred are under way')
  t.equal(counters[GATEWAY.requests], 100)
  t.equal(answered, 0)
  harness.hold(false)
  t.same(new Set(await Promise.all(calls)), new Set(['0']), 'in the end all are served')
})

t.test('connections are bounded and counted', async (t) => {
  const { harness, counters } = await serve(t, '--grpc-connections', '6')
  const held = [open(t, harness.grpcPort), open(t, harness.grpcPort), open(t, harness.grpcPort)]
  for (const { session } of held) t.equal(await callRaw(session, CHECK, frame(0, Buffer.alloc(0))), '0')
  t.equal(counters[GATEWAY.connections], 3)
  await open(t, harness.grpcPort).closed
  t.equal(counters[GATEWAY.connections], 3, 'the fourth was closed at once: one client has half of the places')
  held[0]!.session.destroy()
  t.ok(await until(() => counters[GATEWAY.connections] === 2))
  t.equal(await callRaw(open(t, harness.grpcPort).session, CHECK, frame(0, Buffer.alloc(0))), '0', 'its place was free again')
})

t.test('a connection without calls is closed', async (t) => {
  const { harness } = await serve(t, '--grpc-idle-seconds', '1')
  const { session, goaway, closed } = open(t, harness.grpcPort)
  t.equal(await callRaw(session, CHECK, frame(0, Buffer.alloc(0))), '0')
  await closed
  t.same(new Set(goaway), new Set([constants.NGHTTP2_NO_ERROR]))
})

t.test('pings without anything else are for keeping alive, not for more', async (t) => {
  const { harness, client } = await serve(t)
  const ping = (session: ClientHttp2Session): Promise<unknown> => new Promise((resolve) => session.ping(resolve))
  t.ok(PING_EVERY_MS >= 10_000)
  const quiet = open(t, harness.grpcPort)
  await once(quiet.session, 'connect')
  for (let i = 0; i < 10 && !quiet.session.destroyed; i++) await ping(quiet.session).catch(() => undefined)
  await quiet.closed
  t.equal(quiet.goaway[0], constants.NGHTTP2_ENHANCE_YOUR_CALM)
  const busy = open(t, harness.grpcPort)
  for (let i = 0; i < 10; i++) {
    await ping(busy.session)
    t.equal(await callRaw(busy.session, CHECK, frame(0, Buffer.alloc(0))), '0', 'pings along with calls')
  }
  t.same(busy.goaway, [])
  t.equal((await client.call('Check')).code, status.OK)
})

t.test('a deadline ends the call, not the order', async (t) => {
  const { harness, client, counters } = await serve(t)
  const session = await harness.openSession()
  await client.call('Mint', {}, session)
  const order = {
    tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'ORDER_TYPE_LIMIT', side: 'SIDE_BUY', quantity: '0.5', price: '100',
    idempotencyKey: 'once',
  }
  harness.hold(true)
  const late = client.call('CreateOrder', order, session, { deadline: Date.now() + 5_000 })
  t.ok(await until(() => counters[GATEWAY.pending] === 1), 'asked of the engine')
  t.equal((await late).code, status.DEADLINE_EXCEEDED)
  t.ok(await until(() => counters[GATEWAY.aborted] === 1), 'counted as dropped')
  harness.hold(false)
  const again = await client.call('CreateOrder', order, session)
  t.equal(again.code, status.OK)
  const open = await client.call('ListOrders', { status: ['ORDER_STATUS_SUBMITTED'] }, session)
  t.same(open.response.orders.map((each: { orderId: string }) => each.orderId), [again.response.orderId], 'it had been placed, once')
})

t.test('a deadline of weeks is none', async (t) => {
  const { harness } = await serve(t)
  const { session } = open(t, harness.grpcPort)
  for (const timeout of ['1000H', '99999999H', '99999999M', '30S', '99999999u']) {
    t.equal(await callRaw(session, CHECK, frame(0, Buffer.alloc(0)), { 'grpc-timeout': timeout }), '0', timeout)
  }
  const { session: other } = open(t, harness.grpcPort)
  t.equal(await callRaw(other, CHECK, frame(0, Buffer.alloc(0)), { 'grpc-timeout': 'soon' }), String(status.INTERNAL), 'no time at all')
})

t.test('a cancelled call is dropped without an answer', async (t) => {
  const { harness, client, counters } = await serve(t)
  const session = await harness.openSession()
  harness.hold(true)
  const path = pathOf('Refresh')
  const bytes = encodeMessage('RefreshRequest', {})
  const { session: connection } = open(t, harness.grpcPort)
  const stream = connection.request({
    ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...credentialsFor(session, path, bytes),
  })
  stream.on('error', () => undefined)
  stream.end(frame(0, bytes))
  t.ok(await until(() => counters[GATEWAY.pending] === 1))
  stream.close(constants.NGHTTP2_CANCEL)
  t.ok(await until(() => counters[GATEWAY.aborted] === 1))
  harness.hold(false)
  t.ok(await until(() => counters[GATEWAY.pending] === 0), 'its answer came and went nowhere')
  t.equal(counters[GATEWAY.unhandled], 0)
  t.equal((await client.call('Refresh', {}, session)).code, status.OK)
})

t.test('a call that waits for its client is given up; one that waits for the service is not; streams may be silent', async (t) => {
  const server = createServer()
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    stream.resume()
    if (headers[':path'] === '/large') stream.end(Buffer.alloc(MIB))
    if (headers[':path'] === '/watch') stream.write(Buffer.alloc(MIB))
  })
  const port = new ConnectionPort(8, 60_000, new Set(), new Float64Array(PORT_COUNTERS.length))
  const answers = new Backlog(64 * MIB, new Set(), new Float64Array(3), { waiting: 0, capacity: 1, cut: 2 })
  const memory = { requests: new Shares(64 * MIB), most: 8 * MIB, answers }
  const connections = new Connections(server, port, { find: () => undefined, addressOf: () => '' }, 60_000, memory)
  const calls = new Calls(server, connections, {
    longLived: new Set(['/long', '/prompt', '/watch']), prompt: new Set(['/prompt']), requestMs: 50, stalledMs: 50, messageMax: MIB,
    onNoRoom: () => undefined,
  })
  t.teardown(() => [port, connections, calls].forEach((each) => each.close()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { session } = open(t, (server.address() as AddressInfo).port)
  const start = (path: string, endStream: boolean): ClientHttp2Stream => {
    const stream = session.request({ ':method': 'POST', ':path': path }, { endStream })
    stream.on('error', () => undefined)
    return stream
  }
  const [long, complete] = [start('/long', false), start('/complete', true)]
  const given = [start('/sending', false), start('/prompt', false), start('/large', true), start('/watch', false)]
  // What is not read fills the window of its stream, and the server has to keep the rest.
  given[2]!.pause()
  given[3]!.pause()
  await Promise.all(given.map((stream) => once(stream, 'close')))
  t.same(new Set(given.map(({ rstCode }) => rstCode)), new Set([constants.NGHTTP2_CANCEL]))
  t.notOk(long.closed)
  t.notOk(complete.closed)
  session.destroy()
})

t.test('a stop answers what is under way and refuses the rest', async (t) => {
  const harness = await startHarness(['--grpc-thread', '1'])
  const client = connectGrpc(harness.grpcPort)
  const session = await harness.openSession()
  const counters = gatewayCounters(harness.shared.counters, GRPC)
  harness.hold(true)
  const underWay = client.call('Refresh', {}, session)
  t.ok(await until(() => counters[GATEWAY.pending] === 1))
  const closing = harness.close()
  let refused = await client.call('Check')
  for (let i = 0; i < 100 && refused.code === status.OK; i++) refused = await client.call('Check')
  t.match(refused, { code: status.UNAVAILABLE, reason: 'ENGINE_UNAVAILABLE' })
  harness.hold(false)
  t.equal((await underWay).code, status.OK)
  await closing
  t.equal((await client.call('Check')).code, status.UNAVAILABLE, 'nobody listens any more')
  client.close()
})
