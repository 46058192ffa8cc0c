/**
 * Writers of event records. Each writes every word of its record, because the outbox is reused and event bytes must be a
 * function of the commands alone. Offsets come from the tables of layout/event.ts. Orders are named by the address of their row.
 * Eight bytes are copied as an i64 whatever they mean, so that two views of each memory do; `| 0` tells the compiler that an
 * argument is an integer.
 */
import { EventType, FILL, LABEL, ORDER_ENDED, RESULT, CREDIT, outcomeOf, SELF_TRADE } from '../layout/event.ts'
import { LABEL_SHIFT, ORDER_COMMAND, typeOfKind } from '../layout/command.ts'
import { RECORD_WORDS, type Views } from '../layout/table.ts'
import { R } from '../state/balances.ts'
import { balanceRow, getI64 } from '../state/rows.ts'
import { ADDRESS_BITS, BALANCE, CLOCK, CLOCK_AT, LABEL_WORDS, ORDER } from '../state/columns.ts'
import { nextRecord } from '../state/outbox.ts'
import type { State } from '../state/state.ts'

/** RESULT of a command that has no order to describe: a refusal (`code` > 0) or a plain success. */
export function emitResult(
  state: State, command: Views, base: number, code: number, account: number, detail: number, detail2: number,
): number {
  const { outbox, clock } = state
  const at = nextRecord(outbox)
  outbox.i32.fill(0, at, at + RESULT.words)
  const kind = command.u32[base]!
  outbox.u32[at + RESULT.at.kind] = EventType.RESULT | (typeOfKind(kind) << 8) | (kind & 0xffff0000)
  outbox.u32[at + RESULT.at.correlation] = command.u32[base + ORDER_COMMAND.at.correlation]!
  outbox.f64[(at + RESULT.at.sequence) >>> 1] = clock[CLOCK.SEQUENCE]!
  outbox.f64[(at + RESULT.at.time) >>> 1] = clock[CLOCK.TIME]!
  outbox.i32[at + RESULT.at.code] = code
  outbox.i32[at + RESULT.at.account] = account
  outbox.i32[at + RESULT.at.detail] = detail
  outbox.i32[at + RESULT.at.detail2] = detail2
  return at
}

/** RESULT of a command about the order at `row`, as it stands: words 8 to 27 of an order row are those of its RESULT. */
export function emitOrderResult(state: State, command: Views, base: number, row: number, outcome: number): number {
  base &= ADDRESS_BITS
  row &= ADDRESS_BITS
  const { i32: from32, i64: from64 } = state
  const at = nextRecord(state.outbox)
  const { i32, i64 } = state.outbox
  const wide = at >>> 1
  const from = row >>> 1
  const kind = command.i32[base]!
  i32[at + RESULT.at.kind] = EventType.RESULT | ((kind & 0xff) << 8) | (kind & 0xffff0000)
  i32[at + RESULT.at.correlation] = command.i32[base + ORDER_COMMAND.at.correlation]!
  i64[(at + RESULT.at.sequence) >>> 1] = from64[CLOCK_AT + CLOCK.SEQUENCE]!
  i64[(at + RESULT.at.time) >>> 1] = from64[CLOCK_AT + CLOCK.TIME]!
  i32[at + RESULT.at.code] = 0
  i32[at + RESULT.at.account] = from32[row + ORDER.ACCOUNT]!
  // Two words a line: pair flags, slot price, lots remaining, outcome trades, ...
  i64[wide + 4] = from64[from + 4]!
  i64[wide + 5] = from64[from + 5]!
  i64[wide + 6] = from64[from + 6]!
  i64[wide + 7] = from64[from + 7]!
  // ... filledQuote, fee, hold, bestPrice worstPrice, expiresAt, orderSequence.
  i64[wide + 8] = from64[from + 8]!
  i64[wide + 9] = from64[from + 9]!
  i64[wide + 10] = from64[from + 10]!
  i64[wide + 11] = from64[from + 11]!
  i64[wide + 12] = from64[from + 12]!
  i64[wide + 13] = from64[from + 13]!
  i32[at + RESULT.at.outcome] = outcome | 0
  i64[wide + 14] = 0n
  i32[at + RESULT.at.detail] = 0
  i32[at + RESULT.at.detail2] = command.i32[base + ORDER_COMMAND.at.slippageBps]!
  return at
}

