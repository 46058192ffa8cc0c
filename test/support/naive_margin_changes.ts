/**
 * What changes margin accounts, buckets and positions in the naive exchange, and the events that say so (naive_margin.ts).
 *
 * Lots change by the words of the specification: opening adds to the cost, closing takes its part of it, a turn is both, one after the
 * other. Funding is settled before.
 */
import { CollateralReason, PositionReason } from '../../core/layout/margin_events.ts'
import { COLLATERAL, EventType, FUNDING_PAYMENT, POSITION_CHANGED } from '../../core/layout/event.ts'
import { noteLead } from './naive_copies.ts'
import { endWithPosition } from './naive_conditional.ts'
import { familyOf, share } from './naive_families.ts'
import {
  bucketsOf, earmarkedOf, exact, fundingOf, ordersOf, perpOf, positionsOf, truncated, type Bucket, type MarginAccount, type Position,
} from './naive_margin.ts'
import type { Ex } from './naive_terms.ts'

const STATUSES = ['FREE', 'ACTIVE', 'LIQUIDATING', 'BAD_DEBT', 'CLOSED']
/** Row and sequence by which a margin account is named in public: the parent by its user. */
export const publicRow = ({ parent, row }: MarginAccount): number => (parent ? -1 : row)
export const publicSequence = (ex: Ex, { parent, account, createdSequence }: MarginAccount): number =>
  (parent ? ex.accounts[account]!.createdSequence : createdSequence)

export const parentOf = (ex: Ex, account: number): MarginAccount | null =>
  ex.margins.accounts.find((each) => each.parent && each.account === account) ?? null

export const roomForMarginAccount = (ex: Ex): boolean => ex.margins.accounts.length < ex.genesis.limits.marginAccounts

/** Why an account may not have the parent that it has not yet. */
export function parentRoom(ex: Ex, account: number): 'OVERLOADED' | 'TOO_MANY_MARGIN_ACCOUNTS' | null {
  if (!roomForMarginAccount(ex)) return 'OVERLOADED'
  return familyMayTake(ex, account, ex.margins.accounts, ex.genesis.limits.marginAccounts) ? null : 'TOO_MANY_MARGIN_ACCOUNTS'
}

export function makeMarginAccount(ex: Ex, account: number, parent: boolean, label = ''): MarginAccount {
  const row = ex.margins.rows.accounts.take()
  const made: MarginAccount = { row, account, parent, createdSequence: ex.sequence, deposited: 0n, label }
  ex.margins.accounts.push(made)
  ex.accounts[account]!.known = true
  return made
}

export const makeParent = (ex: Ex, account: number): MarginAccount => parentOf(ex, account) ?? makeMarginAccount(ex, account, true)

export const findBucket = (
  ex: Ex, margin: MarginAccount | null, cross: boolean, pair: number, keyLow: number, keyHigh: number,
): Bucket | null => ex.margins.buckets.find((each) => each.margin === margin && each.cross === cross && (cross || each.pair === pair) &&
  each.keyLow === keyLow && each.keyHigh === keyHigh) ?? null

const ofFamily = (ex: Ex, account: number, rows: readonly { account: number }[]): number =>
  rows.filter((each) => familyOf(ex, each.account) === familyOf(ex, account)).length

/** A family may take another row of a pool. */
function familyMayTake(ex: Ex, account: number, rows: readonly { account: number }[], most: number): boolean {
  return ofFamily(ex, account, rows) < share(most, most - rows.length)
}

function roomForBucket(ex: Ex, account: number, margin: MarginAccount | null): boolean {
  const { bucketsPerMarginAccount, riskBuckets } = ex.genesis.limits
  if (margin !== null && bucketsOf(ex, margin).length >= bucketsPerMarginAccount) return false
  return familyMayTake(ex, account, ex.margins.buckets.map(({ margin: of }) => of), riskBuckets)
}

const isEmpty = (ex: Ex, bucket: Bucket): boolean => bucket.status === 'ACTIVE' && positionsOf(ex, bucket).length === 0 &&
  bucket.allocated === 0n && bucket.pending === 0n && bucket.realized === 0n

/** The bucket that was closed longest ago, or else the first of those that are empty. */
function leastNeeded(ex: Ex, margin: MarginAccount | null): Bucket | null {
  const all = margin === null ? [] : bucketsOf(ex, margin)
  const closed = all.filter(({ status }) => status === 'CLOSED').sort((a, b) => a.closedAt - b.closedAt || a.made - b.made)
  const empty = all.filter((each) => ex.now - each.createdAt >= 60_000 && isEmpty(ex, each)).sort((a, b) => a.made - b.made)
  return closed[0] ?? empty[0] ?? null
}

