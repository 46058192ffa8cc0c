/**
 * The one place that verifies ed25519 signatures: libsodium through sodium-native, in the calling thread.
 *
 * No other verifier may be used anywhere: implementations disagree about small-order keys and non-canonical signatures,
 * and libsodium refuses all of them. Its binding accepts signatures that are too long and throws on short ones, so lengths are
 * checked here and an exception is a rejection.
 */
import sodium from 'sodium-native'

export const SIGNATURE_BYTES = 64
export const PUBLIC_KEY_BYTES = 32

/** Whether `signature` is one of `message` by `publicKey`. */
export function verifySignature(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  if (signature.byteLength !== SIGNATURE_BYTES || publicKey.byteLength !== PUBLIC_KEY_BYTES) return false
  try {
    return sodium.crypto_sign_verify_detached(signature as Buffer, message as Buffer, publicKey as Buffer)
  } catch {
    return false
  }
}
