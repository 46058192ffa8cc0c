/**
 * Commands: everything that changes state, as fixed records.
 *
 * A gateway encodes a request into one 128-byte slot, the sequencer journals the slot byte for byte and the engine applies it. What few
 * commands carry, an idempotency key or a client order id, stands in a second slot that only those have.
 *
 * These are the layouts of version {@link LAYOUT}. A batch of the journal names the version of its records (journal/frame.ts); those of
 * version 1 are made into today's when they are read back (first_layout.ts). Within a version a field never changes its meaning; a word
 * that no field has is zero and may become one.
 *
 * Sequence number and time are not in the record: the journal batch carries
 * the first sequence and one time in ms for all its records, so a record's sequence is `first + index`.
 *
 * Header: `kind` = type | slots << 8 | gateway << 16. `correlation` is the gateway's own number for the answer.
 * `session` and `sessionGeneration` name the signing session; the engine checks both again at sequence time (-1: none, an
 * operator or timer command).
 */
import { AgentMargin, OPEN_DELEGATED_SESSION_COMMAND, REVOKE_AGENT_COMMAND, UPSERT_AGENT_COMMAND } from './agents.ts'
import { SET_APPLICATION_COMMAND, SET_ORIGIN_COMMAND, SET_SERVER_KEY_COMMAND } from './applications.ts'
import { ENROLL_APPLICATION_COMMAND, SET_BUILDER_FEE_COMMAND, SET_BUILDER_PROGRAM_COMMAND } from './builder.ts'
import {
  ATTACH_CONDITIONALS_COMMAND, CANCEL_CONDITIONAL_COMMAND, EXPIRE_CONDITIONAL_COMMAND, LEGS, TRIGGER_STEP_COMMAND,
} from './conditional.ts'
import {
  COPY_STEP_COMMAND, CREATE_FOLLOW_COMMAND, REGISTER_LEADER_COMMAND, RELEASE_LEADER_COMMAND, SET_COPY_PROGRAM_COMMAND,
  STOP_FOLLOW_COMMAND, UPDATE_FOLLOW_COMMAND,
} from './copying.ts'
import { CLIENT_ORDER_ID_SHIFT, Option } from './flags.ts'
import { HEADER } from './header.ts'
import { CLAIM_LEASE_COMMAND, SET_LAUNCH_COMMAND } from './launches.ts'
import { LIMITS_IN_FORCE_COMMAND, RAISE_LIMIT_COMMAND } from './limits.ts'
import {
  CLOSE_MARGIN_ACCOUNT_COMMAND, FUND_INSURANCE_COMMAND, FUNDING_STEP_COMMAND, LIQUIDATION_STEP_COMMAND, MOVE_COLLATERAL_COMMAND,
  OPEN_MARGIN_ACCOUNT_COMMAND, OPEN_RISK_BUCKET_COMMAND, SET_INDEX_PRICE_COMMAND, SET_PERP_COMMAND, SETTLEMENT_STEP_COMMAND,
} from './margin.ts'
import { LIST_ASSET_COMMAND, LIST_PAIR_COMMAND, SET_PAIR_TERMS_COMMAND } from './listing.ts'
import { SET_REFERRAL_SHARES_COMMAND, TRANSFER_REWARDS_COMMAND } from './referrals.ts'
import {
  ACCEPT_CLOCK_COMMAND, SET_FEE_TIER_COMMAND, SET_MAINTENANCE_COMMAND, SET_PAIR_STATUS_COMMAND, SET_RULES_COMMAND,
} from './policy.ts'
import { defineLayout, type Layout } from './table.ts'

