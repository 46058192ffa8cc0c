/**
 * `liquidations {}`: liquidations of the account's risk buckets (specification, Channels named). The snapshot has those that are
 * UNRESOLVED: buckets in liquidation or in bad debt. An update is one step of a liquidation; one that recovered ends with status COMPLETED
 * and accountState Normal.
 *
 * Steps are the events themselves, in their order; the snapshot is read from the shared columns, so a step that it has may be told again.
 */
import Type, { type Static } from 'typebox'
import { EventType, eventTypeOf, LIQUIDATION } from '../../../core/layout/event.ts'
import { riskBucketId } from '../../../core/layout/ids.ts'
import { LIQUIDATION_STATUS_NAMES, LiquidationStatus } from '../../../core/layout/margin_events.ts'
import type { Views } from '../../../core/layout/table.ts'
import { BucketState, readMarginAccounts } from '../../../core/view/margin.ts'
import { bucketFigures } from '../../../core/view/margin_figures.ts'
import type { Gateway } from '../../context.ts'
import { amountText, priceText, quantityText } from '../../operations/amounts.ts'
import * as sample from '../../operations/example_values.ts'
import * as fields from '../../operations/fields.ts'
import { collateralOf, ladderOf, marginIdOf } from '../../operations/margin_summary.ts'
import { Decimal, rfc3339, Timestamp, Uuid } from '../../operations/operation.ts'
import { marginAccountName } from '../../operations/order_record.ts'
import { field } from '../../operations/schema.ts'
import { Refused } from '../../refused.ts'
import { dataFrame } from '../frames.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { readerOf } from './parameters.ts'

const { at: L } = LIQUIDATION

const Liquidation = Type.Object({
  riskBucketId: field(Uuid, 'Risk bucket that is liquidated.'),
  marginAccountId: field(Uuid, 'Its margin account.'),
  status: field(Type.Enum(['UNRESOLVED', 'COMPLETED']), 'COMPLETED: it is over.'),
  accountState: field(Type.Enum(['Normal', 'Liquidating', 'BadDebt']), 'State of the bucket after it.'),
  equity: field(Decimal, 'Equity of the bucket.'),
  maintenanceMarginRequired: field(Decimal, 'Maintenance margin of the bucket.'),
  step: Type.Optional(field(Type.Enum([...LIQUIDATION_STATUS_NAMES]), 'What was done; absent in a snapshot.')),
  tradingPairId: Type.Optional(fields.tradingPairId),
  quantity: Type.Optional(field(Decimal, 'Taken from the position of the pair, in units of the base token.')),
  price: Type.Optional(field(Decimal, 'Price at which it was taken.')),
  fee: Type.Optional(field(Decimal, 'Liquidation fee of the step, in units of the collateral.')),
  badDebt: Type.Optional(field(Decimal, 'Loss that neither the bucket nor the insurance fund could bear.')),
  updatedAt: field(Timestamp, 'When it was so.'),
})
type Liquidation = Static<typeof Liquidation>

export const LIQUIDATIONS = channel({
  name: 'liquidations',
  access: 'private',
  about: 'Liquidations of the risk buckets of the account.',
  params: Type.Object({}),
  frames: {
    snapshot: {
      about: 'Liquidations that are not resolved.', sequenced: false,
      data: Type.Object({ liquidations: field(Type.Array(Liquidation), 'Liquidations that are not resolved.') }),
    },
    liquidation_update: { about: 'A liquidation that began, went on or ended.', data: Liquidation, sequenced: true },
  },
  example: {
    params: {},
    frames: {
      snapshot: { liquidations: [] },
      liquidation_update: {
        riskBucketId: sample.RISK_BUCKET, marginAccountId: sample.PARENT_MARGIN, status: 'COMPLETED', accountState: 'Normal', equity: '120',
        maintenanceMarginRequired: '75', step: 'COMPLETED', updatedAt: sample.LATER,
      },
    },
  },
  create: createLiquidations,
})
const NAME = LIQUIDATIONS.name

