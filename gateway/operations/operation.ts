/**
 * What an operation is: schemas of its input and output and a function that answers a {@link Call}.
 *
 * Operations know no transport. Input is one flat object of path, query and body fields; the answer, or a {@link Refused}, is
 * given exactly once, at once or later. Only the order path cares: it answers from a ring callback without a promise.
 */
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { REFUSALS, refusalByNumber, type RefusalCode } from '../../core/layout/refusals.ts'
import { REFUSAL } from '../../core/layout/answers.ts'
import { CLIENT_ORDER_ID_BYTES, AgentGrant } from '../../core/layout/command.ts'
import type { Caller } from '../auth/signed_request.ts'
import { CREDIT, register, noRoom, send, slotAt, WAY_IN, type Full, type PendingRequest, type Way } from '../bridge/engine_client.ts'
import type { Views } from '../../core/layout/table.ts'
import type { Gateway } from '../context.ts'
import type { BodyRule, JsonObject } from './body.ts'
import { shapeOf, type Shape } from './json_shape.ts'
import type { Budget } from '../limits/budget.ts'
import { describeForm, explain } from './schema_errors.ts'
import { Refused } from '../refused.ts'
import { RESULT } from '../../core/layout/event.ts'
import type { Row } from './row.ts'
import { field, record } from './schema.ts'

/** One call of an operation that gives `Out`. The caller's fields are -1 / 0 for public operations. */
export interface Call<Out = unknown> extends Caller {
  /** X-Request-Id (request_id.ts). */
  readonly requestId: string
  /** Client address; only before the operation returns. */
  ip(): string
  /** Set when the call was admitted, before the operation runs; the transport tells it beside the answer. `null`: not metered. */
  budget: Budget | null
  answer(output: Out): void
  refuse(refused: Refused): void
}

/** A compiled schema: says which field of a value is wrong. */
export interface Check {
  readonly schema: TObject
  readonly check: (value: unknown) => Refused | null
}

/** Schemas of the elements of lists, by field of the body. */
export type Elements = Readonly<Record<string, TSchema>>

export interface Operation<In = never, Out = unknown, Items extends Elements = Elements> {
  /** Who may call it, when, and what it costs. */
  readonly row: Row
  readonly params: Check | null
  readonly query: Check | null
  readonly body: Check | null
  readonly bodyRule: BodyRule
  /** Largest body over REST, bytes. */
  readonly bodyMax: number
  /** How a body may be built. */
  readonly shape: Shape
  /**
   * What the elements of a body's lists are, by field. The body's own schema leaves them open where a bad element is only its own
   * error; the descriptions of the interface (OpenAPI, proto, client types) take the real shape from here.
   */
  readonly items: Items
  readonly output: TSchema
  /** What people read about it. */
  readonly text: OperationText
  /** One call and its answer as they really look; the input flat, as `run` takes it. */
  readonly example: { readonly input: object; readonly output: unknown }
  readonly run: (gateway: Gateway, call: Call<Out>, input: In) => void
}

/** What people read about an operation, and the refusals only it can give: what its row implies is added (docs/rest/errors.ts). */
export interface OperationText {
  readonly summary: string
  /** Markdown. */
  readonly description: string
  /** What a 200 carries. */
  readonly answer: string
  readonly refusals: readonly RefusalCode[]
  /** Kept for clients that call it. */
  readonly deprecated?: boolean
}

/** An input as clients give it: the lists with the elements that the operation declares for them. */
export type InputWith<In, Items extends Elements> = keyof Items extends never
  ? In
  : Omit<In, keyof Items> & { readonly [Field in keyof Items]: readonly Static<Items[Field]>[] }

type Empty = TObject<Record<never, never>>
interface Declaration<P extends TSchema, Q extends TSchema, B extends TSchema, R extends TSchema, I extends Elements>
  extends Row, OperationText {
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** Default: `required` with a body schema, `ignored` without. */
  readonly bodyRule?: BodyRule
  /** Default: {@link SIGNED_BODY_MAX}. Operations that anybody may call say what they need. */
  readonly bodyMax?: number
  readonly items?: I
  readonly output: R
  readonly example: {
    readonly input: NoInfer<InputWith<Static<P> & Static<Q> & Static<B>, I>>
    readonly output: NoInfer<Static<R>>
  }
  readonly run: (gateway: Gateway, call: Call<Static<R>>, input: Static<P> & Static<Q> & Static<B>) => void
}

/** Largest body of a signed request, bytes (specification, Limits). */
export const SIGNED_BODY_MAX = 2 * 1024 * 1024

