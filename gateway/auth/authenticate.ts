/**
 * Whose request it is. The headers that came choose the protocol, before anything is checked: a request of one protocol that fails
 * is refused and never tried as one of the other. (Specification, RFC 9421 signing.)
 */
import type { RefusalCode } from '../../core/engine/refusals.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { checkLegacy } from './legacy.ts'
import { checkMessageSignature } from './rfc9421.ts'
import type { SessionCache } from './session_cache.ts'
import type { Caller, SignedRequest } from './signed_request.ts'

/** Checks the signature of a request and fills `caller`, or says which refusal it is. `now` in Unix ms. */
export function authenticate(
  cache: SessionCache, request: SignedRequest, now: number, counters: Float64Array, caller: Caller,
): RefusalCode | null {
  const { messageSignature } = request
  const code = messageSignature === null
    ? checkLegacy(cache, request, now, caller)
    : checkMessageSignature(cache, request, messageSignature, now, caller)
  if (code === null) counters[GATEWAY.signature_ok]!++
  else counters[GATEWAY.signature_rejected]!++
  return code
}
