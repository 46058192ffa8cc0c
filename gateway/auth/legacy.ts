/**
 * Request signatures of the legacy protocol (specification, Authentication): X-Svc-PublicKey, X-Svc-Timestamp, X-Svc-Signature.
 *
 * Signed text: method, target exactly as sent, timestamp as sent, lowercase hex SHA-256 of the raw body, joined by newlines.
 * Everything that is wrong answers 401. The session is looked up before the signature is verified, because a verification costs
 * forty microseconds and an unknown key should not. Freshness is a window, not a replay cache (rule 3).
 */
import { hash } from 'node:crypto'
import type { RefusalCode } from '../../core/engine/refusals.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import type { Exchange } from '../http/server.ts'
import { ALL_CREDENTIALS } from '../http/edge.ts'
import { findSession, type SessionCache } from './session_cache.ts'
import { SIGNATURE_BYTES, verifySignature } from './verifier.ts'

/** How far a timestamp may be from this machine's clock, either way, ms. */
export const FRESHNESS_MS = 30_000

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
  cache: SessionCache, exchange: Exchange, now: number, counters: Float64Array, caller: Caller,
): RefusalCode | null {
  const code = check(cache, exchange, now, caller)
  if (code === null) counters[GATEWAY.signature_ok]!++
  else counters[GATEWAY.signature_rejected]!++
  return code
}

function check(cache: SessionCache, exchange: Exchange, now: number, caller: Caller): RefusalCode | null {
  const { publicKey, timestamp, signature } = exchange
  if (exchange.credentials !== ALL_CREDENTIALS || !KEY.test(publicKey)) return 'UNAUTHENTICATED'
  if (!TIMESTAMP.test(timestamp) || Math.abs(Number(timestamp) - now) > FRESHNESS_MS) return 'CLOCK_SKEW'
  if (!SIGNATURE.test(signature)) return 'INVALID_SIGNATURE'
  const found = findSession(cache, publicKey)
  if (found === null) return 'UNAUTHENTICATED'
  if (found.view.expiresAt <= now) return 'SESSION_INVALID'
  signatureBytes.write(signature, 'hex')
  if (!verifySignature(signatureBytes, signedText(exchange), found.publicKey)) return 'INVALID_SIGNATURE'
  caller.account = found.view.account
  caller.application = found.view.application
  caller.session = found.view.session
  caller.generation = found.view.generation
  return null
}

/** The signed bytes, in the scratch buffer. Target and headers are visible ASCII (edge.ts), so latin1 writes them as sent. */
function signedText(exchange: Exchange): Uint8Array {
  const { method, target, timestamp, body } = exchange
  const digest = body.length === 0 ? EMPTY_HASH : hash('sha256', body)
  return message.subarray(0, message.write(`${method}\n${target}\n${timestamp}\n${digest}`, 'latin1'))
}
