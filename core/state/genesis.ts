/**
 * The genesis: assets, pairs, applications and the limits of the engine, as integers.
 *
 * It is the first record of the journal, so that a journal replays without any file beside it; a data directory keeps the
 * genesis it was made with. Everything here is exact: tick × lot must be a whole number of quote atoms.
 *
 * Atoms are the internal smallest unit of an asset: 10^-scale, where `scale` may be below the token's `decimals` so that
 * 64 bits hold every balance. `raw` amounts on the wire are atoms × 10^(decimals - scale).
 */
import { AGENT_PAIRS_MAX, ORIGINS_MAX } from '../layout/command.ts'
import { parseDecimal, scaleOf } from '../lib/decimal.ts'
import {
  feeFault, lotAtomsOf, MAX_FEE_PPM, MAX_ISSUED, MAX_NOTIONAL, pairFault, TERM_FAULTS, tickLotAtomsOf, type AssetTerms,
  type MostDiscounts, type PairTerms, type TermFault,
} from './pair_terms.ts'
import { PerpFault, perpOf, sumFault, type PerpTerms } from './perp_terms.ts'
import { RULES } from './rules.ts'
import { referralSharesOf } from './referral_shares.ts'
import { sweeperChainsOf, type SweeperChain } from './sweeper.ts'
import { copyLimits, type CopyLimits } from './copy_limits.ts'
import { vaultLimits, type VaultLimits } from './vault_limits.ts'
import { withdrawalTermsOf, type WithdrawalTerms } from './vault_terms.ts'
import { waitingLimits, type WaitingLimits } from './waiting_limits.ts'

export { MAX_FEE_PPM, MAX_ISSUED, MAX_NOTIONAL }
/** Most assets. */
export const ASSETS_MAX = 256
/** Most fee tiers. */
export const FEE_TIERS_MAX = 16
/** Most requests a faucet window may hold; the row of an account stores that many times. */
export const FAUCET_LIMIT_MAX = 15

export interface Limits extends CopyLimits, VaultLimits, WaitingLimits {
  /** Live orders of all pairs. */
  orders: number
  accounts: number
  sessions: number
  /** Idempotency receipts kept at once. */
  receipts: number
  /** Pages of them that stand in memory, of 16 KiB (receipt_pages.ts); 0, or absent: all. */
  receiptPages: number
  openOrdersPerAccount: number
  /** Highest price of any pair in ticks, a power of two, at most 2^30. */
  priceTicks: number
  sessionLifetimeMs: number
  receiptLifetimeMs: number
  /** Default lifetime of a resting order: 90 days. */
  orderLifetimeMs: number
  /** Live sessions of one account's wallet, and of one agent; the next one ends the oldest. Absent: no limit of its own. */
  sessionsPerAccount: number
  /** Sub-accounts of one master. */
  subAccountsPerMaster: number
  /** Spend limits of all sub-accounts. */
  spendLimits: number
  /** Delegated agents of all accounts, and of one. */
  agents: number
  agentsPerAccount: number
  /** Applications, those of the genesis included. */
  applications: number
  /**
   * Assets and pairs, those of the genesis included: the operator lists the others. Absent: no other assets, because rows of balances
   * are as long as there may be assets, and {@link reserved} pairs.
   */
  assets: number
  pairs: number
  /** Perpetuals of the document; not said there. Without any there are no rows of margin trading. */
  perps: number
  /** Margin accounts, risk buckets and positions of all users, and those of one margin account. */
  marginAccounts: number
  riskBuckets: number
  positions: number
  marginSubAccounts: number
  bucketsPerMarginAccount: number
}

export interface Asset extends AssetTerms {
  index: number
  id: string
  symbol: string
  token: string
  iconUrl: string | null
  /** What may be withdrawn until the operator says otherwise; without it whatever there is, from one atom on. */
  withdrawal?: WithdrawalTerms | undefined
}

export interface Pair extends PairTerms {
  index: number
  id: string
  symbol: string
  /** MARGIN: a perpetual. */
  marketType: 'SPOT' | 'MARGIN'
  /** `null` of a spot pair. */
  perp: PerpTerms | null
  category: string | null
  tickSize: string
  lotSize: string
  /** Base atoms of one lot. */
  lotAtoms: bigint
  /** Quote atoms of one lot at one tick. */
  tickLotAtoms: bigint
  makerFeeBps: string
  takerFeeBps: string
}

