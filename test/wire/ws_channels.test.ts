/**
 * Promise: frames say what the specification wants of them: fees of a trade in decimal quote units and raw, cumulative and last quantities,
 * postOnly only when true, the other order of a prevented self-trade, reasons and symbols of balance changes, who of a family is told
 * what, trades without names, instruments when they change.
 */
import t, { type Test } from 'tap'
import { CANCEL_ACCOUNT_ORDERS_COMMAND, CommandType, PairStatus, SET_PAIR_STATUS_COMMAND } from '../../core/layout/command.ts'
import { IdKind, parseId } from '../../core/layout/ids.ts'
import { readDepth } from '../../core/view/book.ts'
import { call, makeSubAccount, startHarness, type Session } from '../support/gateway_harness.ts'
import { signerOf, SocketClient, type Frame } from '../support/sockets.ts'

const harness = await startHarness(['--event-ring', '4096'])
t.teardown(() => harness.close())
const pair = harness.genesis.pairs.find(({ symbol }) => symbol === 'ETH/USDC')!
const [base, quote] = [harness.genesis.assets[pair.base]!, harness.genesis.assets[pair.quote]!]

async function trader(): Promise<Session> {
  const session = await harness.openSession()
  await mint(session)
  return session
}
async function mint(session: Session): Promise<void> {
  const minted = await call(harness, session, 'POST', '/api/v1/faucet/mint', {})
  if (minted.status !== 200) throw new Error(`no funds: ${minted.text}`)
}

async function place(session: Session, side: string, quantity: string, price: string, more: object = {}): Promise<string> {
  const order = { tradingPairId: pair.id, orderType: 'LIMIT', side, quantity, price, ...more }
  const { status, json, text } = await call(harness, session, 'POST', '/api/v1/orders', order)
  if (status !== 200) throw new Error(text)
  return json.orderId
}
const cancel = (session: Session, orderId: string) => call(harness, session, 'DELETE', `/api/v1/orders/${orderId}`)

async function listen(session: Session, ...channels: string[]): Promise<SocketClient> {
  const client = await SocketClient.open(harness.port)
  await client.authenticate(signerOf(session))
  for (const channel of channels) await client.subscribe(channel)
  return client
}

/** Events of an order, once the last of them came. */
async function eventsOf(client: SocketClient, orderId: string, last: string): Promise<Frame[]> {
  await client.next(({ data }) => data?.orderId === orderId && data.eventType === last)
  return client.of('orders').filter(({ type, data }) => type === 'order_update' && data.orderId === orderId).map(({ data }) => data)
}
const names = (events: readonly Frame[]): string[] => events.map(({ eventType }) => eventType)

t.test('both sides of trades, each once, with the fee of each', async (t) => {
  const [maker, taker] = [await trader(), await trader()]
  const [makes, takes] = [await listen(maker, 'orders'), await listen(taker, 'orders')]
  const [first, second] = [
    await place(maker, 'SELL', '0.2', '3000', { postOnly: true, clientOrderId: 'first' }), await place(maker, 'SELL', '0.5', '3010'),
  ]
  const orderId = await place(taker, 'BUY', '0.5', '3010', { clientOrderId: 'mine' })
  const taken = await eventsOf(takes, orderId, 'OrderFilled')
  t.strictSame(names(taken), ['OrderSubmitted', 'OrderMatched', 'OrderFilled'])
  t.match(taken[0], {
    status: 'SUBMITTED', quantity: '0.5', filledQuantity: '0', remainingQuantity: '0.5', fee: '0', clientOrderId: 'mine',
  })
  t.match(taken[1], {
    status: 'PARTIALLY_FILLED', filledQuantity: '0.2', lastFillQuantity: '0.2', lastFillPrice: '3000', role: 'taker', tradeId: String,
  })
  t.match(taken[2], { status: 'FILLED', filledQuantity: '0.5', remainingQuantity: '0', lastFillQuantity: '0.3', lastFillPrice: '3010' })
  t.notOk(taken.some((event) => 'postOnly' in event))
  const rate = Number(pair.takerFeeBps) / 10_000
  t.equal(Number(taken[1]!['fee']), 600 * rate)
  t.equal(Number(taken[2]!['fee']), Number((903 * rate).toFixed(quote.scale)))
  t.equal(Number(taken[2]!['totalFee']), Number((1503 * rate).toFixed(quote.scale)))
  t.equal(Number(taken[1]!['feeRaw']), 600 * rate * 10 ** quote.decimals)

  const made = [...await eventsOf(makes, first, 'OrderFilled'), ...await eventsOf(makes, second, 'OrderPartiallyFilled')]
  t.strictSame(names(made), ['OrderSubmitted', 'OrderFilled', 'OrderSubmitted', 'OrderPartiallyFilled'])
  t.match(made[1], {
    role: 'maker', postOnly: true, tradeId: taken[1]!['tradeId'], lastFillQuantity: '0.2', status: 'FILLED', clientOrderId: 'first',
  })
  t.equal(Number(made[1]!['fee']), 600 * Number(pair.makerFeeBps) / 10_000)
  t.match(made[3], {
    role: 'maker', tradeId: taken[2]!['tradeId'], filledQuantity: '0.3', remainingQuantity: '0.2', status: 'PARTIALLY_FILLED',
  })
  t.notOk('postOnly' in made[3]!)
  await cancel(maker, second)
  t.match((await eventsOf(makes, second, 'OrderCancelled')).at(-1), { status: 'CANCELLED', terminalReason: 'USER_CANCELLED' })
  makes.close()
  takes.close()
})