export {
  AFTER_MS_MAX, AT_END, AT_START, CANCEL_ALL_MAX, CONNECTION_KEPT, CONNECTION_OPENED, DISARM, GRACE_MS_MAX,
} from './cancel_all.ts'
import { OPEN_SESSION_COMMAND, SESSION_COMMAND } from './sessions.ts'
import { CANCEL_TWAP_COMMAND, CREATE_TWAP_COMMAND, TWAP_STEP_COMMAND } from './twap.ts'
import {
  ADVANCE_CHAIN_COMMAND, ADVANCE_WITHDRAWAL_COMMAND, ASSIGN_SUSPENSE_COMMAND, CONFIRM_SETTLEMENT_COMMAND, CREDIT_DEPOSIT_COMMAND,
  FAUCET_MINTED_COMMAND, INITIATE_WITHDRAWAL_COMMAND, OPEN_SETTLEMENT_COMMAND, REVIEW_WITHDRAWAL_COMMAND, SET_WITHDRAWAL_TERMS_COMMAND,
  STOP_WITHDRAWALS_COMMAND,
} from './vault.ts'

export {
  AGENT_MARGIN_ACCOUNTS_MAX, AGENT_OPEN_ORDERS_MAX, AGENT_PAIRS_MAX, AgentAction, AgentGrant, AgentMargin, AgentOrderType,
  AgentTimeInForce,
} from './agents.ts'
export { OPEN_DELEGATED_SESSION_COMMAND, REVOKE_AGENT_COMMAND, UPSERT_AGENT_COMMAND }
export { KEY_GRACE_MAX_MS, ORIGINS_MAX } from './applications.ts'
export { OPEN_SESSION_COMMAND, SESSION_COMMAND }
export { SET_APPLICATION_COMMAND, SET_ORIGIN_COMMAND, SET_SERVER_KEY_COMMAND }
export { PAIR_STATUS_NAMES, PairStatus } from './policy.ts'
export { ACCEPT_CLOCK_COMMAND, SET_FEE_TIER_COMMAND, SET_MAINTENANCE_COMMAND, SET_PAIR_STATUS_COMMAND, SET_RULES_COMMAND }
export {
  Flag, FLAG_ORDER_MASK, CLIENT_ORDER_ID_BYTES, CLIENT_ORDER_ID_SHIFT, Option, OPTION_MASK, Origin, ORIGIN_MASK, ORIGIN_NAMES,
  originFlags, originOf,
} from './flags.ts'

export const CommandType = {
  GENESIS: 1,
  PLACE_ORDER: 2,
  CANCEL_ORDER: 3,
  REPLACE_ORDER: 4,
  CANCEL_ALL: 5,
  EXPIRE_ORDER: 6,
  MINT: 7,
  OPEN_SESSION: 8,
  REFRESH_SESSION: 9,
  REVOKE_SESSION: 10,
  SET_MAINTENANCE: 11,
  SET_PAIR_STATUS: 12,
  SET_FEE_TIER: 13,
  CREATE_SUB_ACCOUNT: 14,
  TRANSFER: 15,
  SET_SPEND_LIMIT: 16,
  UPSERT_AGENT: 17,
  REVOKE_AGENT: 18,
  OPEN_DELEGATED_SESSION: 19,
  SET_APPLICATION: 20,
  SET_ORIGIN: 21,
  SET_SERVER_KEY: 22,
  SET_RULES: 23,
  ACCEPT_LOSS: 24,
  ACCEPT_CLOCK: 25,
  CANCEL_ACCOUNT_ORDERS: 26,
  CONTINUE_CANCEL: 27,
  ENTER_ORDER: 28,
  LIST_ASSET: 40,
  LIST_PAIR: 41,
  SET_PAIR_TERMS: 42,
  RAISE_LIMIT: 43,
  LIMITS_IN_FORCE: 44,
  MOVE_COLLATERAL: 50,
  OPEN_MARGIN_ACCOUNT: 51,
  CLOSE_MARGIN_ACCOUNT: 52,
  OPEN_RISK_BUCKET: 53,
  SET_INDEX_PRICE: 54,
  SET_PERP: 55,
  FUND_INSURANCE: 56,
  FUNDING_STEP: 57,
  LIQUIDATION_STEP: 58,
  SETTLEMENT_STEP: 59,
  ATTACH_CONDITIONALS: 60,
  CANCEL_CONDITIONAL: 61,
  EXPIRE_CONDITIONAL: 62,
  TRIGGER_STEP: 63,
  CREATE_TWAP: 64,
  CANCEL_TWAP: 65,
  TWAP_STEP: 66,
  SET_BUILDER_PROGRAM: 67, ENROLL_APPLICATION: 68, SET_BUILDER_FEE: 69,
  SET_LAUNCH: 80, CLAIM_LEASE: 81,
  REGISTER_LEADER: 70, RELEASE_LEADER: 71, CREATE_FOLLOW: 72, UPDATE_FOLLOW: 73, STOP_FOLLOW: 74, COPY_STEP: 75, SET_COPY_PROGRAM: 76,
  SET_REFERRAL_SHARES: 77, TRANSFER_REWARDS: 78,
  INITIATE_WITHDRAWAL: 90, ADVANCE_WITHDRAWAL: 91, REVIEW_WITHDRAWAL: 92, SET_WITHDRAWAL_TERMS: 93, STOP_WITHDRAWALS: 94,
  CREDIT_DEPOSIT: 95, ADVANCE_CHAIN: 96, ASSIGN_SUSPENSE: 97, OPEN_SETTLEMENT: 98, CONFIRM_SETTLEMENT: 99, FAUCET_MINTED: 100,
} as const
export type CommandType = (typeof CommandType)[keyof typeof CommandType]

