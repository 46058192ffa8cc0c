/**
 * Promise: the listener of the stream tests would notice. The frames of a real session are damaged one at a time, as a faulty channel would
 * send them, and each damage is refused or found when what was heard is held against REST.
 */
import t from 'tap'
import { call, startHarness, type Session } from '../support/gateway_harness.ts'
import { differences, Listener, type AtRest } from '../support/listener.ts'
import { signerOf, SocketClient, type Frame } from '../support/sockets.ts'

const harness = await startHarness([])
t.teardown(() => harness.close())
t.setTimeout(120_000)
const pair = harness.genesis.pairs.find(({ symbol }) => symbol === 'ETH/USDC')!

async function trader(): Promise<Session> {
  const session = await harness.openSession()
  for (let i = 0; i < 5; i++) await call(harness, session, 'POST', '/api/v1/faucet/mint', {})
  return session
}
async function place(session: Session, side: string, quantity: string, price: number, more: object = {}): Promise<string> {
  const order = { tradingPairId: pair.id, orderType: 'LIMIT', side, quantity, price: String(price), ...more }
  const { status, json, text } = await call(harness, session, 'POST', '/api/v1/orders', order)
  if (status !== 200) throw new Error(text)
  return json.orderId
}

/** Trades so that there is something of everything, and lets each change be a frame of its own. */
async function trade(mine: Session, other: Session, told: () => Promise<void>): Promise<void> {
  for (let i = 0; i < 14; i++) await place(mine, 'BUY', '0.1', 2900 - i)
  await told()
  const sell = await place(mine, 'SELL', '0.3', 3000, { postOnly: true })
  await told()
  for (const quantity of ['0.1', '0.05']) {
    await place(other, 'BUY', quantity, 3000)
    await told()
  }
  await place(other, 'SELL', '0.1', 3010)
  await place(other, 'SELL', '0.1', 3011)
  await told()
  await place(mine, 'BUY', '0.15', 3011, { selfTradePreventionMode: 'CANCEL_BOTH' })
  await told()
  await place(mine, 'BUY', '0.15', 3011)
  await told()
  await place(mine, 'SELL', '0.05', 3005)
  await told()
  await call(harness, mine, 'DELETE', `/api/v1/orders/${sell}`)
  const low = await place(mine, 'BUY', '0.2', 2800)
  await told()
  await place(other, 'SELL', '0.15', 2899)
  await told()
  await call(harness, mine, 'DELETE', `/api/v1/orders/${low}`)
  await place(mine, 'BUY', '0.2', 2700)
  await told()
}

const [mine, other] = [await trader(), await trader()]
const client = await SocketClient.open(harness.port)
await client.authenticate(signerOf(mine))
await client.subscribe('orderbook', { tradingPairId: pair.id })
for (const channel of ['balances', 'orders']) await client.subscribe(channel)
await client.subscribe('trades', { tradingPairId: pair.id })

async function atRest(): Promise<AtRest> {
  const [book, balances, orders] = await Promise.all([
    call(harness, mine, 'GET', `/api/v1/orderbook/${pair.id}?depth=1000`), call(harness, mine, 'GET', '/api/v1/accounts/balances'),
    call(harness, mine, 'GET', '/api/v1/orders?status=SUBMITTED&status=PARTIALLY_FILLED&pageSize=100'),
  ])
  return { books: new Map([[1, book.json]]), balances: balances.json.balances, orders: orders.json.orders }
}

