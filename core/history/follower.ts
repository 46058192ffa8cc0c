/**
 * The history follower: a process of its own that replays the journal behind the exchange and projects its events into the history store.
 *
 * It asks nothing of the matcher and can be killed at any moment: the next one goes on at the position of the store. When it is behind
 * it takes large transactions one after another; when it keeps up, it rests after each for a few times as long as that took, so that a
 * busy exchange costs it few large transactions and a quiet one little delay. Messages to the exchange: how far it is, ten times a
 * second while it works, by which the exchange knows that it does (../follower.ts); changes of fee tiers, progress, warnings. From the
 * exchange: `finish` = catch up and end; `suspect` = a reader found damage.
 *
 * Between transactions it reads the store back (scrub.ts), so many pages a second, and as fast as it can once somebody found damage. A
 * store that is not what was written is removed, and the next follower makes it anew from the journal; until then there is no history.
 *
 * Arguments: data directory, seconds between looks at the fee tiers, pages to scrub a second.
 */
import type { FromFollower } from '../threads.ts'
import { sayLastWords } from '../lib/last_words.ts'
import { openProjection } from './project/projection.ts'
import { createScrub, type Scrub } from './scrub.ts'
import { checkpoint, historyPath, isDamaged, removeStore } from './store/store.ts'
import { createTierWatch } from './tiers.ts'

const [dataDir, tierSeconds, scrubPages] = process.argv.slice(2) as [string, string, string]
/** Commands of one transaction, at most. */
const SLICE = 65_536
/** Rest after a transaction: this many times as long as it took, within these ms; and when there was nothing to do. */
const REST = 3
const REST_LEAST_MS = 2
const REST_MOST_MS = 40
const IDLE_MS = 10
/** How often the exchange hears of it. */
const BEAT_MS = 100
const REPORT_MS = 1_000
/** Pages read back at once: a millisecond or two. */
const SCRUB_SLICE = 128

/** A parent that is gone is noticed by `disconnect`; a message to it is not worth an error. */
const say = (message: FromFollower): void => void process.send?.(message, undefined, undefined, () => undefined)
const warn = (message: string): void => say({ type: 'log', level: 'warn', message })

// Ends with its exchange; the exchange may be gone already, and its going announced while the modules were loaded. Signals of the
// terminal are for the exchange alone.
process.on('disconnect', () => process.exit(0))
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
if (!process.connected) process.exit(0)

sayLastWords(historyPath(dataDir))
const projection = openProjection(dataDir, historyPath(dataDir), {
  warn,
  damaged: (message) => say({ type: 'damage', message }),
  report: ({ records, rate, secondsLeft }) => say({ type: 'progress', stage: 'history', records, rate, secondsLeft }),
})
const tiers = createTierWatch(projection)
let caughtUp = false
let finishing = false
let beatAt = 0
let beatEvents = projection.events
let reportAt = performance.now() + REPORT_MS
const begun = { at: performance.now(), sequence: projection.sequence }
let tiersAt = performance.now()
let scrub: Scrub | null = null
let scrubbedAt = performance.now()
/** The pass after which a suspicion is over. */
let suspectUntil = 0

/** One transaction, then a rest. What goes wrong ends the process, and the exchange starts the next; a damaged store goes first. */
function turn(): void {
  try {
    follow()
  } catch (error) {
    if (!isDamaged(error, historyPath(dataDir))) throw error
    makeAnew(error as Error)
  }
}

/** Lets the next follower make the store anew. */
function makeAnew({ message }: Error): void {
  removeStore(historyPath(dataDir))
  process.send?.({ type: 'damage', message } satisfies FromFollower, undefined, undefined, () => process.exit(1))
}

/** Reads back what is due by now. True while there is a suspicion, which does not wait. */
function readBack(now: number): boolean {
  // Not before there is something: a store that is being made is read when it is whole.
  if (!caughtUp) return false
  scrub ??= createScrub(historyPath(dataDir), projection.genesis.assets.length)
  const suspicion = scrub.passes < suspectUntil
  const due = suspicion ? SCRUB_SLICE : Math.min(SCRUB_SLICE, Math.floor((Number(scrubPages) * (now - scrubbedAt)) / 1000))
  if (due === 0) return false
  scrubbedAt = now
  scrub.step(due)
  return suspicion
}

function follow(): void {
  const started = performance.now()
  const from = projection.sequence
  // Before the step, when it is as far behind as it gets.
  if (started - beatAt >= BEAT_MS) beat(started)
  const more = projection.step(SLICE)
  const now = performance.now()
  if (!more && !caughtUp) {
    caughtUp = true
    beat(now)
  }
  if (!more) lookAtTiers(now)
  const hurry = readBack(now)
  if (more || hurry) setImmediate(turn)
  else if (finishing) finish()
  else if (projection.sequence === from) setTimeout(turn, IDLE_MS)
  else setTimeout(turn, Math.min(REST_MOST_MS, Math.max(REST_LEAST_MS, REST * (now - started))))
}

function beat(now: number): void {
  const { sequence, events } = projection
  const lag = projection.end() - sequence
  const eventsPerSecond = beatAt === 0 ? 0 : ((events - beatEvents) / (now - beatAt)) * 1000
  beatAt = now
  beatEvents = events
  say({ type: 'history', caughtUp, sequence, lag, eventsPerSecond, scrubPasses: scrub?.passes ?? 0, scrubPages: scrub?.pages ?? 0 })
  if (!caughtUp && now >= reportAt) {
    reportAt = now + REPORT_MS
    const rate = ((sequence - begun.sequence) / (now - begun.at)) * 1000
    say({ type: 'progress', stage: 'history', records: sequence - begun.sequence, rate, secondsLeft: lag / rate })
  }
}

/** Only when it has caught up, so that the engine's tiers and the volumes are of one moment. */
function lookAtTiers(now: number): void {
  if (tiers.pending === 0 && now >= tiersAt) {
    tiersAt = now + Number(tierSeconds) * 1000
    tiers.begin()
  }
  if (tiers.pending === 0) return
  const changes = tiers.look()
  if (changes.length > 0) say({ type: 'tiers', changes })
}

function finish(): void {
  scrub?.close()
  checkpoint(projection.database, true)
  say({ type: 'stopped', sequence: projection.sequence })
  void projection.close().then(() => process.disconnect?.())
}

process.on('message', (message: { type: 'finish' | 'suspect' }) => {
  if (message.type === 'finish') finishing = true
  // From here to here: what is left of this pass, and a whole one.
  else suspectUntil = (scrub?.passes ?? 0) + 2
})
// Not at once: an exchange that went meanwhile is heard of first.
setImmediate(turn)
