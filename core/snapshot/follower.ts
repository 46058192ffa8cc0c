/**
 * The snapshot follower: a process of its own that replays the journal behind the exchange and writes the snapshots.
 *
 * The matcher is never asked for its state, so a snapshot costs it nothing; and every snapshot is the proof of a replay, because the
 * follower checks the checksums of batches and events as it goes. Its death or delay hurts nothing but the time of the next start.
 * It costs the memory of a second engine. Messages to the exchange: how far it is, several times a second, by which the exchange knows
 * that it works (../follower.ts); snapshots, audits (audit.ts), warnings. From the exchange: `finish` = catch up with the journal,
 * snapshot once more, end.
 *
 * Arguments: data directory, commands between snapshots, snapshots kept.
 */
import { archiveOf } from '../archive/retention.ts'
import { openJournal } from '../journal/file.ts'
import { sayLastWords } from '../lib/last_words.ts'
import { realIo } from '../lib/io.ts'
import { createSnapshotter } from '../recovery/snapshotter.ts'
import { settlementFiles } from '../settlement/store.ts'
import { CLOCK } from '../state/columns.ts'
import { receiptFiles, snapshotDirectory, snapshotFiles } from './file.ts'

const [dataDir, everyText, keepText] = process.argv.slice(2) as [string, string, string]
/** How often the journal is looked at, ms, and the commands replayed before others get a turn. */
const PAUSE_MS = 50
const SLICE = 20_000
/** How often the exchange hears of it. */
const BEAT_MS = 200

/** A parent that is gone is noticed by `disconnect`; a message to it is not worth an error. */
const say = (message: Record<string, unknown>): void => void process.send?.(message, undefined, undefined, () => undefined)

// Ends with its exchange: an orphan has nobody to make snapshots for. The exchange may be gone already, and its going announced while
// the modules were loaded. Signals of the terminal are for the exchange alone.
process.on('disconnect', () => process.exit(0))
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
if (!process.connected) process.exit(0)

sayLastWords(snapshotDirectory(dataDir))
let finishing = false
let beatAt = -Infinity

/** By this the exchange knows that the follower works (../supervisor/follower.ts). */
function beat(sequence: number): void {
  const now = performance.now()
  if (now - beatAt < BEAT_MS) return
  beatAt = now
  say({ type: 'beat', sequence })
}

const journal = openJournal(dataDir, true)
const warn = (message: string): void => say({ type: 'log', level: 'warn', message })
const receipts = receiptFiles(dataDir, {
  failed: ({ message }) => warn(`pages of receipts cannot be written, snapshots wait for them: ${message}`),
})
const snapshotter = createSnapshotter({
  journal, snapshots: snapshotFiles(dataDir, receipts), archive: () => archiveOf(dataDir, journal), io: realIo, warn, beat,
  settlement: settlementFiles(dataDir, warn),
  every: Number(everyText), keep: Number(keepText),
  written: (sequence) => say({ type: 'snapshot', sequence }),
  audited: (audited) => say({ type: 'audit', ...audited }),
})

function turn(): void {
  const more = snapshotter.follow(SLICE)
  beat(snapshotter.state.clock[CLOCK.SEQUENCE]!)
  if (more) setImmediate(turn)
  else if (finishing) finish()
  else setTimeout(turn, PAUSE_MS)
}

function finish(): void {
  say({ type: 'stopped', sequence: snapshotter.finish() })
  void journal.close().then(() => process.disconnect?.())
}

process.on('message', (message: { type: 'finish' }) => {
  if (message.type === 'finish') finishing = true
})
turn()
