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
import { field } from '../operations/schema.ts'

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
/** Of every message: what is asked for. */
const asks = <T extends string>(type: T) => field(Type.Literal(type), 'What is asked for.')
/** Of every frame. */
const tells = <T extends string>(type: T) => field(Type.Literal(type), 'What the frame is.')
const SUBSCRIPTION = {
  id: Type.Optional(field(RequestId, 'A name of your own for the request; the answer repeats it.')),
  channel: field(Type.String({ minLength: 1, maxLength: NAME_MAX }), 'Name of the channel.'),
  params: Type.Optional(field(Terms, 'Parameters of the subscription; fields that are not named here are ignored.')),
}
const answeredId = Type.Optional(field(RequestId, 'The id of the request that this answers; absent where it had none.'))
const channel = field(Type.String(), 'Name of the channel.')
const ANSWER = {
  id: answeredId, channel,
  params: field(Terms, 'Parameters of the subscription in their one written form: defaults filled in, ids in lower case.'),
}

/** What a client may say, by `type`. */
export const MESSAGES = {
  auth: Type.Object({
    type: asks('auth'),
    publicKey: field(Type.String({ pattern: '^[0-9a-f]{64}$' }), 'Session public key: 64 lowercase hex digits.'),
    timestamp: field(
      Type.Union([Type.String({ pattern: '^[0-9]{13}$' }), Type.Integer()]),
      'Unix milliseconds as text or number, within 30 seconds of the clock of the service.',
    ),
    signature: field(
      Type.String({ pattern: '^[0-9a-f]{128}$' }),
      'Signature by the session key, 128 lowercase hex digits, of the lines GET, /ws, the timestamp as sent, and the SHA-256 of nothing.',
    ),
  }),
  subscribe: Type.Object({ type: asks('subscribe'), ...SUBSCRIPTION }),
  unsubscribe: Type.Object({ type: asks('unsubscribe'), ...SUBSCRIPTION }),
  ping: Type.Object({ type: asks('ping') }),
} as const satisfies Readonly<Record<string, TObject>>

/** What the service says of the connection itself, by `type`. */
export const FRAMES = {
  connected: Type.Object({
    type: tells('connected'),
    connectionId: field(Uuid, 'The connection; name it when you ask for help.'),
    heartbeatMs: field(
      Type.Integer(),
      'After this long without a sign of the client the connection is closed. The service pings in time; pongs are signs.',
    ),
  }),
  authenticated: Type.Object({ type: tells('authenticated'), expiresAt: fields.expiresAt }),
  subscribed: Type.Object({ type: tells('subscribed'), ...ANSWER }),
  unsubscribed: Type.Object({ type: tells('unsubscribed'), ...ANSWER }),
  pong: Type.Object({ type: tells('pong'), timestamp: field(Timestamp, 'When the frame was made.') }),
  error: Type.Object({
    type: tells('error'), code: field(Type.Enum(ERROR_CODES), 'Stable code of the refusal.'),
    message: field(Type.String(), 'What is wrong, in words; do not parse it.'), channel: Type.Optional(channel), id: answeredId,
  }),
} as const satisfies Readonly<Record<string, TObject>>
