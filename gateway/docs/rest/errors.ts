/**
 * Error answers of every operation, out of the register of refusals.
 *
 * What the row of an operation implies (signature, input, maintenance, budget) is derived; what only the operation knows is declared
 * with it. The live checks of the tests refuse a code that is not announced here.
 */
import { REFUSALS, type Refusal, type RefusalCode } from '../../../core/layout/refusals.ts'
import { needsDisk } from '../../operations/admission.ts'
import type { ServedOperation } from '../../operations/index.ts'
import { isSignedRead } from '../../operations/row.ts'
import { REQUEST_ID_HEADER } from './request_id.ts'
import type { JsonSchema } from './schemas.ts'

/** Every request can be told these: by the edge before anything is routed, and when something breaks. */
const ALWAYS: readonly RefusalCode[] = [
  'USER_AGENT_REQUIRED', 'MALFORMED_REQUEST', 'BODY_TOO_LARGE', 'LENGTH_REQUIRED', 'UNAUTHENTICATED', 'MIXED_CREDENTIALS', 'INTERNAL',
]
const SIGNED: readonly RefusalCode[] = ['INVALID_SIGNATURE', 'CLOCK_SKEW', 'SESSION_INVALID']

/** The codes this operation can be refused with, by number. */
export function refusalsOf({ row, operation }: ServedOperation): Refusal[] {
  const codes = new Set<RefusalCode>([...ALWAYS, ...operation.text.refusals])
  const add = (more: readonly RefusalCode[]): void => more.forEach((code) => codes.add(code))
  if (row.access === 'session') add(SIGNED)
  if (operation.params !== null || operation.query !== null || operation.bodyRule !== 'ignored') add(['VALIDATION_ERROR'])
  if (operation.bodyRule !== 'ignored') add(['BODY_TOO_COMPLEX', 'REQUEST_TIMEOUT', 'RATE_LIMIT_EXCEEDED', 'OVERLOADED'])
  if (isSignedRead(row)) add(['RATE_LIMIT_EXCEEDED', 'OVERLOADED'])
  if (row.agent === 'no' || row.agent === 'grant') add(['AGENT_NOT_ALLOWED'])
  if (row.maintenance === 'blocked') add(['OPERATIONS_BLOCKED'])
  if (row.rate !== 'none' && row.rate !== 'mass-exit') add(['RATE_LIMIT_EXCEEDED'])
  if (needsDisk(row)) add(['DISK_RESERVE'])
  return [...codes].map((code) => REFUSALS[code]).sort((a, b) => a.number - b.number)
}

const ERROR_CLASSES = [...new Set(Object.values(REFUSALS).map((refusal) => refusal.error))]

/** The envelope of every error (specification, Errors). */
export const ERROR_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'Envelope of every error. Decide by code and statusCode; error is the class, message is for people.',
  required: ['error', 'message', 'code', 'statusCode'],
  properties: {
    error: { type: 'string', enum: ERROR_CLASSES, description: 'Class of the error.' },
    message: { type: 'string', description: 'What is wrong, in words; do not parse it.' },
    code: { type: 'string', pattern: '^[A-Z][A-Z_]+$', description: 'Stable code; see the table of error codes. More may be added.' },
    statusCode: { type: 'integer', description: 'The HTTP status again.' },
    details: {
      type: 'object',
      description: 'More for machines, where there is more.',
      additionalProperties: { type: ['string', 'integer'] },
      properties: {
        field: { type: 'string', description: 'Field of the request that is wrong; dots lead into lists and objects.' },
        reason: { type: 'string', description: 'Why a sign-in was refused; the guide has the list.' },
        grant: { type: 'string', description: 'What a delegated agent lacks, of AGENT_NOT_ALLOWED.' },
        retryAfter: { type: 'integer', minimum: 0, description: 'Seconds to wait; also in the Retry-After header.' },
        required: { type: 'string', description: 'What the request needs, in units of `asset`.' },
        available: { type: 'string', description: 'What there is of it.' },
        asset: { type: 'string', description: 'Symbol of the asset that amounts are in.' },
        limit: { type: ['string', 'integer'], description: 'The limit that was passed.' },
        minimum: { type: 'string', description: 'The least that is taken.' },
        maximum: { type: 'string', description: 'The most that is taken.' },
        maxBytes: { type: 'integer', description: 'The longest body that is taken, of BODY_TOO_LARGE.' },
        serverTime: { type: 'integer', description: 'Unix milliseconds by the clock of the service, of CLOCK_SKEW.' },
        incident: { type: 'string', description: 'Name of the fault in the log of the service, of INTERNAL.' },
      },
    },
  },
}

/** One example per code that these operations can be refused with, and for clients its retry class and ccxt's name for it. */
export function errorExamples(operations: readonly ServedOperation[]): Record<string, JsonSchema> {
  return Object.fromEntries(
    operations.flatMap(refusalsOf).map(({ code, error, http, message, retry, ccxt }) => {
      const details = code === 'VALIDATION_ERROR' ? { field: 'quantity' } : http === 429 ? { retryAfter: 1 } : undefined
      const value = { error, message, code, statusCode: http, ...(details === undefined ? {} : { details }) }
      return [code, { summary: message, 'x-retry': retry, 'x-ccxt': ccxt, value }]
    }),
  )
}

const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }

/** Error responses by HTTP status; the names of the examples are the codes that can occur. */
export function errorResponses(served: ServedOperation): Record<string, JsonSchema> {
  const byStatus = Map.groupBy(refusalsOf(served), (refusal) => refusal.http)
  return Object.fromEntries(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, refusals]) => [
      String(status),
      {
        description: refusals.map(({ code }) => code).join(', '),
        headers: { ...REQUEST_ID_HEADER, ...(status === 429 ? RETRY_AFTER : {}) },
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries(refusals.map(({ code }) => [code, { $ref: `#/components/examples/${code}` }])),
          },
        },
      },
    ]),
  )
}

const RETRIES: Readonly<Record<Refusal['retry'], string>> = {
  no: 'no: the same request is refused again',
  after: 'after Retry-After',
  safe: 'yes: nothing was applied',
  'same-key': 'with the same idempotency key only',
  ambiguous: 'reads and cancels: yes; anything else: look first, it may have been applied',
  reauthenticate: 'after signing in again',
}

/** Given to threads of the exchange only, never to a client. */
const INSIDE: readonly string[] = ['OPERATOR_ONLY']

/** The register as a markdown table. */
export function errorTable(): string {
  const refusals = Object.values(REFUSALS).filter(({ code }) => !INSIDE.includes(code))
  const rows = refusals.map(({ code, http, message, retry }) => `| \`${code}\` | ${http} | ${message} | ${RETRIES[retry]} |`)
  return ['| Code | HTTP | Meaning | Retry? |', '|---|---|---|---|', ...rows].join('\n')
}
