/** Promise: the help of the replay tools teaches calls that work, a mistake is answered in words, and --raw is what it always was. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import t from 'tap'
import { exportCall, checkRaw, EXPORT_HELP, kindsText, rangeOf, type ExportOptions } from '../../core/replay/export_call.ts'
import { exportJournal } from '../../core/replay/export.ts'
import { COMMAND_KINDS, KINDS } from '../../core/replay/kinds.ts'
import { openSource, printable } from '../../core/replay/steps.ts'
import { CommandType } from '../../core/layout/command.ts'
import { userId } from '../../core/layout/ids.ts'
import { csvLines } from '../support/csv.ts'
import { exportedLines } from '../support/exported_lines.ts'
import { makeJournal } from '../support/journal.ts'
import { ownDirectory, recordedJournal } from '../support/recorded_journal.ts'

const WHERE = { dataDir: 'data/var', from: 2, to: Infinity }
const QUICK = join(import.meta.dirname, '..', '..', 'core', 'lib', 'quick.mjs')
const MAIN = join(import.meta.dirname, '..', '..', 'core', 'replay', 'main.ts')

t.test('every call that the help shows is one', async (t) => {
  const shown = EXPORT_HELP.matchAll(/^ {2}npm run --silent replay -- (export.*?)(?: {3,}.*| > .*)?$/gm)
  const calls = [...shown].map(([, call]) => call!.trim())
  t.ok(calls.length >= 6)
  for (const call of calls) {
    const { values } = parseArgs({
      args: call.split(/ +/).slice(1),
      options: {
        format: { type: 'string' }, kind: { type: 'string', multiple: true }, out: { type: 'string' }, kinds: { type: 'boolean' },
        raw: { type: 'boolean' }, user: { type: 'string' }, pair: { type: 'string' },
      },
    })
    t.doesNotThrow(() => exportCall(WHERE, values), call)
  }
  const text = kindsText()
  for (const { name, fields } of KINDS) {
    t.ok(text.includes(`\n${name}\n`) || text.startsWith(`${name}\n`), name)
    for (const field of fields) t.ok(text.includes(`${field.name} (${field.type})`), field.name)
  }
  t.ok(text.split('\n').every((line) => line.length <= 120), 'lines fit a screen')
})

t.test('a call that cannot be met is answered in words', async (t) => {
  const says = (options: ExportOptions, words: RegExp, where = {}): unknown =>
    t.throws(() => exportCall({ ...WHERE, ...where }, options), words)
  says({ format: 'xml' }, /--format xml: one of ndjson, csv, parquet/)
  says({ kind: ['fill'] }, /--kind fill: there is no such kind. Kinds: orders, cancels, .*fills/)
  says({ format: 'parquet' }, /name a directory with --out DIR/)
  says({ format: 'csv' }, /standard output takes one kind/)
  says({ kind: ['fills', 'orders'] }, /standard output takes one kind/)
  says({ kind: ['fills,orders'] }, /standard output takes one kind/)
  says({ user: '0x12' }, /--user 0x12: neither the UUID of a user nor a wallet/)
  says({}, /--from 9 is after --to 8/, { from: 9, to: 8 })
  t.strictSame(exportCall(WHERE, { kind: ['fills,orders', 'fills'], out: 'x' }).kinds.map(({ name }) => name), ['fills', 'orders'])
  t.equal(exportCall(WHERE, { user: userId(3, 1) }).kinds.length, 0, 'lines of commands')
  for (const options of [{ kind: ['fills'] }, { out: 'x' }, { user: 'x' }, { pair: 'x' }]) {
    t.throws(() => checkRaw(options), new RegExp(`does not go with --${Object.keys(options)[0]}`))
  }
  t.throws(() => checkRaw({ format: 'csv' }), /--raw is NDJSON/)
})

t.test('a range is of sequences or of times', async (t) => {
  t.strictSame(rangeOf(undefined, undefined), { from: 2, to: Number.MAX_SAFE_INTEGER, since: undefined, until: undefined })
  t.match(rangeOf('5', '9'), { from: 5, to: 9 })
  const [noon, midnight] = [Date.UTC(2026, 10, 22, 12), Date.UTC(2026, 10, 23)]
  t.match(rangeOf('2026-11-22T12:00:00Z', '2026-11-23'), { from: 2, since: noon, until: midnight })
  t.match(rangeOf('2026-11-22T13:00+01:00', '99'), { since: noon, to: 99, until: undefined })
  for (const wrong of ['0', '-1', '1.5', 'yesterday', '2026-13-01', '2026-11-22T12:00', '22.11.2026', '']) {
    t.throws(() => rangeOf(wrong, undefined), /neither a sequence, 1 or more, nor a time like/, wrong)
  }
  t.throws(() => exportCall({ ...WHERE, ...rangeOf('2026-11-23', '2026-11-22') }, {}), /--from is not before --to/)
})

t.test('every command has one kind', async (t) => {
  const types: number[] = Object.values(COMMAND_KINDS).flat()
  t.equal(new Set(types).size, types.length)
  t.strictSame(new Set(types), new Set(Object.values(CommandType).filter((type) => type !== CommandType.GENESIS)))
})

async function run(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    return { code: 0, ...await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', QUICK, MAIN, ...args]) }
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string }
  }
}

t.test('the tool itself', async (t) => {
  const dataDir = ownDirectory(t)
  await makeJournal(dataDir, { seed: 5, batches: 20 }).database.close()
  const tool = (...args: string[]): ReturnType<typeof run> => run([...args, '--data-dir', dataDir])
  const raw = await tool('export', '--raw')
  t.equal(raw.stdout, [...openSource(dataDir).steps].map((step) => `${JSON.stringify(printable(step))}\n`).join(''), 'raw lines')
  const lines = await tool('export')
  const told = exportedLines(dataDir).lines
  t.strictSame(lines.stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line) as object), told, 'lines')
  t.match(lines.stderr, new RegExp(`^${told.length} commands with \\d+ events in .* written: ${told.length} commands`, 'm'))
  const csv = await tool('export', '--kind', 'orders', '--format', 'csv', '--pair', 'BTC/USD')
  const [head, ...rows] = csvLines(csv.stdout)
  const pair = head!.indexOf('pair')
  t.ok(rows.length > 5 && rows.every((row) => row[pair] === 'BTC/USD'), 'rows of a pair')
  const strange = await tool('export', '--at', '42')
  t.equal(strange.code, 2)
  t.match(strange.stderr, /export takes no --at/)
})

t.test('a pair that never was is a mistake; one that is listed later is not', async (t) => {
  const dataDir = recordedJournal(t, 'rooms_listing')
  const warned: string[] = []
  const rows = (pair: string): number => {
    const out = join(ownDirectory(t), 'out')
    const call = { ...WHERE, dataDir, format: 'ndjson', kinds: KINDS, out, about: { pair } } as const
    return exportJournal(call, () => undefined, (text) => warned.push(text)).rows['listings']!
  }
  t.throws(() => rows('A-USD'), /--pair A-USD: there is no such pair up to sequence \d+. Pairs: A\/USD, /)
  t.equal(warned.length, 1)
  t.ok(rows('P/29') > 1, 'its listing and its status')
  t.match(warned[1], /no pair P\/29 is listed at sequence 1; listed are A\/USD/)
})
