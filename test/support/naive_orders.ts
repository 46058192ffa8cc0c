/**
 * Trading in the naive exchange: placement, matching, replacement and every way an order ends. See naive.ts. Rules: price-time priority at
 * the maker's price; one fee per order, rounded up once over all its fills; a resting order locks exactly what it may still cost; an order
 * whose time is over never trades.
 */
import { Flag, FLAG_ORDER_MASK, Option, Origin, ORIGIN_MASK, originOf } from '../../core/layout/command.ts'
import { EventType, FILL, LABEL, ORDER_ENDED, Reason, SELF_TRADE, Status } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { addedBy, chargeAddOn, newAddOn, shareFill } from './naive_builder.ts'
import { payFill } from './naive_families.ts'
import { lacksMargin, lacksNotional, lacksToCancelOn, lacksToPlace, lacksToReplace, type Agent } from './naive_agents.ts'
import { endLegs, handOver, legsOf } from './naive_conditional.ts'
import { isOwn, noteSpending, payerOf } from './naive_families.ts'
import { entryLegsRefusal, lacksForEntryValues, lacksForForms, makeEntryLegs } from './naive_legs.ts'
import { leaseRefusal } from './naive_launches.ts'
import { isPerp } from './naive_margin.ts'
import { collateralOf } from './naive_margin_changes.ts'
import { afterFill, bearsFill, fillPositions, leavePosition, mayRest } from './naive_margin_fills.ts'
import {
  admitMargin, admitSuccessor, beginMargin, endAdmission, isRefused, PERP_PATH_MOST, readmit, walkWhole, type Refused,
} from './naive_margin_orders.ts'
import {
  bandOf, claimRefusal, has, holdOf, isOver, MARGIN_FLAGS, openRefusal, otherSide, path, PATH_MOST, ratesOf, roomRefusal, simulate,
  tellPair, tellShort, termsRefusal, valueOf, wordOf, type Ex, type Order, type Terms,
} from './naive_terms.ts'
import { countSlice, type Twap } from './naive_twap.ts'
import { tellChild } from './naive_twap_slice.ts'

/** The order leaves the book unfilled; returns what it held. */
function takeOff(ex: Ex, order: Order): bigint {
  endLegs(ex, order)
  let released = holdOf(ex, order)
  leave(ex, order)
  if (order.margin === null) ex.touch(payer(ex, order), assetHeld(ex, order))
  else released = leavePosition(ex, order)
  ex.freeSlots.push(order.slot)
  return released
}

/** The order ends unfilled and an event says so. `counterparty`: the order being placed is why. */
export function end(ex: Ex, order: Order, status: number, reason: number, correlation: number, counterparty: boolean): void {
  const released = takeOff(ex, order)
  ex.events.push({
    layout: ORDER_ENDED,
    values: {
      kind: EventType.ORDER_ENDED, pair: order.pair, sequence: ex.sequence, time: ex.now, account: order.account, slot: order.slot,
      orderSequence: order.sequence, flags: wordOf(ex, order), price: order.price, lots: order.lots, remaining: order.remaining,
      outcome: status | (reason << 8), correlation, filledQuote: order.filledQuote, fee: order.fee, released,
      createdAt: order.createdAt, counterpartySequence: counterparty ? ex.sequence : 0,
    },
  })
}

const payer = (ex: Ex, order: Order): number => payerOf(ex, order.account, order.flags)
const assetHeld = (ex: Ex, order: Order): number => ex.genesis.pairs[order.pair]![order.sell ? 'base' : 'quote']

function leave(ex: Ex, order: Order): void {
  ex.books[order.pair] = ex.books[order.pair]!.filter((each) => each !== order)
  order.place = 0
  countSlice(ex, order)
}

/** Orders that end with one command because their time was over, since the rules 2. */
const CLEARED_MOST = 1000

/**
 * Orders at the touch whose time is over go before an incoming order is looked at; since the rules 2 those that it would meet. False: there
 * are more of them than go with one command.
 */
