/**
 * The log for people: what the JSON log has, in words, for a terminal (`--log pretty`). The start is one greeting that
 * says where everything is; every other entry is one line with its time, its level when that is a warning or worse, its
 * words and its fields. Whatever stands in an entry, nothing of it reaches the terminal as a control character.
 */
import { isIPv6 } from 'node:net'
import { embedsChain, KNOBS, type Config } from '../config.ts'

/** Puts a text into a style, or leaves it as it is where nobody wants colours. */
export type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green', text: string) => string

/** Of the greeting: what is where, and a note beside it or ''. */
type Row = [what: string, where: string, note: string]
type Entry = Readonly<Record<string, unknown>>

const LEVELS: Readonly<Record<string, [style: 'red' | 'yellow', word: string]>> = {
  warn: ['yellow', 'warning '], error: ['red', 'error '], fatal: ['red', 'error '],
}
/** What every entry has, and numbers of processes, which nobody at a terminal asks for. */
const UNSAID = ['level', 'time', 'service', 'thread', 'pid', 'msg', 'code']
/** What is routine, or what the greeting says. */
const ROUTINE = ['the chain is open', 'every invariant holds', 'snapshot written', 'fee tiers change']
/** Characters of one field. */
const FIELD_LENGTH = 400
/** Characters that a terminal would obey: control characters but line feed and tab, and marks of direction. */
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const harmless = (text: string): string =>
  text.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

const whole = (value: unknown): string => Number(value).toLocaleString('en-US')

export class Terminal {
  readonly #config: Config | null
  readonly #paint: Paint
  readonly #now: () => number
  #recovered: Entry = {}
  #open = false

  /** `config`: `null` when it could not be read; `now`: ms since the start was asked for. */
  constructor(config: Config | null, paint: Paint, now: () => number) {
    this.#config = config
    this.#paint = paint
    this.#now = now
  }

  /** The lines for a line of the JSON log, with their ends; '': nobody needs to see it. */
  show(line: string): string {
    const entry = JSON.parse(line) as Entry
    const text = this.#special(entry) ?? this.#plain(entry)
    return text === '' ? '' : `${text}\n`
  }

  /** What has words of its own here. */
  #special(entry: Entry): string | null {
    const { level, msg } = entry
    if (level === 'fatal') return this.#fatal(entry)
    if (level !== 'info') return null
    switch (msg) {
      case 'starting':
        return `Ringbook starts on ${harmless(this.#config?.dataDir ?? '')} ...`
      case 'recovered':
        this.#recovered = entry
        return ''
      case 'replaying the journal':
        return this.#progress(entry)
      case 'ready':
        this.#open = true
        return this.#greeting(entry)
      case 'stopping':
        return `\nStopping (${harmless(String(entry['cause']))}) ...`
      case 'stopped':
        return entry['sequence'] === undefined
          ? 'Stopped.' : `Stopped at sequence ${whole(entry['sequence'])}. Everything that was answered is on disk.`
      default:
        return ROUTINE.includes(String(msg)) || /^[\w ]+ started$/.test(String(msg)) ? '' : null
    }
  }

  #progress({ stage, records, secondsLeft }: Entry): string {
    const what = stage === 'history' ? 'making the history' : 'reading the journal'
    return this.#paint('dim', `  ${what}: ${whole(records)} commands, ${whole(secondsLeft)} s left`)
  }

  #fatal({ code, msg }: Entry): string {
    const what = this.#open ? 'Ringbook cannot go on:' : 'Ringbook does not start:'
    const hint = `exit code ${Number(code)}: README.md, "Exit codes", says what to do`
    return `${this.#paint('red', what)} ${harmless(String(msg))}\n${this.#paint('dim', hint)}`
  }

  #plain({ time, level, msg, ...fields }: Entry): string {
    const clock = new Date(String(time)).toTimeString().slice(0, 8)
    const [style, word] = LEVELS[String(level)] ?? ['dim', '']
    const said = Object.entries(fields).filter(([name]) => !UNSAID.includes(name))
    const shown = said.map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return harmless(`${name}: ${text.length > FIELD_LENGTH ? `${text.slice(0, FIELD_LENGTH)} ...` : text}`)
    })
    const details = shown.length === 0 ? '' : this.#paint('dim', ` (${shown.join(', ')})`)
    const words = harmless(String(msg))
    return `${this.#paint('dim', clock)} ${word === '' ? '' : this.#paint(style as 'red', word)}${words}${details}`
  }

  #greeting({ host, port, grpcPort, operatorPort, chainPort }: Entry): string {
    const paint = this.#paint
    const config = this.#config!
    const name = nameOf(String(host))
    const tls = config.tlsCert === '' ? '' : 's'
    const base = `${name}:${Number(port)}`
    const rows: Row[] = [
      ['REST', `http${tls}://${base}/api/v1`, isEvery(String(host)) ? 'and every other address of this machine' : ''],
      ['WebSocket', `ws${tls}://${base}/ws`, ''],
      ...(grpcPort === undefined ? [] : [grpcRow(config, `${name}:${Number(grpcPort)}`)]),
      ['Docs', `http${tls}://${base}/docs`, ''],
      ['Operator', `http://127.0.0.1:${Number(operatorPort)}`, operatorCommand(config, Number(operatorPort))],
      ...chainRow(config, chainPort),
      ['Data', harmless(config.dataDir), ''],
    ]
    const width = Math.max(...rows.map(([what]) => what.length))
    const lines = rows.map(([what, where, note]) => {
      const beside = note === '' ? '' : `   ${paint('dim', note)}`
      return `  ${paint('dim', what.padEnd(width))}  ${where}${beside}`
    })
    const seconds = (this.#now() / 1000).toFixed(1)
    const opened = `${paint('bold', 'Ringbook is open')}: ${this.#begun()}, ready in ${seconds} s`
    const hint = 'Ctrl-C stops it in order. Settings: npm start -- --help. Log as JSON: npm start -- --log json'
    return `\n${opened}\n\n${lines.join('\n')}\n\n  ${paint('dim', hint)}\n`
  }

  #begun(): string {
    const { created, sequence } = this.#recovered
    return created === true ? this.#paint('green', 'a new exchange') : `resumed at sequence ${whole(sequence)}`
  }
}

const isEvery = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** How a browser on this machine names it. */
function nameOf(host: string): string {
  if (isEvery(host)) return '127.0.0.1'
  return isIPv6(host) ? `[${host}]` : harmless(host)
}

const grpcRow = ({ grpcCert }: Config, where: string): Row =>
  ['gRPC', where, grpcCert === '' ? 'plain HTTP/2' : 'TLS']

function chainRow(config: Config, port: unknown): Row[] {
  if (!embedsChain(config)) return []
  const where = port === undefined ? 'not open yet' : `http://127.0.0.1:${Number(port)}`
  return [['Chain', where, 'for wallets that are contracts']]
}

/** The operator's command line for this exchange, which finds the usual port and directory by itself. */
function operatorCommand({ dataDir }: Config, port: number): string {
  const directory = dataDir === KNOBS.dataDir.fallback ? '' : ` --data-dir ${harmless(dataDir)}`
  return `npm run operator -- status${directory}${port === KNOBS.operatorPort.fallback ? '' : ` --port ${port}`}`
}
