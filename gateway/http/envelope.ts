/** What leaves as a body: the error envelope of the specification. Nothing internal (stack, path, query) is ever part of it. */
import { REFUSALS, type RefusalCode } from '../../core/layout/refusals.ts'

/** Machine-readable part of an error; `retryAfter` in seconds also becomes the Retry-After header. */
export type Details = Readonly<Record<string, string | number>>

/** A refusal with its text: the value handlers hand back instead of throwing. */
export class Refused {
  readonly code: RefusalCode
  readonly message: string
  readonly details: Details | undefined

  constructor(code: RefusalCode, message: string = REFUSALS[code].message, details?: Details) {
    this.code = code
    this.message = message
    this.details = details
  }
}

/** A refusal of one field of the request. */
export const refusedField = (field: string, message: string, code: RefusalCode = 'VALIDATION_ERROR'): Refused =>
  new Refused(code, message, { field })

/** Text of the refusal of what comes during a stop. */
export const SHUTTING_DOWN = 'The service is shutting down; nothing was applied'

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
