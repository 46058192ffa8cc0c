/**
 * The simulated exchange: two pairs, few and poor clients, so that funds, orders per account and books are at their
 * ends now and then.
 */
import { genesisText, pairSpec } from '../support/variants.ts'

export const START_MS = 1_700_000_000_000
export const PAIRS = 2

export const GENESIS = genesisText({
  limits: {
    // Receipts outlive the run: a retry is never too late, so a key has one order whatever clocks do.
    orders: 512, accounts: 12, sessions: 64, receipts: 2048, openOrdersPerAccount: 12, priceTicks: 1024, sessionsPerAccount: 3,
    receiptLifetimeMs: 365 * 86_400_000, sessionLifetimeMs: 365 * 86_400_000,
  },
  dailyLimit: 6,
  assets: [['USD', 4, '900'], ['A', 3, '90'], ['B', 3, '400']],
  pairs: [
    pairSpec('A/USD', { lotSize: '0.1', minOrderSize: '0.1', maxOrderSize: '100', makerFeeBps: '-1', takerFeeBps: '5' }),
    pairSpec('B/A', { lotSize: '1', minOrderSize: '1', maxOrderSize: '100', makerFeeBps: '2', takerFeeBps: '7' }),
  ],
})
