/**
 * The builder-codes program in the naive exchange: what an application charges for the fills of its users' orders, and its part of what the
 * house earns. In the words of the specification (Builder fee) and of the page of interface decisions; see naive.ts.
 */
import { CommandType, Flag, Origin, originOf, typeOfKind } from '../../core/layout/command.ts'
import { APPLICATION_FEE, CREDIT, EventType } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE, DAY_MS, type NaiveExchange } from './naive.ts'
import { reward } from './naive_referrals.ts'
import { wordOf, type Order } from './naive_terms.ts'

const MILLION = 1_000_000n
const [FEE, SHARE] = [4, 5]

interface Enrolled {
  payout: number
  active: boolean
  bps: number
  makerBps: number
  /** The most that makers were ever asked. */
  mostMaker: number
  /** Times of its own changes. */
  changes: number[]
}

export class Builder {
  cap = 0
  on = false
  sharePpm = 0
  readonly applications = new Map<number, Enrolled>()
}

/** What the application adds to an order from when it was placed, and what of it was charged. */
export interface AddOn { taker: number; maker: number; sum: bigint; charged: bigint }

const ofAccount = (ex: NaiveExchange, account: number): Enrolled | undefined =>
  ex.builder.applications.get(ex.accounts[account]!.application)

/** Rates for an order placed now, ppm. */
export function addedNow(ex: NaiveExchange, account: number, flags: number): { taker: number; maker: number } {
  const enrolled = ofAccount(ex, account)
  if (!ex.builder.on || enrolled?.active !== true || originOf(flags) === Origin.LIQUIDATION) return { taker: 0, maker: 0 }
  return { taker: Math.min(ex.builder.cap, enrolled.bps) * 100, maker: Math.min(ex.builder.cap, enrolled.makerBps) * 100 }
}

export function newAddOn(ex: NaiveExchange, account: number, flags: number): AddOn | null {
  const { taker, maker } = addedNow(ex, account, flags)
  return taker === 0 && maker === 0 ? null : { taker, maker, sum: 0n, charged: 0n }
}

/** The most that makers of the account's application were ever asked, ppm. */
export const mostAdded = (ex: NaiveExchange, account: number): number => (ofAccount(ex, account)?.mostMaker ?? 0) * 100

/** What a fill of this value would add to an order. */
export function addedBy(order: Order, quote: bigint): bigint {
  if (order.addOn === null) return 0n
  const { sum, charged, maker, taker } = order.addOn
  return (sum + quote * BigInt(order.place > 0 ? maker : taker)) / MILLION - charged
}

/** Charges it; a seller of spot pays out of what is left after `fee`. */
export function chargeAddOn(order: Order, quote: bigint, fee: bigint): bigint {
  if (order.addOn === null) return 0n
  const left = quote - fee
  const due = addedBy(order, quote)
  const paid = order.margin === null && order.sell && due > left ? left : due
  order.addOn.sum += quote * BigInt(order.place > 0 ? order.addOn.maker : order.addOn.taker)
  order.addOn.charged += paid
  return paid
}

/** What the application of a resting buyer may still charge. */
export const addedInTheEnd = ({ addOn }: Order, value: bigint): bigint =>
  (addOn === null ? 0n : (addOn.sum + value * BigInt(addOn.maker)) / MILLION - addOn.charged)

interface Charged { order: Order; fee: bigint; added: bigint }

/** After FILL: add-ons go to the payout accounts, and parts of what the house earned to them and to referrers. */
export function shareFill(ex: NaiveExchange, taker: Charged, maker: Charged): void {
  const { quote } = ex.genesis.pairs[taker.order.pair]!
  for (const { order, added } of [taker, maker]) {
    if (added === 0n) continue
    ex.events.push({
      layout: APPLICATION_FEE,
      values: {
        kind: EventType.APPLICATION_FEE, account: order.account, sequence: ex.sequence, time: ex.now, pair: order.pair,
        index: taker.order.trades - 1, orderSequence: order.sequence, slot: order.slot, flags: wordOf(ex, order),
        rested: order === maker.order ? 1 : 0, asset: quote, amount: added, charged: order.addOn!.charged,
      },
    })
    credit(ex, ofAccount(ex, order.account)!.payout, quote, added, FEE)
  }
  const earned: [Order, bigint][] = [[taker.order, taker.fee + (maker.fee < 0n ? maker.fee : 0n)], [maker.order, maker.fee]]
  for (const [order, income] of earned) {
    const shared = income <= 0n ? 0n : shareRevenue(ex, order, income)
    reward(ex, order, income - shared, taker.order.trades - 1, order === maker.order)
  }
}

/** What of `income` goes to the application of the owner of `order`. */
function shareRevenue(ex: NaiveExchange, order: Order, income: bigint): bigint {
  const { quote } = ex.genesis.pairs[order.pair]!
  const enrolled = ofAccount(ex, order.account)
  const share = enrolled?.active === true ? (income * BigInt(ex.builder.sharePpm)) / MILLION : 0n
  if (share === 0n) return 0n
  ex.fees[quote] = ex.fees[quote]! - share
  credit(ex, enrolled!.payout, quote, share, SHARE)
  return share
}

function credit(ex: NaiveExchange, account: number, asset: number, amount: bigint, source: number): void {
  ex.pay(account, asset, amount)
  ex.events.push({
    layout: CREDIT,
    values: {
      kind: EventType.CREDIT, account, sequence: ex.sequence, time: ex.now, asset, source, amount,
      available: ex.available(account, asset), locked: ex.locked(account, asset), version: ex.accounts[account]!.version[asset]!,
    },
  })
}

