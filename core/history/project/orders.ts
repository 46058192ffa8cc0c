/**
 * Read model of orders: one record per order ever accepted, in order of placement, changed in place until it ends.
 *
 * Events describe an order completely, so nothing is read to change one but its place. Places of live orders are kept by slot; after a
 * restart they are found again by sequence when they are first needed. Beside its record every order has a reference in the listing of
 * its application (layout.ts), which follows its status.
 *
 * That a FILLED order is settled is written nowhere: both have the number of batches that were opened before its last fill, which is in
 * the next one, and readers know how far batches are (answer/settlement_answers.ts).
 */
import { ORDER_ANSWER } from '../../layout/answers.ts'
import { Flag, FLAG_ORDER_MASK, ORIGIN_MASK, CLIENT_ORDER_ID_SHIFT } from '../../layout/command.ts'
import { FILL, LABEL, ORDER_ENDED, ORDER_RESIZED, outcomeOf, Reason, RESULT, Status } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import { CLIENT_ORDER_ID_WORDS } from '../../state/columns.ts'
import type { Tables } from '../store/heads.ts'
import type { Identities } from './identities.ts'
import { ORDER_RECORD, ORDER_REFERENCE } from '../store/layout.ts'
import type { PageTable } from '../store/pages.ts'
import { MOST_BATCHES } from '../store/vault_layout.ts'
import type { SettlementsModel } from './settlements.ts'

const { at: O } = ORDER_RECORD
const { at: REF } = ORDER_REFERENCE
const { at: RES } = RESULT
const { at: FIL } = FILL
const { at: END } = ORDER_ENDED
const { at: SIZE } = ORDER_RESIZED
/** What stays of the flags: the order's own, its origin and the length of its client order id. */
const KEPT = FLAG_ORDER_MASK | ORIGIN_MASK | (0xff << CLIENT_ORDER_ID_SHIFT)
const FILLED = outcomeOf(Status.FILLED, Reason.NONE)
const PARTIALLY_FILLED = outcomeOf(Status.PARTIALLY_FILLED, Reason.NONE)
/** How many batches of settlement are opened (settlements.ts). */
type Batches = Pick<SettlementsModel, 'opened'>
/** Pages in memory: 64 MB at most; of references 32 MB. */
const PAGES = 16_384
const REFERENCE_PAGES = 8192

export interface OrdersModel {
  /** LABEL of the order whose RESULT follows. */
  label(events: Views, base: number): void
  /** RESULT of an accepted placement or replacement: a new order, perhaps ended at once. Number of its record. */
  placed(events: Views, base: number): number
  /** FILL: the resting side. The incoming side is in its RESULT. */
  filled(events: Views, base: number): void
  ended(events: Views, base: number): void
  /** ORDER_RESIZED. */
  resized(events: Views, base: number): void
  /** RESULT of CANCEL_ORDER. */
  cancelled(events: Views, base: number): void
  flush(): void
}

class Orders implements OrdersModel {
  readonly #pages: PageTable
  readonly #references: PageTable
  readonly #identities: Identities
  readonly #settlements: Batches
  /** By slot: sequence of the order that had it last, and the numbers of its record and of its reference. */
  readonly #sequences: Float64Array
  readonly #numbers: Float64Array
  readonly #listed: Float64Array
  /** The last client order id, and the order it belongs to. */
  readonly #label = new Int32Array(CLIENT_ORDER_ID_WORDS)
  #labelled = 0

  constructor(pages: PageTable, references: PageTable, identities: Identities, settlements: Batches, slots: number) {
    this.#pages = pages
    this.#references = references
    this.#identities = identities
    this.#settlements = settlements
    this.#sequences = new Float64Array(slots)
    this.#numbers = new Float64Array(slots)
    this.#listed = new Float64Array(slots)
  }

  label(events: Views, base: number): void {
    this.#labelled = events.f64[(base + LABEL.at.orderSequence) >>> 1]!
    for (let word = 0; word < CLIENT_ORDER_ID_WORDS; word++) this.#label[word] = events.i32[base + LABEL.at.label + word]!
  }

  placed(events: Views, base: number): number {
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
    i32[at + O.remaining] = events.i32[base + RES.outcome]! === FILLED ? this.#settlements.opened : events.i32[base + RES.remaining]!
    i32[at + O.outcome] = events.i32[base + RES.outcome]!
    i32[at + O.slippageBps] = (flags & Flag.SLIPPAGE) !== 0 ? events.i32[base + ORDER_ANSWER.at.slippageBps]! : 0
    this.#list(events, base, account, slot)
    if (flags >>> CLIENT_ORDER_ID_SHIFT !== 0 && this.#labelled === sequence) {
      for (let word = 0; word < CLIENT_ORDER_ID_WORDS; word++) i32[at + O.label + word] = this.#label[word]!
    }
    return this.#numbers[slot]!
  }

