/**
 * Order entry on the WebSocket, declared: messages, what they ask for and how they are answered, as schemas. order_session.ts serves them;
 * the document of the streams and the client derive from here.
 *
 * A message is signed by itself, or belongs to the session that `session.open` opened on the connection.
 *
 *   signed        {type, id, body, publicKey, timestamp, signature}     body: the text of a JSON object
 *   in a session  {type, id, counter, body}                             body: a JSON object, or its text
 *   answer        {type: 'result', id, status, data, budget?}           as over REST: status, body, rate budget
 *                 {type: 'result', id, status, error}                   the error envelope of REST
 *
 * What is signed is four lines: `WS`, the type, the timestamp as sent, and the lowercase hex SHA-256 of the body's text in UTF-8 (of
 * nothing without a body). A signed body travels as text, so that nobody has to write the same JSON twice in the same way. `id` is not
 * signed: it is the client's name for its message, repeated in the answer. A field of the path is a field of the body.
 */
import { GRACE_MS_MAX } from '../../core/layout/command.ts'
import Type, { type TObject, type TProperties, type TSchema } from 'typebox'
import { type OperationName, OPERATIONS } from '../operations/index.ts'
import { BUDGET_TEXTS, type Budget } from '../limits/budget.ts'
import { flatCheck, partsOf } from '../operations/flat_input.ts'
import type { Operation } from '../operations/operation.ts'
import type { Row } from '../operations/row.ts'
import { field } from '../operations/schema.ts'
import type { BodyRule, JsonObject } from '../operations/body.ts'
import type { Refused } from '../refused.ts'
import { DEPTH_MAX, type Shape } from '../operations/json_shape.ts'
import { MESSAGES, NAME_MAX } from './protocol.ts'
import * as fields from '../operations/fields.ts'

/** Largest message of order entry, bytes: a batch of 100 orders with every field there is fits. A longer one closes with 1009. */
export const ORDER_MESSAGE_MAX = 64 * 1024

/** The operation that each type asks for. */
export const ORDER_ACTIONS = {
  'order.create': 'CreateOrder',
  'order.cancel': 'CancelOrder',
  'order.replace': 'ReplaceOrder',
  'order.batch': 'BatchCreateOrders',
  'order.batch_replace': 'BatchReplaceOrders',
  'order.batch_cancel': 'BatchCancelOrders',
  'order.cancel_all': 'BatchCancelAllOrders',
  'order.cancel_by_pair': 'BatchCancelOrdersByPair',
} as const satisfies Record<string, OperationName>
export type OrderType = keyof typeof ORDER_ACTIONS
/** Opens a session on the connection; it is always signed. */
export const SESSION_OPEN = 'session.open'
/** Type of every answer. */
export const RESULT_TYPE = 'result'

/** What a type does, ready to be done. */
export interface OrderAction {
  readonly type: OrderType
  readonly name: OperationName
  readonly row: Row
  readonly operation: Operation<never>
  /** Whether the body may be left out. */
  readonly bodyRule: Extract<BodyRule, 'required' | 'optional'>
  readonly check: (input: JsonObject) => Refused | null
}

/** By type of message. */
export const ACTIONS: ReadonlyMap<string, OrderAction> = new Map((Object.keys(ORDER_ACTIONS) as OrderType[]).map((type) => {
  const { name, row, operation } = OPERATIONS.find((served) => served.name === ORDER_ACTIONS[type])!
  const bodyRule = operation.params === null && operation.bodyRule === 'optional' ? 'optional' : 'required'
  return [type, { type, name, row, operation, bodyRule, check: flatCheck(operation) }]
}))

/** How the largest message of an open session may be built: the fields around a body, and that body. */
export const ORDER_MESSAGE_SHAPE: Shape = {
  depth: DEPTH_MAX + 1, values: 64 + Math.max(...[...ACTIONS.values()].map(({ operation }) => operation.shape.values)),
}

/** Types of order entry. */
export const ORDER_TYPES: readonly string[] = [SESSION_OPEN, ...ACTIONS.keys()]

/** Whether a message of this type is of order entry. */
export const isOrderType = (type: unknown): boolean => type === SESSION_OPEN || ACTIONS.has(type as string)

// Schemas for documents and types; `check` of the operation decides what is taken.

const Id = Type.Union([Type.String({ minLength: 1, maxLength: NAME_MAX }), Type.Integer()])
const id = field(Id, 'Your own name for the message; the answer repeats it. It is not signed.')
const answeredId = field(Id, 'The id of the message; absent when it had none that could be read.')
const asks = <T extends string>(type: T) => field(Type.Literal(type), 'What is asked for; it is signed.')
const resultType = field(Type.Literal(RESULT_TYPE), 'result')
const STATUS = 'The HTTP status that REST would answer.'
const ANSWERS = 'What REST answers.'
const SIGNED_BODY = 'The text of a JSON object: what REST takes in path and body together. Signed as it is sent.'
const COUNTED_BODY = 'What REST takes in path and body together, as an object or as its text.'
const SESSION_BODY = 'The text of `{"counter": N}`: counters of the session are above N. Absent: above 0.'
/** A whole number below 2^53. */
const Counter = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const SIGNED = {
  publicKey: MESSAGES.auth.properties.publicKey,
  timestamp: MESSAGES.auth.properties.timestamp,
  signature: field(
    Type.String({ pattern: '^[0-9a-f]{128}$' }),
    'Signature by the session key, 128 lowercase hex digits, of the lines WS, the type, the timestamp as sent, and '
      + 'the SHA-256 of the text of the body (of nothing without one).',
  ),
}

