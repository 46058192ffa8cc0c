/** COPY_STEP in the naive exchange: what a leader did is mirrored to one follow after the other, and stops go on. See naive_copies.ts. */
import { CommandType, Flag, kindOf, Origin, originFlags } from '../../core/layout/command.ts'
import { FollowReason, FollowState } from '../../core/layout/copying.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import {
  createFollow, endFollow, followersOf, goOnBehind, isClosing, leadLots, leaveClosing, lookFirst, lookLater, registerLeader, releaseLeader,
  setCopyProgram, stopFollow, tellFollow, updateFollow, type Follow, type Lead,
} from './naive_copies.ts'
import { bucketsOf, equityOf, exact, truncated, type Position } from './naive_margin.ts'
import { bucketRoom, findBucket, findPosition, makeBucket } from './naive_margin_changes.ts'
import { closeSub, whyNotClosed } from './naive_margin_moves.ts'
import { enter } from './naive_orders.ts'
import { bandOf, mostLots, openRefusal, otherSide, type Ex } from './naive_terms.ts'

const LOT = 1_000_000
const LOOKS_MOST = 32
const MOST = exact(2 ** 31).times(LOT)

/** Commands of copy trading; false: it is another one. */
export function copyCommand(ex: Ex, command: Decoded, type: number): boolean {
  if (type === CommandType.REGISTER_LEADER) registerLeader(ex, command)
  else if (type === CommandType.RELEASE_LEADER) releaseLeader(ex, command)
  else if (type === CommandType.CREATE_FOLLOW) createFollow(ex, command)
  else if (type === CommandType.UPDATE_FOLLOW) updateFollow(ex, command)
  else if (type === CommandType.STOP_FOLLOW) stopFollow(ex, command)
  else if (type === CommandType.COPY_STEP) copyStep(ex, command)
  else if (type === CommandType.SET_COPY_PROGRAM) setCopyProgram(ex, command)
  else return false
  return true
}

/** The follow with something to close that is looked at next, if its time has come. */
export const dueClosing = ({ copies, now }: Ex): Follow | undefined => copies.closing.flatMap((queue) => queue.slice(0, 1))
  .filter(({ closeAt }) => closeAt <= now).sort((a, b) => a.closeAt - b.closeAt)[0]

function copyStep(ex: Ex, command: Decoded): void {
  if (Number(command['kind']) >>> 16 !== 0) return ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  const stops = command['work'] === 1
  const [lead, closing] = [ex.copies.leads[0], dueClosing(ex)]
  if (stops ? closing === undefined : lead === undefined) return ex.refuse(command, CODE.NOT_FOUND, -1)
  if (stops) goOnClosing(ex, closing!)
  else walk(ex, lead!)
  ex.result(command, { account: -1 })
}

function walk(ex: Ex, lead: Lead): void {
  if (lead.cursor === null) {
    const oldest = followersOf(ex, lead.leader)[0]
    if (oldest === undefined) return void (ex.copies.leads = ex.copies.leads.filter((each) => each !== lead))
    Object.assign(lead, { cursor: oldest, equity: equityOfLeader(ex, lead) })
  }
  for (let looks = 0; looks < LOOKS_MOST && lead.cursor !== null && ex.copies.leads.includes(lead); looks++) {
    const follow = lead.cursor
    const { ordered, stays } = mirror(ex, lead, follow)
    if (!stays) goOnBehind(ex, lead, follow)
    if (ordered) break
  }
  const at = ex.copies.leads.indexOf(lead)
  if (at < 0) return
  ex.copies.leads.splice(at, 1)
  ex.copies.leads.push(lead)
}

/** What is deposited, and what the buckets made of it since. */
function equityOfLeader(ex: Ex, { leader: { account } }: Lead): bigint {
  const accounts = ex.margins.accounts.filter((each) => each.account === account)
  return accounts.reduce((sum, margin) => sum + margin.deposited +
    bucketsOf(ex, margin).reduce((all, bucket) => all + equityOf(ex, bucket) - bucket.allocated, 0n), 0n)
}

const positionOf = (ex: Ex, follow: Follow, pair: number): Position | null =>
  findPosition(ex, bucketOf(ex, follow, pair), pair)
const bucketOf = (ex: Ex, { margin, cross, keyLow, keyHigh }: Follow, pair: number) => findBucket(ex, margin, cross, pair, keyLow, keyHigh)

type Exactly = ReturnType<typeof exact>
const held = (value: Exactly): Exactly => (value.gt(MOST) ? MOST : value.lt(MOST.neg()) ? MOST.neg() : value)

