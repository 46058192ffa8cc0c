/**
 * Promise: gRPC's messages that never end, metadata beyond its bound, and floods of HTTP/2 frames take a bounded memory and keep
 * nobody from trading, by REST or by gRPC; what floods is ended.
 *
 * 800 unfinished messages of 2 MiB took 1.4 GB once, and were kept for minutes.
 */
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { connect } from 'node:net'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { besideAttack } from '../../support/attack.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../../support/exchange.ts'
import { connectGrpc, pathOf } from '../../support/grpc.ts'
import { callHeaders, END_HEADERS, field, frame, openRaw, TYPE } from '../../support/http2_frames.ts'

t.setTimeout(900_000)
const MB = 1024 * 1024
const CONNECTIONS = 8
const CALLS = 100
const MESSAGE = 2 * MB

const dataDir = temporaryDirectory()
const exchange = await startExchange(dataDir, ['--chain', '0', '--gateways', '1'])
const honest = connectGrpc(exchange.grpcPort)
t.teardown(async () => {
  honest.close()
  await exchange.kill()
  removeDirectory(dataDir)
})

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  return [...text.matchAll(new RegExp(`^${name}(?:{.*})? (\\S+)$`, 'gm'))].reduce((sum, [, value]) => sum + Number(value), 0)
}

function session(from: string): ClientHttp2Session {
  const opened = connectHttp2('http://127.0.0.1', {
    // Of the attacker: what it wants to send and may not yet, MB; and metadata that a library would not send.
    maxSessionMemory: 4_000, maxSendHeaderBlockLength: MB,
    createConnection: () => connect({ port: exchange.grpcPort, host: '127.0.0.1', localAddress: from }),
  })
  return opened.on('error', () => undefined)
}

interface Ends { [end: string]: number }
const EXHAUSTED = String(status.RESOURCE_EXHAUSTED)

/** A call that begins with `bytes` and does not end; how it ends all the same is counted. */
function begin(on: ClientHttp2Session, ends: Ends, bytes: Buffer, more: Record<string, string> = {}): void {
  const headers = { ':method': 'POST', ':path': pathOf('Challenge'), 'content-type': 'application/grpc', te: 'trailers', ...more }
  const stream = on.request(headers)
  let end: string | null = null
  const note = (received: Record<string, unknown>): void => {
    end ??= received['grpc-status'] === undefined ? null : String(received['grpc-status'])
  }
  stream.on('response', note).on('trailers', note).on('error', () => undefined).resume()
  stream.on('close', () => {
    const said = end ?? `reset ${stream.rstCode}`
    ends[said] = (ends[said] ?? 0) + 1
  })
  stream.write(bytes)
}

/** A message of which all but the last byte comes. */
const UNFINISHED = Buffer.alloc(5 + MESSAGE - 1)
UNFINISHED.writeUInt32BE(MESSAGE, 1)

