/**
 * Promise: who is refused for want of funds is told what was required, what was available and in which asset; who
 * passed a limit is told which; the same on REST, gRPC and sockets. Of a master's funds its sub-accounts learn nothing.
 */
import t from 'tap'
import { CommandType, UPSERT_AGENT_COMMAND } from '../../core/layout/command.ts'
import {
  call, delegate, makeSubAccount, startHarness, testGenesis, type Session,
} from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { OrderSocket } from '../support/order_client.ts'
import { signerOf } from '../support/sockets.ts'
import { grpcTransport } from '../support/transports.ts'

const ORDERS = '/api/v1/orders'
const OPEN_MOST = 3
const harness = await startHarness(
  ['--grpc-thread', '1', '--ws-order-entry', '1'], testGenesis({ openOrdersPerAccount: OPEN_MOST }),
)
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const pair = harness.genesis.pairs[0]!
const usdc = harness.genesis.assets[0]!.id
type Said = [code: string, message: string, details: object | undefined]

async function trader(): Promise<Session> {
  const session = await harness.openSession()
  await call(harness, session, 'POST', '/api/v1/faucet/mint')
  return session
}

const limit = (side: string, quantity: string, price: string, more: object = {}): object =>
  ({ tradingPairId: pair.id, orderType: 'LIMIT', side, quantity, price, ...more })
const market = (side: string, quantity: string, more: object = {}): object =>
  ({ tradingPairId: pair.id, orderType: 'MARKET', side, quantity, ...more })

async function said(session: Session, path: string, body: object, method = 'POST'): Promise<Said> {
  const { json } = await call(harness, session, method, path, body)
  return [json.code, json.message, json.details]
}

const ann = await trader()
const SHORT: Said = [
  'INSUFFICIENT_BALANCE', 'Insufficient balance: 89100 USDC required, 10000 USDC available',
  { required: '89100', available: '10000', asset: 'USDC' },
]

t.test('funds, on every transport', async (t) => {
  const order = limit('BUY', '900', '99')
  t.same(await said(ann, ORDERS, order), SHORT)
  const grpc = await grpcTransport(client)('CreateOrder', order as never, ann) as { refused: string; message: string; details: object }
  t.same([grpc.refused, grpc.message], SHORT.slice(0, 2))
  t.match(grpc.details, SHORT[2])
  const socket = await OrderSocket.inSession(harness.port, signerOf(ann))
  const { error } = await socket.counted('order.create', order)
  t.same([error.code, error.message, error.details], SHORT)
  const { json } = await call(harness, ann, 'POST', `${ORDERS}/batch-create`, { orders: [order] })
  t.same(json.results[0].error, { code: SHORT[0], message: SHORT[1] })
  socket.close()
})

t.test('funds, of every kind of order', async (t) => {
  const [bob, maker] = [await trader(), await trader()]
  t.same(await said(bob, ORDERS, limit('SELL', '1.5', '130')), [
    'INSUFFICIENT_BALANCE', 'Insufficient balance: 1.5 BTC required, 1 BTC available', { required: '1.5', available: '1', asset: 'BTC' },
  ])
  await call(harness, maker, 'POST', ORDERS, limit('SELL', '0.6', '12000'))
  await call(harness, maker, 'POST', ORDERS, limit('SELL', '0.4', '13000'))
  // 7200 at 12000, then 5200 at 13000, and the fee of the taker. What comes behind the second is not looked at.
  const whole = 'Insufficient balance: at least 12406.2 USDC required, 10000 USDC available'
  t.same(await said(bob, ORDERS, market('BUY', '2')), [
    'INSUFFICIENT_BALANCE', whole, { required: '12406.2', available: '10000', asset: 'USDC' },
  ])
  const { json: { orderId } } = await call(harness, bob, 'POST', ORDERS, limit('BUY', '1', '9000', { clientOrderId: 'mine' }))
  // What the original gives back counts.
  const replaced: Said = [
    'INSUFFICIENT_BALANCE', 'Insufficient balance: 10500 USDC required, 10000 USDC available',
    { required: '10500', available: '10000', asset: 'USDC' },
  ]
  t.same(await said(bob, `${ORDERS}/${orderId}`, { price: '10500' }, 'PUT'), replaced)
  t.same(await said(bob, `${ORDERS}/client:mine`, { price: '10500' }, 'PUT'), replaced, 'named by its client order id')
  for (const each of [maker, bob]) await call(harness, each, 'POST', `${ORDERS}/batch-cancel-all`)
})

t.test('terms of the pair', async (t) => {
  t.same(await said(ann, ORDERS, limit('BUY', '0.0001', '99')), [
    'BELOW_MIN_NOTIONAL', 'Order value is below the minimum notional: the minimum is 1 USDC',
    { field: 'quantity', minimum: '1', asset: 'USDC' },
  ])
  t.same(await said(ann, ORDERS, limit('SELL', '1000.5', '99')), [
    'ABOVE_MAX_ORDER_SIZE', 'Quantity or value is above the maximum order size: the maximum is 1000 BTC',
    { field: 'quantity', maximum: '1000', asset: 'BTC' },
  ])
  const named = limit('SELL', '0.1', '150', { clientOrderId: 'large' })
  await call(harness, ann, 'POST', ORDERS, named)
  const above = { field: 'quantity', maximum: '1000', asset: 'BTC' }
  t.match(await said(ann, `${ORDERS}/client:large`, { quantity: '1000.5' }, 'PUT'), ['ABOVE_MAX_ORDER_SIZE', /is 1000 BTC$/, above])
  t.match(await said(ann, `${ORDERS}/client:large`, { price: '150000', quantity: '999.5' }, 'PUT'), ['INSUFFICIENT_BALANCE'])
  await call(harness, ann, 'POST', `${ORDERS}/batch-cancel-all`)
  const [, words, details] = await said(ann, ORDERS, limit('BUY', '0.1', '167772.17'))
  t.match(words, /: a multiple of 0.01, at most 167772.15$/)
  t.same(details, { field: 'price', maximum: '167772.15' })
  t.match(await said(ann, ORDERS, limit('BUY', '0.1', '99.001')), ['INVALID_TICK', /multiple of 0.01/, { field: 'price' }])
  t.match(await said(ann, ORDERS, limit('BUY', '0.00001', '99')), ['INVALID_LOT', /multiple of 0.0001/, { field: 'quantity' }])
})

