/**
 * Invariant A, of delegated agents and the lists of sessions; see invariants.ts.
 *
 * Agents: each row in use is in its owner's list exactly once, newest first, active or revoked; what it counts as resting are the resting
 * orders that name it, and a revoked one has none. Sessions: every live one is in its holder's list, no session is in two lists or twice
 * in one, lists link back and run from the newest; a holder has no more live ones than its limit, and since the rules 3 no more rows than
 * twice that; none of a revoked agent is live, and none of another lasts beyond its grant.
 */
import { AGENT_OPEN_ORDERS_MAX, Flag } from '../layout/command.ts'
import { broken } from '../lib/assert.ts'
import { AGENT_SESSIONS_MAX } from './session_lists.ts'
import {
  AGENT, AGENT_WORDS, AgentStatus, CLOCK, ORDER, ORDER_WORDS, PROFILE, PROFILE_WORDS, SCALAR, SESSION, SESSION_LINK, SESSION_LINK_WORDS,
  SESSION_WORDS,
} from './columns.ts'
import type { State } from './state.ts'

/** `live`: slots of the resting orders. */
export function checkAgents(state: State, live: readonly number[]): void {
  const resting = countResting(state, live)
  const [metAgents, metSessions] = [new Set<number>(), new Set<number>()]
  for (let account = 0; account < state.scalars[SCALAR.ACCOUNTS]!; account++) {
    checkSessionList(state, account, -1, metSessions)
    checkAgentList(state, account, metAgents)
  }
  for (let agent = 0; agent < state.scalars[SCALAR.AGENTS_USED]!; agent++) {
    if (!metAgents.has(agent)) broken('A', `agent ${agent} is in no list`)
    checkAgent(state, agent, resting.get(agent) ?? 0)
    checkSessionList(state, state.agents[agent * AGENT_WORDS + AGENT.OWNER]!, agent, metSessions)
  }
  for (let session = 0; session < state.scalars[SCALAR.SESSIONS_USED]!; session++) {
    if (isLive(state, session) && !metSessions.has(session)) broken('A', `live session ${session} is in no list`)
  }
}

