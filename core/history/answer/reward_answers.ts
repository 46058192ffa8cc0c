/**
 * Referral rewards of the history. Records are changed in place, so that an answer is read in one slice: at most two pages of entries, or
 * a page for each of a hundred sources, and the pages of checksums that prove them.
 */
import { wideAt } from '../project/accounts.ts'
import { createPageReader, type CheckedStore, type PageReader } from '../store/page_reader.ts'
import { ENTRIES_KEPT, RECENT_SOURCE, REWARD_ENTRY, REWARD_SOURCE, REWARD_TOTAL } from '../store/reward_layout.ts'
import type { HistoryReward, RewardQueries, RewardSource, RewardTotal } from './reward_queries.ts'

const { at: E } = REWARD_ENTRY
const { at: T } = REWARD_TOTAL
const { at: S } = REWARD_SOURCE
const { at: N } = RECENT_SOURCE

export interface RewardReader {
  readonly answers: {
    readonly [Name in keyof RewardQueries]: (ask: RewardQueries[Name]['ask']) => Generator<undefined, RewardQueries[Name]['answer']>
  }
  readonly readers: readonly PageReader[]
}

export function createRewardReader(store: CheckedStore): RewardReader {
  const entries = createPageReader(store, 'reward_entry_page')
  const totals = createPageReader(store, 'reward_total_page')
  const sources = createPageReader(store, 'reward_source_page')
  const recent = createPageReader(store, 'recent_source_page')
  return {
    readers: [entries, totals, sources, recent],
    answers: {
      *rewards({ account }) {
        return { totals: totalsOf(totals, account), entries: entriesOf(entries, account, countOf(totals, account)) }
      },
      *rewardSources({ account }) {
        return { totals: totalsOf(totals, account), sources: sourcesOf(recent, sources, account) }
      },
    },
  }
}

const numbersOf = (reader: PageReader, owner: number): number[] => Array.from({ length: reader.count(owner) }, (_, number) => number)

function totalsOf(reader: PageReader, account: number): RewardTotal[] {
  const { i32, i64 } = reader.views
  return numbersOf(reader, account).map((number) => {
    const at = reader.locate(account, number)
    return { level: i32[at + T.level]!, asset: i32[at + T.asset]!, amount: wideAt(i64, (at + T.amount) >>> 1) }
  })
}

/** Rewards of an account, ever. */
const countOf = (reader: PageReader, account: number): number => numbersOf(reader, account)
  .reduce((sum, number) => sum + reader.views.f64[(reader.locate(account, number) + T.entries) >>> 1]!, 0)

function entriesOf(reader: PageReader, account: number, count: number): HistoryReward[] {
  const { i32, f64, i64 } = reader.views
  return Array.from({ length: Math.min(count, ENTRIES_KEPT) }, (_, back) => {
    const at = reader.locate(account, (count - 1 - back) % ENTRIES_KEPT)
    return {
      sequence: f64[(at + E.sequence) >>> 1]!,
      index: i32[at + E.index]!,
      time: f64[(at + E.time) >>> 1]!,
      level: i32[at + E.level]!,
      source: i32[at + E.source]!,
      asset: i32[at + E.asset]!,
      amount: i64[(at + E.amount) >>> 1]!,
    }
  })
}

function sourcesOf(recent: PageReader, sources: PageReader, account: number): RewardSource[] {
  const { i32, f64 } = recent.views
  return numbersOf(recent, account).map((number) => {
    const at = recent.locate(account, number)
    const [source, level] = [i32[at + N.source]!, i32[at + N.level]!]
    return { source, level, time: f64[(at + N.time) >>> 1]!, earned: earnedOf(sources, account, source) }
  })
}

/** What `account` earned of `source`. */
function earnedOf(reader: PageReader, account: number, source: number): RewardSource['earned'] {
  const { i32, i64 } = reader.views
  const earned: RewardSource['earned'] = []
  for (let number = 0; number < reader.count(source); number++) {
    const at = reader.locate(source, number)
    if (i32[at + S.earner] !== account) continue
    earned.push({ asset: i32[at + S.asset]!, amount: wideAt(i64, (at + S.amount) >>> 1) })
  }
  return earned
}
