/**
 * Rows of orders that wait: columns conditionals, trails, pendingMarks, twaps, waiting and orderParents (columns.ts).
 *
 *   account --FIRST_CONDITIONAL--> conditional --ACCOUNT_NEXT--> ...         all that wait of the account
 *   position --FIRST_CONDITIONAL--> conditional --POSITION_NEXT--> ...       those of the position and of its entry orders
 *   order --ORDER_MARGIN.LEGS--> conditional --LEG_NEXT--> ...               those that wait for the order to fill
 *
 * An armed one is in exactly one of these, by its kind and by what happened (margin/conditionals.ts):
 *
 *   heap of triggers   take-profit, stop-loss, activation of a trailing stop, start of a TWAP order (trigger_heap.ts)
 *   trail              a trailing stop that is armed: a queue for each trailBps, and a group that has the watermark (margin/trails.ts)
 *   due                a list a perpetual: it is known to fire and waits for its turn
 *   later              a list a perpetual: it was armed while earlier marks still had to be looked at
 *
 * Rows in links are + 1; 0 is none.
 */
import { f64, i64 } from './fields.ts'

export const CONDITIONAL_WORDS = 48
export const CONDITIONAL = {
  ACCOUNT: 0,
  /** ConditionType (layout/conditional.ts); 0: the row is free. */
  KIND: 1,
  /** ConditionalState. */
  STATE: 2,
  PAIR: 3,
  /** LegFlag bits. */
  FLAGS: 4,
  /** Where it stands: {@link Standing}. */
  STANDING: 5,
  /** Ticks: where it fires; of a trailing stop its activation price, 0: none. */
  TRIGGER: 6,
  LIMIT: 7,
  /** At most so many lots; 0: the whole position. Those that still have to be entered, once it fired. */
  LOTS: 8, LEFT: 9,
  TRAIL_BPS: 10,
  /** Of a trailing stop that is armed: row + 1 of its group (margin/trails.ts). */
  GROUP: 11,
  SLIPPAGE_BPS: 12,
  /** Row + 1 of the delegated agent that asked for it; 0: the owner. */
  AGENT: 13,
  /** Row of its position; TWAP_START: of its TWAP order. */
  OF: 14,
  POSITION_NEXT: 15, POSITION_PREV: 16,
  /** Of a free row: the next free one. */
  ACCOUNT_NEXT: 17, ACCOUNT_PREV: 18,
  /** The other one of a pair that cancels each other, row + 1. */
  SIBLING: 19,
  /** PENDING: slot + 1 of its entry order, 0: none; and the next leg of it. */
  ENTRY: 20, LEG_NEXT: 21,
  /** Neighbours where it stands: in its queue of trailing stops, among those due, among those later. */
  NEXT: 22, PREV: 23,
  /** Slot of the first order that it entered. */
  ORDER_SLOT: 24,
  /** Of a trailing stop: the mark when it was armed, ticks; its group has the best one since. */
  WATERMARK: 25,
  /** f64 each. Identity, with KIND; Unix ms; 0: never. */
  CREATED_SEQUENCE: f64(26), CREATED_AT: f64(28), EXPIRES_AT: f64(30),
  /** When it was armed: sequence and Unix ms; 0: it is not. */
  ARMED_SEQUENCE: f64(32), ARMED_AT: f64(34),
  UPDATED_AT: f64(36),
  /** Sequence of the first order that it entered. */
  ORDER_SEQUENCE: f64(38),
  /** The sequence that opened its position; 0: it is not armed. */
  OPENED: f64(40),
} as const
/** Where a conditional order stands. */
export const Standing = { NOWHERE: 0, HEAP: 1, TRAIL: 2, DUE: 3, LATER: 4 } as const

/** Most conditional orders of one position, those of its entry orders included: so many end when it is closed. */
export const CONDITIONALS_PER_POSITION = 16

