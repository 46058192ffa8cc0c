/**
 * A head: where the journal ends, 64 bytes. The same bytes stand in two places that fail apart from each other:
 *
 *   head record   in LMDB under a key behind all batches, in the transaction of each batch: it lies in the same page as the newest one
 *   head file     `journal/head` (head_file.ts), written after each durable commit
 *
 *   byte  0  magic "RBH1"      16  batches of the journal (f64)            40  checksum of the last batch
 *         4  version           24  first sequence of the last batch (f64)  44  zero
 *         8  epoch             32  sequence that comes next (f64)          48  number of the write (f64), head file only
 *                                                                          60  CRC-32 of everything above
 *
 * The epoch is drawn at random by each process that opens the journal for writing: another one in the head is another writer.
 */
import { crc32 } from 'node:zlib'

export const HEAD_BYTES = 64
/** Sorts behind the key of every batch. */
export const HEAD_KEY = Buffer.alloc(8, 0xff)

const MAGIC = 0x31484252
const VERSION = 1
const AT = { MAGIC: 0, VERSION: 4, EPOCH: 8, BATCHES: 16, FIRST: 24, NEXT: 32, CHECKSUM: 40, NUMBER: 48, OWN: 60 } as const

export interface Head {
  /** 64 bits, as a whole. */
  epoch: bigint
  /** Batches of the journal, the genesis included. */
  batches: number
  /** First sequence of the last batch: its key. */
  first: number
  /** Sequence that the next command gets. */
  next: number
  /** Checksum of the last batch. */
  checksum: number
  /** Of the head file: counts its writes. 0 in the head record. */
  number: number
}

/** The head of a journal that nothing was written to. */
export const NO_HEAD: Readonly<Head> = { epoch: 0n, batches: 0, first: 0, next: 1, checksum: 0, number: 0 }

/** Writes `head` into 64 bytes at `at`. */
export function encodeHead(to: Buffer, at: number, head: Readonly<Head>): void {
  to.fill(0, at, at + HEAD_BYTES)
  to.writeUInt32LE(MAGIC, at + AT.MAGIC)
  to.writeUInt32LE(VERSION, at + AT.VERSION)
  to.writeBigUInt64LE(head.epoch, at + AT.EPOCH)
  to.writeDoubleLE(head.batches, at + AT.BATCHES)
  to.writeDoubleLE(head.first, at + AT.FIRST)
  to.writeDoubleLE(head.next, at + AT.NEXT)
  to.writeUInt32LE(head.checksum, at + AT.CHECKSUM)
  to.writeDoubleLE(head.number, at + AT.NUMBER)
  to.writeUInt32LE(checksumOf(to, at), at + AT.OWN)
}

const checksumOf = (bytes: Buffer, at: number): number => crc32(bytes.subarray(at, at + AT.OWN))

/** The head in 64 bytes at `at`, or the reason why there is none. */
export function decodeHead(bytes: Buffer, at = 0): Head | string {
  if (bytes.length < at + HEAD_BYTES) return `only ${Math.max(0, bytes.length - at)} bytes`
  if (bytes.readUInt32LE(at + AT.MAGIC) !== MAGIC) return 'not a journal head'
  if (bytes.readUInt32LE(at + AT.OWN) !== checksumOf(bytes, at)) return 'checksum mismatch'
  const version = bytes.readUInt32LE(at + AT.VERSION)
  if (version !== VERSION) return `version ${version}, this program reads ${VERSION}`
  return {
    epoch: bytes.readBigUInt64LE(at + AT.EPOCH),
    batches: bytes.readDoubleLE(at + AT.BATCHES),
    first: bytes.readDoubleLE(at + AT.FIRST),
    next: bytes.readDoubleLE(at + AT.NEXT),
    checksum: bytes.readUInt32LE(at + AT.CHECKSUM),
    number: bytes.readDoubleLE(at + AT.NUMBER),
  }
}

/** The head record of the journal as it is now; `null`: there is none. A string: why it cannot be read. */
export function headRecord(database: { get(key: Buffer): Buffer | undefined }): Head | string | null {
  const value = database.get(HEAD_KEY)
  if (value === undefined) return null
  return value.length === HEAD_BYTES ? decodeHead(value) : `${value.length} bytes`
}