/** Version of the layouts of this file, as batches of the journal name it. */
export const LAYOUT = 2

/** Second slot of keyed commands. */
const KEY = {
  /** First 16 bytes of SHA-256 over the account's idempotency key. */
  key: 'bytes16',
  /** First 16 bytes of SHA-256 over the payload in normal form (gateway/bridge/payload.ts). */
  payload: 'bytes16',
} as const
/** The payload hash that gateways of before the rules 4 sent, for as long as receipts may have it; otherwise zero. */
const FORMER = { former: 'bytes16' } as const

/** What an order of a perpetual carries: words 22 to 31 of the first slot. All zero of a spot order. */
const MARGIN = {
  /** Atoms that the order brings into its bucket at least (riskBucketCollateral); 0: what it needs. */
  collateral: 'i64',
  /** The sequence that made the position, bucket or margin account that is named; 0: none is. */
  namedSequence: 'f64',
  /** Row + 1 of the margin account; 0: the parent. */
  marginAccount: 'i32',
  /** Row + 1 of the bucket; 0: the one of the pair or, CROSS, of the margin account that has the strategy key. */
  bucket: 'i32',
  /** Hundredths; 0 of reduce-only orders. */
  leverage: 'i32',
  /** First 8 bytes of SHA-256 over the strategy key; 0: none. */
  keyLow: 'i32',
  keyHigh: 'i32',
  /** Flag.CLOSE: row + 1 of the position. */
  position: 'i32',
} as const

/**
 * PLACE_ORDER and REPLACE_ORDER share one layout; CANCEL_ORDER and EXPIRE_ORDER use its target fields only. The first two slots are full;
 * the third is for orders with Option.LEGS.
 */
export const ORDER_COMMAND = defineLayout('order', {
  ...HEADER,
  /** Index of the trading pair (genesis order). */
  pair: 'i32',
  /** {@link Flag} bits and the length of the client order id; with one the record has a second slot. */
  flags: 'u32',
  /** Limit price in ticks, 1..2^30; 0 for MARKET. */
  price: 'i32',
  /** Quantity in lots, 1..2^31-1. */
  lots: 'i32',
  /** Slippage tolerance in bps, 0..1000, when Flag.SLIPPAGE. */
  slippageBps: 'i32',
  /** The order to cancel, replace or expire: its slot in the order pool ... */
  targetSlot: 'i32',
  /** ... the expiration time in Unix ms, when Flag.EXPIRES ... */
  expiresAt: 'f64',
  /** ... and the sequence of the target order, which is its identity. */
  targetSequence: 'f64',
  /** {@link Option} bits. */
  options: 'u32',
  /** CANCEL_ORDER and REPLACE_ORDER: bytes of the client order id that names the order, 1..40; 0: place and sequence name it. */
  targetLength: 'i32',
  /** REPLACE_ORDER by client order id: price and quantity as decimals, units × 10^-scale, because the pair is not known yet. */
  priceUnits: 'f64',
  lotsUnits: 'f64',
  priceScale: 'i32',
  lotsScale: 'i32',
  ...MARGIN,
}, {
  ...KEY,
  /** Client order id, zero padded; its length is in the flags. */
  label: 'bytes40',
  ...FORMER,
  /** Client order id of the order that is cancelled or replaced, zero padded. */
  target: 'bytes40',
}, LEGS)

