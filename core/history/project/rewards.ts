/**
 * Read model of referral rewards: what each account earned of whom (store/reward_layout.ts).
 *
 * Rewards are gathered as they come and put into the pages at the end of a transaction, or when there is no more room for them: what an
 * account earned of a thousand fills meanwhile is added once. Where that falls changes nothing: records are made in the order of what was
 * first earned, the newest is the newest, and sums are sums.
 */
import { REFERRAL_REWARD, REWARD_AMOUNTS, REWARD_EARNERS } from '../../layout/referrals.ts'
import type { Views } from '../../layout/table.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'
import { ENTRIES_KEPT, REWARD_ACCOUNT, REWARD_ENTRY, REWARD_SOURCE, REWARD_SUM, whatOf, whoOf } from '../store/reward_layout.ts'
import { addWide } from './accounts.ts'

const { at: R } = REFERRAL_REWARD
const { at: A } = REWARD_ACCOUNT
const { at: E } = REWARD_ENTRY
const { at: S } = REWARD_SOURCE
const { at: M } = REWARD_SUM
/** Rewards gathered at most: 3 MB. */
const GATHERED = 2 ** 16
/** Pages in memory: 16 MB at most of each table but accounts, of which a page has 165. */
const PAGES = 4096
const ACCOUNT_PAGES = 1024
/** Owner of all records but entries. */
const ALL = 0
/** For keys: assets have numbers below this, levels below that, accounts below 2^24; keys of totals begin behind those of sources. */
const ASSETS = 2 ** 8
const LEVELS = 4
const TOTALS = 2 ** 34

export interface RewardsModel {
  /** REFERRAL_REWARD. */
  earned(events: Views, base: number): void
  flush(): void
}

/** Rewards that are in no page yet, in the order they came. */
class Gathered {
  count = 0
  readonly most: number
  readonly earners: Int32Array
  readonly sources: Int32Array
  /** 1 to 3. */
  readonly levels: Int32Array
  readonly assets: Int32Array
  readonly indexes: Int32Array
  readonly sequences: Float64Array
  readonly times: Float64Array
  readonly amounts: BigInt64Array
  /** Numbers of rewards by earner. */
  readonly #order: Float64Array

  constructor(most: number) {
    this.most = most
    const words = (): Int32Array => new Int32Array(most)
    ;[this.earners, this.sources, this.levels, this.assets, this.indexes] = [words(), words(), words(), words(), words()]
    ;[this.sequences, this.times, this.#order] = [new Float64Array(most), new Float64Array(most), new Float64Array(most)]
    this.amounts = new BigInt64Array(most)
  }

  add({ i32, f64, i64 }: Views, base: number, level: number): void {
    const at = this.count++
    this.earners[at] = i32[base + REWARD_EARNERS[level]!]!
    this.sources[at] = i32[base + R.source]!
    this.levels[at] = level + 1
    this.assets[at] = i32[base + R.asset]!
    this.indexes[at] = i32[base + R.index]!
    this.sequences[at] = f64[(base + R.sequence) >>> 1]!
    this.times[at] = f64[(base + R.time) >>> 1]!
    this.amounts[at] = i64[(base + REWARD_AMOUNTS[level]!) >>> 1]!
  }

  /** Calls `take` for each account that earned, with its rewards as places from..to of `order`, oldest first. */
  byEarner(take: (earner: number, order: Float64Array, from: number, to: number) => void): void {
    const order = this.#order.subarray(0, this.count)
    for (let number = 0; number < this.count; number++) order[number] = this.earners[number]! * this.most + number
    order.sort()
    for (let number = 0; number < order.length; number++) order[number]! %= this.most
    for (let from = 0, to = 0; from < order.length; from = to) {
      const earner = this.earners[order[from]!]!
      while (to < order.length && this.earners[order[to]!] === earner) to++
      take(earner, order, from, to)
    }
  }
}

/** What one account earned on one level of one asset, of one source or of all. */
interface Sum {
  /** The first of the rewards in it. */
  readonly number: number
  amount: bigint
}

class Rewards implements RewardsModel {
  readonly #gathered: Gathered
  readonly #accounts: PageTable
  readonly #entries: PageTable
  readonly #sources: PageTable
  readonly #sums: PageTable
  /** Of the rewards at hand: numbers of records of sources, by source and level. */
  readonly #known = new Map<number, number>()

