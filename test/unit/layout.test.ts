/**
 * Promise: records mean for ever what they mean today. Every offset, type number, status, reason, flag and refusal number of the journal
 * is written down here once more; and tables of fields become records and fields again without loss.
 */
import t from 'tap'
import { REFUSALS } from '../../core/layout/refusals.ts'
import {
  CLIENT_ORDER_ID_BYTES, CLIENT_ORDER_ID_SHIFT, COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, commandName, FLAG_ORDER_MASK, Flag, kindOf,
  gatewayOfKind, LAYOUT, Option, OPTION_MASK, Origin, ORIGIN_MASK, ORIGIN_NAMES, originFlags, originOf, PAIR_STATUS_NAMES, PairStatus,
  slotsOfKind, typeOfKind,
} from '../../core/layout/command.ts'
import { answerOf } from '../../core/layout/answers.ts'
import { clearFrom } from '../../core/layout/record.ts'
import { layoutOf } from '../../core/layout/first_layout.ts'
import {
  answeredTypeOf, EVENT_LAYOUTS, EventType, eventName, eventTypeOf, outcomeOf, Reason, REASON_NAMES, Status, STATUS_NAMES,
} from '../../core/layout/event.ts'
import {
  decode, defineLayout, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, wordsOf, type Decoded, type Fields, type FieldType, type Layout,
} from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'
import {
  MARGIN_ANSWERS, MARGIN_COMMANDS, MARGIN_EVENT_TYPES, MARGIN_EVENTS, MARGIN_RECORDS, MARGIN_REFUSALS, MARGIN_REFUSED, MARGIN_TYPES,
} from '../support/margin_records.ts'
import { COPY_ANSWERS, COPY_COMMANDS, COPY_EVENTS, COPY_RECORDS, COPY_REFUSALS } from '../support/copy_records.ts'
import {
  LEG_WORDS, WAITING_ANSWERS, WAITING_COMMANDS, WAITING_EVENT_TYPES, WAITING_EVENTS, WAITING_RECORDS, WAITING_REFUSALS, WAITING_TYPES,
} from '../support/waiting_records.ts'
import {
  BUILDER_ANSWERS, BUILDER_COMMANDS, BUILDER_RECORDS, BUILDER_REFUSALS, BUILDER_REFUSED, BUILDER_TYPES,
} from '../support/builder_records.ts'
import { REFERRAL_ANSWERS, REFERRAL_COMMANDS, REFERRAL_RECORDS, REFERRAL_TYPES } from '../support/referral_records.ts'
import {
  VAULT_ANSWERS, VAULT_COMMANDS, VAULT_EVENT_TYPES, VAULT_EVENTS, VAULT_RECORDS, VAULT_REFUSALS, VAULT_TYPES,
} from '../support/vault_records.ts'
import {
  LAUNCH_ANSWERS, LAUNCH_COMMANDS, LAUNCH_RECORDS, LAUNCH_REFUSALS, LAUNCH_REFUSED, LAUNCH_TYPES,
} from '../support/launch_records.ts'
const SEED = Number(process.env['SEED'] ?? 4)
t.comment(`SEED=${SEED} node_modules/.bin/node --disable-warning=ExperimentalWarning test/unit/layout.test.ts`)
/** Word offset, name and type of every field of every record. */
const RECORDS: Record<string, string[]> = {
  ...MARGIN_RECORDS, ...WAITING_RECORDS, ...LAUNCH_RECORDS, ...COPY_RECORDS, ...BUILDER_RECORDS, ...REFERRAL_RECORDS, ...VAULT_RECORDS,
  order: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32 5:flags:u32 6:price:i32 7:lots:i32',
    '8:slippageBps:i32 9:targetSlot:i32 10:expiresAt:f64 12:targetSequence:f64 14:options:u32 15:targetLength:i32',
    '16:priceUnits:f64 18:lotsUnits:f64 20:priceScale:i32 21:lotsScale:i32 22:collateral:i64 24:namedSequence:f64',
    '26:marginAccount:i32 27:bucket:i32 28:leverage:i32 29:keyLow:i32 30:keyHigh:i32 31:position:i32',
    '32:key:bytes16 36:payload:bytes16 40:label:bytes40 50:former:bytes16 54:target:bytes40',
    ...LEG_WORDS,
  ],
  cancel_all: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32 5:limit:i32 6:fromSlot:i32 7:afterMs:i32',
    '8:fromSequence:f64',
  ],
  mint: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:asset:i32'],
  open_session: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:application:i32 5:master:i32 6:address:bytes20',
    '11:referrer:i32 12:publicKey:bytes32 20:referrerSequence:f64',
  ],
  session: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32'],
  set_maintenance: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:on:i32'],
  set_pair_status: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32 5:status:i32'],
  set_fee_tier: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:account:i32 5:tier:i32', '6:createdSequence:f64',
  ],
  create_sub_account: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:address:bytes20 9:consented:i32 10:username:bytes32',
  ],
  transfer: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:asset:i32 5:options:u32 6:subAccount:i32 7:toSub:i32',
    '8:reserved:i32 9:reserved2:i32 10:amount:i64 32:key:bytes16 36:payload:bytes16 40:unused:bytes40 50:former:bytes16',
  ],
  set_spend_limit: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:asset:i32 5:subAccount:i32 6:change:i32 7:fields:i32',
    '8:maxAmount:i64 10:dailyLimit:i64 12:active:i32',
  ],
  upsert_agent: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:address:bytes20 9:grants:u32 10:expiresAt:f64',
    '12:maxNotional:i64 14:maxLeverage:i32 15:maxOpenOrders:i32 16:pairs:bytes32 24:name:bytes32',
    '32:marginSequences:bytes80 52:marginRows:bytes40',
  ],
  revoke_agent: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:agent:i32 5:reserved:i32 6:createdSequence:f64',
  ],
  open_delegated_session: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:application:i32 5:reserved:i32 6:owner:bytes20',
    '11:agent:bytes20 16:publicKey:bytes32',
  ],
  set_application: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:application:i32 5:active:i32 6:clientId:bytes40',
    '16:name:bytes48',
  ],
  set_origin: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:application:i32 5:allowed:i32 6:origin:bytes96',
  ],
  set_server_key: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:application:i32 5:reserved:i32 6:graceMs:f64',
    '8:hash:bytes32',
  ],
  set_rules: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:rules:i32'],
  accept_loss: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:resume:f64'],
  accept_clock: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:wall:f64'],
  cancel_account_orders: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:account:i32 5:pair:i32 6:limit:i32 7:fromSlot:i32',
    '8:createdSequence:f64 10:fromSequence:f64',
  ],
  continue_cancel: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:account:i32 5:fires:i32 6:began:f64'],
  list_asset: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:faucet:i64 6:decimals:i32 7:scale:i32 8:symbol:bytes16',
    '12:token:bytes20',
  ],
  list_pair: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:minNotional:i64 6:base:i32 7:quote:i32 8:priceScale:i32',
    '9:tickUnits:i32 10:lotScale:i32 11:lotUnits:i32 12:minLots:i32 13:maxLots:i32 14:makerPpm:i32 15:takerPpm:i32 16:symbol:bytes32',
    '24:category:bytes16',
  ],
  set_pair_terms: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:minNotional:i64 6:pair:i32 7:reserved:i32 8:minLots:i32',
    '9:maxLots:i32 10:makerPpm:i32 11:takerPpm:i32',
  ],
  raise_limit: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:limit:i32 5:reserved:i32 6:value:f64',
  ],
  limits_in_force: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32'],
  enter_order: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32 5:flags:u32 6:price:i32 7:lots:i32',
    '8:slippageBps:i32 9:origin:i32 10:expiresAt:f64 12:createdSequence:f64 14:options:u32 15:account:i32',
    '16:unused:bytes16 20:unused2:f64 22:collateral:i64 24:namedSequence:f64 26:marginAccount:i32 27:bucket:i32 28:leverage:i32',
    '29:keyLow:i32 30:keyHigh:i32 31:position:i32',
  ],
  genesis: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:length:i32'],
  result: [
    '0:kind:u32 1:correlation:u32 2:sequence:f64 4:time:f64 6:code:i32 7:account:i32 8:pair:i32 9:flags:u32 10:slot:i32',
    '11:price:i32 12:lots:i32 13:remaining:i32 14:outcome:i32 15:trades:i32 16:filledQuote:i64 18:fee:i64 20:hold:i64',
    '22:bestPrice:i32 23:worstPrice:i32 24:expiresAt:f64 26:orderSequence:f64 28:originalSequence:f64 30:detail:i32',
    '31:detail2:i32',
  ],
  fill: [
    '0:kind:u32 1:pair:i32 2:sequence:f64 4:time:f64 6:price:i32 7:lots:i32 8:quote:i64 10:index:i32 11:makerAccount:i32',
    '12:makerSlot:i32 13:makerRemaining:i32 14:makerSequence:f64 16:makerFee:i64 18:takerFee:i64 20:takerAccount:i32',
    '21:takerSlot:i32 22:takerRemaining:i32 23:makerLots:i32 24:makerFlags:u32 25:takerFlags:u32 26:makerFilledQuote:i64',
    '28:makerTotalFee:i64 30:makerCreatedAt:f64',
  ],
  order_ended: [
    '0:kind:u32 1:pair:i32 2:sequence:f64 4:time:f64 6:account:i32 7:slot:i32 8:orderSequence:f64 10:flags:u32 11:price:i32',
    '12:lots:i32 13:remaining:i32 14:outcome:i32 15:correlation:u32 16:filledQuote:i64 18:fee:i64 20:released:i64',
    '22:createdAt:f64 24:counterpartySequence:f64',
  ],
  self_trade: ['0:kind:u32 1:pair:i32 2:sequence:f64 4:time:f64 6:account:i32 7:slot:i32 8:orderSequence:f64'],
  label: ['0:kind:u32 1:account:i32 2:orderSequence:f64 4:slot:i32 5:length:i32 6:label:bytes40'],
  credit: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:asset:i32 7:source:i32 8:amount:i64 10:available:i64 12:locked:i64',
    '14:version:i64',
  ],
}
/** Those of layout 1 that are other ones now. */
const FIRST: Record<string, string[]> = {
  order: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32 5:flags:u32 6:price:i32 7:lots:i32',
    '8:slippageBps:i32 9:targetSlot:i32 10:expiresAt:f64 12:key:bytes16 16:payload:bytes16 20:label:bytes40',
    '30:targetSequence:f64',
  ],
  transfer: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:asset:i32 5:flags:u32 6:subAccount:i32 7:toSub:i32',
    '8:reserved:i32 9:reserved2:i32 10:amount:i64 12:key:bytes16 16:payload:bytes16',
  ],
}
/** Layout of each command and event by its number. */
const COMMANDS: Record<number, string> = {
  1: 'genesis', 2: 'order', 3: 'order', 4: 'order', 5: 'cancel_all', 6: 'order', 7: 'mint', 8: 'open_session', 9: 'session', 10: 'session',
  11: 'set_maintenance', 12: 'set_pair_status', 13: 'set_fee_tier', 14: 'create_sub_account', 15: 'transfer', 16: 'set_spend_limit',
  17: 'upsert_agent', 18: 'revoke_agent', 19: 'open_delegated_session', 20: 'set_application', 21: 'set_origin', 22: 'set_server_key',
  23: 'set_rules', 24: 'accept_loss', 25: 'accept_clock', 26: 'cancel_account_orders', 27: 'continue_cancel',
  28: 'enter_order',
  40: 'list_asset', 41: 'list_pair', 42: 'set_pair_terms', 43: 'raise_limit', 44: 'limits_in_force',
  ...MARGIN_COMMANDS, ...WAITING_COMMANDS, ...LAUNCH_COMMANDS, ...COPY_COMMANDS, ...BUILDER_COMMANDS, ...REFERRAL_COMMANDS,
  ...VAULT_COMMANDS,
}
const EVENTS: Record<number, string> = {
  1: 'result', 2: 'fill', 3: 'order_ended', 4: 'label', 5: 'credit', 6: 'self_trade', ...MARGIN_EVENTS, ...WAITING_EVENTS,
  ...COPY_EVENTS, 19: 'application_fee', 22: 'referral_reward', ...VAULT_EVENTS,
}
const REFUSAL_NUMBERS: Record<string, number> = {
  USER_AGENT_REQUIRED: 101, UNAUTHENTICATED: 110, INVALID_SIGNATURE: 111, CLOCK_SKEW: 112, SESSION_INVALID: 113,
  MIXED_CREDENTIALS: 114, NONCE_INVALID: 115, SESSION_KEY_IN_USE: 116, OPERATOR_ONLY: 117,
  AGENT_NOT_ALLOWED: 118, MASTER_ONLY: 119, APPLICATION_INACTIVE: 120, CONSENT_REQUIRED: 121,
  VALIDATION_ERROR: 200, MALFORMED_REQUEST: 201,
  BODY_TOO_LARGE: 202, LENGTH_REQUIRED: 203, BODY_TOO_COMPLEX: 204, REQUEST_TIMEOUT: 205,
  INVALID_TICK: 210, INVALID_LOT: 211, INVALID_SELF_TRADE_PREVENTION_MODE: 212, INVALID_EXPIRATION: 213,
  OPERATIONS_BLOCKED: 300, RATE_LIMIT_EXCEEDED: 301, IDEMPOTENCY_KEY_CONFLICT: 302, ORDER_SUBMISSION_CAPACITY_EXCEEDED: 303,
  ORDER_SUBMISSION_UNAVAILABLE: 304, CLIENT_ORDER_ID_CONFLICT: 305, PAIR_NOT_ACTIVE: 306, TOO_MANY_OPEN_ORDERS: 307,
  FAUCET_LIMIT: 308, FAUCET_ASSET: 309, ADDRESS_IN_USE: 310, TOO_MANY_SUB_ACCOUNTS: 311, LIMIT_EXISTS: 312, NOT_SUB_ACCOUNT: 313,
  TOO_MANY_AGENTS: 314, CLIENT_ID_IN_USE: 315, TOO_MANY_APPLICATIONS: 316, TOO_MANY_IN_FLIGHT: 317,
  SYMBOL_IN_USE: 330, TOO_MANY_ASSETS: 331, TOO_MANY_PAIRS: 332, LISTING_TERMS: 333, LIMIT_NOT_RAISED: 334,
  LIMIT_TOO_LARGE: 335, SUB_ACCOUNT_LIMIT_EXCEEDED: 404,
  INSUFFICIENT_BALANCE: 400, BELOW_MIN_NOTIONAL: 401, BELOW_MIN_ORDER_SIZE: 402,
  ABOVE_MAX_ORDER_SIZE: 403, POST_ONLY_WOULD_CROSS: 500, SELF_TRADE_NOT_ALLOWED: 501, ORDER_NOT_FOUND: 502, NOT_FOUND: 600,
  ROUTE_NOT_FOUND: 601, METHOD_NOT_ALLOWED: 602, OVERLOADED: 900, ENGINE_UNAVAILABLE: 901, SERVICE_UNAVAILABLE: 902,
  VERIFICATION_UNAVAILABLE: 903, DISK_RESERVE: 904, HISTORY_UNAVAILABLE: 905, DISK_FULL: 906, INVALID_COMMAND: 998, INTERNAL: 999,
  ...MARGIN_REFUSALS, ...WAITING_REFUSALS, ...LAUNCH_REFUSALS, ...COPY_REFUSALS, ...BUILDER_REFUSALS,
  ...VAULT_REFUSALS,
}

