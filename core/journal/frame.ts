/**
 * The journal format: one value per batch, key = first sequence.
 *
 *   byte  0  magic "RBJ1"            16  first sequence (f64)       40  checksum of all events before this batch
 *         4  layout of the records   24  time, Unix ms (f64)        44  zero
 *         8  length of the value     32  commands                   48  zero
 *        12  record slots            36  checksum of the previous   60  checksum of everything above and of the records
 *        64  records, 128 bytes a slot
 *
 * Checksums are CRC-32. Each batch carries the previous batch's checksum, so a batch that was lost, moved or exchanged is found;
 * and the checksum of the events its predecessors caused, so replay proves itself batch by batch (I15, I16).
 *
 * Records are what they were when they were written: a batch names the version of the layouts (layout/command.ts) that its records have.
 * A newer version than this program knows refuses the journal, which is what an older program does with the batches of this one.
 */
import { crc32 } from 'node:zlib'
import { ACCEPT_LOSS_COMMAND, CommandType, LAYOUT, typeOfKind } from '../layout/command.ts'
import { RECORD_BYTES } from '../layout/table.ts'

export const MAGIC = 0x314a4252
export const HEADER_BYTES = 64
const H = {
  MAGIC: 0,
  LAYOUT: 4,
  LENGTH: 8,
  SLOTS: 12,
  SEQUENCE: 16,
  TIME: 24,
  COMMANDS: 32,
  PREVIOUS: 36,
  EVENTS: 40,
  CHECKSUM: 60,
} as const

export interface BatchHeader {
  /** Sequence of the first command. */
  sequence: number
  /** Unix ms, one for the batch. */
  time: number
  commands: number
  slots: number
  /** Checksum of the previous batch; 0 for the first. */
  previous: number
  /** Chained checksum of all events of earlier batches. */
  events: number
}

export interface Batch extends BatchHeader {
  /** Version of the layouts of its records: 1 (layout/first_layout.ts) or that of today. */
  layout: number
  checksum: number
  /** Sequence that follows its commands: the next one, or a far one behind an ACCEPT_LOSS, which stands alone. */
  next: number
  /** The records, a view into the value. */
  records: Buffer
}

/** Writes the header of a value whose records are already in place; returns its checksum. `value` is exactly the batch. */
export function seal(value: Buffer, header: BatchHeader): number {
  value.fill(0, 0, HEADER_BYTES)
  value.writeUInt32LE(MAGIC, H.MAGIC)
  value.writeUInt32LE(LAYOUT, H.LAYOUT)
  value.writeUInt32LE(value.length, H.LENGTH)
  value.writeUInt32LE(header.slots, H.SLOTS)
  value.writeDoubleLE(header.sequence, H.SEQUENCE)
  value.writeDoubleLE(header.time, H.TIME)
  value.writeUInt32LE(header.commands, H.COMMANDS)
  value.writeUInt32LE(header.previous, H.PREVIOUS)
  value.writeUInt32LE(header.events, H.EVENTS)
  const checksum = checksumOf(value)
  value.writeUInt32LE(checksum, H.CHECKSUM)
  return checksum
}

const checksumOf = (value: Buffer): number => crc32(value.subarray(HEADER_BYTES), crc32(value.subarray(0, H.CHECKSUM)))

/** The batch in `value`, or the reason why it is not one. */
export function open(value: Buffer): Batch | string {
  if (value.length < HEADER_BYTES) return `only ${value.length} bytes`
  if (value.readUInt32LE(H.MAGIC) !== MAGIC) return 'not a journal batch'
  const layout = value.readUInt32LE(H.LAYOUT)
  if (layout < 1 || layout > LAYOUT) return `format ${layout}, this version reads 1 to ${LAYOUT}`
  const length = value.readUInt32LE(H.LENGTH)
  if (length !== value.length) return `${value.length} bytes, header says ${length}`
  const checksum = value.readUInt32LE(H.CHECKSUM)
  if (checksumOf(value) !== checksum) return 'checksum mismatch'
  const slots = value.readUInt32LE(H.SLOTS)
  if (HEADER_BYTES + slots * RECORD_BYTES !== length) return 'slots and length disagree'
  const sequence = value.readDoubleLE(H.SEQUENCE)
  const commands = value.readUInt32LE(H.COMMANDS)
  const records = value.subarray(HEADER_BYTES)
  return {
    layout,
    sequence,
    time: value.readDoubleLE(H.TIME),
    commands,
    slots,
    previous: value.readUInt32LE(H.PREVIOUS),
    events: value.readUInt32LE(H.EVENTS),
    checksum,
    next: isLoss(records, commands) ? records.readDoubleLE(RESUME_BYTES) + 1 : sequence + commands,
    records,
  }
}

const RESUME_BYTES = ACCEPT_LOSS_COMMAND.at.resume * 4
const isLoss = (records: Buffer, commands: number): boolean =>
  commands === 1 && records.length > 0 && typeOfKind(records.readUInt32LE(0)) === CommandType.ACCEPT_LOSS

/** Bytes of the value that begins at `at` of many, one behind the other, by its own header; 0 when there is none. */
export const lengthAt = (values: Buffer, at: number): number =>
  at + HEADER_BYTES <= values.length ? values.readUInt32LE(at + H.LENGTH) : 0

/** The whole value that a batch was opened from, copied. */
export const valueOf = ({ records: { buffer, byteOffset, length } }: Batch): Buffer =>
  Buffer.copyBytesFrom(new Uint8Array(buffer, byteOffset - HEADER_BYTES, HEADER_BYTES + length))

/** The key of a sequence: 8 bytes, big endian, so that keys sort as sequences. */
export function keyOf(sequence: number): Buffer {
  const key = Buffer.alloc(8)
  key.writeBigUInt64BE(BigInt(sequence))
  return key
}

export const sequenceOf = (key: Uint8Array): number => Number(Buffer.from(key.buffer, key.byteOffset, 8).readBigUInt64BE())
