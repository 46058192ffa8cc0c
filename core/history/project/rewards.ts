/**
 * Read model of referral rewards: what each account earned of whom (store/reward_layout.ts).
 *
 * Rewards are gathered as they come and put into the pages account by account, at the end of a transaction or when there is no more room
 * for them. An account that earned of a thousand fills meanwhile is looked up once. Where that falls changes nothing: newest is newest,
 * and sums are sums.
 */
import { REFERRAL_REWARD } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'
import { ENTRIES_KEPT, RECENT_SOURCE, REWARD_ENTRY, REWARD_SOURCE, REWARD_TOTAL, SOURCES_KEPT } from '../store/reward_layout.ts'
import { addWide } from './accounts.ts'

const { at: R } = REFERRAL_REWARD
const { at: E } = REWARD_ENTRY
const { at: T } = REWARD_TOTAL
const { at: S } = REWARD_SOURCE
const { at: N } = RECENT_SOURCE
/** Where the event has account and atoms of each level. */
const EARNERS = [R.first, R.second, R.third] as const
const AMOUNTS = [R.firstAmount, R.secondAmount, R.thirdAmount] as const
/** Rewards gathered at most: 1 MB. */
const GATHERED = 2 ** 14
/** Pages in memory, 4 MB and 16 MB: each transaction changes those of the accounts that earned and traded in it. */
const PAGES = 1024
const SOURCE_PAGES = 4096
/** Assets have numbers below this (layout.ts), levels are 1 to 3: so that one number says source, level and asset. */
const ASSETS = 2 ** 16
const LEVELS = 4

export interface RewardsModel {
  /** REFERRAL_REWARD. */
  earned(events: Views, base: number): void
  flush(): void
}

/** Rewards that are in no page yet, in the order they came. */
class Gathered {
  count = 0
  readonly earners = new Int32Array(GATHERED)
  readonly sources = new Int32Array(GATHERED)
  readonly levels = new Int32Array(GATHERED)
  readonly assets = new Int32Array(GATHERED)
  readonly indexes = new Int32Array(GATHERED)
  readonly sequences = new Float64Array(GATHERED)
  readonly times = new Float64Array(GATHERED)
  readonly amounts = new BigInt64Array(GATHERED)
  /** Numbers of rewards by earner: the order in which they are put into pages. */
  readonly #order = new Float64Array(GATHERED)

  add({ i32, f64, i64 }: Views, base: number, level: number): void {
    const at = this.count++
    this.earners[at] = i32[base + EARNERS[level]!]!
    this.sources[at] = i32[base + R.source]!
    this.levels[at] = level + 1
    this.assets[at] = i32[base + R.asset]!
    this.indexes[at] = i32[base + R.index]!
    this.sequences[at] = f64[(base + R.sequence) >>> 1]!
    this.times[at] = f64[(base + R.time) >>> 1]!
    this.amounts[at] = i64[(base + AMOUNTS[level]!) >>> 1]!
  }

  /** Calls `take` for each account that earned, with the numbers of its rewards, oldest first. */
  byEarner(take: (earner: number, numbers: readonly number[]) => void): void {
    const order = this.#order.subarray(0, this.count)
    for (let number = 0; number < this.count; number++) order[number] = this.earners[number]! * GATHERED + number
    order.sort()
    for (let from = 0; from < order.length;) {
      const earner = Math.floor(order[from]! / GATHERED)
      const numbers: number[] = []
      for (; from < order.length && Math.floor(order[from]! / GATHERED) === earner; from++) numbers.push(order[from]! % GATHERED)
      take(earner, numbers)
    }
    this.count = 0
  }
}

/** Number of the record of `owner` that `is` says, or -1. They are few: three levels of each asset that is a fee. */
function find(pages: PageTable, owner: number, is: (at: number) => boolean): number {
  const count = pages.count(owner)
  for (let number = 0; number < count; number++) if (is(pages.locate(owner, number))) return number
  return -1
}

class Rewards implements RewardsModel {
  readonly #gathered = new Gathered()
  readonly #entries: PageTable
  readonly #totals: PageTable
  readonly #sources: PageTable
  readonly #recent: PageTable

  constructor(tables: Tables) {
    this.#entries = tables.pages('reward_entry_page', PAGES)
    this.#totals = tables.pages('reward_total_page', PAGES)
    this.#sources = tables.pages('reward_source_page', SOURCE_PAGES)
    this.#recent = tables.pages('recent_source_page', PAGES)
  }

  earned(events: Views, base: number): void {
    for (let level = 0; level < EARNERS.length; level++) {
      if (events.i32[base + EARNERS[level]!]! < 0) continue
      if (this.#gathered.count === GATHERED) this.#settle()
      this.#gathered.add(events, base, level)
    }
  }

  flush(): void {
    this.#settle()
    for (const pages of [this.#entries, this.#totals, this.#sources, this.#recent]) pages.flush()
  }

  #settle(): void {
    this.#addSources()
    this.#gathered.byEarner((earner, numbers) => {
      const before = this.#addTotals(earner, numbers)
      this.#keepEntries(earner, numbers, before)
      this.#keepRecent(earner, numbers)
    })
  }

