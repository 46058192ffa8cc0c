/**
 * Promise: pages hold every record where it was put, however few of them fit in memory and whenever they are written: random appends and
 * changes against plain arrays, with room for few pages, across transactions and restarts, up to owners whose checksums need two levels of
 * pages; and what is read is checked: a page that is lost, moved, older or has a wrong bit is never taken for what was written.
 */
import t, { type Test } from 'tap'
import { FAN_OUT, HistoryDamaged, levelId, tableNumber } from '../../core/history/store/checks.ts'
import { openTables, type Tables } from '../../core/history/store/heads.ts'
import type { PageTable } from '../../core/history/store/pages.ts'
import { CheckedStore, createPageReader } from '../../core/history/store/page_reader.ts'
import {
  PAGE_BYTES, PAGE_TABLES, pageId, recordsPerPage, storedBytes, TABLE_NAMES, type PageTableName,
} from '../../core/history/store/layout.ts'
import { unpack } from '../../core/history/store/packing.ts'
import { openWriter, readPosition, writePosition, type HistoryDatabase } from '../../core/history/store/store.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { positionAt } from '../support/history.ts'

const SEED = Number(process.env['SEED'] ?? 1)
const OWNERS = [0, 1, 5, 2000, 131_071]
/** Rounds for each 31 records that a page holds. */
const ROUNDS = 60
/** So that every owner has several, however long a record is. */
const ROUNDS_LEAST = 8
const ROOM = 3
/** Of the table that has none of its own: one record is longer than a page. */
const LONG = 1100

for (const table of TABLE_NAMES.filter((name) => name !== 'head_page')) {
  t.test(`${table}: random appends and changes, seed ${SEED}`, (t) => checkTable(t, table))
}

function commit(database: HistoryDatabase, tables: Tables, pages: PageTable, work: () => void): void {
  database.transaction(() => {
    work()
    pages.flush()
    writePosition(database, positionAt(1, tables.flush()))
  })()
}

async function checkTable(t: Test, table: PageTableName): Promise<void> {
  const words = PAGE_TABLES[table] === 0 ? LONG : PAGE_TABLES[table]
  const perPage = recordsPerPage(words)
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
  for (let round = 0; round < Math.max(ROUNDS_LEAST, (ROUNDS * perPage) / 31); round++) {
    const tables = openTables(database)
    const pages = tables.pages(table, ROOM, words)
    for (let transactions = 0; transactions < 2; transactions++) {
      commit(database, tables, pages, () => {
        for (let made = random.below(60); made >= 0; made--) step(pages)
      })
    }
    for (const [owner, records] of truth) if (pages.count(owner) !== records.length) t.fail(`owner ${owner} has ${pages.count(owner)}`)
  }
  const reader = createPageReader(new CheckedStore(database), table, words)
  for (const [owner, records] of truth) {
    t.ok(records.length > 4 * perPage, `owner ${owner} has several pages`)
    t.equal(reader.count(owner), records.length, 'as many records')
    const read = records.map((_, number) => {
      const at = reader.locate(owner, number)
      return [reader.views.f64[at >>> 1]!, reader.views.i32[at + words - 1]!]
    })
    t.strictSame(read, records, 'the same records')
    const rows = database.prepare<[number, number], { id: number; records: Buffer }>(`select * from ${table} where id >= ? and id < ?`)
    const stored = rows.all(pageId(owner, 0), levelId(owner, 1, 0))
    const last = records.length - (stored.length - 1) * perPage
    const full = Math.max(PAGE_BYTES, perPage * words * 4)
    const number = tableNumber(table)
    // A last page that is full is packed, where pages of its table are.
    const shortest = last === perPage ? unpack(number, stored.at(-1)!.records)!.length : stored.at(-1)!.records.length
    t.equal(shortest, last === perPage ? full : storedBytes(last * words * 4), 'the last page is as short as it may be')
    t.ok(stored.slice(0, -1).every(({ records: page }) => unpack(number, page)?.length === full), 'every other page is full')
  }
}

