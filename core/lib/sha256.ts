/**
 * SHA-256 (FIPS 180-4), for the engine, which imports nothing of Node, and for many texts of the same length, one after the other in the
 * same memory: 1 us for two blocks, where a call of Node's takes 1.5 and makes a buffer (measured in place: a history hashes two such texts
 * for each trade).
 */
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

const BLOCK_BYTES = 64
/** Words of a hash. */
export const HASH_WORDS = 8

/** A text and what its hash is made in. */
export class HashedText {
  /** The text, to be written through `view` or `bytes`; both have the padding behind it, which stays. */
  readonly view: DataView
  readonly bytes: Uint8Array
  /** The hash that was made last, most significant byte of a word first. */
  readonly hash = new Int32Array(HASH_WORDS)
  readonly #words = new Int32Array(64)

  /** `length` of the text, bytes. */
  constructor(length: number) {
    this.bytes = new Uint8Array(Math.ceil((length + 9) / BLOCK_BYTES) * BLOCK_BYTES)
    this.view = new DataView(this.bytes.buffer)
    this.bytes[length] = 0x80
    this.view.setUint32(this.bytes.length - 4, length * 8)
  }

  /** Makes the hash of the text as it is now. */
  run(): void {
    this.hash.set(START)
    for (let at = 0; at < this.bytes.length; at += BLOCK_BYTES) this.#block(at)
  }

  /** The words of the block at `at`, and those that the rounds make of them. */
  #schedule(at: number): void {
    const w = this.#words
    for (let i = 0; i < 16; i++) w[i] = this.view.getInt32(at + 4 * i)
    for (let i = 16; i < 64; i++) {
      const [x, y] = [w[i - 15]!, w[i - 2]!]
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
      w[i] = (w[i - 16]! + w[i - 7]! + s0 + s1) | 0
    }
  }

  #block(at: number): void {
    this.#schedule(at)
    const w = this.#words
    const { hash } = this
    let a = hash[0]!, b = hash[1]!, c = hash[2]!, d = hash[3]!, e = hash[4]!, f = hash[5]!, g = hash[6]!, h = hash[7]!
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
      const t1 = (h + s1 + (g ^ (e & (f ^ g))) + ROUNDS[i]! + w[i]!) | 0
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
      const t2 = (s0 + ((a & b) | (c & (a | b)))) | 0
      h = g
      g = f
      f = e
      e = (d + t1) | 0
      d = c
      c = b
      b = a
      a = (t1 + t2) | 0
    }
    hash[0] = hash[0]! + a
    hash[1] = hash[1]! + b
    hash[2] = hash[2]! + c
    hash[3] = hash[3]! + d
    hash[4] = hash[4]! + e
    hash[5] = hash[5]! + f
    hash[6] = hash[6]! + g
    hash[7] = hash[7]! + h
  }
}

/** Longest text of {@link firstWords}: one block. */
export const SHORT_BYTES = 55

/** The first 8 bytes of the hash of a short text, as two little-endian words: what a key of that text is in a record. */
export function firstWords(text: Uint8Array): [low: number, high: number] {
  if (text.length > SHORT_BYTES) throw new RangeError('the text is longer than one block has room for')
  const hashed = new HashedText(text.length)
  hashed.bytes.set(text)
  hashed.run()
  return [swapped(hashed.hash[0]!), swapped(hashed.hash[1]!)]
}

/** The word with its bytes in the other order. */
const swapped = (word: number): number =>
  ((word >>> 24) | ((word >>> 8) & 0xff00) | ((word & 0xff00) << 8) | (word << 24)) | 0
