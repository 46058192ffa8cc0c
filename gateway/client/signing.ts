/**
 * Request signing with a session key, in both protocols of the REST interface: {@link signRequest} the legacy headers,
 * {@link signMessage} those of RFC 9421. (Specification, Authentication.) Runs in browsers and in Node; load generators bring a faster
 * {@link Signer}.
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'

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

export interface MessageSignatureHeaders {
  readonly 'Signature-Input': string
  readonly Signature: string
  readonly 'Content-Digest': string
}

/** Lowercase hex SHA-256 of no bytes. */
const EMPTY_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

const hashOf = (signer: Signer, body: Uint8Array): string =>
  body.length === 0 ? EMPTY_HASH : (signer.sha256?.(body) ?? bytesToHex(sha256(body)))

/**
 * Legacy headers of one request; signed are four lines: method, target, timestamp, SHA-256 of the body. `method` in upper case;
 * `target` is path and query exactly as they go over the wire; `body` the exact bytes, empty for none; `timestamp` in Unix ms, within
 * 30 s of the server's clock.
 */
export function signRequest(signer: Signer, method: string, target: string, body: Uint8Array, timestamp: number): SignatureHeaders {
  const signature = signer.sign(utf8ToBytes(`${method}\n${target}\n${timestamp}\n${hashOf(signer, body)}`))
  return { 'X-Svc-PublicKey': signer.publicKey, 'X-Svc-Timestamp': String(timestamp), 'X-Svc-Signature': bytesToHex(signature) }
}

const COMPONENTS = '("@method" "@path" "@query" "content-digest")'
const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

/** RFC 9421 headers of one request, with the parameters of {@link signRequest}; the signature is dated to the second. */
export function signMessage(signer: Signer, method: string, target: string, body: Uint8Array, timestamp: number): MessageSignatureHeaders {
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const query = mark < 0 ? '?' : target.slice(mark)
  const digest = `sha-256=:${base64(hexToBytes(hashOf(signer, body)))}:`
  const parameters = `${COMPONENTS};created=${Math.floor(timestamp / 1000)};keyid="${signer.publicKey}";alg="ed25519"`
  const lines = [
    `"@method": ${method}`, `"@path": ${path}`, `"@query": ${query}`, `"content-digest": ${digest}`, `"@signature-params": ${parameters}`,
  ]
  const signature = signer.sign(utf8ToBytes(lines.join('\n')))
  return { 'Signature-Input': `svc=${parameters}`, Signature: `svc=:${base64(signature)}:`, 'Content-Digest': digest }
}