interface Aim { share: bigint; seen: number; left?: number }

/** What the copy should be, in millionths of a lot. */
function aimOf(ex: Ex, { pair, equity, leader }: Lead, follow: Follow, share: bigint): Aim {
  const [before, now] = [follow.seen.get(pair) ?? 0, leadLots(ex, leader, pair)]
  if (before !== 0 && Math.sign(now) !== Math.sign(before)) return { share: 0n, seen: 0 }
  if (Math.abs(now) < Math.abs(before)) {
    return { share: truncated(exact(share).times(now).div(before)), seen: now }
  }
  if (now === before || follow.state !== FollowState.ACTIVE) return { share, seen: now }
  if (!ex.copies.on) return { share, seen: now, left: CODE.COPY_TRADING_OFF }
  if (equity <= 0n) return { share, seen: now, left: CODE.LEADER_EQUITY }
  const part = exact(truncated(exact(now - before).times(LOT).times(exact(follow.allocation)).div(exact(equity))))
  return { share: truncated(held(exact(share).plus(held(part)))), seen: now }
}

/** Millionths of a lot that the copy should be, as the leader was seen last: never of the other side. */
function shareNow(ex: Ex, follow: Follow, pair: number): bigint {
  const share = BigInt(positionOf(ex, follow, pair)?.lots ?? 0) * BigInt(LOT) + (follow.residual.get(pair) ?? 0n)
  const seen = follow.seen.get(pair) ?? 0
  return Math.sign(seen) === Math.sign(Number(share)) ? share : 0n
}

function mirror(ex: Ex, lead: Lead, follow: Follow): { ordered: boolean; stays: boolean } {
  const { pair } = lead
  const position = positionOf(ex, follow, pair)
  const held = position?.lots ?? 0
  const before = BigInt(held) * BigInt(LOT)
  const { share, seen, left } = aimOf(ex, lead, follow, shareNow(ex, follow, pair))
  follow.seen.set(pair, seen)
  follow.residual.set(pair, share - before)
  const change = Number(truncated(exact(share).div(LOT))) - held
  const closes = held !== 0 && change !== 0 && Math.sign(change) !== Math.sign(held)
  const more = seen !== leadLots(ex, lead.leader, pair)
  if (left !== undefined) tellFollow(ex, follow, FollowReason.SKIPPED, pair, 0, -1, left)
  if (!closes && (follow.state !== FollowState.ACTIVE || !ex.copies.on || !isEnough(ex, pair, change))) {
    return more ? mirror(ex, lead, follow) : { ordered: false, stays: false }
  }
  const size = closes ? Math.min(Math.abs(change), Math.abs(held)) : Math.abs(change)
  const order = closes ? closing(ex, position!, change < 0, size) : opening(ex, lead, follow, change < 0, size)
  const full = copy(ex, follow, order, FollowReason.COPIED)
  const lots = Number(order['lots'])
  const signed = change < 0 ? -lots : lots
  if (closes) follow.residual.set(pair, share - BigInt(positionOf(ex, follow, pair)?.lots ?? 0) * BigInt(LOT))
  else follow.residual.set(pair, share - before - BigInt(full ? signed : change) * BigInt(LOT))
  if (closes && !full && !isClosing(ex, follow)) {
    Object.assign(follow, { tried: -1, rounds: 0 })
    lookLater(ex, follow)
  }
  return { ordered: true, stays: more || (full && lots < Math.abs(change)) }
}

/** So many lots may be an order. */
function isEnough(ex: Ex, pair: number, change: number): boolean {
  const { minLots, minNotionalAtoms, tickLotAtoms } = ex.genesis.pairs[pair]!
  if (change === 0 || Math.abs(change) < minLots) return false
  const touch = otherSide(ex, pair, change < 0)[0]
  return touch === undefined || BigInt(touch.price) * BigInt(Math.abs(change)) * tickLotAtoms >= minNotionalAtoms
}

const bare = {
  kind: kindOf(CommandType.ENTER_ORDER, 1, 0), correlation: 0, session: -1, price: 0, slippageBps: 0, options: 0, expiresAt: 0,
}

function sized(ex: Ex, pair: number, flags: number, lots: number): number {
  const worst = bandOf(ex, pair, flags, 0)
  return worst === 0 ? lots : Math.min(lots, mostLots(ex, pair, (flags & Flag.SELL) !== 0, worst))
}

