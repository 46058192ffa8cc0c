/**
 * Liquidation in the naive exchange (naive_margin.ts): one step of one bucket, in the order of the design. Orders end; the position that
 * needs most is sold through the book within its limits, with a fee for the fund; what the book does not take the fund takes over at the
 * bankruptcy price, if it can carry it; otherwise those who gained most for their leverage are closed against it; what a bucket without
 * positions owes the fund pays as far as it can. After each the bucket is looked at again.
 */
import { CommandType, Flag, kindOf, Origin, originFlags } from '../../core/layout/command.ts'
import { EventType, LIQUIDATION, Reason, Status } from '../../core/layout/event.ts'
import { LiquidationStatus } from '../../core/layout/margin_events.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import {
  bucketRequirement, equityOf, exact, fundingOf, initialOf, isStale, maintenanceNeeded, maintenanceOf, notionalOf, ordersOf, perpOf,
  positionsOf, roundedDown, roundedUp, tierOf, truncated, unit, unrealizedOf, type Bucket, type Position,
} from './naive_margin.ts'
import {
  changeLots, CollateralReason, findPosition, giveUpPosition, isFlat, makePosition, mayMakePosition, PositionReason, publicRow,
  publicSequence, tellCollateral,
} from './naive_margin_changes.ts'
import { fitReduceOnly } from './naive_margin_fills.ts'
import { mayPay, mayTake, paid as countPaid, taken } from './naive_fund_cover.ts'
import { openLots } from './naive_margin_prices.ts'
import { asksHolders, comesFirst, metOf } from './naive_met.ts'
import { PERP_PATH_MOST } from './naive_margin_orders.ts'
import { end, enter } from './naive_orders.ts'
import { mostLots, path, ratesOf, type Ex } from './naive_terms.ts'

/** Orders that one command ends; tries of one reduction; counterparties of one ranking, and how long it is good, ms. */
const [ENDED_MOST, TRIES_MOST, RANKED_MOST, ASKED_MOST, GOOD_MS] = [64, 8, 256, 32, 1000]

/** The bucket of the insurance fund. */
export const fundBucket = (ex: Ex): Bucket | null =>
  (ex.margins.fund < 0 ? null : ex.margins.buckets.find(({ margin }) => margin.account === ex.margins.fund)!)

const isHealthy = (ex: Ex, bucket: Bucket): boolean => equityOf(ex, bucket) >= maintenanceNeeded(ex, bucket)
const openOf = (ex: Ex, bucket: Bucket): Position[] => positionsOf(ex, bucket).filter(({ lots }) => lots !== 0)
const trades = (ex: Ex, pair: number): boolean => !isStale(ex, pair) && ex.statuses[pair] === 'ACTIVE' && perpOf(ex, pair).mode < 2
export const isFrozen = (ex: Ex, bucket: Bucket): boolean => openOf(ex, bucket).some(({ pair }) => !trades(ex, pair))

/** Whether something of a bucket with frozen positions is closed: it lacks margin, also without those whose price is stale. */
function goesOn(ex: Ex, bucket: Bucket): boolean {
  const open = openOf(ex, bucket)
  const stale = open.filter(({ pair }) => isStale(ex, pair))
  const worth = stale.reduce((sum, each) => sum + unrealizedOf(ex, each) + fundingOf(ex, each), 0n)
  const need = stale.reduce((sum, { pair, lots }) => sum + maintenanceOf(ex.margins.ladders[pair]!, notionalOf(ex, pair, lots)), 0n)
  const lacks = equityOf(ex, bucket) - worth < maintenanceNeeded(ex, bucket) - need
  return !isHealthy(ex, bucket) && lacks && open.some(({ pair }) => trades(ex, pair))
}

function tell(ex: Ex, bucket: Bucket, status: number, over: Decoded = {}): void {
  bucket.step = status
  ex.events.push({
    layout: LIQUIDATION,
    values: {
      kind: EventType.LIQUIDATION, account: bucket.margin.account, sequence: ex.sequence, time: ex.now, bucket: bucket.row,
      marginAccount: publicRow(bucket.margin), pair: -1, status, lots: 0, price: 0, amount: 0n, equity: equityOf(ex, bucket),
      maintenance: maintenanceNeeded(ex, bucket), bucketSequence: bucket.createdSequence, began: bucket.began, openedSequence: 0,
      marginAccountSequence: publicSequence(ex, bucket.margin), ...over,
    },
  })
}

