/**
 * Leaders: accounts whose trading on perpetuals others may copy, named by a handle. REGISTER_LEADER and RELEASE_LEADER are of the account's
 * own wallet, never of a delegated agent.
 *
 *   REGISTERED --release--> RELEASED --the pause is over, and the name is asked for--> NAMELESS, or the row is free
 *        ^                     |
 *        +---------------------+   the same account, at any time
 *
 * - **Handles** are unique in an application, whatever their letters' case, and mean nothing in another one. A released one names no one at
 *   once. For a pause nobody else gets it, and its account no other one: so nobody passes for whom others trusted, and nobody holds many
 *   names.
 * - **No loops.** Who has a handle or followers follows nobody, and who follows anybody gets no handle. So what is copied is never copied.
 * - Followers are mirrored on after a release, until they stop. The row stays for them.
 * - Rows are shared out among families (state/shares.ts). Released ones whose pause is over go when their rows are needed, oldest first.
 */
import { LEADER_ANSWER } from '../layout/answers.ts'
import {
  HANDLE_BYTES, HANDLE_LEAST, HANDLE_WORDS, LeaderReason, LeaderState, REGISTER_LEADER_COMMAND,
} from '../layout/copying.ts'
import { read, writeF64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitLeader, emitResult } from '../events/emit.ts'
import { beginLeads, endLead, leadOf, perpsOf } from '../margin/leads.ts'
import { touchAccount } from '../state/balances.ts'
import { ACCOUNT, SCALAR } from '../state/columns.ts'
import { append, firstOf, RELEASED_LEADERS, take } from '../state/copy_queues.ts'
import { COPY_ACCOUNT, COPYING, LEADER, LEADER_WORDS } from '../state/copy_rows.ts'
import { findLeader, indexLeader, sameWords, unindexLeader } from '../state/indexes.ts'
import {
  accountRow, add, addScalar, clearWords, copyAccountRow, copyingRow, get, getF64, leaderAt, leaderRow, now, scalar, sequence, set, setF64,
  setWords, wordOf,
} from '../state/rows.ts'
import { mayTake } from '../state/shares.ts'
import type { State } from '../state/state.ts'
import { keepAccount } from '../state/blank_list.ts'
import { isCopyingOff } from './copy_program.ts'
import { ownerAccount, refuse } from './sessions.ts'

const C = REGISTER_LEADER_COMMAND.at
/** The handle of a command in small letters. */
const folded = new Int32Array(HANDLE_WORDS)
const foldedBytes = new Uint8Array(folded.buffer)

/** What the family of `account` has of copy trading. */
export const copyFamilyRow = (state: State, account: number): number =>
  copyAccountRow(state, get(state, accountRow(state, account), ACCOUNT.FAMILY))

/** The leader that `account` is or was, -1: none. */
export function ownLeader(state: State, account: number): number {
  const own = get(state, copyAccountRow(state, account), COPY_ACCOUNT.LEADER)
  return own === 0 ? -1 : leaderRow(state, own - 1)
}

/** Reads the handle at word `at` of a command into the scratch that {@link findHandle} looks for. False: it is no handle. */
export function readHandle(command: Views, at: number, length: number): boolean {
  if (length < HANDLE_LEAST || length > HANDLE_BYTES) return false
  for (let i = 0; i < HANDLE_BYTES; i++) {
    const byte = command.bytes[at * 4 + i]!
    if (i < length ? !isOfHandle(byte) : byte !== 0) return false
    foldedBytes[i] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
  }
  return true
}

