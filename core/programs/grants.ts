/**
 * What a delegated agent's order commands are checked for, at sequence time: an order that is sequenced after its grant was narrowed is
 * held to the narrow one. Only commands of an agent's session come here. Whether the grant stands at all is not asked again: a session
 * of an agent never outlives it, neither its revocation nor its expiry.
 *
 * {@link WAYS} is the one table of what each way asks for in which an order comes about or ends. A check returns the number
 * of the grant that is lacking ({@link AgentGrant}), 0 when none is. They are asked in this order: action, pair, order type,
 * time in force, open orders, leverage and margin account; notional last, when the terms are known to be in range.
 *
 * Notional is the most that the order can be worth in its quote asset: its lots at its limit (a MARKET order's is its band),
 * of a SELL at the best bid when that is higher, so that a low limit does not hide a large sale. It counts what the order
 * asks for after the engine's own cut, not what it will fill. A leg counts the lots that it would close now, at its trigger
 * or its limit, whichever is higher, and a trailing stop at the mark or its activation price.
 *
 * Margin account and leverage are asked for of orders of perpetuals only: an agent that may use no margin account places
 * none of them, one with a list only those in the margin accounts of it, and its leverage is bounded. Reduce-only orders
 * have no leverage. A mass cancel leaves orders alone whose pair or margin account is not granted, as if they were not
 * there; what cancels everything needs all pairs and all margin accounts. Before the rules 5 legs were asked for action,
 * pair and margin account alone, and ways that end an order for no margin account.
 */
