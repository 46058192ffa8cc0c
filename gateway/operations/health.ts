/** Health, for people and probes. */
import Type, { type Static } from 'typebox'
import { SCALAR } from '../../core/state/columns.ts'
import { MATCHER } from '../../core/ring/counters.ts'
import { isCurrent } from '../bridge/history.ts'
import type { Gateway } from '../context.ts'
import { operation, rfc3339, Timestamp } from './operation.ts'
import * as sample from './example_values.ts'
import { field } from './schema.ts'

/** Version of the REST description (specification, Versioning). */
export const VERSION = '1.0.0'
/** A matcher whose heartbeat is older than this is not serving, ms. */
const HEARTBEAT_MS = 1000

const Health = Type.Object({
  status: field(
    Type.Union([Type.Literal('ok'), Type.Literal('degraded'), Type.Literal('maintenance')]),
    'ok; maintenance: the operator blocks orders and transfers; degraded: something is not well, which `degraded` names.',
  ),
  version: field(Type.String(), 'Version of this interface.'),
  sequence: field(Type.Integer(), 'Number of the newest command that was applied when this was read; it only grows.'),
  timestamp: field(Timestamp, 'When this was read.'),
  degraded: field(
    Type.Array(Type.String()),
    'What is not well: engine, the matching engine does not answer; history, it cannot be read or is late. More may come.',
  ),
})

export const isReady = (gateway: Gateway): boolean => gateway.now() - gateway.matcher[MATCHER.heartbeat_ms]! < HEARTBEAT_MS
export const inMaintenance = (gateway: Gateway): boolean => gateway.state.scalars[SCALAR.MAINTENANCE] !== 0

/** What somebody decided is said before what merely happened; an engine that stands before both. */
export function healthOf(gateway: Gateway): Static<typeof Health> {
  const works = isReady(gateway)
  const degraded = [...(works ? [] : ['engine']), ...(isCurrent(gateway.history) ? [] : ['history'])]
  const troubled = degraded.length > 0 ? 'degraded' : 'ok'
  const status = works && inMaintenance(gateway) ? 'maintenance' : troubled
  const sequence = gateway.matcher[MATCHER.sequence]!
  return { status, version: VERSION, sequence, timestamp: rfc3339(gateway.now()), degraded }
}

export const Check = operation({
  service: 'HealthService', method: 'GET', path: '/api/v1/health',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Health',
  description: 'ok, maintenance (orders and transfers are refused, cancels and reads work) or degraded (`degraded` '
    + 'names what is not well: the matching engine does not answer, or the history cannot be read or is late, while '
    + 'trading goes on). Probes without the prefix: `/health`, always 200 with the same body, and `/ready`, 503 while '
    + 'the engine does not answer.',
  answer: 'The state of the service.',
  refusals: [],
  output: Health,
  example: { input: {}, output: { status: 'ok', version: '1.0.0', sequence: 43, timestamp: sample.LATER, degraded: [] } },
  run: (gateway, call) => call.answer(healthOf(gateway)),
})
