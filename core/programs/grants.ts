/**
 * What a delegated agent's order commands are checked for, at sequence time: an order that is sequenced after its grant was narrowed is
 * held to the narrow one. Only commands of an agent's session come here. Whether the grant stands at all is not asked again: a session
 * of an agent never outlives it, neither its revocation nor its expiry.
 *
 * Each function returns the number of the grant that is lacking ({@link AgentGrant}), 0 when none is. They are asked in that order:
 * action, pair, order type, time in force, open orders; notional last, when the terms are known to be in range.
 *
 *   place       CREATE_ORDER, pair, type, time in force, open orders when it may rest, margin account and leverage, notional
 *   close       CLOSE_POSITION instead of CREATE_ORDER; otherwise as place
 *   attach      CREATE_ORDER, pair, margin account: conditional orders of a position
 *   bucket      CREATE_ORDER, pair (none of a cross bucket), margin account: for the strategy key of an order to come
 *   replace     REPLACE_ORDER, pair, LIMIT, GTC, open orders unless it replaces one of its own, margin account and leverage, notional
 *   cancel      CANCEL_ORDER, pair; of conditional and TWAP orders too
 *   cancel all  CANCEL_ORDER; orders of other pairs are as if they were not there
 *   deadline    CANCEL_ORDER, every pair; so for a connection that cancels when it ends (orders/dead_man.ts)
 *
 * Notional is the most that the order can be worth in its quote asset: its lots at its limit (a MARKET order's is its band), of a SELL
 * at the best bid when that is higher, so that a low limit does not hide a large sale. It counts what the order asks for, not what it
 * will fill. Margin account and leverage are asked for of orders of perpetuals only: an agent that may use no margin account places none
 * of them, one with a list only those in the margin accounts of it, and its leverage is bounded. Reduce-only orders have no leverage.
 */
import {
  AGENT_MARGIN_ACCOUNTS_MAX, AGENT_OPEN_ORDERS_MAX, AgentAction, AgentGrant, AgentMargin, AgentOrderType, AgentTimeInForce, Flag,
} from '../layout/command.ts'
import { ACCOUNT, AGENT, AGENT_MARGIN, NO_ASK, ORDER, TERMS } from '../state/columns.ts'
import { MARGIN_ACCOUNT, MarginAccountKind } from '../state/margin_rows.ts'
import { accountRow, agentMarginRow, agentRow, get, getF64, getI64, marginAccountAt, pairCount, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { bestOpposite } from '../book/match.ts'
import { R } from '../state/balances.ts'

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
export function mayTradeAll(state: State, agent: number): boolean {
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

/** What an agent lacks to place an order with these flags on a pair that exists; but for its notional. */
export function lacksToPlace(state: State, agent: number, pair: number, flags: number): number {
  const grants = grantsOf(state, agent)
  const market = (flags & Flag.MARKET) !== 0
  const action = (flags & Flag.CLOSE) !== 0 ? AgentAction.CLOSE_POSITION : AgentAction.CREATE_ORDER
  if (!acts(grants, action)) return AgentGrant.ACTION
  if (!mayTrade(state, agent, pair)) return AgentGrant.PAIR
  if (!covers(orderTypes(grants), market ? AgentOrderType.MARKET : AgentOrderType.LIMIT)) return AgentGrant.ORDER_TYPE
  if (market) return 0
  if (!covers(timesInForce(grants), timeInForce(flags))) return AgentGrant.TIME_IN_FORCE
  return (flags & (Flag.IOC | Flag.FOK)) !== 0 || hasRoom(state, agent) ? 0 : AgentGrant.OPEN_ORDERS
}

/** What an agent lacks to attach conditional orders to a position on `pair`; which margin account is {@link lacksMarginAccount}. */
export function lacksToAttach(state: State, agent: number, pair: number): number {
  const grants = grantsOf(state, agent)
  if (!acts(grants, AgentAction.CREATE_ORDER)) return AgentGrant.ACTION
  if (!mayTrade(state, agent, pair)) return AgentGrant.PAIR
  return marginAccounts(grants) === AgentMargin.NONE ? AgentGrant.MARGIN_ACCOUNT : 0
}

/** What an agent lacks to cancel a conditional order or a TWAP order on `pair`. */
export function lacksToCancelWaiting(state: State, agent: number, pair: number): number {
  const lacking = lacksToCancelAny(state, agent)
  return lacking !== 0 || mayTrade(state, agent, pair) ? lacking : AgentGrant.PAIR
}

/** What an agent lacks to open a risk bucket of the perpetual `pair`, or a cross one (-1). */
export function lacksToOpenBucket(state: State, agent: number, pair: number): number {
  const grants = grantsOf(state, agent)
  if (!acts(grants, AgentAction.CREATE_ORDER)) return AgentGrant.ACTION
  if (pair >= 0 && !mayTrade(state, agent, pair)) return AgentGrant.PAIR
  return marginAccounts(grants) === AgentMargin.NONE ? AgentGrant.MARGIN_ACCOUNT : 0
}

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
  const parent = margin < 0 || get(state, margin, MARGIN_ACCOUNT.KIND) === MarginAccountKind.PARENT
  const number = parent ? -1 - account : marginAccountAt(state, margin)
  const sequence = parent
    ? getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE) : getF64(state, margin, MARGIN_ACCOUNT.CREATED_SEQUENCE)
  for (let each = 0; each < AGENT_MARGIN_ACCOUNTS_MAX; each++) {
    const named = state.f64[((granted + AGENT_MARGIN.SEQUENCES) >>> 1) + each]!
    if (named === sequence && get(state, granted, AGENT_MARGIN.ROWS + each) === number) return 0
  }
  return AgentGrant.MARGIN_ACCOUNT
}

/** What an agent lacks to replace the resting order at `row`; but for the notional of its successor. */
export function lacksToReplace(state: State, agent: number, row: number): number {
  const grants = grantsOf(state, agent)
  if (!acts(grants, AgentAction.REPLACE_ORDER)) return AgentGrant.ACTION
  if (!mayTrade(state, agent, get(state, row, ORDER.PAIR))) return AgentGrant.PAIR
  if (!covers(orderTypes(grants), AgentOrderType.LIMIT)) return AgentGrant.ORDER_TYPE
  if (!covers(timesInForce(grants), AgentTimeInForce.GTC)) return AgentGrant.TIME_IN_FORCE
  const byAgent = (get(state, row, ORDER.FLAGS) & Flag.BY_AGENT) !== 0
  const own = byAgent && state.orderAgents[get(state, row, ORDER.SLOT)] === agent + 1
  return own || hasRoom(state, agent) ? 0 : AgentGrant.OPEN_ORDERS
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

/** What an agent lacks to cancel the resting order at `row`. */
export function lacksToCancel(state: State, agent: number, row: number): number {
  const lacking = lacksToCancelAny(state, agent)
  return lacking !== 0 || mayTrade(state, agent, get(state, row, ORDER.PAIR)) ? lacking : AgentGrant.PAIR
}

/** What an agent lacks to cancel at all. */
export function lacksToCancelAny(state: State, agent: number): number {
  return acts(grantsOf(state, agent), AgentAction.CANCEL_ORDER) ? 0 : AgentGrant.ACTION
}

/** What an agent lacks to cancel all that its account may have: it needs CANCEL_ORDER and every pair that is listed. */
export function lacksToCancelEverything(state: State, agent: number): number {
  const lacking = lacksToCancelAny(state, agent)
  return lacking !== 0 || mayTradeAll(state, agent) ? lacking : AgentGrant.PAIR
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
