/**
 * Follows as rows (state/copy_rows.ts): making them, taking them out of the list of their leader, ending them. What their owners ask for is
 * in follows.ts, what they copy in orders/copy_step.ts. They are named by the addresses of their rows.
 */
import { FollowReason, FollowState, LeaderState } from '../layout/copying.ts'
import { followId } from '../layout/ids.ts'
import { firstWords } from '../lib/sha256.ts'
import { emitFollow } from '../events/emit.ts'
import { makeMarginAccount } from '../margin/buckets.ts'
import { leadOf, leaveLeads, numberOf, perpsOf } from '../margin/leads.ts'
import { touchAccount } from '../state/balances.ts'
import { SCALAR } from '../state/columns.ts'
import {
  COPY_ACCOUNT, COPYING, FOLLOW, FOLLOW_PAIR, FOLLOW_PAIR_WORDS, FOLLOW_WORDS, LEAD, LEADER,
} from '../state/copy_rows.ts'
import { MARGIN_ACCOUNT, MarginAccountKind, STRATEGY_KEY_BYTES } from '../state/margin_rows.ts'
import {
  add, addScalar, bytesOf, clearWords, copyAccountRow, copyingRow, followAt, followPairRow, followRow, get, getF64, getI64, leaderAt,
  leaderRow, marginAccountAt, now, scalar, sequence, set, setF64, setI64,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { isClosing, leaveClosing, lookFirst } from './copy_closing.ts'
import { copyFamilyRow, giveUpLeader } from './leaders.ts'

/** Bytes of a margin account's label. */
const LABEL_BYTES = 32

/** The leader of a follow. */
export const followedBy = (state: State, row: number): number => leaderRow(state, get(state, row, FOLLOW.LEADER))

/** What was mirrored of the pair `pair`, a perpetual. */
export const pairOfFollow = (state: State, row: number, pair: number): number =>
  followPairRow(state, followAt(state, row), perpsOf(state), numberOf(state, pair))

/** The live follow, or one that is being stopped, that `account` names by row and the sequence that made it; -1: none. */
export function namedFollow(state: State, account: number, number: number, createdSequence: number): number {
  if (number < 0 || number >= scalar(state, SCALAR.FOLLOWS_USED)) return -1
  const row = followRow(state, number)
  const named = get(state, row, FOLLOW.STATE) !== 0 && get(state, row, FOLLOW.ACCOUNT) === account &&
    getF64(state, row, FOLLOW.CREATED_SEQUENCE) === createdSequence
  return named ? row : -1
}

/** A new ACTIVE follow of the leader at `leader`, with a margin sub-account of its own. The caller looked for room for both. */
export function makeFollow(state: State, account: number, leader: number): number {
  const copying = copyingRow(state)
  const free = get(state, copying, COPYING.FOLLOWS_FREE)
  const number = free === 0 ? scalar(state, SCALAR.FOLLOWS_USED) : free - 1
  const row = followRow(state, number)
  if (free === 0) addScalar(state, SCALAR.FOLLOWS_USED, 1)
  else set(state, copying, COPYING.FOLLOWS_FREE, get(state, row, FOLLOW.ACCOUNT_NEXT))
  add(state, copying, COPYING.FOLLOWS, 1)
  clearWords(state, row, 0, FOLLOW_WORDS)
  set(state, row, FOLLOW.ACCOUNT, account)
  set(state, row, FOLLOW.LEADER, leaderAt(state, leader))
  set(state, row, FOLLOW.STATE, FollowState.ACTIVE)
  setF64(state, row, FOLLOW.CREATED_SEQUENCE, sequence(state))
  setF64(state, row, FOLLOW.STARTED_AT, now(state))
  enlist(state, row, account, leader)
  beginPairs(state, row, leader)
  nameStrategy(state, row)
  const sub = makeMarginAccount(state, account, MarginAccountKind.SUB)
  set(state, sub, MARGIN_ACCOUNT.FOLLOW, number + 1)
  set(state, row, FOLLOW.MARGIN_ACCOUNT, marginAccountAt(state, sub))
  writeLabel(state, sub, leader)
  return row
}

/** The newest of its account and of its leader. */
function enlist(state: State, row: number, account: number, leader: number): void {
  const number = followAt(state, row)
  const own = copyAccountRow(state, account)
  const first = get(state, own, COPY_ACCOUNT.FIRST_FOLLOW)
  set(state, row, FOLLOW.ACCOUNT_NEXT, first)
  if (first !== 0) set(state, followRow(state, first - 1), FOLLOW.ACCOUNT_PREV, number + 1)
  set(state, own, COPY_ACCOUNT.FIRST_FOLLOW, number + 1)
  add(state, own, COPY_ACCOUNT.FOLLOWS, 1)
  add(state, copyFamilyRow(state, account), COPY_ACCOUNT.FAMILY_FOLLOWS, 1)
  const newest = get(state, leader, LEADER.NEWEST_FOLLOW)
  set(state, row, FOLLOW.OLDER, newest)
  if (newest === 0) set(state, leader, LEADER.OLDEST_FOLLOW, number + 1)
  else set(state, followRow(state, newest - 1), FOLLOW.NEWER, number + 1)
  set(state, leader, LEADER.NEWEST_FOLLOW, number + 1)
  add(state, leader, LEADER.FOLLOWS, 1)
  add(state, leader, LEADER.FOLLOWERS, 1)
}

/** What the leader has now is none of its business. */
function beginPairs(state: State, row: number, leader: number): void {
  const perps = perpsOf(state)
  clearWords(state, followPairRow(state, followAt(state, row), perps, 1), 0, perps * FOLLOW_PAIR_WORDS)
  for (let number = 1; number <= perps; number++) {
    const pair = followPairRow(state, followAt(state, row), perps, number)
    setF64(state, pair, FOLLOW_PAIR.SEEN, getF64(state, leadOf(state, leader, number), LEAD.LOTS))
  }
}

/** `copy:` and its id, and the hash by which orders find its buckets. */
function nameStrategy(state: State, row: number): void {
  const bytes = bytesOf(state, row, FOLLOW.STRATEGY_KEY, STRATEGY_KEY_BYTES)
  const text = `copy:${followId(sequence(state), followAt(state, row))}`
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  const [low, high] = firstWords(bytes.subarray(0, text.length))
  set(state, row, FOLLOW.KEY_LOW, low)
  set(state, row, FOLLOW.KEY_HIGH, high)
}

/** `copy:` and the leader's handle. */
function writeLabel(state: State, sub: number, leader: number): void {
  const bytes = bytesOf(state, sub, MARGIN_ACCOUNT.LABEL, LABEL_BYTES)
  const length = get(state, leader, LEADER.LENGTH)
  for (const [at, letter] of [...'copy:'].entries()) bytes[at] = letter.charCodeAt(0)
  bytes.set(bytesOf(state, leader, LEADER.HANDLE, length), 5)
}

/** FOLLOW of it as it stands, of nothing that was copied. */
export function tellFollow(state: State, row: number, reason: number): void {
  setF64(state, row, FOLLOW.UPDATED_AT, now(state))
  touchAccount(state, get(state, row, FOLLOW.ACCOUNT))
  emitFollow(state, row, reason, -1, 0, -1, 0)
}

/** Nothing is mirrored to it any more: it leaves the list of its leader, and stands first among those that are being stopped. */
export function beginStop(state: State, row: number): void {
  const leader = followedBy(state, row)
  leaveLeads(state, leader, row)
  const [older, newer] = [get(state, row, FOLLOW.OLDER), get(state, row, FOLLOW.NEWER)]
  if (newer === 0) set(state, leader, LEADER.NEWEST_FOLLOW, older)
  else set(state, followRow(state, newer - 1), FOLLOW.OLDER, older)
  if (older === 0) set(state, leader, LEADER.OLDEST_FOLLOW, newer)
  else set(state, followRow(state, older - 1), FOLLOW.NEWER, newer)
  set(state, row, FOLLOW.OLDER, 0)
  set(state, row, FOLLOW.NEWER, 0)
  add(state, leader, LEADER.FOLLOWERS, -1)
  setI64(state, leader, LEADER.ALLOCATED, getI64(state, leader, LEADER.ALLOCATED) - getI64(state, row, FOLLOW.ALLOCATION))
  if (isClosing(state, row)) leaveClosing(state, row)
  set(state, row, FOLLOW.STATE, FollowState.STOPPING)
  set(state, row, FOLLOW.TRIED, 0)
  set(state, row, FOLLOW.ROUNDS, 0)
  setF64(state, row, FOLLOW.OPEN_UNTIL, 0)
  lookFirst(state, row)
  tellFollow(state, row, FollowReason.STOPPING)
}

/** It has stopped, which is told, and its row is free. It is in no list but its account's; its margin account is gone. */
export function endFollow(state: State, row: number): void {
  set(state, row, FOLLOW.STATE, FollowState.STOPPED)
  tellFollow(state, row, FollowReason.STOPPED)
  const account = get(state, row, FOLLOW.ACCOUNT)
  const own = copyAccountRow(state, account)
  const leader = followedBy(state, row)
  const [next, prev] = [get(state, row, FOLLOW.ACCOUNT_NEXT), get(state, row, FOLLOW.ACCOUNT_PREV)]
  if (prev === 0) set(state, own, COPY_ACCOUNT.FIRST_FOLLOW, next)
  else set(state, followRow(state, prev - 1), FOLLOW.ACCOUNT_NEXT, next)
  if (next !== 0) set(state, followRow(state, next - 1), FOLLOW.ACCOUNT_PREV, prev)
  add(state, own, COPY_ACCOUNT.FOLLOWS, -1)
  add(state, copyFamilyRow(state, account), COPY_ACCOUNT.FAMILY_FOLLOWS, -1)
  clearWords(state, row, 0, FOLLOW_WORDS)
  const copying = copyingRow(state)
  set(state, row, FOLLOW.ACCOUNT_NEXT, get(state, copying, COPYING.FOLLOWS_FREE))
  set(state, copying, COPYING.FOLLOWS_FREE, followAt(state, row) + 1)
  add(state, copying, COPYING.FOLLOWS, -1)
  add(state, leader, LEADER.FOLLOWS, -1)
  giveUpLeader(state, leader)
}

/** True when the leader may be followed: its handle names it. */
export const isRegistered = (state: State, leader: number): boolean => get(state, leader, LEADER.STATE) === LeaderState.REGISTERED
