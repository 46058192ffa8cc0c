/** Writers of the events of orders that wait (layout/conditional.ts, layout/twap.ts), as emit.ts writes the others. */
import { CONDITIONAL_ORDER } from '../layout/conditional.ts'
import { EventType } from '../layout/event.ts'
import { clearFrom, write, writeF64, writeI64 } from '../layout/record.ts'
import { CHILD_ORDER, TWAP_OPENED, TWAP_ORDER } from '../layout/twap.ts'
import { R } from '../state/balances.ts'
import { ORDER } from '../state/columns.ts'
import { CONDITIONAL, TWAP, TWAP_LABEL_WORDS } from '../state/conditional_rows.ts'
import { nextRecord } from '../state/outbox.ts'
import { get, getF64, now, orderRow, sequence, twapAt, twapRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/**
 * CONDITIONAL of the one at address `row`, for a ConditionalReason. `trigger` and `watermark`: where it fires and its best mark, ticks.
 * `code`: number of the refusal of its order; `ordered`: lots of the order that was entered.
 */
export function emitConditional(
  state: State, row: number, reason: number, trigger: number, watermark: number, code: number, ordered: number,
): void {
  const { outbox } = state
  const at = nextRecord(outbox)
  const what = get(state, row, CONDITIONAL.KIND) | (get(state, row, CONDITIONAL.STATE) << 8) | (reason << 16)
  write(outbox, at, CONDITIONAL_ORDER.at.kind, EventType.CONDITIONAL)
  write(outbox, at, CONDITIONAL_ORDER.at.account, get(state, row, CONDITIONAL.ACCOUNT))
  writeF64(outbox, at, CONDITIONAL_ORDER.at.sequence, sequence(state))
  writeF64(outbox, at, CONDITIONAL_ORDER.at.time, now(state))
  writeF64(outbox, at, CONDITIONAL_ORDER.at.createdSequence, getF64(state, row, CONDITIONAL.CREATED_SEQUENCE))
  write(outbox, at, CONDITIONAL_ORDER.at.what, what)
  write(outbox, at, CONDITIONAL_ORDER.at.pair, get(state, row, CONDITIONAL.PAIR))
  write(outbox, at, CONDITIONAL_ORDER.at.flags, get(state, row, CONDITIONAL.FLAGS))
  write(outbox, at, CONDITIONAL_ORDER.at.trigger, trigger)
  write(outbox, at, CONDITIONAL_ORDER.at.limit, get(state, row, CONDITIONAL.LIMIT))
  write(outbox, at, CONDITIONAL_ORDER.at.lots, get(state, row, CONDITIONAL.LOTS))
  write(outbox, at, CONDITIONAL_ORDER.at.slippageBps, get(state, row, CONDITIONAL.SLIPPAGE_BPS))
  write(outbox, at, CONDITIONAL_ORDER.at.trailBps, get(state, row, CONDITIONAL.TRAIL_BPS))
  const activation = get(state, row, CONDITIONAL.TRAIL_BPS) === 0 ? 0 : get(state, row, CONDITIONAL.TRIGGER)
  write(outbox, at, CONDITIONAL_ORDER.at.activation, activation)
  write(outbox, at, CONDITIONAL_ORDER.at.watermark, watermark)
  writeF64(outbox, at, CONDITIONAL_ORDER.at.expiresAt, getF64(state, row, CONDITIONAL.EXPIRES_AT))
  writeF64(outbox, at, CONDITIONAL_ORDER.at.armedAt, getF64(state, row, CONDITIONAL.ARMED_AT))
  writeF64(outbox, at, CONDITIONAL_ORDER.at.createdAt, getF64(state, row, CONDITIONAL.CREATED_AT))
  writeF64(outbox, at, CONDITIONAL_ORDER.at.orderSequence, getF64(state, row, CONDITIONAL.ORDER_SEQUENCE))
  writeF64(outbox, at, CONDITIONAL_ORDER.at.openedSequence, getF64(state, row, CONDITIONAL.OPENED))
  write(outbox, at, CONDITIONAL_ORDER.at.orderSlot, get(state, row, CONDITIONAL.ORDER_SLOT))
  write(outbox, at, CONDITIONAL_ORDER.at.position, get(state, row, CONDITIONAL.OF))
  write(outbox, at, CONDITIONAL_ORDER.at.code, code)
  write(outbox, at, CONDITIONAL_ORDER.at.ordered, ordered)
}

/**
 * Lots of the TWAP order at address `row` that are filled, those of the slice that rests among them; registers QUOTE and AMOUNT: their
 * value and fee.
 */
export function filledOf(state: State, row: number): number {
  const { registers, i64 } = state
  registers[R.QUOTE] = i64[(row + TWAP.FILLED_QUOTE) >>> 1]!
  registers[R.AMOUNT] = i64[(row + TWAP.FEE) >>> 1]!
  const child = get(state, row, TWAP.CHILD)
  const filled = get(state, row, TWAP.FILLED)
  if (child === 0) return filled
  const order = orderRow(state, child - 1)
  registers[R.QUOTE] = registers[R.QUOTE]! + i64[(order + ORDER.FILLED_QUOTE) >>> 1]!
  registers[R.AMOUNT] = registers[R.AMOUNT]! + i64[(order + ORDER.FEE) >>> 1]!
  return filled + get(state, order, ORDER.LOTS) - get(state, order, ORDER.REMAINING)
}

/** TWAP of the one at address `row`, for a TwapReason. `childSlot`: of the slice that was placed, -1: none was. */
export function emitTwap(state: State, row: number, reason: number, childSlot: number, code: number): void {
  const { outbox, registers } = state
  const filled = filledOf(state, row)
  const at = nextRecord(outbox)
  write(outbox, at, TWAP_ORDER.at.kind, EventType.TWAP)
  write(outbox, at, TWAP_ORDER.at.account, get(state, row, TWAP.ACCOUNT))
  writeF64(outbox, at, TWAP_ORDER.at.sequence, sequence(state))
  writeF64(outbox, at, TWAP_ORDER.at.time, now(state))
  writeF64(outbox, at, TWAP_ORDER.at.createdSequence, getF64(state, row, TWAP.CREATED_SEQUENCE))
  write(outbox, at, TWAP_ORDER.at.twap, twapAt(state, row))
  write(outbox, at, TWAP_ORDER.at.what, get(state, row, TWAP.STATE) | (reason << 8))
  write(outbox, at, TWAP_ORDER.at.pair, get(state, row, TWAP.PAIR))
  write(outbox, at, TWAP_ORDER.at.flags, get(state, row, TWAP.FLAGS))
  write(outbox, at, TWAP_ORDER.at.lots, get(state, row, TWAP.LOTS))
  write(outbox, at, TWAP_ORDER.at.filled, filled)
  write(outbox, at, TWAP_ORDER.at.slices, get(state, row, TWAP.SLICES))
  write(outbox, at, TWAP_ORDER.at.reached, get(state, row, TWAP.REACHED))
  write(outbox, at, TWAP_ORDER.at.placed, get(state, row, TWAP.PLACED))
  write(outbox, at, TWAP_ORDER.at.childSlot, childSlot)
  write(outbox, at, TWAP_ORDER.at.code, code)
  write(outbox, at, TWAP_ORDER.at.reserved, 0)
  writeF64(outbox, at, TWAP_ORDER.at.startAt, getF64(state, row, TWAP.START_AT))
  writeF64(outbox, at, TWAP_ORDER.at.endAt, getF64(state, row, TWAP.END_AT))
  writeF64(outbox, at, TWAP_ORDER.at.nextAt, getF64(state, row, TWAP.NEXT_AT))
  writeI64(outbox, at, TWAP_ORDER.at.filledQuote, registers[R.QUOTE]!)
  writeI64(outbox, at, TWAP_ORDER.at.fee, registers[R.AMOUNT]!)
  clearFrom(outbox, at, TWAP_ORDER.words)
}

/** TWAP_OPENED of the one that was just made at address `row`. */
export function emitTwapOpened(state: State, row: number): void {
  const { outbox } = state
  const at = nextRecord(outbox)
  write(outbox, at, TWAP_OPENED.at.kind, EventType.TWAP_OPENED)
  write(outbox, at, TWAP_OPENED.at.account, get(state, row, TWAP.ACCOUNT))
  writeF64(outbox, at, TWAP_OPENED.at.createdSequence, getF64(state, row, TWAP.CREATED_SEQUENCE))
  write(outbox, at, TWAP_OPENED.at.twap, twapAt(state, row))
  write(outbox, at, TWAP_OPENED.at.pair, get(state, row, TWAP.PAIR))
  write(outbox, at, TWAP_OPENED.at.price, get(state, row, TWAP.PRICE))
  write(outbox, at, TWAP_OPENED.at.slippageBps, get(state, row, TWAP.SLIPPAGE_BPS))
  write(outbox, at, TWAP_OPENED.at.options, get(state, row, TWAP.OPTIONS))
  write(outbox, at, TWAP_OPENED.at.trigger, get(state, row, TWAP.TRIGGER))
  writeF64(outbox, at, TWAP_OPENED.at.conditionalExpiry, getF64(state, row, TWAP.CONDITIONAL_EXPIRY))
  write(outbox, at, TWAP_OPENED.at.durationMs, getF64(state, row, TWAP.DURATION))
  write(outbox, at, TWAP_OPENED.at.leverage, get(state, row, TWAP.LEVERAGE))
  write(outbox, at, TWAP_OPENED.at.marginAccount, get(state, row, TWAP.MARGIN_ACCOUNT) - 1)
  write(outbox, at, TWAP_OPENED.at.bucket, get(state, row, TWAP.BUCKET) - 1)
  writeF64(outbox, at, TWAP_OPENED.at.namedSequence, getF64(state, row, TWAP.NAMED_SEQUENCE))
  write(outbox, at, TWAP_OPENED.at.labelLength, get(state, row, TWAP.LABEL_LENGTH))
  write(outbox, at, TWAP_OPENED.at.reserved, 0)
  for (let word = 0; word < TWAP_LABEL_WORDS; word++) write(outbox, at, TWAP_OPENED.at.label + word, get(state, row, TWAP.LABEL + word))
  clearFrom(outbox, at, TWAP_OPENED.words)
}

/** CHILD_ORDER: the order at address `row` is a slice of the TWAP order in row `twap`. */
export function emitChildOrder(state: State, row: number, twap: number): void {
  const { outbox } = state
  const at = nextRecord(outbox)
  write(outbox, at, CHILD_ORDER.at.kind, EventType.CHILD_ORDER)
  write(outbox, at, CHILD_ORDER.at.account, get(state, row, ORDER.ACCOUNT))
  writeF64(outbox, at, CHILD_ORDER.at.orderSequence, getF64(state, row, ORDER.SEQUENCE))
  write(outbox, at, CHILD_ORDER.at.slot, get(state, row, ORDER.SLOT))
  write(outbox, at, CHILD_ORDER.at.pair, get(state, row, ORDER.PAIR))
  write(outbox, at, CHILD_ORDER.at.twap, twap)
  write(outbox, at, CHILD_ORDER.at.reserved, 0)
  writeF64(outbox, at, CHILD_ORDER.at.twapSequence, getF64(state, twapRow(state, twap), TWAP.CREATED_SEQUENCE))
  clearFrom(outbox, at, CHILD_ORDER.words)
}
