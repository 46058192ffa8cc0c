/**
 * Writers of event records. Each writes every word of its record, because the outbox is reused and event bytes must be a function of the
 * commands alone. Records are named by the place of their first word, orders by the address of their row; fields are those of
 * layout/event.ts and state/columns.ts. A result is returned by its place, so that its command can add to it.
 */
import { SHORT_REFUSAL } from '../layout/answers.ts'
import {
  APPLICATION_FEE, EventType, FILL, LABEL, ORDER_ENDED, REFERRAL_REWARD, RESULT, CREDIT, outcomeOf, SELF_TRADE,
} from '../layout/event.ts'
import { CLIENT_ORDER_ID_SHIFT, ORDER_COMMAND, typeOfKind } from '../layout/command.ts'
import { clearFrom, read, write, writeF64, writeI64 } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import { R } from '../state/balances.ts'
import { ADD_ON, BALANCE, ORDER } from '../state/columns.ts'
import { nextRecord } from '../state/outbox.ts'
import { addOnRow, balanceRow, copyClientOrderId, copyTwo, get, getF64, getI64, now, sequence } from '../state/rows.ts'
import type { State } from '../state/state.ts'

export { emitFollow, emitLeader } from './copying.ts'
export { emitDeposit, emitSettlement, emitSuspended, emitWithdrawal } from './vault.ts'
export { emitChildOrder, emitConditional, emitTwap, emitTwapOpened, filledOf } from './waiting.ts'
export {
  emitCollateral, emitFundingPayment, emitFundingRate, emitLiquidation, emitMarginOrder, emitMark, emitOrderResized, emitPosition,
} from './margin.ts'

/** Header of the answer to the command at word `base`: the command's own header, as that of a RESULT. */
function answerTo(state: State, command: Views, base: number): number {
  const { outbox } = state
  const at = nextRecord(outbox)
  const kind = read(command, base, ORDER_COMMAND.at.kind)
  write(outbox, at, RESULT.at.kind, EventType.RESULT | (typeOfKind(kind) << 8) | (kind & 0xffff0000))
  write(outbox, at, RESULT.at.correlation, read(command, base, ORDER_COMMAND.at.correlation))
  writeF64(outbox, at, RESULT.at.sequence, sequence(state))
  writeF64(outbox, at, RESULT.at.time, now(state))
  return at
}

/** RESULT of a command that has no order to describe: a refusal (`code` > 0) or a plain success. */
export function emitResult(
  state: State, command: Views, base: number, code: number, account: number, detail: number, detail2: number,
): number {
  const { outbox } = state
  const at = answerTo(state, command, base)
  write(outbox, at, RESULT.at.code, code)
  write(outbox, at, RESULT.at.account, account)
  clearFrom(outbox, at, RESULT.at.pair)
  write(outbox, at, RESULT.at.detail, detail)
  write(outbox, at, RESULT.at.detail2, detail2)
  return at
}

/** Adds to the refusal at `at` that register REQUIRED of an asset was asked for and register AMOUNT was there. */
export function addShort(state: State, at: number, asset: number): void {
  const { outbox, registers } = state
  write(outbox, at, SHORT_REFUSAL.at.asset, asset)
  writeI64(outbox, at, SHORT_REFUSAL.at.required, registers[R.REQUIRED]!)
  writeI64(outbox, at, SHORT_REFUSAL.at.available, registers[R.AMOUNT]!)
}

