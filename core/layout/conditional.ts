/**
 * Conditional orders: take-profit, stop-loss and trailing stop, as commands and as the event that tells of each. How they live is in
 * margin/conditionals.ts.
 *
 * In public a conditional order is named by the sequence of the command that made it and by which leg of it it is, so that whoever has the
 * answer of that command knows all ids ({@link ConditionType}; layout/ids.ts).
 */
import { HEADER } from './header.ts'
import { defineLayout, type FieldType } from './table.ts'

/** What waits. The numbers are part of the journal and snapshot format, and of public ids. */
export const ConditionType = {
  TAKE_PROFIT: 1, STOP_LOSS: 2, TRAILING_STOP: 3,
  /** The start of a TWAP order that waits for a price (layout/twap.ts); in no list of conditional orders. */
  TWAP_START: 4,
} as const
export type ConditionType = (typeof ConditionType)[keyof typeof ConditionType]
export const CONDITION_TYPE_NAMES = ['', 'TAKE_PROFIT', 'STOP_LOSS', 'TRAILING_STOP', 'TWAP_START'] as const

export const ConditionalState = {
  /** Its entry order has not filled yet; a trailing stop whose activation price was not reached. */
  PENDING: 1,
  /** It fires when the mark reaches it. */
  ARMED: 2,
  /** It fired, and its order was entered. */
  TRIGGERED: 3,
  CANCELLED: 4, EXPIRED: 5,
  /** It fired, and its order was refused. */
  FAILED: 6,
} as const
export const CONDITIONAL_STATE_NAMES = ['', 'PENDING', 'ARMED', 'TRIGGERED', 'CANCELLED', 'EXPIRED', 'FAILED'] as const

/** Why the event is told. */
export const ConditionalReason = {
  CREATED: 0,
  /** It is armed from now on: its entry filled, or its activation price was reached. */
  ARMED: 1,
  TRIGGERED: 2,
  /** Its order is too large for one order; the next part was entered. */
  CONTINUED: 3,
  /** The refusal of its order is in `code`. */
  FAILED: 4,
  EXPIRED: 5,
  USER_CANCELLED: 6,
  /** The other one of the pair fired. */
  OCO: 7,
  POSITION_CLOSED: 8,
  /** Its entry order ended without a position in its direction. */
  ENTRY_ENDED: 9,
  DELEGATION_REVOKED: 10,
  BY_OPERATOR: 11,
  /** Its entry order was replaced: it waits for the successor. */
  ENTRY_REPLACED: 12,
} as const
export const CONDITIONAL_REASON_NAMES = [
  'CREATED', 'ARMED', 'TRIGGERED', 'CONTINUED', 'FAILED', 'EXPIRED', 'USER_CANCELLED', 'OCO', 'POSITION_CLOSED', 'ENTRY_ENDED',
  'DELEGATION_REVOKED', 'BY_OPERATOR', 'ENTRY_REPLACED',
] as const

/** Bits of a leg, in commands, rows and events. */
export const LegFlag = {
  /** The order that it enters sells: it closes a long position. Of a TWAP_START nothing. */
  SELL: 1,
  /** It enters a LIMIT order at its limit; clear: a MARKET order. */
  LIMIT: 1 << 1,
  /** Of the LIMIT order. */
  IOC: 1 << 2,
  FOK: 1 << 3,
  SLIPPAGE: 1 << 4,
  EXPIRES: 1 << 5,
  /** It fires when the mark is at its price or above; clear: at it or below. Set by the engine only. */
  ABOVE: 1 << 6,
  /** One of a pair of which one cancels the other. Set by the engine only. */
  OCO: 1 << 7,
} as const
/** What a gateway may set. */
export const LEG_FLAG_MASK = LegFlag.LIMIT | LegFlag.IOC | LegFlag.FOK | LegFlag.SLIPPAGE | LegFlag.EXPIRES

export const TRAIL_BPS_MIN = 10
export const TRAIL_BPS_MAX = 2000

