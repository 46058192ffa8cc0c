/**
 * Read model of accounts: balances, cost of holdings, and what was traded, paid and earned so far; as it was at the end of each hour in
 * which something happened. The newest hour of an account is its present, so this is also where the projector goes on after a stop.
 *
 * In memory a row of 64-bit integers per account: volume, fees and realised PnL in atoms of the reference asset, then available, locked
 * and cost of each asset. Balances have 64 bits as in the engine; the others are sums of values and have 128, which no exchange can fill.
 * Hours are those of the sequenced time, which never goes back.
 *
 * A record of account_hour_page has room for as many assets as the genesis document had, for ever. Assets that there is room for since
 * (RAISE_LIMIT) stand eight by eight in parts, records of holding_hour_page: an hour of an account has as many of them, one behind the
 * other, as there were eights of such assets when the account was last touched in it. That is a function of the journal, unlike what was
 * in an account when something was written.
 *
 *   account_hour_page   | hour | tallies | holdings of assets 0 to firstAssets - 1 |
 *   holding_hour_page   | hour | holdings of assets firstAssets to + 7 |   | hour | holdings of + 8 to + 15 |   ...
 */
import { ASSETS_MAX, type Genesis } from '../../state/genesis.ts'
import type { Tables } from '../store/heads.ts'
import { ACCOUNT_HOUR, ASSETS_OF_PART } from '../store/layout.ts'
import type { PageTable } from '../store/pages.ts'

/** Words of an account's row before its assets, two each: the lower first. */
export const TALLY = { VOLUME: 0, FEES: 2, REALIZED: 4 } as const
export const TALLY_WORDS = 6
/** Words per asset; the cost has two. */
export const HOLDING = { AVAILABLE: 0, LOCKED: 1, COST: 2 } as const
const HOLDING_WORDS = 4
export const HOUR_MS = 3_600_000

/** Word of an asset's part in an account's row. */
export const holdingAt = (row: number, asset: number): number => row + TALLY_WORDS + asset * HOLDING_WORDS
export const stateWords = (assets: number): number => TALLY_WORDS + assets * HOLDING_WORDS
/** 32-bit words of a record of account_hour_page: the hour, then the state. */
export const hourWords = ({ firstAssets }: Genesis): number => ACCOUNT_HOUR.words + 2 * stateWords(firstAssets)
const PART_WORDS = ASSETS_OF_PART * HOLDING_WORDS
/** First word of a part in a row of `words`, and how many of its own the row has. */
export function partIn(words: number, { firstAssets }: Genesis, part: number): [from: number, words: number] {
  const from = stateWords(firstAssets) + part * PART_WORDS
  return [from, Math.min(PART_WORDS, words - from)]
}
/** Parts of an account's hour. */
export const PARTS_MOST = Math.ceil(ASSETS_MAX / ASSETS_OF_PART)
/** Pages in memory, 32 MB and 8 MB: only the last of each account is ever changed. */
const PAGES = 8192
const PART_PAGES = 2048

/** The 128-bit integer at words `at` and `at` + 1. */
export const wideAt = (rows: BigInt64Array, at: number): bigint => (rows[at + 1]! << 64n) | BigInt.asUintN(64, rows[at]!)
/** Adds to it. */
export function addWide(rows: BigInt64Array, at: number, value: bigint): void {
  const sum = wideAt(rows, at) + value
  rows[at] = sum
  rows[at + 1] = sum >> 64n
}

export interface AccountsModel {
  /** The rows; a growing number of accounts replaces the array, so it is read anew after every {@link touch}. */
  rows: BigInt64Array
  /** Word of the row of `account`, which will change at `hour`. */
  touch(account: number, hour: number): number
  /** Word of the row of `account`, to be read. */
  look(account: number): number
  flush(): void
}

class Accounts implements AccountsModel {
  rows: BigInt64Array
  readonly #genesis: Genesis
  readonly #words: number
  /** Words of a row that its record has. */
  readonly #firstWords: number
  readonly #pages: PageTable
  readonly #partPages: PageTable
  /** By account: the hour of its row (-1: not looked up yet), whether the table has that hour, whether it changed. */
  #hours: Int32Array
  #stored: Uint8Array
  #dirty: Uint8Array
  /** By account: parts of that hour, and those the table has. */
  #parts: Uint8Array
  #storedParts: Uint8Array
  #dirtyAccounts: number[] = []

