/**
 * Promise: TWAP orders over the wire, the same over REST and gRPC: placed on spot and on a perpetual, read while they run and after they
 * ended, with the orders that were their slices, cancelled one by one and with everything else. What is wrong is refused by the name of the
 * field, what is another's is missing, agents make none, page tokens are good for one TWAP order and one direction.
 */
import t from 'tap'
import { Flag, Origin, originFlags } from '../../core/layout/command.ts'
import { IdKind, parseId, twapOrderId } from '../../core/layout/ids.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { TwapReason, TwapState } from '../../core/layout/twap.ts'
import type { HistoryReply } from '../../core/history/answer/queries.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { delegate, makeSubAccount } from '../support/gateway_harness.ts'
import { NO_TWAP } from '../support/session_samples.ts'
import type { Json } from '../support/transports.ts'
import { eventually, must, waitingGateway } from '../support/waiting_gateway.ts'

t.setTimeout(120_000)
/** What the history has, by question. */
const known: Record<string, unknown> = {}
const asked: Json[] = []
const gateway = await waitingGateway(({ id, name, ask }) => {
  asked.push({ name, ...ask })
  return { id, answer: known[name] ?? null, sequence: gateway.harness.state.clock[CLOCK.SEQUENCE]! } as HistoryReply
}, { twapSliceMs: 200 })
t.teardown(() => gateway.close())
const { harness, rest, perp, spot, trader, order, price } = gateway

const spotTwap = (more: Json = {}): Json => ({ tradingPairId: spot.id, side: 'BUY', quantity: '0.1', durationSeconds: 600, ...more })
const perpTwap = (more: Json = {}): Json =>
  ({ tradingPairId: perp.id, tradingMode: 'MARGIN', leverage: '10', side: 'BUY', quantity: '0.1', durationSeconds: 600, ...more })
const RUNNING = { state: ['PENDING', 'ACTIVE'] }
must(await rest('CreateOrder', { tradingPairId: spot.id, orderType: 'LIMIT', side: 'SELL', quantity: '1', price: '90' }, await trader()))

