/**
 * Accounts and sessions. An account is one wallet in one application; a session is an ed25519 key that may sign for it until it
 * expires or is revoked. A command names its session by row and generation, so a reused row is never mistaken for the old one.
 *
 * A session's holder is the account's own wallet or a delegated agent (agents.ts). A holder has a limit of live sessions; one more ends
 * its oldest. A session of an agent never lasts beyond what was granted.
 *
 * A key is the holder's who registered it for as long as its row is kept, {@link KEY_KEPT_MS} after the session's end at least: nobody may
 * register what another signs with, since his signed requests would then act for the wrong user. So that kept rows fill no table, a
 * holder has twice the rows of its limit; beyond them it gives up its own oldest, and the last tenth of the rows is for wallets with few.
 * Before the rules 1 a key and its row were free as soon as the session had ended.
 */
import { SESSION_ANSWER } from '../layout/answers.ts'
import { AgentGrant, OPEN_SESSION_COMMAND, ORDER_COMMAND } from '../layout/command.ts'
import { write, writeF64 } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import { ACCOUNT, AGENT, NOBODY, SCALAR, SESSION } from '../state/columns.ts'
import { emitResult } from '../events/emit.ts'
import { findAccount, findSession, indexSession, unindexSession } from '../state/indexes.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { accountRow, agentRow, get, getF64, now, scalar, sequence, sessionRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { createAccount, makeRoom, recordReferral } from './accounts.ts'
import { applicationRefusal } from './applications.ts'
import { useAccount } from './blank_accounts.ts'
import { consent } from './consent.ts'
import { endTwapsOf } from './twaps.ts'
import {
  endOf, endSession, giveUpSession, heldRows, isBounded, isDead, isListed, KEY_KEPT_MS, keepWithinLimit, keepsKeys, limitOf, linkSession,
  setExpiry, unlinkSession,
} from '../state/session_lists.ts'
import { storeDouble, storeWord, storeWords } from '../state/shared_words.ts'

/** Rows one OPEN_SESSION looks at for a dead session to reuse. */
const RECLAIM_PROBES = 1024
/** An account's wallet with fewer rows than this may use the last tenth of all. */
const FEW_ROWS = 4

/** The account of the command's session, or -1 when the session is unknown, reused, revoked or expired at sequenced time. */
export function sessionAccount(state: State, command: Views, base: number): number {
  const session = command.i32[base + ORDER_COMMAND.at.session]!
  if (session < 0 || session >= scalar(state, SCALAR.SESSIONS_USED)) return -1
  const row = sessionRow(state, session)
  if (get(state, row, SESSION.GENERATION) !== command.i32[base + ORDER_COMMAND.at.sessionGeneration]) return -1
  return getF64(state, row, SESSION.EXPIRES_AT) <= now(state) ? -1 : get(state, row, SESSION.ACCOUNT)
}

/**
 * The account of the command's session when its own wallet opened the session. Otherwise the refusal's number, negated: the session is
 * no good, or it is a delegated agent's, who may trade and nothing else.
 */
export function ownerAccount(state: State, command: Views, base: number): number {
  const account = sessionAccount(state, command, base)
  if (account < 0) return -REFUSALS.SESSION_INVALID.number
  const byAgent = get(state, sessionRow(state, command.i32[base + ORDER_COMMAND.at.session]), SESSION.AGENT) !== 0
  return byAgent ? -REFUSALS.AGENT_NOT_ALLOWED.number : account
}

/** Row of the delegated agent whose session the command names, or -1 when it is the account's own. The session was found to be good. */
export function sessionAgent(state: State, command: Views, base: number): number {
  return get(state, sessionRow(state, command.i32[base + ORDER_COMMAND.at.session]), SESSION.AGENT) - 1
}