/** A fee tier: what its accounts pay less than the rates of the pair. */
export interface FeeTier {
  /** Volume of 30 days that leads to it, atoms of the asset of {@link FeeTiers}. */
  minVolumeAtoms: bigint
  /** Subtracted from the maker rate; may turn it into a rebate. */
  makerDiscountPpm: number
  /** Subtracted from the taker rate, which stays 0 or more. */
  takerDiscountPpm: number
}

export interface FeeTiers {
  /** The asset volumes are counted in. */
  asset: number
  /** Ascending by volume; tier 0 has none and no discounts. */
  tiers: FeeTier[]
}

export interface Application {
  index: number
  id: string
  name: string
  clientId: string
  allowedOrigins: string[]
}

export interface Genesis {
  name: string
  chainId: number
  /** Rules that the exchange begins with (rules.ts); a document without them has 0. */
  rules: number
  limits: Limits
  /** Room for assets that the document has, whatever was raised since: records of the history's hours are that long (accounts.ts). */
  firstAssets: number
  faucetDailyLimit: number
  assets: Asset[]
  pairs: Pair[]
  feeTiers: FeeTiers
  applications: Application[]
  sweeperChains: readonly SweeperChain[]
  /** What each level of referrers earns of the net fee income of a fill, ppm, until the operator sets something else. */
  referralSharesPpm: readonly number[]
}

export class GenesisError extends Error {
  override name = 'GenesisError'
}

type Json = Record<string, unknown>

function need<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new GenesisError(`genesis: ${what}`)
  return value
}

function wholeNumber(json: Json, key: string, low: number, high: number): number {
  const value = json[key]
  if (typeof value !== 'number' || !Number.isInteger(value) || value < low || value > high) {
    throw new GenesisError(`genesis: ${key} must be a whole number from ${low} to ${high}`)
  }
  return value
}

function text(json: Json, key: string): string {
  const value = json[key]
  if (typeof value !== 'string' || value === '') throw new GenesisError(`genesis: ${key} must be a non-empty string`)
  return value
}

/** Pairs that may be listed where the genesis does not say: as many again, 8 at least. */
const reserved = (listed: number): number => Math.min(AGENT_PAIRS_MAX, listed + Math.max(8, listed))

function limitsOf(json: Json, listed: { assets: number; pairs: number; perps: number }): Limits {
  const day = 86_400_000
  // Limits that came later: a document of before them has these.
  const optional = (key: string, low: number, high: number, absent: number): number =>
    json[key] === undefined ? absent : wholeNumber(json, key, low, high)
  // A pair has 4 bytes for each 32 ticks, of addresses at least.
  const manyTicks = (json['priceTicks'] as number) >= 2 ** 28
  return {
    orders: wholeNumber(json, 'orders', 16, 2 ** 24),
    accounts: wholeNumber(json, 'accounts', 4, 2 ** 24),
    sessions: wholeNumber(json, 'sessions', 4, 2 ** 24),
    receipts: wholeNumber(json, 'receipts', 1, 2 ** 27),
    receiptPages: optional('receiptPages', 0, 2 ** 21, 0),
    openOrdersPerAccount: wholeNumber(json, 'openOrdersPerAccount', 1, 2 ** 24),
    priceTicks: priceTicksOf(json),
    sessionLifetimeMs: wholeNumber(json, 'sessionLifetimeMs', 1000, 365 * day),
    receiptLifetimeMs: wholeNumber(json, 'receiptLifetimeMs', 1000, 365 * day),
    orderLifetimeMs: wholeNumber(json, 'orderLifetimeMs', 1000, 3650 * day),
    sessionsPerAccount: optional('sessionsPerAccount', 1, 2 ** 24, json['sessions'] as number),
    subAccountsPerMaster: optional('subAccountsPerMaster', 0, 1000, 100),
    spendLimits: optional('spendLimits', 1, 2 ** 24, Math.min(65_536, 4 * (json['accounts'] as number))),
    agents: optional('agents', 1, 2 ** 24, Math.min(65_536, json['accounts'] as number)),
    agentsPerAccount: optional('agentsPerAccount', 0, 1000, 32),
    applications: optional('applications', 1, 1024, 64),
    assets: optional('assets', listed.assets, ASSETS_MAX, listed.assets),
    pairs: optional('pairs', listed.pairs, AGENT_PAIRS_MAX, manyTicks ? listed.pairs : reserved(listed.pairs)),
    ...marginLimits(json, listed.perps, optional),
    ...waitingLimits(json, listed.perps, optional), ...copyLimits(json, listed.perps, optional), ...vaultLimits(json, optional),
  }
}

