/** Claims of leases as command records (layout/launches.ts), as encode.ts writes the others. */
import { CommandType } from '../../core/layout/command.ts'
import { CLAIM_LEASE_COMMAND } from '../../core/layout/launches.ts'
import type { Caller } from '../auth/signed_request.ts'
import type { EngineClient } from './engine_client.ts'
import { begin, finishFor, scratch, scratchBytes } from './scratch.ts'

const C = CLAIM_LEASE_COMMAND.at

/** CLAIM_LEASE. Both texts are visible ASCII of at most 40 and 64 characters. */
export function encodeClaimLease(
  engine: EngineClient, at: number, correlation: number, caller: Caller, launchId: string, owner: string, expectedGeneration: number,
): void {
  begin(CommandType.CLAIM_LEASE)
  scratch.f64[C.expectedGeneration >>> 1] = expectedGeneration
  scratchBytes.write(launchId, C.launchId * 4, 'latin1')
  scratchBytes.write(owner, C.owner * 4, 'latin1')
  finishFor(engine, at, CommandType.CLAIM_LEASE, correlation, caller)
}
