/**
 * Delegated agents and sessions of an account, from the shared columns, in one consistent copy.
 *
 * An agent is named by its row and by the sequence that made it: a revoked row may be given to another agent. Sessions stand in lists, one
 * of the account's own wallet and one of each agent, newest first; dead ones leave the lists when somebody opens another session, so
 * a list may hold some.
 */
import {
  ACCOUNT, ACCOUNT_WORDS, AGENT, AGENT_WORDS, PROFILE, PROFILE_WORDS, SESSION, SESSION_LINK, SESSION_LINK_WORDS, SESSION_WORDS,
} from '../state/columns.ts'
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
  /** No margin account is allowed; otherwise all. */
  marginAccountsNone: boolean
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
  return consistently(gate, state.accounts, owner * ACCOUNT_WORDS + ACCOUNT.VERSION, () => {
    const agents: AgentView[] = []
    let next = state.profiles[owner * PROFILE_WORDS + PROFILE.FIRST_AGENT]!
    for (let left = state.genesis.limits.agentsPerAccount; next > 0 && left > 0; left--) {
      agents.push(copyAgent(state, next - 1))
      next = state.agents[(next - 1) * AGENT_WORDS + AGENT.NEXT]!
    }
    return agents
  })
}

const text = new TextDecoder()

function copyAgent(state: State, row: number): AgentView {
  const { agents, agentsF64, agentsI64 } = state
  const at = row * AGENT_WORDS
  const bytes = new Uint8Array(agents.buffer, agents.byteOffset + at * 4, AGENT_WORDS * 4).slice()
  const grants = agents[at + AGENT.GRANTS]!
  const pairs = state.genesis.pairs.map(({ index }) => index)
  const name = bytes.subarray(AGENT.NAME * 4, AGENT.NAME * 4 + 32)
  const end = name.indexOf(0)
  return {
    row,
    createdSequence: agentsF64[(at + AGENT.CREATED_SEQUENCE) >>> 1]!,
    createdAt: agentsF64[(at + AGENT.CREATED_AT) >>> 1]!,
    updatedAt: agentsF64[(at + AGENT.UPDATED_AT) >>> 1]!,
    expiresAt: agentsF64[(at + AGENT.EXPIRES_AT) >>> 1]!,
    owner: agents[at + AGENT.OWNER]!,
    address: bytes.slice(AGENT.ADDRESS * 4, AGENT.ADDRESS * 4 + 20),
    status: agents[at + AGENT.STATUS]!,
    actions: grants & 0xff,
    orderTypes: (grants >>> 8) & 0xff,
    timesInForce: (grants >>> 16) & 0xff,
    marginAccountsNone: grants >>> 24 !== 0,
    maxLeverage: agents[at + AGENT.MAX_LEVERAGE]!,
    maxNotional: agentsI64[(at + AGENT.MAX_NOTIONAL) >>> 1]!,
    maxOpenOrders: agents[at + AGENT.MAX_OPEN_ORDERS]!,
    openOrders: agents[at + AGENT.OPEN_ORDERS]!,
    pairs: pairs.filter((pair) => (bytes[AGENT.PAIRS * 4 + (pair >>> 3)]! & (1 << (pair & 7))) !== 0),
    name: text.decode(end < 0 ? name : name.subarray(0, end)),
  }
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
    listSessions(state, state.profiles[account * PROFILE_WORDS + PROFILE.FIRST_SESSION]!, sessions)
    let next = state.profiles[account * PROFILE_WORDS + PROFILE.FIRST_AGENT]!
    for (let left = state.genesis.limits.agentsPerAccount; next > 0 && left > 0; left--) {
      listSessions(state, state.agents[(next - 1) * AGENT_WORDS + AGENT.FIRST_SESSION]!, sessions)
      next = state.agents[(next - 1) * AGENT_WORDS + AGENT.NEXT]!
    }
    return sessions
  }, LONG)
}

/** Adds the sessions of the list that begins at row `first` - 1. */
function listSessions(state: State, first: number, sessions: ListedSession[]): void {
  let next = first
  for (let left = SESSIONS_READ_MAX; next > 0 && left > 0; left--) {
    const row = (next - 1) * SESSION_WORDS
    const view = readSessionRow(state, next - 1)
    next = state.sessionLinks[(next - 1) * SESSION_LINK_WORDS + SESSION_LINK.NEXT]!
    if (view === null) continue
    const createdAt = state.sessionsF64[(row + SESSION.CREATED_AT) >>> 1]!
    const publicKey = new Uint8Array(state.sessions.slice(row + SESSION.PUBLIC_KEY, row + SESSION.PUBLIC_KEY + 8).buffer)
    sessions.push({ ...view, createdAt, publicKey })
  }
}