t.test('an order that does not rest ends behind its trades', async (t) => {
  const [maker, taker] = [await trader(), await trader()]
  const takes = await listen(taker, 'orders')
  await place(maker, 'SELL', '0.1', '3000')
  const partly = await place(taker, 'BUY', '0.3', '3000', { timeInForce: 'IOC' })
  const events = await eventsOf(takes, partly, 'OrderCancelled')
  t.strictSame(names(events), ['OrderSubmitted', 'OrderPartiallyFilled', 'OrderCancelled'])
  t.match(events[2], { status: 'CANCELLED', terminalReason: 'IOC_REMAINDER', filledQuantity: '0.1', remainingQuantity: '0.2' })
  const never = await place(taker, 'BUY', '2', '3000', { timeInForce: 'FOK' })
  t.match(await eventsOf(takes, never, 'OrderCancelled'), [{ eventType: 'OrderSubmitted' }, { terminalReason: 'INSUFFICIENT_DEPTH' }])
  takes.close()
})

t.test('a prevented self-trade names the other order', async (t) => {
  const session = await trader()
  const client = await listen(session, 'orders')
  const resting = await place(session, 'SELL', '0.1', '3000')
  const incoming = await place(session, 'BUY', '0.1', '3000', { selfTradePreventionMode: 'CANCEL_BOTH' })
  const reason = { terminalReason: 'SELF_TRADE_PREVENTION' }
  t.match((await eventsOf(client, incoming, 'OrderCancelled')).at(-1), { ...reason, stpCounterpartyOrderId: resting })
  t.match((await eventsOf(client, resting, 'OrderCancelled')).at(-1), { ...reason, stpCounterpartyOrderId: incoming })
  const stays = await place(session, 'SELL', '0.1', '3000')
  for (const timeInForce of ['GTC', 'IOC', 'FOK']) {
    const stopped = await place(session, 'BUY', '0.1', '3000', { timeInForce })
    t.match((await eventsOf(client, stopped, 'OrderCancelled')).at(-1), { ...reason, stpCounterpartyOrderId: stays }, timeInForce)
  }
  const low = await place(session, 'BUY', '0.1', '2000')
  const { json } = await call(harness, session, 'PUT', `/api/v1/orders/${low}`, { price: '3000' })
  t.match((await eventsOf(client, json.orderId, 'OrderCancelled')).at(-1), { ...reason, stpCounterpartyOrderId: stays }, 'a replacement')
  client.close()
})

t.test('a replacement ends the original and names its successor', async (t) => {
  const session = await trader()
  const client = await listen(session, 'orders')
  const original = await place(session, 'SELL', '0.2', '3000', { clientOrderId: 'kept' })
  let target = original
  for (const change of [{ quantity: '0.1' }, { price: '3001' }]) {
    const from = client.frames.length
    const { json } = await call(harness, session, 'PUT', `/api/v1/orders/${target}`, change)
    t.match(await client.next(({ data }) => data?.eventType === 'OrderReplaced', from), {
      data: { orderId: target, status: 'CANCELLED', terminalReason: 'REPLACED', replacedByOrderId: json.orderId, clientOrderId: 'kept' },
    })
    t.match((await eventsOf(client, json.orderId, 'OrderSubmitted'))[0], { ...change, clientOrderId: 'kept' })
    target = json.orderId
  }
  client.close()
})

