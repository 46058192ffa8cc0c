/**
 * Writing postings: each is appended to those of its account and, if it moves something, listed for the account's application. Movements
 * of a command are numbered over all accounts in the order of its events.
 */
import type { Tables } from '../store/heads.ts'
import type { Identities } from './identities.ts'
import { isTrade, POSTING, POSTING_REFERENCE } from '../store/layout.ts'
import { countRows } from '../store/movement_shapes.ts'
import type { PageTable } from '../store/pages.ts'
import type { Views } from '../../layout/table.ts'

const { at: P } = POSTING
const { at: REF } = POSTING_REFERENCE
/** Pages in memory: 64 MB at most; of references only the last of each application is ever changed. */
const PAGES = 16_384
const REFERENCE_PAGES = 1024

export class Postings {
  /** Of the pages of postings. */
  readonly views: Views
  readonly #pages: PageTable
  readonly #references: PageTable
  readonly #identities: Identities
  /** The command at hand and its movements so far. */
  #sequence = 0
  #number = 0

  constructor(tables: Tables, identities: Identities) {
    this.#pages = tables.pages('posting_page', PAGES)
    this.#references = tables.pages('posting_reference_page', REFERENCE_PAGES)
    this.#identities = identities
    this.views = this.#pages.views
  }

  /** A posting of `account`, zero but for its head; its address. */
  append(account: number, sequence: number, time: number, kind: number, subject: number): number {
    if (sequence !== this.#sequence) {
      this.#sequence = sequence
      this.#number = 0
    }
    const at = this.#pages.append(account)
    const { i32, f64 } = this.views
    f64[(at + P.sequence) >>> 1] = sequence
    f64[(at + P.time) >>> 1] = time
    i32[at + P.number] = this.#number
    i32[at + P.kind] = kind
    i32[at + P.subject] = subject
    return at
  }

  /** Address of the posting of `account` that is its trade number `index` of the command at hand, one of its last; to be changed. */
  trade(account: number, sequence: number, index: number): number {
    const { i32, f64 } = this.views
    for (let number = this.#pages.count(account) - 1; number >= 0; number--) {
      const at = this.#pages.locate(account, number)
      if (f64[(at + P.sequence) >>> 1] !== sequence) break
      if (isTrade(i32[at + P.kind]!) && i32[at + P.index] === index) return this.#pages.change(account, number)
    }
    throw new Error(`account ${account} has no trade ${index} of command ${sequence}`)
  }

  /** Lists the posting of `account` that was appended last for its application, and counts its movements, which `shape` says. */
  refer(account: number, sequence: number, shape: number): void {
    const references = this.#references
    const application = this.#identities.applicationOf(account)
    const last = references.count(application) - 1
    let before = 0
    if (last >= 0) {
      const at = references.locate(application, last)
      before = references.views.f64[(at + REF.before) >>> 1]! + countRows(references.views.i32[at + REF.shape]!)
    }
    const at = references.append(application)
    const { i32, f64 } = references.views
    f64[(at + REF.sequence) >>> 1] = sequence
    f64[(at + REF.number) >>> 1] = this.#pages.count(account) - 1
    f64[(at + REF.before) >>> 1] = before
    i32[at + REF.account] = account
    i32[at + REF.shape] = shape
    this.#number += countRows(shape)
  }

  flush(): void {
    this.#pages.flush()
    this.#references.flush()
  }
}