/** LIQUIDATION_STEP. */
export function liquidationStep(ex: Ex, command: Decoded): void {
  const bucket = ex.margins.buckets.find(({ row, createdSequence }) =>
    row === command['bucket'] && createdSequence === command['createdSequence'])
  if (Number(command['kind']) >>> 16 !== 0) return ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  if (bucket === undefined) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const looks = Number(command['looks'])
  ex.margins.looks = { left: looks > 0 && looks < PERP_PATH_MOST ? looks : PERP_PATH_MOST }
  look(ex, bucket)
  ex.margins.looks = null
  ex.result(command, { account: bucket.margin.account })
}

function look(ex: Ex, bucket: Bucket): void {
  const own = bucket === fundBucket(ex)
  const frozen = isFrozen(ex, bucket)
  if (isHealthy(ex, bucket)) {
    if (!frozen) recover(ex, bucket)
    if (own) unwind(ex, bucket)
    return
  }
  if (frozen && !goesOn(ex, bucket)) return
  if (bucket.status === 'ACTIVE') {
    Object.assign(bucket, { status: 'LIQUIDATING', began: ex.sequence })
    tell(ex, bucket, LiquidationStatus.STARTED)
  }
  if (positionsOf(ex, bucket).some((position) => ordersOf(ex, position).length > 0)) endOrders(ex, bucket)
  else if (openOf(ex, bucket).length > 0) closeNext(ex, bucket)
  else if (!coverDeficit(ex, bucket)) return
  if (isHealthy(ex, bucket)) recover(ex, bucket)
}

/** What comes to the fund, or (below 0) goes: all that it has is committed to its bucket. */
export function addToFund(ex: Ex, fund: Bucket, reason: number, atoms: bigint): void {
  const owed = -fund.allocated - fund.realized
  if (fund.status === 'BAD_DEBT' && owed > 0n) ex.margins.badDebt -= owed < atoms ? owed : atoms
  fund.margin.deposited += atoms
  fund.allocated += atoms
  tellCollateral(ex, fund.margin, fund, reason, atoms)
}

function recover(ex: Ex, bucket: Bucket): void {
  if (bucket.began === 0) return
  bucket.status = 'ACTIVE'
  tell(ex, bucket, LiquidationStatus.COMPLETED)
  Object.assign(bucket, { began: 0, step: 0 })
}

/** Ends resting orders, position after position, the newest first. */
function endOrders(ex: Ex, bucket: Bucket): void {
  const newest = (a: Position, b: Position): number => b.made - a.made
  const orders = positionsOf(ex, bucket).sort(newest)
    .flatMap((position) => ordersOf(ex, position).sort((a, b) => b.margin!.rested - a.margin!.rested))
    .slice(0, Math.min(ENDED_MOST, ex.margins.looks!.left))
  for (const order of orders) end(ex, order, Status.CANCELLED, Reason.LIQUIDATION, 0, false)
  tell(ex, bucket, LiquidationStatus.ORDERS_CANCELLED, { lots: orders.length })
}

/** The position with the largest maintenance margin, the newest of several. */
function largest(ex: Ex, positions: Position[]): Position | null {
  const needs = ({ pair, lots }: Position): bigint => maintenanceOf(ex.margins.ladders[pair]!, notionalOf(ex, pair, lots))
  const sorted = [...positions].sort((a, b) => (needs(a) === needs(b) ? b.made - a.made : needs(a) < needs(b) ? 1 : -1))
  return sorted[0] ?? null
}

/** The position that lost most, the newest of several. */
const loser = (ex: Ex, positions: Position[]): Position =>
  positions.toSorted((a, b) => Number(unrealizedOf(ex, a) - unrealizedOf(ex, b)) || b.made - a.made)[0]!

const onGrid = (ex: Ex, tick: number): number => Math.min(ex.genesis.limits.priceTicks - 1, Math.max(1, tick))

/** Whole ticks that so many atoms are worth to a position, never more than they are. */
const ticksOf = (ex: Ex, { pair, lots }: Position, atoms: bigint): number =>
  Math.max(-(2 ** 30), Math.min(2 ** 30, Number(roundedDown(exact(atoms).div(unit(ex, pair).times(Math.abs(lots)))))))

/** The price at which closing the position leaves its bucket with nothing, in its favour. */
function bankruptcyOf(ex: Ex, position: Position): number {
  const ticks = ticksOf(ex, position, equityOf(ex, position.bucket))
  return onGrid(ex, perpOf(ex, position.pair).mark + (position.lots > 0 ? -ticks : ticks))
}

/** The mark, less or more by so many ppm. */
function movedMark(ex: Ex, pair: number, sells: boolean, ppm: number): number {
  const { mark } = perpOf(ex, pair)
  const band = Number(roundedDown(exact(mark).times(ppm).div(1e6)))
  return onGrid(ex, sells ? mark - band : mark + band)
}

