/** Durable commits through the journal writer: real LMDB, fsync per commit, on the disk of the data directory. */
import { openJournal, usedBytes } from '../../core/journal/file.ts'
import { makeRoom } from '../../core/journal/room.ts'
import { createWriter } from '../../core/journal/writer.ts'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import { amount, median, quantile, type Result } from '../result.ts'
import { ownDirectory, removeDirectory } from '../system/own_exchange.ts'

const COMMITS = amount(600, 50)

async function measure(records: number): Promise<{ perSecond: number; p50: number; p99: number }> {
  const directory = ownDirectory()
  const database = openJournal(directory, false, 8)
  const writer = createWriter(database, records)
  const micros = new Float64Array(COMMITS)
  let sequence = 1
  const commit = (index: number): void => {
    for (let word = 0; word < records * RECORD_WORDS; word++) writer.words[word] = (sequence + word) | 0
    const started = performance.now()
    writer.commit(sequence, 1_700_000_000_000 + index, records, records, 0)
    micros[index] = (performance.now() - started) * 1000
    sequence += records
  }
  for (let warm = 0; warm < 50; warm++) commit(warm)
  // The exchange keeps room ahead of its journal (journal/room.ts); here it is made once.
  const room = (COMMITS * records * RECORD_WORDS * 4 * 3) >>> 1
  while (usedBytes(directory) < room && (await makeRoom(directory, room)) > 0);
  for (let index = 0; index < COMMITS; index++) commit(index)
  const total = micros.reduce((sum, each) => sum + each, 0)
  micros.sort()
  await database.close()
  removeDirectory(directory)
  return { perSecond: (COMMITS * records) / (total / 1e6), p50: quantile(micros, 0.5), p99: quantile(micros, 0.99) }
}

export async function run(): Promise<Result> {
  const figures: Record<string, number> = {}
  for (const records of [1, 64, 512]) {
    const rounds = [await measure(records), await measure(records), await measure(records)]
    figures[`records/s at ${records} per commit`] = median(rounds.map((r) => r.perSecond))
    figures[`commit p50 at ${records}, us`] = median(rounds.map((r) => r.p50))
    figures[`commit p99 at ${records}, us`] = median(rounds.map((r) => r.p99))
  }
  return {
    name: 'journal: durable commits',
    settings: {
      recordBytes: 128,
      commits: COMMITS,
      rounds: 3,
      store: 'LMDB, overlappingSync false, one value per batch, fsync each, room made ahead',
    },
    figures,
    targets: [{ figure: 'records/s at 512 per commit', atLeast: 1_000_000, unit: 'records/s' }],
  }
}
