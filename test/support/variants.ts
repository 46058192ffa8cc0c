/**
 * Genesis documents for tests: small exchanges that bring different rules and limits to the fore. Balances come from the
 * faucet only, as in production, so its amounts decide how rich the accounts are.
 */
import { RULES } from '../../core/state/rules.ts'

export interface PairSpec {
  symbol: string
  base: string
  quote: string
  tickSize: string
  lotSize: string
  minOrderSize: string
  maxOrderSize: string
  minNotional: string
  makerFeeBps: string
  takerFeeBps: string
  /** Terms of a perpetual, as the genesis has them; absent: a spot pair. */
  perp?: PerpSpec
}

export interface PerpSpec {
  referencePrice: string
  minLeverage?: string
  maxPositionSize: string
  openInterestCap?: string
  impactNotional?: string
  liquidationFeeBps: string
  fundingIntervalSeconds: number
  maxFundingRate: string
  markBandBps?: string
  indexBandBps?: string
  staleSeconds?: number
  basisSeconds?: number
  fundShareBps?: string
  fundOwnerAllowance?: string
  deleverageWindowMinutes?: number
  deleverageHolderBps?: string
  jumpWindowSeconds?: number
  riskTiers: { lowerBoundNotional?: string; maxLeverage?: string; initialMarginRatio?: string; maintenanceMarginRatio: string }[]
}

/** Asset, then (least volume, maker discount, taker discount in bps) of each tier. */
export type FeeTierSpec = { asset: string; tiers: [minVolume: string, maker: string, taker: string][] }

/** Terms of withdrawals of an asset, as the genesis has them. */
export interface WithdrawalSpec { minimum?: string; userDailyLimit?: string; dailyLimit?: string; approvalAbove?: string }

export interface VariantSpec {
  limits: Record<string, number>
  dailyLimit: number
  /** Symbol, scale and faucet amount. */
  assets: [symbol: string, scale: number, faucetAmount: string][]
  pairs: PairSpec[]
  feeTiers?: FeeTierSpec
  /** Rules it begins with; absent: those of this version. */
  rules?: number
  /** Its workload has sub-accounts, transfers, spend limits and orders that masters pay for. */
  families?: boolean
  /** Clients of its workload, and those among them that mostly just sign in. */
  clients?: number
  visitors?: number
  /** The operator of its workload lists assets and pairs and changes terms. */
  listing?: boolean
  /** Its workload has orders that wait. */
  waiting?: boolean
  /** Its workload has applications that charge for fills. */
  builder?: boolean
  /** Its workload has launches. */
  launches?: boolean
  /** And copy trading. */
  copies?: boolean
  /** Its accounts bring others. */
  referrals?: boolean
  /** Money comes from chains and goes there; by symbol what the genesis says of withdrawals. */
  vault?: boolean
  withdrawals?: Readonly<Record<string, WithdrawalSpec>>
}

const DAY = 86_400_000
const LIMITS = {
  orders: 8192, accounts: 64, sessions: 512, receipts: 512, openOrdersPerAccount: 256, priceTicks: 65_536, sessionLifetimeMs: DAY,
  receiptLifetimeMs: DAY, orderLifetimeMs: 90 * DAY,
}

export function pairSpec(symbol: string, over: Partial<PairSpec> = {}): PairSpec {
  const [base, quote] = symbol.split('/') as [string, string]
  return {
    symbol, base, quote, tickSize: '0.01', lotSize: '0.001', minOrderSize: '0.001', maxOrderSize: '1000', minNotional: '0',
    makerFeeBps: '-0.5', takerFeeBps: '5', ...over,
  }
}

/**
 * A perpetual on the ladder of {@link LADDER}, hourly funding, whose insurance fund covers everything it can, and nobody is asked before
 * it. Quote assets need 6 digits, bounds of tiers whole atoms.
 */
export function perpPair(symbol: string, perp: Partial<PerpSpec> = {}, over: Partial<PairSpec> = {}): PairSpec {
  return pairSpec(symbol, {
    base: symbol.split('/')[0]!, quote: symbol.split('/')[1]!.replace('-PERP', ''), makerFeeBps: '1', takerFeeBps: '5',
    perp: {
      referencePrice: '100', riskTiers: LADDER, maxPositionSize: '1000', liquidationFeeBps: '50', fundingIntervalSeconds: 3600,
      maxFundingRate: '0.01', fundShareBps: '10000', fundOwnerAllowance: '1000000000',
      deleverageWindowMinutes: 0, deleverageHolderBps: '10000', jumpWindowSeconds: 0, ...perp,
    },
    ...over,
  })
}

