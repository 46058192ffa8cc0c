/** Filters that listings of the history share: a time range and names of things. */
import Type from 'typebox'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { isSeconds, timeOf } from './date_time.ts'
import { findPair } from './lookup.ts'
import { field } from './schema.ts'

/** The number of a thing that does not exist: it matches nothing, so that a filter by an unknown name gives an empty list. */
export const UNKNOWN = -1

/** The pair with this id; absent: any. */
export const pairFilter = (gateway: Gateway, id: string | undefined): number | undefined =>
  id === undefined ? undefined : (findPair(gateway, id)?.index ?? UNKNOWN)

const UNIX_MS_OR_RFC3339 = 'Unix milliseconds or RFC 3339. Milliseconds before 2001 are refused, but 0: they can only be seconds.'

/** Unix ms or RFC 3339. */
export const Time = Type.Optional(Type.String({ maxLength: 40 }))
/** Both ends are inclusive. */
export const TimeRange = {
  startTime: field(Time, `Not before this: ${UNIX_MS_OR_RFC3339}`),
  endTime: field(Time, `Not after this: ${UNIX_MS_OR_RFC3339}`),
}

/** Unix ms; absent: open. */
export interface Range {
  readonly from?: number
  readonly to?: number
}

/** Unix ms of a time, or the refusal that names `name`: it is malformed, or a number that can only be seconds. */
export function timeIn(name: string, text: string): number | Refused {
  const at = timeOf(text)
  if (Number.isNaN(at)) return refusedField(name, `${name} must be Unix ms or an RFC 3339 date-time`)
  return isSeconds(text) ? refusedField(name, `${name} must be Unix milliseconds, not seconds: ${text} is before 2001`) : at
}

/** The range of the two fields, or the refusal that names the wrong one. */
export function timeRangeOf({ startTime, endTime }: { startTime?: string; endTime?: string }): Range | Refused {
  const from = startTime === undefined ? undefined : timeIn('startTime', startTime)
  if (from instanceof Refused) return from
  const to = endTime === undefined ? undefined : timeIn('endTime', endTime)
  return to instanceof Refused ? to : { from, to }
}
