/**
 * Rows of margin trading: columns perps, perpTerms, perpTiers, marginAccounts, riskBuckets, positions and orderMargins (columns.ts).
 *
 *   account --PARENT_MARGIN--> margin account --NEXT--> its margin sub-accounts
 *                                    | FIRST_BUCKET
 *                                    v
 *                               risk bucket --NEXT--> ...      isolated: one pair and strategy key; cross: one strategy key
 *                                    | FIRST_POSITION
 *                                    v
 *                               position --NEXT--> ...         one a pair; its resting orders hang on it
 *
 * Collateral, in atoms of the one collateral asset. A margin account owns DEPOSITED. Of that, EARMARKED is what its buckets have: the
 * sum of their ALLOCATED (committed, backs positions) and PENDING (brought by resting orders, not committed yet). The rest is free.
 * A bucket's REALIZED is what its trading made or lost since it was settled with its margin account last: profit and loss of closed
 * lots, fees and funding. Its equity is ALLOCATED + REALIZED + the unrealised profit of its positions.
 *
 * Rows in links are + 1; 0 is none.
 */
import { f64, i64 } from './fields.ts'

export const PERP_WORDS = 64
/** Of a perpetual: its prices, its funding and what is open. All zero of a spot pair. */
export const PERP = {
  /** Ticks; 0: there was none yet. */
  INDEX: 0, MARK: 1,
  /** PerpMode (layout/margin.ts). */
  MODE: 2,
  /** Where the index price came from: PriceSource. */
  SOURCE: 3,
  /** f64, Unix ms: sequenced time of the last index price, and when its source saw it. */
  INDEX_AT: f64(4), OBSERVED_AT: f64(6),
  /** i64, 10^-6 ticks: smoothed distance of the book's middle from the index; f64: when it was smoothed last. */
  BASIS: i64(8), BASIS_AT: f64(10),
  /** i64, 10^-8: sum of the premium samples of this interval; how many. */
  PREMIUM_SUM: i64(12), SAMPLES: 14,
  /** Rate that was paid last, 10^-8 of the notional; positive: longs pay. */
  LAST_RATE: 15,
  /** f64, Unix ms: when it was paid, when funding is paid next, when the premium is sampled next. */
  LAST_FUNDING_AT: f64(16), NEXT_FUNDING_AT: f64(18), NEXT_SAMPLE_AT: f64(20),
  /** i64, 10^-6 atoms: what one long lot has paid since the exchange began. Wraps; only differences count. */
  CUMULATIVE: i64(22),
  /** f64: lots of all longs, which are those of all shorts; most that there may be, 0: no cap but the positions' own. */
  OPEN_LOTS: f64(24), OPEN_CAP: f64(26),
  /** Positions that are open; settlement price in ticks. */
  POSITIONS: 28, SETTLEMENT: 29,
  /** A mark that the operator forced, ticks, 0: none; f64: until then. */
  FORCED_MARK: 30, FORCED_UNTIL: f64(32),
  /** Row to go on with, of a walk over positions that is under way: settlement (liquidation/settle_pair.ts). */
  CURSOR: 34,
  /** A price beyond the band of a stale index that waits for others like it (programs/prices.ts), ticks; how many there were, 0: none. */
  SUSPECT: 35, SUSPECTS: 36,
  /** f64, Unix ms: when the last of them came. */
  SUSPECT_AT: f64(38),
  /** Conditional orders that are due, and those that were armed behind marks still to be looked at: first and last, rows + 1. */
  DUE_FIRST: 40, DUE_LAST: 41, LATER_FIRST: 42, LATER_LAST: 43,
  /** Those marks: place of the first in the ring, and how many (column pendingMarks). */
  MARKS_FIRST: 44, MARKS: 45,
  /** Trailing stops of longs and of shorts: newest and oldest of the groups that are their own, rows + 1; how many are armed. */
  TRAIL_NEWEST: 46, TRAIL_OLDEST: 48, TRAILS: 50,
  /** Cover of the insurance fund (margin/fund_limits.ts). What the operator set, + 1, 0: that of the genesis: ppm; f64: atoms. */
  FUND_SHARE: 52, FUND_ALLOWANCE: f64(56),
  /** Days since 1970; i64, atoms that the fund covered here on that day. */
  FUND_DAY: 53, FUND_PAID: i64(54),
  /** A jump of the index (margin/index_jump.ts). f64: since when it is measured, or when it was confirmed last; from which price, ticks; */
  JUMP_AT: f64(58), JUMP_FROM: 60,
  /** prices that still have to confirm it, 0: none; window that the operator set, seconds + 1, 0: that of the genesis. */
  JUMP_LEFT: 61, JUMP_SECONDS: 62,
} as const

