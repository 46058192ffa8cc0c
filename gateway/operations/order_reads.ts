/**
 * Reading orders. Open orders come from the shared columns in one consistent copy, exact and without the history; an order that ended
 * lately from the closed-order cache of the event ring; every other from the history. Somebody else's order and a missing one are the
 * same 404.
 */
import Type, { type Static } from 'typebox'
import type { HistoryOrder, Listing, OrdersAsk, Position, Walk } from '../../core/history/answer/queries.ts'
import { Flag, Origin, originOf } from '../../core/layout/command.ts'
import { outcomeOf, Reason, Status, STATUS_NAMES } from '../../core/layout/event.ts'
import type { Id } from '../../core/layout/ids.ts'
import { readOrder } from '../../core/view/accounts.ts'
import { listOpenOrders } from '../../core/view/open_orders.ts'
import { askHistory } from '../bridge/history.ts'
import { drainClosedOrders, findFinished, findFinishedNamed, type ClosedOrder } from '../bridge/closed_orders.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { pairFilter, TimeRange, timeRangeOf } from './history_filters.ts'
import { answerListing, isCapped, ListingOutput, ListingQuery, readListing, type ListingPlan } from './listing.ts'
import { operation, type Call } from './operation.ts'
import { OrderType, Side, TradingMode } from './order_words.ts'
import { orderRecord, OrderRecord, OrderStatus, type OrderFacts } from './order_record.ts'
import * as sample from './example_values.ts'
import { HISTORY, READ } from './refusal_groups.ts'
import { PAGES } from './listing.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'
import { settledOutcome } from './settlement.ts'
import { orderOf, type NamedOrder } from './lookup.ts'

