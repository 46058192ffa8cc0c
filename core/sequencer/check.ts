/**
 * What a record must be before it is journaled. A record that the engine cannot apply would stand in the journal for ever and stop every
 * start; so what no gateway may write is found here, is answered with a refusal by name and never becomes a command.
 *
 * The engine refuses what clients can get wrong: an unknown order, a price off the grid, a session that is over. This is about the record
 * itself: its type, the lane it came from, and for each field of its layout the values that mean anything. Every field of every layout
 * has a rule below; one without a rule ends the start. Numbers that come out of public ids may name rows that were never used: they are
 * held to the 30 bits of an id, the engine looks them up.
 *
 * The rules of a type are a row of words: kind of rule, word of the field, lowest and highest value. Checking one is a loop over them, in
 * which nothing is allocated.
 */
import { UNCHANGED } from '../layout/builder.ts'
import {
  AFTER_MS_MAX, AGENT_OPEN_ORDERS_MAX, AgentAction, CANCEL_ALL_MAX, COMMAND_LAYOUTS, CommandType, commandName, CONNECTION_KEPT,
  FLAG_ORDER_MASK, CLIENT_ORDER_ID_BYTES, CLIENT_ORDER_ID_SHIFT, Flag, Option, OPTION_MASK, PAIR_STATUS_NAMES, slotsCarried,
  slotsOfKind, typeOfKind,
} from '../layout/command.ts'
import { LEG_FLAG_MASK, TRAIL_BPS_MAX } from '../layout/conditional.ts'
import { LAUNCH_PHASE_NAMES } from '../layout/launches.ts'
import { FollowField, FollowState, HANDLE_BYTES } from '../layout/copying.ts'
import { RAISABLE } from '../layout/limits.ts'
import { PRICE_SOURCE_NAMES } from '../layout/margin.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { RECORD_WORDS, type Layout, type Views } from '../layout/table.ts'
import { TWAP_LABEL_BYTES, TWAP_OPTION_MASK } from '../layout/twap.ts'
import { VAULT_CHAINS_MAX, WITHDRAWAL_STOP_NAMES, WithdrawalStatus } from '../layout/vault.ts'
import { MAX_FEE_PPM, SCALE_MAX } from '../state/pair_terms.ts'
import type { State } from '../state/state.ts'

/** Kinds of rules. RANGE: an i32 from..to. BITS: no bit of `to`. WHOLE: an f64, whole, 0 to 2^48 - 1. REAL: an f64 that a date can be. */
const RANGE = 0
const BITS = 1
const WHOLE = 2
const REAL = 3
type Rule = readonly [kind: number, from: number, to: number]

const INT_MAX = 2 ** 31 - 1
/** Sequences have 48 bits in public ids, rows 30. */
const SEQUENCE_MAX = 2 ** 48 - 1
const ROW_MAX = 2 ** 30 - 1
/** Farthest a date can be from 1970, ms. */
const TIME_MAX = 8.64e15

/** Digits after the point of a decimal. */
const DECIMAL_SCALE_MAX = 18

const range = (from: number, to: number): Rule => [RANGE, from, to]
/** The bits of `allowed` and no other. */
const bits = (allowed: number): Rule => [BITS, 0, ~allowed]
const ROW = range(-1, ROW_MAX)
const ZERO = range(0, 0)
const YES_NO = range(0, 1)
const SIZE = range(0, INT_MAX)
const SCALE = range(0, SCALE_MAX)
const RATE = range(-MAX_FEE_PPM, MAX_FEE_PPM)
/** A builder fee, or that it stays; what is too much the engine refuses. */
const FEE = range(UNCHANGED, INT_MAX)
const SEQUENCE: Rule = [WHOLE, 0, 0]
const MOMENT: Rule = [REAL, 0, 0]
/** Bytes, and numbers of which the engine knows every value. */
const ANY = null

