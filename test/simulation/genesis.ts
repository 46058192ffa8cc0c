/**
 * The simulated exchanges: few and poor clients, so that funds, orders per account and books are at their ends now and then. One
 * has two spot pairs; the other has two perpetuals besides, and a third one for the drill, with short funding intervals, few rows for all
 * of margin trading and copy trading, and fees that make the insurance fund rich enough to take positions over.
 */
import { genesisText, LADDER, pairSpec, perpPair, type VariantSpec } from '../support/variants.ts'

export const START_MS = 1_700_000_000_000
/** Spot pairs, which come first. */
export const PAIRS = 2
/** Indexes of the perpetuals. */
export const PERPS: readonly number[] = [2, 3]
/** The perpetual of the drill (drill.ts). */
export const DRILL_PAIR = 4
/** Index price at which both begin, ticks. A lot is then worth half a unit of the collateral asset. */
export const REFERENCE = 500
/** Ticks are below this. */
export const PRICE_TICKS = 1024

const SPOT: VariantSpec = {
  limits: {
    // Receipts outlive the run: a retry is never too late, so a key has one order whatever clocks do.
    orders: 512, accounts: 12, sessions: 64, receipts: 2048, openOrdersPerAccount: 12, priceTicks: PRICE_TICKS, sessionsPerAccount: 3,
    receiptLifetimeMs: 365 * 86_400_000, sessionLifetimeMs: 365 * 86_400_000,
    withdrawals: 24, withdrawalsPerAccount: 4, suspense: 160,
    conditionalOrders: 128, conditionalOrdersPerAccount: 12, twapOrders: 24, twapOrdersPerAccount: 3, twapSliceMs: 1000,
  },
  dailyLimit: 6,
  assets: [['USD', 4, '900'], ['A', 3, '90'], ['B', 3, '400']],
  pairs: [
    pairSpec('A/USD', { lotSize: '0.1', minOrderSize: '0.1', maxOrderSize: '100', makerFeeBps: '-1', takerFeeBps: '5' }),
    pairSpec('B/A', { lotSize: '1', minOrderSize: '1', maxOrderSize: '100', makerFeeBps: '2', takerFeeBps: '7' }),
  ],
}

/** The one of the drill has the terms of the first. */
const perpetual = (base: string): VariantSpec['pairs'][number] => perpPair(`${base}/USD-PERP`, {
  referencePrice: '5', liquidationFeeBps: '150', maxPositionSize: '2000', fundingIntervalSeconds: 60, maxFundingRate: '0.01',
  staleSeconds: 30, basisSeconds: 10, impactNotional: '1',
  riskTiers: LADDER.map((tier, at) => ({ ...tier, lowerBoundNotional: ['0', '200', '800'][at]! })),
}, { lotSize: '0.1', minOrderSize: '0.1', maxOrderSize: '2000', makerFeeBps: base === 'B' ? '1' : '-1', takerFeeBps: '40' })

const WITH_PERPS: VariantSpec = {
  ...SPOT,
  limits: {
    ...SPOT.limits, marginAccounts: 64, riskBuckets: 96, positions: 96, marginSubAccounts: 3, bucketsPerMarginAccount: 5,
    leaders: 4, follows: 8, followsPerAccount: 2, followersPerLeader: 3, handlePauseMs: 3000,
  },
  assets: [['USD', 6, '900'], ...SPOT.assets.slice(1), ['C', 3, '1']],
  pairs: [...SPOT.pairs, ...['A', 'B', 'C'].map(perpetual)],
}

/** The genesis document of an exchange with or without perpetuals. */
export const genesisWith = (perps: boolean): string => (perps ? PERPETUAL_GENESIS : SPOT_GENESIS)

const [SPOT_GENESIS, PERPETUAL_GENESIS] = [genesisText(SPOT), genesisText(WITH_PERPS)]