/**
 * Of the sequencer itself: an order of an account that nobody asked for over the wire. It has no session and is answered to nobody. What
 * is meant by a word that ORDER_COMMAND has too is what it is there. Free: words 16 to 21.
 */
export const ENTER_ORDER_COMMAND = defineLayout('enter_order', {
  ...HEADER,
  pair: 'i32',
  flags: 'u32',
  price: 'i32',
  lots: 'i32',
  slippageBps: 'i32',
  /** {@link Origin}, not CLIENT. */
  origin: 'i32',
  expiresAt: 'f64',
  /** The sequence that made the account, which is its identity ... */
  createdSequence: 'f64',
  /** Option.TELL_SELF_TRADE or 0. */
  options: 'u32',
  /** ... and its row. */
  account: 'i32',
  unused: 'bytes16',
  unused2: 'f64',
  ...MARGIN,
})

export const CANCEL_ALL_COMMAND = defineLayout('cancel_all', {
  ...HEADER,
  /** Only orders of this pair; -1 for all. */
  pair: 'i32',
  /** At most this many orders, 1..CANCEL_ALL_MAX; the result says whether there may be more. Of AT_END: connections that ended. */
  limit: 'i32',
  /**
   * Where to begin, as the result of the command before said: slot ... Of AT_END: the account's row ... Of CONNECTION_OPENED: its
   * grace, ms.
   */
  fromSlot: 'i32',
  /**
   * Dead man's switch (orders/dead_man.ts). 0: cancel now; above: in so many ms, to AFTER_MS_MAX; DISARM; AT_END. Of
   * connections (orders/cancel_on_disconnect.ts): CONNECTION_OPENED, CONNECTION_KEPT.
   */
  afterMs: 'i32',
  /** ... and sequence of an order; 0: with the newest. ... and the sequence that made it. */
  fromSequence: 'f64',
})

export const MINT_COMMAND = defineLayout('mint', {
  ...HEADER,
  /** Index of the asset; -1 for every asset with a faucet amount. */
  asset: 'i32',
})

/** Signed by the master: makes (application of the master, address) an account of its family. */
export const CREATE_SUB_ACCOUNT_COMMAND = defineLayout('create_sub_account', {
  ...HEADER,
  /** Wallet of the sub-account, 20 bytes. */
  address: 'bytes20',
  /** 1: that wallet signed that it agrees. Journals of before consent was asked for have 0. */
  consented: 'i32',
  /** Printable ASCII, zero padded; all zero: none. */
  username: 'bytes32',
})

/** Signed by the master: moves available atoms to or from a sub-account. Key and payload stand as in {@link ORDER_COMMAND}. */
export const TRANSFER_COMMAND = defineLayout('transfer', {
  ...HEADER,
  asset: 'i32',
  /** Option.KEYED or 0. */
  options: 'u32',
  /** Row of the sub-account. */
  subAccount: 'i32',
  /** 1: from the master to the sub-account; 0: back. */
  toSub: 'i32',
  reserved: 'i32',
  reserved2: 'i32',
  /** Atoms, at least 1. */
  amount: 'i64',
}, {
  ...KEY,
  /** Where orders have their client order id. */
  unused: 'bytes40',
  ...FORMER,
})

/** What SET_SPEND_LIMIT does. */
export const LimitChange = { CREATE: 0, UPDATE: 1, DELETE: 2 } as const
/** Fields of a limit that SET_SPEND_LIMIT sets. CREATE sets all of them. */
export const LimitField = { MAX_AMOUNT: 1, DAILY_LIMIT: 2, ACTIVE: 4 } as const

