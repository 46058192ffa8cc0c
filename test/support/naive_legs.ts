/**
 * Legs as commands carry them, in the naive exchange: of ATTACH_CONDITIONALS and of an entry order. See naive_conditional.ts; the rules are
 * those of core/orders/legs.ts in other words.
 */
import { ConditionalReason, ConditionType, LegFlag } from '../../core/layout/conditional.ts'
import { Flag } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { lacksForLeg, lacksToOpenBucket, lacksValue, type Agent } from './naive_agents.ts'
import {
  hangingOn, hangOn, isEntered, makeConditional, roomForConditionals, tellConditional, trails, watch, type Conditional,
} from './naive_conditional.ts'
import { perpOf, type Position } from './naive_margin.ts'
import { has, type Ex, type Order, type Terms } from './naive_terms.ts'

interface Leg {
  kind: number
  /** Of a trailing stop its activation price. */
  trigger: number
  trailBps: number
  limit: number
  flags: number
  lots: number
  slippageBps: number
  expiresAt: number
}

/** The legs of a command, in the order in which they are made. */
function legsIn(command: Decoded): Leg[] {
  const number = (name: string): number => Number(command[name] ?? 0)
  const one = (kind: number, prefix: string): Leg => ({
    kind, trigger: number(`${prefix}Trigger`), trailBps: 0, limit: number(`${prefix}Limit`), flags: number(`${prefix}Flags`),
    lots: number(`${prefix}Lots`), slippageBps: number(`${prefix}SlippageBps`), expiresAt: number(`${prefix}ExpiresAt`),
  })
  const trail = { ...one(ConditionType.TRAILING_STOP, 'trail'), trigger: number('trailActivation'), trailBps: number('trailBps') }
  const pair = [one(ConditionType.TAKE_PROFIT, 'profit'), one(ConditionType.STOP_LOSS, 'stop')]
  return [...pair.filter(({ trigger }) => trigger !== 0), ...(trail.trailBps === 0 ? [] : [trail])]
}

/** It sells what is long; it fires above its trigger: the take-profit of a long, the stop-loss of a short. */
function directed({ kind, flags }: Leg, long: boolean): number {
  const above = kind === ConditionType.STOP_LOSS ? !long : long
  return flags | (long ? LegFlag.SELL : 0) | (above ? LegFlag.ABOVE : 0)
}

const ALLOWED = LegFlag.LIMIT | LegFlag.IOC | LegFlag.FOK | LegFlag.SLIPPAGE | LegFlag.EXPIRES

function legRefusal(ex: Ex, leg: Leg, long: boolean, price: number): number {
  const { flags, limit, trigger, trailBps, lots, kind } = leg
  const isTick = (ticks: number): boolean => ticks >= 1 && ticks < ex.genesis.limits.priceTicks
  const [limited, ioc, fok] = [LegFlag.LIMIT, LegFlag.IOC, LegFlag.FOK].map((flag) => has(flags, flag))
  const wrong = [
    (flags & ~ALLOWED) !== 0, lots < 0, ioc && fok, !limited && (ioc || fok), limited && has(flags, LegFlag.SLIPPAGE),
    kind === ConditionType.TRAILING_STOP ?
      trailBps < 10 || trailBps > 2000 || limited || !(trigger === 0 || isTick(trigger)) :
      !isTick(trigger) || (limited ? !isTick(limit) : limit !== 0),
  ]
  if (wrong.includes(true)) return CODE.VALIDATION_ERROR
  if (has(flags, LegFlag.EXPIRES) && leg.expiresAt <= ex.now) return CODE.INVALID_EXPIRATION
  if (kind === ConditionType.TRAILING_STOP) return 0
  const ahead = has(directed(leg, long), LegFlag.ABOVE) ? trigger > price : trigger < price
  return ahead ? 0 : CODE.INVALID_TRIGGER_PRICE
}

/** Why a position that is long or short (null: it is not there yet) may not have these legs while the price is this; 0: it may. */
function legsRefusal(ex: Ex, legs: Leg[], account: number, position: Position | null, long: boolean, price: number): number {
  const wrong = legs.map((leg) => legRefusal(ex, leg, long, price)).find((code) => code !== 0)
  if (wrong !== undefined) return wrong
  const second = position !== null && hangingOn(ex, position).some(trails) && legs.some(({ kind }) => kind === ConditionType.TRAILING_STOP)
  return second ? CODE.TRAILING_STOP_EXISTS : roomForConditionals(ex, account, position, legs.length)
}

/** Makes them; a take-profit and a stop-loss cancel each other. The last one made first. */
function make(ex: Ex, legs: Leg[], account: number, position: Position, long: boolean, agent: Agent | null): Conditional[] {
  const made = legs.map((leg) => {
    const { kind, trigger, limit, lots, trailBps, slippageBps, flags } = leg
    const trail = kind === ConditionType.TRAILING_STOP
    const conditional = makeConditional(ex, account, kind, position.pair, {
      flags: directed(leg, long), trigger, limit: trail ? 0 : limit, lots, trailBps, slippageBps, agent,
      expiresAt: has(flags, LegFlag.EXPIRES) ? leg.expiresAt : 0,
    })
    hangOn(ex, conditional, position)
    return conditional
  })
  const [one, other] = made.filter((each) => !trails(each))
  if (one !== undefined && other !== undefined) {
    Object.assign(one, { sibling: other, flags: one.flags | LegFlag.OCO })
    Object.assign(other, { sibling: one, flags: other.flags | LegFlag.OCO })
  }
  return made.reverse()
}

