/**
 * Orders one by one: create, replace, cancel. Many at once are in batches.ts, ways out in mass_cancel.ts, reading in order_reads.ts.
 *
 * A request with an idempotency key that cannot be sent or whose answer does not come is ORDER_SUBMISSION_UNAVAILABLE: an order may
 * exist, from this request or an earlier one, and repeating the same key finds out without making another. Without a key it is
 * OVERLOADED or TOO_MANY_IN_FLIGHT (nothing was applied) or SERVICE_UNAVAILABLE (it may have been). (Specification, Errors, rules 4 and 7.)
 */
import Type from 'typebox'
import { CommandType } from '../../core/layout/command.ts'
import type { Views } from '../../core/layout/table.ts'
import { encodeOrder } from '../bridge/encode.ts'
import type { OrderTerms } from '../bridge/terms.ts'
import { WAY_OUT } from '../bridge/engine_client.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { submitKeyed } from './idempotency.ts'
import { engineRefusal, operation, submit, Uuid, pendingRequest, type Call } from './operation.ts'
import { OrderItem, placeTerms, plain, ReplaceItem } from './order_terms.ts'
import {
  answeredQuantity, createdId, MatchResult, matchResultOf, orderRecord, orderSequenced, replacedId, Sequenced, sequencedOf, Submitted,
  submittedOf,
} from './order_record.ts'
import { orderRefusal } from './engine_refusal.ts'
import { lately } from './order_reads.ts'
import { encodeCancelOf, replacementOf } from './order_target.ts'
import { BucketOpening, bucketToOpen, openingRefusal } from './strategy_buckets.ts'
import * as sample from './example_values.ts'
import { LegIds, orderLegIds } from './leg_answer.ts'
import { COMMAND, KEYED, LEGS, TERMS } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'
import { orderOf, type NamedOrder } from './lookup.ts'

const SUCCESS = 'SUCCESS'
const Success = Type.Literal(SUCCESS)
const OrderPath = Type.Object({ orderId: fields.orderName })

/** Sends one order, behind the opening of its risk bucket if it needs one, and reads the RESULT of an accepted one with `take`. */
export function submitOrder(
  gateway: Gateway, call: Call<never>, type: number, terms: OrderTerms, take: (records: Views, base: number) => void,
): void {
  const bucket = bucketToOpen(gateway, call.account, terms)
  const opening = bucket === null ? null : new BucketOpening(bucket)
  const pending = pendingRequest(call, take, (records, base) =>
    openingRefusal(records, base, opening) ?? orderRefusal(gateway, call, records, base, terms))
  const encode = (at: number, correlation: number): void => encodeOrder(gateway.engine, at, type, correlation, call, terms)
  submitKeyed(gateway, call, terms.key, pending, encode, opening)
}

export const CreateOrder = operation({
  service: 'OrdersService', method: 'POST', path: '/api/v1/orders',
  access: 'session', agent: 'grant', maintenance: 'blocked', rate: 'create',
  summary: 'Place an order',
  description: 'Places one LIMIT or MARKET order. The answer comes after the order is on disk and matched: `matchResult` says what it '
    + 'met, how much that was, for how much and at which fee; with `returnFills` it lists the fills. What fills later, and every fill '
    + 'of now too, the `orders` channel tells: its `commandSequence` is the `sequence` of this answer for fills on arrival. A refusal '
    + 'is an error and leaves no order behind.\n\nSend an `idempotencyKey` if you may have to repeat the request: see '
    + 'Idempotency. A MARKET order trades inside a protective band of 1,000 basis points, or less if `slippageToleranceBps` says so, and '
    + 'what is left is cancelled. A `reduceOnly` order is cut to what is open and to what one order may have: `submittedQuantity` says '
    + 'how much it is for. On a spot pair a SELL of all that is available may be smaller and worth less than an order must be; one that '
    + 'may rest only while nothing else of the base token is locked.\n\nAn order of a perpetual may bring `takeProfit`, '
    + '`stopLoss` and `trailingStop` with it. What was made '
    + 'of them is named in the answer; it waits until the order fills, and ends with it when nothing did.',
  answer: 'The order was accepted.',
  refusals: [...TERMS, ...LEGS, ...KEYED, ...COMMAND],
  body: OrderItem,
  output: Type.Object(
    {
      orderId: fields.orderId, status: field(Success, 'SUCCESS: what was asked for was done.'), message: fields.message,
      matchResult: field(MatchResult, 'What the order met when it arrived.'), ...Submitted, ...LegIds, ...Sequenced,
    },
  ),
  example: {
    input: { ...sample.item, clientOrderId: 'quote-1', idempotencyKey: '2f1c7c0e-order-1' },
    output: {
      orderId: sample.ORDER, status: 'SUCCESS', message: 'Order accepted', matchResult: sample.resting, sequence: 42,
      engineTime: sample.MOMENT,
    },
  },
  run: (gateway, call, input) => {
    const terms = placeTerms(gateway, call.account, input)
    if (terms instanceof Refused) return call.refuse(plain(terms))
    submitOrder(gateway, call, CommandType.PLACE_ORDER, terms, (records, base) =>
      call.answer({
        orderId: createdId(records, base),
        status: SUCCESS,
        message: 'Order accepted',
        matchResult: matchResultOf(gateway, records, base, terms.returnFills),
        ...submittedOf(gateway, records, base),
        ...orderLegIds(gateway, records, base, terms.legs),
        ...orderSequenced(records, base),
      }),
    )
  },
})

