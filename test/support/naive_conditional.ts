/**
 * Conditional orders in the naive exchange: take-profits, stop-losses, trailing stops and starts of TWAP orders as plain objects in one
 * list. Who has how many is counted whenever it is asked; what hangs on a position or waits for an order is looked for among all of them.
 * A trailing stop has its best mark as a number of its own (naive_trailing.ts); what a price leads to is in naive_triggers.ts, legs as
 * commands carry them in naive_legs.ts. See naive.ts.
 */
import { CONDITIONAL_ORDER, ConditionalReason, ConditionalState, ConditionType, LegFlag } from '../../core/layout/conditional.ts'
import { EventType } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { lacksToCancelOn, type Agent } from './naive_agents.ts'
import { familyOf, share } from './naive_families.ts'
import { isPerp, isStale, perpOf, Rows, type Position } from './naive_margin.ts'
import { has, type Ex, type Order } from './naive_terms.ts'
import { triggerOf } from './naive_trailing.ts'
import { endUnstarted, type Twap } from './naive_twap.ts'

const MOST_OF_POSITION = 16

export interface Conditional {
  row: number
  account: number
  /** Numbers of ConditionType and ConditionalState. */
  kind: number
  state: number
  pair: number
  /** LegFlag bits. */
  flags: number
  /** Ticks: where it fires; of a trailing stop its activation price, 0: none. */
  trigger: number
  limit: number
  /** At most so many lots, 0: all; and how many are still to be entered once it fired. */
  lots: number
  left: number
  trailBps: number
  slippageBps: number
  /** Who asked for it; null: the owner. */
  agent: Agent | null
  /** What it hangs on: not while its order is being entered. The row stays with it. */
  position: Position | null
  of: number
  /** Of a TWAP_START. */
  twap: Twap | null
  /** These grow: with each that is made, comes to hang on a position, is put where marks find it. */
  made: number
  hung: number
  placed: number
  /** WATCHES: the next mark finds it. DUE: it is known to fire. LATER: it was armed behind marks that are still to be looked at. */
  stands: 'NOWHERE' | 'WATCHES' | 'DUE' | 'LATER'
  /** The other one of a pair that cancels each other. */
  sibling: Conditional | null
  /** The order that it waits for. */
  entry: Order | null
  /** The order that it entered first, or waits for. */
  orderSequence: number
  orderSlot: number
  /** Best mark since it was armed; 0: it is not. */
  watermark: number
  createdSequence: number
  createdAt: number
  /** Unix ms; 0: never, not yet. */
  expiresAt: number
  armedAt: number
  armedSequence: number
  /** The sequence that opened its position; 0: it does not watch one. */
  opened: number
}

/** Everything that waits in an exchange. */
export class Waiting {
  conditionals: Conditional[] = []
  twaps: Twap[] = []
  readonly rows = { conditionals: new Rows(), twaps: new Rows() }
  /** By pair: marks that were not looked at yet, the first one first; what is due, and what was armed behind those marks. */
  readonly marks = new Map<number, { sequence: number; price: number }[]>()
  readonly due = new Map<number, Conditional[]>()
  readonly later = new Map<number, Conditional[]>()
  /** Price of the last trade by pair. */
  readonly last = new Map<number, number>()
  count = 0
  /** Conditional orders that ended because their position was closed: since somebody began to count. */
  closed = 0
}

export const trails = ({ kind }: Pick<Conditional, 'kind'>): boolean => kind === ConditionType.TRAILING_STOP
export const isArmed = ({ state }: Conditional): boolean => state === ConditionalState.ARMED

/** Those that hang on a position, the last one that came to first. */
export const hangingOn = (ex: Ex, position: Position): Conditional[] =>
  ex.waiting.conditionals.filter((each) => each.position === position).sort((a, b) => b.hung - a.hung)

/** Those of an account, the newest first. */
export const conditionalsOf = (ex: Ex, account: number): Conditional[] =>
  ex.waiting.conditionals.filter((each) => each.account === account).sort((a, b) => b.made - a.made)

