/**
 * Why a signature is refused, found by doing what the gateway does: the text that is rebuilt from a request, whether
 * the signature is one of it, and, when it is not, of which other text it is. Public keys and signatures only; nothing
 * is kept.
 *
 * A signature tells nothing of the text it was made of. But clients err in few ways, so the texts of those mistakes are
 * tried one by one ({@link TRIED_MAX} at most, 40 us each): a query left out, a body written anew, a time in seconds.
 * Whoever sends the text that was signed is told the first line that differs.
 */
import { hash } from 'node:crypto'
import type { Genesis } from '../../core/state/genesis.ts'
import { legacyMistake, legacyText } from './legacy.ts'
import { DIGEST_WRONG, SIGNATURE_WRONG } from './mistakes.ts'
import { contentDigest, messageText, readMessage, readMessageSignature } from './rfc9421.ts'
import { ALL_CREDENTIALS, CREDENTIAL, FRESHNESS_MS, type SignedRequest } from './signed_request.ts'
import { verifySignature } from './verifier.ts'
import { Refused } from '../refused.ts'

/** Where it is asked, on test nets only (http/signature_debug.ts). */
export const DEBUG_PATH = '/debug/signature'

/** Whether this is a test net: a faucet gives its assets away. */
export const isTestnet = ({ faucetDailyLimit, assets }: Genesis): boolean =>
  faucetDailyLimit > 0 && assets.some(({ faucetAtoms }) => faucetAtoms > 0n)

const HINT = `POST ${DEBUG_PATH} tells what the server rebuilds and what differs`

/** The same refusal; of a signature, on test nets, with the way to find out why. */
export function hinted(genesis: Genesis, refused: Refused): Refused {
  if (refused.code !== 'INVALID_SIGNATURE' || !isTestnet(genesis)) return refused
  return new Refused(refused.code, refused.message, { ...refused.details, hint: HINT })
}

/** The headers that are looked at, in lower case. No other is signed. */
export const SIGNED_HEADERS = [
  'x-svc-publickey', 'x-svc-timestamp', 'x-svc-signature', 'signature-input', 'signature', 'content-digest',
] as const
export type SignedHeaders = Partial<Readonly<Record<(typeof SIGNED_HEADERS)[number], string>>>

/** A request as its client believes it sent it. */
export interface Believed {
  readonly method: string
  readonly target: string
  readonly headers: SignedHeaders
  readonly body: Uint8Array
}

/** A part of what is signed, and how it is different. */
export interface Difference {
  readonly component: string
  readonly message: string
}

export interface Examined {
  readonly protocol: 'legacy' | 'rfc9421'
  /** What is wrong; `null`: the signature is of this request, whenever it was made. */
  readonly refused: Refused | null
  readonly signedText: string
  /** Of the lines of the text, in their order. */
  readonly components: readonly string[]
  /** Of a signature that is wrong: what it is of instead, when that is one of the usual mistakes. */
  readonly differs: Difference | null
  /** Unix ms; `null`: none that can be read. */
  readonly signedAt: number | null
}

/** Whether a signature of this time is taken now. */
export const isFresh = (signedAt: number, now: number): boolean => Math.abs(signedAt - now) <= FRESHNESS_MS

const LEGACY = ['method', 'target', 'timestamp', 'body']
const MESSAGE = ['@method', '@path', '@query', 'content-digest', '@signature-params']

/** What the gateway makes of a request. It is looked at as of the time of its signature. */
export function examine({ method, target, headers, body }: Believed): Examined {
  const structured = headers.signature !== undefined || headers['signature-input'] !== undefined
  return structured ? examineMessage(method, target, headers, body) : examineLegacy(method, target, headers, body)
}

