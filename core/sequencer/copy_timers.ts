/**
 * Copy trading, as commands of the sequencer itself (timers.ts): COPY_STEP for what leaders did and is not mirrored yet, and for follows
 * with something to close whose time has come (orders/copy_step.ts).
 *
 * Each gets one command in the first turn, and twice as many in each turn in which there is still something to do: a fill of a leader with
 * one follower costs one command, one with 10,000 is worked off while everybody else's commands go along. Leads take turns in the engine.
 * What is copied, and in which order, stands in stored columns, so whoever recovers goes on with the same.
 *
 * How many mirror in a turn at most depends on how long commits take, because everybody waits for the commit of a turn anyway: one for each
 * {@link PACE_US} of it, so a turn with copies is a quarter longer, and a fill with 10,000 followers needs as much time on a quick disk,
 * in many short turns, as on a slow one, in few long ones. The shorter one of the last two commits counts: a disk that once stands still
 * makes no long turn behind it.
 */
import { CommandType, kindOf } from '../layout/command.ts'
import { COPY_STEP_COMMAND, CopyWork } from '../layout/copying.ts'
import { clearFrom, write } from '../layout/record.ts'
import { RECORD_WORDS, type Views } from '../layout/table.ts'
import { firstLead } from '../margin/leads.ts'
import { firstClosing } from '../programs/copy_closing.ts'
import { SCALAR } from '../state/columns.ts'
import { scalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Commands of one turn that mirror, however quick commits are, and however slow: each is an order, or passes by 32 follows. */
export const COPIES_LEAST = 8
export const COPIES_MAX = 256
/** us of a commit for one command. A copy takes 4 or 5, with what is told of it (bench `programs`). */
export const PACE_US = 20
/** Commands of one turn that go on with closing, at most: each is an order, or the end of a stop. */
export const CLOSES_MAX = 16

export interface CopyTimers {
  /** Commands of the last turn that mirrored, and that closed; 0: there was nothing to do. */
  given: number
  closed: number
  /** Most that mirror in a turn, as commits are now. */
  most: number
  /** s that the last commit took. */
  commit: number
}

export const createCopyTimers = (): CopyTimers => ({ given: 0, closed: 0, most: COPIES_LEAST, commit: 0 })

/** A commit took so many seconds. */
export function paceCopies(timers: CopyTimers, seconds: number): void {
  const paced = Math.floor((Math.min(seconds, timers.commit) * 1e6) / PACE_US)
  timers.commit = seconds
  timers.most = Math.max(COPIES_LEAST, Math.min(COPIES_MAX, paced))
}

/** Writes commands for what is to be done at `now` into `batch`, from slot `used` up to slot `end`; returns the slots then used. */
export function writeCopies(timers: CopyTimers, state: State, now: number, batch: Views, used: number, end: number): number {
  if (scalar(state, SCALAR.LEADERS_USED) === 0) return used
  const waits = firstLead(state) >= 0
  timers.given = waits ? Math.min(Math.max(1, 2 * timers.given), timers.most, end - used) : 0
  for (let step = 0; step < timers.given; step++) writeStep(batch, used++, CopyWork.FILLS)
  const closes = firstClosing(state, now) >= 0
  timers.closed = closes ? Math.min(Math.max(1, 2 * timers.closed), CLOSES_MAX, end - used) : 0
  for (let step = 0; step < timers.closed; step++) writeStep(batch, used++, CopyWork.STOPS)
  return used
}

/** Field by field: there are many of them in a turn, and `encode` takes a tenth of what a copy does. */
function writeStep(batch: Views, slot: number, work: number): void {
  const at = slot * RECORD_WORDS
  clearFrom(batch, at, 0)
  write(batch, at, COPY_STEP_COMMAND.at.kind, kindOf(CommandType.COPY_STEP, 1, 0))
  write(batch, at, COPY_STEP_COMMAND.at.session, -1)
  write(batch, at, COPY_STEP_COMMAND.at.work, work)
}
