/**
 * A client of RFC 9421 that can be told to do anything wrong, and signs what it does: a verifier that accepted the writing would
 * accept the signature. Shares nothing with the gateway.
 */
import { createHash, sign, type KeyObject } from 'node:crypto'
import type { Headers, Session } from './gateway_harness.ts'

/** What goes into the headers and into the signed text. */
export interface Parts {
  /** Label of both headers. */
  label: string
  /** Names of the covered components. */
  components: readonly string[]
  /** Text of the inner list; absent: the components as they should be written. */
  list?: string
  /** Text behind the list. */
  parameters: string
  /** The text of list and parameters that is signed; absent: as sent. */
  signedParameters?: string
  /** Content-Digest as sent. */
  digest: string
  /** Values of components in the signed text. */
  values: Record<string, string>
  key: KeyObject
}

export const digestOf = (body: string | Buffer, algorithm = 'sha256'): string =>
  `sha-${algorithm.slice(3)}=:${createHash(algorithm).update(body).digest('base64')}:`

export const unixSeconds = (): number => Math.floor(Date.now() / 1000)

/** Parameters in the usual order. */
export const parametersOf = (key: string, created: number | string = unixSeconds()): string =>
  `;created=${created};keyid="${key}";alg="ed25519"`

/** The right parts of a request. */
export function partsOf(session: Session, method: string, target: string, body: string | Buffer = ''): Parts {
  const [path, ...query] = target.split('?')
  const digest = digestOf(body)
  return {
    label: 'svc',
    components: ['@method', '@path', '@query', 'content-digest'],
    parameters: parametersOf(session.publicKey),
    digest,
    values: { '@method': method, '@path': path!, '@query': `?${query.join('?')}`, 'content-digest': digest },
    key: session.privateKey,
  }
}

const listOf = (components: readonly string[]): string => `(${components.map((name) => `"${name}"`).join(' ')})`

/** The text that these parts sign. */
export function baseOf(parts: Parts): string {
  const { components, values, parameters, list = listOf(components), signedParameters = list + parameters } = parts
  return [...components.map((name) => `"${name}": ${values[name] ?? ''}`), `"@signature-params": ${signedParameters}`].join('\n')
}

export const signatureOf = (parts: Parts): Buffer => sign(null, Buffer.from(baseOf(parts)), parts.key)

/** The three headers of these parts. */
export function headersOf(parts: Parts): Headers {
  const { label, components, parameters, list = listOf(components) } = parts
  return {
    'Signature-Input': `${label}=${list}${parameters}`,
    Signature: `${label}=:${signatureOf(parts).toString('base64')}:`,
    'Content-Digest': parts.digest,
  }
}

/** The headers of a right request. */
export const messageSigned = (session: Session, method: string, target: string, body: string | Buffer = ''): Headers =>
  headersOf(partsOf(session, method, target, body))
