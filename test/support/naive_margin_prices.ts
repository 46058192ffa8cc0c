/**
 * Index prices, marks and funding in the naive exchange (naive_margin.ts): prices are fractions of a tick with as many digits as it takes,
 * and every division is cut once.
 */
import { Decimal } from 'decimal.js'
import { FUNDING_RATE, MARK } from '../../core/layout/event.ts'
import { EventType } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { exact, isPerp, isStale, perpOf, roundedDown, truncated, type Perp } from './naive_margin.ts'
import { CollateralReason, collateralOf, makeBucket, makeParent, roomForMarginAccount } from './naive_margin_changes.ts'
import { addToFund } from './naive_margin_liquidation.ts'
import { otherSide, type Ex } from './naive_terms.ts'
import { impactPrice } from './naive_impact.ts'
import { forgetMarks, isBehind, noteMark } from './naive_triggers.ts'

const MINUTE = 60_000
const EIGHT_HOUR_MINUTES = 480

const termsOf = (ex: Ex, pair: number): NonNullable<Ex['genesis']['pairs'][number]['perp']> => ex.genesis.pairs[pair]!.perp!
const between = (low: Decimal, value: Decimal, high: Decimal): Decimal => Decimal.min(high, Decimal.max(low, value))

/** Lowest and highest mark, ticks. */
function bandOf(ex: Ex, pair: number): [low: Decimal, high: Decimal] {
  const { index } = perpOf(ex, pair)
  const width = exact(roundedDown(exact(index).times(termsOf(ex, pair).markBandPpm).div(1e6)))
  return [Decimal.max(1, exact(index).minus(width)), Decimal.min(ex.genesis.limits.priceTicks - 1, exact(index).plus(width))]
}

const takesOrders = (ex: Ex, pair: number): boolean => ex.statuses[pair] === 'ACTIVE'

/** Best bid and best ask, ticks; null: a side is empty, or nobody can trade. */
function touchOf(ex: Ex, pair: number): [bid: Decimal, ask: Decimal] | null {
  const [bid, ask] = [otherSide(ex, pair, true)[0], otherSide(ex, pair, false)[0]]
  return bid === undefined || ask === undefined || !takesOrders(ex, pair) ? null : [exact(bid.price), exact(ask.price)]
}

/** Middle between the two, ticks. */
function middleOf(ex: Ex, pair: number): Decimal | null {
  const touch = touchOf(ex, pair)
  return touch === null ? null : touch[0].plus(touch[1]).div(2)
}

function boundedMiddle(ex: Ex, pair: number): Decimal | null {
  const middle = middleOf(ex, pair)
  const [low, high] = bandOf(ex, pair)
  return middle === null ? null : between(low, middle, high)
}

/** Ticks × lots that each side must bear: the terms' notional, and a hundredth of what is open. */
function notionalOf(ex: Ex, pair: number): Decimal {
  const { impactAtoms } = termsOf(ex, pair)
  const { tickLotAtoms } = ex.genesis.pairs[pair]!
  const stated = Decimal.max(1, exact(impactAtoms).div(exact(tickLotAtoms)).ceil())
  const ofOpen = exact(openLots(ex, pair)).div(100).floor().times(perpOf(ex, pair).index)
  return Decimal.min(2 ** 46, Decimal.max(stated, ofOpen))
}

/** How far the book is beyond the index, millionths of a tick: nothing where the index is between both prices; null: it is too thin. */
function premiumOfBook(ex: Ex, pair: number): Decimal | null {
  if (!takesOrders(ex, pair)) return null
  const notional = notionalOf(ex, pair)
  const [bid, ask] = [impactPrice(ex, pair, notional, true), impactPrice(ex, pair, notional, false)]
  if (bid === null || ask === null) return null
  const index = exact(perpOf(ex, pair).index).times(1e6)
  return Decimal.max(0, bid.minus(index)).minus(Decimal.max(0, index.minus(ask)))
}