export const GetOrder = operation({
  service: 'OrdersService', method: 'GET', path: '/api/v1/orders/{orderId}',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'One order',
  description: "Reads one order of the caller. Somebody else's order and a missing one are the same 404. A client order id names the "
    + 'order that rests under it, and otherwise the newest that had it, with how it ended.',
  answer: 'The order.',
  refusals: ['ORDER_NOT_FOUND', ...READ, ...HISTORY],
  params: Type.Object({ orderId: fields.orderName }),
  output: OrderRecord,
  example: { input: { orderId: sample.ORDER }, output: sample.order },
  run: (gateway, call, input) => {
    const id = orderOf(input.orderId)
    if (id instanceof Refused) return call.refuse(id)
    if ('clientOrderId' in id) return answerNamed(gateway, call, id.clientOrderId)
    const live = readOrder(gateway.state, gateway.gate, call.account, id.slot, id.sequence)
    if (live === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    if (live !== undefined) return call.answer(orderRecord(gateway, live))
    const finished = lately(gateway, call.account, id)
    if (finished !== undefined && isWhole(finished)) return call.answer(orderRecord(gateway, finished))
    askHistory(gateway.history, 'order', { account: call.account, sequence: id.sequence }, (found) => answerEnded(gateway, call, id, found))
  },
})

/** The order that rests under a client order id; without one the newest that had it: an order that ends gives its name back. */
function answerNamed(gateway: Gateway, call: Call<OrderRecord>, clientOrderId: string): void {
  const walk = { account: call.account, clientOrderId, after: null, skip: 0, limit: 1, countMost: 1 }
  const found = listOpenOrders(gateway.state, gateway.gate, walk)
  if (found === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
  if (found.rows[0] !== undefined) return call.answer(orderRecord(gateway, found.rows[0]))
  const finished = lately(gateway, call.account, { clientOrderId })
  if (finished !== undefined && isWhole(finished)) return call.answer(orderRecord(gateway, finished))
  askHistory(gateway.history, 'orders', walk, (listing) => answerNamedEnd(gateway, call, clientOrderId, listing))
}

/** As {@link answerEnded}: the closed-order cache makes up for a history that is behind, and knows the newest of a name. */
function answerNamedEnd(gateway: Gateway, call: Call<OrderRecord>, clientOrderId: string, listing: Listing<HistoryOrder> | Refused): void {
  const finished = lately(gateway, call.account, { clientOrderId })
  const found = listing instanceof Refused ? undefined : listing.rows[0]
  const isNewest = found !== undefined && found.sequence >= (finished?.sequence ?? 0)
  if (isNewest && !isOpen(found)) return call.answer(orderRecord(gateway, found))
  if (finished !== undefined) return call.answer(orderRecord(gateway, finished))
  if (listing instanceof Refused) call.refuse(listing)
  else call.refuse(new Refused(found === undefined ? 'ORDER_NOT_FOUND' : 'HISTORY_UNAVAILABLE'))
}

/** The order of the account that ended lately and is named so. */
export function lately(gateway: Gateway, account: number, named: NamedOrder): ClosedOrder | undefined {
  drainClosedOrders(gateway.closedOrders)
  const order = 'clientOrderId' in named ? findFinishedNamed(gateway.closedOrders, account, named.clientOrderId)
    : findFinished(gateway.closedOrders, account, named.sequence, named.slot)
  // Of one that was filled the chain may have said more by now.
  if (order?.outcome === FILLED) order.outcome = settledOutcome(gateway.state, order.endSequence)
  return order
}

const FILLED = outcomeOf(Status.FILLED, Reason.NONE)

/**
 * The cache does not know when an order that rested would have expired, nor, if it is older than this thread, its client order id, where
 * it stood and of what it was a slice.
 */
const isWhole = ({ expiresAt, flags, margin, parent }: ClosedOrder): boolean =>
  (expiresAt > 0 || (flags & Flag.MARKET) !== 0) && ((flags & Flag.MARGIN) === 0 || margin !== undefined) &&
  (originOf(flags) !== Origin.TWAP || parent !== undefined)

const isOpen = ({ outcome }: HistoryOrder): boolean =>
  (outcome & 0xff) === Status.SUBMITTED || (outcome & 0xff) === Status.PARTIALLY_FILLED

/**
 * Answers an order that does not rest with what the history says of it. A history that knows less than the columns and the closed-order
 * cache (it is behind, or cannot be read) is made up for by the closed-order cache, and otherwise is no verdict: never "open" and never
 * "missing".
 */
function answerEnded(gateway: Gateway, call: Call<OrderRecord>, id: Id, found: HistoryOrder | null | Refused): void {
  const theirs = found !== null && !(found instanceof Refused) && found.slot === id.slot
  if (theirs && !isOpen(found)) return call.answer(orderRecord(gateway, found))
  const finished = lately(gateway, call.account, id)
  if (finished !== undefined) return call.answer(orderRecord(gateway, finished))
  if (found instanceof Refused) call.refuse(found)
  else call.refuse(new Refused(theirs ? 'HISTORY_UNAVAILABLE' : 'ORDER_NOT_FOUND'))
}

const Filters = Type.Object({
  ...ListingQuery,
  status: Type.Optional(field(Type.Array(OrderStatus, { maxItems: 32 }), 'Only orders in these states; may be repeated.')),
  tradingPairId: Type.Optional(fields.pairName),
  side: Type.Optional(field(Side, 'BUY or SELL.')),
  orderType: Type.Optional(field(OrderType, 'LIMIT or MARKET.')),
  tradingMode: Type.Optional(field(TradingMode, 'SPOT or MARGIN.')),
  clientOrderId: Type.Optional(
    field(Type.String({ minLength: 1 }), 'Name of your own, 1 to 40 printable ASCII characters; one resting order of yours may hold it.'),
  ),
  ...TimeRange,
})
type Filters = Static<typeof Filters>

/** Totals of the order history end here. (Specification, Orders, rule 4.) */
const TOTAL_MAX = 10_000
const OPEN_STATUSES: readonly string[] = ['SUBMITTED', 'PARTIALLY_FILLED']

/** What the filters ask for, as numbers. */
function askOf(gateway: Gateway, account: number, input: Filters, walk: Walk): OrdersAsk | Refused {
  const range = timeRangeOf(input)
  if (range instanceof Refused) return range
  const { status, side, orderType, tradingMode } = input
  return {
    ...walk,
    ...range,
    account,
    statuses: status === undefined || status.length === 0 ? undefined : status.map((name) => STATUS_NAMES.indexOf(name)),
    pair: pairFilter(gateway, input.tradingPairId),
    margin: tradingMode === undefined ? undefined : tradingMode === 'MARGIN',
    sell: side === undefined ? undefined : side === 'SELL',
    market: orderType === undefined ? undefined : orderType === 'MARKET',
    clientOrderId: input.clientOrderId,
  }
}

const ListOrdersOutput = Type.Object({
  orders: field(Type.Array(OrderRecord), 'Newest first.'),
  ...ListingOutput,
  /** `total` is a lower bound. Absent in cursor mode, which counts nothing. */
  totalCapped: Type.Optional(field(Type.Boolean(), 'True when total and totalPages are lower bounds.')),
})

/** Lists the caller's orders of any age, newest first. Asked for open ones only, it answers from the shared columns. */
export const ListOrders = operation({
  service: 'OrdersService', method: 'GET', path: '/api/v1/orders',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Orders',
  description: `Orders of the caller, newest first. Totals end at 10,000, and totalCapped says so. ${PAGES}`,
  answer: 'A page of orders.',
  refusals: [...READ, ...HISTORY],
  query: Filters,
  output: ListOrdersOutput,
  example: {
    input: { status: ['SUBMITTED', 'PARTIALLY_FILLED'], pageSize: 20 },
    output: { orders: [sample.order], ...sample.page, totalCapped: false },
  },
  run: (gateway, call, input) => {
    const plan = readListing(gateway, call, 'ListOrders', input, { ceiling: TOTAL_MAX })
    if (plan instanceof Refused) return call.refuse(plan)
    const ask = askOf(gateway, call.account, input, plan.walk)
    if (ask instanceof Refused) return call.refuse(ask)
    const openOnly = ask.statuses !== undefined && input.status!.every((name) => OPEN_STATUSES.includes(name))
    if (!openOnly) {
      return askHistory(gateway.history, 'orders', ask, (listing, _, behind) =>
        answerOrders(gateway, call, plan, listing, behind))
    }
    const open = listOpenOrders(gateway.state, gateway.gate, ask) ?? new Refused('ENGINE_UNAVAILABLE')
    answerOrders(gateway, call, plan, open, null)
  },
})

function answerOrders(
  gateway: Gateway, call: Call<Static<typeof ListOrdersOutput>>, plan: ListingPlan, listing: Listing<OrderFacts> | Refused,
  behind: number | null,
): void {
  if (listing instanceof Refused) return call.refuse(listing)
  const orders = listing.rows.map((order) => orderRecord(gateway, order))
  const fields = answerListing(gateway, plan, listing, positionOf, behind)
  call.answer({ orders, ...fields, ...(fields.total === undefined ? {} : { totalCapped: isCapped(plan, listing) }) })
}

/** A command makes one order at most. */
const positionOf = ({ sequence }: OrderFacts): Position => ({ sequence, index: 0 })
