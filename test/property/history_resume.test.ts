/**
 * Promise: a store is a function of the journal alone. Projected at once, in random transactions with random stops, or rebuilt, it has
 * the same rows; a store that does not belong to its journal is found out and made anew.
 *
 * One run again: SEED=7 npm test -- test/property/history_resume.test.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openProjection, type Projection } from '../../core/history/project/projection.ts'
import { openReader, readPosition, writePosition, type StorePosition } from '../../core/history/store/store.ts'
import { TABLE_NAMES } from '../../core/history/store/layout.ts'
import { isPacked, unpack } from '../../core/history/store/packing.ts'
import { compareStores } from '../../core/history/store/verify.ts'
import { openJournal } from '../../core/journal/file.ts'
import { endSequence } from '../../core/journal/reader.ts'
import { dropLast } from '../../core/recovery/recover.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal } from '../support/journal.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const BATCHES = 900
const SNAPSHOTS = [100, 400, 700]
const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/property/history_resume.test.ts`)

const made = makeJournal(directory, { seed: SEED, batches: BATCHES, commands: 24, snapshots: SNAPSHOTS, families: true })
await made.database.close()
const path = (name: string): string => join(directory, `${name}.sqlite`)
let warnings: string[] = []
const open = (name: string): Projection => openProjection(directory, path(name), { warn: (text) => warnings.push(text) })

/** Projects to the end in transactions of `commands`. */
async function whole(name: string, commands = 65_536): Promise<void> {
  const projection = open(name)
  while (projection.step(commands));
  await projection.close()
}

/** Compares two finished stores, positions too. */
function same(t: Test, one: string, other: string, what: string): void {
  const [a, b] = [openReader(path(one)), openReader(path(other))]
  const { rows, differences } = compareStores(a, b)
  t.strictSame(differences, [], `${what}: ${JSON.stringify(rows)}`)
  t.strictSame(compareStores(b, a).differences, [], 'and the other way round')
  t.strictSame(readPosition(a), readPosition(b), 'at one position')
  a.close()
  b.close()
}

t.test('random transactions and stops', async (t) => {
  await whole('truth')
  const truth = openReader(path('truth'))
  const journal = openJournal(directory, true)
  t.equal(readPosition(truth)!.sequence, endSequence(journal), 'the journal was projected to its end')
  const { rows } = compareStores(truth, truth)
  t.ok(rows['trade_page']! > 3, 'there are trades')
  t.ok(rows['candle_page']! > 2, 'and candles')
  const tables = ['order_reference_page', 'posting_reference_page', 'application_trade_page', 'application_user_page']
  const listed = tables.map((table) => rows[table]!)
  t.ok(listed.every((count) => count > 1), `and applications list them: ${listed.join(', ')}`)
  truth.close()
  await journal.close()
  const random = createPrng(SEED)
  let stops = 0
  for (let more = true; more; stops++) {
    const projection = open('pieces')
    for (let steps = random.below(6); steps >= 0 && more; steps--) more = projection.step(1 + random.below(200))
    await projection.close()
  }
  t.ok(stops > 10, `${stops} stops`)
  t.strictSame(warnings, [], 'it was never made anew')
  same(t, 'pieces', 'truth', 'pieces')
})

