/** COPY_STEP in the naive exchange: what a leader did is mirrored to one follow after the other, and stops go on. See naive_copies.ts. */
import { CommandType, Flag, kindOf, Origin, originFlags } from '../../core/layout/command.ts'
import { FollowReason, FollowState } from '../../core/layout/copying.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import {
  createFollow, endFollow, followersOf, goOnBehind, isClosing, leadLots, leaveClosing, lookFirst, lookLater, lookSoon, registerLeader,
  releaseLeader, setCopyProgram, stopFollow, tellFollow, updateFollow, waitToOpen, type Follow, type Lead, type Leader,
} from './naive_copies.ts'
import { bucketsOf, equityOf, exact, isPerp, perpOf, truncated, type Position } from './naive_margin.ts'
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
  const { leaderLeast, copyRatio } = ex.genesis.limits
  const least = ex.inForce < 5 ? 1n : BigInt(leaderLeast) * 10n ** BigInt(ex.genesis.assets[ex.genesis.pairs[pair]!.quote]!.scale)
  if (equity < least) return { share, seen: now, left: CODE.LEADER_EQUITY }
  const most = equity * BigInt(copyRatio)
  const counted = ex.inForce >= 5 && follow.allocation > most ? most : follow.allocation
  const part = exact(truncated(exact(now - before).times(LOT).times(exact(counted)).div(exact(equity))))
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
  const [was, is] = [follow.seen.get(pair) ?? 0, leadLots(ex, lead.leader, pair)]
  const reduces = Math.abs(is) < Math.abs(was) || Math.sign(is) * Math.sign(was) < 0
  if (follow.openUntil !== 0 && reduces && waiting(ex, follow, pair) !== 0) leaveOut(ex, follow, pair, CODE.COPY_PRICE)
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
  if (!closes) {
    const done = open(ex, lead.leader, follow, pair, change, share)
    if (done === 'waits' || done === 'partly') waitToOpen(ex, follow)
    return { ordered: done !== 'waits', stays: done === 'more' }
  }
  const size = Math.min(Math.abs(change), Math.abs(held))
  const order = closing(ex, position!, change < 0, size, bound(ex, markNow(ex, pair), change < 0, 1))
  const full = priced(ex, follow, order, FollowReason.COPIED, lead.leader.prices.get(pair) ?? 0) === 'full'
  follow.residual.set(pair, share - BigInt(positionOf(ex, follow, pair)?.lots ?? 0) * BigInt(LOT))
  if (!full && !isClosing(ex, follow)) {
    Object.assign(follow, { tried: -1, rounds: 0 })
    lookLater(ex, follow)
  }
  return { ordered: true, stays: more || (full && Number(order['lots']) < Math.abs(change)) }
}

const markNow = (ex: Ex, pair: number): number => perpOf(ex, pair).mark

/** The worst price of an order of a copy: so far from `price`, which 0 bounds in no way. */
function bound(ex: Ex, price: number, sell: boolean, times: number): number {
  if (ex.inForce < 5 || price === 0) return 0
  const part = exact(ex.genesis.limits.copyBandBps * times).div(10_000)
  if (sell) return Math.max(1, exact(price).times(exact(1).minus(part)).ceil().toNumber())
  return Math.min(ex.genesis.limits.priceTicks - 1, exact(price).times(exact(1).plus(part)).floor().toNumber())
}

const touchOf = (ex: Ex, pair: number, sell: boolean): number | undefined => otherSide(ex, pair, sell)[0]?.price
const isWorse = (sell: boolean, price: number, limit: number): boolean => (sell ? price < limit : price > limit)

/** An order that closes; it is not entered where the book has a price, and that is beyond its own. */
function priced(ex: Ex, follow: Follow, order: Decoded, reason: number, reference: number): Done {
  const [pair, limit, sell] = [Number(order['pair']), Number(order['price']), (Number(order['flags']) & Flag.SELL) !== 0]
  const touch = touchOf(ex, pair, sell)
  if (limit === 0 || touch === undefined || !isWorse(sell, touch, limit)) return copy(ex, follow, order, reason, reference)
  tellFollow(ex, follow, FollowReason.SKIPPED, pair, 0, -1, CODE.COPY_PRICE)
  return 'refused'
}

