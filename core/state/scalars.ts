/** Columns `scalars` and `clock` (columns.ts): single numbers of a state, by name. */

/** Scalars, i32. */
export const SCALAR = {
  ORDERS_USED: 0, ORDERS_FREE: 1, ORDERS_LIVE: 2,
  PAGES_USED: 3, PAGES_FREE: 4,
  ACCOUNTS: 5,
  SESSIONS_USED: 6, SESSIONS_CURSOR: 7,
  /** Number of the oldest receipt, receipts kept, and words in use of the column of those that were forgotten. */
  RECEIPTS_HEAD: 8, RECEIPTS_COUNT: 9, FORGOTTEN_USED: 10,
  MAINTENANCE: 11,
  APPLICATIONS: 12,
  AGENTS_USED: 13,
  SPEND_LIMITS_USED: 14,
  /** Which decisions are in force (rules.ts). */
  RULES: 15,
  /** First and last of the blank accounts, rows + 1 (programs/blank_accounts.ts). */
  BLANK_OLDEST: 16, BLANK_NEWEST: 17,
  /** Grows by two when the row of an account goes to another wallet; odd while it does. */
  ACCOUNT_TURNS: 18,
  /** Pages of price levels in use. */
  PAGES_LIVE: 20,
  /** First and last mass cancel under way, accounts + 1 (orders/sweep_rows.ts). */
  SWEEPS_OLDEST: 19, SWEEPS_NEWEST: 29,
  /** The last of those that go on by themselves, which are the first of the list, account + 1; 0: none does. */
  SWEEPS_BY_ITSELF: 30,
  /** 1: copy trading is switched off (programs/copy_program.ts). */
  COPY_TRADING_OFF: 31,
  /** Receipts (receipt_pages.ts): pages of the oldest and the newest, word of the oldest in its page, rows ever used. */
  RECEIPT_HEAD_PAGE: 24, RECEIPT_TAIL_PAGE: 25, RECEIPT_HEAD_AT: 26, RECEIPT_PAGES_USED: 27, RECEIPT_SEALS_USED: 28,
  /** Listed, those of the genesis included. */
  ASSETS: 21, PAIRS: 22,
  /** Grows by two with every change of a listing; odd while one is made. */
  LISTINGS: 23,
  /** Rows of margin trading ever used (margin_rows.ts), and the first free one of each, row + 1; 0: none. */
  MARGIN_ACCOUNTS_USED: 32, MARGIN_ACCOUNTS_FREE: 33, BUCKETS_USED: 34, BUCKETS_FREE: 35, POSITIONS_USED: 36, POSITIONS_FREE: 37,
  /** Rows of them in use. */
  MARGIN_ACCOUNTS_LIVE: 38, BUCKETS_LIVE: 39, POSITIONS_LIVE: 40,
  /** Account of the insurance fund, + 1; 0: there is none yet (margin/fund.ts). */
  FUND: 41,
  /** Buckets in liquidation, rows + 1, by when it began; how many. */
  LIQUIDATIONS_OLDEST: 42, LIQUIDATIONS_NEWEST: 43, LIQUIDATIONS: 44,
  /** Rows of orders that wait (conditional_rows.ts): ever used, the first free one, row + 1; in use. */
  CONDITIONALS_USED: 45, CONDITIONALS_FREE: 46, CONDITIONALS_LIVE: 47,
  TRAIL_GROUPS_USED: 48, TRAIL_GROUPS_FREE: 49,
  TWAPS_USED: 50, TWAPS_FREE: 51, TWAPS_LIVE: 52,
  /** The builder-codes program (programs/builder.ts): most that an application may add, 1: orders get what theirs adds, revenue share. */
  BUILDER_CAP_BPS: 53, BUILDER_FEES: 54, REVENUE_SHARE_PPM: 55,
  /** Rows of column addOns ever used. */
  ADD_ONS_USED: 56,
  /** Launches ever made (launch_rows.ts); grows with every change of one. */
  LAUNCHES: 57, LAUNCH_CHANGES: 58,
  /** Rows of copy trading ever used (copy_rows.ts, whose column `copying` has the other numbers). */
  LEADERS_USED: 59, FOLLOWS_USED: 60,
  /** 1: the referral program has something to keep (referral_rows.ts): somebody was brought, or shares were set. */
  REFERRING: 62,
  /** Rows of money in and out ever used (vault_rows.ts, whose column `vault` has the other numbers). */
  WITHDRAWALS_USED: 61, SUSPENSE_USED: 63,
} as const
/** Scalars, f64. */
export const CLOCK = {
  /** Sequence of the command being applied. */
  SEQUENCE: 0,
  /** Its time, Unix ms. */
  TIME: 1,
  /** Fills ever. */
  FILLS: 2,
  /** When the rules 4 came in force in an exchange that began with older ones, Unix ms; 0: they always were. */
  FORMS_AT: 3,
  /** Connections that cancel at their end, ever (orders/cancel_on_disconnect.ts). */
  CONNECTIONS: 4,
} as const
