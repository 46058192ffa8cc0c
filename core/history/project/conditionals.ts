/**
 * Read model of conditional orders: a record for each that was ever made, by the command that made it and by which leg of it it is, changed
 * in place until it ends.
 *
 * An event says all that a record has but for what was before it: the entry order of one that watches its position by now, and the orders
 * that it entered. The legs of an order that filled on arrival never waited for it, so their events do not name it; its RESULT, which
 * follows them in the same command, does.
 */
import { CONDITIONAL_ORDER, RESULT } from '../../layout/event.ts'
import { conditionalStateOf, ConditionalState, conditionOf, ConditionType } from '../../layout/conditional.ts'
import type { Views } from '../../layout/table.ts'
import { CONDITIONAL_RECORD } from '../store/waiting_layout.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'

const { at: E } = CONDITIONAL_ORDER
const { at: C, words: WORDS } = CONDITIONAL_RECORD
const { at: RES } = RESULT
/** Pages in memory: 16 MB at most. */
const PAGES = 4096
/** Words of the event that the record has as they are. */
const COPIED = [
  [C.what, E.what], [C.pair, E.pair], [C.flags, E.flags], [C.trigger, E.trigger], [C.limit, E.limit], [C.lots, E.lots],
  [C.slippageBps, E.slippageBps], [C.trailBps, E.trailBps], [C.activation, E.activation], [C.watermark, E.watermark],
  [C.position, E.position], [C.code, E.code],
] as const

export class Conditionals {
  readonly #pages: PageTable
  /** The last command that made one. */
  #made = 0

  constructor(tables: Tables) {
    this.#pages = tables.pages('conditional_order_page', PAGES)
  }

  /** CONDITIONAL. */
  changed({ i32, f64 }: Views, base: number): void {
    const what = i32[base + E.what]!
    // The start of a TWAP order is part of that one.
    if (conditionOf(what) === ConditionType.TWAP_START) return
    const at = this.#record(i32[base + E.account]!, f64[(base + E.createdSequence) >>> 1]!, conditionOf(what))
    const to = this.#pages.views
    for (const [field, from] of COPIED) to.i32[at + field] = i32[base + from]!
    to.f64[(at + C.createdAt) >>> 1] = f64[(base + E.createdAt) >>> 1]!
    to.f64[(at + C.updatedAt) >>> 1] = f64[(base + E.time) >>> 1]!
    to.f64[(at + C.expiresAt) >>> 1] = f64[(base + E.expiresAt) >>> 1]!
    to.f64[(at + C.armedAt) >>> 1] = f64[(base + E.armedAt) >>> 1]!
    to.f64[(at + C.openedSequence) >>> 1] = f64[(base + E.openedSequence) >>> 1]!
    this.#name(at, conditionalStateOf(what), f64[(base + E.orderSequence) >>> 1]!, i32[base + E.orderSlot]!)
    const ordered = i32[base + E.ordered]!
    if (ordered === 0) return
    to.i32[at + C.ordered]! += ordered
    to.i32[at + C.orders]!++
  }

  /** RESULT of an accepted order: those that were made in the same command are its legs. */
  placed({ i32, f64 }: Views, base: number): void {
    const sequence = f64[(base + RES.orderSequence) >>> 1]!
    if (this.#made !== sequence) return
    const account = i32[base + RES.account]!
    const pages = this.#pages
    for (let number = pages.count(account) - 1; number >= 0 && this.#sequenceOf(account, number) === sequence; number--) {
      this.#setEntry(pages.change(account, number), sequence, i32[base + RES.slot]!)
    }
  }

  flush(): void {
    this.#pages.flush()
  }

  /** The order that an event names: one that it entered once it fired, its entry order before that. */
  #name(at: number, state: number, sequence: number, slot: number): void {
    if (sequence === 0) return
    if (state !== ConditionalState.TRIGGERED) return this.#setEntry(at, sequence, slot)
    this.#pages.views.f64[(at + C.orderSequence) >>> 1] = sequence
    this.#pages.views.i32[at + C.orderSlot] = slot
  }

  #setEntry(at: number, sequence: number, slot: number): void {
    this.#pages.views.f64[(at + C.entrySequence) >>> 1] = sequence
    this.#pages.views.i32[at + C.entrySlot] = slot
  }

  #sequenceOf(account: number, number: number): number {
    return this.#pages.views.f64[(this.#pages.locate(account, number) + C.sequence) >>> 1]!
  }

  /** Address of the record of the leg that the command `sequence` made, to be changed; made if need be. */
  #record(account: number, sequence: number, leg: number): number {
    const pages = this.#pages
    let low = 0
    let high = pages.count(account)
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (this.#sequenceOf(account, middle) < sequence) low = middle + 1
      else high = middle
    }
    for (let number = low; number < pages.count(account); number++) {
      const at = pages.locate(account, number)
      if (pages.views.f64[(at + C.sequence) >>> 1] !== sequence) break
      if (conditionOf(pages.views.i32[at + C.what]!) === leg) return pages.change(account, number)
    }
    return this.#make(account, sequence, leg)
  }

  /** The legs of a command are told of in any order and stand in that of their numbers: those of higher ones move up. */
  #make(account: number, sequence: number, leg: number): number {
    const pages = this.#pages
    const { i32 } = pages.views
    pages.append(account)
    let number = pages.count(account) - 1
    for (; number > 0 && this.#sequenceOf(account, number - 1) === sequence; number--) {
      const before = pages.locate(account, number - 1)
      if (conditionOf(i32[before + C.what]!) < leg) break
      const moved = i32.slice(before, before + WORDS)
      i32.set(moved, pages.change(account, number))
    }
    const at = pages.change(account, number)
    i32.fill(0, at, at + WORDS)
    pages.views.f64[(at + C.sequence) >>> 1] = sequence
    this.#made = sequence
    return at
  }
}