/** Every layout once, by name. */
const layouts = new Map([...Object.values(COMMAND_LAYOUTS), ...Object.values(EVENT_LAYOUTS)].map((layout) => [layout.name, layout]))
const listing = ({ fields, at }: Layout): string => Object.entries(fields).map(([field, type]) => `${at[field]}:${field}:${type}`).join(' ')
const namesOf = (table: Readonly<Record<number, Layout>>): Record<string, string> =>
  Object.fromEntries(Object.entries(table).map(([type, layout]) => [type, layout.name]))

t.test('records stand where they stood', async (t) => {
  t.same([...layouts.keys()].sort(), Object.keys(RECORDS).sort(), 'no record more, none less')
  for (const [name, layout] of layouts) t.equal(listing(layout), RECORDS[name]!.join(' '), name)
  t.same(namesOf(COMMAND_LAYOUTS), COMMANDS)
  t.same(namesOf(EVENT_LAYOUTS), EVENTS)
  t.same([RECORD_WORDS, RECORD_BYTES, LAYOUT], [32, 128, 2])
  for (const type of Object.values(CommandType)) {
    const { name } = COMMAND_LAYOUTS[type]!
    t.equal(listing(layoutOf(type, 1)!), (FIRST[name] ?? RECORDS[name]!).join(' '), `${name} of layout 1`)
    t.equal(layoutOf(type, LAYOUT), COMMAND_LAYOUTS[type])
  }
})

