/**
 * Writers of event records. Each writes every word of its record, because the outbox is reused and event bytes must be a
 * function of the commands alone. Offsets come from the tables of layout/event.ts.
 */
import { EventType, FILL, LABEL, ORDER_ENDED, RESULT, CREDIT, outcomeOf } from '../layout/event.ts'
import { LABEL_SHIFT, ORDER_COMMAND, typeOfKind } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { R, balanceRow } from '../ledger/balances.ts'
import { BALANCE, CLOCK, DETAIL, DETAIL_WORDS, LABEL_WORDS, ORDER, ORDER_WORDS } from './columns.ts'
import { nextRecord } from './outbox.ts'
import type { State } from './state.ts'

const C = ORDER_COMMAND.at
const { at: RES } = RESULT
const { at: FIL } = FILL
const { at: END } = ORDER_ENDED

/** RESULT of a command that has no order to describe: a refusal (`code` > 0) or a plain success. */
export function emitResult(state: State, command: Views, base: number, code: number, account: number, detail: number, detail2: number): number {
  const { outbox, clock } = state
  const at = nextRecord(outbox)
  outbox.i32.fill(0, at, at + RESULT.words)
  const kind = command.u32[base]!
  outbox.u32[at + RES.kind] = EventType.RESULT | (typeOfKind(kind) << 8) | (kind & 0xffff0000)
  outbox.u32[at + RES.correlation] = command.u32[base + C.correlation]!
  outbox.f64[(at + RES.sequence) >>> 1] = clock[CLOCK.SEQUENCE]!
  outbox.f64[(at + RES.time) >>> 1] = clock[CLOCK.TIME]!
  outbox.i32[at + RES.code] = code
  outbox.i32[at + RES.account] = account
  outbox.i32[at + RES.detail] = detail
  outbox.i32[at + RES.detail2] = detail2
  return at
}

/** RESULT of a command about the order in `slot`, as its row stands. `original` < 0: not a replacement. */
export function emitOrderResult(state: State, command: Views, base: number, slot: number, outcome: number): number {
  const { outbox, clock, orders, details } = state
  const row = slot * ORDER_WORDS
  const detail = slot * DETAIL_WORDS
  const at = nextRecord(outbox)
  const { i32, f64, i64, u32 } = outbox
  const kind = command.u32[base]!
  u32[at + RES.kind] = EventType.RESULT | (typeOfKind(kind) << 8) | (kind & 0xffff0000)
  u32[at + RES.correlation] = command.u32[base + C.correlation]!
  f64[(at + RES.sequence) >>> 1] = clock[CLOCK.SEQUENCE]!
  f64[(at + RES.time) >>> 1] = clock[CLOCK.TIME]!
  i32[at + RES.code] = 0
  i32[at + RES.account] = orders[row + ORDER.ACCOUNT]!
  i32[at + RES.pair] = orders[row + ORDER.PAIR]!
  i32[at + RES.flags] = orders[row + ORDER.FLAGS]!
  i32[at + RES.slot] = slot
  i32[at + RES.price] = orders[row + ORDER.PRICE]!
  i32[at + RES.lots] = orders[row + ORDER.LOTS]!
  i32[at + RES.remaining] = orders[row + ORDER.REMAINING]!
  i32[at + RES.outcome] = outcome
  i32[at + RES.trades] = details[detail + DETAIL.TRADES]!
  i64[(at + RES.filledQuote) >>> 1] = state.detailsI64[(detail + DETAIL.FILLED_QUOTE) >>> 1]!
  i64[(at + RES.fee) >>> 1] = state.detailsI64[(detail + DETAIL.FEE) >>> 1]!
  i64[(at + RES.hold) >>> 1] = state.ordersI64[(row + ORDER.HOLD) >>> 1]!
  i32[at + RES.bestPrice] = details[detail + DETAIL.BEST_PRICE]!
  i32[at + RES.worstPrice] = details[detail + DETAIL.WORST_PRICE]!
  f64[(at + RES.expiresAt) >>> 1] = state.detailsF64[(detail + DETAIL.EXPIRES_AT) >>> 1]!
  f64[(at + RES.orderSequence) >>> 1] = state.ordersF64[(row + ORDER.SEQUENCE) >>> 1]!
  f64[(at + RES.originalSequence) >>> 1] = 0
  i32[at + RES.detail] = 0
  i32[at + RES.detail2] = command.i32[base + C.slippageBps]!
  return at
}

/** FILL of `lots` at `price` between resting order `maker` and incoming order `taker`, after both rows were updated. */
export function emitFill(state: State, maker: number, taker: number, price: number, lots: number): void {
  const { outbox, clock, orders, details, registers } = state
  const makerRow = maker * ORDER_WORDS
  const takerRow = taker * ORDER_WORDS
  const makerDetail = maker * DETAIL_WORDS
  const at = nextRecord(outbox)
  const { i32, f64, i64 } = outbox
  i32[at + FIL.kind] = EventType.FILL
  i32[at + FIL.pair] = orders[takerRow + ORDER.PAIR]!
  f64[(at + FIL.sequence) >>> 1] = clock[CLOCK.SEQUENCE]!
  f64[(at + FIL.time) >>> 1] = clock[CLOCK.TIME]!
  i32[at + FIL.price] = price
  i32[at + FIL.lots] = lots
  i64[(at + FIL.quote) >>> 1] = registers[R.QUOTE]!
  i32[at + FIL.index] = details[taker * DETAIL_WORDS + DETAIL.TRADES]! - 1
  i32[at + FIL.makerAccount] = orders[makerRow + ORDER.ACCOUNT]!
  i32[at + FIL.makerSlot] = maker
  i32[at + FIL.makerRemaining] = orders[makerRow + ORDER.REMAINING]!
  f64[(at + FIL.makerSequence) >>> 1] = state.ordersF64[(makerRow + ORDER.SEQUENCE) >>> 1]!
  i64[(at + FIL.makerFee) >>> 1] = registers[R.MAKER_FEE]!
  i64[(at + FIL.takerFee) >>> 1] = registers[R.TAKER_FEE]!
  i32[at + FIL.takerAccount] = orders[takerRow + ORDER.ACCOUNT]!
  i32[at + FIL.takerSlot] = taker
  i32[at + FIL.takerRemaining] = orders[takerRow + ORDER.REMAINING]!
  i32[at + FIL.makerLots] = orders[makerRow + ORDER.LOTS]!
  i32[at + FIL.makerFlags] = orders[makerRow + ORDER.FLAGS]!
  i32[at + FIL.takerFlags] = orders[takerRow + ORDER.FLAGS]!
  i64[(at + FIL.makerFilledQuote) >>> 1] = state.detailsI64[(makerDetail + DETAIL.FILLED_QUOTE) >>> 1]!
  i64[(at + FIL.makerTotalFee) >>> 1] = state.detailsI64[(makerDetail + DETAIL.FEE) >>> 1]!
  f64[(at + FIL.makerCreatedAt) >>> 1] = state.detailsF64[(makerDetail + DETAIL.CREATED_AT) >>> 1]!
}

