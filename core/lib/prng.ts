/** A small seeded generator (sfc32), for tests, benches and simulations: same seed, same numbers, on any machine. */
export interface Prng {
  /** Uniform 32-bit unsigned integer. */
  u32(): number
  /** Uniform integer in [0, n), n up to 2^32. */
  below(n: number): number
  /** Uniform double in [0, 1). */
  unit(): number
}

export function createPrng(seed: number): Prng {
  let a = 0x9e3779b9 | 0
  let b = 0x243f6a88 | 0
  let c = seed | 0
  let d = 1
  const u32 = (): number => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t | 0
    return t >>> 0
  }
  for (let i = 0; i < 12; i++) u32()
  return { u32, below: (n) => Math.floor((u32() / 0x1_0000_0000) * n), unit: () => u32() / 0x1_0000_0000 }
}
