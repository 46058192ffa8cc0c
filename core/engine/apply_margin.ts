/** Commands of margin trading, each to its handler; the part of {@link apply} that spot trading never comes to. */
import { CommandType } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { moveCollateral } from '../programs/collateral.ts'
import { liquidationStep } from '../liquidation/liquidate.ts'
import { settlementStep } from '../liquidation/settle_pair.ts'
import { fundingStep } from '../programs/funding.ts'
import { fundInsurance } from '../programs/insurance.ts'
import { setPerp } from '../programs/perp_settings.ts'
import { closeMarginAccount, openMarginAccount, openRiskBucket } from '../programs/margin_accounts.ts'
import { setIndexPrice } from '../programs/prices.ts'
import type { State } from '../state/state.ts'
import { applyWaiting } from './apply_waiting.ts'

export function applyMargin(state: State, command: Views, base: number, type: number): void {
  switch (type) {
    case CommandType.MOVE_COLLATERAL:
      return moveCollateral(state, command, base)
    case CommandType.OPEN_MARGIN_ACCOUNT:
      return openMarginAccount(state, command, base)
    case CommandType.CLOSE_MARGIN_ACCOUNT:
      return closeMarginAccount(state, command, base)
    case CommandType.OPEN_RISK_BUCKET:
      return openRiskBucket(state, command, base)
    case CommandType.SET_INDEX_PRICE:
      return setIndexPrice(state, command, base)
    case CommandType.FUND_INSURANCE:
      return fundInsurance(state, command, base)
    case CommandType.SET_PERP:
      return setPerp(state, command, base)
    case CommandType.FUNDING_STEP:
      return fundingStep(state, command, base)
    case CommandType.LIQUIDATION_STEP:
      return liquidationStep(state, command, base)
    case CommandType.SETTLEMENT_STEP:
      return settlementStep(state, command, base)
    default:
      return applyWaiting(state, command, base, type)
  }
}