  filled(events: Views, base: number): void {
    const { i32, f64, i64 } = this.#pages.views
    const remaining = events.i32[base + FIL.makerRemaining]!
    const sequence = events.f64[(base + FIL.makerSequence) >>> 1]!
    const at = this.#change(events.i32[base + FIL.makerAccount]!, events.i32[base + FIL.makerSlot]!, sequence)
    f64[(at + O.updatedAt) >>> 1] = events.f64[(base + FIL.time) >>> 1]!
    i64[(at + O.filledQuote) >>> 1] = events.i64[(base + FIL.makerFilledQuote) >>> 1]!
    i64[(at + O.fee) >>> 1] = events.i64[(base + FIL.makerTotalFee) >>> 1]!
    i32[at + O.remaining] = remaining === 0 ? this.#settlements.opened : remaining
    this.#become(at, remaining === 0 ? FILLED : PARTIALLY_FILLED, events.i32[base + FIL.makerAccount]!)
  }

  ended(events: Views, base: number): void {
    const sequence = events.f64[(base + END.orderSequence) >>> 1]!
    const at = this.#change(events.i32[base + END.account]!, events.i32[base + END.slot]!, sequence)
    const { i32, f64 } = this.#pages.views
    f64[(at + O.updatedAt) >>> 1] = events.f64[(base + END.time) >>> 1]!
    i32[at + O.flags]! |= events.i32[base + END.flags]! & Flag.BY_OPERATOR
    this.#become(at, events.i32[base + END.outcome]!, events.i32[base + END.account]!)
  }

  resized(events: Views, base: number): void {
    const sequence = events.f64[(base + SIZE.orderSequence) >>> 1]!
    const at = this.#change(events.i32[base + SIZE.account]!, events.i32[base + SIZE.slot]!, sequence)
    const { i32, f64 } = this.#pages.views
    f64[(at + O.updatedAt) >>> 1] = events.f64[(base + SIZE.time) >>> 1]!
    i32[at + O.lots] = events.i32[base + SIZE.lots]!
    i32[at + O.remaining] = events.i32[base + SIZE.remaining]!
  }

  cancelled(events: Views, base: number): void {
    const sequence = events.f64[(base + RES.orderSequence) >>> 1]!
    const at = this.#change(events.i32[base + RES.account]!, events.i32[base + RES.slot]!, sequence)
    this.#pages.views.f64[(at + O.updatedAt) >>> 1] = events.f64[(base + RES.time) >>> 1]!
    this.#become(at, events.i32[base + RES.outcome]!, events.i32[base + RES.account]!)
  }

  flush(): void {
    this.#pages.flush()
    this.#references.flush()
  }

  /** The reference of the order of the RESULT at `base`, whose record is the last of `account`. */
  #list(events: Views, base: number, account: number, slot: number): void {
    const references = this.#references
    const application = this.#identities.applicationOf(account)
    const at = references.append(application)
    this.#listed[slot] = references.count(application) - 1
    const { i32, f64 } = references.views
    f64[(at + REF.sequence) >>> 1] = events.f64[(base + RES.orderSequence) >>> 1]!
    f64[(at + REF.number) >>> 1] = this.#numbers[slot]!
    i32[at + REF.account] = account
    i32[at + REF.pair] = events.i32[base + RES.pair]!
    i32[at + REF.flags] = events.i32[base + RES.flags]! & (Flag.SELL | Flag.MARKET)
    i32[at + REF.status] = this.#statusOf(events.i32[base + RES.outcome]!)
  }

  /** The order of `account` whose record is at `at` has come to `outcome`. */
  #become(at: number, outcome: number, account: number): void {
    const { i32 } = this.#pages.views
    const before = i32[at + O.outcome]! & 0xff
    i32[at + O.outcome] = outcome
    if (before === (outcome & 0xff)) return
    const references = this.#references
    const place = references.change(this.#identities.applicationOf(account), this.#listed[i32[at + O.slot]!]!)
    references.views.i32[place + REF.status] = this.#statusOf(outcome)
  }

  /** What a reference says of an order that has come to `outcome` now. */
  #statusOf(outcome: number): number {
    return (outcome & 0xff) | (Math.min(this.#settlements.opened, MOST_BATCHES) << 8)
  }

  /** Address of the record of a known order, to be changed. */
  #change(account: number, slot: number, sequence: number): number {
    if (this.#sequences[slot] !== sequence) {
      this.#numbers[slot] = find(this.#pages, account, sequence)
      this.#listed[slot] = find(this.#references, this.#identities.applicationOf(account), sequence)
      this.#sequences[slot] = sequence
    }
    return this.#pages.change(account, this.#numbers[slot]!)
  }
}

/** Number of the record of `owner` with this sequence, which records and references alike begin with. */
function find(pages: PageTable, owner: number, sequence: number): number {
  const sequenceOf = (number: number): number => pages.views.f64[pages.locate(owner, number) >>> 1]!
  let low = 0
  let high = pages.count(owner) - 1
  while (low < high) {
    const middle = Math.floor((low + high + 1) / 2)
    if (sequenceOf(middle) <= sequence) low = middle
    else high = middle - 1
  }
  if (high < 0 || sequenceOf(low) !== sequence) throw new Error(`the history lacks order ${sequence} of ${owner}`)
  return low
}

/** `slots`: orders the engine has room for. */
export function createOrders(tables: Tables, slots: number, identities: Identities, settlements: Batches): OrdersModel {
  const references = tables.pages('order_reference_page', REFERENCE_PAGES)
  return new Orders(tables.pages('order_page', PAGES), references, identities, settlements, slots)
}
