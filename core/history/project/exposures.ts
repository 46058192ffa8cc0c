/**
 * Read model of what accounts have in margin trading, by the hour: collateral, and lots and cost of each pair over all positions, as they
 * were at the end of each hour in which one of them changed. With the marks of the hour that is their value (answer/margin_value.ts).
 *
 * An hour is one record for the collateral and one for each pair: those that the account held when the hour began, in the order of the hour
 * before, then those it came to hold; so the records are a function of the events. The last hour is changed in place.
 */
import { MARGIN_HOUR } from '../store/margin_layout.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'

const { at: H } = MARGIN_HOUR
/** Pages in memory: only the last of each account is ever changed. */
const PAGES = 8192
/** In the place of a pair: the record is of the collateral. */
export const NO_PAIR = -1

export class Exposures {
  readonly #pages: PageTable

  constructor(tables: Tables) {
    this.#pages = tables.pages('margin_hour_page', PAGES)
  }

  /** `atoms` more were deposited or realised. */
  collected(account: number, hour: number, atoms: bigint): void {
    this.#change(account, hour, NO_PAIR, 0, atoms)
  }

  /** Positions of a pair have `lots` and `cost` more; both signed. */
  changed(account: number, hour: number, pair: number, lots: number, cost: bigint): void {
    this.#change(account, hour, pair, lots, cost)
  }

  flush(): void {
    this.#pages.flush()
  }

  #change(account: number, hour: number, pair: number, lots: number, atoms: bigint): void {
    const pages = this.#pages
    const { f64, i32, i64 } = pages.views
    const first = this.#enter(account, hour)
    const count = pages.count(account)
    let number = first
    while (number < count && i32[pages.locate(account, number) + H.pair] !== pair) number++
    if (number === count) this.#append(account, hour, pair, 0, 0n)
    const at = pages.change(account, number)
    f64[(at + H.lots) >>> 1]! += lots
    i64[(at + H.atoms) >>> 1]! += atoms
  }

  /** Number of the first record of `account` for `hour`, which is made if need be. */
  #enter(account: number, hour: number): number {
    const pages = this.#pages
    const { f64, i32, i64 } = pages.views
    const count = pages.count(account)
    const last = count === 0 ? -1 : f64[(pages.locate(account, count - 1) + H.hour) >>> 1]!
    let first = count
    while (first > 0 && f64[(pages.locate(account, first - 1) + H.hour) >>> 1] === last) first--
    if (last === hour) return first
    for (let number = first; number < count; number++) {
      const at = pages.locate(account, number)
      const [pair, lots, atoms] = [i32[at + H.pair]!, f64[(at + H.lots) >>> 1]!, i64[(at + H.atoms) >>> 1]!]
      if (pair === NO_PAIR || lots !== 0 || atoms !== 0n) this.#append(account, hour, pair, lots, atoms)
    }
    if (count === 0) this.#append(account, hour, NO_PAIR, 0, 0n)
    return count
  }

  #append(account: number, hour: number, pair: number, lots: number, atoms: bigint): void {
    const at = this.#pages.append(account)
    const { f64, i32, i64 } = this.#pages.views
    f64[(at + H.hour) >>> 1] = hour
    f64[(at + H.lots) >>> 1] = lots
    i64[(at + H.atoms) >>> 1] = atoms
    i32[at + H.pair] = pair
  }
}
