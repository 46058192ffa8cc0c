/**
 * Requests as command records (layout/command.ts).
 *
 * A record is built in a scratch and copied into its ring slots in one piece (scratch.ts). A keyed command carries the hash of its payload
 * in normal form (payload.ts), and for a day after an upgrade the hash of before beside it. Orders that wait are in encode_waiting.ts.
 */
import { hash } from 'node:crypto'
import { SET_BUILDER_FEE_COMMAND } from '../../core/layout/builder.ts'
import {
  AT_END, CANCEL_ALL_COMMAND, CommandType, CONNECTION_KEPT, CONNECTION_OPENED, CREATE_SUB_ACCOUNT_COMMAND, CLIENT_ORDER_ID_SHIFT,
  MINT_COMMAND,
  OPEN_DELEGATED_SESSION_COMMAND, OPEN_SESSION_COMMAND, Option, ORDER_COMMAND, REVOKE_AGENT_COMMAND, SET_SPEND_LIMIT_COMMAND,
  TRANSFER_COMMAND, UPSERT_AGENT_COMMAND,
} from '../../core/layout/command.ts'
import {
  CLOSE_MARGIN_ACCOUNT_COMMAND, MOVE_COLLATERAL_COMMAND, OPEN_MARGIN_ACCOUNT_COMMAND, OPEN_RISK_BUCKET_COMMAND,
} from '../../core/layout/margin.ts'
import { TRANSFER_REWARDS_COMMAND } from '../../core/layout/referrals.ts'
import { INITIATE_WITHDRAWAL_COMMAND } from '../../core/layout/vault.ts'
import type { Caller } from '../auth/signed_request.ts'
import { writeOrderLegs } from './encode_waiting.ts'
import {
  formerOrder, formerTransfer, formOfCollateral, formOfOrder, formOfReplacement, formOfRewards, formOfTransfer, formOfWithdrawal,
  HASH_TEXT, hashOf,
} from './payload.ts'
import { begin, finish, finishFor, scratch, scratchBytes } from './scratch.ts'
import { strategyKeyWords } from './strategy_key.ts'
import type {
  CollateralTerms, MarginTerms, NamedTarget, OrderTerms, Referrer, RewardsTerms, TransferTerms, WithdrawalTerms,
} from './terms.ts'
import type { EngineClient } from './engine_client.ts'

const C = ORDER_COMMAND.at
/** The last sequence of all, which made nothing. */
const NEVER = 2 ** 48 - 1
/** Bytes of a key or payload hash in a record. */
const HASH_BYTES = 16

/** Keys are an account's own: the same text of two accounts is two keys. */
const hashOfKey = (account: number, key: string): string => hash('sha256', `${account}:${key}`, HASH_TEXT)

/** An idempotency key as it stands in records and receipts, four words. */
export function keyWords(account: number, key: string): Int32Array {
  const bytes = Buffer.from(new ArrayBuffer(HASH_BYTES))
  bytes.write(hashOfKey(account, key), 0, HASH_BYTES, HASH_TEXT)
  return new Int32Array(bytes.buffer)
}

