/**
 * Columns of answers, for people: what the RESULT of each type of command says, a meaning for every field (meanings.ts).
 *
 * By type of command, not by layout alone: commands that share a layout may leave words of it unused. What a refusal says, beside its code,
 * few of them know more of.
 */
import {
  AGENT_ANSWER, answerOf, APPLICATION_ANSWER, ASSET_ANSWER, CANCEL_ANSWER, CLOSED_MARGIN_ACCOUNT_ANSWER, COLLATERAL_ANSWER,
  DELEGATED_ANSWER, ENTRY_REFUSAL, FUND_ANSWER, LIMIT_ANSWER, LISTING_REFUSAL, MARGIN_ACCOUNT_ANSWER, MINT_ANSWER, ORDER_ANSWER,
  ORIGIN_ANSWER, PAIR_ANSWER, PERP_ANSWER, PRICE_ANSWER, REFUSAL, REVOKED_ANSWER, RISK_BUCKET_ANSWER, SERVER_KEY_ANSWER, SESSION_ANSWER,
  SETTING_ANSWER, SHORT_REFUSAL, SPEND_LIMIT_ANSWER, SUB_ACCOUNT_ANSWER, SWEEP_ANSWER, TRANSFER_ANSWER,
} from '../layout/answers.ts'
import { AgentGrant, CommandType, Flag, PAIR_STATUS_NAMES } from '../layout/command.ts'
import { IdKind } from '../layout/ids.ts'
import { RAISABLE } from '../layout/limits.ts'
import { TERM_FAULTS } from '../layout/listing.ts'
import { PerpSetting } from '../layout/margin.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { launchAnswerColumns, leaseRefusalColumns } from './launch_columns.ts'
import {
  amount, application, asset, bits, both, columnsOf, given, hidden, madeId, named, order, orderFlags, outcome, pair, paid, price, quantity,
  quote, session, time, unlessRefused, unlessZero, user, userMadeAt, whenRefused, whole, yes, type Column, type Meaning,
} from './meanings.ts'
import { builderAnswerColumns, builderRefusalColumns } from './builder_columns.ts'
import { referralAnswerColumns } from './referral_columns.ts'
import { copyAnswerColumns } from './copy_columns.ts'
import { vaultAnswerColumns } from './vault_columns.ts'
import { waitingAnswerColumns } from './waiting_columns.ts'

/** The code is a column of the command's row (kinds.ts). */
const HEAD = { kind: hidden, correlation: hidden, sequence: hidden, time: hidden, code: hidden, account: user() }

const LACKING: Meaning = whenRefused(named(AgentGrant, 'lacking'), REFUSALS.AGENT_NOT_ALLOWED.number)
const REPEATED: Meaning = bits({ REPEATED: Flag.REPEATED }, 'flags')

const ORDER = {
  ...HEAD, pair, flags: orderFlags(), slot: order('orderId', 'orderSequence'), price: price(), lots: quantity('quantity'),
  remaining: quantity('remainingQuantity'), outcome, trades: whole('tradesCount'), filledQuote: quote('filledQuoteQuantity'),
  fee: quote('fee'), bestPrice: price(), worstPrice: price(), orderSequence: hidden,
}

const ORDER_COLUMNS = columnsOf(ORDER_ANSWER, {
  ...ORDER, hold: paid('held'), expiresAt: time(), replacedSequence: hidden, replacedSlot: order('replacedOrderId', 'replacedSequence'),
  slippageBps: given(whole('slippageToleranceBps'), 'flags', Flag.SLIPPAGE),
})

const SWEEP = { ...HEAD, ended: whole('ordersEnded'), more: whole(), nextSlot: hidden, nextSequence: hidden }
/** The sequence that made the account is part of its id, which `account` is told by. */
const SESSION = {
  ...HEAD, session: session('generation'), generation: hidden, expiresAt: time(), account: userMadeAt('userId', 'accountSequence'),
  accountSequence: hidden,
}
const SESSION_COLUMNS = columnsOf(SESSION_ANSWER, { ...SESSION, isNew: yes('isNewAccount'), referred: yes('referralApplied') })
const PAIR_COLUMNS = columnsOf(PAIR_ANSWER, { ...HEAD, pair, listed: hidden })

const setting = (now: Meaning, before: Meaning, ofPair: Meaning = hidden): readonly Column[] =>
  columnsOf(SETTING_ANSWER, { ...HEAD, pair: ofPair, now, before })

