/**
 * One side of a book as its subscribers have it: the {@link DEPTH} best levels of a side that is known to its end.
 *
 * Levels stand under their rank, which is the price of a bid and its negative of an ask, so that more is better on both sides. A change
 * below the window is kept and not told; when the window moves, what enters is told with its quantity and what leaves it with 0.
 *
 * A level that would become negative means that events were missed or counted twice: that throws, because whoever listens must begin anew.
 */
import type { DepthLevel } from '../../core/view/book.ts'

/** Levels of each side that subscribers see; as many as the order book over REST has at most. */
export const DEPTH = 1000

/** A level: price in ticks, lots; 0 lots: gone. */
export interface Level {
  readonly price: number
  readonly lots: number
}

export class BookSide {
  readonly #sign: 1 | -1
  readonly #group: number
  readonly #depth: number
  /** Ascending: the best is the last, and changes near it are cheap. */
  readonly #ranks: number[]
  readonly #lots: Map<number, number>
  readonly #changed = new Set<number>()
  /** Rank of the worst level that subscribers see; -Infinity: they see all. */
  #bound: number

  /** `levels` as grouped by `group` ticks, best first, all of them. */
  constructor(bids: boolean, group: number, levels: readonly DepthLevel[], depth: number = DEPTH) {
    this.#sign = bids ? 1 : -1
    this.#group = group
    this.#depth = depth
    this.#ranks = levels.map(({ price }) => this.#sign * price).reverse()
    this.#lots = new Map(levels.map(({ price, lots }) => [this.#sign * price, lots]))
    this.#bound = this.#worst()
  }

  /** Adds lots at a price in ticks; negative takes them away. */
  add(tick: number, lots: number): void {
    // Bids are grouped down and asks up: as ranks both are grouped down.
    const rank = Math.floor((this.#sign * tick) / this.#group) * this.#group
    const before = this.#lots.get(rank) ?? 0
    const after = before + lots
    if (after < 0) throw new Error(`a level of the mirrored book has ${after} lots`)
    if (before === 0) this.#ranks.splice(this.#placeOf(rank), 0, rank)
    if (after > 0) this.#lots.set(rank, after)
    else {
      this.#lots.delete(rank)
      this.#ranks.splice(this.#placeOf(rank), 1)
    }
    this.#changed.add(rank)
  }

  /** The `count` best levels, best first. */
  best(count: number): Level[] {
    return this.#ranks.slice(-Math.min(count, this.#depth)).reverse().map((rank) => this.#level(rank))
  }

  /** What changed for subscribers since the last time, best first. */
  takeChanges(): Level[] {
    const old = this.#bound
    const bound = this.#worst()
    const ranks = this.#ranks
    const told = new Set<number>()
    for (const rank of this.#changed) {
      // Visible now; or gone, and visible before.
      if (rank >= bound && (this.#lots.has(rank) || rank >= old)) told.add(rank)
      else if (rank < bound && rank >= old) told.add(rank)
    }
    const first = Math.max(0, ranks.length - this.#depth)
    for (let i = first; i < ranks.length && ranks[i]! < old; i++) told.add(ranks[i]!)
    for (let i = first - 1; i >= 0 && ranks[i]! >= old; i--) told.add(ranks[i]!)
    this.#changed.clear()
    this.#bound = bound
    return [...told].sort((a, b) => b - a).map((rank) => (rank < bound ? { price: this.#priceOf(rank), lots: 0 } : this.#level(rank)))
  }

  #worst(): number {
    const { length } = this.#ranks
    return length > this.#depth ? this.#ranks[length - this.#depth]! : -Infinity
  }

  #level(rank: number): Level {
    return { price: this.#priceOf(rank), lots: this.#lots.get(rank) ?? 0 }
  }

  #priceOf(rank: number): number {
    return this.#sign * rank
  }

  /** Where `rank` stands or belongs. */
  #placeOf(rank: number): number {
    const ranks = this.#ranks
    let low = 0
    let high = ranks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (ranks[middle]! < rank) low = middle + 1
      else high = middle
    }
    return low
  }
}
