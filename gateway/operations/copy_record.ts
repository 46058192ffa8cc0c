/** Leaders and follows as people read them. */
import Type, { type Static } from 'typebox'
import type { HistoryFollow, LeaderFigures } from '../../core/history/answer/queries.ts'
import { FOLLOW_STATE_NAMES, FollowState } from '../../core/layout/copying.ts'
import { followId, IdKind, marginAccountId, parseId } from '../../core/layout/ids.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import type { Asset, Pair } from '../../core/state/genesis.ts'
import { readAccount } from '../../core/view/accounts.ts'
import type { FollowView, LastCopyView, LeaderView } from '../../core/view/copying.ts'
import { MARGIN_MODE_NAMES } from '../../core/view/margin.ts'
import type { NamedFollow } from '../bridge/encode_copying.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { addressText } from './accounts.ts'
import { amountText, priceText, quantityText } from './amounts.ts'
import { shortWallet } from './display.ts'
import { marginAccountIdField, MarginModeName } from './margin_summary.ts'
import { Decimal, Nullable, rfc3339, Timestamp, Uuid } from './operation.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { describeForm } from './schema_errors.ts'

const HANDLE = /^[A-Za-z0-9_-]{3,24}$/
describeForm(HANDLE, '3 to 24 letters, digits, underscores or hyphens')
export const Handle = Type.String({ pattern: HANDLE.source })
export const handleField = field(Handle, 'Handle of the leader; upper and lower case name the same one.')
export const followIdField = field(Uuid, 'Follow.')

export const FollowStatus = record(
  'FollowStatus', 'ACTIVE mirrors everything, CLOSE_ONLY what reduces; STOPPING closes its positions and is STOPPED, over, then.',
  Type.Union([Type.Literal('ACTIVE'), Type.Literal('CLOSE_ONLY'), Type.Literal('STOPPING'), Type.Literal('STOPPED')]),
)
type FollowStatus = Static<typeof FollowStatus>
export const LiveStatus = record(
  'LiveFollowStatus', 'ACTIVE mirrors everything, CLOSE_ONLY what reduces.',
  Type.Union([Type.Literal('ACTIVE'), Type.Literal('CLOSE_ONLY')]),
)
export type LiveStatus = Static<typeof LiveStatus>

export const LeaderRecord = record('Leader', 'An account whose trading on perpetuals may be copied.', Type.Object({
  handle: handleField,
  followers: field(Type.Integer(), 'Live follows of it.'),
  allocation: field(Decimal, 'What its live follows have allocated together, in the collateral asset.'),
  since: field(Timestamp, 'Since when it has its handle.'),
  returnPercent: field(
    Nullable(Decimal),
    'Return on its margin equity over 30 days, net of deposits and withdrawals; null: not known, or of less than a day.',
  ),
  maxDrawdownPercent: field(Nullable(Decimal), 'Largest fall of that from a peak, 0 to 100; null as returnPercent.'),
}))
export type LeaderRecord = Static<typeof LeaderRecord>

export const FollowRecord = record('Follow', 'What the caller has of a leader: an allocation, and how it is copied.', Type.Object({
  followId: followIdField,
  leader: field(Nullable(Handle), 'Handle of the leader; null when it was released: then it names no one, and copying goes on.'),
  status: field(FollowStatus, 'ACTIVE, CLOSE_ONLY, STOPPING or STOPPED.'),
  allocation: field(Decimal, 'In the collateral asset. It stands in a margin sub-account of its own; copies never use more.'),
  maxLeverage: field(Nullable(Decimal), 'Most leverage of a copy; null: as the leader.'),
  marginMode: field(MarginModeName, 'Of the copies.'),
  marginAccountId: marginAccountIdField,
  strategyKey: field(Type.String(), 'Strategy key of its risk buckets: `copy:` and the id of the follow.'),
  ordersCopied: field(Type.Integer(), 'Orders that were placed for it.'),
  skips: field(Type.Integer(), 'Times that no order was placed, or not all of one was filled.'),
  lastSkip: field(Nullable(Type.Object({
    reason: field(Type.String(), 'Code of the refusal, such as INSUFFICIENT_MARGIN.'),
    tradingPairId: field(Nullable(Uuid), 'Trading pair; null: it is of the whole follow, whose bucket is in liquidation or in bad debt.'),
    at: field(Timestamp, 'When.'),
  })), 'The last of them; null: there was none.'),
  nextAttemptAt: field(
    Nullable(Timestamp),
    'When what of the copies could not be closed, or waits for a price to open at, is tried again; null: there is nothing. `lastSkip` '
    + 'says why it could not be closed.',
  ),
  lastCopy: field(Nullable(Type.Object({
    tradingPairId: fields.tradingPairId,
    quantity: field(Decimal, 'What was filled, in units of the base token; negative: it was sold.'),
    referencePrice: field(Decimal, 'Price of the fill of the leader that it copies; of a stop the mark price.'),
    slippageBps: field(Decimal, 'How much worse than that its average price was, in basis points; negative: better.'),
    at: field(Timestamp, 'When.'),
  })), 'The last copy that was filled, in part or in full; null: there was none, or the follow is over.'),
  slippageCost: field(
    Nullable(Decimal),
    'What all copies cost more than at their reference prices, in the collateral asset; negative: less; null: the follow is over.',
  ),
  startedAt: field(Timestamp, 'When it began. What the leader had then is not copied.'),
  updatedAt: fields.updatedAt,
}))
export type FollowRecord = Static<typeof FollowRecord>