/** What the basis goes to: the premium, within half of what the first tier asks for initial margin beyond maintenance. */
function basisTarget(ex: Ex, pair: number): Decimal {
  const { initialPpm, maintenancePpm } = termsOf(ex, pair).tiers[0]!
  const most = exact(perpOf(ex, pair).index).times(Math.floor((initialPpm - maintenancePpm) / 2))
  return between(most.neg(), premiumOfBook(ex, pair) ?? exact(0), most)
}

/** The basis learns what it lacks to the middle of the book, in proportion to the time since it learned last. */
function smooth(ex: Ex, pair: number): void {
  const perp = perpOf(ex, pair)
  const since = perp.basisAt
  perp.basisAt = ex.now
  const middle = boundedMiddle(ex, pair)
  if (since === 0 || (ex.inForce < 5 && middle === null)) return
  const passed = Math.min(termsOf(ex, pair).staleMs, ex.now - since)
  const target = ex.inForce < 5 ? middle!.minus(perp.index).times(1e6) : basisTarget(ex, pair)
  const lacks = target.minus(exact(perp.basis))
  perp.basis += truncated(lacks.times(passed).div(passed + termsOf(ex, pair).basisMs))
}

/** The mark by what there is now. */
export function setMark(ex: Ex, pair: number): void {
  const perp = perpOf(ex, pair)
  if (perp.forcedUntil <= ex.now) Object.assign(perp, { forcedMark: 0, forcedUntil: 0 })
  if (perp.mode >= 2) perp.mark = perp.settlement
  else perp.mark = perp.forcedMark === 0 ? marketMark(ex, pair, perp) : perp.forcedMark
}

const medianOf = (three: Decimal[]): Decimal => three.sort((a, b) => a.comparedTo(b))[1]!

/** Bid, ask and last trade; null: the book says nothing. */
function touchPrice(ex: Ex, pair: number, last: number): Decimal | null {
  const touch = touchOf(ex, pair)
  return touch === null ? null : medianOf([...touch, last === 0 ? middleOf(ex, pair)! : exact(last)])
}

/** The book against the index and the index with its basis. */
function marketMark(ex: Ex, pair: number, { index, basis, last }: Perp): number {
  const fair = exact(index).plus(exact(basis).div(1e6))
  const book = ex.inForce < 5 ? touchPrice(ex, pair, last) : (premiumOfBook(ex, pair)?.div(1e6).plus(index) ?? null)
  const [low, high] = bandOf(ex, pair)
  return between(low, exact(roundedDown(medianOf([exact(index), fair, book ?? fair]).plus(0.5))), high).toNumber()
}

/** Premium of the book over the index, 10^-8. */
function premiumOf(ex: Ex, pair: number): bigint {
  const { index, mark } = perpOf(ex, pair)
  if (ex.inForce < 5) return truncated((boundedMiddle(ex, pair) ?? exact(mark)).minus(index).times(1e8).div(index))
  const [low, high] = bandOf(ex, pair)
  const premium = premiumOfBook(ex, pair) ?? exact(0)
  return truncated(between(low.minus(index).times(1e6), premium, high.minus(index).times(1e6)).times(100).div(index))
}

/**
 * What a premium of eight hours is for the minutes that were sampled, 10^-8, within the cap: each of them pays its own premium, and those
 * of the interval that are still to come are expected to be like them.
 */
export function rateSoFar(ex: Ex, pair: number): number {
  const { premiumSum, samples, nextSampleAt, nextFundingAt } = perpOf(ex, pair)
  if (samples === 0) return 0
  const { rateCap } = termsOf(ex, pair)
  let toCome = 0
  for (let at = nextSampleAt; at <= nextFundingAt; at += MINUTE) toCome++
  const rate = exact(premiumSum).times(samples + toCome).div(samples * EIGHT_HOUR_MINUTES)
  return between(exact(-rateCap), exact(truncated(rate)), exact(rateCap)).toNumber()
}

/** Lots of all longs. */
export const openLots = (ex: Ex, pair: number): number =>
  ex.margins.positions.reduce((sum, { pair: of, lots }) => sum + (of === pair ? Math.max(0, lots) : 0), 0)

