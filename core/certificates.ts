/**
 * Certificates of the ports that clients meet: read and checked before a port uses them, at the start and again on SIGHUP.
 *
 * A pair is good when its chain is PEM, its key is PEM without a passphrase, both belong together, and nobody but owner and group may
 * read the key. One that has expired is good at a start, which says so, since an exchange that does not start helps nobody. It is never
 * put in the place of another.
 */
import { createHash, createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { ConfigError, type Config } from './config.ts'

/** For TLS 1.2: forward secrecy and authenticated encryption. Those of TLS 1.3 have both; nothing older is spoken. */
export const TLS12_CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

/** Mode bits of everybody who is neither owner nor of the group. */
const OTHERS = 0o007
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Flags of a pair, and its files; both paths are '' for a port without TLS. */
export interface CertificateFiles {
  readonly flags: readonly [cert: string, key: string]
  readonly cert: string
  readonly key: string
}

export interface Certificate {
  /** As they stand in the files. */
  readonly cert: Buffer
  readonly key: Buffer
  /** Unix ms. */
  readonly expiresAt: number
  /** Of both files as they were read. */
  readonly digest: string
}

export const httpCertificate = ({ tlsCert: cert, tlsKey: key }: Config): CertificateFiles =>
  ({ flags: ['--tls-cert', '--tls-key'], cert, key })
export const grpcCertificate = ({ grpcCert: cert, grpcKey: key }: Config): CertificateFiles =>
  ({ flags: ['--grpc-cert', '--grpc-key'], cert, key })

/** The pair in these files, or `null` where none is configured. Throws {@link ConfigError} that says what is wrong with it. */
export function readCertificate({ flags: [certFlag, keyFlag], cert: certPath, key: keyPath }: CertificateFiles): Certificate | null {
  if (certPath === '') return null
  const cert = readBytes(certFlag, certPath)
  const key = readBytes(keyFlag, keyPath)
  if ((statSync(keyPath).mode & OTHERS) !== 0) {
    throw new ConfigError(`${keyFlag}: everybody on this machine may use ${keyPath}: take that away (chmod o= ${keyPath})`)
  }
  const chain = chainOf(certFlag, certPath, cert)
  if (!chain[0]!.checkPrivateKey(keyOf(keyFlag, keyPath, key))) {
    throw new ConfigError(`${keyFlag}: the key in ${keyPath} does not belong to the certificate in ${certPath}`)
  }
  const expiresAt = Math.min(...chain.map(({ validTo }) => Date.parse(validTo)))
  return { cert, key, expiresAt, digest: createHash('sha256').update(cert).update(key).digest('hex') }
}

/** The same of a pair that is to take the place of another. */
export function readNewCertificate(files: CertificateFiles, now = Date.now()): Certificate | null {
  const certificate = readCertificate(files)
  if (certificate !== null && certificate.expiresAt <= now) {
    throw new ConfigError(`${files.flags[0]}: the certificate in ${files.cert} expired on ${new Date(certificate.expiresAt).toISOString()}`)
  }
  return certificate
}

function readBytes(flag: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new ConfigError(`${flag}: ${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

/** The certificates in a file, the server's own first. */
function chainOf(flag: string, path: string, bytes: Buffer): X509Certificate[] {
  const texts = bytes.toString('latin1').match(CERTIFICATE)
  if (texts === null) throw new ConfigError(`${flag}: ${path} has no certificate in PEM`)
  try {
    return texts.map((text) => new X509Certificate(text))
  } catch {
    throw new ConfigError(`${flag}: certificate in ${path} cannot be read; it must be X.509 in PEM`)
  }
}

function keyOf(flag: string, path: string, bytes: Buffer): KeyObject {
  try {
    return createPrivateKey(bytes)
  } catch {
    throw new ConfigError(`${flag}: ${path} has no private key in PEM, or one with a passphrase, which nobody could type in`)
  }
}
