/** The conditional orders that a command made, as its answer names them: their ids are its sequence and which leg each is. */
import Type, { type Static } from 'typebox'
import { ORDER_ANSWER } from '../../core/layout/answers.ts'
import { ConditionType } from '../../core/layout/conditional.ts'
import { conditionalOrderId, ocoGroupId } from '../../core/layout/ids.ts'
import type { Views } from '../../core/layout/table.ts'
import { readMadeLegs } from '../bridge/arrival_fills.ts'
import { rests } from '../bridge/book_events.ts'
import type { LegsTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Uuid } from './operation.ts'
import { field } from './schema.ts'

export const LegIds = {
  takeProfitOrderId: Type.Optional(field(Uuid, 'The take-profit that was made.')),
  stopLossOrderId: Type.Optional(field(Uuid, 'The stop-loss that was made.')),
  trailingStopOrderId: Type.Optional(field(Uuid, 'The trailing stop that was made.')),
  ocoGroupId: Type.Optional(field(Uuid, 'The pair of take-profit and stop-loss, of which one cancels the other.')),
}
type LegIds = Static<Type.TObject<typeof LegIds>>

/** Names of the legs in `made`, bits 1 << ConditionType, that the command `sequence` made. */
export function legIds(sequence: number, made: number): LegIds {
  const has = (kind: ConditionType): boolean => (made & (1 << kind)) !== 0
  const [profit, stop] = [has(ConditionType.TAKE_PROFIT), has(ConditionType.STOP_LOSS)]
  return {
    ...(profit ? { takeProfitOrderId: conditionalOrderId(sequence, ConditionType.TAKE_PROFIT) } : {}),
    ...(stop ? { stopLossOrderId: conditionalOrderId(sequence, ConditionType.STOP_LOSS) } : {}),
    ...(has(ConditionType.TRAILING_STOP) ? { trailingStopOrderId: conditionalOrderId(sequence, ConditionType.TRAILING_STOP) } : {}),
    ...(profit && stop ? { ocoGroupId: ocoGroupId(sequence) } : {}),
  }
}

/**
 * Those that were made with the order in the RESULT at word `base`. Its events say which; when they are gone, as they may be when an answer
 * is repeated for its key, what became of the order on arrival does. Then a leg may be named that was not made: an order that filled
 * against a position of the other direction, which is there still, made none.
 */
export function orderLegIds({ arrivalFills }: Gateway, records: Views, base: number, legs: LegsTerms | null): LegIds {
  if (legs === null) return {}
  const sequence = records.f64[(base + ORDER_ANSWER.at.orderSequence) >>> 1]!
  return legIds(sequence, readMadeLegs(arrivalFills, sequence) ?? supposed(records, base, legs))
}

function supposed(records: Views, base: number, { takeProfit, stopLoss, trailingStop }: LegsTerms): number {
  const remaining = records.i32[base + ORDER_ANSWER.at.remaining]!
  const stays = rests(records, base)
  const trails = trailingStop !== null && (stays || remaining === 0)
  if (!stays && records.i32[base + ORDER_ANSWER.at.lots] === remaining) return 0
  return (takeProfit === null ? 0 : 1 << ConditionType.TAKE_PROFIT) | (stopLoss === null ? 0 : 1 << ConditionType.STOP_LOSS) |
    (trails ? 1 << ConditionType.TRAILING_STOP : 0)
}