export function tellMark(ex: Ex, pair: number): void {
  const { index, mark, source, mode, observedAt, lastRate, nextFundingAt } = perpOf(ex, pair)
  ex.events.push({
    layout: MARK,
    values: {
      kind: EventType.MARK, pair, sequence: ex.sequence, time: ex.now, index, mark, source, mode, observedAt, openLots: openLots(ex, pair),
      predictedRate: rateSoFar(ex, pair), lastRate, nextFundingAt,
    },
  })
}

const nextMultiple = (time: number, step: number): number => (Math.floor(time / step) + 1) * step
const nextEnd = (ex: Ex, pair: number): number => nextMultiple(ex.now, 1000 * termsOf(ex, pair).fundingIntervalSeconds)

function priceRefusal(ex: Ex, command: Decoded): number {
  const [pair, price, source] = [Number(command['pair']), Number(command['price']), Number(command['source'])]
  if (Number(command['kind']) >>> 16 !== 0) return CODE.OPERATOR_ONLY
  if (!isPerp(ex, pair)) return CODE.NOT_FOUND
  if (price < 1 || price >= ex.genesis.limits.priceTicks || source < 0 || source > 3) return CODE.VALIDATION_ERROR
  const { mode, index } = perpOf(ex, pair)
  if (mode >= 2) return CODE.WRONG_PERP_MODE
  if (isBehind(ex, pair)) return CODE.TRIGGERS_BEHIND
  if (command['force'] !== 0 || index === 0 || isNear(ex, pair, index, price)) return 0
  if (!isStale(ex, pair)) return CODE.PRICE_OUT_OF_BAND
  return thirdOfThree(ex, pair, price) ? 0 : CODE.PRICE_OUT_OF_BAND
}

const isNear = (ex: Ex, pair: number, around: number, price: number): boolean =>
  exact(Math.abs(price - around)).div(around).lte(exact(stepOf(ex, pair)).div(1e6))

/** Ppm that one price may be from the one before: since the rules 5 no more than the least initial margin bears with its costs. */
function stepOf(ex: Ex, pair: number): number {
  const { indexBandPpm, liquidationFeePpm, tiers } = termsOf(ex, pair)
  if (ex.inForce < 5) return indexBandPpm
  const { initialPpm } = tiers[0]!
  const bears = initialPpm - liquidationFeePpm - ex.genesis.pairs[pair]!.takerPpm
  return Math.max(1, Math.min(indexBandPpm, Math.max(bears, Math.floor(initialPpm / 4))))
}

/** What is far from a stale index must be said three times in a row, a second apart. */
function thirdOfThree(ex: Ex, pair: number, price: number): boolean {
  const perp = perpOf(ex, pair)
  const last = perp.suspects.at(-1)
  if (last === undefined || !isNear(ex, pair, last.price, price)) perp.suspects = [{ price, at: ex.now }]
  else if (ex.now >= last.at + 1000) perp.suspects.push({ price, at: ex.now })
  return perp.suspects.length === 3
}

/** The insurance fund begins with the first index price: an account that no wallet signs for. */
function makeFund(ex: Ex): void {
  const { riskBuckets } = ex.genesis.limits
  if (ex.margins.fund >= 0 || !roomForMarginAccount(ex) || ex.margins.buckets.length >= riskBuckets || !ex.hasRoom()) return
  ex.margins.fund = ex.newAccount(0, '0'.repeat(40), -1)
  makeBucket(ex, makeParent(ex, ex.margins.fund), true, -1, 0, 0)
}

/** FUND_INSURANCE: fee income of the house goes to the fund, into its bucket. */
export function fundInsurance(ex: Ex, command: Decoded): void {
  const atoms = BigInt(command['amount']!)
  if (Number(command['kind']) >>> 16 !== 0) return ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  if (atoms < 1n) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  if (ex.margins.fund < 0) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const asset = collateralOf(ex)
  if (atoms > ex.fees[asset]!) return ex.refuse(command, CODE.INSUFFICIENT_BALANCE, -1)
  const margin = makeParent(ex, ex.margins.fund)
  const bucket = ex.margins.buckets.find((each) => each.margin === margin)!
  ex.fees[asset] = ex.fees[asset]! - atoms
  addToFund(ex, bucket, CollateralReason.INSURANCE, atoms)
  ex.result(command, { account: -1, hold: margin.deposited })
}

