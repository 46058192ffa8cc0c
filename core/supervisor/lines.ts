/**
 * The log as it leaves the supervisor: one JSON object a line, whatever the exchange process wrote.
 *
 * Log lines pass as they are. Native code (LMDB, V8) prints text, sometimes without an end of line: it becomes the text of a log line of
 * its own, and a log line behind half a line of text is found again. Nothing waits for its end longer than {@link REST_MS}, or grows beyond
 * {@link LINE_BYTES}.
 */

/** A log line may be this long; what is longer is text. */
export const LINE_BYTES = 1 << 20
/** Characters of text that one log line shows. */
export const TEXT_LENGTH = 2_000
/** What waits for its end is written after this long, ms. A log line comes in one piece, or in several at once. */
const REST_MS = 200
const LINE_FEED = 10
/** How every log line of the exchange begins (lib/log.ts). */
const LOG_LINE = '{"level":'

/** Whether the log is to be for people (terminal.ts): `log` is the knob. */
export const isForPeople = (log: string, isTerminal: boolean): boolean =>
  log === 'pretty' || (log !== 'json' && isTerminal)

/** One log line of the supervisor's own, in the form of lib/log.ts. */
export function logLine(level: 'warn' | 'error' | 'fatal', fields: Readonly<Record<string, unknown>>, msg: string): string {
  return `${JSON.stringify({ level, time: new Date().toISOString(), service: 'ringbook', thread: 'supervisor', ...fields, msg })}\n`
}

/** One of the two outputs of the exchange process. */
export interface Lines {
  /** Takes bytes as they come. */
  take(bytes: Buffer): void
  /** Nothing more comes: what waits for its end is written. */
  end(): void
}

/**
 * Lines of `stream`; `write` gets whole log lines with their end. `heard` gets every piece of text that was no log line.
 */
export function createLines(stream: 'stdout' | 'stderr', write: (line: string) => void, heard?: (text: string) => void): Lines {
  let rest: Buffer = Buffer.alloc(0)
  /** Lines of text that go into one log line, because they came together: a stack, a report of V8. */
  let text = ''
  let timer: NodeJS.Timeout | undefined

  const writeText = (): void => {
    if (text.trim() !== '') {
      heard?.(text)
      const shown = text.length > TEXT_LENGTH ? `${text.slice(0, TEXT_LENGTH)} ...` : text.trimEnd()
      write(logLine('warn', { stream, text: shown }, 'the exchange process wrote something that is no log line'))
    }
    text = ''
  }
  const addText = (words: string): void => {
    text += `${words}\n`
    if (text.length > TEXT_LENGTH) writeText()
  }
  const line = (bytes: Buffer): void => {
    const words = bytes.toString('utf8')
    const at = words.indexOf(LOG_LINE)
    if (at < 0 || !isJson(words.slice(at))) return addText(words)
    if (at > 0) addText(words.slice(0, at))
    writeText()
    write(`${words.slice(at)}\n`)
  }
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (rest.length > 0) line(rest)
    rest = Buffer.alloc(0)
    writeText()
  }
  return {
    take: (bytes) => {
      let from = 0
      for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, from)) {
        const end = bytes.subarray(from, at)
        line(rest.length === 0 ? end : Buffer.concat([rest, end]))
        rest = Buffer.alloc(0)
        from = at + 1
      }
      if (from < bytes.length) rest = Buffer.concat([rest, bytes.subarray(from)])
      if (rest.length > LINE_BYTES) flush()
      if (rest.length > 0 || text !== '') timer ??= setTimeout(flush, REST_MS)
    },
    end: flush,
  }
}

function isJson(words: string): boolean {
  try {
    JSON.parse(words)
    return true
  } catch {
    return false
  }
}
