/** Commands of margin trading in the naive exchange, each to its file (naive_margin.ts). */
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { closeMarginAccount, moveCollateral, openMarginAccount, openRiskBucket } from './naive_margin_moves.ts'
import { liquidationStep } from './naive_margin_liquidation.ts'
import { fundInsurance, fundingStep, setIndexPrice, setPerp } from './naive_margin_prices.ts'
import { settlementStep } from './naive_margin_settlement.ts'
import type { Ex } from './naive_terms.ts'

/** False: it is another command. */
export function marginCommand(ex: Ex, command: Decoded, type: number): boolean {
  if (type === CommandType.SET_INDEX_PRICE) setIndexPrice(ex, command)
  else if (type === CommandType.FUNDING_STEP) fundingStep(ex, command)
  else if (type === CommandType.SET_PERP) setPerp(ex, command)
  else if (type === CommandType.MOVE_COLLATERAL) moveCollateral(ex, command)
  else if (type === CommandType.OPEN_MARGIN_ACCOUNT) openMarginAccount(ex, command)
  else if (type === CommandType.CLOSE_MARGIN_ACCOUNT) closeMarginAccount(ex, command)
  else if (type === CommandType.OPEN_RISK_BUCKET) openRiskBucket(ex, command)
  else if (type === CommandType.FUND_INSURANCE) fundInsurance(ex, command)
  else if (type === CommandType.LIQUIDATION_STEP) liquidationStep(ex, command)
  else if (type === CommandType.SETTLEMENT_STEP) settlementStep(ex, command)
  else return false
  return true
}
