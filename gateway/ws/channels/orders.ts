/**
 * `orders {tradingPairId?}`: what happens to the orders of the account (specification, Events, rules 1 to 3).
 *
 * The snapshot has the orders that rest, in frames of {@link SNAPSHOT_ORDERS}; `more` says whether another follows. An update is one event
 * of one order with its whole record as it is then:
 *
 *   OrderSubmitted                        it was accepted; as it was before it traded
 *   OrderMatched                          it traded on arrival, and another trade of the same command follows
 *   OrderPartiallyFilled, OrderFilled     it traded; what is left is open, or nothing is left
 *   OrderResized                          it rests with fewer lots, in its place: reduce-only, and its position is smaller now
 *   OrderReplaced                         it ended, and `replacedByOrderId` is in its place
 *   OrderExpired, OrderCancelled          it ended unfilled; `terminalReason` says why
 *   OrderSettled                          its last trade is in a batch of settlement: SETTLED, then SETTLED_ON_CHAIN
 *
 * A trade is told once to either side: no quantity and no fee is in two frames. `fee` and `feeRaw` are of the trade that a frame tells of
 * and 0 when it tells of none; `totalFee` is of the order so far, which they add up to. `stpCounterpartyOrderId` names the other order of a
 * self-trade that was prevented: the resting one that stopped it, or the incoming one. Refused orders never were and are not told.
 * The stream has no sequence number (rule 2): what was missed is not sent again. `commandSequence` in the data is the command that an
 * event came of, which all its events share, and the last command that a snapshot has in it.
 *
 * OrderSettled is told of orders that this thread told to be filled while somebody listened to the account, as many as it has room for
 * (settled_orders.ts). Of any other the reads of orders know.
 *
 * What events do not repeat of a resting order (client order id, expiry, of margin orders where they stand, of slices their TWAP order) is
 * remembered for accounts that somebody listens to.
 */
import Type, { type Static } from 'typebox'
import { CommandType, Flag } from '../../../core/layout/command.ts'
import {
  answeredTypeOf, CHILD_ORDER, EventType, eventTypeOf, FILL, LABEL, MARGIN_ORDER, ORDER_ENDED, ORDER_RESIZED, outcomeOf, Reason, RESULT,
  SELF_TRADE, SETTLEMENT, Status,
} from '../../../core/layout/event.ts'
import { orderId, tradeId } from '../../../core/layout/ids.ts'
import type { Views } from '../../../core/layout/table.ts'
import { SettlementStatus as BatchStatus } from '../../../core/layout/vault.ts'
import { readOpenOrders } from '../../../core/view/open_orders.ts'
import type { NamedRow, OrderMarginView } from '../../../core/view/order_margin.ts'
import { marginOfOrder, orderOfEnded, orderOfFill, orderOfResized, orderOfResult, parentOfChild } from '../../bridge/closed_orders.ts'
import type { Gateway } from '../../context.ts'
import * as sample from '../../operations/example_values.ts'
import { amountText, priceText, quantityText, rawText } from '../../operations/amounts.ts'
import { Decimal, PairName, Uuid } from '../../operations/operation.ts'
import { OrderRecord, orderRecord, type OrderFacts } from '../../operations/order_record.ts'
import { Role } from '../../operations/trades.ts'
import { field } from '../../operations/schema.ts'
import { dataFrame, type Params } from '../frames.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { OrderChange, orderChangeOf, rests } from '../../bridge/book_events.ts'
import { readerOf } from './parameters.ts'
import { SettledOrders } from './settled_orders.ts'

/** Orders in one frame of a snapshot. */
export const SNAPSHOT_ORDERS = 500
/** In place of a pair: all of them. */
const ALL = -1

const EventName = Type.Enum([
  'OrderSubmitted', 'OrderMatched', 'OrderPartiallyFilled', 'OrderFilled', 'OrderCancelled', 'OrderExpired', 'OrderReplaced',
  'OrderResized', 'OrderSettled',
])
type EventName = Static<typeof EventName>