/** Flags that a gateway may set; the highest byte, the length of the client order id, has its rule in {@link isForbidden}. */
const LABEL_BITS = 0xff << CLIENT_ORDER_ID_SHIFT
const ORDER_FLAGS = FLAG_ORDER_MASK | LABEL_BITS
const CANCEL_OPTIONS = Option.KEYED | Option.TELL_SELF_TRADE
/** Only an order that is placed has legs. */
const PLACE_OPTIONS = CANCEL_OPTIONS | Option.LEGS
const orderOptions = (type: number): number =>
  type === CommandType.PLACE_ORDER ? PLACE_OPTIONS : type === CommandType.REPLACE_ORDER ? OPTION_MASK : CANCEL_OPTIONS
const TWAP_FLAGS = Flag.SELL | Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CROSS | Flag.MASTER_FUNDED | Flag.SLIPPAGE
const ACTIONS = Object.values(AgentAction).reduce((all, bit) => all | bit, 0)
const GRANTS = ACTIONS | (0x03 << 8) | (0x07 << 16) | (0x03 << 24)

const HEADER: Rules = { kind: ANY, correlation: ANY, session: range(-1, INT_MAX), sessionGeneration: ANY }
type Rules = Readonly<Record<string, Rule | null>>

const SLIPPAGE = range(0, 1000)
/** As an order and the slices of a TWAP order have them. */
const MARGIN: Rules = {
  collateral: ANY, namedSequence: SEQUENCE, marginAccount: SIZE, bucket: SIZE, leverage: SIZE, keyLow: ANY, keyHigh: ANY, position: SIZE,
}
/** What is no leg at all is zero; whether one can be is the engine's to say. */
const LEGS: Rules = {
  profitTrigger: SIZE, profitFlags: bits(LEG_FLAG_MASK), profitLimit: SIZE, profitLots: SIZE, profitSlippageBps: SLIPPAGE,
  profitReserved: ZERO, profitExpiresAt: MOMENT,
  stopTrigger: SIZE, stopFlags: bits(LEG_FLAG_MASK), stopLimit: SIZE, stopLots: SIZE, stopSlippageBps: SLIPPAGE, stopReserved: ZERO,
  stopExpiresAt: MOMENT,
  trailBps: range(0, TRAIL_BPS_MAX), trailFlags: bits(LEG_FLAG_MASK), trailActivation: SIZE, trailLots: SIZE,
  trailSlippageBps: SLIPPAGE, trailReserved: ZERO, trailExpiresAt: MOMENT,
}

