/**
 * Request signatures of the legacy protocol (specification, Authentication): X-Svc-PublicKey, X-Svc-Timestamp, X-Svc-Signature; and of
 * gRPC calls, whose method is POST, whose target is the method's path and whose body is the serialised message.
 *
 * Signed text: method, target exactly as sent, timestamp as sent, lowercase hex SHA-256 of the raw body, joined by newlines.
 * Everything that is wrong answers 401. The session is looked up before the signature is verified, because a verification costs
 * forty microseconds and an unknown key should not. Freshness is a window, not a replay cache (rule 3).
 */
import { hash } from 'node:crypto'
import type { RefusalCode } from '../../core/engine/refusals.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { ALL_CREDENTIALS } from '../http/edge.ts'
import { findSession, type SessionCache } from './session_cache.ts'
import { SIGNATURE_BYTES, verifySignature } from './verifier.ts'

/** How far a timestamp may be from this machine's clock, either way, ms. */
export const FRESHNESS_MS = 30_000

/** What is signed and the credentials that came with it, of whatever transport. */
export interface SignedRequest {
  readonly method: string
  /** Exactly as sent. */
  readonly target: string
  readonly body: Uint8Array
  /** As sent, '' when absent; `credentials` has edge.ts's bits. */
  readonly publicKey: string
  readonly timestamp: string
  readonly signature: string
  readonly credentials: number
}

/** Who signed. */
export interface Caller {
  account: number
  application: number
  session: number
  generation: number
}

const KEY = /^[0-9a-f]{64}$/
const SIGNATURE = /^[0-9a-f]{128}$/
const TIMESTAMP = /^[0-9]{13}$/
const EMPTY_HASH = hash('sha256', '')

/** Scratch of this thread. The longest target is bounded by the size of a request head. */
const message = Buffer.alloc(64 * 1024)
const signatureBytes = Buffer.alloc(SIGNATURE_BYTES)

/** Checks the signature of a request and fills `caller`, or says which refusal it is. `now` in Unix ms. */
export function authenticate(
  cache: SessionCache, request: SignedRequest, now: number, counters: Float64Array, caller: Caller,
): RefusalCode | null {
  const code = check(cache, request, now, caller)
  if (code === null) counters[GATEWAY.signature_ok]!++
  else counters[GATEWAY.signature_rejected]!++
  return code
}

function check(cache: SessionCache, request: SignedRequest, now: number, caller: Caller): RefusalCode | null {
  const { publicKey, timestamp, signature } = request
  if (request.credentials !== ALL_CREDENTIALS || !KEY.test(publicKey)) return 'UNAUTHENTICATED'
  if (!TIMESTAMP.test(timestamp) || Math.abs(Number(timestamp) - now) > FRESHNESS_MS) return 'CLOCK_SKEW'
  if (!SIGNATURE.test(signature)) return 'INVALID_SIGNATURE'
  const found = findSession(cache, publicKey)
  if (found === null) return 'UNAUTHENTICATED'
  if (found.view.expiresAt <= now) return 'SESSION_INVALID'
  signatureBytes.write(signature, 'hex')
  if (!verifySignature(signatureBytes, signedText(request), found.publicKey)) return 'INVALID_SIGNATURE'
  caller.account = found.view.account
  caller.application = found.view.application
  caller.session = found.view.session
  caller.generation = found.view.generation
  return null
}

/** The signed bytes, in the scratch buffer. Target and credentials are visible ASCII, so latin1 writes them as sent. */
function signedText({ method, target, timestamp, body }: SignedRequest): Uint8Array {
  const digest = body.length === 0 ? EMPTY_HASH : hash('sha256', body)
  return message.subarray(0, message.write(`${method}\n${target}\n${timestamp}\n${digest}`, 'latin1'))
}
