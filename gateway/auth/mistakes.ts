/**
 * What is wrong with credentials, in words. What was wrong with the form is no secret, and whoever builds a client
 * needs to know it; who a key belongs to is never told. The codes are those of the specification (Authentication, RFC
 * 9421 signing).
 */
import { Refused } from '../refused.ts'
import { CREDENTIAL } from './signed_request.ts'

const unauthenticated = (message: string): Refused => new Refused('UNAUTHENTICATED', message)

const NAMES = [
  [CREDENTIAL.PUBLIC_KEY, 'X-Svc-PublicKey'], [CREDENTIAL.TIMESTAMP, 'X-Svc-Timestamp'], [CREDENTIAL.SIGNATURE, 'X-Svc-Signature'],
] as const

/** By the bits of the credentials that came. */
const MISSING: readonly Refused[] = Array.from({ length: 8 }, (_, bits) => {
  const missing = NAMES.filter(([bit]) => (bits & bit) === 0).map(([, name]) => name)
  return bits === 0
    ? new Refused('UNAUTHENTICATED')
    : unauthenticated(`${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing beside the other credentials`)
})

/** Some of the legacy credentials are missing, or came twice. */
export const missingCredentials = (bits: number): Refused => MISSING[bits] ?? DOUBLED

export const DOUBLED = unauthenticated('A header of the credentials came more than once')
export const METADATA_BYTES = unauthenticated('Metadata of the credentials is text: its names do not end in -bin')
export const SERVER_KEY_DOUBLED = unauthenticated('x-server-key came more than once')
export const KEY_FORM = unauthenticated('X-Svc-PublicKey must be 64 lowercase hex digits')
export const SIGNATURE_FORM = new Refused('INVALID_SIGNATURE', 'X-Svc-Signature must be 128 lowercase hex digits')
export const TIMESTAMP_FORM = new Refused('CLOCK_SKEW', 'X-Svc-Timestamp must be Unix milliseconds: 13 digits')
/** Digits, but not 13: a time that is stale or far in the future all the same, for which the specification has the text. */
export const TIMESTAMP_DIGITS = new Refused(
  'CLOCK_SKEW', undefined, { field: 'X-Svc-Timestamp', expected: 'Unix milliseconds: 13 digits' },
)
export const UNKNOWN_KEY = unauthenticated('This public key has no session: sign in with it first')
export const SESSION_OVER = new Refused('SESSION_INVALID')
export const NOT_READABLE = new Refused('ENGINE_UNAVAILABLE')
export const SIGNATURE_WRONG = new Refused(
  'INVALID_SIGNATURE', 'Signature rejected: it is not of this method, target, time and body by this key',
)
export const SERVER_KEY_WRONG = unauthenticated('x-server-key is missing, or no server key of an application')

/** The time that was signed is not within the window; `now`, Unix ms, says by which clock. */
export const skewed = (now: number): Refused => new Refused('CLOCK_SKEW', undefined, { serverTime: now })

// The profile of RFC 9421.

export const SIGNATURE_MISSING = unauthenticated('Signature is missing beside Signature-Input')
export const MESSAGE_SIGNATURE_FORM = unauthenticated('Signature must be svc=:<base64>: under the label svc and nothing else')
export const MESSAGE_SIGNATURE_BYTES = new Refused('INVALID_SIGNATURE', 'Signature must be 64 bytes in canonical base64')
export const DIGEST_FORM = unauthenticated('Content-Digest must be sha-256=:<base64 of 32 bytes>:, also of an empty body')
export const DIGEST_WRONG = new Refused('INVALID_SIGNATURE', 'Content-Digest is not the SHA-256 of the bytes of the body')

/** What is wrong with a Signature-Input that is none of the profile. */
export function signatureInputMistake(text: string, components: string, longest: number): Refused {
  if (text === '') return unauthenticated('Signature-Input is missing beside Signature')
  if (text.length > longest) return unauthenticated(`Signature-Input is longer than ${longest} characters`)
  if (!text.startsWith('svc=')) return unauthenticated('Signature-Input must have the label svc')
  if (!text.startsWith(`svc=${components}`)) return unauthenticated(`Signature-Input must cover ${components}, in this order`)
  return unauthenticated('Signature-Input must have created=<Unix seconds>, keyid="<64 lowercase hex digits>" and alg="ed25519", each once')
}
