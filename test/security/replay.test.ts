/**
 * Promise: what can be sent twice, and what then happens. Freshness is a window and no replay cache (specification, RFC 9421 signing, rule
 * 3), so a signed request may come again as long as it is fresh: an order with an idempotency key is still one order, one without is
 * documented to be two, a cancel, a revocation or a refresh does no more than the first did. A signature is good for one protocol, one
 * transport and one operation, and opens nothing in another application.
 */
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { call, request, signed, startHarness, type Headers, type Reply, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, credentialsFor, decodeMessage, encodeMessage, type GrpcReply } from '../support/grpc.ts'
import { messageSigned } from '../support/message_signature.ts'
import { sampleOrder, sessionSamples } from '../support/session_samples.ts'

const harness = await startHarness(['--grpc-thread', '1', '--gateways', '2'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const order = sampleOrder(harness.genesis)
const ORDERS = '/api/v1/orders'
const AUTH = '/api/v1/auth'

async function trader(application = 0, address?: string): Promise<Session> {
  const session = await harness.openSession(application, address)
  await call(harness, session, 'POST', '/api/v1/faucet/mint')
  return session
}
const openOrders = async (session: Session): Promise<number> =>
  (await call(harness, session, 'GET', `${ORDERS}?status=SUBMITTED`)).json.total

/** One signed request as bytes that can be sent again and again, and the code of its answer (`null`: served). */
interface Recorded {
  send(): Promise<{ code: string | null; answer: any }>
}

function overHttp(headers: Headers, method: string, target: string, body: string): Recorded {
  return {
    send: async () => {
      const { status: answered, json } = await request(harness.port, method, target, headers, body)
      return { code: answered === 200 ? null : json.code, answer: json }
    },
  }
}

/** The same request in each protocol, recorded once. */
const PROTOCOLS: Record<string, (session: Session, name: string, input: object) => Recorded> = {
  'legacy headers': (session, name, input) => rest(session, name, input, signed),
  'RFC 9421': (session, name, input) => rest(session, name, input, messageSigned),
  gRPC: (session, name, input) => {
    const { grpcPath } = sampleOf(name)
    const enums = { ...input, ...('side' in input ? { side: 'SIDE_BUY', orderType: 'ORDER_TYPE_LIMIT' } : {}) }
    const bytes = encodeMessage(`${name}Request`, enums)
    const credentials = credentialsFor(session, grpcPath, bytes)
    return {
      send: async () => {
        const { code, reason, response } = await client.send(grpcPath, bytes, credentials, `${name}Response`)
        return { code: code === status.OK ? null : reason!, answer: response }
      },
    }
  },
}

const samples = sessionSamples(harness.genesis)
const sampleOf = (name: string): (typeof samples)[number] => samples.find((sample) => sample.name === name)!

function rest(session: Session, name: string, input: object, sign: typeof signed): Recorded {
  const { orderId, ...fields } = input as { orderId?: string }
  const { row } = sampleOf(name)
  const target = row.path.replace('{orderId}', orderId ?? '')
  const body = Object.keys(fields).length === 0 ? '' : JSON.stringify(fields)
  return overHttp(sign(session, row.method, target, body), row.method, target, body)
}

for (const [protocol, record] of Object.entries(PROTOCOLS)) {
  t.test(`${protocol}: a signed order with a key is one order, one without is one each time`, async (t) => {
    const session = await trader()
    const keyed = record(session, 'CreateOrder', { ...order, idempotencyKey: 'once' })
    const answers = await Promise.all(Array.from({ length: 8 }, () => keyed.send()))
    for (const answer of answers) t.strictSame(answer, answers[0])
    t.equal(answers[0]!.code, null)
    t.equal(await openOrders(session), 1)
    const plain = record(session, 'CreateOrder', order)
    const ids = (await Promise.all([plain.send(), plain.send(), plain.send()])).map(({ answer }) => answer.orderId)
    t.equal(new Set(ids).size, 3, 'three orders: repeat with a key')
    t.equal(await openOrders(session), 4)
  })

  t.test(`${protocol}: a cancel or a replacement sent again does nothing more`, async (t) => {
    const session = await trader()
    const place = async (): Promise<string> => (await call(harness, session, 'POST', ORDERS, order)).json.orderId
    const [first, second] = [await place(), await place()]
    const cancel = record(session, 'CancelOrder', { orderId: first })
    t.equal((await cancel.send()).code, null)
    for (let i = 0; i < 3; i++) t.equal((await cancel.send()).code, 'ORDER_NOT_FOUND')
    const replace = record(session, 'ReplaceOrder', { orderId: second, price: '101' })
    t.equal((await replace.send()).code, null)
    for (let i = 0; i < 3; i++) t.equal((await replace.send()).code, 'ORDER_NOT_FOUND')
    t.equal(await openOrders(session), 1)
  })

  t.test(`${protocol}: a refresh may come again while the session lives, a revocation once`, async (t) => {
    const session = await trader()
    const [refresh, revoke] = [record(session, 'Refresh', {}), record(session, 'Revoke', {})]
    for (let i = 0; i < 3; i++) t.equal((await refresh.send()).code, null)
    t.equal((await revoke.send()).code, null)
    const before = harness.lastSequence()
    for (const again of [revoke, refresh, record(session, 'CreateOrder', order)]) t.equal((await again.send()).code, 'SESSION_INVALID')
    t.equal(harness.lastSequence(), before, 'a dead session is not brought back')
  })
}

t.test('of revocations sent at once over all protocols one succeeds', async (t) => {
  for (let round = 0; round < 5; round++) {
    const session = await trader()
    const all = Object.values(PROTOCOLS).flatMap((record) => [record(session, 'Revoke', {}), record(session, 'Revoke', {})])
    const codes = (await Promise.all(all.map((each) => each.send()))).map(({ code }) => code)
    t.same(codes.filter((code) => code === null).length, 1)
    t.ok(codes.every((code) => code === null || code === 'SESSION_INVALID'), codes.join())
  }
})

for (const sample of samples) {
  const { name, row, target, body, grpcPath, bytes } = sample
  t.test(`${name}: a signature of one transport, protocol or operation is none in another`, async (t) => {
    const session = await trader()
    const before = harness.lastSequence()
    const legacy = signed(session, row.method, target, body)
    const structured = messageSigned(session, row.method, target, body)
    const entries = credentialsFor(session, grpcPath, bytes)
    const http = (headers: Headers): Promise<Reply> => request(harness.port, row.method, target, headers, body)
    const grpc = (headers: Headers, message = bytes): Promise<GrpcReply> =>
      client.send(grpcPath, message, Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value])))
    t.equal((await http(entries)).json.code, 'INVALID_SIGNATURE', 'of gRPC over HTTP')
    t.equal((await grpc(legacy)).reason, 'INVALID_SIGNATURE', 'of HTTP over gRPC')
    t.equal((await grpc(legacy, Buffer.from(body))).reason, 'INVALID_SIGNATURE', 'of HTTP over gRPC, with the bytes of the body')
    t.equal((await grpc(structured)).reason, 'UNAUTHENTICATED', 'of RFC 9421 over gRPC')
    const text = Buffer.from(structured['Signature']!.slice('svc=:'.length, -1), 'base64').toString('hex')
    t.equal((await http({ ...legacy, 'X-Svc-Signature': text })).json.code, 'INVALID_SIGNATURE', 'of RFC 9421 as legacy')
    const encoded = `svc=:${Buffer.from(legacy['X-Svc-Signature']!, 'hex').toString('base64')}:`
    t.equal((await http({ ...structured, Signature: encoded })).json.code, 'INVALID_SIGNATURE', 'of legacy as RFC 9421')
    t.equal((await http({ ...structured, ...legacy })).json.code, 'MIXED_CREDENTIALS', 'both')
    for (const other of samples) {
      if (other.name === name) continue
      const same = other.row.method === row.method && other.target === target && other.body === body
      const [theirs, ofCall] = [signed(session, other.row.method, other.target, other.body), credentialsFor(session, other.grpcPath, bytes)]
      if (!same && (await http(theirs)).json.code !== 'INVALID_SIGNATURE') t.fail(`of ${other.name} over HTTP`)
      if ((await grpc(ofCall)).reason !== 'INVALID_SIGNATURE') t.fail(`of ${other.name} over gRPC`)
    }
    t.equal(harness.lastSequence(), before, 'nothing reached the engine')
  })
}