function examineLegacy(method: string, target: string, headers: SignedHeaders, body: Uint8Array): Examined {
  const [publicKey, timestamp, signature] = [headers['x-svc-publickey'], headers['x-svc-timestamp'], headers['x-svc-signature']]
  const credentials = (publicKey === undefined ? 0 : CREDENTIAL.PUBLIC_KEY) | (timestamp === undefined ? 0 : CREDENTIAL.TIMESTAMP) |
    (signature === undefined ? 0 : CREDENTIAL.SIGNATURE)
  const request: SignedRequest = {
    method, target, body, credentials, publicKey: publicKey ?? '', timestamp: timestamp ?? '', signature: signature ?? '',
    messageSignature: null,
  }
  const given = Number(timestamp)
  const signedAt = credentials === ALL_CREDENTIALS && Number.isSafeInteger(given) ? given : null
  const signedText = legacyText(request)
  const made = { protocol: 'legacy', signedText, components: LEGACY, signedAt } as const
  const mistake = legacyMistake(request, given)
  if (mistake !== null) return { ...made, refused: mistake, differs: null }
  const [key, bytes] = [Buffer.from(request.publicKey, 'hex'), Buffer.from(request.signature, 'hex')]
  if (isOf(bytes, signedText, key)) return { ...made, refused: null, differs: null }
  return { ...made, refused: SIGNATURE_WRONG, differs: found(bytes, key, legacyTexts(request)) }
}

function examineMessage(method: string, target: string, headers: SignedHeaders, body: Uint8Array): Examined {
  const sent = {
    input: headers['signature-input'] ?? '', signature: headers.signature ?? '', contentDigest: headers['content-digest'] ?? '',
  }
  const request: SignedRequest = {
    method, target, body, credentials: 0, publicKey: '', timestamp: '', signature: '', messageSignature: sent,
  }
  // What is not given is shown as it should be.
  const shown = sent.contentDigest === '' ? { ...sent, contentDigest: contentDigest(body) } : sent
  const signedText = messageText(request, shown)
  const created = /;created=([0-9]{1,15})(?:;|$)/.exec(sent.input)?.[1]
  const signedAt = created === undefined ? null : Number(created) * 1000
  const made = { protocol: 'rfc9421', signedText, components: MESSAGE, signedAt } as const
  const read = readMessage(sent, signedAt ?? 0)
  if (read instanceof Refused) return { ...made, refused: read, differs: null }
  const [key, bytes] = [Buffer.from(read.key, 'hex'), readMessageSignature(sent.signature)!]
  const right = isOf(bytes, signedText, key)
  if (contentDigest(body) !== sent.contentDigest) {
    const message = right ? 'The signature is of this Content-Digest, but the body has another' : 'The body has another digest'
    return { ...made, refused: DIGEST_WRONG, differs: { component: 'content-digest', message } }
  }
  if (right) return { ...made, refused: null, differs: null }
  return { ...made, refused: SIGNATURE_WRONG, differs: found(bytes, key, messageTexts(request, signedText)) }
}

const isOf = (signature: Uint8Array, signed: string | Uint8Array, key: Uint8Array): boolean =>
  verifySignature(signature, typeof signed === 'string' ? Buffer.from(signed, 'latin1') : signed, key)

type Tried = readonly [component: string, message: string, signed: string | Uint8Array]

/** Texts that are tried, at most. */
export const TRIED_MAX = 24

function found(signature: Uint8Array, key: Uint8Array, texts: Iterable<Tried>): Difference | null {
  let left = TRIED_MAX
  for (const [component, message, signed] of texts) {
    if (left-- === 0) return null
    if (isOf(signature, signed, key)) return { component, message }
  }
  return null
}

/** Mistakes with the whole text, whatever stands in it. */
function* wholeTexts(text: string): Iterable<Tried> {
  yield ['all', 'Signed was the text with a newline at its end: there is none', `${text}\n`]
  yield ['all', 'The lines were joined by CR LF: a newline is LF alone', text.replaceAll('\n', '\r\n')]
  yield ['all', 'The lines were joined by nothing: they are joined by a newline', text.replaceAll('\n', '')]
  yield ['all', 'Signed was the SHA-256 of the text, as bytes: sign the text itself', hash('sha256', text, 'buffer')]
  yield ['all', 'Signed was the SHA-256 of the text, in hex: sign the text itself', hash('sha256', text)]
}

/** Ways to write a path with its query that are not what was sent. */
function* targets(target: string): Iterable<readonly [message: string, target: string]> {
  const path = target.split('?')[0]!
  if (path !== target) yield ['Signed was the path without its query', path]
  if (path.startsWith('/api/v1/')) yield ['Signed was the path without /api/v1', target.slice('/api/v1'.length)]
  yield ['Signed was the path with a slash at its end', target.replace(path, `${path}/`)]
  const decoded = decodedOf(target)
  if (decoded !== target) yield ['Signed was the path and query after percent-decoding: they are signed as sent', decoded]
}

