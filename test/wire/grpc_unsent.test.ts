/**
 * Promise: answers that gRPC clients do not take are held in a bounded amount of memory, of which one client has a share, whether a
 * window is shut or nothing is read; the connection with most of them is ended and told why, others go on, and who reads late has
 * everything.
 */
import { connect as connectHttp2, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { connect } from 'node:net'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { startHarness } from '../support/gateway_harness.ts'
import { connectGrpc, pathOf } from '../support/grpc.ts'
import { callHeaders, END_HEADERS, END_STREAM, frame, openRaw, TYPE } from '../support/http2_frames.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const ROOM = 4 * MIB
const harness = await startHarness(['--grpc-thread', '1', '--grpc-answer-mb', '4'])
t.teardown(() => harness.close())
t.setTimeout(120_000)
const counters = gatewayCounters(harness.shared.counters, 2)
const held = (): number => counters[GATEWAY.grpc_unsent_bytes]!
const cut = (): number => counters[GATEWAY.grpc_unsent_cut]!

/** A connection whose streams have a window of `initialWindowSize` bytes. */
function session(from: string, initialWindowSize: number): ClientHttp2Session {
  const opened = connectHttp2('http://127.0.0.1', {
    settings: { initialWindowSize },
    createConnection: () => connect({ port: harness.grpcPort, host: '127.0.0.1', localAddress: from }),
  })
  opened.on('error', () => undefined)
  t.teardown(() => opened.destroy())
  return opened
}

/** A question of reflection (file_containing_symbol is field 4), answered with the file of this service and all it imports. */
const SYMBOL = 'svc.v1.OrdersService'
const BODY = Buffer.concat([Buffer.from([(4 << 3) | 2, SYMBOL.length]), Buffer.from(SYMBOL)])
const QUESTION = Buffer.concat([Buffer.from([0, 0, 0, 0, BODY.length]), BODY])
const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'

function reflect(on: ClientHttp2Session): ClientHttp2Stream {
  const stream = on.request({ ':method': 'POST', ':path': REFLECTION, 'content-type': 'application/grpc', te: 'trailers' })
  stream.on('error', () => undefined)
  stream.write(QUESTION)
  return stream
}

/** Asks until so many bytes are held, or somebody was cut. */
async function ask(on: ClientHttp2Session, bytes: number): Promise<void> {
  const cuts = cut()
  for (let i = 0; i < 90 && held() < bytes && cut() === cuts; i++) {
    const before = held()
    reflect(on)
    await until(() => held() !== before || cut() > cuts)
  }
}

t.test('who leaves its window shut has half of the room, then its largest connection goes', async (t) => {
  const [small, large, growing] = [session('127.0.0.2', 0), session('127.0.0.2', 0), session('127.0.0.2', 0)]
  const codes: number[] = []
  large.on('goaway', (code) => codes.push(code))
  await ask(small, MIB / 4)
  await ask(large, 1.5 * MIB)
  t.equal(cut(), 0)
  t.ok(held() >= 1.5 * MIB && held() <= ROOM / 2, `${held()} bytes are held`)
  await ask(growing, ROOM)
  t.ok(await until(() => large.destroyed), 'the connection with most is ended')
  t.same(codes, [constants.NGHTTP2_ENHANCE_YOUR_CALM])
  t.notOk(small.destroyed)
  t.notOk(growing.destroyed)
  t.ok(held() > 0 && held() <= ROOM / 2)

  const honest = connectGrpc(harness.grpcPort)
  t.equal((await honest.call('Check')).code, status.OK, 'somebody else is served')
  honest.close()
  small.destroy()
  growing.destroy()
  t.ok(await until(() => held() === 0), 'all of it is given back')
})

t.test('from who reads nothing at all, though its windows are open, no more calls are read', async (t) => {
  const socket = await openRaw(harness.grpcPort, { from: '127.0.0.3' })
  t.teardown(() => socket.destroy())
  socket.pause()
  const most = Buffer.alloc(4)
  most.writeUInt32BE(2 ** 31 - 1)
  const more = Buffer.alloc(4)
  more.writeUInt32BE(2 ** 31 - 1 - 65_535)
  // INITIAL_WINDOW_SIZE is setting 4.
  const windows = frame(TYPE.SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 4]), most]))
  socket.write(Buffer.concat([windows, frame(TYPE.WINDOW_UPDATE, 0, 0, more)]))
  let highest = 0
  for (let id = 1; id < 2_000 || (highest === 0 && id < 20_000); id += 2) {
    const call = [frame(TYPE.HEADERS, END_HEADERS, id, callHeaders(REFLECTION)), frame(TYPE.DATA, END_STREAM, id, QUESTION)]
    socket.write(Buffer.concat(call))
    highest = Math.max(highest, held())
    if (id % 20 === 1) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  // A busy machine refuses most of them, and then the kernels take all there is.
  t.ok(highest <= ROOM / 2, `${highest} bytes are held`)
  socket.destroy()
  t.ok(await until(() => held() === 0))
})

t.test('who reads late has everything', async (t) => {
  const on = session('127.0.0.4', 0)
  const lengthOf = (on: ReturnType<typeof session>): Promise<number> => {
    const stream = reflect(on)
    stream.end()
    let length = 0
    stream.on('data', (data: Buffer) => (length += data.length))
    return new Promise<number>((resolve) => stream.on('close', () => resolve(length)))
  }
  const quick = session('127.0.0.5', MIB)
  const each = await lengthOf(quick)
  quick.destroy()
  t.ok(each > 1000)
  const answers = Array.from({ length: 10 }, () => lengthOf(on))
  t.ok(await until(() => held() === each * answers.length), 'all of them are held')
  on.settings({ initialWindowSize: MIB })
  t.same(await Promise.all(answers), answers.map(() => each), `${each} bytes each`)
  t.ok(await until(() => held() === 0))
  on.destroy()
})

t.test('a stream of questions whose answers are not taken is reset', async (t) => {
  const on = session('127.0.0.4', 0)
  const stream = reflect(on)
  const ended = new Promise<number | undefined>((resolve) => stream.on('close', () => resolve(stream.rstCode)))
  for (let i = 0; i < 100; i++) stream.write(QUESTION)
  t.equal(await ended, constants.NGHTTP2_ENHANCE_YOUR_CALM)
  t.ok(await until(() => held() === 0))
  on.destroy()
})

t.test('calls to a shut window end with their connection, and answers are counted as bytes', async (t) => {
  const on = session('127.0.0.5', 0)
  const stream = on.request({ ':method': 'POST', ':path': pathOf('Check'), 'content-type': 'application/grpc', te: 'trailers' })
  stream.on('error', () => undefined)
  stream.end(Buffer.alloc(5))
  t.ok(await until(() => held() > 0), `${held()} bytes of a short answer`)
  t.ok(held() < 1024)
  stream.close(constants.NGHTTP2_CANCEL)
  t.ok(await until(() => held() === 0), 'a call that is given up gives them back')
  on.destroy()
})