/** Signed by the master: what orders of a sub-account may spend of the master's balance of one asset. */
export const SET_SPEND_LIMIT_COMMAND = defineLayout('set_spend_limit', {
  ...HEADER,
  asset: 'i32',
  /** Row of the sub-account. */
  subAccount: 'i32',
  /** {@link LimitChange}. */
  change: 'i32',
  /** {@link LimitField} bits; UPDATE leaves the others as they are. */
  fields: 'i32',
  /** Atoms, 0 or more. */
  maxAmount: 'i64',
  /** Atoms a UTC day; -1: none. */
  dailyLimit: 'i64',
  active: 'i32',
})

/** Operator: cancels resting orders of one account, newest first. */
export const CANCEL_ACCOUNT_ORDERS_COMMAND = defineLayout('cancel_account_orders', {
  ...HEADER,
  /** Row of the account ... */
  account: 'i32',
  /** Only orders of this pair; -1 for all. */
  pair: 'i32',
  /** At most this many orders, 1..CANCEL_ALL_MAX; the result says whether there may be more. */
  limit: 'i32',
  /** Where to begin, as in {@link CANCEL_ALL_COMMAND} ... */
  fromSlot: 'i32',
  /** ... the sequence that made the account, which is its identity. */
  createdSequence: 'f64',
  fromSequence: 'f64',
})

/**
 * Of the sequencer itself: the next part of a mass cancel that nobody goes on with (orders/sweep_rows.ts), or the beginning of one that a
 * dead man's switch asked for (orders/dead_man.ts).
 */
export const CONTINUE_CANCEL_COMMAND = defineLayout('continue_cancel', {
  ...HEADER,
  /** Row of the account ... */
  account: 'i32',
  /** 1: the deadline of the account, or its grace, is over; AT_START: the exchange started. */
  fires: 'i32',
  /** ... and the sequence that began it, which is its identity; 0 when it `fires`. */
  began: 'f64',
})

/**
 * The start of an exchange whose operator accepted that the end of its journal was lost (`--accept-loss`): alone in its batch, which
 * follows what is left. From then on sequences lie behind every one that was ever given out, so that nothing gets an id twice.
 */
export const ACCEPT_LOSS_COMMAND = defineLayout('accept_loss', {
  ...HEADER,
  /** The sequence of this command; the key of its batch is the first one that was lost. */
  resume: 'f64',
})

/**
 * The first record of every journal: the genesis document as UTF-8 JSON, spanning as many slots as it needs. The header
 * slot is followed by the text; `slots` of the header counts modulo 256, `length` is authoritative.
 */
export const GENESIS_COMMAND = defineLayout('genesis', { ...HEADER, length: 'i32' })

