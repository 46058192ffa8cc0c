/**
 * Margin accounts and risk buckets as people read them (specification, Margin accounts), and finding the caller's by their ids.
 *
 * All figures are of one consistent copy of the user's rows at the mark prices of that moment (core/view/margin.ts, margin_figures.ts).
 * Somebody else's id and one that never was are the same 404.
 */
import Type, { type Static } from 'typebox'
import { IdKind, marginAccountId, parentMarginId, parseId, riskBucketId } from '../../core/layout/ids.ts'
import type { Asset } from '../../core/state/genesis.ts'
import { BUCKET_STATE_NAMES, BucketState, MARGIN_MODE_NAMES, MarginAccountKind, MarginMode } from '../../core/view/margin.ts'
import { readAccount } from '../../core/view/accounts.ts'
import {
  readBucket, readMarginAccount, readParent, type BucketInAccount, type BucketView, type MarginAccountView,
} from '../../core/view/margin.ts'
import {
  bucketFigures, freeOf, hasStalePrice, isCalled, withdrawableOf, type BucketFigures, type Ladder, type LadderOf,
} from '../../core/view/margin_figures.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { amountText } from './amounts.ts'
import { Decimal, rfc3339, Uuid } from './operation.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'

export const MarginModeName = record(
  'MarginMode', 'ISOLATED: a bucket of one pair answers for its position alone. CROSS: positions of all pairs in it answer together.',
  Type.Union([Type.Literal('ISOLATED'), Type.Literal('CROSS')]),
)
export type MarginModeName = Static<typeof MarginModeName>
export const AccountState = record(
  'MarginAccountState',
  'Normal; MarginCall: equity is below 1.25 times the maintenance margin; Liquidating: it was below it; BadDebt: a loss that nobody bore; '
    + 'Closed. Of a margin account, the worst of its risk buckets.',
  Type.Union([
    Type.Literal('Normal'), Type.Literal('MarginCall'), Type.Literal('Liquidating'), Type.Literal('BadDebt'), Type.Literal('Closed'),
  ]),
)
type AccountState = Static<typeof AccountState>
export const BucketStateName = record(
  'RiskBucketState', 'ACTIVE, LIQUIDATING, BAD_DEBT or CLOSED.',
  Type.Union([Type.Literal('ACTIVE'), Type.Literal('LIQUIDATING'), Type.Literal('BAD_DEBT'), Type.Literal('CLOSED')]),
)
export type BucketStateName = Static<typeof BucketStateName>

/** A strategy key in a request. */
export const StrategyKey = Type.String({ pattern: '^[\\x20-\\x7e]{1,48}$' })
export const strategyKey = field(StrategyKey, 'Your name of the strategy: 1 to 48 printable ASCII characters.')
export const marginAccountIdField = field(Uuid, 'Margin account.')
export const riskBucketIdField = field(Uuid, 'Risk bucket.')

const FIGURES = {
  equity: field(Decimal, 'Collateral, realised profit, unrealised profit and funding that was not settled, at the mark prices.'),
  initialMarginRequired: field(Decimal, 'Initial margin of the positions and of what resting orders may open.'),
  maintenanceMarginRequired: field(Decimal, 'Maintenance margin of the positions: below it, liquidation begins.'),
  freeCollateral: field(
    Decimal, 'Equity and collateral of resting orders, less initialMarginRequired; negative when that is not covered. Unrealised gains are '
      + 'in it, so it is not what may be withdrawn.',
  ),
  withdrawableCollateral: field(
    Decimal, 'The largest amount that a transfer out of this scope accepts. Gains that are not settled never count. Of a margin account: '
      + 'what no risk bucket has. Of a flat risk bucket: all that is allocated, which settles its loss; with a loss, amounts between its '
      + 'equity and this one are refused. 0 while a price of the bucket is stale.',
  ),
  totalPositionNotional: field(Decimal, 'Sum of abs(size) times mark price.'),
  unrealizedPnl: field(Decimal, 'Of the open positions at their mark prices, without funding.'),
  realizedPnl: field(Decimal, 'Profit of closed quantity, less fees, with funding, ever.'),
  updatedAt: fields.updatedAt,
}