function clearTouch(ex: Ex, pair: number, sell: boolean, limit: number): boolean {
  const all = ex.inForce < 2
  const met = all ? otherSide(ex, pair, sell) : path(ex, pair, sell, limit)
  const live = met.findIndex((order) => !isOver(ex, order))
  const over = live < 0 ? met : met.slice(0, live)
  const ended = all ? over : over.slice(0, CLEARED_MOST)
  for (const order of ended) end(ex, order, Status.EXPIRED, Reason.EXPIRED, 0, false)
  return ended.length === over.length
}

/** A limit that meets whatever there is. */
const anyPrice = (flags: number): number => (has(flags, Flag.SELL) ? 0 : Infinity)

function orderResult(ex: Ex, command: Decoded, order: Order, outcome: number, over: Decoded = {}): Decoded {
  return ex.result(command, {
    account: order.account, pair: order.pair, flags: wordOf(ex, order), slot: order.slot, price: order.price, lots: order.lots,
    remaining: order.remaining, outcome, trades: order.trades, filledQuote: order.filledQuote, fee: order.fee,
    hold: order.place > 0 ? holdOf(ex, order) : 0n, bestPrice: order.bestPrice, worstPrice: order.worstPrice,
    expiresAt: order.expiresAt, orderSequence: order.sequence, detail2: command['slippageBps']!, ...over,
  })
}

function newOrder(
  ex: Ex, terms: Terms, agent: Agent | null, slot: number, expiresAt: number, parent: Twap | null = null,
): Order {
  return {
    sequence: ex.sequence, slot, account: terms.account, pair: terms.pair, sell: has(terms.flags, Flag.SELL), flags: terms.flags,
    label: terms.label, labelLength: terms.labelLength, price: has(terms.flags, Flag.MARKET) ? 0 : terms.limit, lots: terms.lots,
    remaining: terms.lots, filledQuote: 0n, feeSum: 0n, fee: 0n, makerPpm: ratesOf(ex, terms.account, terms.pair).maker,
    createdAt: ex.now, expiresAt, trades: 0, bestPrice: 0, worstPrice: 0, place: 0, agent,
    margin: null, parent, addOn: newAddOn(ex, terms.account, terms.flags),
  }
}

/** PLACE_ORDER. */
export function place(ex: Ex, command: Decoded): void {
  const account = ex.signer(command)
  if (account < 0) return ex.refuse(command, CODE.SESSION_INVALID, -1)
  const given = Number(command['flags'])
  const pair = Number(command['pair'])
  const known = ex.admit(command, account)
  if (typeof known === 'object') return ex.repeat(command, known)
  const early = known || openRefusal(ex, pair, given) || leaseRefusal(ex, command, account, pair, given)
  if (early !== 0) return ex.refuse(command, early, account)
  const agent = ex.signingAgent(command)
  const lacking = agent === null ? 0 : lacksToPlace(ex, agent, pair, given) || lacksMargin(agent, given, Number(command['leverage'])) ||
    (has(Number(command['options']), Option.LEGS) ? lacksForForms(ex, command, agent, pair) : 0)
  if (lacking !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, lacking)
  const result = enter(ex, command, account, agent, given & FLAG_ORDER_MASK, (code, missing, told) =>
    ex.refuse(command, code, account, missing, told))
  if (result !== null) ex.keep(command, account, result)
}

export type Refuse = (code: number, lacking?: number, told?: Decoded) => void

/** What a refusal for want of margin says. */
const tellMissing = (ex: Ex, { required, available }: Refused): Decoded =>
  (required === undefined ? {} : { detail2: collateralOf(ex), hold: required, filledQuote: available! })

/** The worst price of a MARKET order: its band; of a slice of a TWAP order and of a copy its limit, too. */
function worstOf(ex: Ex, command: Decoded, pair: number, flags: number): number {
  const band = bandOf(ex, pair, flags, Number(command['slippageBps']))
  const limited = originOf(flags) === Origin.TWAP || originOf(flags) === Origin.COPY
  const limit = limited ? Number(command['price']) : 0
  if (limit === 0 || band === 0) return band
  return has(flags, Flag.SELL) ? Math.max(band, limit) : Math.min(band, limit)
}