function decodedOf(target: string): string {
  try {
    return decodeURIComponent(target)
  } catch {
    return target
  }
}

/** Other bytes that a body may have been when it was signed. */
function* bodies(body: Uint8Array): Iterable<readonly [message: string, body: Uint8Array]> {
  if (body.length === 0) {
    yield ['Signed was the body {}: nothing was sent', Buffer.from('{}')]
    return
  }
  yield ['Signed was an empty body', Buffer.alloc(0)]
  const text = Buffer.from(body).toString('utf8')
  yield ['Signed was the body without white space at its ends', Buffer.from(text.trim())]
  yield ['Signed was the body with a newline at its end', Buffer.from(`${text}\n`)]
  const [compact, wide] = rewritten(text)
  if (compact === undefined || wide === undefined) return
  yield ['Signed was the same JSON without spaces: sign the bytes that are sent', Buffer.from(compact)]
  yield ['Signed was the same JSON with spaces: sign the bytes that are sent', Buffer.from(wide)]
}

/** The same JSON without spaces and with them; nothing when it is none, or too deep. */
function rewritten(text: string): readonly string[] {
  try {
    const value = JSON.parse(text) as unknown
    return [JSON.stringify(value), spaced(value)]
  } catch {
    return []
  }
}

/** JSON with a space behind each comma and colon, as many libraries write it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${spaced(each)}`).join(', ')}}`
}

function* legacyTexts(request: SignedRequest): Iterable<Tried> {
  const { method, target, timestamp, body } = request
  const of = (changed: Partial<SignedRequest>): string => legacyText({ ...request, ...changed })
  for (const [message, other] of targets(target)) yield ['target', message, of({ target: other })]
  for (const [message, other] of bodies(body as Uint8Array)) yield ['body', message, of({ body: other })]
  yield ['method', 'Signed was the method in lower case', of({ method: method.toLowerCase() })]
  yield ['timestamp', 'Signed was the time in seconds', of({ timestamp: timestamp.slice(0, 10) })]
  const lines = [method, target, timestamp]
  yield ['body', 'The hash of the body was in upper case', [...lines, hash('sha256', body).toUpperCase()].join('\n')]
  yield ['body', 'The hash of the body was in base64: it is in hex', [...lines, hash('sha256', body, 'base64')].join('\n')]
  yield ['body', 'Signed was the body itself: its hash is', [...lines, Buffer.from(body as Uint8Array).toString('latin1')].join('\n')]
  yield* wholeTexts(legacyText(request))
}

function* messageTexts(request: SignedRequest, text: string): Iterable<Tried> {
  const { method, target } = request
  const sent = request.messageSignature!
  const of = (changed: Partial<SignedRequest>): string => messageText({ ...request, ...changed }, sent)
  for (const [message, other] of targets(target)) yield ['@path', message, of({ target: other })]
  yield ['@path', 'Signed was the path with its query', text.replace(/"@path": .*/, () => `"@path": ${target}`)]
  yield ['@query', 'Signed was an empty query: without one it is ?', text.replace('"@query": ?\n', '"@query": \n')]
  yield ['@query', 'Signed was the query without its question mark', text.replace('"@query": ?', '"@query": ')]
  yield ['@method', 'Signed was the method in lower case', of({ method: method.toLowerCase() })]
  yield ['@signature-params', 'The last line had the label svc= in it', text.replace('"@signature-params": ', '"@signature-params": svc=')]
  yield* wholeTexts(text)
}

/** The first line in which what was signed is not what was rebuilt, counted from 1. */
export function firstDifference(
  { signedText, components }: Examined, yours: string,
): { line: number; component: string; expected: string; yours: string } | null {
  if (signedText === yours) return null
  const [expected, given] = [signedText.split('\n'), yours.split('\n')]
  const at = expected.findIndex((line, index) => line !== given[index])
  const index = at < 0 ? expected.length : at
  return {
    line: index + 1, component: components[index] ?? 'all', expected: expected[index] ?? '', yours: given[index] ?? '',
  }
}
