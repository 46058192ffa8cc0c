/**
 * Promise: orders of perpetuals are the same over REST, gRPC and the WebSocket: what they say reaches the engine, what is wrong is refused
 * by its name, and records say where an order stands while it rests and after it ended. A strategy key that is new is opened in front of
 * its order, once for a batch, and never by an order that repeats a key.
 */
import t, { type Test } from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { parentMarginId } from '../../core/layout/ids.ts'
import { CollateralMove, MOVE_COLLATERAL_COMMAND, SET_INDEX_PRICE_COMMAND } from '../../core/layout/margin.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { readAccount, readSessionRow } from '../../core/view/accounts.ts'
import { delegate, startHarness, testGenesis, type Session } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { OrderSocket } from '../support/order_client.ts'
import { signerOf } from '../support/sockets.ts'
import { grpcTransport, restTransport, type Json } from '../support/transports.ts'

t.setTimeout(120_000)
const BUCKETS = 12
const harness = await startHarness(['--grpc-thread', '1', '--ws-order-entry', '1'], testGenesis({ bucketsPerMarginAccount: BUCKETS }, true))
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const { genesis, state } = harness
const rest = restTransport(harness.port)
const [perp, stale] = genesis.pairs.filter((pair) => pair.perp !== null)
const spot = genesis.pairs[0]!
const PRICE = 60_000

async function priced(): Promise<void> {
  const price = PRICE * 10 ** perp!.priceScale / perp!.tickUnits
  await harness.operate(CommandType.SET_INDEX_PRICE, SET_INDEX_PRICE_COMMAND, {
    session: -1, pair: perp!.index, price, force: 1, observedAt: Date.now(),
  })
}

/** Somebody with 9,000 units of collateral. */
async function trader(): Promise<Session> {
  const session = await harness.openSession()
  await rest('Mint', {}, session)
  const record = await harness.operate(CommandType.MOVE_COLLATERAL, MOVE_COLLATERAL_COMMAND, {
    session: session.row, sessionGeneration: session.generation, move: CollateralMove.DEPOSIT, marginAccount: -1, bucket: -1,
    amount: 9_000_000_000n,
  })
  if (record[RESULT.at.code] !== 0) throw new Error(`deposit: ${record[RESULT.at.code]}`)
  return session
}
const accountOf = (session: Session): number => readSessionRow(state, session.row)!.account
const parentOf = (session: Session): string =>
  parentMarginId(readAccount(state, accountOf(session)).createdSequence, accountOf(session))

await priced()
const [maker, taker] = [await trader(), await trader()]
const ORDER = {
  tradingPairId: perp!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.01', price: '50000', tradingMode: 'MARGIN', leverage: '10',
}

/** One order over each transport: its answer, or the code of the refusal, its text and the field. */
const socket = await OrderSocket.inSession(harness.port, signerOf(maker))
type Outcome = Json & { refused?: string; message?: string; details?: Json }
const TRANSPORTS: Record<string, (order: Json) => Promise<Outcome>> = {
  REST: (order) => rest('CreateOrder', order, maker),
  gRPC: (order) => grpcTransport(client)('CreateOrder', order, maker),
  WebSocket: async (order) => {
    const { data, error } = await socket.counted('order.create', order)
    return error === undefined ? data : { refused: error.code, message: error.message, details: error.details }
  },
}
const must = (outcome: Outcome): Json => {
  if (outcome.refused !== undefined) throw new Error(JSON.stringify(outcome))
  return outcome
}
const record = async (orderId: string, session = maker): Promise<Json> => must(await rest('GetOrder', { orderId }, session))
/** Commands that the engine took while `act` ran. */
async function commands(act: () => Promise<unknown>): Promise<number> {
  const before = harness.lastSequence()
  await act()
  return harness.lastSequence() - before
}