/** ORDER_ENDED for a resting order that leaves the book unfilled; register RELEASE holds what it gives back. `counterparty`: the order being placed by this command is the cause. */
export function emitOrderEnded(state: State, slot: number, status: number, reason: number, correlation: number, counterparty: boolean): void {
  const { outbox, clock, orders } = state
  const row = slot * ORDER_WORDS
  const detail = slot * DETAIL_WORDS
  const at = nextRecord(outbox)
  const { i32, f64, i64, u32 } = outbox
  i32[at + END.kind] = EventType.ORDER_ENDED
  i32[at + END.pair] = orders[row + ORDER.PAIR]!
  f64[(at + END.sequence) >>> 1] = clock[CLOCK.SEQUENCE]!
  f64[(at + END.time) >>> 1] = clock[CLOCK.TIME]!
  i32[at + END.account] = orders[row + ORDER.ACCOUNT]!
  i32[at + END.slot] = slot
  f64[(at + END.orderSequence) >>> 1] = state.ordersF64[(row + ORDER.SEQUENCE) >>> 1]!
  i32[at + END.flags] = orders[row + ORDER.FLAGS]!
  i32[at + END.price] = orders[row + ORDER.PRICE]!
  i32[at + END.lots] = orders[row + ORDER.LOTS]!
  i32[at + END.remaining] = orders[row + ORDER.REMAINING]!
  i32[at + END.outcome] = outcomeOf(status, reason)
  u32[at + END.correlation] = correlation
  i64[(at + END.filledQuote) >>> 1] = state.detailsI64[(detail + DETAIL.FILLED_QUOTE) >>> 1]!
  i64[(at + END.fee) >>> 1] = state.detailsI64[(detail + DETAIL.FEE) >>> 1]!
  i64[(at + END.released) >>> 1] = state.registers[R.RELEASE]!
  f64[(at + END.createdAt) >>> 1] = state.detailsF64[(detail + DETAIL.CREATED_AT) >>> 1]!
  f64[(at + END.counterpartySequence) >>> 1] = counterparty ? clock[CLOCK.SEQUENCE]! : 0
  for (let word = ORDER_ENDED.words; word < 32; word++) i32[at + word] = 0
}

/** LABEL of an order that carries a client order id. */
export function emitLabel(state: State, slot: number): void {
  const { outbox, orders, labels } = state
  const row = slot * ORDER_WORDS
  const at = nextRecord(outbox)
  outbox.i32.fill(0, at, at + 32)
  outbox.i32[at + LABEL.at.kind] = EventType.LABEL
  outbox.i32[at + LABEL.at.account] = orders[row + ORDER.ACCOUNT]!
  outbox.f64[(at + LABEL.at.orderSequence) >>> 1] = state.ordersF64[(row + ORDER.SEQUENCE) >>> 1]!
  outbox.i32[at + LABEL.at.slot] = slot
  outbox.i32[at + LABEL.at.length] = orders[row + ORDER.FLAGS]! >>> LABEL_SHIFT
  for (let word = 0; word < LABEL_WORDS; word++) outbox.i32[at + LABEL.at.label + word] = labels[slot * LABEL_WORDS + word]!
}

/** CREDIT of register AMOUNT to (account, asset), after the balance row was changed. */
export function emitCredit(state: State, account: number, asset: number, source: number): void {
  const { outbox, clock, balances } = state
  const row = balanceRow(state, account, asset)
  const at = nextRecord(outbox)
  outbox.i32.fill(0, at, at + 32)
  outbox.i32[at + CREDIT.at.kind] = EventType.CREDIT
  outbox.i32[at + CREDIT.at.account] = account
  outbox.f64[(at + CREDIT.at.sequence) >>> 1] = clock[CLOCK.SEQUENCE]!
  outbox.f64[(at + CREDIT.at.time) >>> 1] = clock[CLOCK.TIME]!
  outbox.i32[at + CREDIT.at.asset] = asset
  outbox.i32[at + CREDIT.at.source] = source
  outbox.i64[(at + CREDIT.at.amount) >>> 1] = state.registers[R.AMOUNT]!
  outbox.i64[(at + CREDIT.at.available) >>> 1] = balances[row + BALANCE.AVAILABLE]!
  outbox.i64[(at + CREDIT.at.locked) >>> 1] = balances[row + BALANCE.LOCKED]!
  outbox.i64[(at + CREDIT.at.version) >>> 1] = balances[row + BALANCE.VERSION]!
}