/** Rules of the fields of each layout, by its name; those of flags depend on the type. */
function rulesOf({ genesis }: State, type: number): Readonly<Record<string, Rules>> {
  // Of a pair or an asset that is not listed yet the engine knows that it is not; its row is there.
  const pair = range(0, genesis.limits.pairs - 1)
  const pairOrAll = range(-1, genesis.limits.pairs - 1)
  const asset = range(0, genesis.limits.assets - 1)
  const named = type === CommandType.CANCEL_ORDER || type === CommandType.REPLACE_ORDER
  const application = range(-1, genesis.limits.applications - 1)
  return {
    order: {
      pair, price: ANY, lots: ANY, slippageBps: SLIPPAGE, targetSlot: ROW, expiresAt: MOMENT, key: ANY, payload: ANY,
      label: ANY, former: ANY, target: ANY, targetLength: named ? range(0, CLIENT_ORDER_ID_BYTES) : ZERO,
      priceUnits: ANY, lotsUnits: ANY, priceScale: range(0, DECIMAL_SCALE_MAX), lotsScale: range(0, DECIMAL_SCALE_MAX),
      flags: bits(ORDER_FLAGS), options: bits(orderOptions(type)), targetSequence: SEQUENCE, ...MARGIN, ...LEGS,
    },
    cancel_all: {
      pair: pairOrAll, limit: range(1, CANCEL_ALL_MAX), fromSlot: ROW, afterMs: range(CONNECTION_KEPT, AFTER_MS_MAX),
      fromSequence: SEQUENCE,
    },
    mint: { asset: range(-1, genesis.limits.assets - 1) },
    session: {},
    set_maintenance: { on: YES_NO },
    set_pair_status: { pair, status: range(0, PAIR_STATUS_NAMES.length - 1) },
    set_fee_tier: { account: ROW, tier: ROW, createdSequence: SEQUENCE },
    create_sub_account: { address: ANY, consented: YES_NO, username: ANY },
    transfer: {
      asset, options: bits(Option.KEYED), subAccount: ROW, toSub: YES_NO, reserved: ZERO, reserved2: ZERO, amount: ANY,
      key: ANY, payload: ANY, unused: ANY, former: ANY,
    },
    set_spend_limit: {
      asset, subAccount: ROW, change: range(0, 2), fields: range(0, 7), maxAmount: ANY, dailyLimit: ANY, active: YES_NO,
    },
    upsert_agent: {
      address: ANY, grants: bits(GRANTS), expiresAt: MOMENT, maxNotional: ANY, maxLeverage: range(0, INT_MAX),
      maxOpenOrders: range(0, AGENT_OPEN_ORDERS_MAX), pairs: ANY, name: ANY,
      marginSequences: ANY, marginRows: ANY,
    },
    revoke_agent: { agent: ROW, reserved: ZERO, createdSequence: SEQUENCE },
    open_delegated_session: { application, reserved: ZERO, owner: ANY, agent: ANY, publicKey: ANY },
    set_application: { application, active: YES_NO, clientId: ANY, name: ANY },
    set_origin: { application, allowed: YES_NO, origin: ANY },
    set_server_key: { application, reserved: ZERO, graceMs: MOMENT, hash: ANY },
    list_asset: { faucet: ANY, decimals: SCALE, scale: SCALE, symbol: ANY, token: ANY },
    list_pair: {
      minNotional: ANY, base: asset, quote: asset, priceScale: SCALE, tickUnits: SIZE, lotScale: SCALE, lotUnits: SIZE,
      minLots: SIZE, maxLots: SIZE, makerPpm: RATE, takerPpm: RATE, symbol: ANY, category: ANY,
    },
    raise_limit: { limit: range(0, RAISABLE.length - 1), reserved: ZERO, value: SEQUENCE },
    set_pair_terms: {
      minNotional: ANY, pair, reserved: ZERO, minLots: SIZE, maxLots: SIZE, makerPpm: RATE, takerPpm: RATE,
    },
    move_collateral: {
      move: range(0, 5), options: bits(Option.KEYED), marginAccount: ROW, bucket: ROW, createdSequence: SEQUENCE, amount: ANY,
      key: ANY, payload: ANY, unused: ANY, former: ANY,
    },
    open_margin_account: { label: ANY },
    close_margin_account: { marginAccount: ROW, reserved: ZERO, createdSequence: SEQUENCE },
    open_risk_bucket: { marginAccount: ROW, pair: pairOrAll, createdSequence: SEQUENCE, keyLow: ANY, keyHigh: ANY, strategyKey: ANY },
    set_index_price: { pair, price: SIZE, source: range(0, PRICE_SOURCE_NAMES.length - 1), force: YES_NO, observedAt: MOMENT },
    set_perp: {
      pair, setting: range(0, 2), value: SIZE, price: SIZE, number: MOMENT,
    },
    fund_insurance: { amount: ANY },
    accept_clock: { wall: MOMENT },
    cancel_account_orders: {
      account: ROW, pair: pairOrAll, limit: range(1, CANCEL_ALL_MAX), fromSlot: ROW, createdSequence: SEQUENCE, fromSequence: SEQUENCE,
    },
    ...waitingRules(pair), ...builderRules(application), ...COPY_RULES, ...referralRules(application, asset),
    ...vaultRules(application, asset),
  }
}

