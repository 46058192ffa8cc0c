/**
 * The connections of one port that Node serves (gRPC, operator, chain), each from its first packet to its last.
 *
 * - As many as `most`, and of one client as many as its share (shares.ts). Who wants one more than its share loses its own oldest
 *   connection
 *   that has not asked anything yet, so that silent connections never keep their owner out, whoever else has the same address.
 *   Without such a one, and when all places are taken, the new connection is closed.
 * - A client whose connection was ended as a flood gets no new one for a while (backoff.ts).
 * - The first request has to be whole within `firstMs` of the connection; {@link ConnectionPort.asked} says that it is.
 * - What is to end is reset a moment later whatever the client does: closing politely leaves a socket half open for as long as the other
 *   side wants. ({@link ConnectionPort.end})
 */
import type { Socket } from 'node:net'
import { PORT_COUNTER, type PortBlock } from '../../core/ring/ports.ts'
import { Backoff } from './backoff.ts'
import { networkOf } from './network.ts'
import { Shares, type Proxies } from './shares.ts'

/** How long a connection that was told to end may take to do so, ms. */
const FAREWELL_MS = 1_000
const LOOKS_PER_DEADLINE = 4
const LOOK_LEAST_MS = 20
const LOOK_MOST_MS = 1_000

/** Why a connection ended on this side. */
export type Cut = 'first' | 'idle' | 'flood' | 'crowded'

interface Member {
  client: string
  readonly since: number
}

export class ConnectionPort {
  readonly shares: Shares
  readonly #firstMs: number
  readonly #counters: PortBlock
  readonly #members = new Map<Socket, Member>()
  /** Connections that have not asked anything, the oldest first. */
  readonly #silent = new Map<Socket, Member>()
  readonly #timer: NodeJS.Timeout
  readonly #backoff: Backoff
  readonly #changed: (open: number) => void

  /** `changed` is told how many are open; `now`: ms of a clock that never goes back. */
  constructor(
    most: number, firstMs: number, proxies: Proxies, counters: PortBlock, changed: (open: number) => void = () => undefined,
    now = (): number => performance.now(),
  ) {
    this.#changed = changed
    this.#backoff = new Backoff(proxies, now)
    this.shares = new Shares(most, proxies)
    this.#firstMs = firstMs
    this.#counters = counters
    counters[PORT_COUNTER.most] = most
    this.#timer = setInterval(() => this.#look(), lookMs(firstMs))
    this.#timer.unref()
  }

  get sockets(): Iterable<Socket> {
    return this.#members.keys()
  }

  /** Whether this new connection may stay; otherwise it is closed. */
  admit(socket: Socket): boolean {
    // A connection that breaks is only closed; what it was doing ends with it.
    socket.on('error', () => socket.destroy())
    const client = networkOf(socket.remoteAddress ?? '')
    if (this.#refusesOff(client, socket)) return false
    if (this.shares.take(client) !== null && !(this.#makeRoom(client) && this.shares.take(client) === null)) {
      const full = this.shares.total >= this.shares.most
      this.#counters[full ? PORT_COUNTER.refused_full : PORT_COUNTER.refused_share]!++
      socket.destroy()
      return false
    }
    const member = { client, since: performance.now() }
    this.#members.set(socket, member)
    this.#silent.set(socket, member)
    this.#count()
    socket.once('close', () => this.#leave(socket))
    return true
  }

  /** This connection, which was admitted, is of another client than its socket says; false: it has been closed, that one has its share. */
  moveTo(socket: Socket, address: string): boolean {
    const member = this.#members.get(socket)
    if (member === undefined) return false
    const client = networkOf(address)
    if (this.#refusesOff(client, socket)) return false
    const none = this.shares.move(member.client, client)
    if (none === null) {
      member.client = client
      return true
    }
    this.#counters[none === 'full' ? PORT_COUNTER.refused_full : PORT_COUNTER.refused_share]!++
    socket.destroy()
    return false
  }

  /** Closes a connection of a client that is backed off. */
  #refusesOff(client: string, socket: Socket): boolean {
    if (!this.#backoff.isOff(client)) return false
    this.#counters[PORT_COUNTER.refused_backoff]!++
    socket.destroy()
    return true
  }

  /** The first request of this connection is whole. */
  asked(socket: Socket): void {
    this.#silent.delete(socket)
  }

  /**
   * Ends a connection that was told so, or will be now: it is reset if it is still there a moment later. `backsOff`: its client gets no
   * new one for a while.
   */
  end(socket: Socket, cut: Cut, backsOff = false): void {
    const member = this.#members.get(socket)
    if (member === undefined) return
    this.#counters[CUTS[cut]]!++
    if (backsOff) this.#backoff.strike(member.client)
    this.finish(socket)
  }

  /** Sees to it that a connection that is ending does. */
  finish(socket: Socket): void {
    this.#silent.delete(socket)
    setTimeout(() => socket.destroy(), FAREWELL_MS).unref()
  }

  close(): void {
    clearInterval(this.#timer)
    for (const socket of this.#members.keys()) socket.destroy()
  }

  /** Closes the oldest silent connection of this client. */
  #makeRoom(client: string): boolean {
    for (const [socket, member] of this.#silent) {
      if (member.client !== client) continue
      this.#cut(socket, 'crowded')
      return true
    }
    return false
  }

  #look(): void {
    const late = performance.now() - this.#firstMs
    for (const [socket, { since }] of this.#silent) {
      if (since > late) return
      this.#cut(socket, 'first')
    }
  }

  #cut(socket: Socket, cut: Cut): void {
    this.#counters[CUTS[cut]]!++
    // At once, and not with the event of its closing, which comes later: its place is wanted.
    this.#leave(socket)
    socket.destroy()
  }

  #leave(socket: Socket): void {
    const member = this.#members.get(socket)
    if (member === undefined) return
    this.#members.delete(socket)
    this.#silent.delete(socket)
    this.shares.give(member.client)
    this.#count()
  }

  #count(): void {
    this.#counters[PORT_COUNTER.open] = this.shares.total
    this.#changed(this.shares.total)
  }
}

const CUTS: Readonly<Record<Cut, number>> = {
  first: PORT_COUNTER.cut_first, idle: PORT_COUNTER.cut_idle, flood: PORT_COUNTER.cut_flood, crowded: PORT_COUNTER.cut_crowded,
}

/** Time between two looks at deadlines of this length, ms. */
export const lookMs = (deadlineMs: number): number =>
  Math.min(LOOK_MOST_MS, Math.max(LOOK_LEAST_MS, Math.floor(deadlineMs / LOOKS_PER_DEADLINE)))