/** What an event says of its trade. */
const TRADE = {
  tradeId: Type.Optional(field(Uuid, 'The trade, where the event is one.')),
  lastFillQuantity: Type.Optional(field(Decimal, 'Quantity of this trade, in units of the base token.')),
  lastFillPrice: Type.Optional(field(Decimal, 'Price of this trade.')),
  role: Type.Optional(field(Role, 'maker: the order rested; taker: it came and took. With a trade only.')),
  fee: field(
    Decimal, 'Of the trade that the frame tells of, in units of the quote token: positive paid, negative earned; 0 without one.',
  ),
  feeRaw: field(Type.String(), 'The same in smallest units of the token.'),
}

export const ORDERS = channel({
  name: 'orders',
  access: 'private',
  about: 'What happens to the orders of the account, of all pairs or of one.',
  params: Type.Object({
    tradingPairId: Type.Optional(field(PairName, 'Only orders of this pair, by id or symbol; absent: all.')),
  }),
  frames: {
    snapshot: {
      about: 'Orders that rest, in as many frames as it takes; `more` says whether another follows.',
      data: Type.Object({
        tradingPairId: Type.Optional(field(Uuid, 'The pair that was asked for; absent: all.')),
        commandSequence: field(Type.Integer(), 'Number of the last command that is in it.'),
        orders: field(Type.Array(OrderRecord), 'Orders that rest.'),
        more: field(Type.Boolean(), 'Whether another frame of this snapshot follows.'),
      }),
      sequenced: false,
    },
    order_update: {
      about: 'One event of one order, with the whole order as it is then.',
      data: Type.Object({
        eventType: field(EventName, 'What happened to the order.'),
        commandSequence: field(Type.Integer(), 'Number of the command that the event came of, which its other events share.'),
        ...OrderRecord.properties,
        status: field(OrderRecord.properties.status, 'State of the order after the event.'),
        postOnly: Type.Optional(field(Type.Literal(true), 'True where it is; absent otherwise.')),
        ...TRADE,
        totalFee: field(Decimal, 'Fees of the order so far: what `fee` adds up to.'),
        stpCounterpartyOrderId: Type.Optional(field(Uuid, 'Your other order, where a trade with yourself was prevented.')),
        replacedByOrderId: Type.Optional(field(Uuid, 'The order in its place, where it was replaced.')),
      }),
      sequenced: false,
    },
  },
  example: {
    params: { tradingPairId: sample.PAIR },
    frames: {
      snapshot: { tradingPairId: sample.PAIR, commandSequence: 41, orders: [sample.order], more: false },
      order_update: {
        eventType: 'OrderPartiallyFilled', commandSequence: 43, ...sample.order, postOnly: true, tradeId: sample.TRADE,
        lastFillQuantity: '0.02', lastFillPrice: '60000', role: 'maker', fee: '-0.06', feeRaw: '-60000', totalFee: '-0.06',
      },
    },
  },
  create: createOrders,
})
const NAME = ORDERS.name

/** What a resting order has that its events do not say. */
interface Known {
  readonly clientOrderId: string
  readonly expiresAt: number
  readonly margin?: OrderMarginView
  readonly parent?: NamedRow
}

/** Of an order. */
const knownOf = ({ clientOrderId, expiresAt, margin, parent }: OrderFacts): Known => ({
  clientOrderId, expiresAt, ...(margin === undefined ? {} : { margin }), ...(parent === undefined ? {} : { parent }),
})

interface Listened {
  /** By subscriber: the pairs, or {@link ALL}, and the sequence its snapshot of them has in it. */
  readonly subscribers: Map<Subscriber, Map<number, number>>
  /** Resting orders by sequence. */
  readonly known: Map<number, Known>
}

/** One trade of the order that a command placed. */
interface Trade {
  readonly index: number
  readonly price: number
  readonly lots: number
  readonly quote: bigint
  readonly fee: bigint
}

/** A resting order that the command ended to prevent a self-trade. */
interface Prevented {
  readonly order: OrderFacts
}

function createOrders(gateway: Gateway): Channel {
  const events = new OrderEvents(gateway)
  const pairOf = ({ tradingPairId }: Params): number =>
    tradingPairId === undefined ? ALL : gateway.pairs.get((tradingPairId as string).toLowerCase())!.index
  return {
    declaration: ORDERS,
    read: readerOf(gateway, ORDERS),
    subscribe: (subscriber, params) => events.subscribe(subscriber, pairOf(params)),
    unsubscribe: (subscriber, params) => events.unsubscribe(subscriber, pairOf(params)),
    take: (records, base) => events.take(records, base),
    // Every other event has left when its command ended.
    flush: (most) => events.flush(most),
  }
}

