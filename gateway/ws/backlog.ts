/**
 * What waits in a gateway thread for the clients of all its WebSockets, in bytes: `wsBuffersMb` at most, of which a client has its share
 * (limits/shares.ts). What would go beyond that has room made for it at once: the socket for which most waits is cut, of the client that
 * has its share, or of everybody. It is cut without a close frame, which its client would not read.
 *
 * A socket is looked at when the library says that it could not send all, when it sent some of it, and when frames left together. Between
 * two looks the library may have up to 16 KiB of one more.
 */
import { GATEWAY } from '../../core/ring/counters.ts'
import { Shares } from '../limits/shares.ts'

export interface BacklogSocket {
  readonly client: string
  /** Bytes taken for it in the backlog, which alone sets them. */
  held: number
  /** Nothing may be asked of it any more. */
  closed: boolean
  /** Closes it, upon which {@link Backlog.end} is called. */
  cut(): void
}

export class Backlog {
  readonly #shares: Shares
  readonly #counters: Float64Array
  readonly #sockets = new Set<BacklogSocket>()

  /** `most`: bytes. */
  constructor(most: number, proxies: ReadonlySet<string>, counters: Float64Array) {
    this.#shares = new Shares(most, proxies)
    this.#counters = counters
    counters[GATEWAY.ws_waiting_capacity] = most
  }

  /** So many bytes wait for this socket now; it or others may be cut for that. */
  note(socket: BacklogSocket, bytes: number): void {
    if (bytes > socket.held) this.#sockets.add(socket)
    while (bytes > socket.held) {
      const none = this.#shares.take(socket.client, bytes - socket.held)
      if (none === null) socket.held = bytes
      else if (this.#cutLargest(none === 'share' ? socket.client : null, socket, bytes) === socket) return
    }
    this.#give(socket, socket.held - bytes)
  }

  /** The socket closed. */
  end(socket: BacklogSocket): void {
    socket.closed = true
    this.#give(socket, socket.held)
  }

  #give(socket: BacklogSocket, bytes: number): void {
    if (bytes > 0) {
      this.#shares.give(socket.client, bytes)
      socket.held -= bytes
    }
    if (socket.held === 0) this.#sockets.delete(socket)
    this.#counters[GATEWAY.ws_waiting_bytes] = this.#shares.total
  }

  /** Cuts the socket for which most waits, of one client or of all; `bytes` wait for `grown`. */
  #cutLargest(client: string | null, grown: BacklogSocket, bytes: number): BacklogSocket {
    let largest = grown
    let most = bytes
    for (const socket of this.#sockets) {
      if (socket.held <= most || (client !== null && socket.client !== client)) continue
      largest = socket
      most = socket.held
    }
    this.#counters[GATEWAY.ws_crowded]!++
    largest.cut()
    return largest
  }
}