export const PERP_TERMS_WORDS = 32
/** What margin trading needs of a perpetual's genesis, as numbers; derived. NUMBER 0: a spot pair. */
export const PERP_TERMS = {
  /** Place among the perpetuals, from 1. */
  NUMBER: 0,
  /** Number of tiers, 1..TIERS_MAX. */
  TIERS: 1,
  /** Hundredths; the most is that of tier 1. */
  MIN_LEVERAGE: 2, MAX_LEVERAGE: 3,
  /** Most lots of one position. */
  MAX_POSITION_LOTS: 4,
  LIQUIDATION_FEE_PPM: 5,
  /** Clamp of the rate of one interval, 10^-8. */
  RATE_CAP: 6,
  /** The mark stays within so many ppm of the index; an index price within so many of the one before. */
  MARK_BAND_PPM: 7, INDEX_BAND_PPM: 8,
  /** f64, ms: length of a funding interval, age at which an index price is stale, time of the smoothing of the basis. */
  FUNDING_MS: f64(10), STALE_MS: f64(12), BASIS_MS: f64(14),
  /** Ticks: where the embedded price begins. */
  REFERENCE: 16,
  /** Of the insurance fund: ppm that a day of the perpetual may cost; f64: atoms that an owner may. */
  FUND_SHARE: 17, FUND_ALLOWANCE: f64(18),
  /** Who is asked before the fund: for so many minutes whom a position was opened against; whoever holds more ppm of the other side. */
  DELEVERAGE_MINUTES: 20, DELEVERAGE_PPM: 21,
  /** f64, ms: window in which a jump of the index is measured. */
  JUMP_MS: f64(22),
  /** The basis stays within so many ppm of the index. */
  BASIS_PPM: 26,
  /** f64, ticks × lots: what each side of the book must bear to have a voice in mark and funding. */
  IMPACT: f64(24),
} as const

/** Most of PERP_TERMS.IMPACT, so that products of a walk over the book are exact (margin/impact_price.ts). */
export const IMPACT_MOST = 2 ** 46

/** Most tiers of one ladder. */
export const TIERS_MAX = 8
export const TIER_WORDS = 12
/** One tier; derived. Its requirements of a notional N: N × ratio - deduction (margin/tiers.ts). */
export const TIER = {
  /** i64, atoms. */
  LOWER_BOUND: i64(0), INITIAL_DEDUCTION: i64(2), MAINTENANCE_DEDUCTION: i64(4),
  INITIAL_PPM: 6, MAINTENANCE_PPM: 7,
  /** Hundredths. */
  MAX_LEVERAGE: 8,
} as const

export const MARGIN_ACCOUNT_WORDS = 32
export const MARGIN_ACCOUNT = {
  /** Account that owns it. */
  ACCOUNT: 0,
  /** MarginAccountKind. */
  KIND: 1,
  /** The next margin account of the same owner; of a row that is not used: the next free one. */
  NEXT: 2,
  FIRST_BUCKET: 3, BUCKETS: 4,
  /** 1: open; 0: closed, and the row is free. */
  OPEN: 5,
  /** i64, atoms; see above. */
  DEPOSITED: i64(6), EARMARKED: i64(8),
  /** f64 each: id; times in Unix ms; grows with every change. */
  CREATED_SEQUENCE: f64(10), CREATED_AT: f64(12), UPDATED_AT: f64(14), VERSION: f64(16),
  /** i64, atoms: what its buckets realised and settled with it, ever. */
  SETTLED: i64(18),
  /** 32 bytes of UTF-8, zero padded. */
  LABEL: 20,
  /** TWAP orders that named it, or a bucket of it. */
  TWAPS: 28,
  /** The follow that it is of, row + 1 (copy_rows.ts). */
  FOLLOW: 29,
} as const
export const MarginAccountKind = { PARENT: 0, SUB: 1 } as const