/** The worst price at which the position may be reduced: within the band, and so that the fee of the order is paid too. */
function limitOf(ex: Ex, position: Position): number {
  const { pair, lots, bucket } = position
  const ticks = ticksOf(ex, position, equityOf(ex, bucket) - 1n)
  const fee = exact(Math.max(0, ratesOf(ex, bucket.margin.account, pair).taker)).div(1e6)
  const { mark } = perpOf(ex, pair)
  const band = movedMark(ex, pair, lots > 0, ex.genesis.pairs[pair]!.perp!.markBandPpm)
  if (lots > 0) return Math.max(band, onGrid(ex, Number(roundedUp(exact(Math.max(1, mark - ticks)).div(exact(1).minus(fee))))))
  return Math.min(band, onGrid(ex, Number(roundedDown(exact(Math.max(1, mark + ticks)).div(exact(1).plus(fee))))))
}

/** Lots by which a position is to be reduced: into the tier below, a fifth at least; in the first tier all. */
function lotsToReduce(ex: Ex, { pair, lots }: Position): number {
  const size = Math.abs(lots)
  const ladder = ex.margins.ladders[pair]!
  const tier = tierOf(ladder, notionalOf(ex, pair, size))
  if (tier === ladder[0]) return size
  const below = Number(truncated(tier.bound.minus(1).div(unit(ex, pair).times(perpOf(ex, pair).mark))))
  return Math.max(size - below, Math.ceil(size / 5))
}

const meetsBook = (ex: Ex, { pair, lots }: Position, limit: number): boolean => path(ex, pair, lots > 0, limit).length > 0

/** Sells or buys back `lots` of a position at `limit` or better, by orders that nobody sent. */
function reduce(ex: Ex, position: Position, lots: number, limit: number): { taken: number; quote: bigint } {
  const { pair, bucket } = position
  const sells = position.lots > 0
  const most = Math.min(lots, mostLots(ex, pair, sells, limit))
  let [left, quote] = [most, 0n]
  for (let tries = 0; left > 0 && tries < TRIES_MOST && ex.margins.looks!.left > 0 && path(ex, pair, sells, limit).length > 0; tries++) {
    const flags = (sells ? Flag.SELL : 0) | Flag.IOC | Flag.CANCEL_BOTH | Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CLOSE |
      (bucket.cross ? Flag.CROSS : 0) | originFlags(Origin.LIQUIDATION)
    const command: Decoded = {
      kind: kindOf(CommandType.ENTER_ORDER, 1, 0), correlation: 0, session: -1, pair, flags, price: limit, lots: left, slippageBps: 0,
      options: 0, expiresAt: 0, position: position.row + 1, namedSequence: position.openedSequence, collateral: 0n, leverage: 0,
    }
    const result = enter(ex, command, bucket.margin.account, null, flags, () => undefined)
    if (result === null) break
    left -= Number(result['lots']) - Number(result['remaining'])
    quote += BigInt(result['filledQuote']!)
    if (Number(result['outcome']) >>> 8 !== Reason.SELF_TRADE_PREVENTION) break
  }
  return { taken: most - left, quote }
}

/** Closes lots of the position that needs most: through the book, by the fund, against others. */
function closeNext(ex: Ex, bucket: Bucket): void {
  const closable = openOf(ex, bucket).filter(({ pair }) => trades(ex, pair))
  const position = equityOf(ex, bucket) < 0n ? loser(ex, closable) : largest(ex, closable)!
  const limit = limitOf(ex, position)
  if (meetsBook(ex, position, limit)) {
    const asked = Math.min(lotsToReduce(ex, position), mostLots(ex, position.pair, position.lots > 0, limit))
    const { pair, openedSequence } = position
    const { taken, quote } = reduce(ex, position, asked, limit)
    if (taken > 0) {
      const amount = chargeFee(ex, bucket, roundedUp(exact(quote).times(ex.genesis.pairs[pair]!.perp!.liquidationFeePpm).div(1e6)))
      const price = Number(truncated(exact(quote).div(taken).div(unit(ex, pair))))
      tell(ex, bucket, LiquidationStatus.REDUCED, { pair, openedSequence, lots: taken, price, amount })
    }
    // What it took is not all that the book has: the next step goes on with it.
    if (taken * 5 >= asked || ex.margins.looks!.left <= 0 || isHealthy(ex, bucket)) return
  }
  const asked = askFirst(ex, bucket, position)
  if (asked === null || takeOver(ex, bucket, position)) return
  deleverage(ex, bucket, position, asked)
}

