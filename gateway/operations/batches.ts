/**
 * Many orders in one request: create, replace, cancel. (Specification, Orders, rule 1; Order and batch codes.)
 *
 * The items go into the command ring together and in their order, or none does, so the engine takes them one after the other and no
 * other request of this thread comes between. Each item fails for itself, with its own code in a 200: a malformed one here, the others
 * in the engine, and what the deadline leaves unanswered as SERVICE_UNAVAILABLE. Results stand in the order of the items.
 *
 * An item with an idempotency key has a receipt of its own: a batch repeated after a lost answer gets, item by item, what it was
 * answered, and only the items that were refused run again.
 */
import Type, { type Static } from 'typebox'
import { CommandType } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import type { Views } from '../../core/layout/table.ts'
import { encodeOrder } from '../bridge/encode.ts'
import type { OrderTerms } from '../bridge/terms.ts'
import { CREDIT, registerUntil, noRoom, send, slotAt, WAY_IN, WAY_OUT, type PendingRequest, type Way } from '../bridge/engine_client.ts'
import type { Gateway } from '../context.ts'
import { dropNulls } from './body.ts'
import { Refused } from '../refused.ts'
import {
  compile, engineRefusal, fullRefusal, operation, ORDER_NAME, OrderName, Uuid, UUID_TEXT, type Call, type Check, type JsonObject,
} from './operation.ts'
import { OrderItem, placeTerms, ReplaceItem } from './order_terms.ts'
import {
  answeredQuantity, createdId, MatchResult, matchResultOf, orderSequenced, replacedId, Sequenced, sequencedOf, Submitted, submittedOf,
} from './order_record.ts'
import { orderRefusal } from './engine_refusal.ts'
import { LegIds, orderLegIds } from './leg_answer.ts'
import { orderOf, type NamedOrder } from './lookup.ts'
import { encodeCancelOf, replacementOf } from './order_target.ts'
import { BucketOpenings, openingRefusal, type BucketOpening } from './strategy_buckets.ts'
import * as sample from './example_values.ts'
import { BATCH } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'

const BATCH_MAX = 100

const ItemError = record(
  'ItemError', 'Why one item of a batch was refused; the others are not affected.',
  Type.Object({ code: field(Type.String(), 'Stable code of the refusal; see the table of error codes.'), message: fields.message }),
)
type ItemError = Static<typeof ItemError>
const Totals = {
  totalRequested: field(Type.Integer(), 'Items of the request.'),
  totalSucceeded: field(Type.Integer(), 'Items that were carried out.'),
  totalFailed: field(Type.Integer(), 'Items that were refused.'),
}
/** The elements are open here, so that a bad one is its own error; `items` of the operation says what they are. */
const Items = Type.Array(Type.Unknown(), { minItems: 1, maxItems: BATCH_MAX })

/** What one kind of batch does with its items: from the element of the request to a command, from the RESULT to the answer. */
interface Kind<Terms, Result extends { error?: ItemError }> {
  readonly way: Way
  /** The terms of an element, or why it is refused. */
  read(gateway: Gateway, call: Call<never>, item: unknown): Terms | Refused
  encode(gateway: Gateway, at: number, correlation: number, call: Call<never>, terms: Terms): void
  /** What the order of these terms needs in front of it, which other items may need too. */
  opening?(openings: BucketOpenings, gateway: Gateway, call: Call<never>, terms: Terms): BucketOpening | null
  accepted(gateway: Gateway, records: Views, base: number, terms: Terms): Result
  /** What the engine's refusal means for this item. */
  refusal(gateway: Gateway, call: Call<never>, records: Views, base: number, terms: Terms): Refused
  /** The answer for a refused element. */
  refused(item: unknown, error: ItemError): Result
}

interface Answer<Result> {
  totalRequested: number
  totalSucceeded: number
  totalFailed: number
  results: Result[]
}

