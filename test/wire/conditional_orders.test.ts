/**
 * Promise: take-profit, stop-loss and trailing stop over the wire, the same over REST and gRPC: attached to a position or brought by the
 * order that opens it, read while they wait and after they ended, cancelled one by one and with everything else. What is wrong is refused
 * by the name of the field, what is another's is missing, agents do what they are granted, maintenance stops nothing but attaching.
 */
import t from 'tap'
import { ConditionalReason, ConditionalState, ConditionType } from '../../core/layout/conditional.ts'
import { conditionalOrderId, IdKind, ocoGroupId, orderId, parseId } from '../../core/layout/ids.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import type { HistoryReply } from '../../core/history/answer/queries.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { delegate, type Session } from '../support/gateway_harness.ts'
import { NO_CONDITIONAL, NO_POSITION } from '../support/session_samples.ts'
import type { Json, Transport } from '../support/transports.ts'
import { eventually, must, waitingGateway } from '../support/waiting_gateway.ts'

t.setTimeout(120_000)
/** What the history has of conditional orders, newest first. */
let ended: Json[] = []
const asked: Json[] = []
const gateway = await waitingGateway(({ id, name, ask }) => {
  asked.push({ name, ...ask })
  const { kind, sequence } = ask as { kind?: number; sequence?: number }
  const answer = name === 'conditionalOrder' ? ended.find((each) => each['createdSequence'] === sequence && each['kind'] === kind) ?? null
    : name === 'conditionalOrders' ? { rows: ended.slice(0, (ask as Json)['limit']), total: ended.length, more: ended.length > 1 } : null
  return { id, answer, sequence: gateway.harness.state.clock[CLOCK.SEQUENCE]! } as HistoryReply
})
t.teardown(() => gateway.close())
const { harness, rest, perp, spot, price, trader, order, opened } = gateway

const WAITING = { state: ['PENDING', 'ARMED'] }
const waiting = async (session: Session, more: Json = {}, by: Transport = rest): Promise<Json[]> =>
  must(await by('ListConditionalOrders', { ...WAITING, ...more }, session))['conditionalOrders']

const PROFIT = { triggerPrice: '66000', orderType: 'LIMIT', limitPrice: '65990', timeInForce: 'IOC', quantity: '0.05' }
const STOP = { triggerPrice: '57000', orderType: 'MARKET', slippageToleranceBps: 50, expiresAt: '2090-01-01T00:00:00.000Z' }

