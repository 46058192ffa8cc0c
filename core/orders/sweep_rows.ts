/**
 * Mass cancels under way: what is to go on when nobody asks for it any more.
 *
 * A mass cancel that did not reach the end of its account's list is noted in the account's row of the column `sweeps`:
 * which orders it means, where it stands, and the sequence that began it; orders placed after that are not its own.
 * Whoever asked goes on part after part, since the answers need room on its ring. When no part came for {@link
 * TAKEOVER_MS}, because a gateway or the exchange ended or the operator's tool did, the sequencer goes on with commands
 * of its own (CONTINUE_CANCEL, timers.ts), until all are ended that were meant. One that nobody asked for now
 * (SweptBy.ITSELF: a deadline, a connection that ended) it goes on with at once.
 *
 * Rows under way are one list. In front are those that go on by themselves, in turn: each part moves its account behind
 * the others, so however many orders some accounts have, one with few waits for one part of each. Behind are the
 * others, in the order of their last part, so the first of them is due first. An account has one row: a mass cancel
 * that begins takes the place of one under way, which then ends with whoever asked for it. But it never takes the place
 * of one that goes on by itself, which has nobody else to end it and means everything; such a one takes any place. One
 * that a delegated agent asked for is not noted: what it may end is looked at each time it signs. Since the rules 2.
 */
import { SCALAR, SWEEP, SweptBy } from '../state/columns.ts'
import { get, getF64, now, scalar, set, setF64, setScalar, sweepRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** How long whoever asked may be silent, ms of sequenced time. */
export const TAKEOVER_MS = 5000
const NONE = 0

/** What a row says of a mass cancel, and asks for. */
export interface Meant {
  readonly account: number
  readonly pair: number
  readonly by: SweptBy
}

/** Who ends the orders of the mass cancel at `row`, which is under way. */
export const sweptBy = (state: State, row: number): SweptBy => get(state, row, SWEEP.BY) as SweptBy

/** The sequence that began the mass cancel of these orders that is under way; 0: none is. */
export function beganAt(state: State, { account, pair, by }: Meant): number {
  const row = sweepRow(state, account)
  return sweptBy(state, row) === by && get(state, row, SWEEP.PAIR) === pair ? getF64(state, row, SWEEP.BEGAN) : 0
}

/**
 * A part ended before the order that `slot` and `sequence` name (sweep.ts). `moves`: whoever asked was heard now, or it
 * goes on by itself and is the last in turn; otherwise it goes on being silent, and stands where it stood.
 */
export function noteSweep(state: State, meant: Meant, began: number, slot: number, sequence: number, moves: boolean): void {
  const row = sweepRow(state, meant.account)
  if (moves) {
    if (get(state, row, SWEEP.BY) !== NONE) unlink(state, meant.account)
    const byItself = meant.by === SweptBy.ITSELF
    setF64(state, row, SWEEP.SINCE, byItself ? 0 : now(state))
    link(state, meant.account, scalar(state, byItself ? SCALAR.SWEEPS_BY_ITSELF : SCALAR.SWEEPS_NEWEST))
    if (byItself) setScalar(state, SCALAR.SWEEPS_BY_ITSELF, meant.account + 1)
  }
  set(state, row, SWEEP.BY, meant.by)
  set(state, row, SWEEP.PAIR, meant.pair)
  set(state, row, SWEEP.FROM_SLOT, slot)
  setF64(state, row, SWEEP.FROM_SEQUENCE, sequence)
  setF64(state, row, SWEEP.BEGAN, began)
}

/** True when the account's mass cancel goes on by itself. */
export const goesOnByItself = (state: State, account: number): boolean => sweptBy(state, sweepRow(state, account)) === SweptBy.ITSELF

/** It reached the end of the list. */
export function endSweep(state: State, account: number): void {
  const row = sweepRow(state, account)
  unlink(state, account)
  set(state, row, SWEEP.BY, NONE)
  set(state, row, SWEEP.PAIR, 0)
  set(state, row, SWEEP.FROM_SLOT, 0)
  for (const field of [SWEEP.FROM_SEQUENCE, SWEEP.BEGAN, SWEEP.SINCE]) setF64(state, row, field, 0)
}

/** Puts the account behind `older`, its row + 1; 0: before all. */
function link(state: State, account: number, older: number): void {
  const row = sweepRow(state, account)
  const newer = older === 0 ? scalar(state, SCALAR.SWEEPS_OLDEST) : get(state, sweepRow(state, older - 1), SWEEP.NEWER)
  join(state, older, account + 1)
  join(state, account + 1, newer)
  set(state, row, SWEEP.OLDER, older)
}

function unlink(state: State, account: number): void {
  const row = sweepRow(state, account)
  const older = get(state, row, SWEEP.OLDER)
  if (scalar(state, SCALAR.SWEEPS_BY_ITSELF) === account + 1) setScalar(state, SCALAR.SWEEPS_BY_ITSELF, older)
  join(state, older, get(state, row, SWEEP.NEWER))
  set(state, row, SWEEP.OLDER, 0)
  set(state, row, SWEEP.NEWER, 0)
}

/** Two neighbours, rows + 1; 0 is the end of the list. */
function join(state: State, older: number, newer: number): void {
  if (older === 0) setScalar(state, SCALAR.SWEEPS_OLDEST, newer)
  else set(state, sweepRow(state, older - 1), SWEEP.NEWER, newer)
  if (newer === 0) setScalar(state, SCALAR.SWEEPS_NEWEST, older)
  else set(state, sweepRow(state, newer - 1), SWEEP.OLDER, older)
}

/** The account after `account` (-1: the first) among those whose mass cancel goes on by itself; -1: none. */
export function nextByItself(state: State, account: number): number {
  const last = scalar(state, SCALAR.SWEEPS_BY_ITSELF)
  if (last === 0 || account === last - 1) return -1
  return (account < 0 ? scalar(state, SCALAR.SWEEPS_OLDEST) : get(state, sweepRow(state, account), SWEEP.NEWER)) - 1
}

/** The account after `account` (-1: the first) among those whom whoever asked has left, at `time`; -1: none. */
export function nextSilent(state: State, account: number, time: number): number {
  const before = account < 0 ? scalar(state, SCALAR.SWEEPS_BY_ITSELF) : account + 1
  const next = (before === 0 ? scalar(state, SCALAR.SWEEPS_OLDEST) : get(state, sweepRow(state, before - 1), SWEEP.NEWER)) - 1
  return next >= 0 && getF64(state, sweepRow(state, next), SWEEP.SINCE) + TAKEOVER_MS <= time ? next : -1
}