/** Places an order and answers; `null`: it was refused. `parent`: the TWAP order whose slice it is. */
export function enter(
  ex: Ex, command: Decoded, account: number, agent: Agent | null, flags: number, refuse: Refuse, parent: Twap | null = null,
): Decoded | null {
  const pair = Number(command['pair'])
  const no = (code: number, lacking = 0, told = tellPair(ex, pair)): null => (refuse(code, lacking, told), null)
  if (isPerp(ex, pair) ? !has(flags, Flag.MARGIN) : has(flags, MARGIN_FLAGS)) return no(CODE.WRONG_TRADING_MODE)
  const least = has(flags, Flag.MARKET) ? anyPrice(flags) : Number(command['price'])
  if (!clearTouch(ex, pair, has(flags, Flag.SELL), least)) return no(CODE.OVERLOADED)
  const labelLength = Number(command['flags']) >>> 24
  const terms: Terms = {
    account, pair, flags, lots: Number(command['lots']), labelLength, label: labelLength === 0 ? '' : String(command['label']),
    limit: has(flags, Flag.MARKET) ? worstOf(ex, command, pair, flags) : Number(command['price']),
    released: 0n, original: null,
  }
  const asked = has(flags, Flag.EXPIRES) ? Number(command['expiresAt']) : ex.now + ex.genesis.limits.orderLifetimeMs
  const code = roomRefusal(ex, account, flags) || termsRefusal(ex, terms) ||
    (asked <= ex.now ? CODE.INVALID_EXPIRATION : 0) || claimRefusal(ex, terms)
  if (code !== 0) return no(code, 0, tellShort(ex, terms, code))
  const admitted = has(flags, Flag.MARGIN) ? admitMargin(ex, command, terms) : null
  if (admitted !== null && isRefused(admitted)) return no(admitted.code, 0, { ...tellPair(ex, pair), ...tellMissing(ex, admitted) })
  const brings = has(Number(command['options']), Option.LEGS)
  const wrong = brings ? entryLegsRefusal(ex, command, terms, admitted?.position ?? null) : 0
  if (wrong !== 0) return no(wrong)
  const tooMuch = agent === null ? 0 : lacksNotional(ex, agent, terms, admitted?.lots) ||
    (brings ? lacksForEntryValues(ex, command, agent, terms, admitted!) : 0)
  if (tooMuch !== 0) return no(CODE.AGENT_NOT_ALLOWED, tooMuch)
  if (admitted !== null) terms.lots = admitted.lots
  const seen = admitted === null ? simulate(ex, terms) : walkWhole(ex, terms, admitted)
  if (has(flags, Flag.FOK) && seen.tooLong) return no(CODE.ABOVE_MAX_ORDER_SIZE)
  const ownInFok = has(flags, Flag.FOK) ? seen.own : null
  if (ownInFok !== null && has(flags, Flag.CANCEL_BOTH)) return no(CODE.SELF_TRADE_NOT_ALLOWED)
  ex.accounts[account]!.known = true
  const order = newOrder(ex, terms, agent, ex.freeSlots.pop() ?? ex.slotsUsed++, asked, parent)
  if (admitted !== null) beginMargin(ex, order, admitted)
  let reason: number = Reason.NONE
  if (ownInFok !== null) {
    reason = Reason.SELF_TRADE_PREVENTION
    tellSelfTrade(ex, command, ownInFok)
  } else if (has(flags, Flag.FOK) && seen.left > 0) reason = Reason.INSUFFICIENT_DEPTH
  return run(ex, command, order, terms.limit, reason, {}, brings)
}

