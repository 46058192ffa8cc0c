/**
 * Promise: what clients begin to send and never end is held in a bounded amount of memory, of which one client has a share, and for a
 * bounded time; others are served meanwhile. Metadata is bounded for clients, too, that never acknowledged the bound.
 */
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { METADATA_MAX } from '../../gateway/grpc/calls.ts'
import { startHarness } from '../support/gateway_harness.ts'
import { pathOf, statusOf } from '../support/grpc.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const ROOM_MB = 16
const harness = await startHarness(['--grpc-thread', '1', '--grpc-request-mb', String(ROOM_MB), '--grpc-request-seconds', '3'])
t.teardown(() => harness.close())
t.setTimeout(900_000)
const counters = gatewayCounters(harness.shared.counters, 2)
const held = (): number => counters[GATEWAY.grpc_held_bytes]!

function session(from: string): ClientHttp2Session {
  const opened = connectHttp2('http://127.0.0.1', {
    // Of the client: what it wants to send and may not yet, MB.
    maxSessionMemory: 1_000,
    createConnection: () => connect({ port: harness.grpcPort, host: '127.0.0.1', localAddress: from }),
  })
  opened.on('error', () => undefined)
  t.teardown(() => opened.destroy())
  return opened
}

interface Call {
  readonly stream: ClientHttp2Stream
  /** grpc-status, or 'reset CODE'. */
  readonly ended: Promise<string>
}

function begin(on: ClientHttp2Session, path: string, headers: Record<string, string> = {}): Call {
  const stream = on.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...headers })
  return { stream, ended: statusOf(stream) }
}

/** A message of `size` bytes of which all but the last come. */
function unfinished(size: number): Buffer {
  const bytes = Buffer.alloc(5 + size - 1)
  bytes.writeUInt32BE(size, 1)
  return bytes
}
const message = (bytes: Buffer, flag = 0): Buffer => {
  const head = Buffer.from([flag, 0, 0, 0, 0])
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}
const CHECK = pathOf('Check')

async function served(from: string): Promise<string> {
  const on = session(from)
  const { stream, ended } = begin(on, CHECK)
  stream.end(message(Buffer.alloc(0)))
  const code = await ended
  on.destroy()
  return code
}

t.test('unfinished messages: bounded, shared out, and not for long', async (t) => {
  const sessions = Array.from({ length: 4 }, () => session('127.0.0.2'))
  const calls = sessions.flatMap((each) => Array.from({ length: 20 }, () => begin(each, pathOf('Challenge'))))
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, held())), 20)
  const bytes = unfinished(MIB)
  for (const { stream } of calls) stream.write(bytes)
  t.ok(await until(() => counters[GATEWAY.grpc_no_room]! > 0), 'there is no room for all of it')
  t.equal(await served('127.0.0.3'), '0', 'others are served')
  const large = begin(session('127.0.0.3'), pathOf('Challenge'))
  large.stream.end(message(Buffer.alloc(MIB)))
  t.equal(await large.ended, String(status.INVALID_ARGUMENT), 'with large messages, too')
  const ends = await Promise.all(calls.map(({ ended }) => ended))
  clearInterval(watch)
  const refused = ends.filter((end) => end === String(status.RESOURCE_EXHAUSTED)).length
  t.ok(refused >= calls.length - ROOM_MB, `${refused} were refused at once`)
  t.ok(ends.includes('reset 8'), 'those that were held are given up when they do not come to their end')
  t.ok(most <= (ROOM_MB * MIB) / 2 + MIB, `at most ${most} bytes were held`)
  t.ok(await until(() => held() === 0), 'and then nothing is')
})

t.test('whole messages of calls that never end are held no longer', async (t) => {
  const on = session('127.0.0.4')
  const [plain, packed] = [begin(on, CHECK), begin(on, CHECK, { 'grpc-encoding': 'gzip' })]
  plain.stream.write(message(Buffer.alloc(MIB / 2)))
  packed.stream.write(message(gzipSync(Buffer.alloc(MIB)), 1))
  t.ok(await until(() => held() >= 1.5 * MIB), 'what was unpacked counts')
  t.same(new Set(await Promise.all([plain.ended, packed.ended])), new Set(['reset 8']))
  t.ok(await until(() => held() === 0))
})

t.test('what unpacks to much counts for what it is', async (t) => {
  const before = counters[GATEWAY.grpc_no_room]!
  const on = session('127.0.0.5')
  const bomb = message(gzipSync(Buffer.alloc(2 * MIB)), 1)
  const calls = Array.from({ length: 60 }, () => begin(on, CHECK, { 'grpc-encoding': 'gzip' }))
  for (const { stream } of calls) stream.write(bomb)
  t.ok(await until(() => counters[GATEWAY.grpc_no_room]! > before))
  const ends = await Promise.all(calls.map(({ ended }) => ended))
  t.ok(ends.includes(String(status.RESOURCE_EXHAUSTED)))
  t.ok(await until(() => held() === 0))
})

t.test('a stream whose first message does not come is given up; one that has begun may be silent', async (t) => {
  const trader = begin(session('127.0.0.6'), '/svc.v1.OrdersService/StreamOrders')
  t.equal(await trader.ended, 'reset 8')
})

t.test('metadata beyond the bound is RESOURCE_EXHAUSTED, whatever the client knows of the bound', async (t) => {
  // A library that would send what it is told not to.
  const on = connectHttp2(`http://127.0.0.1:${harness.grpcPort}`, { maxSendHeaderBlockLength: MIB })
  on.on('error', () => undefined)
  t.teardown(() => on.destroy())
  const answers = [METADATA_MAX / 2, METADATA_MAX, 60_000].map(async (size) => {
    // Before the settings of the server have come.
    const { stream, ended } = begin(on, CHECK, { 'x-large': 'a'.repeat(size) })
    stream.end(message(Buffer.alloc(0)))
    return ended
  })
  const exhausted = String(status.RESOURCE_EXHAUSTED)
  t.same(await Promise.all(answers), ['0', exhausted, exhausted])
  t.equal(await served('127.0.0.7'), '0')
})
