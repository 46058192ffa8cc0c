/**
 * Copy trading in the naive exchange: leaders and follows as plain objects, and the commands of their owners. Lots of leaders, followers
 * and allocations are counted whenever they are asked for. What is mirrored is in naive_copy_step.ts. See naive.ts.
 */
import { createHash } from 'node:crypto'
import {
  FOLLOW_CHANGED, FollowField, FollowReason, FollowState, LEADER_CHANGED, LeaderReason, LeaderState,
} from '../../core/layout/copying.ts'
import { EventType } from '../../core/layout/event.ts'
import { followId } from '../../core/layout/ids.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { owner, refuseOwner } from './naive_agents.ts'
import { familyOf, share } from './naive_families.ts'
import { bucketsOf, freeOf, positionsOf, Rows, type MarginAccount, type Position } from './naive_margin.ts'
import { CollateralReason, collateralOf, makeMarginAccount, parentOf, tellCollateral } from './naive_margin_changes.ts'
import { subRefusal } from './naive_margin_moves.ts'
import type { Ex } from './naive_terms.ts'

export interface Leader {
  row: number
  account: number
  /** Number of LeaderState. */
  state: number
  /** Hex, as it was given. */
  handle: string
  length: number
  createdSequence: number
  releasedAt: number
  /** Grows with each release. */
  released: number
  /** Of the position that changed last, by pair. */
  leverage: Map<number, number>
  /** Ticks of its last fill, by pair. */
  prices: Map<number, number>
}

export interface Follow {
  row: number
  account: number
  leader: Leader
  /** Number of FollowState. */
  state: number
  margin: MarginAccount
  cross: boolean
  maxLeverage: number
  allocation: bigint
  createdSequence: number
  strategyKey: string
  keyLow: number
  keyHigh: number
  /** By pair: lots of the leader that were mirrored last, and millionths of a lot that the copy should have more. */
  seen: Map<number, number>
  residual: Map<number, bigint>
  /** With something to close: the last pair that was tried in this round, rounds that closed nothing, and when it is looked at next. */
  tried: number
  rounds: number
  closeAt: number
  /** With lots that wait for a price: until when, 0: none; the last pair that was tried in this round. */
  openUntil: number
  openTried: number
  /** Of the last order that traded, as the engine keeps it; and what all of them cost more than at their references. */
  lastCopy: { pair: number; lots: number; reference: number; slippage: number; at: number } | null
  slippageCost: bigint
}

/** Something that a leader did on a pair and that is not mirrored yet. */
export interface Lead {
  leader: Leader
  pair: number
  equity: bigint
  /** Where its walk stands; null: it has not begun. */
  cursor: Follow | null
  again: boolean
}

export class Copies {
  /** The operator's switch. */
  on = true
  leaders: Leader[] = []
  follows: Follow[] = []
  /** In the order of their turns. */
  leads: Lead[] = []
  /** Follows with something to close, in a queue for each pause. */
  readonly closing: Follow[][] = [[], [], [], []]
  releases = 0
  readonly rows = { leaders: new Rows(), follows: new Rows() }
}

/** Live follows of a leader, the oldest first. */
export const followersOf = (ex: Ex, leader: Leader): Follow[] => ex.copies.follows
  .filter((each) => each.leader === leader && each.state !== FollowState.STOPPING).sort((a, b) => a.createdSequence - b.createdSequence)

const positionsOfAccount = (ex: Ex, account: number): Position[] =>
  ex.margins.positions.filter(({ bucket }) => bucket.margin.account === account)

/** Lots of a leader on a pair. */
export const leadLots = (ex: Ex, { account }: Leader, pair: number): number =>
  positionsOfAccount(ex, account).filter((each) => each.pair === pair).reduce((sum, { lots }) => sum + lots, 0)

/** A position is about to change at a price: if it is a leader's, there is something to mirror. */
export function noteLead(ex: Ex, { bucket, pair, leverage }: Position, price: number): void {
  const leader = ex.copies.leaders.find(({ account }) => account === bucket.margin.account)
  if (leader === undefined) return
  leader.leverage.set(pair, leverage)
  if (ex.inForce >= 5) leader.prices.set(pair, price)
  if (followersOf(ex, leader).length === 0) return
  const lead = ex.copies.leads.find((each) => each.leader === leader && each.pair === pair)
  if (lead === undefined) ex.copies.leads.push({ leader, pair, equity: 0n, cursor: null, again: false })
  else if (lead.cursor !== null) lead.again = true
}

