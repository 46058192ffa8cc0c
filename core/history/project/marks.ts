/**
 * Read model of perpetuals: mark, index and open interest by the minute.
 *
 * A record is made for a minute of UTC in which the pair had a price or a position of it changed, and has what was at its end; the last
 * one is changed in place. Each minute that is over is one sample of open interest, lots of all longs x mark; beside each minute stand
 * number and sum of the samples before it, so that the mean over any span is the difference of two. The engine looks at every perpetual
 * once a minute (FUNDING_STEP), so only minutes in which the exchange was down or had no price lack a sample.
 */
import { MARK } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import type { Genesis } from '../../state/genesis.ts'
import { MARK_MINUTE } from '../store/margin_layout.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'
import { addWide } from './accounts.ts'

const { at: E } = MARK
const { at: M } = MARK_MINUTE
export const MINUTE_MS = 60_000
/** Pages in memory: only the last of each pair is ever changed. */
const PAGES = 256

export interface MarksModel {
  /** MARK. */
  marked(events: Views, base: number): void
  /** A position of a pair changed at `time`, Unix ms, and with it the lots of all longs by `lots`. */
  opened(pair: number, lots: number, time: number): void
  flush(): void
}

/** Gross notional of the sample in the record at `at`, atoms. */
export const sampleAt = ({ f64, i32 }: Views, at: number, tickLotAtoms: bigint): bigint =>
  BigInt(f64[(at + M.openLots) >>> 1]!) * BigInt(i32[at + M.mark]!) * tickLotAtoms

class Marks implements MarksModel {
  readonly #pages: PageTable
  readonly #genesis: Genesis

  constructor(pages: PageTable, genesis: Genesis) {
    this.#pages = pages
    this.#genesis = genesis
  }

  marked({ i32, f64 }: Views, base: number): void {
    // Nothing is known of it before its first price.
    if (i32[base + E.mark] === 0) return
    const at = this.#minute(i32[base + E.pair]!, f64[(base + E.time) >>> 1]!)
    const to = this.#pages.views
    to.f64[(at + M.openLots) >>> 1] = f64[(base + E.openLots) >>> 1]!
    to.f64[(at + M.nextFundingAt) >>> 1] = f64[(base + E.nextFundingAt) >>> 1]!
    to.i32[at + M.index] = i32[base + E.index]!
    to.i32[at + M.mark] = i32[base + E.mark]!
    to.i32[at + M.predictedRate] = i32[base + E.predictedRate]!
  }

  opened(pair: number, lots: number, time: number): void {
    if (this.#pages.count(pair) === 0) return
    const at = this.#minute(pair, time)
    this.#pages.views.f64[(at + M.openLots) >>> 1]! += lots
  }

  flush(): void {
    this.#pages.flush()
  }

  /** Address of the record of the minute of `time`, which has what the one before had until it is told otherwise. */
  #minute(pair: number, time: number): number {
    const pages = this.#pages
    const start = Math.floor(time / MINUTE_MS) * MINUTE_MS
    const count = pages.count(pair)
    if (count === 0) return this.#begin(pair, start)
    const last = pages.locate(pair, count - 1)
    const { i32, f64 } = pages.views
    if (f64[(last + M.time) >>> 1]! >= start) return pages.change(pair, count - 1)
    const before = i32.slice(last, last + MARK_MINUTE.words)
    const sample = sampleAt(pages.views, last, this.#genesis.pairs[pair]!.tickLotAtoms)
    const at = this.#begin(pair, start)
    i32.set(before, at)
    f64[(at + M.time) >>> 1] = start
    f64[(at + M.samples) >>> 1]! += 1
    addWide(pages.views.i64, (at + M.sum) >>> 1, sample)
    return at
  }

  #begin(pair: number, start: number): number {
    const at = this.#pages.append(pair)
    this.#pages.views.f64[(at + M.time) >>> 1] = start
    return at
  }
}

export const createMarks = (tables: Tables, genesis: Genesis): MarksModel => new Marks(tables.pages('mark_page', PAGES), genesis)