/** RESULT of a command about the order at `row`, as it stands: words 8 to 27 of an order row are those of its RESULT. */
export function emitOrderResult(state: State, command: Views, base: number, row: number, outcome: number): number {
  const { outbox } = state
  const at = answerTo(state, command, base)
  write(outbox, at, RESULT.at.code, 0)
  write(outbox, at, RESULT.at.account, get(state, row, ORDER.ACCOUNT))
  copyTwo(state, row, ORDER.PAIR, at) // and flags
  copyTwo(state, row, ORDER.SLOT, at) // and price
  copyTwo(state, row, ORDER.LOTS, at) // and remaining
  copyTwo(state, row, ORDER.MAKER_PPM, at) // and trades; the outcome replaces the rate
  copyTwo(state, row, ORDER.FILLED_QUOTE, at)
  copyTwo(state, row, ORDER.FEE, at)
  copyTwo(state, row, ORDER.HOLD, at)
  copyTwo(state, row, ORDER.BEST_PRICE, at) // and worst price
  copyTwo(state, row, ORDER.EXPIRES_AT, at)
  copyTwo(state, row, ORDER.SEQUENCE, at)
  write(outbox, at, RESULT.at.outcome, outcome)
  writeF64(outbox, at, RESULT.at.originalSequence, 0)
  write(outbox, at, RESULT.at.detail, 0)
  write(outbox, at, RESULT.at.detail2, read(command, base, ORDER_COMMAND.at.slippageBps))
  return at
}

/** FILL of `lots` at `price` between resting order `maker` and incoming order `taker`, after both rows were updated. */
export function emitFill(state: State, maker: number, taker: number, price: number, lots: number): void {
  const { outbox, registers } = state
  const at = nextRecord(outbox)
  write(outbox, at, FILL.at.kind, EventType.FILL)
  write(outbox, at, FILL.at.pair, get(state, taker, ORDER.PAIR))
  writeF64(outbox, at, FILL.at.sequence, sequence(state))
  writeF64(outbox, at, FILL.at.time, now(state))
  write(outbox, at, FILL.at.price, price)
  write(outbox, at, FILL.at.lots, lots)
  writeI64(outbox, at, FILL.at.quote, registers[R.QUOTE]!)
  write(outbox, at, FILL.at.index, get(state, taker, ORDER.TRADES) - 1)
  write(outbox, at, FILL.at.makerAccount, get(state, maker, ORDER.ACCOUNT))
  write(outbox, at, FILL.at.makerSlot, get(state, maker, ORDER.SLOT))
  write(outbox, at, FILL.at.makerRemaining, get(state, maker, ORDER.REMAINING))
  writeF64(outbox, at, FILL.at.makerSequence, getF64(state, maker, ORDER.SEQUENCE))
  writeI64(outbox, at, FILL.at.makerFee, registers[R.MAKER_FEE]!)
  writeI64(outbox, at, FILL.at.takerFee, registers[R.TAKER_FEE]!)
  write(outbox, at, FILL.at.takerAccount, get(state, taker, ORDER.ACCOUNT))
  write(outbox, at, FILL.at.takerSlot, get(state, taker, ORDER.SLOT))
  write(outbox, at, FILL.at.takerRemaining, get(state, taker, ORDER.REMAINING))
  write(outbox, at, FILL.at.makerLots, get(state, maker, ORDER.LOTS))
  write(outbox, at, FILL.at.makerFlags, get(state, maker, ORDER.FLAGS))
  write(outbox, at, FILL.at.takerFlags, get(state, taker, ORDER.FLAGS))
  writeI64(outbox, at, FILL.at.makerFilledQuote, getI64(state, maker, ORDER.FILLED_QUOTE))
  writeI64(outbox, at, FILL.at.makerTotalFee, getI64(state, maker, ORDER.FEE))
  writeF64(outbox, at, FILL.at.makerCreatedAt, getF64(state, maker, ORDER.CREATED_AT))
}

/**
 * ORDER_ENDED for a resting order that leaves the book unfilled; register RELEASE holds what it gives back. `counterparty`: the
 * order being placed by this command is the cause.
 */
