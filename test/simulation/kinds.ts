/** What happened in margin trading and to orders that wait, in words that are counted: simulation.test.ts asks that each is met. */
import {
  CONDITION_TYPE_NAMES, CONDITIONAL_ORDER, CONDITIONAL_REASON_NAMES, conditionalReasonOf, conditionOf,
} from '../../core/layout/conditional.ts'
import { eventTypeOf, EventType } from '../../core/layout/event.ts'
import {
  COLLATERAL_REASON_NAMES, COLLATERAL, LIQUIDATION, LIQUIDATION_STATUS_NAMES, POSITION_CHANGED, POSITION_REASON_NAMES,
} from '../../core/layout/margin_events.ts'
import type { Views } from '../../core/layout/table.ts'
import { TWAP_ORDER, TWAP_REASON_NAMES, twapReasonOf } from '../../core/layout/twap.ts'

/** The kind of the event at word `base`; `null`: it is none of margin trading that is counted. */
export function marginKind({ u32, i32 }: Views, base: number): string | null {
  const type = eventTypeOf(u32[base]!)
  if (type === EventType.FUNDING_PAYMENT) return 'funding payment'
  if (type === EventType.FUNDING_RATE) return 'funding rate'
  if (type === EventType.ORDER_RESIZED) return 'reduce-only order resized'
  if (type === EventType.LIQUIDATION) return `liquidation ${LIQUIDATION_STATUS_NAMES[i32[base + LIQUIDATION.at.status]!]!}`
  if (type === EventType.COLLATERAL) return `collateral ${COLLATERAL_REASON_NAMES[i32[base + COLLATERAL.at.reason]!]!}`
  if (type === EventType.POSITION) return `position ${POSITION_REASON_NAMES[i32[base + POSITION_CHANGED.at.reason]!]!}`
  return null
}

/** The same of orders that wait. */
export function waitingKind({ u32, i32 }: Views, base: number): string | null {
  const type = eventTypeOf(u32[base]!)
  if (type === EventType.TWAP) return `TWAP ${TWAP_REASON_NAMES[twapReasonOf(i32[base + TWAP_ORDER.at.what]!)]!}`
  if (type !== EventType.CONDITIONAL) return null
  const what = i32[base + CONDITIONAL_ORDER.at.what]!
  return `${CONDITION_TYPE_NAMES[conditionOf(what)]!} ${CONDITIONAL_REASON_NAMES[conditionalReasonOf(what)]!}`
}
