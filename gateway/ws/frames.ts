/**
 * Frames of the WebSocket: what a client may say, checked, and what the service says, as bytes. protocol.ts has both as schemas.
 *
 * A message is one JSON object of at most {@link MESSAGE_MAX} bytes in a text frame. Unknown fields are ignored, as in requests. What is no
 * such object gets an error frame and changes nothing.
 */
import { fitsShape, type Shape } from '../operations/json_shape.ts'
import { rfc3339 } from '../operations/operation.ts'
import { isOrderType } from './order_messages.ts'
import { NAME_MAX, type ErrorCode } from './protocol.ts'

/** Largest message of a client, bytes; a longer one closes the connection with 1009. */
export const MESSAGE_MAX = 16 * 1024
/**
 * What the library reads at most: whoever announces more is cut without a close frame, since the library shows neither the frame nor its
 * announcement. It is twice what the longest message may have, so that a message which is too long is told so with 1009.
 */
export const PAYLOAD_MAX = 8 * MESSAGE_MAX

/** The client's name for a request, repeated in the answer. */
export type RequestId = string | number | undefined
/** Parameters of a subscription as sent, or in their one written form. */
export type Params = Readonly<Record<string, unknown>>

export type Message =
  | ({ readonly type: 'auth' } & MessageCredentials)
  | { readonly type: 'subscribe' | 'unsubscribe'; readonly id: RequestId; readonly channel: string; readonly params: Params }
  | { readonly type: 'ping' }
  /** Of order entry, which is not switched on. */
  | { readonly type: 'order'; readonly id: RequestId }

/** A message that cannot be served, and `problem`, why not. `channel` and `id` as far as they could be read. */
export interface Malformed {
  readonly type: 'malformed'
  readonly problem: string
  readonly id?: RequestId
  readonly channel?: string
}

const malformed = (problem: string, more: { id?: RequestId; channel?: string } = {}): Malformed => ({ type: 'malformed', problem, ...more })

/** How a message may be built: a subscription has seven values, and may have fields that are not known. */
export const MESSAGE_SHAPE: Shape = { depth: 8, values: 64 }

/** The JSON object of a message, or a text that says what is wrong with it. Never throws. */
export function parseMessage(bytes: ArrayBuffer, binary: boolean, shape: Shape): Params | string {
  if (binary) return 'messages are JSON in text frames'
  if (!fitsShape(new Uint8Array(bytes), shape)) return 'the message has too many values, or too many inside one another'
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return 'the message is no JSON'
  }
  return isObject(json) ? json : 'the message is no JSON object'
}

/** Reads one message, as {@link parseMessage} gave it. */
export function readMessage(json: Params | string): Message | Malformed {
  if (typeof json === 'string') return malformed(json)
  switch (json['type']) {
    case 'ping':
      return { type: 'ping' }
    case 'auth':
      return readAuth(json)
    case 'subscribe':
    case 'unsubscribe':
      return readSubscription(json['type'], json)
    default:
      return isOrderType(json['type']) ? { type: 'order', id: readId(json) } : malformed('there is no such type of message')
  }
}

const isObject = (value: unknown): value is Params => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a message was signed with, '' for what is missing. */
interface MessageCredentials {
  readonly publicKey: string
  readonly timestamp: string
  readonly signature: string
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The checks of what is signed say what is wrong with it; here it only has to be text, and the time may be a number. */
export const readCredentials = ({ publicKey, timestamp, signature }: Params): MessageCredentials => ({
  publicKey: text(publicKey), signature: text(signature), timestamp: typeof timestamp === 'number' ? String(timestamp) : text(timestamp),
})

const readAuth = (json: Params): Message => ({ type: 'auth', ...readCredentials(json) })

const isId = (id: unknown): id is RequestId =>
  id === undefined || (typeof id === 'string' && id.length <= NAME_MAX) || Number.isSafeInteger(id)
/** The id of a message, when it is one. */
function readId({ id = undefined }: Params): RequestId {
  const given = id ?? undefined
  return isId(given) ? given : undefined
}

function readSubscription(type: 'subscribe' | 'unsubscribe', { id = undefined, channel, params = {} }: Params): Message | Malformed {
  const known = id ?? undefined
  if (!isId(known)) return malformed(`id must be text of at most ${NAME_MAX} characters or a whole number`)
  if (typeof channel !== 'string' || channel === '') return malformed('channel is required', { id: known })
  // What is repeated in the answer is bounded.
  const name = channel.slice(0, NAME_MAX)
  const terms = params ?? {}
  if (!isObject(terms)) return malformed('params must be an object', { id: known, channel: name })
  return { type, id: known, channel: name, params: terms }
}

/** A frame as it leaves: encoded once, sent to many. */
export type Frame = Buffer
/** What makes a frame of a long snapshot, from what was copied when somebody subscribed. */
export type LaterFrame = () => Frame

const encode = (value: object): Frame => Buffer.from(JSON.stringify(value))

export const connectedFrame = (connectionId: string, heartbeatMs: number): Frame => encode({ type: 'connected', connectionId, heartbeatMs })
/** `expiresAt` in Unix seconds, as verify and refresh answer. */
export const authenticatedFrame = (expiresAt: number): Frame => encode({ type: 'authenticated', expiresAt })
export const pongFrame = (now: number): Frame => encode({ type: 'pong', timestamp: rfc3339(now) })
export const subscriptionFrame = (type: 'subscribed' | 'unsubscribed', id: RequestId, channel: string, params: Params): Frame =>
  encode({ type, id, channel, params })
export const errorFrame = (code: ErrorCode, message: string, id?: RequestId, channel?: string): Frame =>
  encode({ type: 'error', code, message, channel, id })

/** A frame of a channel. `type`: `snapshot` or the name of the update; `now` in Unix ms. */
export function dataFrame(
  channel: string, type: string, now: number, data: object, sequence?: number, reason?: string,
): Frame {
  return encode({ channel, type, reason, sequence, timestamp: rfc3339(now), data })
}
