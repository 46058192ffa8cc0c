/**
 * Read models of copy trading: a record for each follow and for each leader that there ever was, changed in place, and what flows into
 * margin trading from outside, by the hour, without which nobody could tell a leader's profit from his deposits.
 *
 * Flows of an account are known from its first record on. That is made by the first event of its margin trading that the history sees: its
 * first deposit, or in a store of a format without flows whatever comes first.
 */
import { COLLATERAL, CollateralReason, POSITION_CHANGED } from '../../layout/margin_events.ts'
import {
  FOLLOW_CHANGED, FollowReason, followReasonOf, HANDLE_WORDS, LEADER_CHANGED, LeaderState, leaderStateOf,
} from '../../layout/copying.ts'
import { EventType } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import { FOLLOW_RECORD, LEADER_RECORD, MARGIN_FLOW } from '../store/copy_layout.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'
import { HOUR_MS } from './accounts.ts'

const { at: E } = FOLLOW_CHANGED
const { at: F, words: FOLLOW_WORDS } = FOLLOW_RECORD
const { at: L } = LEADER_CHANGED
const { at: R, words: LEADER_WORDS } = LEADER_RECORD
const { at: C } = COLLATERAL
const { at: M } = MARGIN_FLOW
/** Pages in memory: only the last of an account are changed, mostly. */
const PAGES = 4096

export interface CopiesModel {
  /** Takes the event at `base` if it is one of these; `type`: its EventType. */
  take(type: number, events: Views, base: number): void
  flush(): void
}

/** The number of the record of `owner` that the command `sequence` made; -1: there is none yet. */
function find(pages: PageTable, owner: number, word: number, sequence: number): number {
  let low = 0
  let high = pages.count(owner)
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (pages.views.f64[(pages.locate(owner, middle) + word) >>> 1]! < sequence) low = middle + 1
    else high = middle
  }
  return low < pages.count(owner) && pages.views.f64[(pages.locate(owner, low) + word) >>> 1] === sequence ? low : -1
}

/** Words of the event that the record of a follow has as they are. */
const COPIED = [
  [F.row, E.follow], [F.what, E.what], [F.leaderAccount, E.leaderAccount], [F.marginAccount, E.marginAccount], [F.mode, E.mode],
  [F.maxLeverage, E.maxLeverage],
] as const

class Copies implements CopiesModel {
  readonly #follows: PageTable
  readonly #leaders: PageTable
  readonly #flows: PageTable

  constructor(tables: Tables) {
    this.#follows = tables.pages('follow_page', PAGES)
    this.#leaders = tables.pages('leader_page', PAGES)
    this.#flows = tables.pages('margin_flow_page', PAGES)
  }

  take(type: number, events: Views, base: number): void {
    if (type === EventType.FOLLOW) this.#followed(events, base)
    else if (type === EventType.LEADER) this.#led(events, base)
    else if (type === EventType.COLLATERAL) this.#moved(events, base)
    else if (type === EventType.POSITION) {
      const { at } = POSITION_CHANGED
      this.#flow(events.i32[base + at.account]!, events.f64[(base + at.time) >>> 1]!, 0n)
    }
  }

  flush(): void {
    for (const pages of [this.#follows, this.#leaders, this.#flows]) pages.flush()
  }

  #followed({ i32, f64, i64 }: Views, base: number): void {
    const [account, sequence] = [i32[base + E.account]!, f64[(base + E.createdSequence) >>> 1]!]
    const time = f64[(base + E.time) >>> 1]!
    const at = this.#record(this.#follows, account, F.sequence, sequence, FOLLOW_WORDS)
    const to = this.#follows.views
    if (to.f64[(at + F.startedAt) >>> 1] === 0) to.f64[(at + F.startedAt) >>> 1] = time
    for (const [field, from] of COPIED) to.i32[at + field] = i32[base + from]!
    to.f64[(at + F.updatedAt) >>> 1] = time
    to.f64[(at + F.leaderSequence) >>> 1] = f64[(base + E.leaderSequence) >>> 1]!
    to.f64[(at + F.marginSequence) >>> 1] = f64[(base + E.marginSequence) >>> 1]!
    to.i64[(at + F.allocation) >>> 1] = i64[(base + E.allocation) >>> 1]!
    const reason = followReasonOf(i32[base + E.what]!)
    if (reason === FollowReason.COPIED || reason === FollowReason.CLOSED) to.i32[at + F.copied]!++
    if (i32[base + E.code] === 0) return
    to.i32[at + F.skipped]!++
    to.i32[at + F.skipCode] = i32[base + E.code]!
    to.i32[at + F.skipPair] = i32[base + E.pair]!
    to.f64[(at + F.skippedAt) >>> 1] = time
  }

  #led({ i32, f64 }: Views, base: number): void {
    const [account, time] = [i32[base + L.account]!, f64[(base + L.time) >>> 1]!]
    const at = this.#record(this.#leaders, account, R.sequence, f64[(base + L.createdSequence) >>> 1]!, LEADER_WORDS)
    const to = this.#leaders.views
    const begins = leaderStateOf(to.i32[at + R.what]!) !== LeaderState.REGISTERED
    if (begins && leaderStateOf(i32[base + L.what]!) === LeaderState.REGISTERED) to.f64[(at + R.since) >>> 1] = time
    to.f64[(at + R.updatedAt) >>> 1] = time
    to.i32[at + R.row] = i32[base + L.leader]!
    to.i32[at + R.what] = i32[base + L.what]!
    to.i32[at + R.length] = i32[base + L.length]!
    for (let word = 0; word < HANDLE_WORDS; word++) to.i32[at + R.handle + word] = i32[base + L.handle + word]!
  }

  /** COLLATERAL: only deposits and withdrawals come from outside. */
  #moved({ i32, f64, i64 }: Views, base: number): void {
    const reason = i32[base + C.reason]!
    const crosses = reason === CollateralReason.DEPOSIT || reason === CollateralReason.WITHDRAW
    this.#flow(i32[base + C.account]!, f64[(base + C.time) >>> 1]!, crosses ? i64[(base + C.amount) >>> 1]! : 0n)
  }

  /** `atoms` more flowed in at `time`, Unix ms; 0: nothing did, and the account has a record at least. */
  #flow(account: number, time: number, atoms: bigint): void {
    const pages = this.#flows
    const count = pages.count(account)
    if (atoms === 0n && count > 0) return
    const hour = Math.floor(time / HOUR_MS)
    const { f64, i64 } = pages.views
    const last = count === 0 ? -1 : pages.locate(account, count - 1)
    const [its, net] = last < 0 ? [-1, 0n] : [f64[(last + M.hour) >>> 1]!, i64[(last + M.net) >>> 1]!]
    const at = its === hour ? pages.change(account, count - 1) : pages.append(account)
    f64[(at + M.hour) >>> 1] = hour
    i64[(at + M.net) >>> 1] = net + atoms
  }

  /** Address of the record of `owner` that the command `sequence` made, to be changed; made if need be. */
  #record(pages: PageTable, owner: number, word: number, sequence: number, words: number): number {
    const number = find(pages, owner, word, sequence)
    if (number >= 0) return pages.change(owner, number)
    const at = pages.append(owner)
    pages.views.i32.fill(0, at, at + words)
    pages.views.f64[(at + word) >>> 1] = sequence
    return at
  }
}

export const createCopies = (tables: Tables): CopiesModel => new Copies(tables)
