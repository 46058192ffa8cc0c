/**
 * A batch that is whole and that the engine cannot apply: a command in it throws. The sequencer made it durable before it knew, ended, and
 * every start would end at the same command.
 *
 * The operator may cut it by name as an invalid last batch is cut (`--cut-tail SEQUENCE`), when nothing of it was answered. The matcher
 * answers a batch as a whole when all of it is applied, so of a batch that threw nobody was told. That it threw then too, and not only in
 * this version of the engine, follows from nobody having applied it since: batches behind it, a snapshot or a history that reach it say
 * that somebody did. Then it stays, and so it does when one of them cannot be asked.
 */
import { CLOCK } from '../state/columns.ts'
import { commandName, slotsOfKind, typeOfKind } from '../layout/command.ts'
import { RECORD_BYTES } from '../layout/table.ts'
import type { Batch } from '../journal/frame.ts'
import { JournalFault, lastSequence } from '../journal/reader.ts'
import type { JournalStore } from '../journal/store.ts'
import { Divergence, type Replayer } from './replayer.ts'
import type { WitnessSource } from './witnesses.ts'

/** The engine threw at a command of a batch. */
export class UnappliedBatch extends JournalFault {
  override name = 'UnappliedBatch'
  /** Nothing speaks against cutting it. */
  readonly unanswered: boolean
  constructor(sequence: number, last: boolean, why: string, against: string | null) {
    const advice = against === null
      ? 'no snapshot and no history has applied it, so nothing of it was answered if this version wrote it; '
        + `--cut-tail ${sequence} takes it out`
      : `${against}, so it was answered: start the version of the exchange that wrote it`
    super({ sequence, last, reason: `the engine cannot apply ${why}; ${advice}` }, '')
    this.unanswered = against === null
  }
}

/** `replayer` for recovery: what the engine throws becomes an {@link UnappliedBatch} that says which command it was. */
export function naming(journal: JournalStore, replayer: Replayer, sources: readonly WitnessSource[]): Replayer {
  const batch = (one: Batch): void => {
    try {
      replayer.batch(one)
    } catch (error) {
      if (error instanceof Divergence) throw error
      const last = lastSequence(journal) === one.sequence
      const against = last ? appliedBy(sources, one.sequence) : 'batches follow it'
      throw new UnappliedBatch(one.sequence, last, described(one, replayer.state.clock[CLOCK.SEQUENCE]!, error as Error), against)
    }
  }
  return { ...replayer, batch }
}

/** Who has applied the batch at `sequence`, or may have; `null`: nobody. */
function appliedBy(sources: readonly WitnessSource[], sequence: number): string | null {
  for (const { name, place } of sources) {
    try {
      const found = place()
      if (found !== null && found.sequence > sequence) return `${name} has applied it`
    } catch {
      return `${name} cannot be read and may have applied it`
    }
  }
  return null
}

/** The command that stood last when the engine threw, in words. */
function described(batch: Batch, reached: number, error: Error): string {
  const index = Math.min(Math.max(0, reached - batch.sequence), batch.commands - 1)
  let slot = 0
  for (let each = 0; each < index; each++) slot += slotsOfKind(batch.records.readUInt32LE(slot * RECORD_BYTES))
  const type = commandName(typeOfKind(batch.records.readUInt32LE(slot * RECORD_BYTES)))
  return `command ${batch.sequence + index}, ${type} (${error.name}: ${error.message})`
}
