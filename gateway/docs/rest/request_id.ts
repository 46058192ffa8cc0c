/** X-Request-Id in the OpenAPI document: every request may carry one, every answer does. */
import { GIVEN } from '../../request_id.ts'
import type { JsonSchema } from './schemas.ts'

/** What an operation has among its parameters, and each of its answers among its headers. */
export const REQUEST_ID_PARAMETER: JsonSchema = { $ref: '#/components/parameters/RequestId' }
export const REQUEST_ID_HEADER: JsonSchema = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }

const EXAMPLE = 'desk-7.2026-01-15'

/** What these refer to. */
export function requestIdParts(): { readonly parameters: JsonSchema; readonly headers: JsonSchema } {
  return {
    parameters: {
      RequestId: {
        name: 'X-Request-Id',
        in: 'header',
        required: false,
        description: 'Your own name of the request: 1 to 64 letters, digits, dots, underscores and hyphens. The answer '
          + 'repeats it, and so does the log of the service. Anything else, or none: the service makes one.',
        schema: { type: 'string', pattern: GIVEN.source },
        example: EXAMPLE,
      },
    },
    headers: {
      'X-Request-Id': {
        description: 'Name of the request, as you gave it or as the service made it. Say it when you ask for help.',
        required: true,
        schema: { type: 'string', pattern: GIVEN.source },
        example: EXAMPLE,
      },
    },
  }
}
