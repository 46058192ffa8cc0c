/**
 * Answers by name: what a RESULT (event.ts) says, one layout for each kind of command that is answered.
 *
 * The bytes are those of RESULT, because events never change; but what an order has in a word, a session may have another use for. Each
 * kind names the words it uses by what they are there, and the engine writes and gateways read them by these names. The head is the
 * same in all: kind, correlation, sequence, time, code, account. A refusal has the head and REFUSAL's word only, unless its kind
 * says otherwise.
 */
import { CommandType } from './command.ts'
import { RESULT } from './event.ts'
import type { Decoded, FieldType, Layout } from './table.ts'

type Word = keyof typeof RESULT.fields
type Names = Readonly<Record<string, Word>>
/** A layout over the bytes of a RESULT. */
export interface Answer<N extends Names = Names> extends Layout {
  readonly at: { readonly [K in keyof N]: (typeof RESULT.at)[N[K]] }
}

const HEAD = { kind: 'kind', correlation: 'correlation', sequence: 'sequence', time: 'time', code: 'code', account: 'account' } as const

function answer<const N extends Names>(name: string, words: N): Answer<typeof HEAD & N> {
  const all: Names = { ...HEAD, ...words }
  const at = Object.fromEntries(Object.entries(all).map(([field, word]) => [field, RESULT.at[word]]))
  const fields = Object.fromEntries(Object.entries(all).map(([field, word]) => [field, RESULT.fields[word] as FieldType]))
  // A copy has fast properties (table.ts).
  return { name, fields, at: Object.freeze({ ...at }) as Answer<typeof HEAD & N>['at'], words: RESULT.words, slots: 1 }
}

/** Any refusal. */
export const REFUSAL = answer('refusal', {
  /** AGENT_NOT_ALLOWED: what the agent lacks, AgentGrant of command.ts. */
  lacking: 'detail',
})

/** PLACE_ORDER, REPLACE_ORDER, TRANSFER and MOVE_COLLATERAL, refused; of all but the grant 0 before the rules 4. */
export const SHORT_REFUSAL = answer('short_refusal', {
  lacking: 'detail',
  /** The pair, once it is known that there is such an order. */
  pair: 'pair',
  /**
   * INSUFFICIENT_BALANCE, SUB_ACCOUNT_LIMIT_EXCEEDED, INSUFFICIENT_MARGIN and INSUFFICIENT_COLLATERAL: atoms of `asset`, `required` more
   * than `available`; -1: that is not told.
   */
  asset: 'detail2', required: 'hold', available: 'filledQuote',
  /** TOO_MANY_OPEN_ORDERS: how many may rest, and 1 when it is the share of the account's family. */
  limit: 'lots', ofFamily: 'trades',
})

/** The order as it stands after its command. */
const ORDER = {
  pair: 'pair', flags: 'flags', slot: 'slot', price: 'price', lots: 'lots', remaining: 'remaining', outcome: 'outcome', trades: 'trades',
  filledQuote: 'filledQuote', fee: 'fee', bestPrice: 'bestPrice', worstPrice: 'worstPrice', orderSequence: 'orderSequence',
} as const

/** PLACE_ORDER, REPLACE_ORDER and ENTER_ORDER. */
export const ORDER_ANSWER = answer('order_answer', {
  ...ORDER, hold: 'hold', expiresAt: 'expiresAt',
  /** The order that was replaced; 0 of a placement. */
  replacedSequence: 'originalSequence', replacedSlot: 'detail',
  /** Tolerance asked for. */
  slippageBps: 'detail2',
})

/** ENTER_ORDER, refused: an event and nobody's answer, so it says whose order it was and of which origin (flags). */
export const ENTRY_REFUSAL = answer('entry_refusal', { pair: 'pair', flags: 'flags', price: 'price', lots: 'lots' })

/** CANCEL_ORDER. */
export const CANCEL_ANSWER = answer('cancel_answer', {
  ...ORDER,
  /** Atoms released. */
  released: 'hold',
  /** When the order was made, Unix ms. */
  createdAt: 'originalSequence',
})

/** CANCEL_ALL and CANCEL_ACCOUNT_ORDERS (orders/sweep.ts). */
export const SWEEP_ANSWER = answer('sweep_answer', {
  /** CANCEL_ACCOUNT_ORDERS: as asked. */
  pair: 'pair',
  ended: 'detail',
  /** 1 when there may be more, from the named order on; before the rules 1 the number of orders left. */
  more: 'detail2',
  nextSlot: 'slot', nextSequence: 'orderSequence',
})

