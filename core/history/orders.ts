/**
 * Read model of orders: one record per order ever accepted, in order of placement, changed in place until it ends.
 *
 * Events describe an order completely, so nothing is read to change one but its place. Places of live orders are kept by slot; after a
 * restart they are found again by sequence when they are first needed.
 */
import { Flag, FLAG_ORDER_MASK, LABEL_SHIFT } from '../layout/command.ts'
import { FILL, LABEL, ORDER_ENDED, outcomeOf, Reason, RESULT, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { LABEL_WORDS } from '../engine/columns.ts'
import { ORDER_RECORD } from './layout.ts'
import { createPages, type PageTable } from './pages.ts'
import type { HistoryDatabase } from './store.ts'

const { at: O } = ORDER_RECORD
const { at: RES } = RESULT
const { at: FIL } = FILL
const { at: END } = ORDER_ENDED
/** What stays of the flags: the order's own and the length of its client order id. */
const KEPT = FLAG_ORDER_MASK | (0xff << LABEL_SHIFT)
const FILLED = outcomeOf(Status.FILLED, Reason.NONE)
const PARTIALLY_FILLED = outcomeOf(Status.PARTIALLY_FILLED, Reason.NONE)
/** Pages in memory: 64 MB at most. */
const PAGES = 16_384

export interface OrdersModel {
  /** LABEL of the order whose RESULT follows. */
  label(events: Views, base: number): void
  /** RESULT of an accepted placement or replacement: a new order, perhaps ended at once. */
  placed(events: Views, base: number): void
  /** FILL: the resting side. The incoming side is in its RESULT. */
  filled(events: Views, base: number): void
  ended(events: Views, base: number): void
  /** RESULT of CANCEL_ORDER. */
  cancelled(events: Views, base: number): void
  flush(): void
}

class Orders implements OrdersModel {
  readonly #pages: PageTable
  /** By slot: sequence of the order that had it last, and the number of its record among those of its account. */
  readonly #sequences: Float64Array
  readonly #numbers: Float64Array
  /** The last client order id, and the order it belongs to. */
  readonly #label = new Int32Array(LABEL_WORDS)
  #labelled = 0

  constructor(pages: PageTable, slots: number) {
    this.#pages = pages
    this.#sequences = new Float64Array(slots)
    this.#numbers = new Float64Array(slots)
  }

  label(events: Views, base: number): void {
    this.#labelled = events.f64[(base + LABEL.at.orderSequence) >>> 1]!
    for (let word = 0; word < LABEL_WORDS; word++) this.#label[word] = events.i32[base + LABEL.at.label + word]!
  }

  placed(events: Views, base: number): void {
    const { i32, f64, i64 } = this.#pages.views
    const account = events.i32[base + RES.account]!
    const slot = events.i32[base + RES.slot]!
    const flags = events.i32[base + RES.flags]!
    const sequence = events.f64[(base + RES.orderSequence) >>> 1]!
    const at = this.#pages.append(account)
    this.#sequences[slot] = sequence
    this.#numbers[slot] = this.#pages.count(account) - 1
    f64[(at + O.sequence) >>> 1] = sequence
    f64[(at + O.createdAt) >>> 1] = f64[(at + O.updatedAt) >>> 1] = events.f64[(base + RES.time) >>> 1]!
    f64[(at + O.expiresAt) >>> 1] = events.f64[(base + RES.expiresAt) >>> 1]!
    i64[(at + O.filledQuote) >>> 1] = events.i64[(base + RES.filledQuote) >>> 1]!
    i64[(at + O.fee) >>> 1] = events.i64[(base + RES.fee) >>> 1]!
    i32[at + O.slot] = slot
    i32[at + O.pair] = events.i32[base + RES.pair]!
    i32[at + O.flags] = flags & KEPT
    i32[at + O.price] = events.i32[base + RES.price]!
    i32[at + O.lots] = events.i32[base + RES.lots]!
    i32[at + O.remaining] = events.i32[base + RES.remaining]!
    i32[at + O.outcome] = events.i32[base + RES.outcome]!
    i32[at + O.slippageBps] = (flags & Flag.SLIPPAGE) !== 0 ? events.i32[base + RES.detail2]! : 0
    if (flags >>> LABEL_SHIFT === 0 || this.#labelled !== sequence) return
    for (let word = 0; word < LABEL_WORDS; word++) i32[at + O.label + word] = this.#label[word]!
  }

  filled(events: Views, base: number): void {
    const { i32, f64, i64 } = this.#pages.views
    const remaining = events.i32[base + FIL.makerRemaining]!
    const sequence = events.f64[(base + FIL.makerSequence) >>> 1]!
    const at = this.#change(events.i32[base + FIL.makerAccount]!, events.i32[base + FIL.makerSlot]!, sequence)
    f64[(at + O.updatedAt) >>> 1] = events.f64[(base + FIL.time) >>> 1]!
    i64[(at + O.filledQuote) >>> 1] = events.i64[(base + FIL.makerFilledQuote) >>> 1]!
    i64[(at + O.fee) >>> 1] = events.i64[(base + FIL.makerTotalFee) >>> 1]!
    i32[at + O.remaining] = remaining
    i32[at + O.outcome] = remaining === 0 ? FILLED : PARTIALLY_FILLED
  }

  ended(events: Views, base: number): void {
    const sequence = events.f64[(base + END.orderSequence) >>> 1]!
    const at = this.#change(events.i32[base + END.account]!, events.i32[base + END.slot]!, sequence)
    this.#pages.views.f64[(at + O.updatedAt) >>> 1] = events.f64[(base + END.time) >>> 1]!
    this.#pages.views.i32[at + O.outcome] = events.i32[base + END.outcome]!
  }

  cancelled(events: Views, base: number): void {
    const sequence = events.f64[(base + RES.orderSequence) >>> 1]!
    const at = this.#change(events.i32[base + RES.account]!, events.i32[base + RES.slot]!, sequence)
    this.#pages.views.f64[(at + O.updatedAt) >>> 1] = events.f64[(base + RES.time) >>> 1]!
    this.#pages.views.i32[at + O.outcome] = events.i32[base + RES.outcome]!
  }

  flush(): void {
    this.#pages.flush()
  }

  /** Address of the record of a known order, to be changed. */
  #change(account: number, slot: number, sequence: number): number {
    if (this.#sequences[slot] !== sequence) {
      this.#numbers[slot] = this.#find(account, sequence)
      this.#sequences[slot] = sequence
    }
    return this.#pages.change(account, this.#numbers[slot]!)
  }

  /** Number of the record of an order of `account`. */
  #find(account: number, sequence: number): number {
    const pages = this.#pages
    const sequenceOf = (number: number): number => pages.views.f64[(pages.locate(account, number) + O.sequence) >>> 1]!
    let low = 0
    let high = pages.count(account) - 1
    while (low < high) {
      const middle = Math.floor((low + high + 1) / 2)
      if (sequenceOf(middle) <= sequence) low = middle
      else high = middle - 1
    }
    if (high < 0 || sequenceOf(low) !== sequence) throw new Error(`the history lacks order ${sequence} of account ${account}`)
    return low
  }
}

/** `slots`: orders the engine has room for. */
export const createOrders = (database: HistoryDatabase, slots: number): OrdersModel =>
  new Orders(createPages(database, 'order_page', PAGES), slots)