/** Word of a RESULT and what it is there, of the answers to each kind of command; all have the head too. */
const ORDER_WORDS = 'pair:pair flags:flags slot:slot price:price lots:lots remaining:remaining outcome:outcome trades:trades ' +
  'filledQuote:filledQuote fee:fee bestPrice:bestPrice worstPrice:worstPrice orderSequence:orderSequence'
const SESSION_WORDS = 'session:detail generation:detail2 expiresAt:expiresAt accountSequence:originalSequence'
const placed = `${ORDER_WORDS} hold:hold expiresAt:expiresAt replacedSequence:originalSequence replacedSlot:detail slippageBps:detail2`
const swept = 'pair:pair ended:detail more:detail2 nextSlot:slot nextSequence:orderSequence'
const opened = `${SESSION_WORDS} isNew:trades referred:lots`
const set = 'pair:pair now:detail before:detail2'
const ANSWERS: Record<string, string> = {
  PLACE_ORDER: placed, REPLACE_ORDER: placed, ENTER_ORDER: placed, CANCEL_ORDER: `${ORDER_WORDS} released:hold createdAt:originalSequence`,
  CANCEL_ALL: swept, CANCEL_ACCOUNT_ORDERS: swept, OPEN_SESSION: opened, REFRESH_SESSION: opened, REVOKE_SESSION: opened,
  OPEN_DELEGATED_SESSION: `${SESSION_WORDS} agent:slot agentSequence:orderSequence`, MINT: 'asset:detail nextAvailableAt:expiresAt',
  CREATE_SUB_ACCOUNT: 'subAccount:detail createdSequence:originalSequence flags:flags',
  TRANSFER: 'subAccount:detail asset:detail2 flags:flags transferSequence:orderSequence',
  SET_SPEND_LIMIT: 'limit:detail createdSequence:originalSequence', UPSERT_AGENT: 'agent:detail createdSequence:originalSequence',
  REVOKE_AGENT: 'agent:detail ordersEnded:detail2',
  SET_APPLICATION: 'application:detail isNew:detail2 createdSequence:originalSequence',
  SET_ORIGIN: 'application:detail origins:detail2', SET_SERVER_KEY: 'application:detail oldKeyUntil:expiresAt',
  LIST_ASSET: 'asset:detail', LIST_PAIR: 'pair:pair listed:detail', SET_PAIR_TERMS: 'pair:pair listed:detail',
  RAISE_LIMIT: 'limit:detail before:detail2',
  SET_MAINTENANCE: set, SET_PAIR_STATUS: set, SET_FEE_TIER: set, SET_RULES: set, ...MARGIN_ANSWERS, ...WAITING_ANSWERS,
  ...LAUNCH_ANSWERS, ...BUILDER_ANSWERS,
  ...COPY_ANSWERS, ...REFERRAL_ANSWERS, ...VAULT_ANSWERS,
}
const short = 'lacking:detail pair:pair asset:detail2 required:hold available:filledQuote limit:lots ofFamily:trades'
const REFUSED: Record<string, string> = {
  PLACE_ORDER: short, REPLACE_ORDER: short, TRANSFER: short,
  ENTER_ORDER: 'pair:pair flags:flags price:price lots:lots', MINT: ANSWERS['MINT']!,
  LIST_ASSET: 'fault:detail', LIST_PAIR: 'fault:detail', SET_PAIR_TERMS: 'fault:detail', ...MARGIN_REFUSED, ...LAUNCH_REFUSED,
  ...BUILDER_REFUSED,
  CREATE_FOLLOW: short, UPDATE_FOLLOW: short, TRANSFER_REWARDS: short, INITIATE_WITHDRAWAL: short,
}