/** Bytes of a strategy key, printable ASCII; none: all zero. */
export const STRATEGY_KEY_BYTES = 48
export const STRATEGY_KEY_WORDS = STRATEGY_KEY_BYTES / 4
export const RISK_BUCKET_WORDS = 64
export const RISK_BUCKET = {
  ACCOUNT: 0,
  /** Row of its margin account. */
  MARGIN_ACCOUNT: 1,
  /** MarginMode. */
  MODE: 2,
  /** Of an isolated bucket; -1 of a cross one. */
  PAIR: 3,
  /** The next of the same margin account; of a free row the next free one. */
  NEXT: 4,
  /** BucketState. */
  STATE: 5,
  /** Its positions: rows that have lots or resting orders. */
  FIRST_POSITION: 6, POSITIONS: 7,
  /** i64, atoms; see above. */
  ALLOCATED: i64(8), PENDING: i64(10), REALIZED: i64(12),
  /** f64 each. */
  CREATED_SEQUENCE: f64(14), CREATED_AT: f64(16), UPDATED_AT: f64(18), VERSION: f64(20),
  /** f64: sequence at which its liquidation began; 0: it is in none. */
  LIQUIDATION: f64(22),
  /** Neighbours among the buckets that are in liquidation (SCALAR.LIQUIDATIONS_OLDEST), oldest first. */
  LIQUIDATED_NEXT: 24, LIQUIDATED_PREV: 25,
  /** While it is in liquidation: LiquidationStatus (layout/margin_events.ts) of what was done last. */
  STEP: 26,
  /** Resting orders of its positions. */
  ORDERS: 27,
  STRATEGY_KEY: 28,
  /** 256 bits: pairs that it traded (cross). */
  SCOPE: 40,
  /** i64, atoms: everything it realised, ever. */
  LIFETIME: i64(48),
  /** First 8 bytes of SHA-256 over the strategy key; 0: it has none. Orders name it by them. */
  KEY_LOW: 50, KEY_HIGH: 51,
} as const
export const MarginMode = { ISOLATED: 0, CROSS: 1 } as const
export const MARGIN_MODE_NAMES = ['ISOLATED', 'CROSS'] as const
export const BucketState = { FREE: 0, ACTIVE: 1, LIQUIDATING: 2, BAD_DEBT: 3, CLOSED: 4 } as const
export const BUCKET_STATE_NAMES = ['', 'ACTIVE', 'LIQUIDATING', 'BAD_DEBT', 'CLOSED'] as const

export const POSITION_WORDS = 64
export const POSITION = {
  ACCOUNT: 0, BUCKET: 1, PAIR: 2,
  /** The next of the same bucket; of a free row the next free one. */
  NEXT: 3,
  /** Signed: long above 0. 0: only orders rest, or the row is free. */
  LOTS: 4,
  /** Hundredths: that of the newest order that was not reduce-only. */
  LEVERAGE: 5,
  /** i64, atoms: what the open lots were bought for, signed as they are. COST / LOTS is the entry price, exactly. */
  COST: i64(6),
  /** i64, atoms, since it was opened: profit of closed lots without fees; funding that it got; fees. */
  REALIZED: i64(8), FUNDING: i64(10), FEES: i64(12),
  /** i64: PERP.CUMULATIVE as of which funding is settled. */
  FUNDED_TO: i64(14),
  /** Resting orders that may open or enlarge it (all but reduce-only ones). f64: lots; i64: atoms at their limits. */
  BID_LOTS: f64(16), ASK_LOTS: f64(18), BID_VALUE: i64(20), ASK_VALUE: i64(22),
  /** Resting reduce-only orders: lots, never more than |LOTS|; how many; the newest, slot + 1. */
  REDUCE_LOTS: 24, REDUCE_ORDERS: 25, REDUCE_HEAD: 26,
  /** All its resting orders, newest first, slot + 1; how many. */
  ORDERS_HEAD: 27, ORDERS: 28,
  /** f64: sequence of the fill that opened it, its id, 0: it is not open; Unix ms; grows only when the position changed. */
  OPENED_SEQUENCE: f64(32), OPENED_AT: f64(34), UPDATED_AT: f64(36), VERSION: f64(38),
  /** Conditional orders of it and of its entry orders, newest first, row + 1; how many; the one that trails, row + 1. */
  FIRST_CONDITIONAL: 40, CONDITIONALS: 41, TRAILING: 42,
  /** MET_MAX × MET_WORDS words: positions that it was opened against (margin/met.ts). */
  FIRST_MET: 44,
} as const

