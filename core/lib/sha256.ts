/**
 * SHA-256 (FIPS 180-4) of a short text, for the engine, which imports nothing of Node. One block: at most {@link SHORT_BYTES} bytes.
 */
export const SHORT_BYTES = 55

/** The first primes, 64 of them: constants are the fractions of their roots. */
const PRIMES: readonly number[] = Array.from({ length: 312 }, (_, i) => i).filter((n) => {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false
  return n > 1
})

/** The first 32 bits of the fraction of the `degree`-th root of `n`, in whole numbers: floor(n^(1/degree) x 2^32) mod 2^32. */
function fractionOfRoot(n: number, degree: 2 | 3): number {
  const target = BigInt(n) << BigInt(32 * degree)
  let [low, high] = [0n, BigInt(n) << 32n]
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    if (middle ** BigInt(degree) <= target) low = middle
    else high = middle - 1n
  }
  return Number(BigInt.asIntN(32, low))
}
const START = Int32Array.from(PRIMES.slice(0, 8), (n) => fractionOfRoot(n, 2))
const ROUNDS = Int32Array.from(PRIMES, (n) => fractionOfRoot(n, 3))

const turned = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits))

/** The first 8 bytes, as two little-endian words: what a key of that text is in a record. */
export function firstWords(text: Uint8Array): [low: number, high: number] {
  if (text.length > SHORT_BYTES) throw new RangeError('the text is longer than one block has room for')
  const w = new Int32Array(64)
  for (let at = 0; at < text.length; at++) w[at >> 2]! |= text[at]! << (24 - 8 * (at & 3))
  w[text.length >> 2]! |= 0x80 << (24 - 8 * (text.length & 3))
  w[15] = text.length * 8
  for (let i = 16; i < 64; i++) {
    const [x, y] = [w[i - 15]!, w[i - 2]!]
    const s0 = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3)
    const s1 = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10)
    w[i] = w[i - 16]! + s0 + w[i - 7]! + s1
  }
  let [a, b, c, d, e, f, g, h] = START as unknown as [number, number, number, number, number, number, number, number]
  for (let i = 0; i < 64; i++) {
    const t1 = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i]! + w[i]!) | 0
    const t2 = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  return [swapped((START[0]! + a) | 0), swapped((START[1]! + b) | 0)]
}

/** The word with its bytes in the other order. */
const swapped = (word: number): number =>
  ((word >>> 24) | ((word >>> 8) & 0xff00) | ((word & 0xff00) << 8) | (word << 24)) | 0
