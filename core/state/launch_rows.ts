/** Rows of launches: column `launches` (columns.ts). A pair names the one that is under way on it (PAIR.LAUNCH). */
import { f64 } from './fields.ts'

export const LAUNCH_WORDS = 48
export const LAUNCH = {
  /** f64 each: the command that made it; Unix ms. */
  CREATED_SEQUENCE: f64(0), CREATED_AT: f64(2),
  /** f64: grows with each change of who holds the lease. */
  GENERATION: f64(4),
  /** f64: grows with that, and with each change of phase, length or maker. */
  REVISION: f64(6),
  /** f64, Unix ms: end of the lease; 0: nobody claimed it since the maker was named. */
  EXPIRES_AT: f64(8),
  /** The maker. */
  ACCOUNT: 10,
  PAIR: 11,
  /** LaunchPhase of layout/launches.ts. */
  PHASE: 12,
  /** ms. */
  LEASE_MS: 13,
  /** Public key of the session that holds the lease, 32 bytes; and what its process calls itself, 64 bytes, zero padded. */
  KEY: 14, OWNER: 22,
  /** 40 bytes, zero padded. */
  ID: 38,
} as const
export const LAUNCH_OWNER_WORDS = 16
export const LAUNCH_ID_WORDS = 10
