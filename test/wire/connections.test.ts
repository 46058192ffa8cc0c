/**
 * Promise: connections that say nothing, or not enough, are ended on the ports for HTTP, WebSockets and gRPC, those that work are not; one
 * client has a share of the places of each, and whoever comes from elsewhere gets in; a client's new gRPC connection takes the place of
 * its silent one.
 */
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { portBlock, PORT_COUNTER, type PortCounter, type PortName } from '../../core/ring/ports.ts'
import { startHarness, type Harness } from '../support/gateway_harness.ts'
import { pathOf } from '../support/grpc.ts'
import { until } from '../support/until.ts'

const PLACES = ['--grpc-thread', '1', '--grpc-connections', '16', '--http-connections', '24', '--ws-connections', '16']
/** Where nobody may be silent for long, but for longer than a busy machine keeps somebody from asking. */
const strict = await startHarness([...PLACES, '--first-request-seconds', '3', '--grpc-idle-seconds', '5', '--ws-unused-seconds', '4'])
/** Where nobody is ended while places are counted. */
const patient = await startHarness(PLACES)
t.teardown(() => Promise.all([strict.close(), patient.close()]))
t.setTimeout(120_000)
const [GATEWAY_THREAD, GRPC_THREAD] = [1, 2]
/** The address of others. */
const ELSEWHERE = '127.0.0.2'

const count = ({ shared }: Harness, name: PortName, counter: PortCounter): number =>
  portBlock(shared.ports, name === 'grpc' ? GRPC_THREAD : GATEWAY_THREAD, name)[PORT_COUNTER[counter]]!
interface Raw {
  readonly socket: Socket
  readonly text: () => string
  readonly closed: () => boolean
}

/** A connection that never closes its side by itself. */
function open(to: number, bytes: string | Buffer = '', from = '127.0.0.1'): Raw {
  const socket = connect({ port: to, host: '127.0.0.1', localAddress: from, allowHalfOpen: true })
  let text = ''
  let closed = false
  socket.on('error', () => (closed = true))
  socket.on('close', () => (closed = true))
  // The other side is done with it; whether it really let go is counted there.
  socket.on('end', () => (closed = true))
  socket.on('data', (data: Buffer) => (text += data.toString('latin1')))
  if (bytes.length > 0) socket.write(bytes)
  t.teardown(() => socket.destroy())
  return { socket, text: () => text, closed: () => closed }
}

const HEALTH = 'GET /api/v1/health HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\n\r\n'
const UPGRADE = 'GET /ws HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
/** Preface and empty settings. */
const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])])

/** One masked text frame. */
function textFrame(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([0x81, 0x80 | bytes.length, 0, 0, 0, 0]), bytes])
}

/** A gRPC connection that works, and one call on it: its status. */
function grpc({ grpcPort }: Harness, from?: string): { session: ClientHttp2Session; call: () => Promise<string>; closed: () => boolean } {
  const session = connectHttp2(`http://127.0.0.1:${grpcPort}`, {
    createConnection: () => connect({ port: grpcPort, host: '127.0.0.1', ...(from === undefined ? {} : { localAddress: from }) }),
  })
  let closed = false
  session.on('error', () => undefined)
  session.on('close', () => (closed = true))
  t.teardown(() => session.destroy())
  const call = (): Promise<string> => new Promise((resolve) => {
    if (session.closed || session.destroyed) return resolve('closed')
    const stream = session.request({ ':method': 'POST', ':path': pathOf('Check'), 'content-type': 'application/grpc', te: 'trailers' })
    stream.on('trailers', (trailers) => resolve(String(trailers['grpc-status'])))
    stream.on('error', () => undefined)
    stream.on('close', () => resolve('reset'))
    stream.resume()
    stream.end(Buffer.alloc(5))
  })
  return { session, call, closed: () => closed }
}

t.test('gRPC: silent from the first byte, or after the preface: closed, whatever the client does', async (t) => {
  const { grpcPort } = strict
  const silent = [open(grpcPort), open(grpcPort, PREFACE), open(grpcPort, PREFACE.subarray(0, 10))]
  t.ok(await until(() => silent.every(({ closed }) => closed())))
  t.equal(count(strict, 'grpc', 'cut_first'), 3)
  t.ok(await until(() => count(strict, 'grpc', 'open') === 0))
})

