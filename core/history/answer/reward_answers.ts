/**
 * Referral rewards of the history. Records are changed in place, so that an answer is read in one slice: a page of entries, or those of a
 * hundred sources with their sums.
 */
import { wideAt } from '../project/accounts.ts'
import { createPageReader, type CheckedStore, type PageReader } from '../store/page_reader.ts'
import {
  assetOfWho, ENTRIES_KEPT, indexOfWhat, levelOfWhat, REWARD_ACCOUNT, REWARD_ENTRY, REWARD_SOURCE, REWARD_SUM, sourceOfWho, SOURCES_TOLD,
} from '../store/reward_layout.ts'
import type { HistoryReward, RewardQueries, RewardSource, RewardTotal } from './reward_queries.ts'

const { at: A } = REWARD_ACCOUNT
const { at: E } = REWARD_ENTRY
const { at: S } = REWARD_SOURCE
const { at: M } = REWARD_SUM
/** Owner of all records but entries. */
const ALL = 0

export interface RewardReader {
  readonly answers: {
    readonly [Name in keyof RewardQueries]: (ask: RewardQueries[Name]['ask']) => Generator<undefined, RewardQueries[Name]['answer']>
  }
  readonly readers: readonly PageReader[]
}

export function createRewardReader(store: CheckedStore): RewardReader {
  const accounts = createPageReader(store, 'reward_account_page')
  const entries = createPageReader(store, 'reward_entry_page')
  const sources = createPageReader(store, 'reward_source_page')
  const sums = createPageReader(store, 'reward_sum_page')
  return {
    readers: [accounts, entries, sources, sums],
    answers: {
      *rewards({ account }) {
        const { count, totals } = accountOf(accounts, account)
        return { totals: sumsOf(sums, totals), entries: entriesOf(entries, account, count) }
      },
      *rewardSources({ account }) {
        const { newest, totals } = accountOf(accounts, account)
        return { totals: sumsOf(sums, totals), sources: sourcesOf(sources, sums, newest) }
      },
    },
  }
}

/** How many rewards an account had, and where its lists begin. */
function accountOf(reader: PageReader, account: number): { count: number; totals: number; newest: number } {
  if (account >= reader.count(ALL)) return { count: 0, totals: 0, newest: 0 }
  const at = reader.locate(ALL, account)
  const { i32, f64 } = reader.views
  return { count: f64[(at + A.entries) >>> 1]!, totals: i32[at + A.totals]!, newest: i32[at + A.newest]! }
}

/** The list of sums that begins at `link`, as they were first earned. */
function sumsOf(reader: PageReader, link: number): RewardTotal[] {
  const { i32, i64 } = reader.views
  const found: RewardTotal[] = []
  for (let next = link; next !== 0;) {
    const at = reader.locate(ALL, next - 1)
    found.push({ level: i32[at + M.level]!, asset: i32[at + M.asset]!, amount: wideAt(i64, (at + M.amount) >>> 1) })
    next = i32[at + M.next]!
  }
  return found.reverse()
}

function entriesOf(reader: PageReader, account: number, count: number): HistoryReward[] {
  const { u32, f64, i64 } = reader.views
  return Array.from({ length: Math.min(count, ENTRIES_KEPT) }, (_, back) => {
    const at = reader.locate(account, (count - 1 - back) % ENTRIES_KEPT)
    return {
      sequence: f64[(at + E.sequence) >>> 1]!,
      index: indexOfWhat(u32[at + E.what]!),
      time: f64[(at + E.time) >>> 1]!,
      level: levelOfWhat(u32[at + E.what]!),
      source: sourceOfWho(u32[at + E.who]!),
      asset: assetOfWho(u32[at + E.who]!),
      amount: i64[(at + E.amount) >>> 1]!,
    }
  })
}

/** The list of sources that begins at `link`, as far as it is told. */
function sourcesOf(reader: PageReader, sums: PageReader, link: number): RewardSource[] {
  const { i32, f64 } = reader.views
  const found: RewardSource[] = []
  for (let next = link; next !== 0 && found.length < SOURCES_TOLD;) {
    const at = reader.locate(ALL, next - 1)
    const earned = sumsOf(sums, i32[at + S.sums]!).map(({ asset, amount }) => ({ asset, amount }))
    found.push({ source: i32[at + S.source]!, level: i32[at + S.level]!, time: f64[(at + S.time) >>> 1]!, earned })
    next = i32[at + S.older]!
  }
  return found
}
