/** TWAP orders, as commands and as the events that tell of them. What they do is in orders/twap.ts. */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

export const TwapState = {
  /** Its start time or its price was not reached. */
  PENDING: 1,
  ACTIVE: 2,
  /** All of it was filled. */
  COMPLETED: 3,
  /** Its window, or the time it waits for its price, is over: what was not filled is its shortfall. */
  EXPIRED: 4,
  CANCELLED: 5,
  /** A slice was refused for a reason that no later slice can get over. */
  FAILED: 6,
} as const
export const TWAP_STATE_NAMES = ['', 'PENDING', 'ACTIVE', 'COMPLETED', 'EXPIRED', 'CANCELLED', 'FAILED'] as const

/** Why the event is told. */
export const TwapReason = {
  CREATED: 0, STARTED: 1,
  /** A slice was placed; `childSlot` is its order's. */
  SLICE: 2,
  /** A slice was left out; `code` is why. */
  SKIPPED: 3,
  COMPLETED: 4, WINDOW_OVER: 5, CONDITION_EXPIRED: 6, USER_CANCELLED: 7, BY_OPERATOR: 8, SESSION_REVOKED: 9, FAILED: 10,
} as const
export const TWAP_REASON_NAMES = [
  'CREATED', 'STARTED', 'SLICE', 'SKIPPED', 'COMPLETED', 'WINDOW_OVER', 'CONDITION_EXPIRED', 'USER_CANCELLED', 'BY_OPERATOR',
  'SESSION_REVOKED', 'FAILED',
] as const

export const TwapOption = {
  /** Sizes and times of slices vary by a fifth, by the seed. */
  RANDOMIZE: 1,
  /** Slices rest at the touch of their own side, post-only, until the next one; clear: MARKET orders. */
  PASSIVE: 1 << 1,
  /** With a trigger price: it starts when the price is there or above; clear: there or below. */
  ABOVE: 1 << 2,
} as const
export const TWAP_OPTION_MASK = TwapOption.RANDOMIZE | TwapOption.PASSIVE | TwapOption.ABOVE

/** Longest window, ms: 7 days. */
export const TWAP_DURATION_MAX = 604_800_000
/** Bytes of a client's TWAP id. */
export const TWAP_LABEL_BYTES = 40

/** What a word has a name for in ORDER_COMMAND too is what it is there, and stands there. */
export const CREATE_TWAP_COMMAND = defineLayout('create_twap', {
  ...HEADER,
  pair: 'i32',
  /** Flag bits of its slices: SELL, MARGIN, REDUCE_ONLY, CROSS, MASTER_FUNDED, SLIPPAGE. */
  flags: 'u32',
  /** Limit in ticks; 0: none. */
  price: 'i32',
  /** Lots of all slices together. */
  lots: 'i32',
  slippageBps: 'i32',
  /** {@link TwapOption} bits. */
  options: 'i32',
  /** Ticks; 0: it waits for no price. */
  trigger: 'i32',
  /** Bytes of the client's id, 0..{@link TWAP_LABEL_BYTES}; with one the record has a second slot. */
  labelLength: 'i32',
  /** Unix ms; 0: at once; 0: as long as it says; 0: as long as an order may rest. */
  startAt: 'f64',
  endAt: 'f64',
  conditionalExpiry: 'f64',
  /** Random: the schedule is a function of it. */
  seed: 'i64',
  /** ms from its start to its end, 0: it ends at `endAt`. */
  durationMs: 'i32',
  reserved: 'i32',
  /** As of an order: words 22 to 31. */
  collateral: 'i64',
  namedSequence: 'f64',
  marginAccount: 'i32',
  bucket: 'i32',
  leverage: 'i32',
  keyLow: 'i32',
  keyHigh: 'i32',
  position: 'i32',
}, {
  /** The client's id, printable ASCII, zero padded. */
  label: 'bytes40',
})

export const CANCEL_TWAP_COMMAND = defineLayout('cancel_twap', {
  ...HEADER,
  twap: 'i32',
  reserved: 'i32',
  createdSequence: 'f64',
})

/** Of the sequencer itself: the time of the TWAP order in this row has come, for its start, a slice or its end. */
export const TWAP_STEP_COMMAND = defineLayout('twap_step', {
  ...HEADER,
  twap: 'i32',
  reserved: 'i32',
  createdSequence: 'f64',
})

/** A TWAP order after something happened to it. */
export const TWAP_ORDER = defineLayout('twap_order', {
  kind: 'u32',
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  /** Identity: with the row. */
  createdSequence: 'f64',
  twap: 'i32',
  /** {@link TwapState} | {@link TwapReason} << 8. */
  what: 'i32',
  pair: 'i32',
  flags: 'u32',
  lots: 'i32',
  filled: 'i32',
  /** Slices that are planned, and whose time has come. */
  slices: 'i32',
  reached: 'i32',
  /** Orders that were placed. */
  placed: 'i32',
  /** SLICE: slot of its order, whose sequence is the event's; otherwise -1. */
  childSlot: 'i32',
  /** SKIPPED and FAILED: number of the refusal. */
  code: 'i32',
  reserved: 'i32',
  /** Unix ms; 0: not known yet. */
  startAt: 'f64',
  endAt: 'f64',
  /** When the next slice is due. */
  nextAt: 'f64',
  filledQuote: 'i64',
  fee: 'i64',
})
export const twapStateOf = (what: number): number => what & 0xff
export const twapReasonOf = (what: number): number => (what >>> 8) & 0xff

/** What a TWAP order is, once, before its first TWAP_ORDER. */
export const TWAP_OPENED = defineLayout('twap_opened', {
  kind: 'u32',
  account: 'i32',
  createdSequence: 'f64',
  twap: 'i32',
  pair: 'i32',
  price: 'i32',
  slippageBps: 'i32',
  options: 'i32',
  trigger: 'i32',
  conditionalExpiry: 'f64',
  durationMs: 'i32',
  leverage: 'i32',
  /** Row of the margin account that it named, -1: none; bucket, -1: none; and the sequence that made the one that is named. */
  marginAccount: 'i32',
  bucket: 'i32',
  namedSequence: 'f64',
  labelLength: 'i32',
  reserved: 'i32',
  label: 'bytes40',
})

/** The order that was placed is a slice of a TWAP order; before its RESULT. */
export const CHILD_ORDER = defineLayout('child_order', {
  kind: 'u32',
  account: 'i32',
  orderSequence: 'f64',
  slot: 'i32',
  pair: 'i32',
  /** The TWAP order: row, and the sequence that made it. */
  twap: 'i32',
  reserved: 'i32',
  twapSequence: 'f64',
})
