/** Sessions in the naive exchange: rows, keys, holders and their limits. See naive.ts. */
import type { Decoded } from '../../core/layout/table.ts'
import { delegate, endOldest, lastsUntil, mostLive, type Agent } from './naive_agents.ts'
import { closed } from './naive_applications.ts'
import { agree } from './naive_families.ts'
import { CODE, DAY_MS, type NaiveExchange } from './naive.ts'
import { bring } from './naive_referrals.ts'
import { endTwapsOf } from './naive_twap.ts'

/** The account of a session whose account is no more. */
export const GONE = -2
/** Session rows looked at for a dead one when all are taken. */
const RECLAIM_PROBES = 1024
/** Rows of which a wallet may use all; who has as many leaves the last tenth to others. */
const FEW_ROWS = 4

export interface Session {
  account: number
  /** Sequence that opened it; a command names its lower 32 bits. */
  generation: number
  expiresAt: number
  /** When it was ended before that; null: it was not. */
  endedAt: number | null
  publicKey: string
  /** Whose wallet opened it; null: the account's own; 'gone': an agent's, before keys were kept. */
  agent: Agent | null | 'gone'
  /** Counts among the rows of its holder. */
  counted: boolean
}

export const isLive = (exchange: NaiveExchange, { expiresAt, endedAt }: Session): boolean => endedAt === null && expiresAt > exchange.now
const isHeldBy = (session: Session, account: number, agent: Agent | null): boolean => session.account === account && session.agent === agent

/** The row a new session goes to: the one with its key, a fresh one, the next that keeps nothing, or its holder's oldest; -1 none. */
function sessionRow(exchange: NaiveExchange, publicKey: string, account: number, agent: Agent | null): number {
  const { sessions, inForce, genesis } = exchange
  const holder = sessions.findIndex((session) => session.publicKey === publicKey)
  if (holder >= 0) {
    // Another row of this holder's, where the key's was nobody's: then it has one fewer of its own before.
    if (inForce >= 3 && !(sessions[holder]!.counted && isHeldBy(sessions[holder]!, account, agent))) shorten(exchange, account, agent, 1)
    return holder
  }
  const most = genesis.limits.sessions
  const limit = mostLive(exchange, agent)
  if (inForce < 1 || limit >= most) return reclaim(exchange, most)
  const own = heldBy(exchange, account, agent)
  const oldestDead = own.findLast((each) => !isLive(exchange, each))
  if (own.length >= 2 * limit && oldestDead !== undefined) return sessions.indexOf(oldestDead)
  const row = reclaim(exchange, agent === null && own.length < FEW_ROWS ? most : most - Math.floor(most / 10))
  return row < 0 && oldestDead !== undefined ? sessions.indexOf(oldestDead) : row
}

/** The sessions that count as a holder's, newest first. */
const heldBy = ({ sessions }: NaiveExchange, account: number, agent: Agent | null): Session[] =>
  sessions.filter((each) => each.counted && isHeldBy(each, account, agent)).sort((a, b) => b.generation - a.generation)

/** Takes a holder's oldest dead sessions until it has room for `more` within twice its limit. */
export function shorten(exchange: NaiveExchange, account: number, agent: Agent | null, more: number): void {
  const limit = mostLive(exchange, agent)
  if (limit >= exchange.genesis.limits.sessions) return
  const own = heldBy(exchange, account, agent)
  const dead = own.filter((each) => !isLive(exchange, each))
  for (let over = own.length + more - 2 * limit; over > 0; over--) Object.assign(dead.pop()!, { account: GONE, counted: false, endedAt: 0 })
}

/** A row among the first `end` that nobody had, or the next whose session has been dead for long enough. */
function reclaim(exchange: NaiveExchange, end: number): number {
  const { sessions, inForce, now } = exchange
  if (sessions.length < end) return sessions.length
  for (let probe = 0; probe < RECLAIM_PROBES; probe++) {
    const row = exchange.nextReclaim
    exchange.nextReclaim = (row + 1) % exchange.genesis.limits.sessions
    const session = row < end ? sessions[row] : undefined
    if (session === undefined || isLive(exchange, session)) continue
    if (inForce < 1 || (session.endedAt ?? session.expiresAt) + DAY_MS <= now) return row
  }
  return -1
}