/** The walk goes on behind a follow. */
export function goOnBehind(ex: Ex, lead: Lead, follow: Follow): void {
  const next = followersOf(ex, lead.leader).find(({ createdSequence }) => createdSequence > follow.createdSequence)
  if (next !== undefined) lead.cursor = next
  else if (lead.again) Object.assign(lead, { cursor: null, again: false })
  else ex.copies.leads = ex.copies.leads.filter((each) => each !== lead)
}

const folded = (hex: string): string => Buffer.from(hex, 'hex').toString('latin1').toLowerCase()
const hasName = ({ state }: Leader): boolean => state === LeaderState.REGISTERED || state === LeaderState.RELEASED
const isPauseOver = (ex: Ex, leader: Leader): boolean => ex.now - leader.releasedAt >= ex.genesis.limits.handlePauseMs
const isHandle = (hex: string, length: number): boolean => {
  const text = Buffer.from(hex, 'hex').toString('latin1')
  return length >= 3 && /^[A-Za-z0-9_-]+$/.test(text.slice(0, length)) && /^\0*$/.test(text.slice(length))
}
const named = (ex: Ex, hex: string, account: number): Leader | undefined => ex.copies.leaders.find((each) =>
  hasName(each) && folded(each.handle) === folded(hex) &&
  (ex.inForce < 5 || ex.accounts[each.account]!.application === ex.accounts[account]!.application))
const followsOf = (ex: Ex, leader: Leader): Follow[] => ex.copies.follows.filter((each) => each.leader === leader)
const ofFamily = (ex: Ex, account: number, rows: readonly { account: number }[]): number =>
  rows.filter((each) => familyOf(ex, each.account) === familyOf(ex, account)).length
const shareOf = (most: number, free: number): number => (free <= 0 ? 0 : share(most, free))

function tellLeader(ex: Ex, leader: Leader, reason: number): void {
  const { account, createdSequence, row, state, length, handle } = leader
  ex.events.push({
    layout: LEADER_CHANGED,
    values: {
      kind: EventType.LEADER, account, sequence: ex.sequence, time: ex.now, createdSequence, leader: row, what: state | (reason << 8),
      followers: followersOf(ex, leader).length, length, handle,
    },
  })
}

/** What is told of a follow: of a pair, signed lots, an order's slot, a refusal. */
export function tellFollow(
  ex: Ex, follow: Follow, reason: number, pair = -1, lots = 0, orderSlot = -1, code = 0, over: Decoded = {},
): void {
  const { account, createdSequence, row, state, leader, allocation, margin, cross, maxLeverage } = follow
  ex.events.push({
    layout: FOLLOW_CHANGED,
    values: {
      kind: EventType.FOLLOW, account, sequence: ex.sequence, time: ex.now, createdSequence, follow: row, what: state | (reason << 8),
      leaderAccount: leader.account, leader: leader.row, leaderSequence: leader.createdSequence, allocation, marginAccount: margin.row,
      mode: cross ? 1 : 0, marginSequence: margin.createdSequence, maxLeverage, pair, lots, orderSlot, code, ...over,
    },
  })
}

/** REGISTER_LEADER. */
export function registerLeader(ex: Ex, command: Decoded): void {
  const account = owner(ex, command)
  const [handle, length] = [String(command['handle']), Number(command['length'])]
  const code = account < 0 ? -account : registerRefusal(ex, account, handle, length)
  if (code !== 0) return refuseOwner(ex, command, code)
  const own = ex.copies.leaders.find((each) => each.account === account)
  const holder = named(ex, handle, account)
  if (holder !== undefined && holder !== own) forget(ex, holder)
  if (own === undefined && ex.copies.leaders.length >= ex.genesis.limits.leaders) forget(ex, oldestReleased(ex)!)
  const leader = own ?? makeLeader(ex, account)
  Object.assign(leader, { state: LeaderState.REGISTERED, handle, length, releasedAt: 0 })
  ex.accounts[account]!.known = true
  tellLeader(ex, leader, LeaderReason.REGISTERED)
  ex.result(command, { account, detail: leader.row, originalSequence: leader.createdSequence })
}

const oldestReleased = (ex: Ex): Leader | undefined =>
  ex.copies.leaders.filter(({ state }) => state === LeaderState.RELEASED).sort((a, b) => a.released - b.released)[0]