export function emitOrderEnded(
  state: State, row: number, status: number, reason: number, correlation: number, counterparty: boolean,
): void {
  const { outbox, registers } = state
  const at = nextRecord(outbox)
  write(outbox, at, ORDER_ENDED.at.kind, EventType.ORDER_ENDED)
  write(outbox, at, ORDER_ENDED.at.pair, get(state, row, ORDER.PAIR))
  writeF64(outbox, at, ORDER_ENDED.at.sequence, sequence(state))
  writeF64(outbox, at, ORDER_ENDED.at.time, now(state))
  write(outbox, at, ORDER_ENDED.at.account, get(state, row, ORDER.ACCOUNT))
  write(outbox, at, ORDER_ENDED.at.slot, get(state, row, ORDER.SLOT))
  writeF64(outbox, at, ORDER_ENDED.at.orderSequence, getF64(state, row, ORDER.SEQUENCE))
  write(outbox, at, ORDER_ENDED.at.flags, get(state, row, ORDER.FLAGS))
  write(outbox, at, ORDER_ENDED.at.price, get(state, row, ORDER.PRICE))
  write(outbox, at, ORDER_ENDED.at.lots, get(state, row, ORDER.LOTS))
  write(outbox, at, ORDER_ENDED.at.remaining, get(state, row, ORDER.REMAINING))
  write(outbox, at, ORDER_ENDED.at.outcome, outcomeOf(status, reason))
  write(outbox, at, ORDER_ENDED.at.correlation, correlation)
  writeI64(outbox, at, ORDER_ENDED.at.filledQuote, getI64(state, row, ORDER.FILLED_QUOTE))
  writeI64(outbox, at, ORDER_ENDED.at.fee, getI64(state, row, ORDER.FEE))
  writeI64(outbox, at, ORDER_ENDED.at.released, registers[R.RELEASE]!)
  writeF64(outbox, at, ORDER_ENDED.at.createdAt, getF64(state, row, ORDER.CREATED_AT))
  writeF64(outbox, at, ORDER_ENDED.at.counterpartySequence, counterparty ? sequence(state) : 0)
  clearFrom(outbox, at, ORDER_ENDED.words)
}

/** SELF_TRADE: the resting order at `row` stops the incoming one, and stays. */
export function emitSelfTrade(state: State, row: number): void {
  const { outbox } = state
  const at = nextRecord(outbox)
  write(outbox, at, SELF_TRADE.at.kind, EventType.SELF_TRADE)
  write(outbox, at, SELF_TRADE.at.pair, get(state, row, ORDER.PAIR))
  writeF64(outbox, at, SELF_TRADE.at.sequence, sequence(state))
  writeF64(outbox, at, SELF_TRADE.at.time, now(state))
  write(outbox, at, SELF_TRADE.at.account, get(state, row, ORDER.ACCOUNT))
  write(outbox, at, SELF_TRADE.at.slot, get(state, row, ORDER.SLOT))
  writeF64(outbox, at, SELF_TRADE.at.orderSequence, getF64(state, row, ORDER.SEQUENCE))
  clearFrom(outbox, at, SELF_TRADE.words)
}

/** LABEL of an order that carries a client order id. */
export function emitClientOrderId(state: State, row: number): void {
  const { outbox } = state
  const slot = get(state, row, ORDER.SLOT)
  const at = nextRecord(outbox)
  write(outbox, at, LABEL.at.kind, EventType.LABEL)
  write(outbox, at, LABEL.at.account, get(state, row, ORDER.ACCOUNT))
  writeF64(outbox, at, LABEL.at.orderSequence, getF64(state, row, ORDER.SEQUENCE))
  write(outbox, at, LABEL.at.slot, slot)
  write(outbox, at, LABEL.at.length, get(state, row, ORDER.FLAGS) >>> CLIENT_ORDER_ID_SHIFT)
  copyClientOrderId(state, slot, outbox.i32, at + LABEL.at.label)
  clearFrom(outbox, at, LABEL.words)
}

