/**
 * Lists of orders that wait or waited: conditional orders and TWAP orders. (Specification, Orders: a walk by (createdAt, id), newest first;
 * `page` selects pages by number.)
 *
 * Asked for nothing but what still waits, a list comes from the shared columns. Any other comes from the history, and of what waits in it
 * the columns know more: how far a trailing stop trails, what a resting slice has filled.
 */
import Type from 'typebox'
import type { Listing, Position, Queries, Walk } from '../../core/history/answer/queries.ts'
import { askHistory } from '../bridge/history.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { TimeRange, timeRangeOf, type Range } from './history_filters.ts'
import { answerListing, ListingOutput, ListingQuery, readListing, type ListingFields, type ListingInput } from './listing.ts'
import { listLive } from './live_listing.ts'
import type { Call } from './operation.ts'
import { field } from './schema.ts'

export const WaitingQuery = {
  ...ListingQuery,
  page: Type.Optional(field(
    Type.Integer({ minimum: 1, maximum: 10_000 }), 'Page number, from 1; at most 10,000. Walk with pageToken instead.',
    { deprecated: true },
  )),
  ...TimeRange,
}
export const WaitingOutput = {
  ...ListingOutput,
  page: Type.Optional(field(Type.Integer(), 'Page number, from 1; 0 of a walk.')),
  total: Type.Optional(field(Type.Integer(), 'Rows that match, where they are asked for by page; 0 of a walk, which counts nothing.')),
}

/** For the description of such a listing. */
export const WALKS = 'Without `page` it is a walk with `pageToken`, which begins at the newest; see Lists.'

/** Names of the questions, whose asks are walks with a range. */
type Question = 'conditionalOrders' | 'twapOrders'
type Row<Name extends Question> = Queries[Name]['answer'] extends Listing<infer Each> ? Each : never

interface Plan<Name extends Question, Live> {
  readonly operation: string
  readonly question: Name
  /** Nothing but what still waits is asked for. */
  readonly liveOnly: boolean
  readonly filters: Omit<Queries[Name]['ask'], keyof Walk | 'from' | 'to'>
  /** What waits; `null`: it cannot be read. */
  read(): readonly Live[] | null
  /** Whether one that waits is asked for, but for the time. */
  matches(row: Live): boolean
  positionOf(row: Live | Row<Name>): Position
}

/** Answers the page of such a list that `input` names. */
export function listWaiting<Name extends Question, Live extends { readonly createdAt: number }>(
  gateway: Gateway, call: Call<never>, input: ListingInput & { startTime?: string; endTime?: string }, plan: Plan<Name, Live>,
  answer: (rows: (Live | Row<Name>)[], fields: ListingFields) => void,
): void {
  const { operation, question, liveOnly, filters, read, matches, positionOf } = plan
  const range = timeRangeOf(input)
  if (range instanceof Refused) return call.refuse(range)
  if (liveOnly) {
    const asked = (): Live[] | null => read()?.filter((row) => matches(row) && isWithin(range, row.createdAt)) ?? null
    return listLive(gateway, call, operation, input, asked, positionOf, answer, { walks: true })
  }
  const pages = readListing(gateway, call, operation, input, { walks: true })
  if (pages instanceof Refused) return call.refuse(pages)
  const ask = { ...pages.walk, ...range, ...filters } as unknown as Queries[Name]['ask']
  askHistory(gateway.history, question, ask, (given, _, behind) => {
    if (given instanceof Refused) return call.refuse(given)
    const listing = given as Listing<Row<Name>>
    const live = new Map((read() ?? []).map((row) => [nameOf(positionOf(row)), row]))
    const rows = listing.rows.map((row): Live | Row<Name> => Object.assign(row as object, live.get(nameOf(positionOf(row)))) as Row<Name>)
    answer(rows, answerListing(gateway, pages, listing, positionOf, behind))
  })
}

const nameOf = ({ sequence, index }: Position): string => `${sequence}/${index}`
const isWithin = ({ from = 0, to = Infinity }: Range, time: number): boolean => time >= from && time <= to