t.test('answers stand in the words they stood in', async (t) => {
  const result = layouts.get('result')!
  const words = new Map(Object.entries(result.at).map(([name, word]) => [word, name]))
  const listed = ({ at, fields }: Layout): string => {
    for (const [name, word] of Object.entries(at)) t.equal(fields[name], result.fields[words.get(word)!], name)
    return Object.entries(at).map(([name, word]) => `${name}:${words.get(word)!}`).join(' ')
  }
  const head = 'kind:kind correlation:correlation sequence:sequence time:time code:code account:account'
  for (const type of Object.values(CommandType)) {
    const name = commandName(type)
    t.equal(listed(answerOf(type, 0)), `${head} ${ANSWERS[name] ?? ''}`.trim(), name)
    t.equal(listed(answerOf(type, 113)), `${head} ${REFUSED[name] ?? 'lacking:detail'}`, `${name} refused`)
  }
})

t.test('numbers mean what they meant', async (t) => {
  t.same(CommandType, {
    GENESIS: 1, PLACE_ORDER: 2, CANCEL_ORDER: 3, REPLACE_ORDER: 4, CANCEL_ALL: 5, EXPIRE_ORDER: 6, MINT: 7, OPEN_SESSION: 8,
    REFRESH_SESSION: 9, REVOKE_SESSION: 10, SET_MAINTENANCE: 11, SET_PAIR_STATUS: 12, SET_FEE_TIER: 13,
    CREATE_SUB_ACCOUNT: 14, TRANSFER: 15, SET_SPEND_LIMIT: 16, UPSERT_AGENT: 17, REVOKE_AGENT: 18, OPEN_DELEGATED_SESSION: 19,
    SET_APPLICATION: 20, SET_ORIGIN: 21, SET_SERVER_KEY: 22, SET_RULES: 23, ACCEPT_LOSS: 24, ACCEPT_CLOCK: 25,
    CANCEL_ACCOUNT_ORDERS: 26, CONTINUE_CANCEL: 27, ENTER_ORDER: 28, LIST_ASSET: 40, LIST_PAIR: 41, SET_PAIR_TERMS: 42, RAISE_LIMIT: 43,
    LIMITS_IN_FORCE: 44, ...MARGIN_TYPES, ...WAITING_TYPES, ...LAUNCH_TYPES, ...BUILDER_TYPES, ...REFERRAL_TYPES, ...VAULT_TYPES,
    REGISTER_LEADER: 70, RELEASE_LEADER: 71, CREATE_FOLLOW: 72, UPDATE_FOLLOW: 73, STOP_FOLLOW: 74, COPY_STEP: 75, SET_COPY_PROGRAM: 76,
  })
  t.same(PairStatus, { HALTED: 0, ACTIVE: 1, CANCEL_ONLY: 2 })
  t.same(EventType, {
    RESULT: 1, FILL: 2, ORDER_ENDED: 3, LABEL: 4, CREDIT: 5, SELF_TRADE: 6, ...MARGIN_EVENT_TYPES, ...WAITING_EVENT_TYPES,
    APPLICATION_FEE: 19, FOLLOW: 20, LEADER: 21, REFERRAL_REWARD: 22, ...VAULT_EVENT_TYPES,
  })
  t.same(Status, {
    SUBMITTED: 1, PARTIALLY_FILLED: 2, FILLED: 3, CANCELLED: 4, EXPIRED: 5, REJECTED: 6, SETTLED: 7, SETTLED_ON_CHAIN: 8,
  })
  t.same(Reason, {
    NONE: 0, SELF_TRADE_PREVENTION: 1, USER_CANCELLED: 2, REPLACED: 3, EXPIRED: 4, SLIPPAGE_LIMIT: 5, INSUFFICIENT_DEPTH: 6,
    IOC_REMAINDER: 7, REDUCE_ONLY: 8, LIQUIDATION: 9, DELEGATION_REVOKED: 10, PAIR_HALTED: 11, INSUFFICIENT_MARGIN: 12,
  })
  t.same(Flag, {
    SELL: 1, MARKET: 2, IOC: 4, FOK: 8, POST_ONLY: 16, CANCEL_BOTH: 32, STP_GIVEN: 64, SLIPPAGE: 128, EXPIRES: 256, MARGIN: 512,
    REDUCE_ONLY: 1024,
    CROSS: 2048, CLOSE: 4096, LEGS: 8192, RESTING: 16_384,
    REPEATED: 32_768, MASTER_FUNDED: 65_536, BY_AGENT: 131_072, ADD_ON: 262_144,
    BY_OPERATOR: 1_048_576,
  })
  t.same(Option, {
    KEYED: 512, NEW_PRICE: 1024, NEW_LOTS: 2048, NEW_STP: 4096, NEW_POST_ONLY: 8192, NEW_FUNDING: 262_144, TELL_SELF_TRADE: 524_288,
    LEGS: 1_048_576,
  })
  t.same(Origin, { CLIENT: 0, LIQUIDATION: 1, TRIGGER: 2, TWAP: 3, COPY: 4 })
  t.equal(ORIGIN_MASK, 0xe00000)
  for (const [name, origin] of Object.entries(Origin)) {
    t.same([ORIGIN_NAMES[origin], originOf(originFlags(origin) | ~ORIGIN_MASK)], [name, origin])
  }
  t.same([FLAG_ORDER_MASK, OPTION_MASK, CLIENT_ORDER_ID_SHIFT, CLIENT_ORDER_ID_BYTES], [0x11fff, 0xc3e00, 24, 40])
  t.equal(COMMAND_SLOTS, 3)
  t.same(Object.fromEntries(Object.values(REFUSALS).map(({ code, number }) => [code, number])), REFUSAL_NUMBERS)
})

