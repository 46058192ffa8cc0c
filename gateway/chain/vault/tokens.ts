/** The tokens that are taken from a chain: those of the sweeper list of the genesis, with the assets that they are. */
import type { Asset, Genesis } from '../../../core/state/genesis.ts'
import type { Hex } from './types.ts'

export interface ChainToken {
  readonly asset: Asset
  readonly token: Hex
  /** Of the token on that chain. */
  readonly decimals: number
  /** Least amount that is swept, base units. */
  readonly minSweep: bigint
}

/** Those of a chain, by address in lowercase; none of a chain that is not listed. */
export function tokensOf(genesis: Pick<Genesis, 'assets' | 'sweeperChains'>, chainId: number): ReadonlyMap<string, ChainToken> {
  const listed = genesis.sweeperChains.find((chain) => chain.chainId === chainId)?.assets ?? []
  return new Map(listed.map(({ symbol, tokenAddress, decimals, minSweepRaw }) => {
    const asset = genesis.assets.find((each) => each.symbol === symbol)!
    const token = tokenAddress.toLowerCase() as Hex
    return [token, { asset, token, decimals, minSweep: BigInt(minSweepRaw) }]
  }))
}

/** The token of an asset among them. */
export const tokenOfAsset = (tokens: ReadonlyMap<string, ChainToken>, asset: number): ChainToken | undefined =>
  [...tokens.values()].find((each) => each.asset.index === asset)

/** Chain of settlement; `null`: the genesis has no chains. */
export const hubOf = ({ sweeperChains }: Pick<Genesis, 'sweeperChains'>): number | null =>
  sweeperChains.find(({ hub }) => hub)?.chainId ?? null
