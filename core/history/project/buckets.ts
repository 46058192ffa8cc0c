/**
 * Read model of margin accounts and risk buckets: what they are called and hold, a record each for ever, changed in place.
 *
 * Events name them by row and sequence, and say what they are in pieces: a bucket's first event may be a position that has no more than its
 * sequence, and its order follows in the same command. So a record is made by whatever comes first and completed by the others. Numbers of
 * records are remembered by account, for the accounts that trade on margin now; others are read again when they do.
 */
import { STRATEGY_KEY_WORDS } from '../../state/margin_rows.ts'
import type { Views } from '../../layout/table.ts'
import { MARGIN_ACCOUNT_RECORD, RISK_BUCKET_RECORD } from '../store/margin_layout.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'

const { at: M } = MARGIN_ACCOUNT_RECORD
const { at: B } = RISK_BUCKET_RECORD
/** Pages in memory: 4 MB and 16 MB at most. */
const MARGIN_PAGES = 1024
const BUCKET_PAGES = 4096
/** Accounts whose numbers are remembered. */
const REMEMBERED = 65_536
/** Of a bucket whose margin account no event has named yet. */
export const UNNAMED = -1

/** Numbers of an account's records, by the sequence that made what they are of. */
interface Places {
  readonly margins: Map<number, number>
  readonly buckets: Map<number, number>
}

export class Buckets {
  readonly #margins: PageTable
  readonly #buckets: PageTable
  readonly #places = new Map<number, Places>()

  constructor(tables: Tables) {
    this.#margins = tables.pages('margin_account_page', MARGIN_PAGES)
    this.#buckets = tables.pages('risk_bucket_page', BUCKET_PAGES)
  }

  get marginViews(): Views {
    return this.#margins.views
  }

  get bucketViews(): Views {
    return this.#buckets.views
  }

  /** Number of the record of a margin account of `account`, made if need be; named as its public id does. */
  marginOf(account: number, sequence: number, row: number): number {
    const { margins } = this.#of(account)
    const known = margins.get(sequence)
    if (known !== undefined) return known
    const at = this.#margins.append(account)
    this.#margins.views.f64[(at + M.sequence) >>> 1] = sequence
    this.#margins.views.i32[at + M.row] = row
    const number = this.#margins.count(account) - 1
    margins.set(sequence, number)
    return number
  }

  /** Number of the record of a bucket of `account`, made if need be. */
  bucketOf(account: number, sequence: number, row: number): number {
    const { buckets } = this.#of(account)
    const known = buckets.get(sequence)
    if (known !== undefined) return known
    const at = this.#buckets.append(account)
    this.#buckets.views.f64[(at + B.sequence) >>> 1] = sequence
    this.#buckets.views.i32[at + B.row] = row
    this.#buckets.views.i32[at + B.marginAccount] = UNNAMED
    const number = this.#buckets.count(account) - 1
    buckets.set(sequence, number)
    return number
  }

  /** Address of record `number` among {@link marginViews}, to be changed. */
  margin(account: number, number: number): number {
    return this.#margins.change(account, number)
  }

  /** Address of record `number` among {@link bucketViews}, to be changed. */
  bucket(account: number, number: number): number {
    return this.#buckets.change(account, number)
  }

  /** Says to which margin account a bucket belongs; what it realised until then is that one's too. */
  name(account: number, bucket: number, margin: number): void {
    const { i32, i64 } = this.#buckets.views
    if (i32[this.#buckets.locate(account, bucket) + B.marginAccount] !== UNNAMED) return
    const at = this.#buckets.change(account, bucket)
    i32[at + B.marginAccount] = margin
    this.#margins.views.i64[(this.#margins.change(account, margin) + M.realized) >>> 1]! += i64[(at + B.realized) >>> 1]!
  }

  /** Says of which mode a bucket is, and its strategy key: words of `from` from `key` on. */
  describe(account: number, bucket: number, mode: number, from: Views, key: number): void {
    const at = this.#buckets.change(account, bucket)
    const { i32 } = this.#buckets.views
    i32[at + B.mode] = mode
    for (let word = 0; word < STRATEGY_KEY_WORDS; word++) i32[at + B.strategyKey + word] = from.i32[key + word]!
  }

  flush(): void {
    this.#margins.flush()
    this.#buckets.flush()
  }

  #of(account: number): Places {
    const known = this.#places.get(account)
    if (known !== undefined) return known
    if (this.#places.size >= REMEMBERED) this.#places.clear()
    const places = { margins: numbersIn(this.#margins, account), buckets: numbersIn(this.#buckets, account) }
    this.#places.set(account, places)
    return places
  }
}

/** Numbers of the records of `account` by the sequence with which each begins. */
function numbersIn(pages: PageTable, account: number): Map<number, number> {
  const numbers = new Map<number, number>()
  for (let number = 0; number < pages.count(account); number++) {
    numbers.set(pages.views.f64[pages.locate(account, number) >>> 1]!, number)
  }
  return numbers
}