for (const [way, by] of Object.entries(gateway.transports)) {
  t.test(`${way}: attached, read, cancelled`, async (t) => {
    const { long, positionId } = await opened()
    const both = must(await by('AttachTpSl', { positionId, takeProfit: PROFIT, stopLoss: STOP }, long))
    t.strictSame(both, {
      takeProfitOrderId: conditionalOrderId(both['sequence'], ConditionType.TAKE_PROFIT),
      stopLossOrderId: conditionalOrderId(both['sequence'], ConditionType.STOP_LOSS),
      ocoGroupId: ocoGroupId(both['sequence']), sequence: both['sequence'], engineTime: both['engineTime'],
    })
    const trail = must(await by('AttachTpSl', { positionId, trailingStop: { trailBps: 100, activationPrice: '61000' } }, long))
    t.same(Object.keys(trail).sort(), ['engineTime', 'sequence', 'trailingStopOrderId'], 'a trailing stop alone is no pair')
    const { positions: [position] } = must(await by('ListPositions', {}, long))
    const common = {
      tradingPairId: perp.id, symbol: 'BTC/USDC-PERP', side: 'SELL', positionId, marginAccountId: position.marginAccountId,
      riskBucketId: position.riskBucketId,
    }
    const id = both['takeProfitOrderId']
    const profit = must(await by('GetConditionalOrder', { conditionalOrderId: id }, long))
    t.strictSame(profit, {
      conditionalOrderId: id, id, conditionType: 'TAKE_PROFIT', state: 'ARMED', ...common, triggerPrice: '66000', orderType: 'LIMIT',
      limitPrice: '65990', timeInForce: 'IOC', quantity: '0.05', closePosition: false, ocoGroupId: both['ocoGroupId'],
      createdAt: both['engineTime'], updatedAt: both['engineTime'],
    })
    const stop = must(await by('GetConditionalOrder', { conditionalOrderId: both['stopLossOrderId'].toUpperCase() }, long))
    t.match(stop, { conditionType: 'STOP_LOSS', closePosition: true, quantity: '0.1', slippageToleranceBps: 50, expiresAt: STOP.expiresAt })
    const stays = must(await by('GetConditionalOrder', { conditionalOrderId: trail['trailingStopOrderId'] }, long))
    t.match(stays, { conditionType: 'TRAILING_STOP', state: 'PENDING', trailBps: 100, activationPrice: '61000', orderType: 'MARKET' })
    t.notOk('triggerPrice' in stays || 'watermarkPrice' in stays || 'trailArmedAt' in stays, 'it is not armed')
    const ids = (await waiting(long, {}, by)).map((each) => each['id'])
    t.same(ids, [trail['trailingStopOrderId'], both['stopLossOrderId'], id], 'newest first')

    await price(61_000)
    await eventually(async () => must(await by('GetConditionalOrder', { conditionalOrderId: stays['id'] }, long))['state'] === 'ARMED')
    await price(61_500)
    const armed = must(await by('GetConditionalOrder', { conditionalOrderId: stays['id'] }, long))
    t.match(armed, { watermarkPrice: '61500', triggerPrice: '60885', trailArmedAt: String })
    const cancelled = must(await by('CancelConditionalOrder', { conditionalOrderId: id }, long))
    t.match(cancelled, { conditionalOrderId: id, status: 'SUCCESS', sequence: Number, engineTime: String })
    t.match(await by('CancelConditionalOrder', { conditionalOrderId: id }, long), { refused: 'ORDER_NOT_FOUND' })
    t.match(await waiting(long, { conditionType: 'STOP_LOSS' }, by), [{ id: both['stopLossOrderId'] }], 'of a pair the other one stays')
    t.same(await waiting(long, { conditionType: 'TAKE_PROFIT' }, by), [])
    must(await by('BatchCancelAllOrders', {}, long))
  })

  t.test(`${way}: legs of the order that opens a position`, async (t) => {
    const legs = { takeProfit: { triggerPrice: '66000', orderType: 'MARKET' }, stopLoss: STOP, trailingStop: { trailBps: 50 } }
    const [long, short] = [await trader(), await trader()]
    await price(60_000)
    must(await by('CreateOrder', order('SELL', '0.04', '60000'), short))
    const input = order('BUY', '0.1', '60000', { ...legs, idempotencyKey: `legs-${way}` })
    const placed = must(await by('CreateOrder', input, long))
    const { sequence } = placed as { sequence: number }
    t.match(placed, { matchResult: { status: 'PARTIALLY_FILLED' }, ocoGroupId: ocoGroupId(sequence), trailingStopOrderId: String })
    const armed = (await waiting(long, {}, by)).map(({ state, quantity }) => [state, quantity])
    t.same(armed, Array(3).fill(['ARMED', '0.04']), 'what was filled')
    t.strictSame(must(await by('CreateOrder', input, long)), placed, 'a repeated key has the same answer')
    const other = { ...input, stopLoss: { ...STOP, triggerPrice: '56999.9' } }
    t.match(await by('CreateOrder', other, long), { refused: 'IDEMPOTENCY_KEY_CONFLICT' }, 'legs are part of what a key stands for')
    must(await by('BatchCancelAllOrders', {}, long))

    const gain = { takeProfit: { triggerPrice: '60000', orderType: 'MARKET' } }
    const rests = must(await by('CreateOrder', order('SELL', '0.1', '70000', gain), short))
    const [pending] = await waiting(short, {}, by)
    t.match(pending, {
      id: rests['takeProfitOrderId'], state: 'PENDING', side: 'BUY', parentOrderId: rests['orderId'], closePosition: true,
    })
    t.notOk('positionId' in pending! || 'quantity' in pending! || 'ocoGroupId' in rests)
    const { results } = must(await by('BatchCreateOrders', {
      orders: [order('SELL', '0.01', '71000', { trailingStop: legs.trailingStop }), order('SELL', '0.01', '71000')],
    }, short))
    t.match(results[0], { orderId: String, trailingStopOrderId: String })
    t.notOk('trailingStopOrderId' in results[1])
    must(await by('CancelOrder', { orderId: rests['orderId'] }, short))
    t.same((await waiting(short, {}, by)).map(({ id }) => id), [results[0].trailingStopOrderId], 'the legs of an order end with it')
    const unfilled = order('BUY', '0.01', '1000', { timeInForce: 'IOC', takeProfit: { triggerPrice: '2000', orderType: 'MARKET' } })
    t.notOk('takeProfitOrderId' in must(await by('CreateOrder', unfilled, short)), 'nothing filled, nothing rests')
    must(await by('BatchCancelAllOrders', {}, short))
  })
}

