/**
 * Delegated agents and the sessions of holders in the naive exchange: plain lists, everything counted anew whenever it is asked for. An
 * order knows the agent that placed it; a session knows its agent; who is the oldest is found by sorting. See naive.ts.
 */
import { Flag } from '../../core/layout/command.ts'
import { Reason, Status } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { endConditionalsOf } from './naive_conditional.ts'
import { isPerp } from './naive_margin.ts'
import { isLive, type Session } from './naive_sessions.ts'
import { familyOf, share } from './naive_families.ts'
import { end } from './naive_orders.ts'
import { has, otherSide, valueOf, type Ex, type Order, type Terms } from './naive_terms.ts'

/** Numbers that a refusal names, written out: they are a promise. */
const LACKS = { ACTION: 1, PAIR: 2, ORDER_TYPE: 3, TIME_IN_FORCE: 4, NOTIONAL: 5, OPEN_ORDERS: 6, LEVERAGE: 7, MARGIN_ACCOUNT: 8 } as const
const MAY = { CREATE: 1, CANCEL: 2, REPLACE: 4, CLOSE: 8 } as const
const MOST_OPEN_ORDERS = 1000
const MOST_AGENT_SESSIONS = 16

/** An agent; its place in the exchange's list is its row. */
export interface Agent {
  owner: number
  address: string
  createdSequence: number
  active: boolean
  actions: number
  /** 0: all. */
  orderTypes: number
  timesInForce: number
  /** 0: never. */
  expiresAt: number
  /** 10^-9 of the quote asset; 0: no bound. */
  maxNotional: bigint
  maxOpenOrders: number
  pairs: Set<number>
  /** No margin account is allowed, so no orders of perpetuals. */
  noMargin: boolean
  /** Hundredths; 0: no bound. */
  maxLeverage: number
}

const openOrdersOf = (ex: Ex, agent: Agent): Order[] => ex.books.flat().filter((order) => order.agent === agent)

/** The wallets' own account that signed, or the refusal's number, negated. */
export function owner(ex: Ex, command: Decoded): number {
  const account = ex.signer(command)
  if (account < 0) return -CODE.SESSION_INVALID
  return ex.signingAgent(command) === null ? account : -CODE.AGENT_NOT_ALLOWED
}

/** A refusal of {@link owner}, or any other of a command that is no order's. */
export function refuseOwner(ex: Ex, command: Decoded, code: number): void {
  ex.result(command, { code, account: -1, detail: code === CODE.AGENT_NOT_ALLOWED ? 9 : 0 })
}

/** The pairs named by the bits of 32 bytes in hex. */
function pairsOf(hex: string): number[] {
  const bytes = Buffer.from(hex, 'hex')
  return Array.from({ length: 256 }, (_, pair) => pair).filter((pair) => (bytes[Math.floor(pair / 8)]! >> (pair % 8)) % 2 === 1)
}

function grantsRefusal(ex: Ex, command: Decoded, account: number): number {
  const [actions, orderTypes, timesInForce, margin] = [0, 1, 2, 3].map((byte) => Math.floor(Number(command['grants']) / 256 ** byte) % 256)
  const until = Number(command['expiresAt'])
  const pairs = pairsOf(String(command['pairs']))
  const openOrders = Number(command['maxOpenOrders'])
  if (ex.maintenance) return CODE.OPERATIONS_BLOCKED
  const good = actions! >= 1 && actions! <= 15 && orderTypes! <= 3 && timesInForce! <= 7 && margin! <= 1 &&
    BigInt(command['maxNotional']!) >= 0n && Number(command['maxLeverage']) >= 0 && openOrders >= 0 && openOrders <= MOST_OPEN_ORDERS &&
    (until === 0 || (until > ex.now && until <= 8.64e15 && until === Math.floor(until))) &&
    pairs.length > 0 && pairs.every((pair) => ex.genesis.pairs[pair] !== undefined) &&
    ex.accounts[account]!.address !== command['address']
  return good ? 0 : CODE.VALIDATION_ERROR
}

/** The row for a new agent of an account, or the refusal's number, negated. */
function rowFor(ex: Ex, account: number): number {
  const theirs = ex.agents.filter((agent) => agent.owner === account)
  const listFull = theirs.length >= ex.genesis.limits.agentsPerAccount
  const { agents: most } = ex.genesis.limits
  const held = ex.agents.filter((agent) => familyOf(ex, agent.owner) === familyOf(ex, account)).length
  const mayHold = ex.inForce === 0 ? Infinity : share(most, most - ex.agents.length)
  if (!listFull && ex.agents.length < most && held < mayHold) return ex.agents.length
  const revoked = theirs.filter((agent) => !agent.active).sort((a, b) => a.createdSequence - b.createdSequence)
  if (revoked.length > 0) return ex.agents.indexOf(revoked[0]!)
  return -(listFull || ex.agents.length < most ? CODE.TOO_MANY_AGENTS : CODE.OVERLOADED)
}

