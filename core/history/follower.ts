/**
 * The history follower: a process of its own that replays the journal behind the exchange and projects its events into
 * the history store (follow.ts has what it does).
 *
 * It asks nothing of the matcher and can be killed at any moment: the next one goes on at the position of the store.
 * Messages to the exchange: how far it is, ten times a second while it works, by which the exchange knows that it does
 * (../supervisor/follower.ts); changes of fee tiers, progress, warnings. From the exchange: `finish` = catch up and
 * end; `suspect` = a reader found damage. A store that is not what was written is removed, and the next follower makes
 * it anew from the journal; until then there is no history.
 *
 * Arguments: data directory, seconds between looks at the fee tiers, pages to scrub a second.
 */
import { realIo } from '../lib/io.ts'
import { sayLastWords } from '../lib/last_words.ts'
import type { FromFollower } from '../threads.ts'
import { HistoryFollower } from './follow.ts'
import { openProjection } from './project/projection.ts'
import { historyPath, isDamaged, removeStore } from './store/store.ts'

const [dataDir, tierSeconds, scrubPages] = process.argv.slice(2) as [string, string, string]
const path = historyPath(dataDir)

/** A parent that is gone is noticed by `disconnect`; a message to it is not worth an error. */
const say = (message: FromFollower): void => void process.send?.(message, undefined, undefined, () => undefined)
const warn = (message: string): void => say({ type: 'log', level: 'warn', message })

// Ends with its exchange; the exchange may be gone already, and its going announced while the modules were loaded. Signals of the
// terminal are for the exchange alone.
process.on('disconnect', () => process.exit(0))
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
if (!process.connected) process.exit(0)

sayLastWords(path)
const projection = openProjection(dataDir, path, {
  warn,
  damaged: (message) => say({ type: 'damage', message }),
  report: ({ records, rate, secondsLeft }) => say({ type: 'progress', stage: 'history', records, rate, secondsLeft }),
})
const follower = new HistoryFollower({
  projection, path, io: realIo, say, tierSeconds: Number(tierSeconds), scrubPages: Number(scrubPages),
})
let finishing = false

/** One transaction, then a rest. What goes wrong ends the process, and the exchange starts the next; a damaged store goes first. */
function turn(): void {
  try {
    const rest = follower.turn(finishing)
    if (rest === null) void follower.finish().then(() => process.disconnect?.())
    else if (rest === 0) setImmediate(turn)
    else setTimeout(turn, rest)
  } catch (error) {
    if (!isDamaged(error, path)) throw error
    makeAnew(error as Error)
  }
}

/** Lets the next follower make the store anew; one that could not be is left as it is. */
function makeAnew({ message }: Error): void {
  try {
    projection.checkAnew()
  } catch (error) {
    throw new Error(`the history is damaged (${message}) and is left as it is, because it cannot be made anew`, { cause: error })
  }
  removeStore(path)
  process.send?.({ type: 'damage', message } satisfies FromFollower, undefined, undefined, () => process.exit(1))
}

process.on('message', (message: { type: 'finish' | 'suspect' }) => {
  if (message.type === 'finish') finishing = true
  else follower.suspect()
})
// Not at once: an exchange that went meanwhile is heard of first.
setImmediate(turn)
