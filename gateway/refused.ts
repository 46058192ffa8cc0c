/** A refusal on its way to the caller: what handlers, checks and transports hand back instead of throwing. */
import { REFUSALS, type RefusalCode } from '../core/layout/refusals.ts'

/** Machine-readable part of an error; `retryAfter` in seconds also becomes the Retry-After header. */
export type Details = Readonly<Record<string, string | number>>

/** A code of the one register, with its text: the register's own unless another says more. */
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
