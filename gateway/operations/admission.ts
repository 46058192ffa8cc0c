/**
 * What is refused between the checked input and the operation: maintenance and a full disk.
 *
 * Every transport runs the same order: authenticate, read and check the input, admit, run. So a malformed request costs no budget.
 * Refusals the engine would give too are given here early, before the request takes room in a ring.
 */
import { MATCHER } from '../../core/ring/counters.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../http/envelope.ts'
import { inMaintenance } from './health.ts'
import type { Call, JsonObject } from './operation.ts'
import type { Row } from './table.ts'

const MIB = 1024 * 1024

/** Admits `call` of the operation of `row`, or says why not. `input` is what the operation will be given. */
export function admit(gateway: Gateway, row: Row, call: Call<never>, input: JsonObject): Refused | null {
  if (row.maintenance === 'blocked' && inMaintenance(gateway)) return new Refused('OPERATIONS_BLOCKED')
  const free = gateway.matcher[MATCHER.free_disk_bytes]!
  if (row.rate === 'create' && free > 0 && free < gateway.config.diskReserveMb * MIB) return new Refused('DISK_RESERVE')
  return null
}