  constructor(tables: Tables, genesis: Genesis) {
    this.#genesis = genesis
    this.#words = stateWords(genesis.limits.assets)
    this.#firstWords = stateWords(genesis.firstAssets)
    this.#pages = tables.pages('account_hour_page', PAGES, hourWords(genesis))
    this.#partPages = tables.pages('holding_hour_page', PART_PAGES)
    this.rows = new BigInt64Array(0)
    this.#hours = new Int32Array(0)
    this.#stored = new Uint8Array(0)
    this.#dirty = new Uint8Array(0)
    this.#parts = new Uint8Array(0)
    this.#storedParts = new Uint8Array(0)
    this.#grow(1024)
  }

  touch(account: number, hour: number): number {
    const row = this.look(account)
    if (this.#hours[account] !== hour) {
      if (this.#dirty[account] === 1) this.#write(account)
      this.#hours[account] = hour
      this.#stored[account] = 0
      this.#storedParts[account] = 0
    }
    if (this.#words > this.#firstWords) this.#parts[account] = this.#partsNow()
    if (this.#dirty[account] === 0) {
      this.#dirty[account] = 1
      this.#dirtyAccounts.push(account)
    }
    return row
  }

  look(account: number): number {
    if (account >= this.#hours.length) this.#grow(2 * account)
    if (this.#hours[account]! < 0) this.#load(account)
    return account * this.#words
  }

  flush(): void {
    // An account that changed in two hours of one transaction is here twice; its first hour was written already.
    for (const account of this.#dirtyAccounts.sort((a, b) => a - b)) if (this.#dirty[account] === 1) this.#write(account)
    this.#dirtyAccounts = []
    this.#pages.flush()
    this.#partPages.flush()
  }

  /** Parts that hold the assets that are listed. */
  #partsNow(): number {
    const { assets, firstAssets } = this.#genesis
    return Math.ceil(Math.max(0, assets.length - firstAssets) / ASSETS_OF_PART)
  }

  #grow(accounts: number): void {
    const { rows } = this
    this.rows = new BigInt64Array(accounts * this.#words)
    this.rows.set(rows)
    const longer = (bytes: Uint8Array): Uint8Array => {
      const all = new Uint8Array(accounts)
      all.set(bytes)
      return all
    }
    const hours = this.#hours
    this.#hours = new Int32Array(accounts).fill(-1)
    this.#hours.set(hours)
    this.#stored = longer(this.#stored)
    this.#dirty = longer(this.#dirty)
    this.#parts = longer(this.#parts)
    this.#storedParts = longer(this.#storedParts)
  }

  #load(account: number): void {
    const pages = this.#pages
    const count = pages.count(account)
    this.#hours[account] = 0
    this.#stored[account] = count === 0 ? 0 : 1
    if (count === 0) return
    const at = pages.locate(account, count - 1) >>> 1
    this.#hours[account] = pages.views.f64[at]!
    this.rows.set(pages.views.i64.subarray(at + 1, at + 1 + this.#firstWords), account * this.#words)
    this.#loadParts(account)
  }

  /** The parts of the hour that was loaded are the last ones of the account. */
  #loadParts(account: number): void {
    const { views } = this.#partPages
    const hour = this.#hours[account]!
    const count = this.#partPages.count(account)
    let begin = count
    while (begin > 0 && views.f64[this.#partPages.locate(account, begin - 1) >>> 1] === hour) begin--
    for (let part = 0; begin + part < count; part++) {
      const at = (this.#partPages.locate(account, begin + part) >>> 1) + 1
      const [from, words] = partIn(this.#words, this.#genesis, part)
      this.rows.set(views.i64.subarray(at, at + words), account * this.#words + from)
    }
    this.#storedParts[account] = count - begin
  }

  #write(account: number): void {
    const pages = this.#pages
    const at = (this.#stored[account] === 1 ? pages.change(account, pages.count(account) - 1) : pages.append(account)) >>> 1
    pages.views.f64[at] = this.#hours[account]!
    const row = account * this.#words
    for (let word = 0; word < this.#firstWords; word++) pages.views.i64[at + 1 + word] = this.rows[row + word]!
    for (let part = 0; part < this.#parts[account]!; part++) this.#writePart(account, part)
    this.#stored[account] = 1
    this.#dirty[account] = 0
  }

  #writePart(account: number, part: number): void {
    const pages = this.#partPages
    const stored = this.#storedParts[account]!
    const at = (part < stored ? pages.change(account, pages.count(account) - stored + part) : pages.append(account)) >>> 1
    // One that was appended stands among the last from now on, as those before it do.
    if (part >= stored) this.#storedParts[account] = part + 1
    pages.views.f64[at] = this.#hours[account]!
    const [from, words] = partIn(this.#words, this.#genesis, part)
    for (let word = 0; word < words; word++) pages.views.i64[at + 1 + word] = this.rows[account * this.#words + from + word]!
  }
}

export const createAccounts = (tables: Tables, genesis: Genesis): AccountsModel => new Accounts(tables, genesis)
