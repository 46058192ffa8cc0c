/**
 * Read model of accounts: balances, cost of holdings, and what was traded, paid and earned so far; as it was at the end of each hour in
 * which something happened. The newest hour of an account is its present, so this is also where the projector goes on after a stop.
 *
 * In memory a row of 64-bit integers per account: volume, fees and realised PnL in atoms of the reference asset, then available, locked
 * and cost of each asset. Balances have 64 bits as in the engine; the others are sums of values and have 128, which no exchange can fill.
 * Hours are those of the sequenced time, which never goes back.
 */
import type { Tables } from '../store/heads.ts'
import { ACCOUNT_HOUR } from '../store/layout.ts'
import type { PageTable } from '../store/pages.ts'

/** Words of an account's row before its assets, two each: the lower first. */
export const TALLY = { VOLUME: 0, FEES: 2, REALIZED: 4 } as const
const TALLY_WORDS = 6
/** Words per asset; the cost has two. */
export const HOLDING = { AVAILABLE: 0, LOCKED: 1, COST: 2 } as const
const HOLDING_WORDS = 4
export const HOUR_MS = 3_600_000

/** Word of an asset's part in an account's row. */
export const holdingAt = (row: number, asset: number): number => row + TALLY_WORDS + asset * HOLDING_WORDS
export const stateWords = (assets: number): number => TALLY_WORDS + assets * HOLDING_WORDS
/** 32-bit words of a record of account_hour_page: the hour, then the state. */
export const hourWords = (assets: number): number => ACCOUNT_HOUR.words + 2 * stateWords(assets)
/** Pages in memory, 32 MB: only the last of each account is ever changed. */
const PAGES = 8192

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
  readonly #words: number
  readonly #pages: PageTable
  /** By account: the hour of its row (-1: not looked up yet), whether the table has that hour, whether it changed. */
  #hours: Int32Array
  #stored: Uint8Array
  #dirty: Uint8Array
  #dirtyAccounts: number[] = []

  constructor(tables: Tables, assets: number) {
    this.#words = stateWords(assets)
    this.#pages = tables.pages('account_hour_page', PAGES, hourWords(assets))
    this.rows = new BigInt64Array(0)
    this.#hours = new Int32Array(0)
    this.#stored = new Uint8Array(0)
    this.#dirty = new Uint8Array(0)
    this.#grow(1024)
  }

  touch(account: number, hour: number): number {
    const row = this.look(account)
    if (this.#hours[account] !== hour) {
      if (this.#dirty[account] === 1) this.#write(account)
      this.#hours[account] = hour
      this.#stored[account] = 0
    }
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
  }

  #grow(accounts: number): void {
    const { rows } = this
    this.rows = new BigInt64Array(accounts * this.#words)
    this.rows.set(rows)
    const [hours, stored, dirty] = [this.#hours, this.#stored, this.#dirty]
    this.#hours = new Int32Array(accounts).fill(-1)
    this.#stored = new Uint8Array(accounts)
    this.#dirty = new Uint8Array(accounts)
    this.#hours.set(hours)
    this.#stored.set(stored)
    this.#dirty.set(dirty)
  }

  #load(account: number): void {
    const pages = this.#pages
    const count = pages.count(account)
    this.#hours[account] = 0
    this.#stored[account] = count === 0 ? 0 : 1
    if (count === 0) return
    const at = pages.locate(account, count - 1) >>> 1
    this.#hours[account] = pages.views.f64[at]!
    this.rows.set(pages.views.i64.subarray(at + 1, at + 1 + this.#words), account * this.#words)
  }

  #write(account: number): void {
    const pages = this.#pages
    const at = (this.#stored[account] === 1 ? pages.change(account, pages.count(account) - 1) : pages.append(account)) >>> 1
    pages.views.f64[at] = this.#hours[account]!
    const row = account * this.#words
    for (let word = 0; word < this.#words; word++) pages.views.i64[at + 1 + word] = this.rows[row + word]!
    this.#stored[account] = 1
    this.#dirty[account] = 0
  }
}

export const createAccounts = (tables: Tables, assets: number): AccountsModel => new Accounts(tables, assets)