export function openSession(exchange: NaiveExchange, command: Decoded): void {
  const { accounts } = exchange
  const application = Number(command['application'])
  const address = String(command['address'])
  const publicKey = String(command['publicKey'])
  const shut = closed(exchange, application)
  if (shut !== 0) return exchange.refuse(command, shut, -1)
  let account = accounts.findIndex((each) => each.application === application && each.address === address)
  const isNew = account < 0
  if (isTaken(exchange, publicKey, account, null)) return exchange.refuse(command, CODE.SESSION_KEY_IN_USE, -1)
  if (isNew && !exchange.hasRoom()) return exchange.refuse(command, CODE.OVERLOADED, -1)
  const row = sessionRow(exchange, publicKey, account, null)
  if (row < 0) return exchange.refuse(command, CODE.OVERLOADED, -1)
  if (isNew) account = exchange.newAccount(application, address, -1)
  begin(exchange, row, publicKey, account, null)
  accounts[account]!.seen = [exchange.now, exchange.sequence]
  agree(exchange, account, Number(command['master'] ?? 0) - 1)
  const brought = isNew && bring(exchange, accounts[account]!, command)
  sessionResult(exchange, command, row, isNew ? 1 : 0, { lots: brought ? 1 : 0 })
}

/** True when a session of somebody else has the key: a live one, or since the rules 1 any that is remembered. */
function isTaken(exchange: NaiveExchange, publicKey: string, account: number, agent: Agent | null): boolean {
  const session = exchange.sessions.find((each) => each.publicKey === publicKey)
  if (session === undefined || session.account === GONE || isHeldBy(session, account, agent)) return false
  return exchange.inForce >= 1 || isLive(exchange, session)
}

function begin(exchange: NaiveExchange, row: number, publicKey: string, account: number, agent: Agent | null): void {
  const expiresAt = lastsUntil(exchange, agent)
  exchange.sessions[row] = { account, agent, generation: exchange.sequence, expiresAt, endedAt: null, publicKey, counted: true }
  endOldest(exchange, account, agent)
}

export function openDelegatedSession(exchange: NaiveExchange, command: Decoded): void {
  const publicKey = String(command['publicKey'])
  const shut = closed(exchange, Number(command['application']))
  if (shut !== 0) return exchange.refuse(command, shut, -1)
  const found = delegate(exchange, command)
  if (found === null) return exchange.refuse(command, CODE.AGENT_NOT_ALLOWED, -1)
  const { account, agent } = found
  if (isTaken(exchange, publicKey, account, agent)) return exchange.refuse(command, CODE.SESSION_KEY_IN_USE, -1)
  const row = sessionRow(exchange, publicKey, account, agent)
  if (row < 0) return exchange.refuse(command, CODE.OVERLOADED, -1)
  begin(exchange, row, publicKey, account, agent)
  sessionResult(exchange, command, row, 0, { orderSequence: agent.createdSequence, slot: exchange.agents.indexOf(agent) })
}

/** `expiresAt` null: the session ends. */
export function endsOrExtends(exchange: NaiveExchange, command: Decoded, expiresAt: number | null): void {
  if (exchange.signer(command) < 0) return exchange.refuse(command, CODE.SESSION_INVALID, -1)
  const row = Number(command['session'])
  const session = exchange.sessions[row]!
  if (expiresAt === null) {
    session.endedAt = exchange.now
    endTwapsOf(exchange, session.account, command)
  } else {
    session.expiresAt = expiresAt
    exchange.accounts[session.account]!.seen = [exchange.now, exchange.sequence]
  }
  sessionResult(exchange, command, row, 0)
}

function sessionResult(exchange: NaiveExchange, command: Decoded, row: number, isNew: number, over: Decoded = {}): void {
  const { account, generation, endedAt } = exchange.sessions[row]!
  const expiresAt = endedAt === null ? exchange.sessions[row]!.expiresAt : 0
  const originalSequence = exchange.accounts[account]!.createdSequence
  exchange.result(command, { account, detail: row, detail2: generation, trades: isNew, expiresAt, originalSequence, ...over })
}
