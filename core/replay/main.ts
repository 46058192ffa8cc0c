/**
 * The replay tools: read-only, usable while the exchange runs. Results go to standard output, progress and errors to standard error.
 * Exit code 0: all is well; 1: verify, diff or settlement found something; 2: the call was wrong or the journal cannot be read.
 */
import { parseArgs } from 'node:util'
import { dataDirOf, saidVersion } from '../lib/about.ts'
import { diff } from './diff.ts'
import { exportJournal, type Progress } from './export.ts'
import { checkRaw, exportCall, EXPORT_HELP, kindsText, rangeOf } from './export_call.ts'
import { inspect } from './inspect.ts'
import { inspectPeople } from './inspect_people.ts'
import { Output } from './output.ts'
import { openSource, printable } from './steps.ts'
import { settlement } from './settlement.ts'
import { isGood, verify } from './verify.ts'

const HELP = `Replay tools: read a journal without changing it, also while the exchange runs.

  npm run replay -- verify        replay everything; check every checksum, snapshot digest and invariant
  npm run replay -- export        commands, events and rows for people: NDJSON, CSV, Parquet         (export --help says all)
  npm run replay -- inspect       the exchange at the end of the journal, or right after a command   [--at SEQ]
          inspect --user ID       one user then: balances, open orders, sub-accounts, agents. ID: a UUID of the wire, or a wallet (0x...)
          inspect --order UUID    one order then, and all that happened to it
          inspect --pair SYMBOL   one pair then: terms, status, the best levels of its book
          inspect --raw --at SEQ  one command and its events as the engine has them, and the state
  npm run replay -- settlement [DIR] --batch N
                                  the roots of a batch of settlement once more, from the journal alone, and whether they are those on the
                                  chain; the balances take long with many accounts
  npm run replay -- diff A B      the first command in which two data directories differ

  --data-dir DIR   the data directory (default: RINGBOOK_DATA_DIR, data/var; not for diff; settlement takes it without the option too)
  --archive DIR    what "npm run journal -- archive" wrote, of a journal that does not go back to its beginning any more; for diff that
                   of A, and given once more that of B
  --version        the version of the program
`

const OPTIONS = {
  'data-dir': { type: 'string' }, format: { type: 'string' }, at: { type: 'string' }, from: { type: 'string' }, to: { type: 'string' },
  archive: { type: 'string', multiple: true }, help: { type: 'boolean' }, kind: { type: 'string', multiple: true },
  kinds: { type: 'boolean' }, out: { type: 'string' }, user: { type: 'string' }, pair: { type: 'string' }, order: { type: 'string' },
  raw: { type: 'boolean' }, batch: { type: 'string' },
} as const
type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']

/** What each tool takes beside the data directory, the archive and help: an option that it would not look at is a mistake. */
const TAKES: Readonly<Record<string, readonly (keyof typeof OPTIONS)[]>> = {
  verify: [],
  export: ['format', 'from', 'to', 'kind', 'kinds', 'out', 'user', 'pair', 'raw'],
  inspect: ['at', 'user', 'order', 'pair', 'raw'],
  diff: [],
  settlement: ['batch'],
}

function runSettlement(dataDir: string, archive: string | undefined, { batch }: Values): number {
  const number = Number(batch)
  if (!Number.isSafeInteger(number) || number < 1) throw new RangeError('--batch takes the number of a batch, 1 or more')
  let next = performance.now() + 1000
  const found = settlement(dataDir, number, archive, (sequence) => {
    if (performance.now() < next) return
    next = performance.now() + 1000
    console.error(`replayed up to ${sequence}`)
  })
  print(found)
  return found.equal === false ? 1 : 0
}