/** Trades the order, rests or ends what is left, and answers. `blocked`: why it must not trade at all; `brings`: it has legs. */
function run(ex: Ex, command: Decoded, order: Order, limit: number, blocked: number, over: Decoded = {}, brings = false): Decoded {
  const through = order.margin === null ? trade : tradePerp
  let reason = blocked === Reason.NONE ? through(ex, command, order, limit) : blocked
  if (reason === Reason.NONE && order.remaining > 0) {
    if (has(order.flags, Flag.MARKET)) {
      reason = otherSide(ex, order.pair, order.sell).length === 0 ? Reason.INSUFFICIENT_DEPTH : Reason.SLIPPAGE_LIMIT
    } else if (has(order.flags, Flag.IOC)) reason = Reason.IOC_REMAINDER
  }
  if (order.margin !== null && order.remaining > 0 && reason === Reason.NONE && !mayRest(ex, order)) reason = Reason.REDUCE_ONLY
  let status: number = Status.FILLED
  if (order.remaining > 0 && reason !== Reason.NONE) status = Status.CANCELLED
  else if (order.remaining > 0) {
    status = order.trades > 0 ? Status.PARTIALLY_FILLED : Status.SUBMITTED
    order.place = ++ex.places
    ex.books[order.pair]!.push(order)
    if (order.margin === null) ex.touch(payer(ex, order), assetHeld(ex, order))
  }
  tellLabel(ex, order)
  if (brings) makeEntryLegs(ex, command, order)
  if (order.place === 0) endLegs(ex, order)
  if (order.margin !== null) endAdmission(ex, order)
  tellChild(ex, order)
  const result = orderResult(ex, command, order, status | (reason << 8), over)
  if (order.place === 0) ex.freeSlots.push(order.slot)
  return result
}

/** The resting order that stops the incoming one, for whoever asked to be told. */
function tellSelfTrade(ex: Ex, command: Decoded, { pair, account, slot, sequence: orderSequence }: Order): void {
  if (!has(Number(command['options']), Option.TELL_SELF_TRADE)) return
  const values = { kind: EventType.SELF_TRADE, pair, sequence: ex.sequence, time: ex.now, account, slot, orderSequence }
  ex.events.push({ layout: SELF_TRADE, values })
}

function tellLabel(ex: Ex, order: Order): void {
  if (order.labelLength === 0) return
  ex.events.push({
    layout: LABEL,
    values: {
      kind: EventType.LABEL, account: order.account, orderSequence: order.sequence, slot: order.slot, length: order.labelLength,
      label: order.label,
    },
  })
}

/** Fills along the path; returns why the rest must be cancelled. */
function trade(ex: Ex, command: Decoded, taker: Order, limit: number): number {
  let met = 0
  for (const maker of path(ex, taker.pair, taker.sell, limit)) {
    if (taker.remaining === 0) break
    if (ex.inForce >= 2 && met++ === PATH_MOST) return Reason.INSUFFICIENT_DEPTH
    if (isOver(ex, maker)) end(ex, maker, Status.EXPIRED, Reason.EXPIRED, 0, false)
    else if (isOwn(ex, taker.account, taker.flags, maker)) {
      if (has(taker.flags, Flag.CANCEL_BOTH)) {
        end(ex, maker, Status.CANCELLED, Reason.SELF_TRADE_PREVENTION, Number(command['correlation']), true)
      } else tellSelfTrade(ex, command, maker)
      return Reason.SELF_TRADE_PREVENTION
    } else fill(ex, taker, maker)
  }
  return Reason.NONE
}

/**
 * The same on a perpetual, where what one maker does may depend on the fills before it: the next one is looked for anew. Reduce-only orders
 * that end with a fill are met, too.
 */
function tradePerp(ex: Ex, command: Decoded, taker: Order, limit: number): number {
  const looks = ex.margins.looks ?? { left: PERP_PATH_MOST }
  while (taker.remaining > 0) {
    const maker = path(ex, taker.pair, taker.sell, limit)[0]
    if (maker === undefined) return Reason.NONE
    if (looks.left <= 0) return Reason.INSUFFICIENT_DEPTH
    looks.left--
    if (isOver(ex, maker)) end(ex, maker, Status.EXPIRED, Reason.EXPIRED, 0, false)
    else if (isOwn(ex, taker.account, taker.flags, maker)) {
      if (has(taker.flags, Flag.CANCEL_BOTH)) {
        end(ex, maker, Status.CANCELLED, Reason.SELF_TRADE_PREVENTION, Number(command['correlation']), true)
      } else tellSelfTrade(ex, command, maker)
      return Reason.SELF_TRADE_PREVENTION
    } else {
      const lots = Math.min(taker.remaining, maker.remaining)
      const bears = (order: Order, ppm: number): boolean => {
        const sum = order.feeSum + valueOf(ex, maker.pair, maker.price, lots) * BigInt(ppm)
        const added = addedBy(order, valueOf(ex, maker.pair, maker.price, lots))
        return bearsFill(ex, order, lots, maker.price, ex.rules.fee(sum) - order.fee + added)
      }
      if (!bears(taker, ratesOf(ex, taker.account, taker.pair).taker)) return Reason.INSUFFICIENT_MARGIN
      if (bears(maker, maker.makerPpm)) looks.left -= fill(ex, taker, maker)
      else end(ex, maker, Status.CANCELLED, Reason.INSUFFICIENT_MARGIN, 0, true)
    }
  }
  return Reason.NONE
}