/** One batch on its way: waits for all its commands, whose index is their place in the request. */
class Batch<Terms, Result extends { error?: ItemError }> implements PendingRequest {
  readonly results: Result[]
  readonly terms: (Terms | null)[]
  /** By item, where one needs something in front of it. */
  readonly openings = new Map<number, BucketOpening>()
  readonly gateway: Gateway
  readonly call: Call<Answer<Result>>
  readonly items: readonly unknown[]
  readonly kind: Kind<Terms, Result>
  /** Items without a result. */
  left: number
  failed = 0

  constructor(gateway: Gateway, call: Call<Answer<Result>>, items: readonly unknown[], kind: Kind<Terms, Result>) {
    this.gateway = gateway
    this.call = call
    this.items = items
    this.kind = kind
    this.left = items.length
    this.results = new Array<Result>(items.length)
    this.terms = new Array<Terms | null>(items.length).fill(null)
  }

  /** Reads every element and sends those that can be; answers at once when none can. */
  run(): void {
    const { gateway, call, items, kind, terms } = this
    const openings = new BucketOpenings()
    for (let index = 0; index < items.length; index++) {
      const read = kind.read(gateway, call, items[index])
      if (read instanceof Refused) {
        this.refuse(index, read)
        continue
      }
      terms[index] = read
      const opening = kind.opening?.(openings, gateway, call, read) ?? null
      if (opening !== null) this.openings.set(index, opening)
    }
    if (this.left === 0) return this.answer()
    const { engine, config } = gateway
    const full = noRoom(engine, call.account, (this.left + openings.count) * CREDIT, kind.way)
    if (full !== null) return call.refuse(fullRefusal(full))
    const until = performance.now() + config.batchDeadlineMs
    openings.encode(gateway, call, until)
    for (let index = 0; index < items.length; index++) {
      const given = terms[index]
      if (given === null) continue
      const correlation = registerUntil(engine, this, call.account, CREDIT, kind.way, until, index)
      kind.encode(gateway, slotAt(engine), correlation, call, given!)
    }
    send(engine)
  }

  onResult(records: Views, base: number, index: number): void {
    const { gateway, call, kind } = this
    const terms = this.terms[index]!
    if (records.i32[base + RESULT.at.code] !== 0) {
      const opening = this.openings.get(index) ?? null
      this.refuse(index, openingRefusal(records, base, opening) ?? kind.refusal(gateway, call, records, base, terms))
    } else {
      this.results[index] = kind.accepted(gateway, records, base, terms)
      this.left--
    }
    if (this.left === 0) this.answer()
  }

  onDeadline(index: number): void {
    this.refuse(index, new Refused('SERVICE_UNAVAILABLE'))
    if (this.left === 0) this.answer()
  }

  private refuse(index: number, { code, message }: Refused): void {
    this.results[index] = this.kind.refused(this.items[index], { code, message })
    this.failed++
    this.left--
  }

  private answer(): void {
    const { results, failed } = this
    this.call.answer({ totalRequested: results.length, totalSucceeded: results.length - failed, totalFailed: failed, results })
  }
}

/** Checks an element that should be an object; `null`: it is one of the schema. */
function checkItem(check: Check, item: unknown): Refused | null {
  if (typeof item === 'object' && item !== null && !Array.isArray(item)) dropNulls(item as JsonObject)
  return check.check(item)
}

const MaybeSequenced = { sequence: Type.Optional(Sequenced.sequence), engineTime: Type.Optional(Sequenced.engineTime) }
const Created = Type.Object({
  orderId: Type.Optional(fields.orderId),
  matchResult: Type.Optional(field(MatchResult, 'What the order met when it arrived.')), ...Submitted, ...LegIds, ...MaybeSequenced,
  error: Type.Optional(
    field(ItemError, 'Why this item was refused; absent when it was carried out.'),
  ),
})
const orderItem = compile(OrderItem)

