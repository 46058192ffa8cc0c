/** Writers of the events of margin trading (layout/margin_events.ts), as emit.ts writes the others. Rows are named by their addresses. */
import {
  COLLATERAL, FUNDING_PAYMENT, FUNDING_RATE, LIQUIDATION, MARGIN_ORDER, MARK, ORDER_RESIZED, POSITION_CHANGED,
} from '../layout/margin_events.ts'
import { EventType } from '../layout/event.ts'
import { clearFrom, write, writeF64, writeI64 } from '../layout/record.ts'
import { R } from '../state/balances.ts'
import { ACCOUNT, ORDER } from '../state/columns.ts'
import {
  MARGIN_ACCOUNT, MarginAccountKind, ORDER_MARGIN, PERP, POSITION, RISK_BUCKET, STRATEGY_KEY_WORDS,
} from '../state/margin_rows.ts'
import { nextRecord } from '../state/outbox.ts'
import {
  accountRow, bucketAt, bucketRow, get, getF64, getI64, marginAccountAt, marginAccountRow, now, orderMarginRow, perpRow, positionAt,
  positionRow, sequence,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Row number by which a margin account is named in public: -1, the parent. */
const publicRow = (state: State, margin: number): number =>
  get(state, margin, MARGIN_ACCOUNT.KIND) === MarginAccountKind.PARENT ? -1 : marginAccountAt(state, margin)

/** The sequence that names a margin account in public: of the parent, that of its user. */
const publicSequence = (state: State, margin: number): number =>
  get(state, margin, MARGIN_ACCOUNT.KIND) === MarginAccountKind.PARENT
    ? getF64(state, accountRow(state, get(state, margin, MARGIN_ACCOUNT.ACCOUNT)), ACCOUNT.CREATED_SEQUENCE)
    : getF64(state, margin, MARGIN_ACCOUNT.CREATED_SEQUENCE)

const marginOf = (state: State, bucket: number): number => marginAccountRow(state, get(state, bucket, RISK_BUCKET.MARGIN_ACCOUNT))

/** MARGIN_ORDER of the order at `row`; register BROUGHT is what it brought into its bucket. */
export function emitMarginOrder(state: State, row: number): void {
  const { outbox, registers } = state
  const slot = get(state, row, ORDER.SLOT)
  const extra = orderMarginRow(state, slot)
  const bucket = bucketRow(state, get(state, positionRow(state, get(state, extra, ORDER_MARGIN.POSITION) - 1), POSITION.BUCKET))
  const margin = marginOf(state, bucket)
  const at = nextRecord(outbox)
  write(outbox, at, MARGIN_ORDER.at.kind, EventType.MARGIN_ORDER)
  write(outbox, at, MARGIN_ORDER.at.account, get(state, row, ORDER.ACCOUNT))
  writeF64(outbox, at, MARGIN_ORDER.at.orderSequence, getF64(state, row, ORDER.SEQUENCE))
  write(outbox, at, MARGIN_ORDER.at.slot, slot)
  write(outbox, at, MARGIN_ORDER.at.pair, get(state, row, ORDER.PAIR))
  write(outbox, at, MARGIN_ORDER.at.marginAccount, publicRow(state, margin))
  write(outbox, at, MARGIN_ORDER.at.bucket, bucketAt(state, bucket))
  writeF64(outbox, at, MARGIN_ORDER.at.marginAccountSequence, publicSequence(state, margin))
  writeF64(outbox, at, MARGIN_ORDER.at.bucketSequence, getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE))
  write(outbox, at, MARGIN_ORDER.at.leverage, get(state, extra, ORDER_MARGIN.LEVERAGE))
  write(outbox, at, MARGIN_ORDER.at.flags, get(state, row, ORDER.FLAGS))
  writeI64(outbox, at, MARGIN_ORDER.at.collateral, registers[R.BROUGHT]!)
  for (let word = 0; word < STRATEGY_KEY_WORDS; word++) {
    write(outbox, at, MARGIN_ORDER.at.strategyKey + word, get(state, bucket, RISK_BUCKET.STRATEGY_KEY + word))
  }
  clearFrom(outbox, at, MARGIN_ORDER.words)
}

