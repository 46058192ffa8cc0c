/** Copy trading of the history: follows of any age, and figures of leaders (leader_figures.ts). */
import { followReasonOf, followStateOf, HANDLE_BYTES, LeaderState, leaderStateOf } from '../../layout/copying.ts'
import { FOLLOW_RECORD, LEADER_RECORD } from '../store/copy_layout.ts'
import { createPageReader, type CheckedStore, type PageReader } from '../store/page_reader.ts'
import { LEADERS_MAX, type CopyQueries, type FollowsAsk, type HistoryFollow, type LeaderFigures } from './copy_queries.ts'
import { createLeaderFigures } from './leader_figures.ts'
import type { MarginValueReader } from './margin_value.ts'
import { boundsOf, descend, descendThrough, start } from './trails.ts'
import { walk, type Trail } from './walk.ts'

const { at: F } = FOLLOW_RECORD
const { at: R } = LEADER_RECORD

export interface CopyReader {
  readonly answers: {
    readonly [Name in keyof CopyQueries]: (ask: CopyQueries[Name]['ask']) => Generator<undefined, CopyQueries[Name]['answer']>
  }
  readonly readers: readonly PageReader[]
}

/** `time`: of the newest command that the store has, Unix ms. */
export function createCopyReader(store: CheckedStore, margin: MarginValueReader, time: () => number): CopyReader {
  const follows = createPageReader(store, 'follow_page')
  const leaders = createPageReader(store, 'leader_page')
  const figures = createLeaderFigures(store, margin)
  return {
    readers: [follows, leaders, ...figures.readers],
    answers: {
      follows: (ask) => walk(followTrail(follows, leaders, ask), ask),
      *leaderFigures({ accounts }) {
        const now = time()
        const all: (LeaderFigures | null)[] = []
        for (const account of accounts.slice(0, LEADERS_MAX)) all.push(yield* figures.figures(account, now))
        return all
      },
    },
  }
}

function followTrail(follows: PageReader, leaders: PageReader, ask: FollowsAsk): Trail<HistoryFollow> {
  const { i32, f64 } = follows.views
  const { account, states } = ask
  const count = start(follows, account, boundsOf(ask), F.sequence, F.startedAt)
  return {
    ...(states === undefined ? descendThrough(follows, account, count, 0, F.startedAt) : descend(follows, account, count)),
    isOver: () => false,
    rows: (at) => (states === undefined || states.includes(followStateOf(i32[at + F.what]!)) ? 1 : 0),
    position: (at) => ({ sequence: f64[(at + F.sequence) >>> 1]!, index: 0 }),
    build: (at) => followAt(follows, leaders, account, at),
    loads: () => follows.loads + leaders.loads,
  }
}

function followAt(follows: PageReader, leaders: PageReader, account: number, at: number): HistoryFollow {
  const { i32, f64, i64 } = follows.views
  const [what, leaderAccount] = [i32[at + F.what]!, i32[at + F.leaderAccount]!]
  return {
    account,
    sequence: f64[(at + F.sequence) >>> 1]!,
    row: i32[at + F.row]!,
    index: 0,
    state: followStateOf(what),
    reason: followReasonOf(what),
    leaderAccount,
    handle: handleOf(leaders, leaderAccount),
    allocation: i64[(at + F.allocation) >>> 1]!,
    maxLeverage: i32[at + F.maxLeverage]!,
    mode: i32[at + F.mode]!,
    marginAccount: i32[at + F.marginAccount]!,
    marginSequence: f64[(at + F.marginSequence) >>> 1]!,
    copied: i32[at + F.copied]!,
    skipped: i32[at + F.skipped]!,
    skipCode: i32[at + F.skipCode]!,
    skipPair: i32[at + F.skipPair]!,
    skippedAt: f64[(at + F.skippedAt) >>> 1]!,
    startedAt: f64[(at + F.startedAt) >>> 1]!,
    updatedAt: f64[(at + F.updatedAt) >>> 1]!,
  }
}

/** The handle that an account has by now; '': none. */
function handleOf(leaders: PageReader, account: number): string {
  const count = leaders.count(account)
  if (count === 0) return ''
  const at = leaders.locate(account, count - 1)
  const { i32, bytes } = leaders.views
  if (leaderStateOf(i32[at + R.what]!) !== LeaderState.REGISTERED) return ''
  return Buffer.from(bytes.buffer as ArrayBuffer, (at + R.handle) * 4, HANDLE_BYTES).toString('latin1').replace(/\0+$/, '')
}
