/**
 * TWAP orders in the naive exchange: rows, schedule and commands, as plain objects. The schedule is written out once more from its formula
 * (core/orders/twap_schedule.ts), hashed in whole numbers of any size; slices are in naive_twap_slice.ts. See naive.ts.
 */
import { Flag } from '../../core/layout/command.ts'
import { ConditionType, LegFlag } from '../../core/layout/conditional.ts'
import { EventType, Reason, Status } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { TWAP_OPENED, TWAP_ORDER, TwapOption, TwapReason, TwapState } from '../../core/layout/twap.ts'
import { CODE } from './naive.ts'
import { lacksToCancelOn, owner, refuseOwner } from './naive_agents.ts'
import {
  freeConditional, isCrossed, makeConditional, markCounts, mayFire, roomForConditionals, roomForTwap, takeAway, watchPrice,
  type Conditional,
} from './naive_conditional.ts'
import { payerOf } from './naive_families.ts'
import { leaseRefusal } from './naive_launches.ts'
import { spotPrice } from './naive_impact.ts'
import { exact, isPerp, perpOf, roundedDown, type MarginAccount } from './naive_margin.ts'
import { isRefused, placeOf } from './naive_margin_orders.ts'
import { end } from './naive_orders.ts'
import { has, MARGIN_FLAGS, openRefusal, otherSide, type Ex, type Order } from './naive_terms.ts'

/** The words of the command that its slices are made of, as they are. */
const CARRIED = ['leverage', 'marginAccount', 'bucket', 'keyLow', 'keyHigh', 'namedSequence'] as const

export interface Twap {
  row: number
  account: number
  /** Number of TwapState. */
  state: number
  pair: number
  flags: number
  /** TwapOption bits. */
  options: number
  lots: number
  /** Of slices that do not rest any more: lots, value and fee. */
  filled: number
  filledQuote: bigint
  fee: bigint
  price: number
  slippageBps: number
  slices: number
  reached: number
  placed: number
  /** The slice that rests. */
  child: Order | null
  session: number
  generation: number
  /** What waits for its price. */
  start: Conditional | null
  trigger: number
  carried: Decoded
  createdSequence: number
  /** Unix ms; 0: not known yet, never. */
  startAt: number
  endAt: number
  nextAt: number
  duration: number
  conditionalExpiry: number
  seed: bigint
  label: string
  labelLength: number
  /** The margin sub-account that is not closed meanwhile. */
  counted: MarginAccount | null
  made: number
}

/** Those of an account, the newest first. */
export const twapsOf = (ex: Ex, account: number): Twap[] =>
  ex.waiting.twaps.filter((each) => each.account === account).sort((a, b) => b.made - a.made)

/** TWAP orders whose time has come at `time`. */
export const dueTwaps = (ex: Ex, time: number): Twap[] => ex.waiting.twaps.filter(({ nextAt }) => nextAt !== 0 && nextAt <= time)

// The schedule.

/** A number from -200 to 200 for slice `k`; what it is for: 1 its time, 2 its size. */
function drawn({ options, seed }: Twap, k: number, what: number): number {
  if (!has(options, TwapOption.RANDOMIZE)) return 0
  const word = (value: bigint): bigint => BigInt.asUintN(32, value)
  const [low, high] = [word(seed), word(seed >> 32n)]
  let h = word((low ^ word(BigInt(k + 1) * 0x9e3779b1n)) * 0x85ebca6bn)
  h = word((h ^ (h >> 15n) ^ high) * 0xc2b2ae35n)
  h = word((h ^ (h >> 13n) ^ word(BigInt(what) * 0x27d4eb2fn)) * 0x165667b1n)
  h = word((h ^ (h >> 16n)) * 0x2c1b3c6dn)
  h ^= h >> 15n
  return Number(h % 401n) - 200
}