/** ORDER_RESIZED of the order at `row`, which rests and has `less` lots less than before. */
export function emitOrderResized(state: State, row: number, less: number): void {
  const { outbox } = state
  const at = nextRecord(outbox)
  write(outbox, at, ORDER_RESIZED.at.kind, EventType.ORDER_RESIZED)
  write(outbox, at, ORDER_RESIZED.at.pair, get(state, row, ORDER.PAIR))
  writeF64(outbox, at, ORDER_RESIZED.at.sequence, sequence(state))
  writeF64(outbox, at, ORDER_RESIZED.at.time, now(state))
  write(outbox, at, ORDER_RESIZED.at.account, get(state, row, ORDER.ACCOUNT))
  write(outbox, at, ORDER_RESIZED.at.slot, get(state, row, ORDER.SLOT))
  writeF64(outbox, at, ORDER_RESIZED.at.orderSequence, getF64(state, row, ORDER.SEQUENCE))
  write(outbox, at, ORDER_RESIZED.at.flags, get(state, row, ORDER.FLAGS))
  write(outbox, at, ORDER_RESIZED.at.price, get(state, row, ORDER.PRICE))
  write(outbox, at, ORDER_RESIZED.at.lots, get(state, row, ORDER.LOTS))
  write(outbox, at, ORDER_RESIZED.at.remaining, get(state, row, ORDER.REMAINING))
  write(outbox, at, ORDER_RESIZED.at.less, less)
  write(outbox, at, ORDER_RESIZED.at.reserved, 0)
  writeI64(outbox, at, ORDER_RESIZED.at.filledQuote, getI64(state, row, ORDER.FILLED_QUOTE))
  writeI64(outbox, at, ORDER_RESIZED.at.fee, getI64(state, row, ORDER.FEE))
  writeF64(outbox, at, ORDER_RESIZED.at.createdAt, getF64(state, row, ORDER.CREATED_AT))
  clearFrom(outbox, at, ORDER_RESIZED.words)
}

/** POSITION after the position at `row` changed for `reason`; register PROFIT is what the change realised. */
export function emitPosition(state: State, row: number, reason: number): void {
  const { outbox, registers } = state
  const bucket = bucketRow(state, get(state, row, POSITION.BUCKET))
  const at = nextRecord(outbox)
  write(outbox, at, POSITION_CHANGED.at.kind, EventType.POSITION)
  write(outbox, at, POSITION_CHANGED.at.account, get(state, row, POSITION.ACCOUNT))
  writeF64(outbox, at, POSITION_CHANGED.at.sequence, sequence(state))
  writeF64(outbox, at, POSITION_CHANGED.at.time, now(state))
  write(outbox, at, POSITION_CHANGED.at.pair, get(state, row, POSITION.PAIR))
  write(outbox, at, POSITION_CHANGED.at.position, positionAt(state, row))
  write(outbox, at, POSITION_CHANGED.at.bucket, bucketAt(state, bucket))
  write(outbox, at, POSITION_CHANGED.at.marginAccount, publicRow(state, marginOf(state, bucket)))
  write(outbox, at, POSITION_CHANGED.at.lots, get(state, row, POSITION.LOTS))
  write(outbox, at, POSITION_CHANGED.at.leverage, get(state, row, POSITION.LEVERAGE))
  writeI64(outbox, at, POSITION_CHANGED.at.cost, getI64(state, row, POSITION.COST))
  writeI64(outbox, at, POSITION_CHANGED.at.realized, getI64(state, row, POSITION.REALIZED))
  writeI64(outbox, at, POSITION_CHANGED.at.funding, getI64(state, row, POSITION.FUNDING))
  writeI64(outbox, at, POSITION_CHANGED.at.fees, getI64(state, row, POSITION.FEES))
  writeI64(outbox, at, POSITION_CHANGED.at.allocated, getI64(state, bucket, RISK_BUCKET.ALLOCATED))
  writeF64(outbox, at, POSITION_CHANGED.at.openedSequence, getF64(state, row, POSITION.OPENED_SEQUENCE))
  writeF64(outbox, at, POSITION_CHANGED.at.version, getF64(state, row, POSITION.VERSION))
  write(outbox, at, POSITION_CHANGED.at.reason, reason)
  write(outbox, at, POSITION_CHANGED.at.mark, get(state, perpRow(state, get(state, row, POSITION.PAIR)), PERP.MARK))
  writeI64(outbox, at, POSITION_CHANGED.at.profit, registers[R.PROFIT]!)
  writeF64(outbox, at, POSITION_CHANGED.at.bucketSequence, getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE))
}

