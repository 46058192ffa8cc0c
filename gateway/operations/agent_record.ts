/**
 * Grants of delegated agents: as requests write them, as the engine keeps them, as records show them.
 *
 * Records show what holds: every order type and time in force by name, also where the request left them open; of margin accounts those that
 * were granted by id, closed ones too, which let nothing through. Over gRPC an empty list is no list, so
 * `noMarginAccounts` says there what an empty `allowedMarginAccountIds` says in JSON; both forms take both.
 */
import Type, { type Static } from 'typebox'
import {
  AGENT_MARGIN_ACCOUNTS_MAX, AGENT_OPEN_ORDERS_MAX, AGENT_PAIRS_MAX, AgentAction, AgentMargin, AgentOrderType, AgentTimeInForce,
} from '../../core/layout/command.ts'
import { agentId, marginAccountId, parentMarginId } from '../../core/layout/ids.ts'
import { formatDecimal, parseDecimal } from '../../core/lib/decimal.ts'
import { AgentStatus } from '../../core/state/columns.ts'
import { readAccount } from '../../core/view/accounts.ts'
import type { AgentView } from '../../core/view/agents.ts'
import { MarginAccountKind } from '../../core/view/margin.ts'
import { checksumAddress } from '../auth/challenge.ts'
import type { AgentTerms } from '../bridge/encode.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { Amount } from './amounts.ts'
import { Address } from './auth.ts'
import { Decimal, rfc3339, Timestamp, PairName, Uuid } from './operation.ts'
import { parseDateTime } from './date_time.ts'
import { OrderType, TimeInForce } from './order_words.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { pairOf } from './lookup.ts'
import { findMarginAccount, marginIdOf } from './margin_summary.ts'

const Action = record('AgentAction', 'Something a delegated agent may do.', Type.Union([
  Type.Literal('CREATE_ORDER'), Type.Literal('CANCEL_ORDER'), Type.Literal('REPLACE_ORDER'), Type.Literal('CLOSE_POSITION'),
]))
type Action = Static<typeof Action>

/** Bytes of a name in a record. */
export const NAME_BYTES = 32
/** Elements that a list of names may have, repetitions included. */
const NAMES_MAX = 16
const NOTIONAL_SCALE = 9
const LEVERAGE_SCALE = 2
const INT64_MAX = 2n ** 63n - 1n
const INT32_MAX = 2n ** 31n - 1n

export const AgentRequest = Type.Object({
  agentAddress: field(Address, 'Wallet of the agent.'),
  allowedActions: field(Type.Array(Action, { minItems: 1, maxItems: NAMES_MAX }), 'What it may do.'),
  allowedTradingPairIds: field(
    Type.Array(PairName, { minItems: 1, maxItems: AGENT_PAIRS_MAX }),
    'Trading pairs it may act on, each by id or symbol (`BTC/USDC`).',
  ),
  name: Type.Optional(field(Type.String({ minLength: 1, maxLength: NAME_BYTES }), 'Name of your own, up to 32 bytes of UTF-8.')),
  expiresAt: Type.Optional(
    field(Type.String(), 'When the grant and its sessions end, RFC 3339, in the future; absent: never.', { format: 'date-time' }),
  ),
  allowedOrderTypes: Type.Optional(
    field(
      Type.Array(OrderType, { minItems: 1, maxItems: NAMES_MAX }),
      'Order types it may place, as legs too (a MARKET stop-loss is MARKET); absent: all.',
    ),
  ),
  allowedTimeInForce: Type.Optional(
    field(Type.Array(TimeInForce, { minItems: 1, maxItems: NAMES_MAX }), 'Times in force of its LIMIT orders and legs; absent: all.'),
  ),
  allowedMarginAccountIds: Type.Optional(
    field(
      Type.Array(Uuid, { maxItems: AGENT_MARGIN_ACCOUNTS_MAX }),
      `Margin accounts in which it may place and cancel, at most ${AGENT_MARGIN_ACCOUNTS_MAX}; absent: every one; empty: none.`,
    ),
  ),
  noMarginAccounts: Type.Optional(field(Type.Boolean(), 'true: it may use no margin account, as an empty allowedMarginAccountIds says.')),
  maxLeverage: Type.Optional(field(Amount, 'Highest leverage of its orders, at most 2 digits after the point; absent: not bounded.')),
  maxOrderNotional: Type.Optional(
    field(
      Amount, 'Most value of one order, in units of its quote token, at most 9 digits after the point; absent: not bounded. A leg counts '
        + 'what it would close now, at its trigger or limit.',
    ),
  ),
  maxOpenOrders: Type.Optional(
    field(Type.Integer({ minimum: 1, maximum: AGENT_OPEN_ORDERS_MAX }), 'Most orders of it that rest at once, 1 to 1000.'),
  ),
})
export type AgentRequest = Static<typeof AgentRequest>

