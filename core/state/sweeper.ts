/**
 * Sweeper chains: the chains from whose deposit addresses funds are swept to the hub, which is the chain of settlement, and the tokens that
 * are. An optional part of the genesis document; nothing of the engine depends on it, so it is in no row and no digest.
 *
 *   "sweeper": { "chains": [
 *     { "chainId": 1328, "shortName": "sei-testnet", "hub": true,
 *       "assets": [{ "symbol": "USDC", "tokenAddress": "0x...", "decimals": 6, "minSweepRaw": "1000000" }] } ] }
 *
 * A document with chains has exactly one hub. Ids and short names are unique, tokens unique in their chain, symbols those of assets of the
 * document. Decimals are those of the token on that chain, which may differ from the asset's.
 */

/** Most chains, and most tokens of one. */
export const SWEEPER_CHAINS_MAX = 32
export const SWEEPER_ASSETS_MAX = 64
/** A token of 18 decimals that wraps another may show twice as many. */
const DECIMALS_MAX = 36

export interface SweeperAsset {
  readonly symbol: string
  readonly tokenAddress: string
  readonly decimals: number
  /** Least amount that is swept, base units of the token. */
  readonly minSweepRaw: string
}

export interface SweeperChain {
  readonly chainId: number
  readonly shortName: string
  /** The chain of settlement. */
  readonly hub: boolean
  readonly assets: readonly SweeperAsset[]
}

type Json = Record<string, unknown>

const SHORT_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/
const TOKEN = /^0x[0-9a-fA-F]{40}$/
/** As many digits as 256 bits have at most. */
const POSITIVE = /^[1-9][0-9]{0,77}$/

function check(good: boolean, what: string): void {
  if (!good) throw new Error(`sweeper: ${what}`)
}

const isWhole = (value: unknown, low: number, high: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high
const matches = (value: unknown, pattern: RegExp): value is string => typeof value === 'string' && pattern.test(value)
const isUnique = (values: readonly unknown[]): boolean => new Set(values).size === values.length

function assetOf(json: Json, chain: string, symbols: ReadonlySet<string>): SweeperAsset {
  const { symbol, tokenAddress, decimals, minSweepRaw } = json as unknown as SweeperAsset
  check(typeof symbol === 'string' && symbols.has(symbol), `${chain}: an asset has a symbol that no asset has`)
  check(matches(tokenAddress, TOKEN), `${chain} ${symbol}: tokenAddress must be 0x and 40 hex digits`)
  check(isWhole(decimals, 0, DECIMALS_MAX), `${chain} ${symbol}: decimals must be a whole number from 0 to ${DECIMALS_MAX}`)
  check(matches(minSweepRaw, POSITIVE), `${chain} ${symbol}: minSweepRaw must be a positive whole number, as text of at most 78 digits`)
  return { symbol, tokenAddress, decimals, minSweepRaw }
}

function chainOf(json: Json, symbols: ReadonlySet<string>): SweeperChain {
  const { chainId, shortName, hub = false, assets } = json
  check(matches(shortName, SHORT_NAME), 'shortName must be 1 to 32 lowercase letters, digits or hyphens')
  const name = shortName as string
  check(isWhole(chainId, 1, Number.MAX_SAFE_INTEGER), `${name}: chainId must be a whole number above 0`)
  check(typeof hub === 'boolean', `${name}: hub must be true or false`)
  const listed = Array.isArray(assets) && assets.length <= SWEEPER_ASSETS_MAX
  check(listed, `${name}: assets must be a list of at most ${SWEEPER_ASSETS_MAX}`)
  const read = (assets as Json[]).map((asset) => assetOf(asset, name, symbols))
  check(isUnique(read.map(({ tokenAddress }) => tokenAddress.toLowerCase())), `${name}: a token is listed twice`)
  return { chainId: chainId as number, shortName: name, hub: hub as boolean, assets: read }
}

/** The chains of the part `json`; none when it is absent. `symbols` are those of assets. Throws an Error that says what is wrong. */
export function sweeperChainsOf(json: unknown, symbols: ReadonlySet<string>): readonly SweeperChain[] {
  if (json === undefined) return []
  const { chains } = json as Json
  const listed = Array.isArray(chains) && chains.length <= SWEEPER_CHAINS_MAX
  check(listed, `chains must be a list of at most ${SWEEPER_CHAINS_MAX}`)
  const read = (chains as Json[]).map((chain) => chainOf(chain, symbols))
  check(isUnique(read.map(({ chainId }) => chainId)), 'a chain id is listed twice')
  check(isUnique(read.map(({ shortName }) => shortName)), 'a short name is listed twice')
  check(read.length === 0 || read.filter(({ hub }) => hub).length === 1, 'exactly one chain must be the hub')
  return read
}