const SESSION = {
  session: 'detail', generation: 'detail2',
  /** Unix ms; 0: revoked. */
  expiresAt: 'expiresAt',
  /** The sequence that made the account. */
  accountSequence: 'originalSequence',
} as const

/** OPEN_SESSION, REFRESH_SESSION and REVOKE_SESSION. */
export const SESSION_ANSWER = answer('session_answer', {
  ...SESSION,
  /** 1: the account is new. */
  isNew: 'trades',
  /** 1: a referrer was recorded. */
  referred: 'lots',
})

/** OPEN_DELEGATED_SESSION. */
export const DELEGATED_ANSWER = answer('delegated_answer', { ...SESSION, agent: 'slot', agentSequence: 'orderSequence' })

/** MINT, refusals too. */
export const MINT_ANSWER = answer('mint_answer', {
  /** Asset; -1: all. AGENT_NOT_ALLOWED: as REFUSAL. */
  asset: 'detail',
  /** When the faucet gives again, Unix ms; 0: never, or nobody. */
  nextAvailableAt: 'expiresAt',
})

/** CREATE_SUB_ACCOUNT: Flag.REPEATED when an earlier command made it. */
export const SUB_ACCOUNT_ANSWER = answer('sub_account_answer', {
  subAccount: 'detail', createdSequence: 'originalSequence', flags: 'flags',
})

/** TRANSFER. */
export const TRANSFER_ANSWER = answer('transfer_answer', {
  subAccount: 'detail', asset: 'detail2', flags: 'flags',
  /** The command that moved the atoms, which a repeated answer names too. */
  transferSequence: 'orderSequence',
})

/** SET_SPEND_LIMIT. */
export const SPEND_LIMIT_ANSWER = answer('spend_limit_answer', { limit: 'detail', createdSequence: 'originalSequence' })

/** UPSERT_AGENT. */
export const AGENT_ANSWER = answer('agent_answer', { agent: 'detail', createdSequence: 'originalSequence' })

/** REVOKE_AGENT. */
export const REVOKED_ANSWER = answer('revoked_answer', { agent: 'detail', ordersEnded: 'detail2' })

/** SET_APPLICATION. */
export const APPLICATION_ANSWER = answer('application_answer', {
  application: 'detail', isNew: 'detail2',
  /** 0: of the genesis. */
  createdSequence: 'originalSequence',
})

/** SET_ORIGIN. */
export const ORIGIN_ANSWER = answer('origin_answer', { application: 'detail', origins: 'detail2' })

/** SET_SERVER_KEY. */
export const SERVER_KEY_ANSWER = answer('server_key_answer', {
  application: 'detail',
  /** Until when the key before is good, Unix ms; 0: it is not. */
  oldKeyUntil: 'expiresAt',
})

/** SET_MAINTENANCE (`now`), SET_PAIR_STATUS, SET_FEE_TIER, SET_RULES and SET_COPY_PROGRAM: what was set, and what was before. */
export const SETTING_ANSWER = answer('setting_answer', { pair: 'pair', now: 'detail', before: 'detail2' })

/** LIST_ASSET, LIST_PAIR and SET_PAIR_TERMS: the number of what was listed; of a pair as `pair` too. */
export const ASSET_ANSWER = answer('asset_answer', { asset: 'detail' })
export const PAIR_ANSWER = answer('pair_answer', { pair: 'pair', listed: 'detail' })
/** Their refusals. LISTING_TERMS: what is wrong, TermFault of state/terms.ts. */
export const LISTING_REFUSAL = answer('listing_refusal', { fault: 'detail' })

/** RAISE_LIMIT: which, and what the next start would have had without it; a limit beyond 31 bits is cut. */
export const LIMIT_ANSWER = answer('limit_answer', { limit: 'detail', before: 'detail2' })

/** MOVE_COLLATERAL. */
export const COLLATERAL_ANSWER = answer('collateral_answer', {
  /** Rows of the margin account and of the bucket, which is -1 where none was named; the sequence that made the margin account. */
  marginAccount: 'detail', bucket: 'detail2', createdSequence: 'originalSequence', flags: 'flags',
  /** Atoms after it: of the margin account, and what the bucket has committed. */
  deposited: 'filledQuote', allocated: 'hold',
  /** The command that moved the atoms, which a repeated answer names too. */
  moveSequence: 'orderSequence',
})