export const AgentRecord = record('DelegatedAgent', 'A wallet that may trade for the caller, and inside which bounds.', Type.Object({
  id: fields.id,
  agentAddress: field(Type.String(), 'Wallet of the agent.'),
  name: Type.Optional(field(Type.String(), 'Name of your own, up to 32 bytes of UTF-8.')),
  isActive: field(Type.Boolean(), 'Neither revoked nor expired.'),
  allowedActions: field(Type.Array(Action), 'What it may do.'),
  allowedTradingPairIds: field(Type.Array(Uuid), 'Trading pairs it may act on.'),
  allowedOrderTypes: field(Type.Array(OrderType), 'Order types it may place.'),
  allowedTimeInForce: field(Type.Array(TimeInForce), 'Times in force of its LIMIT orders.'),
  /** Absent: all. */
  allowedMarginAccountIds: Type.Optional(field(Type.Array(Uuid), 'Margin accounts it may use; absent: every one; empty: none.')),
  noMarginAccounts: field(Type.Boolean(), 'true: it may use no margin account, as an empty allowedMarginAccountIds says.'),
  maxLeverage: Type.Optional(field(Decimal, 'Highest leverage, at most 2 digits after the point; absent: not bounded.')),
  maxOrderNotional: Type.Optional(
    field(Decimal, 'Most value of one order, in units of its quote token, at most 9 digits after the point; absent: not bounded.'),
  ),
  maxOpenOrders: field(Type.Integer(), 'Most orders of it that rest at once, 1 to 1000.'),
  /** Resting orders that it placed. */
  openOrders: field(Type.Integer(), 'Orders of it that rest now.'),
  expiresAt: Type.Optional(field(Timestamp, 'When the grant ends; absent: never.')),
  createdAt: fields.createdAt,
  updatedAt: fields.updatedAt,
}))
export type AgentRecord = Static<typeof AgentRecord>

/** Bits by name. */
type Bits<Name extends string> = Readonly<Record<Name, number>>

const bitsOf = <Name extends string>(bits: Bits<Name>, names: readonly Name[] = []): number =>
  names.reduce((sum, name) => sum | bits[name], 0)
const namesOf = <Name extends string>(bits: Bits<Name>, given: number): Name[] =>
  (Object.keys(bits) as Name[]).filter((name) => (given & bits[name]) !== 0)
/** As {@link namesOf} where no bit stands for every one. */
const namesOrAll = <Name extends string>(bits: Bits<Name>, given: number): Name[] =>
  given === 0 ? (Object.keys(bits) as Name[]) : namesOf(bits, given)

/** The grant a request asks for, or which field is wrong. `account` grants it. */
export function agentTerms(gateway: Gateway, account: number, input: AgentRequest): AgentTerms | Refused {
  const owner = readAccount(gateway.state, account).address
  if (input.agentAddress.slice(2).toLowerCase() === Buffer.from(owner).toString('hex')) {
    return refusedField('agentAddress', 'A wallet cannot be its own delegated agent')
  }
  const pairs = pairsOf(gateway, input.allowedTradingPairIds)
  if (pairs instanceof Refused) return pairs
  const name = nameOf('name', input.name)
  if (name instanceof Refused) return name
  const expiresAt = expiryOf(input.expiresAt, gateway.time())
  if (expiresAt instanceof Refused) return expiresAt
  const marginAccounts = marginOf(gateway, account, input)
  if (marginAccounts instanceof Refused) return marginAccounts
  const maxLeverage = boundOf('maxLeverage', input.maxLeverage, LEVERAGE_SCALE, INT32_MAX)
  if (maxLeverage instanceof Refused) return maxLeverage
  const maxNotional = boundOf('maxOrderNotional', input.maxOrderNotional, NOTIONAL_SCALE, INT64_MAX)
  if (maxNotional instanceof Refused) return maxNotional
  const grants = bitsOf(AgentAction, input.allowedActions) | (bitsOf(AgentOrderType, input.allowedOrderTypes) << 8) |
    (bitsOf(AgentTimeInForce, input.allowedTimeInForce) << 16) | (marginGrantOf(marginAccounts) << 24)
  return {
    address: input.agentAddress, grants, expiresAt, maxNotional, pairs, name, marginAccounts: marginAccounts ?? [],
    maxLeverage: Number(maxLeverage), maxOpenOrders: input.maxOpenOrders ?? 0,
  }
}

