/** Records of orders that wait in the pages of the history (layout.ts, which says what the tables are). */
import { defineLayout } from '../../layout/table.ts'

/** A conditional order of any age, as the last CONDITIONAL event left it (layout/conditional.ts). Full: 32 words. */
export const CONDITIONAL_RECORD = defineLayout('conditional_record', {
  /** Of the command that made it; with the ConditionType in `what` its identity. */
  sequence: 'f64',
  /** Unix ms; 0: never, not yet. */
  createdAt: 'f64',
  updatedAt: 'f64',
  expiresAt: 'f64',
  armedAt: 'f64',
  /** The order whose leg it is, as it was told last; 0: it was attached to a position. */
  entrySequence: 'f64',
  /** The first order that it entered; 0: none. */
  orderSequence: 'f64',
  /** With `position` its position; 0: it never watched one. */
  openedSequence: 'f64',
  /** ConditionType | ConditionalState << 8 | ConditionalReason << 16. */
  what: 'i32',
  pair: 'i32',
  /** LegFlag bits. */
  flags: 'i32',
  /** Ticks, as in the event. */
  trigger: 'i32',
  limit: 'i32',
  lots: 'i32',
  slippageBps: 'i32',
  trailBps: 'i32',
  activation: 'i32',
  watermark: 'i32',
  position: 'i32',
  entrySlot: 'i32',
  orderSlot: 'i32',
  /** Number of the refusal of its last order; 0: none was refused. */
  code: 'i32',
  /** Lots of all orders that it entered, and how many those are. */
  ordered: 'i32',
  orders: 'i32',
})

/** A TWAP order of any age: as the last TWAP event left it, and in the second half what TWAP_OPENED said (layout/twap.ts). */
export const TWAP_RECORD = defineLayout('twap_record', {
  /** Of the command that made it; with the row its identity. */
  sequence: 'f64',
  /** Unix ms; 0: not known yet. */
  createdAt: 'f64',
  updatedAt: 'f64',
  startAt: 'f64',
  endAt: 'f64',
  nextAt: 'f64',
  filledQuote: 'i64',
  fee: 'i64',
  /** Numbers + 1 of its first and its last slice among those of the account; 0: there is none. */
  first: 'f64',
  last: 'f64',
  row: 'i32',
  /** TwapState | TwapReason << 8. */
  what: 'i32',
  pair: 'i32',
  flags: 'u32',
  lots: 'i32',
  filled: 'i32',
  slices: 'i32',
  reached: 'i32',
  placed: 'i32',
  code: 'i32',
}, {
  conditionalExpiry: 'f64',
  namedSequence: 'f64',
  price: 'i32',
  slippageBps: 'i32',
  options: 'i32',
  trigger: 'i32',
  durationMs: 'i32',
  leverage: 'i32',
  marginAccount: 'i32',
  bucket: 'i32',
  labelLength: 'i32',
  reserved: 'i32',
  label: 'bytes40',
})

/** An order that is a slice of a TWAP order. */
export const SLICE_RECORD = defineLayout('slice_record', {
  /** Of the order. */
  sequence: 'f64',
  /** Number of its record among the orders of the account. */
  number: 'f64',
  /** Its TWAP order, with the row. */
  twapSequence: 'f64',
  /** Numbers + 1 of the slices of the same TWAP order before and after it; 0: there is none. */
  before: 'f64',
  after: 'f64',
  twap: 'i32',
  reserved: 'i32',
})