class OrderEvents {
  readonly #gateway: Gateway
  readonly #accounts = new Map<number, Listened>()
  /** Of the command under way, when somebody listens to its account. */
  #trades: Trade[] = []
  #prevented: Prevented | null = null
  /** Id of the resting order that stopped the incoming one. */
  #stoppedBy: string | null = null
  #clientOrderId = { sequence: 0, text: '' }
  #margin: { sequence: number; view: OrderMarginView } | null = null
  #parent: { sequence: number; view: NamedRow } | null = null
  /** Orders that were told to be filled. */
  readonly #settled: SettledOrders

  constructor(gateway: Gateway) {
    this.#gateway = gateway
    this.#settled = new SettledOrders(gateway.counters)
  }

  flush(most: number): number | void {
    const left = this.#settled.tell(most, ({ order, sequence }) => this.#publish('OrderSettled', sequence, order))
    return left === 0 ? undefined : left
  }

  subscribe(subscriber: Subscriber, pair: number): boolean {
    const { state, gate, genesis } = this.#gateway
    const listened = this.#accounts.get(subscriber.account) ?? { subscribers: new Map(), known: new Map() }
    this.#accounts.set(subscriber.account, listened)
    const pairs = listened.subscribers.get(subscriber) ?? new Map<number, number>()
    listened.subscribers.set(subscriber, pairs)
    const open = readOpenOrders(state, gate, subscriber.account)
    // Without a new snapshot what an earlier one has is still not told again.
    pairs.set(pair, open?.sequence ?? pairs.get(pair) ?? 0)
    if (open === null) return false
    for (const order of open.orders) listened.known.set(order.sequence, knownOf(order))
    const orders = open.orders.filter((order) => pair === ALL || order.pair === pair)
    const scope = pair === ALL ? {} : { tradingPairId: genesis.pairs[pair]!.id }
    for (let from = 0; from === 0 || from < orders.length; from += SNAPSHOT_ORDERS) {
      const part = orders.slice(from, from + SNAPSHOT_ORDERS)
      const more = from + SNAPSHOT_ORDERS < orders.length
      subscriber.push(() => {
        const data = { ...scope, commandSequence: open.sequence, orders: part.map((order) => orderRecord(this.#gateway, order)), more }
        return dataFrame(NAME, 'snapshot', this.#gateway.now(), data)
      })
    }
    return true
  }

  unsubscribe(subscriber: Subscriber, pair: number): void {
    const listened = this.#accounts.get(subscriber.account)
    const pairs = listened?.subscribers.get(subscriber)
    if (listened === undefined || pairs === undefined) return
    pairs.delete(pair)
    if (pairs.size === 0) listened.subscribers.delete(subscriber)
    if (listened.subscribers.size === 0) {
      this.#accounts.delete(subscriber.account)
      this.#settled.forget(subscriber.account)
    }
    // Whoever leaves may leave in the middle of a command, whose end is then not looked at.
    if (this.#accounts.size === 0) this.#endCommand()
  }

  take(records: Views, base: number): void {
    if (this.#accounts.size === 0) return
    switch (eventTypeOf(records.u32[base]!)) {
      case EventType.FILL:
        return this.#takeFill(records, base)
      case EventType.ORDER_ENDED:
        return this.#takeEnded(records, base)
      case EventType.LABEL:
        return this.#takeClientOrderId(records, base)
      case EventType.MARGIN_ORDER:
        return this.#takeMarginOrder(records, base)
      case EventType.CHILD_ORDER:
        return this.#takeChild(records, base)
      case EventType.ORDER_RESIZED:
        return this.#takeResized(records, base)
      case EventType.SELF_TRADE:
        return this.#takeSelfTrade(records, base)
      case EventType.SETTLEMENT:
        return this.#takeSettlement(records, base)
      case EventType.RESULT:
        this.#takeResult(records, base)
        this.#endCommand()
    }
  }

  #endCommand(): void {
    this.#prevented = null
    this.#stoppedBy = null
    if (this.#trades.length > 0) this.#trades = []
  }

  #takeClientOrderId({ i32, f64, bytes }: Views, base: number): void {
    if (!this.#accounts.has(i32[base + LABEL.at.account]!)) return
    const at = (base + LABEL.at.label) * 4
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + at, i32[base + LABEL.at.length]!).toString('latin1')
    this.#clientOrderId = { sequence: f64[(base + LABEL.at.orderSequence) >>> 1]!, text }
  }

  #takeMarginOrder(records: Views, base: number): void {
    const { i32, f64 } = records
    if (!this.#accounts.has(i32[base + MARGIN_ORDER.at.account]!)) return
    this.#margin = { sequence: f64[(base + MARGIN_ORDER.at.orderSequence) >>> 1]!, view: marginOfOrder(records, base) }
  }

  #takeChild(records: Views, base: number): void {
    const { i32, f64 } = records
    if (!this.#accounts.has(i32[base + CHILD_ORDER.at.account]!)) return
    this.#parent = { sequence: f64[(base + CHILD_ORDER.at.orderSequence) >>> 1]!, view: parentOfChild(records, base) }
  }

  #takeResized(records: Views, base: number): void {
    const { i32, f64 } = records
    const listened = this.#accounts.get(i32[base + ORDER_RESIZED.at.account]!)
    if (listened === undefined) return
    const order = this.#complete(listened, orderOfResized(records, base, ''), false)
    this.#publish('OrderResized', f64[(base + ORDER_RESIZED.at.sequence) >>> 1]!, order)
  }

  #takeSettlement({ i32, f64 }: Views, base: number): void {
    const { at } = SETTLEMENT
    const word = (field: number): number => f64[(base + field) >>> 1]!
    this.#settled.settle(word(at.through), i32[base + at.status] === BatchStatus.CONFIRMED, word(at.sequence), word(at.time))
  }

  #takeSelfTrade({ i32, f64 }: Views, base: number): void {
    const { at } = SELF_TRADE
    this.#stoppedBy = orderId(f64[(base + at.orderSequence) >>> 1]!, i32[base + at.slot]!)
  }

  #takeFill(records: Views, base: number): void {
    const { i32, f64, i64 } = records
    const { at } = FILL
    const trade: Trade = {
      index: i32[base + at.index]!, price: i32[base + at.price]!, lots: i32[base + at.lots]!, quote: i64[(base + at.quote) >>> 1]!,
      fee: i64[(base + at.takerFee) >>> 1]!,
    }
    // The record of the taker comes with its RESULT.
    if (this.#accounts.has(i32[base + at.takerAccount]!)) this.#trades.push(trade)
    const account = i32[base + at.makerAccount]!
    const listened = this.#accounts.get(account)
    if (listened === undefined) return
    const sequence = f64[(base + at.sequence) >>> 1]!
    const order: OrderFacts = { ...orderOfFill(records, base, ''), remaining: i32[base + at.makerRemaining]! }
    const filled = order.remaining === 0
    if (!filled) order.outcome = outcomeOf(Status.PARTIALLY_FILLED, Reason.NONE)
    this.#publishTrade(filled ? 'OrderFilled' : 'OrderPartiallyFilled', sequence, this.#complete(listened, order, filled), 'maker', {
      ...trade, fee: i64[(base + at.makerFee) >>> 1]!,
    })
  }