/** OPEN_MARGIN_ACCOUNT. */
export const MARGIN_ACCOUNT_ANSWER = answer('margin_account_answer', { marginAccount: 'detail', createdSequence: 'originalSequence' })

/** CLOSE_MARGIN_ACCOUNT: atoms that went to the parent. */
export const CLOSED_MARGIN_ACCOUNT_ANSWER = answer('closed_margin_account_answer', { marginAccount: 'detail', amount: 'hold' })

/** OPEN_RISK_BUCKET: the bucket that has the strategy key; `isNew` 0: there was one already. */
export const RISK_BUCKET_ANSWER = answer('risk_bucket_answer', {
  bucket: 'detail', isNew: 'detail2', createdSequence: 'originalSequence',
})

/** SET_INDEX_PRICE: mark and the index before, ticks; 0: there was none. */
export const PRICE_ANSWER = answer('price_answer', { pair: 'pair', mark: 'detail', before: 'detail2' })

/** SET_PERP: PerpSetting, and what it was: PerpMode, lots, ticks, the allowance of an owner in atoms, or ms. */
export const PERP_ANSWER = answer('perp_answer', { pair: 'pair', setting: 'detail', before: 'originalSequence' })

/** FUND_INSURANCE: what the fund has deposited now, atoms. */
export const FUND_ANSWER = answer('fund_answer', { deposited: 'hold' })

/** ATTACH_CONDITIONALS: bits 1 << ConditionType of the legs that were made. */
export const ATTACH_ANSWER = answer('attach_answer', { legs: 'detail' })

/** CREATE_TWAP: row, slices that are planned, TwapState; Unix ms, 0: not known yet. */
export const TWAP_ANSWER = answer('twap_answer', {
  twap: 'detail', slices: 'detail2', state: 'outcome', firstSliceAt: 'originalSequence', endAt: 'expiresAt',
})

/** CANCEL_CONDITIONAL and CANCEL_TWAP. */
export const CANCELLED_WAITING_ANSWER = answer('cancelled_waiting_answer', { pair: 'pair' })

/** SET_BUILDER_PROGRAM: cap, and what it was, bps. */
export const BUILDER_PROGRAM_ANSWER = answer('builder_program_answer', { capBps: 'detail', before: 'detail2' })

/** ENROLL_APPLICATION: the account is the payout account. */
export const ENROLLMENT_ANSWER = answer('enrollment_answer', { application: 'detail', active: 'detail2' })

/** SET_BUILDER_FEE, refusals too: fees stored and before, bps; changes left, and when there is one again, Unix ms; 0: there is one. */
export const BUILDER_FEE_ANSWER = answer('builder_fee_answer', {
  bps: 'price', previousBps: 'lots', makerBps: 'bestPrice', previousMakerBps: 'worstPrice', changesLeft: 'remaining',
  nextChangeAt: 'expiresAt',
})

/** SET_REFERRAL_SHARES: share of the first level before, ppm; the shares in force. */
export const REFERRAL_SHARES_ANSWER = answer('referral_shares_answer', {
  before: 'detail', first: 'price', second: 'lots', third: 'remaining',
})

/** TRANSFER_REWARDS: the command that moved the atoms, which a repeated answer names too. */
export const REWARDS_ANSWER = answer('rewards_answer', { asset: 'detail2', flags: 'flags', transferSequence: 'orderSequence' })

/** SET_LAUNCH and CLAIM_LEASE: the launch as it stands then. */
export const LEASE_ANSWER = answer('lease_answer', {
  pair: 'pair', launch: 'detail', phase: 'detail2', leaseMs: 'lots', generation: 'originalSequence', quoteRevision: 'orderSequence',
  /** Unix ms; 0: nobody claimed it yet. */
  leaseEndsAt: 'expiresAt',
})
/** CLAIM_LEASE, refused. LEASE_CONFLICT: the generation that the launch has. */
export const LEASE_REFUSAL = answer('lease_refusal', { lacking: 'detail', generation: 'originalSequence' })

/** REGISTER_LEADER and RELEASE_LEADER: row of the leader, and the sequence that made it. */
export const LEADER_ANSWER = answer('leader_answer', { leader: 'detail', createdSequence: 'originalSequence' })

/** CREATE_FOLLOW, UPDATE_FOLLOW and STOP_FOLLOW: row, FollowState, and the sequence that made it. */
export const FOLLOW_ANSWER = answer('follow_answer', { follow: 'detail', state: 'detail2', createdSequence: 'originalSequence' })

