/**
 * What is waiting to leave one WebSocket.
 *
 * Frames are collected and leave together at the end of a turn, in order; those of long snapshots are made one by one as they leave. A
 * socket whose client does not take them is cut when more than `wsBufferKb` are waiting in the kernel's stead: nothing is thrown away in
 * between, so what a client has read is without gaps.
 *
 * A snapshot may be longer than the bound, so its frames are made as the client reads: over the bound none is made until half of it was
 * read ({@link Outbox.drained}). A client that reads nothing for {@link READS_MS} meanwhile is cut, and so is one for which more than the
 * bound has come behind the snapshot. What such frames are made of is held for each subscriber: it counts as waiting for the socket, so
 * that all sockets together have their bound (limits/backlog.ts).
 */
import { GATEWAY } from '../../core/ring/counters.ts'
import type { Gateway } from '../context.ts'
import type { Frame, LaterFrame } from './frames.ts'
import { CLOSE, type CloseCode } from './protocol.ts'

/** The socket of the library. Nothing may be called once it closed. */
export interface Socket {
  /** False: the kernel did not take all of it. */
  send(frame: Uint8Array): boolean
  /** Bytes that the kernel has not taken yet. */
  buffered(): number
  /** So many bytes are held for it outside of the library; it or others may be cut for that. */
  holds(bytes: number): void
  /** Runs `write` and sends what it wrote together. */
  together(write: () => void): void
  /** Closes with a code and a reason. */
  end(code: CloseCode, reason: string): void
  /** Closes without a word. */
  drop(): void
}

/** How long the client of a snapshot under way may read nothing, ms. */
export const READS_MS = 10_000

/** Frames that may wait behind a snapshot that waits for its reader: what they are made of is held as long. */
const FRAMES_MAX = 1024

/** What is held of a long snapshot for each frame that has to be made still, bytes, about: copies of 500 orders. */
export const LATER_BYTES = 128 * 1024

/** The connection whose frames these are. */
export interface Sender {
  readonly closed: boolean
  close(code: CloseCode, reason: string): void
  /** The socket closed or is about to. */
  release(): void
}

/** What the connections of a thread have in common, as far as sending goes. */
export interface Sending<C> {
  readonly gateway: Gateway
  /** Connections with frames to send. */
  readonly dirty: Set<C>
  /** Flushes a connection before anything else happens. */
  readonly flushSoon: (connection: C) => void
}

export class Outbox<C extends Sender> {
  readonly #context: Sending<C>
  readonly #socket: Socket
  readonly #connection: C
  #waiting: (Frame | LaterFrame)[] = []
  /** Answers are waiting, and will be flushed. */
  #replied = false
  /** The next frame of a snapshot waits for the client; until this timer. */
  #pause: NodeJS.Timeout | null = null
  /** Bytes of the frames that wait behind it. */
  #behind = 0
  /** Frames of snapshots that wait, to be made yet. */
  #later = 0

  constructor(context: Sending<C>, socket: Socket, connection: C) {
    this.#context = context
    this.#socket = socket
    this.#connection = connection
  }

  /** Frames that are waiting. */
  get length(): number {
    return this.#waiting.length
  }

  clear(): void {
    this.#waiting = []
    this.#later = 0
    this.#resume()
  }

