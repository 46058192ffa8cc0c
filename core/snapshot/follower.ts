/**
 * The snapshot follower: a process of its own that replays the journal behind the exchange and writes the snapshots.
 *
 * The matcher is never asked for its state, so a snapshot costs it nothing; and every snapshot is the proof of a replay, because the
 * follower checks the checksums of batches and events as it goes. Its death or delay hurts nothing but the time of the next start.
 * It costs the memory of a second engine. Messages to the exchange: how far it is, several times a second, by which the exchange knows
 * that it works (../follower.ts); snapshots, warnings. From the exchange: `finish` = catch up with the journal, snapshot once more, end.
 *
 * Arguments: data directory, commands between snapshots, snapshots kept.
 */
import { openJournal } from '../journal/file.ts'
import { readBatches } from '../journal/reader.ts'
import { rebuild } from '../recovery/recover.ts'
import { checkEnd } from '../journal/end.ts'
import { listSnapshots, pruneSnapshots, snapshotDirectory, snapshotFiles, writeSnapshot } from './file.ts'
import { CLOCK } from '../state/columns.ts'
import { sayLastWords } from '../lib/last_words.ts'

const [dataDir, everyText, keepText] = process.argv.slice(2) as [string, string, string]
const every = Number(everyText)
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
const database = openJournal(dataDir, true)
checkEnd(database)
const warn = (message: string): void => say({ type: 'log', level: 'warn', message })
const { replayer, genesis } = rebuild(database, snapshotFiles(dataDir), Infinity, warn)
let snapshotAt = listSnapshots(dataDir)[0] ?? 0
let finishing = false
let beatAt = -Infinity

/** By this the exchange knows that the follower works (../follower.ts). */
function beat(): void {
  const now = performance.now()
  if (now - beatAt < BEAT_MS) return
  beatAt = now
  say({ type: 'beat', sequence: replayer.state.clock[CLOCK.SEQUENCE]! })
}

function snapshot(): void {
  const info = writeSnapshot(dataDir, replayer.state, genesis, replayer.place.checksum, replayer.events, beat)
  snapshotAt = info.sequence
  pruneSnapshots(dataDir, Number(keepText))
  say({ type: 'snapshot', sequence: info.sequence })
}

/** Replays what the journal has, at most a slice; true when it has more. */
function follow(): boolean {
  const from = replayer.place.sequence
  for (const batch of readBatches(database, replayer.place)) {
    replayer.batch(batch)
    beat()
    if (replayer.state.clock[CLOCK.SEQUENCE]! - snapshotAt >= every) snapshot()
    if (replayer.place.sequence - from >= SLICE) return true
  }
  return false
}

function turn(): void {
  const more = follow()
  beat()
  if (more) setImmediate(turn)
  else if (finishing) finish()
  else setTimeout(turn, PAUSE_MS)
}

function finish(): void {
  if (replayer.state.clock[CLOCK.SEQUENCE]! > snapshotAt) snapshot()
  say({ type: 'stopped', sequence: snapshotAt })
  void database.close().then(() => process.disconnect?.())
}

process.on('message', (message: { type: 'finish' }) => {
  if (message.type === 'finish') finishing = true
})
turn()
