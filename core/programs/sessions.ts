/**
 * Accounts and sessions. An account is one wallet in one application; a session is an ed25519 key that may sign for it until it
 * expires or is revoked. A command names its session by row and generation, so a reused row is never mistaken for the old one.
 */
import { AgentGrant, OPEN_SESSION_COMMAND, ORDER_COMMAND } from '../layout/command.ts'
import { RESULT } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { ACCOUNT, ACCOUNT_WORDS, ADDRESS_BITS, CLOCK, CLOCK_AT, SCALAR, SCALARS_AT, SESSION, SESSION_WORDS } from '../engine/columns.ts'
import { emitResult } from '../engine/emit.ts'
import { findAccount, findSession, indexSession, unindexSession } from '../engine/indexes.ts'
import { REFUSALS } from '../engine/refusals.ts'
import type { State } from '../engine/state.ts'
import { accountsAreFull, createAccount } from './accounts.ts'

const C = ORDER_COMMAND.at
const O = OPEN_SESSION_COMMAND.at
// Local constants for the one function that every command runs: the compiler folds them; an imported binding is read each time.
const ADDRESS = ADDRESS_BITS
const { session: SESSION_FIELD, sessionGeneration: GENERATION_FIELD } = C
const { GENERATION, EXPIRES_AT, ACCOUNT: ACCOUNT_OF_SESSION } = SESSION
const SESSION_ROW = SESSION_WORDS
const SESSIONS_USED = SCALARS_AT + SCALAR.SESSIONS_USED
const TIME = CLOCK_AT + CLOCK.TIME
/** Rows one OPEN_SESSION looks at for a dead session to reuse. */
const RECLAIM_PROBES = 1024

/** The account of the command's session, or -1 when the session is unknown, reused, revoked or expired at sequenced time. */
export function sessionAccount(state: State, command: Views, base: number): number {
  base &= ADDRESS
  const { i32, f64 } = state
  const session = command.i32[base + SESSION_FIELD]!
  if (session < 0 || session >= i32[SESSIONS_USED]!) return -1
  const row = (state.sessionsAt + session * SESSION_ROW) & ADDRESS
  if (i32[row + GENERATION] !== command.i32[base + GENERATION_FIELD]) return -1
  return f64[(row + EXPIRES_AT) >>> 1]! <= f64[TIME]! ? -1 : i32[row + ACCOUNT_OF_SESSION]!
}

/**
 * The account of the command's session when its own wallet opened the session. Otherwise the refusal's number, negated: the session is
 * no good, or it is a delegated agent's, who may trade and nothing else.
 */
export function ownerAccount(state: State, command: Views, base: number): number {
  const account = sessionAccount(state, command, base)
  if (account < 0) return -REFUSALS.SESSION_INVALID.number
  const byAgent = state.sessions[command.i32[base + C.session]! * SESSION_WORDS + SESSION.AGENT] !== 0
  return byAgent ? -REFUSALS.AGENT_NOT_ALLOWED.number : account
}

/** Opens a session for (application, wallet), creating the account on its first sign-in. */
export function openSession(state: State, command: Views, base: number): void {
  const application = command.i32[base + O.application]!
  let account = findAccount(state, application, command.i32, base + O.address)
  const isNew = account < 0
  if (application < 0 || application >= state.genesis.applications.length) return refuse(state, command, base, REFUSALS.NOT_FOUND.number)
  const holder = findSession(state, command.i32, base + O.publicKey)
  const live = holder >= 0 && expiresAt(state, holder) > state.clock[CLOCK.TIME]!
  if (live && state.sessions[holder * SESSION_WORDS + SESSION.ACCOUNT] !== account) {
    return refuse(state, command, base, REFUSALS.SESSION_KEY_IN_USE.number)
  }
  // Accounts first: taking a row changes the table, so nothing may refuse after it.
  if (isNew && accountsAreFull(state)) return refuse(state, command, base, REFUSALS.OVERLOADED.number)
  const session = holder >= 0 ? holder : freeRow(state)
  if (session < 0) return refuse(state, command, base, REFUSALS.OVERLOADED.number)
  if (isNew) account = createAccount(state, application, command.i32, base + O.address)
  writeSession(state, session, account, application, command, base)
  answer(state, command, base, session, account, isNew ? 1 : 0)
}