  /** Sends a frame at the end of the turn. */
  push(frame: Frame | LaterFrame): void {
    if (this.#connection.closed || this.#isTooMuch(frame)) return
    this.#waiting.push(frame)
    this.#context.dirty.add(this.#connection)
    if (!isLater(frame)) return
    this.#later++
    this.#tell()
  }

  /** Says what is held here; the connection may be cut for it. */
  #tell(): void {
    if (!this.#connection.closed) this.#socket.holds(this.#later * LATER_BYTES + this.#behind)
  }

  /** The client read some of what it was sent. */
  drained(): void {
    if (this.#pause === null || this.#socket.buffered() > this.#bound / 2) return
    this.#resume()
    this.#context.flushSoon(this.#connection)
  }

  #resume(): void {
    if (this.#pause !== null) clearTimeout(this.#pause)
    this.#pause = null
    this.#behind = 0
  }

  /** Sends an answer at the end of this callback. */
  reply(frame: Frame): void {
    if (this.#connection.closed || this.#isTooMuch(frame)) return
    // The first of them sees to it that all leave.
    if (!this.#replied) this.#context.flushSoon(this.#connection)
    this.#replied = true
    this.#waiting.push(frame)
  }

  /** Sends an answer which is valid during the call only: at once where nothing waits, which costs less. */
  replyNow(frame: Uint8Array): void {
    if (this.#connection.closed) return
    if (this.#waiting.length > 0) return this.reply(Buffer.from(frame))
    const { counters } = this.#context.gateway
    counters[GATEWAY.ws_bytes]! += frame.length
    counters[GATEWAY.ws_frames]!++
    // It may have been cut meanwhile.
    if (!this.#socket.send(frame) && !this.#connection.closed) this.#isSlow()
  }

  /** Sends what is waiting: all, or up to the next frame that must be made, or that one. True: there is more. */
  flush(): boolean {
    const waiting = this.#waiting
    this.#replied = false
    if (this.#connection.closed || waiting.length === 0 || this.#pause !== null) return false
    const later = waiting.findIndex(isLater)
    if (later === 0 && this.#socket.buffered() > this.#bound) return this.#wait()
    this.#waiting = later < 0 ? [] : waiting.slice(Math.max(1, later))
    if (later === 0) this.#sendLater(waiting[0] as LaterFrame)
    else if (!this.#isSlow()) this.#send((later < 0 ? waiting : waiting.slice(0, later)) as Frame[])
    if (this.#waiting.length === 0) return false
    this.#context.dirty.add(this.#connection)
    return true
  }

  /** The snapshot waits for its reader. */
  #wait(): false {
    this.#pause = setTimeout(() => this.#cut(), READS_MS).unref()
    for (const frame of this.#waiting) if (!isLater(frame)) this.#behind += frame.length
    this.#tell()
    return false
  }

  /** Bytes that may wait. */
  get #bound(): number {
    return this.#context.gateway.config.wsBufferKb * 1024
  }

  /** Cuts a socket that does not read. */
  #isSlow(): boolean {
    if (this.#socket.buffered() <= this.#bound) return false
    this.#cut()
    return true
  }

  /** While a snapshot waits for its reader, what comes behind it has the same bound. */
  #isTooMuch(frame: Frame | LaterFrame): boolean {
    if (this.#pause === null) return false
    if (!isLater(frame)) this.#behind += frame.length
    if (this.#behind > this.#bound || this.#waiting.length >= FRAMES_MAX) this.#cut()
    else this.#tell()
    return this.#connection.closed
  }

  #cut(): void {
    this.#context.gateway.counters[GATEWAY.ws_slow]!++
    this.#socket.drop()
    this.#connection.release()
  }

  #sendLater(make: LaterFrame): void {
    this.#later--
    try {
      this.#send([make()])
    } catch (error) {
      this.#context.gateway.faults.end(error, null)
      this.clear()
      this.#connection.close(CLOSE.RESYNC, 'internal error')
    }
    this.#tell()
  }

  #send(frames: readonly Frame[]): void {
    const { counters } = this.#context.gateway
    // One frame is one system call anyway; most turns have one for a socket.
    if (frames.length === 1) this.#socket.send(frames[0]!)
    else {
      this.#socket.together(() => {
        // The library may cut a socket that has far too much waiting.
        for (const frame of frames) if (!this.#connection.closed) this.#socket.send(frame)
      })
    }
    for (const frame of frames) counters[GATEWAY.ws_bytes]! += frame.length
    counters[GATEWAY.ws_frames]! += frames.length
  }
}

const isLater = (frame: Frame | LaterFrame): frame is LaterFrame => typeof frame === 'function'