/** Of orders that wait, and of launches. */
const waitingRules = (pair: Rule): Readonly<Record<string, Rules>> => ({
  attach_conditionals: { position: ROW, reserved: ZERO, openedSequence: SEQUENCE, ...LEGS },
  // The number of a conditional order's id is its leg.
  cancel_conditional: { leg: ROW, reserved: ZERO, createdSequence: SEQUENCE },
  create_twap: {
    pair, flags: bits(TWAP_FLAGS), price: SIZE, lots: SIZE, slippageBps: SLIPPAGE, options: bits(TWAP_OPTION_MASK), trigger: SIZE,
    labelLength: range(0, TWAP_LABEL_BYTES), startAt: MOMENT, endAt: MOMENT, conditionalExpiry: MOMENT, seed: ANY, durationMs: SIZE,
    reserved: ZERO, ...MARGIN, label: ANY,
  },
  cancel_twap: { twap: ROW, reserved: ZERO, createdSequence: SEQUENCE },
  // Of a change the pair is -1, and so is what stays.
  set_launch: {
    pair: [RANGE, -1, pair[2]], account: ROW, phase: range(-1, LAUNCH_PHASE_NAMES.length - 1), leaseMs: range(-1, INT_MAX),
    createdSequence: SEQUENCE, generation: SEQUENCE, isNew: YES_NO, reserved: ZERO, launchId: ANY,
  },
  claim_lease: { expectedGeneration: SEQUENCE, launchId: ANY, owner: ANY },
})

/** Of the builder-codes program. */
const builderRules = (application: Rule): Readonly<Record<string, Rules>> => ({
  set_builder_program: { capBps: SIZE, builderFees: YES_NO, revenueSharePpm: SIZE, reserved: ZERO },
  enroll_application: {
    application, account: range(-1, ROW_MAX), createdSequence: SEQUENCE, active: YES_NO, bps: FEE, makerBps: FEE, reserved: ZERO,
  },
  set_builder_fee: { bps: SIZE, makerBps: FEE },
})

/** Of the referral program, and of the sign-ins that referrals come with. */
const referralRules = (application: Rule, asset: Rule): Readonly<Record<string, Rules>> => ({
  open_session: {
    application, master: range(0, ROW_MAX), address: ANY, referrer: range(0, ROW_MAX), publicKey: ANY, referrerSequence: SEQUENCE,
  },
  set_referral_shares: { first: SIZE, second: SIZE, third: SIZE, reserved: ZERO },
  transfer_rewards: { asset, options: bits(Option.KEYED), amount: ANY, key: ANY, payload: ANY, unused2: ANY },
})

const CHAIN = range(0, VAULT_CHAINS_MAX - 1)

/** Of money in and out, and of settlement. A withdrawal is cancelled by a review alone. */
const vaultRules = (application: Rule, asset: Rule): Readonly<Record<string, Rules>> => ({
  initiate_withdrawal: { asset, options: bits(Option.KEYED), amount: ANY, destination: ANY, key: ANY, payload: ANY, unused2: ANY },
  advance_withdrawal: {
    row: ROW, to: range(WithdrawalStatus.SIGNED, WithdrawalStatus.EXPIRED), withdrawalSequence: SEQUENCE, deadline: MOMENT,
    block: SEQUENCE, txHash: ANY,
  },
  review_withdrawal: { row: ROW, approve: YES_NO, withdrawalSequence: SEQUENCE },
  set_withdrawal_terms: { asset, reserved: ZERO, minimum: ANY, userDaily: ANY, totalDaily: ANY, approvalAbove: ANY },
  stop_withdrawals: { cause: range(0, WITHDRAWAL_STOP_NAMES.length - 1) },
  credit_deposit: {
    chain: CHAIN, logIndex: SIZE, block: SEQUENCE, asset: [RANGE, -1, asset[2]], application, amount: ANY, remainder: ANY, txHash: ANY,
    beneficiary: ANY, token: ANY,
  },
  advance_chain: { chain: CHAIN, rewind: YES_NO, chainId: SEQUENCE, block: SEQUENCE, blockTime: MOMENT, blockHash: ANY },
  assign_suspense: { row: ROW, account: ROW, suspenseSequence: SEQUENCE, createdSequence: SEQUENCE },
  open_settlement: { batch: SEQUENCE },
  confirm_settlement: { batch: SEQUENCE, block: SEQUENCE, tradesRoot: ANY, balancesRoot: ANY, txHash: ANY },
  faucet_minted: { asset, reserved: ZERO, amount: ANY, through: MOMENT, txHash: ANY },
})