/** Layout of each command type, for the journal printer and the digest of the format. */
export const COMMAND_LAYOUTS: Readonly<Record<number, Layout>> = {
  [CommandType.GENESIS]: GENESIS_COMMAND,
  [CommandType.PLACE_ORDER]: ORDER_COMMAND,
  [CommandType.CANCEL_ORDER]: ORDER_COMMAND,
  [CommandType.REPLACE_ORDER]: ORDER_COMMAND,
  [CommandType.CANCEL_ALL]: CANCEL_ALL_COMMAND,
  [CommandType.EXPIRE_ORDER]: ORDER_COMMAND,
  [CommandType.MINT]: MINT_COMMAND,
  [CommandType.OPEN_SESSION]: OPEN_SESSION_COMMAND,
  [CommandType.REFRESH_SESSION]: SESSION_COMMAND,
  [CommandType.REVOKE_SESSION]: SESSION_COMMAND,
  [CommandType.SET_MAINTENANCE]: SET_MAINTENANCE_COMMAND,
  [CommandType.SET_PAIR_STATUS]: SET_PAIR_STATUS_COMMAND,
  [CommandType.SET_FEE_TIER]: SET_FEE_TIER_COMMAND,
  [CommandType.CREATE_SUB_ACCOUNT]: CREATE_SUB_ACCOUNT_COMMAND,
  [CommandType.TRANSFER]: TRANSFER_COMMAND,
  [CommandType.SET_SPEND_LIMIT]: SET_SPEND_LIMIT_COMMAND,
  [CommandType.UPSERT_AGENT]: UPSERT_AGENT_COMMAND,
  [CommandType.REVOKE_AGENT]: REVOKE_AGENT_COMMAND,
  [CommandType.OPEN_DELEGATED_SESSION]: OPEN_DELEGATED_SESSION_COMMAND,
  [CommandType.SET_APPLICATION]: SET_APPLICATION_COMMAND,
  [CommandType.SET_ORIGIN]: SET_ORIGIN_COMMAND,
  [CommandType.SET_SERVER_KEY]: SET_SERVER_KEY_COMMAND,
  [CommandType.SET_RULES]: SET_RULES_COMMAND,
  [CommandType.ACCEPT_LOSS]: ACCEPT_LOSS_COMMAND,
  [CommandType.ACCEPT_CLOCK]: ACCEPT_CLOCK_COMMAND,
  [CommandType.CANCEL_ACCOUNT_ORDERS]: CANCEL_ACCOUNT_ORDERS_COMMAND,
  [CommandType.CONTINUE_CANCEL]: CONTINUE_CANCEL_COMMAND,
  [CommandType.ENTER_ORDER]: ENTER_ORDER_COMMAND,
  [CommandType.LIST_ASSET]: LIST_ASSET_COMMAND,
  [CommandType.LIST_PAIR]: LIST_PAIR_COMMAND,
  [CommandType.SET_PAIR_TERMS]: SET_PAIR_TERMS_COMMAND,
  [CommandType.RAISE_LIMIT]: RAISE_LIMIT_COMMAND,
  [CommandType.LIMITS_IN_FORCE]: LIMITS_IN_FORCE_COMMAND,
  [CommandType.MOVE_COLLATERAL]: MOVE_COLLATERAL_COMMAND,
  [CommandType.OPEN_MARGIN_ACCOUNT]: OPEN_MARGIN_ACCOUNT_COMMAND,
  [CommandType.CLOSE_MARGIN_ACCOUNT]: CLOSE_MARGIN_ACCOUNT_COMMAND,
  [CommandType.OPEN_RISK_BUCKET]: OPEN_RISK_BUCKET_COMMAND,
  [CommandType.SET_INDEX_PRICE]: SET_INDEX_PRICE_COMMAND,
  [CommandType.SET_PERP]: SET_PERP_COMMAND,
  [CommandType.FUND_INSURANCE]: FUND_INSURANCE_COMMAND,
  [CommandType.FUNDING_STEP]: FUNDING_STEP_COMMAND,
  [CommandType.LIQUIDATION_STEP]: LIQUIDATION_STEP_COMMAND,
  [CommandType.SETTLEMENT_STEP]: SETTLEMENT_STEP_COMMAND,
  [CommandType.ATTACH_CONDITIONALS]: ATTACH_CONDITIONALS_COMMAND,
  [CommandType.CANCEL_CONDITIONAL]: CANCEL_CONDITIONAL_COMMAND,
  [CommandType.EXPIRE_CONDITIONAL]: EXPIRE_CONDITIONAL_COMMAND,
  [CommandType.TRIGGER_STEP]: TRIGGER_STEP_COMMAND,
  [CommandType.CREATE_TWAP]: CREATE_TWAP_COMMAND, [CommandType.CANCEL_TWAP]: CANCEL_TWAP_COMMAND,
  [CommandType.TWAP_STEP]: TWAP_STEP_COMMAND, [CommandType.SET_BUILDER_PROGRAM]: SET_BUILDER_PROGRAM_COMMAND,
  [CommandType.ENROLL_APPLICATION]: ENROLL_APPLICATION_COMMAND, [CommandType.SET_BUILDER_FEE]: SET_BUILDER_FEE_COMMAND,
  [CommandType.SET_LAUNCH]: SET_LAUNCH_COMMAND, [CommandType.CLAIM_LEASE]: CLAIM_LEASE_COMMAND,
  [CommandType.REGISTER_LEADER]: REGISTER_LEADER_COMMAND, [CommandType.RELEASE_LEADER]: RELEASE_LEADER_COMMAND,
  [CommandType.CREATE_FOLLOW]: CREATE_FOLLOW_COMMAND, [CommandType.UPDATE_FOLLOW]: UPDATE_FOLLOW_COMMAND,
  [CommandType.STOP_FOLLOW]: STOP_FOLLOW_COMMAND,
  [CommandType.COPY_STEP]: COPY_STEP_COMMAND, [CommandType.SET_COPY_PROGRAM]: SET_COPY_PROGRAM_COMMAND,
  [CommandType.SET_REFERRAL_SHARES]: SET_REFERRAL_SHARES_COMMAND,
  [CommandType.TRANSFER_REWARDS]: TRANSFER_REWARDS_COMMAND,
  [CommandType.INITIATE_WITHDRAWAL]: INITIATE_WITHDRAWAL_COMMAND, [CommandType.ADVANCE_WITHDRAWAL]: ADVANCE_WITHDRAWAL_COMMAND,
  [CommandType.REVIEW_WITHDRAWAL]: REVIEW_WITHDRAWAL_COMMAND, [CommandType.SET_WITHDRAWAL_TERMS]: SET_WITHDRAWAL_TERMS_COMMAND,
  [CommandType.STOP_WITHDRAWALS]: STOP_WITHDRAWALS_COMMAND, [CommandType.CREDIT_DEPOSIT]: CREDIT_DEPOSIT_COMMAND,
  [CommandType.ADVANCE_CHAIN]: ADVANCE_CHAIN_COMMAND, [CommandType.ASSIGN_SUSPENSE]: ASSIGN_SUSPENSE_COMMAND,
  [CommandType.OPEN_SETTLEMENT]: OPEN_SETTLEMENT_COMMAND, [CommandType.CONFIRM_SETTLEMENT]: CONFIRM_SETTLEMENT_COMMAND,
  [CommandType.FAUCET_MINTED]: FAUCET_MINTED_COMMAND,
}
const NAMES = Object.fromEntries(Object.entries(CommandType).map(([name, type]) => [type, name]))