/** Legs that wait for an order, the last one made first. */
export const legsOf = (ex: Ex, order: Order): Conditional[] =>
  ex.waiting.conditionals.filter(({ entry }) => entry === order).sort((a, b) => b.made - a.made)

/** What a family may hold of a pool of `most`, of which `free` rows are free. */
const shareOf = (most: number, free: number): number => (free <= 0 ? 0 : share(most, free))

/** Why an account may not have `count` more of them, on `position` (null: one that is not there yet); 0: it may. */
export function roomForConditionals(ex: Ex, account: number, position: Position | null, count: number): number {
  const { conditionalOrders: most, conditionalOrdersPerAccount } = ex.genesis.limits
  const all = ex.waiting.conditionals
  const onPosition = position === null ? 0 : hangingOn(ex, position).length
  const family = all.filter((each) => familyOf(ex, each.account) === familyOf(ex, account)).length
  // The last of them must be within the share that there is by then.
  const fits = onPosition + count <= MOST_OF_POSITION && conditionalsOf(ex, account).length + count <= conditionalOrdersPerAccount &&
    family + count - 1 < shareOf(most, most - all.length - (count - 1))
  return fits ? 0 : CODE.TOO_MANY_CONDITIONAL_ORDERS
}

/** The same of TWAP orders. */
export function roomForTwap(ex: Ex, account: number): number {
  const { twapOrders: most, twapOrdersPerAccount } = ex.genesis.limits
  const all = ex.waiting.twaps
  const own = all.filter((each) => each.account === account).length
  const family = all.filter((each) => familyOf(ex, each.account) === familyOf(ex, account)).length
  return own < twapOrdersPerAccount && family < shareOf(most, most - all.length) ? 0 : CODE.TOO_MANY_TWAP_ORDERS
}

export function makeConditional(ex: Ex, account: number, kind: number, pair: number, over: Partial<Conditional>): Conditional {
  const made: Conditional = {
    row: ex.waiting.rows.conditionals.take(), account, kind, state: ConditionalState.PENDING, pair, flags: 0, trigger: 0, limit: 0, lots: 0,
    left: 0, trailBps: 0, slippageBps: 0, agent: null, position: null, of: 0, twap: null, made: ++ex.waiting.count, hung: 0, placed: 0,
    stands: 'NOWHERE', sibling: null, entry: null, orderSequence: 0, orderSlot: 0, watermark: 0, createdSequence: ex.sequence,
    createdAt: ex.now, expiresAt: 0, armedAt: 0, armedSequence: 0, opened: 0, ...over,
  }
  ex.waiting.conditionals.push(made)
  return made
}

export function hangOn(ex: Ex, conditional: Conditional, position: Position): void {
  Object.assign(conditional, { position, of: position.row, hung: ++ex.waiting.count })
}

/** CONDITIONAL of it as it stands. */
export function tellConditional(ex: Ex, conditional: Conditional, reason: number, code = 0, ordered = 0): void {
  const {
    account, createdSequence, kind, state, pair, flags, limit, lots, slippageBps, trailBps, watermark, expiresAt, armedAt, createdAt,
    orderSequence, orderSlot, opened: openedSequence, of: position,
  } = conditional
  ex.events.push({
    layout: CONDITIONAL_ORDER,
    values: {
      kind: EventType.CONDITIONAL, account, sequence: ex.sequence, time: ex.now, createdSequence,
      what: kind | (state << 8) | (reason << 16), pair, flags, limit, lots, slippageBps, trailBps,
      trigger: trails(conditional) ? triggerOf(conditional) : conditional.trigger,
      activation: trails(conditional) ? conditional.trigger : 0, watermark, expiresAt, armedAt, createdAt, orderSequence, openedSequence,
      orderSlot, position, code, ordered,
    },
  })
}

/** What is there of `key`, which begins with nothing. */
export function listOf<T>(lists: Map<number, T[]>, key: number): T[] {
  const known = lists.get(key)
  if (known !== undefined) return known
  const made: T[] = []
  lists.set(key, made)
  return made
}