/** Calls of an honest client of gRPC until it is over. */
async function askHonestly(ended: AbortSignal): Promise<Ends> {
  const seen: Ends = {}
  while (!ended.aborted) {
    const { code } = await honest.call('Check', {}, null, { deadline: Date.now() + 20_000 })
    seen[status[code]] = (seen[status[code]] ?? 0) + 1
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return seen
}

t.test('unfinished messages and long metadata', async (t) => {
  const before = await metric('exchange_resident_memory_bytes')
  const most = { held: 0, resident: 0 }
  const [messages, metadata]: [Ends, Ends] = [{}, {}]
  let served: Ends = {}
  const { attacked } = await besideAttack(t, exchange, {
    name: `gRPC, ${CONNECTIONS} connections with ${CALLS} unfinished messages`,
    ms: 2_000,
    attack: async (ended) => {
      const asking = askHonestly(ended)
      const sessions = Array.from({ length: CONNECTIONS }, () => session('127.0.0.2'))
      for (const each of sessions) for (let i = 0; i < CALLS; i++) begin(each, messages, UNFINISHED)
      const long: ClientHttp2Session[] = []
      while (!ended.aborted) {
        // A connection of its own: the rest of a block that is refused counts as a flood.
        begin(long[long.push(session('127.0.0.4')) - 1]!, metadata, Buffer.alloc(5), { 'x-long': 'a'.repeat(60_000) })
        most.held = Math.max(most.held, await metric('exchange_grpc_held_bytes'))
        most.resident = Math.max(most.resident, await metric('exchange_resident_memory_bytes'))
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      served = await asking
      // A busy machine has not read enough of it by now.
      for (let look = 0; look < 1_000 && [messages, metadata].some((ends) => ends[EXHAUSTED] === undefined); look++) {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      for (const each of [...sessions, ...long]) each.destroy()
    },
  })
  const grown = (most.resident - before) / MB
  t.comment(`${(most.held / MB).toFixed(0)} MiB held at most, resident ${grown.toFixed(0)} MiB more than before; ` +
    `messages ${JSON.stringify(messages)}, metadata ${JSON.stringify(metadata)}, honest gRPC ${JSON.stringify(served)}`)
  t.same(attacked.refused, {}, 'nobody who trades is refused')
  t.equal(attacked.done, attacked.requests)
  t.same(Object.keys(served), ['OK'], 'nor by gRPC')
  t.ok(most.held > 0 && most.held <= 32 * MB, 'one address has half of the room')
  t.ok(grown < 400, 'the process does not grow by what was sent')
  t.ok((messages[EXHAUSTED] ?? 0) > 0, 'what has no room is refused by name')
  t.equal(messages['0'], undefined)
  t.equal(metadata['0'], undefined, 'nothing with long metadata is done')
  t.ok((metadata[EXHAUSTED] ?? 0) > 0)
})

const CALL = callHeaders(pathOf('Check'))
/** A call that is reset at once, with one of the codes there are (RFC 9113, 7). */
const reset = (stream: number, code: number): Buffer =>
  Buffer.concat([frame(TYPE.HEADERS, END_HEADERS, stream, CALL), frame(TYPE.RST_STREAM, 0, stream, Buffer.from([0, 0, 0, code]))])
/** Floods: what is sent first, and then again and again. */
const FLOODS: Record<string, [first: Buffer, next: (number: number) => Buffer]> = {
  'rapid reset': [Buffer.alloc(0), (i) => reset(2 * i + 1, i % 14)],
  'ping': [Buffer.alloc(0), () => frame(TYPE.PING, 0, 0, Buffer.alloc(8))],
  'settings': [Buffer.alloc(0), () => frame(TYPE.SETTINGS, 0, 0, Buffer.from([0, 4, 0, 1, 0, 0]))],
  'empty data': [frame(TYPE.HEADERS, END_HEADERS, 1, CALL), () => frame(TYPE.DATA, 0, 1)],
  'continuation': [frame(TYPE.HEADERS, 0, 1, CALL), () => frame(TYPE.CONTINUATION, 0, 1, field('x-more', 'y'.repeat(100)))],
}
const AT_ONCE = 200

/** Connects and floods, again and again, until it is over; how many connections were ended by the other side. */
async function flood(name: string, ended: AbortSignal): Promise<number> {
  const [first, next] = FLOODS[name]!
  let ends = 0
  while (!ended.aborted) {
    const socket = await openRaw(exchange.grpcPort, { from: '127.0.0.5' })
    let closed = false
    const close = new Promise<void>((resolve) => socket.once('close', () => resolve(void (closed = true))))
    socket.write(first)
    for (let i = 0; !closed && !ended.aborted; i += AT_ONCE) {
      const room = socket.write(Buffer.concat(Array.from({ length: AT_ONCE }, (_, j) => next(i + j))))
      if (!room) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), close])
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (closed) ends++
    socket.destroy()
  }
  return ends
}


t.test('floods of frames', async (t) => {
  const before = await metric('exchange_resident_memory_bytes')
  const ended: Record<string, number> = {}
  let served: Ends = {}
  const { attacked } = await besideAttack(t, exchange, {
    name: `gRPC, floods of ${Object.keys(FLOODS).join(', ')}`,
    ms: 2_000,
    attack: async (over) => {
      const asking = askHonestly(over)
      await Promise.all(Object.keys(FLOODS).map(async (name) => (ended[name] = await flood(name, over))))
      served = await asking
    },
  })
  const grown = ((await metric('exchange_resident_memory_bytes')) - before) / MB
  t.comment(`connections ended ${JSON.stringify(ended)}, honest gRPC ${JSON.stringify(served)}, resident ${grown.toFixed(0)} MiB more`)
  t.same(attacked.refused, {}, 'nobody who trades is refused')
  t.equal(attacked.done, attacked.requests)
  t.same(Object.keys(served), ['OK'], 'nor by gRPC')
  for (const [name, ends] of Object.entries(ended)) t.ok(ends > 0, `${name}: the connection is ended`)
  t.ok(grown < 400)
})
