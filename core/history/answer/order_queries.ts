/** Orders as the history answers them; part of queries.ts. */
import type { OrderView } from '../../view/accounts.ts'
import type { HistoryOrderMargin } from './margin_queries.ts'

/** An order of any age. Until it ends `outcome` is SUBMITTED or PARTIALLY_FILLED. */
export interface HistoryOrder extends OrderView {
  /** Status | Reason << 8. */
  outcome: number
  /** bps asked for; meaningful with Flag.SLIPPAGE. */
  slippageBps: number
  /** Of an order of a perpetual (Flag.MARGIN). */
  margin?: HistoryOrderMargin
}