/** PLACE_ORDER or REPLACE_ORDER. */
export function encodeOrder(engine: EngineClient, at: number, type: number, correlation: number, caller: Caller, terms: OrderTerms): void {
  begin(type)
  const keyed = terms.key !== ''
  scratch.i32[C.pair] = terms.pair
  scratch.u32[C.flags] = (terms.flags | (terms.clientOrderId.length << CLIENT_ORDER_ID_SHIFT)) >>> 0
  scratch.u32[C.options] = terms.options | Option.TELL_SELF_TRADE | (keyed ? Option.KEYED : 0) | (terms.legs === null ? 0 : Option.LEGS)
  scratch.i32[C.price] = terms.price
  scratch.i32[C.lots] = terms.lots
  scratch.i32[C.slippageBps] = terms.slippageBps
  scratch.i32[C.targetSlot] = terms.targetSlot
  scratch.f64[C.expiresAt >>> 1] = terms.expiresAt
  scratch.f64[C.targetSequence >>> 1] = terms.targetSequence
  if (terms.clientOrderId !== '') scratchBytes.write(terms.clientOrderId, C.label * 4, 'latin1')
  if (terms.named !== null) writeNamed(terms.named)
  if (terms.margin !== null) writeMargin(terms.margin)
  if (terms.legs !== null) writeOrderLegs(terms.legs)
  if (keyed) {
    const replaces = type === CommandType.REPLACE_ORDER
    writeKey(caller, terms.key, hashOf(replaces ? formOfReplacement(terms) : formOfOrder(terms)))
    // Nobody could name an order so before, nor place one on a perpetual.
    if (engine.formerKeys() && terms.named === null && terms.margin === null) writeFormer(formerOrder(replaces, terms))
  }
  finishFor(engine, at, type, correlation, caller)
}

function writeMargin(margin: MarginTerms): void {
  scratch.i64[C.collateral >>> 1] = margin.collateral
  scratch.f64[C.namedSequence >>> 1] = margin.namedSequence
  scratch.i32[C.marginAccount] = margin.marginAccount
  scratch.i32[C.bucket] = margin.bucket
  scratch.i32[C.leverage] = margin.leverage
  scratch.i32[C.keyLow] = margin.keyLow
  scratch.i32[C.keyHigh] = margin.keyHigh
  scratch.i32[C.position] = margin.position
}

/** The client order id that the command in the scratch names its order by. */
function writeTarget(clientOrderId: string): void {
  scratch.i32[C.targetLength] = clientOrderId.length
  scratchBytes.write(clientOrderId, C.target * 4, 'latin1')
}

function writeNamed({ clientOrderId, price, quantity }: NamedTarget): void {
  writeTarget(clientOrderId)
  if (price !== null) {
    scratch.f64[C.priceUnits >>> 1] = price.units
    scratch.i32[C.priceScale] = price.scale
  }
  if (quantity !== null) {
    scratch.f64[C.lotsUnits >>> 1] = quantity.units
    scratch.i32[C.lotsScale] = quantity.scale
  }
}

/** Key and payload hash of the command in the scratch. */
function writeKey(caller: Caller, key: string, payload: string): void {
  scratchBytes.write(hashOfKey(caller.account, key), C.key * 4, HASH_BYTES, HASH_TEXT)
  scratchBytes.write(payload, C.payload * 4, HASH_BYTES, HASH_TEXT)
}

/** The payload hash that the command in the scratch had before the rules 4. */
const writeFormer = (payload: string): unknown => scratchBytes.write(payload, C.former * 4, HASH_BYTES, HASH_TEXT)

/** The 20 bytes of a wallet address (0x and 40 hex digits) at word `at` of the scratch. */
const writeAddress = (address: string, at: number): unknown => scratchBytes.write(address.slice(2), at * 4, 20, 'hex')

export function encodeCancel(engine: EngineClient, at: number, correlation: number, caller: Caller, slot: number, sequence: number): void {
  begin(CommandType.CANCEL_ORDER)
  scratch.i32[C.targetSlot] = slot
  scratch.f64[C.targetSequence >>> 1] = sequence
  finishFor(engine, at, CommandType.CANCEL_ORDER, correlation, caller)
}

/** CANCEL_ORDER of the order that rests under this client order id by then. */
export function encodeNamedCancel(engine: EngineClient, at: number, correlation: number, caller: Caller, clientOrderId: string): void {
  begin(CommandType.CANCEL_ORDER)
  writeTarget(clientOrderId)
  finishFor(engine, at, CommandType.CANCEL_ORDER, correlation, caller)
}

/** For the pair of a CANCEL_ALL record. */
export const EVERY_PAIR = -1

