/** The first batch of every journal: the genesis document itself, so that a journal replays without any file beside it. */
import { CommandType, GENESIS_COMMAND, kindOf } from '../layout/command.ts'
import { encode, RECORD_BYTES, viewsOf } from '../layout/table.ts'
import type { Batch } from './frame.ts'
import type { JournalWriter } from './writer.ts'

/** Longest genesis document in bytes. */
export const GENESIS_MAX_BYTES = 128 * 1024
export const genesisSlots = (bytes: number): number => 1 + Math.ceil(bytes / RECORD_BYTES)

/** Writes `text` as sequence 1. */
export function writeGenesis(writer: JournalWriter, text: string, time: number): void {
  const document = Buffer.from(text, 'utf8')
  if (document.length > GENESIS_MAX_BYTES) throw new Error(`genesis: longer than ${GENESIS_MAX_BYTES} bytes`)
  const slots = genesisSlots(document.length)
  const head = viewsOf(writer.words.buffer, writer.words.byteOffset, RECORD_BYTES)
  encode(GENESIS_COMMAND, head, 0, { kind: kindOf(CommandType.GENESIS, slots, 0), session: -1, length: document.length })
  writer.bytes.fill(0, RECORD_BYTES, slots * RECORD_BYTES)
  document.copy(writer.bytes, RECORD_BYTES)
  writer.commit(1, time, 1, slots, 0)
}

/** The genesis document of a journal's first batch; throws when the batch is something else. */
export function readGenesis(batch: Batch): string {
  const length = batch.records.readInt32LE(GENESIS_COMMAND.at.length * 4)
  const type = batch.records.readUInt32LE(0) & 0xff
  if (batch.sequence !== 1 || batch.commands !== 1 || type !== CommandType.GENESIS || length < 0 || genesisSlots(length) !== batch.slots) {
    throw new Error('the journal does not begin with a genesis')
  }
  return batch.records.toString('utf8', RECORD_BYTES, RECORD_BYTES + length)
}
