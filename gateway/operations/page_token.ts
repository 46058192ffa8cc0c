/**
 * Page tokens of cursor listings: where a listing goes on, sealed so that only this exchange can make one.
 *
 *   byte 0      version, 1
 *   byte 1      direction: 0 newest first, 1 oldest first
 *   bytes 2-9   sequence of the last row given, big-endian
 *   bytes 10-13 its number within the command, big-endian
 *   bytes 14-29 first half of the HMAC-SHA256 over the bytes before and the listing's scope
 *
 * The scope names the operation, the account that asks (-1: nobody, a public listing) and every filter, so that a token opens nothing
 * but the listing it came from. Thirty bytes are exactly forty base64url characters: there are no spare bits to vary, and two texts
 * are never the same token. A token holds no secret and does not expire: it is a position, and what may be read is decided anew.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Position } from '../../core/history/answer/queries.ts'

export const PAGE_TOKEN_LENGTH = 40

const VERSION = 1
const SEALED = 14
const BYTES = 30
const FORM = /^[A-Za-z0-9_-]{40}$/

export type Direction = 'newest-first' | 'oldest-first'

/** What a token is good for. */
export interface Scope {
  readonly operation: string
  /** -1: a public listing. */
  readonly account: number
  readonly direction: Direction
  /** Every filter as given; absent ones are undefined or left out. Lists are sets. */
  readonly filters: Readonly<Record<string, unknown>>
}

/** The filters as one text: equal for equal filters in whatever order they were given. */
function canonical(filters: Scope['filters']): string {
  const entries = Object.entries(filters).filter(([, value]) => value !== undefined)
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, sorted(value)]))
}

const sorted = (value: unknown): unknown => (Array.isArray(value) ? [...new Set(value.map(String))].sort() : value)

function seal(key: Uint8Array, bytes: Buffer, scope: Scope): Buffer {
  const text = JSON.stringify([scope.operation, scope.account, canonical(scope.filters)])
  return createHmac('sha256', key).update(bytes.subarray(0, SEALED)).update(text).digest().subarray(0, BYTES - SEALED)
}

/** The token that goes on after `position`. */
export function makePageToken(key: Uint8Array, scope: Scope, position: Position): string {
  const bytes = Buffer.alloc(BYTES)
  bytes[0] = VERSION
  bytes[1] = scope.direction === 'newest-first' ? 0 : 1
  bytes.writeBigUInt64BE(BigInt(position.sequence), 2)
  bytes.writeUInt32BE(position.index, 10)
  seal(key, bytes, scope).copy(bytes, SEALED)
  return bytes.toString('base64url')
}

/** The position a token of this scope goes on after; `null` for any other text. */
export function readPageToken(key: Uint8Array, scope: Scope, token: string): Position | null {
  if (token.length !== PAGE_TOKEN_LENGTH || !FORM.test(token)) return null
  const bytes = Buffer.from(token, 'base64url')
  if (!timingSafeEqual(bytes.subarray(SEALED), seal(key, bytes, scope))) return null
  if (bytes[0] !== VERSION || bytes[1] !== (scope.direction === 'newest-first' ? 0 : 1)) return null
  return { sequence: Number(bytes.readBigUInt64BE(2)), index: bytes.readUInt32BE(10) }
}