/** UPSERT_AGENT. */
export function upsertAgent(ex: Ex, command: Decoded): void {
  const account = owner(ex, command)
  const code = account < 0 ? -account : grantsRefusal(ex, command, account)
  if (code !== 0) return refuseOwner(ex, command, code)
  const known = ex.agents.find((agent) => agent.owner === account && agent.address === command['address'])
  const row = known === undefined ? rowFor(ex, account) : ex.agents.indexOf(known)
  if (row < 0) return refuseOwner(ex, command, -row)
  const grants = Number(command['grants'])
  const agent: Agent = {
    owner: account, address: String(command['address']), createdSequence: known?.createdSequence ?? ex.sequence, active: true,
    actions: grants % 256, orderTypes: Math.floor(grants / 256) % 256, timesInForce: Math.floor(grants / 65_536) % 256,
    expiresAt: Number(command['expiresAt']), maxNotional: BigInt(command['maxNotional']!),
    maxOpenOrders: Number(command['maxOpenOrders']) || MOST_OPEN_ORDERS, pairs: new Set(pairsOf(String(command['pairs']))),
    noMargin: grants >= 2 ** 24, maxLeverage: Number(command['maxLeverage']),
  }
  // Orders and sessions of the same agent go on being its own.
  if (known === undefined) ex.agents[row] = agent
  else Object.assign(known, agent)
  for (const session of ex.sessions) {
    if (session.agent === known && known !== undefined && agent.expiresAt !== 0) {
      session.expiresAt = Math.min(session.expiresAt, agent.expiresAt)
    }
  }
  ex.result(command, { account, detail: row, originalSequence: agent.createdSequence })
}

/** REVOKE_AGENT. */
export function revokeAgent(ex: Ex, command: Decoded): void {
  const account = owner(ex, command)
  if (account < 0) return refuseOwner(ex, command, -account)
  if (ex.maintenance) return refuseOwner(ex, command, CODE.OPERATIONS_BLOCKED)
  const row = Number(command['agent'])
  const agent = ex.agents[row]
  const theirs = agent !== undefined && agent.owner === account && agent.createdSequence === command['createdSequence'] && agent.active
  if (!theirs) return refuseOwner(ex, command, CODE.NOT_FOUND)
  agent.active = false
  for (const session of ex.sessions) if (session.agent === agent && isLive(ex, session)) session.endedAt = ex.now
  const orders = openOrdersOf(ex, agent).sort((a, b) => b.sequence - a.sequence)
  for (const order of orders) end(ex, order, Status.CANCELLED, Reason.DELEGATION_REVOKED, Number(command['correlation']), false)
  endConditionalsOf(ex, account, agent)
  ex.result(command, { account, detail: row, detail2: orders.length })
}

/** The agent with this wallet that may sign in for the account of (application, owner) now. */
export function delegate(ex: Ex, command: Decoded): { account: number; agent: Agent } | null {
  const account = ex.accounts.findIndex((each) => each.application === command['application'] && each.address === command['owner'])
  const agent = ex.agents.find((each) => each.owner === account && each.address === command['agent'])
  if (agent === undefined || !agent.active || (agent.expiresAt !== 0 && agent.expiresAt <= ex.now)) return null
  return { account, agent }
}

/** Until when a session that begins now lasts. */
export function lastsUntil(ex: Ex, agent: Agent | null): number {
  const whole = ex.now + ex.genesis.limits.sessionLifetimeMs
  return agent === null || agent.expiresAt === 0 ? whole : Math.min(whole, agent.expiresAt)
}

/** Live sessions that an account's wallet, or an agent, may have. */
export function mostLive(ex: Ex, agent: Agent | null): number {
  const { sessionsPerAccount } = ex.genesis.limits
  return agent === null ? sessionsPerAccount : Math.min(MOST_AGENT_SESSIONS, sessionsPerAccount)
}

/** Ends the oldest live sessions of a holder that are too many. */
export function endOldest(ex: Ex, account: number, agent: Agent | null): void {
  const held = (session: Session): boolean => session.account === account && session.agent === agent && isLive(ex, session)
  const newestFirst = ex.sessions.filter(held).sort((a, b) => b.generation - a.generation)
  for (const session of newestFirst.slice(mostLive(ex, agent))) session.endedAt = ex.now
}

// What an agent lacks for an order: the number of the grant, or 0.

const allows = (granted: number, bit: number): boolean => granted === 0 || has(granted, bit)