/** What each type says when it was done; the others say no more than that. */
const DONE: Readonly<Record<number, readonly Column[]>> = {
  [CommandType.PLACE_ORDER]: ORDER_COLUMNS,
  [CommandType.REPLACE_ORDER]: ORDER_COLUMNS,
  [CommandType.ENTER_ORDER]: ORDER_COLUMNS,
  [CommandType.CANCEL_ORDER]: columnsOf(CANCEL_ANSWER, { ...ORDER, released: paid('released'), createdAt: time() }),
  [CommandType.CANCEL_ALL]: columnsOf(SWEEP_ANSWER, { ...SWEEP, pair: hidden }),
  [CommandType.CANCEL_ACCOUNT_ORDERS]: columnsOf(SWEEP_ANSWER, { ...SWEEP, pair }),
  [CommandType.OPEN_SESSION]: SESSION_COLUMNS,
  [CommandType.REFRESH_SESSION]: SESSION_COLUMNS,
  [CommandType.REVOKE_SESSION]: SESSION_COLUMNS,
  [CommandType.OPEN_DELEGATED_SESSION]: columnsOf(DELEGATED_ANSWER, {
    ...SESSION, agent: madeId('agentId', IdKind.AGENT, 'agentSequence'), agentSequence: hidden,
  }),
  [CommandType.MINT]: columnsOf(MINT_ANSWER, { ...HEAD, asset: asset(), nextAvailableAt: time() }),
  [CommandType.CREATE_SUB_ACCOUNT]: columnsOf(SUB_ACCOUNT_ANSWER, {
    ...HEAD, subAccount: userMadeAt('subAccountId', 'createdSequence'), createdSequence: hidden, flags: REPEATED,
  }),
  [CommandType.TRANSFER]: columnsOf(TRANSFER_ANSWER, {
    ...HEAD, subAccount: user('subAccountId'), asset: asset(), flags: REPEATED, transferSequence: whole(),
  }),
  [CommandType.SET_SPEND_LIMIT]: columnsOf(SPEND_LIMIT_ANSWER, {
    ...HEAD, limit: madeId('spendLimitId', IdKind.SPEND_LIMIT, 'createdSequence'), createdSequence: hidden,
  }),
  [CommandType.UPSERT_AGENT]: columnsOf(AGENT_ANSWER, {
    ...HEAD, agent: madeId('agentId', IdKind.AGENT, 'createdSequence'), createdSequence: hidden,
  }),
  [CommandType.REVOKE_AGENT]: columnsOf(REVOKED_ANSWER, { ...HEAD, agent: hidden, ordersEnded: whole() }),
  [CommandType.SET_APPLICATION]: columnsOf(APPLICATION_ANSWER, { ...HEAD, application, isNew: yes(), createdSequence: hidden }),
  [CommandType.SET_ORIGIN]: columnsOf(ORIGIN_ANSWER, { ...HEAD, application, origins: whole() }),
  [CommandType.SET_SERVER_KEY]: columnsOf(SERVER_KEY_ANSWER, { ...HEAD, application, oldKeyUntil: time() }),
  [CommandType.SET_MAINTENANCE]: setting(yes('maintenance'), hidden),
  [CommandType.SET_PAIR_STATUS]: setting(named(PAIR_STATUS_NAMES, 'status'), named(PAIR_STATUS_NAMES, 'statusBefore'), pair),
  [CommandType.SET_FEE_TIER]: setting(whole('tier'), whole('tierBefore')),
  [CommandType.SET_RULES]: setting(whole('rules'), whole('rulesBefore')),
  [CommandType.LIST_ASSET]: columnsOf(ASSET_ANSWER, { ...HEAD, asset: asset() }),
  [CommandType.LIST_PAIR]: PAIR_COLUMNS,
  [CommandType.SET_PAIR_TERMS]: PAIR_COLUMNS,
  [CommandType.RAISE_LIMIT]: columnsOf(LIMIT_ANSWER, {
    ...HEAD, limit: named(RAISABLE.map(([name]) => name), 'limit'), before: whole('valueBefore'),
  }),
  [CommandType.MOVE_COLLATERAL]: columnsOf(COLLATERAL_ANSWER, {
    ...HEAD, marginAccount: whole('marginAccountRow'), bucket: whole('riskBucketRow', -1), createdSequence: hidden, flags: REPEATED,
    deposited: whole('depositedAtoms'), allocated: whole('allocatedAtoms'), moveSequence: whole(),
  }),
  [CommandType.OPEN_MARGIN_ACCOUNT]: columnsOf(MARGIN_ACCOUNT_ANSWER, {
    ...HEAD, marginAccount: madeId('marginAccountId', IdKind.MARGIN_ACCOUNT, 'createdSequence'), createdSequence: hidden,
  }),
  [CommandType.CLOSE_MARGIN_ACCOUNT]: columnsOf(CLOSED_MARGIN_ACCOUNT_ANSWER, {
    ...HEAD, marginAccount: whole('marginAccountRow'), amount: whole('atoms'),
  }),
  [CommandType.OPEN_RISK_BUCKET]: columnsOf(RISK_BUCKET_ANSWER, {
    ...HEAD, bucket: madeId('riskBucketId', IdKind.RISK_BUCKET, 'createdSequence'), isNew: yes(), createdSequence: hidden,
  }),
  [CommandType.SET_INDEX_PRICE]: columnsOf(PRICE_ANSWER, { ...HEAD, pair, mark: price('markPrice'), before: price('indexPriceBefore') }),
  [CommandType.SET_PERP]: columnsOf(PERP_ANSWER, { ...HEAD, pair, setting: named(PerpSetting), before: whole('valueBefore') }),
  [CommandType.FUND_INSURANCE]: columnsOf(FUND_ANSWER, { ...HEAD, deposited: whole('depositedAtoms') }),
  ...waitingAnswerColumns(HEAD),
  ...builderAnswerColumns(HEAD),
  ...launchAnswerColumns(HEAD),
  ...copyAnswerColumns(HEAD),
  ...referralAnswerColumns(HEAD),
  ...vaultAnswerColumns(HEAD),
}
const DONE_COLUMNS: readonly Column[] = columnsOf(answerOf(0, 0), HEAD)

