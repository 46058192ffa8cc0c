/**
 * Request signatures of the legacy protocol (specification, Authentication): X-Svc-PublicKey, X-Svc-Timestamp, X-Svc-Signature; and of
 * gRPC calls, whose method is POST, whose target is the method's path and whose body is the serialised message.
 *
 * Signed text: method, target exactly as sent, timestamp as sent, lowercase hex SHA-256 of the raw body, joined by newlines.
 * Everything that is wrong answers 401. The session is looked up before the signature is verified, because a verification costs
 * forty microseconds and an unknown key should not. Freshness is a window, not a replay cache (rule 3).
 */
import { hash } from 'node:crypto'
import type { Refused } from '../refused.ts'
import {
  KEY_FORM, missingCredentials, SESSION_OVER, SIGNATURE_FORM, SIGNATURE_WRONG, skewed, TIMESTAMP_DIGITS, TIMESTAMP_FORM,
} from './mistakes.ts'
import { ALL_CREDENTIALS } from './signed_request.ts'
import { findSession, refusalOf, type FoundSession, type SessionCache } from './session_cache.ts'
import { FRESHNESS_MS, verifyText, type SignedHead, type SignedRequest } from './signed_request.ts'
import { SIGNATURE_BYTES } from './verifier.ts'

/** The window of both protocols; gRPC, which has only this one, takes it from here. */
export { FRESHNESS_MS } from './signed_request.ts'

const KEY = /^[0-9a-f]{64}$/
const SIGNATURE = /^[0-9a-f]{128}$/
const TIMESTAMP = /^[0-9]{13}$/
const DIGITS = /^[0-9]+$/
const EMPTY_HASH = hash('sha256', '')

const signatureBytes = Buffer.alloc(SIGNATURE_BYTES)

/** What is wrong with the form or the time of legacy credentials; `null`: nothing. `now` in Unix ms. */
export function legacyMistake(head: SignedHead, now: number): Refused | null {
  const { publicKey, timestamp } = head
  if (head.credentials !== ALL_CREDENTIALS) return missingCredentials(head.credentials)
  if (!KEY.test(publicKey)) return KEY_FORM
  if (!TIMESTAMP.test(timestamp)) return DIGITS.test(timestamp) ? TIMESTAMP_DIGITS : TIMESTAMP_FORM
  if (Math.abs(Number(timestamp) - now) > FRESHNESS_MS) return skewed(now)
  return SIGNATURE.test(head.signature) ? null : SIGNATURE_FORM
}

/** The session that these legacy credentials name, or which refusal they are. `now` in Unix ms. */
export function identifyLegacy(cache: SessionCache, head: SignedHead, now: number): FoundSession | Refused {
  const mistake = legacyMistake(head, now)
  if (mistake !== null) return mistake
  const found = findSession(cache, head.publicKey)
  if (typeof found === 'string') return refusalOf(found)
  return found.view.expiresAt <= cache.time(now) ? SESSION_OVER : found
}

/** `null`: the session that {@link identifyLegacy} found signed this request; else what is wrong. */
export function verifyLegacy(request: SignedRequest, publicKey: Uint8Array): Refused | null {
  signatureBytes.write(request.signature, 'hex')
  return verifyText(signatureBytes, legacyText(request), publicKey) ? null : SIGNATURE_WRONG
}

/** The text that is signed. */
export function legacyText({ method, target, timestamp, body }: SignedRequest): string {
  const digest = body.length === 0 ? EMPTY_HASH : hash('sha256', body)
  return `${method}\n${target}\n${timestamp}\n${digest}`
}