for (const [way, by] of Object.entries(gateway.transports)) {
  t.test(`${way}: placed, read, cancelled`, async (t) => {
    const user = await trader()
    const placed = must(await by('CreateTwapOrder', spotTwap({ clientTwapId: 'mine', limitPrice: '1', slippageToleranceBps: 20 }), user))
    const id = placed['twapOrderId']
    t.strictSame(placed, {
      twapOrderId: id, status: 'SUCCESS', message: 'TWAP order accepted', state: 'ACTIVE', plannedSlices: placed['plannedSlices'],
      firstSliceAt: placed['engineTime'], endTime: new Date(Date.parse(placed['engineTime']) + 600_000).toISOString(),
      sequence: placed['sequence'], engineTime: placed['engineTime'],
    })
    t.equal(parseId(IdKind.TWAP_ORDER, id)!.sequence, placed['sequence'])
    t.ok(await eventually(async () => 'lastSkipCode' in must(await by('GetTwapOrder', { twapOrderId: id }, user))))
    const record = must(await by('GetTwapOrder', { twapOrderId: id.toUpperCase() }, user))
    const { updatedAt, nextSliceAt, lastSkipCode, ...rest } = record
    t.strictSame(rest, {
      twapOrderId: id, id, state: 'ACTIVE', tradingPairId: spot.id, symbol: spot.symbol, side: 'BUY', tradingMode: 'SPOT', quantity: '0.1',
      filledQuantity: '0', remainingQuantity: '0.1', limitPrice: '1', slippageToleranceBps: 20, slicesPlaced: 0,
      plannedSlices: placed['plannedSlices'], startTime: placed['engineTime'], endTime: placed['endTime'], durationSeconds: 600,
      firstSliceAt: placed['engineTime'], randomize: true, reduceOnly: false, executionStyle: 'MARKET', clientTwapId: 'mine', fee: '0',
      createdAt: placed['engineTime'],
    })
    t.ok(updatedAt >= placed['engineTime'] && nextSliceAt > placed['engineTime'])
    t.equal(lastSkipCode, 'BEYOND_LIMIT_PRICE', 'nobody sells for that')
    const taken = await by('CreateTwapOrder', spotTwap({ clientTwapId: 'mine' }), user)
    t.match(taken, { refused: 'CLIENT_ORDER_ID_CONFLICT', details: { field: 'clientTwapId' } })
    t.match(must(await by('ListTwapOrders', RUNNING, user))['twapOrders'], [{ id }])
    t.match(must(await by('CancelTwapOrder', { twapOrderId: id }, user)), { twapOrderId: id, status: 'SUCCESS', sequence: Number })
    t.match(await by('CancelTwapOrder', { twapOrderId: id }, user), { refused: 'ORDER_NOT_FOUND' })
    t.same(must(await by('ListTwapOrders', RUNNING, user))['twapOrders'], [])
    must(await by('CreateTwapOrder', spotTwap({ clientTwapId: 'mine' }), user))
    must(await by('BatchCancelAllOrders', {}, user))
  })

  t.test(`${way}: on a perpetual, with a strategy key, from a price on`, async (t) => {
    const user = await trader()
    await price(60_000)
    const waits = perpTwap({
      triggerPrice: '59000', triggerDirection: 'BELOW', conditionalExpiry: '2090-01-01T00:00:00.000Z', randomize: false,
      strategyKey: 'slow',
    })
    const placed = must(await by('CreateTwapOrder', waits, user))
    t.match(placed, { state: 'PENDING', marginAccountId: String, riskBucketId: String })
    t.notOk('firstSliceAt' in placed || 'endTime' in placed, 'nobody knows when')
    const pending = must(await by('GetTwapOrder', { twapOrderId: placed['twapOrderId'] }, user))
    t.match(pending, {
      tradingMode: 'MARGIN', marginMode: 'ISOLATED', leverage: '10', strategyKey: 'slow', triggerPrice: '59000', triggerDirection: 'BELOW',
      conditionalExpiry: String, durationSeconds: 600, marginAccountId: placed['marginAccountId'], riskBucketId: placed['riskBucketId'],
    })
    t.notOk(['startTime', 'endTime', 'firstSliceAt', 'nextSliceAt'].some((field) => field in pending))
    await price(58_000)
    t.ok(await eventually(async () => must(await by('GetTwapOrder', { twapOrderId: pending['id'] }, user))['state'] === 'ACTIVE'))
    const begun = must(await by('GetTwapOrder', { twapOrderId: pending['id'] }, user))
    t.match(begun, { startTime: String, endTime: String, firstSliceAt: String })
    must(await by('CancelTwapOrder', { twapOrderId: pending['id'] }, user))
    const startTime = new Date(Date.now() + 86_400_000).toISOString()
    const later = must(await by('CreateTwapOrder', perpTwap({ startTime, marginMode: 'CROSS' }), user))
    t.match(later, { state: String, plannedSlices: Number })
    t.notOk('riskBucketId' in later, 'the first slice makes it')
    must(await by('BatchCancelAllOrders', {}, user))
  })
}

t.test('its slices are orders that name it', async (t) => {
  const [buyer, seller] = [await trader(), await trader()]
  await price(60_000)
  must(await rest('CreateOrder', order('SELL', '1', '60000'), seller))
  const { twapOrderId: id, plannedSlices } = must(await rest('CreateTwapOrder', perpTwap({ quantity: '0.01', durationSeconds: 1 }), buyer))
  t.equal(plannedSlices, 5)
  t.ok(await eventually(async () => must(await rest('ListTwapOrders', RUNNING, buyer))['twapOrders'].length === 0))
  const passive = perpTwap({ quantity: '0.01', executionStyle: 'PASSIVE', limitPrice: '50000' })
  const { twapOrderId: rests } = must(await rest('CreateTwapOrder', passive, buyer))
  const open = async (): Promise<Json[]> => must(await rest('ListOrders', { status: ['SUBMITTED'] }, buyer))['orders']
  t.ok(await eventually(async () => (await open()).length === 1))
  const [slice] = await open()
  t.match(slice, { parentOrderId: rests, orderType: 'LIMIT', price: '50000', postOnly: true })
  t.match(must(await rest('GetOrder', { orderId: slice!['orderId'] }, buyer)), { parentOrderId: rests })
  const { orderIds } = must(await rest('BatchCancelAllOrders', {}, buyer))
  t.same(orderIds, [rests], 'its slice ends along with it')
  t.match(must(await rest('GetOrder', { orderId: slice!['orderId'] }, buyer)), { status: 'CANCELLED', parentOrderId: rests })
  t.match(await rest('CancelTwapOrder', { twapOrderId: id }, buyer), { refused: 'ORDER_NOT_FOUND' })
})

