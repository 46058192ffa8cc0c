/**
 * Events: what the engine says happened, as fixed 128-byte records.
 *
 * Every command yields zero or more FILL / ORDER_ENDED / SELF_TRADE / LABEL / CREDIT events and then exactly one RESULT, always last. The
 * RESULT is also the answer: the sequencer copies it to the reply ring of the gateway that asked. Events carry full order
 * records, so a reader needs no earlier event to understand one.
 */
import { CONDITIONAL_ORDER } from './conditional.ts'
import { FOLLOW_CHANGED, LEADER_CHANGED } from './copying.ts'
import {
  COLLATERAL, FUNDING_PAYMENT, FUNDING_RATE, LIQUIDATION, MARGIN_ORDER, MARK, ORDER_RESIZED, POSITION_CHANGED,
} from './margin_events.ts'
import { REFERRAL_REWARD } from './referrals.ts'
import { defineLayout, type Layout } from './table.ts'
import { CHILD_ORDER, TWAP_OPENED, TWAP_ORDER } from './twap.ts'
import { DEPOSIT, SETTLEMENT, WITHDRAWAL } from './vault.ts'

export { COLLATERAL, FUNDING_PAYMENT, FUNDING_RATE, LIQUIDATION, MARGIN_ORDER, MARK, ORDER_RESIZED, POSITION_CHANGED }
export { CHILD_ORDER, CONDITIONAL_ORDER, TWAP_OPENED, TWAP_ORDER }
export { FOLLOW_CHANGED, LEADER_CHANGED }
export { REFERRAL_REWARD }
export { DEPOSIT, SETTLEMENT, WITHDRAWAL }

export const EventType = {
  RESULT: 1, FILL: 2, ORDER_ENDED: 3, LABEL: 4, CREDIT: 5, SELF_TRADE: 6,
  MARGIN_ORDER: 7, POSITION: 8, COLLATERAL: 9, MARK: 10, FUNDING_RATE: 11, FUNDING_PAYMENT: 12, LIQUIDATION: 13,
  ORDER_RESIZED: 14, CONDITIONAL: 15, TWAP: 16, TWAP_OPENED: 17, CHILD_ORDER: 18,
  APPLICATION_FEE: 19,
  FOLLOW: 20, LEADER: 21,
  REFERRAL_REWARD: 22,
  WITHDRAWAL: 23, DEPOSIT: 24, SETTLEMENT: 25,
} as const

/** Order status as stored in records. The numbers are part of the journal and snapshot format. */
export const Status = {
  SUBMITTED: 1,
  PARTIALLY_FILLED: 2,
  FILLED: 3,
  CANCELLED: 4,
  EXPIRED: 5,
  REJECTED: 6,
  SETTLED: 7,
  SETTLED_ON_CHAIN: 8,
} as const
export const STATUS_NAMES = [
  '',
  'SUBMITTED',
  'PARTIALLY_FILLED',
  'FILLED',
  'CANCELLED',
  'EXPIRED',
  'REJECTED',
  'SETTLED',
  'SETTLED_ON_CHAIN',
] as const

/** Why an order ended before it was filled (`terminalReason`). */
export const Reason = {
  NONE: 0,
  SELF_TRADE_PREVENTION: 1,
  USER_CANCELLED: 2,
  REPLACED: 3,
  EXPIRED: 4,
  SLIPPAGE_LIMIT: 5,
  INSUFFICIENT_DEPTH: 6,
  IOC_REMAINDER: 7,
  REDUCE_ONLY: 8,
  LIQUIDATION: 9,
  DELEGATION_REVOKED: 10,
  PAIR_HALTED: 11,
  INSUFFICIENT_MARGIN: 12,
} as const
export const REASON_NAMES = [
  '',
  'SELF_TRADE_PREVENTION',
  'USER_CANCELLED',
  'REPLACED',
  'EXPIRED',
  'SLIPPAGE_LIMIT',
  'INSUFFICIENT_DEPTH',
  'IOC_REMAINDER',
  'REDUCE_ONLY',
  'LIQUIDATION',
  'DELEGATION_REVOKED',
  'PAIR_HALTED',
  'INSUFFICIENT_MARGIN',
] as const

