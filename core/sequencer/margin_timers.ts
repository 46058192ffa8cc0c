/**
 * What time does to margin trading, as commands of the sequencer itself (timers.ts): FUNDING_STEP of the perpetuals of which a sample or a
 * funding interval is over.
 *
 * Everything that decides what is due stands in stored columns, so whoever recovers writes the same. A command that was applied makes its
 * reason go away, so nothing is written twice and nothing has to be remembered here. Only rows of perpetuals are looked at, and none in
 * an exchange that has no perpetual.
 */
import { CommandType, kindOf } from '../layout/command.ts'
import { FUNDING_STEP_COMMAND } from '../layout/margin.ts'
import { encode, RECORD_WORDS, type Views } from '../layout/table.ts'
import { TERMS } from '../state/columns.ts'
import { PERP } from '../state/margin_rows.ts'
import { get, getF64, perpRow, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Commands for margin trading in one turn, at most. */
export const MARGIN_MAX = 64

/** Writes commands for what is due at `now` into `batch`, from slot `used` up to slot `end`; returns the slots then used. */
export function writeMarginDue(state: State, now: number, batch: Views, used: number, end: number): number {
  return writeFunding(state, now, batch, used, end)
}

function writeFunding(state: State, now: number, batch: Views, used: number, end: number): number {
  let left = state.genesis.limits.perps
  for (let pair = 0; left > 0 && used < end; pair++) {
    if (get(state, termsRow(state, pair), TERMS.PERP) === 0) continue
    left--
    const perp = perpRow(state, pair)
    if (!isOver(getF64(state, perp, PERP.NEXT_SAMPLE_AT), now) && !isOver(getF64(state, perp, PERP.NEXT_FUNDING_AT), now)) continue
    const kind = kindOf(CommandType.FUNDING_STEP, 1, 0)
    encode(FUNDING_STEP_COMMAND, batch, used++ * RECORD_WORDS, { kind, session: -1, pair })
  }
  return used
}

/** True when the moment `at` was; 0: it never comes. */
const isOver = (at: number, now: number): boolean => at !== 0 && at <= now