t.test('what is wrong is refused by its name', async (t) => {
  const { long, positionId } = await opened()
  const market = { triggerPrice: '66000', orderType: 'MARKET' }
  const wrong: [Json, string, string][] = [
    [{ takeProfit: null }, 'VALIDATION_ERROR', 'takeProfit'],
    [{ takeProfit: {} }, 'VALIDATION_ERROR', 'takeProfit.triggerPrice'],
    [{ takeProfit: { triggerPrice: '66000' } }, 'VALIDATION_ERROR', 'takeProfit.orderType'],
    [{ takeProfit: { ...market, orderType: 'STOP' } }, 'VALIDATION_ERROR', 'takeProfit.orderType'],
    [{ takeProfit: { ...market, triggerPrice: '66000.01' } }, 'INVALID_TICK', 'takeProfit.triggerPrice'],
    [{ takeProfit: { ...market, triggerPrice: '9'.repeat(20) } }, 'INVALID_TICK', 'takeProfit.triggerPrice'],
    [{ takeProfit: { ...market, triggerPrice: 'x' } }, 'VALIDATION_ERROR', 'takeProfit.triggerPrice'],
    [{ takeProfit: { ...market, limitPrice: '66000' } }, 'VALIDATION_ERROR', 'takeProfit.limitPrice'],
    [{ takeProfit: { ...market, timeInForce: 'GTC' } }, 'VALIDATION_ERROR', 'takeProfit.timeInForce'],
    [{ takeProfit: { ...market, slippageToleranceBps: 1001 } }, 'VALIDATION_ERROR', 'takeProfit.slippageToleranceBps'],
    [{ takeProfit: { ...market, orderType: 'LIMIT' } }, 'VALIDATION_ERROR', 'takeProfit.limitPrice'],
    [{ takeProfit: { ...PROFIT, slippageToleranceBps: 5 } }, 'VALIDATION_ERROR', 'takeProfit.slippageToleranceBps'],
    [{ takeProfit: { ...PROFIT, limitPrice: '65990.05' } }, 'INVALID_TICK', 'takeProfit.limitPrice'],
    [{ takeProfit: { ...PROFIT, timeInForce: 'DAY' } }, 'VALIDATION_ERROR', 'takeProfit.timeInForce'],
    [{ stopLoss: { ...STOP, quantity: '0.00001' } }, 'INVALID_LOT', 'stopLoss.quantity'],
    [{ stopLoss: { ...STOP, quantity: '0' } }, 'INVALID_LOT', 'stopLoss.quantity'],
    [{ stopLoss: { ...STOP, expiresAt: '2020-01-01T00:00:00Z' } }, 'INVALID_EXPIRATION', 'stopLoss.expiresAt'],
    [{ stopLoss: { ...STOP, expiresAt: 'soon' } }, 'VALIDATION_ERROR', 'stopLoss.expiresAt'],
    [{ trailingStop: {} }, 'VALIDATION_ERROR', 'trailingStop.trailBps'],
    [{ trailingStop: { trailBps: 9 } }, 'VALIDATION_ERROR', 'trailingStop.trailBps'],
    [{ trailingStop: { trailBps: 2001 } }, 'VALIDATION_ERROR', 'trailingStop.trailBps'],
    [{ trailingStop: { trailBps: 10, quantity: '0.1', closePosition: true } }, 'VALIDATION_ERROR', 'trailingStop.closePosition'],
    [{ trailingStop: { trailBps: 10, closePosition: false } }, 'VALIDATION_ERROR', 'trailingStop.quantity'],
    [{ trailingStop: { trailBps: 10, activationPrice: '0' } }, 'INVALID_TICK', 'trailingStop.activationPrice'],
    [{ takeProfit: { ...market, triggerPrice: '60000' } }, 'INVALID_TRIGGER_PRICE', 'takeProfit.triggerPrice'],
    [{ takeProfit: market, stopLoss: { ...STOP, triggerPrice: '60000' } }, 'INVALID_TRIGGER_PRICE', 'stopLoss.triggerPrice'],
    [{ takeProfit: { ...market, triggerPrice: '1' }, stopLoss: STOP }, 'INVALID_TRIGGER_PRICE', 'takeProfit.triggerPrice'],
  ]
  for (const [legs, code, field] of wrong) {
    t.match(await rest('AttachTpSl', { positionId, ...legs }, long), { refused: code, details: { field } }, JSON.stringify(legs))
    // With an order a leg is held against its limit, and nothing is missing without one.
    if (legs['takeProfit'] === null) continue
    const outcome = await rest('CreateOrder', order('BUY', '0.01', '60000', legs), long)
    t.match(outcome, { refused: code, details: { field } }, `with an order: ${JSON.stringify(legs)}`)
  }
  const nulls = { takeProfit: null, stopLoss: null, trailingStop: { trailBps: 10, activationPrice: null, quantity: null } }
  must(await rest('AttachTpSl', { positionId, ...nulls }, long))
  const second = await rest('AttachTpSl', { positionId, trailingStop: { trailBps: 10 } }, long)
  t.match(second, { refused: 'TRAILING_STOP_EXISTS', details: { field: 'trailingStop' } })
  t.equal(REFUSALS.TRAILING_STOP_EXISTS.http, 409)
  const spotOrder = { tradingPairId: spot.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '100' }
  for (const leg of [{ takeProfit: market }, { stopLoss: STOP }, { trailingStop: { trailBps: 10 } }]) {
    const [field] = Object.keys(leg)
    const refused = { refused: 'VALIDATION_ERROR', details: { field } }
    t.match(await rest('CreateOrder', { ...spotOrder, ...leg }, long), refused, 'on a spot pair')
    const reduces = order('SELL', '0.01', '70000', { reduceOnly: true, ...leg })
    t.match(await rest('CreateOrder', reduces, long), refused, 'of a reduce-only order')
  }
  must(await rest('BatchCancelAllOrders', {}, long))
})

