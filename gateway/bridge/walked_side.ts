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
  readonly #levels = new Map<number, Level>()
  /** Ticks in the order of the walk, best first; some may be empty by now. */
  readonly #walked: number[] = []
  /** Ticks that were empty when they were walked past. */
  readonly #added: number[] = []
  #ended = false

  constructor(bids: boolean, most: number = WALK_MAX) {
    this.#bids = bids
    this.#most = most
  }

  /** Levels there are. */
  get size(): number {
    return this.#levels.size
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
    for (let level = first; level < first + count; level++) {
      const at = level * LEVEL_ANSWER_WORDS
      const tick = i32[at + LEVEL_ANSWER.TICK]!
      const { edge } = this
      if (edge !== 0 && (this.#bids ? tick >= edge : tick <= edge)) throw new Error('a slice of a book does not continue the one before it')
      this.#walked.push(tick)
      this.#levels.set(tick, { lots: f64[(at + LEVEL_ANSWER.LOTS) >>> 1]!, orders: i32[at + LEVEL_ANSWER.ORDERS]! })
    }
    if (count < asked) this.#ended = true
  }

  /** A level has lots and orders more, or fewer. What was not walked yet the next slices will say. */
  change(tick: number, lots: number, orders: number): void {
    if (!this.#ended && (this.walked === 0 || (this.#bids ? tick < this.edge : tick > this.edge))) return
    const level = this.#levels.get(tick)
    if (level === undefined) {
      if (lots <= 0 || orders <= 0) throw new Error(`a level that is not there has ${lots} lots and ${orders} orders more`)
      this.#levels.set(tick, { lots, orders })
      this.#added.push(tick)
      return
    }
    level.lots += lots
    level.orders += orders
    if (level.lots < 0 || level.orders < 0 || (level.lots === 0) !== (level.orders === 0)) {
      throw new Error(`a level of a walked book has ${level.lots} lots in ${level.orders} orders`)
    }
    if (level.orders === 0) this.#levels.delete(tick)
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
    let last = NaN
    for (const tick of this.#ticks()) {
      const level = this.#levels.get(tick)
      if (level === undefined || tick === last) continue
      last = tick
      const price = (this.#bids ? Math.floor(tick / group) : Math.ceil(tick / group)) * group
      const open = groups[groups.length - 1]
      if (open !== undefined && open.price === price) {
        open.lots += level.lots
        open.orders += level.orders
      } else {
        if (groups.length === depth) return groups
        groups.push({ price, lots: level.lots, orders: level.orders })
      }
    }
    const open = groups[groups.length - 1]
    if (!this.#ended && open !== undefined && (this.#bids ? this.edge > open.price : this.edge < open.price)) groups.pop()
    return groups
  }

  /** Best first; some twice, some without a level. */
  *#ticks(): Generator<number> {
    const before = this.#bids ? (a: number, b: number) => a > b : (a: number, b: number) => a < b
    this.#added.sort((a, b) => (this.#bids ? b - a : a - b))
    let next = 0
    for (const tick of this.#walked) {
      while (next < this.#added.length && before(this.#added[next]!, tick)) yield this.#added[next++]!
      yield tick
    }
    while (next < this.#added.length) yield this.#added[next++]!
  }
}
