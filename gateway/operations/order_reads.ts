/**
 * Reading orders. Open orders come from the shared columns in one consistent copy; an order that ended lately comes from the
 * tail of the event ring. Somebody else's order and a missing one are the same 404.
 */
import Type, { type Static } from 'typebox'
import { Flag } from '../../core/layout/command.ts'
import { IdKind, parseId, type Id } from '../../core/layout/ids.ts'
import { readOpenOrders, readOrder } from '../../core/view/accounts.ts'
import { drainTail, findFinished } from '../bridge/tail.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../http/envelope.ts'
import { operation, pageOf, PageOutput, PageQuery, Uuid, type Call } from './operation.ts'
import { findPair, OrderType, parseDateTime, Side, TradingMode } from './order_entry.ts'
import { orderRecord, OrderRecord, OrderStatus, statusOf, type OrderFacts } from './order_record.ts'

export const GetOrder = operation({
  params: Type.Object({ orderId: Uuid }),
  output: OrderRecord,
  run: (gateway, call, input) => {
    const id = parseId(IdKind.ORDER, input.orderId)
    if (id === null) return call.refuse(new Refused('ORDER_NOT_FOUND'))
    const order = findOrder(gateway, call.account, id)
    if (order !== undefined) return answerOrder(gateway, call, order)
    // The order may be between the columns it left and the event that says so: look once more.
    setTimeout(() => answerOrder(gateway, call, findOrder(gateway, call.account, id)), SECOND_LOOK_MS)
  },
})

const SECOND_LOOK_MS = 5

/** `null`: the columns could not be read. */
function findOrder(gateway: Gateway, account: number, id: Id): OrderFacts | undefined | null {
  const live = readOrder(gateway.state, gateway.gate, account, id.slot, id.sequence)
  if (live !== undefined) return live
  drainTail(gateway.tail)
  return findFinished(gateway.tail, account, id.sequence, id.slot)
}

function answerOrder(gateway: Gateway, call: Call<OrderRecord>, order: OrderFacts | undefined | null): void {
  if (order === null) call.refuse(new Refused('ENGINE_UNAVAILABLE'))
  else if (order === undefined) call.refuse(new Refused('ORDER_NOT_FOUND'))
  else call.answer(orderRecord(gateway, order))
}

/** Unix ms or RFC 3339. */
const Time = Type.Optional(Type.String({ maxLength: 40 }))

const Filters = Type.Object({
  ...PageQuery,
  status: Type.Optional(Type.Array(OrderStatus)),
  tradingPairId: Type.Optional(Uuid),
  side: Type.Optional(Side),
  orderType: Type.Optional(OrderType),
  tradingMode: Type.Optional(TradingMode),
  clientOrderId: Type.Optional(Type.String()),
  startTime: Time,
  endTime: Time,
})

/** Unix ms of a time filter; NaN when it is malformed. */
const timeOf = (text: string | undefined, fallback: number): number =>
  text === undefined ? fallback : /^[0-9]{1,15}$/.test(text) ? Number(text) : parseDateTime(text)

/** Keeps what the filters of `input` ask for, on the numbers of an order: only the page that is answered is formatted. */
function matches(gateway: Gateway, order: OrderFacts, input: Static<typeof Filters>, from: number, to: number): boolean {
  const { flags } = order
  if (order.createdAt < from || order.createdAt > to) return false
  if (input.status !== undefined && !input.status.includes(statusOf(order))) return false
  if (input.tradingPairId !== undefined && findPair(gateway, input.tradingPairId)?.index !== order.pair) return false
  if (input.side !== undefined && (input.side === 'SELL') !== ((flags & Flag.SELL) !== 0)) return false
  if (input.orderType !== undefined && (input.orderType === 'MARKET') !== ((flags & Flag.MARKET) !== 0)) return false
  if (input.tradingMode === 'MARGIN') return false
  return input.clientOrderId === undefined || order.label === input.clientOrderId
}

/** Lists open orders, newest first. What ended long ago needs a history store, which this version does not have. */
export const ListOrders = operation({
  query: Filters,
  output: Type.Object({ orders: Type.Array(OrderRecord), ...PageOutput, totalCapped: Type.Boolean() }),
  run: (gateway, call, input) => {
    const from = timeOf(input.startTime, 0)
    const to = timeOf(input.endTime, Infinity)
    if (Number.isNaN(from)) return call.refuse(refusedField('startTime', 'startTime must be Unix ms or an RFC 3339 date-time'))
    if (Number.isNaN(to)) return call.refuse(refusedField('endTime', 'endTime must be Unix ms or an RFC 3339 date-time'))
    const open = readOpenOrders(gateway.state, gateway.gate, call.account)
    if (open === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    const { items, ...page } = pageOf(open.filter((order) => matches(gateway, order, input, from, to)), input.page, input.pageSize)
    call.answer({ orders: items.map((order) => orderRecord(gateway, order)), ...page, totalCapped: false })
  },
})
