/**
 * Whether sending a request twice is as good as sending it once: what clients that try again go by (specification, Errors, rules 6 and 7).
 * The OpenAPI document says it of every operation as `x-repeat`, the TypeScript client has it with what it knows of each (generate/).
 *
 *   always    reads, ways out, cancels of what has one name only, and what sets again what it set before
 *   by-id     cancels of orders by id; by `client:` and a client order id a second one may meet a newer order
 *   with-key  when it carries an idempotency key: itself, or every one of its `orders`
 *   never     everything else: without an answer it may have happened
 */
import type { OperationName, ServedOperation } from './index.ts'

export type Repeat = 'always' | 'by-id' | 'with-key' | 'never'

/** Beside reads and ways out: what changes nothing, sets what it set before, or ends what has one name only. */
const HARMLESS: ReadonlySet<OperationName> = new Set([
  'CancelConditionalOrder', 'CancelTwapOrder', 'Challenge', 'Refresh', 'SimulateFees', 'SimulateOrderRisk', 'SimulateParentOrderRisk',
  'SimulateRiskBucketOrderRisk',
])
const KEY = 'idempotencyKey'

export function repeatOf({ name, row: { method, rate }, operation: { body, items } }: ServedOperation): Repeat {
  if (method === 'GET' || rate === 'mass-exit' || HARMLESS.has(name)) return 'always'
  if (rate === 'reduce') return 'by-id'
  const schemas = [body?.schema, items['orders']] as ({ readonly properties?: object } | undefined)[]
  return schemas.some((schema) => KEY in (schema?.properties ?? {})) ? 'with-key' : 'never'
}
