/**
 * What prices do to orders that wait, as commands of the sequencer itself (timers.ts): TRIGGER_STEP of the pairs on which something fires
 * or a mark is still to be looked at (margin/pending_marks.ts).
 *
 * Pairs take turns. A pair gets one command in the first turn, and twice as many in each turn in which it still has something to do, so
 * that a single order that fires costs one command, and a price that crosses thousands of triggers is worked off with
 * {@link TRIGGERS_MAX} a turn while everybody else's commands go along. Everything that decides what is to be done stands in stored
 * columns, so whoever recovers writes the same.
 */
import { CommandType, kindOf } from '../layout/command.ts'
import { TRIGGER_STEP_COMMAND } from '../layout/conditional.ts'
import { encode, RECORD_WORDS, type Views } from '../layout/table.ts'
import { isTriggered } from '../margin/pending_marks.ts'
import { pairCount } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Commands of one turn, at most: of all pairs. */
export const TRIGGERS_MAX = 64

export interface TriggerTimers {
  /** The pair that is asked first. */
  pair: number
  /** Commands that each pair got in the last turn; 0: it had nothing to do. */
  readonly given: number[]
}

export const createTriggerTimers = (): TriggerTimers => ({ pair: 0, given: [] })

/** Writes commands for what is to be done into `batch`, from slot `used` up to slot `end`; returns the slots then used. */
export function writeTriggers(timers: TriggerTimers, state: State, batch: Views, used: number, end: number): number {
  end = Math.min(end, used + TRIGGERS_MAX)
  const pairs = pairCount(state)
  const first = timers.pair % pairs
  for (let looks = 0; looks < pairs; looks++) {
    const pair = (first + looks) % pairs
    if (!isTriggered(state, pair)) {
      timers.given[pair] = 0
      continue
    }
    if (used >= end) continue
    const given = Math.min(Math.max(1, 2 * (timers.given[pair] ?? 0)), TRIGGERS_MAX, end - used)
    for (let step = 0; step < given; step++) {
      const kind = kindOf(CommandType.TRIGGER_STEP, 1, 0)
      encode(TRIGGER_STEP_COMMAND, batch, used++ * RECORD_WORDS, { kind, session: -1, pair })
    }
    timers.given[pair] = given
    timers.pair = pair + 1
  }
  return used
}