t.test('slices are walked from either end, by tokens of one TWAP order and one direction', async (t) => {
  const user = await trader()
  const ended = twapOrderId(40, 1)
  const slice = (sequence: number): Json => ({
    sequence, slot: 3, account: 0, pair: spot.index, flags: Flag.MARKET | originFlags(Origin.TWAP), price: 0, lots: 100, remaining: 0,
    filledQuote: 5n, fee: 0n, createdAt: sequence, updatedAt: sequence, expiresAt: 0, clientOrderId: '', outcome: 3, slippageBps: 0,
    parent: { sequence: 40, row: 1 },
  })
  known['twapSlices'] = { rows: [slice(41), slice(42)], total: 0, more: true }
  for (const by of Object.values(gateway.transports)) {
    const first = must(await by('ListTwapSlices', { twapOrderId: ended, pageSize: 2 }, user))
    t.match(asked.at(-1), { name: 'twapSlices', sequence: 40, row: 1, ascending: true, limit: 2, after: null })
    t.match(first['slices'], [{ parentOrderId: ended, orderType: 'MARKET' }, { parentOrderId: ended }])
    t.same(Object.keys(first).sort(), ['nextPageToken', 'pageSize', 'slices'])
    const { nextPageToken: pageToken } = first
    must(await by('ListTwapSlices', { twapOrderId: ended.toUpperCase(), pageSize: 1000, orderBy: 'ASC', pageToken }, user))
    t.match(asked.at(-1), { ascending: true, limit: 1000, after: { sequence: 42, index: 0 } })
    const refused = { refused: 'VALIDATION_ERROR', details: { field: 'pageToken' } }
    t.match(await by('ListTwapSlices', { twapOrderId: ended, orderBy: 'DESC', pageToken }, user), refused, 'another direction')
    t.match(await by('ListTwapSlices', { twapOrderId: twapOrderId(40, 2), pageToken }, user), refused, 'another TWAP order')
    t.match(await by('ListTwapSlices', { twapOrderId: ended, pageToken }, await trader()), refused, 'another user')
    t.match(await by('ListTwapOrders', { pageToken }, user), refused, 'another list')
    const newest = must(await by('ListTwapSlices', { twapOrderId: ended, orderBy: 'DESC' }, user))
    t.match(asked.at(-1), { ascending: false, limit: 20 })
    t.match(await by('ListTwapSlices', { twapOrderId: ended, pageToken: newest['nextPageToken'] }, user), refused)
  }
  t.match(await rest('ListTwapSlices', { twapOrderId: ended, pageSize: 1001 }, user), { details: { field: 'pageSize' } })
  t.match(await rest('ListTwapSlices', { twapOrderId: ended, orderBy: 'UP' }, user), { details: { field: 'orderBy' } })
  known['twapSlices'] = { rows: [slice(41)], total: 0, more: false }
  t.equal(must(await rest('ListTwapSlices', { twapOrderId: ended }, user))['nextPageToken'], '', 'the end')
  known['twapSlices'] = null
  t.match(await rest('ListTwapSlices', { twapOrderId: ended }, user), { refused: 'ORDER_NOT_FOUND' })
})