/** Terms of perpetuals are bounded by it, so it is looked at before the pairs. */
function priceTicksOf(limits: Json): number {
  const ticks = wholeNumber(limits, 'priceTicks', 1024, 2 ** 30)
  if ((ticks & (ticks - 1)) !== 0) throw new GenesisError('genesis: priceTicks must be a power of two')
  return ticks
}

type MarginLimit = 'marginAccounts' | 'riskBuckets' | 'positions' | 'marginSubAccounts' | 'bucketsPerMarginAccount'

/** Without perpetuals there is no margin trading, and no row is kept for it. */
function marginLimits(
  json: Json, perps: number, optional: (key: MarginLimit, low: number, high: number, absent: number) => number,
): Pick<Limits, MarginLimit | 'perps'> {
  if (perps === 0) return { perps, marginAccounts: 0, riskBuckets: 0, positions: 0, marginSubAccounts: 0, bucketsPerMarginAccount: 0 }
  const accounts = json['accounts'] as number
  const most = 2 ** 22
  return {
    perps,
    marginAccounts: optional('marginAccounts', 4, most, Math.min(most, 2 * accounts)),
    riskBuckets: optional('riskBuckets', 4, most, Math.min(most, 2 * accounts)),
    positions: optional('positions', 4, most, Math.min(most, 2 * accounts)),
    marginSubAccounts: optional('marginSubAccounts', 0, 1000, 32),
    bucketsPerMarginAccount: optional('bucketsPerMarginAccount', 1, 256, 64),
  }
}

function withdrawalOf(json: Json, symbol: string, scale: number): WithdrawalTerms | undefined {
  try {
    return withdrawalTermsOf(json['withdrawal'], scale)
  } catch (error) {
    throw new GenesisError(`genesis: ${symbol}: ${(error as Error).message}`)
  }
}

function assetOf(json: Json, index: number): Asset {
  const decimals = wholeNumber(json, 'decimals', 0, 18)
  const scale = wholeNumber(json, 'scale', 0, decimals)
  const faucet = parseDecimal((json['faucetAmount'] as string | undefined) ?? '0', scale)
  if (faucet !== null && faucet < 0n) throw new GenesisError('genesis: faucetAmount must not be negative')
  return {
    index,
    id: text(json, 'id'),
    symbol: text(json, 'symbol'),
    token: text(json, 'token'),
    decimals,
    scale,
    faucetAtoms: need(faucet, 'faucetAmount has more digits than the scale'),
    iconUrl: (json['iconUrl'] as string | null) ?? null,
    withdrawal: withdrawalOf(json, text(json, 'symbol'), scale),
  }
}

function feePpm(json: Json, key: string): number {
  const ppm = Number(need(parseDecimal(text(json, key), 2), `${key} must be a decimal with at most 2 digits`))
  if (Math.abs(ppm) > MAX_FEE_PPM) throw new GenesisError(`genesis: ${key} is beyond ${MAX_FEE_PPM / 100} bps`)
  return ppm
}

function pairOf(json: Json, index: number, assets: Asset[], priceTicks: number): Pair {
  const symbol = text(json, 'symbol')
  const base = need(
    assets.find((a) => a.symbol === json['base']),
    `${symbol}: unknown base asset`,
  )
  const quote = need(
    assets.find((a) => a.symbol === json['quote']),
    `${symbol}: unknown quote asset`,
  )
  const [tickSize, lotSize] = [text(json, 'tickSize'), text(json, 'lotSize')]
  const [priceScale, lotScale] = [scaleOf(tickSize), scaleOf(lotSize)]
  const lotUnits = Number(parseDecimal(lotSize, lotScale))
  const lots = (key: string): number => {
    const units = Number(need(parseDecimal(text(json, key), lotScale), `${symbol}: ${key} is no multiple of the lot`))
    if (units % lotUnits !== 0) throw new GenesisError(`genesis: ${symbol}: ${key} is no multiple of the lot`)
    return units / lotUnits
  }
  const terms: PairTerms = {
    base: base.index,
    quote: quote.index,
    priceScale,
    tickUnits: Number(parseDecimal(tickSize, priceScale)),
    lotScale,
    lotUnits,
    minLots: lots('minOrderSize'),
    maxLots: lots('maxOrderSize'),
    minNotionalAtoms: need(parseDecimal(text(json, 'minNotional'), quote.scale), `${symbol}: minNotional`),
    makerPpm: feePpm(json, 'makerFeeBps'),
    takerPpm: feePpm(json, 'takerFeeBps'),
  }
  checkTerms(symbol, pairFault(terms, base.scale, quote.scale))
  return {
    ...terms,
    index,
    symbol,
    tickSize,
    lotSize,
    lotAtoms: lotAtomsOf(terms, base.scale),
    tickLotAtoms: tickLotAtomsOf(terms, quote.scale),
    id: text(json, 'id'),
    marketType: json['perp'] === undefined ? 'SPOT' : 'MARGIN',
    perp: json['perp'] === undefined ? null : perp(symbol, json['perp'] as Json, terms, quote.scale, priceTicks),
    category: (json['category'] as string | undefined) ?? null,
    makerFeeBps: text(json, 'makerFeeBps'),
    takerFeeBps: text(json, 'takerFeeBps'),
  }
}

