/**
 * Credentials in the metadata of a call: x-svc-publickey, x-svc-timestamp, x-svc-signature, or x-server-key, each once and as text.
 *
 * Node joins entries that came twice with a comma, and keys that end in -bin hold bytes; both are refused, on public methods too, as
 * doubled or mixed headers are over HTTP.
 */
import type { Metadata } from '@grpc/grpc-js'
import type { RefusalCode } from '../../core/layout/refusals.ts'
import { createHead, validateHead, resetHead, takeHeader } from '../http/header_validation.ts'

/** What legacy.ts checks, without what was signed. */
export interface Credentials {
  readonly publicKey: string
  readonly timestamp: string
  readonly signature: string
  readonly credentials: number
  /** '' when absent. */
  readonly serverKey: string
}

const PREFIX = 'x-svc-'
const SERVER_KEY = 'x-server-key'
const STRUCTURED = ['signature', 'signature-input']
/** A target and a client that the edge has nothing against: only the credentials are judged here. */
const METHOD = 'POST'
const ANY_TARGET = '/'
const ANY_CLIENT = 'grpc'

const head = createHead()

export function readCredentials(metadata: Metadata): Credentials | RefusalCode {
  resetHead(head)
  head.userAgent = ANY_CLIENT
  head.userAgents = 1
  for (const [name, values] of Object.entries(metadata.toJSON())) {
    if (STRUCTURED.includes(name)) takeHeader(head, name, '')
    if (!name.startsWith(PREFIX) && !name.startsWith(SERVER_KEY)) continue
    if (name.endsWith('-bin')) return 'UNAUTHENTICATED'
    for (const value of values) for (const each of String(value).split(',')) takeHeader(head, name, each)
  }
  const code = validateHead(head, METHOD, ANY_TARGET)
  if (code !== null) return code
  const { publicKey, timestamp, signature, credentials, serverKey } = head
  return { publicKey, timestamp, signature, credentials, serverKey }
}
