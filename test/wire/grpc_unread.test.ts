/**
 * Promise: what a client sends into the windows of its calls is no flood, although none of it is read yet: a stream of orders that has
 * enough under way leaves its next actions unread, and one connection has many of them.
 */
import { connect, createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import { Calls, STALLED_MS } from '../../gateway/grpc/calls.ts'
import { Connection, type Connections } from '../../gateway/grpc/connections.ts'
import { Backlog } from '../../gateway/limits/backlog.ts'
import { readProxies, Shares } from '../../gateway/limits/shares.ts'

const MB = 1024 * 1024
const CALLS = 8
/** Of each call, less than its window. */
const BYTES = 60_000

const proxies = readProxies({ proxyAddresses: '', trustedProxies: '' })
const counters = new Float64Array(3)
const answers = new Backlog(64 * MB, proxies, counters, { waiting: 0, capacity: 1, cut: 2 })
const memory = { requests: new Shares(64 * MB, proxies), most: 8 * MB, answers }

t.test('windows full of what nobody reads', async (t) => {
  const server = createServer()
  const expelled: string[] = []
  const connections = new Map<Http2Session, Connection>()
  server.on('session', (session) => {
    connections.set(session, new Connection(session, session.socket as Socket, 'client', memory, {
      expel: (_, reason) => expelled.push(reason), resets: () => 0,
    }))
  })
  const unread: ServerHttp2Stream[] = []
  // Holds its data back, as the library does until it asks for a message.
  server.on('stream', (stream: ServerHttp2Stream) => unread.push(stream.pause()))
  const known = { of: (session: Http2Session) => connections.get(session), asked: () => undefined } as unknown as Connections
  const calls = new Calls(server, known, {
    longLived: new Set(['/orders']), prompt: new Set(), requestMs: 60_000, stalledMs: STALLED_MS, messageMax: MB, onNoRoom: () => undefined,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.teardown(() => {
    calls.close()
    client.destroy()
    server.close()
  })
  const streams = Array.from({ length: CALLS }, () => client.request({ ':method': 'POST', ':path': '/orders' }))
  for (const stream of streams) stream.on('error', () => undefined)
  while (unread.length < CALLS) await new Promise((resolve) => setImmediate(resolve))
  const [connection] = connections.values()
  connection!.endAbusive()
  for (const stream of streams) stream.write(Buffer.alloc(BYTES))
  while (unread.some(({ readableLength }) => readableLength < BYTES)) await new Promise((resolve) => setImmediate(resolve))
  connection!.endAbusive()
  t.strictSame(expelled, [], 'all of it is told from frames beside messages')
  t.equal(connection!.received, CALLS * BYTES)
  for (const stream of unread) stream.resume()
  while (unread.some(({ readableLength }) => readableLength > 0)) await new Promise((resolve) => setImmediate(resolve))
  connection!.endAbusive()
  t.equal(connection!.received, CALLS * BYTES, 'and counts once')
  t.strictSame(expelled, [])
})