t.test('names belong to their numbers', async (t) => {
  for (const [name, number] of Object.entries(PairStatus)) t.equal(PAIR_STATUS_NAMES[number], name)
  for (const [name, number] of Object.entries(Status)) t.equal(STATUS_NAMES[number], name)
  for (const [name, number] of Object.entries(Reason)) t.equal(REASON_NAMES[number], name === 'NONE' ? '' : name)
  for (const [name, number] of Object.entries(CommandType)) t.equal(commandName(number), name)
  for (const [name, number] of Object.entries(EventType)) t.equal(eventName(number), name)
  t.same([commandName(200), eventName(200)], ['UNKNOWN_200', 'UNKNOWN_200'])
})

t.test('the kind word takes apart what it put together', async (t) => {
  for (const type of Object.values(CommandType)) {
    for (const slots of [1, 2, 3, 255]) {
      for (const gateway of [0, 1, 64, 65_535]) {
        const kind = kindOf(type, slots, gateway)
        t.same([kind >= 0, typeOfKind(kind), slotsOfKind(kind), gatewayOfKind(kind)], [true, type, slots, gateway])
      }
    }
  }
  t.equal(kindOf(1, 256, 3), kindOf(1, 0, 3), 'slots count modulo 256')
  t.same([eventTypeOf(0x00030702), answeredTypeOf(0x00030701), outcomeOf(Status.EXPIRED, Reason.EXPIRED)], [2, 7, 0x405])
})

