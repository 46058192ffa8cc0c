/**
 * Promise: pages hold every record where it was put, however few of them fit in memory and whenever they are written: random appends and
 * changes against plain arrays, with room for three pages, across transactions and restarts.
 */
import t, { type Test } from 'tap'
import { createPages, recordsIn, type PageTable } from '../../core/history/pages.ts'
import { createPageReader } from '../../core/history/page_reader.ts'
import { PAGE_BYTES, PAGE_TABLES, pageId, pageRecords, storedBytes, type PageTableName } from '../../core/history/layout.ts'
import { openWriter } from '../../core/history/store.ts'
import { createPrng } from '../../core/lib/prng.ts'

const SEED = Number(process.env['SEED'] ?? 1)
const OWNERS = [0, 1, 5, 2000, 131_071]
/** Rounds for each 31 records that a page holds. */
const ROUNDS = 60
const ROOM = 3

for (const table of Object.keys(PAGE_TABLES) as PageTableName[]) {
  t.test(`${table}: random appends and changes, seed ${SEED}`, (t) => checkTable(t, table))
}

async function checkTable(t: Test, table: PageTableName): Promise<void> {
  const words = PAGE_TABLES[table]
  const perPage = pageRecords(table)
  t.comment(`again: SEED=${SEED} npm test -- test/unit/history_pages.test.ts`)
  const random = createPrng(SEED)
  const database = openWriter(':memory:')
  /** Two numbers of every record by owner: where its sequence and its last word should be. */
  const truth = new Map<number, [first: number, last: number][]>(OWNERS.map((owner) => [owner, []]))
  const write = (pages: PageTable, at: number, [first, last]: [number, number]): void => {
    pages.views.f64[at >>> 1] = first
    pages.views.i32[at + words - 1] = last
  }
  const step = (pages: PageTable): void => {
    const owner = OWNERS[random.below(OWNERS.length)]!
    const records = truth.get(owner)!
    const number = random.below(records.length + 1)
    const value: [number, number] = [1 + random.u32(), random.below(1 << 30)]
    const isNew = number === records.length || random.below(3) > 0
    write(pages, isNew ? pages.append(owner) : pages.change(owner, number), value)
    if (isNew) records.push(value)
    else records[number] = value
  }
  for (let round = 0; round < (ROUNDS * perPage) / 31; round++) {
    const pages = createPages(database, table, ROOM)
    database.transaction(() => {
      for (let made = random.below(60); made >= 0; made--) step(pages)
      pages.flush()
    })()
    database.transaction(() => {
      for (let made = random.below(60); made >= 0; made--) step(pages)
      pages.flush()
    })()
    for (const [owner, records] of truth) if (pages.count(owner) !== records.length) t.fail(`owner ${owner} has ${pages.count(owner)}`)
  }
  const reader = createPageReader(database, table)
  for (const [owner, records] of truth) {
    t.ok(records.length > 4 * perPage, `owner ${owner} has several pages`)
    t.equal(reader.count(owner), records.length, 'as many records')
    const read = records.map((_, number) => {
      const at = reader.locate(owner, number)
      return [reader.views.f64[at >>> 1]!, reader.views.i32[at + words - 1]!]
    })
    t.strictSame(read, records, 'the same records')
    const rows = database.prepare<[number, number], { id: number; records: Buffer }>(`select * from ${table} where id >= ? and id < ?`)
    const stored = rows.all(pageId(owner, 0), pageId(owner + 1, 0))
    const sizes = stored.map(({ records: page }) => [recordsIn(page, words), page.length])
    const last = records.length - (stored.length - 1) * perPage
    t.strictSame(sizes.at(-1), [last, storedBytes(last * words * 4)], 'the last page is as short as it may be')
    t.ok(sizes.slice(0, -1).every(([used, size]) => used === perPage && size === PAGE_BYTES), 'every other page is full')
  }
}

t.test('a page fits into a page of the file', async (t) => {
  const database = openWriter(':memory:')
  const pages = createPages(database, 'order_page', ROOM)
  for (let number = 0; number < 40 * pageRecords('order_page'); number++) pages.views.f64[pages.append(131_071) >>> 1] = 1
  database.transaction(() => pages.flush())()
  t.equal(database.pragma('page_size', { simple: true }), 4096, 'pages of the file')
  const used = Number(database.pragma('page_count', { simple: true }))
  t.ok(used < 40 + 15, `40 pages of records take ${used} of the file`)
})
