/**
 * Promise: a page of the history says the same after it was packed, whatever numbers its records have; it is packed when that makes it
 * smaller, and left as it is when it cannot be packed exactly; and what was not packed is never unpacked into a page that is believed.
 */
import t from 'tap'
import { tableNumber } from '../../core/history/store/checks.ts'
import {
  APPLICATION_TRADE, ORDER_RECORD, ORDER_REFERENCE, PAGE_BYTES, pageRecords, PAGE_TABLES, POSTING, POSTING_REFERENCE,
  type PageTableName,
} from '../../core/history/store/layout.ts'
import {
  FUNDING_PAYMENT_RECORD, FUNDING_RATE_RECORD, MARK_MINUTE, ORDER_MARGIN_RECORD,
} from '../../core/history/store/margin_layout.ts'
import { isPacked, pack, provedPage, unpack } from '../../core/history/store/packing.ts'
import { CONDITIONAL_RECORD, SLICE_RECORD } from '../../core/history/store/waiting_layout.ts'
import { FILL } from '../../core/layout/event.ts'
import { viewsOf, wordsOf, type Layout, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { seedOf } from '../suite/rounds.ts'

const SEED = seedOf()
const ROUNDS = 200
const LAYOUTS: [PageTableName, Layout][] = [
  ['order_page', ORDER_RECORD], ['posting_page', POSTING], ['trade_page', FILL], ['order_reference_page', ORDER_REFERENCE],
  ['posting_reference_page', POSTING_REFERENCE], ['application_trade_page', APPLICATION_TRADE], ['margin_order_page', ORDER_MARGIN_RECORD],
  ['funding_payment_page', FUNDING_PAYMENT_RECORD], ['mark_page', MARK_MINUTE], ['funding_rate_page', FUNDING_RATE_RECORD],
  ['conditional_order_page', CONDITIONAL_RECORD], ['twap_slice_page', SLICE_RECORD],
]
const LONGS = [0n, 1n, -1n, 2n ** 31n, -(2n ** 31n), 2n ** 32n - 1n, 2n ** 32n, -(2n ** 32n), 2n ** 63n - 1n, -(2n ** 63n)]
const WORDS = [0, 1, -1, 127, 128, 2 ** 31 - 1, -(2 ** 31)]
const DOUBLES = [0, 1, -1, 2 ** 32 - 1, 2 ** 32, -(2 ** 40), 2 ** 51 - 1, -(2 ** 51) + 1]

const anyOf = <T>(random: Prng, values: readonly T[]): T => values[random.below(values.length)]!

/** Fills a page; of 8 fields `changes` are other than in the record before. */
function fill({ i32, i64, f64 }: Views, table: PageTableName, { fields, at }: Layout, random: Prng, changes: number): void {
  const words = PAGE_TABLES[table]
  for (let record = 0; record < pageRecords(table); record++) {
    const base = record * words
    for (const [name, type] of Object.entries(fields)) {
      const word = base + at[name]!
      if (record > 0 && random.below(8) >= changes) i32.copyWithin(word, word - words, word - words + wordsOf(type))
      else if (type === 'i64') i64[word >>> 1] = random.below(2) === 0 ? anyOf(random, LONGS) : BigInt(random.u32()) * 77n - 9n
      else if (type === 'f64') f64[word >>> 1] = random.below(2) === 0 ? anyOf(random, DOUBLES) : 1.7e12 + random.u32()
      else {
        for (let each = 0; each < wordsOf(type); each++) {
          i32[word + each] = random.below(2) === 0 ? anyOf(random, WORDS) : random.below(9)
        }
      }
    }
  }
}

for (const [table, layout] of LAYOUTS) {
  t.test(`${table}, seed ${SEED}`, async (t) => {
    t.comment(`again: SEED=${SEED} npm test -- test/unit/history_packing.test.ts`)
    const random = createPrng(SEED)
    const number = tableNumber(table)
    let packed = 0
    for (let round = 0; round < ROUNDS; round++) {
      const views = viewsOf(new ArrayBuffer(PAGE_BYTES))
      fill(views, table, layout, random, round % 8)
      const stored = Uint8Array.from(pack(number, views.bytes))
      if (isPacked(stored)) packed++
      if (!Buffer.from(unpack(number, stored)!).equals(views.bytes)) return t.fail(`round ${round}: another page`)
      if (stored.length >= PAGE_BYTES && isPacked(stored)) return t.fail(`round ${round}: larger than before`)
      if (!isPacked(stored)) continue
      // One wrong bit: another page or none, never this one.
      stored[random.below(stored.length)]! ^= 1 << random.below(8)
      const bytes = unpack(number, stored)
      if (bytes !== null && Buffer.from(bytes).equals(views.bytes)) return t.fail(`round ${round}: a wrong bit is not seen`)
      t.throws(() => provedPage(number, 0, stored, 1), /is not what was written/, 'a page that does not fit its checksum')
    }
    t.ok(packed > ROUNDS / 4, `${packed} were packed`)
  })
}

t.test('what cannot be packed exactly stays as it is', async (t) => {
  const number = tableNumber('order_page')
  for (const value of [0.5, -0, Number.NaN, Infinity, 2 ** 51, -(2 ** 53)]) {
    const { bytes, f64 } = viewsOf(new ArrayBuffer(PAGE_BYTES))
    f64[ORDER_RECORD.at.expiresAt >>> 1] = value
    t.equal(pack(number, bytes), bytes, String(value))
  }
  const { bytes, i32 } = viewsOf(new ArrayBuffer(PAGE_BYTES))
  i32[PAGE_TABLES.order_page - 1] = 1
  t.equal(pack(number, bytes), bytes, 'a word that no field has')
  t.equal(pack(number, bytes.subarray(0, 512)).length, 512, 'part of a page')
  t.equal(pack(tableNumber('candle_page'), bytes), bytes, 'a table whose pages are not packed')
  t.equal(unpack(tableNumber('candle_page'), new Uint8Array(601)), null, 'and none is unpacked there')
})

t.test('pages as an exchange writes them are a quarter of what they were', async (t) => {
  const { bytes, i32, i64, f64 } = viewsOf(new ArrayBuffer(PAGE_BYTES))
  for (let record = 0; record < pageRecords('posting_page'); record++) {
    const base = record * PAGE_TABLES.posting_page
    const { at } = POSTING
    f64[(base + at.sequence) >>> 1] = 5_000_000 + record * 700
    f64[(base + at.time) >>> 1] = 1.75e12 + record * 140
    i32[base + at.kind] = record % 2 === 0 ? 5 : 3
    f64[(base + at.orderSequence) >>> 1] = 5_000_000 + record * 690
    i64[(base + at.amount) >>> 1] = BigInt(record) * 1_000_003n
    i64[(base + at.available) >>> 1] = 10n ** 15n - BigInt(record) * 1_000_003n
  }
  t.ok(pack(tableNumber('posting_page'), bytes).length < PAGE_BYTES / 4)
})