t.test('fields follow each other without overlap, 8-byte fields on even words, within the record', async (t) => {
  for (const [name, { fields, at, words, slots }] of layouts) {
    let next = 0
    for (const [field, type] of Object.entries(fields)) {
      for (const start of [RECORD_WORDS, 2 * RECORD_WORDS]) {
        if (at[field] !== start) continue
        t.ok(next <= start, `${name}: the slot before ends before ${field}`)
        next = start
      }
      t.equal(at[field], next, `${name}.${field}`)
      if (type === 'i64' || type === 'f64') t.equal(at[field]! % 2, 0, `${name}.${field} is aligned`)
      next += wordsOf(type)
    }
    if (slots === 1) t.equal(words, next)
    t.ok(words <= RECORD_WORDS && next <= slots * RECORD_WORDS)
  }
})

t.test('every command starts with the header, every event with its kind', async (t) => {
  for (const layout of Object.values(COMMAND_LAYOUTS)) {
    t.match(layout.at, { kind: 0, correlation: 1, session: 2, sessionGeneration: 3 }, layout.name)
  }
  for (const layout of Object.values(EVENT_LAYOUTS)) t.equal(layout.at['kind'], 0, layout.name)
})

t.test('a table that does not fit is refused', async (t) => {
  const wide = (count: number, type: FieldType): Fields =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, type]))
  t.throws(() => defineLayout('x', { a: 'i32', b: 'f64' }), /x\.b is not 8-byte aligned/)
  t.throws(() => defineLayout('x', { a: 'bytes20', b: 'i64' }), /x\.b is not 8-byte aligned/)
  t.throws(() => defineLayout('x', wide(33, 'i32')), /33 words/)
  t.throws(() => defineLayout('x', { a: 'i32' }, wide(33, 'i32')), /33 words/)
  t.throws(() => defineLayout('x', { a: 'i32' }, { b: 'i32' }, wide(33, 'i32')), /33 words/)
  t.throws(() => defineLayout('x', { a: 'i32' }, { b: 'i32' }, { c: 'i32', d: 'i64' }), /x\.d is not 8-byte aligned/)
  t.match(defineLayout('x', { a: 'i32' }, { b: 'i32' }, { c: 'i32', d: 'i32' }), { slots: 3, words: 1, at: { a: 0, b: 32, c: 64, d: 65 } })
  t.throws(() => defineLayout('x', wide(17, 'f64')), /34 words/)
  t.equal(defineLayout('x', wide(32, 'u32')).words, 32)
  t.equal(defineLayout('x', wide(16, 'i64')).words, 32)
  const bad = ['bytes0', 'bytes3', 'bytes-4', 'bytesx', 'bytes4.5'] as FieldType[]
  for (const type of bad) t.throws(() => wordsOf(type), /bad field type/, type)
  const views = viewsOf(new ArrayBuffer(RECORD_BYTES))
  t.throws(() => encode(layouts.get('mint')!, views, 0, { assset: 1 }), /mint has no field assset/)
})