/** What a bucket says of itself. */
const BUCKET = {
  tradingPairId: Type.Optional(field(Uuid, 'Trading pair of an isolated bucket; absent of a cross one.')),
  strategyKey: Type.Optional(field(Type.String(), 'Strategy key of the bucket; absent without one.')),
  selectedTradingPairIds: Type.Optional(
    field(Type.Array(Uuid), 'Of a cross bucket: the pairs that it traded and those of its open positions.'),
  ),
  availableOrderCollateral: Type.Optional(
    field(Decimal, 'Collateral that is left to open more orders in this bucket, what its margin account would add included.'),
  ),
}

export const MarginAccountRecord = record('MarginAccount', 'A margin account, or a risk bucket of it that was asked for.', Type.Object({
  marginAccountId: marginAccountIdField,
  accountKind: field(Type.Union([Type.Literal('PARENT'), Type.Literal('SUB')]), 'PARENT: the one that every user has.'),
  accountState: field(AccountState, 'The worst of its risk buckets.'),
  collateralAsset: field(Type.String(), 'Symbol of the asset that all amounts are in.'),
  depositedCollateral: field(Decimal, 'Collateral that it has, that of its risk buckets included.'),
  earmarkedCollateral: field(Decimal, 'Of that, what its risk buckets have.'),
  ...FIGURES,
  label: Type.Optional(field(Type.String(), 'Your name of a margin sub-account.')),
  riskBucketId: Type.Optional(field(Uuid, 'The risk bucket that the figures are of; absent: of the whole margin account.')),
  marginMode: Type.Optional(field(MarginModeName, 'Of the risk bucket.')),
  ...BUCKET,
}))
export type MarginAccountRecord = Static<typeof MarginAccountRecord>

export const RiskBucketRecord = record('RiskBucket', 'Collateral that backs one position, or in CROSS mode several together.', Type.Object({
  riskBucketId: riskBucketIdField,
  marginAccountId: marginAccountIdField,
  marginMode: field(MarginModeName, 'ISOLATED or CROSS.'),
  state: field(BucketStateName, 'ACTIVE, LIQUIDATING, BAD_DEBT or CLOSED.'),
  accountState: field(AccountState, 'The same with MarginCall, which is ACTIVE too.'),
  collateralAsset: field(Type.String(), 'Symbol of the asset that all amounts are in.'),
  allocatedCollateral: field(Decimal, 'Collateral that is committed to the bucket.'),
  pendingCollateral: field(Decimal, 'Collateral that resting orders brought and that no fill has committed yet.'),
  ...FIGURES,
  openPositions: field(Type.Integer(), 'Its open positions.'),
  openOrders: field(Type.Integer(), 'Its resting orders.'),
  ...BUCKET,
  createdAt: fields.createdAt,
}))
export type RiskBucketRecord = Static<typeof RiskBucketRecord>

/** The asset that all margin is in, or the refusal of an exchange without perpetuals. */
export function collateralOf({ genesis, state }: Gateway): Asset | Refused {
  const asset = genesis.assets[state.collateralAsset]
  return asset ?? new Refused('NOT_FOUND', 'This exchange has no perpetuals')
}

export const ladderOf = ({ genesis }: Gateway): LadderOf => (pair): Ladder => {
  const { perp, tickLotAtoms } = genesis.pairs[pair]!
  return { tiers: perp!.tiers, tickLotAtoms }
}

/** Public id of a margin account of `account`. */
export function marginIdOf({ state }: Gateway, account: number, { row, kind, createdSequence }: MarginAccountView): string {
  if (kind !== MarginAccountKind.PARENT) return marginAccountId(createdSequence, row)
  return parentMarginId(readAccount(state, account).createdSequence, account)
}

export const bucketIdOf = ({ createdSequence, row }: Pick<BucketView, 'createdSequence' | 'row'>): string =>
  riskBucketId(createdSequence, row)

const missingAccount = (): Refused => new Refused('NOT_FOUND', 'Margin account not found', { field: 'marginAccountId' })
const missingBucket = (): Refused => new Refused('NOT_FOUND', 'Risk bucket not found', { field: 'riskBucketId' })
const unreadable = (): Refused => new Refused('ENGINE_UNAVAILABLE')

/** The caller's margin account with this id. The parent is there before it was used. */
export function findMarginAccount(gateway: Gateway, account: number, id: string): MarginAccountView | Refused {
  const { state, gate } = gateway
  const collateral = collateralOf(gateway)
  if (collateral instanceof Refused) return collateral
  const parent = parseId(IdKind.PARENT_MARGIN, id)
  if (parent !== null) {
    const theirs = parent.slot === account && parent.sequence === readAccount(state, account).createdSequence
    return theirs ? readParent(state, gate, account) ?? unreadable() : missingAccount()
  }
  const named = parseId(IdKind.MARGIN_ACCOUNT, id)
  if (named === null) return missingAccount()
  const found = readMarginAccount(state, gate, account, named.slot, named.sequence)
  if (found === null) return unreadable()
  // A parent is named by its user alone.
  return found === undefined || found.kind === MarginAccountKind.PARENT ? missingAccount() : found
}

