/**
 * Rows of money in and out (columns.ts): withdrawals under way, deposits in suspense, the chains that are read, and sums by asset.
 *
 *   vault          one row: counts, the stop, how far settlement is
 *   vaultTotals    one an asset: sums of what came, went and is under way, and what may be withdrawn
 *   vaultAccounts  one an account: its list of withdrawals, newest first, and what it withdrew today
 *   withdrawals    pool with a free list; terminal ones leave it, the history keeps them
 *   suspense       pool with a free list: deposits without an account
 *   lostDeposits   list without gaps: deposits that found no row of suspense, until they are sent again and find an account or a row
 *   vaultChains    one a chain: the cursor
 *   depositIds     ring of the last deposits, so that a rewound cursor credits none twice
 *   faucetMints    ring of the last mints on the hub
 *   settlements    ring of the last batches
 *
 * Of an asset: ISSUED (columns.ts, TOTAL) = faucet + DEPOSITED - WITHDRAWN, so what the faucet issued is not kept of itself. What was ever
 * issued, ISSUED + WITHDRAWN, only grows and is never beyond MAX_ISSUED, and so no sum here is. Rows in links and lists are + 1; 0 is none.
 */
import { f64, i64 } from './fields.ts'

/** Words of a hash of 32 bytes and of an address of 20. */
export const HASH_WORDS = 8
export const ADDRESS_WORDS = 5

export const VAULT_WORDS = 32
export const VAULT = {
  WITHDRAWALS_FREE: 0, WITHDRAWALS_LIVE: 1, SUSPENSE_FREE: 2, SUSPENSE_LIVE: 3,
  /** Chains known; WithdrawalStop of layout/vault.ts. */
  CHAINS: 4, STOPPED: 5,
  /** Grows with every change of what withdrawals may be. */
  CHANGES: 6,
  /** Rows of withdrawals by whether they wait for approval. */
  NEED_APPROVAL: 7,
  /** f64: ever; their last ones stand in the rings. */
  DEPOSITS: f64(8), FAUCET_MINTS: f64(10),
  /** f64: last batch opened, the last sequence in it and fills up to it; last one confirmed, and its last sequence. */
  BATCH: f64(12), THROUGH: f64(14), FILLS: f64(16), CONFIRMED: f64(18), CONFIRMED_THROUGH: f64(20),
  /** Odd while a command of money in and out is being applied (view/vault.ts); it grows by two with each. */
  TURNS: 22,
  /** Rows of lostDeposits. */
  LOST: 23,
} as const

export const VAULT_TOTAL_WORDS = 24
export const VAULT_TOTAL = {
  /** Atoms that came from the chain, suspense included, and that went there. */
  DEPOSITED: i64(0), WITHDRAWN: i64(2),
  /** Atoms locked by withdrawals under way; of deposits in suspense; minted on the hub of what the faucet issued. */
  LOCKED: i64(4), SUSPENSE: i64(6), MINTED: i64(8),
  /** Terms of the operator, once TERMS_SET is 1: before that those of the genesis count. Withdrawn on day DAY, f64, days since 1970. */
  MINIMUM: i64(10), USER_DAILY: i64(12), TOTAL_DAILY: i64(14), APPROVAL_ABOVE: i64(16), USED: i64(18), DAY: f64(20),
  TERMS_SET: 22,
} as const

export const VAULT_ACCOUNT_WORDS = 8
export const VAULT_ACCOUNT = {
  NEWEST: 0, LIVE: 1,
  /** On the row of its family: withdrawals of the family. */
  FAMILY_LIVE: 2,
  /** On day DAY: 1 + billionths of the thresholds of approval that it asked for; 0: it asked for nothing under the rules 5. */
  APPROVAL: 3,
  /** f64: billionths of its daily limits that it used on day DAY. */
  USED: f64(4), DAY: f64(6),
} as const
/** All of a daily limit, in the units of USED. */
export const WHOLE_DAY = 1_000_000_000