t.test('gRPC: a connection without calls is closed also when the client does not close its side; one with calls is not', async (t) => {
  const [idle, busy] = [grpc(strict), grpc(strict)]
  t.same(await Promise.all([idle.call(), busy.call()]), ['0', '0'])
  // What is below the session, which would answer in kind.
  const held = open(strict.grpcPort, Buffer.concat([PREFACE, headersOf(1, pathOf('Check'))]))
  let calls = 0
  const answers = new Set<string>()
  while (!(idle.closed() && held.closed()) && calls < 3_000 && !busy.closed()) {
    answers.add(await busy.call())
    calls++
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.ok(idle.closed() && held.closed())
  t.ok(await until(() => count(strict, 'grpc', 'open') === 1), 'and its socket is gone')
  t.same([...answers], ['0'])
  t.notOk(busy.closed(), `one that made ${calls} calls meanwhile is not`)
  t.ok(count(strict, 'grpc', 'cut_idle') >= 1)
  busy.session.destroy()
})

t.test('gRPC: one client has half of the places, the silent give way to its own, and others come in', async (t) => {
  const silent = Array.from({ length: 8 }, () => open(patient.grpcPort, PREFACE))
  t.ok(await until(() => count(patient, 'grpc', 'open') === 8))
  const own = grpc(patient)
  t.equal(await own.call(), '0', 'the client itself')
  t.ok(await until(() => silent.filter(({ closed }) => closed()).length >= 1), 'in the place of one that was silent')
  t.equal(count(patient, 'grpc', 'cut_crowded'), 1)
  const other = grpc(patient, ELSEWHERE)
  t.equal(await other.call(), '0', 'another client')
  for (const { socket } of silent) socket.destroy()
  const busy: ReturnType<typeof grpc>[] = []
  t.ok(await until(() => count(patient, 'grpc', 'open') === 2))
  for (let i = 0; i < 12; i++) {
    busy.push(grpc(patient))
    t.equal(await busy[i]!.call(), i < 6 ? '0' : 'reset')
  }
  for (const { closed } of busy.slice(0, 6)) t.notOk(closed(), 'those that have asked do not give way')
  t.ok(count(patient, 'grpc', 'refused_share') > 0)
  t.equal(await grpc(patient, ELSEWHERE).call(), '0')
  for (const { session } of [own, other, ...busy]) session.destroy()
})

t.test('HTTP: silent connections, and heads that come byte by byte, are closed; one that asks is not', async (t) => {
  const { port } = strict
  const silent = [open(port), open(port, 'GET /api/v1/health HTTP/1.1\r\nHost')]
  const busy = open(port, '', ELSEWHERE)
  await once(busy.socket, 'connect')
  let asked = 0
  while (!silent.every(({ closed }) => closed()) && asked < 3_000 && !busy.closed()) {
    if (!silent[1]!.closed()) silent[1]!.socket.write('x')
    busy.socket.write(HEALTH)
    asked++
    const answered = (): boolean => busy.text().split('HTTP/1.1 200').length === asked + 1 || busy.closed()
    if (!(await until(answered))) t.fail('an honest request was not answered')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.ok(silent.every(({ closed }) => closed()))
  t.notOk(busy.closed())
  busy.socket.destroy()
})

t.test('HTTP: one client opens half of the places, and others come in', async (t) => {
  const { port } = patient
  const many = Array.from({ length: 40 }, () => open(port))
  t.ok(await until(() => many.filter(({ closed }) => !closed()).length <= 12))
  t.ok(count(patient, 'http', 'refused_share') >= 28)
  t.ok(count(patient, 'http', 'open') <= 12)
  const other = open(port, HEALTH, ELSEWHERE)
  t.ok(await until(() => other.text().includes('200 OK')))
  for (const { socket } of [...many, other]) socket.destroy()
})

t.test('WebSocket: one that neither authenticates nor subscribes is closed, however often it pings; one that listens is not', async (t) => {
  const { port } = strict
  const from = '127.0.0.3'
  const [silent, pinging, listening] = [open(port, UPGRADE, from), open(port, UPGRADE, from), open(port, UPGRADE, from)]
  t.ok(await until(() => listening.text().includes('connected')))
  listening.socket.write(textFrame('{"type":"subscribe","channel":"instruments"}'))
  t.ok(await until(() => [silent, pinging].every(({ text }) => text().includes('connected'))))
  t.equal(count(strict, 'websocket', 'open'), 3)
  for (let i = 0; i < 3_000 && !(silent.closed() && pinging.closed()); i++) {
    if (i % 20 === 0 && !pinging.closed()) pinging.socket.write(textFrame('{"type":"ping"}'))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.ok(silent.closed() && pinging.closed())
  for (const { text } of [silent, pinging]) t.match(text(), /AUTH_REQUIRED/)
  t.notOk(listening.closed())
  t.ok(await until(() => count(strict, 'websocket', 'open') === 1))
  t.equal(count(strict, 'websocket', 'cut_first'), 2)
  listening.socket.destroy()
})

t.test('WebSocket: one client has half of the places, and others come in', async (t) => {
  const { port } = patient
  const from = '127.0.0.4'
  const many: Raw[] = []
  for (let i = 0; i < 10; i++) {
    many.push(open(port, UPGRADE, from))
    t.ok(await until(() => /connected|OVERLOADED/.test(many[i]!.text()) || many[i]!.closed()))
  }
  t.equal(many.filter(({ text }) => text().includes('connected')).length, 8)
  t.ok(count(patient, 'websocket', 'refused_share') >= 2)
  const other = open(port, UPGRADE, '127.0.0.5')
  t.ok(await until(() => other.text().includes('connected')))
  for (const { socket } of [...many, other]) socket.destroy()
  const none = (): boolean => count(patient, 'websocket', 'open') === 0 && count(patient, 'http', 'open') === 0
  t.ok(await until(none), 'and all places are given back')
})

/** A HEADERS frame that begins and ends a call. */
function headersOf(stream: number, path: string): Buffer {
  const fields = {
    ':method': 'POST', ':scheme': 'http', ':path': path, ':authority': 'x', 'content-type': 'application/grpc', te: 'trailers',
  }
  const block = Buffer.concat(Object.entries(fields).map(([name, value]) =>
    Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)])))
  const head = Buffer.from([0, 0, 0, 1, 5, 0, 0, 0, stream])
  head.writeUIntBE(block.length, 0, 3)
  return Buffer.concat([head, block])
}