const CREATE: Kind<OrderTerms, Static<typeof Created>> = {
  way: WAY_IN,
  read: (gateway, { account }, item) => checkItem(orderItem, item) ?? placeTerms(gateway, account, item as OrderItem),
  encode: (gateway, at, correlation, call, terms) => encodeOrder(gateway.engine, at, CommandType.PLACE_ORDER, correlation, call, terms),
  opening: (openings, gateway, { account }, terms) => openings.of(gateway, account, terms),
  accepted: (gateway, records, base, { returnFills, legs }) => ({
    orderId: createdId(records, base), matchResult: matchResultOf(gateway, records, base, returnFills),
    ...submittedOf(gateway, records, base), ...orderLegIds(gateway, records, base, legs), ...orderSequenced(records, base),
  }),
  refusal: orderRefusal,
  refused: (_item, error) => ({ error }),
}

export const BatchCreateOrders = operation({
  service: 'OrdersService', method: 'POST', path: '/api/v1/orders/batch-create',
  access: 'session', agent: 'grant', maintenance: 'blocked', rate: 'create', counts: 'orders',
  summary: 'Place up to 100 orders',
  description: 'Orders are processed one after the other. Each has its own result: a refused one carries `error` and does not touch the '
    + 'others, and the answer is still 200. The batch is admitted or refused as a whole: by budget, and when the service is at capacity.',
  answer: 'One result per order.',
  refusals: BATCH,
  body: Type.Object({ orders: field(Items, '1 to 100 orders, processed one after the other.') }),
  items: { orders: OrderItem },
  output: Type.Object({ ...Totals, results: field(Type.Array(Created), 'One per item, in the order of the request.') }),
  example: {
    input: { orders: [sample.item, { ...sample.item, price: '60000.001' }] },
    output: {
      totalRequested: 2,
      totalSucceeded: 1,
      totalFailed: 1,
      results: [
        { orderId: sample.ORDER, matchResult: sample.resting, sequence: 42, engineTime: sample.MOMENT },
        { error: { code: 'INVALID_TICK', message: 'price must be a positive multiple of 0.01 in range' } },
      ],
    },
  },
  run: (gateway, call, { orders }) => new Batch(gateway, call, orders, CREATE).run(),
})

const ReplaceElement = record(
  'ReplaceElement', 'One replacement of a batch: the order, and what changes.',
  Type.Object({ orderId: fields.orderName, ...ReplaceItem.properties }),
)
const Replaced = Type.Object({
  originalOrderId: Type.Optional(field(Uuid, 'The order that was replaced.')),
  newOrderId: Type.Optional(field(Uuid, 'The order that took its place.')), quantity: Type.Optional(fields.quantity),
  matchResult: Type.Optional(field(MatchResult, 'What the order met when it arrived.')), ...MaybeSequenced, error: Type.Optional(
    field(ItemError, 'Why this item was refused; absent when it was carried out.'),
  ),
})
const replaceElement = compile(ReplaceElement)

const REPLACE: Kind<OrderTerms, Static<typeof Replaced>> = {
  way: WAY_IN,
  read: (gateway, call, item) => {
    const element = item as Static<typeof ReplaceElement>
    return checkItem(replaceElement, item) ?? replacementOf(gateway, call.account, element.orderId, element)
  },
  encode: (gateway, at, correlation, call, terms) => encodeOrder(gateway.engine, at, CommandType.REPLACE_ORDER, correlation, call, terms),
  accepted: (gateway, records, base, { returnFills }) => ({
    originalOrderId: replacedId(records, base), newOrderId: createdId(records, base), quantity: answeredQuantity(gateway, records, base),
    matchResult: matchResultOf(gateway, records, base, returnFills), ...orderSequenced(records, base),
  }),
  refusal: orderRefusal,
  refused: (item, error) => {
    const original = idText((item as Partial<Static<typeof ReplaceElement>> | null)?.orderId)
    return original === undefined ? { error } : { originalOrderId: original, error }
  },
}