/**
 * INITIATE_WITHDRAWAL, ADVANCE_WITHDRAWAL and REVIEW_WITHDRAWAL: row, WithdrawalStatus, and the sequence that made it; the asset is in
 * `pair`, as fills have it.
 */
export const WITHDRAWAL_ANSWER = answer('withdrawal_answer', {
  row: 'detail', status: 'detail2', withdrawalSequence: 'originalSequence', asset: 'pair', amount: 'hold', flags: 'trades',
  deadline: 'expiresAt',
})

/** CREDIT_DEPOSIT and ASSIGN_SUSPENSE: the row in suspense, -1: none; `repeated` 1: it was credited before and nothing changed. */
export const DEPOSIT_ANSWER = answer('deposit_answer', { suspense: 'detail', repeated: 'detail2' })

/** OPEN_SETTLEMENT and CONFIRM_SETTLEMENT: the batch. */
export const SETTLEMENT_ANSWER = answer('settlement_answer', { batch: 'originalSequence', through: 'orderSequence', fills: 'expiresAt' })

/** What says no more than that it was done. */
const DONE = answer('done', {})

const ANSWERS = {
  [CommandType.PLACE_ORDER]: ORDER_ANSWER,
  [CommandType.REPLACE_ORDER]: ORDER_ANSWER,
  [CommandType.ENTER_ORDER]: ORDER_ANSWER,
  [CommandType.CANCEL_ORDER]: CANCEL_ANSWER,
  [CommandType.CANCEL_ALL]: SWEEP_ANSWER,
  [CommandType.CANCEL_ACCOUNT_ORDERS]: SWEEP_ANSWER,
  [CommandType.OPEN_SESSION]: SESSION_ANSWER,
  [CommandType.REFRESH_SESSION]: SESSION_ANSWER,
  [CommandType.REVOKE_SESSION]: SESSION_ANSWER,
  [CommandType.OPEN_DELEGATED_SESSION]: DELEGATED_ANSWER,
  [CommandType.MINT]: MINT_ANSWER,
  [CommandType.CREATE_SUB_ACCOUNT]: SUB_ACCOUNT_ANSWER,
  [CommandType.TRANSFER]: TRANSFER_ANSWER,
  [CommandType.SET_SPEND_LIMIT]: SPEND_LIMIT_ANSWER,
  [CommandType.UPSERT_AGENT]: AGENT_ANSWER,
  [CommandType.REVOKE_AGENT]: REVOKED_ANSWER,
  [CommandType.SET_APPLICATION]: APPLICATION_ANSWER,
  [CommandType.SET_ORIGIN]: ORIGIN_ANSWER,
  [CommandType.SET_SERVER_KEY]: SERVER_KEY_ANSWER,
  [CommandType.SET_MAINTENANCE]: SETTING_ANSWER,
  [CommandType.SET_PAIR_STATUS]: SETTING_ANSWER,
  [CommandType.SET_FEE_TIER]: SETTING_ANSWER,
  [CommandType.SET_RULES]: SETTING_ANSWER,
  [CommandType.LIST_ASSET]: ASSET_ANSWER,
  [CommandType.LIST_PAIR]: PAIR_ANSWER,
  [CommandType.SET_PAIR_TERMS]: PAIR_ANSWER,
  [CommandType.RAISE_LIMIT]: LIMIT_ANSWER,
  [CommandType.MOVE_COLLATERAL]: COLLATERAL_ANSWER,
  [CommandType.OPEN_MARGIN_ACCOUNT]: MARGIN_ACCOUNT_ANSWER,
  [CommandType.CLOSE_MARGIN_ACCOUNT]: CLOSED_MARGIN_ACCOUNT_ANSWER,
  [CommandType.OPEN_RISK_BUCKET]: RISK_BUCKET_ANSWER,
  [CommandType.SET_INDEX_PRICE]: PRICE_ANSWER,
  [CommandType.SET_PERP]: PERP_ANSWER,
  [CommandType.FUND_INSURANCE]: FUND_ANSWER,
  [CommandType.ATTACH_CONDITIONALS]: ATTACH_ANSWER,
  [CommandType.CANCEL_CONDITIONAL]: CANCELLED_WAITING_ANSWER,
  [CommandType.CREATE_TWAP]: TWAP_ANSWER,
  [CommandType.CANCEL_TWAP]: CANCELLED_WAITING_ANSWER,
  [CommandType.SET_BUILDER_PROGRAM]: BUILDER_PROGRAM_ANSWER,
  [CommandType.ENROLL_APPLICATION]: ENROLLMENT_ANSWER,
  [CommandType.SET_BUILDER_FEE]: BUILDER_FEE_ANSWER,
  [CommandType.SET_LAUNCH]: LEASE_ANSWER,
  [CommandType.CLAIM_LEASE]: LEASE_ANSWER,
  [CommandType.REGISTER_LEADER]: LEADER_ANSWER,
  [CommandType.RELEASE_LEADER]: LEADER_ANSWER,
  [CommandType.CREATE_FOLLOW]: FOLLOW_ANSWER,
  [CommandType.UPDATE_FOLLOW]: FOLLOW_ANSWER,
  [CommandType.STOP_FOLLOW]: FOLLOW_ANSWER,
  [CommandType.SET_REFERRAL_SHARES]: REFERRAL_SHARES_ANSWER,
  [CommandType.TRANSFER_REWARDS]: REWARDS_ANSWER,
  [CommandType.SET_COPY_PROGRAM]: SETTING_ANSWER,
  [CommandType.INITIATE_WITHDRAWAL]: WITHDRAWAL_ANSWER,
  [CommandType.ADVANCE_WITHDRAWAL]: WITHDRAWAL_ANSWER,
  [CommandType.REVIEW_WITHDRAWAL]: WITHDRAWAL_ANSWER,
  [CommandType.STOP_WITHDRAWALS]: SETTING_ANSWER,
  [CommandType.CREDIT_DEPOSIT]: DEPOSIT_ANSWER,
  [CommandType.ASSIGN_SUSPENSE]: DEPOSIT_ANSWER,
  [CommandType.OPEN_SETTLEMENT]: SETTLEMENT_ANSWER,
  [CommandType.CONFIRM_SETTLEMENT]: SETTLEMENT_ANSWER,
} as const
/** Names of the answer to a command of this type that was done. */
type NamesOf<T extends number> = T extends keyof typeof ANSWERS ? keyof (typeof ANSWERS)[T]['at'] : keyof (typeof DONE)['at']
/** It, decoded (table.ts). */
export type DecodedAnswer<T extends number> = Readonly<Record<keyof typeof HEAD, Decoded[string]> & Record<NamesOf<T>, Decoded[string]>>