/** The caller's margin sub-account with this id. */
export function findMarginSub(gateway: Gateway, account: number, id: string): MarginAccountView | Refused {
  const found = findMarginAccount(gateway, account, id)
  return found instanceof Refused || found.kind === MarginAccountKind.SUB ? found : missingAccount()
}

/** The caller's risk bucket with this id, closed ones too. */
export function findBucket({ state, gate }: Gateway, account: number, id: string): BucketInAccount | Refused {
  const named = parseId(IdKind.RISK_BUCKET, id)
  if (named === null) return missingBucket()
  const found = readBucket(state, gate, account, named.slot, named.sequence)
  return found === null ? unreadable() : found ?? missingBucket()
}

/** Ordered by how bad they are. */
const STATES: readonly AccountState[] = ['Closed', 'Normal', 'MarginCall', 'Liquidating', 'BadDebt']

function stateOf(bucket: BucketView, figures: BucketFigures): AccountState {
  if (bucket.state === BucketState.CLOSED) return 'Closed'
  if (bucket.state === BucketState.BAD_DEBT) return 'BadDebt'
  if (bucket.state === BucketState.LIQUIDATING) return 'Liquidating'
  return isCalled(figures) ? 'MarginCall' : 'Normal'
}

const worst = (states: readonly AccountState[]): AccountState =>
  STATES[Math.max(1, ...states.map((state) => STATES.indexOf(state)))]!

const isFrozen = ({ state }: BucketView): boolean => state === BucketState.LIQUIDATING || state === BucketState.BAD_DEBT

/** Whether nothing can be taken out of it until there is a fresh price. */
const isStale = ({ genesis, time }: Gateway, { positions }: BucketView): boolean =>
  hasStalePrice(positions, (pair) => genesis.pairs[pair]!.perp!.staleMs, time())

/** What more orders of a bucket may need at most. */
function availableOf(bucket: BucketView, { there }: BucketFigures, margin: MarginAccountView): bigint {
  const sum = there + freeOf(margin)
  return isFrozen(bucket) || sum < 0n ? 0n : sum
}

/** Pairs that a cross bucket traded, and those of its open positions. */
export function scopeOf({ genesis }: Gateway, { scope, positions }: Pick<BucketView, 'scope' | 'positions'>): string[] {
  const open = positions.filter(({ lots }) => lots !== 0).map(({ pair }) => pair)
  return [...new Set([...scope, ...open])].sort((a, b) => a - b).flatMap((pair) => genesis.pairs[pair]?.id ?? [])
}

interface Figures {
  equity: string
  initialMarginRequired: string
  maintenanceMarginRequired: string
  freeCollateral: string
  withdrawableCollateral: string
  totalPositionNotional: string
  unrealizedPnl: string
  realizedPnl: string
}

/** What a bucket shows: its figures and what it is. */
function bucketParts(gateway: Gateway, asset: Asset, { bucket, margin }: BucketInAccount) {
  const figures = bucketFigures(ladderOf(gateway), bucket)
  const text = (atoms: bigint): string => amountText(asset, atoms)
  const shown: Figures = {
    equity: text(figures.equity),
    initialMarginRequired: text(figures.requirement),
    maintenanceMarginRequired: text(figures.maintenance),
    freeCollateral: text(figures.there),
    withdrawableCollateral: text(isFrozen(bucket) || isStale(gateway, bucket) ? 0n : withdrawableOf(bucket, figures)),
    totalPositionNotional: text(figures.notional),
    unrealizedPnl: text(figures.unrealized),
    realizedPnl: text(bucket.lifetime),
  }
  const marginMode: MarginModeName = MARGIN_MODE_NAMES[bucket.mode]!
  return {
    marginMode, shown, accountState: stateOf(bucket, figures),
    scope: {
      ...(bucket.mode === MarginMode.ISOLATED ? { tradingPairId: gateway.genesis.pairs[bucket.pair]!.id }
        : { selectedTradingPairIds: scopeOf(gateway, bucket) }),
      ...(bucket.strategyKey === '' ? {} : { strategyKey: bucket.strategyKey }),
      availableOrderCollateral: text(availableOf(bucket, figures, margin)),
    },
  }
}