type NoRoom = 'OVERLOADED' | 'TOO_MANY_MARGIN_ACCOUNTS' | 'TOO_MANY_RISK_BUCKETS'

export function bucketRoom(ex: Ex, account: number, margin: MarginAccount | null): NoRoom | null {
  const none = margin === null ? parentRoom(ex, account) : null
  if (none !== null) return none
  return roomForBucket(ex, account, margin) || leastNeeded(ex, margin) !== null ? null : 'TOO_MANY_RISK_BUCKETS'
}

export function makeBucket(
  ex: Ex, margin: MarginAccount, cross: boolean, pair: number, keyLow: number, keyHigh: number, strategyKey = '0'.repeat(96),
): Bucket {
  if (!roomForBucket(ex, margin.account, margin)) giveUpBucket(ex, leastNeeded(ex, margin)!)
  const made: Bucket = {
    row: ex.margins.rows.buckets.take(), margin, cross, pair: cross ? -1 : pair, status: 'ACTIVE', keyLow, keyHigh, strategyKey,
    createdSequence: ex.sequence, allocated: 0n, pending: 0n, realized: 0n, began: 0, step: 0,
    createdAt: ex.now, closedAt: 0, made: ++ex.margins.made,
  }
  ex.margins.buckets.push(made)
  return made
}

export function giveUpBucket(ex: Ex, bucket: Bucket): void {
  ex.margins.rows.buckets.give(bucket.row)
  ex.margins.buckets = ex.margins.buckets.filter((each) => each !== bucket)
}

export const findPosition = (ex: Ex, bucket: Bucket | null, pair: number): Position | null =>
  ex.margins.positions.find((each) => each.bucket === bucket && each.pair === pair) ?? null

export const mayMakePosition = (ex: Ex, account: number): boolean =>
  familyMayTake(ex, account, ex.margins.positions.map(({ bucket }) => bucket.margin), ex.genesis.limits.positions)

export function makePosition(ex: Ex, bucket: Bucket, pair: number): Position {
  const made: Position = {
    row: ex.margins.rows.positions.take(), bucket, pair, lots: 0, cost: 0n, leverage: 0, realized: 0n, funding: 0n, fees: 0n, fundedTo: 0n,
    openedSequence: 0, made: ++ex.margins.made, met: [],
  }
  ex.margins.positions.push(made)
  if (bucket.status === 'CLOSED') bucket.status = 'ACTIVE'
  return made
}

/** A position without lots and orders is nothing. */
export function giveUpPosition(ex: Ex, position: Position): void {
  const passing = [...ex.margins.matching, ...ex.margins.leaving].filter(({ margin }) => margin!.position === position)
  const orders = [...ordersOf(ex, position), ...passing]
  if (position.lots !== 0 || orders.length > 0 || !ex.margins.positions.includes(position)) return
  ex.margins.rows.positions.give(position.row)
  ex.margins.positions = ex.margins.positions.filter((each) => each !== position)
}

export const isFlat = (ex: Ex, bucket: Bucket): boolean => positionsOf(ex, bucket).length === 0

/** COLLATERAL: `amount` went into the margin account, or into the bucket. */
export function tellCollateral(ex: Ex, margin: MarginAccount, bucket: Bucket | null, reason: number, amount: bigint): void {
  ex.events.push({
    layout: COLLATERAL,
    values: {
      kind: EventType.COLLATERAL, account: margin.account, sequence: ex.sequence, time: ex.now, marginAccount: margin.row,
      bucket: bucket?.row ?? -1, reason, state: bucket === null ? 0 : STATUSES.indexOf(bucket.status), amount, deposited: margin.deposited,
      earmarked: earmarkedOf(ex, margin), allocated: bucket?.allocated ?? 0n, pending: bucket?.pending ?? 0n,
      realized: bucket?.realized ?? 0n, marginAccountSequence: publicSequence(ex, margin), bucketSequence: bucket?.createdSequence ?? 0,
      accountKind: margin.parent ? 0 : 1, asset: collateralOf(ex),
    },
  })
}

/** The one collateral asset: the quote of the perpetuals. */
export const collateralOf = (ex: Ex): number => ex.genesis.pairs.find(({ perp }) => perp !== null)!.quote

/** Version of the position rows, which never falls. */
export function touchPosition(ex: Ex, position: Position): void {
  ex.margins.versions.set(position.row, versionOf(ex, position) + 1)
}
const versionOf = (ex: Ex, { row }: Position): number => ex.margins.versions.get(row) ?? 0