/** Three tiers: 20, 10 and 5 times, from 10,000 and 50,000 on. */
export const LADDER = [
  { lowerBoundNotional: '0', maxLeverage: '20', maintenanceMarginRatio: '0.025' },
  { lowerBoundNotional: '10000', maxLeverage: '10', maintenanceMarginRatio: '0.05' },
  { lowerBoundNotional: '50000', maxLeverage: '5', maintenanceMarginRatio: '0.1' },
]

const feeTiers = ({ asset, tiers }: FeeTierSpec): object => ({
  asset, tiers: tiers.map(([minVolume, makerDiscountBps, takerDiscountBps]) => ({ minVolume, makerDiscountBps, takerDiscountBps })),
})

/** The genesis document of a specification, as JSON text. */
export function genesisText(spec: VariantSpec): string {
  const uuid = (kind: number, index: number): string => `00000000-0000-4000-8000-${String(kind * 1000 + index).padStart(12, '0')}`
  return JSON.stringify({
    name: 'test', chainId: 1328, rules: spec.rules ?? RULES, limits: { ...LIMITS, ...spec.limits }, faucet: { dailyLimit: spec.dailyLimit },
    assets: spec.assets.map(([symbol, scale, faucetAmount], index) => ({
      id: uuid(1, index), symbol, token: `0x${String(index).padStart(40, '0')}`, decimals: 18, scale, faucetAmount, iconUrl: null,
      ...(spec.withdrawals?.[symbol] === undefined ? {} : { withdrawal: spec.withdrawals[symbol] }),
    })),
    pairs: spec.pairs.map((pair, index) => ({ id: uuid(2, index), marketType: pair.perp === undefined ? 'SPOT' : 'MARGIN', ...pair })),
    ...(spec.feeTiers === undefined ? {} : { feeTiers: feeTiers(spec.feeTiers) }),
    applications: ['one', 'two'].map((name, index) => ({ id: uuid(3, index), name, clientId: name })),
  })
}

/** Everything nearly full all the time but for the orders: receipts, accounts, sessions, open orders; accounts are poor. */
const TIGHT: VariantSpec = {
  limits: {
    orders: 256, accounts: 6, sessions: 11, receipts: 24, openOrdersPerAccount: 7, priceTicks: 1024, orderLifetimeMs: 30 * DAY,
    sessionsPerAccount: 2, agents: 3, agentsPerAccount: 2,
  },
  dailyLimit: 2,
  assets: [['USD', 2, '60'], ['BTC', 3, '0.2'], ['DUST', 0, '0']],
  pairs: [
    pairSpec('BTC/USD', { tickSize: '1', lotSize: '0.01', minOrderSize: '0.01', maxOrderSize: '5', makerFeeBps: '0', takerFeeBps: '30' }),
    pairSpec('DUST/USD', { tickSize: '0.01', lotSize: '1', minOrderSize: '1', maxOrderSize: '1000' }),
  ],
  feeTiers: { asset: 'USD', tiers: [['0', '0', '0'], ['10', '1', '3.5']] },
}

/** Families, often at their limits: few sub-accounts and limit rows, one asset spent on two pairs, makers that pay and that earn. */
const FAMILY: VariantSpec = {
  limits: {
    orders: 4096, accounts: 18, priceTicks: 4096, receipts: 192, openOrdersPerAccount: 24, subAccountsPerMaster: 3, spendLimits: 64,
    sessionLifetimeMs: 4 * DAY,
  },
  dailyLimit: 4,
  assets: [['USD', 4, '2000'], ['A', 3, '60'], ['B', 3, '500']],
  pairs: [
    pairSpec('A/USD', { lotSize: '0.01', minOrderSize: '0.01', maxOrderSize: '20', makerFeeBps: '20', takerFeeBps: '50' }),
    pairSpec('B/USD', {
      tickSize: '0.001', lotSize: '0.1', minOrderSize: '0.1', maxOrderSize: '200', makerFeeBps: '5', takerFeeBps: '10',
    }),
  ],
  feeTiers: { asset: 'USD', tiers: [['0', '0', '0'], ['10', '0', '5'], ['20', '10', '5']] },
  families: true,
}

