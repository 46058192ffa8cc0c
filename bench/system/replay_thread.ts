/** The quick thread of replay.ts, as recovery runs in one: replays a journal from its genesis, so many times. */
import { parentPort, workerData } from 'node:worker_threads'
import { openJournal } from '../../core/journal/file.ts'
import { catchUp, fromGenesis } from '../../core/recovery/recover.ts'
import { SCALAR } from '../../core/state/columns.ts'

export interface ReplayWork {
  readonly directory: string
  readonly rounds: number
}

export interface Replayed {
  /** Commands a second of each round. */
  readonly rates: readonly number[]
  readonly records: number
  readonly live: number
}

const { directory, rounds } = workerData as ReplayWork
const database = openJournal(directory, true)
const rates: number[] = []
let [records, live] = [0, 0]
for (let round = 0; round < rounds; round++) {
  const { replayer } = fromGenesis(database)
  const started = performance.now()
  records = catchUp(database, replayer, Infinity, () => 0, () => undefined)
  rates.push(records / ((performance.now() - started) / 1000))
  live = replayer.state.scalars[SCALAR.ORDERS_LIVE]!
}
await database.close()
parentPort!.postMessage({ rates, records, live } satisfies Replayed)