/** Positions that one remembers. */
export const MET_MAX = 3
export const MET_WORDS = 6
/** One of them: the sequence that opened it, 0: the place is empty; its row; lots; minute of the last fill, since 1970. */
export const MET = { OPENED_SEQUENCE: f64(0), POSITION: 2, LOTS: 3, MINUTE: 4 } as const

export const GUARD_WORDS = 4
/** Of a position, by its row; derived (margin/guards.ts): f64: key in its heap; its place there, 0: it has no guard. */
export const GUARD = { KEY: f64(0), AT: 2 } as const
/** GUARD.AT: in no heap, because its bucket is about to be looked at. */
export const GUARD_TAKEN = 0x7fffffff
export const GUARD_DRIFT_WORDS = 8
/** Of a perpetual, by its number; derived. Row 0 has how far the guards are built: PHASE and CURSOR. */
export const GUARD_DRIFT = {
  /** f64, ticks by which funding moved the guards of longs up, and those of shorts down, since it is counted. */
  LONGS: f64(0), SHORTS: f64(2),
  /** i64: PERP.CUMULATIVE up to which that is counted. */
  SEEN: i64(4),
  /** Of row 0: GuardPhase; the bucket that is armed next, while they are being built. */
  PHASE: 0, CURSOR: 1,
} as const
export const GuardPhase = { NONE: 0, BUILDING: 1, BUILT: 2 } as const

export const ORDER_MARGIN_WORDS = 8
/** Of a margin order, by its slot. Its ORDER.HOLD is the collateral that it brought and that is not committed yet (PENDING). */
export const ORDER_MARGIN = {
  /** Row of its position + 1. */
  POSITION: 0,
  /** Hundredths; 0: it was reduce-only and had none. */
  LEVERAGE: 1,
  /** Neighbours among the resting orders of the position, slots + 1, newest first. */
  NEXT: 2, PREV: 3,
  /** Among its reduce-only ones. */
  REDUCE_NEXT: 4, REDUCE_PREV: 5,
  /** Conditional orders that wait for it to fill, row + 1, with Flag.LEGS. */
  LEGS: 6,
} as const

/** Counterparties that one ranking names. */
export const RANKED_MAX = 256
export const RANKED_WORDS = 6
/** One of them: its position, the sequence that opened it, and what it is ranked by. */
export const RANKED = { OPENED_SEQUENCE: f64(0), SCORE: f64(2), POSITION: 4 } as const
export const RANKING_WORDS = 8 + RANKED_MAX * RANKED_WORDS
/**
 * Counterparties of auto-deleveraging, two rows a perpetual: of its longs, of its shorts (liquidation/ranking.ts). The best of one walk
 * over all positions: a heap while it goes on, then best first; those before NEXT were asked already.
 */
export const RANKING = {
  /** RankingPhase. */
  PHASE: 0,
  /** Row of the position that the walk goes on with. */
  CURSOR: 1,
  COUNT: 2, NEXT: 3,
  /** f64, Unix ms. */
  BEGAN: f64(4),
} as const
export const RankingPhase = { NONE: 0, WALKING: 1, RANKED: 2 } as const

export const MARGIN_TOTAL_WORDS = 8
/** Of the collateral asset. */
export const MARGIN_TOTAL = {
  /** i64, atoms: what payers of funding paid and receivers have not got yet, dust included. */
  FUNDING_POOL: i64(0),
  /** i64, atoms: losses that neither a bucket nor the fund could bear, 0 or more. */
  BAD_DEBT: i64(2),
} as const
