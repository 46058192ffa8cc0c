/** Commands of sessions of accounts' own wallets (programs/sessions.ts). */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

/** Opens a session of (application, wallet); the first one makes the account. */
export const OPEN_SESSION_COMMAND = defineLayout('open_session', {
  ...HEADER,
  application: 'i32',
  /** Row + 1 of the account that the text the wallet signed named as its master; 0: it named none. */
  master: 'i32',
  /** Wallet address, 20 bytes. */
  address: 'bytes20',
  /** Row + 1 of the account whose referral code was given; 0: none was, or nobody has it. */
  referrer: 'i32',
  /** ed25519 session public key. */
  publicKey: 'bytes32',
  /** The sequence that made the referrer. */
  referrerSequence: 'f64',
})

/** REFRESH_SESSION and REVOKE_SESSION say everything in the header. */
export const SESSION_COMMAND = defineLayout('session', { ...HEADER })