function registerRefusal(ex: Ex, account: number, handle: string, length: number): number {
  const { leaders, follows, on } = ex.copies
  if (!on) return CODE.COPY_TRADING_OFF
  if (!isHandle(handle, length)) return CODE.VALIDATION_ERROR
  if (follows.some((each) => each.account === account)) return CODE.CANNOT_LEAD
  const own = leaders.find((each) => each.account === account)
  const same = own !== undefined && folded(own.handle) === folded(handle)
  if (own?.state === LeaderState.REGISTERED && !same) return CODE.ALREADY_LEADER
  if (own?.state === LeaderState.RELEASED && !same && !isPauseOver(ex, own)) return CODE.HANDLE_CHANGE_TOO_SOON
  const holder = named(ex, handle, account)
  const isFree = holder === undefined || holder === own || (holder.state === LeaderState.RELEASED && isPauseOver(ex, holder))
  if (!isFree) return CODE.HANDLE_TAKEN
  if (own !== undefined) return 0
  const goes = (leader: Leader | undefined): boolean =>
    leader !== undefined && followsOf(ex, leader).length === 0 && isPauseOver(ex, leader)
  const most = ex.genesis.limits.leaders
  const free = most - leaders.length + (goes(holder) || goes(oldestReleased(ex)) ? 1 : 0)
  return ofFamily(ex, account, leaders) < shareOf(most, free) ? 0 : CODE.TOO_MANY_LEADERS
}

function makeLeader(ex: Ex, account: number): Leader {
  const made: Leader = {
    row: ex.copies.rows.leaders.take(), account, state: 0, handle: '', length: 0, createdSequence: ex.sequence, releasedAt: 0, released: 0,
    leverage: new Map(), prices: new Map(),
  }
  // What it has by now, the newest of everything first: the last one counts.
  const accounts = ex.margins.accounts.filter((each) => each.account === account)
    .sort((a, b) => Number(b.parent) - Number(a.parent) || b.createdSequence - a.createdSequence)
  for (const margin of accounts) {
    for (const bucket of bucketsOf(ex, margin).sort((a, b) => b.made - a.made)) {
      for (const { pair, leverage } of positionsOf(ex, bucket).sort((a, b) => b.made - a.made)) made.leverage.set(pair, leverage)
    }
  }
  ex.copies.leaders.push(made)
  return made
}

function forget(ex: Ex, leader: Leader): void {
  leader.state = LeaderState.NAMELESS
  tellLeader(ex, leader, LeaderReason.FORGOTTEN)
  giveUpLeader(ex, leader)
}

function giveUpLeader({ copies }: Ex, leader: Leader): void {
  if (leader.state !== LeaderState.NAMELESS || copies.follows.some((each) => each.leader === leader)) return
  copies.leads = copies.leads.filter((each) => each.leader !== leader)
  copies.leaders = copies.leaders.filter((each) => each !== leader)
  copies.rows.leaders.give(leader.row)
}

/** RELEASE_LEADER. */
export function releaseLeader(ex: Ex, command: Decoded): void {
  const account = owner(ex, command)
  if (account < 0) return refuseOwner(ex, command, -account)
  const leader = ex.copies.leaders.find((each) => each.account === account && each.state === LeaderState.REGISTERED)
  if (leader === undefined) return refuseOwner(ex, command, CODE.NOT_FOUND)
  Object.assign(leader, { state: LeaderState.RELEASED, releasedAt: ex.now, released: ++ex.copies.releases })
  tellLeader(ex, leader, LeaderReason.RELEASED)
  ex.result(command, { account, detail: leader.row, originalSequence: leader.createdSequence })
}

const leastOf = (ex: Ex): bigint => BigInt(ex.genesis.limits.followLeast) * 10n ** BigInt(ex.genesis.assets[collateralOf(ex)]!.scale)
const MOST = 4_600_000_000_000_000_000n
const sizeRefusal = (ex: Ex, atoms: bigint): number =>
  (atoms > MOST ? CODE.VALIDATION_ERROR : atoms < leastOf(ex) ? CODE.ALLOCATION_TOO_SMALL : 0)

/** INSUFFICIENT_COLLATERAL, with what was asked for and what there is. */
function refuseShort(ex: Ex, command: Decoded, code: number, asked: bigint, there: bigint): void {
  if (code !== CODE.INSUFFICIENT_COLLATERAL) return refuseOwner(ex, command, code)
  ex.result(command, { code, account: -1, hold: asked, filledQuote: there, detail2: collateralOf(ex) })
}

