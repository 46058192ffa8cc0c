/** Self-signed certificates of P-256 keys, made here: for `localhost` and 127.0.0.1, and good as their own authority. */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const DAY_MS = 86_400_000

/** One value of DER (X.690): tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const [INTEGER, BITS, OCTETS, UTF8, TIME, SEQUENCE, SET] = [0x02, 0x03, 0x04, 0x0c, 0x18, 0x30, 0x31] as const
const TRUE = Buffer.from([0x01, 0x01, 0xff])
const NO_UNUSED_BITS = Buffer.from([0])
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const COMMON_NAME = objectId('550403')
const ALTERNATIVE_NAME = objectId('551d11')
const BASIC_CONSTRAINTS = objectId('551d13')
const ECDSA_WITH_SHA256 = der(SEQUENCE, objectId('2a8648ce3d040302'))

const nameOf = (name: string): Buffer => der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, Buffer.from(name)))))
const timeOf = (ms: number): Buffer =>
  der(TIME, Buffer.from(`${new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`))
const pemOf = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n').trim()}\n-----END ${label}-----\n`

export interface Pair {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

/** A pair that is good from a day before now until `days` from now; a negative number: it ended. */
export function makeCertificate(days = 30, name = 'localhost'): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' }) as { publicKey: KeyObject; privateKey: KeyObject }
  const until = Date.now() + days * DAY_MS
  const names = der(SEQUENCE, der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])))
  const extensions = der(SEQUENCE,
    der(SEQUENCE, ALTERNATIVE_NAME, der(OCTETS, names)),
    der(SEQUENCE, BASIC_CONSTRAINTS, TRUE, der(OCTETS, der(SEQUENCE, TRUE))))
  const body = der(SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256, nameOf(name),
    der(SEQUENCE, timeOf(Math.min(until, Date.now()) - DAY_MS), timeOf(until)),
    nameOf(name), publicKey.export({ format: 'der', type: 'spki' }), der(0xa3, extensions))
  const signature = sign('sha256', body, privateKey)
  return {
    cert: pemOf('CERTIFICATE', der(SEQUENCE, body, ECDSA_WITH_SHA256, der(BITS, NO_UNUSED_BITS, signature))),
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
  }
}

export interface Files {
  readonly cert: string
  readonly key: string
  /** Puts another pair, or a part of one, in their place. */
  write(pair: Partial<Pair>): void
}

/** Files of a pair in this directory; the key is its owner's alone. */
export function certificateFiles(directory: string, pair: Pair = makeCertificate()): Files {
  mkdirSync(directory, { recursive: true })
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  const write = (next: Partial<Pair>): void => {
    if (next.cert !== undefined) writeFileSync(cert, next.cert)
    if (next.key !== undefined) writeFileSync(key, next.key, { mode: 0o600 })
    if (next.key !== undefined) chmodSync(key, 0o600)
  }
  write(pair)
  return { cert, key, write }
}
