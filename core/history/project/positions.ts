/**
 * Read model of positions: a record for each that was ever opened, in the order they were, changed in place until it is closed.
 *
 * An event has a position's figures since it was opened; what they were before stands in its record, and the differences are what the
 * change did: lots to the open interest of the pair and to what the account holds, profit, funding and fees to its margin account.
 */
import { POSITION_CHANGED } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import { POSITION_RECORD } from '../store/margin_layout.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'
import { HOUR_MS } from './accounts.ts'
import type { Buckets } from './buckets.ts'
import type { Exposures } from './exposures.ts'
import type { MarginMovements } from './margin_movements.ts'
import type { MarksModel } from './marks.ts'

const { at: E } = POSITION_CHANGED
const { at: P } = POSITION_RECORD
/** Pages in memory: 32 MB at most. */
const PAGES = 8192

export class Positions {
  readonly #pages: PageTable
  readonly #buckets: Buckets
  readonly #movements: MarginMovements
  readonly #exposures: Exposures
  readonly #marks: MarksModel
  /** By row: the position that had it last, and the number of its record. */
  readonly #sequences: Float64Array
  readonly #numbers: Float64Array

  /** `rows`: positions the engine has room for. */
  constructor(
    tables: Tables, rows: number, buckets: Buckets, movements: MarginMovements, exposures: Exposures, marks: MarksModel,
  ) {
    this.#pages = tables.pages('position_page', PAGES)
    this.#buckets = buckets
    this.#movements = movements
    this.#exposures = exposures
    this.#marks = marks
    this.#sequences = new Float64Array(rows)
    this.#numbers = new Float64Array(rows)
  }

  /** POSITION. */
  changed(events: Views, base: number): void {
    const { i32, f64, i64 } = events
    const opened = f64[(base + E.openedSequence) >>> 1]!
    // Only orders rest for it: nobody holds anything yet.
    if (opened === 0) return
    const account = i32[base + E.account]!
    const row = i32[base + E.position]!
    const bucket = this.#buckets.bucketOf(account, f64[(base + E.bucketSequence) >>> 1]!, i32[base + E.bucket]!)
    const time = f64[(base + E.time) >>> 1]!
    const pair = i32[base + E.pair]!
    const at = this.#record(account, opened, row, bucket, pair, time)
    const to = this.#pages.views
    const [lots, held] = [i32[base + E.lots]!, to.i32[at + P.lots]!]
    const cost = lots === 0 ? 0n : i64[(base + E.cost) >>> 1]!
    const before = held === 0 ? 0n : to.i64[(at + P.entryCost) >>> 1]!
    const profit = i64[(base + E.realized) >>> 1]! - to.i64[(at + P.realized) >>> 1]!
    const funding = i64[(base + E.funding) >>> 1]! - to.i64[(at + P.funding) >>> 1]!
    const fee = i64[(base + E.fees) >>> 1]! - to.i64[(at + P.fees) >>> 1]!
    this.#write(events, base, at)
    if (lots !== held || cost !== before) {
      this.#exposures.changed(account, Math.floor(time / HOUR_MS), pair, lots - held, cost - before)
      this.#marks.opened(pair, Math.max(0, lots) - Math.max(0, held), time)
    }
    if (profit === 0n && funding === 0n && fee === 0n) return
    this.#movements.realized({
      account, sequence: f64[(base + E.sequence) >>> 1]!, time, openedSequence: opened, position: row, pair, bucket,
      reason: i32[base + E.reason]!, profit, funding, fee,
    })
  }

  flush(): void {
    this.#pages.flush()
  }

  /** The figures of the event into the record at `at`. */
  #write({ i32, f64, i64 }: Views, base: number, at: number): void {
    const to = this.#pages.views
    const lots = i32[base + E.lots]!
    const time = f64[(base + E.time) >>> 1]!
    to.f64[(at + P.updatedAt) >>> 1] = time
    to.f64[(at + P.closedAt) >>> 1] = lots === 0 ? time : 0
    to.f64[(at + P.version) >>> 1] = f64[(base + E.version) >>> 1]!
    to.i64[(at + P.realized) >>> 1] = i64[(base + E.realized) >>> 1]!
    to.i64[(at + P.funding) >>> 1] = i64[(base + E.funding) >>> 1]!
    to.i64[(at + P.fees) >>> 1] = i64[(base + E.fees) >>> 1]!
    to.i32[at + P.lots] = lots
    to.i32[at + P.reason] = i32[base + E.reason]!
    to.i32[at + P.mark] = i32[base + E.mark]!
    // One that is closed is remembered as it was before.
    if (lots === 0) return
    to.i32[at + P.entryLots] = lots
    to.i32[at + P.leverage] = i32[base + E.leverage]!
    to.i64[(at + P.entryCost) >>> 1] = i64[(base + E.cost) >>> 1]!
    to.i64[(at + P.allocated) >>> 1] = i64[(base + E.allocated) >>> 1]!
  }

  /** Address of the record of the position that was `opened` in `row`, to be changed; made if need be. */
  #record(account: number, opened: number, row: number, bucket: number, pair: number, time: number): number {
    const pages = this.#pages
    if (this.#sequences[row] !== opened) {
      this.#numbers[row] = this.#find(account, opened, row)
      this.#sequences[row] = opened
    }
    if (this.#numbers[row]! >= 0) return pages.change(account, this.#numbers[row]!)
    const at = pages.append(account)
    this.#numbers[row] = pages.count(account) - 1
    const { i32, f64 } = pages.views
    f64[(at + P.sequence) >>> 1] = opened
    f64[(at + P.openedAt) >>> 1] = time
    i32[at + P.row] = row
    i32[at + P.pair] = pair
    i32[at + P.bucket] = bucket
    return at
  }

  /** Number of its record; -1: it has none. */
  #find(account: number, opened: number, row: number): number {
    const pages = this.#pages
    const sequenceOf = (number: number): number => pages.views.f64[(pages.locate(account, number) + P.sequence) >>> 1]!
    let low = 0
    let high = pages.count(account)
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (sequenceOf(middle) < opened) low = middle + 1
      else high = middle
    }
    for (let number = low; number < pages.count(account); number++) {
      const at = pages.locate(account, number)
      if (pages.views.f64[(at + P.sequence) >>> 1] !== opened) break
      if (pages.views.i32[at + P.row] === row) return number
    }
    return -1
  }
}
