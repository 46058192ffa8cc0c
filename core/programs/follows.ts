/**
 * Follows, as commands of whoever follows, with his own wallet's session, never a delegated agent's.
 *
 *   ACTIVE <--update--> CLOSE_ONLY --stop--> STOPPING --positions closed, allocation free--> STOPPED
 *      +------------------stop------------------^
 *
 * - **Allocation.** A follow has a margin sub-account of its own, and its allocation is moved there from what is free in the parent. Copies
 *   use that account and no other, so they never cost more than there is in it. Its owner neither moves collateral in it nor opens or
 *   enlarges positions there (orders/margin_admission.ts); he may close them at market. At the end everything goes back to the parent.
 * - **Who.** Nobody follows an account of another application or of his own family, and no leader follows (leaders.ts); a leader is
 *   followed once by an account.
 * - STOP_FOLLOW and COPY_STEP (orders/copy_close.ts) end it; what is live is listed with its leader, newest first.
 * - Rows are shared out among families (state/shares.ts), and bounded for an account and for a leader.
 */
import { FOLLOW_ANSWER } from '../layout/answers.ts'
import {
  CREATE_FOLLOW_COMMAND, FollowField, FollowReason, FollowState, LeaderState, STOP_FOLLOW_COMMAND, UPDATE_FOLLOW_COMMAND,
} from '../layout/copying.ts'
import { read, readF64, readI64, writeF64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { addShort, emitResult } from '../events/emit.ts'
import { parentOf } from '../margin/buckets.ts'
import { freeOf } from '../margin/collateral.ts'
import { R } from '../state/balances.ts'
import { ACCOUNT, SCALAR } from '../state/columns.ts'
import { COPY_ACCOUNT, COPYING, FOLLOW, LEADER } from '../state/copy_rows.ts'
import { MAX_ISSUED } from '../state/genesis.ts'
import {
  accountRow, copyAccountRow, copyingRow, followAt, followRow, get, getF64, getI64, leaderAt, marginAccountRow, scalar, set, setI64,
} from '../state/rows.ts'
import { mayTake } from '../state/shares.ts'
import type { State } from '../state/state.ts'
import { moveSub } from './collateral.ts'
import { isCopyingOff } from './copy_program.ts'
import { beginStop, followedBy, isRegistered, makeFollow, namedFollow, tellFollow } from './follow_rows.ts'
import { copyFamilyRow, findHandle, ownLeader, readHandle } from './leaders.ts'
import { mayOpenSub } from './margin_accounts.ts'
import { ownerAccount, refuse } from './sessions.ts'

const C = CREATE_FOLLOW_COMMAND.at
const U = UPDATE_FOLLOW_COMMAND.at
const S = STOP_FOLLOW_COMMAND.at
const SHORT = REFUSALS.INSUFFICIENT_COLLATERAL.number

/** Atoms of the least allocation. */
const leastAtoms = (state: State): bigint =>
  BigInt(state.genesis.limits.followLeast) * 10n ** BigInt(state.genesis.assets[state.collateralAsset]!.scale)

/**
 * COLLATERAL of the parent and of the new margin account, FOLLOW, FOLLOW_ANSWER. AGENT_NOT_ALLOWED; OPERATIONS_BLOCKED; NOT_FOUND: no
 * perpetuals, or no such handle; COPY_TRADING_OFF; CANNOT_FOLLOW; ALREADY_FOLLOWING; ALLOCATION_TOO_SMALL, VALIDATION_ERROR;
 * TOO_MANY_FOLLOWS, LEADER_FULL, TOO_MANY_MARGIN_ACCOUNTS: room; INSUFFICIENT_COLLATERAL, with what was asked for and what is free.
 */
export function createFollow(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  const code = account < 0 ? -account : createRefusal(state, command, base, account)
  if (code === SHORT) return refuseShort(state, command, base, readI64(command, base, C.allocation))
  if (code !== 0) return refuse(state, command, base, code)
  const leader = findHandle(state, account)
  const row = makeFollow(state, account, leader)
  set(state, row, FOLLOW.MODE, read(command, base, C.mode))
  set(state, row, FOLLOW.MAX_LEVERAGE, read(command, base, C.maxLeverage))
  allocate(state, row, readI64(command, base, C.allocation))
  tellFollow(state, row, FollowReason.CREATED)
  answer(state, command, base, account, row)
}

function createRefusal(state: State, command: Views, base: number, account: number): number {
  if (scalar(state, SCALAR.MAINTENANCE) !== 0) return REFUSALS.OPERATIONS_BLOCKED.number
  if (state.collateralAsset < 0) return REFUSALS.NOT_FOUND.number
  if (isCopyingOff(state)) return REFUSALS.COPY_TRADING_OFF.number
  const known = readHandle(command, base + C.handle, read(command, base, C.length))
  const leader = known ? findHandle(state, account) : -1
  if (leader < 0 || !isRegistered(state, leader)) return REFUSALS.NOT_FOUND.number
  if (!mayFollow(state, account, leader)) return REFUSALS.CANNOT_FOLLOW.number
  if (follows(state, account, leader)) return REFUSALS.ALREADY_FOLLOWING.number
  const allocation = readI64(command, base, C.allocation)
  const code = allocationRefusal(state, allocation)
  return code === 0 ? roomRefusal(state, account, leader, allocation) : code
}

/** Of another family, and no leader with handle or followers. */
function mayFollow(state: State, account: number, leader: number): boolean {
  const own = ownLeader(state, account)
  const leads = own >= 0 && (get(state, own, LEADER.STATE) === LeaderState.REGISTERED || get(state, own, LEADER.FOLLOWS) !== 0)
  const family = (of: number): number => get(state, accountRow(state, of), ACCOUNT.FAMILY)
  return !leads && family(account) !== family(get(state, leader, LEADER.ACCOUNT))
}

/** True when the account has a follow of the leader, also one that is being stopped. Walks those of the account. */
function follows(state: State, account: number, leader: number): boolean {
  let next = get(state, copyAccountRow(state, account), COPY_ACCOUNT.FIRST_FOLLOW)
  while (next !== 0) {
    const row = followRow(state, next - 1)
    if (get(state, row, FOLLOW.LEADER) === leaderAt(state, leader)) return true
    next = get(state, row, FOLLOW.ACCOUNT_NEXT)
  }
  return false
}

function allocationRefusal(state: State, atoms: bigint): number {
  if (atoms > MAX_ISSUED) return REFUSALS.VALIDATION_ERROR.number
  return atoms < leastAtoms(state) ? REFUSALS.ALLOCATION_TOO_SMALL.number : 0
}

function roomRefusal(state: State, account: number, leader: number, allocation: bigint): number {
  const { follows: most, followsPerAccount, followersPerLeader } = state.genesis.limits
  const free = most - get(state, copyingRow(state), COPYING.FOLLOWS)
  const fits = get(state, copyAccountRow(state, account), COPY_ACCOUNT.FOLLOWS) < followsPerAccount &&
    mayTake(get(state, copyFamilyRow(state, account), COPY_ACCOUNT.FAMILY_FOLLOWS), most, free)
  if (!fits) return REFUSALS.TOO_MANY_FOLLOWS.number
  if (get(state, leader, LEADER.FOLLOWERS) >= followersPerLeader) return REFUSALS.LEADER_FULL.number
  freeOf(state, parentOf(state, account))
  if (state.registers[R.AMOUNT]! < allocation) return SHORT
  return mayOpenSub(state, account)
}

/** Moves what its allocation becomes more, or less, between the parent and its margin account. */
function allocate(state: State, row: number, atoms: bigint): void {
  const leader = followedBy(state, row)
  const more = atoms - getI64(state, row, FOLLOW.ALLOCATION)
  setI64(state, leader, LEADER.ALLOCATED, getI64(state, leader, LEADER.ALLOCATED) + more)
  setI64(state, row, FOLLOW.ALLOCATION, atoms)
  if (more === 0n) return
  state.registers[R.AMOUNT] = more < 0n ? -more : more
  moveSub(state, get(state, row, FOLLOW.ACCOUNT), marginAccountRow(state, get(state, row, FOLLOW.MARGIN_ACCOUNT)), more > 0n)
}

/** INSUFFICIENT_COLLATERAL: `atoms` are asked for, and register AMOUNT is there. */
function refuseShort(state: State, command: Views, base: number, atoms: bigint): void {
  const result = emitResult(state, command, base, SHORT, -1, 0, 0)
  state.registers[R.REQUIRED] = atoms
  addShort(state, result, state.collateralAsset)
}

function answer(state: State, command: Views, base: number, account: number, row: number): void {
  const result = emitResult(state, command, base, 0, account, followAt(state, row), get(state, row, FOLLOW.STATE))
  writeF64(state.outbox, result, FOLLOW_ANSWER.at.createdSequence, getF64(state, row, FOLLOW.CREATED_SEQUENCE))
}

/**
 * FOLLOW, FOLLOW_ANSWER; COLLATERAL when its allocation changes. AGENT_NOT_ALLOWED; NOT_FOUND: none of the signer's has that name;
 * FOLLOW_STOPPING; COPY_TRADING_OFF: it would copy more; ALLOCATION_TOO_SMALL, VALIDATION_ERROR; INSUFFICIENT_COLLATERAL: what is free in
 * the parent is not enough for more, or what is free in its margin account for so much less.
 */
export function updateFollow(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  const row = account < 0 ? -1 : namedFollow(state, account, read(command, base, U.follow), readF64(command, base, U.createdSequence))
  const code = account < 0 ? -account : updateRefusal(state, command, base, row)
  if (code === SHORT) {
    const more = readI64(command, base, U.allocation) - getI64(state, row, FOLLOW.ALLOCATION)
    return refuseShort(state, command, base, more < 0n ? -more : more)
  }
  if (code !== 0) return refuse(state, command, base, code)
  const fields = read(command, base, U.fields)
  if ((fields & FollowField.STATE) !== 0) set(state, row, FOLLOW.STATE, read(command, base, U.state))
  if ((fields & FollowField.ALLOCATION) !== 0) allocate(state, row, readI64(command, base, U.allocation))
  tellFollow(state, row, FollowReason.UPDATED)
  answer(state, command, base, account, row)
}

function updateRefusal(state: State, command: Views, base: number, row: number): number {
  if (row < 0) return REFUSALS.NOT_FOUND.number
  if (get(state, row, FOLLOW.STATE) === FollowState.STOPPING) return REFUSALS.FOLLOW_STOPPING.number
  if (isCopyingOff(state) && goesUp(state, command, base, row)) return REFUSALS.COPY_TRADING_OFF.number
  if ((read(command, base, U.fields) & FollowField.ALLOCATION) === 0) return 0
  const atoms = readI64(command, base, U.allocation)
  const code = allocationRefusal(state, atoms)
  if (code !== 0) return code
  const more = atoms - getI64(state, row, FOLLOW.ALLOCATION)
  const sub = marginAccountRow(state, get(state, row, FOLLOW.MARGIN_ACCOUNT))
  freeOf(state, more > 0n ? parentOf(state, get(state, row, FOLLOW.ACCOUNT)) : sub)
  return state.registers[R.AMOUNT]! < (more < 0n ? -more : more) ? SHORT : 0
}

/** True when it would copy more than before: CLOSE_ONLY becomes ACTIVE, or the allocation is more. */
function goesUp(state: State, command: Views, base: number, row: number): boolean {
  const fields = read(command, base, U.fields)
  const opens = (fields & FollowField.STATE) !== 0 && read(command, base, U.state) === FollowState.ACTIVE
  if (opens && get(state, row, FOLLOW.STATE) !== FollowState.ACTIVE) return true
  return (fields & FollowField.ALLOCATION) !== 0 && readI64(command, base, U.allocation) > getI64(state, row, FOLLOW.ALLOCATION)
}

/** FOLLOW, FOLLOW_ANSWER; done as well when it is being stopped. AGENT_NOT_ALLOWED; NOT_FOUND: none of the signer's has that name. */
export function stopFollow(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  const row = account < 0 ? -1 : namedFollow(state, account, read(command, base, S.follow), readF64(command, base, S.createdSequence))
  if (row < 0) return refuse(state, command, base, account < 0 ? -account : REFUSALS.NOT_FOUND.number)
  if (get(state, row, FOLLOW.STATE) !== FollowState.STOPPING) beginStop(state, row)
  answer(state, command, base, account, row)
}
