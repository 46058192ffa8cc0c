/**
 * Whose request it is. The headers that came choose the protocol, before anything is checked: a request of one protocol that fails
 * is refused and never tried as one of the other. (Specification, RFC 9421 signing.)
 *
 * In two steps: {@link identify} needs the head alone, so that a request of nobody is refused before its body is read; {@link verify}
 * takes the whole request. Between the two other requests may come, and the session may end: who waited for a body identifies again.
 */
import { Refused } from '../refused.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { identifyLegacy, verifyLegacy } from './legacy.ts'
import { identifyMessage, verifyMessage } from './rfc9421.ts'
import type { FoundSession, SessionCache } from './session_cache.ts'
import { setCaller, type Caller, type SignedHead, type SignedRequest } from './signed_request.ts'

/** The session that a head names, or which refusal it is. `now` in Unix ms. */
export function identify(cache: SessionCache, head: SignedHead, now: number, counters: Float64Array): FoundSession | Refused {
  const { messageSignature } = head
  const found = messageSignature === null ? identifyLegacy(cache, head, now) : identifyMessage(cache, messageSignature, now)
  if (found instanceof Refused) counters[GATEWAY.signature_rejected]!++
  return found
}

/** Checks that the session found for its head signed the request, and fills `caller`; or says which refusal it is. */
export function verify(request: SignedRequest, found: FoundSession, counters: Float64Array, caller: Caller): Refused | null {
  const { messageSignature } = request
  const { publicKey, view } = found
  const refused = messageSignature === null ? verifyLegacy(request, publicKey) : verifyMessage(request, messageSignature, publicKey)
  counters[refused === null ? GATEWAY.signature_ok : GATEWAY.signature_rejected]!++
  if (refused !== null) return refused
  setCaller(caller, view)
  return null
}

/** Both steps: checks the signature of a request and fills `caller`, or says which refusal it is. `now` in Unix ms. */
export function authenticate(
  cache: SessionCache, request: SignedRequest, now: number, counters: Float64Array, caller: Caller,
): Refused | null {
  const found = identify(cache, request, now, counters)
  return found instanceof Refused ? found : verify(request, found, counters, caller)
}
