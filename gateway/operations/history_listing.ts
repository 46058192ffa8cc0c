/** A listing that only the history can give: page and time range of the input, the question, and the answer's page fields. */
import type {
  HistoryFundingPayment, HistoryFundingRate, HistoryMovement, HistoryPosition, HistoryTrade, Listing, Position, Queries, Walk,
} from '../../core/history/answer/queries.ts'
import { askHistory } from '../bridge/history.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { timeRangeOf } from './history_filters.ts'
import { answerListing, readListing, type ListingFields, type ListingInput } from './listing.ts'
import type { Call } from './operation.ts'

interface Rows {
  trades: HistoryTrade
  movements: HistoryMovement
  positions: HistoryPosition
  fundingPayments: HistoryFundingPayment
  fundingRates: HistoryFundingRate
}

const positionOf = ({ sequence, index }: Position): Position => ({ sequence, index })

/**
 * Asks the history `name` for the page of `operation` that `input` names, with `filters`; `answer` gets its rows and page fields.
 * Whatever is wrong with the input, and a history that cannot be read, refuses the call.
 */
export function listHistory<Name extends keyof Rows>(
  gateway: Gateway, call: Call<never>, operation: string, input: ListingInput & { startTime?: string; endTime?: string }, name: Name,
  filters: Omit<Queries[Name]['ask'], keyof Walk | 'from' | 'to'>, answer: (rows: Rows[Name][], fields: ListingFields) => void,
): void {
  const range = timeRangeOf(input)
  if (range instanceof Refused) return call.refuse(range)
  const plan = readListing(gateway, call, operation, input)
  if (plan instanceof Refused) return call.refuse(plan)
  const ask = { ...plan.walk, ...range, ...filters } as Queries[Name]['ask']
  askHistory(gateway.history, name, ask, (given, _, behind) => {
    if (given instanceof Refused) return call.refuse(given)
    const listing = given as Listing<Rows[Name]>
    answer(listing.rows, answerListing(gateway, plan, listing, positionOf, behind))
  })
}
