/**
 * What a refused or metered call carries beside its answer: status, google.rpc details, metadata; and that the signature is over the
 * serialised bytes whatever the compression.
 */
import { connect } from 'node:http2'
import { gzipSync } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { SET_MAINTENANCE_COMMAND, CommandType } from '../../core/layout/command.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { codeOf, createStatusWriter } from '../../gateway/grpc/status.ts'
import { Refused } from '../../gateway/refused.ts'
import { call, startHarness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, credentialsFor, detailsOf, encodeMessage, pathOf, schema, type GrpcReply } from '../support/grpc.ts'

const harness = await startHarness(['--grpc-thread', '1', '--enforce-rate-limits', '1', '--rate-create-per-second', '1000',
  '--rate-create-per-minute', '5'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const pair = harness.genesis.pairs[0]!.id
const ORDER = { tradingPairId: pair, orderType: 'ORDER_TYPE_LIMIT', side: 'SIDE_BUY', quantity: '0.5', price: '100' }
const REST_ORDER = { ...ORDER, orderType: 'LIMIT', side: 'BUY' }

t.test('every refusal of the register has a gRPC status and its details', async (t) => {
  const { message, ending } = createStatusWriter(schema)
  for (const code of Object.keys(REFUSALS) as (keyof typeof REFUSALS)[]) {
    const refused = new Refused(code, 'why', { field: 'price', retryAfter: 7 })
    t.ok(codeOf(refused) > 0, `${code}: ${status[codeOf(refused)]}`)
    const { metadata, details } = ending(refused)
    const found = detailsOf(metadata.get('grpc-status-details-bin')[0] as Buffer)
    t.same([found.reason, found.domain, found.details, found.retrySeconds], [code, 'svc', { field: 'price', retryAfter: '7' }, 7])
    t.equal(details, 'why')
    t.equal(metadata.get('x-svc-maintenance-blocked')[0], code === 'OPERATIONS_BLOCKED' ? 'true' : undefined)
    t.match(message(refused), { code: codeOf(refused), message: 'why' })
  }
  const plain = ending(new Refused('NOT_FOUND'))
  t.equal(detailsOf(plain.metadata.get('grpc-status-details-bin')[0] as Buffer).retrySeconds, undefined, 'nothing to wait for')
  t.same(plain.metadata.get('retry-after'), [])
})

t.test('a refusal of a field names it', async (t) => {
  const session = await harness.openSession()
  const reply = await client.call('CreateOrder', { ...ORDER, price: '100.001' }, session)
  t.match(reply, { code: status.INVALID_ARGUMENT, reason: 'INVALID_TICK', domain: 'svc', details: { field: 'price' }, response: null })
  t.match(reply.message, /multiple of 0\.01/)
  t.equal(reply.retrySeconds, undefined)
})

t.test('legs of spot orders are refused by name, as over REST, and never dropped', async (t) => {
  const legs: [string, object][] = [
    ['trailingStop', { trailBps: 50 }], ['trailingStop', {}], ['takeProfit', { triggerPrice: '120', orderType: 'MARKET' }],
    ['stopLoss', { triggerPrice: '90', quantity: '0.5' }],
  ]
  for (const [field, leg] of legs) {
    const session = await harness.openSession()
    const before = harness.lastSequence()
    const message = `${field} is for margin orders only`
    const reply = await client.call('CreateOrder', { ...ORDER, [field]: leg }, session)
    t.match(reply, { code: status.INVALID_ARGUMENT, reason: 'VALIDATION_ERROR', message, details: { field } }, JSON.stringify(leg))
    const { json, status: http } = await call(harness, session, 'POST', '/api/v1/orders', { ...REST_ORDER, [field]: leg })
    t.match([http, json], [400, { code: 'VALIDATION_ERROR', message, details: { field } }], `${field} over REST`)
    const { response } = await client.call('BatchCreateOrders', { orders: [{ ...ORDER, [field]: leg }] }, session)
    t.match(response.results, [{ error: { code: 'VALIDATION_ERROR', message } }], `${field} in a batch`)
    t.equal(harness.lastSequence(), before, 'nothing was asked of the engine')
  }
})

t.test('bytes that are no message are refused after the signature was checked', async (t) => {
  const session = await harness.openSession()
  const path = pathOf('CreateOrder')
  const bytes = Buffer.from('0affff', 'hex')
  const reply = await client.send(path, bytes, credentialsFor(session, path, bytes))
  t.match(reply, { code: status.INVALID_ARGUMENT, reason: 'MALFORMED_REQUEST' })
  t.match(await client.send(path, bytes, {}), { code: status.UNAUTHENTICATED, reason: 'UNAUTHENTICATED' })
})

t.test('a method nobody serves is UNIMPLEMENTED', async (t) => {
  for (const path of ['/svc.v1.OrdersService/NoSuch', '/svc.v1.NoSuch/CreateOrder', '/svc.v2.OrdersService/CreateOrder', '/nothing']) {
    t.equal((await client.send(path, Buffer.alloc(0), {})).code, status.UNIMPLEMENTED, path)
  }
})

/** Answers to six orders of a new account, all in one minute of the wall clock: the budget is one of a minute. */
async function sixOrders(): Promise<{ session: Session; replies: GrpcReply[] }> {
  const minuteNow = (): number => Math.floor(Date.now() / 60_000)
  for (let attempt = 0; attempt < 5; attempt++) {
    const session = await harness.openSession()
    await client.call('Mint', {}, session)
    const minute = minuteNow()
    const replies: GrpcReply[] = []
    for (let i = 0; i < 6; i++) replies.push(await client.call('CreateOrder', ORDER, session))
    if (minuteNow() === minute) return { session, replies }
  }
  throw new Error('five times a minute ended meanwhile')
}

t.test('metered answers tell the budget, a refusal when to come back', async (t) => {
  const { session, replies } = await sixOrders()
  for (const [i, { code, metadata }] of replies.slice(0, 5).entries()) {
    t.equal(code, status.OK)
    t.equal(metadata['x-ratelimit-limit-minute'], '5')
    t.equal(metadata['x-ratelimit-remaining-minute'], String(4 - i))
  }
  const over = replies[5]!
  t.match(over, { code: status.RESOURCE_EXHAUSTED, reason: 'RATE_LIMIT_EXCEEDED' })
  t.ok(over.retrySeconds! >= 1 && over.retrySeconds! <= 60, 'RetryInfo')
  t.equal(over.metadata['retry-after'], String(over.retrySeconds))
  t.equal(over.details['retryAfter'], String(over.retrySeconds))
  t.equal((await client.call('GetProfile', {}, session)).metadata['x-ratelimit-limit-minute'], undefined, 'reads are not metered')
})

t.test('maintenance says so in the metadata, and only where it blocks', async (t) => {
  const session = await harness.openSession()
  await client.call('Mint', {}, session)
  await harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 1 })
  const blocked = await client.call('CreateOrder', ORDER, session)
  t.match(blocked, { code: status.UNAVAILABLE, reason: 'OPERATIONS_BLOCKED', metadata: { 'x-svc-maintenance-blocked': 'true' } })
  const open = await client.call('BatchCancelAllOrders', {}, session)
  t.equal(open.code, status.OK)
  t.equal(open.metadata['x-svc-maintenance-blocked'], undefined)
  await harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 0 })
  t.equal((await client.call('CreateOrder', ORDER, session)).code, status.OK)
})

