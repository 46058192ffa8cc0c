/**
 * What people read about the streams: error codes, close codes, limits, messages and frames of the connection. The AsyncAPI document
 * (streams.ts) and the guide's section on streams both take it from here; channels describe themselves (ws/channels).
 *
 * A code or a message without its texts is a type error here.
 */
import { KNOBS } from '../../../core/config.ts'
import { DECLARATIONS } from '../../ws/channels/index.ts'
import { BURST_MS } from '../../ws/connection.ts'
import { MESSAGE_MAX } from '../../ws/frames.ts'
import { BYTES_BURST, BYTES_PER_SECOND } from '../../limits/token_bucket.ts'
import { IN_FLIGHT_MAX } from '../../stream/signed_stream.ts'
import { SIGNED_IN_TURN } from '../../stream/signature_shares.ts'
import { ORDER_MESSAGE_MAX } from '../../ws/order_messages.ts'
import { CLOSE, type ErrorCode, type FRAMES, type MESSAGES } from '../../ws/protocol.ts'

interface Advice {
  readonly about: string
  /** What a client does about it. */
  readonly client: string
}

export const STREAM_ERRORS: Readonly<Record<ErrorCode, Advice & { readonly close: number | null }>> = {
  INVALID_SUBSCRIPTION: {
    about: 'The message cannot be read, names no channel, or its parameters are wrong. Nothing changed.',
    client: 'Correct it: the same message is refused again.', close: null,
  },
  AUTH_REQUIRED: { about: 'A private channel before authentication.', client: 'Authenticate, then subscribe.', close: null },
  SUBSCRIPTION_LIMIT: {
    about: 'Too many subscriptions of the connection; with 1008, too many authenticated connections of the account.',
    client: 'End what you do not need, or spread over connections.', close: null,
  },
  SNAPSHOT_UNAVAILABLE: {
    about: 'The snapshot cannot be read now. The subscription stands, and the snapshot follows as soon as it can be read.',
    client: 'Wait for it: subscribing again gets it no sooner.', close: null,
  },
  SESSION_INVALID: {
    about: 'The session expired, was revoked, or was replaced by a newer one.', client: 'Sign in again, then connect and authenticate.',
    close: CLOSE.POLICY,
  },
  AUTH_FAILED: {
    about: 'The signature, its key or its time is wrong, or the connection belongs to another account.',
    client: 'Check the clock and what is signed, sign in again, connect.', close: CLOSE.POLICY,
  },
  MESSAGE_RATE_LIMIT: {
    about: 'More messages, or more bytes of messages, than the budget of the connection.', client: 'Connect after a pause, and send less.',
    close: CLOSE.POLICY,
  },
  ORDER_ENTRY_DISABLED: {
    about: 'A message of order entry, which this service does not take on its sockets. Nothing was done.',
    client: 'Send orders over REST or gRPC, or start the exchange with `--ws-order-entry 1`.',
    close: null,
  },
}

/** How a connection ends. */
export const STREAM_CLOSES: Readonly<Record<keyof typeof CLOSE, Advice>> = {
  GOING_AWAY: { about: 'The service stops.', client: 'Connect again, with pauses that grow.' },
  POLICY: { about: 'A rule was broken; the error frame before it says which.', client: 'Do what its code asks for.' },
  TOO_LARGE: {
    about: `A message had more than ${MESSAGE_MAX / 1024} KiB, one of order entry more than ${ORDER_MESSAGE_MAX / 1024} KiB.`,
    client: 'Connect again, and do not repeat it.',
  },
  RESYNC: {
    about: 'This connection would have missed events.',
    client: 'Connect again at once, authenticate, subscribe: the snapshots are fresh. Look over REST what became of requests meanwhile.',
  },
}
/** Without a close frame: 1006 in most libraries. */
export const CUT: Advice = {
  about: `Nothing was said: the network, frames that break RFC 6455, silence for ${KNOBS.wsIdleSeconds.fallback} s, or more than `
    + `${KNOBS.wsBufferKb.fallback} KiB waiting because frames were not read.`,
  client: 'Connect again, with pauses that grow; read faster than frames come.',
}