function perp(symbol: string, json: Json, terms: PairTerms, quoteScale: number, priceTicks: number): PerpTerms {
  try {
    return perpOf(json, { ...terms, tickLotAtoms: tickLotAtomsOf(terms, quoteScale), quoteScale, priceTicks })
  } catch (error) {
    if (error instanceof PerpFault) throw new GenesisError(`genesis: ${symbol}: ${error.message}`)
    throw error
  }
}

function checkTerms(symbol: string, fault: TermFault): void {
  if (fault !== 0) throw new GenesisError(`genesis: ${symbol}: ${TERM_FAULTS[fault]}`)
}

/** A document without fee tiers has one, which changes nothing. */
function feeTiersOf(json: Json | undefined, assets: Asset[], pairs: Pair[]): FeeTiers {
  if (json === undefined) return { asset: 0, tiers: [{ minVolumeAtoms: 0n, makerDiscountPpm: 0, takerDiscountPpm: 0 }] }
  const asset = need(
    assets.find((a) => a.symbol === json['asset']),
    'feeTiers: unknown asset',
  )
  const tiers = (need(json['tiers'], 'feeTiers: tiers are missing') as Json[]).map((tier): FeeTier => ({
    minVolumeAtoms: need(parseDecimal(text(tier, 'minVolume'), asset.scale), 'feeTiers: minVolume has more digits than the scale'),
    makerDiscountPpm: feePpm(tier, 'makerDiscountBps'),
    takerDiscountPpm: feePpm(tier, 'takerDiscountBps'),
  }))
  checkFeeTiers(tiers, pairs)
  return { asset: asset.index, tiers }
}

/** Whatever the tiers of two traders: the taker never earns, and the maker's rebate never exceeds the taker's fee. */
function checkFeeTiers(tiers: FeeTier[], pairs: Pair[]): void {
  const check = (good: boolean, what: string): void => {
    if (!good) throw new GenesisError(`genesis: feeTiers: ${what}`)
  }
  check(tiers.length >= 1 && tiers.length <= FEE_TIERS_MAX, `there must be 1 to ${FEE_TIERS_MAX} tiers`)
  const [first] = tiers as [FeeTier]
  check(first.minVolumeAtoms === 0n, 'tier 0 must have minVolume 0')
  check(first.makerDiscountPpm === 0 && first.takerDiscountPpm === 0, 'tier 0 must have no discounts')
  tiers.forEach((tier, i) => {
    check(i === 0 || tier.minVolumeAtoms > tiers[i - 1]!.minVolumeAtoms, `minVolume of tier ${i} is not above that of tier ${i - 1}`)
    check(tier.makerDiscountPpm >= 0 && tier.takerDiscountPpm >= 0, `discounts of tier ${i} must not be negative`)
  })
  for (const pair of pairs) {
    const fault = feeFault(pair, mostDiscounts(tiers))
    check(fault === 0, `${pair.symbol}: ${TERM_FAULTS[fault]}`)
  }
}

/** The most that any of the tiers takes off. */
export const mostDiscounts = (tiers: readonly FeeTier[]): MostDiscounts => ({
  makerPpm: Math.max(...tiers.map((tier) => tier.makerDiscountPpm)),
  takerPpm: Math.max(...tiers.map((tier) => tier.takerDiscountPpm)),
})

/** Reads and checks a genesis document; throws {@link GenesisError} with the field at fault. */
export function parseGenesis(source: string): Genesis {
  try {
    return genesisOf(JSON.parse(source) as Json)
  } catch (error) {
    // A document of another shape altogether fails wherever it is touched first.
    if (error instanceof GenesisError) throw error
    throw new GenesisError(`genesis: ${(error as Error).message}`)
  }
}

