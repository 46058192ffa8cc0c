/**
 * What is refused before any routing: requests whose framing two HTTP parsers could read differently, requests without a
 * User-Agent, and credentials that are doubled or mixed.
 *
 * uWebSockets.js takes the first of two Content-Length headers, an empty one for none and any bytes for a method; of a chunked body it
 * skips two bytes behind the last chunk, whatever they are, and reads trailers as the next request. A proxy in front does not. So a length
 * is one number in its one writing, a method a token (RFC 9110, 5.6.2), and Transfer-Encoding is refused altogether (411): everything that
 * clients send here has a length. Whatever breaks this is a smuggling suspect: it is refused and its connection closed, so that the bytes
 * after it are never read as a request. (Specification, What the service does and Authentication, rule 1.)
 */
import { DOUBLED as CAME_TWICE, SERVER_KEY_DOUBLED } from '../auth/mistakes.ts'
import { Refused } from '../refused.ts'
import { CREDENTIAL, type MessageSignature } from '../auth/signed_request.ts'

/** The headers that matter, of one request at a time: one object per server, filled by {@link takeHeader}. */
export interface Head {
  userAgent: string
  userAgents: number
  contentLength: string
  contentLengths: number
  transferEncodings: number
  hosts: number
  publicKey: string
  timestamp: string
  signature: string
  /** Bit per credential header that came once, 8 when one came twice. */
  credentials: number
  /** Any header that begins with X-Svc-. */
  legacy: boolean
  /** Signature or Signature-Input: the protocol of RFC 9421. */
  structured: boolean
  signatureInput: string
  messageSignature: string
  contentDigest: string
  /** Bit per header of that protocol that came once, 8 when one came twice. */
  messageHeaders: number
  /** x-server-key of an application's backend, and how often it came. */
  serverKey: string
  serverKeys: number
  origin: string
  ifNoneMatch: string
  /** X-Request-Id, '' without one; of several none counts. */
  requestId: string
  /** All of X-Forwarded-For, in its order and joined by commas. */
  forwardedFor: string
}

export const createHead = (): Head => ({
  userAgent: '', userAgents: 0, contentLength: '', contentLengths: 0, transferEncodings: 0, hosts: 0,
  publicKey: '', timestamp: '', signature: '', credentials: 0, legacy: false, structured: false,
  signatureInput: '', messageSignature: '', contentDigest: '', messageHeaders: 0, serverKey: '', serverKeys: 0, origin: '', ifNoneMatch: '',
  requestId: '', forwardedFor: '',
})

export function resetHead(head: Head): void {
  head.userAgent = head.contentLength = head.publicKey = head.timestamp = head.signature = head.origin = ''
  head.ifNoneMatch = head.forwardedFor = head.requestId = ''
  head.userAgents = head.contentLengths = head.transferEncodings = head.hosts = head.credentials = 0
  head.legacy = head.structured = false
  head.serverKey = ''
  head.serverKeys = 0
  if (head.messageHeaders === 0) return
  head.signatureInput = head.messageSignature = head.contentDigest = ''
  head.messageHeaders = 0
}

const DOUBLED = 8

const INPUT = 1
const MESSAGE_SIGNATURE = 2
const DIGEST = 4

/** Takes one header; `name` is in lower case. */
export function takeHeader(head: Head, name: string, value: string): void {
  switch (name) {
    case 'user-agent':
      head.userAgents++
      head.userAgent = value
      return
    case 'content-length':
      head.contentLengths++
      head.contentLength = value
      return
    case 'transfer-encoding':
      head.transferEncodings++
      return
    case 'host':
      head.hosts++
      return
    case 'origin':
      head.origin = value
      return
    case 'if-none-match':
      head.ifNoneMatch = value
      return
    case 'x-request-id':
      head.requestId += head.requestId === '' ? value : ','
      return
    case 'x-forwarded-for':
      head.forwardedFor = head.forwardedFor === '' ? value : `${head.forwardedFor},${value}`
      return
    case 'x-server-key':
      head.serverKeys++
      head.serverKey = value
      return
    case 'signature':
      head.structured = true
      head.messageSignature = value
      return countMessageHeader(head, MESSAGE_SIGNATURE)
    case 'signature-input':
      head.structured = true
      head.signatureInput = value
      return countMessageHeader(head, INPUT)
    case 'content-digest':
      head.contentDigest = value
      return countMessageHeader(head, DIGEST)
  }
  if (name.startsWith('x-svc-')) takeCredential(head, name, value)
}

function countMessageHeader(head: Head, bit: number): void {
  head.messageHeaders |= (head.messageHeaders & bit) !== 0 ? DOUBLED : bit
}

function takeCredential(head: Head, name: string, value: string): void {
  head.legacy = true
  let bit = 0
  if (name === 'x-svc-publickey') {
    bit = CREDENTIAL.PUBLIC_KEY
    head.publicKey = value
  } else if (name === 'x-svc-timestamp') {
    bit = CREDENTIAL.TIMESTAMP
    head.timestamp = value
  } else if (name === 'x-svc-signature') {
    bit = CREDENTIAL.SIGNATURE
    head.signature = value
  }
  head.credentials |= (head.credentials & bit) !== 0 ? DOUBLED : bit
}

/** A token (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** The one writing of a length. */
const LENGTH = /^(?:0|[1-9][0-9]{0,17})$/

/** True when two parsers could disagree about where this request ends. */
export function isSuspect(head: Head, method: string): boolean {
  if (head.transferEncodings > 0 || head.contentLengths > 1 || head.hosts > 1 || !TOKEN.test(method)) return true
  return head.contentLengths === 1 && !LENGTH.test(head.contentLength)
}

/** Bytes of the body, of a head that is no suspect. */
export const lengthOf = (head: Head): number => (head.contentLengths === 0 ? 0 : Number(head.contentLength))

/** Characters a request target may hold: visible ASCII. What is signed is exactly what was sent, so nothing else may pass. */
const TARGET = /^[\x21-\x7e]+$/

const USER_AGENT = new Refused('USER_AGENT_REQUIRED')
const LENGTH_REQUIRED = new Refused('LENGTH_REQUIRED')
const FRAMING = new Refused('MALFORMED_REQUEST', 'The method is no token, or Host or Content-Length is doubled or malformed')
const TARGET_FORM = new Refused('MALFORMED_REQUEST', 'The request target must be visible ASCII characters: percent-encode all others')
const MIXED = new Refused('MIXED_CREDENTIALS')

/** The refusal of this head, or `null`. The missing User-Agent comes before everything else. */
export function validateHead(head: Head, method: string, target: string): Refused | null {
  if (head.userAgents !== 1 || head.userAgent.trim() === '') return USER_AGENT
  if (isSuspect(head, method)) return head.transferEncodings > 0 ? LENGTH_REQUIRED : FRAMING
  if (!TARGET.test(target)) return TARGET_FORM
  if (head.structured && head.legacy) return MIXED
  if (head.serverKeys > 0 && (head.structured || head.legacy)) return MIXED
  if (head.serverKeys > 1) return SERVER_KEY_DOUBLED
  if ((head.credentials & DOUBLED) !== 0) return CAME_TWICE
  // Without the others a digest selects nothing, so two of them say nothing.
  if (head.structured && (head.messageHeaders & DOUBLED) !== 0) return CAME_TWICE
  return null
}

/** The headers of RFC 9421, or `null` for a request that has chosen another protocol or none. */
export function messageSignatureOf(head: Head): MessageSignature | null {
  if (!head.structured) return null
  return { input: head.signatureInput, signature: head.messageSignature, contentDigest: head.contentDigest }
}
