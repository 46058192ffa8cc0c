/** Promise: files of an export hold exactly what was given, are read by others, have their names when whole, and take bounded memory. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { exportJournal, roomIn } from '../../core/replay/export.ts'
import { KINDS, type Field } from '../../core/replay/kinds.ts'
import type { Cell } from '../../core/replay/meanings.ts'
import { Output } from '../../core/replay/output.ts'
import { GROUP_ROWS, parquetFile, unitsOf } from '../../core/replay/parquet.ts'
import { csvFile, ndjsonFile } from '../../core/replay/text_files.ts'
import { formatDecimal, parseDecimal } from '../../core/lib/decimal.ts'
import { parseCsv } from '../support/csv.ts'
import { makeJournal } from '../support/journal.ts'
import { arrowTable, readParquet, rowGroups } from '../support/parquet.ts'
import { ownDirectory } from '../support/recorded_journal.ts'

const FIELDS: readonly Field[] = [
  { name: 'sequence', type: 'integer' }, { name: 'time', type: 'time' }, { name: 'text', type: 'text' },
  { name: 'amount', type: 'decimal' }, { name: 'flag', type: 'boolean' },
]
/** Atoms are 64 bits, of which as many digits as 18 stand behind the point. */
const DECIMALS = fc.tuple(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.integer({ min: 0, max: 18 }))
  .map(([units, scale]) => formatDecimal(units, scale))
const HARD = ['', '\r', ',', '"', '""', '\n', '\r\n', 'a,"b"\r\n', 'null', ' ']
const TEXTS = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom(...HARD))
const orNull = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { nil: null, freq: 4 })
const ROWS = fc.array(fc.tuple(
  fc.nat({ max: Number.MAX_SAFE_INTEGER }), orNull(fc.integer({ min: 0, max: 253_402_300_799_999 })), orNull(TEXTS), orNull(DECIMALS),
  orNull(fc.boolean()),
), { maxLength: 40 })

const asTold = (rows: readonly (readonly Cell[])[]): Record<string, unknown>[] => rows.map((row) => Object.fromEntries(FIELDS.map(
  ({ name, type }, index) => [name, type === 'time' && row[index] !== null ? new Date(row[index] as number).toISOString() : row[index]!])))

t.test('rows come back from CSV, NDJSON and Parquet as they were', async (t) => {
  const directory = ownDirectory(t)
  let number = 0
  await fc.assert(fc.asyncProperty(ROWS, async (rows) => {
    const path = join(directory, String(number++))
    const files = [
      csvFile(new Output(`${path}.csv`), FIELDS), ndjsonFile(new Output(`${path}.ndjson`), FIELDS),
      parquetFile((part) => new Output(`${path}.${part}.parquet`), FIELDS, { groupRows: 7, fileGroups: 100 }),
    ]
    for (const file of files) {
      for (const row of rows) file.row(row)
      file.close()
    }
    const told = asTold(rows)
    t.strictSame(parseCsv(readFileSync(`${path}.csv`, 'utf8'), FIELDS), told)
    const lines = readFileSync(`${path}.ndjson`, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line) as object)
    t.strictSame(lines, told.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))))
    t.strictSame(await readParquet(`${path}.1.parquet`, FIELDS), told.map((row) => ({ ...row, text: wellFormed(row['text']) })))
  }), { numRuns: 60 })
})

/** Half a surrogate pair is no UTF-8. */
const wellFormed = (text: unknown): unknown => typeof text === 'string' ? Buffer.from(text).toString() : text

t.test('a decimal is the same number in Parquet, whatever its scale', async (t) => {
  fc.assert(fc.property(DECIMALS, (text) => unitsOf(text) === parseDecimal(text, 18)))
  for (const [text, units] of [['0', 0n], ['-0.5', -5n * 10n ** 17n], ['9223372036854775807', (2n ** 63n - 1n) * 10n ** 18n]] as const) {
    t.equal(unitsOf(text), units)
  }
})