/** CANCEL_ALL with these fields (layout/command.ts). Limit 1, the least there is, of those about a deadline or a connection's end. */
function encodeSweep(
  engine: EngineClient, at: number, correlation: number, caller: Caller,
  { pair = EVERY_PAIR, limit = 1, fromSlot = 0, fromSequence = 0, afterMs = 0 }:
  Readonly<Partial<Record<'pair' | 'limit' | 'fromSlot' | 'fromSequence' | 'afterMs', number>>>,
): void {
  const { at: to } = CANCEL_ALL_COMMAND
  begin(CommandType.CANCEL_ALL)
  scratch.i32[to.pair] = pair
  scratch.i32[to.limit] = limit
  scratch.i32[to.fromSlot] = fromSlot
  scratch.f64[to.fromSequence >>> 1] = fromSequence
  scratch.i32[to.afterMs] = afterMs
  finishFor(engine, at, CommandType.CANCEL_ALL, correlation, caller)
}

/** CANCEL_ALL of at most `limit` orders of `pair`, or {@link EVERY_PAIR}, `from` an order on; of sequence 0: from the newest on. */
export function encodeCancelAll(
  engine: EngineClient, at: number, correlation: number, caller: Caller, pair: number, limit: number,
  from: { slot: number; sequence: number },
): void {
  encodeSweep(engine, at, correlation, caller, { pair, limit, fromSlot: from.slot, fromSequence: from.sequence })
}

/** CANCEL_ALL that sets the account's deadline to so many ms from now, or takes it away (DISARM). */
export function encodeDeadline(engine: EngineClient, at: number, correlation: number, caller: Caller, afterMs: number): void {
  encodeSweep(engine, at, correlation, caller, { afterMs })
}

/**
 * CANCEL_ALL of so many connections that ended, or that cancel at their end no more. Its caller's session may be over, so the account is
 * named, with the sequence that made it.
 */
export function encodeAtEnd(
  engine: EngineClient, at: number, correlation: number, caller: Caller, accountSequence: number, connections: number, cancels: boolean,
): void {
  encodeSweep(engine, at, correlation, caller, {
    limit: connections, fromSlot: caller.account, fromSequence: accountSequence, afterMs: cancels ? AT_END : CONNECTION_KEPT,
  })
}

/** CANCEL_ALL of a connection that opened and cancels at its end; after a start its account may return for so many ms. */
export function encodeOpened(engine: EngineClient, at: number, correlation: number, caller: Caller, graceMs: number): void {
  encodeSweep(engine, at, correlation, caller, { fromSlot: graceMs, afterMs: CONNECTION_OPENED })
}

/** MINT of `asset`, -1 for all. */
export function encodeMint(engine: EngineClient, at: number, correlation: number, caller: Caller, asset: number): void {
  begin(CommandType.MINT)
  scratch.i32[MINT_COMMAND.at.asset] = asset
  finishFor(engine, at, CommandType.MINT, correlation, caller)
}

/**
 * OPEN_SESSION of a wallet (0x and 40 hex digits) for a session public key (64 hex digits). `master`: row of the account that the signed
 * text named as its master; -1: none. `referrer`: whose code was given.
 */
export function encodeOpenSession(
  engine: EngineClient, at: number, correlation: number, application: number, address: string, key: string, master: number,
  referrer: Referrer | null,
): void {
  begin(CommandType.OPEN_SESSION)
  scratch.i32[OPEN_SESSION_COMMAND.at.application] = application
  scratch.i32[OPEN_SESSION_COMMAND.at.master] = master + 1
  writeAddress(address, OPEN_SESSION_COMMAND.at.address)
  scratchBytes.write(key, OPEN_SESSION_COMMAND.at.publicKey * 4, 32, 'hex')
  if (referrer !== null) {
    scratch.i32[OPEN_SESSION_COMMAND.at.referrer] = referrer.account + 1
    scratch.f64[OPEN_SESSION_COMMAND.at.referrerSequence >>> 1] = referrer.createdSequence
  }
  finish(engine, at, CommandType.OPEN_SESSION, correlation, -1, 0)
}

