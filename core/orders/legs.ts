/**
 * Legs as commands carry them (layout/conditional.ts, LEGS): of an order in its third slot, of ATTACH_CONDITIONALS in its first. Reading,
 * checking and making them; margin/conditionals.ts has how they live.
 *
 * **With an entry order** that may open or enlarge a position. They are checked with its admission and made once it was matched: a
 * take-profit and a stop-loss when it rests or filled anything, a trailing stop when it filled in full on arrival or what is left of it
 * rests (specification, Endpoints, Orders). Filled ones watch the position at once, others wait for the first fill. An order that fills
 * nothing and does not rest makes none, and so does one whose position stands in the other direction still and which does not rest.
 *
 * **Right side.** A leg that the price has reached already would close at once what was just opened, so it is refused
 * (INVALID_TRIGGER_PRICE): held against the limit of a LIMIT entry, otherwise against the mark. What the mark reaches until the order
 * fills fires when it does.
 */
import {
  ConditionalReason, ConditionType, LEG_FLAG_MASK, LegFlag, TRAIL_BPS_MAX, TRAIL_BPS_MIN,
} from '../layout/conditional.ts'
import { Flag, ORDER_COMMAND } from '../layout/command.ts'
import { read } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { mayMakeConditionals, makeConditional, setExpiry, tellConditional, watch } from '../margin/conditionals.ts'
import { markOf } from '../margin/figures.ts'
import { cutLeg, giveLegs, isEntered } from '../margin/legs.ts'
import { positionOf } from '../margin/order_lists.ts'
import { lacksForLeg, lacksLegNotional } from '../programs/grants.ts'
import { N } from '../state/balances.ts'
import { ORDER, SCALAR } from '../state/columns.ts'
import { CONDITIONAL } from '../state/conditional_rows.ts'
import { POSITION } from '../state/margin_rows.ts'
import { conditionalAt, conditionalRow, get, noted, now, positionAt, scalar, sequence, set, setF64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { meets } from '../state/trigger_heap.ts'

/** Where the words of the legs of an order begin: the third slot. */
export const ORDER_LEGS = ORDER_COMMAND.at.profitTrigger
/** Words of a leg, from its first on; of a trailing stop the first is its bps and the third its activation price. */
const W = { TRIGGER: 0, FLAGS: 1, LIMIT: 2, LOTS: 3, SLIPPAGE: 4, RESERVED: 5, EXPIRES: 6 } as const
const LEG_WORDS = 8

/** Word of the leg of a kind, of legs that begin at word `legs`. */
const legAt = (base: number, legs: number, kind: number): number => base + legs + (kind - 1) * LEG_WORDS
const has = (command: Views, base: number, legs: number, kind: number): boolean =>
  read(command, legAt(base, legs, kind), W.TRIGGER) !== 0
const expiryOf = (command: Views, leg: number): number => command.f64[(leg + W.EXPIRES) >>> 1]!

const KINDS = [ConditionType.TAKE_PROFIT, ConditionType.STOP_LOSS, ConditionType.TRAILING_STOP] as const

/** How many legs there are. */
export const countLegs = (command: Views, base: number, legs: number): number =>
  KINDS.reduce((count: number, kind) => count + (has(command, base, legs, kind) ? 1 : 0), 0)

/** LegFlag bits of a leg of `kind` of a position that is long or short: which order closes it, and in which direction it fires. */
function directed(kind: number, long: boolean, given: number): number {
  const above = (kind === ConditionType.STOP_LOSS) !== long
  return given | (long ? LegFlag.SELL : 0) | (above ? LegFlag.ABOVE : 0)
}

/**
 * Everything that legs must satisfy for a position that is long or short, whose row is at `position` (-1: none yet), while the price that
 * they are held against is `price` ticks. Number of a refusal; 0: they may be made.
 */
export function checkLegs(
  state: State, command: Views, base: number, legs: number, account: number, position: number, long: boolean, price: number,
): number {
  for (const kind of KINDS) {
    const code = has(command, base, legs, kind) ? checkLeg(state, command, legAt(base, legs, kind), kind, long, price) : 0
    if (code !== 0) return code
  }
  const trails = has(command, base, legs, ConditionType.TRAILING_STOP)
  if (trails && position >= 0 && get(state, position, POSITION.TRAILING) !== 0) return REFUSALS.TRAILING_STOP_EXISTS.number
  return mayMakeConditionals(state, account, position, countLegs(command, base, legs))
}

function checkLeg(state: State, command: Views, leg: number, kind: number, long: boolean, price: number): number {
  const flags = read(command, leg, W.FLAGS)
  const [first, third] = [read(command, leg, W.TRIGGER), read(command, leg, W.LIMIT)]
  const isTick = (ticks: number): boolean => ticks >= 1 && ticks < state.priceTicks
  const trails = kind === ConditionType.TRAILING_STOP
  const limited = (flags & LegFlag.LIMIT) !== 0
  const bothTimes = (flags & LegFlag.IOC) !== 0 && (flags & LegFlag.FOK) !== 0
  const formed = trails
    ? first >= TRAIL_BPS_MIN && first <= TRAIL_BPS_MAX && (third === 0 || isTick(third)) && !limited
    : isTick(first) && (limited ? isTick(third) && (flags & LegFlag.SLIPPAGE) === 0 : third === 0)
  const timed = limited || (flags & (LegFlag.IOC | LegFlag.FOK)) === 0
  if (!formed || !timed || bothTimes || (flags & ~LEG_FLAG_MASK) !== 0 || read(command, leg, W.LOTS) < 0) {
    return REFUSALS.VALIDATION_ERROR.number
  }
  if ((flags & LegFlag.EXPIRES) !== 0 && expiryOf(command, leg) <= now(state)) return REFUSALS.INVALID_EXPIRATION.number
  const above = (directed(kind, long, flags) & LegFlag.ABOVE) !== 0
  return trails || !meets(above, first, price) ? 0 : REFUSALS.INVALID_TRIGGER_PRICE.number
}

/** The same for the legs of an order that is about to be accepted, whose place was noted (margin_admission.ts); `limit`: its price. */
export function checkEntryLegs(
  state: State, command: Views, base: number, account: number, pair: number, flags: number, limit: number,
): number {
  const opens = (flags & Flag.MARGIN) !== 0 && (flags & Flag.REDUCE_ONLY) === 0
  if (!opens || countLegs(command, base, ORDER_LEGS) === 0) return REFUSALS.VALIDATION_ERROR.number
  const price = (flags & Flag.MARKET) !== 0 ? markOf(state, pair) : limit
  return checkLegs(state, command, base, ORDER_LEGS, account, noted(state, N.POSITION), (flags & Flag.SELL) === 0, price)
}

/** What an agent lacks for the form of each leg, on `pair`; 0 before the rules 5. */
export function lacksForForms(state: State, command: Views, base: number, legs: number, agent: number, pair: number): number {
  if (scalar(state, SCALAR.RULES) < 5) return 0
  for (const kind of KINDS) {
    if (!has(command, base, legs, kind)) continue
    const lacking = lacksForLeg(state, agent, pair, read(command, legAt(base, legs, kind), W.FLAGS))
    if (lacking !== 0) return lacking
  }
  return 0
}

/** What an agent lacks for the value of each leg of a position that has, or may come to, `size` lots; 0 before the rules 5. */
export function lacksForValues(
  state: State, command: Views, base: number, legs: number, agent: number, pair: number, size: number,
): number {
  if (scalar(state, SCALAR.RULES) < 5) return 0
  for (const kind of KINDS) {
    if (!has(command, base, legs, kind)) continue
    const leg = legAt(base, legs, kind)
    const first = kind === ConditionType.TRAILING_STOP ? markOf(state, pair) : read(command, leg, W.TRIGGER)
    const given = read(command, leg, W.LOTS)
    const lacking = lacksLegNotional(state, agent, pair, Math.max(first, read(command, leg, W.LIMIT)), given === 0 ? size : given)
    if (lacking !== 0) return lacking
  }
  return 0
}

/** The same of an entry order of `lots` whose place was noted (margin_admission.ts). */
export function lacksForEntryValues(
  state: State, command: Views, base: number, agent: number, pair: number, flags: number, lots: number,
): number {
  const position = noted(state, N.POSITION)
  const held = position < 0 ? 0 : get(state, position, POSITION.LOTS)
  const same = (flags & Flag.SELL) !== 0 ? -held : held
  return lacksForValues(state, command, base, ORDER_LEGS, agent, pair, lots + (same > 0 ? same : 0))
}

/** Makes the legs of the position at address `position`, PENDING; the first of them, row + 1, and LEG_NEXT leads to the others. */
export function makeLegs(
  state: State, command: Views, base: number, legs: number, position: number, long: boolean, agent: number, trails: boolean,
): number {
  let first = 0
  let [profit, stop] = [0, 0]
  for (const kind of KINDS) {
    if (!has(command, base, legs, kind) || (kind === ConditionType.TRAILING_STOP && !trails)) continue
    const row = makeLeg(state, command, legAt(base, legs, kind), kind, position, long)
    set(state, row, CONDITIONAL.AGENT, agent + 1)
    set(state, row, CONDITIONAL.LEG_NEXT, first)
    first = conditionalAt(state, row) + 1
    if (kind === ConditionType.TAKE_PROFIT) profit = first
    else if (kind === ConditionType.STOP_LOSS) stop = first
  }
  if (profit !== 0 && stop !== 0) {
    pairUp(state, profit, stop)
    pairUp(state, stop, profit)
  }
  return first
}

function pairUp(state: State, one: number, other: number): void {
  const row = conditionalRow(state, one - 1)
  set(state, row, CONDITIONAL.SIBLING, other)
  set(state, row, CONDITIONAL.FLAGS, get(state, row, CONDITIONAL.FLAGS) | LegFlag.OCO)
}

function makeLeg(state: State, command: Views, leg: number, kind: number, position: number, long: boolean): number {
  const [account, pair] = [get(state, position, POSITION.ACCOUNT), get(state, position, POSITION.PAIR)]
  const row = makeConditional(state, account, kind, pair, positionAt(state, position))
  const given = read(command, leg, W.FLAGS)
  const trails = kind === ConditionType.TRAILING_STOP
  set(state, row, CONDITIONAL.FLAGS, directed(kind, long, given))
  set(state, row, CONDITIONAL.TRIGGER, read(command, leg, trails ? W.LIMIT : W.TRIGGER))
  set(state, row, CONDITIONAL.LIMIT, trails ? 0 : read(command, leg, W.LIMIT))
  set(state, row, CONDITIONAL.TRAIL_BPS, trails ? read(command, leg, W.TRIGGER) : 0)
  set(state, row, CONDITIONAL.LOTS, read(command, leg, W.LOTS))
  set(state, row, CONDITIONAL.SLIPPAGE_BPS, read(command, leg, W.SLIPPAGE))
  if ((given & LegFlag.EXPIRES) !== 0) setExpiry(state, row, expiryOf(command, leg))
  return row
}

/**
 * Makes the legs that the order at `row`, which was matched, brought with it. Those of one that filled watch its position; others wait for
 * it. It counts still, so the row of its position is there.
 */
export function makeEntryLegs(state: State, row: number, command: Views, base: number, agent: number, rests: boolean): void {
  const traded = get(state, row, ORDER.TRADES) !== 0
  const entered = traded && isEntered(state, row)
  if (!rests && !entered) return
  const trails = rests || get(state, row, ORDER.REMAINING) === 0
  const long = (get(state, row, ORDER.FLAGS) & Flag.SELL) === 0
  const first = makeLegs(state, command, base, ORDER_LEGS, positionOf(state, row), long, agent, trails)
  if (entered) watchAtOnce(state, first)
  else waitForOrder(state, row, first, ConditionalReason.CREATED)
}

/** Those at `first` and behind it, row + 1, which were just made, watch their position from now on. Bits 1 << ConditionType of them. */
export function watchAtOnce(state: State, first: number): number {
  let kinds = 0
  for (let next = first; next !== 0; ) {
    const leg = conditionalRow(state, next - 1)
    next = cutLeg(state, leg)
    kinds |= 1 << get(state, leg, CONDITIONAL.KIND)
    watch(state, leg)
    tellConditional(state, leg, ConditionalReason.CREATED, 0, 0)
  }
  return kinds
}

/** Those at `first` and behind it, row + 1, wait from now on for the order at `row`, which was just placed. */
export function waitForOrder(state: State, row: number, first: number, reason: number): void {
  for (let next = first; next !== 0; next = get(state, conditionalRow(state, next - 1), CONDITIONAL.LEG_NEXT)) {
    const leg = conditionalRow(state, next - 1)
    set(state, leg, CONDITIONAL.ENTRY, get(state, row, ORDER.SLOT) + 1)
    set(state, leg, CONDITIONAL.ORDER_SLOT, get(state, row, ORDER.SLOT))
    setF64(state, leg, CONDITIONAL.ORDER_SEQUENCE, sequence(state))
    tellConditional(state, leg, reason, 0, 0)
  }
  giveLegs(state, row, first)
}
