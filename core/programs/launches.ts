/**
 * Managed markets: launches, and the fenced lease of their maker. A launch is a pair whose quotes are the business of one account, the
 * maker; of the maker's processes one at a time quotes there, the one whose session holds the lease.
 *
 * - **Launches** are the operator's (lane 0). A pair has one that is under way at most, so an order finds out with one look at the pair's
 *   row whether any of this is about it. Pair and id are for ever; what ended ended for ever.
 * - **A claim** names the generation that it knows. Another one than the launch's is refused and told, so of two processes that claim the
 *   same one the first gets it. The holder is (owner id, session key). A claim by any other advances the generation by one, also after
 *   the lease is over; the holder's own renews the lease, and does not advance it, also after it was over: nobody quoted meanwhile.
 * - **The fence**: orders of the maker on the pair, entered or replaced by another session than the holder's, or while the lease is over,
 *   are refused. Before the first claim they are taken. Cancels are never looked at here, nor what only reduces a position, nor orders
 *   that no session asks for. A delegated agent of the maker signs with a session of its own, so it is fenced out too.
 * - The owner id tells two processes apart that share a session key as well; it proves nothing, and orders do not name it.
 */
import { LEASE_ANSWER } from '../layout/answers.ts'
import { Flag, ORDER_COMMAND } from '../layout/command.ts'
import {
  CLAIM_LEASE_COMMAND, FIRST_GENERATION_MAX, LAUNCH_PHASE_NAMES, LaunchPhase, LAUNCHES_MAX, LEASE_MS_MAX, LEASE_MS_MIN, SET_LAUNCH_COMMAND,
} from '../layout/launches.ts'
import { read, readF64, write, writeF64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import { ACCOUNT, KEY_WORDS, PAIR, SCALAR, SESSION } from '../state/columns.ts'
import { sameWords } from '../state/indexes.ts'
import { LAUNCH, LAUNCH_ID_WORDS, LAUNCH_OWNER_WORDS } from '../state/launch_rows.ts'
import {
  accountRow, addF64, addScalar, clearWords, get, getF64, launchAt, launchRow, now, pairCount, pairRow, scalar, sequence, sessionRow, set,
  setF64, setWords, wordOf,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { isText } from './applications.ts'
import { keepAccount } from '../state/blank_list.ts'
import { laneRefusal } from './policy.ts'
import { ownerAccount, refuse } from './sessions.ts'

const S = SET_LAUNCH_COMMAND.at
const C = CLAIM_LEASE_COMMAND.at
/** What is seen, without the space. */
const FIRST_VISIBLE = 0x21
const LAST_VISIBLE = 0x7e

/** Row of the launch whose id stands at word `at` of a command, or -1. {@link LAUNCHES_MAX} rows at most. */
function findLaunch(state: State, { i32 }: Views, at: number): number {
  const count = scalar(state, SCALAR.LAUNCHES)
  for (let launch = 0; launch < count; launch++) {
    const row = launchRow(state, launch)
    if (sameWords(state.i32, wordOf(row, LAUNCH.ID), i32, at, LAUNCH_ID_WORDS)) return row
  }
  return -1
}

/**
 * A new launch, or another maker, phase or length of lease of one. LEASE_ANSWER. VALIDATION_ERROR: id, phase, length, generation;
 * NOT_FOUND: no such launch, pair or account; LAUNCH_EXISTS: of this id, or under way on this pair; LAUNCH_ENDED; TOO_MANY_LAUNCHES.
 */
export function setLaunch(state: State, command: Views, base: number): void {
  const found = findLaunch(state, command, base + S.launchId)
  const isNew = read(command, base, S.isNew) !== 0
  let code = laneRefusal(command, base)
  if (code === 0) code = isNew ? newRefusal(state, command, base, found) : changeRefusal(state, command, base, found)
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const row = isNew ? makeLaunch(state, command, base) : changeLaunch(state, command, base, found)
  keepAccount(state, get(state, row, LAUNCH.ACCOUNT))
  answer(state, command, base, row)
}

const isPhase = (phase: number): boolean => LAUNCH_PHASE_NAMES[phase] !== undefined
const isLength = (ms: number): boolean => ms >= LEASE_MS_MIN && ms <= LEASE_MS_MAX

function newRefusal(state: State, command: Views, base: number, found: number): number {
  const pair = read(command, base, S.pair)
  const phase = read(command, base, S.phase)
  const fits = isText(command.bytes, base + S.launchId, LAUNCH_ID_WORDS, FIRST_VISIBLE, LAST_VISIBLE)
    && isPhase(phase) && phase !== LaunchPhase.ENDED && isLength(read(command, base, S.leaseMs))
    && readF64(command, base, S.generation) <= FIRST_GENERATION_MAX
  if (!fits) return REFUSALS.VALIDATION_ERROR.number
  if (pair < 0 || pair >= pairCount(state) || !isMaker(state, command, base)) return REFUSALS.NOT_FOUND.number
  if (found >= 0 || get(state, pairRow(state, pair), PAIR.LAUNCH) !== 0) return REFUSALS.LAUNCH_EXISTS.number
  return scalar(state, SCALAR.LAUNCHES) >= LAUNCHES_MAX ? REFUSALS.TOO_MANY_LAUNCHES.number : 0
}

function changeRefusal(state: State, command: Views, base: number, found: number): number {
  const phase = read(command, base, S.phase)
  const length = read(command, base, S.leaseMs)
  const fits = (phase === -1 || isPhase(phase)) && (length === -1 || isLength(length)) && read(command, base, S.pair) === -1
  if (!fits) return REFUSALS.VALIDATION_ERROR.number
  if (found < 0) return REFUSALS.NOT_FOUND.number
  if (read(command, base, S.account) !== -1 && !isMaker(state, command, base)) return REFUSALS.NOT_FOUND.number
  return get(state, found, LAUNCH.PHASE) === LaunchPhase.ENDED ? REFUSALS.LAUNCH_ENDED.number : 0
}

/** The account that is named is there, as it was named, and has a wallet: the insurance fund has none. */
function isMaker(state: State, command: Views, base: number): boolean {
  const account = read(command, base, S.account)
  if (account < 0 || account >= scalar(state, SCALAR.ACCOUNTS) || account === scalar(state, SCALAR.FUND) - 1) return false
  return getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE) === readF64(command, base, S.createdSequence)
}

function makeLaunch(state: State, command: Views, base: number): number {
  const launch = scalar(state, SCALAR.LAUNCHES)
  const row = launchRow(state, launch)
  const pair = read(command, base, S.pair)
  addScalar(state, SCALAR.LAUNCHES, 1)
  setF64(state, row, LAUNCH.CREATED_SEQUENCE, sequence(state))
  setF64(state, row, LAUNCH.CREATED_AT, now(state))
  setF64(state, row, LAUNCH.GENERATION, readF64(command, base, S.generation))
  setF64(state, row, LAUNCH.REVISION, 1)
  set(state, row, LAUNCH.ACCOUNT, read(command, base, S.account))
  set(state, row, LAUNCH.PAIR, pair)
  set(state, row, LAUNCH.PHASE, read(command, base, S.phase))
  set(state, row, LAUNCH.LEASE_MS, read(command, base, S.leaseMs))
  setWords(state, row, LAUNCH.ID, LAUNCH_ID_WORDS, command.i32, base + S.launchId)
  set(state, pairRow(state, pair), PAIR.LAUNCH, launch + 1)
  return row
}

/** Another maker ends the lease: its holder is no maker any more. A lease that runs keeps the end it was given. */
function changeLaunch(state: State, command: Views, base: number, row: number): number {
  const account = read(command, base, S.account)
  const moved = account !== -1 && account !== get(state, row, LAUNCH.ACCOUNT)
  if (moved) {
    set(state, row, LAUNCH.ACCOUNT, account)
    setF64(state, row, LAUNCH.EXPIRES_AT, 0)
    clearWords(state, row, LAUNCH.KEY, KEY_WORDS + LAUNCH_OWNER_WORDS)
    addF64(state, row, LAUNCH.GENERATION, 1)
  }
  const phase = changed(state, row, LAUNCH.PHASE, read(command, base, S.phase))
  const length = changed(state, row, LAUNCH.LEASE_MS, read(command, base, S.leaseMs))
  if (moved || phase || length) addF64(state, row, LAUNCH.REVISION, 1)
  if (get(state, row, LAUNCH.PHASE) === LaunchPhase.ENDED) set(state, pairRow(state, get(state, row, LAUNCH.PAIR)), PAIR.LAUNCH, 0)
  return row
}

/** Sets a field, -1: leaves it; true when it is another value now. */
function changed(state: State, row: number, field: number, value: number): boolean {
  if (value === -1 || value === get(state, row, field)) return false
  set(state, row, field, value)
  return true
}

/**
 * Takes or renews the lease. LEASE_ANSWER. SESSION_INVALID, AGENT_NOT_ALLOWED; NOT_FOUND: no such launch; PERMISSION_DENIED: another's;
 * VALIDATION_ERROR: owner; LAUNCH_ENDED; LEASE_CONFLICT: another generation was expected (LEASE_REFUSAL has the launch's).
 */
export function claimLease(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  if (account < 0) return refuse(state, command, base, -account)
  const row = findLaunch(state, command, base + C.launchId)
  const code = claimRefusal(state, command, base, account, row)
  if (code !== 0) {
    const at = emitResult(state, command, base, code, account, 0, 0)
    const stale = code === REFUSALS.LEASE_CONFLICT.number
    if (stale) writeF64(state.outbox, at, LEASE_ANSWER.at.generation, getF64(state, row, LAUNCH.GENERATION))
    return
  }
  const key = keyOf(state, command, base)
  if (!holds(state, row, key) || !isOwner(state, row, command, base)) {
    addF64(state, row, LAUNCH.GENERATION, 1)
    addF64(state, row, LAUNCH.REVISION, 1)
    setWords(state, row, LAUNCH.KEY, KEY_WORDS, state.i32, key)
    setWords(state, row, LAUNCH.OWNER, LAUNCH_OWNER_WORDS, command.i32, base + C.owner)
  }
  setF64(state, row, LAUNCH.EXPIRES_AT, now(state) + get(state, row, LAUNCH.LEASE_MS))
  answer(state, command, base, row)
}

function claimRefusal(state: State, command: Views, base: number, account: number, row: number): number {
  if (row < 0) return REFUSALS.NOT_FOUND.number
  if (get(state, row, LAUNCH.ACCOUNT) !== account) return REFUSALS.PERMISSION_DENIED.number
  const named = isText(command.bytes, base + C.owner, LAUNCH_OWNER_WORDS, FIRST_VISIBLE, LAST_VISIBLE)
  if (!named) return REFUSALS.VALIDATION_ERROR.number
  if (get(state, row, LAUNCH.PHASE) === LaunchPhase.ENDED) return REFUSALS.LAUNCH_ENDED.number
  const expected = readF64(command, base, C.expectedGeneration)
  return expected === getF64(state, row, LAUNCH.GENERATION) ? 0 : REFUSALS.LEASE_CONFLICT.number
}

/** Where the key of the session that signed the command stands. The session was found to be good. */
const keyOf = (state: State, command: Views, base: number): number =>
  wordOf(sessionRow(state, read(command, base, ORDER_COMMAND.at.session)), SESSION.PUBLIC_KEY)

/** The key at word `key` claimed the launch's lease last. */
const holds = (state: State, row: number, key: number): boolean =>
  sameWords(state.i32, wordOf(row, LAUNCH.KEY), state.i32, key, KEY_WORDS)

const isOwner = (state: State, row: number, { i32 }: Views, base: number): boolean =>
  sameWords(state.i32, wordOf(row, LAUNCH.OWNER), i32, base + C.owner, LAUNCH_OWNER_WORDS)

/** What readers find, and what is answered, once the launch is as it is to be. */
function answer(state: State, command: Views, base: number, row: number): void {
  const { outbox } = state
  addScalar(state, SCALAR.LAUNCH_CHANGES, 1)
  const { at } = LEASE_ANSWER
  const result = emitResult(state, command, base, 0, get(state, row, LAUNCH.ACCOUNT), launchAt(state, row), get(state, row, LAUNCH.PHASE))
  write(outbox, result, at.pair, get(state, row, LAUNCH.PAIR))
  write(outbox, result, at.leaseMs, get(state, row, LAUNCH.LEASE_MS))
  writeF64(outbox, result, at.generation, getF64(state, row, LAUNCH.GENERATION))
  writeF64(outbox, result, at.quoteRevision, getF64(state, row, LAUNCH.REVISION))
  writeF64(outbox, result, at.leaseEndsAt, getF64(state, row, LAUNCH.EXPIRES_AT))
}

/** Whether a launch is under way on a pair that exists: all that an order of anybody else pays for leases. */
export const hasLaunch = (state: State, pair: number): boolean => get(state, pairRow(state, pair), PAIR.LAUNCH) !== 0

/**
 * Whether an order of `account` with these flags may not be entered on this pair, which has a launch, by the session of the command: its
 * lease is another's or over. Two lookups and a comparison of keys.
 */
export function isFenced(state: State, command: Views, base: number, account: number, pair: number, flags: number): boolean {
  const row = launchRow(state, get(state, pairRow(state, pair), PAIR.LAUNCH) - 1)
  if (get(state, row, LAUNCH.ACCOUNT) !== account || (flags & (Flag.REDUCE_ONLY | Flag.CLOSE)) !== 0) return false
  const until = getF64(state, row, LAUNCH.EXPIRES_AT)
  if (until === 0) return false
  return until <= now(state) || !holds(state, row, keyOf(state, command, base))
}