function pairsOf(gateway: Gateway, ids: readonly string[]): number[] | Refused {
  const pairs: number[] = []
  for (const id of ids) {
    const pair = pairOf(gateway, id, 'allowedTradingPairIds')
    if (pair instanceof Refused) return pair
    pairs.push(pair.index)
  }
  return pairs
}

/** Text that people can tell apart: no control characters, no half characters; '' without one. */
export function nameOf(field: string, text = ''): string | Refused {
  return text.isWellFormed() && !/\p{Cc}/u.test(text) && Buffer.byteLength(text) <= NAME_BYTES
    ? text
    : refusedField(field, `${field} must be 1 to ${NAME_BYTES} bytes of printable UTF-8`)
}

function expiryOf(text: string | undefined, now: number): number | Refused {
  if (text === undefined) return 0
  const at = parseDateTime(text)
  if (Number.isNaN(at)) return refusedField('expiresAt', 'expiresAt must be an RFC 3339 date-time')
  return at > now ? at : refusedField('expiresAt', 'expiresAt is not in the future')
}

type NamedMarginAccounts = AgentTerms['marginAccounts']

/** The margin accounts that are granted, each once; none, or `null`: every one. */
function marginOf(gateway: Gateway, account: number, input: AgentRequest): NamedMarginAccounts | null | Refused {
  const { allowedMarginAccountIds, noMarginAccounts = false } = input
  if (allowedMarginAccountIds === undefined) return noMarginAccounts ? [] : null
  if (noMarginAccounts && allowedMarginAccountIds.length > 0) {
    return refusedField('noMarginAccounts', 'noMarginAccounts cannot be true when allowedMarginAccountIds names some')
  }
  const named = new Map<string, NamedMarginAccounts[number]>()
  for (const id of allowedMarginAccountIds) {
    const margin = findMarginAccount(gateway, account, id)
    if (margin instanceof Refused) return new Refused(margin.code, margin.message, { field: 'allowedMarginAccountIds' })
    named.set(marginIdOf(gateway, account, margin), margin.kind === MarginAccountKind.PARENT
      ? { sequence: readAccount(gateway.state, account).createdSequence, row: -1 - account }
      : { sequence: margin.createdSequence, row: margin.row })
  }
  return [...named.values()]
}

const marginGrantOf = (named: NamedMarginAccounts | null): number =>
  named === null ? 0 : named.length === 0 ? AgentMargin.NONE : AgentMargin.LISTED

/** A positive bound as a whole number of 10^-scale; 0 without one. */
function boundOf(field: string, text: string | undefined, scale: number, most: bigint): bigint | Refused {
  if (text === undefined) return 0n
  const bound = parseDecimal(text, scale)
  if (bound === null) return refusedField(field, `${field} has more than ${scale} digits`)
  return bound > 0n && bound <= most ? bound : refusedField(field, `${field} must be positive and in range`)
}

/** The record of an agent as it is at the gateway's clock: an expired grant is not active. */
export function agentRecord(gateway: Gateway, agent: AgentView): AgentRecord {
  const { pairs } = gateway.genesis
  const { expiresAt, maxLeverage, maxNotional, maxOpenOrders } = agent
  const record: AgentRecord = {
    id: agentId(agent.createdSequence, agent.row),
    agentAddress: checksumAddress(`0x${Buffer.from(agent.address).toString('hex')}`),
    isActive: agent.status === AgentStatus.ACTIVE && (expiresAt === 0 || expiresAt > gateway.time()),
    allowedActions: namesOf<Action>(AgentAction, agent.actions),
    allowedTradingPairIds: agent.pairs.map((pair) => pairs[pair]!.id),
    allowedOrderTypes: namesOrAll(AgentOrderType, agent.orderTypes),
    allowedTimeInForce: namesOrAll(AgentTimeInForce, agent.timesInForce),
    noMarginAccounts: agent.marginGrant === AgentMargin.NONE,
    maxOpenOrders: maxOpenOrders === 0 ? AGENT_OPEN_ORDERS_MAX : maxOpenOrders,
    openOrders: agent.openOrders,
    createdAt: rfc3339(agent.createdAt),
    updatedAt: rfc3339(agent.updatedAt),
  }
  if (agent.name !== '') record.name = agent.name
  if (agent.marginGrant !== 0) {
    record.allowedMarginAccountIds = agent.marginAccounts.map(({ sequence, row }) =>
      row < 0 ? parentMarginId(sequence, -1 - row) : marginAccountId(sequence, row))
  }
  if (maxLeverage !== 0) record.maxLeverage = formatDecimal(maxLeverage, LEVERAGE_SCALE)
  if (maxNotional !== 0n) record.maxOrderNotional = formatDecimal(maxNotional, NOTIONAL_SCALE)
  if (expiresAt !== 0) record.expiresAt = rfc3339(expiresAt)
  return record
}
