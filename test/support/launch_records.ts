/** What records of launches have stood for since they came, for unit/layout.test.ts and unit/record_checks.test.ts. */

export const LAUNCH_RECORDS: Record<string, string[]> = {
  set_launch: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32 5:account:i32 6:phase:i32 7:leaseMs:i32',
    '8:createdSequence:f64 10:generation:f64 12:isNew:i32 13:reserved:i32 14:launchId:bytes40',
  ],
  claim_lease: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:expectedGeneration:f64 6:launchId:bytes40 16:owner:bytes64',
  ],
}
const lease =
  'pair:pair launch:detail phase:detail2 leaseMs:lots generation:originalSequence quoteRevision:orderSequence leaseEndsAt:expiresAt'
export const LAUNCH_ANSWERS: Record<string, string> = { SET_LAUNCH: lease, CLAIM_LEASE: lease }
export const LAUNCH_REFUSED: Record<string, string> = { CLAIM_LEASE: 'lacking:detail generation:originalSequence' }
export const LAUNCH_COMMANDS = { 80: 'set_launch', 81: 'claim_lease' }
export const LAUNCH_TYPES = { SET_LAUNCH: 80, CLAIM_LEASE: 81 }
export const LAUNCH_REFUSALS = {
  PERMISSION_DENIED: 460, LEASE_CONFLICT: 461, LEASE_LOST: 462, LAUNCH_EXISTS: 463, TOO_MANY_LAUNCHES: 464, LAUNCH_ENDED: 465,
}

/** Values that fields may not have, and some that they may. */
const WHOLE: [number[], number[]] = [[NaN, -1, 0.5, 2 ** 48, Infinity, -Infinity], [0, 2 ** 48 - 1]]
export const LAUNCH_NUMBERS: Record<string, [wrong: readonly number[], right: readonly number[]]> = {
  phase: [[-2, 4], [-1, 0, 3]], leaseMs: [[-2], [-1, 0, 2 ** 31 - 1]], isNew: [[-1, 2], [0, 1]],
  generation: WHOLE, expectedGeneration: WHOLE, 'set_launch.pair': [[-2], [-1, 0]],
}
export const LAUNCH_FREE = ['launchId', 'owner']