/** Opens lots of a copy as far as there is a price: what is not opened waits, or is left out. */
function open(
  ex: Ex, leader: Leader, follow: Follow, pair: number, change: number, share: bigint,
): 'waits' | 'partly' | 'more' | 'done' {
  const sell = change < 0
  const prices = [leader.prices.get(pair) ?? 0, markNow(ex, pair)].filter((price) => price !== 0)
  const limit = prices.length === 0 ? 0 : bound(ex, sell ? Math.max(...prices) : Math.min(...prices), sell, 1)
  const touch = touchOf(ex, pair, sell)
  if (limit !== 0 && (touch === undefined || isWorse(sell, touch, limit))) return 'waits'
  const aim = (positionOf(ex, follow, pair)?.lots ?? 0) + change
  const order = opening(ex, leader, follow, pair, sell, Math.abs(change), limit)
  const became = copy(ex, follow, order, FollowReason.COPIED, leader.prices.get(pair) ?? 0)
  const waits = became === 'partly' && ex.inForce >= 5
  const left = became === 'full' || waits ? positionOf(ex, follow, pair)?.lots ?? 0 : aim
  follow.residual.set(pair, share - BigInt(left) * BigInt(LOT))
  if (waits) return 'partly'
  return became === 'full' && Number(order['lots']) < Math.abs(change) ? 'more' : 'done'
}

/** Lots, signed, that a copy should have more than it has, as many as an order may be. */
function waiting(ex: Ex, follow: Follow, pair: number): number {
  if (!isPerp(ex, pair)) return 0
  const held = positionOf(ex, follow, pair)?.lots ?? 0
  const lots = Number(truncated(exact(shareNow(ex, follow, pair)).div(LOT))) - held
  const closes = held !== 0 && Math.sign(lots) !== Math.sign(held)
  return closes || !isEnough(ex, pair, lots) ? 0 : lots
}

function leaveOut(ex: Ex, follow: Follow, pair: number, code: number): void {
  follow.residual.set(pair, (follow.residual.get(pair) ?? 0n) - leftOut(ex, follow, pair))
  tellFollow(ex, follow, FollowReason.SKIPPED, pair, 0, -1, code)
}

/** All but the part of a lot; what is owed to the other side is nothing. */
function leftOut(ex: Ex, follow: Follow, pair: number): bigint {
  const held = BigInt(positionOf(ex, follow, pair)?.lots ?? 0) * BigInt(LOT)
  const owed = held + (follow.residual.get(pair) ?? 0n) - shareNow(ex, follow, pair)
  return BigInt(waiting(ex, follow, pair)) * BigInt(LOT) + owed
}

