/**
 * Promise: what a listener to orders is told is what happened to his orders: one who leaves in the middle of a command leaves nothing
 * behind for those who come later, the fees of an order's frames add up to its fee, and what a snapshot has is not told again.
 */
import t from 'tap'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { CommandType, Flag } from '../../core/layout/command.ts'
import {
  EventType, FILL, MARGIN_ORDER, ORDER_ENDED, ORDER_RESIZED, outcomeOf, Reason, RESULT, Status,
} from '../../core/layout/event.ts'
import { marginAccountId, riskBucketId } from '../../core/layout/ids.ts'
import { encode, RECORD_BYTES, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { APPLYING } from '../../core/ring/counters.ts'
import { noChange, pairOfEvent, readBookChange } from '../../gateway/bridge/book_events.ts'
import type { Gateway } from '../../gateway/context.ts'
import type { Subscriber } from '../../gateway/ws/channels/channel.ts'
import { ORDERS } from '../../gateway/ws/channels/orders.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import type { Frame } from '../support/sockets.ts'

const [MAKER, TAKER] = [1, 2]

/** The channel over a state without orders, and what each listener got. */
/** A frame, made if it still has to be. */
const read = (frame: Parameters<Subscriber['push']>[0]): Frame =>
  JSON.parse((typeof frame === 'function' ? frame() : frame).toString()) as Frame

function stage() {
  const genesis = parseGenesis(testGenesis())
  const state = createState(genesis)
  const gate = new Int32Array(new SharedArrayBuffer(64))
  const pairs = new Map(genesis.pairs.map((pair) => [pair.id, pair]))
  const channel = ORDERS.create({ genesis, state, gate, pairs, now: () => 0, time: () => 0 } as unknown as Gateway)
  const listen = (account: number): { frames: Frame[]; subscriber: Subscriber } => {
    const frames: Frame[] = []
    const subscriber: Subscriber = { account, push: (frame) => void frames.push(read(frame)) }
    channel.subscribe(subscriber, {})
    return { frames, subscriber }
  }
  const take = (layout: Layout, values: Decoded): void => {
    const views = viewsOf(new ArrayBuffer(RECORD_BYTES))
    encode(layout, views, 0, values)
    channel.take(views, 0)
  }
  return { state, gate, channel, listen, take }
}

const fill = (sequence: number, more: Decoded = {}): Decoded => ({
  kind: EventType.FILL, sequence, pair: 0, price: 100, lots: 2, quote: 200n, makerAccount: MAKER, makerSequence: 1, makerLots: 5,
  makerRemaining: 3, makerFilledQuote: 200n, makerFee: -1n, makerTotalFee: -1n, takerAccount: TAKER, takerFee: 4n, ...more,
})
const placed = (sequence: number, account: number, more: Decoded = {}): Decoded => ({
  kind: EventType.RESULT | (CommandType.PLACE_ORDER << 8), sequence, orderSequence: sequence, account, pair: 0, price: 100, lots: 5,
  remaining: 5, outcome: outcomeOf(Status.SUBMITTED, Reason.NONE), ...more,
})
const told = (frames: readonly Frame[]): string[] => frames.filter(({ type }) => type === 'order_update').map(({ data }) => data.eventType)

t.test('who leaves in the middle of a command leaves no trade for those who come', async (t) => {
  const { channel, listen, take } = stage()
  const first = listen(TAKER)
  take(FILL, fill(7))
  channel.unsubscribe(first.subscriber, {})
  take(RESULT, placed(7, TAKER, { remaining: 3, trades: 1 }))
  const next = listen(MAKER)
  take(RESULT, placed(8, MAKER))
  t.strictSame(told(next.frames), ['OrderSubmitted'], 'no trade of somebody else')
})

t.test('nor an order that was ended to prevent a self-trade', async (t) => {
  const { channel, listen, take } = stage()
  const first = listen(TAKER)
  const outcome = outcomeOf(Status.CANCELLED, Reason.SELF_TRADE_PREVENTION)
  const order = { account: TAKER, orderSequence: 3, lots: 5, remaining: 5, price: 100 }
  take(ORDER_ENDED, { kind: EventType.ORDER_ENDED, sequence: 7, ...order, outcome })
  channel.unsubscribe(first.subscriber, {})
  const next = listen(TAKER)
  take(RESULT, placed(8, MAKER))
  t.strictSame(told(next.frames), [])
})

t.test('the fees of an order\'s frames add up to its fee, and a frame without a trade has none', async (t) => {
  const { listen, take } = stage()
  const { frames } = listen(TAKER)
  take(FILL, fill(7))
  take(FILL, fill(7, { index: 1, takerFee: 3n }))
  const ended = outcomeOf(Status.CANCELLED, Reason.IOC_REMAINDER)
  take(RESULT, placed(7, TAKER, { remaining: 1, trades: 2, filledQuote: 400n, fee: 7n, outcome: ended }))
  t.strictSame(told(frames), ['OrderSubmitted', 'OrderMatched', 'OrderPartiallyFilled', 'OrderCancelled'])
  const updates = frames.filter(({ type }) => type === 'order_update').map(({ data }) => data)
  t.strictSame(updates.map(({ feeRaw }) => Number(feeRaw)), [0, 4, 3, 0])
  t.strictSame(updates.map(({ fee }) => fee !== '0'), [false, true, true, false])
  t.strictSame(updates.map(({ totalFee }) => Number(totalFee) * 1e6), [0, 4, 7, 7])
})

t.test('a snapshot that could not be read leaves the one before it in force', async (t) => {
  const { state, gate, channel, listen, take } = stage()
  state.clock[CLOCK.SEQUENCE] = 10
  const { frames, subscriber } = listen(TAKER)
  t.equal((frames[0]!['data'] as Record<string, unknown>)['commandSequence'], 10)
  t.notOk('sequence' in frames[0]!, 'the order stream has no sequence number (specification, Events, rule 2)')
  gate[APPLYING] = 1
  t.notOk(channel.subscribe(subscriber, {}))
  gate[APPLYING] = 2
  take(RESULT, placed(9, TAKER))
  t.strictSame(told(frames), [], 'the first snapshot has it')
  take(RESULT, placed(11, TAKER))
  t.strictSame(told(frames), ['OrderSubmitted'])
})

t.test('an order of a perpetual is told with where it stands, first event to last; a smaller one too', async (t) => {
  const { listen, take } = stage()
  const { frames } = listen(MAKER)
  const flags = Flag.SELL | Flag.MARGIN | Flag.REDUCE_ONLY
  take(MARGIN_ORDER, {
    kind: EventType.MARGIN_ORDER, account: MAKER, orderSequence: 7, slot: 3, marginAccount: 4, bucket: 6, marginAccountSequence: 70,
    bucketSequence: 90, flags, strategyKey: Buffer.from('grid').toString('hex').padEnd(96, '0'),
  })
  take(RESULT, placed(7, MAKER, { flags, slot: 3 }))
  const resized = {
    kind: EventType.ORDER_RESIZED, sequence: 8, account: MAKER, orderSequence: 7, slot: 3, flags, price: 100, lots: 4, remaining: 4,
    less: 1,
  }
  take(ORDER_RESIZED, resized)
  take(FILL, fill(9, { makerSequence: 7, makerSlot: 3, makerFlags: flags, makerLots: 4, makerRemaining: 2 }))
  take(ORDER_RESIZED, { ...resized, sequence: 10, lots: 3, remaining: 1 })
  const outcome = outcomeOf(Status.CANCELLED, Reason.REDUCE_ONLY)
  take(ORDER_ENDED, {
    kind: EventType.ORDER_ENDED, sequence: 11, account: MAKER, orderSequence: 7, slot: 3, flags, lots: 3, remaining: 1, price: 100,
    outcome,
  })
  const updates = frames.filter(({ type }) => type === 'order_update').map(({ data }) => data)
  t.strictSame(updates.map(({ eventType, quantity, remainingQuantity, status }) => [eventType, quantity, remainingQuantity, status]), [
    ['OrderSubmitted', '0.0005', '0.0005', 'SUBMITTED'], ['OrderResized', '0.0004', '0.0004', 'SUBMITTED'],
    ['OrderPartiallyFilled', '0.0004', '0.0002', 'PARTIALLY_FILLED'], ['OrderResized', '0.0003', '0.0001', 'PARTIALLY_FILLED'],
    ['OrderCancelled', '0.0003', '0.0001', 'CANCELLED'],
  ])
  for (const update of updates) {
    t.match(update, {
      tradingMode: 'MARGIN', marginMode: 'ISOLATED', reduceOnly: true, marginAccountId: marginAccountId(70, 4),
      riskBucketId: riskBucketId(90, 6), strategyKey: 'grid', leverage: undefined,
    }, update['eventType'])
  }
  t.equal(updates.at(-1)!['terminalReason'], 'REDUCE_ONLY')
})

t.test('a book loses the lots by which an order was made smaller, and no order', async (t) => {
  const views = viewsOf(new ArrayBuffer(RECORD_BYTES))
  encode(ORDER_RESIZED, views, 0, {
    kind: EventType.ORDER_RESIZED, sequence: 8, time: 77, pair: 2, flags: Flag.SELL | Flag.MARGIN, price: 100, lots: 4, remaining: 4,
    less: 3,
  })
  const change = noChange()
  t.equal(pairOfEvent(views, 0), 2)
  t.ok(readBookChange(views, 0, change))
  t.strictSame(change, { pair: 2, sell: true, tick: 100, lots: -3, orders: 0, sequence: 8, time: 77 })
})
