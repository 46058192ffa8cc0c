/** Columns of margin trading, for people: commands and events (meanings.ts). */
import { EventType } from '../layout/event.ts'
import { IdKind } from '../layout/ids.ts'
import {
  CollateralMove, CLOSE_MARGIN_ACCOUNT_COMMAND, FUND_INSURANCE_COMMAND, FUNDING_STEP_COMMAND, LIQUIDATION_STEP_COMMAND,
  MOVE_COLLATERAL_COMMAND, OPEN_MARGIN_ACCOUNT_COMMAND, OPEN_RISK_BUCKET_COMMAND, PerpSetting, PRICE_SOURCE_NAMES,
  SET_INDEX_PRICE_COMMAND, SET_PERP_COMMAND, SETTLEMENT_STEP_COMMAND,
} from '../layout/margin.ts'
import {
  COLLATERAL, COLLATERAL_REASON_NAMES, FUNDING_PAYMENT, FUNDING_RATE, LIQUIDATION, LIQUIDATION_STATUS_NAMES, MARGIN_ORDER, MARK,
  ORDER_RESIZED, POSITION_CHANGED, POSITION_REASON_NAMES,
} from '../layout/margin_events.ts'
import { PERP_MODE_NAMES } from '../layout/margin.ts'
import { CommandType } from '../layout/command.ts'
import {
  asset, columnsOf, decimals, hidden, madeId, named, options, order, orderFlags, pair, price, quantity, quote, text, time, user, whole,
  yes, type Column, type Meaning, type Meanings,
} from './meanings.ts'
import type { Layout } from '../layout/table.ts'

/** The fields that orders of perpetuals have besides those of all orders. */
export const ORDER_MARGIN_FIELDS = {
  collateral: quote('riskBucketCollateral'), namedSequence: whole('namedSequence', 0), marginAccount: whole('marginAccountRow', 0),
  bucket: whole('riskBucketRow', 0), leverage: decimals('leverage', 2, 0n), keyLow: hidden, keyHigh: hidden,
  position: whole('positionRow', 0),
} as const
export const NO_ORDER_MARGIN = {
  collateral: hidden, namedSequence: hidden, marginAccount: hidden, bucket: hidden, leverage: hidden, keyLow: hidden, keyHigh: hidden,
  position: hidden,
} as const

type Head = Readonly<Record<'kind' | 'correlation' | 'session' | 'sessionGeneration', Meaning>>
const MOVES = CollateralMove

/** Columns of the commands, whose heads say who signs them. */
export function marginCommandColumns(signed: Head, own: Head, key: Readonly<Record<'key' | 'payload' | 'former', Meaning>>) {
  const told = <L extends Layout>(layout: L, meanings: Meanings<L>): readonly Column[] => columnsOf(layout, meanings)
  return {
    [CommandType.MOVE_COLLATERAL]: told(MOVE_COLLATERAL_COMMAND, {
      ...signed, move: named(MOVES), options, marginAccount: whole('marginAccountRow', -1), bucket: whole('riskBucketRow', -1),
      createdSequence: whole(undefined, 0), amount: whole('atoms'), ...key, unused: hidden,
    }),
    [CommandType.OPEN_MARGIN_ACCOUNT]: told(OPEN_MARGIN_ACCOUNT_COMMAND, { ...signed, label: text() }),
    [CommandType.CLOSE_MARGIN_ACCOUNT]: told(CLOSE_MARGIN_ACCOUNT_COMMAND, {
      ...signed, marginAccount: madeId('marginAccountId', IdKind.MARGIN_ACCOUNT, 'createdSequence'), reserved: hidden,
      createdSequence: hidden,
    }),
    [CommandType.OPEN_RISK_BUCKET]: told(OPEN_RISK_BUCKET_COMMAND, {
      ...signed, marginAccount: whole('marginAccountRow', -1), pair, createdSequence: whole(undefined, 0), keyLow: hidden,
      keyHigh: hidden, strategyKey: text(),
    }),
    [CommandType.SET_INDEX_PRICE]: told(SET_INDEX_PRICE_COMMAND, {
      ...own, pair, price: price(), source: named(PRICE_SOURCE_NAMES), force: yes('forced'), observedAt: time(),
    }),
    [CommandType.SET_PERP]: told(SET_PERP_COMMAND, {
      ...own, pair, setting: named(PerpSetting), value: whole(), price: price(), number: whole(),
    }),
    [CommandType.FUND_INSURANCE]: told(FUND_INSURANCE_COMMAND, { ...own, amount: whole('atoms') }),
    [CommandType.FUNDING_STEP]: told(FUNDING_STEP_COMMAND, { ...own, pair }),
    [CommandType.LIQUIDATION_STEP]: told(LIQUIDATION_STEP_COMMAND, {
      ...own, bucket: madeId('riskBucketId', IdKind.RISK_BUCKET, 'createdSequence'), looks: hidden, createdSequence: hidden,
    }),
    [CommandType.SETTLEMENT_STEP]: told(SETTLEMENT_STEP_COMMAND, { ...own, pair }),
  }
}

