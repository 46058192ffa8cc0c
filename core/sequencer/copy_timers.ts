/**
 * Copy trading, as commands of the sequencer itself (timers.ts): COPY_STEP for what leaders did and is not mirrored yet, and for follows
 * with something to close whose time has come (orders/copy_step.ts).
 *
 * Each gets one command in the first turn, and twice as many in each turn in which there is still something to do, {@link COPIES_MAX} and
 * {@link CLOSES_MAX} at most: a fill of a leader with one follower costs one command, one with 10,000 is worked off while everybody else's
 * commands go along. Leads take turns in the engine. Everything that decides stands in stored columns, so whoever recovers goes on there.
 */
import { CommandType, kindOf } from '../layout/command.ts'
import { COPY_STEP_COMMAND, CopyWork } from '../layout/copying.ts'
import { encode, RECORD_WORDS, type Views } from '../layout/table.ts'
import { firstLead } from '../margin/leads.ts'
import { firstClosing } from '../programs/copy_closing.ts'
import { SCALAR } from '../state/columns.ts'
import { scalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Commands of one turn that mirror, at most: each is an order, or passes by 32 follows. */
export const COPIES_MAX = 64
/** Commands of one turn that go on with closing, at most: each is an order, or the end of a stop. */
export const CLOSES_MAX = 16

export interface CopyTimers {
  /** Commands of the last turn that mirrored, and that closed; 0: there was nothing to do. */
  given: number
  closed: number
}

export const createCopyTimers = (): CopyTimers => ({ given: 0, closed: 0 })

/** Writes commands for what is to be done at `now` into `batch`, from slot `used` up to slot `end`; returns the slots then used. */
export function writeCopies(timers: CopyTimers, state: State, now: number, batch: Views, used: number, end: number): number {
  if (scalar(state, SCALAR.LEADERS_USED) === 0) return used
  const waits = firstLead(state) >= 0
  timers.given = waits ? Math.min(Math.max(1, 2 * timers.given), COPIES_MAX, end - used) : 0
  for (let step = 0; step < timers.given; step++) writeStep(batch, used++, CopyWork.FILLS)
  const closes = firstClosing(state, now) >= 0
  timers.closed = closes ? Math.min(Math.max(1, 2 * timers.closed), CLOSES_MAX, end - used) : 0
  for (let step = 0; step < timers.closed; step++) writeStep(batch, used++, CopyWork.STOPS)
  return used
}

function writeStep(batch: Views, slot: number, work: number): void {
  encode(COPY_STEP_COMMAND, batch, slot * RECORD_WORDS, { kind: kindOf(CommandType.COPY_STEP, 1, 0), session: -1, work })
}