/** The fund gets the fee, of what equity the bucket has left. */
function chargeFee(ex: Ex, bucket: Bucket, asked: bigint): bigint {
  const fund = fundBucket(ex)
  const equity = equityOf(ex, bucket)
  const fee = asked < equity ? asked : equity
  if (fee <= 0n || fund === null || fund === bucket) return 0n
  bucket.realized -= fee
  tellCollateral(ex, bucket.margin, bucket, CollateralReason.LIQUIDATION_FEE, -fee)
  addToFund(ex, fund, CollateralReason.LIQUIDATION_FEE, fee)
  return fee
}

/** The fund takes the position, if it has the initial margin floor of all that it has then. */
function takeOver(ex: Ex, bucket: Bucket, position: Position): boolean {
  const fund = fundBucket(ex)
  if (fund === null || fund === bucket || fund.status !== 'ACTIVE') return false
  const { pair, lots, openedSequence } = position
  const price = bankruptcyOf(ex, position)
  const known = findPosition(ex, fund, pair)
  if (known === null && !mayMakePosition(ex, fund.margin.account)) return false
  const after = (known?.lots ?? 0) + lots
  if (Math.abs(after) > ex.genesis.pairs[pair]!.perp!.maxPositionLots) return false
  const gain = unrealizedOf(ex, { ...position, cost: BigInt(lots) * BigInt(price) * ex.genesis.pairs[pair]!.tickLotAtoms })
  const floor = (of: number, size: number): bigint => initialOf(ex.margins.ladders[of]!, notionalOf(ex, of, size), 0)
  const others = positionsOf(ex, fund).filter((each) => each !== known)
  const lacks = others.reduce((sum, each) => sum + floor(each.pair, each.lots), floor(pair, after)) - equityOf(ex, fund) - gain
  if (lacks > 0n || !mayTake(ex, fund, bucket, { pair, lots, after, gain })) return false
  const target = known ?? makePosition(ex, fund, pair)
  changeLots(ex, position, -lots, price, PositionReason.TAKE_OVER)
  changeLots(ex, target, lots, price, PositionReason.TAKE_OVER)
  taken(ex, bucket, pair, gain)
  giveUpPosition(ex, position)
  giveUpPosition(ex, target)
  tell(ex, bucket, LiquidationStatus.TAKEN_OVER, { pair, openedSequence, lots: Math.abs(lots), price })
  return true
}

function scoreOf(ex: Ex, position: Position): number {
  const cost = position.cost < 0n ? -position.cost : position.cost
  return (Number(unrealizedOf(ex, position)) / Number(cost === 0n ? 1n : cost)) * position.leverage
}

/** Positions of the other side, by profit times leverage; made anew when it is old or all were asked. */
function rankingOf(ex: Ex, pair: number, shorts: boolean): Ranking {
  const name = `${pair} ${shorts}`
  const known = ex.margins.rankings.get(name)
  if (known !== undefined && known.next < known.ranked.length && ex.now - known.began < GOOD_MS) return known
  const score = (position: Position): number => scoreOf(ex, position)
  const side = ex.margins.positions.filter((each) => each.pair === pair && (shorts ? each.lots < 0 : each.lots > 0))
  const ranked = side.sort((a, b) => score(b) - score(a) || a.row - b.row).slice(0, RANKED_MOST)
  const made = { began: ex.now, next: 0, ranked: ranked.map((position) => ({ position, openedSequence: position.openedSequence })) }
  ex.margins.rankings.set(name, made)
  return made
}

export interface Ranking { began: number; next: number; ranked: { position: Position; openedSequence: number }[] }

/** Closes so many lots of a counterparty as it has, `left` at most; how many. */
function closeAgainst(ex: Ex, other: Position, buys: boolean, left: number, price: number): number {
  const closed = Math.min(left, Math.abs(other.lots))
  ex.waiting.closed = 0
  changeLots(ex, other, buys ? closed : -closed, price, PositionReason.DELEVERAGE)
  const ended = ex.waiting.closed + fitReduceOnly(ex, other, (order, reason) => end(ex, order, Status.CANCELLED, reason, 0, false))
  ex.margins.looks!.left -= 1 + ended
  giveUpPosition(ex, other)
  return closed
}

/** The position was closed against others for so many lots. */
function finishDeleverage(ex: Ex, bucket: Bucket, position: Position, lots: number, price: number): void {
  const { pair, openedSequence } = position
  changeLots(ex, position, position.lots > 0 ? -lots : lots, price, PositionReason.DELEVERAGE)
  giveUpPosition(ex, position)
  tell(ex, bucket, LiquidationStatus.DELEVERAGED, { pair, openedSequence, lots, price })
}

