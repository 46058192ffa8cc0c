/**
 * Reads the messages of one call out of the data of its stream (gRPC over HTTP/2, length-prefixed messages), in place of the
 * reader and the
 * decompression of the library, which hold whatever a client begins to send.
 *
 * Every byte that is held for an unfinished or unserved request is taken from {@link Room} before it is held: of its connection, of its
 * client's share, of the whole. Without room the call ends with RESOURCE_EXHAUSTED. Bytes are copied out of what the socket read, because
 * a slice of one byte keeps all of that: 64 KiB.
 */
import { createGunzip, createInflate } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import type { Shares } from '../limits/shares.ts'

export const NO_ROOM = 'Too many bytes of requests are under way'
/** Flag and length before a message. */
export const PREFIX = 5
/** Memory first taken for a message that does not come in one piece; it grows as its bytes come. */
const PIECE = 16 * 1024
/** What decompressing one message needs besides its output. */
const INFLATE_BYTES = 64 * 1024

/** What one connection may hold for its requests, within its client's share of the whole. */
export class Room {
  readonly #shares: Shares
  readonly #client: string
  readonly #most: number
  #held = 0

  constructor(shares: Shares, client: string, most: number) {
    this.#shares = shares
    this.#client = client
    this.#most = most
  }

  take(bytes: number): boolean {
    if (this.#held + bytes > this.#most || this.#shares.take(this.#client, bytes) !== null) return false
    this.#held += bytes
    return true
  }

  give(bytes: number): void {
    if (bytes === 0) return
    this.#held -= bytes
    this.#shares.give(this.#client, bytes)
  }
}

/** Where the uncompressed message that begins here ends, when all of it is there; -1: it is another. */
function wholeAt(data: Buffer, at: number): number {
  if (data.length - at < PREFIX || data[at] !== 0) return -1
  const end = at + PREFIX + data.readUInt32BE(at + 1)
  return end <= data.length ? end : -1
}

/** Thrown to the library, which ends the call with it. */
class NoRoomLeft extends Error {
  override message = NO_ROOM
}

export class MessageReader {
  readonly #room: Room
  readonly #most: number
  /** Whether requests are served as they come, and nothing is held for them after that. */
  readonly #streams: boolean
  readonly #onNoRoom: () => void
  readonly #prefix = Buffer.alloc(PREFIX)
  #prefixed = 0
  /** Flag, length and what has come of the message; as long as the message when that is whole. */
  #message: Buffer | null = null
  #length = 0
  #filled = 0
  #held = 0
  #over = false

  /** `most`: bytes of one message, before and after decompression. */
  constructor(room: Room, most: number, streams: boolean, onNoRoom: () => void) {
    this.#room = room
    this.#most = most
    this.#streams = streams
    this.#onNoRoom = onNoRoom
  }

  /** The messages that are whole with this piece of data, each with its prefix. Throws what the call is to end with. */
  write(data: Buffer): Buffer[] {
    const whole: Buffer[] = []
    let at = 0
    while (at < data.length && !this.#over) {
      const ends = this.#streams && this.#prefixed === 0 ? wholeAt(data, at) : -1
      if (ends >= 0) {
        // It is served before more is read, so nothing is held for it.
        whole.push(data.subarray(at, ends))
        at = ends
        continue
      }
      if (this.#message === null) at = this.#begin(data, at)
      else {
        const count = Math.min(data.length - at, this.#length - this.#filled)
        this.#fill(data, at, count)
        at += count
      }
      if (this.#message === null || this.#filled < this.#length) continue
      whole.push(this.#message.subarray(0, this.#length))
      this.#message = null
      this.#prefixed = 0
    }
    return whole
  }

  /** A message of a stream was handed on: only what has come of the next one is held still. */
  served(): void {
    const unfinished = this.#message === null ? 0 : this.#message.length
    if (this.#held > unfinished) this.#release(this.#held - unfinished)
  }

  /** The call is over. */
  close(): void {
    this.#over = true
    this.#message = null
    this.#release(this.#held)
  }

  /** What `message`, without its prefix, unpacks to. Rejects with the status to end the call with. */
  inflate(message: Buffer, encoding: string): Promise<Buffer> {
    const inflater = encoding === 'gzip' ? createGunzip() : encoding === 'deflate' ? createInflate() : null
    if (inflater === null) {
      return Promise.reject({ code: status.UNIMPLEMENTED, details: `Received message compressed with unsupported encoding "${encoding}"` })
    }
    return new Promise((resolve, reject) => {
      const parts: Buffer[] = []
      let length = 0
      const fail = (code: status, details: string): void => {
        inflater.destroy()
        reject({ code, details })
      }
      if (!this.#room.take(INFLATE_BYTES)) {
        this.#onNoRoom()
        return fail(status.RESOURCE_EXHAUSTED, NO_ROOM)
      }
      inflater.once('close', () => this.#room.give(INFLATE_BYTES))
      inflater.on('error', () => fail(status.INTERNAL, 'Failed to decompress message'))
      inflater.on('data', (part: Buffer) => {
        length += part.length
        if (length > this.#most) return fail(status.RESOURCE_EXHAUSTED, `Message of more than ${this.#most} bytes after decompression`)
        if (this.#over || !this.#take(part.length)) return fail(status.RESOURCE_EXHAUSTED, NO_ROOM)
        parts.push(part)
      })
      inflater.on('end', () => resolve(Buffer.concat(parts)))
      inflater.end(message)
    })
  }

  /** Reads into the prefix; with it, the message begins. */
  #begin(data: Buffer, at: number): number {
    const count = Math.min(data.length - at, PREFIX - this.#prefixed)
    data.copy(this.#prefix, this.#prefixed, at, at + count)
    this.#prefixed += count
    if (this.#prefixed < PREFIX) return at + count
    const size = this.#prefix.readUInt32BE(1)
    if (size > this.#most) throw new Error(`Received message larger than max (${size} vs ${this.#most})`)
    this.#length = PREFIX + size
    const there = data.length - at - count >= size
    this.#hold(there ? this.#length : Math.min(this.#length, PIECE))
    this.#prefix.copy(this.#message!)
    this.#filled = PREFIX
    return at + count
  }

  #fill(data: Buffer, at: number, count: number): void {
    const needed = this.#filled + count
    if (needed > this.#message!.length) {
      const before = this.#message!
      this.#hold(Math.min(this.#length, Math.max(needed, 2 * before.length)), before.length)
      before.copy(this.#message!, 0, 0, this.#filled)
    }
    data.copy(this.#message!, this.#filled, at, at + count)
    this.#filled = needed
  }

  /** Memory for the message, in place of `before` bytes. */
  #hold(bytes: number, before = 0): void {
    if (!this.#take(bytes - before)) throw new NoRoomLeft()
    this.#message = Buffer.allocUnsafe(bytes)
  }

  #take(bytes: number): boolean {
    if (!this.#room.take(bytes)) {
      this.close()
      this.#onNoRoom()
      return false
    }
    this.#held += bytes
    return true
  }

  #release(bytes: number): void {
    this.#held -= bytes
    this.#room.give(bytes)
  }
}