export function lacksToPlace(ex: Ex, agent: Agent, pair: number, flags: number): number {
  // Whoever closes a position needs leave for that, and for nothing else.
  if (!has(agent.actions, has(flags, Flag.CLOSE) ? MAY.CLOSE : MAY.CREATE)) return LACKS.ACTION
  if (!agent.pairs.has(pair)) return LACKS.PAIR
  if (has(flags, Flag.MARKET)) return allows(agent.orderTypes, 2) ? 0 : LACKS.ORDER_TYPE
  if (!allows(agent.orderTypes, 1)) return LACKS.ORDER_TYPE
  if (has(flags, Flag.IOC) && !allows(agent.timesInForce, 2)) return LACKS.TIME_IN_FORCE
  if (has(flags, Flag.FOK) && !allows(agent.timesInForce, 4)) return LACKS.TIME_IN_FORCE
  if (has(flags, Flag.IOC | Flag.FOK)) return 0
  if (!allows(agent.timesInForce, 1)) return LACKS.TIME_IN_FORCE
  return openOrdersOf(ex, agent).length >= agent.maxOpenOrders ? LACKS.OPEN_ORDERS : 0
}

export function lacksToReplace(ex: Ex, agent: Agent, original: Order): number {
  if (!has(agent.actions, MAY.REPLACE)) return LACKS.ACTION
  if (!agent.pairs.has(original.pair)) return LACKS.PAIR
  if (!allows(agent.orderTypes, 1)) return LACKS.ORDER_TYPE
  if (!allows(agent.timesInForce, 1)) return LACKS.TIME_IN_FORCE
  const others = openOrdersOf(ex, agent).filter((order) => order !== original).length
  return original.agent !== agent && others >= agent.maxOpenOrders ? LACKS.OPEN_ORDERS : 0
}

/** For margin account and leverage (hundredths) of an order of a perpetual; what only reduces has no leverage. */
export function lacksMargin({ noMargin, maxLeverage }: Agent, flags: number, leverage: number): number {
  if (!has(flags, Flag.MARGIN)) return 0
  if (noMargin) return LACKS.MARGIN_ACCOUNT
  return maxLeverage > 0 && !has(flags, Flag.REDUCE_ONLY) && leverage > maxLeverage ? LACKS.LEVERAGE : 0
}

/** For a bucket of a perpetual, or a cross one (-1). */
export function lacksToOpenBucket(agent: Agent, pair: number): number {
  if (!has(agent.actions, MAY.CREATE)) return LACKS.ACTION
  if (pair >= 0 && !agent.pairs.has(pair)) return LACKS.PAIR
  return agent.noMargin ? LACKS.MARGIN_ACCOUNT : 0
}

export function lacksToCancel(agent: Agent, pair: number | null): number {
  if (!has(agent.actions, MAY.CANCEL)) return LACKS.ACTION
  return pair === null || agent.pairs.has(pair) ? 0 : LACKS.PAIR
}

/** To cancel something on a pair: since the rules 5 of a perpetual only in a margin account that is granted. */
export function lacksToCancelOn(ex: Ex, agent: Agent, pair: number): number {
  return lacksToCancel(agent, pair) || (mayUse(ex, agent, pair) ? 0 : LACKS.MARGIN_ACCOUNT)
}

/** True when the agent may use the margin account that something on this pair is of, if it is of one. */
export const mayUse = (ex: Ex, agent: Agent, pair: number): boolean => ex.inForce < 5 || !agent.noMargin || !isPerp(ex, pair)

/** To cancel everything that its owner has, at a deadline or an end. */
export function lacksForEverything(ex: Ex, agent: Agent): number {
  if (!has(agent.actions, MAY.CANCEL)) return LACKS.ACTION
  if (!ex.genesis.pairs.every((_, pair) => agent.pairs.has(pair))) return LACKS.PAIR
  return ex.inForce >= 5 && agent.noMargin ? LACKS.MARGIN_ACCOUNT : 0
}

/** For a leg on a pair with these bits of a LIMIT order; `null`: it is a MARKET order. */
export function lacksForLeg(ex: Ex, agent: Agent, pair: number, limited: { ioc: boolean; fok: boolean } | null): number {
  const flags = limited === null ? Flag.MARKET : (limited.ioc ? Flag.IOC : 0) | (limited.fok ? Flag.FOK : 0)
  return lacksToPlace(ex, agent, pair, flags)
}

/** The most an order can be worth, in 10^-9 of its quote asset, against what is granted; `cut`: its lots after that. */
export function lacksNotional(ex: Ex, agent: Agent, terms: Terms, cut = terms.lots): number {
  if (agent.maxNotional === 0n) return 0
  const sell = has(terms.flags, Flag.SELL)
  const touch = otherSide(ex, terms.pair, sell)[0]?.price ?? 0
  return lacksValue(ex, agent, terms.pair, sell ? Math.max(touch, terms.limit) : terms.limit, ex.inForce < 5 ? terms.lots : cut)
}

/** For so many lots at this price. */
export function lacksValue(ex: Ex, agent: Agent, pair: number, price: number, lots: number): number {
  if (agent.maxNotional === 0n) return 0
  const atoms = valueOf(ex, pair, price, lots)
  const { scale } = ex.genesis.assets[ex.genesis.pairs[pair]!.quote]!
  return atoms * 1_000_000_000n > agent.maxNotional * 10n ** BigInt(scale) ? LACKS.NOTIONAL : 0
}

