/**
 * Sessions by public key, as one gateway thread sees them.
 *
 * The truth is in the shared columns, which the matcher changes only after the commit; this cache saves decoding the key and
 * probing the index. Every use reads the row again, so a revoked, expired, refreshed or reopened session is seen at once.
 */
import type { State } from '../../core/state/state.ts'
import type { Refused } from '../refused.ts'
import { NOT_READABLE, UNKNOWN_KEY } from './mistakes.ts'
import { createBoundedMap, remember, type BoundedMap } from '../bounded_map.ts'
import { readSession, readSessionRow, type NoSession, type SessionView } from '../../core/view/accounts.ts'

/** Keys one thread remembers; the oldest goes first. */
const KEYS_MAX = 8192

interface Entry {
  readonly publicKey: Buffer
  /** Row and generation at which the key was last found. */
  session: number
  generation: number
}

export interface SessionCache {
  readonly state: State
  readonly gate: Int32Array
  /** Sequenced time, Unix ms, which sessions expire by; given the wall clock. */
  readonly time: (wall: number) => number
  readonly known: BoundedMap<string, Entry>
}

/** `gate`: word APPLYING of the exchange. Without `time` sequenced time is the wall clock. */
export const createSessionCache = (state: State, gate: Int32Array, time: (wall: number) => number = (wall) => wall): SessionCache =>
  ({ state, gate, time, known: createBoundedMap(KEYS_MAX) })

/** A session, live or not, with the key's bytes. */
export interface FoundSession {
  readonly view: SessionView
  readonly publicKey: Buffer
}

/** The refusal of a request whose key has no session, or may have one that cannot be read now: that is no fault of the request. */
export const refusalOf = (none: NoSession): Refused => (none === 'unknown' ? UNKNOWN_KEY : NOT_READABLE)

/** The session of `key`, 64 lowercase hex digits, or why there is none. */
export function findSession(cache: SessionCache, key: string): FoundSession | NoSession {
  const entry = cache.known.entries.get(key)
  if (entry === undefined) return look(cache, key)
  const view = readSessionRow(cache.state, entry.session)
  if (view !== null && view.generation === entry.generation) return { view, publicKey: entry.publicKey }
  // The row was reopened or given to another key.
  cache.known.entries.delete(key)
  return look(cache, key)
}

function look(cache: SessionCache, key: string): FoundSession | NoSession {
  const bytes = new ArrayBuffer(32)
  const publicKey = Buffer.from(bytes)
  publicKey.write(key, 'hex')
  const view = readSession(cache.state, cache.gate, new Int32Array(bytes), 0)
  if (typeof view === 'string') return view
  remember(cache.known, key, { publicKey, session: view.session, generation: view.generation })
  return { view, publicKey }
}