/** CREDIT of register AMOUNT to (account, asset), after the balance row was changed. */
export function emitCredit(state: State, account: number, asset: number, source: number): void {
  const { outbox, registers } = state
  const row = balanceRow(state, account, asset)
  const at = nextRecord(outbox)
  write(outbox, at, CREDIT.at.kind, EventType.CREDIT)
  write(outbox, at, CREDIT.at.account, account)
  writeF64(outbox, at, CREDIT.at.sequence, sequence(state))
  writeF64(outbox, at, CREDIT.at.time, now(state))
  write(outbox, at, CREDIT.at.asset, asset)
  write(outbox, at, CREDIT.at.source, source)
  writeI64(outbox, at, CREDIT.at.amount, registers[R.AMOUNT]!)
  writeI64(outbox, at, CREDIT.at.available, getI64(state, row, BALANCE.AVAILABLE))
  writeI64(outbox, at, CREDIT.at.locked, getI64(state, row, BALANCE.LOCKED))
  writeI64(outbox, at, CREDIT.at.version, getI64(state, row, BALANCE.VERSION))
  clearFrom(outbox, at, CREDIT.words)
}

/** APPLICATION_FEE of register AMOUNT, `asset`, for the fill number `index` of this command, after the order at `row` was charged. */
export function emitApplicationFee(state: State, row: number, index: number, rested: boolean, asset: number): void {
  const { outbox, registers } = state
  const slot = get(state, row, ORDER.SLOT)
  const at = nextRecord(outbox)
  write(outbox, at, APPLICATION_FEE.at.kind, EventType.APPLICATION_FEE)
  write(outbox, at, APPLICATION_FEE.at.account, get(state, row, ORDER.ACCOUNT))
  writeF64(outbox, at, APPLICATION_FEE.at.sequence, sequence(state))
  writeF64(outbox, at, APPLICATION_FEE.at.time, now(state))
  write(outbox, at, APPLICATION_FEE.at.pair, get(state, row, ORDER.PAIR))
  write(outbox, at, APPLICATION_FEE.at.index, index)
  writeF64(outbox, at, APPLICATION_FEE.at.orderSequence, getF64(state, row, ORDER.SEQUENCE))
  write(outbox, at, APPLICATION_FEE.at.slot, slot)
  write(outbox, at, APPLICATION_FEE.at.flags, get(state, row, ORDER.FLAGS))
  write(outbox, at, APPLICATION_FEE.at.rested, rested ? 1 : 0)
  write(outbox, at, APPLICATION_FEE.at.asset, asset)
  writeI64(outbox, at, APPLICATION_FEE.at.amount, registers[R.AMOUNT]!)
  writeI64(outbox, at, APPLICATION_FEE.at.charged, getI64(state, addOnRow(state, slot), ADD_ON.CHARGED))
  clearFrom(outbox, at, APPLICATION_FEE.words)
}

/**
 * REFERRAL_REWARD of register M0, `asset`, that the house keeps of the order at `row` and the last fill of `taker`. Its place, for the
 * levels, which are all empty.
 */
export function emitReferralReward(state: State, row: number, taker: number, source: number, asset: number): number {
  const { outbox, registers } = state
  const at = nextRecord(outbox)
  clearFrom(outbox, at, 0)
  write(outbox, at, REFERRAL_REWARD.at.kind, EventType.REFERRAL_REWARD)
  write(outbox, at, REFERRAL_REWARD.at.account, get(state, row, ORDER.ACCOUNT))
  writeF64(outbox, at, REFERRAL_REWARD.at.sequence, sequence(state))
  writeF64(outbox, at, REFERRAL_REWARD.at.time, now(state))
  write(outbox, at, REFERRAL_REWARD.at.pair, get(state, row, ORDER.PAIR))
  write(outbox, at, REFERRAL_REWARD.at.index, get(state, taker, ORDER.TRADES) - 1)
  write(outbox, at, REFERRAL_REWARD.at.source, source)
  write(outbox, at, REFERRAL_REWARD.at.asset, asset)
  write(outbox, at, REFERRAL_REWARD.at.rested, row === taker ? 0 : 1)
  write(outbox, at, REFERRAL_REWARD.at.first, -1)
  write(outbox, at, REFERRAL_REWARD.at.second, -1)
  write(outbox, at, REFERRAL_REWARD.at.third, -1)
  writeI64(outbox, at, REFERRAL_REWARD.at.income, registers[R.M0]!)
  return at
}
