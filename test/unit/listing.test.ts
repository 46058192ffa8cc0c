/**
 * Promise: page mode and cursor mode as the specification has them, with their bounds; both at once is refused; totals end at the ceiling;
 * and following the tokens gives every row once, in order, as the pages do.
 */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { Listing, Position, Walk } from '../../core/history/answer/queries.ts'
import { Refused } from '../../gateway/refused.ts'
import {
  answerListing, isCapped, ListingQuery, readListing, type ListingFields, type ListingPlan, type ListingRules,
} from '../../gateway/operations/listing.ts'
import { compile, type Call } from '../../gateway/operations/operation.ts'
import type { Gateway } from '../../gateway/context.ts'
import Type from 'typebox'

const gateway = { pageTokenKey: new Uint8Array(randomBytes(32)) } as Gateway
const callOf = (account: number): Call<never> => ({ account }) as Call<never>
const query = compile(Type.Object({ ...ListingQuery, side: Type.Optional(Type.String()) }))

interface Input {
  page?: number
  pageSize?: number
  pageToken?: string
  side?: string
}

/** The plan as an operation would get it: schema first. */
const plan = (input: Input, account = 1, rules: ListingRules = {}): ListingPlan | Refused =>
  query.check(input) ?? readListing(gateway, callOf(account), 'ListOrders', input, rules)

/** 57 rows, newest first, three to a command. */
const ROWS: Position[] = Array.from({ length: 57 }, (_, i) => ({ sequence: 1000 - Math.floor(i / 3), index: 2 - (i % 3) }))

/** Answers a walk over the rows as a history reader does. */
function answer({ limit, skip, after, countMost }: Walk, rows: readonly Position[] = ROWS): Listing<Position> {
  const from = after === null ? skip : rows.findIndex((row) => row.sequence === after.sequence && row.index === after.index) + 1
  return { rows: rows.slice(from, from + limit), total: Math.min(rows.length, countMost), more: rows.length > from + limit }
}

function list(input: Input, account = 1): { rows: Position[]; fields: ListingFields } | Refused {
  const planned = plan(input, account)
  if (planned instanceof Refused) return planned
  const listing = answer(planned.walk)
  return { rows: listing.rows, fields: answerListing(gateway, planned, listing, (row) => row, null) }
}

const listed = (input: Input): { rows: Position[]; fields: ListingFields } => list(input) as { rows: Position[]; fields: ListingFields }
const field = (value: unknown): unknown => (value instanceof Refused ? `${value.code} ${String(value.details?.['field'])}` : value)

t.test('by page', async (t) => {
  t.same(listed({ page: 1 }).fields, { page: 1, pageSize: 20, total: 57, totalPages: 3 })
  t.same(listed({ page: 3 }), { rows: ROWS.slice(40), fields: { page: 3, pageSize: 20, total: 57, totalPages: 3 } })
  t.same(listed({ page: 10_000, pageSize: 100 }), { rows: [], fields: { page: 10_000, pageSize: 100, total: 57, totalPages: 1 } })
  t.same((plan({ page: 10_000, pageSize: 100 }) as ListingPlan).walk, { limit: 100, skip: 999_900, after: null, countMost: 1_000_001 })
  t.equal(field(list({ page: 1, pageSize: 101 })), 'VALIDATION_ERROR pageSize')
  t.equal(field(list({ pageSize: 101 })), 'VALIDATION_ERROR pageSize')
  for (const page of [0, -1, 10_001, 1.5]) t.equal(field(list({ page })), 'VALIDATION_ERROR page', `page ${page}`)
  for (const pageSize of [0, -1, 1001, 1.5]) t.equal(field(list({ pageSize })), 'VALIDATION_ERROR pageSize', `pageSize ${pageSize}`)
})