for (const [name, place] of Object.entries(TRANSPORTS)) {
  t.test(`${name}: what an order says is what rests`, async (t) => {
    const parent = parentOf(maker)
    const said: [Json, Json][] = [
      [{}, { leverage: '10', marginMode: 'ISOLATED', reduceOnly: false }],
      [{ leverage: '2.50', positionSide: 'SHORT', marginAccountId: parent }, { leverage: '2.5', side: 'BUY' }],
      [{ marginMode: 'CROSS', riskBucketCollateral: '700.5' }, { marginMode: 'CROSS', leverage: '10' }],
      [{ strategyKey: `key ${name}` }, { strategyKey: `key ${name}`, marginMode: 'ISOLATED' }],
    ]
    for (const [more, wanted] of said) {
      const { orderId, matchResult } = must(await place({ ...ORDER, ...more }))
      t.equal(matchResult.status, 'SUBMITTED')
      const order = await record(orderId)
      const every = { tradingMode: 'MARGIN', symbol: perp!.symbol, marginAccountId: parent, price: '50000' }
      t.match(order, { ...every, ...wanted }, JSON.stringify(more))
      t.equal(order['strategyKey'], more['strategyKey'])
      t.match(order['riskBucketId'], /^[0-9a-f-]{36}$/)
      const again = must(await place({ ...ORDER, riskBucketId: order['riskBucketId'], marginMode: order['marginMode'] }))
      t.match(await record(again['orderId']), { riskBucketId: order['riskBucketId'], strategyKey: more['strategyKey'] }, 'named by its id')
    }
    const { orders } = must(await rest('ListOrders', { status: ['SUBMITTED'], tradingMode: 'MARGIN', pageSize: 100 }, maker))
    t.equal(orders.length, 2 * said.length)
    t.ok(orders.every(({ riskBucketId }: Json) => riskBucketId !== undefined))
    t.same(must(await rest('ListOrders', { status: ['SUBMITTED'], tradingMode: 'SPOT' }, maker))['orders'], [])
    must(await rest('BatchCancelAllOrders', {}, maker))
    t.match(await record(orders[0].orderId), { status: 'CANCELLED', riskBucketId: orders[0].riskBucketId, leverage: orders[0].leverage })
  })

  t.test(`${name}: what is wrong is refused by its name`, async (t) => {
    const other = parentOf(taker)
    const wrong: [Json, string, string | undefined][] = [
      [{ leverage: undefined }, 'VALIDATION_ERROR', 'leverage'], [{ leverage: '1.001' }, 'VALIDATION_ERROR', 'leverage'],
      [{ tradingMode: undefined }, 'WRONG_TRADING_MODE', 'tradingMode'], [{ tradingPairId: spot.id }, 'WRONG_TRADING_MODE', 'tradingMode'],
      [{ tradingPairId: spot.id, tradingMode: 'SPOT' }, 'VALIDATION_ERROR', 'leverage'],
      [{ useMasterBalance: true }, 'MASTER_BALANCE_NOT_ALLOWED', 'useMasterBalance'],
      [{ strategyKey: 'x'.repeat(49) }, 'VALIDATION_ERROR', 'strategyKey'], [{ marginAccountId: other }, 'NOT_FOUND', 'marginAccountId'],
      [{ riskBucketId: other }, 'NOT_FOUND', 'riskBucketId'],
      [{ trailingStop: { trailBps: 50 }, reduceOnly: true }, 'VALIDATION_ERROR', 'trailingStop'],
      [{ takeProfit: { triggerPrice: '49999', orderType: 'MARKET' } }, 'INVALID_TRIGGER_PRICE', 'takeProfit.triggerPrice'],
      [{ riskBucketCollateral: '0.0000001' }, 'VALIDATION_ERROR', 'riskBucketCollateral'],
      [{ leverage: '51' }, 'LEVERAGE_TOO_HIGH', 'leverage'], [{ leverage: '0.5' }, 'LEVERAGE_TOO_LOW', 'leverage'],
      [{ reduceOnly: true }, 'REDUCE_ONLY_REJECTED', 'reduceOnly'], [{ quantity: '100' }, 'INSUFFICIENT_MARGIN', undefined],
      [{ tradingPairId: stale!.id, price: '3000', quantity: '0.01' }, 'PRICE_STALE', 'tradingPairId'],
    ]
    for (const [more, code, field] of wrong) {
      const order = Object.fromEntries(Object.entries({ ...ORDER, ...more }).filter(([, value]) => value !== undefined))
      const outcome = await place(order)
      t.equal(outcome.refused, code, JSON.stringify(more))
      t.equal(outcome.details?.['field'], field, JSON.stringify(more))
      if (code === 'INSUFFICIENT_MARGIN') {
        t.match(outcome.message, /^insufficient initial margin/)
        t.equal(REFUSALS[code].http, 400)
      }
    }
  })
}