/** A letter, a digit, `_` or `-`. */
const isOfHandle = (byte: number): boolean =>
  (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f || byte === 0x2d

/** The application in which handles mean something for `account`: its own; -1: any, before the rules 5. */
export const handleScope = (state: State, account: number): number =>
  scalar(state, SCALAR.RULES) < 5 ? -1 : get(state, accountRow(state, account), ACCOUNT.APPLICATION)

/** The leader whose handle was read, for `account`, registered or released; -1: nobody's. */
export function findHandle(state: State, account: number): number {
  const leader = findLeader(state, folded, 0, handleScope(state, account))
  return leader < 0 ? -1 : leaderRow(state, leader)
}

/**
 * LEADER, LEADER_ANSWER. AGENT_NOT_ALLOWED; NOT_FOUND: no perpetuals; COPY_TRADING_OFF; VALIDATION_ERROR: no handle; CANNOT_LEAD;
 * ALREADY_LEADER, HANDLE_CHANGE_TOO_SOON: it has or had another one; HANDLE_TAKEN; TOO_MANY_LEADERS. Done as well when the handle is its
 * own.
 */
export function registerLeader(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  const code = account < 0 ? -account : registerRefusal(state, command, base, account)
  if (code !== 0) return refuse(state, command, base, code)
  const holder = findHandle(state, account)
  const own = ownLeader(state, account)
  if (holder >= 0 && holder !== own) forget(state, holder)
  if (own < 0 && isFull(state)) forget(state, firstOf(state, RELEASED_LEADERS))
  const row = own < 0 ? makeLeader(state, account) : own
  const registered = get(state, row, LEADER.STATE) === LeaderState.REGISTERED
  unname(state, row)
  set(state, row, LEADER.STATE, LeaderState.REGISTERED)
  set(state, row, LEADER.LENGTH, read(command, base, C.length))
  setWords(state, row, LEADER.HANDLE, HANDLE_WORDS, command.i32, base + C.handle)
  setWords(state, row, LEADER.FOLDED, HANDLE_WORDS, folded, 0)
  indexLeader(state, leaderAt(state, row))
  if (!registered) setF64(state, row, LEADER.SINCE, now(state))
  setF64(state, row, LEADER.RELEASED_AT, 0)
  keepAccount(state, account)
  touchAccount(state, account)
  emitLeader(state, row, LeaderReason.REGISTERED)
  answer(state, command, base, account, row)
}

function registerRefusal(state: State, command: Views, base: number, account: number): number {
  if (state.collateralAsset < 0) return REFUSALS.NOT_FOUND.number
  if (isCopyingOff(state)) return REFUSALS.COPY_TRADING_OFF.number
  if (!readHandle(command, base + C.handle, read(command, base, C.length))) return REFUSALS.VALIDATION_ERROR.number
  if (get(state, copyAccountRow(state, account), COPY_ACCOUNT.FIRST_FOLLOW) !== 0) return REFUSALS.CANNOT_LEAD.number
  const own = ownLeader(state, account)
  const same = own >= 0 && sameWords(state.i32, wordOf(own, LEADER.FOLDED), folded, 0, HANDLE_WORDS)
  const standing = own < 0 ? 0 : get(state, own, LEADER.STATE)
  if (!same && standing === LeaderState.REGISTERED) return REFUSALS.ALREADY_LEADER.number
  if (!same && standing === LeaderState.RELEASED && !isPauseOver(state, own)) return REFUSALS.HANDLE_CHANGE_TOO_SOON.number
  const holder = findHandle(state, account)
  const free = holder < 0 || holder === own || (get(state, holder, LEADER.STATE) === LeaderState.RELEASED && isPauseOver(state, holder))
  if (!free) return REFUSALS.HANDLE_TAKEN.number
  return own >= 0 || hasRoom(state, account, holder) ? 0 : REFUSALS.TOO_MANY_LEADERS.number
}

/** ms of sequenced time since its release are those of the pause, or more. */
const isPauseOver = (state: State, row: number): boolean =>
  now(state) - getF64(state, row, LEADER.RELEASED_AT) >= state.genesis.limits.handlePauseMs

const isFull = (state: State): boolean => get(state, copyingRow(state), COPYING.LEADERS) >= state.genesis.limits.leaders

/** A row is there for one more of the family, or comes free: that of `holder`, or the oldest of those that were released. */
function hasRoom(state: State, account: number, holder: number): boolean {
  const { leaders } = state.genesis.limits
  const oldest = firstOf(state, RELEASED_LEADERS)
  const goes = (row: number): boolean => row >= 0 && get(state, row, LEADER.FOLLOWS) === 0 && isPauseOver(state, row)
  const free = leaders - get(state, copyingRow(state), COPYING.LEADERS) + (goes(holder) || goes(oldest) ? 1 : 0)
  return mayTake(get(state, copyFamilyRow(state, account), COPY_ACCOUNT.FAMILY_LEADERS), leaders, free)
}

function makeLeader(state: State, account: number): number {
  const copying = copyingRow(state)
  const free = get(state, copying, COPYING.LEADERS_FREE)
  const number = free === 0 ? scalar(state, SCALAR.LEADERS_USED) : free - 1
  const row = leaderRow(state, number)
  if (free === 0) addScalar(state, SCALAR.LEADERS_USED, 1)
  else set(state, copying, COPYING.LEADERS_FREE, get(state, row, LEADER.NEXT))
  add(state, copying, COPYING.LEADERS, 1)
  clearWords(state, row, 0, LEADER_WORDS)
  set(state, row, LEADER.ACCOUNT, account)
  setF64(state, row, LEADER.CREATED_SEQUENCE, sequence(state))
  set(state, copyAccountRow(state, account), COPY_ACCOUNT.LEADER, number + 1)
  add(state, copyFamilyRow(state, account), COPY_ACCOUNT.FAMILY_LEADERS, 1)
  beginLeads(state, row)
  return row
}

/** Takes its name from it, if it has one. */
function unname(state: State, row: number): void {
  const standing = get(state, row, LEADER.STATE)
  if (standing === LeaderState.RELEASED) take(state, RELEASED_LEADERS, row)
  if (standing === LeaderState.REGISTERED || standing === LeaderState.RELEASED) unindexLeader(state, leaderAt(state, row))
}

/** The pause of a released one is over: its name is anybody's, and its row goes when nobody follows it any more. */
function forget(state: State, row: number): void {
  unname(state, row)
  set(state, row, LEADER.STATE, LeaderState.NAMELESS)
  emitLeader(state, row, LeaderReason.FORGOTTEN)
  giveUpLeader(state, row)
}

/** The row is free when it has neither name nor follows. */
export function giveUpLeader(state: State, row: number): void {
  if (get(state, row, LEADER.STATE) !== LeaderState.NAMELESS || get(state, row, LEADER.FOLLOWS) !== 0) return
  const account = get(state, row, LEADER.ACCOUNT)
  for (let number = 1; number <= perpsOf(state); number++) endLead(state, leadOf(state, row, number))
  set(state, copyAccountRow(state, account), COPY_ACCOUNT.LEADER, 0)
  add(state, copyFamilyRow(state, account), COPY_ACCOUNT.FAMILY_LEADERS, -1)
  clearWords(state, row, 0, LEADER_WORDS)
  const copying = copyingRow(state)
  set(state, row, LEADER.NEXT, get(state, copying, COPYING.LEADERS_FREE))
  set(state, copying, COPYING.LEADERS_FREE, leaderAt(state, row) + 1)
  add(state, copying, COPYING.LEADERS, -1)
}

/** LEADER, LEADER_ANSWER. AGENT_NOT_ALLOWED; NOT_FOUND: it has no handle. */
export function releaseLeader(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  const row = account < 0 ? -1 : ownLeader(state, account)
  const named = row >= 0 && get(state, row, LEADER.STATE) === LeaderState.REGISTERED
  if (account < 0 || !named) return refuse(state, command, base, account < 0 ? -account : REFUSALS.NOT_FOUND.number)
  set(state, row, LEADER.STATE, LeaderState.RELEASED)
  setF64(state, row, LEADER.RELEASED_AT, now(state))
  append(state, RELEASED_LEADERS, row)
  touchAccount(state, account)
  emitLeader(state, row, LeaderReason.RELEASED)
  answer(state, command, base, account, row)
}

function answer(state: State, command: Views, base: number, account: number, row: number): void {
  const result = emitResult(state, command, base, 0, account, leaderAt(state, row), 0)
  writeF64(state.outbox, result, LEADER_ANSWER.at.createdSequence, getF64(state, row, LEADER.CREATED_SEQUENCE))
}