/** When slice `k` is due: start + (k + j) x window / slices, j from -0.2 to 0.2, of the first one 0; behind the last one the end. */
export function sliceAt(twap: Twap, k: number): number {
  const { slices, startAt, endAt } = twap
  if (k >= slices) return endAt
  const thousandths = k === 0 ? 0 : 1000 * k + drawn(twap, k, 1)
  return startAt + Number(roundedDown(exact(endAt - startAt).times(thousandths).div(1000 * slices)))
}

/** Lots of slice `k`: what is left by slices left, x 0.8 to 1.2; at least `least`, and no less than that is left over. */
export function lotsOfSlice(twap: Twap, k: number, left: number, least: number): number {
  const slices = twap.slices - k
  if (slices <= 1 || left <= least) return left
  const part = Number(roundedDown(exact(Math.floor(left / slices)).times(1000 + drawn(twap, k, 2)).div(1000)))
  const lots = Math.max(least, part)
  return left - lots < least ? left : lots
}

/** The mark of a perpetual, the last trade of a spot pair; 0: none. */
export const lastPrice = (ex: Ex, pair: number): number =>
  (isPerp(ex, pair) ? perpOf(ex, pair).mark : (ex.waiting.last.get(pair) ?? 0))

/** The least that an order may have at the price of now. */
export function leastLots(ex: Ex, { pair, flags }: Twap): number {
  if (has(flags, Flag.REDUCE_ONLY)) return 1
  const { minLots, minNotionalAtoms, tickLotAtoms } = ex.genesis.pairs[pair]!
  const price = otherSide(ex, pair, has(flags, Flag.SELL))[0]?.price ?? lastPrice(ex, pair)
  if (price === 0) return minLots
  const lot = BigInt(price) * tickLotAtoms
  return Math.max(minLots, Number((minNotionalAtoms + lot - 1n) / lot))
}

/** How many slices there will be in a window of so many ms. */
function plan(ex: Ex, twap: Twap, window: number): void {
  const byTime = Math.max(1, Math.floor(window / ex.genesis.limits.twapSliceMs))
  twap.slices = Math.min(byTime, Math.max(1, Math.floor(twap.lots / leastLots(ex, twap))))
}

// What is told.

/** TWAP of it as it stands. */
export function tellTwap(ex: Ex, twap: Twap, reason: number, childSlot = -1, code = 0): void {
  const { account, createdSequence, row, state, pair, flags, lots, slices, reached, placed, child, startAt, endAt, nextAt } = twap
  ex.events.push({
    layout: TWAP_ORDER,
    values: {
      kind: EventType.TWAP, account, sequence: ex.sequence, time: ex.now, createdSequence, twap: row, what: state | (reason << 8), pair,
      flags: flags >>> 0, lots, filled: twap.filled + (child === null ? 0 : child.lots - child.remaining), slices, reached, placed,
      childSlot, code, startAt, endAt, nextAt, filledQuote: twap.filledQuote + (child?.filledQuote ?? 0n),
      fee: twap.fee + (child?.fee ?? 0n),
    },
  })
}

function tellOpened(ex: Ex, twap: Twap): void {
  const { account, createdSequence, row, pair, price, slippageBps, options, trigger, conditionalExpiry, duration, carried } = twap
  ex.events.push({
    layout: TWAP_OPENED,
    values: {
      kind: EventType.TWAP_OPENED, account, createdSequence, twap: row, pair, price, slippageBps, options, trigger, conditionalExpiry,
      durationMs: duration, leverage: carried['leverage']!, marginAccount: Number(carried['marginAccount']) - 1,
      bucket: Number(carried['bucket']) - 1, namedSequence: carried['namedSequence']!, labelLength: twap.labelLength, label: twap.label,
    },
  })
}

// Making and ending.

const startOf = (ex: Ex, startAt: number): number => Math.max(ex.now, startAt)

