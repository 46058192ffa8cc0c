/**
 * Eight ways to keep an HTTP/2 server busy without asking for anything: reset streams at once, pings, settings, header blocks that never
 * end, empty data, window updates, priorities, padding. The hostile connection is closed by the server, and a second client is
 * served all the while.
 * Alone: it saturates a gateway.
 */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { PORT_COUNTER, portBlock } from '../../core/ring/ports.ts'
import { startHarness } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { callHeaders, END_HEADERS, field, frame, openRaw, TYPE } from '../support/http2_frames.ts'

const harness = await startHarness(['--grpc-thread', '1'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const counters = gatewayCounters(harness.shared.counters, 2)

/** Frames a flood sends at most; the server has to end it long before. */
const FRAMES_MAX = 2_000_000
const FRAMES_AT_ONCE = 500

const CANCEL = Buffer.from([0, 0, 0, 8])
const CALL = callHeaders('/svc.v1.HealthService/Check')

/** Sends frames of `next` until the server closes the connection; says how many were sent. */
async function flood(socket: Socket, next: () => Buffer): Promise<number> {
  let closed = false
  const close = new Promise<void>((resolve) => socket.once('close', () => resolve(void (closed = true))))
  let sent = 0
  while (!closed && sent < FRAMES_MAX) {
    const frames = Array.from({ length: FRAMES_AT_ONCE }, next)
    sent += frames.length
    if (!socket.write(Buffer.concat(frames))) await Promise.race([once(socket, 'drain').catch(() => undefined), close])
    // The server of this test lives in another thread of the process: let it in.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return sent
}

let addresses = 1
/** Another client each time: who flooded is backed off. */
const anAddress = (): string => `127.0.0.${++addresses}`

/** Floods with frames of `next` and calls from a second client; both have to end well. */
async function withstands(t: Test, prepare: (socket: Socket) => () => Buffer): Promise<void> {
  const socket = await openRaw(harness.grpcPort, { from: anAddress() })
  let over = false
  const flooding = flood(socket, prepare(socket)).finally(() => (over = true))
  let served = 0
  while (!over || served < 3) {
    const { code, message } = await client.call('Check', {}, null, { deadline: Date.now() + 20_000 })
    if (code !== status.OK) t.fail(`the second client got ${status[code]}: ${message}`)
    served++
  }
  const sent = await flooding
  t.ok(sent < FRAMES_MAX, `the connection was closed after ${sent} frames at most; a second client was served ${served} times`)
  socket.destroy()
  for (let i = 0; i < 500 && counters[GATEWAY.connections]! > 1; i++) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(counters[GATEWAY.connections], 1, 'only the second client is left')
  t.equal(counters[GATEWAY.unhandled], 0)
}

t.test('rapid reset', (t) => withstands(t, () => {
  let stream = -1
  return () => {
    stream += 2
    return Buffer.concat([frame(TYPE.HEADERS, END_HEADERS, stream, CALL), frame(TYPE.RST_STREAM, 0, stream, CANCEL)])
  }
}))

t.test('rapid reset that connects anew each time is refused connections, for longer each time', async (t) => {
  const from = anAddress()
  const port = portBlock(harness.shared.ports, 2, 'grpc')
  const served = async (): Promise<void> => {
    const { code } = await client.call('Check', {}, null, { deadline: Date.now() + 20_000 })
    t.equal(code, status.OK, 'another client is served')
  }
  let floods = 0
  const connected = async (): Promise<void> => {
    const socket = await openRaw(harness.grpcPort, { from }).catch(() => null)
    if (socket === null) return
    let stream = -1
    await flood(socket, () => {
      stream += 2
      return Buffer.concat([frame(TYPE.HEADERS, END_HEADERS, stream, CALL), frame(TYPE.RST_STREAM, 0, stream, CANCEL)])
    })
    socket.destroy()
    floods++
  }
  // The time of the first refusals may pass on a machine that is slow; those of later ones are longer.
  for (let tries = 0; tries < 200 && port[PORT_COUNTER.refused_backoff]! < 3; tries++) await connected()
  t.ok(port[PORT_COUNTER.refused_backoff]! >= 3, `${floods} connections, ${port[PORT_COUNTER.refused_backoff]} of them refused`)
  await served()
  const other = await openRaw(harness.grpcPort, { from: anAddress() })
  let closed = false
  other.once('close', () => (closed = true))
  await served()
  t.notOk(closed, 'another address connects')
  other.destroy()
})

t.test('pings', (t) => withstands(t, () => () => frame(TYPE.PING, 0, 0, Buffer.alloc(8))))

t.test('settings', (t) => withstands(t, () => () => frame(TYPE.SETTINGS, 0, 0, Buffer.from([0, 4, 0, 1, 0, 0]))))

t.test('a header block that never ends', (t) => withstands(t, (socket) => {
  socket.write(frame(TYPE.HEADERS, 0, 1, CALL))
  return () => frame(TYPE.CONTINUATION, 0, 1, field('x-more', 'y'.repeat(100)))
}))

t.test('empty data', (t) => withstands(t, (socket) => {
  socket.write(frame(TYPE.HEADERS, END_HEADERS, 1, CALL))
  return () => frame(TYPE.DATA, 0, 1)
}))

t.test('window updates', (t) => withstands(t, () => () => frame(TYPE.WINDOW_UPDATE, 0, 0, Buffer.from([0, 0, 0, 1]))))

t.test('priorities', (t) => withstands(t, () => () => frame(TYPE.PRIORITY, 0, 3, Buffer.from([0, 0, 0, 0, 16]))))

t.test('padding', (t) => withstands(t, (socket) => {
  socket.write(frame(TYPE.HEADERS, END_HEADERS, 1, callHeaders('/svc.v1.OrdersService/StreamOrders')))
  const [PADDED, LENGTH] = [8, 255]
  return () => frame(TYPE.DATA, PADDED, 1, Buffer.concat([Buffer.from([LENGTH]), Buffer.alloc(LENGTH)]))
}))

/** What is said on a connection that sends this once, until it ends. */
async function saidTo(frames: Buffer): Promise<string> {
  const socket = await openRaw(harness.grpcPort, { from: anAddress() })
  let said = ''
  socket.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
  const closed = once(socket, 'close').then(() => true)
  socket.write(frames)
  let over: boolean | null = null
  void closed.then(() => (over = true))
  for (let look = 0; look < 500 && over === null; look++) await new Promise((resolve) => setTimeout(resolve, 10))
  socket.destroy()
  return over === null ? 'it stays' : said
}

t.test('settings that are few bytes, and too many', async (t) => {
  const settings = frame(TYPE.SETTINGS, 0, 0, Buffer.from([0, 4, 0, 1, 0, 0]))
  t.match(await saidTo(Buffer.concat(Array.from({ length: 40 }, () => settings))), /too_many_settings/)
})