/** REFRESH_SESSION or REVOKE_SESSION: all is said in the header. */
export function encodeSession(engine: EngineClient, at: number, type: number, correlation: number, caller: Caller): void {
  begin(type)
  finishFor(engine, at, type, correlation, caller)
}

/** OPEN_DELEGATED_SESSION of wallet `agent` for the account of wallet `owner`; addresses and key as for {@link encodeOpenSession}. */
export function encodeOpenDelegatedSession(
  engine: EngineClient, at: number, correlation: number, application: number, owner: string, agent: string, key: string,
): void {
  const { at: to } = OPEN_DELEGATED_SESSION_COMMAND
  begin(CommandType.OPEN_DELEGATED_SESSION)
  scratch.i32[to.application] = application
  writeAddress(owner, to.owner)
  writeAddress(agent, to.agent)
  scratchBytes.write(key, to.publicKey * 4, 32, 'hex')
  finish(engine, at, CommandType.OPEN_DELEGATED_SESSION, correlation, -1, 0)
}

/** CREATE_SUB_ACCOUNT of a wallet that agreed; `username` is printable ASCII, at most 32 characters, '' for none. */
export function encodeCreateSubAccount(
  engine: EngineClient, at: number, correlation: number, caller: Caller, address: string, username: string,
): void {
  const { at: to } = CREATE_SUB_ACCOUNT_COMMAND
  begin(CommandType.CREATE_SUB_ACCOUNT)
  writeAddress(address, to.address)
  scratch.i32[to.consented] = 1
  scratchBytes.write(username, to.username * 4, 'latin1')
  finishFor(engine, at, CommandType.CREATE_SUB_ACCOUNT, correlation, caller)
}

export function encodeTransfer(engine: EngineClient, at: number, correlation: number, caller: Caller, terms: TransferTerms): void {
  const { at: to } = TRANSFER_COMMAND
  begin(CommandType.TRANSFER)
  scratch.i32[to.asset] = terms.asset
  scratch.u32[to.options] = terms.key === '' ? 0 : Option.KEYED
  scratch.i32[to.subAccount] = terms.subAccount
  scratch.i32[to.toSub] = terms.toSub ? 1 : 0
  scratch.i64[to.amount >>> 1] = terms.amount
  if (terms.key !== '') {
    writeKey(caller, terms.key, hashOf(formOfTransfer(terms)))
    if (engine.formerKeys()) writeFormer(formerTransfer(terms))
  }
  finishFor(engine, at, CommandType.TRANSFER, correlation, caller)
}

/** Terms of SET_SPEND_LIMIT. */
export interface SpendLimitTerms {
  /** Row of the sub-account. */
  readonly subAccount: number
  /** Index of the asset. */
  readonly asset: number
  /** LimitChange. */
  readonly change: number
  /** LimitField bits. */
  readonly fields: number
  /** Atoms, 0 or more. */
  readonly maxAmount: bigint
  /** Atoms; -1: none. */
  readonly dailyLimit: bigint
  readonly active: boolean
}

export function encodeSpendLimit(engine: EngineClient, at: number, correlation: number, caller: Caller, terms: SpendLimitTerms): void {
  const { at: to } = SET_SPEND_LIMIT_COMMAND
  begin(CommandType.SET_SPEND_LIMIT)
  scratch.i32[to.asset] = terms.asset
  scratch.i32[to.subAccount] = terms.subAccount
  scratch.i32[to.change] = terms.change
  scratch.i32[to.fields] = terms.fields
  scratch.i64[to.maxAmount >>> 1] = terms.maxAmount
  scratch.i64[to.dailyLimit >>> 1] = terms.dailyLimit
  scratch.i32[to.active] = terms.active ? 1 : 0
  finishFor(engine, at, CommandType.SET_SPEND_LIMIT, correlation, caller)
}