import {
  AGENT_MARGIN_ACCOUNTS_MAX, AGENT_OPEN_ORDERS_MAX, AgentAction, AgentGrant, AgentMargin, AgentOrderType, AgentTimeInForce, Flag,
} from '../layout/command.ts'
import { LegFlag } from '../layout/conditional.ts'
import { ACCOUNT, AGENT, AGENT_MARGIN, NO_ASK, ORDER, SCALAR, TERMS } from '../state/columns.ts'
import { MARGIN_ACCOUNT as MARGIN_ACCOUNT_ROW, MarginAccountKind, PERP_TERMS } from '../state/margin_rows.ts'
import {
  accountRow, agentMarginRow, agentRow, get, getF64, getI64, marginAccountAt, pairCount, perpTermsRow, scalar, termsRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { bestOpposite } from '../book/match.ts'
import { R } from '../state/balances.ts'

const { PAIR, ORDER_TYPE, TIME_IN_FORCE, OPEN_ORDERS, LEVERAGE, MARGIN_ACCOUNT, NOTIONAL } = AgentGrant
const { CREATE_ORDER, CLOSE_POSITION, REPLACE_ORDER, CANCEL_ORDER } = AgentAction
const bits = (...grants: number[]): number => grants.reduce((all, grant) => all | (1 << grant), 0)

/** A way in which an order comes about or ends: the action that it is, and bits 1 << {@link AgentGrant} of what else is asked for. */
export interface Way { readonly action: number; readonly asks: number }

/**
 * Every way. OPEN_ORDERS is asked of what may rest; MARGIN_ACCOUNT and LEVERAGE are of orders of perpetuals.
 *
 *   PLACE       an order                       CLOSE       an order that closes a position which it names
 *   LEG         a take-profit, stop-loss or trailing stop, with an entry order or for a position
 *   BUCKET      the strategy key of an order to come
 *   REPLACE     a successor, which is a LIMIT order and GTC; open orders unless it replaces one of the agent's own
 *   CANCEL      an order, a conditional order or a TWAP order
 *   CANCEL_ALL  those of pairs and margin accounts that are granted
 *   CANCEL_EVERYTHING  a deadline, or a connection that cancels at its end (orders/dead_man.ts)
 */
export const WAYS = {
  PLACE: { action: CREATE_ORDER, asks: bits(PAIR, ORDER_TYPE, TIME_IN_FORCE, OPEN_ORDERS, LEVERAGE, MARGIN_ACCOUNT, NOTIONAL) },
  CLOSE: { action: CLOSE_POSITION, asks: bits(PAIR, ORDER_TYPE, TIME_IN_FORCE, OPEN_ORDERS, MARGIN_ACCOUNT, NOTIONAL) },
  LEG: { action: CREATE_ORDER, asks: bits(PAIR, ORDER_TYPE, TIME_IN_FORCE, OPEN_ORDERS, MARGIN_ACCOUNT, NOTIONAL) },
  BUCKET: { action: CREATE_ORDER, asks: bits(PAIR, MARGIN_ACCOUNT) },
  REPLACE: { action: REPLACE_ORDER, asks: bits(PAIR, ORDER_TYPE, TIME_IN_FORCE, OPEN_ORDERS, LEVERAGE, MARGIN_ACCOUNT, NOTIONAL) },
  CANCEL: { action: CANCEL_ORDER, asks: bits(PAIR, MARGIN_ACCOUNT) },
  CANCEL_ALL: { action: CANCEL_ORDER, asks: 0 },
  CANCEL_EVERYTHING: { action: CANCEL_ORDER, asks: bits(PAIR, MARGIN_ACCOUNT) },
} as const satisfies Readonly<Record<string, Way>>
const asks = ({ asks: asked }: Way, grant: number): boolean => (asked & (1 << grant)) !== 0

/** Digits after the point of MAX_NOTIONAL. */
const NOTIONAL_SCALE = 9
/** 10^n. */
const POWERS = Int32Array.from({ length: NOTIONAL_SCALE + 1 }, (_, n) => 10 ** n)

const grantsOf = (state: State, agent: number): number => get(state, agentRow(state, agent), AGENT.GRANTS)
const acts = (grants: number, action: number): boolean => (grants & action) !== 0
/** Bits that are all granted; none granted means all. */
const covers = (granted: number, bits: number): boolean => granted === 0 || (granted & bits) === bits
const orderTypes = (grants: number): number => (grants >>> 8) & 0xff
const timesInForce = (grants: number): number => (grants >>> 16) & 0xff
/** {@link AgentMargin}; 0: every margin account. */
const marginAccounts = (grants: number): number => grants >>> 24

/** True when the agent may trade the pair, which exists. */
export function mayTrade(state: State, agent: number, pair: number): boolean {
  return ((get(state, agentRow(state, agent), AGENT.PAIRS + (pair >>> 5)) >>> (pair & 31)) & 1) === 1
}

/** True when the agent may trade every pair that is listed. */
function mayTradeAll(state: State, agent: number): boolean {
  for (let pair = 0; pair < pairCount(state); pair++) if (!mayTrade(state, agent, pair)) return false
  return true
}

/** True when one more order of the agent may rest. */
function hasRoom(state: State, agent: number): boolean {
  const row = agentRow(state, agent)
  const most = get(state, row, AGENT.MAX_OPEN_ORDERS)
  return get(state, row, AGENT.OPEN_ORDERS) < (most === 0 ? AGENT_OPEN_ORDERS_MAX : most)
}

/** Times in force of a LIMIT order, as bits. */
const timeInForce = (flags: number): number =>
  (flags & (Flag.IOC | Flag.FOK)) === 0
    ? AgentTimeInForce.GTC
    : ((flags & Flag.IOC) === 0 ? 0 : AgentTimeInForce.IOC) | ((flags & Flag.FOK) === 0 ? 0 : AgentTimeInForce.FOK)

/**
 * What an agent lacks for the form of an order that comes about or ends in this way on `pair` (-1: of none): action, pair, order type, time
 * in force and, when it `rests`, room for one more. `type` and `time`: bits of AgentOrderType and AgentTimeInForce; 0: it has none.
 */
function lacksForm(state: State, agent: number, way: Way, pair: number, type: number, time: number, rests: boolean): number {
  const grants = grantsOf(state, agent)
  if (!acts(grants, way.action)) return AgentGrant.ACTION
  if (pair >= 0 && asks(way, PAIR) && !mayTrade(state, agent, pair)) return PAIR
  if (asks(way, ORDER_TYPE) && !covers(orderTypes(grants), type)) return ORDER_TYPE
  if (time !== 0 && asks(way, TIME_IN_FORCE) && !covers(timesInForce(grants), time)) return TIME_IN_FORCE
  return rests && asks(way, OPEN_ORDERS) && !hasRoom(state, agent) ? OPEN_ORDERS : 0
}

/** What an agent lacks to place an order with these flags on a pair that exists; but for margin account, leverage and notional. */
export function lacksToPlace(state: State, agent: number, pair: number, flags: number): number {
  const way = (flags & Flag.CLOSE) !== 0 ? WAYS.CLOSE : WAYS.PLACE
  if ((flags & Flag.MARKET) !== 0) return lacksForm(state, agent, way, pair, AgentOrderType.MARKET, 0, false)
  const rests = (flags & (Flag.IOC | Flag.FOK)) === 0
  return lacksForm(state, agent, way, pair, AgentOrderType.LIMIT, timeInForce(flags), rests)
}

/** The same of a leg with these LegFlag bits, which closes a position on `pair`. */
export function lacksForLeg(state: State, agent: number, pair: number, flags: number): number {
  if ((flags & LegFlag.LIMIT) === 0) return lacksForm(state, agent, WAYS.LEG, pair, AgentOrderType.MARKET, 0, false)
  const time = ((flags & LegFlag.IOC) !== 0 ? Flag.IOC : 0) | ((flags & LegFlag.FOK) !== 0 ? Flag.FOK : 0)
  return lacksForm(state, agent, WAYS.LEG, pair, AgentOrderType.LIMIT, timeInForce(time), time === 0)
}

/** What an agent lacks for any legs at all on `pair`; which margin account is {@link lacksMarginAccount}. */
export function lacksForLegs(state: State, agent: number, pair: number): number {
  const grants = grantsOf(state, agent)
  if (!acts(grants, WAYS.LEG.action)) return AgentGrant.ACTION
  if (!mayTrade(state, agent, pair)) return PAIR
  return marginAccounts(grants) === AgentMargin.NONE ? MARGIN_ACCOUNT : 0
}

/**
 * What an agent lacks to cancel something on `pair` of the margin account at row address `margin`; -1: the parent, which is not made yet;
 * -2: it is of a spot pair.
 */
export function lacksToCancel(state: State, agent: number, pair: number, margin: number): number {
  const lacking = lacksForm(state, agent, WAYS.CANCEL, pair, 0, 0, false)
  return lacking !== 0 || mayCancelIn(state, agent, margin) ? lacking : MARGIN_ACCOUNT
}

/** True when a mass cancel of an agent means what is on `pair` and of the margin account `margin`, as of {@link lacksToCancel}. */
export const isGranted = (state: State, agent: number, pair: number, margin: number): boolean =>
  mayTrade(state, agent, pair) && mayCancelIn(state, agent, margin)

/** What an agent lacks to open a risk bucket of the perpetual `pair`, or a cross one (-1). */
export function lacksToOpenBucket(state: State, agent: number, pair: number): number {
  const lacking = lacksForm(state, agent, WAYS.BUCKET, pair, 0, 0, false)
  return lacking !== 0 || !usesNoMargin(state, agent) ? lacking : MARGIN_ACCOUNT
}

const usesNoMargin = (state: State, agent: number): boolean => marginAccounts(grantsOf(state, agent)) === AgentMargin.NONE

/** Before the rules 5 an agent cancels in every margin account. */
const mayCancelIn = (state: State, agent: number, margin: number): boolean =>
  margin < -1 || scalar(state, SCALAR.RULES) < 5 || (!usesNoMargin(state, agent) && lacksMarginAccount(state, agent, margin) === 0)

/** True when not every margin account is granted. */
export const hasMarginBound = (state: State, agent: number): boolean => marginAccounts(grantsOf(state, agent)) !== 0

/** True when it depends on the margin account what an agent may do there: {@link lacksMarginAccount}. */
export const hasMarginAccounts = (state: State, agent: number): boolean =>
  marginAccounts(grantsOf(state, agent)) === AgentMargin.LISTED

/**
 * What an agent lacks to use the margin account at row address `margin`, -1: the parent, which is not made yet. At most
 * {@link AGENT_MARGIN_ACCOUNTS_MAX} are looked at. A closed one lets nothing through: its row is another's, which has another sequence.
 */
export function lacksMarginAccount(state: State, agent: number, margin: number): number {
  if (!hasMarginAccounts(state, agent)) return 0
  const granted = agentMarginRow(state, agent)
  const account = get(state, agentRow(state, agent), AGENT.OWNER)
  const parent = margin < 0 || get(state, margin, MARGIN_ACCOUNT_ROW.KIND) === MarginAccountKind.PARENT
  const number = parent ? -1 - account : marginAccountAt(state, margin)
  const sequence = parent
    ? getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE) : getF64(state, margin, MARGIN_ACCOUNT_ROW.CREATED_SEQUENCE)
  for (let each = 0; each < AGENT_MARGIN_ACCOUNTS_MAX; each++) {
    const named = state.f64[((granted + AGENT_MARGIN.SEQUENCES) >>> 1) + each]!
    if (named === sequence && get(state, granted, AGENT_MARGIN.ROWS + each) === number) return 0
  }
  return AgentGrant.MARGIN_ACCOUNT
}