/** Random values for every field, extremes included. */
function someValues(layout: Layout, random: ReturnType<typeof createPrng>): Decoded {
  const extreme = random.below(4) === 0
  const values: Decoded = {}
  for (const [field, type] of Object.entries(layout.fields)) {
    if (type === 'u32') values[field] = extreme ? 0xffffffff : random.u32()
    else if (type === 'i32') values[field] = extreme ? -(2 ** 31) : random.u32() | 0
    else if (type === 'f64') values[field] = extreme ? Number.MAX_SAFE_INTEGER : random.unit() * 2 ** random.below(60)
    else if (type === 'i64') values[field] = extreme ? -(2n ** 63n) : BigInt(random.u32() | 0) * 2n ** 32n + BigInt(random.u32())
    else values[field] = Array.from({ length: wordsOf(type) }, () => random.u32().toString(16).padStart(8, '0')).join('')
  }
  return values
}

t.test('every record: encode and decode are inverse, neighbours stay untouched', async (t) => {
  const random = createPrng(SEED)
  const views = viewsOf(new ArrayBuffer(5 * RECORD_BYTES))
  for (const layout of layouts.values()) {
    for (let round = 0; round < 200; round++) {
      views.bytes.fill(0xa5)
      const values = someValues(layout, random)
      const slots = layout.slots - (round % layout.slots)
      if (layout.slots > 1) {
        for (const field of Object.keys(values)) if (layout.at[field]! >= slots * RECORD_WORDS) delete values[field]
        values['kind'] = kindOf(2, slots, 7)
      }
      encode(layout, views, RECORD_WORDS, { ...values, ...(layout.slots > 1 ? { kind: kindOf(2, 1, 7) } : {}) })
      const read = decode(layout, views, RECORD_WORDS)
      if (round < 3 || Object.entries(values).some(([field, value]) => read[field] !== value)) t.same(read, values, layout.name)
      const outside = [...views.bytes.subarray(0, RECORD_BYTES), ...views.bytes.subarray((1 + slots) * RECORD_BYTES)]
      if (!outside.every((byte) => byte === 0xa5)) t.fail(`${layout.name} wrote outside of its record`)
      const rest = views.i32.subarray(RECORD_WORDS + layout.words, 2 * RECORD_WORDS)
      if (!rest.every((word) => word === 0)) t.fail(`${layout.name} left something in the unused words`)
    }
    encode(layout, views, RECORD_WORDS, {})
    t.ok(views.bytes.subarray(RECORD_BYTES, 2 * RECORD_BYTES).every((byte) => byte === 0), `${layout.name}: absent fields are zero`)
  }
})