export const BatchReplaceOrders = operation({
  service: 'OrdersService', method: 'POST', path: '/api/v1/orders/batch-replace',
  access: 'session', agent: 'grant', maintenance: 'blocked', rate: 'create', counts: 'orders',
  summary: 'Replace up to 100 orders',
  description: 'Replacements are processed one after the other, each as Replace does it and each with its own result. The batch is '
    + 'admitted or refused as a whole.',
  answer: 'One result per replacement.',
  refusals: BATCH,
  body: Type.Object({ orders: field(Items, '1 to 100 replacements, processed one after the other.') }),
  items: { orders: ReplaceElement },
  output: Type.Object({ ...Totals, results: field(Type.Array(Replaced), 'One per item, in the order of the request.') }),
  example: {
    input: { orders: [{ orderId: sample.ORDER, price: '60010', quantity: '0.05' }, { orderId: sample.SUCCESSOR, quantity: '0' }] },
    output: {
      totalRequested: 2,
      totalSucceeded: 1,
      totalFailed: 1,
      results: [
        {
          originalOrderId: sample.ORDER, newOrderId: sample.SUCCESSOR, quantity: '0.05', matchResult: sample.filled,
          sequence: 43, engineTime: sample.LATER,
        },
        {
          originalOrderId: sample.SUCCESSOR,
          error: { code: 'INVALID_LOT', message: 'quantity must be a positive multiple of 0.0001 in range' },
        },
      ],
    },
  },
  run: (gateway, call, { orders }) => new Batch(gateway, call, orders, REPLACE).run(),
})

const CancelledItem = Type.Object(
  {
    orderId: Type.Optional(fields.orderId), ...MaybeSequenced,
    error: Type.Optional(field(ItemError, 'Why this item was refused; absent when it was carried out.')),
  },
)

const CANCEL: Kind<NamedOrder, Static<typeof CancelledItem>> = {
  way: WAY_OUT,
  read: (_gateway, _call, item) => {
    if (typeof item !== 'string' || !ORDER_NAME.test(item)) {
      return new Refused('VALIDATION_ERROR', 'An order is named by its id, a UUID, or by client: and its client order id')
    }
    return orderOf(item)
  },
  encode: encodeCancelOf,
  accepted: (_gateway, records, base) => ({ orderId: createdId(records, base), ...sequencedOf(records, base) }),
  refusal: (_gateway, _call, records, base) => engineRefusal(records, base),
  refused: (item, error) => {
    const id = idText(item)
    return id === undefined ? { error } : { orderId: id, error }
  },
}

export const BatchCancelOrders = operation({
  service: 'OrdersService', method: 'POST', path: '/api/v1/orders/batch-cancel',
  access: 'session', agent: 'grant', maintenance: 'open', rate: 'reduce', counts: 'orderIds',
  summary: 'Cancel up to 100 orders',
  description: 'Cancels are processed one after the other, each with its own result: an order that has ended, or is named a second time, '
    + 'is ORDER_NOT_FOUND. Stays available in maintenance.',
  answer: 'One result per order.',
  refusals: BATCH,
  body: Type.Object({ orderIds: field(Items, '1 to 100 orders; one named twice is not found the second time.') }),
  items: { orderIds: OrderName },
  output: Type.Object({ ...Totals, results: field(Type.Array(CancelledItem), 'One per item, in the order of the request.') }),
  example: {
    input: { orderIds: [sample.ORDER, sample.ORDER] },
    output: {
      totalRequested: 2,
      totalSucceeded: 1,
      totalFailed: 1,
      results: [
        { orderId: sample.ORDER, sequence: 44, engineTime: sample.LATER },
        { orderId: sample.ORDER, error: { code: 'ORDER_NOT_FOUND', message: 'Order not found' } },
      ],
    },
  },
  run: (gateway, call, { orderIds }) => new Batch(gateway, call, orderIds, CANCEL).run(),
})

/** The element when it is the text of a UUID. */
const idText = (item: unknown): string | undefined => (typeof item === 'string' && UUID_TEXT.test(item) ? item : undefined)