t.test("what is another's is missing", async (t) => {
  const { long, short, positionId } = await opened()
  const { takeProfitOrderId: mine } = must(await rest('AttachTpSl', { positionId, takeProfit: PROFIT }, long))
  ended = []
  for (const by of Object.values(gateway.transports)) {
    for (const name of ['GetConditionalOrder', 'CancelConditionalOrder'] as const) {
      const theirs = await by(name, { conditionalOrderId: mine }, short)
      t.match(theirs, { refused: 'ORDER_NOT_FOUND' })
      t.same(theirs, await by(name, { conditionalOrderId: NO_CONDITIONAL }, short))
      t.same(theirs, await by(name, { conditionalOrderId: orderId(7, 1) }, short), 'no id of a conditional order')
    }
    const attach = (id: string): Promise<Json> => by('AttachTpSl', { positionId: id, takeProfit: PROFIT }, short)
    t.match(await attach(positionId), { refused: 'POSITION_NOT_FOUND' })
    t.same(await attach(positionId), await attach(NO_POSITION))
  }
  t.match(await waiting(long, { positionId }), [{ id: mine }])
  t.same(await waiting(long, { positionId: NO_POSITION }), [])
  t.same(await waiting(long, { positionId: mine }), [], 'no id of a position matches nothing')
  t.same(await waiting(long, { tradingPairId: spot.id }), [])
  t.same(await waiting(long, { endTime: '2020-01-01T00:00:00Z' }), [])
  must(await rest('BatchCancelAllOrders', {}, long))
})

t.test('what waits is walked, and its tokens open nothing else', async (t) => {
  const { long, short, positionId } = await opened()
  for (let i = 0; i < 5; i++) must(await rest('AttachTpSl', { positionId, takeProfit: { ...PROFIT, triggerPrice: `6600${i}` } }, long))
  const seen: string[] = []
  let pageToken = ''
  for (let page = 0; page < 3; page++) {
    const answer = must(await rest('ListConditionalOrders', { ...WAITING, pageSize: 2, pageToken }, long))
    t.match(answer, { page: 0, total: 0, pageSize: 2 })
    seen.push(...answer['conditionalOrders'].map(({ triggerPrice }: Json) => triggerPrice))
    pageToken = answer['nextPageToken']
    if (page === 0) {
      const refused = { refused: 'VALIDATION_ERROR', details: { field: 'pageToken' } }
      t.match(await rest('ListConditionalOrders', { ...WAITING, pageToken }, short), refused, 'another user')
      t.match(await rest('ListConditionalOrders', { state: ['ARMED'], pageToken }, long), refused, 'another filter')
      t.match(await rest('ListTwapOrders', { state: ['PENDING'], pageToken }, long), refused, 'another list')
    }
  }
  t.same(seen, ['66004', '66003', '66002', '66001', '66000'])
  t.equal(pageToken, '', 'the end')
  const first = must(await rest('ListConditionalOrders', { ...WAITING, page: 2, pageSize: 2 }, long))
  t.match(first, { page: 2, pageSize: 2, total: 5, totalPages: 3 })
  t.match(first['conditionalOrders'], [{ triggerPrice: '66002' }, { triggerPrice: '66001' }])
  must(await rest('BatchCancelAllOrders', {}, long))
})

