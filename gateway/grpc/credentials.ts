/**
 * Credentials in the metadata of a call: x-svc-publickey, x-svc-timestamp, x-svc-signature, or x-server-key, each once and as text.
 *
 * Node joins entries that came twice with a comma, and keys that end in -bin hold bytes; both are refused, on public methods too, as
 * doubled or mixed headers are over HTTP.
 */
import type { Metadata } from '@grpc/grpc-js'
import { METADATA_BYTES } from '../auth/mistakes.ts'
import { Refused } from '../refused.ts'
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

export function readCredentials(metadata: Metadata): Credentials | Refused {
  resetHead(head)
  head.userAgent = ANY_CLIENT
  head.userAgents = 1
  for (const [name, values] of Object.entries(metadata.toJSON())) {
    if (STRUCTURED.includes(name)) takeHeader(head, name, '')
    if (!name.startsWith(PREFIX) && !name.startsWith(SERVER_KEY)) continue
    if (name.endsWith('-bin')) return METADATA_BYTES
    for (const value of values) for (const each of String(value).split(',')) takeHeader(head, name, each)
  }
  const refused = validateHead(head, METHOD, ANY_TARGET)
  if (refused !== null) return refused
  const { publicKey, timestamp, signature, credentials, serverKey } = head
  return { publicKey, timestamp, signature, credentials, serverKey }
}
