/**
 * Delegated agents: wallets that sign in for somebody else's account and may trade there inside what its owner granted (grants.ts).
 *
 * An agent is a row in its owner's list, newest first. Its identity is (row, sequence that made it). The same wallet granted again is
 * the same agent with new grants, active again; what it was granted before counts no more. When the list or the table is full, the
 * oldest revoked row is given to the new agent, which then is another identity.
 *
 * A revocation ends three things in one command: the grant, the sessions, and the resting orders that the agent placed, one
 * ORDER_ENDED each; on halted pairs and wherever else too, because the agent's power ends everywhere. Trades stay, and so do the
 * orders that the owner replaced meanwhile: they are the owner's. When a grant expires its sessions end at that moment; orders stay.
 *
 * A session of an agent is opened by its own wallet and belongs to the owner's account. The owner's wallet alone sets and ends grants:
 * an agent cannot grant.
 */
import {
  AGENT_MARGIN_ACCOUNTS_MAX, AGENT_OPEN_ORDERS_MAX, AgentMargin, Flag, OPEN_DELEGATED_SESSION_COMMAND, ORDER_COMMAND, REVOKE_AGENT_COMMAND,
  UPSERT_AGENT_COMMAND,
} from '../layout/command.ts'
import { AGENT_ANSWER, DELEGATED_ANSWER } from '../layout/answers.ts'
import { Reason, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { ACCOUNT, AGENT, AGENT_MARGIN, AGENT_MARGIN_WORDS, AGENT_WORDS, AgentStatus, ORDER, PROFILE, SCALAR } from '../state/columns.ts'
import { emitResult } from '../events/emit.ts'
import { findAccount, findSession, sameWords } from '../state/indexes.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { countForFamily, familyMayTake } from '../state/shares.ts'
import {
  accountRow, add, agentMarginRow, agentRow, clearWords, get, getF64, now, orderRow, pairCount, profileRow, scalar, sequence, set,
  setF64, setI64, setWords, wordOf,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { touchAccount } from '../state/balances.ts'
import { endOrder } from '../book/end.ts'
import { findMarginAccount } from '../margin/buckets.ts'
import { applicationRefusal } from './applications.ts'
import { endConditionalsOf } from './conditionals.ts'
import { keepAccount } from '../state/blank_list.ts'
import { answerSession, isKeyTaken, ownerAccount, refuse, takeRow as takeSessionRow, writeSession } from './sessions.ts'
import { capSessionsOf, disownSessions, endSessionsOf } from '../state/session_lists.ts'

const U = UPSERT_AGENT_COMMAND.at
const D = OPEN_DELEGATED_SESSION_COMMAND.at
const ADDRESS_LENGTH = 5
const TEXT_LENGTH = 8
/** Largest time a date can have, Unix ms. */
const TIME_MAX = 8.64e15
/** All bits of the bytes of `grants`: actions, order types, times in force, AgentMargin. */
const GRANT_BITS = 0x0f | (0x03 << 8) | (0x07 << 16) | (0x03 << 24)

/**
 * Grants a wallet what the command says. Refusals: SESSION_INVALID; AGENT_NOT_ALLOWED for an agent's session; OPERATIONS_BLOCKED;
 * VALIDATION_ERROR for grants out of range, none at all, a time that is over, or the owner's own wallet; NOT_FOUND for a margin account
 * that is not the owner's, or is closed; TOO_MANY_AGENTS; OVERLOADED.
 */
export function upsertAgent(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  let code = account < 0 ? -account : checkGrants(state, account, command, base)
  let agent = code === 0 ? findAgent(state, account, command.i32, base + U.address) : -1
  if (code === 0 && agent < 0) {
    agent = takeRow(state, account)
    if (agent < 0) code = -agent
    else writeIdentity(state, agent, account, command, base)
  }
  if (code !== 0) return refuse(state, command, base, code)
  writeGrants(state, agent, command, base)
  keepAccount(state, account)
  touchAccount(state, account)
  const at = emitResult(state, command, base, 0, account, agent, 0)
  state.outbox.f64[(at + AGENT_ANSWER.at.createdSequence) >>> 1] = createdSequence(state, agent)
}

/**
 * Ends the grant, the sessions, the resting and the conditional orders of the caller's agent. REVOKED_ANSWER. NOT_FOUND: no such active
 * agent of the caller.
 */
export function revokeAgent(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  const agent = command.i32[base + REVOKE_AGENT_COMMAND.at.agent]!
  const sequence = command.f64[(base + REVOKE_AGENT_COMMAND.at.createdSequence) >>> 1]!
  let code = account < 0 ? -account : blocked(state)
  if (code === 0 && !isActiveAgentOf(state, account, agent, sequence)) code = REFUSALS.NOT_FOUND.number
  if (code !== 0) return refuse(state, command, base, code)
  set(state, agentRow(state, agent), AGENT.STATUS, AgentStatus.REVOKED)
  setF64(state, agentRow(state, agent), AGENT.UPDATED_AT, now(state))
  endSessionsOf(state, agent)
  const ended = endOrdersOf(state, account, agent, command.u32[base + ORDER_COMMAND.at.correlation]!)
  endConditionalsOf(state, account, agent)
  touchAccount(state, account)
  emitResult(state, command, base, 0, account, agent, ended)
}

/**
 * Opens a session of an agent for the account of (application, owner). AGENT_NOT_ALLOWED: no such account, or it has no active agent
 * with this wallet. DELEGATED_ANSWER.
 */
export function openDelegatedSession(state: State, command: Views, base: number): void {
  const application = command.i32[base + D.application]!
  const account = findAccount(state, application, command.i32, base + D.owner)
  const agent = account < 0 ? -1 : findAgent(state, account, command.i32, base + D.agent)
  let code = applicationRefusal(state, application)
  if (code === 0 && (agent < 0 || !isGranted(state, agent))) code = REFUSALS.AGENT_NOT_ALLOWED.number
  const holder = findSession(state, command.i32, base + D.publicKey)
  if (code === 0 && isKeyTaken(state, holder, account, agent)) code = REFUSALS.SESSION_KEY_IN_USE.number
  const session = code !== 0 ? -1 : takeSessionRow(state, holder, account, agent)
  if (code === 0 && session < 0) code = REFUSALS.OVERLOADED.number
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  writeSession(state, session, account, agent, application, command.i32, base + D.publicKey)
  const at = answerSession(state, command, base, session, account, 0)
  state.outbox.f64[(at + DELEGATED_ANSWER.at.agentSequence) >>> 1] = createdSequence(state, agent)
  state.outbox.i32[at + DELEGATED_ANSWER.at.agent] = agent
}

const blocked = (state: State): number => (scalar(state, SCALAR.MAINTENANCE) === 0 ? 0 : REFUSALS.OPERATIONS_BLOCKED.number)
const statusOf = (state: State, agent: number): number => get(state, agentRow(state, agent), AGENT.STATUS)
const createdSequence = (state: State, agent: number): number =>
  getF64(state, agentRow(state, agent), AGENT.CREATED_SEQUENCE)
const expiresAt = (state: State, agent: number): number => getF64(state, agentRow(state, agent), AGENT.EXPIRES_AT)

/** Active and not expired. */
const isGranted = (state: State, agent: number): boolean =>
  statusOf(state, agent) === AgentStatus.ACTIVE && (expiresAt(state, agent) === 0 || expiresAt(state, agent) > now(state))

function isActiveAgentOf(state: State, account: number, agent: number, sequence: number): boolean {
  if (agent < 0 || agent >= state.scalars[SCALAR.AGENTS_USED]! || createdSequence(state, agent) !== sequence) return false
  return get(state, agentRow(state, agent), AGENT.OWNER) === account && statusOf(state, agent) === AgentStatus.ACTIVE
}

/** The agent of an account with the wallet at `words[at..]`, revoked or not, or -1. */
function findAgent(state: State, account: number, words: Int32Array, at: number): number {
  let next = get(state, profileRow(state, account), PROFILE.FIRST_AGENT)
  while (next !== 0) {
    const row = agentRow(state, next - 1)
    if (sameWords(state.i32, wordOf(row, AGENT.ADDRESS), words, at, ADDRESS_LENGTH)) return next - 1
    next = get(state, row, AGENT.NEXT)
  }
  return -1
}

/** Everything that can refuse the grants themselves. */
function checkGrants(state: State, account: number, command: Views, base: number): number {
  const { i32, f64, i64 } = command
  const code = blocked(state)
  if (code !== 0) return code
  const grants = i32[base + U.grants]!
  const until = f64[(base + U.expiresAt) >>> 1]!
  const openOrders = i32[base + U.maxOpenOrders]!
  const inRange = (grants & ~GRANT_BITS) === 0 && (grants & 0xff) !== 0 && i64[(base + U.maxNotional) >>> 1]! >= 0n &&
    i32[base + U.maxLeverage]! >= 0 && openOrders >= 0 && openOrders <= AGENT_OPEN_ORDERS_MAX &&
    (until === 0 || (Number.isInteger(until) && until > now(state) && until <= TIME_MAX))
  const own = sameWords(state.i32, wordOf(accountRow(state, account), ACCOUNT.ADDRESS), i32, base + U.address, ADDRESS_LENGTH)
  if (!inRange || own || !namesPairs(state, i32, base + U.pairs)) return REFUSALS.VALIDATION_ERROR.number
  return grants >>> 24 === 0 || grants >>> 24 === AgentMargin.NONE ? 0 : checkMarginAccounts(state, account, command, base, grants >>> 24)
}

/** Margin accounts that single ones are granted of: all are the owner's and open, and there is one at least. */
function checkMarginAccounts(state: State, account: number, { f64, i32 }: Views, base: number, granted: number): number {
  if (granted !== AgentMargin.LISTED || state.collateralAsset < 0) return REFUSALS.VALIDATION_ERROR.number
  let named = 0
  while (named < AGENT_MARGIN_ACCOUNTS_MAX && f64[((base + U.marginSequences) >>> 1) + named]! !== 0) {
    const row = i32[base + U.marginRows + named]!
    const sequence = f64[((base + U.marginSequences) >>> 1) + named]!
    const theirs = row < 0
      ? row === -1 - account && sequence === getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE)
      : findMarginAccount(state, account, row, sequence) >= 0
    if (!theirs) return REFUSALS.NOT_FOUND.number
    named++
  }
  return named > 0 ? 0 : REFUSALS.VALIDATION_ERROR.number
}

/** True when the bits at `words[at..]` name one pair at least, and none that does not exist. */
function namesPairs(state: State, words: Int32Array, at: number): boolean {
  let named = 0
  for (let pair = 0; pair < TEXT_LENGTH * 32; pair++) {
    if (((words[at + (pair >>> 5)]! >>> (pair & 31)) & 1) === 0) continue
    if (pair >= pairCount(state)) return false
    named++
  }
  return named > 0
}

/** A row for a new agent at the head of the account's list, or the refusal's number, negated. */
function takeRow(state: State, account: number): number {
  const { scalars, genesis } = state
  const profile = profileRow(state, account)
  const used = scalars[SCALAR.AGENTS_USED]!
  const mayHaveMore = get(state, profile, PROFILE.AGENTS) < genesis.limits.agentsPerAccount
  let agent = -1
  if (mayHaveMore && familyMayTake(state, account, ACCOUNT.FAMILY_AGENTS, used, genesis.limits.agents)) {
    agent = scalars[SCALAR.AGENTS_USED]!++
    add(state, profile, PROFILE.AGENTS, 1)
    countForFamily(state, account, ACCOUNT.FAMILY_AGENTS)
  } else {
    agent = takeRevoked(state, account)
    const full = mayHaveMore && used >= genesis.limits.agents
    if (agent < 0) return -(full ? REFUSALS.OVERLOADED.number : REFUSALS.TOO_MANY_AGENTS.number)
  }
  const row = agentRow(state, agent)
  clearWords(state, row, 0, AGENT_WORDS)
  set(state, row, AGENT.NEXT, get(state, profile, PROFILE.FIRST_AGENT))
  set(state, profile, PROFILE.FIRST_AGENT, agent + 1)
  return agent
}

/** Takes the oldest revoked agent out of the account's list; -1: none is. Its sessions and orders ended with it. */
function takeRevoked(state: State, account: number): number {
  let found = -1
  let before = -1
  let previous = -1
  let each = get(state, profileRow(state, account), PROFILE.FIRST_AGENT) - 1
  while (each >= 0) {
    if (statusOf(state, each) === AgentStatus.REVOKED) [found, before] = [each, previous]
    previous = each
    each = get(state, agentRow(state, each), AGENT.NEXT) - 1
  }
  if (found < 0) return -1
  const next = get(state, agentRow(state, found), AGENT.NEXT)
  if (before < 0) set(state, profileRow(state, account), PROFILE.FIRST_AGENT, next)
  else set(state, agentRow(state, before), AGENT.NEXT, next)
  disownSessions(state, found)
  return found
}

function writeIdentity(state: State, agent: number, account: number, command: Views, base: number): void {
  const row = agentRow(state, agent)
  set(state, row, AGENT.OWNER, account)
  setWords(state, row, AGENT.ADDRESS, ADDRESS_LENGTH, command.i32, base + U.address)
  setF64(state, row, AGENT.CREATED_SEQUENCE, sequence(state))
  setF64(state, row, AGENT.CREATED_AT, now(state))
}

function writeGrants(state: State, agent: number, command: Views, base: number): void {
  const row = agentRow(state, agent)
  const until = command.f64[(base + U.expiresAt) >>> 1]!
  set(state, row, AGENT.STATUS, AgentStatus.ACTIVE)
  set(state, row, AGENT.GRANTS, command.i32[base + U.grants]!)
  set(state, row, AGENT.MAX_LEVERAGE, command.i32[base + U.maxLeverage]!)
  set(state, row, AGENT.MAX_OPEN_ORDERS, command.i32[base + U.maxOpenOrders]!)
  setI64(state, row, AGENT.MAX_NOTIONAL, command.i64[(base + U.maxNotional) >>> 1]!)
  setF64(state, row, AGENT.EXPIRES_AT, until)
  setF64(state, row, AGENT.UPDATED_AT, now(state))
  setWords(state, row, AGENT.NAME, TEXT_LENGTH, command.i32, base + U.name)
  setWords(state, row, AGENT.PAIRS, TEXT_LENGTH, command.i32, base + U.pairs)
  if (state.collateralAsset >= 0) writeMarginAccounts(state, agent, command, base)
  if (until !== 0) capSessionsOf(state, agent, until)
}

function writeMarginAccounts(state: State, agent: number, command: Views, base: number): void {
  const row = agentMarginRow(state, agent)
  clearWords(state, row, 0, AGENT_MARGIN_WORDS)
  if (command.u32[base + U.grants]! >>> 24 !== AgentMargin.LISTED) return
  setWords(state, row, AGENT_MARGIN.SEQUENCES, 2 * AGENT_MARGIN_ACCOUNTS_MAX, command.i32, base + U.marginSequences)
  setWords(state, row, AGENT_MARGIN.ROWS, AGENT_MARGIN_ACCOUNTS_MAX, command.i32, base + U.marginRows)
}

/**
 * Ends the resting orders that an agent placed, newest first; how many. At most AGENT_OPEN_ORDERS_MAX rest, and the account's list is
 * walked no further than to the last of them.
 */
function endOrdersOf(state: State, account: number, agent: number, correlation: number): number {
  const { orderAgents } = state
  let ended = 0
  let slot = get(state, accountRow(state, account), ACCOUNT.ORDERS_HEAD)
  while (slot >= 0 && get(state, agentRow(state, agent), AGENT.OPEN_ORDERS) > 0) {
    const row = orderRow(state, slot)
    const next = get(state, row, ORDER.ACCOUNT_NEXT)
    if ((get(state, row, ORDER.FLAGS) & Flag.BY_AGENT) !== 0 && orderAgents[slot] === agent + 1) {
      endOrder(state, row, Status.CANCELLED, Reason.DELEGATION_REVOKED, correlation, false)
      ended++
    }
    slot = next
  }
  return ended
}