/** Bytes that a row has for the texts of an application (columns.ts). */
const CLIENT_ID_BYTES = 40
const APPLICATION_NAME_BYTES = 48
const ORIGIN_BYTES = 96
const CONTROL = /[\u0000-\u001f\u007f]/
const BYTES = new TextEncoder()

/** Its texts must fit the rows they are written to. */
function applicationOf(json: Json, index: number): Application {
  const check = (good: boolean, what: string): void => {
    if (!good) throw new GenesisError(`genesis: application ${index}: ${what}`)
  }
  const [id, name, clientId] = [text(json, 'id'), text(json, 'name'), text(json, 'clientId')]
  const origins = json['allowedOrigins'] ?? []
  check(/^[\x20-\x7e]{1,40}$/.test(clientId), `clientId must be at most ${CLIENT_ID_BYTES} printable ASCII characters`)
  const fits = BYTES.encode(name).length <= APPLICATION_NAME_BYTES && !CONTROL.test(name)
  check(fits, `name must be at most ${APPLICATION_NAME_BYTES} bytes of UTF-8 without control characters`)
  const listed = Array.isArray(origins) && origins.length <= ORIGINS_MAX
  check(listed, `allowedOrigins must be a list of at most ${ORIGINS_MAX}`)
  for (const origin of origins as unknown[]) {
    const good = typeof origin === 'string' && /^[\x21-\x7e]{1,96}$/.test(origin)
    check(good, `an allowed origin must be at most ${ORIGIN_BYTES} visible ASCII characters`)
  }
  check(new Set(origins as string[]).size === (origins as string[]).length, 'an origin is allowed twice')
  return { index, id, name, clientId, allowedOrigins: origins as string[] }
}

/** The same of the document as it was parsed; errors are those of {@link GenesisError} or of a document of another shape. */
export function genesisOf(json: Json): Genesis {
  const assets = (need(json['assets'], 'assets are missing') as Json[]).map(assetOf)
  const priceTicks = priceTicksOf(need(json['limits'], 'limits are missing') as Json)
  const pairs = (need(json['pairs'], 'pairs are missing') as Json[]).map((pair, index) => pairOf(pair, index, assets, priceTicks))
  const applications = (need(json['applications'], 'applications are missing') as Json[]).map(applicationOf)
  const perpetuals = pairs.filter(({ perp }) => perp !== null)
  if (new Set(perpetuals.map(({ quote }) => quote)).size > 1) {
    throw new GenesisError('genesis: perpetuals must have one quote asset, which is their collateral')
  }
  const fault = sumFault(perpetuals, priceTicks)
  if (fault !== '') throw new GenesisError(`genesis: ${fault}`)
  const listed = { assets: assets.length, pairs: pairs.length, perps: perpetuals.length }
  const limits = limitsOf(json['limits'] as Json, listed)
  if (pairs.length > AGENT_PAIRS_MAX) throw new GenesisError(`genesis: at most ${AGENT_PAIRS_MAX} pairs`)
  if (applications.length > limits.applications) throw new GenesisError(`genesis: at most ${limits.applications} applications`)
  if (assets.length === 0 || pairs.length === 0 || applications.length === 0) {
    throw new GenesisError('genesis: at least one asset, one pair and one application')
  }
  for (const [what, ids] of Object.entries({
    asset: assets.flatMap((a) => [a.id, a.symbol]),
    pair: pairs.flatMap((p) => [p.id, p.symbol]),
    application: applications.flatMap((a) => [a.id, a.clientId]),
  })) {
    if (new Set(ids).size !== ids.length) throw new GenesisError(`genesis: a ${what} is named twice`)
  }
  return {
    name: text(json, 'name'),
    chainId: wholeNumber(json, 'chainId', 1, 2 ** 31 - 1),
    rules: json['rules'] === undefined ? 0 : wholeNumber(json, 'rules', 0, RULES),
    limits,
    firstAssets: json['firstAssets'] === undefined ? limits.assets : wholeNumber(json, 'firstAssets', 1, limits.assets),
    faucetDailyLimit: wholeNumber(need(json['faucet'], 'faucet is missing') as Json, 'dailyLimit', 0, FAUCET_LIMIT_MAX),
    assets, pairs, applications,
    feeTiers: feeTiersOf(json['feeTiers'] as Json | undefined, assets, pairs),
    sweeperChains: sweeperChainsOf(json['sweeper'], new Set(assets.map(({ symbol }) => symbol))),
    referralSharesPpm: referralSharesOf(json['referralShares']),
  }
}