  constructor(tables: Tables, most: number) {
    this.#gathered = new Gathered(most)
    this.#accounts = tables.pages('reward_account_page', ACCOUNT_PAGES)
    this.#entries = tables.pages('reward_entry_page', PAGES)
    this.#sources = tables.pages('reward_source_page', PAGES)
    this.#sums = tables.pages('reward_sum_page', PAGES)
  }

  earned(events: Views, base: number): void {
    for (let level = 0; level < REWARD_EARNERS.length; level++) {
      if (events.i32[base + REWARD_EARNERS[level]!]! < 0) continue
      if (this.#gathered.count === this.#gathered.most) this.#settle()
      this.#gathered.add(events, base, level)
    }
  }

  flush(): void {
    this.#settle()
    for (const pages of [this.#accounts, this.#entries, this.#sources, this.#sums]) pages.flush()
  }

  #settle(): void {
    this.#addSums()
    this.#moveSources()
    this.#gathered.byEarner((earner, order, from, to) => this.#keepEntries(earner, order, from, to))
    this.#gathered.count = 0
    this.#known.clear()
  }

  /** Sums of the rewards at hand by source, level and asset, and by earner, level and asset, in the order they were first earned. */
  #sumUp(): Map<number, Sum> {
    const { count, earners, sources, levels, assets, amounts } = this.#gathered
    const sums = new Map<number, Sum>()
    const add = (key: number, number: number, amount: bigint): void => {
      const sum = sums.get(key)
      if (sum === undefined) sums.set(key, { number, amount })
      else sum.amount += amount
    }
    for (let number = 0; number < count; number++) {
      const [level, asset, amount] = [levels[number]!, assets[number]!, amounts[number]!]
      add((sources[number]! * LEVELS + level) * ASSETS + asset, number, amount)
      add(TOTALS + (earners[number]! * LEVELS + level) * ASSETS + asset, number, amount)
    }
    return sums
  }

  #addSums(): void {
    const { views } = this.#sums
    for (const [key, { number, amount }] of this.#sumUp()) {
      const at = key < TOTALS ? this.#sourceSum(number) : this.#total(number)
      addWide(views.i64, (at + M.amount) >>> 1, amount)
    }
  }

  /** Address of the sum of which reward `number` is, among all that its account earned. */
  #total(number: number): number {
    const { i32 } = this.#accounts.views
    const account = this.#account(this.#gathered.earners[number]!)
    const found = this.#findSum(i32[this.#accounts.locate(ALL, account) + A.totals]!, number)
    if (found >= 0) return this.#sums.change(ALL, found)
    const place = this.#accounts.change(ALL, account) + A.totals
    const at = this.#newSum(number, i32[place]!)
    i32[place] = this.#sums.count(ALL)
    return at
  }

