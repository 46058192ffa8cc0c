/**
 * What the operator accepted: the end of the journal is lost, the exchange goes on from what is left.
 *
 * Sequences of the lost commands were given out: orders, trades and sessions are named by them. So this command takes a sequence behind all
 * of them. Nothing else changes. The start writes it, never a lane (sequencer/loss.ts).
 */
import { ACCEPT_LOSS_COMMAND } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { CLOCK } from '../state/columns.ts'
import { emitResult } from '../events/emit.ts'
import type { State } from '../state/state.ts'
import { assert } from '../lib/assert.ts'

const { resume: RESUME } = ACCEPT_LOSS_COMMAND.at
/** Ids hold 48 bits of a sequence. */
const SEQUENCE_MAX = 2 ** 48 - 1

/** Moves the sequence of this command, and so of all that follow, to `resume`. */
export function acceptLoss(state: State, command: Views, base: number): void {
  const resume = command.f64[(base + RESUME) >>> 1]!
  const { clock } = state
  assert(Number.isInteger(resume) && resume >= clock[CLOCK.SEQUENCE]! && resume < SEQUENCE_MAX, 'a sequence goes back')
  clock[CLOCK.SEQUENCE] = resume
  emitResult(state, command, base, 0, -1, 0, 0)
}