/**
 * The outcome of one command. `kind` = EventType.RESULT | command type << 8 | gateway << 16 and `correlation` echo the
 * command. `code` 0 is success, otherwise a number of the refusal register. The other words are named for an order, which most answers
 * are about; what they are in the answer to each kind of command, answers.ts says by name.
 */
export const RESULT = defineLayout('result', {
  kind: 'u32',
  correlation: 'u32',
  sequence: 'f64',
  /** Sequenced time, Unix ms. */
  time: 'f64',
  code: 'i32',
  account: 'i32',
  pair: 'i32',
  flags: 'u32',
  /** Slot of the order in the pool; its identity is (orderSequence, slot). */
  slot: 'i32',
  price: 'i32',
  lots: 'i32',
  /** Lots neither filled nor cancelled ... or cancelled: quantity minus filled. */
  remaining: 'i32',
  /** Status | Reason << 8. */
  outcome: 'i32',
  trades: 'i32',
  /** Quote atoms over all fills of this order. */
  filledQuote: 'i64',
  /** Fee in quote atoms over all fills of this order; negative is a rebate. */
  fee: 'i64',
  /** Atoms locked by the resting order (quote for BUY, base for SELL). */
  hold: 'i64',
  /** First and last execution price in ticks; 0 without fills. */
  bestPrice: 'i32',
  worstPrice: 'i32',
  /** When the order expires if it rests, Unix ms. */
  expiresAt: 'f64',
  /** Sequence of the order this result speaks of. For a retried idempotency key: of the original. */
  orderSequence: 'f64',
  originalSequence: 'f64',
  detail: 'i32',
  detail2: 'i32',
})

/** One fill: price is always the maker's. Both orders are described as they are after it. */
export const FILL = defineLayout('fill', {
  kind: 'u32',
  pair: 'i32',
  sequence: 'f64',
  time: 'f64',
  price: 'i32',
  lots: 'i32',
  quote: 'i64',
  /** Number of the fill within its command, from 0; with the sequence it names the trade. */
  index: 'i32',
  makerAccount: 'i32',
  makerSlot: 'i32',
  makerRemaining: 'i32',
  makerSequence: 'f64',
  makerFee: 'i64',
  takerFee: 'i64',
  takerAccount: 'i32',
  takerSlot: 'i32',
  takerRemaining: 'i32',
  makerLots: 'i32',
  makerFlags: 'u32',
  takerFlags: 'u32',
  makerFilledQuote: 'i64',
  makerTotalFee: 'i64',
  makerCreatedAt: 'f64',
})

/**
 * A resting order left the book without being filled: replaced, expired, self-trade prevented or ended by CANCEL_ALL. Of a
 * CANCEL_ORDER the RESULT itself says so (outcome CANCELLED, USER_CANCELLED), and there is no ORDER_ENDED.
 */
export const ORDER_ENDED = defineLayout('order_ended', {
  kind: 'u32',
  pair: 'i32',
  sequence: 'f64',
  time: 'f64',
  account: 'i32',
  slot: 'i32',
  orderSequence: 'f64',
  flags: 'u32',
  price: 'i32',
  lots: 'i32',
  remaining: 'i32',
  outcome: 'i32',
  /** Correlation of the command that ended it: mass cancels collect their answers by it. */
  correlation: 'u32',
  filledQuote: 'i64',
  fee: 'i64',
  /** Atoms released to available. */
  released: 'i64',
  createdAt: 'f64',
  /** Self-trade prevention: sequence of the incoming order; replace: sequence of the new one. */
  counterpartySequence: 'f64',
})

/**
 * The resting order that the incoming one may not trade with. It stays as it is, and the incoming one ends with this command: its RESULT
 * says so (self-trade prevention, CANCEL_TAKER). Of CANCEL_BOTH the ORDER_ENDED of the resting order says it instead. Only where the
 * command has Option.TELL_SELF_TRADE.
 */