/** Bounds of a connection with their values by default; those with a knob are the operator's. */
export const STREAM_LIMITS: readonly { readonly name: string; readonly value: number; readonly unit: string; readonly about: string }[] = [
  {
    name: 'subscriptions', value: KNOBS.wsSubscriptions.fallback, unit: 'subscriptions',
    about: 'Of one connection, for good. One that is made again is not one more.',
  },
  {
    name: 'subscriptionBurst', value: KNOBS.wsSubscriptionBurst.fallback, unit: 'subscriptions',
    about: `Of one connection for ${BURST_MS / 1000} seconds; then the newest that are too many end.`,
  },
  {
    name: 'connections', value: KNOBS.wsConnections.fallback, unit: 'connections',
    about: 'Of one gateway thread; one client address has as many as are free. More are answered 503.',
  },
  {
    name: 'unusedSeconds', value: KNOBS.wsUnusedSeconds.fallback, unit: 'seconds',
    about: 'Without session, subscription or orders; then a connection is closed with `AUTH_REQUIRED`.',
  },
  {
    name: 'connectionsPerAccount', value: KNOBS.wsConnectionsPerAccount.fallback, unit: 'connections',
    about: 'Authenticated, of one account.',
  },
  {
    name: 'messagesPerSecond', value: KNOBS.wsMessagesPerSecond.fallback, unit: 'messages per second',
    about: 'From one connection for good; pings count, also those of the protocol.',
  },
  { name: 'messageBurst', value: KNOBS.wsMessageBurst.fallback, unit: 'messages', about: 'From one connection at once.' },
  { name: 'bytesPerSecond', value: BYTES_PER_SECOND, unit: 'bytes per second', about: 'Of messages from one connection for good.' },
  { name: 'byteBurst', value: BYTES_BURST, unit: 'bytes', about: 'Of messages from one connection at once.' },
  { name: 'messageBytes', value: MESSAGE_MAX, unit: 'bytes', about: 'Of one message; a larger one closes with 1009.' },
  {
    name: 'orderBytesPerSecond', value: KNOBS.wsOrderBytesPerSecond.fallback, unit: 'bytes per second',
    about: 'Of order entry from one connection for good; its messages count in the budgets of orders instead.',
  },
  { name: 'orderByteBurst', value: KNOBS.wsOrderBytesBurst.fallback, unit: 'bytes', about: 'Of order entry from one connection at once.' },
  {
    name: 'orderMessageBytes', value: ORDER_MESSAGE_MAX, unit: 'bytes',
    about: 'Of one message of order entry; a larger one closes with 1009.',
  },
  { name: 'ordersInFlight', value: IN_FLIGHT_MAX, unit: 'messages', about: 'Of order entry without an answer yet; more are `OVERLOADED`.' },
  {
    name: 'signaturesInTurn', value: SIGNED_IN_TURN, unit: 'messages',
    about: 'Signed ones that come at once, shared out among all accounts that send some; more are `OVERLOADED`.',
  },
  {
    name: 'waitingBytes', value: KNOBS.wsBufferKb.fallback * 1024, unit: 'bytes',
    about: 'Not read by the client; over it the connection is cut, and earlier when too much waits for all.',
  },
  { name: 'idleSeconds', value: KNOBS.wsIdleSeconds.fallback, unit: 'seconds', about: 'Without a sign of the client; pongs are one.' },
]

/** Messages of clients. */
export const MESSAGE_TEXTS: Readonly<Record<keyof typeof MESSAGES, string>> = {
  auth: 'Authenticates the connection for the account of a session. Again with a newer session of that account replaces it.',
  subscribe: 'Subscribes. What is subscribed already gets a new snapshot.',
  unsubscribe: 'Ends a subscription.',
  ping: 'Asks for a sign of life.',
}

/** Frames of the connection itself. */
export const FRAME_TEXTS: Readonly<Record<keyof typeof FRAMES, string>> = {
  connected: 'The first frame of every connection.',
  authenticated: 'The connection is authenticated.',
  subscribed: 'The subscription stands; its snapshot follows. `params` are in their one written form.',
  unsubscribed: 'The subscription ended, asked for or not.',
  pong: 'Answers `ping`.',
  error: 'What was asked for was refused, or the connection is about to be closed. Decide by `code`.',
}

export const ORDER_ENTRY_TEXTS = {
  about: 'Orders, with the bodies, answers, refusals and budgets of REST.',
  bounds: 'Off unless the operator switches it on; while it is off every message gets the error `ORDER_ENTRY_DISABLED`. Orders enter the '
    + 'engine in the order they were sent; answers carry their `id` and may come in another order.',
  signature: 'The session key (ed25519) signs the message: four lines, `WS`, the `type`, the timestamp as sent, and the SHA-256 of the '
    + 'text `body` in lowercase hex. Or it belongs to the session that a signed `session.open` opened on the connection, and has a '
    + '`counter` in place of a signature.',
  session: 'Opens a session on the connection, and authenticates it. Its messages are not signed: they have a `counter` that grows. Such a '
    + 'signature opens one session. It trusts the connection: use TLS.',
  opened: 'The session is open, until `expiresAt`.',
  refused: 'The message was refused, as over REST. What breaks the rules of the session closes the connection instead, with AUTH_FAILED.',
} as const

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n')

/** Tables of the guide. */
export const STREAM_TABLES: Readonly<Record<string, () => string>> = {
  channels: () => table(['Channel', 'Parameters', 'Who', 'What'], DECLARATIONS.map(({ name, access, about, params }) => {
    const required: readonly string[] = params.required ?? []
    const fields = Object.keys(params.properties).map((field) => `\`${field}\`${required.includes(field) ? '' : ', optional'}`)
    return [`\`${name}\``, fields.join('; '), access, about]
  })),
  'stream-errors': () => table(['Code', 'Closes', 'Meaning', 'What to do'], Object.entries(STREAM_ERRORS).map(
    ([code, { about, client, close }]) => [`\`${code}\``, close === null ? '' : String(close), about, client],
  )),
  'stream-closes': () => table(['Close code', 'Meaning', 'What to do'], [
    ...Object.entries(STREAM_CLOSES).map(([name, { about, client }]) => [String(CLOSE[name as keyof typeof CLOSE]), about, client]),
    ['none', CUT.about, CUT.client],
  ]),
  'stream-limits': () => table(['Limit', 'Default', 'What'], STREAM_LIMITS.map(
    ({ name, value, unit, about }) => [`\`${name}\``, `${value.toLocaleString('en')} ${unit}`, about],
  )),
}