function termsRefusal(ex: Ex, command: Decoded, pair: number, flags: number): number {
  const number = (name: string): number => Number(command[name])
  const isTick = (ticks: number): boolean => ticks >= 0 && ticks < ex.genesis.limits.priceTicks
  const { minLots, perp } = ex.genesis.pairs[pair]!
  if (!isTick(number('price')) || !isTick(number('trigger'))) return CODE.INVALID_TICK
  if ((number('options') & ~7) !== 0 || number('labelLength') < 0 || number('labelLength') > 40) return CODE.VALIDATION_ERROR
  if (number('lots') < minLots) return CODE.BELOW_MIN_ORDER_SIZE
  const opens = has(flags, Flag.MARGIN) && !has(flags, Flag.REDUCE_ONLY)
  if (number('leverage') < (opens ? perp!.minLeverage : 0)) return CODE.LEVERAGE_TOO_LOW
  const tooHigh = opens && ex.inForce >= 5 && number('leverage') > ex.margins.ladders[pair]![0]!.maxLeverage
  return tooHigh ? CODE.LEVERAGE_TOO_HIGH : 0
}

const WEEK = 7 * 24 * 3_600_000

function timesRefusal(ex: Ex, command: Decoded): number {
  const [duration, expiry] = [Number(command['durationMs']), Number(command['conditionalExpiry'])]
  const start = startOf(ex, Number(command['startAt']))
  const end = duration > 0 ? start + duration : Number(command['endAt'])
  if (duration < 0 || end <= start || end - start > WEEK || start - ex.now > ex.genesis.limits.orderLifetimeMs) return CODE.INVALID_SCHEDULE
  return expiry !== 0 && expiry <= ex.now ? CODE.INVALID_EXPIRATION : 0
}

/** What slices are or are not of themselves. */
const OTHERS = Flag.MARKET | Flag.IOC | Flag.FOK | Flag.POST_ONLY | Flag.CANCEL_BOTH | Flag.STP_GIVEN | Flag.EXPIRES | Flag.CLOSE

/** Why it is refused, or the margin account that it stands in (null: none yet). */
function createRefusal(ex: Ex, command: Decoded, account: number): { code: number; margin: MarginAccount | null } {
  const [pair, flags, length] = [Number(command['pair']), Number(command['flags']), Number(command['labelLength'])]
  const no = (code: number): { code: number; margin: null } => ({ code, margin: null })
  const early = openRefusal(ex, pair) || leaseRefusal(ex, command, account, pair, flags) || (has(flags, OTHERS) ? CODE.VALIDATION_ERROR : 0)
  if (early !== 0) return no(early)
  if (isPerp(ex, pair) ? !has(flags, Flag.MARGIN) : has(flags, MARGIN_FLAGS)) return no(CODE.WRONG_TRADING_MODE)
  const code = termsRefusal(ex, command, pair, flags) || timesRefusal(ex, command)
  if (code !== 0) return no(code)
  const claimed = length > 0 && twapsOf(ex, account).some((each) => each.labelLength === length && each.label === command['label'])
  if (claimed) return no(CODE.CLIENT_ORDER_ID_CONFLICT)
  const margin = has(flags, Flag.MARGIN)
  if (has(flags, Flag.MASTER_FUNDED) && margin) return no(CODE.MASTER_BALANCE_NOT_ALLOWED)
  if (has(flags, Flag.MASTER_FUNDED) && payerOf(ex, account, flags) < 0) return no(CODE.NOT_SUB_ACCOUNT)
  const found = margin ? placeOf(ex, command, { account, pair, flags }) : null
  if (found !== null && isRefused(found)) return no(found.code)
  if (found?.margin?.follow !== undefined) return no(CODE.COPY_MARGIN_ACCOUNT)
  const room = roomForTwap(ex, account) || fundsForTwap(ex, account, pair, flags, found?.margin ?? null) ||
    (command['trigger'] === 0 ? 0 : roomForConditionals(ex, account, null, 1))
  return { code: room, margin: found?.margin ?? null }
}