/** Why an order that is about to be accepted may not have its legs; 0: it may. */
export function entryLegsRefusal(ex: Ex, command: Decoded, terms: Terms, position: Position | null): number {
  const { flags, account, pair, limit } = terms
  const legs = legsIn(command)
  const opens = has(flags, Flag.MARGIN) && !has(flags, Flag.REDUCE_ONLY)
  if (!opens || legs.length === 0) return CODE.VALIDATION_ERROR
  const price = has(flags, Flag.MARKET) ? perpOf(ex, pair).mark : limit
  return legsRefusal(ex, legs, account, position, !has(flags, Flag.SELL), price)
}

/** What an agent lacks for the form of the legs of a command, since the rules 5. */
export function lacksForForms(ex: Ex, command: Decoded, agent: Agent, pair: number): number {
  if (ex.inForce < 5) return 0
  const lacks = legsIn(command).map(({ flags }) =>
    lacksForLeg(ex, agent, pair, has(flags, LegFlag.LIMIT) ? { ioc: has(flags, LegFlag.IOC), fok: has(flags, LegFlag.FOK) } : null))
  return lacks.find((each) => each !== 0) ?? 0
}

/** The same for their values, of a position that has, or comes to, so many lots: what each closes at the highest price that it names. */
export function lacksForValues(ex: Ex, command: Decoded, agent: Agent, pair: number, size: number): number {
  if (ex.inForce < 5) return 0
  const most = ex.genesis.pairs[pair]!.perp!.maxPositionLots
  const lacks = legsIn(command).map((leg) => {
    const price = leg.kind === ConditionType.TRAILING_STOP ? Math.max(perpOf(ex, pair).mark, leg.trigger) : Math.max(leg.trigger, leg.limit)
    return lacksValue(ex, agent, pair, price, Math.min(most, leg.lots === 0 ? size : leg.lots))
  })
  return lacks.find((each) => each !== 0) ?? 0
}

/** The same of an entry order that was admitted: of what it adds to a position in its direction. */
export function lacksForEntryValues(
  ex: Ex, command: Decoded, agent: Agent, { pair, flags }: Terms, { position, lots }: { position: Position | null; lots: number },
): number {
  const held = (position?.lots ?? 0) * (has(flags, Flag.SELL) ? -1 : 1)
  return lacksForValues(ex, command, agent, pair, lots + Math.max(0, held))
}

/** The legs of an order that was matched: of one that rests, or that filled and whose position stands in its direction. */
export function makeEntryLegs(ex: Ex, command: Decoded, order: Order): void {
  const [rests, entered] = [order.place > 0, order.trades > 0 && isEntered(order)]
  if (!rests && !entered) return
  const trailsToo = rests || order.remaining === 0
  const legs = legsIn(command).filter(({ kind }) => kind !== ConditionType.TRAILING_STOP || trailsToo)
  for (const leg of make(ex, legs, order.account, order.margin!.position, !order.sell, order.agent)) {
    if (entered) watch(ex, leg)
    else Object.assign(leg, { entry: order, orderSequence: ex.sequence, orderSlot: order.slot })
    tellConditional(ex, leg, ConditionalReason.CREATED)
  }
}

/** ATTACH_CONDITIONALS. */
export function attachConditionals(ex: Ex, command: Decoded): void {
  const account = ex.signer(command)
  if (account < 0) return ex.refuse(command, CODE.SESSION_INVALID, -1)
  if (ex.maintenance) return ex.refuse(command, CODE.OPERATIONS_BLOCKED, account)
  const position = ex.margins.positions.find(({ row, openedSequence, bucket }) => openedSequence !== 0 && row === command['position'] &&
    openedSequence === command['openedSequence'] && bucket.margin.account === account)
  if (position === undefined) return ex.refuse(command, CODE.POSITION_NOT_FOUND, account)
  const agent = ex.signingAgent(command)
  const lacking = agent === null ? 0 : lacksToOpenBucket(agent, position.pair) || lacksForForms(ex, command, agent, position.pair)
  if (lacking !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, lacking)
  const legs = legsIn(command)
  if (legs.length === 0) return ex.refuse(command, CODE.VALIDATION_ERROR, account)
  if (['LIQUIDATING', 'BAD_DEBT'].includes(position.bucket.status)) return ex.refuse(command, CODE.RISK_BUCKET_IN_LIQUIDATION, account)
  const long = position.lots > 0
  const code = legsRefusal(ex, legs, account, position, long, perpOf(ex, position.pair).mark)
  if (code !== 0) return ex.refuse(command, code, account)
  const tooMuch = agent === null ? 0 : lacksForValues(ex, command, agent, position.pair, Math.abs(position.lots))
  if (tooMuch !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, tooMuch)
  for (const leg of make(ex, legs, account, position, long, agent)) {
    watch(ex, leg)
    tellConditional(ex, leg, ConditionalReason.CREATED)
  }
  ex.result(command, { account, detail: legs.reduce((bits, { kind }) => bits | (1 << kind), 0) })
}
