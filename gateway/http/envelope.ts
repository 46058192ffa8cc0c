/** What leaves as a body: the error envelope of the specification. Nothing internal (stack, path, query) is ever part of it. */
import { REFUSALS } from '../../core/layout/refusals.ts'
import type { Refused } from '../refused.ts'

export const statusOf = (refused: Refused): number => REFUSALS[refused.code].http

export function errorBody(refused: Refused): string {
  const { error, code, http } = REFUSALS[refused.code]
  return JSON.stringify({ error, message: refused.message, code, statusCode: http, details: refused.details })
}

export type HeaderList = readonly (readonly [name: string, value: string])[]

export function errorHeaders(refused: Refused): HeaderList {
  const retryAfter = refused.details?.['retryAfter']
  return retryAfter === undefined ? [] : [['Retry-After', String(retryAfter)]]
}
