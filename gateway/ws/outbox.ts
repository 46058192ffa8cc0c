/**
 * What is waiting to leave one WebSocket.
 *
 * Frames are collected and leave together at the end of a turn, in order; those of long snapshots are made one by one as they leave. A
 * socket whose client does not take them is cut when more than `wsBufferKb` are waiting in the kernel's stead: nothing is thrown away in
 * between, so what a client has read is without gaps. One snapshot may go beyond the bound; who is over it gets nothing more.
 */
import { GATEWAY } from '../../core/ring/counters.ts'
import type { Connection, Context } from './connection.ts'
import type { Frame, LaterFrame } from './frames.ts'
import { CLOSE, type CloseCode } from './protocol.ts'

/** The socket of the library. Nothing may be called once it closed. */
export interface Socket {
  /** False: the kernel did not take all of it. */
  send(frame: Uint8Array): boolean
  /** Bytes that the kernel has not taken yet. */
  buffered(): number
  /** Runs `write` and sends what it wrote together. */
  together(write: () => void): void
  /** Closes with a code and a reason. */
  end(code: CloseCode, reason: string): void
  /** Closes without a word. */
  drop(): void
}

export class Outbox {
  readonly #context: Context
  readonly #socket: Socket
  readonly #connection: Connection
  #waiting: (Frame | LaterFrame)[] = []
  /** Answers are waiting, and will be flushed. */
  #replied = false

  constructor(context: Context, socket: Socket, connection: Connection) {
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
  }

  /** Sends a frame at the end of the turn. */
  push(frame: Frame | LaterFrame): void {
    if (this.#connection.closed) return
    this.#waiting.push(frame)
    this.#context.dirty.add(this.#connection)
  }

  /** Sends an answer at the end of this callback. */
  reply(frame: Frame): void {
    if (this.#connection.closed) return
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
    if (this.#connection.closed || waiting.length === 0) return false
    const later = waiting.findIndex(isLater)
    this.#waiting = later < 0 ? [] : waiting.slice(Math.max(1, later))
    if (later === 0) this.#sendLater(waiting[0] as LaterFrame)
    else if (!this.#isSlow()) this.#send((later < 0 ? waiting : waiting.slice(0, later)) as Frame[])
    if (this.#waiting.length === 0) return false
    this.#context.dirty.add(this.#connection)
    return true
  }

  /** Cuts a socket that does not read. Within a snapshot that was begun nobody is cut. */
  #isSlow(): boolean {
    const { counters, config } = this.#context.gateway
    if (this.#socket.buffered() <= config.wsBufferKb * 1024) return false
    counters[GATEWAY.ws_slow]!++
    this.#socket.drop()
    this.#connection.release()
    return true
  }

  #sendLater(make: LaterFrame): void {
    try {
      this.#send([make()])
    } catch (error) {
      this.#context.gateway.engine.onError(error)
      this.#waiting = []
      this.#connection.close(CLOSE.RESYNC, 'internal error')
    }
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

const isLater = (frame: Frame | LaterFrame): boolean => typeof frame === 'function'