/** Different trailBps, 0 to 2000: places of queues. */
export const TRAIL_PLACES = 2048
/** Of a perpetual and a side: queues of trailing stops by trailBps, first and last, rows + 1; then a bit for each that is not empty. */
export const TRAIL_QUEUE_WORDS = 2 * TRAIL_PLACES + TRAIL_PLACES / 32
export const TRAIL_GROUP_WORDS = 8
/** Trailing stops with one watermark (margin/trails.ts). */
export const TRAIL_GROUP = {
  /** Ticks, of a group that is its own. */
  WATERMARK: 0,
  /** Trailing stops that name it. */
  STOPS: 1,
  /** The group that it became part of, row + 1; 0: it is its own. */
  INTO: 2,
  /** At least the height of what became part of it. */
  RANK: 3,
  /** Neighbours in the stack, or among the parts of another group; of a free row OLDER is the next free one. */
  OLDER: 4, NEWER: 5,
  /** Groups that became part of it: the newest, row + 1, and how many. */
  FIRST_PART: 6, PARTS: 7,
} as const

/** Marks of one perpetual that triggers were not held against yet, at most. */
export const PENDING_MARKS_MAX = 64
/** Doubles of a perpetual: (sequence, ticks) of each, a ring from PERP.MARKS_FIRST on. */
export const PENDING_MARKS_WIDTH = 2 * PENDING_MARKS_MAX

export const TWAP_WORDS = 64
export const TWAP = {
  ACCOUNT: 0,
  /** TwapState (layout/twap.ts); 0: the row is free. */
  STATE: 1,
  PAIR: 2,
  /** Flag bits of its slices. */
  FLAGS: 3,
  /** TwapOption bits. */
  OPTIONS: 4,
  /** Lots of all slices; filled, but for those of the slice that rests. */
  LOTS: 5, FILLED: 6,
  /** Ticks; 0: none. */
  PRICE: 7,
  SLIPPAGE_BPS: 8,
  /** Slices that are planned; those whose time has come; orders that were placed. */
  SLICES: 9, REACHED: 10, PLACED: 11,
  /** Slot + 1 of the slice that rests. */
  CHILD: 12,
  /** The session that asked for it: row and generation. */
  SESSION: 13, GENERATION: 14,
  /** Neighbours among those of the account; of a free row NEXT is the next free one. */
  NEXT: 15, PREV: 16,
  /** Row + 1 of the conditional order that is its start. */
  CONDITIONAL: 17,
  /** Ticks; 0: it waits for no price. */
  TRIGGER: 18,
  /** As of an order (layout/command.ts). */
  LEVERAGE: 19, MARGIN_ACCOUNT: 20, BUCKET: 21, KEY_LOW: 22, KEY_HIGH: 23,
  NAMED_SEQUENCE: f64(24),
  /** f64 each: identity, with the row; Unix ms. */
  CREATED_SEQUENCE: f64(26), CREATED_AT: f64(28), UPDATED_AT: f64(30),
  /** Unix ms; 0: not known yet. NEXT_AT: when the sequencer looks at it next. */
  START_AT: f64(32), END_AT: f64(34), NEXT_AT: f64(36),
  /** f64, ms: from its start to its end, 0: END_AT says it. Unix ms: until when it waits for its price, 0: it does not. */
  DURATION: f64(38), CONDITIONAL_EXPIRY: f64(40),
  /** i64, quote atoms, of FILLED. */
  FILLED_QUOTE: i64(42), FEE: i64(44),
  SEED_LOW: 46, SEED_HIGH: 47,
  /** Number of the refusal of the last slice; 0: it was placed. */
  CODE: 48,
  LABEL_LENGTH: 49,
  /** 40 bytes. */
  LABEL: 50,
  /** Row + 1 of the margin account that it named, or whose bucket it did: it counts there (MARGIN_ACCOUNT.TWAPS). */
  COUNTED: 60,
} as const
export const TWAP_LABEL_WORDS = 10

export const WAITING_WORDS = 8
/** Of an account: what waits for it. */
export const WAITING = {
  FIRST_CONDITIONAL: 0, CONDITIONALS: 1, FIRST_TWAP: 2, TWAPS: 3,
  /** On the row of its family: those of the whole family (shares.ts). */
  FAMILY_CONDITIONALS: 4, FAMILY_TWAPS: 5,
} as const