function closing(ex: Ex, { row, openedSequence, pair, bucket }: Position, sell: boolean, lots: number): Decoded {
  const flags = ((sell ? Flag.SELL : 0) | Flag.MARKET | Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CLOSE | (bucket.cross ? Flag.CROSS : 0) |
    originFlags(Origin.COPY)) >>> 0
  return {
    ...bare, pair, flags, lots: sized(ex, pair, flags, lots), position: row + 1, namedSequence: openedSequence, collateral: 0n, leverage: 0,
  }
}

function opening(ex: Ex, { leader, pair }: Lead, follow: Follow, sell: boolean, lots: number): Decoded {
  const { cross, margin, keyLow, keyHigh, maxLeverage } = follow
  const flags = ((sell ? Flag.SELL : 0) | Flag.MARKET | Flag.MARGIN | (cross ? Flag.CROSS : 0) | originFlags(Origin.COPY)) >>> 0
  const leads = leader.leverage.get(pair) ?? 0
  return {
    ...bare, pair, flags, lots: sized(ex, pair, flags, lots), position: 0, collateral: 0n, keyLow, keyHigh, bucket: 0,
    leverage: maxLeverage === 0 ? leads : Math.min(leads, maxLeverage), marginAccount: margin.row + 1,
    namedSequence: margin.createdSequence,
  }
}

/** Enters an order of a copy and tells of it. True: it is filled in full. */
function copy(ex: Ex, follow: Follow, order: Decoded, reason: number): boolean {
  const [pair, flags] = [Number(order['pair']), Number(order['flags'])]
  let code = openRefusal(ex, pair, flags) || ((flags & Flag.CLOSE) !== 0 ? 0 : haveBucket(ex, follow, pair))
  const result = code === 0 ? enter(ex, order, follow.account, null, flags, (refusal) => void (code = refusal)) : null
  if (result === null) {
    tellFollow(ex, follow, FollowReason.SKIPPED, pair, 0, -1, code)
    return false
  }
  const full = result['remaining'] === 0
  const lots = Number(order['lots'])
  const signed = (flags & Flag.SELL) !== 0 ? -lots : lots
  tellFollow(ex, follow, reason, pair, signed, Number(result['slot']), full ? 0 : CODE.COPY_PARTLY_FILLED)
  return full
}

function haveBucket(ex: Ex, follow: Follow, pair: number): number {
  if (bucketOf(ex, follow, pair) !== null) return 0
  const { margin, account, cross, keyLow, keyHigh, strategyKey } = follow
  const none = bucketRoom(ex, account, margin)
  if (none !== null) return CODE[none]
  makeBucket(ex, margin, cross, pair, keyLow, keyHigh, strategyKey)
  return 0
}

/** Lots to close of a position: all of a stop, otherwise what is more than its share. */
function excess(ex: Ex, follow: Follow, { pair, lots }: Position): number {
  const share = follow.state === FollowState.STOPPING ? 0 : Number(truncated(exact(shareNow(ex, follow, pair)).div(LOT)))
  return lots > 0 ? lots - Math.min(lots, Math.max(0, share)) : Math.max(lots, Math.min(0, share)) - lots
}

/** The next position is closed, or the follow is over, or it waits. */
function goOnClosing(ex: Ex, follow: Follow): void {
  leaveClosing(ex, follow)
  const stops = follow.state === FollowState.STOPPING
  const open = bucketsOf(ex, follow.margin).flatMap((bucket) => ex.margins.positions.filter((each) => each.bucket === bucket))
    .filter((each) => each.lots !== 0 && each.pair > follow.tried && excess(ex, follow, each) > 0).sort((a, b) => a.pair - b.pair)
  const position = open[0]
  if (position !== undefined) {
    const { pair, lots } = position
    const share = shareNow(ex, follow, pair)
    const order = closing(ex, position, lots > 0, excess(ex, follow, position))
    const full = copy(ex, follow, order, stops ? FollowReason.CLOSED : FollowReason.COPIED)
    const left = positionOf(ex, follow, pair)?.lots ?? 0
    if (!stops) follow.residual.set(pair, share - BigInt(left) * BigInt(LOT))
    if (left !== lots) follow.rounds = 0
    if (!full) follow.tried = pair
    return lookFirst(ex, follow)
  }
  const failed = follow.tried >= 0
  follow.tried = -1
  if (!stops) {
    if (failed) lookLater(ex, follow)
    return
  }
  const code = whyNotClosed(ex, follow.margin)
  if (code !== 0) {
    if (!failed) tellFollow(ex, follow, FollowReason.SKIPPED, -1, 0, -1, code)
    return lookLater(ex, follow)
  }
  closeSub(ex, follow.margin)
  endFollow(ex, follow)
}