t.test('an owner with more pages than one page of checksums holds, in one transaction and in many', async (t) => {
  const perPage = recordsPerPage(PAGE_TABLES.order_page)
  for (const transactions of [1, 7]) {
    const database = openWriter(':memory:')
    const tables = openTables(database)
    const pages = tables.pages('order_page', 64)
    const count = (FAN_OUT + 20) * perPage
    let made = 0
    for (let transaction = 1; transaction <= transactions; transaction++) {
      commit(database, tables, pages, () => {
        for (; made < (count * transaction) / transactions; made++) pages.views.f64[pages.append(9) >>> 1] = made + 1
        pages.views.f64[pages.change(9, 17 * perPage) >>> 1] = -transaction
      })
    }
    const again = openTables(database).pages('order_page', 64)
    const reader = createPageReader(new CheckedStore(database), 'order_page')
    let wrong = 0
    for (let number = 0; number < count; number += 13) {
      const wanted = number === 17 * perPage ? -transactions : number + 1
      if (reader.views.f64[reader.locate(9, number) >>> 1] !== wanted) wrong++
      if (again.views.f64[again.locate(9, number) >>> 1] !== wanted) wrong++
    }
    t.equal(wrong, 0, `${transactions} transactions: reader and writer read what was written`)
    t.equal(reader.views.f64[reader.locate(9, 17 * perPage) >>> 1], -transactions, 'an early page was changed')
    database.close()
  }
})

t.test('what is not what was written is found by reader and writer', async (t) => {
  const perPage = recordsPerPage(PAGE_TABLES.order_page)
  const database = openWriter(':memory:')
  const tables = openTables(database)
  const pages = tables.pages('order_page', ROOM)
  for (let round = 0; round < 5; round++) {
    commit(database, tables, pages, () => {
      for (const owner of [3, 4]) for (let made = 0; made < perPage; made++) pages.views.f64[pages.append(owner) >>> 1] = owner + made
    })
  }
  const page = pageId(3, 2)
  const older = database.prepare<[number], Buffer>('select records from order_page where id = ?').pluck().get(page)!
  commit(database, tables, pages, () => {
    pages.views.f64[pages.change(3, 2 * perPage) >>> 1] = 77
  })
  const put = database.prepare('update order_page set records = ? where id = ?')
  const id = 'update order_page set id = ? where id = ?'
  const damages: [what: string, damage: () => void][] = [
    ['a wrong bit', () => put.run(Buffer.from(older).fill(1, 9, 10), page)],
    ['an older version of the page', () => put.run(older, page)],
    ['a page that is gone', () => database.prepare('delete from order_page where id = ?').run(page)],
    ['two pages that changed places', () => {
      for (const [to, from] of [[1, page], [page, pageId(4, 0)], [pageId(4, 0), 1]]) database.prepare(id).run(to, from)
    }],
    ['a page of checksums that is gone', () => database.prepare('delete from order_page where id = ?').run(levelId(3, 1, 0))],
    ['a page of heads that is gone', () => database.prepare('delete from head_page').run()],
    ['a position that is gone', () => database.prepare('delete from position').run()],
    ['another position', () => database.prepare('update position set sequence = sequence - 1').run()],
    ['a header without its position', () => database.pragma('user_version = 2')],
    ['a position without its header', () => {
      writePosition(database, { ...readPosition(database)!, sequence: 2 })
      database.pragma('user_version = 1')
    }],
    ['other roots', () => database.prepare('update position set roots = zeroblob(length(roots))').run()],
  ]
  for (const [what, damage] of damages) {
    database.exec('begin')
    damage()
    const read = (): unknown => createPageReader(new CheckedStore(database), 'order_page').locate(3, 2 * perPage)
    t.throws(read, HistoryDamaged, `${what}: the reader`)
    const goOn = (): unknown => openTables(database).pages('order_page', ROOM).locate(3, 2 * perPage)
    if (what !== 'a position that is gone') t.throws(goOn, HistoryDamaged, `${what}: the writer`)
    database.exec('rollback')
  }
  const reader = createPageReader(new CheckedStore(database), 'order_page')
  t.equal(reader.views.f64[reader.locate(3, 2 * perPage) >>> 1], 77, 'and without damage it is read')
})

t.test('a page fits into a page of the file', async (t) => {
  const database = openWriter(':memory:')
  const tables = openTables(database)
  const pages = tables.pages('order_page', ROOM)
  const records = 40 * recordsPerPage(PAGE_TABLES.order_page)
  commit(database, tables, pages, () => {
    for (let number = 0; number < records; number++) pages.views.f64[pages.append(1000) >>> 1] = 1
  })
  t.equal(database.pragma('page_size', { simple: true }), 4096, 'pages of the file')
  const used = Number(database.pragma('page_count', { simple: true }))
  t.ok(used < 40 + 25, `40 pages of records take ${used} of the file`)
})
