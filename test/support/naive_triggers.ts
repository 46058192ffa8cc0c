/**
 * What prices lead to in the naive exchange: a list of marks of each pair that were not looked at yet, and TRIGGER_STEP, which does the
 * next thing. Everything that watches a pair is gone through and sorted, each time anew. See naive_conditional.ts.
 */
import { CommandType, Flag, kindOf, Origin, originFlags } from '../../core/layout/command.ts'
import { ConditionalReason, ConditionalState, ConditionType, LegFlag } from '../../core/layout/conditional.ts'
import { Reason } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import {
  arm, endConditional, expire, find, freeConditional, hangOn, isArmed, isTimeOver, listOf, markCounts, mayFire, takeAway, tellConditional,
  trails, type Conditional,
} from './naive_conditional.ts'
import { spotPrice } from './naive_impact.ts'
import { isPerp, perpOf } from './naive_margin.ts'
import { enter } from './naive_orders.ts'
import { bandOf, has, mostLots, type Ex } from './naive_terms.ts'
import { isOfLong, mayMeet, ratchet, triggerOf } from './naive_trailing.ts'
import { startTwap } from './naive_twap.ts'

/** Marks of a pair that may wait; conditional orders that one step puts where marks find them. */
const [MARKS_MOST, PLACED_MOST] = [64, 64]
/** So much of {@link ratchet} is done with the command that brings a mark, and with a step. */
const [ALONG, STEP] = [8, 256]

const marksOf = (ex: Ex, pair: number): { sequence: number; price: number }[] => listOf(ex.waiting.marks, pair)

/** No mark more may be noted. */
export const isBehind = (ex: Ex, pair: number): boolean => marksOf(ex, pair).length >= MARKS_MOST

/** The mark of a perpetual is another, or may fire something from now on. */
export function noteMark(ex: Ex, pair: number): void {
  const { mark } = perpOf(ex, pair)
  if (mark === 0 || !markCounts(ex, pair)) return
  const marks = marksOf(ex, pair)
  marks.push({ sequence: ex.sequence, price: mark })
  const others = [...listOf(ex.waiting.due, pair), ...listOf(ex.waiting.later, pair)]
  if (marks.length === 1 && others.length === 0 && !mayReach(ex, pair, mark)) finishMark(ex, pair, ALONG)
}

export const forgetMarks = (ex: Ex, pair: number): void => void ex.waiting.marks.delete(pair)

function finishMark(ex: Ex, pair: number, most: number): void {
  if (ratchet(ex, pair, marksOf(ex, pair)[0]!.price, most)) marksOf(ex, pair).shift()
}

/** The mark may fire something: of trailing stops that is not looked at closely. */
function mayReach(ex: Ex, pair: number, mark: number): boolean {
  const watching = ex.waiting.conditionals.filter((each) => each.pair === pair && each.stands === 'WATCHES')
  const others = watching.filter((each) => !(trails(each) && isArmed(each)))
  const met = others.some((each) => (isMetAbove(each) ? mark >= metAt(each) : mark <= metAt(each)))
  return met || mayMeet(ex, pair, true, mark) || mayMeet(ex, pair, false, mark)
}

/** Direction in which it is met: with a price that is high enough, or else with one that is low enough. */
const isMetAbove = (each: Conditional): boolean =>
  (trails(each) && isArmed(each) ? !isOfLong(each) : has(each.flags, LegFlag.ABOVE))

/** Where it is met: a trailing stop that waits for any mark is met before all others. */
function metAt(each: Conditional): number {
  if (!trails(each)) return each.trigger
  if (isArmed(each)) return triggerOf(each)
  return each.trigger === 0 && !isMetAbove(each) ? Infinity : each.trigger
}

/**
 * What a price fires first: at its trigger or below before at it or above, of each side what is met first, then what was made first, then
 * the lower row; of trailing stops of one distance only the one that was put there first.
 */
function firstReached(ex: Ex, pair: number, price: number): Conditional | null {
  const watching = ex.waiting.conditionals.filter((each) => each.pair === pair && each.stands === 'WATCHES')
  for (const above of [false, true]) {
    const met = watching.filter((each) => isMetAbove(each) === above && (above ? price >= metAt(each) : price <= metAt(each)))
    const isBefore = (a: Conditional, b: Conditional): boolean =>
      [a, b].every((each) => trails(each) && isArmed(each)) && a.trailBps === b.trailBps && a.placed < b.placed
    const first = met.filter((each) => !met.some((other) => isBefore(other, each))).sort((a, b) =>
      (metAt(a) === metAt(b) ? a.createdSequence - b.createdSequence || a.row - b.row : (metAt(a) < metAt(b)) === above ? -1 : 1))[0]
    if (first !== undefined) return first
  }
  return null
}

/** TRIGGER_STEP has something to do. */
export function isTriggered(ex: Ex, pair: number): boolean {
  if (!mayFire(ex, pair)) return false
  if (!isPerp(ex, pair)) return spotPrice(ex, pair) !== 0 && firstReached(ex, pair, spotPrice(ex, pair)) !== null
  return [ex.waiting.due, ex.waiting.later, ex.waiting.marks].some((lists) => (lists.get(pair) ?? []).length > 0)
}