/** CREATE_FOLLOW. */
export function createFollow(ex: Ex, command: Decoded): void {
  const account = owner(ex, command)
  const [atoms, handle] = [BigInt(command['allocation']!), String(command['handle'])]
  const code = account < 0 ? -account : createRefusal(ex, command, account, atoms)
  const parent = account < 0 ? null : parentOf(ex, account)
  if (code !== 0) return refuseShort(ex, command, code, atoms, parent === null ? 0n : freeOf(ex, parent))
  const leader = named(ex, handle, account)!
  const row = ex.copies.rows.follows.take()
  const key = `copy:${followId(ex.sequence, row)}`
  const hash = createHash('sha256').update(key).digest()
  const margin = makeMarginAccount(ex, account, false)
  const pairs = ex.genesis.pairs.map(({ index }) => index)
  const follow: Follow = {
    row, account, leader, state: FollowState.ACTIVE, margin, cross: command['mode'] === 1, maxLeverage: Number(command['maxLeverage']),
    allocation: 0n, createdSequence: ex.sequence, strategyKey: Buffer.from(key).toString('hex').padEnd(96, '0'),
    keyLow: hash.readInt32LE(0), keyHigh: hash.readInt32LE(4), seen: new Map(pairs.map((pair) => [pair, leadLots(ex, leader, pair)])),
    residual: new Map(), tried: -1, rounds: 0, closeAt: 0, openUntil: 0, openTried: -1, lastCopy: null, slippageCost: 0n,
  }
  margin.follow = follow
  ex.copies.follows.push(follow)
  allocate(ex, follow, atoms)
  tellFollow(ex, follow, FollowReason.CREATED)
  answer(ex, command, follow)
}

const answer = (ex: Ex, command: Decoded, { account, row, state, createdSequence }: Follow): void =>
  void ex.result(command, { account, detail: row, detail2: state, originalSequence: createdSequence })

function createRefusal(ex: Ex, command: Decoded, account: number, atoms: bigint): number {
  const { leaders, follows, on } = ex.copies
  if (ex.maintenance) return CODE.OPERATIONS_BLOCKED
  if (!on) return CODE.COPY_TRADING_OFF
  const handle = String(command['handle'])
  const leader = isHandle(handle, Number(command['length'])) ? named(ex, handle, account) : undefined
  if (leader === undefined || leader.state !== LeaderState.REGISTERED) return CODE.NOT_FOUND
  const own = leaders.find((each) => each.account === account)
  const leads = own !== undefined && (own.state === LeaderState.REGISTERED || followsOf(ex, own).length > 0)
  if (leads || familyOf(ex, account) === familyOf(ex, leader.account)) return CODE.CANNOT_FOLLOW
  const theirs = follows.filter((each) => each.account === account)
  if (theirs.some((each) => each.leader === leader)) return CODE.ALREADY_FOLLOWING
  const size = sizeRefusal(ex, atoms)
  if (size !== 0) return size
  const { follows: most, followsPerAccount, followersPerLeader } = ex.genesis.limits
  const within = ofFamily(ex, account, follows) < shareOf(most, most - follows.length)
  if (theirs.length >= followsPerAccount || !within) return CODE.TOO_MANY_FOLLOWS
  if (followersOf(ex, leader).length >= followersPerLeader) return CODE.LEADER_FULL
  const parent = parentOf(ex, account)
  if ((parent === null ? 0n : freeOf(ex, parent)) < atoms) return CODE.INSUFFICIENT_COLLATERAL
  return subRefusal(ex, account)
}

function allocate(ex: Ex, follow: Follow, atoms: bigint): void {
  const more = atoms - follow.allocation
  follow.allocation = atoms
  if (more === 0n) return
  const parent = parentOf(ex, follow.account)!
  const [from, to] = more > 0n ? [parent, follow.margin] : [follow.margin, parent]
  const moved = more > 0n ? more : -more
  from.deposited -= moved
  to.deposited += moved
  tellCollateral(ex, from, null, CollateralReason.SUB_ACCOUNT, -moved)
  tellCollateral(ex, to, null, CollateralReason.SUB_ACCOUNT, moved)
}

const namedFollow = (ex: Ex, command: Decoded, account: number): Follow | undefined => ex.copies.follows.find((each) =>
  each.account === account && each.row === command['follow'] && each.createdSequence === command['createdSequence'])

