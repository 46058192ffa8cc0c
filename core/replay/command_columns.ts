/** Columns of commands, for people: what was asked, a meaning for every field of each type's record (meanings.ts). */
import {
  ACCEPT_CLOCK_COMMAND, ACCEPT_LOSS_COMMAND, AgentAction, AgentMargin, AgentOrderType, AgentTimeInForce, CANCEL_ACCOUNT_ORDERS_COMMAND,
  CANCEL_ALL_COMMAND, CommandType, CONTINUE_CANCEL_COMMAND, CREATE_SUB_ACCOUNT_COMMAND, ENTER_ORDER_COMMAND, Flag, LimitChange,
  LimitField, MINT_COMMAND, OPEN_DELEGATED_SESSION_COMMAND, OPEN_SESSION_COMMAND, Option, ORDER_COMMAND, ORIGIN_NAMES, PAIR_STATUS_NAMES,
  REVOKE_AGENT_COMMAND, SESSION_COMMAND, SET_APPLICATION_COMMAND, SET_FEE_TIER_COMMAND, SET_MAINTENANCE_COMMAND, SET_ORIGIN_COMMAND,
  SET_PAIR_STATUS_COMMAND, SET_RULES_COMMAND, SET_SERVER_KEY_COMMAND, SET_SPEND_LIMIT_COMMAND, TRANSFER_COMMAND, UPSERT_AGENT_COMMAND,
} from '../layout/command.ts'
import { IdKind } from '../layout/ids.ts'
import { LIMITS_IN_FORCE_COMMAND, RAISABLE, RAISE_LIMIT_COMMAND } from '../layout/limits.ts'
import { LIST_ASSET_COMMAND, LIST_PAIR_COMMAND, SET_PAIR_TERMS_COMMAND } from '../layout/listing.ts'
import {
  address, amount, application, asset, basisPoints, bits, both, columnsOf, decimals, given, hex, hidden, madeId, named, ofKnownPair, order,
  orderFlags, options, otherFlags, pair, price, quantity, signer, text, time, user, userMadeAt, whole, yes, type Column, type Meaning,
} from './meanings.ts'
import { builderCommandColumns } from './builder_columns.ts'
import { marginCommandColumns, NO_ORDER_MARGIN, ORDER_MARGIN_FIELDS } from './margin_columns.ts'
import { agentMarginAccounts, agentPairs, faucetAmount, lotsOf, masterRow, notional } from './listing_meanings.ts'
import { launchCommandColumns } from './launch_columns.ts'
import { copyCommandColumns } from './copy_columns.ts'
import { referralCommandColumns, referrerRow } from './referral_columns.ts'
import { vaultCommandColumns } from './vault_columns.ts'
import { LEG_FIELDS, NO_LEGS, waitingCommandColumns } from './waiting_columns.ts'

/** `kind`: which lane it came through, 0 the operator's and the sequencer's own, 1..N the gateway threads. */
const lane: Meaning = (field, layout) => {
  const word = layout.at[field]!
  return [{ name: 'gateway', type: 'integer', cell: ({ views, at }) => views.u32[at + word]! >>> 16 }]
}
/** Of commands that a session signs, and of those that none does. */
const SIGNED = { kind: lane, correlation: hidden, session: signer, sessionGeneration: hidden }
const OWN = { kind: lane, correlation: hidden, session: hidden, sessionGeneration: hidden }

const KEY = { key: hex('idempotencyKeyHash'), payload: hex('payloadHash'), former: hidden }
const SLIPPAGE = given(whole('slippageToleranceBps'), 'flags', Flag.SLIPPAGE)
const EXPIRES = given(time(), 'flags', Flag.EXPIRES)

/**
 * An order that may be named by its client order id. Its id and pair are in the answer then, and the decimals of a
 * replacement are told as they came.
 */
const DECIMALS = { priceUnits: hidden, lotsUnits: hidden, priceScale: hidden, lotsScale: hidden }
const BY_CLIENT_ORDER_ID = { ...DECIMALS, targetLength: hidden, target: text('targetClientOrderId') }
const NOT_NAMED = { ...DECIMALS, targetLength: hidden, target: hidden }

const NO_ORDER = {
  pair: hidden, flags: hidden, price: hidden, lots: hidden, slippageBps: hidden, expiresAt: hidden, options: hidden, key: hidden,
  payload: hidden, former: hidden, label: hidden, ...NO_ORDER_MARGIN, ...NO_LEGS,
}
/** An order that is named, and nothing else of it. */
const ORDER_TARGET = columnsOf(ORDER_COMMAND, {
  ...SIGNED, ...NO_ORDER, ...BY_CLIENT_ORDER_ID, targetSlot: order('orderId', 'targetSequence'), targetSequence: hidden,
})
const SESSION_COLUMNS = columnsOf(SESSION_COMMAND, SIGNED)
const LIMIT_NAMES = RAISABLE.map(([name]) => name)