/** Commands of the first lane only that this file answers. */
export const BUILDER_COMMANDS: ReadonlySet<CommandType> = new Set([CommandType.SET_BUILDER_PROGRAM, CommandType.ENROLL_APPLICATION])

/** SET_BUILDER_PROGRAM, ENROLL_APPLICATION and SET_BUILDER_FEE; false: it is another command. */
export function builderCommand(ex: NaiveExchange, command: Decoded): boolean {
  const kind = Number(command['kind'])
  const type = typeOfKind(kind)
  if (type === CommandType.SET_BUILDER_FEE) setFee(ex, command)
  else if (!BUILDER_COMMANDS.has(type as CommandType)) return false
  else if (kind >>> 16 !== 0) ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  else if (type === CommandType.SET_BUILDER_PROGRAM) setProgram(ex, command)
  else enroll(ex, command)
  return true
}

const within = (value: number, most: number): boolean => value >= 0 && value <= most

function setProgram(ex: NaiveExchange, command: Decoded): void {
  const [cap, share] = [Number(command['capBps']), Number(command['revenueSharePpm'])]
  if (!within(cap, 100) || !within(share, 1_000_000)) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  const before = ex.builder.cap
  Object.assign(ex.builder, { cap, on: command['builderFees'] !== 0, sharePpm: share })
  ex.result(command, { account: -1, detail: cap, detail2: before })
}

function enroll(ex: NaiveExchange, command: Decoded): void {
  const [application, account, bps, makerBps] =
    (['application', 'account', 'bps', 'makerBps'] as const).map((name) => Number(command[name])) as [number, number, number, number]
  const known = ex.builder.applications.get(application)
  const named = ex.accounts[account]
  if (ex.applications[application] === undefined || (account >= 0 && named === undefined)) return ex.refuse(command, CODE.NOT_FOUND, -1)
  if ([bps, makerBps].some((fee) => fee !== -1 && !within(fee, ex.builder.cap))) return ex.refuse(command, CODE.BUILDER_FEE_ABOVE_CAP, -1)
  if (account < 0 && known === undefined) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  if (named !== undefined && named.createdSequence !== command['createdSequence']) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const isFund = account >= 0 && account === ex.margins.fund
  if (named !== undefined && (named.application !== application || isFund)) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  const enrolled = known ?? { payout: -1, active: false, bps: 0, makerBps: 0, mostMaker: 0, changes: [] }
  ex.builder.applications.set(application, enrolled)
  if (named !== undefined) {
    enrolled.payout = account
    named.known = true
  }
  enrolled.active = command['active'] !== 0
  setFees(enrolled, bps, makerBps)
  ex.result(command, { account: enrolled.payout, detail: application, detail2: enrolled.active ? 1 : 0 })
}

function setFees(enrolled: Enrolled, bps: number, makerBps: number): void {
  if (bps !== -1) enrolled.bps = bps
  if (makerBps !== -1) enrolled.makerBps = makerBps
  enrolled.mostMaker = Math.max(enrolled.mostMaker, makerBps)
}

function setFee(ex: NaiveExchange, command: Decoded): void {
  const account = ex.signer(command)
  if (account < 0) return ex.refuse(command, CODE.SESSION_INVALID, -1)
  if (ex.signingAgent(command) !== null) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, -1)
  const [bps, given] = [Number(command['bps']), Number(command['makerBps'])]
  const off = !ex.builder.on && ex.builder.sharePpm === 0
  if (off && ex.inForce >= 5) return ex.refuse(command, CODE.BUILDER_FEES_OFF, -1)
  if (!within(bps, ex.builder.cap) || (given !== -1 && !within(given, ex.builder.cap))) {
    return ex.refuse(command, CODE.BUILDER_FEE_ABOVE_CAP, -1)
  }
  const enrolled = ofAccount(ex, account)
  if (enrolled?.active !== true) return ex.refuse(command, CODE.NOT_ENROLLED, -1)
  if (enrolled.payout !== account) return ex.refuse(command, CODE.NOT_PAYOUT_WALLET, -1)
  if (off) return ex.refuse(command, CODE.BUILDER_FEES_OFF, -1)
  const recent = (): number[] => enrolled.changes.filter((time) => time + DAY_MS > ex.now)
  const makerBps = given === -1 ? enrolled.makerBps : given
  const changes = bps !== enrolled.bps || makerBps !== enrolled.makerBps
  const next = (): Decoded => (recent().length < 2 ? {} : { expiresAt: recent()[0]! + DAY_MS })
  if (changes && recent().length >= 2) return ex.refuse(command, CODE.NO_FEE_CHANGES_LEFT, -1, 0, next())
  const [before, makerBefore] = [enrolled.bps, enrolled.makerBps]
  if (changes) enrolled.changes = [...recent(), ex.now]
  setFees(enrolled, bps, makerBps)
  ex.result(command, {
    account, price: bps, lots: before, bestPrice: makerBps, worstPrice: makerBefore, remaining: 2 - recent().length, ...next(),
  })
}

export const addOnFlag = ({ addOn }: Order): number => (addOn === null ? 0 : Flag.ADD_ON)
/** What an order that buys pays beside its value and the fee of the house. */
export const addsTo = (value: bigint, ppm: number): bigint => (value * BigInt(ppm)) / MILLION
