/**
 * What orders, orders that wait and transfers are made of on their way to the engine: the terms that encode.ts and encode_waiting.ts write
 * and payload.ts hashes.
 */

/** The order that a replacement names by its client order id, and what it asks for, before anybody knows the pair. */
export interface NamedTarget {
  readonly clientOrderId: string
  readonly price: DecimalUnits | null
  readonly quantity: DecimalUnits | null
}

/** Terms of PLACE_ORDER and REPLACE_ORDER as numbers; what a command does not use is 0. */
export interface OrderTerms {
  pair: number
  /** Its id; not part of the record. '' in a replacement, whose order says it. */
  pairId: string
  /** Flag bits, without the length of the label. */
  flags: number
  /** {@link Option} bits of what a replacement changes. */
  options: number
  /** Ticks. */
  price: number
  lots: number
  slippageBps: number
  /** Unix ms. */
  expiresAt: number
  /** Printable ASCII, at most 40 bytes. */
  clientOrderId: string
  /** Idempotency key; '' without one. */
  key: string
  targetSlot: number
  targetSequence: number
  /** Instead of target, price and lots; null: these count. */
  named: NamedTarget | null
  /** Of an order of a perpetual; null: it is none. */
  margin: MarginTerms | null
  /** Take-profit, stop-loss and trailing stop of a new order of a perpetual; null: it has none. */
  legs: LegsTerms | null
  /** The answer has its fills one by one; part of neither record nor payload. */
  returnFills: boolean
}

/** What an order of a perpetual carries besides; a field is as the one of this name of ORDER_COMMAND (core/layout/command.ts). */
export interface MarginTerms {
  /** Atoms that it brings at least; 0: what it needs. */
  collateral: bigint
  /** Of the position, the bucket or the margin account, whichever is named and comes first in this order. */
  namedSequence: number
  /** Sequence of the margin account that is named; 0: the parent. Not part of the record of an order. */
  accountSequence: number
  /** Rows + 1; 0: the parent, and the bucket that the strategy key or its absence says. */
  marginAccount: number
  bucket: number
  /** Hundredths. */
  leverage: number
  /** First 8 bytes of SHA-256 over the strategy key; 0: none (strategy_key.ts). */
  keyLow: number
  keyHigh: number
  /** The key itself, '' for none; not part of the record of an order. */
  strategyKey: string
  /** Of a close: row + 1 of the position. */
  position: number
}

/** Of an order of the parent margin account that names nothing; for the caller to complete. */
export const noMarginTerms = (): MarginTerms =>
  ({
    collateral: 0n, namedSequence: 0, accountSequence: 0, marginAccount: 0, bucket: 0, leverage: 0, keyLow: 0, keyHigh: 0, strategyKey: '',
    position: 0,
  })

/** What every leg has. */
interface AnyLegTerms {
  /** LegFlag bits that a gateway may set (core/layout/conditional.ts). */
  readonly flags: number
  /** At most so many; 0: the whole position. */
  readonly lots: number
  readonly slippageBps: number
  /** Unix ms; 0: never. */
  readonly expiresAt: number
}
/** A take-profit or stop-loss, in ticks; `limit` 0: it enters a MARKET order. */
export interface LegTerms extends AnyLegTerms {
  readonly trigger: number
  readonly limit: number
}
/** A trailing stop; `activation` in ticks, 0: it is armed at once. */
export interface TrailTerms extends AnyLegTerms {
  readonly bps: number
  readonly activation: number
}
/** The legs of one command; null: it has none of that kind. */
export interface LegsTerms {
  readonly takeProfit: LegTerms | null
  readonly stopLoss: LegTerms | null
  readonly trailingStop: TrailTerms | null
}

/** Terms of CREATE_TWAP; ticks, lots and Unix ms, 0 for what it does not have. */
export interface TwapTerms {
  pair: number
  /** Flag bits of its slices. */
  flags: number
  /** TwapOption bits (core/layout/twap.ts). */
  options: number
  price: number
  lots: number
  slippageBps: number
  trigger: number
  startAt: number
  endAt: number
  durationMs: number
  conditionalExpiry: number
  /** 64 random bits. */
  seed: bigint
  /** The client's id, printable ASCII; '' without one. */
  label: string
  /** Of a perpetual; null: it is of a spot pair. */
  margin: MarginTerms | null
}

/** Terms of MOVE_COLLATERAL. */
export interface CollateralTerms {
  /** CollateralMove (core/layout/margin.ts). */
  readonly move: number
  /** Row of the margin account; -1: the caller's parent. */
  readonly marginAccount: number
  /** Row of the bucket; -1: none. */
  readonly bucket: number
  /** The sequence that made the one that is named; 0: the parent. */
  readonly createdSequence: number
  /** Atoms, at least 1. */
  readonly amount: bigint
  /** Idempotency key; '' without one. */
  readonly key: string
  /** Nothing is to be moved: what is asked for is the first answer of the key, otherwise it is NOT_FOUND. */
  readonly onlyRepeated?: boolean
}

/** Terms of TRANSFER. */
export interface TransferTerms {
  /** Row of the sub-account. */
  readonly subAccount: number
  /** Index of the asset. */
  readonly asset: number
  /** From the master to the sub-account; otherwise back. */
  readonly toSub: boolean
  /** Atoms, at least 1. */
  readonly amount: bigint
  /** Idempotency key; '' without one. */
  readonly key: string
}

/** Terms of TRANSFER_REWARDS. */
export interface RewardsTerms {
  /** Index of the asset. */
  readonly asset: number
  /** Atoms, at least 1. */
  readonly amount: bigint
  /** Idempotency key; '' without one. */
  readonly key: string
}

/** Terms of INITIATE_WITHDRAWAL. */
export interface WithdrawalTerms {
  /** Index of the asset. */
  readonly asset: number
  /** Atoms, at least 1. */
  readonly amount: bigint
  /** 0x and 40 hex digits in lower case. */
  readonly destination: string
  /** Idempotency key; '' without one. */
  readonly key: string
}

/** Who a sign-in names as its referrer. */
export interface Referrer {
  /** Row of the account, and the sequence that made it. */
  readonly account: number
  readonly createdSequence: number
}

/** A decimal: `units` × 10^-`scale`. */
export interface DecimalUnits {
  /** A whole number, at most 2^53 - 1. */
  readonly units: number
  readonly scale: number
}
