/**
 * Mass cancels under way: what is to go on when nobody asks for it any more.
 *
 * A mass cancel that did not reach the end of its account's list is noted in the account's row of the column `sweeps`: which orders it
 * means, where it stands, and the sequence that began it; orders placed after that are not its own. Whoever asked goes on part after
 * part, since the answers need room on its ring. When no part came for {@link TAKEOVER_MS}, because a gateway or the exchange ended or
 * the operator's tool did, the sequencer goes on with commands of its own (CONTINUE_CANCEL, timers.ts), until all are ended that were
 * meant.
 *
 * Rows under way are a list in the order of their last part, so the first of them is due first. An account has one: a mass cancel that
 * begins takes the place of one under way, which then ends with whoever asked for it. One of a delegated agent is not noted: what it may
 * end is looked at each time it signs. Since the rules 2.
 */
import { SCALAR, SWEEP } from '../state/columns.ts'
import { get, getF64, now, scalar, set, setF64, setScalar, sweepRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** How long whoever asked may be silent, ms of sequenced time. */
export const TAKEOVER_MS = 5000
/** SWEEP.STATE: none, the owner's, the operator's. */
const [NONE, BY_OWNER, BY_OPERATOR] = [0, 1, 2] as const

/** What a row says of a mass cancel, and asks for. */
export interface Meant {
  readonly account: number
  readonly pair: number
  readonly byOperator: boolean
}

const stateOf = (byOperator: boolean): number => (byOperator ? BY_OPERATOR : BY_OWNER)

/** The sequence that began the mass cancel of these orders that is under way; 0: none is. */
export function beganAt(state: State, { account, pair, byOperator }: Meant): number {
  const row = sweepRow(state, account)
  const same = get(state, row, SWEEP.STATE) === stateOf(byOperator) && get(state, row, SWEEP.PAIR) === pair
  return same ? getF64(state, row, SWEEP.BEGAN) : 0
}

/** A part ended before the order that `slot` and `sequence` name (sweep.ts). Whoever asked was heard now, or goes on being silent. */
export function noteSweep(state: State, meant: Meant, began: number, slot: number, sequence: number, heard: boolean): void {
  const row = sweepRow(state, meant.account)
  if (heard) {
    if (get(state, row, SWEEP.STATE) !== NONE) unlink(state, meant.account)
    setF64(state, row, SWEEP.SINCE, now(state))
    append(state, meant.account)
  }
  set(state, row, SWEEP.STATE, stateOf(meant.byOperator))
  set(state, row, SWEEP.PAIR, meant.pair)
  set(state, row, SWEEP.FROM_SLOT, slot)
  setF64(state, row, SWEEP.FROM_SEQUENCE, sequence)
  setF64(state, row, SWEEP.BEGAN, began)
}

/** It reached the end of the list. */
export function endSweep(state: State, account: number): void {
  const row = sweepRow(state, account)
  unlink(state, account)
  set(state, row, SWEEP.STATE, NONE)
  set(state, row, SWEEP.PAIR, 0)
  set(state, row, SWEEP.FROM_SLOT, 0)
  for (const field of [SWEEP.FROM_SEQUENCE, SWEEP.BEGAN, SWEEP.SINCE]) setF64(state, row, field, 0)
}

function append(state: State, account: number): void {
  const row = sweepRow(state, account)
  const newest = scalar(state, SCALAR.SWEEPS_NEWEST)
  set(state, row, SWEEP.OLDER, newest)
  set(state, row, SWEEP.NEWER, 0)
  if (newest === 0) setScalar(state, SCALAR.SWEEPS_OLDEST, account + 1)
  else set(state, sweepRow(state, newest - 1), SWEEP.NEWER, account + 1)
  setScalar(state, SCALAR.SWEEPS_NEWEST, account + 1)
}

function unlink(state: State, account: number): void {
  const row = sweepRow(state, account)
  const older = get(state, row, SWEEP.OLDER)
  const newer = get(state, row, SWEEP.NEWER)
  if (older === 0) setScalar(state, SCALAR.SWEEPS_OLDEST, newer)
  else set(state, sweepRow(state, older - 1), SWEEP.NEWER, newer)
  if (newer === 0) setScalar(state, SCALAR.SWEEPS_NEWEST, older)
  else set(state, sweepRow(state, newer - 1), SWEEP.OLDER, older)
  set(state, row, SWEEP.OLDER, 0)
  set(state, row, SWEEP.NEWER, 0)
}

/** The account whose mass cancel comes after that of `account` in the list, or the first one (-1), when it is due at `time`; -1: none. */
export function dueSweep(state: State, account: number, time: number): number {
  const next = (account < 0 ? scalar(state, SCALAR.SWEEPS_OLDEST) : get(state, sweepRow(state, account), SWEEP.NEWER)) - 1
  return next >= 0 && getF64(state, sweepRow(state, next), SWEEP.SINCE) + TAKEOVER_MS <= time ? next : -1
}