/** Opens a session for (application, wallet), creating the account on its first sign-in. */
export function openSession(state: State, command: Views, base: number): void {
  const application = command.i32[base + OPEN_SESSION_COMMAND.at.application]!
  let account = findAccount(state, application, command.i32, base + OPEN_SESSION_COMMAND.at.address)
  const isNew = account < 0
  const closed = applicationRefusal(state, application)
  if (closed !== 0) return refuse(state, command, base, closed)
  const holder = findSession(state, command.i32, base + OPEN_SESSION_COMMAND.at.publicKey)
  if (isKeyTaken(state, holder, account, -1)) return refuse(state, command, base, REFUSALS.SESSION_KEY_IN_USE.number)
  // Accounts first: taking a row changes the table, so nothing may refuse after it.
  if (isNew && !makeRoom(state)) return refuse(state, command, base, REFUSALS.OVERLOADED.number)
  const session = takeRow(state, holder, account, -1)
  if (session < 0) return refuse(state, command, base, REFUSALS.OVERLOADED.number)
  if (isNew) account = createAccount(state, application, command.i32, base + OPEN_SESSION_COMMAND.at.address)
  else useAccount(state, account)
  writeSession(state, session, account, -1, application, command.i32, base + OPEN_SESSION_COMMAND.at.publicKey)
  // The text that the wallet signed may have named its master: then it agreed.
  const master = command.i32[base + OPEN_SESSION_COMMAND.at.master]! - 1
  if (master >= 0) consent(state, account, master)
  const referred = isNew && recordReferral(state, account, command, base)
  const at = answerSession(state, command, base, session, account, isNew ? 1 : 0)
  write(state.outbox, at, SESSION_ANSWER.at.referred, referred ? 1 : 0)
}

/** Extends the signing session to now + lifetime, at most to the end of the grant it stands on. */
export function refreshSession(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  if (account < 0) return refuse(state, command, base, REFUSALS.SESSION_INVALID.number)
  const session = command.i32[base + ORDER_COMMAND.at.session]!
  setExpiry(state, session, expiryOf(state, get(state, sessionRow(state, session), SESSION.AGENT) - 1))
  useAccount(state, account)
  answerSession(state, command, base, session, account, 0)
}

/** Revokes the signing session: from the next command on, nothing it signs is accepted, and the TWAP orders that it asked for end. */
export function revokeSession(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  if (account < 0) return refuse(state, command, base, REFUSALS.SESSION_INVALID.number)
  const session = command.i32[base + ORDER_COMMAND.at.session]!
  endSession(state, session)
  endTwapsOf(state, account, session, get(state, sessionRow(state, session), SESSION.GENERATION))
  answerSession(state, command, base, session, account, 0)
}

const expiresAt = (state: State, session: number): number => getF64(state, sessionRow(state, session), SESSION.EXPIRES_AT)

/** Until when a session of an agent (-1: of the account's own wallet) that is opened or refreshed now lasts, Unix ms. */
function expiryOf(state: State, agent: number): number {
  const expires = now(state) + state.genesis.limits.sessionLifetimeMs
  const granted = agent < 0 ? 0 : getF64(state, agentRow(state, agent), AGENT.EXPIRES_AT)
  return granted === 0 ? expires : Math.min(expires, granted)
}

/** True when the session `holder` (-1: none has the key) keeps its key and is somebody else's than the account's and agent's. */
export function isKeyTaken(state: State, holder: number, account: number, agent: number): boolean {
  if (holder < 0 || (isDead(state, holder) && !keepsKeys(state))) return false
  const row = sessionRow(state, holder)
  if (get(state, row, SESSION.ACCOUNT) === NOBODY) return false
  return get(state, row, SESSION.ACCOUNT) !== account || get(state, row, SESSION.AGENT) !== agent + 1
}

/** RESULT of a refused command that is no order's. An agent that did what only the owner may is told so. */
export function refuse(state: State, command: Views, base: number, code: number): void {
  emitResult(state, command, base, code, -1, code === REFUSALS.AGENT_NOT_ALLOWED.number ? AgentGrant.OPERATION : 0, 0)
}

/** RESULT of a command that opened, extended or ended a session; its place in the outbox is returned. */
export function answerSession(state: State, command: Views, base: number, session: number, account: number, isNew: number): number {
  const generation = get(state, sessionRow(state, session), SESSION.GENERATION)
  const at = emitResult(state, command, base, 0, account, session, generation)
  write(state.outbox, at, SESSION_ANSWER.at.isNew, isNew)
  writeF64(state.outbox, at, SESSION_ANSWER.at.expiresAt, Math.max(0, expiresAt(state, session)))
  const made = getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE)
  writeF64(state.outbox, at, SESSION_ANSWER.at.accountSequence, made)
  return at
}