/** Roomy: three pairs, a rebate, a positive maker fee, a pair whose smallest step is worth many quote atoms. */
const MARKET: VariantSpec = {
  limits: {},
  dailyLimit: 5,
  assets: [['USD', 6, '20000'], ['BTC', 8, '50'], ['ETH', 9, '500']],
  pairs: [
    pairSpec('BTC/USD', { lotSize: '0.0001', minNotional: '0.01' }),
    pairSpec('ETH/USD', { makerFeeBps: '1', takerFeeBps: '5', minNotional: '0.1', minOrderSize: '0.003' }),
    pairSpec('ETH/BTC', { tickSize: '0.00001', makerFeeBps: '2.5', takerFeeBps: '2', minNotional: '0' }),
  ],
  // Discounts up to what the pairs allow: on ETH/BTC the highest tier neither pays nor earns.
  feeTiers: { asset: 'USD', tiers: [['0', '0', '0'], ['1000', '0', '0.5'], ['50000', '1', '1'], ['1000000', '2.5', '2']] },
}

/** Ladder of three tiers: 50x up to `second`, 20x up to `third`, 10x from there on. */
const threeTiers = (second: string, third: string): PerpSpec['riskTiers'] => [
  { lowerBoundNotional: '0', maxLeverage: '50', maintenanceMarginRatio: '0.01' },
  { lowerBoundNotional: second, maxLeverage: '20', maintenanceMarginRatio: '0.025' },
  { lowerBoundNotional: third, maxLeverage: '10', maintenanceMarginRatio: '0.05' },
]

/** A perpetual with collateral USDC; both of {@link PERPS} have ticks and lots that are worth 100 atoms. */
const perpetual = (base: string, over: Partial<PairSpec>, perp: Partial<PerpSpec>): PairSpec => ({
  ...pairSpec(`${base}/USDC`, { makerFeeBps: '2', takerFeeBps: '5', ...over }),
  symbol: `${base}/USDC-PERP`,
  perp: {
    referencePrice: '1', maxPositionSize: '1000', liquidationFeeBps: '50', fundingIntervalSeconds: 3600, maxFundingRate: '0.01',
    riskTiers: threeTiers('250000', '1000000'), ...perp,
  },
})

/** Two perpetuals with three tiers each, and a spot pair with the same assets. */
export const PERPS: VariantSpec = {
  limits: {
    orders: 4096, priceTicks: 131_072, marginAccounts: 512, riskBuckets: 1024, positions: 1024, marginSubAccounts: 8,
    bucketsPerMarginAccount: 16,
  },
  dailyLimit: 15,
  assets: [['USDC', 6, '100000'], ['BTC', 8, '5'], ['ETH', 8, '50']],
  pairs: [
    perpetual('BTC', { tickSize: '1', lotSize: '0.0001', minOrderSize: '0.0001', maxOrderSize: '200' }, {
      referencePrice: '50000', impactNotional: '20',
    }),
    perpetual('ETH', { tickSize: '0.1', lotSize: '0.001', minOrderSize: '0.001', maxOrderSize: '5000' }, {
      referencePrice: '3000', impactNotional: '50', maxPositionSize: '20000', riskTiers: threeTiers('100000', '500000'),
      deleverageWindowMinutes: 0, deleverageHolderBps: '10000', jumpWindowSeconds: 0,
    }),
    pairSpec('BTC/USDC', { tickSize: '1', lotSize: '0.0001', minOrderSize: '0.0001' }),
  ],
}

/** The same with few rows, small positions and a spot pair's fees at rest: margin trading at its limits. */
const PERPS_TIGHT: VariantSpec = {
  ...PERPS,
  limits: {
    ...PERPS.limits, orders: 64, marginAccounts: 40, riskBuckets: 140, positions: 80, marginSubAccounts: 2, bucketsPerMarginAccount: 3,
  },
  pairs: PERPS.pairs.map((pair, index) => (pair.perp === undefined ? pair : {
    ...pair, makerFeeBps: index === 0 ? '-1' : '0', takerFeeBps: '3',
    perp: {
      ...pair.perp, maxPositionSize: index === 0 ? '5' : '150', openInterestCap: index === 0 ? '10' : '0', staleSeconds: 600,
      deleverageWindowMinutes: 0, deleverageHolderBps: '10000', jumpWindowSeconds: 0,
    },
  })),
}

