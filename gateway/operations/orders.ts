/** Orders: create, replace, cancel, one by one and many at once. Reading them is in order_reads.ts. */
import Type, { type Static } from 'typebox'
import { CANCEL_ALL_MAX, CommandType } from '../../core/layout/command.ts'
import { ORDER_ENDED, RESULT } from '../../core/layout/event.ts'
import { IdKind, orderId, parseId, type Id } from '../../core/layout/ids.ts'
import type { Views } from '../../core/layout/table.ts'
import type { Pair } from '../../core/engine/genesis.ts'
import { SCALAR, ORDER, ORDER_WORDS } from '../../core/engine/columns.ts'
import { encodeCancel, encodeCancelAll, encodeOrder, type OrderTerms } from '../bridge/encode.ts'
import {
  BATCH_DEADLINE_MS, CANCEL_ALL_CREDITS, CREDIT, DEADLINE_MS, enlist, hasRoom, send, slotAt, type Waiter,
} from '../bridge/pending.ts'
import { drainTail, findFinished } from '../bridge/tail.ts'
import type { Gateway } from '../context.ts'
import { dropNulls, type JsonObject } from '../http/body.ts'
import { Refused } from '../http/envelope.ts'
import { compile, engineRefusal, operation, submit, Uuid, waiterFor, type Call } from './operation.ts'
import { OrderItem, placeTerms, plain, ReplaceItem, replaceTerms } from './order_entry.ts'
import { MatchResult, matchResultOf } from './order_record.ts'

const SUCCESS = 'SUCCESS'
const Success = Type.Literal(SUCCESS)
const OrderPath = Type.Object({ orderId: Uuid })

const Created = Type.Object({ orderId: Uuid, status: Success, message: Type.String(), matchResult: MatchResult })

const createdId = ({ i32, f64 }: Views, base: number): string => orderId(
  f64[(base + RESULT.at.orderSequence) >>> 1]!, i32[base + RESULT.at.slot]!,
)

export const CreateOrder = operation({
  body: OrderItem,
  output: Created,
  run: (gateway, call, input) => {
    const terms = placeTerms(gateway, input)
    if (terms instanceof Refused) return call.refuse(plain(terms))
    const waiter = waiterFor(call, (records, base) =>
      call.answer({
        orderId: createdId(records, base),
        status: SUCCESS,
        message: 'Order accepted',
        matchResult: matchResultOf(gateway, records, base),
      }),
    )
    submit(gateway, call, waiter, (at, correlation) => encodeOrder(gateway.bridge, at, CommandType.PLACE_ORDER, correlation, call, terms))
  },
})

export const ReplaceOrder = operation({
  params: OrderPath,
  body: ReplaceItem,
  output: Type.Object({ orderId: Uuid, originalOrderId: Uuid, status: Success, message: Type.String(), matchResult: MatchResult }),
  run: (gateway, call, input) => {
    const target = parseId(IdKind.ORDER, input.orderId)
    if (target === null) return call.refuse(new Refused('ORDER_NOT_FOUND'))
    drainTail(gateway.tail)
    const pair = pairOfTarget(gateway, call.account, target)
    if (pair === null) return call.refuse(new Refused('ORDER_NOT_FOUND'))
    const terms = replaceTerms(input, pair)
    if (terms instanceof Refused) return call.refuse(plain(terms))
    terms.targetSlot = target.slot
    terms.targetSequence = target.sequence
    const waiter = waiterFor(call, (records, base) =>
      call.answer({
        orderId: createdId(records, base),
        originalOrderId: orderId(records.f64[(base + RESULT.at.originalSequence) >>> 1]!, records.i32[base + RESULT.at.detail]!),
        status: SUCCESS,
        message: 'Order replaced',
        matchResult: matchResultOf(gateway, records, base),
      }),
    )
    submit(gateway, call, waiter, (at, correlation) => encodeOrder(gateway.bridge, at, CommandType.REPLACE_ORDER, correlation, call, terms))
  },
})

/**
 * The pair whose ticks and lots the replacement is written in; `null` when the caller has no such order. A row keeps its account
 * and pair after its order ended, and a replaced order leaves it to its successor, so a retry with the same key finds the pair
 * too. Whether the target really is this order is the engine's to say.
 */
function pairOfTarget(gateway: Gateway, account: number, target: Id): Pair | null {
  const { state, genesis } = gateway
  const row = target.slot * ORDER_WORDS
  const theirs = target.slot < state.scalars[SCALAR.ORDERS_USED]! && state.orders[row + ORDER.ACCOUNT] === account
  const pair = theirs ? state.orders[row + ORDER.PAIR] : findFinished(gateway.tail, account, target.sequence, target.slot)?.pair
  return pair === undefined ? null : (genesis.pairs[pair] ?? null)
}

export const CancelOrder = operation({
  params: OrderPath,
  output: Type.Object({ orderId: Uuid, status: Success, message: Type.String() }),
  run: (gateway, call, input) => {
    const target = parseId(IdKind.ORDER, input.orderId)
    if (target === null) return call.refuse(new Refused('ORDER_NOT_FOUND'))
    const waiter = waiterFor(
      call, () => call.answer({ orderId: orderId(target.sequence, target.slot), status: SUCCESS, message: 'Order cancelled' }),
    )
    submit(gateway, call, waiter, (at, correlation) => encodeCancel(gateway.bridge, at, correlation, call, target.slot, target.sequence))
  },
})

