/**
 * Registers: BigInt scratch, because a BigInt that crosses a call is allocated. Amounts between functions go through one of these, and so
 * do sums before they are compared or divided.
 */
import { ACCOUNT } from './columns.ts'
import { accountRow, add } from './rows.ts'
import type { State } from './state.ts'

/** Registers, by use: indexes into state.registers. */
export const R = {
  /** Quote and base atoms of one fill, and its fees. */
  QUOTE: 0, TAKER_FEE: 1, MAKER_FEE: 2, BASE: 3,
  /** What an order needs to be accepted; what it will lock. */
  REQUIRED: 4, HOLD: 5,
  /** Cost of the fill path, from walk.ts. */
  COST: 6, AMOUNT: 7,
  /** What a replaced order releases. */
  RELEASE: 8,
  /** Sequence of the order being replaced, the bits of an f64: a number beyond 31 bits that crosses a call is allocated too. */
  REPLACED: 9,
  /** What a master-funded order took from its payer, and how much more (or less) of it is on hold; spending.ts. */
  TAKEN: 10, RESERVED: 11,
  /** What the path of a MARKET BUY may cost before walk.ts stops. */
  BUDGET: 12,
  /** What the application of the taker and of the maker charges for a fill; the same of one order (ledger/add_ons.ts). */
  TAKER_ADD_ON: 13, MAKER_ADD_ON: 39, ADD_ON: 47,
  // 14 and 15 are not registers (columns.ts, HASH_KEY_AT; engine/warm.ts). From here on those of margin trading (margin/).
  /** Notional of a position or exposure; initial and maintenance margin; equity; unrealised profit; funding not settled yet. */
  NOTIONAL: 16, INITIAL: 17, MAINTENANCE: 18, EQUITY: 19, UNREALIZED: 20, FUNDING: 21,
  /** Profit that a fill realised; part of the cost of a position that it took; collateral that a fill commits. */
  PROFIT: 22, COST_PART: 23, COMMITTED: 24,
  /** What an order needs and what there is for it; what it brings from its margin account. */
  NEEDED: 25, THERE: 26, BROUGHT: 27,
  /** Scratch of one function; never kept over a call. */
  M0: 28, M1: 29, M2: 30, M3: 31, M4: 32, M5: 33,
  /** Sums over the positions of a bucket. */
  SUM_INITIAL: 34, SUM_MAINTENANCE: 35, SUM_UNREALIZED: 36, SUM_NOTIONAL: 37, SUM_LOSS: 38,
  /** Liquidation: its fee, what a bucket owes, collateral that is moved ... */
  LIQUIDATION_FEE: 40, OWED: 41, MOVED: 42,
  /** Fee of the fill that changes a position (margin/positions.ts); 0 again afterwards. */
  FILL_FEE: 43,
  /** What the guard of a position may lose (margin/guards.ts). */
  SLACK: 44,
  /** ... the sequence that opened a position, the bits of an f64; the largest maintenance margin of a position so far. */
  OPENED: 45, LARGEST: 46,
  /** What the insurance fund gives away for a bankruptcy (margin/fund_limits.ts). */
  COVER: 48,
} as const

/**
 * Notes, by use: 32 words of the last registers (rows.ts). What the admission of a margin order found (orders/margin_admission.ts):
 * addresses of its margin account, bucket and position, -1: it has to be made; lots that it may have; leverage, hundredths. Lots that its
 * path has for it (book/perp_walk.ts). MATCHED: address + 1 of the margin order that is being matched, 0 between commands. While STEPS
 * is 1 the command is a step of liquidation (liquidation/liquidate.ts): orders that it may still meet or end, below 0: none; rows that it
 * may rank. ENDED: conditional orders that ended with positions that were closed. FIRING: address of the conditional order whose order is
 * being entered, PARENT: row + 1 of the TWAP order whose slice is, 0: none.
 */
export const N = {
  MARGIN_ACCOUNT: 0, BUCKET: 1, POSITION: 2, LOTS: 3, LEVERAGE: 4, FILLABLE: 5, STEPS: 6, LOOKS: 7, ROWS: 8, MATCHED: 9, ENDED: 10,
  FIRING: 11, PARENT: 12,
} as const

/** Marks an account as changed for readers of the shared columns. */
export const touchAccount = (state: State, account: number): void => add(state, accountRow(state, account), ACCOUNT.VERSION, 1)