/** The list `open` with the elements it should have. */
const listOf = (element: TSchema, open: TSchema): TSchema => ({ ...Type.Array(element), ...open, items: element })

/** What the body of such a message is: the fields of path and body together, lists with their elements. */
export function orderBody(type: OrderType): TObject {
  const { operation } = ACTIONS.get(type)!
  const parts = partsOf(operation).map(({ schema }) => schema)
  const lists = Object.entries(operation.items)
  if (parts.length === 1 && lists.length === 0) return parts[0]!
  const properties: TProperties = Object.assign({}, ...parts.map((part) => part.properties))
  for (const [name, element] of lists) properties[name] = listOf(element, properties[name]!)
  return Type.Object(properties)
}

/** The body of `session.open`: messages of the session have counters above this one; without a body above 0. */
export const SessionBody = Type.Object({
  counter: Type.Optional(Counter),
  cancelOnDisconnect: Type.Optional(field(
    Type.Boolean(),
    'When this connection ends, however it ends, every open order of the account is cancelled, also those that came another way. '
      + 'Off by default. A delegated agent must be granted cancelling and every trading pair, at the end too. A crash of the whole '
      + 'exchange ends the connection too: the next start cancels, unless the account returns within restartGraceMs. For a client that '
      + 'hangs with its connection open use afterMs of BatchCancelAllOrders as well.',
  )),
  restartGraceMs: Type.Optional(field(
    Type.Integer({ minimum: 0, maximum: GRACE_MS_MAX }),
    'With cancelOnDisconnect: after a crash and restart of the exchange the account may return for so many ms, by opening a session with '
      + 'cancelOnDisconnect again, and its orders stay. 5000 by default; 0: the start cancels at once.',
  )),
})

/** A message with a signature of its own; `body` is the text of {@link orderBody}. */
export const signedOrder = (type: OrderType): TObject =>
  Type.Object({ type: asks(type), id, body: bodyPresence(type, field(Type.String(), SIGNED_BODY)), ...SIGNED })
/** A message of the open session: its counter is above that of every one before. */
export const sessionOrder = (type: OrderType): TObject =>
  Type.Object({
    type: asks(type), id, counter: field(Counter, 'Above that of every message of the session before, below 2^53.'),
    body: bodyPresence(type, field(Type.Union([orderBody(type), Type.String()]), COUNTED_BODY)),
  })
const bodyPresence = (type: OrderType, schema: TSchema): TSchema =>
  (ACTIONS.get(type)!.bodyRule === 'optional' ? Type.Optional(schema) : schema)
/** The signed message that opens a session; `body` is the text of {@link SessionBody}. */
export const SessionOpen = Type.Object({
  type: asks(SESSION_OPEN), id, body: Type.Optional(field(Type.String(), SESSION_BODY)), ...SIGNED,
})

const budgetOf = (name: keyof Budget) => Type.Optional(field(Type.Integer(), BUDGET_TEXTS[name]))
/** What is left of the rate budget, as the X-RateLimit headers say it; a window that is not metered is absent. */
export const ResultBudget = Type.Object({
  limitSecond: budgetOf('limitSecond'), limitMinute: budgetOf('limitMinute'),
  remainingSecond: budgetOf('remainingSecond'), remainingMinute: budgetOf('remainingMinute'),
})
/** The error envelope, as over REST. */
export const ResultError = Type.Object({
  error: Type.String(), message: Type.String(), code: Type.String(), statusCode: Type.Integer(),
  details: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]))),
})
/** The answer to a message that was done. */
export const orderResult = (type: OrderType): TObject => Type.Object({
  type: resultType, id: answeredId, status: field(Type.Literal(200), STATUS),
  data: field(ACTIONS.get(type)!.operation.output, ANSWERS),
  budget: Type.Optional(field(ResultBudget, 'What is left of the rate budget, where one is drawn.')),
})
/** The answer to a message that was refused. `id` is absent when the message had no valid one. */
export const RefusedResult = Type.Object({
  type: resultType, id: Type.Optional(answeredId), status: field(Type.Integer({ minimum: 400, maximum: 599 }), STATUS),
  error: field(ResultError, 'The error envelope, as over REST.'),
})
/** The answer to `session.open`: when the session ends, Unix seconds. */
export const SessionOpened = Type.Object({
  type: resultType, id: answeredId, status: field(Type.Literal(200), STATUS),
  data: field(Type.Object({ expiresAt: fields.expiresAt }), ANSWERS),
})
