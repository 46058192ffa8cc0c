/** Amounts of a token: the engine counts atoms, a token its base units. Without viem, which gateway threads do not load. */

/** Base units of so many atoms; `null`: there is no whole number of them (a token with less decimals than the asset has places). */
export function rawOf(atoms: bigint, decimals: number, scale: number): bigint | null {
  if (decimals >= scale) return atoms * 10n ** BigInt(decimals - scale)
  const unit = 10n ** BigInt(scale - decimals)
  return atoms % unit === 0n ? atoms / unit : null
}

/** Atoms of so many base units, and the base units that are less than an atom. */
export function atomsOf(raw: bigint, decimals: number, scale: number): { readonly atoms: bigint; readonly remainder: bigint } {
  if (decimals <= scale) return { atoms: raw * 10n ** BigInt(scale - decimals), remainder: 0n }
  const unit = 10n ** BigInt(decimals - scale)
  return { atoms: raw / unit, remainder: raw % unit }
}