/** What an agent lacks to replace the resting order at `row`; but for margin account, leverage and the notional of its successor. */
export function lacksToReplace(state: State, agent: number, row: number): number {
  const byAgent = (get(state, row, ORDER.FLAGS) & Flag.BY_AGENT) !== 0
  const own = byAgent && state.orderAgents[get(state, row, ORDER.SLOT)] === agent + 1
  const pair = get(state, row, ORDER.PAIR)
  return lacksForm(state, agent, WAYS.REPLACE, pair, AgentOrderType.LIMIT, AgentTimeInForce.GTC, !own)
}

/**
 * What an agent lacks for the leverage (hundredths) of an order of a perpetual with these flags, and whether it may use any margin account;
 * which one is {@link lacksMarginAccount}.
 */
export function lacksMargin(state: State, agent: number, flags: number, leverage: number): number {
  if (marginAccounts(grantsOf(state, agent)) === AgentMargin.NONE) return AgentGrant.MARGIN_ACCOUNT
  const most = get(state, agentRow(state, agent), AGENT.MAX_LEVERAGE)
  return most === 0 || (flags & Flag.REDUCE_ONLY) !== 0 || leverage <= most ? 0 : AgentGrant.LEVERAGE
}

/** What an agent lacks to cancel at all. */
export const lacksToCancelAny = (state: State, agent: number): number => lacksForm(state, agent, WAYS.CANCEL_ALL, -1, 0, 0, false)