/** COLLATERAL after register AMOUNT (signed) moved into the margin account at `margin`, or into its bucket at `bucket`, -1: into none. */
export function emitCollateral(state: State, margin: number, bucket: number, reason: number): void {
  const { outbox, registers } = state
  const at = nextRecord(outbox)
  write(outbox, at, COLLATERAL.at.kind, EventType.COLLATERAL)
  write(outbox, at, COLLATERAL.at.account, get(state, margin, MARGIN_ACCOUNT.ACCOUNT))
  writeF64(outbox, at, COLLATERAL.at.sequence, sequence(state))
  writeF64(outbox, at, COLLATERAL.at.time, now(state))
  write(outbox, at, COLLATERAL.at.marginAccount, marginAccountAt(state, margin))
  write(outbox, at, COLLATERAL.at.bucket, bucket < 0 ? -1 : bucketAt(state, bucket))
  write(outbox, at, COLLATERAL.at.reason, reason)
  write(outbox, at, COLLATERAL.at.state, bucket < 0 ? 0 : get(state, bucket, RISK_BUCKET.STATE))
  writeI64(outbox, at, COLLATERAL.at.amount, registers[R.AMOUNT]!)
  writeI64(outbox, at, COLLATERAL.at.deposited, getI64(state, margin, MARGIN_ACCOUNT.DEPOSITED))
  writeI64(outbox, at, COLLATERAL.at.earmarked, getI64(state, margin, MARGIN_ACCOUNT.EARMARKED))
  if (bucket < 0) {
    writeI64(outbox, at, COLLATERAL.at.allocated, 0n)
    writeI64(outbox, at, COLLATERAL.at.pending, 0n)
    writeI64(outbox, at, COLLATERAL.at.realized, 0n)
  } else {
    writeI64(outbox, at, COLLATERAL.at.allocated, getI64(state, bucket, RISK_BUCKET.ALLOCATED))
    writeI64(outbox, at, COLLATERAL.at.pending, getI64(state, bucket, RISK_BUCKET.PENDING))
    writeI64(outbox, at, COLLATERAL.at.realized, getI64(state, bucket, RISK_BUCKET.REALIZED))
  }
  writeF64(outbox, at, COLLATERAL.at.marginAccountSequence, publicSequence(state, margin))
  writeF64(outbox, at, COLLATERAL.at.bucketSequence, bucket < 0 ? 0 : getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE))
  write(outbox, at, COLLATERAL.at.accountKind, get(state, margin, MARGIN_ACCOUNT.KIND))
  write(outbox, at, COLLATERAL.at.asset, state.collateralAsset)
  clearFrom(outbox, at, COLLATERAL.words)
}

/** MARK of a pair; `predicted`: rate of the interval so far, 10^-8. */
export function emitMark(state: State, pair: number, predicted: number): void {
  const { outbox } = state
  const perp = perpRow(state, pair)
  const at = nextRecord(outbox)
  write(outbox, at, MARK.at.kind, EventType.MARK)
  write(outbox, at, MARK.at.pair, pair)
  writeF64(outbox, at, MARK.at.sequence, sequence(state))
  writeF64(outbox, at, MARK.at.time, now(state))
  write(outbox, at, MARK.at.index, get(state, perp, PERP.INDEX))
  write(outbox, at, MARK.at.mark, get(state, perp, PERP.MARK))
  write(outbox, at, MARK.at.source, get(state, perp, PERP.SOURCE))
  write(outbox, at, MARK.at.mode, get(state, perp, PERP.MODE))
  writeF64(outbox, at, MARK.at.observedAt, getF64(state, perp, PERP.OBSERVED_AT))
  writeF64(outbox, at, MARK.at.openLots, getF64(state, perp, PERP.OPEN_LOTS))
  write(outbox, at, MARK.at.predictedRate, predicted)
  write(outbox, at, MARK.at.lastRate, get(state, perp, PERP.LAST_RATE))
  writeF64(outbox, at, MARK.at.nextFundingAt, getF64(state, perp, PERP.NEXT_FUNDING_AT))
  clearFrom(outbox, at, MARK.words)
}

/** FUNDING_RATE of the interval that just ended, of `samples` premium samples. */
export function emitFundingRate(state: State, pair: number, samples: number): void {
  const { outbox } = state
  const perp = perpRow(state, pair)
  const at = nextRecord(outbox)
  write(outbox, at, FUNDING_RATE.at.kind, EventType.FUNDING_RATE)
  write(outbox, at, FUNDING_RATE.at.pair, pair)
  writeF64(outbox, at, FUNDING_RATE.at.sequence, sequence(state))
  writeF64(outbox, at, FUNDING_RATE.at.time, now(state))
  write(outbox, at, FUNDING_RATE.at.rate, get(state, perp, PERP.LAST_RATE))
  write(outbox, at, FUNDING_RATE.at.samples, samples)
  write(outbox, at, FUNDING_RATE.at.index, get(state, perp, PERP.INDEX))
  write(outbox, at, FUNDING_RATE.at.mark, get(state, perp, PERP.MARK))
  writeI64(outbox, at, FUNDING_RATE.at.cumulative, getI64(state, perp, PERP.CUMULATIVE))
  writeF64(outbox, at, FUNDING_RATE.at.openLots, getF64(state, perp, PERP.OPEN_LOTS))
  clearFrom(outbox, at, FUNDING_RATE.words)
}

