/**
 * Read model of TWAP orders: a record for each that was ever made, changed in place until it ends, and one for each of their slices.
 *
 * A slice names its order's record, so that it is found without a search, and the slices of the same TWAP order before and after it, so
 * that those of one are walked in either direction whatever the others of the account place meanwhile.
 */
import { CHILD_ORDER, TWAP_OPENED, TWAP_ORDER } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import { SLICE_RECORD, TWAP_RECORD } from '../store/waiting_layout.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'

const { at: OPEN } = TWAP_OPENED
const { at: E } = TWAP_ORDER
const { at: CHILD } = CHILD_ORDER
const { at: T } = TWAP_RECORD
const { at: S } = SLICE_RECORD
/** Pages in memory: 8 MB and 16 MB at most. Of slices only the last ones of each TWAP order are ever changed. */
const PAGES = 2048
const SLICE_PAGES = 4096
/** Words of the events that the record has as they are. */
const TERMS = [
  [T.pair, OPEN.pair], [T.price, OPEN.price], [T.slippageBps, OPEN.slippageBps], [T.options, OPEN.options], [T.trigger, OPEN.trigger],
  [T.durationMs, OPEN.durationMs], [T.leverage, OPEN.leverage], [T.marginAccount, OPEN.marginAccount], [T.bucket, OPEN.bucket],
  [T.labelLength, OPEN.labelLength],
] as const
const STATE = [
  [T.what, E.what], [T.flags, E.flags], [T.lots, E.lots], [T.filled, E.filled], [T.slices, E.slices], [T.reached, E.reached],
  [T.placed, E.placed], [T.code, E.code],
] as const
const LABEL_WORDS = 10

export class Twaps {
  readonly #pages: PageTable
  readonly #slices: PageTable
  /** By row: the TWAP order that had it last, and the number of its record. */
  readonly #sequences: Float64Array
  readonly #numbers: Float64Array
  /** The last order that was told to be a slice, and its TWAP order. */
  readonly #child = { sequence: 0, twap: 0, twapSequence: 0 }

  /** `rows`: TWAP orders that the engine has room for. */
  constructor(tables: Tables, rows: number) {
    this.#pages = tables.pages('twap_order_page', PAGES)
    this.#slices = tables.pages('twap_slice_page', SLICE_PAGES)
    this.#sequences = new Float64Array(rows)
    this.#numbers = new Float64Array(rows)
  }

  /** TWAP_OPENED. */
  opened({ i32, f64 }: Views, base: number): void {
    const account = i32[base + OPEN.account]!
    const row = i32[base + OPEN.twap]!
    const sequence = f64[(base + OPEN.createdSequence) >>> 1]!
    const at = this.#pages.append(account)
    this.#sequences[row] = sequence
    this.#numbers[row] = this.#pages.count(account) - 1
    const to = this.#pages.views
    to.f64[(at + T.sequence) >>> 1] = sequence
    to.i32[at + T.row] = row
    for (const [field, from] of TERMS) to.i32[at + field] = i32[base + from]!
    to.f64[(at + T.conditionalExpiry) >>> 1] = f64[(base + OPEN.conditionalExpiry) >>> 1]!
    to.f64[(at + T.namedSequence) >>> 1] = f64[(base + OPEN.namedSequence) >>> 1]!
    for (let word = 0; word < LABEL_WORDS; word++) to.i32[at + T.label + word] = i32[base + OPEN.label + word]!
  }

  /** TWAP. */
  changed({ i32, f64, i64 }: Views, base: number): void {
    const at = this.#record(i32[base + E.account]!, f64[(base + E.createdSequence) >>> 1]!, i32[base + E.twap]!)
    const to = this.#pages.views
    const time = f64[(base + E.time) >>> 1]!
    for (const [field, from] of STATE) to.i32[at + field] = i32[base + from]!
    // The first event is of the command that made it.
    if (to.f64[(at + T.createdAt) >>> 1] === 0) to.f64[(at + T.createdAt) >>> 1] = time
    to.f64[(at + T.updatedAt) >>> 1] = time
    to.f64[(at + T.startAt) >>> 1] = f64[(base + E.startAt) >>> 1]!
    to.f64[(at + T.endAt) >>> 1] = f64[(base + E.endAt) >>> 1]!
    to.f64[(at + T.nextAt) >>> 1] = f64[(base + E.nextAt) >>> 1]!
    to.i64[(at + T.filledQuote) >>> 1] = i64[(base + E.filledQuote) >>> 1]!
    to.i64[(at + T.fee) >>> 1] = i64[(base + E.fee) >>> 1]!
  }

  /** CHILD_ORDER: of the order whose RESULT follows. */
  child({ i32, f64 }: Views, base: number): void {
    this.#child.sequence = f64[(base + CHILD.orderSequence) >>> 1]!
    this.#child.twap = i32[base + CHILD.twap]!
    this.#child.twapSequence = f64[(base + CHILD.twapSequence) >>> 1]!
  }

  /** An order of `account` was accepted; its record is number `number`. */
  placed(account: number, sequence: number, number: number): void {
    const { sequence: told, twap, twapSequence } = this.#child
    if (told !== sequence) return
    const at = this.#record(account, twapSequence, twap)
    const { f64 } = this.#pages.views
    const before = f64[(at + T.last) >>> 1]!
    const link = this.#slices.count(account) + 1
    f64[(at + T.last) >>> 1] = link
    if (before === 0) f64[(at + T.first) >>> 1] = link
    const to = this.#slices.views
    const slice = this.#slices.append(account)
    to.f64[(slice + S.sequence) >>> 1] = sequence
    to.f64[(slice + S.number) >>> 1] = number
    to.f64[(slice + S.twapSequence) >>> 1] = twapSequence
    to.f64[(slice + S.before) >>> 1] = before
    to.i32[slice + S.twap] = twap
    if (before !== 0) to.f64[(this.#slices.change(account, before - 1) + S.after) >>> 1] = link
  }

  flush(): void {
    this.#pages.flush()
    this.#slices.flush()
  }

  /** Address of the record of the TWAP order that `sequence` made in `row`, to be changed. */
  #record(account: number, sequence: number, row: number): number {
    if (this.#sequences[row] !== sequence) {
      this.#numbers[row] = this.#find(account, sequence, row)
      this.#sequences[row] = sequence
    }
    return this.#pages.change(account, this.#numbers[row]!)
  }

  #find(account: number, sequence: number, row: number): number {
    const pages = this.#pages
    const { f64, i32 } = pages.views
    let low = 0
    let high = pages.count(account) - 1
    while (low < high) {
      const middle = Math.floor((low + high + 1) / 2)
      if (f64[(pages.locate(account, middle) + T.sequence) >>> 1]! <= sequence) low = middle
      else high = middle - 1
    }
    const at = high < 0 ? -1 : pages.locate(account, low)
    const found = at >= 0 && f64[(at + T.sequence) >>> 1] === sequence && i32[at + T.row] === row
    if (!found) throw new Error(`the history lacks TWAP order ${sequence}/${row} of ${account}`)
    return low
  }
}
