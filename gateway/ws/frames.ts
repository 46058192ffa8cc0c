/**
 * Frames of the WebSocket: what a client may say, checked, and what the service says, as bytes. protocol.ts has both as schemas.
 *
 * A message is one JSON object of at most {@link MESSAGE_MAX} bytes in a text frame. Unknown fields are ignored, as in requests. What is no
 * such object gets an error frame and changes nothing.
 */
import { rfc3339 } from '../operations/operation.ts'
import { NAME_MAX, type ErrorCode } from './protocol.ts'

/** Largest message of a client, bytes; a longer one closes the connection with 1009. */
export const MESSAGE_MAX = 16 * 1024
/** What the library reads at most before it drops the connection without a word. */
export const PAYLOAD_MAX = 4 * MESSAGE_MAX

/** The client's name for a request, repeated in the answer. */
export type RequestId = string | number | undefined
/** Parameters of a subscription as sent, or in their one written form. */
export type Params = Readonly<Record<string, unknown>>

export type Message =
  | { readonly type: 'auth'; readonly publicKey: string; readonly timestamp: string; readonly signature: string }
  | { readonly type: 'subscribe' | 'unsubscribe'; readonly id: RequestId; readonly channel: string; readonly params: Params }
  | { readonly type: 'ping' }

/** A message that is none, in words. `channel` and `id` as far as they could be read. */
export interface Malformed {
  readonly type: 'malformed'
  readonly problem: string
  readonly id?: RequestId
  readonly channel?: string
}

const malformed = (problem: string, more: { id?: RequestId; channel?: string } = {}): Malformed => ({ type: 'malformed', problem, ...more })

/** Reads one message. Never throws. */
export function readMessage(bytes: ArrayBuffer, binary: boolean): Message | Malformed {
  if (binary) return malformed('messages are JSON in text frames')
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return malformed('the message is no JSON')
  }
  if (!isObject(json)) return malformed('the message is no JSON object')
  switch (json['type']) {
    case 'ping':
      return { type: 'ping' }
    case 'auth':
      return readAuth(json)
    case 'subscribe':
    case 'unsubscribe':
      return readSubscription(json['type'], json)
    default:
      return malformed('type must be auth, subscribe, unsubscribe or ping')
  }
}

const isObject = (value: unknown): value is Params => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The checks of what is signed say what is wrong with it; here it only has to be text, and the time may be a number. */
function readAuth({ publicKey, timestamp, signature }: Params): Message {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  return {
    type: 'auth', publicKey: text(publicKey), signature: text(signature),
    timestamp: typeof timestamp === 'number' ? String(timestamp) : text(timestamp),
  }
}

function readSubscription(type: 'subscribe' | 'unsubscribe', { id = undefined, channel, params = {} }: Params): Message | Malformed {
  const given = id ?? undefined
  const isId = given === undefined || (typeof given === 'string' && given.length <= NAME_MAX) || Number.isSafeInteger(given)
  if (!isId) return malformed(`id must be text of at most ${NAME_MAX} characters or a whole number`)
  const known = given as RequestId
  if (typeof channel !== 'string' || channel === '') return malformed('channel is required', { id: known })
  // What is repeated in the answer is bounded.
  const name = channel.slice(0, NAME_MAX)
  const terms = params ?? {}
  if (!isObject(terms)) return malformed('params must be an object', { id: known, channel: name })
  return { type, id: known, channel: name, params: terms }
}

/** A frame as it leaves: encoded once, sent to many. */
export type Frame = Buffer

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