/** FUNDING_PAYMENT of register FUNDING to the position at `row`, whose FUNDED_TO is still what it was. */
export function emitFundingPayment(state: State, row: number): void {
  const { outbox, registers } = state
  const perp = perpRow(state, get(state, row, POSITION.PAIR))
  const at = nextRecord(outbox)
  write(outbox, at, FUNDING_PAYMENT.at.kind, EventType.FUNDING_PAYMENT)
  write(outbox, at, FUNDING_PAYMENT.at.account, get(state, row, POSITION.ACCOUNT))
  writeF64(outbox, at, FUNDING_PAYMENT.at.sequence, sequence(state))
  writeF64(outbox, at, FUNDING_PAYMENT.at.time, now(state))
  write(outbox, at, FUNDING_PAYMENT.at.pair, get(state, row, POSITION.PAIR))
  write(outbox, at, FUNDING_PAYMENT.at.position, positionAt(state, row))
  write(outbox, at, FUNDING_PAYMENT.at.bucket, get(state, row, POSITION.BUCKET))
  write(outbox, at, FUNDING_PAYMENT.at.lots, get(state, row, POSITION.LOTS))
  writeI64(outbox, at, FUNDING_PAYMENT.at.amount, registers[R.FUNDING]!)
  writeI64(outbox, at, FUNDING_PAYMENT.at.from, getI64(state, row, POSITION.FUNDED_TO))
  writeI64(outbox, at, FUNDING_PAYMENT.at.to, getI64(state, perp, PERP.CUMULATIVE))
  writeF64(outbox, at, FUNDING_PAYMENT.at.openedSequence, getF64(state, row, POSITION.OPENED_SEQUENCE))
  write(outbox, at, FUNDING_PAYMENT.at.rate, get(state, perp, PERP.LAST_RATE))
  write(outbox, at, FUNDING_PAYMENT.at.mark, get(state, perp, PERP.MARK))
  clearFrom(outbox, at, FUNDING_PAYMENT.words)
}

/**
 * LIQUIDATION of the bucket at `bucket`: `lots` of a position of `pair` (-1: of none) at `price`. Registers AMOUNT, EQUITY and
 * SUM_MAINTENANCE are those of the event; OPENED the bits of the sequence that opened the position, which may be closed by now.
 */
export function emitLiquidation(state: State, bucket: number, pair: number, status: number, lots: number, price: number): void {
  const { outbox, registers } = state
  const margin = marginOf(state, bucket)
  const at = nextRecord(outbox)
  write(outbox, at, LIQUIDATION.at.kind, EventType.LIQUIDATION)
  write(outbox, at, LIQUIDATION.at.account, get(state, bucket, RISK_BUCKET.ACCOUNT))
  writeF64(outbox, at, LIQUIDATION.at.sequence, sequence(state))
  writeF64(outbox, at, LIQUIDATION.at.time, now(state))
  write(outbox, at, LIQUIDATION.at.bucket, bucketAt(state, bucket))
  write(outbox, at, LIQUIDATION.at.marginAccount, publicRow(state, margin))
  write(outbox, at, LIQUIDATION.at.pair, pair)
  write(outbox, at, LIQUIDATION.at.status, status)
  write(outbox, at, LIQUIDATION.at.lots, lots)
  write(outbox, at, LIQUIDATION.at.price, price)
  writeI64(outbox, at, LIQUIDATION.at.amount, registers[R.AMOUNT]!)
  writeI64(outbox, at, LIQUIDATION.at.equity, registers[R.EQUITY]!)
  writeI64(outbox, at, LIQUIDATION.at.maintenance, registers[R.SUM_MAINTENANCE]!)
  writeF64(outbox, at, LIQUIDATION.at.bucketSequence, getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE))
  writeF64(outbox, at, LIQUIDATION.at.began, getF64(state, bucket, RISK_BUCKET.LIQUIDATION))
  // Eight bytes as they are.
  outbox.i64[(at + LIQUIDATION.at.openedSequence) >>> 1] = registers[R.OPENED]!
  writeF64(outbox, at, LIQUIDATION.at.marginAccountSequence, publicSequence(state, margin))
  clearFrom(outbox, at, LIQUIDATION.words)
}