t.test('those that fired, ended and were refused, as the history has them', async (t) => {
  const { long, short, positionId } = await opened()
  const both = must(await rest('AttachTpSl', { positionId, takeProfit: PROFIT, stopLoss: STOP }, long))
  const [stop] = await waiting(long, { conditionType: 'STOP_LOSS' })
  must(await rest('CreateOrder', order('BUY', '0.1', '56900'), short))
  await price(56_900)
  await eventually(async () => (await waiting(long)).length === 0)
  const { sequence } = both as { sequence: number }
  const base = {
    account: 0, createdSequence: sequence, pair: perp.index, flags: 1, trigger: 570_000, limit: 0, lots: 0, slippageBps: 0, trailBps: 0,
    activation: 0, watermark: 0, expiresAt: 0, armedAt: 0, createdAt: 1_700_000_000_000, updatedAt: 1_700_000_001_000, orderSequence: 90,
    orderSlot: 3, openedSequence: parseId(IdKind.POSITION, positionId)!.sequence, position: parseId(IdKind.POSITION, positionId)!.slot,
    code: 0, ordered: 1000, held: 0, reason: ConditionalReason.TRIGGERED, entrySequence: 12, entrySlot: 4, orders: 1,
  }
  ended = [
    { ...base, kind: ConditionType.STOP_LOSS, state: ConditionalState.TRIGGERED },
    {
      ...base, kind: ConditionType.TAKE_PROFIT, state: ConditionalState.CANCELLED, reason: ConditionalReason.OCO, ordered: 0,
      orderSequence: 0,
    },
  ]
  const fired = must(await rest('GetConditionalOrder', { conditionalOrderId: stop!['id'] }, long))
  t.match(fired, { state: 'TRIGGERED', triggeredOrderId: orderId(90, 3), parentOrderId: orderId(12, 4), quantity: '0.1', positionId })
  const states = { state: ['TRIGGERED', 'CANCELLED'], tradingPairId: perp.symbol, pageSize: 9 }
  const given = must(await rest('ListConditionalOrders', states, long))
  t.match(given['conditionalOrders'], [{ state: 'TRIGGERED' }, { state: 'CANCELLED', terminalReason: 'OCO', triggeredOrderId: undefined }])
  t.match(asked.at(-1), {
    name: 'conditionalOrders', states: [ConditionalState.TRIGGERED, ConditionalState.CANCELLED], pair: perp.index, limit: 9, after: null,
  })
  ended = [{ ...base, kind: ConditionType.STOP_LOSS, state: ConditionalState.FAILED, code: REFUSALS.PAIR_NOT_ACTIVE.number, ordered: 0 }]
  const failed = must(await rest('GetConditionalOrder', { conditionalOrderId: stop!['id'] }, long))
  t.match(failed, { state: 'FAILED', failureCode: 'PAIR_NOT_ACTIVE' })
  ended = [{ ...base, kind: ConditionType.STOP_LOSS, state: ConditionalState.ARMED }]
  const late = await rest('GetConditionalOrder', { conditionalOrderId: stop!['id'] }, long)
  t.match(late, { refused: 'HISTORY_UNAVAILABLE' }, 'a history that knows of no end is no verdict')
  ended = []
  t.match(await rest('GetConditionalOrder', { conditionalOrderId: stop!['id'] }, long), { refused: 'ORDER_NOT_FOUND' })
  const { nextPageToken } = must(await rest('ListConditionalOrders', { pageSize: 1 }, long))
  t.equal(nextPageToken, '')
})

