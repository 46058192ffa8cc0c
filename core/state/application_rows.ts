/** Rows of applications and their origins (columns.ts). */
import { f64, i64 } from './fields.ts'

/** Applications: those of the genesis first, then those the operator added. */
export const APPLICATION_WORDS = 64
export const APPLICATION = {
  /** Grows with every change, for readers. */
  VERSION: 0,
  ACTIVE: 1,
  /** Origins in use, from the first place on. */
  ORIGINS: 2,
  /** Accounts in it. */
  ACCOUNTS: 3,
  /** f64 each; sequence 0: of the genesis. */
  CREATED_SEQUENCE: f64(4), CREATED_AT: f64(6),
  /** SHA-256 of its server key, the one before, f64 until when that one is good, f64 when the key was issued (0: none). */
  KEY: 8, OLD_KEY: 16, OLD_KEY_UNTIL: f64(24), KEY_AT: f64(26),
  /** 40 and 48 bytes. */
  CLIENT_ID: 28, NAME: 38,
  /** The builder-codes program (programs/builder.ts). Its payout account, row + 1; 0: it never had one. Whether it takes part. */
  PAYOUT: 50, ENROLLED: 51,
  /** What it adds, bps. */
  BUILDER_BPS: 52, BUILDER_MAKER_BPS: 53,
  /** f64 each, Unix ms: when it changed that last, and when before; 0: never. */
  CHANGED_AT: f64(54), CHANGED_BEFORE: f64(56),
  /** The most it ever added for makers, bps: orders at rest keep what they have. */
  MOST_MAKER_BPS: 58,
} as const
/** Words of its texts and of a key's hash. */
export const CLIENT_ID_WORDS = 10
export const APPLICATION_NAME_WORDS = 12
export const KEY_WORDS = 8
/** 96 bytes of ASCII, zero padded; row = application × ORIGINS_MAX + place. */
export const ORIGIN_WORDS = 24

/** What the application of an order charges for its fills (ledger/add_ons.ts); row = slot. Only orders with Flag.ADD_ON have one. */
export const ADD_ON_WORDS = 6
export const ADD_ON = {
  /** i64: sum of quote atoms × ppm over all fills; what was charged so far, quote atoms. */
  NUMERATOR: i64(0), CHARGED: i64(2),
  /** Rates in force when it was placed. */
  TAKER_PPM: 4, MAKER_PPM: 5,
} as const
