/** Rows of accounts: columns accounts and profiles (columns.ts). */
import { f64 } from './fields.ts'

/** What orders touch in the first 64 B, what signing in, listing and counting touch in the other. */
export const ACCOUNT_WORDS = 32
export const ACCOUNT = {
  APPLICATION: 0, OPEN_ORDERS: 1,
  /** Newest resting order, or -1; the list runs to the oldest. */
  ORDERS_HEAD: 2,
  /** Grows with every change of the account's balances or orders: readers compare it before and after a copy. */
  VERSION: 3,
  /** Row of the account that its family is counted on: its master, or itself. */
  FAMILY: 4,
  /** On that row, what the whole family holds of a pool (shares.ts): resting orders, receipts ... */
  FAMILY_ORDERS: 5, FAMILY_RECEIPTS: 6,
  /** ... rows of agents and of spend limits. */
  FAMILY_AGENTS: 11, FAMILY_LIMITS: 12,
  /** Receipts of the account alone. */
  RECEIPTS: 7,
  /** Fee tier, an index into the genesis' feeTiers ... */
  TIER: 8,
  /** ... and its discounts in ppm, repeated so that an order finds its rates without the genesis. */
  MAKER_DISCOUNT: 9, TAKER_DISCOUNT: 10,
  /** Its parent margin account, row + 1; 0: none was used yet. How many margin accounts it has, that one included. */
  PARENT_MARGIN: 13, MARGIN_ACCOUNTS: 21,
  /** On the row of its family: risk buckets and positions of the family. */
  FAMILY_BUCKETS: 30, FAMILY_POSITIONS: 31,
  /** f64, Unix ms: when all its orders are cancelled unless it says otherwise before (orders/dead_man.ts); 0: never. */
  DEADLINE: f64(14),
  /** 20 bytes. */
  ADDRESS: 16,
  /** f64 each. */
  CREATED_AT: f64(22), CREATED_SEQUENCE: f64(24),
  /** Of a blank account (programs/blank_accounts.ts), otherwise 0: its neighbours in their list, rows + 1 ... */
  BLANK_OLDER: 26, BLANK_NEWER: 27,
  /** ... and when its wallet opened or refreshed a session last, f64, Unix ms. */
  BLANK_SINCE: f64(28),
} as const

/** What is known of an account besides trading. Rows in links are + 1; 0 is none. */
export const PROFILE_WORDS = 16
export const PROFILE = {
  /** Its master; none: it is one. Never changes. */
  MASTER: 0,
  /** Sub-accounts, newest first, and how many. */
  FIRST_SUB: 1, NEXT_SUB: 2, SUBS: 3,
  /** Of a sub-account, which has none of its own: 1 when its wallet agreed to its master. */
  CONSENTED: 3,
  /** Of a sub-account: its spend limits. */
  FIRST_LIMIT: 4,
  /** Delegated agents, newest first, and how many rows. */
  FIRST_AGENT: 5, AGENTS: 6,
  /** Sessions of its own wallet. */
  FIRST_SESSION: 7,
  /** 32 bytes of printable ASCII, zero padded. */
  USERNAME: 8,
} as const