  #takeEnded(records: Views, base: number): void {
    const { i32, f64 } = records
    const { at } = ORDER_ENDED
    const sequence = f64[(base + at.sequence) >>> 1]!
    const account = i32[base + at.account]!
    const listened = this.#accounts.get(account)
    const ended = orderOfEnded(records, base, '')
    const order = listened === undefined ? ended : this.#complete(listened, ended, true)
    switch (ended.outcome >>> 8) {
      case Reason.SELF_TRADE_PREVENTION:
        // The id of the other order comes with the RESULT, and its owner may listen when this one's does not.
        this.#prevented = { order }
        this.#stoppedBy = orderId(ended.sequence, ended.slot)
        return
      case Reason.REPLACED: {
        const successor = f64[(base + at.counterpartySequence) >>> 1]!
        return this.#publish('OrderReplaced', sequence, order, { replacedByOrderId: orderId(successor, order.slot) })
      }
      case Reason.EXPIRED:
        return this.#publish('OrderExpired', sequence, order)
      default:
        return this.#publish('OrderCancelled', sequence, order)
    }
  }

  #takeResult(records: Views, base: number): void {
    const what = orderChangeOf(records, base)
    if (what === OrderChange.NONE) return
    const { i32, f64 } = records
    const sequence = f64[(base + RESULT.at.sequence) >>> 1]!
    const order = orderOfResult(records, base, '')
    if (this.#prevented !== null) {
      this.#publish('OrderCancelled', sequence, this.#prevented.order, { stpCounterpartyOrderId: orderId(order.sequence, order.slot) })
    }
    const listened = this.#accounts.get(i32[base + RESULT.at.account]!)
    if (listened === undefined) return
    if (answeredTypeOf(records.u32[base]!) === CommandType.CANCEL_ORDER) {
      return this.#publish('OrderCancelled', sequence, this.#complete(listened, order, true))
    }
    if (this.#clientOrderId.sequence === order.sequence) order.clientOrderId = this.#clientOrderId.text
    if (this.#margin?.sequence === order.sequence) order.margin = this.#margin.view
    if (this.#parent?.sequence === order.sequence) order.parent = this.#parent.view
    if (rests(records, base)) listened.known.set(order.sequence, knownOf(order))
    this.#publishPlaced(sequence, order)
  }

  /** What became of an order on arrival. */
  #publishPlaced(sequence: number, order: OrderFacts & { outcome: number }): void {
    const ended = (order.outcome & 0xff) === Status.CANCELLED
    const fresh = { ...order, outcome: outcomeOf(Status.SUBMITTED, Reason.NONE), remaining: order.lots, filledQuote: 0n, fee: 0n }
    this.#publish('OrderSubmitted', sequence, fresh)
    const now = { ...fresh, outcome: outcomeOf(Status.PARTIALLY_FILLED, Reason.NONE) }
    this.#trades.forEach((trade, i) => {
      now.remaining -= trade.lots
      now.filledQuote += trade.quote
      now.fee += trade.fee
      if (now.remaining === 0) now.outcome = outcomeOf(Status.FILLED, Reason.NONE)
      const last = now.remaining === 0 ? 'OrderFilled' : 'OrderPartiallyFilled'
      this.#publishTrade(i < this.#trades.length - 1 ? 'OrderMatched' : last, sequence, now, 'taker', trade)
    })
    if (!ended) return
    const more = this.#stoppedBy === null ? {} : { stpCounterpartyOrderId: this.#stoppedBy }
    this.#publish('OrderCancelled', sequence, order, more)
  }

  /** Adds what is known of a resting order; one that `ends` is forgotten. */
  #complete({ known }: Listened, order: OrderFacts, ends: boolean): OrderFacts {
    const more = known.get(order.sequence)
    if (ends) known.delete(order.sequence)
    return more === undefined ? order : { ...order, ...more }
  }

  #publishTrade(event: EventName, sequence: number, order: OrderFacts, role: Role, trade: Trade): void {
    const pair = this.#gateway.genesis.pairs[order.pair]!
    this.#publish(event, sequence, order, {
      tradeId: tradeId(sequence, trade.index),
      lastFillQuantity: quantityText(pair, trade.lots),
      lastFillPrice: priceText(pair, trade.price),
      role,
    }, trade.fee)
  }

  /** Sends one event of an order to whoever listens to it and does not have it in his snapshot. `fee`: of the trade it tells of, atoms. */
  #publish(event: EventName, sequence: number, order: OrderFacts, more: object = {}, fee = 0n): void {
    const listened = this.#accounts.get(order.account)
    if (listened === undefined) return
    const wants = (since: number | undefined): boolean => since !== undefined && sequence > since
    const to = [...listened.subscribers].filter(([, pairs]) => wants(pairs.get(ALL)) || wants(pairs.get(order.pair)))
    if (to.length === 0) return
    const { genesis } = this.#gateway
    const quote = genesis.assets[genesis.pairs[order.pair]!.quote]!
    const { postOnly: _, fee: totalFee, ...record } = orderRecord(this.#gateway, order)
    const data = {
      eventType: event, commandSequence: sequence, ...record, ...((order.flags & Flag.POST_ONLY) !== 0 ? { postOnly: true } : {}), ...more,
      fee: amountText(quote, fee), feeRaw: rawText(quote, fee), totalFee,
    }
    if (event === 'OrderFilled') this.#settled.remember({ ...order }, sequence)
    const frame = dataFrame(NAME, 'order_update', this.#gateway.now(), data)
    for (const [subscriber] of to) subscriber.push(frame)
  }
}
