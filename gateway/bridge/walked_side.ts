/**
 * One side of a book as far as it was walked, slice by slice, while it changes: what the slices said, each as of its own moment, and every
 * change since that meets what was walked. Together they are the side as of the last slice.
 */
import type { DepthLevel } from '../../core/view/book.ts'
import { LEVEL_ANSWER, LEVEL_ANSWER_WORDS } from '../../core/ring/questions.ts'

/** Levels of a side that are walked at most. */
export const WALK_MAX = 100_000

interface Level {
  lots: number
  orders: number
}

/** A slice: levels from number `first` on, as they stand in an answer. */
export interface Slice {
  readonly i32: Int32Array
  readonly f64: Float64Array
  readonly first: number
  readonly count: number
}

export class WalkedSide {
  readonly #bids: boolean
  readonly #most: number
  /** Ticks in the order of the walk, best first, and what is there now; 0 orders: nothing. */
  readonly #walked: number[] = []
  readonly #lots: number[] = []
  readonly #orders: number[] = []
  /** Levels at ticks that were empty when they were walked past. */
  readonly #added = new Map<number, Level>()
  #size = 0
  #ended = false

  constructor(bids: boolean, most: number = WALK_MAX) {
    this.#bids = bids
    this.#most = most
  }

  /** Levels there are. */
  get size(): number {
    return this.#size
  }

  /** Ticks that were walked. */
  get walked(): number {
    return this.#walked.length
  }

  /** The last of them; 0: none. */
  get edge(): number {
    return this.#walked[this.#walked.length - 1] ?? 0
  }

  /** Nothing is left to be walked: there is nothing behind, or it is too much. */
  get done(): boolean {
    return this.#ended || this.walked >= this.#most
  }

  /** It was walked to its end. */
  get ended(): boolean {
    return this.#ended
  }

  /** Takes in the slice behind what was walked, for which `asked` levels were asked. */
  append({ i32, f64, first, count }: Slice, asked: number): void {
    let { edge } = this
    for (let level = first; level < first + count; level++) {
      const at = level * LEVEL_ANSWER_WORDS
      const tick = i32[at + LEVEL_ANSWER.TICK]!
      const orders = i32[at + LEVEL_ANSWER.ORDERS]!
      const follows = (edge === 0 || this.#isBetter(edge, tick)) && orders > 0
      if (!follows) throw new Error('a slice of a book does not continue the one before it')
      edge = tick
      this.#walked.push(tick)
      this.#lots.push(f64[(at + LEVEL_ANSWER.LOTS) >>> 1]!)
      this.#orders.push(orders)
    }
    this.#size += count
    if (count < asked) this.#ended = true
  }

  /** A level has lots and orders more, or fewer. What was not walked yet the next slices will say. */
  change(tick: number, lots: number, orders: number): void {
    if (!this.#ended && (this.walked === 0 || this.#isBetter(this.edge, tick))) return
    const place = this.#placeOf(tick)
    if (this.#walked[place] === tick) {
      const level = { lots: this.#lots[place]!, orders: this.#orders[place]! }
      this.#change(level, lots, orders)
      this.#lots[place] = level.lots
      this.#orders[place] = level.orders
      return
    }
    const level = this.#added.get(tick) ?? { lots: 0, orders: 0 }
    this.#change(level, lots, orders)
    if (level.orders === 0) this.#added.delete(tick)
    else this.#added.set(tick, level)
  }

  #change(level: Level, lots: number, orders: number): void {
    const before = level.orders
    level.lots += lots
    level.orders += orders
    if (level.lots < 0 || level.orders < 0 || (level.lots === 0) !== (level.orders === 0)) {
      throw new Error(`a level of a walked book has ${level.lots} lots in ${level.orders} orders`)
    }
    this.#size += Math.sign(level.orders) - Math.sign(before)
  }

  /** Whether it is worth looking for `depth` groups of `group` ticks: there may be as many in what was walked. */
  mayHave(depth: number, group: number): boolean {
    if (this.done) return true
    if (this.#walked.length === 0) return false
    return group === 1 ? this.size >= depth : Math.abs(this.#walked[0]! - this.edge) / group + 2 >= depth
  }

  /** The `depth` best groups of `group` ticks, as far as they are known whole: fewer than there are unless `ended`. */
  best(depth: number, group: number): DepthLevel[] {
    const groups: DepthLevel[] = []
    const added = [...this.#added].sort(([a], [b]) => (this.#bids ? b - a : a - b))
    let last: DepthLevel | null = null
    for (let [place, next] = [0, 0]; place < this.#walked.length || next < added.length;) {
      const isAdded = next < added.length && (place === this.#walked.length || this.#isBetter(added[next]![0], this.#walked[place]!))
      const tick = isAdded ? added[next]![0] : this.#walked[place]!
      const lots = isAdded ? added[next]![1].lots : this.#lots[place]!
      const orders = isAdded ? added[next]![1].orders : this.#orders[place]!
      if (isAdded) next++
      else place++
      if (orders === 0) continue
      const price = (this.#bids ? Math.floor(tick / group) : Math.ceil(tick / group)) * group
      if (last !== null && last.price === price) {
        last.lots += lots
        last.orders += orders
      } else {
        if (groups.length === depth) return groups
        groups.push((last = { price, lots, orders }))
      }
    }
    // Of the last group more may come.
    if (!this.#ended && last !== null && this.#isBetter(this.edge, last.price)) groups.pop()
    return groups
  }

  #isBetter(a: number, b: number): boolean {
    return this.#bids ? a > b : a < b
  }

  /** Where `tick` stands among the walked ones, or would. */
  #placeOf(tick: number): number {
    let [low, high] = [0, this.#walked.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#isBetter(this.#walked[middle]!, tick)) low = middle + 1
      else high = middle
    }
    return low
  }
}