export const ReplaceOrder = operation({
  service: 'OrdersService', method: 'PUT', path: '/api/v1/orders/{orderId}',
  access: 'session', agent: 'grant', maintenance: 'blocked', rate: 'create',
  summary: 'Replace an order',
  description: 'Ends an order and places its successor in one step; if the successor is refused, the original stays as it was. What is '
    + 'left out stays as it was. Without `quantity` the successor is for what the original had still open, not for its first quantity; '
    + 'with it, for that quantity, whatever was filled before. `quantity` of the answer says how much it is for. A lower '
    + 'quantity at the same price keeps its place in the queue, anything else goes to the back. The successor has a new id, so a second '
    + 'attempt after success is ORDER_NOT_FOUND.',
  answer: 'The order was replaced.',
  refusals: ['ORDER_NOT_FOUND', ...TERMS, ...KEYED, ...COMMAND],
  params: OrderPath,
  body: ReplaceItem,
  output: Type.Object({
    orderId: fields.orderId, originalOrderId: field(Uuid, 'The order that was replaced.'),
    status: field(Success, 'SUCCESS: what was asked for was done.'), message: fields.message, quantity: fields.quantity,
    matchResult: field(
      MatchResult, 'What the order met when it arrived.',
    ),
    ...Sequenced,
  }),
  example: {
    input: { orderId: sample.ORDER, price: '60010', quantity: '0.05', returnFills: true },
    output: {
      orderId: sample.SUCCESSOR, originalOrderId: sample.ORDER, status: 'SUCCESS', message: 'Order replaced',
      quantity: '0.05', matchResult: sample.filledWithFills,
      sequence: 43, engineTime: sample.LATER,
    },
  },
  run: (gateway, call, input) => {
    const terms = replacementOf(gateway, call.account, input.orderId, input)
    if (terms instanceof Refused) return call.refuse(plain(terms))
    submitOrder(gateway, call, CommandType.REPLACE_ORDER, terms, (records, base) =>
      call.answer({
        orderId: createdId(records, base),
        originalOrderId: replacedId(records, base),
        status: SUCCESS,
        message: 'Order replaced',
        quantity: answeredQuantity(gateway, records, base),
        matchResult: matchResultOf(gateway, records, base, terms.returnFills),
        ...orderSequenced(records, base),
      }),
    )
  },
})

/** The refusal of a cancel that came too late, with how the order ended. */
function endedRefusal(gateway: Gateway, account: number, target: NamedOrder, refused: Refused): Refused {
  const order = refused.code === 'ORDER_NOT_FOUND' ? lately(gateway, account, target) : undefined
  if (order === undefined) return refused
  const { status, filledQuantity } = orderRecord(gateway, order)
  return new Refused(refused.code, refused.message, { status, filledQuantity })
}

export const CancelOrder = operation({
  service: 'OrdersService', method: 'DELETE', path: '/api/v1/orders/{orderId}',
  access: 'session', agent: 'grant', maintenance: 'open', rate: 'reduce',
  summary: 'Cancel an order',
  description: 'Cancels a resting order, named by its id or by `client:` and its client order id, and frees what it held. '
    + 'An order that has ended, or was never there, is ORDER_NOT_FOUND: repeating a cancel by id is safe; of one that ended '
    + 'lately `details` has `status` and `filledQuantity`. One by client order id may meet a newer order '
    + 'that has it. Stays available in maintenance.',
  answer: 'The order is cancelled.',
  refusals: ['ORDER_NOT_FOUND', 'PAIR_NOT_ACTIVE', ...COMMAND],
  params: OrderPath,
  output: Type.Object(
    { orderId: fields.orderId, status: field(Success, 'SUCCESS: what was asked for was done.'), message: fields.message, ...Sequenced },
  ),
  example: {
    input: { orderId: sample.ORDER },
    output: { orderId: sample.ORDER, status: 'SUCCESS', message: 'Order cancelled', sequence: 44, engineTime: sample.LATER },
  },
  run: (gateway, call, input) => {
    const target = orderOf(input.orderId)
    if (target instanceof Refused) return call.refuse(target)
    const pending = pendingRequest(
      call, (records, base) => call.answer({
        orderId: createdId(records, base), status: SUCCESS, message: 'Order cancelled', ...sequencedOf(records, base),
      }),
      (records, base) => endedRefusal(gateway, call.account, target, engineRefusal(records, base)),
    )
    submit(
      gateway, call, pending,
      (at, correlation) => encodeCancelOf(gateway, at, correlation, call, target), WAY_OUT,
    )
  },
})