t.test('orders at rest', async (t) => {
  const cat = await trader()
  for (let i = 0; i < OPEN_MOST; i++) await call(harness, cat, 'POST', ORDERS, limit('BUY', '0.1', '50'))
  t.same(await said(cat, ORDERS, limit('BUY', '0.1', '50')), [
    'TOO_MANY_OPEN_ORDERS', `Too many open orders: an account may have ${OPEN_MOST} at rest`, { limit: OPEN_MOST },
  ])
})

t.test('sub-accounts', async (t) => {
  const master = await trader()
  const wallet = (await harness.openSession()).address.replace(/^0x../, '0xab')
  const id = await makeSubAccount(harness, master, wallet)
  const sub = await harness.openSession(0, wallet)
  t.same(await said(master, '/api/v1/accounts/sub-accounts/transfer', {
    subAccountId: id, assetId: usdc, amount: '10000.5', direction: 'TO_SUB_ACCOUNT',
  }), [
    'INSUFFICIENT_BALANCE', 'Insufficient balance: 10000.5 USDC required, 10000 USDC available',
    { field: 'amount', required: '10000.5', available: '10000', asset: 'USDC' },
  ])
  const funded = limit('BUY', '1', '9000', { useMasterBalance: true })
  t.same(await said(sub, ORDERS, funded), [
    'SUB_ACCOUNT_LIMIT_EXCEEDED', 'The order exceeds what the sub-account may spend of its master\'s balance: ' +
      '9000 USDC required, 0 USDC available', { required: '9000', available: '0', asset: 'USDC' },
  ], 'no limit at all')
  const { json } = await call(harness, master, 'POST', '/api/v1/accounts/sub-accounts/limits', {
    subAccountId: id, assetId: usdc, maxAmount: '50000', dailyLimit: '20000',
  })
  t.equal(json.limit.maxAmount, '50000')
  await call(harness, sub, 'POST', ORDERS, limit('BUY', '0.5', '9000', { useMasterBalance: true }))
  t.match(await said(sub, ORDERS, limit('BUY', '2', '9000', { useMasterBalance: true })), [
    'SUB_ACCOUNT_LIMIT_EXCEEDED', /: 18000 USDC required, 15500 USDC available$/,
  ])
  t.same(await said(sub, ORDERS, limit('BUY', '1', '15000', { useMasterBalance: true })), [
    'INSUFFICIENT_BALANCE', 'Insufficient balance: 15000 USDC required', { required: '15000', asset: 'USDC' },
  ], 'of the master nothing is told')
  t.match(await said(master, ORDERS, limit('BUY', '1', '90', { useMasterBalance: true })), [
    'NOT_SUB_ACCOUNT', /./, { field: 'useMasterBalance' },
  ])
})

t.test('agents', async (t) => {
  const owner = await trader()
  const { session } = await delegate(harness, owner)
  await harness.operate(CommandType.UPSERT_AGENT, UPSERT_AGENT_COMMAND, {
    session: owner.row, sessionGeneration: owner.generation, address: session.address.slice(2), grants: 0xf, expiresAt: 0,
    pairs: '01'.padEnd(64, '0'), maxNotional: 100_000_000_000n, maxOpenOrders: 1,
  })
  t.same(await said(session, ORDERS, limit('BUY', '1', '101')), [
    'AGENT_NOT_ALLOWED', 'The delegated agent is not allowed to do this: the value of the order is above what is granted: 100 USDC',
    { grant: 'NOTIONAL', limit: '100', asset: 'USDC' },
  ])
  await call(harness, session, 'POST', ORDERS, limit('BUY', '1', '99'))
  t.same(await said(session, ORDERS, limit('BUY', '1', '99')), [
    'AGENT_NOT_ALLOWED', 'The delegated agent is not allowed to do this: it has as many open orders as are granted: 1',
    { grant: 'OPEN_ORDERS', limit: 1 },
  ])
})

t.test('requests', async (t) => {
  const dan = await trader()
  for (let i = 0; i < 4; i++) await call(harness, dan, 'POST', '/api/v1/faucet/mint')
  t.match(await said(dan, '/api/v1/faucet/mint', {}), ['FAUCET_LIMIT', /: the limit is 5$/, { limit: 5 }])
  const complex = await said(dan, ORDERS, { ...limit('BUY', '1', '99'), more: Array.from({ length: 3000 }, () => 0) })
  t.match(complex, ['BODY_TOO_COMPLEX', /^The body has more than [0-9]+ values, or more than 16 inside one another$/, { depth: 16 }])
})