function createLiquidations(gateway: Gateway): Channel {
  const accounts = new Map<number, Set<Subscriber>>()
  return {
    declaration: LIQUIDATIONS,
    read: readerOf(gateway, LIQUIDATIONS),
    subscribe: (subscriber) => {
      const { account } = subscriber
      const subscribers = accounts.get(account) ?? new Set<Subscriber>()
      accounts.set(account, subscribers.add(subscriber))
      const liquidations = unresolvedOf(gateway, account)
      if (liquidations === null) return false
      subscriber.push(dataFrame(NAME, 'snapshot', gateway.now(), { liquidations }))
      return true
    },
    unsubscribe: (subscriber) => {
      const subscribers = accounts.get(subscriber.account)
      subscribers?.delete(subscriber)
      if (subscribers?.size === 0) accounts.delete(subscriber.account)
    },
    take: (records, base) => {
      if (accounts.size === 0 || eventTypeOf(records.u32[base]!) !== EventType.LIQUIDATION) return
      const subscribers = accounts.get(records.i32[base + L.account]!)
      if (subscribers === undefined) return
      const sequence = records.f64[(base + L.sequence) >>> 1]!
      const frame = dataFrame(NAME, 'liquidation_update', gateway.now(), stepOf(gateway, records, base), sequence)
      for (const subscriber of subscribers) subscriber.push(frame)
    },
    flush: () => undefined,
  }
}

/** Buckets of the account that are in liquidation or in bad debt; `null`: they cannot be read now. */
function unresolvedOf(gateway: Gateway, account: number): Liquidation[] | null {
  const asset = collateralOf(gateway)
  if (asset instanceof Refused) return []
  const margins = readMarginAccounts(gateway.state, gateway.gate, account)
  if (margins === null) return null
  return margins.flatMap((margin) => margin.buckets
    .filter(({ state }) => state === BucketState.LIQUIDATING || state === BucketState.BAD_DEBT)
    .map((bucket): Liquidation => {
      const { equity, maintenance } = bucketFigures(ladderOf(gateway), bucket)
      return {
        riskBucketId: riskBucketId(bucket.createdSequence, bucket.row), marginAccountId: marginIdOf(gateway, account, margin),
        status: 'UNRESOLVED', accountState: bucket.state === BucketState.BAD_DEBT ? 'BadDebt' : 'Liquidating',
        equity: amountText(asset, equity), maintenanceMarginRequired: amountText(asset, maintenance), updatedAt: rfc3339(bucket.updatedAt),
      }
    }))
}

/** What the LIQUIDATION at word `base` says. */
function stepOf(gateway: Gateway, { i32, f64, i64 }: Views, base: number): Liquidation {
  const { genesis } = gateway
  const status = i32[base + L.status]!
  // All perpetuals have one quote asset.
  const asset = genesis.assets[genesis.pairs.find(({ perp }) => perp !== null)!.quote]!
  const amount = i64[(base + L.amount) >>> 1]!
  const pair = i32[base + L.pair]! < 0 ? undefined : genesis.pairs[i32[base + L.pair]!]!
  const account = { sequence: f64[(base + L.marginAccountSequence) >>> 1]!, row: i32[base + L.marginAccount]! }
  const over = status === LiquidationStatus.COMPLETED
  return {
    riskBucketId: riskBucketId(f64[(base + L.bucketSequence) >>> 1]!, i32[base + L.bucket]!),
    marginAccountId: marginAccountName(i32[base + L.account]!, account),
    status: over ? 'COMPLETED' : 'UNRESOLVED',
    accountState: over ? 'Normal' : status === LiquidationStatus.BAD_DEBT ? 'BadDebt' : 'Liquidating',
    equity: amountText(asset, i64[(base + L.equity) >>> 1]!),
    maintenanceMarginRequired: amountText(asset, i64[(base + L.maintenance) >>> 1]!),
    step: LIQUIDATION_STATUS_NAMES[status]!,
    ...(pair === undefined ? {} : {
      tradingPairId: pair.id, quantity: quantityText(pair, Math.abs(i32[base + L.lots]!)), price: priceText(pair, i32[base + L.price]!),
    }),
    ...(amount === 0n ? {} : { [status === LiquidationStatus.BAD_DEBT ? 'badDebt' : 'fee']: amountText(asset, amount) }),
    updatedAt: rfc3339(f64[(base + L.time) >>> 1]!),
  }
}
