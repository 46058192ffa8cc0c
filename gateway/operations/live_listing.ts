/** Listings of what stands in the shared columns: all rows are copied at once, and the page is cut out of them. Pages as in listing.ts. */
import type { Listing, Position } from '../../core/history/answer/queries.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { answerListing, readListing, type ListingFields, type ListingInput, type ListingRules } from './listing.ts'
import type { Call } from './operation.ts'

const isAfter = (a: Position, b: Position): boolean => a.sequence < b.sequence || (a.sequence === b.sequence && a.index < b.index)

/**
 * The page of `operation` that `input` names, of the rows that `read` gives; newest first by `positionOf`, which no two rows share. `read`
 * gives `null` when they are unreadable.
 */
export function listLive<Row>(
  gateway: Gateway, call: Call<never>, operation: string, input: ListingInput, read: () => readonly Row[] | null,
  positionOf: (row: Row) => Position, answer: (rows: Row[], fields: ListingFields) => void, rules: ListingRules = {},
): void {
  const plan = readListing(gateway, call, operation, input, rules)
  if (plan instanceof Refused) return call.refuse(plan)
  const all = read()
  if (all === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
  const { after, skip, limit } = plan.walk
  const sorted = [...all].sort((a, b) => (isAfter(positionOf(a), positionOf(b)) ? 1 : -1))
  const rest = after === null ? sorted : sorted.filter((row) => isAfter(positionOf(row), after))
  const listing: Listing<Row> = { rows: rest.slice(skip, skip + limit), total: all.length, more: rest.length > skip + limit }
  answer(listing.rows, answerListing(gateway, plan, listing, positionOf, null))
}
