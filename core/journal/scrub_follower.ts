/**
 * The scrub that runs beside the exchange, a process of its own: should LMDB end it by a signal (a page that cannot be read is SIGBUS),
 * only the alarm is raised. It reads at a low rate, pass after pass, and says how far it is several times a second.
 *
 * Arguments: data directory, MB per second.
 */
import { sayLastWords } from '../lib/last_words.ts'
import type { FromScrub } from '../threads.ts'
import { journalPath, openJournal } from './file.ts'
import { Scrub } from './scrub.ts'

const [dataDir, rate] = process.argv.slice(2) as [string, string]
/** Bytes of a slice, and the pause between two passes and between two messages, ms. */
const SLICE = 1 << 18
const REST_MS = 60_000
const BEAT_MS = 200
const bytesPerMs = Number(rate) * 1000

const say = (message: FromScrub): void => void process.send?.(message, undefined, undefined, () => undefined)

// Ends with its exchange, which may be gone already. Signals of the terminal are for the exchange alone.
process.on('disconnect', () => process.exit(0))
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
if (!process.connected) process.exit(0)
process.on('message', () => process.exit(0))

sayLastWords(journalPath(dataDir))
const database = openJournal(dataDir, true)
let scrub = new Scrub(database)
let said = 0
let started = performance.now()
let read = 0

function turn(): void {
  const before = scrub.bytes
  const from = performance.now()
  const more = scrub.slice(SLICE)
  read += scrub.bytes - before
  for (; said < scrub.faults.length; said++) say({ type: 'log', level: 'error', message: `the journal is damaged: ${scrub.faults[said]!}` })
  if (more) setTimeout(turn, Math.max(0, (scrub.bytes - before) / bytesPerMs - (performance.now() - from)))
  else endPass()
}

function endPass(): void {
  beat()
  say({ type: 'scrubbed', damaged: scrub.damaged, seconds: (performance.now() - started) / 1000 })
  setTimeout(() => {
    scrub = new Scrub(database)
    said = 0
    started = performance.now()
    turn()
  }, REST_MS)
}

const beat = (): void => say({ type: 'scrub', sequence: scrub.position, bytes: read, damaged: scrub.damaged })

setInterval(beat, BEAT_MS)
turn()