export function tellPosition(ex: Ex, position: Position, reason: number, profit: bigint): void {
  const { row, pair, bucket, lots, leverage, cost, realized, funding, fees, openedSequence } = position
  ex.events.push({
    layout: POSITION_CHANGED,
    values: {
      kind: EventType.POSITION, account: bucket.margin.account, sequence: ex.sequence, time: ex.now, pair, position: row,
      bucket: bucket.row, marginAccount: publicRow(bucket.margin), lots, leverage, cost, realized, funding, fees,
      allocated: bucket.allocated, openedSequence, version: versionOf(ex, position), reason,
      mark: perpOf(ex, pair).mark, profit, bucketSequence: bucket.createdSequence,
    },
  })
}

/** What the position owes or gets of funding is paid, to or from the pool. */
export function settleFunding(ex: Ex, position: Position): void {
  const { cumulative, lastRate, mark } = perpOf(ex, position.pair)
  const from = position.fundedTo
  if (from === cumulative) return
  const amount = fundingOf(ex, position)
  position.fundedTo = cumulative
  if (position.lots === 0) return
  position.funding += amount
  position.bucket.realized += amount
  ex.margins.fundingPool -= amount
  touchPosition(ex, position)
  ex.touch(position.bucket.margin.account, collateralOf(ex))
  ex.events.push({
    layout: FUNDING_PAYMENT,
    values: {
      kind: EventType.FUNDING_PAYMENT, account: position.bucket.margin.account, sequence: ex.sequence, time: ex.now, pair: position.pair,
      position: position.row, bucket: position.bucket.row, lots: position.lots, amount, from: BigInt.asIntN(64, from),
      to: BigInt.asIntN(64, cumulative), openedSequence: position.openedSequence, rate: lastRate, mark,
    },
  })
}

/** Changes a position by signed lots at a price; the bucket pays the fee. */
export function changeLots(ex: Ex, position: Position, lots: number, price: number, reason: number, fee = 0n): void {
  settleFunding(ex, position)
  noteLead(ex, position, price)
  const held = position.lots
  const turns = held !== 0 && Math.sign(held) !== Math.sign(lots) && Math.abs(lots) > Math.abs(held)
  if (!turns) return change(ex, position, lots, price, reason, fee)
  // A fee is of all lots alike: of the closing part what its lots make of it, rounded down in size.
  const first = truncated(exact(fee).times(Math.abs(held)).div(Math.abs(lots)))
  change(ex, position, -held, price, reason, first)
  change(ex, position, held + lots, price, reason, fee - first)
}

/** What moves no balance, but is told with one, and so raises its version. */
const TOLD_WITH_BALANCE: readonly number[] = [PositionReason.LIQUIDATION, PositionReason.TAKE_OVER, PositionReason.DELEVERAGE]

/** Opening, enlarging, or closing: not two of them. */
function change(ex: Ex, position: Position, lots: number, price: number, reason: number, fee: bigint): void {
  const { bucket, pair } = position
  const value = BigInt(lots) * BigInt(price) * ex.genesis.pairs[pair]!.tickLotAtoms
  let profit = 0n
  if (position.lots === 0) Object.assign(position, { openedSequence: ex.sequence, realized: 0n, funding: 0n, fees: 0n, met: [] })
  if (position.lots === 0 || Math.sign(position.lots) === Math.sign(lots)) position.cost += value
  else {
    const part = truncated(exact(position.cost).times(Math.abs(lots)).div(Math.abs(position.lots)))
    profit = -value - part
    position.cost -= part
    position.realized += profit
    bucket.realized += profit
  }
  position.lots += lots
  position.fees += fee
  bucket.realized -= fee
  ex.fees[collateralOf(ex)] = ex.fees[collateralOf(ex)]! + fee
  touchPosition(ex, position)
  if (TOLD_WITH_BALANCE.includes(reason)) ex.touch(bucket.margin.account, collateralOf(ex))
  tellPosition(ex, position, reason, profit)
  if (position.lots !== 0) return
  endWithPosition(ex, position)
  position.openedSequence = 0
}

/** Settles a flat bucket with its margin account and closes it. */
export function closeOut(ex: Ex, bucket: Bucket): void {
  const { margin, allocated, realized } = bucket
  margin.deposited += realized
  Object.assign(bucket, { allocated: 0n, realized: 0n, status: 'CLOSED', closedAt: ex.now })
  tellCollateral(ex, margin, bucket, CollateralReason.SETTLED, -allocated - realized)
}

export { CollateralReason, PositionReason }