/** What was armed behind marks that were all looked at since. */
function isLaterFirst(ex: Ex, pair: number): boolean {
  const [first, mark] = [listOf(ex.waiting.later, pair)[0], marksOf(ex, pair)[0]]
  return first !== undefined && (mark === undefined || first.armedSequence < mark.sequence)
}

/** TRIGGER_STEP. */
export function triggerStep(ex: Ex, command: Decoded): void {
  const pair = Number(command['pair'])
  if (Number(command['kind']) >>> 16 !== 0) return ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  if (ex.genesis.pairs[pair] === undefined || !isTriggered(ex, pair)) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const due = listOf(ex.waiting.due, pair)[0]
  const mark = marksOf(ex, pair)[0]
  if (!isPerp(ex, pair)) fire(ex, firstReached(ex, pair, spotPrice(ex, pair))!)
  else if (due !== undefined) fire(ex, due)
  else if (isLaterFirst(ex, pair)) {
    for (let placed = 0; placed < PLACED_MOST && isLaterFirst(ex, pair); placed++) find(ex, listOf(ex.waiting.later, pair).shift()!)
  } else {
    const reached = firstReached(ex, pair, mark!.price)
    if (reached === null) finishMark(ex, pair, STEP)
    else fire(ex, reached)
  }
  ex.result(command, { account: -1 })
}

function fire(ex: Ex, conditional: Conditional): void {
  if (isTimeOver(ex, conditional)) expire(ex, conditional)
  else if (conditional.kind === ConditionType.TWAP_START) startTwap(ex, conditional.twap!)
  else if (conditional.state === ConditionalState.PENDING) activate(ex, conditional)
  else close(ex, conditional)
}

/** The first mark arms a trailing stop, which sees those behind it. */
function activate(ex: Ex, stop: Conditional): void {
  const { price, sequence } = marksOf(ex, stop.pair)[0]!
  takeAway(ex, stop)
  arm(ex, stop, price, sequence)
  stop.stands = 'LATER'
  listOf(ex.waiting.later, stop.pair).unshift(stop)
  tellConditional(ex, stop, ConditionalReason.ARMED)
}

/** Enters the order, or the next one, that closes the position. */
function close(ex: Ex, conditional: Conditional): void {
  const position = conditional.position!
  const first = conditional.state !== ConditionalState.TRIGGERED
  const size = Math.abs(position.lots)
  takeAway(ex, conditional)
  if (first) {
    const { lots, sibling } = conditional
    Object.assign(conditional, { state: ConditionalState.TRIGGERED, left: lots === 0 ? size : Math.min(lots, size) })
    if (sibling !== null) endConditional(ex, sibling, ConditionalState.CANCELLED, ConditionalReason.OCO)
  }
  const order = orderOf(ex, conditional, Math.min(conditional.left, size))
  conditional.position = null
  let code = 0
  const result = enter(ex, order, conditional.account, null, Number(order['flags']), (refusal) => void (code = refusal))
  if (result === null) {
    if (first) conditional.state = ConditionalState.FAILED
    tellConditional(ex, conditional, ConditionalReason.FAILED, code)
    return freeConditional(ex, conditional)
  }
  const lots = Number(order['lots'])
  if (conditional.orderSequence === 0) Object.assign(conditional, { orderSequence: ex.sequence, orderSlot: Number(result['slot']) })
  conditional.left -= lots
  const reason = conditional.orderSequence === ex.sequence ? ConditionalReason.TRIGGERED : ConditionalReason.CONTINUED
  const isOpen = ex.margins.positions.includes(position) && position.openedSequence === conditional.opened
  const goesOn = conditional.left > 0 && Number(result['outcome']) >>> 8 === Reason.NONE && isOpen
  if (goesOn) {
    hangOn(ex, conditional, position)
    conditional.stands = 'DUE'
    listOf(ex.waiting.due, conditional.pair).push(conditional)
  }
  tellConditional(ex, conditional, reason, 0, lots)
  if (!goesOn) freeConditional(ex, conditional)
}

/** The order that closes `lots` at most, as a command that nobody sent. */
function orderOf(ex: Ex, { flags: given, pair, limit, slippageBps, position }: Conditional, lots: number): Decoded {
  const limited = has(given, LegFlag.LIMIT)
  const time = has(given, LegFlag.IOC) ? Flag.IOC : has(given, LegFlag.FOK) ? Flag.FOK : 0
  const flags = (has(given, LegFlag.SELL) ? Flag.SELL : 0) | (limited ? time : Flag.MARKET) | Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CLOSE |
    (has(given, LegFlag.SLIPPAGE) ? Flag.SLIPPAGE : 0) | (position!.bucket.cross ? Flag.CROSS : 0) | originFlags(Origin.TRIGGER)
  const worst = limited ? limit : bandOf(ex, pair, flags, slippageBps)
  return {
    kind: kindOf(CommandType.ENTER_ORDER, 1, 0), correlation: 0, session: -1, pair, flags, price: limited ? limit : 0,
    lots: worst === 0 ? lots : Math.min(lots, mostLots(ex, pair, has(given, LegFlag.SELL), worst)), slippageBps, options: 0, expiresAt: 0,
    position: position!.row + 1, namedSequence: position!.openedSequence, collateral: 0n, leverage: 0,
  }
}