/** Adds a fill to an order and returns the growth of its fee. */
function charge(ex: Ex, order: Order, quote: bigint, ppm: number): bigint {
  const before = order.fee
  order.filledQuote += quote
  order.feeSum += quote * BigInt(ppm)
  order.fee = ex.rules.fee(order.feeSum)
  return order.fee - before
}

/** How many reduce-only orders of the maker ended with it. */
function fill(ex: Ex, taker: Order, maker: Order): number {
  const rules = ex.genesis.pairs[taker.pair]!
  const lots = Math.min(taker.remaining, maker.remaining)
  const quote = valueOf(ex, taker.pair, maker.price, lots)
  const base = BigInt(lots) * rules.lotAtoms
  const takerFee = charge(ex, taker, quote, ratesOf(ex, taker.account, taker.pair).taker)
  const makerFee = charge(ex, maker, quote, maker.makerPpm)
  const takerAdded = chargeAddOn(taker, quote, takerFee)
  const makerAdded = chargeAddOn(maker, quote, makerFee)
  const costs = { takerCosts: takerFee + takerAdded, makerCosts: makerFee + makerAdded }
  if (taker.margin === null) payFill(ex, taker, maker, { quote, base, ...costs })
  if (taker.margin === null) ex.fees[rules.quote] = ex.fees[rules.quote]! + takerFee + makerFee
  else fillPositions(ex, taker, maker, lots, takerFee, makerFee, takerAdded, makerAdded)
  noteSpending(ex, taker, quote, base, takerFee, takerAdded)
  noteSpending(ex, maker, quote, base, makerFee, makerAdded)
  taker.remaining -= lots
  maker.remaining -= lots
  if (taker.trades === 0) taker.bestPrice = maker.price
  taker.worstPrice = maker.price
  taker.trades += 1
  if (maker.margin === null) ex.waiting.last.set(maker.pair, maker.price)
  if (maker.remaining === 0) {
    endLegs(ex, maker)
    leave(ex, maker)
  }
  ex.events.push({
    layout: FILL,
    values: {
      kind: EventType.FILL, pair: taker.pair, sequence: ex.sequence, time: ex.now, price: maker.price, lots, quote,
      index: taker.trades - 1, makerAccount: maker.account, makerSlot: maker.slot, makerRemaining: maker.remaining,
      makerSequence: maker.sequence, makerFee, takerFee, takerAccount: taker.account, takerSlot: taker.slot,
      takerRemaining: taker.remaining, makerLots: maker.lots, makerFlags: wordOf(ex, maker), takerFlags: wordOf(ex, taker),
      makerFilledQuote: maker.filledQuote, makerTotalFee: maker.fee, makerCreatedAt: maker.createdAt,
    },
  })
  shareFill(ex, { order: taker, fee: takerFee, added: takerAdded }, { order: maker, fee: makerFee, added: makerAdded })
  if (maker.remaining === 0) ex.freeSlots.push(maker.slot)
  if (taker.margin === null) return 0
  return afterFill(ex, taker, maker, (order, reason) => end(ex, order, Status.CANCELLED, reason, 0, false))
}