t.test('orders of one pair only, and no order twice', async (t) => {
  const session = await trader()
  const other = harness.genesis.pairs.find(({ index, quote: asset }) => index !== pair.index && asset === pair.quote)!
  const client = await SocketClient.open(harness.port)
  await client.authenticate(signerOf(session))
  await client.subscribe('orders', { tradingPairId: other.id })
  const one = await place(session, 'SELL', '0.1', '3000')
  await client.subscribe('orders', { tradingPairId: pair.id })
  const snapshot = await client.next(({ type, data }) => type === 'snapshot' && data.tradingPairId === pair.id)
  t.match(snapshot, { data: { orders: [{ orderId: one }] } })
  await client.subscribe('orders')
  const two = await place(session, 'SELL', '0.1', '3000')
  await cancel(session, two)
  t.strictSame(names(await eventsOf(client, two, 'OrderCancelled')), ['OrderSubmitted', 'OrderCancelled'])
  const told = client.of('orders').filter(({ type }) => type === 'order_update').map(({ data }) => data.orderId)
  t.notOk(told.includes(one), 'it was of another pair, and then in the snapshot')
  client.close()
})

t.test('balances say why, with version and symbol', async (t) => {
  const [maker, taker] = [await trader(), await trader()]
  const client = await listen(taker, 'balances')
  const snapshot = client.of('balances')[0]!['data'].balances as Frame[]
  t.equal(snapshot.length, harness.genesis.assets.length)
  const updates = (): Frame[] => client.of('balances').filter(({ type }) => type === 'balance_update')
  const next = (assetId: string, reason: string): Promise<Frame> =>
    client.next(({ type, data }) => type === 'balance_update' && data.assetId === assetId && data.reasons.includes(reason))
  const orderId = await place(taker, 'BUY', '0.1', '2000')
  t.match(await next(quote.id, 'lock'), { reason: 'lock', data: { symbol: 'USDC', version: Number, lockedBalance: String } })
  await cancel(taker, orderId)
  t.match(await next(quote.id, 'unlock'), { data: { lockedBalance: '0' } })
  t.notOk(updates().some(({ data }) => 'tokenSymbol' in data))
  await place(maker, 'SELL', '0.1', '3000')
  await place(taker, 'BUY', '0.1', '3000')
  t.match(await next(base.id, 'trade'), { reason: 'trade', data: { tokenSymbol: 'ETH' } })
  t.match(await next(quote.id, 'fee'), { reason: 'trade', data: { tokenSymbol: 'USDC', reasons: ['trade', 'fee'] } })
  await mint(taker)
  t.ok(await client.next(({ type, reason }) => type === 'balance_update' && reason === 'faucet'))
  const { json } = await call(harness, taker, 'GET', '/api/v1/accounts/balances')
  for (const { assetId, version } of json.balances) {
    const isIt = (row?: Frame): boolean => row?.['assetId'] === assetId && row?.['version'] === version
    await client.next(({ data }) => (data?.balances ?? [data]).some(isIt))
  }
  rises(t, snapshot, updates())
  for (const row of json.balances) {
    const told = updates().findLast(({ data }) => data.assetId === row.assetId)?.['data']
    t.match(told ?? snapshot.find(({ assetId }) => assetId === row.assetId), row)
  }
  client.close()
})

function rises(t: Test, snapshot: readonly Frame[], updates: readonly Frame[]): void {
  const versions = new Map(snapshot.map(({ assetId, version }) => [assetId, version as number]))
  for (const { data } of updates) {
    t.ok(data.version > versions.get(data.assetId)!, 'versions grow')
    versions.set(data.assetId, data.version)
  }
}

t.test('a trade tells everybody its terms and nobody who made it', async (t) => {
  const [maker, taker] = [await trader(), await trader()]
  const client = await SocketClient.open(harness.port)
  await client.subscribe('trades', { tradingPairId: pair.id })
  await client.next(({ channel, type }) => channel === 'trades' && type === 'snapshot')
  await place(maker, 'SELL', '0.1', '3000')
  await place(taker, 'BUY', '0.1', '3000')
  const { data, sequence } = await client.next(({ type }) => type === 'trades_update')
  t.strictSame(Object.keys(data.trades.at(-1)).sort(), [
    'executedAt', 'id', 'makerSide', 'price', 'quantity', 'quoteQuantity', 'settlementStatus', 'tradingPairId',
  ])
  t.match(data.trades.at(-1), { price: '3000', quantity: '0.1', quoteQuantity: '300', makerSide: 'SELL', tradingPairId: pair.id })
  t.type(sequence, 'number')
  client.close()
})