/** Extends the signing session to now + lifetime. */
export function refreshSession(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  if (account < 0) return refuse(state, command, base, REFUSALS.SESSION_INVALID.number)
  const session = command.i32[base + C.session]!
  const expires = state.clock[CLOCK.TIME]! + state.genesis.limits.sessionLifetimeMs
  state.sessionsF64[(session * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = expires
  answer(state, command, base, session, account, 0)
}

/** Revokes the signing session: from the next command on, nothing it signs is accepted. */
export function revokeSession(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  if (account < 0) return refuse(state, command, base, REFUSALS.SESSION_INVALID.number)
  const session = command.i32[base + C.session]!
  state.sessionsF64[(session * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = 0
  answer(state, command, base, session, account, 0)
}

const expiresAt = (state: State, session: number): number => state.sessionsF64[(session * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1]!

/** RESULT of a refused command that is no order's. An agent that did what only the owner may is told so. */
export function refuse(state: State, command: Views, base: number, code: number): void {
  emitResult(state, command, base, code, -1, code === REFUSALS.AGENT_NOT_ALLOWED.number ? AgentGrant.OPERATION : 0, 0)
}

function answer(state: State, command: Views, base: number, session: number, account: number, isNew: number): void {
  const generation = state.sessions[session * SESSION_WORDS + SESSION.GENERATION]!
  const at = emitResult(state, command, base, 0, account, session, generation)
  state.outbox.i32[at + RESULT.at.trades] = isNew
  state.outbox.f64[(at + RESULT.at.expiresAt) >>> 1] = expiresAt(state, session)
  state.outbox.f64[(at + RESULT.at.originalSequence) >>> 1] = state.accountsF64[(account * ACCOUNT_WORDS + ACCOUNT.CREATED_SEQUENCE) >>> 1]!
}

/** A row that was never used or whose session is dead; -1 when the probes found none. */
function freeRow(state: State): number {
  const { scalars } = state
  if (scalars[SCALAR.SESSIONS_USED]! < state.genesis.limits.sessions) return scalars[SCALAR.SESSIONS_USED]!++
  for (let probes = 0; probes < RECLAIM_PROBES; probes++) {
    const session = scalars[SCALAR.SESSIONS_CURSOR]!
    scalars[SCALAR.SESSIONS_CURSOR] = (session + 1) % state.genesis.limits.sessions
    if (expiresAt(state, session) <= state.clock[CLOCK.TIME]!) {
      unindexSession(state, session)
      return session
    }
  }
  return -1
}

function writeSession(state: State, session: number, account: number, application: number, command: Views, base: number): void {
  const { sessions, sessionsF64, clock } = state
  const row = session * SESSION_WORDS
  const reused = sessions[row + SESSION.GENERATION] !== 0 && findSession(state, command.i32, base + O.publicKey) === session
  // A gateway that copies the row meanwhile sees the generation change and discards what it read.
  Atomics.store(sessions, row + SESSION.GENERATION, 0)
  sessions[row + SESSION.ACCOUNT] = account
  sessionsF64[(row + SESSION.EXPIRES_AT) >>> 1] = clock[CLOCK.TIME]! + state.genesis.limits.sessionLifetimeMs
  for (let word = 0; word < 8; word++) sessions[row + SESSION.PUBLIC_KEY + word] = command.i32[base + O.publicKey + word]!
  sessions[row + SESSION.APPLICATION] = application
  sessionsF64[(row + SESSION.CREATED_AT) >>> 1] = clock[CLOCK.TIME]!
  Atomics.store(sessions, row + SESSION.GENERATION, generationOf(clock[CLOCK.SEQUENCE]!))
  if (!reused) indexSession(state, session)
}

/** Low 32 bits of the sequence, never 0, which marks an unused row. */
const generationOf = (sequence: number): number => (sequence % 0x1_0000_0000 | 0) || 1