/** The caller's live resting order that the command names, or undefined. */
function targetOf(ex: Ex, command: Decoded, account: number): Order | undefined {
  const length = Number(command['targetLength'] ?? 0)
  const named = (o: Order): boolean => (length === 0
    ? o.slot === command['targetSlot'] && o.sequence === command['targetSequence']
    : o.labelLength === length && o.label === command['target'])
  const order = ex.openOrders(account).find(named)
  return order !== undefined && !isOver(ex, order) ? order : undefined
}

/** CANCEL_ORDER. */
export function cancel(ex: Ex, command: Decoded): void {
  const account = ex.signer(command)
  if (account < 0) return ex.refuse(command, CODE.SESSION_INVALID, -1)
  const order = targetOf(ex, command, account)
  if (order === undefined) return ex.refuse(command, CODE.ORDER_NOT_FOUND, account)
  const agent = ex.signingAgent(command)
  const lacking = agent === null ? 0 : lacksToCancelOn(ex, agent, order.pair)
  if (lacking !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, lacking)
  if (ex.statuses[order.pair] === 'HALTED') return ex.refuse(command, CODE.PAIR_NOT_ACTIVE, account)
  const released = takeOff(ex, order)
  const over = { hold: released, originalSequence: order.createdAt }
  orderResult(ex, command, order, Status.CANCELLED | (Reason.USER_CANCELLED << 8), over)
}

/** Resting orders whose time is over at `time`, in the order in which they end. */
export const dueOrders = (ex: Ex, time: number): Order[] =>
  ex.books.flat().filter(({ expiresAt }) => expiresAt <= time).sort((a, b) => a.expiresAt - b.expiresAt || a.sequence - b.sequence)

/** EXPIRE_ORDER: the timer names an order that it believes is due. */
export function expire(ex: Ex, command: Decoded): void {
  const order = ex.books.flat().find((o) => o.slot === command['targetSlot'] && o.sequence === command['targetSequence'])
  const due = order !== undefined && isOver(ex, order)
  if (due) end(ex, order, Status.EXPIRED, Reason.EXPIRED, 0, false)
  ex.refuse(command, due ? 0 : CODE.ORDER_NOT_FOUND, -1)
}

/** A decimal of the command in steps of `step` × 10^-stepScale; 0: it is none. */
function stepsOf(units: number, scale: number, stepScale: number, step: number): number {
  if (!Number.isSafeInteger(units) || units <= 0) return 0
  const [value, unit] = [BigInt(units) * 10n ** BigInt(stepScale), BigInt(step) * 10n ** BigInt(scale)]
  const fits = value % unit === 0n && value / 10n ** BigInt(scale) < 2n ** 53n && value / unit < 2n ** 31n
  return fits ? Number(value / unit) : 0
}

/** The command with price and quantity in ticks and lots, which whoever names an order by its client order id gives as decimals. */
function inSteps(ex: Ex, command: Decoded, { pair }: Order): Decoded | number {
  if (Number(command['targetLength'] ?? 0) === 0) return command
  const { priceScale, tickUnits, lotScale, lotUnits } = ex.genesis.pairs[pair]!
  const options = Number(command['options'])
  const price = stepsOf(Number(command['priceUnits']), Number(command['priceScale']), priceScale, tickUnits)
  const lots = stepsOf(Number(command['lotsUnits']), Number(command['lotsScale']), lotScale, lotUnits)
  if (has(options, Option.NEW_PRICE) && price === 0) return CODE.INVALID_TICK
  if (has(options, Option.NEW_LOTS) && lots === 0) return CODE.INVALID_LOT
  return { ...command, price, lots }
}

