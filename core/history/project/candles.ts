/**
 * Read model of the market: candles of a minute, an hour and a day, and in each the sums of all trades of its pair up to its end.
 *
 * A record is made for a minute, hour or day with a trade and for no other; what is between two records is flat. Times are sequenced
 * times, which never go back, so only the last record of a pair and resolution ever changes. That one is kept in memory and written at
 * the end of a transaction, or when the next begins.
 */
import { FILL } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import { addWide, wideAt } from './accounts.ts'
import { CANDLE, candleOwner, RESOLUTION_MS } from '../store/layout.ts'
import type { PageTable } from '../store/pages.ts'
import type { Tables } from '../store/heads.ts'

const { at: F } = FILL
const { at: C } = CANDLE
/** Pages in memory: only the last of each pair and resolution is ever changed. */
const PAGES = 1024
const RESOLUTIONS = RESOLUTION_MS.length
/** Words of a candle's prices in memory. */
const OPEN = 0
const HIGH = 1
const LOW = 2
const CLOSE = 3
const PRICES = 4
/** Words of a pair's sums in memory, two each: the lower first. */
const QUOTE = 0
const LOTS = 2
const SUMS = 4

export interface CandlesModel {
  /** FILL. */
  filled(events: Views, base: number): void
  flush(): void
}

class Candles implements CandlesModel {
  readonly #pages: PageTable
  /** By owner: beginning of its last candle (-1: none), its prices, whether it has a record, whether it changed since it was written. */
  readonly #times: Float64Array
  readonly #prices: Int32Array
  readonly #stored: Uint8Array
  readonly #dirty: Uint8Array
  /** By pair: trades so far and their sums. */
  readonly #trades: Float64Array
  readonly #sums: BigInt64Array
  #dirtyOwners: number[] = []

  constructor(tables: Tables, pairs: number) {
    const owners = pairs * RESOLUTIONS
    this.#pages = tables.pages('candle_page', PAGES)
    this.#times = new Float64Array(owners).fill(-1)
    this.#prices = new Int32Array(owners * PRICES)
    this.#stored = new Uint8Array(owners)
    this.#dirty = new Uint8Array(owners)
    this.#trades = new Float64Array(pairs)
    this.#sums = new BigInt64Array(pairs * SUMS)
    for (let owner = 0; owner < owners; owner++) this.#load(owner)
  }

  filled(events: Views, base: number): void {
    const pair = events.i32[base + F.pair]!
    const price = events.i32[base + F.price]!
    const time = events.f64[(base + F.time) >>> 1]!
    for (let resolution = 0; resolution < RESOLUTIONS; resolution++) {
      const owner = candleOwner(pair, resolution)
      const length = RESOLUTION_MS[resolution]!
      const start = Math.floor(time / length) * length
      // The record of a candle that is over has the sums before this trade.
      if (start !== this.#times[owner]) this.#begin(owner, start, price)
      else this.#extend(owner, price)
      this.#mark(owner)
    }
    this.#trades[pair]!++
    addWide(this.#sums, pair * SUMS + QUOTE, events.i64[(base + F.quote) >>> 1]!)
    addWide(this.#sums, pair * SUMS + LOTS, BigInt(events.i32[base + F.lots]!))
  }

  flush(): void {
    // A candle that was over and the one after it are here twice; the first was written already.
    for (const owner of this.#dirtyOwners.sort((a, b) => a - b)) if (this.#dirty[owner] === 1) this.#write(owner)
    this.#dirtyOwners = []
    this.#pages.flush()
  }

  #begin(owner: number, start: number, price: number): void {
    if (this.#dirty[owner] === 1) this.#write(owner)
    this.#times[owner] = start
    this.#stored[owner] = 0
    this.#prices.fill(price, owner * PRICES, (owner + 1) * PRICES)
  }

  #extend(owner: number, price: number): void {
    const prices = this.#prices
    const at = owner * PRICES
    if (price > prices[at + HIGH]!) prices[at + HIGH] = price
    if (price < prices[at + LOW]!) prices[at + LOW] = price
    prices[at + CLOSE] = price
  }

  #mark(owner: number): void {
    if (this.#dirty[owner] === 1) return
    this.#dirty[owner] = 1
    this.#dirtyOwners.push(owner)
  }

  #load(owner: number): void {
    const pages = this.#pages
    const count = pages.count(owner)
    if (count === 0) return
    const at = pages.locate(owner, count - 1)
    const { i32, i64, f64 } = pages.views
    const pair = Math.floor(owner / RESOLUTIONS)
    this.#times[owner] = f64[(at + C.time) >>> 1]!
    this.#prices.set(i32.subarray(at + C.open, at + C.open + PRICES), owner * PRICES)
    this.#stored[owner] = 1
    // Those of every resolution say the same.
    this.#trades[pair] = f64[(at + C.trades) >>> 1]!
    this.#sums.set(i64.subarray((at + C.quote) >>> 1, ((at + C.quote) >>> 1) + SUMS), pair * SUMS)
  }

  #write(owner: number): void {
    const pages = this.#pages
    const at = this.#stored[owner] === 1 ? pages.change(owner, pages.count(owner) - 1) : pages.append(owner)
    const { i32, i64, f64 } = pages.views
    const pair = Math.floor(owner / RESOLUTIONS)
    const sums = pair * SUMS
    f64[(at + C.trades) >>> 1] = this.#trades[pair]!
    f64[(at + C.time) >>> 1] = this.#times[owner]!
    for (let word = 0; word < SUMS; word++) i64[((at + C.quote) >>> 1) + word] = this.#sums[sums + word]!
    for (let word = OPEN; word < PRICES; word++) i32[at + C.open + word] = this.#prices[owner * PRICES + word]!
    this.#stored[owner] = 1
    this.#dirty[owner] = 0
  }
}

/** Goes on where the table stands. */
export const createCandles = (tables: Tables, pairs: number): CandlesModel => new Candles(tables, pairs)

/** Everything a pair traded up to the end of a candle. */
export interface Turnover {
  /** Quote atoms. */
  readonly quote: bigint
  readonly lots: bigint
  readonly trades: number
  /** Last price, ticks; `null`: it had none. */
  readonly close: number | null
}

export const NOTHING: Turnover = { quote: 0n, lots: 0n, trades: 0, close: null }

/** Of the CANDLE at `at`. */
export const turnoverAt = ({ i32, i64, f64 }: Views, at: number): Turnover => ({
  quote: wideAt(i64, (at + C.quote) >>> 1),
  lots: wideAt(i64, (at + C.lots) >>> 1),
  trades: f64[(at + C.trades) >>> 1]!,
  close: i32[at + C.close]!,
})
