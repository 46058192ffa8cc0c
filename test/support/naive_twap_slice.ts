/** TWAP_STEP in the naive exchange: a TWAP order begins, has a slice placed, or its window is over. See naive_twap.ts. */
import { CommandType, Flag, kindOf, Origin, originFlags } from '../../core/layout/command.ts'
import { CHILD_ORDER, TwapOption, TwapReason, TwapState } from '../../core/layout/twap.ts'
import { EventType, Reason, Status } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { enter } from './naive_orders.ts'
import { bandOf, has, mostLots, openRefusal, otherSide, type Ex, type Order } from './naive_terms.ts'
import { endSlice, endTwap, lastPrice, leastLots, lotsOfSlice, sliceAt, tellTwap, type Twap } from './naive_twap.ts'

/** No later slice gets over it. */
const isForEver = (code: number): boolean => [
  CODE.NOT_FOUND, CODE.RISK_BUCKET_MISMATCH, CODE.STRATEGY_KEY_UNKNOWN, CODE.WRONG_PERP_MODE, CODE.WRONG_TRADING_MODE,
  CODE.NOT_SUB_ACCOUNT, CODE.MASTER_BALANCE_NOT_ALLOWED, CODE.LEVERAGE_TOO_LOW, CODE.VALIDATION_ERROR,
].some((each) => each === code)

/** TWAP_STEP. */
export function twapStep(ex: Ex, command: Decoded): void {
  const twap = ex.waiting.twaps.find(({ row, createdSequence }) =>
    row === command['twap'] && createdSequence === command['createdSequence'])
  if (Number(command['kind']) >>> 16 !== 0) return ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  if (twap === undefined || twap.nextAt === 0 || twap.nextAt > ex.now) return ex.refuse(command, CODE.NOT_FOUND, -1)
  step(ex, twap)
  ex.result(command, { account: -1 })
}

const complete = (ex: Ex, twap: Twap): void => endTwap(ex, twap, TwapState.COMPLETED, TwapReason.COMPLETED)

function step(ex: Ex, twap: Twap): void {
  if (ex.now >= twap.endAt) {
    endSlice(ex, twap, Status.EXPIRED, Reason.EXPIRED)
    if (twap.filled === twap.lots) complete(ex, twap)
    else endTwap(ex, twap, TwapState.EXPIRED, TwapReason.WINDOW_OVER)
    return
  }
  if (twap.state === TwapState.PENDING) {
    twap.state = TwapState.ACTIVE
    tellTwap(ex, twap, TwapReason.STARTED)
  }
  endSlice(ex, twap, Status.CANCELLED, Reason.REPLACED)
  if (twap.filled === twap.lots) return complete(ex, twap)
  // One slice is placed for all whose time went by.
  const due = Array.from({ length: twap.slices }, (_, k) => k).filter((k) => k >= twap.reached && sliceAt(twap, k) <= ex.now)
  twap.reached += due.length
  twap.nextAt = sliceAt(twap, twap.reached)
  if (due.length > 0) placeSlice(ex, twap)
}

function placeSlice(ex: Ex, twap: Twap): void {
  const lots = lotsOfSlice(twap, twap.reached - 1, twap.lots - twap.filled, leastLots(ex, twap))
  const passive = has(twap.options, TwapOption.PASSIVE)
  const price = passive ? restingPrice(ex, twap) : twap.price
  if (passive ? price === 0 : isBeyond(ex, twap)) return tellTwap(ex, twap, TwapReason.SKIPPED, -1, CODE.BEYOND_LIMIT_PRICE)
  const order = orderOf(ex, twap, price, lots, passive)
  let code = openRefusal(ex, twap.pair)
  const result = code === 0 ? enter(ex, order, twap.account, null, Number(order['flags']), (refusal) => void (code = refusal), twap) : null
  if (result === null) {
    if (isForEver(code)) endTwap(ex, twap, TwapState.FAILED, TwapReason.FAILED, code)
    else tellTwap(ex, twap, TwapReason.SKIPPED, -1, code)
    return
  }
  twap.placed += 1
  const { remaining, outcome } = result
  const rests = Number(remaining) > 0 && Number(outcome) >>> 8 === Reason.NONE
  if (rests) twap.child = ex.books[twap.pair]!.find(({ sequence, slot }) => sequence === ex.sequence && slot === result['slot'])!
  else {
    twap.filled += Number(result['lots']) - Number(remaining)
    twap.filledQuote += BigInt(result['filledQuote']!)
    twap.fee += BigInt(result['fee']!)
  }
  tellTwap(ex, twap, TwapReason.SLICE, Number(result['slot']))
  if (!rests && twap.filled === twap.lots) complete(ex, twap)
}

const bestOf = (ex: Ex, pair: number, sell: boolean): number => otherSide(ex, pair, !sell)[0]?.price ?? 0

/** The touch is beyond its limit; where there is no touch, the order finds nothing to trade with. */
function isBeyond(ex: Ex, { pair, flags, price }: Twap): boolean {
  const sell = has(flags, Flag.SELL)
  const touch = bestOf(ex, pair, !sell)
  if (price === 0 || touch === 0) return false
  return sell ? touch < price : touch > price
}

/** At the touch of its own side; without one a tick from the other side; without any at the price of now. Never beyond its limit. */
function restingPrice(ex: Ex, { pair, flags, price: limit }: Twap): number {
  const sell = has(flags, Flag.SELL)
  const [own, other] = [bestOf(ex, pair, sell), bestOf(ex, pair, !sell)]
  const beside = sell ? other + 1 : other - 1
  const fits = other !== 0 && beside < ex.genesis.limits.priceTicks
  const found = own !== 0 ? own : fits ? beside : lastPrice(ex, pair)
  if (limit === 0) return found
  return sell ? Math.max(found, limit) : Math.min(found, limit)
}

/** The order of a slice, as a command that nobody sent. */
function orderOf(ex: Ex, twap: Twap, price: number, lots: number, passive: boolean): Decoded {
  const { pair, flags: given, slippageBps, endAt, carried } = twap
  const kept = passive ? given & ~Flag.SLIPPAGE : given
  const flags = (kept | (passive ? Flag.POST_ONLY | Flag.EXPIRES : Flag.MARKET) | originFlags(Origin.TWAP)) >>> 0
  const worst = passive ? price : bandOf(ex, pair, flags, slippageBps)
  const most = worst === 0 ? lots : mostLots(ex, pair, has(given, Flag.SELL), worst)
  return {
    kind: kindOf(CommandType.ENTER_ORDER, 1, 0), correlation: 0, session: -1, pair, flags, price, lots: Math.min(lots, most),
    slippageBps: passive ? 0 : slippageBps, options: 0, expiresAt: passive ? endAt : 0, position: 0, collateral: 0n, ...carried,
  }
}

/** CHILD_ORDER: the order is a slice. */
export function tellChild(ex: Ex, { account, sequence: orderSequence, slot, pair, parent }: Order): void {
  if (parent === null) return
  const { row: twap, createdSequence: twapSequence } = parent
  ex.events.push({ layout: CHILD_ORDER, values: { kind: EventType.CHILD_ORDER, account, orderSequence, slot, pair, twap, twapSequence } })
}
