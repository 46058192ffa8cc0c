/**
 * Promise: what a listener to orders is told is what happened to his orders: one who leaves in the middle of a command leaves nothing
 * behind for those who come later, the fees of an order's frames add up to its fee, and what a snapshot has is not told again.
 */
import t from 'tap'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { CommandType } from '../../core/layout/command.ts'
import { EventType, FILL, ORDER_ENDED, outcomeOf, Reason, RESULT, Status } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { APPLYING } from '../../core/ring/counters.ts'
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