/** Byte `place` of the grants of an agent. */
const grants: Meaning = both(
  bits(AgentAction, 'allowedActions', 0, 0xff), bits(AgentOrderType, 'allowedOrderTypes', 8, 0xff),
  bits(AgentTimeInForce, 'allowedTimeInForce', 16, 0xff), bits(AgentMargin, 'allowedMarginAccounts', 24, 0xff),
)

export const COMMAND_COLUMNS: Readonly<Record<CommandType, readonly Column[]>> = {
  // The first record of a journal: `npm run replay -- export` begins behind it.
  [CommandType.GENESIS]: [],
  [CommandType.PLACE_ORDER]: columnsOf(ORDER_COMMAND, {
    ...SIGNED, pair, flags: orderFlags(), price: price(), lots: quantity('quantity'), slippageBps: SLIPPAGE, targetSlot: hidden,
    expiresAt: EXPIRES, targetSequence: hidden, options, ...KEY, label: text('clientOrderId'), ...NOT_NAMED, ...ORDER_MARGIN_FIELDS,
    ...LEG_FIELDS,
  }),
  // Terms that are not given stay those of the original: the answer has all of the successor's.
  [CommandType.REPLACE_ORDER]: columnsOf(ORDER_COMMAND, {
    ...SIGNED, pair: ofKnownPair(pair), flags: otherFlags(),
    price: given(ofKnownPair(price(), 'priceUnits', 'priceScale'), 'options', Option.NEW_PRICE),
    lots: given(ofKnownPair(quantity('quantity'), 'lotsUnits', 'lotsScale'), 'options', Option.NEW_LOTS), slippageBps: SLIPPAGE,
    targetSlot: order('replacedOrderId', 'targetSequence'), expiresAt: EXPIRES, targetSequence: hidden, options, ...KEY,
    label: text('clientOrderId'), ...BY_CLIENT_ORDER_ID, ...NO_ORDER_MARGIN, ...NO_LEGS,
  }),
  [CommandType.ENTER_ORDER]: columnsOf(ENTER_ORDER_COMMAND, {
    ...OWN, pair, flags: (field, layout) => orderFlags()(field, layout).filter(({ name }) => name !== 'origin'), price: price(),
    lots: quantity('quantity'), slippageBps: SLIPPAGE, origin: named(ORIGIN_NAMES), expiresAt: EXPIRES,
    account: userMadeAt('userId', 'createdSequence'), createdSequence: hidden, options, unused: hidden, unused2: hidden,
    ...ORDER_MARGIN_FIELDS,
  }),
  [CommandType.CANCEL_ORDER]: ORDER_TARGET,
  [CommandType.EXPIRE_ORDER]: ORDER_TARGET,
  [CommandType.CANCEL_ALL]: columnsOf(CANCEL_ALL_COMMAND, {
    ...SIGNED, pair, limit: whole(), fromSlot: hidden, afterMs: whole(), fromSequence: hidden,
  }),
  [CommandType.CANCEL_ACCOUNT_ORDERS]: columnsOf(CANCEL_ACCOUNT_ORDERS_COMMAND, {
    ...OWN, account: userMadeAt('userId', 'createdSequence'), createdSequence: hidden, pair, limit: whole(), fromSlot: hidden,
    fromSequence: hidden,
  }),
  [CommandType.CONTINUE_CANCEL]: columnsOf(CONTINUE_CANCEL_COMMAND, {
    ...OWN, account: user(), fires: yes(), began: whole('beganSequence'),
  }),
  [CommandType.MINT]: columnsOf(MINT_COMMAND, { ...SIGNED, asset: asset() }),
  [CommandType.OPEN_SESSION]: columnsOf(OPEN_SESSION_COMMAND, {
    ...OWN, application, master: masterRow, address: address('wallet'), referrer: referrerRow,
    publicKey: hex(), referrerSequence: hidden,
  }),
  [CommandType.OPEN_DELEGATED_SESSION]: columnsOf(OPEN_DELEGATED_SESSION_COMMAND, {
    ...OWN, application, reserved: hidden, owner: address('wallet'), agent: address('agentWallet'), publicKey: hex(),
  }),
  [CommandType.REFRESH_SESSION]: SESSION_COLUMNS,
  [CommandType.REVOKE_SESSION]: SESSION_COLUMNS,
  [CommandType.CREATE_SUB_ACCOUNT]: columnsOf(CREATE_SUB_ACCOUNT_COMMAND, {
    ...SIGNED, address: address('wallet'), consented: yes(), username: text(),
  }),
  [CommandType.TRANSFER]: columnsOf(TRANSFER_COMMAND, {
    ...SIGNED, asset: asset(), options, subAccount: user('subAccountId'), toSub: yes('toSubAccount'), reserved: hidden, reserved2: hidden,
    amount: amount(), ...KEY, unused: hidden,
  }),
  [CommandType.SET_SPEND_LIMIT]: columnsOf(SET_SPEND_LIMIT_COMMAND, {
    ...SIGNED, asset: asset(), subAccount: user('subAccountId'), change: named(LimitChange), fields: bits(LimitField),
    maxAmount: given(amount(), 'fields', LimitField.MAX_AMOUNT), active: given(yes(), 'fields', LimitField.ACTIVE),
    dailyLimit: given(amount('dailyLimit', -1n), 'fields', LimitField.DAILY_LIMIT),
  }),
  [CommandType.UPSERT_AGENT]: columnsOf(UPSERT_AGENT_COMMAND, {
    ...SIGNED, address: address('agentWallet'), grants, expiresAt: time(), maxNotional: decimals('maxOrderNotional', 9, 0n),
    maxLeverage: decimals('maxLeverage', 2, 0n), maxOpenOrders: whole('maxOpenOrders', 0), pairs: agentPairs, name: text(),
    marginSequences: agentMarginAccounts, marginRows: hidden,
  }),
  [CommandType.REVOKE_AGENT]: columnsOf(REVOKE_AGENT_COMMAND, {
    ...SIGNED, agent: madeId('agentId', IdKind.AGENT, 'createdSequence'), reserved: hidden, createdSequence: hidden,
  }),
  [CommandType.SET_APPLICATION]: columnsOf(SET_APPLICATION_COMMAND, {
    ...OWN, application, active: yes(), clientId: text(), name: text(),
  }),
  [CommandType.SET_ORIGIN]: columnsOf(SET_ORIGIN_COMMAND, { ...OWN, application, allowed: yes(), origin: text() }),
  [CommandType.SET_SERVER_KEY]: columnsOf(SET_SERVER_KEY_COMMAND, {
    ...OWN, application, reserved: hidden, graceMs: whole(), hash: hex('keyHash'),
  }),
  [CommandType.LIST_ASSET]: columnsOf(LIST_ASSET_COMMAND, {
    ...OWN, faucet: faucetAmount, decimals: whole(), scale: whole(), symbol: text('asset'), token: address('token'),
  }),
  [CommandType.LIST_PAIR]: columnsOf(LIST_PAIR_COMMAND, {
    ...OWN, minNotional: notional('quote'), base: asset('base'), quote: asset('quote'), priceScale: hidden,
    tickUnits: lotsOf('tickSize', 'priceScale'), lotScale: hidden, lotUnits: lotsOf('lotSize', 'lotScale'),
    minLots: lotsOf('minOrderSize', 'lotScale', 'lotUnits'), maxLots: lotsOf('maxOrderSize', 'lotScale', 'lotUnits'),
    makerPpm: basisPoints('makerFeeBps'), takerPpm: basisPoints('takerFeeBps'), symbol: text('pair'), category: text(),
  }),
  [CommandType.SET_PAIR_TERMS]: columnsOf(SET_PAIR_TERMS_COMMAND, {
    ...OWN, minNotional: notional('pair'), pair, reserved: hidden, minLots: quantity('minOrderSize'), maxLots: quantity('maxOrderSize'),
    makerPpm: basisPoints('makerFeeBps'), takerPpm: basisPoints('takerFeeBps'),
  }),
  [CommandType.SET_PAIR_STATUS]: columnsOf(SET_PAIR_STATUS_COMMAND, { ...OWN, pair, status: named(PAIR_STATUS_NAMES) }),
  [CommandType.SET_MAINTENANCE]: columnsOf(SET_MAINTENANCE_COMMAND, { ...OWN, on: yes('maintenance') }),
  [CommandType.SET_FEE_TIER]: columnsOf(SET_FEE_TIER_COMMAND, {
    ...OWN, account: userMadeAt('userId', 'createdSequence'), tier: whole(), createdSequence: hidden,
  }),
  [CommandType.SET_RULES]: columnsOf(SET_RULES_COMMAND, { ...OWN, rules: whole() }),
  [CommandType.RAISE_LIMIT]: columnsOf(RAISE_LIMIT_COMMAND, { ...OWN, limit: named(LIMIT_NAMES), reserved: hidden, value: whole() }),
  [CommandType.LIMITS_IN_FORCE]: columnsOf(LIMITS_IN_FORCE_COMMAND, OWN),
  [CommandType.ACCEPT_LOSS]: columnsOf(ACCEPT_LOSS_COMMAND, { ...OWN, resume: whole('resumeSequence') }),
  [CommandType.ACCEPT_CLOCK]: columnsOf(ACCEPT_CLOCK_COMMAND, { ...OWN, wall: time('wallClock') }),
  ...marginCommandColumns(SIGNED, OWN, KEY),
  ...waitingCommandColumns(SIGNED, OWN),
  ...builderCommandColumns(SIGNED, OWN),
  ...launchCommandColumns(SIGNED, OWN),
  ...copyCommandColumns(SIGNED, OWN),
  ...referralCommandColumns(SIGNED, OWN),
  ...vaultCommandColumns(SIGNED, OWN),
}