/** The highest tiers of {@link PERPS} earn as makers; those of {@link PERPS_TIGHT} earn more than others. */
const PERPS_TIERS: FeeTierSpec = { asset: 'USDC', tiers: [['0', '0', '0'], ['1000', '0.25', '2'], ['50000', '2.5', '0.5']] }
const TIGHT_TIERS: FeeTierSpec = { asset: 'USDC', tiers: [['0', '0', '0'], ['1000', '0.25', '1'], ['50000', '0.5', '0']] }

/** The same with funding so often that random commands meet it. */
const oftenFunded = (pairs: PairSpec[]): PairSpec[] => pairs.map((pair, index) =>
  (pair.perp === undefined ? pair : { ...pair, perp: { ...pair.perp, fundingIntervalSeconds: index === 0 ? 600 : 300 } }))

/** Slices of TWAP orders so often that random commands meet them. */
const SLICES = { twapSliceMs: 2000 }
/** The first perpetual is stale after ten minutes only. */
const seldomStale = (pairs: PairSpec[]): PairSpec[] =>
  pairs.map((pair, index) => (index > 0 ? pair : { ...pair, perp: { ...pair.perp!, staleSeconds: 600 } }))
/** Positions may be much larger than orders. */
const smallOrders = (pairs: PairSpec[]): PairSpec[] =>
  pairs.map((pair, index) => (pair.perp === undefined ? pair : { ...pair, maxOrderSize: index === 0 ? '0.1' : '1.5' }))