t.test('a strategy key is opened in front of its first order, and only then', async (t) => {
  const place = (strategyKey: string, more: Json = {}): Promise<Outcome> => rest('CreateOrder', { ...ORDER, strategyKey, ...more }, taker)
  t.equal(await commands(async () => must(await place('one'))), 2)
  t.equal(await commands(async () => must(await place('one'))), 1)
  t.equal(await commands(async () => must(await place('one', { marginMode: 'CROSS' }))), 2, 'cross is another')
  t.equal(await commands(async () => must(await place('one', { idempotencyKey: 'k', marginMode: 'CROSS' }))), 1)
})

t.test('a repeated key has its first answer and opens nothing; another leverage is another payload', async (t) => {
  const order = { ...ORDER, strategyKey: 'kept', idempotencyKey: 'key 1', riskBucketCollateral: '80' }
  const first = must(await rest('CreateOrder', order, taker))
  let again: Json = {}
  t.equal(await commands(async () => (again = must(await grpcTransport(client)('CreateOrder', order, taker)))), 1)
  t.equal(again['orderId'], first['orderId'])
  for (const more of [{ leverage: '9' }, { strategyKey: 'other' }, { marginMode: 'CROSS' }, { riskBucketCollateral: '81' }, {
    reduceOnly: true, riskBucketCollateral: undefined,
  }]) {
    const sent = Object.fromEntries(Object.entries({ ...order, ...more }).filter(([, value]) => value !== undefined))
    t.equal((await rest('CreateOrder', sent, taker) as Outcome).refused, 'IDEMPOTENCY_KEY_CONFLICT', JSON.stringify(more))
  }
})

t.test('a batch opens each key once and enters whole; what cannot be opened is its items own refusal', async (t) => {
  const session = await trader()
  const keys = ['a', 'b', 'a', 'b', 'a']
  const orders = keys.map((strategyKey) => ({ ...ORDER, strategyKey }))
  let answer: Json = {}
  t.equal(await commands(async () => (answer = must(await rest('BatchCreateOrders', { orders }, session)))), 2 + keys.length)
  t.equal(answer['totalSucceeded'], keys.length)
  const buckets = await Promise.all(answer['results'].map(async ({ orderId }: Json) => (await record(orderId, session))['riskBucketId']))
  t.equal(new Set(buckets).size, 2)
  t.same(buckets.map((id) => (id === buckets[0] ? 'a' : 'b')), keys)
  const many = Array.from({ length: BUCKETS }, (_, i) => ({ ...ORDER, strategyKey: `many ${i}`, quantity: '0.001' }))
  const { results } = must(await rest('BatchCreateOrders', { orders: [{ ...ORDER, leverage: '0' }, ...many] }, session))
  const codes = results.map(({ error }: Json) => error?.code)
  t.equal(codes[0], 'VALIDATION_ERROR')
  t.same(codes.slice(1), many.map((_, i) => (i < BUCKETS - 2 ? undefined : 'TOO_MANY_RISK_BUCKETS')))
  t.equal((await rest('CreateOrder', { ...ORDER, strategyKey: 'one more' }, session) as Outcome).refused, 'TOO_MANY_RISK_BUCKETS')
})

async function trade(t: Test): Promise<{ made: string; took: string }> {
  must(await rest('BatchCancelAllOrders', {}, maker))
  must(await rest('BatchCancelAllOrders', {}, taker))
  await priced()
  const at = { price: String(PRICE), quantity: '0.02' }
  const { orderId: made } = must(await rest('CreateOrder', { ...ORDER, ...at, side: 'SELL', strategyKey: 'trading' }, maker))
  const took = must(await rest('CreateOrder', { ...ORDER, ...at, strategyKey: 'trading' }, taker))
  t.match(took['matchResult'], { status: 'FILLED', totalFilled: '0.02', averageFillPrice: String(PRICE) })
  t.equal(Number(took['matchResult'].totalFee), PRICE * 0.02 * 0.0005, 'in the collateral asset')
  return { made, took: took['orderId'] }
}