/** What a replacement asks for: given terms, otherwise those of the original. */
function successorTerms(ex: Ex, command: Decoded, original: Order): Terms {
  const [given, options] = [Number(command['flags']), Number(command['options'])]
  // Whoever replaces is who asked for the successor: a client.
  let flags = original.flags & ~Flag.SLIPPAGE & ~ORIGIN_MASK
  if (has(options, Option.NEW_STP)) flags = (flags & ~Flag.CANCEL_BOTH) | Flag.STP_GIVEN | (given & Flag.CANCEL_BOTH)
  if (has(options, Option.NEW_POST_ONLY)) flags = (flags & ~Flag.POST_ONLY) | (given & Flag.POST_ONLY)
  if (has(options, Option.NEW_FUNDING)) flags = (flags & ~Flag.MASTER_FUNDED) | (given & Flag.MASTER_FUNDED)
  const samePayer = has(flags, Flag.MASTER_FUNDED) === has(original.flags, Flag.MASTER_FUNDED)
  const labelled = given >>> 24 !== 0
  return {
    account: original.account, pair: original.pair, flags, released: samePayer ? holdOf(ex, original) : 0n, original,
    limit: has(options, Option.NEW_PRICE) ? Number(command['price']) : original.price,
    lots: has(options, Option.NEW_LOTS) ? Number(command['lots']) : original.remaining,
    label: labelled ? String(command['label']) : original.label, labelLength: labelled ? given >>> 24 : original.labelLength,
  }
}

/** REPLACE_ORDER: ends the original and places its successor in one step, or changes nothing. */
export function replace(ex: Ex, command: Decoded): void {
  const account = ex.signer(command)
  if (account < 0) return ex.refuse(command, CODE.SESSION_INVALID, -1)
  const known = ex.admit(command, account)
  if (typeof known === 'object') return ex.repeat(command, known)
  if (known !== 0) return ex.refuse(command, known, account)
  const original = targetOf(ex, command, account)
  if (original === undefined) return ex.refuse(command, CODE.ORDER_NOT_FOUND, account)
  if (leaseRefusal(ex, command, account, original.pair, original.flags) !== 0) return ex.refuse(command, CODE.LEASE_LOST, account)
  const agent = ex.signingAgent(command)
  const leverage = original.margin === null ? 0 : original.margin.position.leverage
  const lacking = agent === null ? 0 : lacksToReplace(ex, agent, original) || lacksMargin(agent, original.flags, leverage)
  if (lacking !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, lacking)
  const asked = inSteps(ex, command, original)
  const told = tellPair(ex, original.pair)
  if (typeof asked === 'number') return ex.refuse(command, asked, account, 0, told)
  const terms = successorTerms(ex, asked, original)
  if (!clearTouch(ex, original.pair, original.sell, terms.limit)) return ex.refuse(command, CODE.OVERLOADED, account, 0, told)
  const code = openRefusal(ex, original.pair) || termsRefusal(ex, terms) || claimRefusal(ex, terms)
  if (code !== 0) return ex.refuse(command, code, account, 0, tellShort(ex, terms, code))
  const admitted = original.margin === null ? null : admitSuccessor(ex, terms, original)
  if (admitted !== null && isRefused(admitted)) {
    return ex.refuse(command, admitted.code, account, 0, { ...told, ...tellMissing(ex, admitted) })
  }
  if (admitted !== null) terms.lots = admitted.lots
  const tooMuch = agent === null ? 0 : lacksNotional(ex, agent, terms)
  if (tooMuch !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, tooMuch, told)
  const { place: oldPlace } = original
  const keepsPlace = terms.limit === original.price && terms.lots < original.remaining
  const position = original.margin === null ? null : original.margin.position
  if (position !== null) ex.margins.leaving.push(original)
  const legs = legsOf(ex, original)
  for (const leg of legs) leg.entry = null
  end(ex, original, Status.CANCELLED, Reason.REPLACED, Number(command['correlation']), true)
  const order = newOrder(ex, terms, agent, ex.freeSlots.pop()!, original.expiresAt)
  if (position !== null) readmit(ex, order, original, terms)
  for (const leg of legs) handOver(ex, leg, order)
  const naming = { originalSequence: original.sequence, detail: original.slot }
  if (!keepsPlace) return ex.keep(command, account, run(ex, command, order, terms.limit, Reason.NONE, naming))
  order.place = oldPlace
  ex.books[order.pair]!.push(order)
  if (order.margin === null) ex.touch(payer(ex, order), assetHeld(ex, order))
  tellLabel(ex, order)
  if (order.margin !== null) endAdmission(ex, order)
  ex.keep(command, account, orderResult(ex, command, order, Status.SUBMITTED, naming))
}
