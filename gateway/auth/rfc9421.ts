/**
 * HTTP Message Signatures (RFC 9421) with a digest of the body (RFC 9530), in the one profile of the specification:
 *
 *   Signature-Input: svc=("@method" "@path" "@query" "content-digest");created=1700000000;keyid="<64 hex>";alg="ed25519"
 *   Signature: svc=:<base64 of 64 bytes>:
 *   Content-Digest: sha-256=:<base64 of 32 bytes>:
 *
 * Structured fields can write one value in many ways, and verifiers that read them differently have been played against each other.
 * So only the canonical writing of the profile is accepted: one label, the four components in this order, the three parameters in any
 * order and each once, no space or parameter more. What is signed is then Signature-Input as sent. A repeated header was refused by
 * header_validation.ts. Reading is linear, and bounded by the size of a request head.
 *
 * Refusals: a header that is absent or no writing of the profile, and an unknown key: UNAUTHENTICATED. A `created` outside the
 * window: CLOCK_SKEW. A byte sequence that is no signature, a digest of other bytes, a signature of another text: INVALID_SIGNATURE.
 */
import { hash } from 'node:crypto'
import { Refused } from '../refused.ts'
import {
  DIGEST_FORM, DIGEST_WRONG, MESSAGE_SIGNATURE_BYTES, MESSAGE_SIGNATURE_FORM, SESSION_OVER, SIGNATURE_MISSING, SIGNATURE_WRONG,
  signatureInputMistake, skewed,
} from './mistakes.ts'
import { findSession, refusalOf, type FoundSession, type SessionCache } from './session_cache.ts'
import { FRESHNESS_MS, verifyText, type MessageSignature, type SignedRequest } from './signed_request.ts'
import { SIGNATURE_BYTES } from './verifier.ts'

const LABEL = 'svc='
const COMPONENTS = '("@method" "@path" "@query" "content-digest")'
const INPUT_START = LABEL + COMPONENTS
/** Longest Signature-Input that is looked at; the longest right one has 150 characters. */
const INPUT_MAX = 256
/** Integers of structured fields have at most 15 digits. */
const CREATED = /^created=(?:0|[1-9][0-9]{0,14})$/
const KEY = /^keyid="[0-9a-f]{64}"$/
const ALGORITHM = 'alg="ed25519"'

export interface SignatureParameters {
  /** Unix seconds. */
  readonly created: number
  /** Session public key, 64 lowercase hex digits. */
  readonly key: string
}

/** The parameters of a Signature-Input of the profile; `null` for any other text. */
export function readSignatureInput(text: string): SignatureParameters | null {
  if (text.length > INPUT_MAX || !text.startsWith(INPUT_START)) return null
  const [rest, ...parameters] = text.slice(INPUT_START.length).split(';')
  if (rest !== '' || parameters.length !== 3) return null
  let created = -1
  let key = ''
  let algorithm = false
  for (const parameter of parameters) {
    if (CREATED.test(parameter)) created = Number(parameter.slice('created='.length))
    else if (KEY.test(parameter)) key = parameter.slice('keyid="'.length, -1)
    else if (parameter === ALGORITHM) algorithm = true
    else return null
  }
  // Three parameters were given: one that is missing here means that another came twice.
  return created < 0 || key === '' || !algorithm ? null : { created, key }
}

/**
 * The text that is signed (RFC 9421, section 2.5): a line for each covered component, and the signature's parameters, which are
 * `parameters` as they stand behind the label.
 */
export function signatureBase(components: readonly (readonly [name: string, value: string])[], parameters: string): string {
  let base = ''
  for (const [name, value] of components) base += `"${name}": ${value}\n`
  return `${base}"@signature-params": ${parameters}`
}

const EMPTY_DIGEST = `sha-256=:${hash('sha256', '', 'base64')}:`

/** Content-Digest of these bytes (RFC 9530), with SHA-256. */
export function contentDigest(body: SignedRequest['body']): string {
  return body.length === 0 ? EMPTY_DIGEST : `sha-256=:${hash('sha256', body, 'base64')}:`
}

const SIGNATURE = /^svc=:[A-Za-z0-9+/=]*:$/
const DIGEST = /^sha-256=:[A-Za-z0-9+/=]{44}:$/
const signatureBytes = Buffer.alloc(SIGNATURE_BYTES)
const SIGNATURE_START = 'svc=:'
/** Of 64 bytes in base64. */
const SIGNATURE_CHARACTERS = 88

/** Decodes a Signature of the profile into the scratch; false when it is not the one canonical writing of 64 bytes. */
function readSignature(text: string): boolean {
  const encoded = text.slice(SIGNATURE_START.length, -1)
  if (encoded.length !== SIGNATURE_CHARACTERS) return false
  return signatureBytes.write(encoded, 'base64') === SIGNATURE_BYTES && signatureBytes.toString('base64') === encoded
}

/** What the headers of a message signature say, or what is wrong with their form or time. `now` in Unix ms. */
export function readMessage(sent: MessageSignature, now: number): SignatureParameters | Refused {
  const parameters = readSignatureInput(sent.input)
  if (parameters === null) return signatureInputMistake(sent.input, COMPONENTS, INPUT_MAX)
  if (sent.signature === '') return SIGNATURE_MISSING
  if (!SIGNATURE.test(sent.signature)) return MESSAGE_SIGNATURE_FORM
  if (!DIGEST.test(sent.contentDigest)) return DIGEST_FORM
  if (Math.abs(parameters.created * 1000 - now) > FRESHNESS_MS) return skewed(now)
  return readSignature(sent.signature) ? parameters : MESSAGE_SIGNATURE_BYTES
}

/** The session that the headers of a message signature name, or which refusal they are. `now` in Unix ms. */
export function identifyMessage(cache: SessionCache, sent: MessageSignature, now: number): FoundSession | Refused {
  const parameters = readMessage(sent, now)
  if (parameters instanceof Refused) return parameters
  const found = findSession(cache, parameters.key)
  if (typeof found === 'string') return refusalOf(found)
  return found.view.expiresAt <= cache.time(now) ? SESSION_OVER : found
}

/** `null`: the session that {@link identifyMessage} found signed this request; else what is wrong. */
export function verifyMessage(request: SignedRequest, sent: MessageSignature, publicKey: Uint8Array): Refused | null {
  if (contentDigest(request.body) !== sent.contentDigest) return DIGEST_WRONG
  // Read again: other heads may have come while the body did.
  const signed = readSignature(sent.signature) && verifyText(signatureBytes, messageText(request, sent), publicKey)
  return signed ? null : SIGNATURE_WRONG
}

/** The 64 bytes of a Signature of the profile; `null` for any other text. */
export const readMessageSignature = (text: string): Buffer | null => (readSignature(text) ? Buffer.from(signatureBytes) : null)

/**
 * The text that is signed. Path and query are taken apart as sent. A request without a query has the query "?", as one with a
 * bare question mark has.
 */
export function messageText({ method, target }: SignedRequest, sent: MessageSignature): string {
  const mark = target.indexOf('?')
  return signatureBase(
    [
      ['@method', method],
      ['@path', mark < 0 ? target : target.slice(0, mark)],
      ['@query', mark < 0 ? '?' : target.slice(mark)],
      ['content-digest', sent.contentDigest],
    ],
    sent.input.slice(LABEL.length),
  )
}