/** Since the rules 5 the second half of all places is for who could place the least order of the pair. */
function fundsForTwap(ex: Ex, account: number, pair: number, flags: number, margin: MarginAccount | null): number {
  const { twapOrders } = ex.genesis.limits
  if (ex.inForce < 5 || ex.waiting.twaps.length < Math.floor(twapOrders / 2)) return 0
  const { base, quote, minLots, lotAtoms, minNotionalAtoms, perp } = ex.genesis.pairs[pair]!
  const atLeastOne = (atoms: bigint): bigint => (atoms < 1n ? 1n : atoms)
  if (has(flags, Flag.MARGIN)) {
    const most = BigInt(perp!.tiers[0]!.maxLeverage)
    const least = atLeastOne((minNotionalAtoms * 100n + most - 1n) / most)
    return (margin?.deposited ?? 0n) >= least ? 0 : CODE.INSUFFICIENT_MARGIN
  }
  const payer = payerOf(ex, account, flags)
  const asset = has(flags, Flag.SELL) ? base : quote
  const held = ex.accounts[payer]!.total[asset]!
  return held >= (has(flags, Flag.SELL) ? BigInt(minLots) * lotAtoms : atLeastOne(minNotionalAtoms)) ? 0 : CODE.INSUFFICIENT_BALANCE
}

/** CREATE_TWAP. */
export function createTwap(ex: Ex, command: Decoded): void {
  const account = owner(ex, command)
  if (account < 0) return refuseOwner(ex, command, -account)
  const { code, margin } = createRefusal(ex, command, account)
  if (code !== 0) return refuseOwner(ex, command, code)
  ex.accounts[account]!.known = true
  const number = (name: string): number => Number(command[name])
  const [duration, trigger, labelLength] = [number('durationMs'), number('trigger'), number('labelLength')]
  const endAt = duration === 0 ? number('endAt') : 0
  const last = endAt === 0 ? ex.now + ex.genesis.limits.orderLifetimeMs : endAt
  const twap: Twap = {
    row: ex.waiting.rows.twaps.take(), account, state: TwapState.PENDING, pair: number('pair'), flags: number('flags'),
    options: number('options'), lots: number('lots'), filled: 0, filledQuote: 0n, fee: 0n, price: number('price'),
    slippageBps: number('slippageBps'), slices: 0, reached: 0, placed: 0, child: null, session: number('session'),
    generation: number('sessionGeneration'), start: null, trigger,
    carried: Object.fromEntries(CARRIED.map((name) => [name, command[name]!])),
    createdSequence: ex.sequence, startAt: number('startAt'), endAt, nextAt: 0, duration,
    conditionalExpiry: trigger === 0 ? 0 : Math.min(number('conditionalExpiry') || last, last), seed: BigInt(command['seed']!),
    label: labelLength === 0 ? '' : String(command['label']), labelLength, counted: margin === null || margin.parent ? null : margin,
    made: ++ex.waiting.count,
  }
  ex.waiting.twaps.push(twap)
  tellOpened(ex, twap)
  if (trigger !== 0 && !isReached(ex, twap)) waitForPrice(ex, twap)
  else begin(ex, twap)
  ex.result(command, {
    account, detail: twap.row, detail2: twap.slices, outcome: twap.state, originalSequence: twap.startAt, expiresAt: twap.endAt,
  })
}

const startFlags = ({ options }: Twap): number => (has(options, TwapOption.ABOVE) ? LegFlag.ABOVE : 0)

/** The price that it waits for is there. */
function isReached(ex: Ex, twap: Twap): boolean {
  const { pair, trigger } = twap
  const price = isPerp(ex, pair) ? lastPrice(ex, pair) : spotPrice(ex, pair)
  const counts = price !== 0 && (isPerp(ex, pair) ? markCounts(ex, pair) : mayFire(ex, pair))
  return counts && isCrossed({ kind: ConditionType.TWAP_START, flags: startFlags(twap), trigger }, price)
}

function waitForPrice(ex: Ex, twap: Twap): void {
  const { account, pair, trigger, conditionalExpiry: expiresAt, row: of } = twap
  const over = { trigger, expiresAt, of, twap, flags: startFlags(twap) }
  twap.start = makeConditional(ex, account, ConditionType.TWAP_START, pair, over)
  watchPrice(ex, twap.start)
  plan(ex, twap, twap.duration === 0 ? twap.endAt - startOf(ex, twap.startAt) : twap.duration)
  tellTwap(ex, twap, TwapReason.CREATED)
}

