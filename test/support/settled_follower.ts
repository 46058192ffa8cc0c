/**
 * A process for crash/settlement_kills.deep.ts: the snapshot follower over the journal of a directory, with a snapshot as often as it may,
 * to the end of the journal. DATA_DIRECTORY.
 */
import { openJournal } from '../../core/journal/file.ts'
import { realIo } from '../../core/lib/io.ts'
import { createSnapshotter } from '../../core/recovery/snapshotter.ts'
import { settlementFiles } from '../../core/settlement/store.ts'
import { snapshotFiles } from '../../core/snapshot/file.ts'

const [dataDir] = process.argv.slice(2) as [string]
const journal = openJournal(dataDir, true)
const warn = (text: string): void => void process.stderr.write(`${text}\n`)
const snapshotter = createSnapshotter({
  journal, snapshots: snapshotFiles(dataDir), settlement: settlementFiles(dataDir, warn), io: realIo, every: 1, keep: 3, warn,
  beat: () => undefined, written: () => undefined, audited: () => undefined,
})
// Each turn writes a snapshot, so far as it may.
while (snapshotter.follow(1));
snapshotter.finish()
await journal.close()