/** FILL of `lots` at `price` between resting order `maker` and incoming order `taker`, after both rows were updated. */
export function emitFill(state: State, maker: number, taker: number, price: number, lots: number): void {
  maker &= ADDRESS_BITS
  taker &= ADDRESS_BITS
  const { i32: from32, i64: from64 } = state
  const at = nextRecord(state.outbox)
  const { i32, i64 } = state.outbox
  i32[at + FILL.at.kind] = EventType.FILL
  i32[at + FILL.at.pair] = from32[taker + ORDER.PAIR]!
  i64[(at + FILL.at.sequence) >>> 1] = from64[CLOCK_AT + CLOCK.SEQUENCE]!
  i64[(at + FILL.at.time) >>> 1] = from64[CLOCK_AT + CLOCK.TIME]!
  i32[at + FILL.at.price] = price | 0
  i32[at + FILL.at.lots] = lots | 0
  i64[(at + FILL.at.quote) >>> 1] = state.registers[R.QUOTE]!
  i32[at + FILL.at.index] = from32[taker + ORDER.TRADES]! - 1
  i32[at + FILL.at.makerAccount] = from32[maker + ORDER.ACCOUNT]!
  i32[at + FILL.at.makerSlot] = from32[maker + ORDER.SLOT]!
  i32[at + FILL.at.makerRemaining] = from32[maker + ORDER.REMAINING]!
  i64[(at + FILL.at.makerSequence) >>> 1] = from64[(maker + ORDER.SEQUENCE) >>> 1]!
  i64[(at + FILL.at.makerFee) >>> 1] = state.registers[R.MAKER_FEE]!
  i64[(at + FILL.at.takerFee) >>> 1] = state.registers[R.TAKER_FEE]!
  i32[at + FILL.at.takerAccount] = from32[taker + ORDER.ACCOUNT]!
  i32[at + FILL.at.takerSlot] = from32[taker + ORDER.SLOT]!
  i32[at + FILL.at.takerRemaining] = from32[taker + ORDER.REMAINING]!
  i32[at + FILL.at.makerLots] = from32[maker + ORDER.LOTS]!
  i32[at + FILL.at.makerFlags] = from32[maker + ORDER.FLAGS]!
  i32[at + FILL.at.takerFlags] = from32[taker + ORDER.FLAGS]!
  i64[(at + FILL.at.makerFilledQuote) >>> 1] = from64[(maker + ORDER.FILLED_QUOTE) >>> 1]!
  i64[(at + FILL.at.makerTotalFee) >>> 1] = from64[(maker + ORDER.FEE) >>> 1]!
  i64[(at + FILL.at.makerCreatedAt) >>> 1] = from64[(maker + ORDER.CREATED_AT) >>> 1]!
}

/**
 * ORDER_ENDED for a resting order that leaves the book unfilled; register RELEASE holds what it gives back. `counterparty`: the
 * order being placed by this command is the cause.
 */
