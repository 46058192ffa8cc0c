/** What the state has of one user, order or pair, for people: names as export has them (names.ts), open orders newest first. */
import { agentId, orderId, spendLimitId } from '../layout/ids.ts'
import { AgentAction, AgentOrderType, AgentTimeInForce, Flag, ORIGIN_NAMES, originOf, PAIR_STATUS_NAMES } from '../layout/command.ts'
import { Status, STATUS_NAMES } from '../layout/event.ts'
import { formatDecimal } from '../lib/decimal.ts'
import { ACCOUNT, AgentStatus, CLOCK, PAIR, SCALAR } from '../state/columns.ts'
import type { Pair } from '../state/genesis.ts'
import { accountRow, get, pairRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { readAccount, readBalances, type OrderView } from '../view/accounts.ts'
import { readAgents, readSessions, type AgentView } from '../view/agents.ts'
import { readDepth } from '../view/book.ts'
import { readProfile, readSpendLimits } from '../view/families.ts'
import { readOpenOrders } from '../view/open_orders.ts'
import { bitsText } from './meanings.ts'
import { timeText, type Names } from './names.ts'

/** Orders, sub-accounts and sessions that are shown, and levels of each side of a book. */
const SHOWN = 100
const LEVELS = 10

/** Nobody writes while a tool looks: the gate of the views is always open. */
const GATE = new Int32Array(new SharedArrayBuffer(256))

export type Plain = Record<string, unknown>

const cut = <T>(all: readonly T[], what: string): Plain =>
  all.length > SHOWN ? { [what]: all.slice(0, SHOWN), [`${what}More`]: all.length - SHOWN } : { [what]: all }

const timeOr = (ms: number): string | null => ms === 0 ? null : timeText(ms)
const priceText = ({ tickUnits, priceScale }: Pair, ticks: number): string => formatDecimal(BigInt(ticks) * BigInt(tickUnits), priceScale)
const lotsText = ({ lotUnits, lotScale }: Pair, lots: number): string => formatDecimal(BigInt(lots) * BigInt(lotUnits), lotScale)

/** An order at rest. */
export function orderOf(names: Names, order: OrderView): Plain {
  const pair = names.pair(order.pair)!
  const quoteText = (atoms: bigint): string => formatDecimal(atoms, names.asset(pair.quote)!.scale)
  return {
    orderId: orderId(order.sequence, order.slot),
    userId: names.user(order.account),
    clientOrderId: order.clientOrderId || null,
    pair: pair.symbol,
    side: (order.flags & Flag.SELL) !== 0 ? 'SELL' : 'BUY',
    price: priceText(pair, order.price),
    quantity: lotsText(pair, order.lots),
    remainingQuantity: lotsText(pair, order.remaining),
    status: STATUS_NAMES[order.remaining < order.lots ? Status.PARTIALLY_FILLED : Status.SUBMITTED],
    filledQuoteQuantity: quoteText(order.filledQuote),
    fee: quoteText(order.fee),
    flags: bitsText(Flag, order.flags & 0x1fffff & ~Flag.SELL),
    origin: ORIGIN_NAMES[originOf(order.flags)],
    createdAt: timeText(order.createdAt),
    expiresAt: timeOr(order.expiresAt),
  }
}

/** Rows of the accounts that a wallet has, one of each application, or of the one that a user id names. */
export function accountsOf(names: Names, isOne: (account: number) => boolean): number[] {
  const found: number[] = []
  for (let account = 0; account < names.state.scalars[SCALAR.ACCOUNTS]!; account++) if (isOne(account)) found.push(account)
  return found
}

export function userOf(names: Names, account: number): Plain {
  const { state } = names
  const { createdAt, openOrders, application } = readAccount(state, account)
  const { master, username, subAccounts } = readProfile(state, GATE, account)!
  const now = state.clock[CLOCK.TIME]!
  const live = readSessions(state, GATE, account)!.filter(({ expiresAt }) => expiresAt > now)
  const balances = readBalances(state, GATE, account)!.filter(({ available, locked }) => available !== 0n || locked !== 0n)
  return {
    userId: names.user(account),
    wallet: names.wallet(account),
    username: username || null,
    applicationId: names.application(application),
    masterUserId: names.user(master),
    createdAt: timeText(createdAt),
    feeTier: get(state, accountRow(state, account), ACCOUNT.TIER),
    balances: balances.map(({ asset, available, locked }) => {
      const { symbol, scale } = names.asset(asset)!
      return { asset: symbol, available: formatDecimal(available, scale), locked: formatDecimal(locked, scale) }
    }),
    openOrders,
    ...cut(readOpenOrders(state, GATE, account)!.orders.map((order) => orderOf(names, order)), 'orders'),
    ...cut(subAccounts.map((sub) => names.user(sub)), 'subAccounts'),
    spendLimits: spendLimitsOf(names, account, now),
    agents: readAgents(state, GATE, account)!.map((agent) => agentOf(state, agent)),
    ...cut(live.map(({ session, generation, createdAt: opened, expiresAt }) => (
      { sessionId: names.session(session, generation), createdAt: timeText(opened), expiresAt: timeText(expiresAt) })), 'sessions'),
  }
}

const spendLimitsOf = (names: Names, account: number, now: number): Plain[] =>
  readSpendLimits(names.state, GATE, account, now)!.map((limit) => {
    const { symbol, scale } = names.asset(limit.asset)!
    return {
      spendLimitId: spendLimitId(limit.createdSequence, limit.row),
      asset: symbol,
      maxAmount: formatDecimal(limit.maxAmount, scale),
      dailyLimit: limit.dailyLimit === null ? null : formatDecimal(limit.dailyLimit, scale),
      outstanding: formatDecimal(limit.outstanding, scale),
      usedToday: formatDecimal(limit.usedToday, scale),
      isActive: limit.isActive,
    }
  })

const agentOf = (state: State, agent: AgentView): Plain => ({
  agentId: agentId(agent.createdSequence, agent.row),
  wallet: `0x${Buffer.from(agent.address).toString('hex')}`,
  name: agent.name || null,
  isRevoked: agent.status !== AgentStatus.ACTIVE,
  allowedActions: bitsText(AgentAction, agent.actions),
  allowedOrderTypes: bitsText(AgentOrderType, agent.orderTypes),
  allowedTimeInForce: bitsText(AgentTimeInForce, agent.timesInForce),
  allowedPairs: agent.pairs.map((pair) => state.genesis.pairs[pair]!.symbol),
  openOrders: agent.openOrders,
  expiresAt: timeOr(agent.expiresAt),
})

export function pairOf({ state }: Names, pair: Pair): Plain {
  const row = pairRow(state, pair.index)
  const last = get(state, row, PAIR.LAST_PRICE)
  const depth = readDepth(state, GATE, pair.index, LEVELS, 1)!
  const quote = state.genesis.assets[pair.quote]!
  const level = ({ price, lots, orders }: (typeof depth.bids)[number]): Plain =>
    ({ price: priceText(pair, price), quantity: lotsText(pair, lots), orders })
  return {
    pair: pair.symbol,
    pairId: pair.id,
    status: PAIR_STATUS_NAMES[get(state, row, PAIR.STATUS)],
    tickSize: pair.tickSize,
    lotSize: pair.lotSize,
    minOrderSize: lotsText(pair, pair.minLots),
    maxOrderSize: lotsText(pair, pair.maxLots),
    minNotional: formatDecimal(pair.minNotionalAtoms, quote.scale),
    makerFeeBps: formatDecimal(pair.makerPpm, 2),
    takerFeeBps: formatDecimal(pair.takerPpm, 2),
    lastPrice: last === 0 ? null : priceText(pair, last),
    bidOrders: get(state, row, PAIR.BID_ORDERS),
    askOrders: get(state, row, PAIR.ASK_ORDERS),
    bids: depth.bids.map(level),
    asks: depth.asks.map(level),
  }
}
