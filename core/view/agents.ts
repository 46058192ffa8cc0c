/**
 * Delegated agents and sessions of an account, from the shared columns, in one consistent copy.
 *
 * An agent is named by its row and by the sequence that made it: a revoked row may be given to another agent. Sessions stand in lists, one
 * of the account's own wallet and one of each agent, newest first; dead ones leave the lists when somebody opens another session, so
 * a list may hold some.
 */
import { AGENT_MARGIN_ACCOUNTS_MAX, AgentMargin } from '../layout/command.ts'
import { ACCOUNT, AGENT, AGENT_MARGIN, PROFILE, SESSION, SESSION_LINK } from '../state/columns.ts'
import {
  accountRow, agentMarginRow, agentRow, bytesOf, get, getF64, getI64, linkRow, profileRow, sessionRow, wordOf,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { APPLYING } from '../ring/counters.ts'
import { readSessionRow, type SessionView } from './accounts.ts'
import { consistently, LONG } from './consistent.ts'

/** Sessions one reading gives, at most: the newest of each holder. */
export const SESSIONS_READ_MAX = 1024

export interface AgentView {
  row: number
  /** With the row its identity. */
  createdSequence: number
  /** Unix ms. */
  createdAt: number
  updatedAt: number
  /** Unix ms; 0: never. */
  expiresAt: number
  /** Account that granted. */
  owner: number
  /** 20 bytes. */
  address: Uint8Array
  /** AgentStatus: revoked agents are listed until their row is given away. */
  status: number
  /** AgentAction, AgentOrderType and AgentTimeInForce bits as in UPSERT_AGENT; 0 of the latter two: all. */
  actions: number
  orderTypes: number
  timesInForce: number
  /** AgentMargin; 0: every margin account. */
  marginGrant: number
  /** LISTED: those it may use, as they were named; of the parent `row` is -1 - row of the owner's account. */
  marginAccounts: { sequence: number; row: number }[]
  /** Hundredths; 0: no bound. */
  maxLeverage: number
  /** 10^-9 of the quote asset; 0: no bound. */
  maxNotional: bigint
  /** 0: the most. */
  maxOpenOrders: number
  /** Resting orders it placed. */
  openOrders: number
  /** Indexes of the trading pairs it may trade, ascending. */
  pairs: number[]
  /** UTF-8 text, '' for none. */
  name: string
}

/** The agents of an account, newest first, revoked ones too; `null` when the matcher kept changing them. */
export function readAgents(state: State, gate: Int32Array, owner: number): AgentView[] | null {
  return consistently(gate, state.i32, wordOf(accountRow(state, owner), ACCOUNT.VERSION), () => {
    const agents: AgentView[] = []
    let next = get(state, profileRow(state, owner), PROFILE.FIRST_AGENT)
    for (let left = state.genesis.limits.agentsPerAccount; next > 0 && left > 0; left--) {
      agents.push(copyAgent(state, next - 1))
      next = get(state, agentRow(state, next - 1), AGENT.NEXT)
    }
    return agents
  })
}

const text = new TextDecoder()

function copyAgent(state: State, row: number): AgentView {
  const at = agentRow(state, row)
  const grants = get(state, at, AGENT.GRANTS)
  const pairs = state.genesis.pairs.map(({ index }) => index)
  const traded = bytesOf(state, at, AGENT.PAIRS, 32)
  const name = bytesOf(state, at, AGENT.NAME, 32).slice()
  const end = name.indexOf(0)
  return {
    row,
    createdSequence: getF64(state, at, AGENT.CREATED_SEQUENCE),
    createdAt: getF64(state, at, AGENT.CREATED_AT),
    updatedAt: getF64(state, at, AGENT.UPDATED_AT),
    expiresAt: getF64(state, at, AGENT.EXPIRES_AT),
    owner: get(state, at, AGENT.OWNER),
    address: bytesOf(state, at, AGENT.ADDRESS, 20).slice(),
    status: get(state, at, AGENT.STATUS),
    actions: grants & 0xff,
    orderTypes: (grants >>> 8) & 0xff,
    timesInForce: (grants >>> 16) & 0xff,
    marginGrant: grants >>> 24,
    marginAccounts: grants >>> 24 === AgentMargin.LISTED ? copyMarginAccounts(state, row) : [],
    maxLeverage: get(state, at, AGENT.MAX_LEVERAGE),
    maxNotional: getI64(state, at, AGENT.MAX_NOTIONAL),
    maxOpenOrders: get(state, at, AGENT.MAX_OPEN_ORDERS),
    openOrders: get(state, at, AGENT.OPEN_ORDERS),
    pairs: pairs.filter((pair) => (traded[pair >>> 3]! & (1 << (pair & 7))) !== 0),
    name: text.decode(end < 0 ? name : name.subarray(0, end)),
  }
}

function copyMarginAccounts(state: State, agent: number): AgentView['marginAccounts'] {
  const at = agentMarginRow(state, agent)
  const named: AgentView['marginAccounts'] = []
  for (let each = 0; each < AGENT_MARGIN_ACCOUNTS_MAX; each++) {
    const sequence = state.f64[((at + AGENT_MARGIN.SEQUENCES) >>> 1) + each]!
    if (sequence !== 0) named.push({ sequence, row: get(state, at, AGENT_MARGIN.ROWS + each) })
  }
  return named
}

/** A session as its holder or an operator may see it. */
export interface ListedSession extends SessionView {
  /** Unix ms. */
  createdAt: number
  /** ed25519, 32 bytes. */
  publicKey: Uint8Array
}

/**
 * The sessions of an account: those of its own wallet, then those of each of its agents, each newest first, expired and revoked ones too.
 * At most {@link SESSIONS_READ_MAX} of each holder. `null` when the matcher was too busy.
 */
export function readSessions(state: State, gate: Int32Array, account: number): ListedSession[] | null {
  return consistently(gate, gate, APPLYING, () => {
    const sessions: ListedSession[] = []
    listSessions(state, get(state, profileRow(state, account), PROFILE.FIRST_SESSION), sessions)
    let next = get(state, profileRow(state, account), PROFILE.FIRST_AGENT)
    for (let left = state.genesis.limits.agentsPerAccount; next > 0 && left > 0; left--) {
      listSessions(state, get(state, agentRow(state, next - 1), AGENT.FIRST_SESSION), sessions)
      next = get(state, agentRow(state, next - 1), AGENT.NEXT)
    }
    return sessions
  }, LONG)
}

/** Adds the sessions of the list that begins at row `first` - 1. */
function listSessions(state: State, first: number, sessions: ListedSession[]): void {
  let next = first
  for (let left = SESSIONS_READ_MAX; next > 0 && left > 0; left--) {
    const row = sessionRow(state, next - 1)
    const view = readSessionRow(state, next - 1)
    next = get(state, linkRow(state, next - 1), SESSION_LINK.NEXT)
    if (view === null) continue
    const createdAt = getF64(state, row, SESSION.CREATED_AT)
    const publicKey = Uint8Array.from(bytesOf(state, row, SESSION.PUBLIC_KEY, 32))
    sessions.push({ ...view, createdAt, publicKey })
  }
}