t.test('what is wrong is refused by its name', async (t) => {
  const user = await trader()
  const wrong: [Json, string, string][] = [
    [spotTwap({ durationSeconds: undefined }), 'VALIDATION_ERROR', 'durationSeconds'],
    [spotTwap({ endTime: '2090-01-01T00:00:00Z' }), 'VALIDATION_ERROR', 'endTime'],
    [spotTwap({ durationSeconds: 0 }), 'VALIDATION_ERROR', 'durationSeconds'],
    [spotTwap({ durationSeconds: 604_801 }), 'VALIDATION_ERROR', 'durationSeconds'],
    [spotTwap({ startTime: 'now' }), 'VALIDATION_ERROR', 'startTime'],
    [spotTwap({ durationSeconds: undefined, endTime: '2020-01-01T00:00:00Z' }), 'INVALID_SCHEDULE', 'endTime'],
    [spotTwap({ startTime: '2090-01-01T00:00:00Z' }), 'INVALID_SCHEDULE', 'startTime'],
    [spotTwap({ quantity: '0.00001' }), 'INVALID_LOT', 'quantity'], [spotTwap({ quantity: '-1' }), 'INVALID_LOT', 'quantity'],
    [spotTwap({ side: 'HOLD' }), 'VALIDATION_ERROR', 'side'], [spotTwap({ limitPrice: '1.001' }), 'INVALID_TICK', 'limitPrice'],
    [spotTwap({ executionStyle: 'FAST' }), 'VALIDATION_ERROR', 'executionStyle'],
    [spotTwap({ executionStyle: 'PASSIVE', slippageToleranceBps: 1 }), 'VALIDATION_ERROR', 'slippageToleranceBps'],
    [spotTwap({ slippageToleranceBps: 1001 }), 'VALIDATION_ERROR', 'slippageToleranceBps'],
    [spotTwap({ triggerPrice: '100' }), 'VALIDATION_ERROR', 'triggerDirection'],
    [spotTwap({ triggerDirection: 'BELOW' }), 'VALIDATION_ERROR', 'triggerDirection'],
    [spotTwap({ triggerPrice: '100', triggerDirection: 'ACROSS' }), 'VALIDATION_ERROR', 'triggerDirection'],
    [spotTwap({ triggerPrice: '100.001', triggerDirection: 'ABOVE' }), 'INVALID_TICK', 'triggerPrice'],
    [spotTwap({ conditionalExpiry: '2090-01-01T00:00:00Z' }), 'VALIDATION_ERROR', 'conditionalExpiry'],
    [
      spotTwap({ triggerPrice: '100', triggerDirection: 'ABOVE', conditionalExpiry: '2020-01-01T00:00:00Z' }),
      'INVALID_EXPIRATION', 'conditionalExpiry',
    ],
    [spotTwap({ clientTwapId: 'é' }), 'VALIDATION_ERROR', 'clientTwapId'],
    [spotTwap({ clientTwapId: 'x'.repeat(41) }), 'VALIDATION_ERROR', 'clientTwapId'],
    [spotTwap({ tradingPairId: 'BTC/NOTHING' }), 'NOT_FOUND', 'tradingPairId'],
    [spotTwap({ tradingMode: 'MARGIN' }), 'WRONG_TRADING_MODE', 'tradingMode'],
    [spotTwap({ leverage: '5' }), 'VALIDATION_ERROR', 'leverage'], [spotTwap({ reduceOnly: true }), 'VALIDATION_ERROR', 'reduceOnly'],
    [spotTwap({ useMasterBalance: true }), 'NOT_SUB_ACCOUNT', 'useMasterBalance'],
    [perpTwap({ tradingMode: undefined }), 'WRONG_TRADING_MODE', 'tradingMode'],
    [perpTwap({ leverage: undefined }), 'VALIDATION_ERROR', 'leverage'], [perpTwap({ leverage: '0.5' }), 'LEVERAGE_TOO_LOW', 'leverage'],
    [perpTwap({ leverage: '100000' }), 'LEVERAGE_TOO_HIGH', 'leverage'],
    [perpTwap({ useMasterBalance: true }), 'MASTER_BALANCE_NOT_ALLOWED', 'useMasterBalance'],
    [perpTwap({ marginAccountId: NO_TWAP }), 'NOT_FOUND', 'marginAccountId'],
    [perpTwap({ riskBucketId: NO_TWAP }), 'NOT_FOUND', 'riskBucketId'],
    [perpTwap({ strategyKey: 'x'.repeat(49) }), 'VALIDATION_ERROR', 'strategyKey'],
  ]
  for (const [input, code, field] of wrong) {
    t.match(await rest('CreateTwapOrder', input, user), { refused: code, details: { field } }, JSON.stringify(input))
  }
  t.same(must(await rest('ListTwapOrders', RUNNING, user))['twapOrders'], [])
})

t.test('of a sub-account, on the balance of its master', async (t) => {
  const master = await trader()
  const address = `0x${'6b'.repeat(20)}`
  await makeSubAccount(harness, master, address)
  const sub = await harness.openSession(0, address)
  const placed = must(await rest('CreateTwapOrder', spotTwap({ useMasterBalance: true }), sub))
  t.match(must(await rest('GetTwapOrder', { twapOrderId: placed['twapOrderId'] }, sub)), { useMasterBalance: true })
  t.match(await rest('GetTwapOrder', { twapOrderId: placed['twapOrderId'] }, master), { refused: 'ORDER_NOT_FOUND' })
})