/** True while what fires on a pair may enter orders. */
export const mayFire = (ex: Ex, pair: number): boolean =>
  ex.statuses[pair] === 'ACTIVE' && (!isPerp(ex, pair) || perpOf(ex, pair).mode < 2)

/** The mark counts: it is fresh, and what it fires may enter orders. */
export const markCounts = (ex: Ex, pair: number): boolean => mayFire(ex, pair) && !isStale(ex, pair)

/** True when the price is at its trigger or beyond; a trailing stop without an activation price is armed by any. */
export function isCrossed(conditional: Pick<Conditional, 'kind' | 'flags' | 'trigger'>, price: number): boolean {
  if (trails(conditional) && conditional.trigger === 0) return true
  return has(conditional.flags, LegFlag.ABOVE) ? price >= conditional.trigger : price <= conditional.trigger
}

/**
 * It watches its position, which is open, from now on. A mark that is there already fires it at once, or arms it, if it is a trailing
 * stop. False: it is not armed yet.
 */
export function watch(ex: Ex, conditional: Conditional): boolean {
  const { pair, position } = conditional
  Object.assign(conditional, { entry: null, orderSequence: 0, orderSlot: 0, opened: position!.openedSequence })
  const { mark } = perpOf(ex, pair)
  const there = markCounts(ex, pair) && isCrossed(conditional, mark)
  if (trails(conditional) && !there) {
    place(ex, conditional)
    return false
  }
  arm(ex, conditional, mark, ex.sequence)
  if (there && !trails(conditional)) {
    conditional.stands = 'DUE'
    listOf(ex.waiting.due, pair).push(conditional)
  } else place(ex, conditional)
  return true
}

/** The start of a TWAP order waits for its price. */
export function watchPrice(ex: Ex, conditional: Conditional): void {
  arm(ex, conditional, 0, ex.sequence)
  place(ex, conditional)
}

export function arm(ex: Ex, conditional: Conditional, mark: number, sequence: number): void {
  Object.assign(conditional, { state: ConditionalState.ARMED, armedAt: ex.now, armedSequence: sequence })
  if (trails(conditional)) conditional.watermark = mark
}

/** Marks that came before it are none of its business, and what was armed behind those comes before it. */
function place(ex: Ex, conditional: Conditional): void {
  const before = listOf(ex.waiting.marks, conditional.pair).length + listOf(ex.waiting.later, conditional.pair).length
  if (before === 0) return find(ex, conditional)
  conditional.armedSequence = ex.sequence
  conditional.stands = 'LATER'
  listOf(ex.waiting.later, conditional.pair).push(conditional)
}

/** The next mark finds it. */
export function find(ex: Ex, conditional: Conditional): void {
  conditional.stands = 'WATCHES'
  conditional.placed = ++ex.waiting.count
}

export function takeAway(ex: Ex, conditional: Conditional): void {
  for (const lists of [ex.waiting.due, ex.waiting.later]) {
    const list = listOf(lists, conditional.pair)
    if (list.includes(conditional)) list.splice(list.indexOf(conditional), 1)
  }
  conditional.stands = 'NOWHERE'
}

/** It ends in this state, which is told. */
export function endConditional(ex: Ex, conditional: Conditional, state: number, reason: number): void {
  takeAway(ex, conditional)
  conditional.entry = null
  conditional.state = state
  tellConditional(ex, conditional, reason)
  freeConditional(ex, conditional)
}

export function freeConditional(ex: Ex, conditional: Conditional): void {
  if (conditional.sibling !== null) conditional.sibling.sibling = null
  ex.waiting.conditionals = ex.waiting.conditionals.filter((each) => each !== conditional)
  ex.waiting.rows.conditionals.give(conditional.row)
}

/** The position is closed: what watched it ends. */
export function endWithPosition(ex: Ex, position: Position): void {
  for (const each of hangingOn(ex, position).filter(({ opened }) => opened !== 0)) {
    const fired = each.state === ConditionalState.TRIGGERED
    endConditional(ex, each, fired ? ConditionalState.TRIGGERED : ConditionalState.CANCELLED, ConditionalReason.POSITION_CLOSED)
    ex.waiting.closed++
  }
}

