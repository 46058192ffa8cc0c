/**
 * Promise: what a request can be refused for by its head is answered before its body was sent, and its body is never held. A client that
 * sends the body all the same gets the answer, and may go on with its connection.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { OPERATIONS } from '../../gateway/operations/index.ts'
import { SIGNED_BODY_MAX } from '../../gateway/operations/operation.ts'
import { call, openDeadSessions, signed, startHarness, type Headers } from '../support/gateway_harness.ts'

const harness = await startHarness()
t.teardown(() => harness.close())
const { port } = harness
const session = await harness.openSession()
const dead = await openDeadSessions(harness)
const stranger = { ...session, publicKey: 'ab'.repeat(32) }

const ORDERS = '/api/v1/orders'
const BODY = '{"x":1}'
const LENGTH = 100_000

const headOf = (method: string, target: string, headers: Headers, length: number): string => [
  `${method} ${target} HTTP/1.1`, 'Host: x', 'User-Agent: test', `Content-Length: ${length}`,
  ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '', '',
].join('\r\n')

/** Resolves with what came when it matches, or the connection ended. */
async function until(socket: Socket, pattern: RegExp): Promise<string> {
  let received = ''
  return new Promise((resolve) => {
    const done = (): void => resolve(received)
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
      if (pattern.test(received)) done()
    })
    socket.on('close', done)
  })
}

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

const legacy = (who = session, at?: string): Headers => signed(who, 'POST', ORDERS, BODY, at)
const input = (key: string, created = Math.floor(Date.now() / 1000)): string =>
  `svc=("@method" "@path" "@query" "content-digest");created=${created};keyid="${key}";alg="ed25519"`
const structured = (key: string, created?: number): Headers => ({
  'Signature-Input': input(key, created), 'Signature': `svc=:${Buffer.alloc(64).toString('base64')}:`,
  'Content-Digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:`,
})
const without = (name: string): Headers => Object.fromEntries(Object.entries(legacy()).filter(([key]) => key !== name))

const CASES: Record<string, [method: string, target: string, headers: Headers, status: number, code: string]> = {
  'an unknown route': ['POST', '/api/v1/nope', {}, 404, 'ROUTE_NOT_FOUND'],
  'another path of a document': ['POST', '/docs', {}, 405, 'METHOD_NOT_ALLOWED'],
  'a wrong method': ['PATCH', ORDERS, legacy(), 405, 'METHOD_NOT_ALLOWED'],
  'a probe': ['POST', '/ready', {}, 405, 'METHOD_NOT_ALLOWED'],
  'no credentials': ['POST', ORDERS, {}, 401, 'UNAUTHENTICATED'],
  'a part of the credentials': ['POST', ORDERS, without('X-Svc-Timestamp'), 401, 'UNAUTHENTICATED'],
  'an unknown key': ['POST', ORDERS, legacy(stranger), 401, 'UNAUTHENTICATED'],
  'a revoked session': ['POST', ORDERS, legacy(dead.revoked), 401, 'SESSION_INVALID'],
  'an expired session': ['POST', ORDERS, legacy(dead.expired), 401, 'SESSION_INVALID'],
  'an agent that was dismissed': ['POST', ORDERS, legacy(dead.dismissed), 401, 'SESSION_INVALID'],
  'an old timestamp': ['POST', ORDERS, legacy(session, String(Date.now() - 60_000)), 401, 'CLOCK_SKEW'],
  'a signature that is none': ['POST', ORDERS, { ...legacy(), 'X-Svc-Signature': 'ab' }, 401, 'INVALID_SIGNATURE'],
  'a message signature by an unknown key': ['POST', ORDERS, structured('ab'.repeat(32)), 401, 'UNAUTHENTICATED'],
  'a message signature of a revoked session': ['POST', ORDERS, structured(dead.revoked.publicKey), 401, 'SESSION_INVALID'],
  'an old message signature': ['POST', ORDERS, structured(session.publicKey, 1_600_000_000), 401, 'CLOCK_SKEW'],
  'no server key': ['GET', '/api/v1/applications/config', {}, 401, 'UNAUTHENTICATED'],
  'an unknown server key': ['GET', '/api/v1/applications/config', { 'x-server-key': `sk_${'a'.repeat(43)}` }, 401, 'UNAUTHENTICATED'],
  'no User-Agent': ['POST', ORDERS, { 'User-Agent': '' }, 403, 'USER_AGENT_REQUIRED'],
  'more than a public operation takes': ['POST', '/api/v1/auth/challenge', {}, 413, 'BODY_TOO_LARGE'],
}