export const WITHDRAWAL_WORDS = 40
export const WITHDRAWAL_ROW = {
  /** Next free row, or its neighbours in the list of its account. */
  NEXT: 0, PREV: 1, STATUS: 2, FLAGS: 3, ACCOUNT: 4, ASSET: 5,
  /** f64: sequence that made it, its nonce; 0: the row is free. */
  SEQUENCE: f64(6),
  AMOUNT: i64(8),
  /** f64, Unix ms. */
  CREATED_AT: f64(10), DEADLINE: f64(12), UPDATED_AT: f64(14),
  /** f64: the day, and what it took of the account's daily limit. */
  DAY: f64(16), SHARE: f64(18),
  /** f64: block of its transaction. */
  BLOCK: f64(20),
  TX_HASH: 22, DESTINATION: 30,
  /** What it took of VAULT_ACCOUNT.APPROVAL on day DAY. */
  APPROVAL_SHARE: 35,
  /** f64: the day it was signed on, once COUNTING says so; {@link Counting} bits. */
  SIGNED_DAY: f64(36), COUNTING: 38,
} as const
/**
 * How a withdrawal counts on the day of all. BY_SIGNATURE: made under the rules 5, it counts from its signature on; without it, on the day
 * it was made. FIRST: the first of its account on the day it was made. SIGNED: it is counted, on SIGNED_DAY.
 */
export const Counting = { BY_SIGNATURE: 1, FIRST: 2, SIGNED: 4 } as const

export const SUSPENSE_WORDS = 36
export const SUSPENSE = {
  NEXT: 0, ASSET: 1, APPLICATION: 2, CHAIN: 3,
  /** f64: sequence that made it; 0: the row is free. */
  SEQUENCE: f64(4),
  AMOUNT: i64(6), REMAINDER: i64(8), CREATED_AT: f64(10), BLOCK: f64(12),
  /** DEPOSITS: how many it stands for: more than 1 of the last row alone. */
  LOG_INDEX: 14, DEPOSITS: 15,
  TX_HASH: 16, BENEFICIARY: 24, TOKEN: 29,
  /** 1: its atoms are in the totals, as those of any balance. 0: of an unknown token, or beyond what may be issued. */
  COUNTED: 34,
} as const

/** Rows of lostDeposits for each row of suspense that there may be. */
export const LOST_PER_SUSPENSE = 4
export const LOST_DEPOSIT_WORDS = 20
export const LOST_DEPOSIT = {
  CHAIN: 0, LOG_INDEX: 1, BLOCK: f64(2),
  /** f64: the command that found no room for it. */
  SEQUENCE: f64(4),
  TX_HASH: 6, BENEFICIARY: 14, APPLICATION: 19,
} as const

export const VAULT_CHAIN_WORDS = 20
export const VAULT_CHAIN = {
  /** f64. */
  CHAIN_ID: f64(0), BLOCK: f64(2),
  /** f64, Unix ms: of that block. */
  BLOCK_TIME: f64(4),
  /** The last deposit that was taken: f64 and place of its log; {@link ALL_LOGS}: all of that block are behind. */
  DEPOSIT_BLOCK: f64(6), DEPOSIT_LOG: 8,
  /** Rewinds so far. */
  REWINDS: 9,
  HASH: 10,
  /** f64: highest block of a deposit that left the ring of the last ones: the chain is not rewound to before it. */
  LEFT: f64(18),
} as const
/** VAULT_CHAIN.DEPOSIT_LOG behind every log of its block. */
export const ALL_LOGS = 2 ** 31 - 1

/** DEPOSIT_ID.LOG_INDEX: see there. */
export const MOVED = -1
/** Last deposits that are kept, by number modulo this. */
export const DEPOSIT_IDS = 1024
export const DEPOSIT_ID_WORDS = 12
/** LOG_INDEX is {@link MOVED} of a deposit that a rewind took back: its transaction comes again, at whatever place. */
export const DEPOSIT_ID = { CHAIN: 0, LOG_INDEX: 1, BLOCK: f64(2), TX_HASH: 4 } as const

export const FAUCET_MINTS = 256
export const FAUCET_MINT_WORDS = 12
export const FAUCET_MINT = { ASSET: 0, THROUGH: f64(2), TX_HASH: 4 } as const

export const SETTLEMENTS = 16
export const SETTLEMENT_WORDS = 36
export const SETTLEMENT_ROW = {
  STATUS: 0,
  BATCH: f64(2), FROM: f64(4), THROUGH: f64(6), FILLS: f64(8), OPENED_AT: f64(10),
  TRADES_ROOT: 12, BALANCES_ROOT: 20, TX_HASH: 28,
} as const
