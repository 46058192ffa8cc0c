/** Names of movements as the history stores them and as the specification spells them (Movements). */

/** Numbers of entryType and transactionType, stored: never renumber. */
export const Entry = { CREDIT: 1, DEBIT: 2, LOCK: 3, UNLOCK: 4 } as const
export const ENTRY_NAMES = ['', 'CREDIT', 'DEBIT', 'LOCK', 'UNLOCK'] as const
export const Transaction = {
  DEPOSIT: 1, WITHDRAWAL: 2, TRADE: 3, FEE: 4, REBATE: 5, APPLICATION_FEE: 6, TRANSFER: 7, FUNDING: 8, LIQUIDATION: 9, ADL: 10, FAUCET: 11,
  REFERRAL_REWARD: 12, REVENUE_SHARE: 13, SETTLEMENT: 14, ADJUSTMENT: 15,
} as const
export const TRANSACTION_NAMES = ['', ...Object.keys(Transaction)] as const

/** What a movement refers to. */
export const Reference = { ORDER: 1, TRADE: 2, CREDIT: 3, TRANSFER: 4, POSITION: 5, RISK_BUCKET: 6, WITHDRAWAL: 7, DEPOSIT: 8 } as const
