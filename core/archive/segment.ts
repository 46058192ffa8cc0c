/**
 * A segment: a file of an archive, with the batches of a stretch of the journal as they stood there, one behind the other, compressed.
 *
 *   byte  0  magic "RBA1"                     40  checksum of the batch before the first   64  SHA-256 of the compressed batches
 *         4  version                          44  checksum of the last batch               96  SHA-256 of the header of the segment
 *         8  number of the segment (f64)      48  bytes of the batches (f64)                    before; zero in the first one
 *        16  first sequence (f64)             56  compressed bytes (f64)
 *        24  sequence after the last (f64)                                               128  the batches, zstd
 *        32  batches (f64)
 *
 * Three chains hold an archive together: batches by their checksums, as in the journal; segments by their places; and headers by SHA-256,
 * so that one header stands for everything before it.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { lengthAt, open, type Batch } from '../journal/frame.ts'
import type { Place } from '../journal/reader.ts'

export const SEGMENT_HEADER_BYTES = 128
const MAGIC = 0x31414252
const VERSION = 1
const AT = {
  MAGIC: 0, VERSION: 4, NUMBER: 8, FIRST: 16, NEXT: 24, BATCHES: 32, PREVIOUS: 40, CHECKSUM: 44, RAW: 48, STORED: 56, DIGEST: 64, CHAIN: 96,
} as const
const DIGEST_BYTES = 32
/** Bytes of batches in a segment, from which on it is full. */
export const SEGMENT_BYTES = 32 << 20
/** Most bytes that the batches of a segment may have: a full one and the longest batch. What says more is no segment. */
const RAW_MOST = SEGMENT_BYTES + (1 << 20)

/** An archive that is not what was written. */
export class ArchiveError extends Error {
  override name = 'ArchiveError'
}

export interface SegmentHeader {
  readonly number: number
  /** First sequence, and the checksum of the batch before it. */
  readonly begin: Place
  /** Sequence after the last, and the checksum of the last batch. */
  readonly end: Place
  readonly batches: number
  /** Bytes of the batches, and compressed. */
  readonly raw: number
  readonly stored: number
  /** SHA-256 of the compressed batches. */
  readonly digest: Buffer
  /** SHA-256 of the header before. */
  readonly chain: Buffer
}

export const digestOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

/** The file of a segment with these batches, one behind the other. */
export function encodeSegment(
  raw: Buffer, of: Pick<SegmentHeader, 'number' | 'begin' | 'end' | 'batches' | 'chain'>,
): Buffer {
  const content = zstdCompressSync(raw)
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES)
  header.writeUInt32LE(MAGIC, AT.MAGIC)
  header.writeUInt32LE(VERSION, AT.VERSION)
  header.writeDoubleLE(of.number, AT.NUMBER)
  header.writeDoubleLE(of.begin.sequence, AT.FIRST)
  header.writeDoubleLE(of.end.sequence, AT.NEXT)
  header.writeDoubleLE(of.batches, AT.BATCHES)
  header.writeUInt32LE(of.begin.checksum, AT.PREVIOUS)
  header.writeUInt32LE(of.end.checksum, AT.CHECKSUM)
  header.writeDoubleLE(raw.length, AT.RAW)
  header.writeDoubleLE(content.length, AT.STORED)
  digestOf(content).copy(header, AT.DIGEST)
  of.chain.copy(header, AT.CHAIN)
  return Buffer.concat([header, content])
}

/** What the header of a segment says; throws {@link ArchiveError}. `name`: for its words. */
export function decodeHeader(header: Buffer, name: string): SegmentHeader {
  if (header.length < SEGMENT_HEADER_BYTES || header.readUInt32LE(AT.MAGIC) !== MAGIC) throw new ArchiveError(`${name} is no segment`)
  const version = header.readUInt32LE(AT.VERSION)
  if (version !== VERSION) throw new ArchiveError(`${name} has version ${version}, this program reads ${VERSION}`)
  const raw = header.readDoubleLE(AT.RAW)
  if (!(raw > 0 && raw <= RAW_MOST)) throw new ArchiveError(`${name} says that its batches have ${raw} bytes`)
  return {
    number: header.readDoubleLE(AT.NUMBER),
    begin: { sequence: header.readDoubleLE(AT.FIRST), checksum: header.readUInt32LE(AT.PREVIOUS) },
    end: { sequence: header.readDoubleLE(AT.NEXT), checksum: header.readUInt32LE(AT.CHECKSUM) },
    batches: header.readDoubleLE(AT.BATCHES),
    raw,
    stored: header.readDoubleLE(AT.STORED),
    digest: Buffer.copyBytesFrom(header, AT.DIGEST, DIGEST_BYTES),
    chain: Buffer.copyBytesFrom(header, AT.CHAIN, DIGEST_BYTES),
  }
}

/** The batches of the segment at `path`, every one checked; throws {@link ArchiveError} at the first thing that is not what was written. */
export function readSegment(path: string, header: SegmentHeader): Batch[] {
  const fail = (words: string): never => {
    throw new ArchiveError(`${path}: ${words}`)
  }
  const content = readFileSync(path).subarray(SEGMENT_HEADER_BYTES)
  if (content.length !== header.stored || !digestOf(content).equals(header.digest)) fail('its batches are not those that its header names')
  const raw = zstdDecompressSync(content, { maxOutputLength: header.raw })
  if (raw.length !== header.raw) fail(`${raw.length} bytes, its header says ${header.raw}`)
  const batches: Batch[] = []
  let { sequence, checksum } = header.begin
  for (let at = 0; at < raw.length; ) {
    const length = lengthAt(raw, at)
    const batch = open(raw.subarray(at, at + length))
    if (typeof batch === 'string') return fail(`the batch behind sequence ${sequence - 1}: ${batch}`)
    const follows = batch.sequence === sequence && batch.previous === checksum
    if (!follows) fail(`the batch at sequence ${batch.sequence} does not continue the one before`)
    batches.push(batch)
    at += length
    sequence = batch.next
    checksum = batch.checksum
  }
  const { end } = header
  const ends = batches.length === header.batches && end.sequence === sequence && end.checksum === checksum
  if (!ends) fail('it ends elsewhere than its header says')
  return batches
}