/** Of copy trading. */
const COPY_RULES: Readonly<Record<string, Rules>> = {
  register_leader: { length: range(0, HANDLE_BYTES), reserved: ZERO, handle: ANY },
  release_leader: {},
  create_follow: { length: range(0, HANDLE_BYTES), mode: YES_NO, handle: ANY, allocation: ANY, maxLeverage: SIZE, reserved: ZERO },
  update_follow: {
    follow: ROW, fields: bits(FollowField.STATE | FollowField.ALLOCATION), createdSequence: SEQUENCE,
    state: range(FollowState.ACTIVE, FollowState.CLOSE_ONLY), reserved: ZERO, allocation: ANY,
  },
  stop_follow: { follow: ROW, reserved: ZERO, createdSequence: SEQUENCE },
  set_copy_program: { on: YES_NO, reserved: ZERO },
}

/** Who may send a type: the sequencer alone, in batches of its own making; the operator's lane; any lane. */
const OWN: readonly number[] = [
  CommandType.LIMITS_IN_FORCE, CommandType.GENESIS, CommandType.EXPIRE_ORDER, CommandType.CONTINUE_CANCEL, CommandType.SET_RULES,
  CommandType.ENTER_ORDER, CommandType.ACCEPT_LOSS, CommandType.FUNDING_STEP, CommandType.LIQUIDATION_STEP, CommandType.SETTLEMENT_STEP,
  CommandType.EXPIRE_CONDITIONAL, CommandType.TRIGGER_STEP, CommandType.TWAP_STEP, CommandType.COPY_STEP,
]
const OPERATOR: readonly number[] = [
  CommandType.SET_MAINTENANCE, CommandType.SET_PAIR_STATUS, CommandType.SET_FEE_TIER, CommandType.SET_APPLICATION, CommandType.SET_ORIGIN,
  CommandType.SET_SERVER_KEY, CommandType.ACCEPT_CLOCK, CommandType.CANCEL_ACCOUNT_ORDERS, CommandType.LIST_ASSET,
  CommandType.LIST_PAIR, CommandType.SET_PAIR_TERMS, CommandType.RAISE_LIMIT, CommandType.SET_INDEX_PRICE, CommandType.SET_PERP,
  CommandType.FUND_INSURANCE, CommandType.SET_BUILDER_PROGRAM, CommandType.ENROLL_APPLICATION, CommandType.SET_LAUNCH,
  CommandType.SET_REFERRAL_SHARES, CommandType.SET_COPY_PROGRAM, CommandType.ADVANCE_WITHDRAWAL, CommandType.REVIEW_WITHDRAWAL,
  CommandType.SET_WITHDRAWAL_TERMS, CommandType.STOP_WITHDRAWALS, CommandType.CREDIT_DEPOSIT, CommandType.ADVANCE_CHAIN,
  CommandType.ASSIGN_SUSPENSE, CommandType.OPEN_SETTLEMENT, CommandType.CONFIRM_SETTLEMENT, CommandType.FAUCET_MINTED,
]
const BY_NOBODY = 0
const BY_OPERATOR = 1
const BY_ANYBODY = 2

const RULE_WORDS = 4

export interface RecordChecks {
  /** By type: who may send it. */
  readonly senders: Uint8Array
  /** By type: kind of rule, word, lowest and highest value, for each field that has a rule. */
  readonly rules: readonly Int32Array[]
}

/** The checks of an exchange with this genesis. Throws when a field has no rule, or a rule no field. */
export function recordChecks(state: State): RecordChecks {
  const senders = new Uint8Array(256)
  const rules: Int32Array[] = Array.from({ length: 256 }, () => new Int32Array(0))
  for (const [text, layout] of Object.entries(COMMAND_LAYOUTS)) {
    const type = Number(text)
    if (OWN.includes(type)) continue
    senders[type] = OPERATOR.includes(type) ? BY_OPERATOR : BY_ANYBODY
    rules[type] = compiled(layout, { ...HEADER, ...rulesOf(state, type)[layout.name] })
  }
  return { senders, rules }
}

