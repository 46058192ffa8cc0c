/**
 * What goes over the socket, as schemas: messages of clients, frames of the connection itself, and the envelope of the frames of channels.
 *
 * The AsyncAPI document and the types of clients derive from here; tests hold the reader of messages (frames.ts) and every frame that they
 * get against it. Objects stay open: unknown fields of messages are ignored, and frames may gain fields. Order entry is declared in
 * order_messages.ts.
 */
import Type, { type TObject } from 'typebox'
import { Timestamp, Uuid } from '../operations/operation.ts'
import * as fields from '../operations/fields.ts'

/** Longest id of a request and name of a channel, characters. */
export const NAME_MAX = 64

/** Codes of error frames (specification, Events, rule 4), and one of order entry. */
export const ERROR_CODES = [
  'INVALID_SUBSCRIPTION', 'AUTH_REQUIRED', 'SUBSCRIPTION_LIMIT', 'SNAPSHOT_UNAVAILABLE', 'SESSION_INVALID', 'AUTH_FAILED',
  'MESSAGE_RATE_LIMIT', 'ORDER_ENTRY_DISABLED',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/** Close codes (RFC 6455, 7.4.1, and its registry). */
export const CLOSE = { GOING_AWAY: 1001, POLICY: 1008, TOO_LARGE: 1009, RESYNC: 1013 } as const
export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE]

const RequestId = Type.Union([Type.String({ maxLength: NAME_MAX }), Type.Integer()])
const Terms = Type.Record(Type.String(), Type.Unknown())
const SUBSCRIPTION = {
  id: Type.Optional(RequestId), channel: Type.String({ minLength: 1, maxLength: NAME_MAX }), params: Type.Optional(Terms),
}
const ANSWER = { id: Type.Optional(RequestId), channel: Type.String(), params: Terms }

/** What a client may say, by `type`. */
export const MESSAGES = {
  auth: Type.Object({
    type: Type.Literal('auth'), publicKey: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    timestamp: Type.Union([Type.String({ pattern: '^[0-9]{13}$' }), Type.Integer()]),
    signature: Type.String({ pattern: '^[0-9a-f]{128}$' }),
  }),
  subscribe: Type.Object({ type: Type.Literal('subscribe'), ...SUBSCRIPTION }),
  unsubscribe: Type.Object({ type: Type.Literal('unsubscribe'), ...SUBSCRIPTION }),
  ping: Type.Object({ type: Type.Literal('ping') }),
} as const satisfies Readonly<Record<string, TObject>>

/** What the service says of the connection itself, by `type`. */
export const FRAMES = {
  connected: Type.Object({ type: Type.Literal('connected'), connectionId: Uuid, heartbeatMs: Type.Integer() }),
  authenticated: Type.Object({ type: Type.Literal('authenticated'), expiresAt: fields.expiresAt }),
  subscribed: Type.Object({ type: Type.Literal('subscribed'), ...ANSWER }),
  unsubscribed: Type.Object({ type: Type.Literal('unsubscribed'), ...ANSWER }),
  pong: Type.Object({ type: Type.Literal('pong'), timestamp: Timestamp }),
  error: Type.Object({
    type: Type.Literal('error'), code: Type.Enum(ERROR_CODES), message: Type.String(), channel: Type.Optional(Type.String()),
    id: Type.Optional(RequestId),
  }),
} as const satisfies Readonly<Record<string, TObject>>