/** The first of what waits behind the last one tried is opened, or left out. False: there is nothing that could be done now. */
function goOnOpening(ex: Ex, follow: Follow): boolean {
  const pairs = ex.genesis.pairs.map(({ index }) => index)
  const standing = follow.state === FollowState.ACTIVE && ex.now < follow.openUntil ? 0 : CODE.COPY_PRICE
  const ended = ex.copies.on ? standing : CODE.COPY_TRADING_OFF
  for (const pair of pairs.filter((each) => each > follow.openTried && waiting(ex, follow, each) !== 0)) {
    follow.openTried = pair
    if (ended !== 0) {
      leaveOut(ex, follow, pair, ended)
      return true
    }
    if (leadLots(ex, follow.leader, pair) !== (follow.seen.get(pair) ?? 0)) continue
    const done = open(ex, follow.leader, follow, pair, waiting(ex, follow, pair), shareNow(ex, follow, pair))
    if (done !== 'waits') return true
  }
  follow.openTried = -1
  if (!pairs.some((pair) => waiting(ex, follow, pair) !== 0)) follow.openUntil = 0
  return false
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

function closing(ex: Ex, { row, openedSequence, pair, bucket }: Position, sell: boolean, lots: number, price: number): Decoded {
  const flags = ((sell ? Flag.SELL : 0) | Flag.MARKET | Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CLOSE | (bucket.cross ? Flag.CROSS : 0) |
    originFlags(Origin.COPY)) >>> 0
  return {
    ...bare, pair, flags, price, lots: sized(ex, pair, flags, lots), position: row + 1, namedSequence: openedSequence, collateral: 0n,
    leverage: 0,
  }
}

function opening(
  ex: Ex, leader: Leader, follow: Follow, pair: number, sell: boolean, lots: number, price: number,
): Decoded {
  const { cross, margin, keyLow, keyHigh, maxLeverage } = follow
  const flags = ((sell ? Flag.SELL : 0) | Flag.MARKET | Flag.MARGIN | (cross ? Flag.CROSS : 0) | originFlags(Origin.COPY)) >>> 0
  const leads = leader.leverage.get(pair) ?? 0
  return {
    ...bare, pair, flags, price, lots: sized(ex, pair, flags, lots), position: 0, collateral: 0n, keyLow, keyHigh, bucket: 0,
    leverage: maxLeverage === 0 ? leads : Math.min(leads, maxLeverage), marginAccount: margin.row + 1,
    namedSequence: margin.createdSequence,
  }
}

type Done = 'full' | 'partly' | 'refused'

/** Enters an order of a copy and tells of it; its slippage is counted from `reference`. */
function copy(ex: Ex, follow: Follow, order: Decoded, reason: number, reference: number): Done {
  const [pair, flags] = [Number(order['pair']), Number(order['flags'])]
  let code = openRefusal(ex, pair, flags) || ((flags & Flag.CLOSE) !== 0 ? 0 : haveBucket(ex, follow, pair))
  const result = code === 0 ? enter(ex, order, follow.account, null, flags, (refusal) => void (code = refusal)) : null
  if (result === null) {
    tellFollow(ex, follow, FollowReason.SKIPPED, pair, 0, -1, code)
    return 'refused'
  }
  const full = result['remaining'] === 0
  const lots = Number(order['lots'])
  const sell = (flags & Flag.SELL) !== 0
  const signed = sell ? -lots : lots
  const cost = ex.inForce >= 5 && reference > 0 ? slippage(ex, follow, pair, sell, result, reference) : {}
  tellFollow(ex, follow, reason, pair, signed, Number(result['slot']), full ? 0 : CODE.COPY_PARTLY_FILLED, cost)
  return full ? 'full' : 'partly'
}

/** How much worse than the reference an order traded, 10^-6 of its value. */
function slippage(ex: Ex, follow: Follow, pair: number, sell: boolean, result: Decoded, reference: number): Decoded {
  const traded = Number(result['lots']) - Number(result['remaining'])
  if (traded === 0) return {}
  const fair = BigInt(reference) * BigInt(traded) * ex.genesis.pairs[pair]!.tickLotAtoms
  const cost = (BigInt(result['filledQuote']!) - fair) * (sell ? -1n : 1n)
  const share = exact(truncated(exact(cost).times(1_000_000).div(exact(fair))))
  const bounded = share.gt(2 ** 31 - 1) ? 2 ** 31 - 1 : share.toNumber()
  follow.lastCopy = { pair, lots: sell ? -traded : traded, reference, slippage: bounded, at: ex.now }
  follow.slippageCost += cost
  return { reference, slippage: bounded }
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
    const limit = bound(ex, markNow(ex, pair), lots > 0, 2 ** Math.min(3, Math.floor(follow.rounds / 4)))
    const order = closing(ex, position, lots > 0, excess(ex, follow, position), limit)
    const reference = stops ? markNow(ex, pair) : follow.leader.prices.get(pair) ?? 0
    const full = priced(ex, follow, order, stops ? FollowReason.CLOSED : FollowReason.COPIED, reference) === 'full'
    const left = positionOf(ex, follow, pair)?.lots ?? 0
    if (!stops) follow.residual.set(pair, share - BigInt(left) * BigInt(LOT))
    if (left !== lots) follow.rounds = 0
    if (!full) follow.tried = pair
    return lookFirst(ex, follow)
  }
  if (!stops && follow.openUntil !== 0 && goOnOpening(ex, follow)) return lookFirst(ex, follow)
  const failed = follow.tried >= 0
  follow.tried = -1
  if (!stops) {
    if (follow.openUntil !== 0) lookSoon(ex, follow)
    else if (failed) lookLater(ex, follow)
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
