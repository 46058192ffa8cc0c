/** What all calls of the gRPC thread share. */
import { GATEWAY } from '../../core/ring/counters.ts'
import { REFUSALS } from '../../core/engine/refusals.ts'
import type { Gateway } from '../context.ts'
import type { Refused } from '../http/envelope.ts'
import type { StatusWriter } from './status.ts'

/** Text of the refusal of what comes during a stop. */
export const SHUTTING_DOWN = 'The service is shutting down; nothing was applied'

export interface Front {
  readonly gateway: Gateway
  readonly statuses: StatusWriter
  /** Calls and stream actions that are not answered yet. */
  inFlight: number
  /** Set at a stop: what comes now is refused. */
  stopping: boolean
}

export const createFront = (gateway: Gateway, statuses: StatusWriter): Front =>
  ({ gateway, statuses, inFlight: 0, stopping: false })

export function countRequest(front: Front, bytes: number): void {
  const { counters } = front.gateway
  front.inFlight++
  counters[GATEWAY.requests]!++
  counters[GATEWAY.body_bytes]! += bytes
}

/** `null`: it was answered as asked. Classes are those of HTTP, so that one graph shows both. */
export function countAnswer(front: Front, refused: Refused | null): void {
  const { counters } = front.gateway
  front.inFlight--
  const http = refused === null ? 200 : REFUSALS[refused.code].http
  if (http >= 500) counters[GATEWAY.responses_5xx]!++
  else if (http >= 400) counters[GATEWAY.responses_4xx]!++
  else counters[GATEWAY.responses_2xx]!++
}

/** The client left before the answer, or its deadline passed. */
export function countAborted(front: Front): void {
  front.inFlight--
  front.gateway.counters[GATEWAY.aborted]!++
}
