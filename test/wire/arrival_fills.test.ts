/**
 * Promise: the answer to an order that traded on arrival says how much, for how much and at which fee, and with `returnFills` fill by fill,
 * the same on every transport, single and in batches, for creates and replacements. An order that rests is answered as ever. A repeated key
 * has the same answer; when the ring has gone on over the fills, the same without them.
 */
import t, { type Test } from 'tap'
import { call, startHarness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, typeOf } from '../support/grpc.ts'
import { StreamClient } from '../support/grpc_stream.ts'
import { OrderSocket } from '../support/order_client.ts'
import { signerOf } from '../support/sockets.ts'
import { grpcTransport, messageOf, restTransport, type Json } from '../support/transports.ts'

const harness = await startHarness(['--grpc-thread', '1', '--ws-order-entry', '1', '--event-ring', '1024'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const tradingPairId = harness.genesis.pairs.find(({ symbol }) => symbol === 'ETH/USDC')!.id
const trader = async (): Promise<Session> => {
  const session = await harness.openSession()
  for (let mint = 0; mint < 3; mint++) await call(harness, session, 'POST', '/api/v1/faucet/mint')
  return session
}
const [maker, taker] = [await trader(), await trader()]
const limit = (side: string, quantity: string, price: string, more: object = {}): Json =>
  ({ tradingPairId, orderType: 'LIMIT', side, quantity, price, ...more })

type Ask = (name: 'CreateOrder' | 'ReplaceOrder' | 'BatchCreateOrders' | 'BatchReplaceOrders', input: Json) => Promise<Json>
const over = restTransport(harness.port)
const rest: Ask = (name, input) => over(name, input, taker)
const grpc = grpcTransport(client)
const [signed, counted] = [
  await OrderSocket.open(harness.port, signerOf(taker)), await OrderSocket.inSession(harness.port, signerOf(taker)),
]
const stream = new StreamClient(client)
let asked = 0
const TYPES = {
  CreateOrder: 'order.create', ReplaceOrder: 'order.replace', BatchCreateOrders: 'order.batch', BatchReplaceOrders: 'order.batch_replace',
} as const
const TRANSPORTS: Record<string, Ask> = {
  'REST': rest,
  'WebSocket, signed': async (name, input) => (await signed.signed(TYPES[name], input))['data'],
  'WebSocket, session': async (name, input) => (await counted.counted(TYPES[name], input))['data'],
  'gRPC': (name, input) => grpc(name, input, taker),
  'StreamOrders': async (name, input) => {
    const field = name[0]!.toLowerCase() + name.slice(1)
    const action = { requestId: `${asked++}`, [field]: messageOf(typeOf(`${name}Request`), input) }
    return (await stream.ask(action, taker))[field]
  },
}

/** Of an answer what is looked at here; an empty list of gRPC is none. */
function traded(result: Json): Json {
  const told: Json = {}
  for (const field of ['tradesCount', 'totalFilled', 'averageFillPrice', 'totalFilledQuote', 'totalFee']) {
    if (result[field] !== undefined && result[field] !== null) told[field] = result[field]
  }
  const fills = result['fills'] ?? []
  return fills.length === 0 ? told : { ...told, fills }
}

async function rests(...orders: Json[]): Promise<void> {
  const { json } = await call(harness, maker, 'POST', '/api/v1/orders/batch-create', { orders })
  if (json.totalFailed !== 0) throw new Error(JSON.stringify(json))
}

const TWO = {
  tradesCount: 2, totalFilled: '0.3', averageFillPrice: '100.3333333333', totalFilledQuote: '30.1', totalFee: '0.01505',
}
const FILLS = [{ price: '100', quantity: '0.2', fee: '0.01' }, { price: '101', quantity: '0.1', fee: '0.00505' }]
const asks = (): Promise<void> => rests(limit('SELL', '0.2', '100'), limit('SELL', '0.1', '101'))

/** The fills are those of the test, and each is a trade of its own. */
function sameFills(t: Test, { fills, ...told }: Json, name: string): void {
  t.same(told, TWO, name)
  t.same(fills.map(({ tradeId: _, ...fill }: Json) => fill), FILLS, name)
  t.equal(new Set(fills.map(({ tradeId }: Json) => tradeId)).size, 2)
}

for (const [name, ask] of Object.entries(TRANSPORTS)) {
  t.test(name, async (t) => {
    await asks()
    const order = limit('BUY', '0.3', '101', { idempotencyKey: `taker over ${name}` })
    const first = await ask('CreateOrder', { ...order, returnFills: true })
    sameFills(t, traded(first['matchResult']), 'a create')
    const again = await ask('CreateOrder', { ...order, returnFills: true })
    t.same(again, first, 'the same key answers the same')
    const plain = await ask('CreateOrder', order)
    t.equal(plain['orderId'], first['orderId'], 'how it is answered is no part of what a key stands for')
    t.same(traded(plain['matchResult']), TWO, 'totals, and no fills for who does not ask')

    await asks()
    const resting = await ask('CreateOrder', limit('BUY', '0.3', '90', { returnFills: true }))
    t.same(traded(resting['matchResult']), { tradesCount: 0, totalFilled: '0' }, 'one that rests')
    const replaced = await ask('ReplaceOrder', { orderId: resting['orderId'], price: '101', returnFills: true })
    sameFills(t, traded(replaced['matchResult']), 'a replacement')

    await asks()
    const { results } = await ask('BatchCreateOrders', {
      orders: [
        limit('BUY', '0.1', '90'), limit('BUY', '0.3', '101', { returnFills: true }), limit('BUY', '0.1', '91', { returnFills: true }),
      ],
    })
    t.notOk('fills' in traded(results[0].matchResult))
    sameFills(t, traded(results[1].matchResult), 'an item of a batch')
    t.notOk('fills' in traded(results[2].matchResult))
    await asks()
    const moved = await ask('BatchReplaceOrders', {
      orders: [
        { orderId: results[0].orderId, price: '101', quantity: '0.3', returnFills: true }, { orderId: results[2].orderId, price: '92' },
      ],
    })
    sameFills(t, traded(moved['results'][0].matchResult), 'an item of a batch of replacements')
    await call(harness, taker, 'POST', '/api/v1/orders/batch-cancel-all')
  })
}

t.test('of many fills the first twenty', async (t) => {
  await rests(...Array.from({ length: 25 }, (_, i) => limit('SELL', '0.01', `${100 + i}`)))
  const { matchResult } = await rest('CreateOrder', limit('BUY', '0.25', '200', { returnFills: true }))
  t.match(matchResult, { tradesCount: 25, totalFilled: '0.25', totalFilledQuote: '28', totalFee: '0.014' })
  t.same(matchResult.fills.map(({ price }: Json) => price), Array.from({ length: 20 }, (_, i) => `${100 + i}`))
})

t.test('a seller, and fees that are not the same for every fill', async (t) => {
  await rests(limit('BUY', '0.3', '50'), limit('BUY', '0.1', '49.99'))
  const order = { tradingPairId, orderType: 'MARKET', side: 'SELL', quantity: '0.4', returnFills: true }
  const { matchResult, sequence, orderId } = await rest('CreateOrder', order)
  t.match(matchResult, { tradesCount: 2, totalFilledQuote: '19.999', totalFee: '0.01' })
  t.same(matchResult.fills.map(({ fee }: Json) => fee), ['0.0075', '0.0025'])
  t.match(matchResult.fills.map(({ tradeId }: Json) => tradeId), [/^[0-9a-f-]{36}$/, /^[0-9a-f-]{36}$/])
  t.ok(sequence > 0 && orderId !== '')
})

t.test('a key that is repeated after the ring went on has everything but the fills', async (t) => {
  await asks()
  const order = limit('BUY', '0.3', '101', { idempotencyKey: 'long ago', returnFills: true })
  const { matchResult: { fills, ...first }, ...answer } = await rest('CreateOrder', order)
  t.equal(fills.length, 2)
  // More events than the ring has places.
  for (let round = 0; round < 6; round++) {
    await rests(...Array.from({ length: 100 }, () => limit('BUY', '0.1', '10')))
    await call(harness, maker, 'POST', '/api/v1/orders/batch-cancel-all')
  }
  const { matchResult, ...again } = await rest('CreateOrder', order)
  t.same(again, answer)
  t.same(matchResult, first, 'the totals are those of the receipt')
})

t.test('what is no yes or no', async (t) => {
  for (const returnFills of ['yes', 1, []]) {
    const refused = await rest('CreateOrder', limit('BUY', '0.1', '90', { returnFills }))
    t.match(refused, { refused: 'VALIDATION_ERROR', details: { field: 'returnFills' } }, JSON.stringify(returnFills))
  }
  signed.close()
  counted.close()
})