/** The exchanges of the property tests. */
export const VARIANTS: Readonly<Record<string, VariantSpec>> = {
  market: MARKET,
  /** The same with one page of receipts in memory and the others in the store; receipts stay for two weeks. */
  paged: { ...MARKET, limits: { receiptPages: 1, receipts: 2048, receiptLifetimeMs: 15 * DAY }, clients: 60 },
  tight: TIGHT,
  /** More accounts than there are orders and receipts: the last tenth, and what is left when nothing is. Few may ever have GEM. */
  crowded: {
    ...TIGHT, assets: [...TIGHT.assets, ['GEM', 9, '1000000000']],
    limits: { ...TIGHT.limits, orders: 20, accounts: 40, sessions: 48, receipts: 18, openOrdersPerAccount: 3 },
  },
  /** Few rows for many wallets, most of which only sign in: rows of accounts go from one to another. */
  visited: {
    ...TIGHT, limits: { ...TIGHT.limits, accounts: 30, sessions: 180, sessionsPerAccount: 3, subAccountsPerMaster: 2 }, families: true,
    clients: 90, visitors: 84,
  },
  /** The same without a limit of sessions, begun by a version that kept every account. */
  olderVisited: {
    ...TIGHT, rules: 0, limits: { ...TIGHT.limits, accounts: 30, sessions: 180, sessionsPerAccount: 180 }, clients: 90, visitors: 87,
  },
  /** As `tight`, begun by a version before the rules of now; its workload puts them in force at some point. */
  older: { ...TIGHT, rules: 0, limits: { ...TIGHT.limits, orders: 24, receipts: 12 } },
  /** Two assets and a pair to begin with, and room for more. */
  listing: {
    limits: {
      orders: 512, accounts: 12, priceTicks: 2048, receipts: 64, openOrdersPerAccount: 24, subAccountsPerMaster: 3, spendLimits: 64,
      assets: 6, pairs: 9,
    },
    dailyLimit: 6,
    assets: [['USD', 4, '2000'], ['A', 3, '60']],
    pairs: [pairSpec('A/USD', { lotSize: '0.01', minOrderSize: '0.01', maxOrderSize: '20', makerFeeBps: '-2', takerFeeBps: '50' })],
    feeTiers: { asset: 'USD', tiers: [['0', '0', '0'], ['10', '0.2', '0.5']] },
    families: true,
    listing: true,
  },
  /** Rates at the bounds of the genesis and amounts so small that every fee is rounding. */
  fees: {
    limits: { orders: 4096, priceTicks: 4096, receipts: 128, openOrdersPerAccount: 64 },
    dailyLimit: 15,
    assets: [['USD', 3, '1000'], ['A', 3, '1000'], ['B', 3, '3000']],
    pairs: [
      pairSpec('A/USD', { lotSize: '0.1', minOrderSize: '0.1', maxOrderSize: '100', makerFeeBps: '-200', takerFeeBps: '200' }),
      pairSpec('B/USD', { tickSize: '0.001', lotSize: '1', minOrderSize: '1', makerFeeBps: '200', takerFeeBps: '200' }),
      pairSpec('B/A', { tickSize: '0.001', lotSize: '1', minOrderSize: '1', makerFeeBps: '200', takerFeeBps: '0' }),
    ],
  },
  /** By its tier the same maker pays or earns and the same taker pays a lot or nothing; accounts are poor, so that it matters. */
  tiers: {
    limits: {
      orders: 4096, accounts: 16, priceTicks: 4096, receipts: 512, openOrdersPerAccount: 8, sessionsPerAccount: 2, agentsPerAccount: 2,
    },
    dailyLimit: 2,
    assets: [['USD', 5, '20'], ['A', 3, '1'], ['B', 3, '10']],
    pairs: [
      pairSpec('A/USD', { minOrderSize: '0.1', maxOrderSize: '10', makerFeeBps: '150', takerFeeBps: '200' }),
      pairSpec('B/USD', {
        tickSize: '0.001', lotSize: '0.01', minOrderSize: '1', maxOrderSize: '200', makerFeeBps: '200', takerFeeBps: '150',
      }),
    ],
    feeTiers: {
      asset: 'USD', tiers: [['0', '0', '0'], ['10', '200', '150'], ['20', '0', '150'], ['30', '149.99', '150'], ['40', '200', '37.5']],
    },
  },
  perps: { ...PERPS, pairs: oftenFunded(PERPS.pairs), feeTiers: PERPS_TIERS },
  perpsTight: { ...PERPS_TIGHT, pairs: oftenFunded(PERPS_TIGHT.pairs), feeTiers: TIGHT_TIERS },
  /** Both again with orders that wait: room for them, and nearly none; slices every two seconds. */
  perpsWaiting: {
    ...PERPS, waiting: true, pairs: seldomStale(oftenFunded(PERPS.pairs)), feeTiers: PERPS_TIERS,
    limits: {
      ...PERPS.limits, ...SLICES, conditionalOrders: 1024, conditionalOrdersPerAccount: 40, twapOrders: 128, twapOrdersPerAccount: 12,
    },
  },
  perpsWaitingTight: {
    ...PERPS_TIGHT, waiting: true, pairs: smallOrders(oftenFunded(PERPS_TIGHT.pairs)), feeTiers: TIGHT_TIERS,
    limits: {
      ...PERPS_TIGHT.limits, ...SLICES, orders: 128, conditionalOrders: 48, conditionalOrdersPerAccount: 5, twapOrders: 24,
      twapOrdersPerAccount: 2,
    },
  },
  /** Copy trading: room for it, and nearly none, with orders that wait. */
  perpsCopied: {
    ...PERPS, copies: true, pairs: seldomStale(oftenFunded(PERPS.pairs)), feeTiers: PERPS_TIERS,
    limits: {
      ...PERPS.limits, leaders: 64, follows: 128, followsPerAccount: 3, handlePauseMs: 600_000, copyBandBps: 200, leaderLeast: 3000,
      copyRatio: 2,
    },
  },
  perpsCopiedTight: {
    ...PERPS_TIGHT, waiting: true, copies: true, pairs: smallOrders(oftenFunded(PERPS_TIGHT.pairs)), feeTiers: TIGHT_TIERS,
    limits: {
      ...PERPS_TIGHT.limits, ...SLICES, orders: 128, conditionalOrders: 48, conditionalOrdersPerAccount: 5, twapOrders: 24,
      twapOrdersPerAccount: 2, leaders: 4, follows: 8, followsPerAccount: 2, followersPerLeader: 2, handlePauseMs: 60_000,
    },
  },
  family: FAMILY,
  /** Applications charge for fills: families, makers that pay and that earn, and amounts so small that all of it is rounding. */
  builder: {
    ...FAMILY, builder: true, assets: [['USD', 3, '4000'], ['A', 3, '60'], ['B', 3, '500']],
    pairs: [
      pairSpec('A/USD', { lotSize: '0.1', minOrderSize: '0.1', maxOrderSize: '20', makerFeeBps: '-20', takerFeeBps: '50' }),
      pairSpec('B/USD', { lotSize: '0.1', minOrderSize: '0.1', maxOrderSize: '200', makerFeeBps: '100', takerFeeBps: '200' }),
    ],
  },
  /** Accounts bring others and earn of their fees, in families and beside what applications get ... */
  referred: {
    ...FAMILY, builder: true, referrals: true, assets: [['USD', 3, '4000'], ['A', 3, '60'], ['B', 3, '500']],
    pairs: [
      pairSpec('A/USD', { lotSize: '0.1', minOrderSize: '0.1', maxOrderSize: '20', makerFeeBps: '-20', takerFeeBps: '50' }),
      pairSpec('B/USD', { lotSize: '0.1', minOrderSize: '0.1', maxOrderSize: '200', makerFeeBps: '100', takerFeeBps: '200' }),
    ],
  },
  /** ... and where rows of accounts go from one wallet to another. */
  referredVisitors: {
    ...TIGHT, referrals: true, limits: { ...TIGHT.limits, accounts: 30, sessions: 180, sessionsPerAccount: 3, subAccountsPerMaster: 2 },
    families: true, clients: 90, visitors: 84, pairs: TIGHT.pairs.map((pair) => ({ ...pair, makerFeeBps: '150', takerFeeBps: '200' })),
  },
  /** Money in and out, in families, with few rows for what is under way or in suspense ... */
  vault: {
    ...FAMILY, vault: true, limits: { ...FAMILY.limits, withdrawals: 100, withdrawalsPerAccount: 3, suspense: 12 },
    withdrawals: { USD: { minimum: '0.05', userDailyLimit: '900', dailyLimit: '4000', approvalAbove: '90' }, A: { userDailyLimit: '20' } },
  },
  /** ... where rows of accounts go from one wallet to another, and all is nearly full ... */
  vaultVisitors: {
    ...TIGHT, vault: true, families: true, clients: 90, visitors: 84,
    limits: {
      ...TIGHT.limits, accounts: 30, sessions: 180, sessionsPerAccount: 3, subAccountsPerMaster: 2, withdrawals: 6,
      withdrawalsPerAccount: 2, suspense: 4,
    },
  },
  /** ... and beside margin trading. */
  perpsVault: { ...PERPS, vault: true, pairs: oftenFunded(PERPS.pairs), feeTiers: PERPS_TIERS },
  perpsReferred: { ...PERPS, builder: true, referrals: true, pairs: oftenFunded(PERPS.pairs), feeTiers: PERPS_TIERS },
  perpsBuilder: { ...PERPS, builder: true, pairs: oftenFunded(PERPS.pairs), feeTiers: PERPS_TIERS },
  /** The same with TWAP orders, a slice each second, of more than the least value. */
  waiting: {
    ...FAMILY, waiting: true, pairs: FAMILY.pairs.map((pair) => ({ ...pair, minNotional: '0.9' })),
    limits: {
      ...FAMILY.limits, twapSliceMs: 1000, twapOrders: 40, twapOrdersPerAccount: 5, conditionalOrders: 24, conditionalOrdersPerAccount: 3,
    },
  },
  /** Makers with leases on few pairs, and TWAP orders of theirs. */
  launches: { ...FAMILY, waiting: true, launches: true },
  /** The same, begun by a version that did not ask wallets for their consent. */
  olderFamily: { ...FAMILY, rules: 0 },
  /** One deep book over a wide range of prices, long queues, many pages of levels; sizes up to the largest order value. */
  deep: {
    limits: { orders: 16_384, priceTicks: 1_048_576, openOrdersPerAccount: 1000 },
    dailyLimit: 15,
    assets: [['USD', 6, '500000000'], ['COIN', 6, '500000000']],
    pairs: [pairSpec('COIN/USD', { tickSize: '0.001', maxOrderSize: '2000000', makerFeeBps: '0.25' })],
  },
}