t.test('a session of one application acts for its own user there and nowhere else', async (t) => {
  const [here, there] = [await trader(0), await trader(1)]
  const same = await trader(1, here.address)
  for (const [sign, name] of [[signed, 'legacy'], [messageSigned, 'RFC 9421']] as const) {
    const me = '/api/v1/accounts/me'
    const users: any[] = []
    for (const session of [here, there, same]) users.push((await request(harness.port, 'GET', me, sign(session, 'GET', me))).json)
    t.equal(new Set(users.map(({ id }) => id)).size, 3, `${name}: three users of two wallets`)
    t.equal(users[0].address, users[2].address)
  }
  const headers = signed(here, 'POST', ORDERS, JSON.stringify(order))
  t.equal((await request(harness.port, 'POST', ORDERS, headers, JSON.stringify(order))).status, 200)
  const keyOfOther = { ...headers, 'X-Svc-PublicKey': same.publicKey }
  t.equal((await request(harness.port, 'POST', ORDERS, keyOfOther, JSON.stringify(order))).json.code, 'INVALID_SIGNATURE')
  t.same(await Promise.all([here, there, same].map(openOrders)), [1, 0, 0])
})

t.test('a signature over no bytes at all is of its operation alone', async (t) => {
  const session = await trader()
  const bytes = encodeMessage('RevokeRequest', {})
  t.same(decodeMessage('RevokeRequest', bytes), {}, 'an empty message')
  const { grpcPath } = sampleOf('Refresh')
  const entries = credentialsFor(session, grpcPath, bytes)
  t.equal((await client.send(sampleOf('Revoke').grpcPath, bytes, entries)).reason, 'INVALID_SIGNATURE')
  const headers = signed(session, 'POST', `${AUTH}/refresh`)
  t.equal((await request(harness.port, 'POST', `${AUTH}/revoke`, headers)).json.code, 'INVALID_SIGNATURE')
  t.equal((await request(harness.port, 'POST', `${AUTH}/refresh`, headers)).status, 200)
})
