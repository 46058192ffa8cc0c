/**
 * Durable commits through the journal's writer: real LMDB, a sync for each, on the disk of the data directory. As in the exchange a
 * thread commits while the main thread of its process keeps room ahead of it (core/journal/room.ts), on the same disk; the rate is over
 * the whole time, so the room is paid for. With room made before, for comparison, it is not.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { amount, median, quantile, type Result } from '../result.ts'
import { ownDirectory, removeDirectory } from '../system/own_exchange.ts'
import type { Commits, JournalWork } from './journal_thread.ts'

const ROUNDS = amount(3, 1)
/** Records of a commit, and how many of them: the last write some hundred MiB, several times the room that is kept. */
const SIZES: readonly (readonly [number, number])[] = [[1, amount(2000, 50)], [64, amount(2000, 50)], [512, amount(4000, 50)]]

interface Round {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** MiB made while it committed. */
  readonly room: number
}

async function measure(work: Omit<JournalWork, 'directory'>): Promise<Round> {
  const directory = ownDirectory()
  const execArgv = ['--disable-warning=ExperimentalWarning']
  const child = fork(join(import.meta.dirname, 'journal_process.ts'), { execArgv, serialization: 'advanced' })
  try {
    child.send({ ...work, directory })
    const answer = await Promise.race([once(child, 'message'), once(child, 'exit')])
    if (!(answer[0] instanceof Object)) throw new Error(`the journal's process ended with ${answer[0]}`)
    const { micros, seconds, room } = answer[0] as Commits
    const sorted = Float64Array.from(micros).sort()
    const perSecond = (work.commits * work.records) / seconds
    return { perSecond, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), room: room / 2 ** 20 }
  } finally {
    child.kill('SIGKILL')
    removeDirectory(directory)
  }
}

export async function run(): Promise<Result> {
  const figures: Record<string, number> = {}
  for (const [records, commits] of SIZES) {
    const rounds: Round[] = []
    for (let i = 0; i < ROUNDS; i++) rounds.push(await measure({ records, commits, before: false }))
    figures[`records/s at ${records} per commit, room charged`] = median(rounds.map((r) => r.perSecond))
    figures[`commit p50 at ${records}, room kept, us`] = median(rounds.map((r) => r.p50))
    figures[`commit p99 at ${records}, room kept, us`] = median(rounds.map((r) => r.p99))
    figures[`room made meanwhile at ${records}, MiB`] = median(rounds.map((r) => r.room))
  }
  const [records, commits] = SIZES.at(-1)!
  const free: Round[] = []
  for (let i = 0; i < ROUNDS; i++) free.push(await measure({ records, commits, before: true }))
  figures[`records/s at ${records}, room made before and not charged`] = median(free.map((r) => r.perSecond))
  return {
    name: 'journal: durable commits, room made meanwhile',
    settings: {
      recordBytes: 128,
      commits: SIZES.map(([records, commits]) => `${commits} of ${records}`).join(', '),
      rounds: ROUNDS,
      store: 'LMDB, overlappingSync false, one value per batch, a sync for each; room kept by the main thread of the process',
    },
    figures,
    targets: [{ figure: `records/s at ${records} per commit, room charged`, atLeast: 1_000_000, unit: 'records/s' }],
  }
}