for (const [name, [method, target, headers, status, code]] of Object.entries(CASES)) {
  t.test(`${name}: ${status} before the body`, async (t) => {
    const socket = await open()
    t.teardown(() => socket.destroy())
    const answered = until(socket, /"statusCode":\d+/)
    socket.write(headOf(method, target, headers, LENGTH))
    const answer = await answered
    t.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
    t.match(answer, `"code":"${code}"`)
    const next = until(socket, /HTTP\/1.1 200/)
    socket.write(Buffer.alloc(LENGTH, 'GET /ready HTTP/1.1\r\n'))
    socket.write('GET /api/v1/time HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\n\r\n')
    t.match(await next, /^HTTP\/1.1 200 /, 'the body is skipped, and the next request served')
  })
}

t.test('operations without a body answer before what is sent as one', async (t) => {
  const socket = await open()
  const answered = until(socket, /unixMs|timestamp|serverTime/)
  socket.write(headOf('GET', '/api/v1/time', {}, LENGTH))
  t.match(await answered, /^HTTP\/1.1 200 /)
  socket.destroy()
})

t.test('more than any operation takes closes the connection', async (t) => {
  for (const length of [SIGNED_BODY_MAX * 4 + 1, 999_999_999, 99_999_999_999]) {
    const socket = await open()
    const closed = once(socket, 'close')
    const answered = until(socket, /"statusCode":413/)
    socket.write(headOf('POST', ORDERS, legacy(), length))
    const answer = await answered
    t.match(answer, /^HTTP\/1.1 413 .*"code":"BODY_TOO_LARGE"/s, String(length))
    t.match(answer, /\r\nConnection: close\r\n/, 'by this answer, and not when the library tires of it')
    await closed
  }
})

t.test('a session that ends while its body is sent is over', async (t) => {
  const leaving = await harness.openSession()
  const socket = await open()
  const target = '/api/v1/auth/revoke'
  const body = ' '
  const answered = until(socket, /"statusCode":\d+/)
  socket.write(headOf('POST', target, signed(leaving, 'POST', target, body), body.length))
  // The head has been looked at when another request of the same thread has been answered.
  t.equal((await call(harness, leaving, 'POST', target)).status, 200)
  socket.write(body)
  t.match(await answered, /^HTTP\/1.1 401 .*"code":"SESSION_INVALID"/s)
  socket.destroy()
})

t.test('public operations take small bodies only, and their largest fits', async (t) => {
  const publics = OPERATIONS.filter(({ row, operation }) => row.access === 'public' && operation.bodyRule !== 'ignored')
  t.ok(publics.length >= 3, publics.map(({ name }) => name).join(', '))
  for (const { name, operation } of publics) {
    t.ok(operation.bodyMax <= 24 * 1024, `${name}: ${operation.bodyMax} bytes`)
    const { properties } = operation.body!.schema as unknown as { properties: Record<string, object> }
    const largest = Object.entries(properties).reduce((sum, [field, schema]) => sum + field.length + 4 + largestOf(schema), 2)
    t.ok(largest <= operation.bodyMax, `${name}: the largest body has ${largest} bytes`)
  }
})

/** Bytes of the longest value of a field, with every character escaped where any may stand. */
function largestOf(schema: object): number {
  const { type, anyOf, maxLength, pattern } = schema as { type?: string; anyOf?: object[]; maxLength?: number; pattern?: string }
  if (anyOf !== undefined) return Math.max(...anyOf.map(largestOf))
  if (type === 'integer') return 17
  if (type !== 'string') throw new Error(`what is the largest ${type}?`)
  const fixed = /\{(?:\d+,)?(\d+)\}\$$/.exec(pattern ?? '')?.[1]
  if (fixed !== undefined) return Number(fixed) + 4
  if (maxLength === undefined) throw new Error('a text without bound')
  // A pattern of plain characters is sent as it is; one that says only what may not stand lets all others stand.
  return 2 + maxLength * (pattern === undefined || pattern.startsWith('^[^') ? 6 : 1)
}
