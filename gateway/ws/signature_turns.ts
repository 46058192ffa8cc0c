/**
 * How many signatures of order messages a thread looks at in one turn of its loop.
 *
 * The library reads all that has come on all sockets before anything else has its turn: without a bound a turn were as long as clients
 * make it, and everybody waited, ways out too. So a turn has {@link SIGNED_IN_TURN} of them, shared out evenly among the connections that
 * had one in the turn before, or so far in this one when these are more. When they are used up each connection still has one. What a
 * connection sends beyond its share is refused, and is good in the next turn.
 */

/** Some 0.1 s: a signature takes 40 us, what it signs as much again at most. */
export const SIGNED_IN_TURN = 2048

/** What a connection had in the turn it was in last. */
export interface TurnShare {
  turn: number
  used: number
}

export const noShare = (): TurnShare => ({ turn: -1, used: 0 })

export class SignatureTurns {
  readonly #soon: (next: () => void) => void
  #turn = 0
  #before = 1
  #connections = 0
  #used = 0

  /** `soon`: calls back at the end of the turn. */
  constructor(soon: (next: () => void) => void = setImmediate) {
    this.#soon = soon
  }

  /** Counts one signature of a connection; false: it has had its share. */
  take(share: TurnShare): boolean {
    if (share.turn !== this.#turn) {
      share.turn = this.#turn
      share.used = 0
      if (this.#connections++ === 0) this.#soon(() => this.#next())
    }
    if (this.isOver(share)) return false
    share.used++
    this.#used++
    return true
  }

  /** Whether a connection has had its share of this turn. */
  isOver({ turn, used }: TurnShare): boolean {
    return turn === this.#turn && used >= this.#each
  }

  get #each(): number {
    if (this.#used >= SIGNED_IN_TURN) return 1
    return Math.max(1, Math.floor(SIGNED_IN_TURN / Math.max(this.#before, this.#connections)))
  }

  #next(): void {
    this.#before = this.#connections
    this.#turn++
    this.#connections = 0
    this.#used = 0
  }
}