/**
 * A row for another session of an account (-1: one that is yet to be made) or of its agent (-1: none): `holder`, the one with its key, or
 * another when no row has it (-1). -1 when there is none.
 */
export function takeRow(state: State, holder: number, account: number, agent: number): number {
  const { sessions } = state.genesis.limits
  if (holder >= 0) return keyedRow(state, holder, account, agent)
  if (!isBounded(state, agent)) return freeRow(state, sessions)
  const { count, oldestDead } = account < 0 ? NO_ROWS : heldRows(state, account, agent)
  if (count >= 2 * limitOf(state, agent) && oldestDead >= 0) return giveUp(state, oldestDead)
  const hasFew = agent < 0 && count < FEW_ROWS
  const session = freeRow(state, hasFew ? sessions : sessions - Math.floor(sessions / 10))
  return session < 0 && oldestDead >= 0 ? giveUp(state, oldestDead) : session
}

/** The row that has the key already. One that is in no list makes its new holder's longer, which gives up its oldest for it. */
function keyedRow(state: State, holder: number, account: number, agent: number): number {
  if (scalar(state, SCALAR.RULES) < 3 || !isBounded(state, agent) || account < 0 || isListed(state, holder)) return holder
  const { count, oldestDead } = heldRows(state, account, agent)
  if (count >= 2 * limitOf(state, agent)) giveUpSession(state, oldestDead)
  return holder
}

const NO_ROWS = { count: 0, oldestDead: -1 }

/** A row among the first `end` that was never used or whose session is dead and keeps nothing; -1 when the probes found none. */
function freeRow(state: State, end: number): number {
  const { scalars, genesis } = state
  if (scalars[SCALAR.SESSIONS_USED]! < end) return scalars[SCALAR.SESSIONS_USED]!++
  for (let probes = 0; probes < RECLAIM_PROBES; probes++) {
    const session = scalars[SCALAR.SESSIONS_CURSOR]!
    scalars[SCALAR.SESSIONS_CURSOR] = (session + 1) % genesis.limits.sessions
    if (session < end && session < scalars[SCALAR.SESSIONS_USED]! && isFree(state, session)) return giveUp(state, session)
  }
  return -1
}

function isFree(state: State, session: number): boolean {
  if (!keepsKeys(state)) return isDead(state, session)
  return endOf(state, session) + KEY_KEPT_MS <= now(state)
}

/** The row without its key, for another. */
function giveUp(state: State, session: number): number {
  unindexSession(state, session)
  return session
}

/**
 * Opens a session in row `session` with the public key at `words[at..]`, for an account or one of its agents (-1: none). It is the newest
 * of its holder; beyond the holder's limit the oldest ends.
 */
export function writeSession(
  state: State, session: number, account: number, agent: number, application: number, words: Int32Array, at: number,
): void {
  const row = sessionRow(state, session)
  const used = get(state, row, SESSION.GENERATION) !== 0
  const reused = used && findSession(state, words, at) === session
  if (used) unlinkSession(state, session)
  // A gateway that copies the row meanwhile sees the generation change and discards what it read (shared_words.ts).
  storeWord(state, row, SESSION.GENERATION, 0)
  storeWord(state, row, SESSION.ACCOUNT, account)
  setExpiry(state, session, expiryOf(state, agent))
  storeWords(state, row, SESSION.PUBLIC_KEY, 8, words, at)
  storeWord(state, row, SESSION.APPLICATION, application)
  storeWord(state, row, SESSION.AGENT, agent + 1)
  storeDouble(state, row, SESSION.CREATED_AT, now(state))
  storeWord(state, row, SESSION.GENERATION, generationOf(sequence(state)))
  if (!reused) indexSession(state, session)
  linkSession(state, session)
  keepWithinLimit(state, account, agent)
}

/** Low 32 bits of the sequence, never 0, which marks an unused row. */
const generationOf = (sequence: number): number => (sequence % 0x1_0000_0000 | 0) || 1