export const commandName = (type: number): string => NAMES[type] ?? `UNKNOWN_${type}`

/** Packs the header word. `gateway` 0 is the operator's ring, 1..N the gateway threads. */
export const kindOf = (type: number, slots: number, gateway: number): number => ((gateway << 16) | ((slots & 0xff) << 8) | type) >>> 0
export const typeOfKind = (kind: number): number => kind & 0xff
export const slotsOfKind = (kind: number): number => (kind >>> 8) & 0xff
export const gatewayOfKind = (kind: number): number => kind >>> 16

/** Slots of the longest command that comes through a ring. */
export const COMMAND_SLOTS = 3

/** Slots that the command at word `base` takes by what it carries. GENESIS has as many as it says. */
export function slotsCarried(u32: Uint32Array, base: number): number {
  const type = typeOfKind(u32[base]!)
  const named = type === CommandType.CANCEL_ORDER || type === CommandType.REPLACE_ORDER
  if (named && u32[base + ORDER_COMMAND.at.targetLength] !== 0) return 2
  if (type === CommandType.PLACE_ORDER && (u32[base + ORDER_COMMAND.at.options]! & Option.LEGS) !== 0) return 3
  if (type === CommandType.CREATE_TWAP) return u32[base + CREATE_TWAP_COMMAND.at.labelLength] !== 0 ? 2 : 1
  if (type === CommandType.PLACE_ORDER || type === CommandType.REPLACE_ORDER) {
    const labelled = u32[base + ORDER_COMMAND.at.flags]! >>> CLIENT_ORDER_ID_SHIFT !== 0
    return labelled || (u32[base + ORDER_COMMAND.at.options]! & Option.KEYED) !== 0 ? 2 : 1
  }
  if (type === CommandType.UPSERT_AGENT) return u32[base + UPSERT_AGENT_COMMAND.at.grants]! >>> 24 === AgentMargin.LISTED ? 2 : 1
  const moves = type === CommandType.TRANSFER || type === CommandType.MOVE_COLLATERAL || type === CommandType.TRANSFER_REWARDS
    || type === CommandType.INITIATE_WITHDRAWAL
  return moves && (u32[base + TRANSFER_COMMAND.at.options]! & Option.KEYED) !== 0 ? 2 : 1
}