/** A call whose message is sent gzipped, as a frame with the compressed flag. */
async function callCompressed(path: string, bytes: Buffer, entries: Record<string, string>): Promise<string> {
  const session = connect(`http://127.0.0.1:${harness.grpcPort}`)
  const body = gzipSync(bytes)
  const head = Buffer.alloc(5)
  head[0] = 1
  head.writeUInt32BE(body.length, 1)
  const stream = session.request({
    ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', 'grpc-encoding': 'gzip', ...entries,
  })
  const ended = new Promise<string>((resolve, reject) => {
    const note = (headers: Record<string, unknown>): void => {
      if (headers['grpc-status'] !== undefined) resolve(String(headers['grpc-status']))
    }
    stream.on('response', note)
    stream.on('trailers', note)
    stream.on('error', reject)
  })
  stream.resume()
  stream.end(Buffer.concat([head, body]))
  const code = await ended
  session.destroy()
  return code
}

t.test('the signature of a compressed message is over the serialised bytes', async (t) => {
  const session = await harness.openSession()
  const path = pathOf('CancelOrder')
  const bytes = encodeMessage('CancelOrderRequest', { orderId: '00000000-0005-8001-8000-00001f2a335e' })
  t.equal(await callCompressed(path, bytes, credentialsFor(session, path, bytes)), String(status.NOT_FOUND), 'it passed and was looked up')
  const before = harness.lastSequence()
  t.equal(await callCompressed(path, bytes, credentialsFor(session, path, gzipSync(bytes))), String(status.UNAUTHENTICATED))
  t.equal(harness.lastSequence(), before)
})