const BATCH_MAX = 100

const ItemError = Type.Object({ code: Type.String(), message: Type.String() })
const BatchItem = Type.Object({ orderId: Type.Optional(Uuid), matchResult: Type.Optional(MatchResult), error: Type.Optional(ItemError) })
type BatchItem = Static<typeof BatchItem>
const BatchCreated = Type.Object({
  totalRequested: Type.Integer(), totalSucceeded: Type.Integer(), totalFailed: Type.Integer(), results: Type.Array(BatchItem),
})

const orderItem = compile(OrderItem)
const failed = (refused: Refused): BatchItem => ({ error: { code: refused.code, message: refused.message } })

/** The terms of one batch item, or why it is refused: a bad item is its own error and never the batch's. */
function itemTerms(gateway: Gateway, item: unknown): OrderTerms | Refused {
  if (typeof item === 'object' && item !== null && !Array.isArray(item)) dropNulls(item as JsonObject)
  return orderItem.check(item) ?? placeTerms(gateway, item as OrderItem)
}

export const BatchCreateOrders = operation({
  body: Type.Object({ orders: Type.Array(Type.Unknown(), { minItems: 1, maxItems: BATCH_MAX }) }),
  items: { orders: OrderItem },
  output: BatchCreated,
  run: (gateway, call, input) => {
    const { bridge } = gateway
    const results: BatchItem[] = []
    const valid: { index: number; terms: OrderTerms }[] = []
    input.orders.forEach((item, index) => {
      const terms = itemTerms(gateway, item)
      if (terms instanceof Refused) results[index] = failed(terms)
      else valid.push({ index, terms })
    })
    if (valid.length === 0) return answerBatch(call, results)
    // All or none: one after the other in the ring, so that no other order of this gateway comes between.
    if (!hasRoom(bridge, valid.length, valid.length * CREDIT)) return call.refuse(new Refused('OVERLOADED'))
    let left = valid.length
    const done = (index: number, item: BatchItem): void => {
      results[index] = item
      if (--left === 0) answerBatch(call, results)
    }
    valid.forEach(({ index, terms }, place) => {
      const waiter: Waiter = {
        onResult: (records, base) => done(index, batchItem(gateway, records, base)),
        onDeadline: () => done(index, failed(new Refused('SERVICE_UNAVAILABLE'))),
      }
      const correlation = enlist(bridge, waiter, CREDIT, BATCH_DEADLINE_MS)
      encodeOrder(bridge, slotAt(bridge, place), CommandType.PLACE_ORDER, correlation, call, terms)
    })
    send(bridge, valid.length)
  },
})

function batchItem(gateway: Gateway, records: Views, base: number): BatchItem {
  const code = records.i32[base + RESULT.at.code]!
  return code === 0 ? {
    orderId: createdId(records, base), matchResult: matchResultOf(gateway, records, base),
  } : failed(engineRefusal(code))
}

function answerBatch(call: Call<Static<typeof BatchCreated>>, results: BatchItem[]): void {
  const totalFailed = results.filter((item) => item.error !== undefined).length
  call.answer({ totalRequested: results.length, totalSucceeded: results.length - totalFailed, totalFailed, results })
}

const Cancelled = Type.Object({ totalCancelled: Type.Integer(), orderIds: Type.Array(Uuid) })

export const BatchCancelAllOrders = operation({
  body: Type.Object({}),
  bodyRule: 'optional',
  output: Cancelled,
  run: (gateway, call) => {
    if (!hasRoom(gateway.bridge, 1, CANCEL_ALL_CREDITS)) return call.refuse(new Refused('OVERLOADED'))
    cancelSome(gateway, call, [], performance.now() + DEADLINE_MS)
  },
})

/** Ms between looks for room when a mass cancel under way meets a full reply ring. */
const RETRY_MS = 2

/** Cancels up to CANCEL_ALL_MAX orders and goes on until none is left. What was cancelled is never answered as an overload. */
function cancelSome(gateway: Gateway, call: Call<Static<typeof Cancelled>>, orderIds: string[], until: number): void {
  const { bridge } = gateway
  if (performance.now() > until) return call.refuse(new Refused('SERVICE_UNAVAILABLE'))
  if (!hasRoom(bridge, 1, CANCEL_ALL_CREDITS)) {
    setTimeout(() => cancelSome(gateway, call, orderIds, until), RETRY_MS)
    return
  }
  const waiter: Waiter = {
    ...waiterFor(call, (records, base) => {
      if (records.i32[base + RESULT.at.detail2]! > 0) cancelSome(gateway, call, orderIds, until)
      else call.answer({ totalCancelled: orderIds.length, orderIds })
    }),
    onRecord: ({ i32, f64 }, base) => {
      orderIds.push(orderId(f64[(base + ORDER_ENDED.at.orderSequence) >>> 1]!, i32[base + ORDER_ENDED.at.slot]!))
    },
  }
  const at = slotAt(bridge, 0)
  encodeCancelAll(bridge, at, enlist(bridge, waiter, CANCEL_ALL_CREDITS, DEADLINE_MS), call, -1, CANCEL_ALL_MAX)
  send(bridge, 1)
}
