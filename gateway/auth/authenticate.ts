/**
 * Whose request it is. The headers that came choose the protocol, before anything is checked: a request of one protocol that fails
 * is refused and never tried as one of the other. (Specification, RFC 9421 signing.)
 *
 * In two steps: {@link identify} needs the head alone, so that a request of nobody is refused before its body is read; {@link verify}
 * takes the whole request. Between the two other requests may come, and the session may end: who waited for a body identifies again.
 */
import type { RefusalCode } from '../../core/layout/refusals.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { identifyLegacy, verifyLegacy } from './legacy.ts'
import { identifyMessage, verifyMessage } from './rfc9421.ts'
import type { FoundSession, SessionCache } from './session_cache.ts'
import { setCaller, type Caller, type SignedHead, type SignedRequest } from './signed_request.ts'

/** The session that a head names, or which refusal it is. `now` in Unix ms. */
export function identify(cache: SessionCache, head: SignedHead, now: number, counters: Float64Array): FoundSession | RefusalCode {
  const { messageSignature } = head
  const found = messageSignature === null ? identifyLegacy(cache, head, now) : identifyMessage(cache, messageSignature, now)
  if (typeof found === 'string') counters[GATEWAY.signature_rejected]!++
  return found
}

/** Checks that the session found for its head signed the request, and fills `caller`; or says which refusal it is. */
export function verify(request: SignedRequest, found: FoundSession, counters: Float64Array, caller: Caller): RefusalCode | null {
  const { messageSignature } = request
  const { publicKey, view } = found
  const signed = messageSignature === null ? verifyLegacy(request, publicKey) : verifyMessage(request, messageSignature, publicKey)
  counters[signed ? GATEWAY.signature_ok : GATEWAY.signature_rejected]!++
  if (!signed) return 'INVALID_SIGNATURE'
  setCaller(caller, view)
  return null
}

/** Both steps: checks the signature of a request and fills `caller`, or says which refusal it is. `now` in Unix ms. */
export function authenticate(
  cache: SessionCache, request: SignedRequest, now: number, counters: Float64Array, caller: Caller,
): RefusalCode | null {
  const found = identify(cache, request, now, counters)
  return typeof found === 'string' ? found : verify(request, found, counters, caller)
}
