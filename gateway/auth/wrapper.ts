/**
 * Signatures of contract wallets that may be yet to be deployed (ERC-6492):
 *
 *   abi.encode(address factory, bytes calldata for the factory, bytes signature) and 32 bytes of magic behind it
 */

const MAGIC = '6492'.repeat(16)
const WORD = 64
/** Words of the head: factory, where the call begins, where the signature begins. */
const HEAD = 3

/** The signature inside the wrapper `digits` (lowercase hex digits), of at least a byte; `null`: it is no wrapper, or one without. */
export function unwrapped(digits: string): string | null {
  if (!digits.endsWith(MAGIC)) return null
  const body = digits.slice(0, -MAGIC.length)
  if (body.length < (HEAD + 1) * WORD) return null
  const offset = numberAt(body, 2 * WORD)
  if (offset === null || 2 * offset + WORD > body.length) return null
  const length = numberAt(body, 2 * offset)
  if (length === null || length === 0 || 2 * offset + WORD + 2 * length > body.length) return null
  return body.slice(2 * offset + WORD, 2 * offset + WORD + 2 * length)
}

/** The word at digit `at`, when it is a small number. */
function numberAt(body: string, at: number): number | null {
  const word = body.slice(at, at + WORD)
  return /^0{56}[0-9a-f]{8}$/.test(word) ? parseInt(word, 16) : null
}