export function emitOrderEnded(
  state: State, row: number, status: number, reason: number, correlation: number, counterparty: boolean,
): void {
  row &= ADDRESS_BITS
  const { i32: from32, i64: from64 } = state
  const at = nextRecord(state.outbox)
  const { i32, i64 } = state.outbox
  i32[at + ORDER_ENDED.at.kind] = EventType.ORDER_ENDED
  i32[at + ORDER_ENDED.at.pair] = from32[row + ORDER.PAIR]!
  i64[(at + ORDER_ENDED.at.sequence) >>> 1] = from64[CLOCK_AT + CLOCK.SEQUENCE]!
  i64[(at + ORDER_ENDED.at.time) >>> 1] = from64[CLOCK_AT + CLOCK.TIME]!
  i32[at + ORDER_ENDED.at.account] = from32[row + ORDER.ACCOUNT]!
  i32[at + ORDER_ENDED.at.slot] = from32[row + ORDER.SLOT]!
  i64[(at + ORDER_ENDED.at.orderSequence) >>> 1] = from64[(row + ORDER.SEQUENCE) >>> 1]!
  i32[at + ORDER_ENDED.at.flags] = from32[row + ORDER.FLAGS]!
  i32[at + ORDER_ENDED.at.price] = from32[row + ORDER.PRICE]!
  i32[at + ORDER_ENDED.at.lots] = from32[row + ORDER.LOTS]!
  i32[at + ORDER_ENDED.at.remaining] = from32[row + ORDER.REMAINING]!
  i32[at + ORDER_ENDED.at.outcome] = outcomeOf(status, reason)
  i32[at + ORDER_ENDED.at.correlation] = correlation | 0
  i64[(at + ORDER_ENDED.at.filledQuote) >>> 1] = from64[(row + ORDER.FILLED_QUOTE) >>> 1]!
  i64[(at + ORDER_ENDED.at.fee) >>> 1] = from64[(row + ORDER.FEE) >>> 1]!
  i64[(at + ORDER_ENDED.at.released) >>> 1] = state.registers[R.RELEASE]!
  i64[(at + ORDER_ENDED.at.createdAt) >>> 1] = from64[(row + ORDER.CREATED_AT) >>> 1]!
  // Two stores: a choice between two BigInts would be allocated.
  if (counterparty) i64[(at + ORDER_ENDED.at.counterpartySequence) >>> 1] = from64[CLOCK_AT + CLOCK.SEQUENCE]!
  else i64[(at + ORDER_ENDED.at.counterpartySequence) >>> 1] = 0n
  for (let word = ORDER_ENDED.words; word < RECORD_WORDS; word++) i32[at + word] = 0
}

/** SELF_TRADE: the resting order at `row` stops the incoming one, and stays. */
export function emitSelfTrade(state: State, row: number): void {
  const { outbox, clock, i32, f64 } = state
  const { at: SELF } = SELF_TRADE
  const at = nextRecord(outbox)
  outbox.i32.fill(0, at, at + RECORD_WORDS)
  outbox.i32[at + SELF.kind] = EventType.SELF_TRADE
  outbox.i32[at + SELF.pair] = i32[row + ORDER.PAIR]!
  outbox.f64[(at + SELF.sequence) >>> 1] = clock[CLOCK.SEQUENCE]!
  outbox.f64[(at + SELF.time) >>> 1] = clock[CLOCK.TIME]!
  outbox.i32[at + SELF.account] = i32[row + ORDER.ACCOUNT]!
  outbox.i32[at + SELF.slot] = i32[row + ORDER.SLOT]!
  outbox.f64[(at + SELF.orderSequence) >>> 1] = f64[(row + ORDER.SEQUENCE) >>> 1]!
}

/** LABEL of an order that carries a client order id. */
export function emitLabel(state: State, row: number): void {
  const { outbox, labels, i32 } = state
  const slot = i32[row + ORDER.SLOT]!
  const at = nextRecord(outbox)
  outbox.i32.fill(0, at, at + 32)
  outbox.i32[at + LABEL.at.kind] = EventType.LABEL
  outbox.i32[at + LABEL.at.account] = i32[row + ORDER.ACCOUNT]!
  outbox.f64[(at + LABEL.at.orderSequence) >>> 1] = state.f64[(row + ORDER.SEQUENCE) >>> 1]!
  outbox.i32[at + LABEL.at.slot] = slot
  outbox.i32[at + LABEL.at.length] = i32[row + ORDER.FLAGS]! >>> LABEL_SHIFT
  for (let word = 0; word < LABEL_WORDS; word++) outbox.i32[at + LABEL.at.label + word] = labels[slot * LABEL_WORDS + word]!
}

/** CREDIT of register AMOUNT to (account, asset), after the balance row was changed. */
export function emitCredit(state: State, account: number, asset: number, source: number): void {
  const { outbox, clock } = state
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
  outbox.i64[(at + CREDIT.at.available) >>> 1] = getI64(state, row, BALANCE.AVAILABLE)
  outbox.i64[(at + CREDIT.at.locked) >>> 1] = getI64(state, row, BALANCE.LOCKED)
  outbox.i64[(at + CREDIT.at.version) >>> 1] = getI64(state, row, BALANCE.VERSION)
}