  /** The same among what it earned of its source. */
  #sourceSum(number: number): number {
    const { i32 } = this.#sources.views
    const source = this.#source(number)
    const found = this.#findSum(i32[this.#sources.locate(ALL, source) + S.sums]!, number)
    if (found >= 0) return this.#sums.change(ALL, found)
    const place = this.#sources.change(ALL, source) + S.sums
    const at = this.#newSum(number, i32[place]!)
    i32[place] = this.#sums.count(ALL)
    return at
  }

  /** Number of the sum for reward `number` in the list that begins at `link`, or -1. Lists have three levels and what fees are paid in. */
  #findSum(link: number, number: number): number {
    const { i32 } = this.#sums.views
    const [level, asset] = [this.#gathered.levels[number], this.#gathered.assets[number]]
    for (let next = link; next !== 0;) {
      const at = this.#sums.locate(ALL, next - 1)
      if (i32[at + M.level] === level && i32[at + M.asset] === asset) return next - 1
      next = i32[at + M.next]!
    }
    return -1
  }

  #newSum(number: number, next: number): number {
    const at = this.#sums.append(ALL)
    const { i32 } = this.#sums.views
    i32[at + M.level] = this.#gathered.levels[number]!
    i32[at + M.asset] = this.#gathered.assets[number]!
    i32[at + M.next] = next
    return at
  }

  /** The number of an account's record, which is its row, made if need be. */
  #account(account: number): number {
    while (this.#accounts.count(ALL) <= account) this.#accounts.append(ALL)
    return account
  }

  /** Number of the record of who earned reward `number` of whom, made if need be. */
  #source(number: number): number {
    const { earners, sources, levels } = this.#gathered
    const [earner, source, level] = [earners[number]!, sources[number]!, levels[number]!]
    const key = source * LEVELS + level
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const { i32 } = this.#sources.views
    const place = this.#accounts.locate(ALL, this.#account(source)) + A.levels
    const first = this.#accounts.views.i32[place]!
    let found = -1
    for (let next = first; next !== 0 && found < 0;) {
      const at = this.#sources.locate(ALL, next - 1)
      if (i32[at + S.level] === level) found = next - 1
      next = i32[at + S.other]!
    }
    if (found < 0) {
      found = this.#sources.count(ALL)
      const at = this.#sources.append(ALL)
      i32[at + S.earner] = earner
      i32[at + S.source] = source
      i32[at + S.level] = level
      i32[at + S.other] = first
      this.#accounts.views.i32[this.#accounts.change(ALL, source) + A.levels] = found + 1
    }
    this.#known.set(key, found)
    return found
  }

  /** Puts the sources of the rewards at hand first in the lists of who earned of them, that of the newest reward last. */
  #moveSources(): void {
    const { count, sources, levels, times } = this.#gathered
    const last = new Map<number, number>()
    for (let number = count - 1; number >= 0; number--) {
      const key = sources[number]! * LEVELS + levels[number]!
      if (!last.has(key)) last.set(key, number)
    }
    for (const [key, number] of [...last].reverse()) {
      const source = this.#known.get(key)!
      this.#sources.views.f64[(this.#sources.change(ALL, source) + S.time) >>> 1] = times[number]!
      this.#putFirst(source, this.#gathered.earners[number]!)
    }
  }

  /** Puts record `source` first in the list of `earner`, in which it may stand. */
  #putFirst(source: number, earner: number): void {
    const { i32 } = this.#sources.views
    const newest = this.#accounts.views.i32[this.#accounts.locate(ALL, this.#account(earner)) + A.newest]!
    if (newest === source + 1) return
    const at = this.#sources.change(ALL, source)
    const [older, newer] = [i32[at + S.older]!, i32[at + S.newer]!]
    i32[at + S.older] = newest
    i32[at + S.newer] = 0
    if (newer !== 0) i32[this.#sources.change(ALL, newer - 1) + S.older] = older
    if (older !== 0) i32[this.#sources.change(ALL, older - 1) + S.newer] = newer
    if (newest !== 0) i32[this.#sources.change(ALL, newest - 1) + S.newer] = source + 1
    this.#accounts.views.i32[this.#accounts.change(ALL, earner) + A.newest] = source + 1
  }

  /** Puts the newest rewards of an account, places from..to of `order`, over its oldest. */
  #keepEntries(earner: number, order: Float64Array, from: number, to: number): void {
    const gathered = this.#gathered
    const { u32, f64, i64 } = this.#entries.views
    const counted = (this.#accounts.change(ALL, earner) + A.entries) >>> 1
    const before = this.#accounts.views.f64[counted]!
    const all = before + to - from
    this.#accounts.views.f64[counted] = all
    while (this.#entries.count(earner) < Math.min(all, ENTRIES_KEPT)) this.#entries.append(earner)
    for (let place = Math.max(from, to - ENTRIES_KEPT); place < to; place++) {
      const number = order[place]!
      const at = this.#entries.change(earner, (before + place - from) % ENTRIES_KEPT)
      f64[(at + E.sequence) >>> 1] = gathered.sequences[number]!
      f64[(at + E.time) >>> 1] = gathered.times[number]!
      i64[(at + E.amount) >>> 1] = gathered.amounts[number]!
      u32[at + E.who] = whoOf(gathered.sources[number]!, gathered.assets[number]!)
      u32[at + E.what] = whatOf(gathered.levels[number]!, gathered.indexes[number]!)
    }
  }
}

/** `most`: rewards that are gathered. */
export const createRewards = (tables: Tables, most = GATHERED): RewardsModel => new Rewards(tables, most)
