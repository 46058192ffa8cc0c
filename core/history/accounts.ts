/**
 * Read model of accounts: balances, cost of holdings, and what was traded, paid and earned so far; as it was at the end of each hour in
 * which something happened. The newest hour of an account is its present, so this is also where the projector goes on after a stop.
 *
 * In memory a row of 64-bit integers per account: volume, fees and realised PnL in atoms of the reference asset, then available, locked
 * and cost of each asset. Balances have 64 bits as in the engine; the others are sums of values and have 128, which no exchange can fill.
 * Hours are those of the sequenced time, which never goes back.
 */
import type { HistoryDatabase } from './store.ts'
import { OWNER_PAGES, pageId } from './layout.ts'

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
  readonly #last
  readonly #insert
  readonly #update
  /** By account: the hour of its row (-1: not looked up yet), whether the table has that row, whether it changed. */
  #hours: Int32Array
  #stored: Uint8Array
  #dirty: Uint8Array
  #dirtyAccounts: number[] = []

  constructor(database: HistoryDatabase, assets: number) {
    this.#words = stateWords(assets)
    this.#last = database.prepare<[number, number], { id: number; state: Buffer }>(
      'select id, state from account_hour where id >= ? and id < ? order by id desc limit 1',
    )
    this.#insert = database.prepare<[number, Uint8Array]>('insert into account_hour values (?, ?)')
    this.#update = database.prepare<[Uint8Array, number]>('update account_hour set state = ? where id = ?')
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
    const last = this.#last.get(pageId(account, 0), pageId(account + 1, 0))
    this.#hours[account] = last === undefined ? 0 : last.id % OWNER_PAGES
    this.#stored[account] = last === undefined ? 0 : 1
    if (last !== undefined) new Uint8Array(this.rows.buffer).set(last.state, account * this.#words * 8)
  }

  #write(account: number): void {
    const state = new Uint8Array(this.rows.buffer, account * this.#words * 8, this.#words * 8)
    const id = pageId(account, this.#hours[account]!)
    if (this.#stored[account] === 1) this.#update.run(state, id)
    else this.#insert.run(id, state)
    this.#stored[account] = 1
    this.#dirty[account] = 0
  }
}

export const createAccounts = (database: HistoryDatabase, assets: number): AccountsModel => new Accounts(database, assets)