/** Declares an operation; its schemas are compiled here, once per thread. */
export function operation<
  P extends TObject = Empty, Q extends TObject = Empty, B extends TObject = Empty, R extends TSchema = TSchema,
  I extends Elements = Record<never, never>,
>(declared: Declaration<P, Q, B, R, I>): Operation<Static<P> & Static<Q> & Static<B>, Static<R>, I> {
  const compiled = (schema: TObject | undefined): Check | null => (schema === undefined ? null : compile(schema))
  const { service, method, path, access, agent, maintenance, rate, counts } = declared
  const { summary, description, answer, refusals, deprecated = false } = declared
  return {
    row: { service, method, path, access, agent, maintenance, rate, ...(counts === undefined ? {} : { counts }) },
    params: compiled(declared.params),
    query: compiled(declared.query),
    body: compiled(declared.body),
    bodyRule: declared.bodyRule ?? (declared.body === undefined ? 'ignored' : 'required'),
    bodyMax: declared.bodyMax ?? SIGNED_BODY_MAX,
    shape: shapeOf(declared.body, declared.items ?? {}),
    items: declared.items ?? ({} as I),
    output: declared.output,
    text: { summary, description, answer, refusals, deprecated },
    example: declared.example,
    run: declared.run,
  }
}

/** Whether an export of an area's file is an operation. */
export const isOperation = (value: unknown): value is Operation<never> =>
  typeof value === 'object' && value !== null && 'row' in value && 'run' in value

export function compile(schema: TObject): Check {
  const validator = Compile<TProperties, TObject>({}, schema)
  const check = (value: unknown): Refused | null => (validator.Check(value) ? null : explain(schema, validator.Errors(value)))
  return { schema, check }
}

/** What goes into the ring in front of a command, and is answered to its own pending request (strategy_buckets.ts). */
export interface Preparation extends PendingRequest {
  encode(gateway: Gateway, caller: Caller, at: number, correlation: number): void
}

/**
 * Asks the engine one thing: encodes one command, behind its preparation if it needs one, and the RESULT goes to `pending request`. Without
 * room the call is refused, for a `keyed` one as ORDER_SUBMISSION_UNAVAILABLE (an earlier request with this key may have been applied), and
 * nothing was sent.
 */
export function submit(
  gateway: Gateway, call: Call<never>, pending: PendingRequest, encode: (at: number, correlation: number) => void,
  way: Way = WAY_IN, keyed = false, first: Preparation | null = null,
): void {
  const { engine, config: { deadlineMs } } = gateway
  const full = noRoom(engine, call.account, first === null ? CREDIT : 2 * CREDIT, way)
  if (full !== null) return call.refuse(keyed ? new Refused('ORDER_SUBMISSION_UNAVAILABLE') : fullRefusal(full))
  if (first !== null) first.encode(gateway, call, slotAt(engine), register(engine, first, call.account, CREDIT, way, deadlineMs))
  encode(slotAt(engine), register(engine, pending, call.account, CREDIT, way, deadlineMs))
  send(engine)
}

/** The refusal of what found no room in the engine client. What an account has in flight is answered within milliseconds. */
export const fullRefusal = (code: Full): Refused =>
  new Refused(code, undefined, code === 'TOO_MANY_IN_FLIGHT' ? { retryAfter: 1 } : undefined)

/**
 * A pending request for one command: refuses the call when the engine did or the deadline passed, otherwise reads the RESULT with
 * `take`. `refusal` says why the engine did.
 */
export function pendingRequest(
  call: Call<never>, take: (records: Views, base: number) => void,
  refusal: (records: Views, base: number) => Refused = engineRefusal,
) {
  return {
    onResult: (records: Views, base: number): void => {
      if (records.i32[base + RESULT.at.code] === 0) take(records, base)
      else call.refuse(refusal(records, base))
    },
    onDeadline: () => call.refuse(new Refused('SERVICE_UNAVAILABLE')),
  }
}

/** Why the engine refused, of the RESULT at word `base`. What a delegated agent was not granted is named. */
export function engineRefusal({ i32 }: Views, base: number): Refused {
  const code = refusalByNumber(i32[base + RESULT.at.code]!).code as RefusalCode
  const grant = code === 'AGENT_NOT_ALLOWED' ? GRANT_NAMES.get(i32[base + REFUSAL.at.lacking]!) : undefined
  return grant === undefined ? new Refused(code) : notGranted(grant)
}

