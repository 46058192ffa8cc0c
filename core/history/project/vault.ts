/** Read models of money in and out: a record for each withdrawal, changed in place until it is terminal, and for each deposit. */
import { DEPOSIT, EventType, WITHDRAWAL } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import { ADDRESS_WORDS, HASH_WORDS } from '../../state/vault_rows.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'
import { DEPOSIT_RECORD, WITHDRAWAL_RECORD } from '../store/vault_layout.ts'

const { at: E } = WITHDRAWAL
const { at: W } = WITHDRAWAL_RECORD
const { at: D } = DEPOSIT
const { at: R } = DEPOSIT_RECORD
/** Pages in memory: only the last of an account are changed. */
const PAGES = 1024

export interface VaultModel {
  /** Takes the event at `base` if it is one of these; `type`: its EventType. */
  take(type: number, events: Views, base: number): void
  flush(): void
}

function copyWords(from: Views, at: number, to: Views, place: number, words: number): void {
  for (let word = 0; word < words; word++) to.i32[place + word] = from.i32[at + word]!
}

class Vault implements VaultModel {
  readonly #withdrawals: PageTable
  readonly #deposits: PageTable

  constructor(tables: Tables) {
    this.#withdrawals = tables.pages('withdrawal_page', PAGES)
    this.#deposits = tables.pages('deposit_page', PAGES)
  }

  take(type: number, events: Views, base: number): void {
    if (type === EventType.WITHDRAWAL) this.#withdrawn(events, base)
    else if (type === EventType.DEPOSIT && events.i32[base + D.account]! >= 0) this.#deposited(events, base)
  }

  flush(): void {
    this.#withdrawals.flush()
    this.#deposits.flush()
  }

  #withdrawn(events: Views, base: number): void {
    const { i32, f64, i64 } = events
    const account = i32[base + E.account]!
    const sequence = f64[(base + E.withdrawalSequence) >>> 1]!
    const at = i32[base + E.before] === 0 ? this.#withdrawals.append(account) : this.#find(account, sequence)
    const to = this.#withdrawals.views
    to.f64[(at + W.sequence) >>> 1] = sequence
    to.f64[(at + W.createdAt) >>> 1] = f64[(base + E.createdAt) >>> 1]!
    to.f64[(at + W.updatedAt) >>> 1] = f64[(base + E.time) >>> 1]!
    to.f64[(at + W.deadline) >>> 1] = f64[(base + E.deadline) >>> 1]!
    to.i64[(at + W.amount) >>> 1] = i64[(base + E.amount) >>> 1]!
    to.i32[at + W.row] = i32[base + E.row]!
    to.i32[at + W.asset] = i32[base + E.asset]!
    to.i32[at + W.status] = i32[base + E.status]!
    to.i32[at + W.flags] = i32[base + E.flags]!
    copyWords(events, base + E.txHash, to, at + W.txHash, HASH_WORDS)
    copyWords(events, base + E.destination, to, at + W.destination, ADDRESS_WORDS)
  }

  /** Address of the record of a withdrawal that was told of before, one of the last of its account, to be changed. */
  #find(account: number, sequence: number): number {
    const pages = this.#withdrawals
    for (let number = pages.count(account) - 1; number >= 0; number--) {
      const its = pages.views.f64[(pages.locate(account, number) + W.sequence) >>> 1]!
      if (its === sequence) return pages.change(account, number)
      if (its < sequence) break
    }
    throw new Error(`the history lacks withdrawal ${sequence} of ${account}`)
  }

  #deposited(events: Views, base: number): void {
    const { i32, f64, i64 } = events
    const at = this.#deposits.append(i32[base + D.account]!)
    const to = this.#deposits.views
    to.f64[(at + R.sequence) >>> 1] = f64[(base + D.sequence) >>> 1]!
    to.f64[(at + R.time) >>> 1] = f64[(base + D.time) >>> 1]!
    to.f64[(at + R.block) >>> 1] = f64[(base + D.block) >>> 1]!
    to.i64[(at + R.amount) >>> 1] = i64[(base + D.amount) >>> 1]!
    to.i64[(at + R.remainder) >>> 1] = i64[(base + D.remainder) >>> 1]!
    to.i32[at + R.chain] = i32[base + D.chain]!
    to.i32[at + R.logIndex] = i32[base + D.logIndex]!
    to.i32[at + R.asset] = i32[base + D.asset]!
    copyWords(events, base + D.txHash, to, at + R.txHash, HASH_WORDS)
    copyWords(events, base + D.beneficiary, to, at + R.beneficiary, ADDRESS_WORDS)
  }
}

export const createVault = (tables: Tables): VaultModel => new Vault(tables)