const expiryOf = (state: State, session: number): number => state.sessionsF64[(session * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1]!
const isLive = (state: State, session: number): boolean => expiryOf(state, session) > state.clock[CLOCK.TIME]!
const madeBy = (state: State, agent: number): number => state.agentsF64[(agent * AGENT_WORDS + AGENT.CREATED_SEQUENCE) >>> 1]!

/** Resting orders by the agent that placed them. */
function countResting(state: State, live: readonly number[]): Map<number, number> {
  const resting = new Map<number, number>()
  for (const slot of live) {
    const row = slot * ORDER_WORDS
    if ((state.orders[row + ORDER.FLAGS]! & Flag.BY_AGENT) === 0) continue
    const agent = state.orderAgents[slot]! - 1
    const known = agent >= 0 && agent < state.scalars[SCALAR.AGENTS_USED]!
    if (!known || state.agents[agent * AGENT_WORDS + AGENT.OWNER] !== state.orders[row + ORDER.ACCOUNT]) {
      broken('A', `the order in slot ${slot} was placed by agent ${agent}, which is not its owner's`)
    }
    resting.set(agent, (resting.get(agent) ?? 0) + 1)
  }
  return resting
}

function checkAgentList(state: State, account: number, met: Set<number>): void {
  const profile = account * PROFILE_WORDS
  let count = 0
  let newer = Infinity
  let agent = state.profiles[profile + PROFILE.FIRST_AGENT]! - 1
  while (agent >= 0) {
    if (agent >= state.scalars[SCALAR.AGENTS_USED]! || met.has(agent)) broken('A', `agent ${agent} is twice in lists or was never used`)
    met.add(agent)
    if (state.agents[agent * AGENT_WORDS + AGENT.OWNER] !== account) broken('A', `agent ${agent} is in the list of account ${account}`)
    if (madeBy(state, agent) >= newer) broken('A', `the agents of account ${account} are not newest first`)
    newer = madeBy(state, agent)
    count++
    agent = state.agents[agent * AGENT_WORDS + AGENT.NEXT]! - 1
  }
  const counted = state.profiles[profile + PROFILE.AGENTS]!
  const tooMany = count > state.genesis.limits.agentsPerAccount
  if (count !== counted || tooMany) broken('A', `account ${account} has ${count} agents, counts ${counted}`)
}

function checkAgent(state: State, agent: number, resting: number): void {
  const row = agent * AGENT_WORDS
  const status = state.agents[row + AGENT.STATUS]!
  const counted = state.agents[row + AGENT.OPEN_ORDERS]!
  if (status !== AgentStatus.ACTIVE && status !== AgentStatus.REVOKED) broken('A', `agent ${agent} has status ${status}`)
  if (counted !== resting) broken('A', `agent ${agent} counts ${counted} resting orders, has ${resting}`)
  if (resting > AGENT_OPEN_ORDERS_MAX) broken('A', `agent ${agent} has ${resting} resting orders`)
  if (status === AgentStatus.REVOKED && resting > 0) broken('A', `agent ${agent} is revoked and has ${resting} resting orders`)
  const granted = state.agentsF64[(row + AGENT.EXPIRES_AT) >>> 1]!
  for (let session = 0; session < state.scalars[SCALAR.SESSIONS_USED]!; session++) {
    if (state.sessions[session * SESSION_WORDS + SESSION.AGENT] !== agent + 1 || !isLive(state, session)) continue
    if (status === AgentStatus.REVOKED) broken('A', `session ${session} of agent ${agent} is live, the agent is revoked`)
    if (granted !== 0 && expiryOf(state, session) > granted) broken('A', `session ${session} outlasts the grant of agent ${agent}`)
  }
}

/** The list of one holder; `agent` -1: the account's own wallet. */
function checkSessionList(state: State, account: number, agent: number, met: Set<number>): void {
  const { sessions, sessionLinks } = state
  const named = agent < 0 ? `account ${account}` : `agent ${agent}`
  const { sessionsPerAccount } = state.genesis.limits
  const most = agent < 0 ? sessionsPerAccount : Math.min(sessionsPerAccount, AGENT_SESSIONS_MAX)
  let [previous, live, rows, newer] = [0, 0, 0, Infinity]
  let next = agent < 0
    ? state.profiles[account * PROFILE_WORDS + PROFILE.FIRST_SESSION]!
    : state.agents[agent * AGENT_WORDS + AGENT.FIRST_SESSION]!
  while (next !== 0) {
    const session = next - 1
    const row = session * SESSION_WORDS
    if (session >= state.scalars[SCALAR.SESSIONS_USED]! || met.has(session)) broken('A', `session ${session} is twice in lists`)
    met.add(session)
    if (sessions[row + SESSION.ACCOUNT] !== account || sessions[row + SESSION.AGENT] !== agent + 1) {
      broken('A', `session ${session} is in the list of ${named}`)
    }
    if (sessionLinks[session * SESSION_LINK_WORDS + SESSION_LINK.PREV] !== previous) broken('A', `session ${session} does not link back`)
    const createdAt = state.sessionsF64[(row + SESSION.CREATED_AT) >>> 1]!
    if (createdAt > newer) broken('A', `the sessions of ${named} are not newest first`)
    rows++
    if (isLive(state, session)) live++
    newer = createdAt
    previous = next
    next = sessionLinks[session * SESSION_LINK_WORDS + SESSION_LINK.NEXT]!
  }
  if (live > most) broken('A', `${named} has ${live} live sessions`)
  const bound = state.scalars[SCALAR.RULES]! >= 3 && most < state.genesis.limits.sessions
  if (bound && rows > 2 * most) broken('A', `${named} has ${rows} sessions, dead ones included`)
}