t.test('orders that ended say where they stood; what reduces is cut to the position', async (t) => {
  const { made, took } = await trade(t)
  const ended = { status: 'FILLED', tradingMode: 'MARGIN', strategyKey: 'trading', leverage: '10' }
  t.match(await record(made), { ...ended, side: 'SELL', marginAccountId: parentOf(maker) })
  t.match(await record(took, taker), { ...ended, side: 'BUY', marginAccountId: parentOf(taker) })
  const { leverage: _, ...order } = ORDER
  const reducing = { ...order, side: 'SELL', strategyKey: 'trading', reduceOnly: true, price: '65000' }
  const more = must(await rest('CreateOrder', { ...reducing, quantity: '5' }, taker))
  const resting = await record(more['orderId'], taker)
  t.match(resting, { reduceOnly: true, quantity: '0.02', remainingQuantity: '0.02', tradingMode: 'MARGIN' }, 'cut to what there is')
  t.notOk('leverage' in resting)
  t.match(await rest('CreateOrder', { ...reducing, side: 'BUY', price: '50000' }, taker), { refused: 'REDUCE_ONLY_REJECTED' })
})

t.test('a successor keeps bucket and leverage', async (t) => {
  const { orderId } = must(await rest('CreateOrder', { ...ORDER, leverage: '7', strategyKey: 'successor' }, maker))
  const before = await record(orderId)
  for (const change of [{ price: '49000' }, { quantity: '0.005' }, { price: '49500', quantity: '0.02', clientOrderId: 'next' }]) {
    const open = must(await rest('ListOrders', { status: ['SUBMITTED'], tradingMode: 'MARGIN' }, maker))['orders']
    const named = open.find(({ strategyKey }: Json) => strategyKey === 'successor').orderId
    const { orderId: successor } = must(await rest('ReplaceOrder', { orderId: named, ...change }, maker))
    const { riskBucketId, marginAccountId, strategyKey } = before
    t.match(await record(successor), { riskBucketId, marginAccountId, strategyKey, leverage: '7', tradingMode: 'MARGIN', ...change })
    t.match(await record(named), { status: 'CANCELLED', terminalReason: 'REPLACED', riskBucketId })
  }
  const funding = await rest('ReplaceOrder', { orderId: 'client:next', useMasterBalance: true }, maker)
  t.match(funding, { refused: 'MASTER_BALANCE_NOT_ALLOWED', details: { field: 'useMasterBalance' } })
})

t.test('trading pairs and fees', async (t) => {
  const { tradingPairs } = must(await rest('ListTradingPairs', { marketType: 'MARGIN' }, null))
  t.ok(tradingPairs.length >= 3)
  for (const { symbol, baseToken, quoteToken, marketType } of tradingPairs) {
    t.equal(marketType, 'MARGIN')
    t.equal(symbol, `${baseToken}/${quoteToken}-PERP`)
  }
  const named = must(await rest('GetTradingPair', { tradingPairId: encodeURIComponent(perp!.symbol) }, null))
  t.match(named, { tradingPair: { id: perp!.id, marketType: 'MARGIN' } })
  const { leverage: _, ...order } = ORDER
  const fees = must(await rest('SimulateFees', { ...order, price: '50000' }, maker))
  const charged = { takerFee: '0', makerFee: '0.05', totalFee: '0.05', feeToken: 'USDC' }
  t.match(fees, { notional: '500', makerFeeBps: '1', takerFeeBps: '5', ...charged })
  t.match(await rest('SimulateFees', { ...order, tradingMode: 'SPOT' }, maker), { refused: 'WRONG_TRADING_MODE' })
})

t.test('a delegated agent places what it is granted, with strategy keys of its own', async (t) => {
  const owner = await trader()
  const all = await delegate(harness, owner)
  const order = { ...ORDER, strategyKey: 'of an agent' }
  const { orderId } = must(await rest('CreateOrder', order, all.session))
  t.match(await record(orderId, owner), { strategyKey: 'of an agent', marginAccountId: parentOf(owner) })
  const spotOnly = await delegate(harness, owner, [spot.index])
  for (const strategyKey of ['of an agent', 'another']) {
    t.match(await rest('CreateOrder', { ...ORDER, strategyKey }, spotOnly.session), {
      refused: 'AGENT_NOT_ALLOWED', details: { grant: 'PAIR' },
    }, strategyKey)
  }
})