export const FollowerRecord = record('Follower', 'A live follow, as its leader sees it.', Type.Object({
  walletAddress: field(Type.String(), 'Wallet of the follower.'),
  display: field(Type.String(), 'Its handle, or its wallet in short.'),
  status: field(LiveStatus, 'ACTIVE or CLOSE_ONLY.'),
  allocation: field(Decimal, 'In the collateral asset.'),
  startedAt: field(Timestamp, 'When it began.'),
}))
export type FollowerRecord = Static<typeof FollowerRecord>

/** `figures` of the history; `null`: not known. */
export const leaderRecord = (asset: Asset, view: LeaderView, figures: LeaderFigures | null): LeaderRecord => ({
  handle: view.handle, followers: view.followers, allocation: amountText(asset, view.allocated), since: rfc3339(view.since),
  returnPercent: figures === null ? null : formatDecimal(figures.returned, 2),
  maxDrawdownPercent: figures === null ? null : formatDecimal(figures.drawdown, 2),
})

export const statusOf = (state: number): FollowStatus => FOLLOW_STATE_NAMES[state] as FollowStatus

export function followRecord({ genesis }: Gateway, asset: Asset, view: FollowView): FollowRecord {
  const pair = genesis.pairs[view.skipPair]
  return {
    followId: followId(view.createdSequence, view.row),
    leader: view.leader.handle === '' ? null : view.leader.handle,
    status: statusOf(view.state),
    allocation: amountText(asset, view.allocation),
    maxLeverage: view.maxLeverage === 0 ? null : formatDecimal(view.maxLeverage, 2),
    marginMode: MARGIN_MODE_NAMES[view.mode]!,
    marginAccountId: marginAccountId(view.marginSequence, view.marginAccount),
    strategyKey: view.strategyKey,
    ordersCopied: view.copied,
    skips: view.skipped,
    lastSkip: view.skippedAt === 0 ? null : {
      reason: refusalByNumber(view.skipCode).code, tradingPairId: pair?.id ?? null, at: rfc3339(view.skippedAt),
    },
    nextAttemptAt: view.closeAt === 0 ? null : rfc3339(view.closeAt),
    lastCopy: lastCopyOf(genesis.pairs, view.lastCopy),
    slippageCost: view.slippageCost === null ? null : amountText(asset, view.slippageCost),
    startedAt: rfc3339(view.startedAt),
    updatedAt: rfc3339(view.updatedAt),
  }
}

function lastCopyOf(pairs: readonly Pair[], copy: LastCopyView | null): FollowRecord['lastCopy'] {
  const pair = copy === null ? undefined : pairs[copy.pair]
  if (copy === null || pair === undefined) return null
  return {
    tradingPairId: pair.id, quantity: quantityText(pair, copy.lots),
    referencePrice: priceText(pair, copy.reference), slippageBps: formatDecimal(copy.slippage, 2), at: rfc3339(copy.at),
  }
}

/** One of the history, which is over. */
export function stoppedFollowRecord(gateway: Gateway, asset: Asset, each: HistoryFollow): FollowRecord {
  const { sequence, row, handle, leaderAccount } = each
  const leader = { account: leaderAccount, handle, followers: 0, allocated: 0n, since: 0 }
  return followRecord(gateway, asset, {
    ...each, createdSequence: sequence, leader, strategyKey: `copy:${followId(sequence, row)}`, closeAt: 0, lastCopy: null,
    slippageCost: null,
  })
}

export function followerRecord({ state }: Gateway, asset: Asset, view: FollowView): FollowerRecord {
  const walletAddress = addressText(readAccount(state, view.account).address)
  return {
    walletAddress, display: shortWallet(walletAddress), status: view.state === FollowState.ACTIVE ? 'ACTIVE' : 'CLOSE_ONLY',
    allocation: amountText(asset, view.allocation), startedAt: rfc3339(view.startedAt),
  }
}

/** What a follow's id says, or that there is none. */
export function followNamed(text: string): NamedFollow | Refused {
  const id = parseId(IdKind.FOLLOW, text)
  return id === null ? noFollow() : { row: id.slot, createdSequence: id.sequence }
}
export const noFollow = (): Refused => new Refused('NOT_FOUND', 'Follow not found', { field: 'followId' })
