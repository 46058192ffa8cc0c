/** Keys and signatures of ed25519 that some verifiers take and this service must not; made with @noble/curves, and by arithmetic. */
import { ed25519, ED25519_TORSION_SUBGROUP } from '@noble/curves/ed25519.js'

export const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
export const FIELD = 2n ** 255n - 19n

export const little = (value: bigint): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn))
export const numberOf = (bytes: Uint8Array): bigint => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
export const joined = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]))
export const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** The points of small order, as hex. */
export const SMALL_ORDER: readonly string[] = ED25519_TORSION_SUBGROUP

/** Encodings of a coordinate beyond the field, y + p, both signs, as hex. */
export const NON_CANONICAL: readonly string[] = Array.from({ length: 19 }, (_, y) => BigInt(y) + FIELD).flatMap((y) => [
  hexOf(little(y)), hexOf(little(y | (1n << 255n))),
])

/** A good key moved by each point of small order but the neutral one. */
export function movedKeys(key: string): string[] {
  const point = ed25519.Point.fromHex(key)
  const torsions = SMALL_ORDER.map((text) => ed25519.Point.fromHex(text)).filter((torsion) => !torsion.is0())
  return torsions.map((torsion) => point.add(torsion).toHex())
}

/** No point of the curve has this y. */
export const OFF_CURVE = `02${'00'.repeat(31)}`

/** What can be made of one good signature without its key; each by its name. */
export function hostileSignatures(signature: Uint8Array): [name: string, signature: Uint8Array][] {
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)]
  const list: [string, Uint8Array][] = []
  let multiple = 1
  for (let other = numberOf(s) + GROUP_ORDER; other < 2n ** 256n; other += GROUP_ORDER) {
    list.push([`S + ${multiple++} L`, joined(r, little(other))])
  }
  const scalars = { '-S': GROUP_ORDER - numberOf(s), 'S = 0': 0n, 'S = L': GROUP_ORDER }
  for (const [name, scalar] of Object.entries(scalars)) list.push([name, joined(r, little(scalar))])
  const commitment = ed25519.Point.fromHex(hexOf(r))
  for (const text of SMALL_ORDER) {
    list.push([`R = ${text}`, joined(bytesOf(text), s)])
    const torsion = ed25519.Point.fromHex(text)
    if (!torsion.is0()) list.push([`R moved by ${text}`, joined(commitment.add(torsion).toBytes(), s)])
  }
  for (const text of NON_CANONICAL) list.push([`R = ${text}, beyond the field`, joined(bytesOf(text), s)])
  list.push(['-R', joined(commitment.negate().toBytes(), s)], ['S before R', joined(s, r)])
  return list
}

/** A good signature cut short and made longer. */
export const wrongLengths = (signature: Uint8Array): [name: string, signature: Uint8Array][] =>
  [0, 1, 31, 32, 63, 65, 66, 96, 128].map((length) => [`${length} bytes`, joined(signature, signature).subarray(0, length)])