/** Who comes before the fund. null: something was closed; otherwise a ranking that was made for it, if there was one. */
function askFirst(ex: Ex, bucket: Bucket, position: Position): Ranking | null | undefined {
  const { pair, lots } = position
  const price = bankruptcyOf(ex, position)
  const size = Math.abs(lots)
  let left = size
  const ask = (others: Position[]): void => {
    for (const other of others) if (left > 0 && ex.margins.looks!.left > 0) left -= closeAgainst(ex, other, lots > 0, left, price)
  }
  ask(ex.inForce < 5 ? [] : metOf(ex, position, (of) => scoreOf(ex, of)))
  let ranking: Ranking | undefined
  if (left === size && asksHolders(ex, pair)) {
    const open = openLots(ex, pair)
    ranking = rankingOf(ex, pair, lots > 0)
    const there = ranking.ranked.slice(ranking.next).filter(({ position: other, openedSequence }) =>
      other.openedSequence === openedSequence && Math.sign(other.lots) === -Math.sign(lots) && comesFirst(ex, position, other, open))
    ask(there.map(({ position: other }) => other))
  }
  if (left === size) return ranking
  finishDeleverage(ex, bucket, position, size - left, price)
  return null
}

/** Closes the position against others at the bankruptcy price. */
function deleverage(ex: Ex, bucket: Bucket, position: Position, known: Ranking | undefined): void {
  const { pair, lots } = position
  const price = bankruptcyOf(ex, position)
  const ranking = known ?? rankingOf(ex, pair, lots > 0)
  const size = Math.abs(lots)
  let left = size
  for (let asked = 0; left > 0 && asked < ASKED_MOST && ex.margins.looks!.left > 0 && ranking.next < ranking.ranked.length;) {
    const { position: other, openedSequence: opened } = ranking.ranked[ranking.next]!
    ranking.next++
    if (other.openedSequence !== opened || Math.sign(other.lots) !== -Math.sign(lots)) continue
    asked++
    const held = Math.abs(other.lots)
    const closed = closeAgainst(ex, other, lots > 0, left, price)
    if (closed < held) ranking.next--
    left -= closed
  }
  if (left < size) finishDeleverage(ex, bucket, position, size - left, price)
}

/** What the fund can pay: what it does not need for its positions, and has no gain of. */
function payable(ex: Ex, fund: Bucket): bigint {
  const spare = equityOf(ex, fund) - bucketRequirement(ex, fund)
  const most = spare < fund.allocated ? spare : fund.allocated
  return most > 0n ? most : 0n
}

/** The fund pays for a bucket that has no position left and owes something. True: all of it. */
function coverDeficit(ex: Ex, bucket: Bucket): boolean {
  const owed = (): bigint => (bucket.allocated + bucket.realized < 0n ? -bucket.allocated - bucket.realized : 0n)
  const fund = fundBucket(ex)
  if (bucket.status === 'BAD_DEBT') ex.margins.badDebt -= owed()
  const most = fund === null || fund === bucket ? 0n : mayPay(ex, fund, bucket, payable(ex, fund))
  const paid = most < owed() ? most : owed()
  if (paid > 0n) {
    addToFund(ex, fund!, CollateralReason.INSURANCE, -paid)
    bucket.realized += paid
    countPaid(ex, bucket, paid)
    tellCollateral(ex, bucket.margin, bucket, CollateralReason.INSURANCE, paid)
  }
  if (owed() === 0n) return true
  ex.margins.badDebt += owed()
  bucket.status = 'BAD_DEBT'
  tell(ex, bucket, LiquidationStatus.BAD_DEBT, { amount: owed() })
  return false
}

/** The healthy fund sells a fifth of what needs most of what the book can take; without positions it settles what they made. */
function unwind(ex: Ex, fund: Bucket): void {
  const limit = ({ pair, lots }: Position): number => movedMark(ex, pair, lots > 0, ex.genesis.pairs[pair]!.perp!.liquidationFeePpm)
  const sellable = openOf(ex, fund).filter((position) => trades(ex, position.pair) && meetsBook(ex, position, limit(position)))
  const position = largest(ex, sellable)
  if (position !== null) reduce(ex, position, Math.ceil(Math.abs(position.lots) / 5), limit(position))
  if (!isFlat(ex, fund) || fund.realized === 0n) return
  const { realized } = fund
  fund.realized = 0n
  addToFund(ex, fund, CollateralReason.SETTLED, realized)
}