t.test("what is another's is missing", async (t) => {
  const [mine, other] = [await trader(), await trader()]
  known['twapOrder'] = null
  const { twapOrderId: id } = must(await rest('CreateTwapOrder', spotTwap(), mine))
  for (const by of Object.values(gateway.transports)) {
    for (const name of ['GetTwapOrder', 'CancelTwapOrder', 'ListTwapSlices'] as const) {
      const theirs = await by(name, { twapOrderId: id }, other)
      t.match(theirs, { refused: 'ORDER_NOT_FOUND' }, name)
      t.same(theirs, await by(name, { twapOrderId: NO_TWAP }, other))
    }
  }
  t.match(must(await rest('ListTwapOrders', RUNNING, mine))['twapOrders'], [{ id }])
  t.same(must(await rest('ListTwapOrders', { ...RUNNING, tradingPairId: perp.id }, mine))['twapOrders'], [])
})

t.test('those that ended, as the history has them', async (t) => {
  const user = await trader()
  const base = {
    account: 0, createdSequence: 40, twap: 1, pair: perp.index, flags: Flag.MARGIN, options: 0, lots: 1000, filled: 400, price: 0,
    trigger: 0, slippageBps: 0, slices: 5, reached: 5, placed: 4, code: 0, startAt: 1_700_000_000_000, endAt: 1_700_000_060_000, nextAt: 0,
    conditionalExpiry: 0, durationMs: 0, leverage: 500, createdAt: 1_700_000_000_000, updatedAt: 1_700_000_060_000,
    filledQuote: 2_400_000_000n, fee: 1_200_000n, label: '', reason: TwapReason.WINDOW_OVER, namedMarginAccount: -1, namedBucket: -1,
    namedSequence: 0,
  }
  known['twapOrder'] = { ...base, state: TwapState.EXPIRED }
  const twapOrderId_ = { twapOrderId: twapOrderId(40, 1) }
  const record = must(await rest('GetTwapOrder', twapOrderId_, user))
  t.match(record, {
    state: 'EXPIRED', quantity: '0.1', filledQuantity: '0.04', remainingQuantity: '0.06', shortfall: '0.06', averageFillPrice: '60000',
    durationSeconds: 60, leverage: '5', marginAccountId: String, slicesPlaced: 4, randomize: false,
  })
  t.notOk('nextSliceAt' in record)
  known['twapOrder'] = { ...base, state: TwapState.FAILED, code: REFUSALS.WRONG_PERP_MODE.number }
  t.match(must(await rest('GetTwapOrder', twapOrderId_, user)), { state: 'FAILED', failureCode: 'WRONG_PERP_MODE' })
  known['twapOrder'] = { ...base, state: TwapState.ACTIVE }
  t.match(await rest('GetTwapOrder', twapOrderId_, user), { refused: 'HISTORY_UNAVAILABLE' }, 'it does not run')
  known['twapOrders'] = { rows: [{ ...base, state: TwapState.EXPIRED }], total: 7, more: true }
  const listed = must(await rest('ListTwapOrders', { pageSize: 1 }, user))
  t.match(listed, { page: 0, total: 0, pageSize: 1, twapOrders: [{ state: 'EXPIRED' }] })
  t.match(asked.at(-1), { name: 'twapOrders', limit: 1, after: null, skip: 0 })
  must(await rest('ListTwapOrders', { pageSize: 1, pageToken: listed['nextPageToken'] }, user))
  t.match(asked.at(-1), { after: { sequence: 40, index: 0 } })
  t.match(must(await rest('ListTwapOrders', { page: 3, pageSize: 1, state: ['EXPIRED'] }, user)), { page: 3, total: 7, totalPages: 7 })
  t.match(asked.at(-1), { states: [TwapState.EXPIRED], skip: 2 })
})

t.test('agents make none, may cancel one, and maintenance stops nothing but placing', async (t) => {
  const owner = await trader()
  const agent = await delegate(harness, owner)
  const other = await delegate(harness, owner, [perp.index])
  for (const by of Object.values(gateway.transports)) {
    const { twapOrderId: id } = must(await by('CreateTwapOrder', spotTwap(), owner))
    t.match(await by('CreateTwapOrder', spotTwap(), agent.session), { refused: 'AGENT_NOT_ALLOWED', details: { grant: 'OPERATION' } })
    t.match(must(await by('GetTwapOrder', { twapOrderId: id }, agent.session)), { id })
    t.match(await by('CancelTwapOrder', { twapOrderId: id }, other.session), { refused: 'AGENT_NOT_ALLOWED', details: { grant: 'PAIR' } })
    await gateway.maintenance(1)
    t.match(await by('CreateTwapOrder', spotTwap(), owner), { refused: 'OPERATIONS_BLOCKED' })
    must(await by('CancelTwapOrder', { twapOrderId: id }, agent.session))
    await gateway.maintenance(0)
  }
})