/** SET_INDEX_PRICE. */
export function setIndexPrice(ex: Ex, command: Decoded): void {
  const code = priceRefusal(ex, command)
  if (code !== 0) return ex.refuse(command, code, -1)
  const pair = Number(command['pair'])
  const perp = perpOf(ex, pair)
  const before = perp.index
  if (before === 0) Object.assign(perp, { nextSampleAt: nextMultiple(ex.now, MINUTE), nextFundingAt: nextEnd(ex, pair) })
  makeFund(ex)
  const { price: index, source, observedAt } = command
  noteJump(ex, pair, before, Number(index), command['force'] !== 0)
  Object.assign(perp, { index, source, indexAt: ex.now, observedAt, suspects: [] })
  smooth(ex, pair)
  setMark(ex, pair)
  noteMark(ex, pair)
  tellMark(ex, pair)
  ex.result(command, { account: -1, pair, detail: perp.mark, detail2: before })
}

const isOver = (ex: Ex, at: number): boolean => at !== 0 && at <= ex.now

/** Perpetuals of which a sample or an interval is over at `time`. */
export const fundingDue = (ex: Ex, time: number): number[] =>
  ex.genesis.pairs.map((_, pair) => pair).filter((pair) => {
    if (!isPerp(ex, pair)) return false
    const { nextSampleAt, nextFundingAt } = perpOf(ex, pair)
    return [nextSampleAt, nextFundingAt].some((at) => at !== 0 && at <= time)
  })

/** FUNDING_STEP: a sample, the end of an interval, or both. */
export function fundingStep(ex: Ex, command: Decoded): void {
  const pair = Number(command['pair'])
  if (Number(command['kind']) >>> 16 !== 0) return ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  if (!fundingDue(ex, ex.now).includes(pair)) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const perp = perpOf(ex, pair)
  if (isOver(ex, perp.nextSampleAt)) {
    perp.nextSampleAt = nextMultiple(ex.now, MINUTE)
    const samples = !isStale(ex, pair) && takesOrders(ex, pair)
    if (samples) Object.assign(perp, { premiumSum: perp.premiumSum + premiumOf(ex, pair), samples: perp.samples + 1 })
  }
  if (isOver(ex, perp.nextFundingAt)) endInterval(ex, pair, perp)
  tellMark(ex, pair)
  ex.result(command, { account: -1 })
}

function endInterval(ex: Ex, pair: number, perp: Perp): void {
  const { samples } = perp
  const rate = isStale(ex, pair) ? 0 : rateSoFar(ex, pair)
  // What one long lot pays, in millionths of an atom.
  const paid = exact(perp.mark).times(exact(ex.genesis.pairs[pair]!.tickLotAtoms)).times(rate).div(1e8).times(1e6)
  perp.cumulative += truncated(paid)
  Object.assign(perp, { lastRate: rate, lastFundingAt: ex.now, premiumSum: 0n, samples: 0, nextFundingAt: nextEnd(ex, pair) })
  const { index, mark, cumulative } = perp
  ex.events.push({
    layout: FUNDING_RATE,
    values: {
      kind: EventType.FUNDING_RATE, pair, sequence: ex.sequence, time: ex.now, rate, samples, index, mark,
      cumulative: BigInt.asIntN(64, cumulative), openLots: openLots(ex, pair),
    },
  })
}

const windowOf = (ex: Ex, pair: number): number => perpOf(ex, pair).jumpWindow ?? termsOf(ex, pair).jumpWindowMs

/** An index that moves too far in a window must be said thrice more before anything opens. */
function noteJump(ex: Ex, pair: number, before: number, price: number, forced: boolean): void {
  const { jump } = perpOf(ex, pair)
  const window = windowOf(ex, pair)
  if (ex.inForce < 5 || window === 0) return
  if (forced || before === 0) Object.assign(jump, { from: price, at: ex.now, left: 0 })
  else {
    if (jump.left === 0 && ex.now >= jump.at + window) Object.assign(jump, { from: before, at: ex.now })
    const far = exact(Math.abs(price - jump.from)).div(jump.from).gt(exact(termsOf(ex, pair).tiers[0]!.maintenancePpm).div(1e6))
    if (far) Object.assign(jump, { from: price, at: ex.now, left: 3 })
    else if (jump.left > 0 && ex.now >= jump.at + 1000) Object.assign(jump, { at: ex.now, left: jump.left - 1 })
  }
}