const REFUSALS_BY_TYPE: Readonly<Record<number, Answer>> = {
  [CommandType.PLACE_ORDER]: SHORT_REFUSAL,
  [CommandType.REPLACE_ORDER]: SHORT_REFUSAL,
  [CommandType.TRANSFER]: SHORT_REFUSAL,
  [CommandType.MOVE_COLLATERAL]: SHORT_REFUSAL,
  [CommandType.MINT]: MINT_ANSWER,
  [CommandType.ENTER_ORDER]: ENTRY_REFUSAL,
  [CommandType.LIST_ASSET]: LISTING_REFUSAL,
  [CommandType.LIST_PAIR]: LISTING_REFUSAL,
  [CommandType.SET_PAIR_TERMS]: LISTING_REFUSAL,
  [CommandType.SET_BUILDER_FEE]: BUILDER_FEE_ANSWER,
  [CommandType.CLAIM_LEASE]: LEASE_REFUSAL,
  [CommandType.CREATE_FOLLOW]: SHORT_REFUSAL,
  [CommandType.UPDATE_FOLLOW]: SHORT_REFUSAL,
  [CommandType.TRANSFER_REWARDS]: SHORT_REFUSAL,
  [CommandType.INITIATE_WITHDRAWAL]: SHORT_REFUSAL,
}

/** Layout of the answer, with this code, to a command of this type. */
export const answerOf = (type: number, code: number): Answer =>
  code === 0 ? (ANSWERS as Readonly<Record<number, Answer>>)[type] ?? DONE : REFUSALS_BY_TYPE[type] ?? REFUSAL

/**
 * Kind of a CONDITIONAL or TWAP event on its way to who asked for the CANCEL_ALL of which it tells. Its layout has no word for the
 * correlation, as that of ORDER_ENDED has: there it stands above the type. Reply rings have fewer records than its 24 bits have numbers.
 */
export const askedKindOf = (type: number, correlation: number): number => ((correlation << 8) | type) >>> 0
/** The correlation in it. */
export const askerOf = (kind: number): number => kind >>> 8