/** Its window is known from now on. */
function begin(ex: Ex, twap: Twap): void {
  twap.startAt = startOf(ex, twap.startAt)
  if (twap.duration !== 0) twap.endAt = twap.startAt + twap.duration
  plan(ex, twap, twap.endAt - twap.startAt)
  if (twap.startAt <= ex.now) twap.state = TwapState.ACTIVE
  twap.nextAt = sliceAt(twap, 0)
  tellTwap(ex, twap, TwapReason.CREATED)
}

function dropStart(ex: Ex, twap: Twap): void {
  if (twap.start === null) return
  takeAway(ex, twap.start)
  freeConditional(ex, twap.start)
  twap.start = null
}

/** The price came that it waited for. */
export function startTwap(ex: Ex, twap: Twap): void {
  dropStart(ex, twap)
  const isOver = twap.endAt !== 0 && twap.endAt <= startOf(ex, twap.startAt)
  if (isOver) endTwap(ex, twap, TwapState.EXPIRED, TwapReason.WINDOW_OVER)
  else begin(ex, twap)
}

/** The price did not come in time. */
export const endUnstarted = (ex: Ex, twap: Twap): void => endTwap(ex, twap, TwapState.EXPIRED, TwapReason.CONDITION_EXPIRED)

/** Correlation of what no command is answered for. */
const NOBODYS = 0xffff_ffff

/** The slice that rests ends. */
export function endSlice(ex: Ex, twap: Twap, status: number, reason: number): void {
  if (twap.child !== null) end(ex, twap.child, status, reason, NOBODYS, false)
}

export function endTwap(ex: Ex, twap: Twap, state: number, reason: number, code = 0): void {
  const isOver = state === TwapState.EXPIRED || state === TwapState.COMPLETED
  endSlice(ex, twap, isOver ? Status.EXPIRED : Status.CANCELLED, isOver ? Reason.EXPIRED : Reason.USER_CANCELLED)
  dropStart(ex, twap)
  Object.assign(twap, { state, nextAt: 0 })
  tellTwap(ex, twap, reason, -1, code)
  ex.waiting.twaps = ex.waiting.twaps.filter((each) => each !== twap)
  ex.waiting.rows.twaps.give(twap.row)
}

/** A slice rests no more: what it filled is its parent's, which is looked at at once if that was all of it. */
export function countSlice(ex: Ex, order: Order): void {
  const twap = order.parent
  if (twap === null || twap.child !== order) return
  twap.child = null
  twap.filled += order.lots - order.remaining
  twap.filledQuote += order.filledQuote
  twap.fee += order.fee
  if (twap.filled >= twap.lots) twap.nextAt = ex.now
}

/** Those that a session asked for end with it. */
export function endTwapsOf(ex: Ex, account: number, command: Decoded): void {
  const asked = (each: Twap): boolean => each.session === command['session'] && each.generation === command['sessionGeneration']
  for (const each of twapsOf(ex, account).filter(asked)) endTwap(ex, each, TwapState.CANCELLED, TwapReason.SESSION_REVOKED)
}

/** CANCEL_TWAP. */
export function cancelTwap(ex: Ex, command: Decoded): void {
  const account = ex.signer(command)
  if (account < 0) return ex.refuse(command, CODE.SESSION_INVALID, -1)
  const named = twapsOf(ex, account).find(({ row, createdSequence }) =>
    row === command['twap'] && createdSequence === command['createdSequence'])
  if (named === undefined) return ex.refuse(command, CODE.ORDER_NOT_FOUND, account)
  const agent = ex.signingAgent(command)
  const lacking = agent === null ? 0 : lacksToCancelOn(ex, agent, named.pair)
  if (lacking !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, lacking)
  if (ex.statuses[named.pair] === 'HALTED') return ex.refuse(command, CODE.PAIR_NOT_ACTIVE, account)
  endTwap(ex, named, TwapState.CANCELLED, TwapReason.USER_CANCELLED)
  ex.result(command, { account, pair: named.pair })
}