function compiled(layout: Layout, rules: Rules): Int32Array {
  const words: number[] = []
  for (const field of Object.keys(layout.fields)) {
    const rule = rules[field]
    if (rule === undefined) throw new Error(`field ${field} of ${layout.name} has no rule in sequencer/check.ts`)
    if (rule !== null) words.push(rule[0], layout.at[field]!, rule[1], rule[2])
  }
  const stray = Object.keys(rules).find((field) => !(field in layout.fields))
  if (stray !== undefined) throw new Error(`sequencer/check.ts has a rule for ${stray}, which ${layout.name} has not`)
  return Int32Array.from(words)
}

/**
 * 0: the record at word `base`, taken from ring `lane`, may be journaled. Otherwise the number of the refusal: OPERATOR_ONLY or
 * INVALID_COMMAND. A command has a second or third slot when it carries what stands there, and only then.
 */
export function recordRefusal(checks: RecordChecks, record: Views, base: number, lane: number): number {
  const type = typeOfKind(record.u32[base]!)
  const sender = checks.senders[type]!
  if (sender === BY_NOBODY) return REFUSALS.INVALID_COMMAND.number
  if (sender === BY_OPERATOR && lane !== 0) return REFUSALS.OPERATOR_ONLY.number
  const whole = slotsOfKind(record.u32[base]!) === slotsCarried(record.u32, base)
  return whole && faultyRule(checks.rules[type]!, record, base) < 0 ? 0 : REFUSALS.INVALID_COMMAND.number
}

/** Place of the first rule that the record breaks, or -1. Rules stand in the order of words: none behind its last slot is about it. */
function faultyRule(rules: Int32Array, { i32, u32, f64 }: Views, base: number): number {
  const words = slotsOfKind(u32[base]!) * RECORD_WORDS
  for (let rule = 0; rule < rules.length && rules[rule + 1]! < words; rule += RULE_WORDS) {
    const kind = rules[rule]!
    const word = base + rules[rule + 1]!
    if (kind <= BITS) {
      const value = i32[word]!
      if (kind === RANGE ? value < rules[rule + 2]! || value > rules[rule + 3]! : isForbidden(value, rules[rule + 3]!)) return rule
      continue
    }
    const value = f64[word >>> 1]!
    // Written so that NaN, which compares with nothing, is a fault.
    const fits = kind === WHOLE ? value >= 0 && value <= SEQUENCE_MAX && Math.floor(value) === value : Math.abs(value) <= TIME_MAX
    if (!fits) return rule
  }
  return -1
}

/** A bit that may not be set, or, where the highest byte may, a client order id longer than there is room for. */
const isForbidden = (value: number, forbidden: number): boolean =>
  (value & forbidden) !== 0 || ((forbidden >>> CLIENT_ORDER_ID_SHIFT) === 0 && value >>> CLIENT_ORDER_ID_SHIFT > CLIENT_ORDER_ID_BYTES)

/** What is wrong with a record that {@link recordRefusal} refused, in words for the log; what users sent is not in them. */
export function recordFault(checks: RecordChecks, record: Views, base: number, lane: number): string {
  const type = typeOfKind(record.u32[base]!)
  const name = commandName(type)
  if (checks.senders[type] === BY_NOBODY) return `${name} on lane ${lane}, which no lane may send`
  if (checks.senders[type] === BY_OPERATOR && lane !== 0) return `${name} on lane ${lane}, which is the operator's`
  const layout = COMMAND_LAYOUTS[type]!
  const rule = faultyRule(checks.rules[type]!, record, base)
  if (rule < 0) return `${name} on lane ${lane}, of ${slotsOfKind(record.u32[base]!)} slots`
  const word = checks.rules[type]![rule + 1]
  return `${name} on lane ${lane}, field ${Object.keys(layout.at).find((field) => layout.at[field] === word)}`
}