/** UPDATE_FOLLOW. */
export function updateFollow(ex: Ex, command: Decoded): void {
  const account = owner(ex, command)
  const follow = namedFollow(ex, command, account)
  if (account < 0 || follow === undefined) return refuseOwner(ex, command, account < 0 ? -account : CODE.NOT_FOUND)
  if (follow.state === FollowState.STOPPING) return refuseOwner(ex, command, CODE.FOLLOW_STOPPING)
  const fields = Number(command['fields'])
  const atoms = BigInt(command['allocation']!)
  const wakes = (fields & FollowField.STATE) !== 0 && command['state'] === FollowState.ACTIVE && follow.state === FollowState.CLOSE_ONLY
  const grows = (fields & FollowField.ALLOCATION) !== 0 && atoms > follow.allocation
  if (!ex.copies.on && (wakes || grows)) return refuseOwner(ex, command, CODE.COPY_TRADING_OFF)
  if ((fields & FollowField.ALLOCATION) !== 0) {
    const more = atoms - follow.allocation
    const there = freeOf(ex, more > 0n ? parentOf(ex, account)! : follow.margin)
    const asked = more < 0n ? -more : more
    const code = sizeRefusal(ex, atoms) || (there < asked ? CODE.INSUFFICIENT_COLLATERAL : 0)
    if (code !== 0) return refuseShort(ex, command, code, asked, there)
  }
  if ((fields & FollowField.STATE) !== 0) follow.state = Number(command['state'])
  if ((fields & FollowField.ALLOCATION) !== 0) allocate(ex, follow, atoms)
  tellFollow(ex, follow, FollowReason.UPDATED)
  answer(ex, command, follow)
}

/** SET_COPY_PROGRAM. */
export function setCopyProgram(ex: Ex, command: Decoded): void {
  if (Number(command['kind']) >>> 16 !== 0) return ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  const before = ex.copies.on
  ex.copies.on = command['on'] !== 0
  ex.result(command, { account: -1, pair: -1, detail: ex.copies.on ? 1 : 0, detail2: before ? 1 : 0 })
}

/** STOP_FOLLOW. */
export function stopFollow(ex: Ex, command: Decoded): void {
  const account = owner(ex, command)
  const follow = namedFollow(ex, command, account)
  if (account < 0 || follow === undefined) return refuseOwner(ex, command, account < 0 ? -account : CODE.NOT_FOUND)
  if (follow.state !== FollowState.STOPPING) {
    const walks = ex.copies.leads.filter(({ cursor }) => cursor === follow)
      .sort((a, b) => a.pair - b.pair)
    for (const lead of walks) goOnBehind(ex, lead, follow)
    leaveClosing(ex, follow)
    Object.assign(follow, { state: FollowState.STOPPING, tried: -1, rounds: 0, openUntil: 0 })
    lookFirst(ex, follow)
    tellFollow(ex, follow, FollowReason.STOPPING)
  }
  answer(ex, command, follow)
}

const PAUSES = [5000, 20_000, 80_000, 320_000]

export const isClosing = ({ copies }: Ex, follow: Follow): boolean => copies.closing.some((queue) => queue.includes(follow))

export function leaveClosing({ copies }: Ex, follow: Follow): void {
  for (const queue of copies.closing) {
    if (queue.includes(follow)) queue.splice(queue.indexOf(follow), 1)
  }
}

/** Before all others that have not waited longer. */
export function lookFirst({ copies, now }: Ex, follow: Follow): void {
  follow.closeAt = now
  copies.closing[0]!.unshift(follow)
}

/** Each pause four times, the longest from then on. */
export function lookLater({ copies, now }: Ex, follow: Follow): void {
  const pause = Math.min(3, Math.floor(follow.rounds / 4))
  follow.rounds++
  follow.closeAt = now + PAUSES[pause]!
  copies.closing[pause]!.push(follow)
}

/** Behind what is looked at after the shortest pause. */
export function lookSoon({ copies, now }: Ex, follow: Follow): void {
  follow.closeAt = now + PAUSES[0]!
  copies.closing[0]!.push(follow)
}

/** Lots wait for a price, for 20 seconds, and are tried every five. */
export function waitToOpen(ex: Ex, follow: Follow): void {
  if (follow.openUntil === 0) follow.openUntil = ex.now + 20_000
  if (isClosing(ex, follow)) {
    if (follow.closeAt <= ex.now + PAUSES[0]!) return
    leaveClosing(ex, follow)
  } else Object.assign(follow, { tried: -1, rounds: 0 })
  lookSoon(ex, follow)
}

/** It is over. */
export function endFollow(ex: Ex, follow: Follow): void {
  follow.state = FollowState.STOPPED
  tellFollow(ex, follow, FollowReason.STOPPED)
  ex.copies.follows = ex.copies.follows.filter((each) => each !== follow)
  ex.copies.rows.follows.give(follow.row)
  giveUpLeader(ex, follow.leader)
}