const LEVERAGE = decimals('leverage', 2, 0n)

export const MARGIN_EVENT_COLUMNS: Readonly<Record<number, readonly Column[]>> = {
  [EventType.MARGIN_ORDER]: columnsOf(MARGIN_ORDER, {
    kind: hidden, account: user(), orderSequence: hidden, slot: order('orderId', 'orderSequence'), pair,
    marginAccount: whole('marginAccountRow', -1), bucket: madeId('riskBucketId', IdKind.RISK_BUCKET, 'bucketSequence'),
    marginAccountSequence: whole(), bucketSequence: hidden, leverage: LEVERAGE, flags: orderFlags(),
    collateral: quote('riskBucketCollateral'), strategyKey: text(),
  }),
  [EventType.POSITION]: columnsOf(POSITION_CHANGED, {
    kind: hidden, account: user(), sequence: hidden, time: hidden, pair, position: madeId('positionId', IdKind.POSITION, 'openedSequence'),
    bucket: madeId('riskBucketId', IdKind.RISK_BUCKET, 'bucketSequence'), marginAccount: whole('marginAccountRow', -1),
    lots: quantity('size'), leverage: LEVERAGE, cost: quote('cost'), realized: quote('realizedPnl'), funding: quote('accruedFunding'),
    fees: quote('fees'), allocated: quote('isolatedMargin'), openedSequence: hidden, version: whole(), reason: named(POSITION_REASON_NAMES),
    mark: price('markPrice'), profit: quote('profit'), bucketSequence: hidden,
  }),
  [EventType.ORDER_RESIZED]: columnsOf(ORDER_RESIZED, {
    kind: hidden, pair, sequence: hidden, time: hidden, account: user(), slot: order('orderId', 'orderSequence'), orderSequence: hidden,
    flags: orderFlags(), price: price(), lots: quantity('quantity'), remaining: quantity('remainingQuantity'),
    less: quantity('lessQuantity'), reserved: hidden, filledQuote: quote('filledQuoteQuantity'), fee: quote('fee'), createdAt: time(),
  }),
  [EventType.COLLATERAL]: columnsOf(COLLATERAL, {
    kind: hidden, account: user(), sequence: hidden, time: hidden, marginAccount: whole('marginAccountRow', -1),
    bucket: whole('riskBucketRow', -1), reason: named(COLLATERAL_REASON_NAMES), state: whole('bucketState', 0), amount: whole('atoms'),
    deposited: whole('depositedAtoms'), earmarked: whole('earmarkedAtoms'), allocated: whole('allocatedAtoms'),
    pending: whole('pendingAtoms'), realized: whole('realizedAtoms'), marginAccountSequence: whole(), bucketSequence: whole(undefined, 0),
    accountKind: whole(), asset: asset(),
  }),
  [EventType.MARK]: columnsOf(MARK, {
    kind: hidden, pair, sequence: hidden, time: hidden, index: price('indexPrice'), mark: price('markPrice'),
    source: named(PRICE_SOURCE_NAMES), mode: named(PERP_MODE_NAMES), observedAt: time(), openLots: quantity('openInterest'),
    predictedRate: decimals('predictedFundingRate', 8), lastRate: decimals('lastFundingRate', 8), nextFundingAt: time(),
  }),
  [EventType.FUNDING_RATE]: columnsOf(FUNDING_RATE, {
    kind: hidden, pair, sequence: hidden, time: hidden, rate: decimals('fundingRate', 8), samples: whole(), index: price('indexPrice'),
    mark: price('markPrice'), cumulative: whole(), openLots: quantity('openInterest'),
  }),
  [EventType.FUNDING_PAYMENT]: columnsOf(FUNDING_PAYMENT, {
    kind: hidden, account: user(), sequence: hidden, time: hidden, pair, position: madeId('positionId', IdKind.POSITION, 'openedSequence'),
    bucket: whole('riskBucketRow'), lots: quantity('size'), amount: quote('amount'), from: whole('cumulativeFrom'),
    to: whole('cumulativeTo'),
    openedSequence: hidden, rate: decimals('fundingRate', 8), mark: price('markPrice'),
  }),
  [EventType.LIQUIDATION]: columnsOf(LIQUIDATION, {
    kind: hidden, account: user(), sequence: hidden, time: hidden, bucket: madeId('riskBucketId', IdKind.RISK_BUCKET, 'bucketSequence'),
    marginAccount: whole('marginAccountRow', -1), pair, status: named(LIQUIDATION_STATUS_NAMES), lots: quantity('quantity'), price: price(),
    amount: whole('atoms'), equity: whole('equityAtoms'), maintenance: whole('maintenanceAtoms'), bucketSequence: hidden,
    began: whole('beganSequence'), openedSequence: whole(undefined, 0), marginAccountSequence: whole(),
  }),
}
