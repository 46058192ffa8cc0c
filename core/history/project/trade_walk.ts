/**
 * Going up the trades of all pairs together, in order of (sequence, index): the order in which they are leaves of a batch. Whoever reads
 * (answer/settlement_answers.ts) and whoever projects (settlements.ts) go the same way over pages of their own.
 */
import { FILL } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import type { Position } from '../../view/listing.ts'

const { at: F } = FILL

/** The trades of one pair. */
export interface PairTrades {
  readonly views: Views
  readonly count: () => number
  /** Address of trade `number`, valid until the next call of any of them. */
  readonly locate: (number: number) => number
}

/** A pair of which trades are left. */
interface Cursor {
  readonly trades: PairTrades
  readonly count: number
  next: number
  sequence: number
  index: number
}

/** Before the first fill of the commands behind `sequence`. */
export const behind = (sequence: number): Position => ({ sequence, index: Infinity })

export class TradeWalk {
  readonly #cursors: Cursor[] = []
  readonly #pairs: readonly PairTrades[]
  readonly #after: Position
  #begun = 0

  /** Behind `after`; every pair has to be {@link begin | begun}. Trades that come later are not seen. */
  constructor(pairs: readonly PairTrades[], after: Position) {
    this.#pairs = pairs
    this.#after = after
  }

  /** Looks where the walk begins in one more pair; false: it has in all of them. */
  begin(): boolean {
    if (this.#begun >= this.#pairs.length) return false
    const trades = this.#pairs[this.#begun++]!
    const count = trades.count()
    const cursor = { trades, count, next: firstBehind(trades, count, this.#after), sequence: 0, index: 0 }
    if (look(cursor)) this.#cursors.push(cursor)
    return this.#begun < this.#pairs.length
  }

  /** The next trade; `null`: there are no more. Its address is good until anything of its pair is looked at. */
  next(): { readonly views: Views; readonly at: number } | null {
    const cursors = this.#cursors
    let place = -1
    for (let each = 0; each < cursors.length; each++) {
      if (place < 0 || isBefore(cursors[each]!, cursors[place]!)) place = each
    }
    if (place < 0) return null
    const cursor = cursors[place]!
    const { views } = cursor.trades
    const number = cursor.next++
    if (!look(cursor)) cursors.splice(place, 1)
    return { views, at: cursor.trades.locate(number) }
  }
}

/** Reads where the cursor's next trade stands; false: there is none. */
function look(cursor: Cursor): boolean {
  if (cursor.next >= cursor.count) return false
  const { i32, f64 } = cursor.trades.views
  const at = cursor.trades.locate(cursor.next)
  cursor.sequence = f64[(at + F.sequence) >>> 1]!
  cursor.index = i32[at + F.index]!
  return true
}

/** In the order of trades. */
export const isBefore = (one: Position, other: Position): boolean =>
  one.sequence < other.sequence || (one.sequence === other.sequence && one.index < other.index)

/** Number of the first of `count` trades behind `after`. */
function firstBehind({ views: { i32, f64 }, locate }: PairTrades, count: number, after: Position): number {
  const isBehind = (number: number): boolean => {
    const at = locate(number)
    return isBefore(after, { sequence: f64[(at + F.sequence) >>> 1]!, index: i32[at + F.index]! })
  }
  // Mostly pairs have traded nothing since, or all of it.
  if (count === 0 || !isBehind(count - 1)) return count
  let low = 0
  let high = count - 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isBehind(middle)) high = middle
    else low = middle + 1
  }
  return low
}