t.test('by cursor', async (t) => {
  const start = listed({ pageToken: '', pageSize: 1000 })
  t.same(start, { rows: ROWS, fields: { pageSize: 1000, nextPageToken: '' } }, 'no totals, and an empty token at the end')
  t.equal(field(list({ pageToken: '', pageSize: 1001 })), 'VALIDATION_ERROR pageSize')
  t.equal(field(list({ pageToken: '', page: 1 })), 'VALIDATION_ERROR pageToken', 'both modes at once')
  t.equal(field(list({ pageToken: 'x' })), 'VALIDATION_ERROR pageToken')
  t.equal(field(list({ pageToken: 'A'.repeat(40) })), 'VALIDATION_ERROR pageToken')
  t.equal(field(list({ pageToken: 'A'.repeat(513) })), 'VALIDATION_ERROR pageToken')
})

t.test('following the tokens gives what the pages give', async (t) => {
  for (const pageSize of [1, 7, 19, 20, 56, 57, 58, 100]) {
    const walked: Position[] = []
    let pageToken: string | undefined = ''
    for (let steps = 0; steps < 100 && (steps === 0 || pageToken !== ''); steps++) {
      const { rows, fields } = listed({ pageSize, pageToken })
      walked.push(...rows)
      pageToken = fields.nextPageToken!
    }
    t.same(walked, ROWS, `steps of ${pageSize}`)
  }
})

t.test('without page and token: the first page, and a token to go on', async (t) => {
  const { rows, fields } = listed({ pageSize: 50 })
  t.match(fields, { page: 1, pageSize: 50, total: 57, totalPages: 2 })
  t.same(listed({ pageSize: 50, pageToken: fields.nextPageToken! }).rows, ROWS.slice(50))
  t.same(rows, ROWS.slice(0, 50))
  t.notOk('nextPageToken' in listed({ pageSize: 57 }).fields, 'no token when that is all')
  t.notOk('nextPageToken' in listed({ page: 1, pageSize: 50 }).fields, 'nor when a page was asked for')
})

t.test('a token is bound to who asks and what', async (t) => {
  const { nextPageToken } = listed({ pageSize: 5, side: 'BUY' }).fields
  t.same(listed({ pageSize: 50, side: 'BUY', pageToken: nextPageToken! }).rows, ROWS.slice(5, 55), 'the size may change')
  t.equal(field(list({ side: 'BUY', pageToken: nextPageToken! }, 2)), 'VALIDATION_ERROR pageToken', 'another user')
  t.equal(field(list({ side: 'SELL', pageToken: nextPageToken! })), 'VALIDATION_ERROR pageToken', 'another filter')
  t.equal(field(list({ pageToken: nextPageToken! })), 'VALIDATION_ERROR pageToken', 'no filter')
  const trades = readListing(gateway, callOf(1), 'ListAccountTrades', { side: 'BUY', pageToken: nextPageToken! } as Input)
  t.equal(field(trades), 'VALIDATION_ERROR pageToken', 'another operation')
  const reversed = readListing(gateway, callOf(1), 'ListOrders', { side: 'BUY', pageToken: nextPageToken! } as Input, {
    direction: 'oldest-first',
  })
  t.equal(field(reversed), 'VALIDATION_ERROR pageToken', 'another direction')
})

t.test('totals end at the ceiling', async (t) => {
  const capped = (rows: number, input: Input, rules: ListingRules): unknown => {
    const planned = plan(input, 1, rules) as ListingPlan
    const listing = { rows: [], total: Math.min(rows, planned.walk.countMost), more: true }
    const { total, totalPages } = answerListing<Position>(gateway, planned, listing, (row) => row, null)
    return [total, totalPages, isCapped(planned, listing)]
  }
  t.same(capped(9_999, { page: 1 }, { ceiling: 10_000 }), [9_999, 500, false])
  t.same(capped(10_000, { page: 1 }, { ceiling: 10_000 }), [10_000, 500, false], 'exactly the ceiling is not capped')
  t.same(capped(10_001, { page: 1 }, { ceiling: 10_000 }), [10_000, 500, true])
  t.same(capped(2_000_000, { page: 1 }, {}), [200_000, 10_000, true], 'otherwise 10,000 pages')
  t.same(capped(2_000_000, { page: 1, pageSize: 100 }, {}), [1_000_000, 10_000, true])
})