const REFUSAL_COLUMNS = columnsOf(REFUSAL, { ...HEAD, lacking: LACKING })
/** The pair is a column of the command's. Without `required` nothing of it is told. */
const SHORT_REFUSAL_COLUMNS = columnsOf(SHORT_REFUSAL, {
  ...HEAD, lacking: LACKING, pair: hidden, asset: unlessZero(asset('requiredAsset'), 'required'), required: amount('required', 0n),
  available: unlessZero(amount('available', -1n), 'required'), limit: whole('openOrdersAllowed', 0), ofFamily: hidden,
})
const LISTING_REFUSAL_COLUMNS = columnsOf(LISTING_REFUSAL, {
  ...HEAD, fault: whenRefused(named(TERM_FAULTS, 'fault'), REFUSALS.LISTING_TERMS.number),
})
const REFUSED: Readonly<Record<number, readonly Column[]>> = {
  [CommandType.PLACE_ORDER]: SHORT_REFUSAL_COLUMNS,
  [CommandType.REPLACE_ORDER]: SHORT_REFUSAL_COLUMNS,
  [CommandType.TRANSFER]: SHORT_REFUSAL_COLUMNS,
  [CommandType.TRANSFER_REWARDS]: SHORT_REFUSAL_COLUMNS,
  [CommandType.INITIATE_WITHDRAWAL]: SHORT_REFUSAL_COLUMNS,
  ...builderRefusalColumns(HEAD),
  [CommandType.MOVE_COLLATERAL]: SHORT_REFUSAL_COLUMNS,
  [CommandType.MINT]: columnsOf(MINT_ANSWER, {
    ...HEAD, asset: both(unlessRefused(asset(), REFUSALS.AGENT_NOT_ALLOWED.number), LACKING), nextAvailableAt: time(),
  }),
  [CommandType.ENTER_ORDER]: columnsOf(ENTRY_REFUSAL, { ...HEAD, pair, flags: orderFlags(), price: price(), lots: quantity('quantity') }),
  [CommandType.LIST_ASSET]: LISTING_REFUSAL_COLUMNS,
  [CommandType.LIST_PAIR]: LISTING_REFUSAL_COLUMNS,
  [CommandType.SET_PAIR_TERMS]: LISTING_REFUSAL_COLUMNS,
  [CommandType.CLAIM_LEASE]: leaseRefusalColumns(HEAD, LACKING),
}

/** Columns of the answer, with this code, to a command of this type. */
export const answerColumns = (type: number, code: number): readonly Column[] =>
  code === 0 ? DONE[type] ?? DONE_COLUMNS : REFUSED[type] ?? REFUSAL_COLUMNS
