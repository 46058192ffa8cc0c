/**
 * Legacy request signing: ed25519 over four lines - method, target as sent, timestamp, SHA-256 of the body's bytes.
 * (Specification, Legacy request signing.) Runs in browsers and in Node; load generators bring a faster {@link Signer}.
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Holder of a session's private key. */
export interface Signer {
  /** 64 lowercase hex digits. */
  readonly publicKey: string
  /** The 64-byte ed25519 signature of `bytes`. */
  sign(bytes: Uint8Array): Uint8Array
  /** SHA-256 as 64 lowercase hex digits, if the signer has a faster one. */
  sha256?(bytes: Uint8Array): string
}

/** A new session key, or the one of this 32-byte seed. */
export function createSigner(seed?: Uint8Array): Signer {
  const { secretKey, publicKey } = ed25519.keygen(seed)
  return { publicKey: bytesToHex(publicKey), sign: (bytes) => ed25519.sign(bytes, secretKey) }
}

export interface SignatureHeaders {
  readonly 'X-Svc-PublicKey': string
  readonly 'X-Svc-Timestamp': string
  readonly 'X-Svc-Signature': string
}

/** Lowercase hex SHA-256 of no bytes. */
const EMPTY_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/**
 * Headers of one request. `method` in upper case; `target` is path and query exactly as they go over the wire; `body` the exact
 * bytes, empty for none; `timestamp` in Unix ms, within 30 s of the server's clock.
 */
export function signRequest(signer: Signer, method: string, target: string, body: Uint8Array, timestamp: number): SignatureHeaders {
  const hash = body.length === 0 ? EMPTY_HASH : (signer.sha256?.(body) ?? bytesToHex(sha256(body)))
  const signature = signer.sign(utf8ToBytes(`${method}\n${target}\n${timestamp}\n${hash}`))
  return { 'X-Svc-PublicKey': signer.publicKey, 'X-Svc-Timestamp': String(timestamp), 'X-Svc-Signature': bytesToHex(signature) }
}
