/** What the end of the exchange process means: the exit code of the whole, and the words for an end that it could not explain itself. */
import { constants } from 'node:os'
import { EXIT } from '../threads.ts'

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The code with which it said it would end; `null`: it said nothing. */
  readonly said: number | null
  /** What it wrote last that was no log line. */
  readonly text: string
}

export interface Verdict {
  readonly code: number
  /** What to log; absent when the exchange process said it itself. */
  readonly message?: string
}

const KNOWN = new Set<number>(Object.values(EXIT))
/** Signals that ask for a stop. They end a process only until its modules are loaded, and then it has touched nothing. */
const STOPS: readonly string[] = ['SIGTERM', 'SIGINT', 'SIGHUP']
/** How the processor and the C library end a process that did something wrong. */
const FAULTS: readonly string[] = ['SIGBUS', 'SIGSEGV', 'SIGABRT', 'SIGILL', 'SIGFPE', 'SIGTRAP']
/** V8's last words. */
const NO_HEAP = /JavaScript heap out of memory|FATAL ERROR: .*[Aa]llocation/

const AT_SIGBUS =
  'a page of a mapped file could not be read or written: the journal is damaged or cut, or its disk fails or is full. '
const AT_FAULT = 'native code failed, most likely on a damaged journal. '
const WHAT_TO_DO =
  'Look at the lines above and at the kernel\'s log, run "npm run journal -- scrub", then "npm run replay -- verify" on the data ' +
  'directory, and start again when both are right; otherwise restore a backup'
const WITHOUT_HEAP =
  'the exchange process had no JavaScript heap left. Starting again recovers; when it comes back, lower the limits of the ' +
  'configuration or give it more with NODE_OPTIONS=--max-old-space-size'
const RECOVERS = 'Starting again recovers'

export function verdictOf({ code, signal, said, text }: Ending): Verdict {
  // It may be killed while it ends, by a clean-up that fails or takes too long: what it said counts.
  if (said !== null) return { code: said }
  const ended = 'the exchange process was ended by'
  if (signal === null) {
    if (code !== null && KNOWN.has(code)) return { code }
    return { code: EXIT.THREAD, message: `${ended} itself with code ${code}; the lines above say why. ${RECOVERS}` }
  }
  if (STOPS.includes(signal)) return { code: EXIT.OK }
  if (NO_HEAP.test(text)) return { code: EXIT.THREAD, message: `${WITHOUT_HEAP} (${signal})` }
  if (FAULTS.includes(signal)) {
    return { code: EXIT.JOURNAL, message: `${ended} ${signal}: ${signal === 'SIGBUS' ? AT_SIGBUS : AT_FAULT}${WHAT_TO_DO}` }
  }
  const by = signal === 'SIGKILL' ? 'by hand, or by the kernel when memory ran out (its log says so)' : 'from outside'
  return { code: 128 + constants.signals[signal], message: `${ended} ${signal}: ${by}. ${RECOVERS}` }
}