t.test('Parquet holds one row group in memory and goes on in another file', async (t) => {
  const path = join(ownDirectory(t), 'rows')
  const file = parquetFile((number) => new Output(`${path}.${number}`), FIELDS, { groupRows: 10, fileGroups: 3 })
  let most = 0
  for (let sequence = 0; sequence < 75; sequence++) {
    file.row([sequence, 1000 * sequence, `row ${sequence}`, '1.5', null])
    most = Math.max(most, file.held)
  }
  file.close()
  t.equal(most, 9 * FIELDS.length, 'a full group is written at once')
  t.strictSame([1, 2, 3].map((number) => arrowTable(`${path}.${number}`).numRows), [30, 30, 15])
  t.strictSame(await Promise.all([1, 2, 3].map((number) => rowGroups(`${path}.${number}`))), [3, 3, 2])
  t.notOk(existsSync(`${path}.4`))
  const rows = (await Promise.all([1, 2, 3].map((number) => readParquet(`${path}.${number}`, FIELDS)))).flat()
  t.strictSame(rows.map(({ sequence }) => sequence), Array.from({ length: 75 }, (_, sequence) => sequence))
})

t.test('an export holds no more values than it may, and loses none by that', async (t) => {
  const dataDir = ownDirectory(t)
  await makeJournal(dataDir, { seed: 3, batches: 40, commands: 8 }).database.close()
  const out = ownDirectory(t)
  const call = { dataDir, from: 2, to: Infinity, format: 'parquet', kinds: KINDS, about: {} } as const
  const run = (name: string, most?: number): ReturnType<typeof exportJournal> =>
    exportJournal({ ...call, out: join(out, name) }, () => undefined, (text) => t.fail(text), most)
  const [whole, small] = [run('whole'), run('small', 500)]
  t.ok(whole.mostHeld > 2000, `${whole.mostHeld} values, where there is room for them`)
  const widest = Math.max(...KINDS.map(({ fields }) => fields.length))
  t.ok(small.mostHeld <= 500 + widest, `${small.mostHeld} values are the bound and a row`)
  t.ok(await rowGroups(join(out, 'small', 'orders.parquet')) > 5)
  for (const { name, fields } of KINDS) {
    const [a, b] = await Promise.all(['whole', 'small'].map((part) => readParquet(join(out, part, `${name}.parquet`), fields)))
    t.strictSame(a, b, name)
  }
  t.ok(GROUP_ROWS * widest < 1 << 20, 'a group of the widest kind fits what is held of all')
})

t.test('a file has its name when it is whole, and is its owner\'s alone', async (t) => {
  const path = join(ownDirectory(t), 'rows.csv')
  const output = new Output(path)
  output.write('first')
  t.notOk(existsSync(path))
  t.equal(statSync(`${path}.part`).mode & 0o777, 0o600)
  output.close()
  t.equal(readFileSync(path, 'utf8'), 'first')
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.notOk(existsSync(`${path}.part`))
})

t.test('an export ends while the disk has room for the exchange', async (t) => {
  const free = { bytes: 1000 }
  const check = roomIn('/somewhere', (path) => (path === '/somewhere' ? free.bytes : NaN), 500)
  check(1)
  free.bytes = 499
  for (let written = 0; written < 15 * 2 ** 20; written += 2 ** 20) check(2 ** 20)
  t.throws(() => check(2 ** 20), /free on the disk of \/somewhere/, 'asked each 16 MiB')
  t.throws(() => new Output(join(ownDirectory(t), 'file'), check).bytes(new Uint8Array(2 ** 25)), /the exchange keeps them/)
})

t.test('what is in a directory is not written over', async (t) => {
  const dataDir = ownDirectory(t)
  await makeJournal(dataDir, { batches: 3 }).database.close()
  const out = join(ownDirectory(t), 'new')
  const call = { dataDir, from: 2, to: Infinity, format: 'csv', kinds: KINDS, out, about: {} } as const
  exportJournal(call, () => undefined, (text) => t.fail(text))
  t.equal(statSync(out).mode & 0o777, 0o700)
  t.strictSame(readdirSync(out).sort(), KINDS.map(({ name }) => `${name}.csv`).sort(), 'a file of every kind')
  t.throws(() => exportJournal(call, () => undefined, () => undefined), /is not empty/)
  mkdirSync(join(out, '..', 'other'))
  writeFileSync(join(out, '..', 'other', 'mine'), 'mine')
  t.throws(() => exportJournal({ ...call, out: join(out, '..', 'other') }, () => undefined, () => undefined), /is not empty/)
})
