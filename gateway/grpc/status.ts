/**
 * Refusals as gRPC statuses: code and text of the register, google.rpc.Status with ErrorInfo (reason = code) and, when there is something
 * to wait for, RetryInfo. (Specification, Errors.)
 */
import { Metadata, status } from '@grpc/grpc-js'
import type protobuf from 'protobufjs'
import { REFUSALS } from '../../core/layout/refusals.ts'
import type { Refused } from '../refused.ts'
import { REQUEST_ID } from '../request_id.ts'
import { budgetHeaders, type Budget } from '../limits/budget.ts'
import type { Message } from './mapping.ts'

const DOMAIN = 'svc'
const DETAILS = 'grpc-status-details-bin'
const BLOCKED = 'x-svc-maintenance-blocked'
const RETRY_AFTER = 'retry-after'
const TYPE_URL = 'type.googleapis.com/'

/** How a call ends; what grpc-js sends. */
export interface Ending {
  readonly code: status
  readonly details: string
  readonly metadata: Metadata
}

export interface StatusWriter {
  /** The google.rpc.Status message of a refusal. */
  readonly message: (refused: Refused) => Message
  /** The status of a refused call, with its metadata; `requestId`: '' for what has none. */
  readonly ending: (refused: Refused, requestId?: string) => Ending
}

export const codeOf = (refused: Refused): status => status[REFUSALS[refused.code].grpc as keyof typeof status]

export function createStatusWriter(root: protobuf.Root): StatusWriter {
  const [statusType, errorInfo, retryInfo] = ['Status', 'ErrorInfo', 'RetryInfo'].map((name) => root.lookupType(`google.rpc.${name}`))
  const any = (type: protobuf.Type, value: Message): Message =>
    ({ type_url: TYPE_URL + type.fullName.slice(1), value: type.encode(value).finish() })
  const message = (refused: Refused): Message => {
    const { code, details = {} } = refused
    const metadata = Object.fromEntries(Object.entries(details).map(([key, value]) => [key, String(value)]))
    const parts = [any(errorInfo!, { reason: code, domain: DOMAIN, metadata })]
    const { retryAfter } = details
    if (typeof retryAfter === 'number') parts.push(any(retryInfo!, { retryDelay: { seconds: retryAfter } }))
    return { code: codeOf(refused), message: refused.message, details: parts }
  }
  const ending = (refused: Refused, requestId = ''): Ending => {
    const metadata = new Metadata()
    if (requestId !== '') metadata.set(REQUEST_ID, requestId)
    metadata.set(DETAILS, Buffer.from(statusType!.encode(message(refused)).finish()))
    if (refused.code === 'OPERATIONS_BLOCKED') metadata.set(BLOCKED, 'true')
    const retryAfter = refused.details?.['retryAfter']
    if (retryAfter !== undefined) metadata.set(RETRY_AFTER, String(retryAfter))
    return { code: codeOf(refused), details: refused.message, metadata }
  }
  return { message, ending }
}

/** Metadata of an answer: whose it is, and the budget of what is metered. */
export function answerMetadata(budget: Budget | null, requestId: string): Metadata {
  const metadata = new Metadata()
  metadata.set(REQUEST_ID, requestId)
  for (const [name, value] of budgetHeaders(budget)) metadata.set(name, value)
  return metadata
}