/** Waits until the listener has what REST answers now. */
async function told(): Promise<void> {
  const rest = await atRest()
  for (let i = 0; i < 4000; i++) {
    const listener = new Listener({ frames: client.frames })
    listener.catchUp()
    if (differences(listener, rest).length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error('what was told never became what is there')
}
await trade(mine, other, told)
// Trades of a turn come behind its books.
await client.next(() => client.of('trades').flatMap(({ type, data }) => (type === 'snapshot' ? [] : data.trades)).length >= 6)
const frames = structuredClone(client.frames)
client.close()
const whole = new Listener({ frames })
whole.catchUp()
const rest: AtRest = { ...await atRest(), trades: [...whole.trades] as { id: string }[], fills: [...whole.fills.values()] }

/** What is wrong with these frames. */
function judge(heard: readonly Frame[]): string {
  const listener = new Listener({ frames: heard })
  try {
    listener.catchUp()
  } catch (error) {
    return (error as Error).message
  }
  return differences(listener, rest).join('; ')
}

t.test('the frames as they came are right', async (t) => {
  t.equal(judge(frames), '')
  t.ok(whole.fills.size >= 6, `${whole.fills.size} fills`)
  t.strictSame([...new Set([...whole.fills.values()].map(({ role }) => role))].sort(), ['maker', 'taker'])
})

const is = (channel: string, type: string, holds: (frame: Frame) => boolean = () => true) => (frame: Frame): boolean =>
  frame['channel'] === channel && frame['type'] === type && frame['data'] !== undefined && holds(frame)
const update = is('orderbook', 'orderbook_update')
const ofEvent = (...names: string[]) => is('orders', 'order_update', ({ data }) => names.includes(data.eventType))
const fills = ofEvent('OrderMatched', 'OrderPartiallyFilled', 'OrderFilled')
const balance = is('balances', 'balance_update')
const placeOf = (which: (frame: Frame) => boolean, last = false): number => (last ? frames.findLastIndex(which) : frames.findIndex(which))

type Damage = (heard: Frame[]) => void
const lose = (at: number): Damage => (heard) => void heard.splice(at, 1)
const repeat = (at: number): Damage => (heard) => void heard.splice(at + 1, 0, heard[at]!)
const change = (at: number, how: (frame: Frame) => void): Damage => (heard) => how(heard[at]!)
const twiceTheFee = ({ data }: Frame): void => void (data.fee = String(2 * Number(data.fee)))
/** Levels that the checksum does not cover. */
const deep = is('orderbook', 'orderbook_update', ({ data }) => data.bids.some(({ price }: Frame) => Number(price) < 2800))

const DAMAGES: [what: string, where: number, damage: (at: number) => Damage][] = [
  ['a wrong level', placeOf(is('orderbook', 'orderbook_update', ({ data }) => data.bids[0]?.quantity !== '0' && data.bids.length > 0)),
    (at) => change(at, ({ data }) => (data.bids[0].quantity = '77'))],
  ['a wrong level below the ten best', placeOf(deep), (at) => change(at, ({ data }) => (data.bids.at(-1).quantity = '77'))],
  ['a level on the wrong side', placeOf(update), (at) => change(at, ({ data }) => ([data.bids, data.asks] = [data.asks, data.bids]))],
  ['a lost update of a book', placeOf(update), lose],
  ['the last update of a book lost', placeOf(update, true), lose],
  ['an update of a book that is repeated', placeOf(update), repeat],
  ['updates of a book in another order', placeOf(update), (at) => (heard) => {
    const next = heard.findIndex((frame, i) => i > at && update(frame))
    ;[heard[at], heard[next]] = [heard[next]!, heard[at]!]
  }],
  ['a sequence that is not linked', placeOf(update), (at) => change(at, ({ data }) => data.previousSequence--)],
  ['a wrong checksum', placeOf(update, true), (at) => change(at, ({ data }) => data.checksum++)],
  ['the last balance lost', placeOf(balance, true), lose],
  ['a balance of an old version', placeOf(balance, true), (at) => change(at, ({ data }) => (data.version = 1))],
  ['a version that is skipped', placeOf(balance, true), (at) => change(at, ({ data }) => data.version++)],
  ['another amount of the same version', placeOf(balance, true), (at) => (heard) => {
    const again = structuredClone(heard[at]!)
    again['data'].availableBalance = '1'
    heard.splice(at + 1, 0, again)
  }],
  ['a trade of a balance without its token', placeOf(is('balances', 'balance_update', ({ reason }) => reason === 'trade')),
    (at) => change(at, ({ data }) => delete data.tokenSymbol)],
  ['a reason that is not the first', placeOf(balance), (at) => change(at, (frame) => (frame['reason'] = 'adl'))],
  ['an order whose beginning is lost', placeOf(ofEvent('OrderSubmitted')), lose],
  ['an order that is submitted twice', placeOf(ofEvent('OrderSubmitted')), repeat],
  ['a cancel that is lost', placeOf(ofEvent('OrderCancelled'), true), lose],
  ['a fill that is lost', placeOf(fills), lose],
  ['a fill that is repeated', placeOf(fills), repeat],
  ['a wrong fee', placeOf(fills), (at) => change(at, twiceTheFee)],
  ['a wrong fee that adds up', placeOf(ofEvent('OrderFilled'), true), (at) => change(at, (frame) => {
    const { data } = frame
    const before = Number(data.totalFee) - Number(data.fee)
    twiceTheFee(frame)
    data.totalFee = String(Number((before + Number(data.fee)).toFixed(6)))
  })],
  ['a wrong raw fee', placeOf(fills), (at) => change(at, ({ data }) => (data.feeRaw = `${data.feeRaw}0`))],
  ['a fee where there is no trade', placeOf(ofEvent('OrderCancelled')), (at) => change(at, ({ data }) => (data.fee = '1'))],
  ['the quantity of all fills in place of the last', placeOf(is('orders', 'order_update', ({ data }) =>
    data.lastFillQuantity !== undefined && data.lastFillQuantity !== data.filledQuantity)),
  (at) => change(at, ({ data }) => (data.lastFillQuantity = data.filledQuantity))],
  ['maker and taker the wrong way round', placeOf(fills), (at) => change(at, ({ data }) => {
    data.role = data.role === 'maker' ? 'taker' : 'maker'
  })],
  ['postOnly that is false', placeOf(fills), (at) => change(at, ({ data }) => (data.postOnly = false))],
  ['a replaced order without its successor', placeOf(ofEvent('OrderCancelled')), (at) => change(at, ({ data }) => {
    data.eventType = 'OrderReplaced'
  })],
  ['a status of another event', placeOf(ofEvent('OrderFilled')), (at) => change(at, ({ data }) => (data.status = 'PARTIALLY_FILLED'))],
  ['a trade that is repeated', placeOf(is('trades', 'trades_update')), repeat],
  ['a trade that is lost', placeOf(is('trades', 'trades_update')), lose],
  ['a trade at another price', placeOf(is('trades', 'trades_update')), (at) => change(at, ({ data }) => (data.trades[0].price = '1'))],
]
for (const [what, where, damage] of DAMAGES) {
  t.test(`noticed: ${what}`, async (t) => {
    t.ok(where >= 0, 'there is such a frame')
    const heard = structuredClone(frames)
    damage(where)(heard)
    t.notSame(heard, frames, 'it is damaged')
    t.not(judge(heard), '', judge(heard).slice(0, 100))
  })
}
