/**
 * Server keys of application backends (specification, Server key): the `x-server-key` header, or metadata entry of that name.
 *
 *   sk_ and 43 characters of base64url: 32 random bytes         made by the exchange for the operator, answered once
 *   SHA-256 of the whole text                                   all that is stored
 *
 * The hash is compared in constant time with the current and the old key of every application, without an early end, so that neither the
 * time nor the answer tells which application a key is near to, nor whether it was one once. Hashing alone makes guessing by time
 * useless; this makes it plainly so. A key is good for the routes of its access class only, and nothing else is good for those.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { GATEWAY } from '../../core/ring/counters.ts'
import type { Applications, ApplicationView } from '../../core/view/applications.ts'
import type { Refused } from '../refused.ts'
import { SERVER_KEY_WRONG } from './mistakes.ts'
import type { Caller } from './signed_request.ts'

const FORM = /^sk_[A-Za-z0-9_-]{43}$/
/** Compared with where an application has no key; the comparison then does not count. */
const NO_KEY = new Uint8Array(32)

/** The hash under which a server key is stored, 32 bytes. */
export const hashOfServerKey = (key: string): Buffer => hash('sha256', key, 'buffer')

/** The application whose key this is at `now`, sequenced time in Unix ms, or `null`. */
export function applicationOfKey(applications: readonly ApplicationView[], key: string, now: number): ApplicationView | null {
  if (!FORM.test(key)) return null
  const digest = hashOfServerKey(key)
  let found: ApplicationView | null = null
  for (const application of applications) {
    const current = timingSafeEqual(digest, application.key ?? NO_KEY) && application.key !== null
    const old = timingSafeEqual(digest, application.oldKey ?? NO_KEY) && application.oldKey !== null && now < application.oldKeyUntil
    if (current || old) found = application
  }
  return found
}

/** Checks the server key of a request, '' for none, and makes `caller` its application's; or says which refusal it is. */
export function authenticateServer(
  applications: Applications, key: string, now: number, counters: Float64Array, caller: Caller,
): Refused | null {
  const found = applicationOfKey(applications.list(), key, now)
  counters[found === null ? GATEWAY.server_key_rejected : GATEWAY.server_key_ok]!++
  if (found === null) return SERVER_KEY_WRONG
  caller.application = found.application
  return null
}