  /** How many rewards the account had before. */
  #addTotals(earner: number, numbers: readonly number[]): number {
    const { levels, assets, amounts } = this.#gathered
    const { i32, f64, i64 } = this.#totals.views
    let before = 0
    for (let number = this.#totals.count(earner) - 1; number >= 0; number--) {
      before += f64[(this.#totals.locate(earner, number) + T.entries) >>> 1]!
    }
    const sums = new Map<number, { count: number; amount: bigint }>()
    for (const number of numbers) {
      const key = levels[number]! * ASSETS + assets[number]!
      const sum = sums.get(key)
      if (sum === undefined) sums.set(key, { count: 1, amount: amounts[number]! })
      else {
        sum.count++
        sum.amount += amounts[number]!
      }
    }
    for (const [key, { count, amount }] of sums) {
      const [level, asset] = [Math.floor(key / ASSETS), key % ASSETS]
      const found = find(this.#totals, earner, (at) => i32[at + T.level] === level && i32[at + T.asset] === asset)
      const at = found < 0 ? this.#totals.append(earner) : this.#totals.change(earner, found)
      i32[at + T.level] = level
      i32[at + T.asset] = asset
      f64[(at + T.entries) >>> 1]! += count
      addWide(i64, (at + T.amount) >>> 1, amount)
    }
    return before
  }

  /** In the order they came, of all earners: records of a source are in the order they were first earned, wherever transactions fall. */
  #addSources(): void {
    const { count, earners, levels, assets, sources, amounts } = this.#gathered
    const { i32, i64 } = this.#sources.views
    const sums = new Map<number, { earner: number; amount: bigint }>()
    for (let number = 0; number < count; number++) {
      const key = (sources[number]! * LEVELS + levels[number]!) * ASSETS + assets[number]!
      const sum = sums.get(key)
      if (sum === undefined) sums.set(key, { earner: earners[number]!, amount: amounts[number]! })
      else sum.amount += amounts[number]!
    }
    for (const [key, { earner, amount }] of sums) {
      const asset = key % ASSETS
      const [source, level] = [Math.floor(key / ASSETS / LEVELS), Math.floor(key / ASSETS) % LEVELS]
      const found = find(this.#sources, source, (at) =>
        i32[at + S.earner] === earner && i32[at + S.level] === level && i32[at + S.asset] === asset)
      const at = found < 0 ? this.#sources.append(source) : this.#sources.change(source, found)
      i32[at + S.earner] = earner
      i32[at + S.level] = level
      i32[at + S.asset] = asset
      addWide(i64, (at + S.amount) >>> 1, amount)
    }
  }

  /** Puts the newest over the oldest; `before`: how many the account had. */
  #keepEntries(earner: number, numbers: readonly number[], before: number): void {
    const gathered = this.#gathered
    const { i32, f64, i64 } = this.#entries.views
    const all = before + numbers.length
    while (this.#entries.count(earner) < Math.min(all, ENTRIES_KEPT)) this.#entries.append(earner)
    for (let i = Math.max(0, numbers.length - ENTRIES_KEPT); i < numbers.length; i++) {
      const number = numbers[i]!
      const at = this.#entries.change(earner, (before + i) % ENTRIES_KEPT)
      f64[(at + E.sequence) >>> 1] = gathered.sequences[number]!
      f64[(at + E.time) >>> 1] = gathered.times[number]!
      i64[(at + E.amount) >>> 1] = gathered.amounts[number]!
      i32[at + E.index] = gathered.indexes[number]!
      i32[at + E.source] = gathered.sources[number]!
      i32[at + E.asset] = gathered.assets[number]!
      i32[at + E.level] = gathered.levels[number]!
    }
  }

  /** Puts the sources of these rewards before those that were there. */
  #keepRecent(earner: number, numbers: readonly number[]): void {
    const { sources, levels, times } = this.#gathered
    const { i32, f64 } = this.#recent.views
    const list = new Map<number, { level: number; time: number }>()
    for (let i = numbers.length - 1; i >= 0 && list.size < SOURCES_KEPT; i--) {
      const number = numbers[i]!
      if (!list.has(sources[number]!)) list.set(sources[number]!, { level: levels[number]!, time: times[number]! })
    }
    const had = this.#recent.count(earner)
    for (let number = 0; number < had && list.size < SOURCES_KEPT; number++) {
      const at = this.#recent.locate(earner, number)
      const source = i32[at + N.source]!
      if (!list.has(source)) list.set(source, { level: i32[at + N.level]!, time: f64[(at + N.time) >>> 1]! })
    }
    let number = 0
    for (const [source, { level, time }] of list) {
      const at = number < had ? this.#recent.change(earner, number) : this.#recent.append(earner)
      f64[(at + N.time) >>> 1] = time
      i32[at + N.source] = source
      i32[at + N.level] = level
      number++
    }
  }
}

export const createRewards = (tables: Tables): RewardsModel => new Rewards(tables)