/** What the fund covers of a perpetual: ppm of it, and atoms for one owner. */
export const coverOf = (ex: Ex, pair: number): { share: number; allowance: number } =>
  perpOf(ex, pair).cover ?? { share: termsOf(ex, pair).fundSharePpm, allowance: termsOf(ex, pair).fundAllowance }

/** SET_PERP: mode, cap of open interest or forced mark. */
export function setPerp(ex: Ex, command: Decoded): void {
  const [pair, setting, value] = [Number(command['pair']), Number(command['setting']), Number(command['value'])]
  if (Number(command['kind']) >>> 16 !== 0) return ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  if (!isPerp(ex, pair)) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const perp = perpOf(ex, pair)
  const code = settingRefusal(ex, command, perp)
  if (code !== 0) return ex.refuse(command, code, -1)
  const before = [perp.mode, perp.openCap, perp.forcedMark, coverOf(ex, pair).allowance, windowOf(ex, pair)][setting]!
  if (setting === 0) setMode(ex, pair, perp, value, Number(command['price']))
  else if (setting === 1) perp.openCap = Number(command['number'])
  else if (setting === 4) {
    perp.jumpWindow = value * 1000
    if (value === 0) perp.jump.left = 0
  } else if (setting === 3) perp.cover = { share: value, allowance: Number(command['number']) }
  else {
    Object.assign(perp, { forcedMark: value, forcedUntil: value === 0 ? 0 : Number(command['number']) })
    setMark(ex, pair)
    noteMark(ex, pair)
  }
  tellMark(ex, pair)
  ex.result(command, { account: -1, pair, detail: setting, originalSequence: before })
}

function settingRefusal(ex: Ex, command: Decoded, perp: Perp): number {
  const [setting, value, price, number] = ['setting', 'value', 'price', 'number'].map((name) => Number(command[name])) as
    [number, number, number, number]
  const isPrice = (ticks: number): boolean => ticks >= 1 && ticks < ex.genesis.limits.priceTicks
  if (setting === 0) {
    if (![0, 1, 2].includes(value) || (value === 2 && !isPrice(price))) return CODE.VALIDATION_ERROR
    return perp.mode === 2 || (perp.mode === 3 && value === 2) ? CODE.WRONG_PERP_MODE : 0
  }
  if (setting === 1) return Number.isSafeInteger(number) && number >= 0 ? 0 : CODE.VALIDATION_ERROR
  if (setting === 3 && ex.inForce >= 5) {
    return value >= 0 && value <= 1e6 && Number.isSafeInteger(number + 1) && number >= 0 ? 0 : CODE.VALIDATION_ERROR
  }
  if (setting === 4 && ex.inForce >= 5) return value >= 0 && value <= 3600 ? 0 : CODE.VALIDATION_ERROR
  if (setting !== 2 || (value !== 0 && !(isPrice(value) && number > ex.now))) return CODE.VALIDATION_ERROR
  if (perp.mode >= 2) return CODE.WRONG_PERP_MODE
  if (isBehind(ex, Number(command['pair']))) return CODE.TRIGGERS_BEHIND
  return perp.index === 0 ? CODE.PRICE_STALE : 0
}

function setMode(ex: Ex, pair: number, perp: Perp, mode: number, price: number): void {
  const before = perp.mode
  perp.mode = mode
  perp.jump.left = 0
  if (mode === 2) {
    Object.assign(perp, { settlement: price, cursor: 0, forcedMark: 0, forcedUntil: 0, nextSampleAt: 0, nextFundingAt: 0 })
    Object.assign(perp, { premiumSum: 0n, samples: 0 })
    setMark(ex, pair)
  } else if (before === 3) {
    Object.assign(perp, { index: 0, mark: 0, settlement: 0, indexAt: 0, observedAt: 0, basisAt: 0, basis: 0n, suspects: [] })
    forgetMarks(ex, pair)
  }
}
