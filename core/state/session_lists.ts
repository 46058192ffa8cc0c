/**
 * Sessions by holder. A holder is an account, for the sessions of its own wallet, or a delegated agent; each has a list of its sessions,
 * newest first, through the links in column `sessionLinks`.
 *
 * Every live session is in the list of its holder, and so is every dead one that keeps its key (sessions.ts): it leaves when its row is
 * used again, or when its agent's row is another agent's. A holder with a limit has at most twice that many rows: since the rules 3 also
 * when it opens one with the key of a row that is in no list, which before made its list longer. Before the rules 1 a dead one left also
 * when its holder opened another and when its agent was revoked. A row outside any list has no links, and no list begins with it.
 */
import { AGENT, NOBODY, PROFILE, SCALAR, SESSION, SESSION_LINK } from './columns.ts'
import { storeDouble, storeWord } from './shared_words.ts'
import { agentRow, get, getF64, linkRow, now, profileRow, scalar, sessionRow, set } from './rows.ts'
import type { State } from './state.ts'

/** Live sessions of one agent, at most, when the genesis does not say fewer. */
export const AGENT_SESSIONS_MAX = 16

/** How long a key stays its holder's after the end of its session. */
export const KEY_KEPT_MS = 86_400_000

const { NEXT, PREV } = SESSION_LINK

/** Row + 1 of the newest session of a holder; `agent` -1: the account itself. */
const firstOf = (state: State, account: number, agent: number): number =>
  agent < 0 ? get(state, profileRow(state, account), PROFILE.FIRST_SESSION) : get(state, agentRow(state, agent), AGENT.FIRST_SESSION)

function setFirst(state: State, account: number, agent: number, first: number): void {
  if (agent < 0) set(state, profileRow(state, account), PROFILE.FIRST_SESSION, first)
  else set(state, agentRow(state, agent), AGENT.FIRST_SESSION, first)
}

export const isDead = (state: State, session: number): boolean =>
  getF64(state, sessionRow(state, session), SESSION.EXPIRES_AT) <= now(state)

/** Whether a session that ended keeps its key and its place in the list. */
export const keepsKeys = (state: State): boolean => scalar(state, SCALAR.RULES) >= 1

/** When a session ended, or will, Unix ms. */
export const endOf = (state: State, session: number): number =>
  Math.abs(getF64(state, sessionRow(state, session), SESSION.EXPIRES_AT))

/** Ends a live session now. */
export function endSession(state: State, session: number): void {
  setExpiry(state, session, keepsKeys(state) ? -now(state) : 0)
}

/** Gateways read it at any time (shared_words.ts), as all of a session. */
export function setExpiry(state: State, session: number, time: number): void {
  storeDouble(state, sessionRow(state, session), SESSION.EXPIRES_AT, time)
}

/**
 * When keys begin to be kept: of the sessions that are dead by then nobody knows for sure when they ended, nor whose agent's they were.
 * They ended now, as no agent's, and are in no list.
 */
export function noteEnds(state: State): void {
  for (let session = 0; session < scalar(state, SCALAR.SESSIONS_USED); session++) {
    const row = sessionRow(state, session)
    if (get(state, row, SESSION.GENERATION) === 0 || !isDead(state, session)) continue
    endSession(state, session)
    unlinkSession(state, session)
    if (get(state, row, SESSION.AGENT) !== 0) storeWord(state, row, SESSION.AGENT, -1)
  }
}

/** Puts a session that was just opened at the head of its holder's list. */
export function linkSession(state: State, session: number): void {
  const account = get(state, sessionRow(state, session), SESSION.ACCOUNT)
  const agent = get(state, sessionRow(state, session), SESSION.AGENT) - 1
  const first = firstOf(state, account, agent)
  set(state, linkRow(state, session), NEXT, first)
  set(state, linkRow(state, session), PREV, 0)
  if (first !== 0) set(state, linkRow(state, first - 1), PREV, session + 1)
  setFirst(state, account, agent, session + 1)
}

/** Takes a session out of its holder's list, when it is in it. */
export function unlinkSession(state: State, session: number): void {
  const account = get(state, sessionRow(state, session), SESSION.ACCOUNT)
  if (account === NOBODY) return
  const agent = get(state, sessionRow(state, session), SESSION.AGENT) - 1
  const row = linkRow(state, session)
  const next = get(state, row, NEXT)
  const prev = get(state, row, PREV)
  if (prev !== 0) set(state, linkRow(state, prev - 1), NEXT, next)
  else if (firstOf(state, account, agent) === session + 1) setFirst(state, account, agent, next)
  else return
  if (next !== 0) set(state, linkRow(state, next - 1), PREV, prev)
  set(state, row, NEXT, 0)
  set(state, row, PREV, 0)
}