export const SELF_TRADE = defineLayout('self_trade', {
  kind: 'u32',
  pair: 'i32',
  sequence: 'f64',
  time: 'f64',
  /** Of the resting order. */
  account: 'i32',
  slot: 'i32',
  orderSequence: 'f64',
})

/** The client order id of an order, for readers that show it. Follows nothing, precedes the RESULT of the placement. */
export const LABEL = defineLayout('label', {
  kind: 'u32',
  account: 'i32',
  orderSequence: 'f64',
  slot: 'i32',
  length: 'i32',
  label: 'bytes40',
})

/**
 * What the application of an order charged for the fill before it (ledger/add_ons.ts). Follows its FILL, the taker's first; the CREDIT of
 * the payout account follows.
 */
export const APPLICATION_FEE = defineLayout('application_fee', {
  kind: 'u32',
  /** The owner of the order; who paid is who pays for the order. */
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  pair: 'i32',
  /** Number of the fill within its command. */
  index: 'i32',
  orderSequence: 'f64',
  slot: 'i32',
  flags: 'u32',
  /** 1: the order rested. A resting BUY pays out of what it locked. */
  rested: 'i32',
  asset: 'i32',
  /** Atoms of this fill, and of the order so far. */
  amount: 'i64',
  charged: 'i64',
})

/** CREDIT.source: where atoms come from that no trade moved. */
export const CreditSource = {
  FAUCET: 1, TRANSFER: 2, COLLATERAL: 3, APPLICATION_FEE: 4, REVENUE_SHARE: 5, REFERRAL_REWARD: 6, DEPOSIT: 7,
} as const

/**
 * Atoms credited to an account from outside trading, or debited (a negative amount). `source`: {@link CreditSource}. A transfer is two
 * of them, the giving account's first.
 */
export const CREDIT = defineLayout('credit', {
  kind: 'u32',
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  asset: 'i32',
  source: 'i32',
  amount: 'i64',
  available: 'i64',
  locked: 'i64',
  version: 'i64',
})

export const EVENT_LAYOUTS: Readonly<Record<number, Layout>> = {
  [EventType.RESULT]: RESULT,
  [EventType.FILL]: FILL,
  [EventType.ORDER_ENDED]: ORDER_ENDED,
  [EventType.LABEL]: LABEL,
  [EventType.CREDIT]: CREDIT,
  [EventType.SELF_TRADE]: SELF_TRADE,
  [EventType.MARGIN_ORDER]: MARGIN_ORDER,
  [EventType.POSITION]: POSITION_CHANGED,
  [EventType.COLLATERAL]: COLLATERAL,
  [EventType.MARK]: MARK,
  [EventType.FUNDING_RATE]: FUNDING_RATE,
  [EventType.FUNDING_PAYMENT]: FUNDING_PAYMENT,
  [EventType.LIQUIDATION]: LIQUIDATION,
  [EventType.ORDER_RESIZED]: ORDER_RESIZED,
  [EventType.CONDITIONAL]: CONDITIONAL_ORDER,
  [EventType.TWAP]: TWAP_ORDER,
  [EventType.TWAP_OPENED]: TWAP_OPENED,
  [EventType.CHILD_ORDER]: CHILD_ORDER,
  [EventType.APPLICATION_FEE]: APPLICATION_FEE,
  [EventType.FOLLOW]: FOLLOW_CHANGED,
  [EventType.LEADER]: LEADER_CHANGED,
  [EventType.REFERRAL_REWARD]: REFERRAL_REWARD,
  [EventType.WITHDRAWAL]: WITHDRAWAL,
  [EventType.DEPOSIT]: DEPOSIT,
  [EventType.SETTLEMENT]: SETTLEMENT,
}
const NAMES = Object.fromEntries(Object.entries(EventType).map(([name, type]) => [type, name]))
export const eventName = (type: number): string => NAMES[type] ?? `UNKNOWN_${type}`
export const eventTypeOf = (kind: number): number => kind & 0xff
/** Command type that a RESULT answers. */
export const answeredTypeOf = (kind: number): number => (kind >>> 8) & 0xff
export const outcomeOf = (status: number, reason: number): number => status | (reason << 8)