t.test('a record that has the third slot has the second', async (t) => {
  const views = viewsOf(new ArrayBuffer(4 * RECORD_BYTES))
  views.bytes.fill(0xa5)
  encode(layouts.get('order')!, views, 0, { kind: kindOf(2, 1, 7), trailBps: 250 })
  t.equal(views.u32[0], kindOf(2, 3, 7))
  t.ok(views.i32.subarray(RECORD_WORDS, 2 * RECORD_WORDS).every((word) => word === 0))
  t.equal(views.i32[80], 250)
  t.ok(views.bytes.subarray(3 * RECORD_BYTES).every((byte) => byte === 0xa5))
  t.match(decode(layouts.get('order')!, views, 0), { trailBps: 250, key: '00'.repeat(16) })
  views.u32[0] = kindOf(2, 2, 7)
  const short = decode(layouts.get('order')!, views, 0)
  t.ok('key' in short && !('trailBps' in short), 'of two slots the third is another record')
})

t.test('records are little endian, as the format says', async (t) => {
  const views = viewsOf(new ArrayBuffer(RECORD_BYTES))
  encode(layouts.get('fill')!, views, 0, { kind: 0x01020304, pair: -2, sequence: 1, quote: 0x0102030405060708n })
  t.equal(Buffer.from(views.bytes.subarray(0, 16)).toString('hex'), '04030201feffffff000000000000f03f')
  t.equal(Buffer.from(views.bytes.subarray(32, 40)).toString('hex'), '0807060504030201')
})

t.test('a record is zeroed from a field on, an odd one too, and nothing before it or behind the record', async (t) => {
  for (const field of [0, 7, 8, 31]) {
    const records = viewsOf(new ArrayBuffer(3 * RECORD_BYTES))
    records.u32.fill(0xffffffff)
    clearFrom(records, RECORD_WORDS, field)
    const left = [...records.u32].map((word, at) => (word === 0 ? at : -1)).filter((at) => at >= 0)
    t.same(left, Array.from({ length: RECORD_WORDS - field }, (_, i) => RECORD_WORDS + field + i))
  }
})
