/**
 * Sessions by holder. A holder is an account, for the sessions of its own wallet, or a delegated agent; each has a list of its sessions,
 * newest first, through the links in column `sessionLinks`.
 *
 * Every live session is in the list of its holder. A dead one leaves it when its row is used again, when its holder opens another, or
 * when its agent is revoked; until then it stays, so a list of a holder with a limit never holds more than that limit and those that
 * died since it was last opened. A row outside any list has no links, and no list begins with it.
 */
import {
  AGENT, AGENT_WORDS, CLOCK, PROFILE, PROFILE_WORDS, SESSION, SESSION_LINK, SESSION_LINK_WORDS, SESSION_WORDS,
} from '../engine/columns.ts'
import type { State } from '../engine/state.ts'

/** Live sessions of one agent, at most, when the genesis does not say fewer. */
export const AGENT_SESSIONS_MAX = 16

const { NEXT, PREV } = SESSION_LINK

/** Row + 1 of the newest session of a holder; `agent` -1: the account itself. */
const firstOf = (state: State, account: number, agent: number): number =>
  agent < 0 ? state.profiles[account * PROFILE_WORDS + PROFILE.FIRST_SESSION]! : state.agents[agent * AGENT_WORDS + AGENT.FIRST_SESSION]!

function setFirst(state: State, account: number, agent: number, first: number): void {
  if (agent < 0) state.profiles[account * PROFILE_WORDS + PROFILE.FIRST_SESSION] = first
  else state.agents[agent * AGENT_WORDS + AGENT.FIRST_SESSION] = first
}

const isDead = (state: State, session: number): boolean =>
  state.sessionsF64[(session * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1]! <= state.clock[CLOCK.TIME]!

function endSession(state: State, session: number): void {
  state.sessionsF64[(session * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = 0
}

/** Puts a session that was just opened at the head of its holder's list. */
export function linkSession(state: State, session: number): void {
  const { sessions, sessionLinks } = state
  const account = sessions[session * SESSION_WORDS + SESSION.ACCOUNT]!
  const agent = sessions[session * SESSION_WORDS + SESSION.AGENT]! - 1
  const first = firstOf(state, account, agent)
  sessionLinks[session * SESSION_LINK_WORDS + NEXT] = first
  sessionLinks[session * SESSION_LINK_WORDS + PREV] = 0
  if (first !== 0) sessionLinks[(first - 1) * SESSION_LINK_WORDS + PREV] = session + 1
  setFirst(state, account, agent, session + 1)
}

/** Takes a session out of its holder's list, when it is in it. */
export function unlinkSession(state: State, session: number): void {
  const { sessions, sessionLinks } = state
  const account = sessions[session * SESSION_WORDS + SESSION.ACCOUNT]!
  const agent = sessions[session * SESSION_WORDS + SESSION.AGENT]! - 1
  const row = session * SESSION_LINK_WORDS
  const next = sessionLinks[row + NEXT]!
  const prev = sessionLinks[row + PREV]!
  if (prev !== 0) sessionLinks[(prev - 1) * SESSION_LINK_WORDS + NEXT] = next
  else if (firstOf(state, account, agent) === session + 1) setFirst(state, account, agent, next)
  else return
  if (next !== 0) sessionLinks[(next - 1) * SESSION_LINK_WORDS + PREV] = prev
  sessionLinks[row + NEXT] = 0
  sessionLinks[row + PREV] = 0
}

/**
 * Ends the oldest live sessions of a holder beyond its limit and drops the dead from its list. A limit as large as the number of rows
 * binds nobody, and nothing is walked.
 */
export function keepWithinLimit(state: State, account: number, agent: number): void {
  const { sessions, sessionsPerAccount } = state.genesis.limits
  if (agent < 0 && sessionsPerAccount >= sessions) return
  const limit = agent < 0 ? sessionsPerAccount : Math.min(AGENT_SESSIONS_MAX, sessionsPerAccount)
  let live = 0
  let next = firstOf(state, account, agent)
  while (next !== 0) {
    const session = next - 1
    next = state.sessionLinks[session * SESSION_LINK_WORDS + NEXT]!
    if (isDead(state, session)) unlinkSession(state, session)
    else if (++live > limit) {
      endSession(state, session)
      unlinkSession(state, session)
    }
  }
}

/** Ends every session of an agent and empties its list. */
export function endSessionsOf(state: State, agent: number): void {
  for (let first = firstOf(state, -1, agent); first !== 0; first = firstOf(state, -1, agent)) {
    endSession(state, first - 1)
    unlinkSession(state, first - 1)
  }
}

/** Lets no session of an agent last beyond `until`, Unix ms. */
export function capSessionsOf(state: State, agent: number, until: number): void {
  let next = firstOf(state, -1, agent)
  while (next !== 0) {
    const at = ((next - 1) * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1
    if (state.sessionsF64[at]! > until) state.sessionsF64[at] = until
    next = state.sessionLinks[(next - 1) * SESSION_LINK_WORDS + NEXT]!
  }
}