/** SET_BUILDER_FEE; `makerBps` may be UNCHANGED. */
export function encodeBuilderFee(
  engine: EngineClient, at: number, correlation: number, caller: Caller, bps: number, makerBps: number,
): void {
  const { at: to } = SET_BUILDER_FEE_COMMAND
  begin(CommandType.SET_BUILDER_FEE)
  scratch.i32[to.bps] = bps
  scratch.i32[to.makerBps] = makerBps
  finishFor(engine, at, CommandType.SET_BUILDER_FEE, correlation, caller)
}

/** Terms of UPSERT_AGENT, in the units of the command. */
export interface AgentTerms {
  readonly address: string
  /** The four bytes of `grants`. */
  readonly grants: number
  /** Unix ms; 0: never. */
  readonly expiresAt: number
  /** 10^-9 of the quote asset; 0: no bound. */
  readonly maxNotional: bigint
  /** Hundredths; 0: no bound. */
  readonly maxLeverage: number
  /** 0: the most. */
  readonly maxOpenOrders: number
  /** Indexes of the trading pairs. */
  readonly pairs: readonly number[]
  /** UTF-8, at most 32 bytes; '' for none. */
  readonly name: string
  /** AgentMargin.LISTED: margin accounts by the sequence that made each and its row, as the command names them. */
  readonly marginAccounts: readonly { readonly sequence: number; readonly row: number }[]
}

export function encodeUpsertAgent(engine: EngineClient, at: number, correlation: number, caller: Caller, terms: AgentTerms): void {
  const { at: to } = UPSERT_AGENT_COMMAND
  begin(CommandType.UPSERT_AGENT)
  writeAddress(terms.address, to.address)
  scratch.u32[to.grants] = terms.grants
  scratch.f64[to.expiresAt >>> 1] = terms.expiresAt
  scratch.i64[to.maxNotional >>> 1] = terms.maxNotional
  scratch.i32[to.maxLeverage] = terms.maxLeverage
  scratch.i32[to.maxOpenOrders] = terms.maxOpenOrders
  for (const pair of terms.pairs) scratchBytes[to.pairs * 4 + (pair >>> 3)]! |= 1 << (pair & 7)
  scratchBytes.write(terms.name, to.name * 4, 'utf8')
  for (const [place, { sequence, row }] of terms.marginAccounts.entries()) {
    scratch.f64[(to.marginSequences >>> 1) + place] = sequence
    scratch.i32[to.marginRows + place] = row
  }
  finishFor(engine, at, CommandType.UPSERT_AGENT, correlation, caller)
}

/** REVOKE_AGENT of the agent in row `agent` that was made by the command `createdSequence`. */
export function encodeRevokeAgent(
  engine: EngineClient, at: number, correlation: number, caller: Caller, agent: number, createdSequence: number,
): void {
  begin(CommandType.REVOKE_AGENT)
  scratch.i32[REVOKE_AGENT_COMMAND.at.agent] = agent
  scratch.f64[REVOKE_AGENT_COMMAND.at.createdSequence >>> 1] = createdSequence
  finishFor(engine, at, CommandType.REVOKE_AGENT, correlation, caller)
}

export function encodeCollateral(engine: EngineClient, at: number, correlation: number, caller: Caller, terms: CollateralTerms): void {
  const { at: to } = MOVE_COLLATERAL_COMMAND
  begin(CommandType.MOVE_COLLATERAL)
  scratch.i32[to.move] = terms.move
  scratch.u32[to.options] = terms.key === '' ? 0 : Option.KEYED
  scratch.i32[to.marginAccount] = terms.marginAccount
  scratch.i32[to.bucket] = terms.bucket
  scratch.f64[to.createdSequence >>> 1] = terms.onlyRepeated === true ? NEVER : terms.createdSequence
  scratch.i64[to.amount >>> 1] = terms.amount
  if (terms.key !== '') writeKey(caller, terms.key, hashOf(formOfCollateral(terms)))
  finishFor(engine, at, CommandType.MOVE_COLLATERAL, correlation, caller)
}

