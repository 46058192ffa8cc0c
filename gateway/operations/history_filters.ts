/** Filters that listings of the history share: a time range and names of things. */
import Type from 'typebox'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { parseDateTime } from './date_time.ts'
import { findPair } from './lookup.ts'
import { field } from './schema.ts'

/** The number of a thing that does not exist: it matches nothing, so that a filter by an unknown name gives an empty list. */
export const UNKNOWN = -1

/** The pair with this id; absent: any. */
export const pairFilter = (gateway: Gateway, id: string | undefined): number | undefined =>
  id === undefined ? undefined : (findPair(gateway, id)?.index ?? UNKNOWN)

/** Unix ms or RFC 3339. */
export const Time = Type.Optional(Type.String({ maxLength: 40 }))
/** Both ends are inclusive. */
export const TimeRange = {
  startTime: field(Time, 'Not before this: Unix milliseconds or RFC 3339.'),
  endTime: field(Time, 'Not after this: Unix milliseconds or RFC 3339.'),
}

/** Unix ms; absent: open. */
export interface Range {
  readonly from?: number
  readonly to?: number
}

const UNIX_MS = /^[0-9]{1,15}$/

/** Unix ms of a time, NaN when it is malformed. */
export const timeOf = (text: string): number => (UNIX_MS.test(text) ? Number(text) : parseDateTime(text))

/** The range of the two fields, or the refusal that names the malformed one. */
export function timeRangeOf({ startTime, endTime }: { startTime?: string; endTime?: string }): Range | Refused {
  const from = startTime === undefined ? undefined : timeOf(startTime)
  const to = endTime === undefined ? undefined : timeOf(endTime)
  if (Number.isNaN(from)) return refusedField('startTime', 'startTime must be Unix ms or an RFC 3339 date-time')
  if (Number.isNaN(to)) return refusedField('endTime', 'endTime must be Unix ms or an RFC 3339 date-time')
  return { from, to }
}