type Grant = keyof typeof AgentGrant
const GRANT_NAMES: ReadonlyMap<number, Grant> = new Map(Object.entries(AgentGrant).map(([name, number]) => [number, name as Grant]))
/** What is missing, in words. */
const GRANTS: Readonly<Record<Grant, string>> = {
  ACTION: 'the action is not granted',
  PAIR: 'the trading pair is not granted',
  ORDER_TYPE: 'the order type is not granted',
  TIME_IN_FORCE: 'the time in force is not granted',
  NOTIONAL: 'the value of the order is above what is granted',
  OPEN_ORDERS: 'it has as many open orders as are granted',
  LEVERAGE: 'the leverage is above what is granted',
  MARGIN_ACCOUNT: 'the margin account is not granted',
  OPERATION: 'only the owner may',
}

/** The refusal of a delegated agent that lacks `grant`. */
export const notGranted = (grant: Grant): Refused =>
  new Refused('AGENT_NOT_ALLOWED', `${REFUSALS.AGENT_NOT_ALLOWED.message}: ${GRANTS[grant]}`, { grant })

// Schema parts that several areas use.

export const UUID_TEXT = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/
export const Uuid = record('Uuid', 'Identifier. Upper and lower case name the same thing.', Type.String({ pattern: UUID_TEXT.source }))
describeForm(UUID_TEXT, 'a UUID, such as 7a1c0000-0000-4000-8000-000000000001')
const PAIR_TEXT = new RegExp(`${UUID_TEXT.source}|^[0-9A-Za-z._-]{1,24}/[0-9A-Za-z._-]{1,24}$`)
/** How a request names a trading pair: by id or symbol (lookup.ts). */
export const PairName = Type.String({ pattern: PAIR_TEXT.source })
describeForm(PAIR_TEXT, 'a UUID or a symbol, such as BTC/USDC')
/** Begins the name of an order by its client order id. */
export const CLIENT_PREFIX = 'client:'
/** An order: its id, or `client:` and its client order id. */
export const ORDER_NAME = new RegExp(`${UUID_TEXT.source}|^${CLIENT_PREFIX}[ -~]{1,${CLIENT_ORDER_ID_BYTES}}$`)
export const OrderName = record(
  'OrderName',
  'An order: its id, or `client:` and the client order id under which it rests (percent-encoded in a path). The name is '
    + 'resolved when the engine takes the request, so it may follow the create at once.',
  Type.String({ pattern: ORDER_NAME.source }),
)
describeForm(ORDER_NAME, 'a UUID, or client: and a client order id')
/** `-?digits[.digits]` within the limits of the specification (Conventions): what a decimal field may hold at all. */
export const DECIMAL = /^-?[0-9]{1,28}(\.[0-9]{1,18})?$/
/** Decimal text; the exact rules are core/lib/decimal.ts's. */
export const Decimal = record(
  'Decimal', 'Exact decimal number as text: no exponent, no trailing zeros in answers.', Type.String({ maxLength: 64 }),
  { pattern: DECIMAL.source },
)
export const Timestamp = record('Timestamp', 'RFC 3339 date-time in UTC with milliseconds.', Type.String({ format: 'date-time' }))
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const PageQuery = {
  page: Type.Optional(field(Type.Integer({ minimum: 1, maximum: 10_000 }), 'Page number, from 1; at most 10,000.')),
  pageSize: Type.Optional(
    field(Type.Integer({ minimum: 1, maximum: 100 }), 'Rows of a page.'),
  ),
}
export const PageOutput = {
  page: field(Type.Integer(), 'Page number, from 1; at most 10,000.'),
  pageSize: field(Type.Integer(), 'Rows of a page.'), total: field(Type.Integer(), 'Rows that match, of page mode.'),
  totalPages: field(Type.Integer(), 'Pages that match, of page mode.'),
}

export interface Page<T> {
  readonly items: T[]
  readonly page: number
  readonly pageSize: number
  readonly total: number
  readonly totalPages: number
}

/** Page `page` (from 1) of `all`; page size 20 by default (specification, Limits). */
export function pageOf<T>(all: readonly T[], page = 1, pageSize = 20): Page<T> {
  const total = all.length
  return { items: all.slice((page - 1) * pageSize, page * pageSize), page, pageSize, total, totalPages: Math.ceil(total / pageSize) }
}

let lastMs = Number.NaN
let lastText = ''
/** Unix ms as RFC 3339 text. The last one is kept: many answers leave within a millisecond, and making it costs as much as an id. */
export function rfc3339(unixMs: number): string {
  if (unixMs === lastMs) return lastText
  lastText = new Date(unixMs).toISOString()
  lastMs = unixMs
  return lastText
}

export type { JsonObject }
