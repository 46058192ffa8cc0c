/** The quick thread of history.ts, as the follower's process is one: projects the whole journal, so many times. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { openProjection } from '../../core/history/project/projection.ts'
import { checkpoint, removeStore } from '../../core/history/store/store.ts'

export interface HistoryWork {
  readonly directory: string
  readonly rounds: number
  /** Commands per transaction. */
  readonly slice: number
}

export interface Round {
  events: number
  commands: number
  /** Commands of the whole journal, per second of processor time. */
  cpu: number
  transactions: number
  /** Of its file; of each of its tables, by name. */
  bytes: number
  tables: Record<string, number>
}

async function project({ directory, slice }: HistoryWork): Promise<Round> {
  const path = join(directory, 'bench.sqlite')
  removeStore(path)
  const projection = openProjection(directory, path, { warn: console.error })
  const [started, used] = [performance.now(), process.cpuUsage()]
  let transactions = 1
  while (projection.step(slice)) transactions++
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(used)
  const { events, sequence, database } = projection
  const sizes = database.prepare<[], { name: string; bytes: number }>('select name, sum(pgsize) as bytes from dbstat group by name')
  checkpoint(database, true)
  const tables = Object.fromEntries(sizes.all().map(({ name, bytes }) => [name, bytes]))
  await projection.close()
  const bytes = statSync(path).size
  removeStore(path)
  return { events: events / seconds, commands: sequence / seconds, cpu: events / ((user + system) / 1e6), transactions, bytes, tables }
}

const work = workerData as HistoryWork
const rounds: Round[] = []
for (let round = 0; round < work.rounds; round++) rounds.push(await project(work))
parentPort!.postMessage(rounds)
