/** A journal whose oldest batches may go, and its archive: for tests of what may be dropped, and of getting it back. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { extendArchive, openArchive } from '../../core/archive/archive.ts'
import { droppable, restoreArchive } from '../../core/archive/retention.ts'
import { openProjection } from '../../core/history/project/projection.ts'
import { historyPath } from '../../core/history/store/store.ts'
import { openJournal } from '../../core/journal/file.ts'
import { readBatches, START } from '../../core/journal/reader.ts'
import { CommandType } from '../../core/layout/command.ts'
import { removeDirectory, temporaryDirectory } from './exchange.ts'
import { makeJournal, postCommand, startMatcher, takeAnswers } from './journal.ts'

export interface ArchiveStage {
  readonly directory: string
  readonly archived: string
  /** Last sequences of the batches, the genesis first. */
  readonly lasts: readonly number[]
  /** Every batch, as bytes. */
  readonly truth: readonly string[]
}

export const printed = (batches: Iterable<{ sequence: number; records: Buffer }>): string[] =>
  Array.from(batches, ({ sequence, records }) => `${sequence} ${records.toString('hex')}`)

/** A journal of which 13 batches may go, and an archive of it in segments up to these batches. */
export async function archiveStage(t: Test, untils: readonly number[]): Promise<ArchiveStage> {
  const root = temporaryDirectory()
  t.teardown(() => removeDirectory(root))
  const [directory, archived] = [join(root, 'exchange'), join(root, 'archive')]
  mkdirSync(directory)
  const { database, after } = makeJournal(directory, { seed: 5, batches: 40, snapshots: [12, 30] })
  const projection = openProjection(directory, historyPath(directory), { warn: (text) => t.fail(text) })
  while (projection.step(1_000_000));
  await projection.close()
  const lasts = after.map(({ last }) => last)
  for (const until of untils) extendArchive(archived, database, lasts[until]! + 1, () => undefined)
  const truth = printed(readBatches(database, START))
  await database.close()
  return { directory, archived, lasts, truth }
}

/** Lets the exchange drop what it may, as far as `sequence`; where its journal begins then. */
export async function forget(directory: string, sequence = Infinity): Promise<number> {
  const matcher = startMatcher(directory)
  const { writer } = matcher.sequencer
  const before = Math.min(sequence, droppable(directory))
  writer.dropBefore(before)
  for (let commit = 0; commit < 500 && writer.first < before; commit++) {
    postCommand(matcher, 1, CommandType.CANCEL_ALL, { session: 0, sessionGeneration: 0, pair: -1, limit: 1 })
    matcher.turn()
    takeAnswers(matcher.gateways[1]!)
  }
  const { first } = writer
  await matcher.database.close()
  return first
}

/** Expects archive and journal to give back every batch there was. */
export async function givesBack(t: Test, { directory, archived, truth }: ArchiveStage): Promise<void> {
  const database = openJournal(directory, false, 1)
  restoreArchive(directory, openArchive(archived), database, () => undefined)
  t.same(printed(readBatches(database, START)).slice(0, truth.length), truth, 'every batch is back')
  await database.close()
}