/** What an agent lacks to cancel all that its account may have: every pair that is listed and every margin account. */
export function lacksToCancelEverything(state: State, agent: number): number {
  const lacking = lacksForm(state, agent, WAYS.CANCEL_EVERYTHING, -1, 0, 0, false)
  if (lacking !== 0) return lacking
  if (!mayTradeAll(state, agent)) return PAIR
  return scalar(state, SCALAR.RULES) >= 5 && hasMarginBound(state, agent) ? MARGIN_ACCOUNT : 0
}

/**
 * What an agent lacks for the value of a leg on `pair` that closes `lots` at most, at `price` ticks: its trigger or its limit, whichever is
 * higher. No position is larger than maxPositionSize, which bounds the product.
 */
export function lacksLegNotional(state: State, agent: number, pair: number, price: number, lots: number): number {
  const most = get(state, perpTermsRow(state, pair), PERP_TERMS.MAX_POSITION_LOTS)
  return lacksNotional(state, agent, pair, 0, price, lots < most ? lots : most)
}

/**
 * What an agent lacks for the value of an order whose terms were found to be in range. `limit`: its price, or the band of a MARKET
 * order. Compared exactly: value × 10^9 <= bound × 10^scale, divided on the side where nothing overflows. Uses registers COST and AMOUNT.
 */
export function lacksNotional(state: State, agent: number, pair: number, flags: number, limit: number, lots: number): number {
  state.registers[R.AMOUNT] = getI64(state, agentRow(state, agent), AGENT.MAX_NOTIONAL)
  if (state.registers[R.AMOUNT] === 0n) return 0
  const terms = termsRow(state, pair)
  const touch = bestOpposite(state, pair, flags & Flag.SELL)
  const highest = (flags & Flag.SELL) !== 0 && touch !== NO_ASK && touch > limit ? touch : limit
  state.registers[R.COST] = BigInt(highest | 0) * BigInt(lots | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  const spare = NOTIONAL_SCALE - state.genesis.assets[get(state, terms, TERMS.QUOTE)]!.scale
  const power = BigInt(POWERS[Math.abs(spare)]! | 0)
  if (spare > 0) state.registers[R.AMOUNT] = state.registers[R.AMOUNT]! / power
  else if (spare < 0) state.registers[R.COST] = (state.registers[R.COST]! + power - 1n) / power
  return state.registers[R.COST]! > state.registers[R.AMOUNT]! ? AgentGrant.NOTIONAL : 0
}