/** Words of a leg in a command: of a take-profit or stop-loss. All zero: there is none. */
const LEG = {
  /** Ticks, 1 .. priceTicks - 1; 0: there is no such leg. */
  Trigger: 'i32',
  /** {@link LegFlag} bits. */
  Flags: 'i32',
  /** Ticks, of a LIMIT leg. */
  Limit: 'i32',
  /** At most so many lots; 0: the whole position. */
  Lots: 'i32',
  SlippageBps: 'i32',
  Reserved: 'i32',
  /** Unix ms, with EXPIRES. */
  ExpiresAt: 'f64',
} as const
/** Of a trailing stop. */
const TRAIL = {
  /** 0: there is none. */
  Bps: 'i32',
  Flags: 'i32',
  /** Ticks; 0: it is armed at once. */
  Activation: 'i32',
  Lots: 'i32',
  SlippageBps: 'i32',
  Reserved: 'i32',
  ExpiresAt: 'f64',
} as const

type Prefixed<P extends string, F extends Record<string, FieldType>> = { readonly [K in keyof F & string as `${P}${K}`]: F[K] }
const prefixed = <const P extends string, const F extends Record<string, FieldType>>(prefix: P, fields: F): Prefixed<P, F> =>
  Object.fromEntries(Object.entries(fields).map(([name, type]) => [`${prefix}${name}`, type])) as Prefixed<P, F>

/** The legs of an order, in its third slot, and of ATTACH_CONDITIONALS: 8 words each. */
export const LEGS = { ...prefixed('profit', LEG), ...prefixed('stop', LEG), ...prefixed('trail', TRAIL) } as const

/** Legs for a position that is open. */
export const ATTACH_CONDITIONALS_COMMAND = defineLayout('attach_conditionals', {
  ...HEADER,
  position: 'i32',
  reserved: 'i32',
  /** The sequence that opened it. */
  openedSequence: 'f64',
  ...LEGS,
})

export const CANCEL_CONDITIONAL_COMMAND = defineLayout('cancel_conditional', {
  ...HEADER,
  /** {@link ConditionType}, not TWAP_START, and the sequence of the command that made it. */
  leg: 'i32',
  reserved: 'i32',
  createdSequence: 'f64',
})

/** Of the sequencer itself: the time of the conditional order in this row is over. */
export const EXPIRE_CONDITIONAL_COMMAND = defineLayout('expire_conditional', {
  ...HEADER,
  conditional: 'i32',
  reserved: 'i32',
  createdSequence: 'f64',
})

/**
 * Of the sequencer itself: the next thing that a price leads to on this pair (orders/trigger_step.ts). One conditional order fires, or the
 * mark that was looked at is done with.
 */
export const TRIGGER_STEP_COMMAND = defineLayout('trigger_step', { ...HEADER, pair: 'i32' })

/** A conditional order after something happened to it; it says all that a reader needs. */
export const CONDITIONAL_ORDER = defineLayout('conditional_order', {
  kind: 'u32',
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  /** Identity: with the leg. */
  createdSequence: 'f64',
  /** {@link ConditionType} | {@link ConditionalState} << 8 | {@link ConditionalReason} << 16. */
  what: 'i32',
  pair: 'i32',
  /** {@link LegFlag} bits. */
  flags: 'i32',
  /** Ticks: of a take-profit and stop-loss. Of a trailing stop: where it fires now, 0 before it is armed. */
  trigger: 'i32',
  limit: 'i32',
  /** At most so many lots; 0: the whole position. */
  lots: 'i32',
  slippageBps: 'i32',
  trailBps: 'i32',
  /** Ticks; 0: none. */
  activation: 'i32',
  /** Best mark since it was armed, ticks; 0: it is not. */
  watermark: 'i32',
  /** Unix ms; 0: never, not yet. */
  expiresAt: 'f64',
  armedAt: 'f64',
  createdAt: 'f64',
  /** The order that it entered; while it is PENDING its entry order. 0: none. */
  orderSequence: 'f64',
  openedSequence: 'f64',
  orderSlot: 'i32',
  /** Row of its position; with openedSequence, which is 0 while none is open, its id. */
  position: 'i32',
  /** FAILED: number of the refusal. */
  code: 'i32',
  /** Lots of the order that was entered. */
  ordered: 'i32',
})
export const conditionOf = (what: number): number => what & 0xff
export const conditionalStateOf = (what: number): number => (what >>> 8) & 0xff
export const conditionalReasonOf = (what: number): number => (what >>> 16) & 0xff