/** Takes a session that keeps its key no longer from its holder: both are anybody's. */
export function releaseSession(state: State, session: number): void {
  unlinkSession(state, session)
  storeWord(state, sessionRow(state, session), SESSION.ACCOUNT, NOBODY)
}

/** The same with one that keeps its key: it keeps it no longer. */
export function giveUpSession(state: State, session: number): void {
  releaseSession(state, session)
  setExpiry(state, session, 0)
}

/** True when a session is in the list of its holder. */
export function isListed(state: State, session: number): boolean {
  if (get(state, linkRow(state, session), PREV) !== 0) return true
  const account = get(state, sessionRow(state, session), SESSION.ACCOUNT)
  if (account === NOBODY) return false
  return firstOf(state, account, get(state, sessionRow(state, session), SESSION.AGENT) - 1) === session + 1
}

/** Live sessions that an account's wallet, or an agent, may have. */
export function limitOf(state: State, agent: number): number {
  const { sessionsPerAccount } = state.genesis.limits
  return agent < 0 ? sessionsPerAccount : Math.min(AGENT_SESSIONS_MAX, sessionsPerAccount)
}

/** How many rows a holder has, and which of them has been dead for longest in its list; -1: none. */
export function heldRows(state: State, account: number, agent: number): { count: number; oldestDead: number } {
  let [count, oldestDead] = [0, -1]
  for (let next = firstOf(state, account, agent); next !== 0; next = get(state, linkRow(state, next - 1), NEXT)) {
    count++
    if (isDead(state, next - 1)) oldestDead = next - 1
  }
  return { count, oldestDead }
}

/** Whether a holder has at most twice the rows of its limit; one whose limit is as large as the number of rows is bound by nothing. */
export const isBounded = (state: State, agent: number): boolean => keepsKeys(state) && limitOf(state, agent) < state.genesis.limits.sessions

/** When lists begin to be bounded whatever came to them: those that are longer give up their oldest dead. Linear, once. */
export function shortenLists(state: State): void {
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) shorten(state, account, -1)
  for (let agent = 0; agent < scalar(state, SCALAR.AGENTS_USED); agent++) shorten(state, -1, agent)
}

function shorten(state: State, account: number, agent: number): void {
  if (!isBounded(state, agent)) return
  let [count, last] = [0, 0]
  for (let next = firstOf(state, account, agent); next !== 0; next = get(state, linkRow(state, next - 1), NEXT)) {
    count++
    last = next
  }
  for (let session = last - 1; count > 2 * limitOf(state, agent) && session >= 0; ) {
    const newer = get(state, linkRow(state, session), PREV) - 1
    if (isDead(state, session)) {
      giveUpSession(state, session)
      count--
    }
    session = newer
  }
}

/**
 * Ends the oldest live sessions of a holder beyond its limit, and drops the dead from its list where they keep nothing. A limit as large
 * as the number of rows binds nobody, and nothing is walked.
 */
export function keepWithinLimit(state: State, account: number, agent: number): void {
  if (agent < 0 && limitOf(state, agent) >= state.genesis.limits.sessions) return
  const limit = limitOf(state, agent)
  const kept = keepsKeys(state)
  let live = 0
  let next = firstOf(state, account, agent)
  while (next !== 0) {
    const session = next - 1
    next = get(state, linkRow(state, session), NEXT)
    const dead = isDead(state, session)
    if (!dead && ++live <= limit) continue
    if (!dead) endSession(state, session)
    if (!kept) unlinkSession(state, session)
  }
}

/** Ends every session of an agent; where ended ones keep nothing, its list is empty then. */
export function endSessionsOf(state: State, agent: number): void {
  const kept = keepsKeys(state)
  let next = firstOf(state, -1, agent)
  while (next !== 0) {
    const session = next - 1
    next = get(state, linkRow(state, session), NEXT)
    if (!kept || !isDead(state, session)) endSession(state, session)
    if (!kept) unlinkSession(state, session)
  }
}

/** The row of an agent goes to another one: the sessions that ended with it keep their keys, and are no agent's. */
export function disownSessions(state: State, agent: number): void {
  for (let first = firstOf(state, -1, agent); first !== 0; first = firstOf(state, -1, agent)) {
    unlinkSession(state, first - 1)
    storeWord(state, sessionRow(state, first - 1), SESSION.AGENT, -1)
  }
}

/** Lets no session of an agent last beyond `until`, Unix ms. */
export function capSessionsOf(state: State, agent: number, until: number): void {
  let next = firstOf(state, -1, agent)
  while (next !== 0) {
    if (getF64(state, sessionRow(state, next - 1), SESSION.EXPIRES_AT) > until) setExpiry(state, next - 1, until)
    next = get(state, linkRow(state, next - 1), NEXT)
  }
}