export function bucketRecord(gateway: Gateway, asset: Asset, account: number, found: BucketInAccount): RiskBucketRecord {
  const { bucket, margin } = found
  const { marginMode, shown, accountState, scope } = bucketParts(gateway, asset, found)
  return {
    riskBucketId: bucketIdOf(bucket),
    marginAccountId: marginIdOf(gateway, account, margin),
    marginMode,
    state: BUCKET_STATE_NAMES[bucket.state] as BucketStateName,
    accountState,
    collateralAsset: asset.symbol,
    allocatedCollateral: amountText(asset, bucket.allocated),
    pendingCollateral: amountText(asset, bucket.pending),
    ...shown,
    openPositions: bucket.positions.filter(({ lots }) => lots !== 0).length,
    openOrders: bucket.orders,
    ...scope,
    createdAt: rfc3339(bucket.createdAt),
    updatedAt: rfc3339(bucket.updatedAt),
  }
}

/** What every record of a margin account says, whatever its figures are of. */
const headOf = (gateway: Gateway, asset: Asset, account: number, margin: MarginAccountView) => ({
  marginAccountId: marginIdOf(gateway, account, margin),
  accountKind: margin.kind === MarginAccountKind.PARENT ? 'PARENT' as const : 'SUB' as const,
  collateralAsset: asset.symbol,
  depositedCollateral: amountText(asset, margin.deposited),
  earmarkedCollateral: amountText(asset, margin.earmarked),
  ...(margin.label === '' ? {} : { label: margin.label }),
})

/** A margin account with all its buckets. */
export function accountRecord(gateway: Gateway, asset: Asset, account: number, margin: MarginAccountView): MarginAccountRecord {
  const text = (atoms: bigint): string => amountText(asset, atoms)
  const all = margin.buckets.map((bucket) => ({ bucket, figures: bucketFigures(ladderOf(gateway), bucket) }))
  const sum = (of: (each: (typeof all)[number]) => bigint): bigint => all.reduce((total, each) => total + of(each), 0n)
  const equity = freeOf(margin) + sum(({ bucket, figures }) => figures.equity + bucket.pending)
  const requirement = sum(({ figures }) => figures.requirement)
  return {
    ...headOf(gateway, asset, account, margin),
    accountState: worst(all.map(({ bucket, figures }) => stateOf(bucket, figures))),
    equity: text(equity),
    initialMarginRequired: text(requirement),
    maintenanceMarginRequired: text(sum(({ figures }) => figures.maintenance)),
    freeCollateral: text(equity - requirement),
    withdrawableCollateral: text(freeOf(margin)),
    totalPositionNotional: text(sum(({ figures }) => figures.notional)),
    unrealizedPnl: text(sum(({ figures }) => figures.unrealized)),
    realizedPnl: text(margin.settled + sum(({ bucket }) => bucket.realized)),
    updatedAt: rfc3339(Math.max(margin.updatedAt, ...margin.buckets.map(({ updatedAt }) => updatedAt))),
  }
}

/**
 * A margin account as the isolated bucket of `pair` without a strategy key sees it; before there is one, as the bucket that an order would
 * make.
 */
export function isolatedRecord(
  gateway: Gateway, asset: Asset, account: number, margin: MarginAccountView, pair: number,
): MarginAccountRecord {
  const isOurs = (bucket: BucketView): boolean =>
    bucket.mode === MarginMode.ISOLATED && bucket.pair === pair && bucket.strategyKey === ''
  const known = margin.buckets.find(isOurs)
  const bucket: BucketView = known ?? {
    row: -1, marginAccount: margin.row, mode: MarginMode.ISOLATED, pair, state: BucketState.ACTIVE, allocated: 0n, pending: 0n,
    realized: 0n, lifetime: 0n, createdSequence: 0, createdAt: 0, updatedAt: margin.updatedAt, version: 0, orders: 0, strategyKey: '',
    scope: [], positions: [],
  }
  const { marginMode, shown, accountState, scope } = bucketParts(gateway, asset, { bucket, margin })
  return {
    ...headOf(gateway, asset, account, margin), accountState, ...shown, marginMode, ...scope,
    ...(known === undefined ? {} : { riskBucketId: bucketIdOf(known) }),
    updatedAt: rfc3339(bucket.updatedAt),
  }
}