function whole(text: string | undefined, name: string, fallback?: number): number {
  if (text === undefined && fallback !== undefined) return fallback
  const value = Number(text)
  if (text === undefined || !Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} takes a sequence, 1 or more`)
  return value
}

/** Every command as the engine has it: the format of scripts since the first version. */
function exportRaw(dataDir: string, archive: string | undefined, from: number, to: number): void {
  const output = new Output(null)
  for (const step of openSource(dataDir, from, archive).steps) {
    if (step.sequence > to) break
    if (step.sequence >= from) output.write(`${JSON.stringify(printable(step))}\n`)
  }
  output.close()
}

const progress: Progress = (done, last, rate) => {
  const percent = Math.floor((100 * done) / last)
  console.error(`${done} of ${last} commands (${percent} %), ${Math.round(rate)}/s, ${Math.ceil((last - done) / rate)} s left`)
}

/** What an export wrote, in one line. */
function summary({ commands, events, rows }: ReturnType<typeof exportJournal>, seconds: number): string {
  const written = Object.entries(rows).filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`)
  const said = written.join(', ') || 'nothing, no row is about that'
  return `${commands} commands with ${events} events in ${seconds.toFixed(1)} s; written: ${said}`
}

const warn = (text: string): void => console.error(`replay: ${text}`)
const print = (value: unknown): void => console.log(JSON.stringify(value, null, 2))

function runVerify(dataDir: string, archive: string | undefined): number {
  const result = verify(dataDir, progress, archive)
  print({ ...result, rate: Math.round(result.rate) })
  return result.snapshots.every((snapshot) => isGood(snapshot.verdict)) ? 0 : 1
}

function runExport(dataDir: string, archive: string | undefined, values: Values): number {
  if (values.kinds === true) {
    console.log(kindsText())
    return 0
  }
  if (values.raw === true) {
    checkRaw(values)
    exportRaw(dataDir, archive, whole(values.from, 'from', 2), whole(values.to, 'to', Number.MAX_SAFE_INTEGER))
    return 0
  }
  const call = exportCall({ dataDir, archive, ...rangeOf(values.from, values.to) }, values)
  const started = performance.now()
  const exported = exportJournal(call, progress, warn)
  console.error(summary(exported, (performance.now() - started) / 1000))
  return 0
}

function runInspect(dataDir: string, archive: string | undefined, values: Values): number {
  const { at, user, order, pair } = values
  const asked = [user, order, pair].filter((value) => value !== undefined).length
  if (asked > 1) throw new RangeError('--user, --order, --pair: one of them')
  if (values.raw !== true) {
    print(inspectPeople({ dataDir, archive, at: at === undefined ? undefined : whole(at, 'at'), user, order, pair }, { warn, progress }))
    return 0
  }
  if (asked > 0) throw new RangeError('--raw shows a command as the engine has it: it does not go with --user, --order or --pair')
  print(inspect(dataDir, whole(at, 'at'), archive))
  return 0
}

function run(): number {
  if (saidVersion()) return 0
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS })
  const [tool, a, b] = positionals
  const archives = values.archive ?? []
  const dataDir = dataDirOf(values['data-dir'])
  if (values.help === true || tool === undefined) {
    console.log(tool === 'export' ? EXPORT_HELP : HELP)
    return values.help === true ? 0 : 2
  }
  const takes = TAKES[tool]
  if (takes === undefined) throw new RangeError(`there is no tool ${tool}. Tools: ${Object.keys(TAKES).join(', ')}`)
  const strange = Object.keys(values).find((name) => !['data-dir', 'archive', ...takes].includes(name))
  if (strange !== undefined) throw new RangeError(`${tool} takes no --${strange}`)
  if (tool === 'verify') return runVerify(dataDir, archives[0])
  if (tool === 'export') return runExport(dataDir, archives[0], values)
  if (tool === 'inspect') return runInspect(dataDir, archives[0], values)
  if (tool === 'settlement') return runSettlement(a ?? dataDir, archives[0], values)
  if (a === undefined || b === undefined) throw new RangeError('diff takes two data directories')
  const difference = diff(a, b, archives)
  print(difference)
  return difference.sequence === null && difference.what.startsWith('equal') ? 0 : 1
}

try {
  process.exitCode = run()
} catch (error) {
  console.error(`replay: ${(error as Error).message}. Try --help`)
  process.exitCode = 2
}
