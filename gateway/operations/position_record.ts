/** Positions as people read them: open ones from the shared columns, closed ones from the history. */
import Type, { type Static } from 'typebox'
import { marginAccountId, parentMarginId, positionId, riskBucketId } from '../../core/layout/ids.ts'
import { MARGIN_MODE_NAMES, MarginMode } from '../../core/view/margin.ts'
import type { Pair } from '../../core/state/genesis.ts'
import type { HistoryPosition } from '../../core/history/answer/queries.ts'
import type { PositionInBucket } from '../../core/view/margin.ts'
import { bankruptcyPrice, bucketFigures, liquidationPrice, positionFigures } from '../../core/view/margin_figures.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import type { Gateway } from '../context.ts'
import { amountText, averagePriceText, priceText, quantityText } from './amounts.ts'
import { bucketIdOf, ladderOf, marginIdOf, MarginModeName, marginAccountIdField, riskBucketIdField } from './margin_summary.ts'
import { Decimal, rfc3339, Timestamp, Uuid } from './operation.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'

export const PositionSideName = record(
  'PositionDirection', 'LONG gains when the price rises, SHORT when it falls.', Type.Union([Type.Literal('LONG'), Type.Literal('SHORT')]),
)
export type PositionSideName = Static<typeof PositionSideName>
export const PositionStatus = record(
  'PositionStatus', 'OPEN, or CLOSED with the figures of its last moment.', Type.Union([Type.Literal('OPEN'), Type.Literal('CLOSED')]),
)

export const positionIdField = field(Uuid, 'Position.')

const POSITION = {
  positionId: positionIdField,
  marginAccountId: marginAccountIdField,
  riskBucketId: riskBucketIdField,
  tradingPairId: fields.tradingPairId,
  symbol: fields.symbol,
  side: field(PositionSideName, 'LONG or SHORT.'),
  status: field(PositionStatus, 'OPEN or CLOSED.'),
  size: field(Decimal, 'Open quantity, in units of the base token; 0 of a closed one.'),
  entryPrice: field(Decimal, 'Average price of what is open; of a closed one, of what was closed last.'),
  markPrice: field(Decimal, 'Mark price; of a closed one, when it closed.'),
  leverage: field(Decimal, 'Leverage of the newest order that was not reduce-only.'),
  marginMode: field(MarginModeName, 'ISOLATED or CROSS.'),
  isolatedMargin: Type.Optional(field(Decimal, 'Collateral that its isolated bucket has committed; absent in CROSS mode.')),
  initialMarginRequired: field(Decimal, 'Initial margin at the mark price; resting orders are not in it.'),
  maintenanceMarginRequired: field(Decimal, 'Maintenance margin at the mark price.'),
  liquidationPrice: Type.Optional(field(
    Decimal, 'Mark price at which its bucket is liquidated; in CROSS mode while the other marks stay. Absent: there is none.',
  )),
  realizedPnl: field(Decimal, 'Profit of closed quantity since it was opened, without fees and funding.'),
  unrealizedPnl: field(Decimal, 'Profit of what is open at the mark price.'),
  accruedFunding: field(Decimal, 'Funding that it got in its life, settled or not; negative: paid.'),
  unsettledFunding: field(Decimal, 'The part of accruedFunding that is not settled yet and counts in its equity; 0 when it is closed.'),
  strategyKey: Type.Optional(field(Type.String(), 'Strategy key of its bucket; absent without one.')),
  version: field(Type.Integer(), 'Grows only when the position changed. Apply a higher one, ignore a lower one.'),
  createdAt: fields.createdAt,
  updatedAt: fields.updatedAt,
  closedAt: Type.Optional(field(Timestamp, 'When it closed; absent while it is open.')),
}
export const PositionRecord = record('Position', 'What an account holds of a perpetual, netted in its risk bucket.', Type.Object(POSITION))
export type PositionRecord = Static<typeof PositionRecord>

export const PositionRiskRecord = record('PositionRisk', 'A position with what it risks.', Type.Object({
  ...POSITION,
  marginRatio: Type.Optional(field(
    Decimal, 'Maintenance margin of the bucket divided by its equity, rounded up to 6 digits: at 1 liquidation begins. Absent: there is no '
      + 'equity.',
  )),
  bankruptcyPrice: Type.Optional(field(
    Decimal, 'Last mark price at which the equity of the bucket is not negative, while other marks stay. Absent: there is none.',
  )),
  equity: field(Decimal, 'Equity of its risk bucket.'),
  notional: field(Decimal, 'size times mark price.'),
  tierLevel: field(Type.Integer(), 'Risk tier of the notional, from 1.'),
}))
export type PositionRiskRecord = Static<typeof PositionRiskRecord>

const leverageText = (hundredths: number): string => formatDecimal(hundredths, 2)