t.test('a list of all states says of what still waits what is so now', async (t) => {
  const { long, positionId } = await opened()
  const { trailingStopOrderId: id, sequence } = must(await rest('AttachTpSl', { positionId, trailingStop: { trailBps: 100 } }, long))
  await price(60_500)
  const [live] = await waiting(long)
  ended = [{
    account: 0, createdSequence: sequence, kind: ConditionType.TRAILING_STOP, state: ConditionalState.ARMED, pair: perp.index, flags: 1,
    trigger: 594_000, limit: 0, lots: 0, slippageBps: 0, trailBps: 100, activation: 0, watermark: 600_000, expiresAt: 0, armedAt: 0,
    createdAt: 0, updatedAt: 0, orderSequence: 0, orderSlot: 0, openedSequence: 1, position: 0, code: 0, ordered: 0, held: 0, reason: 0,
    entrySequence: 12, entrySlot: 4, orders: 0,
  }]
  const { conditionalOrders: [told] } = must(await rest('ListConditionalOrders', {}, long))
  t.match(told, { id, watermarkPrice: '60500', quantity: '0.1', parentOrderId: orderId(12, 4) })
  t.strictSame({ ...told, parentOrderId: undefined }, { ...live, parentOrderId: undefined })
  ended = []
  must(await rest('BatchCancelAllOrders', {}, long))
})

t.test('in maintenance nothing is attached, and everything can be cancelled', async (t) => {
  const { long, positionId } = await opened()
  const { takeProfitOrderId: id } = must(await rest('AttachTpSl', { positionId, takeProfit: PROFIT }, long))
  await gateway.maintenance(1)
  for (const by of Object.values(gateway.transports)) {
    t.match(await by('AttachTpSl', { positionId, takeProfit: PROFIT }, long), { refused: 'OPERATIONS_BLOCKED' })
    t.match(await by('GetConditionalOrder', { conditionalOrderId: id }, long), { state: 'ARMED' })
  }
  must(await rest('CancelConditionalOrder', { conditionalOrderId: id }, long))
  await gateway.maintenance(0)
})

t.test('a delegated agent does what it is granted', async (t) => {
  const { long, positionId } = await opened()
  const agent = await delegate(harness, long)
  const other = await delegate(harness, long, [spot.index])
  const { takeProfitOrderId: id } = must(await rest('AttachTpSl', { positionId, takeProfit: PROFIT }, agent.session))
  const refused = { refused: 'AGENT_NOT_ALLOWED', details: { grant: 'PAIR' } }
  t.match(await rest('AttachTpSl', { positionId, takeProfit: PROFIT }, other.session), refused)
  t.match(await rest('CancelConditionalOrder', { conditionalOrderId: id }, other.session), refused)
  t.match(await waiting(other.session), [{ id }], 'it reads what its owner has')
  const { notCancelled, totalCancelled } = must(await rest('BatchCancelAllOrders', {}, other.session))
  t.same([totalCancelled, notCancelled], [0, [{ orderId: id, tradingPairId: perp.id, reason: 'AGENT_NOT_ALLOWED' }]])
  must(await rest('CancelConditionalOrder', { conditionalOrderId: id }, agent.session))
  must(await rest('AttachTpSl', { positionId, takeProfit: PROFIT }, agent.session))
  await agent.revoke()
  t.same(await waiting(long), [], 'what a revoked agent asked for ends')
})

t.test('a mass cancel ends them too, names them, and says which stay', async (t) => {
  const { long, positionId } = await opened()
  const both = must(await rest('AttachTpSl', { positionId, takeProfit: PROFIT, stopLoss: STOP }, long))
  const leg = { stopLoss: { triggerPrice: '49000', orderType: 'MARKET' } }
  const rests = must(await rest('CreateOrder', order('BUY', '0.01', '50000', leg), long))
  await gateway.halted(async () => {
    const stay = must(await rest('BatchCancelAllOrders', {}, long))
    t.match(stay, { totalCancelled: 0, orderIds: [], totalNotCancelled: 4 })
    t.ok(stay['notCancelled'].every(({ reason }: Json) => reason === 'PAIR_NOT_ACTIVE'))
    t.match(await rest('CancelConditionalOrder', { conditionalOrderId: both['stopLossOrderId'] }, long), { refused: 'PAIR_NOT_ACTIVE' })
  })
  for (const tradingPairId of [spot.id, perp.id]) {
    const answer = must(await rest('BatchCancelOrdersByPair', { tradingPairId }, long))
    t.equal(answer['totalCancelled'], tradingPairId === perp.id ? 4 : 0)
    if (tradingPairId !== perp.id) continue
    const ids = [both['takeProfitOrderId'], both['stopLossOrderId'], rests['orderId'], rests['stopLossOrderId']]
    t.same([...answer['orderIds']].sort(), ids.sort())
    t.same(answer['totalNotCancelled'], 0)
  }
})
