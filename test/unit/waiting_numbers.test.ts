/** Promise: the numbers in records of conditional and TWAP orders mean for ever what they mean today. Their words are in layout.test.ts. */
import t from 'tap'
import { askedKindOf, askerOf } from '../../core/layout/answers.ts'
import {
  CONDITION_TYPE_NAMES, CONDITIONAL_REASON_NAMES, CONDITIONAL_STATE_NAMES, conditionalReasonOf, ConditionalReason, ConditionalState,
  conditionalStateOf, conditionOf, ConditionType, LEG_FLAG_MASK, LegFlag, TRAIL_BPS_MAX, TRAIL_BPS_MIN,
} from '../../core/layout/conditional.ts'
import { EventType, eventTypeOf } from '../../core/layout/event.ts'
import {
  TWAP_DURATION_MAX, TWAP_LABEL_BYTES, TWAP_OPTION_MASK, TWAP_REASON_NAMES, TWAP_STATE_NAMES, TwapOption, twapReasonOf, TwapReason,
  TwapState, twapStateOf,
} from '../../core/layout/twap.ts'

const CONDITION_TYPES = { TAKE_PROFIT: 1, STOP_LOSS: 2, TRAILING_STOP: 3, TWAP_START: 4 }
const CONDITIONAL_STATES = { PENDING: 1, ARMED: 2, TRIGGERED: 3, CANCELLED: 4, EXPIRED: 5, FAILED: 6 }
const CONDITIONAL_REASONS = {
  CREATED: 0, ARMED: 1, TRIGGERED: 2, CONTINUED: 3, FAILED: 4, EXPIRED: 5, USER_CANCELLED: 6, OCO: 7, POSITION_CLOSED: 8, ENTRY_ENDED: 9,
  DELEGATION_REVOKED: 10, BY_OPERATOR: 11, ENTRY_REPLACED: 12,
}
const LEG_FLAGS = { SELL: 1, LIMIT: 2, IOC: 4, FOK: 8, SLIPPAGE: 16, EXPIRES: 32, ABOVE: 64, OCO: 128 }
const TWAP_STATES = { PENDING: 1, ACTIVE: 2, COMPLETED: 3, EXPIRED: 4, CANCELLED: 5, FAILED: 6 }
const TWAP_REASONS = {
  CREATED: 0, STARTED: 1, SLICE: 2, SKIPPED: 3, COMPLETED: 4, WINDOW_OVER: 5, CONDITION_EXPIRED: 6, USER_CANCELLED: 7, BY_OPERATOR: 8,
  SESSION_REVOKED: 9, FAILED: 10,
}
const TWAP_OPTIONS = { RANDOMIZE: 1, PASSIVE: 2, ABOVE: 4 }

t.test('numbers of orders that wait mean what they meant', async (t) => {
  t.same([ConditionType, ConditionalState, ConditionalReason], [CONDITION_TYPES, CONDITIONAL_STATES, CONDITIONAL_REASONS])
  t.same([LegFlag, LEG_FLAG_MASK, TRAIL_BPS_MIN, TRAIL_BPS_MAX], [LEG_FLAGS, 0x3e, 10, 2000])
  t.same([TwapState, TwapReason, TwapOption], [TWAP_STATES, TWAP_REASONS, TWAP_OPTIONS])
  t.same([TWAP_OPTION_MASK, TWAP_DURATION_MAX, TWAP_LABEL_BYTES], [7, 604_800_000, 40])
  t.same([conditionOf, conditionalStateOf, conditionalReasonOf].map((part) => part(0x0b0603)), [3, 6, 11])
  t.same([twapStateOf, twapReasonOf].map((part) => part(0x0b06)), [6, 11])
  const kind = askedKindOf(EventType.TWAP, 0xabcdef)
  t.same([kind, eventTypeOf(kind), askerOf(kind)], [0xabcdef10, EventType.TWAP, 0xabcdef])
})

t.test('names belong to their numbers', async (t) => {
  const tables = [CONDITION_TYPE_NAMES, CONDITIONAL_STATE_NAMES, CONDITIONAL_REASON_NAMES, TWAP_STATE_NAMES, TWAP_REASON_NAMES]
  t.same(tables.map(({ length }) => length), [5, 7, 13, 7, 11], 'and to no other')
  for (const [name, number] of Object.entries(ConditionType)) t.equal(CONDITION_TYPE_NAMES[number], name)
  for (const [name, number] of Object.entries(ConditionalState)) t.equal(CONDITIONAL_STATE_NAMES[number], name)
  for (const [name, number] of Object.entries(ConditionalReason)) t.equal(CONDITIONAL_REASON_NAMES[number], name)
  for (const [name, number] of Object.entries(TwapState)) t.equal(TWAP_STATE_NAMES[number], name)
  for (const [name, number] of Object.entries(TwapReason)) t.equal(TWAP_REASON_NAMES[number], name)
})
