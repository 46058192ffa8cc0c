/**
 * Going on with a journal that lost its end, because the operator said so.
 *
 * The loss is written into the journal first: ACCEPT_LOSS, a batch of its own behind what is left, which takes a sequence behind every one
 * that was ever given out. Nobody knows exactly how far that was: witnesses may be behind the journal that is lost. So the sequence jumps
 * by more than an exchange writes in an hour at full load. Only then are snapshots and history that know more put aside; what is
 * interrupted in between is refused by the next start, which names them again.
 */
import { renameSync, existsSync } from 'node:fs'
import { CommandType, ACCEPT_LOSS_COMMAND, kindOf } from '../layout/command.ts'
import { encode, RECORD_BYTES, viewsOf } from '../layout/table.ts'
import { CLOCK } from '../state/columns.ts'
import type { Replayer } from './replayer.ts'
import { keyOf, open } from '../journal/frame.ts'
import { JournalError } from '../journal/pages.ts'
import type { JournalStore } from '../journal/store.ts'
import { HEAD_NAME, type Shortfall } from './witnesses.ts'
import type { JournalWriter } from '../journal/writer.ts'

/** Sequences skipped behind the last one that is known: no two orders may share one. Ids have room for 280,000 such losses. */
export const SEQUENCES_SKIPPED = 1e9

/** Writes ACCEPT_LOSS behind the end of the journal and applies it as any replay would; the sequence it has. */
export function writeLoss(database: JournalStore, writer: JournalWriter, replayer: Replayer, known: number): number {
  const { sequence } = replayer.place
  const resume = known + SEQUENCES_SKIPPED
  const record = viewsOf(writer.words.buffer, writer.words.byteOffset, RECORD_BYTES)
  record.bytes.fill(0)
  encode(ACCEPT_LOSS_COMMAND, record, 0, { kind: kindOf(CommandType.ACCEPT_LOSS, 1, 0), session: -1, resume })
  writer.commit(sequence, replayer.state.clock[CLOCK.TIME]!, 1, 1, replayer.events, resume + 1)
  const batch = open(database.get(keyOf(sequence))!)
  if (typeof batch === 'string') throw new JournalError(`the batch that accepts the loss: ${batch}`)
  replayer.batch(batch)
  return resume
}

/** Renames the file at a path; whether there was one. */
export type Rename = (from: string, to: string) => boolean

const renameFile: Rename = (from, to) => {
  if (!existsSync(from)) return false
  renameSync(from, to)
  return true
}

/** Renames the snapshots and the history that know what is lost, so that nobody goes on with them; the names they have now. */
export function setAside({ end, witnesses }: Shortfall, rename = renameFile): string[] {
  const names: string[] = []
  for (const { name, path } of witnesses) {
    if (name === HEAD_NAME) continue
    for (const suffix of ['-wal', '-shm', '']) {
      const aside = `${path}.lost-after-${end}${suffix}`
      if (rename(`${path}${suffix}`, aside) && suffix === '') names.push(aside)
    }
  }
  return names
}
