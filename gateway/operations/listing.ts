/**
 * Listings of the history: pages by number or by cursor, one rule for all of them (specification, Limits; gateway/README.md, Limits).
 *
 * - `page` given: page mode. page 1..10,000, pageSize 1..100; the answer counts: page, pageSize, total, totalPages.
 * - `pageToken` given, even empty: cursor mode. pageSize 1..1000; the answer has pageSize and nextPageToken, '' at the end.
 * - neither: page 1 of page mode, and nextPageToken beside it when there is more, so that a client may go on by cursor.
 * - both: 400.
 *
 * A listing that walks (ListingRules) is in cursor mode without either, and says 0 for page and total there.
 *
 * A cursor walk costs the same at any depth and neither repeats nor misses rows that stay; a page far back is counted through.
 * Counting ends at the ceiling: 10,000 pages, or a lower one the listing names.
 */
import Type from 'typebox'
import type { Listing, Position, Walk } from '../../core/history/answer/queries.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { rfc3339, type Call } from './operation.ts'
import { makePageToken, readPageToken, type Direction, type Scope } from './page_token.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'

/** For the description of a listing. */
export const PAGES = 'Page by number with `page`, or walk with `pageToken`; see Lists.'

export const PAGE_MAX = 10_000
/** Rows of a page when nothing is said. */
export const PAGE_SIZE = 20
const PAGE_SIZE_MAX = 100
const CURSOR_SIZE_MAX = 1000

/** Query fields of a listing; spread them beside its filters. */
export const ListingQuery = {
  page: Type.Optional(field(Type.Integer({ minimum: 1, maximum: PAGE_MAX }), 'Page number, from 1; at most 10,000.')),
  pageSize: Type.Optional(field(Type.Integer({ minimum: 1, maximum: CURSOR_SIZE_MAX }), 'Rows of a page.')),
  pageToken: Type.Optional(
    field(Type.String({ maxLength: 512 }), 'Cursor from nextPageToken; empty starts a walk from the newest row. Excludes page.'),
  ),
}

/** Of a list from a history that is behind: what happened until then is in it. Absent: nothing is missing. */
export const AsOf = { asOf: Type.Optional(fields.asOf) }

/** `asOf` of an answer; `behind` as askHistory says it. */
export const asOfField = (behind: number | null): { asOf?: string } =>
  behind === null ? {} : { asOf: rfc3339(behind) }

/** Page fields of its answer; which of them are present depends on the mode. */
export const ListingOutput = {
  page: Type.Optional(field(Type.Integer(), 'Page number, from 1; at most 10,000.')),
  pageSize: field(Type.Integer(), 'Rows of a page.'),
  total: Type.Optional(field(Type.Integer(), 'Rows that match, of page mode.')),
  totalPages: Type.Optional(field(Type.Integer(), 'Pages that match, of page mode.')),
  nextPageToken: Type.Optional(
    field(Type.String(), 'Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again.'),
  ),
  ...AsOf,
}

export interface ListingInput {
  readonly page?: number
  readonly pageSize?: number
  readonly pageToken?: string
}

export interface ListingPlan {
  readonly walk: Walk
  /** Page number; 0 in cursor mode. */
  readonly page: number
  readonly scope: Scope
  /** The most that `total` may say. */
  readonly ceiling: number
  /** The answer carries nextPageToken. */
  readonly linked: boolean
  /** Page and total of a walk are said, as 0. */
  readonly zeros: boolean
}

export interface ListingRules {
  readonly direction?: Direction
  /** Totals end here; 10,000 pages when absent. */
  readonly ceiling?: number
  /** It is a walk unless `page` is given. */
  readonly walks?: boolean
}

/**
 * How the listing `operation` is walked for this input, or which field is wrong. Everything of `input` but the page fields is a filter
 * that page tokens are bound to; so is the caller's account.
 */
export function readListing(
  gateway: Gateway, call: Call<never>, operation: string, input: ListingInput, rules: ListingRules = {},
): ListingPlan | Refused {
  const { page, pageSize = PAGE_SIZE, pageToken = rules.walks === true && input.page === undefined ? '' : undefined, ...filters } = input
  const zeros = rules.walks === true
  const scope: Scope = { operation, account: call.account, direction: rules.direction ?? 'newest-first', filters }
  if (pageToken === undefined) {
    if (pageSize > PAGE_SIZE_MAX) return refusedField('pageSize', `pageSize must be at most ${PAGE_SIZE_MAX} without pageToken`)
    const ceiling = rules.ceiling ?? pageSize * PAGE_MAX
    const number = page ?? 1
    // One more than the ceiling, so that a total that ends exactly there is told from one that goes on.
    const walk = { limit: pageSize, skip: (number - 1) * pageSize, after: null, countMost: ceiling + 1 }
    return { walk, page: number, scope, ceiling, linked: page === undefined, zeros }
  }
  if (page !== undefined) return refusedField('pageToken', 'page and pageToken exclude each other')
  const after = pageToken === '' ? null : readPageToken(gateway.pageTokenKey, scope, pageToken)
  if (pageToken !== '' && after === null) return refusedField('pageToken', 'pageToken is none of this listing')
  return { walk: { limit: pageSize, skip: 0, after, countMost: 0 }, page: 0, scope, ceiling: 0, linked: true, zeros }
}

export interface ListingFields {
  page?: number
  pageSize: number
  total?: number
  totalPages?: number
  nextPageToken?: string
  asOf?: string
}

/**
 * The page fields of an answer. `positionOf` says where the listing stands after a row, `behind` when a history stood
 * that lacks something (askHistory).
 */
export function answerListing<Row>(
  gateway: Gateway, plan: ListingPlan, listing: Listing<Row>, positionOf: (row: Row) => Position, behind: number | null,
): ListingFields {
  const { walk, page, scope, ceiling, linked, zeros } = plan
  const last = listing.rows.at(-1)
  const next = linked && listing.more && last !== undefined ? makePageToken(gateway.pageTokenKey, scope, positionOf(last)) : ''
  if (page === 0) return { ...(zeros ? { page: 0, total: 0 } : {}), pageSize: walk.limit, nextPageToken: next, ...asOfField(behind) }
  const total = Math.min(listing.total, ceiling)
  const totalPages = Math.ceil(total / walk.limit)
  const fields: ListingFields = { page, pageSize: walk.limit, total, totalPages, ...asOfField(behind) }
  if (next !== '') fields.nextPageToken = next
  return fields
}

/** Whether the total of a page-mode answer is a lower bound. */
export const isCapped = <Row>(plan: ListingPlan, listing: Listing<Row>): boolean => listing.total > plan.ceiling