export function encodeTransferRewards(engine: EngineClient, at: number, correlation: number, caller: Caller, terms: RewardsTerms): void {
  const { at: to } = TRANSFER_REWARDS_COMMAND
  begin(CommandType.TRANSFER_REWARDS)
  scratch.i32[to.asset] = terms.asset
  scratch.u32[to.options] = terms.key === '' ? 0 : Option.KEYED
  scratch.i64[to.amount >>> 1] = terms.amount
  if (terms.key !== '') writeKey(caller, terms.key, hashOf(formOfRewards(terms)))
  finishFor(engine, at, CommandType.TRANSFER_REWARDS, correlation, caller)
}

export function encodeWithdrawal(engine: EngineClient, at: number, correlation: number, caller: Caller, terms: WithdrawalTerms): void {
  const { at: to } = INITIATE_WITHDRAWAL_COMMAND
  begin(CommandType.INITIATE_WITHDRAWAL)
  scratch.i32[to.asset] = terms.asset
  scratch.u32[to.options] = terms.key === '' ? 0 : Option.KEYED
  scratch.i64[to.amount >>> 1] = terms.amount
  writeAddress(terms.destination, to.destination)
  if (terms.key !== '') writeKey(caller, terms.key, hashOf(formOfWithdrawal(terms)))
  finishFor(engine, at, CommandType.INITIATE_WITHDRAWAL, correlation, caller)
}

/** OPEN_MARGIN_ACCOUNT; `label` is at most 32 bytes of UTF-8, '' for none. */
export function encodeOpenMarginAccount(engine: EngineClient, at: number, correlation: number, caller: Caller, label: string): void {
  begin(CommandType.OPEN_MARGIN_ACCOUNT)
  scratchBytes.write(label, OPEN_MARGIN_ACCOUNT_COMMAND.at.label * 4, 'utf8')
  finishFor(engine, at, CommandType.OPEN_MARGIN_ACCOUNT, correlation, caller)
}

/** CLOSE_MARGIN_ACCOUNT of the margin sub-account in row `marginAccount` that was made by the command `createdSequence`. */
export function encodeCloseMarginAccount(
  engine: EngineClient, at: number, correlation: number, caller: Caller, marginAccount: number, createdSequence: number,
): void {
  begin(CommandType.CLOSE_MARGIN_ACCOUNT)
  scratch.i32[CLOSE_MARGIN_ACCOUNT_COMMAND.at.marginAccount] = marginAccount
  scratch.f64[CLOSE_MARGIN_ACCOUNT_COMMAND.at.createdSequence >>> 1] = createdSequence
  finishFor(engine, at, CommandType.CLOSE_MARGIN_ACCOUNT, correlation, caller)
}

/** Terms of OPEN_RISK_BUCKET. */
export interface RiskBucketTerms {
  /** As in {@link CollateralTerms}. */
  readonly marginAccount: number
  readonly createdSequence: number
  /** Pair of an isolated bucket; -1: a cross one. */
  readonly pair: number
  /** Printable ASCII, 1 to 48 characters. */
  readonly strategyKey: string
}

export function encodeOpenRiskBucket(engine: EngineClient, at: number, correlation: number, caller: Caller, terms: RiskBucketTerms): void {
  const { at: to } = OPEN_RISK_BUCKET_COMMAND
  const [low, high] = strategyKeyWords(terms.strategyKey)
  begin(CommandType.OPEN_RISK_BUCKET)
  scratch.i32[to.marginAccount] = terms.marginAccount
  scratch.i32[to.pair] = terms.pair
  scratch.f64[to.createdSequence >>> 1] = terms.createdSequence
  scratch.i32[to.keyLow] = low
  scratch.i32[to.keyHigh] = high
  scratchBytes.write(terms.strategyKey, to.strategyKey * 4, 'latin1')
  finishFor(engine, at, CommandType.OPEN_RISK_BUCKET, correlation, caller)
}