/** Tables that stores of older formats have: those that stand last came later. */
const OLDER = { 4: 11, 5: 11, 6: 12, 7: 21, 8: 24, 9: 25, 10: 32 } as const
for (const format of [4, 5, 6, 7, 8, 9, 10] as const) t.test(`a store of format ${format} is gone on with`, async (t) => {
  const name = `format${format}`
  const projection = open(name)
  for (let steps = 0; steps < 6; steps++) projection.step(700)
  const { database, sequence } = projection
  for (const table of TABLE_NAMES.slice(OLDER[format])) database.exec(`drop table ${table}`)
  // Pages were not packed then.
  for (const [number, table] of format === 4 ? TABLE_NAMES.slice(0, OLDER[4]).entries() : []) {
    const put = database.prepare(`update ${table} set records = ? where id = ?`)
    for (const { id, records } of database.prepare<[], { id: number; records: Buffer }>(`select * from ${table}`).all()) {
      if (isPacked(records)) put.run(Buffer.from(unpack(number, records)!), id)
    }
  }
  const position = readPosition(database)!
  writePosition(database, { ...position, format, roots: position.roots.subarray(0, OLDER[format] * 16) })
  const header = database.pragma('user_version', { simple: true })
  t.equal(header, format < 6 ? 0 : position.sequence, 'the first ones had no sequence in the header')
  await projection.close()
  warnings = []
  const again = open(name)
  t.equal(again.sequence, sequence, 'from where it was')
  while (again.step(700));
  await again.close()
  t.strictSame(warnings, [], 'it was not made anew')
  same(t, name, 'truth', 'an older store')
})

t.test('a transaction that was cut off leaves nothing', async (t) => {
  const projection = open('cut')
  for (let steps = 0; steps < 5; steps++) projection.step(500)
  const { sequence } = projection
  // As after kill -9 inside a transaction: SQLite takes back what was not committed.
  projection.database.prepare('begin immediate').run()
  projection.database.prepare('delete from order_page').run()
  projection.database.prepare('update position set sequence = 1').run()
  projection.database.prepare('rollback').run()
  await projection.close()
  const again = open('cut')
  t.equal(again.sequence, sequence, 'it goes on where it was')
  while (again.step(700));
  await again.close()
  same(t, 'cut', 'truth', 'after a cut')
})

t.test('a store of another format, genesis or journal is made anew', async (t) => {
  const spoil: [reason: RegExp, change: (position: StorePosition) => Partial<StorePosition>][] = [
    [/format/, () => ({ format: 0 })],
    [/genesis/, () => ({ genesis: 'f'.repeat(64) })],
    [/other commands/, () => ({ batch_checksum: 1 })],
    [/other commands/, () => ({ events_checksum: 1 })],
    [/other commands/, ({ sequence }) => ({ sequence: sequence - 1 })],
    [/journal ends before/, () => ({ sequence: 1e9 })],
  ]
  for (const [reason, change] of spoil) {
    await whole('spoiled')
    const projection = open('spoiled')
    const position = readPosition(projection.database)!
    writePosition(projection.database, { ...position, ...change(position) })
    await projection.close()
    warnings = []
    await whole('spoiled')
    t.match(warnings.at(-1), reason, 'it says why')
    same(t, 'spoiled', 'truth', 'made anew')
  }
})

t.test('a file that is no database, or a damaged one, is made anew', async (t) => {
  const damage: ((file: Buffer) => Buffer)[] = [
    () => Buffer.from('this is no database, however long it may be. '.repeat(200)),
    (file) => file.fill(0xee, 4096),
  ]
  for (const change of damage) {
    await whole('damaged')
    writeFileSync(path('damaged'), change(readFileSync(path('damaged'))))
    warnings = []
    await whole('damaged')
    t.match(warnings[0], /made anew/, 'it says so')
    same(t, 'damaged', 'truth', 'made anew')
  }
})

t.test('two writers: the second to write gives up', async (t) => {
  const [first, second] = [open('contested'), open('contested')]
  first.step(300)
  t.throws(() => second.step(300), /another process writes the history/, 'it notices before it changes anything')
  second.database.prepare('rollback').run()
  await second.close()
  while (first.step(700));
  await first.close()
  same(t, 'contested', 'truth', 'the first is unharmed')
})

t.test('commands cut from the journal leave the history with it', async (t) => {
  const journal = openJournal(directory, false, 1)
  dropLast(journal)
  await journal.close()
  warnings = []
  await whole('pieces')
  await whole('fresh')
  t.match(warnings[0], /journal ends before/, 'the store was ahead')
  same(t, 'pieces', 'fresh', 'after the cut')
})