/** The position of an order stands in its direction. */
export const isEntered = (order: Order): boolean => (order.sell ? order.margin!.position.lots < 0 : order.margin!.position.lots > 0)

/** An order was filled: its legs watch the position, if that stands in its direction by now. */
export function armLegs(ex: Ex, order: Order): void {
  if (!isEntered(order)) return
  for (const leg of legsOf(ex, order)) tellConditional(ex, leg, watch(ex, leg) ? ConditionalReason.ARMED : ConditionalReason.CREATED)
}

/** A leg waits for the successor of its entry order. */
export function handOver(ex: Ex, leg: Conditional, successor: Order): void {
  Object.assign(leg, { entry: successor, orderSequence: ex.sequence })
  tellConditional(ex, leg, ConditionalReason.ENTRY_REPLACED)
}

/** An order is gone, and the legs that wait for it. */
export function endLegs(ex: Ex, order: Order): void {
  for (const leg of legsOf(ex, order)) endConditional(ex, leg, ConditionalState.CANCELLED, ConditionalReason.ENTRY_ENDED)
}

/** Its owner may still cancel it. */
export const isCancellable = ({ state, kind }: Conditional): boolean =>
  state !== ConditionalState.TRIGGERED && kind !== ConditionType.TWAP_START

/** Those that a delegated agent asked for end with him. */
export function endConditionalsOf(ex: Ex, account: number, agent: Agent): void {
  for (const each of conditionalsOf(ex, account).filter((of) => of.agent === agent && isCancellable(of))) {
    endConditional(ex, each, ConditionalState.CANCELLED, ConditionalReason.DELEGATION_REVOKED)
  }
}

/** CANCEL_CONDITIONAL. */
export function cancelConditional(ex: Ex, command: Decoded): void {
  const account = ex.signer(command)
  if (account < 0) return ex.refuse(command, CODE.SESSION_INVALID, -1)
  const [leg, created] = [Number(command['leg']), Number(command['createdSequence'])]
  const named = conditionalsOf(ex, account).find((each) => each.kind === leg && each.createdSequence === created && isCancellable(each))
  if (named === undefined) return ex.refuse(command, CODE.ORDER_NOT_FOUND, account)
  const agent = ex.signingAgent(command)
  const lacking = agent === null ? 0 : lacksToCancelOn(ex, agent, named.pair)
  if (lacking !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, lacking)
  if (ex.statuses[named.pair] === 'HALTED') return ex.refuse(command, CODE.PAIR_NOT_ACTIVE, account)
  endConditional(ex, named, ConditionalState.CANCELLED, ConditionalReason.USER_CANCELLED)
  ex.result(command, { account, pair: named.pair })
}

/** EXPIRE_CONDITIONAL. */
export function expireConditional(ex: Ex, command: Decoded): void {
  const named = ex.waiting.conditionals.find(({ row, createdSequence }) =>
    row === command['conditional'] && createdSequence === command['createdSequence'])
  if (Number(command['kind']) >>> 16 !== 0) return ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  if (named === undefined || !isTimeOver(ex, named)) return ex.refuse(command, CODE.NOT_FOUND, -1)
  expire(ex, named)
  ex.result(command, { account: -1 })
}

export const isTimeOver = (ex: Ex, { expiresAt }: Conditional): boolean => expiresAt !== 0 && expiresAt <= ex.now

export function expire(ex: Ex, conditional: Conditional): void {
  const fired = conditional.state === ConditionalState.TRIGGERED
  if (conditional.twap !== null) endUnstarted(ex, conditional.twap)
  else endConditional(ex, conditional, fired ? ConditionalState.TRIGGERED : ConditionalState.EXPIRED, ConditionalReason.EXPIRED)
}

/** Conditional orders whose time is over at `time`. */
export const dueConditionals = (ex: Ex, time: number): Conditional[] =>
  ex.waiting.conditionals.filter(({ expiresAt }) => expiresAt !== 0 && expiresAt <= time)
