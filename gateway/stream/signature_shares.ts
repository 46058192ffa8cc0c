/**
 * How many signatures of order messages a thread looks at in one turn of its loop.
 *
 * The library reads all that has come on all sockets before anything else has its turn: without a bound a turn were as long as clients
 * make it, and everybody waited, ways out too. So a turn has {@link SIGNED_IN_TURN} of them, shared out evenly among the accounts that
 * had one in the turn before, or so far in this one when these are more. When they are used up each account still has one. What an
 * account sends beyond its share is refused, and is good in the next turn.
 *
 * A connection is of the account whose signature it sent last. Those whose last one was no good, or that sent none yet, are of their client
 * (limits/network.ts): clients share out {@link STRANGERS_IN_TURN} in the same way and take nothing from accounts. However many connections
 * somebody opens, he has the share of one account for each account he has, and that of one client.
 */

/** Some 0.1 s: a signature takes 40 us, what it signs as much again at most. */
export const SIGNED_IN_TURN = 2048
/** Of connections of which no account is known. */
export const STRANGERS_IN_TURN = 512

/** Of a connection: its client, and the account of its last signature; -1: that was no good, or there was none. */
export interface Signer {
  readonly client: string
  account: number
}

export const stranger = (client: string): Signer => ({ client, account: -1 })

/** A number of signatures in a turn, shared out evenly. */
class Shares<K> {
  readonly #most: number
  #taken = new Map<K, number>()
  #before = 1
  #used = 0

  constructor(most: number) {
    this.#most = most
  }

  take(who: K): void {
    this.#taken.set(who, (this.#taken.get(who) ?? 0) + 1)
    this.#used++
  }

  isOver(who: K): boolean {
    const own = this.#taken.get(who) ?? 0
    if (own === 0) return false
    return this.#used >= this.#most || own >= Math.floor(this.#most / Math.max(this.#before, this.#taken.size))
  }

  /** A turn is over; true when nobody had anything in it. */
  next(): boolean {
    const { size } = this.#taken
    this.#before = Math.max(1, size)
    if (size > 0) this.#taken = new Map()
    this.#used = 0
    return size === 0
  }
}

export class SignatureShares {
  readonly #soon: (next: () => void) => void
  readonly #accounts = new Shares<number>(SIGNED_IN_TURN)
  readonly #strangers = new Shares<string>(STRANGERS_IN_TURN)
  #ending = false

  /** `soon`: calls back at the end of the turn. */
  constructor(soon: (next: () => void) => void = setImmediate) {
    this.#soon = soon
  }

  /** Counts one signature; false: the account, or without one the client, has had its share. */
  take(signer: Signer): boolean {
    if (this.isOver(signer)) return false
    if (signer.account < 0) this.#strangers.take(signer.client)
    else this.#accounts.take(signer.account)
    if (!this.#ending) this.#soon(() => this.#next())
    this.#ending = true
    return true
  }

  /** Whether nothing more is taken in this turn. */
  isOver(signer: Signer): boolean {
    return signer.account < 0 ? this.#strangers.isOver(signer.client) : this.#accounts.isOver(signer.account)
  }

  /** Looks once more after a turn in which somebody had something: how many they were is forgotten after one in which nobody had. */
  #next(): void {
    const idle = [this.#accounts.next(), this.#strangers.next()]
    this.#ending = idle.includes(false)
    if (this.#ending) this.#soon(() => this.#next())
  }
}