/** An open position of `account`. */
export function positionRecord(gateway: Gateway, account: number, { margin, bucket, position }: PositionInBucket): PositionRecord {
  const { genesis } = gateway
  const pair = genesis.pairs[position.pair]!
  const asset = genesis.assets[pair.quote]!
  const ladders = ladderOf(gateway)
  const figures = positionFigures(ladders(position.pair), position)
  const liquidated = liquidationPrice(ladders, bucket, position, genesis.limits.priceTicks)
  return {
    positionId: positionId(position.openedSequence, position.row),
    marginAccountId: marginIdOf(gateway, account, margin),
    riskBucketId: bucketIdOf(bucket),
    tradingPairId: pair.id,
    symbol: pair.symbol,
    side: position.lots > 0 ? 'LONG' : 'SHORT',
    status: 'OPEN',
    size: quantityText(pair, Math.abs(position.lots)),
    entryPrice: entryText(pair, position.cost, position.lots),
    markPrice: priceText(pair, position.mark),
    leverage: leverageText(position.leverage),
    marginMode: MARGIN_MODE_NAMES[bucket.mode]!,
    ...(bucket.mode === MarginMode.ISOLATED ? { isolatedMargin: amountText(asset, bucket.allocated) } : {}),
    initialMarginRequired: amountText(asset, figures.initial),
    maintenanceMarginRequired: amountText(asset, figures.maintenance),
    ...(liquidated === null ? {} : { liquidationPrice: priceText(pair, liquidated) }),
    realizedPnl: amountText(asset, position.realized),
    unrealizedPnl: amountText(asset, figures.unrealized),
    accruedFunding: amountText(asset, position.funding + figures.funding),
    unsettledFunding: amountText(asset, figures.funding),
    ...(bucket.strategyKey === '' ? {} : { strategyKey: bucket.strategyKey }),
    version: position.version,
    createdAt: rfc3339(position.openedAt),
    updatedAt: rfc3339(position.updatedAt),
  }
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)
/** The price that `lots` at `cost` were opened at on average. */
const entryText = (pair: Pair, cost: bigint, lots: number): string =>
  lots === 0 ? '0' : averagePriceText(pair, absolute(cost), Math.abs(lots))

const RATIO_DIGITS = 6

export function positionRiskRecord(gateway: Gateway, account: number, found: PositionInBucket): PositionRiskRecord {
  const { bucket, position } = found
  const pair = gateway.genesis.pairs[position.pair]!
  const asset = gateway.genesis.assets[pair.quote]!
  const ladders = ladderOf(gateway)
  const { equity, maintenance } = bucketFigures(ladders, bucket)
  const { notional, tierLevel } = positionFigures(ladders(position.pair), position)
  const bankrupt = bankruptcyPrice(ladders, bucket, position, gateway.genesis.limits.priceTicks)
  const scale = 10n ** BigInt(RATIO_DIGITS)
  return {
    ...positionRecord(gateway, account, found),
    ...(equity > 0n ? { marginRatio: formatDecimal((maintenance * scale + equity - 1n) / equity, RATIO_DIGITS) } : {}),
    ...(bankrupt === null ? {} : { bankruptcyPrice: priceText(pair, bankrupt) }),
    equity: amountText(asset, equity), notional: amountText(asset, notional), tierLevel,
  }
}

/** A closed position of `account` as the history has it. */
export function closedPositionRecord(gateway: Gateway, account: number, closed: HistoryPosition): PositionRecord {
  const { genesis, state } = gateway
  const pair = genesis.pairs[closed.pair]!
  const asset = genesis.assets[pair.quote]!
  const { marginAccount, bucket } = closed
  const parent = marginAccount.row < 0
  return {
    positionId: positionId(closed.sequence, closed.row),
    marginAccountId: parent ? parentMarginId(readAccount(state, account).createdSequence, account)
      : marginAccountId(marginAccount.sequence, marginAccount.row),
    riskBucketId: riskBucketId(bucket.sequence, bucket.row),
    tradingPairId: pair.id,
    symbol: pair.symbol,
    side: closed.entryLots > 0 ? 'LONG' : 'SHORT',
    status: 'CLOSED',
    size: '0',
    entryPrice: entryText(pair, closed.entryCost, closed.entryLots),
    markPrice: priceText(pair, closed.mark),
    leverage: leverageText(closed.leverage),
    marginMode: MARGIN_MODE_NAMES[closed.mode === MarginMode.CROSS ? MarginMode.CROSS : MarginMode.ISOLATED],
    ...(closed.mode === MarginMode.ISOLATED ? { isolatedMargin: '0' } : {}),
    initialMarginRequired: '0',
    maintenanceMarginRequired: '0',
    realizedPnl: amountText(asset, closed.realized),
    unrealizedPnl: '0',
    accruedFunding: amountText(asset, closed.funding),
    unsettledFunding: '0',
    ...(closed.strategyKey === '' ? {} : { strategyKey: closed.strategyKey }),
    version: closed.version,
    createdAt: rfc3339(closed.openedAt),
    updatedAt: rfc3339(closed.updatedAt),
    closedAt: rfc3339(closed.closedAt),
  }
}