t.test('a copy of a book says when it is not the whole of it', async (t) => {
  const session = await trader()
  const ids: string[] = []
  for (const price of ['2000', '1999', '1998']) ids.push(await place(session, 'BUY', '0.1', price))
  const gate = new Int32Array(harness.shared.gate)
  const read = (group: number, most?: number) => readDepth(harness.state, gate, pair.index, 1000, group, most)!
  t.match(read(1), { cut: false })
  const levels = read(1).bids.length
  t.ok(levels >= 3)
  t.match(read(1, levels), { cut: false }, 'as many as there are')
  t.match(read(1, levels - 1), { cut: true })
  t.match(read(1_000_000, levels - 1), { cut: true }, 'grouped too')
  for (const id of ids) await cancel(session, id)
})

t.test('instruments: all of them, then those whose status changes', async (t) => {
  const client = await SocketClient.open(harness.port)
  await client.subscribe('instruments')
  t.equal(client.of('instruments')[0]!['data'].instruments.length, harness.genesis.pairs.length)
  for (const [status, isActive] of [[PairStatus.HALTED, false], [PairStatus.ACTIVE, true]] as const) {
    await harness.operate(CommandType.SET_PAIR_STATUS, SET_PAIR_STATUS_COMMAND, { session: -1, pair: pair.index, status })
    const { data } = await client.next(({ type, data }) => type === 'instruments_update' && data.instruments[0].isActive === isActive)
    t.match(data.instruments, [{ id: pair.id, baseIconUrl: base.iconUrl, quoteIconUrl: quote.iconUrl }])
  }
  client.close()
})

t.test('an order that the operator cancelled says so, on the stream and when it is asked for', async (t) => {
  const owner = await trader()
  const owners = await listen(owner, 'orders')
  const [mine, other] = [await place(owner, 'BUY', '0.1', '1000'), await place(owner, 'BUY', '0.1', '1001')]
  await cancel(owner, mine)
  const id = parseId(IdKind.USER, (await call(harness, owner, 'GET', `/api/v1/orders/${mine}`)).json['userId'])!
  const values = { session: -1, account: id.slot, createdSequence: id.sequence, pair: -1, limit: 10 }
  await harness.operate(CommandType.CANCEL_ACCOUNT_ORDERS, CANCEL_ACCOUNT_ORDERS_COMMAND, values)
  const ended = { status: 'CANCELLED', terminalReason: 'USER_CANCELLED' }
  t.match((await eventsOf(owners, other, 'OrderCancelled')).at(-1), { ...ended, cancelledByOperator: true })
  t.match((await call(harness, owner, 'GET', `/api/v1/orders/${other}`)).json, { ...ended, cancelledByOperator: true })
  t.notOk('cancelledByOperator' in (await eventsOf(owners, mine, 'OrderCancelled')).at(-1)!)
  const { json } = await call(harness, owner, 'GET', `/api/v1/orders/${mine}`)
  t.match(json, ended)
  t.notOk('cancelledByOperator' in json, 'of its own cancels nobody is named')
  owners.close()
})

t.test('what a sub-account does on its master\'s balance: orders to the one, balances to the other', async (t) => {
  const master = await trader()
  const wallet = `0x${'5b'.repeat(20)}`
  const subAccountId = await makeSubAccount(harness, master, wallet)
  const limit = { subAccountId, assetId: quote.id, maxAmount: '10000' }
  t.equal((await call(harness, master, 'POST', '/api/v1/accounts/sub-accounts/limits', limit)).status, 200)
  const sub = await harness.openSession(0, wallet)
  const [masters, subs] = [await listen(master, 'orders', 'balances'), await listen(sub, 'orders', 'balances')]
  const orderId = await place(sub, 'BUY', '0.1', '2000', { useMasterBalance: true })
  await cancel(sub, orderId)
  t.match(await eventsOf(subs, orderId, 'OrderCancelled'), [{ useMasterBalance: true, userId: subAccountId }, {}])
  t.ok(await masters.next(({ type, data }) => type === 'balance_update' && data.reasons.includes('unlock')))
  t.equal(masters.of('orders').filter(({ type }) => type === 'order_update').length, 0)
  t.equal(subs.of('balances').filter(({ type }) => type === 'balance_update').length, 0)
  masters.close()
  subs.close()
})
