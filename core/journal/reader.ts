/**
 * Reading batches in order with every check of the format: sequence without gap, chained checksums, whole batches (I15).
 *
 * An invalid batch is reported with its sequence and whether it is the last one; what to do about it is the caller's decision.
 */
import { keyOf, open, sequenceOf, type Batch } from './frame.ts'
import type { JournalDatabase } from './file.ts'

export interface Fault {
  /** Sequence of the batch at fault: its key, or the one that is missing. */
  readonly sequence: number
  readonly reason: string
  /** Nothing follows it. */
  readonly last: boolean
}

export class JournalFault extends Error {
  override name = 'JournalFault'
  readonly fault: Fault
  constructor(fault: Fault) {
    super(`journal batch at sequence ${fault.sequence}: ${fault.reason}${fault.last ? ' (the last batch)' : ''}`)
    this.fault = fault
  }
}

/** A place in the journal: the next sequence and the checksum that the batch there must carry. */
export interface Place {
  sequence: number
  checksum: number
}

export const START: Place = { sequence: 1, checksum: 0 }

/** Batches from `place` on; throws {@link JournalFault} at the first that is not what must follow. `records` is valid until the next. */
export function* readBatches(database: JournalDatabase, place: Place): Generator<Batch> {
  let { sequence, checksum } = place
  for (const { key, value } of database.getRange({ start: keyOf(sequence), snapshot: false })) {
    const at = sequenceOf(key)
    const fail = (reason: string): never => {
      throw new JournalFault({ sequence: at, reason, last: lastSequence(database) === at })
    }
    if (at !== sequence) throw new JournalFault({ sequence, reason: `it is missing, the next is ${at}`, last: false })
    const batch = open(value)
    if (typeof batch === 'string') return fail(batch)
    if (batch.sequence !== at) fail(`it says it is ${batch.sequence}`)
    if (batch.previous !== checksum) fail('it does not continue the batch before it')
    yield batch
    sequence += batch.commands
    checksum = batch.checksum
  }
}

/** Key of the last batch, or 0. */
export function lastSequence(database: JournalDatabase): number {
  for (const key of database.getKeys({ reverse: true, limit: 1 })) return sequenceOf(key)
  return 0
}

/** Sequence of the last command, from the last batch's header without checking it; 0 for an empty journal. For progress only. */
export function endSequence(database: JournalDatabase): number {
  const last = lastSequence(database)
  if (last === 0) return 0
  const batch = open(database.get(keyOf(last))!)
  return typeof batch === 'string' ? last : last + batch.commands - 1
}
