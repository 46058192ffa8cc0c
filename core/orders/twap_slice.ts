/**
 * TWAP_STEP: the time of a TWAP order has come. It begins, one slice is placed, or its window is over. Each slice is an order of the
 * account itself, of origin TWAP (own_orders.ts), and names its parent (CHILD_ORDER).
 *
 * - **MARKET** slices trade within the band of every MARKET order, the order's slippageToleranceBps and its limit price; what is left of
 *   one is cancelled and goes to those that follow. Where the touch is beyond the limit, no order is placed.
 * - **PASSIVE** slices rest, post-only, at the touch of their own side, at the limit price at most, and expire with the window; the next
 *   step ends them. What rests fills like any order (book/pool.ts counts it when it is gone).
 * - **Late.** After an outage one slice is placed for all whose time went by; its part of what is left is that of the last of them.
 * - **At the end** nothing is placed any more, and a slice at rest expires.
 */
import { ORDER_ANSWER } from '../layout/answers.ts'
import { Flag, ORDER_COMMAND, Origin, originFlags } from '../layout/command.ts'
import { Reason, Status } from '../layout/event.ts'
import { read, readF64, write, writeF64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { TWAP_STEP_COMMAND, TwapOption, TwapReason, TwapState } from '../layout/twap.ts'
import { emitResult } from '../events/emit.ts'
import { bestOpposite } from '../book/match.ts'
import { laneRefusal } from '../programs/policy.ts'
import { endSlice, endTwap, lookAt, tellTwap } from '../programs/twaps.ts'
import { N } from '../state/balances.ts'
import { NO_ASK, SCALAR } from '../state/columns.ts'
import { TWAP } from '../state/conditional_rows.ts'
import { noteTwap } from '../state/due.ts'
import { add, get, getF64, getI64, note, now, scalar, set, setI64, twapAt, twapRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { marketLimit } from './admission.ts'
import { mostLots } from './most_lots.ts'
import { ownRecord, writeOwnOrder } from './own_record.ts'
import { checkOpen, enterOrder } from './place.ts'
import { lastPrice, leastLots, lotsOfSlice, sliceAt, slicesDue } from './twap_schedule.ts'

const T = TWAP_STEP_COMMAND.at
const C = ORDER_COMMAND.at

/** Refusals that no later slice gets over. */
const FOR_EVER: readonly number[] = [
  REFUSALS.NOT_FOUND, REFUSALS.RISK_BUCKET_MISMATCH, REFUSALS.STRATEGY_KEY_UNKNOWN, REFUSALS.WRONG_PERP_MODE, REFUSALS.WRONG_TRADING_MODE,
  REFUSALS.NOT_SUB_ACCOUNT, REFUSALS.MASTER_BALANCE_NOT_ALLOWED, REFUSALS.LEVERAGE_TOO_LOW, REFUSALS.VALIDATION_ERROR,
].map(({ number }) => number)
/** Why a slice was left out that was not refused: the touch is beyond the limit, or there is none. */
const NO_PRICE = REFUSALS.BEYOND_LIMIT_PRICE.number

/** NOT_FOUND: no such TWAP order, or its time has not come. */
export function twapStep(state: State, command: Views, base: number): void {
  const number = read(command, base, T.twap)
  const known = number >= 0 && number < scalar(state, SCALAR.TWAPS_USED)
  const row = known ? twapRow(state, number) : -1
  const named = row >= 0 && get(state, row, TWAP.STATE) !== 0 &&
    getF64(state, row, TWAP.CREATED_SEQUENCE) === readF64(command, base, T.createdSequence)
  const next = named ? getF64(state, row, TWAP.NEXT_AT) : 0
  const isDue = next !== 0 && next <= now(state)
  const code = laneRefusal(command, base) || (isDue ? 0 : REFUSALS.NOT_FOUND.number)
  if (code === 0) step(state, row)
  // The queue has forgotten it.
  else if (named) noteTwap(state, number)
  emitResult(state, command, base, code, -1, 0, 0)
}

function step(state: State, row: number): void {
  if (now(state) >= getF64(state, row, TWAP.END_AT)) {
    endSlice(state, row, Status.EXPIRED, Reason.EXPIRED)
    const all = get(state, row, TWAP.FILLED) === get(state, row, TWAP.LOTS)
    if (all) endTwap(state, row, TwapState.COMPLETED, TwapReason.COMPLETED, 0)
    else endTwap(state, row, TwapState.EXPIRED, TwapReason.WINDOW_OVER, 0)
    return
  }
  if (get(state, row, TWAP.STATE) === TwapState.PENDING) {
    set(state, row, TWAP.STATE, TwapState.ACTIVE)
    tellTwap(state, row, TwapReason.STARTED, -1, 0)
  }
  endSlice(state, row, Status.CANCELLED, Reason.REPLACED)
  if (get(state, row, TWAP.FILLED) === get(state, row, TWAP.LOTS)) {
    endTwap(state, row, TwapState.COMPLETED, TwapReason.COMPLETED, 0)
    return
  }
  const reached = slicesDue(state, row, get(state, row, TWAP.REACHED), now(state))
  const isNew = reached > get(state, row, TWAP.REACHED)
  set(state, row, TWAP.REACHED, reached)
  lookAt(state, row, sliceAt(state, row, reached))
  if (isNew) placeSlice(state, row, reached - 1)
}

function placeSlice(state: State, row: number, k: number): void {
  const left = get(state, row, TWAP.LOTS) - get(state, row, TWAP.FILLED)
  const lots = lotsOfSlice(state, row, k, left, leastLots(state, row))
  const passive = (get(state, row, TWAP.OPTIONS) & TwapOption.PASSIVE) !== 0
  const price = passive ? restingPrice(state, row) : get(state, row, TWAP.PRICE)
  if (passive ? price === 0 : isBeyond(state, row)) {
    skip(state, row, NO_PRICE)
    return
  }
  const flags = writeOrder(state, row, price, lots, passive)
  const refused = checkOpen(state, get(state, row, TWAP.PAIR), 0)
  note(state, N.PARENT, twapAt(state, row) + 1)
  const result = refused === 0 ? enterOrder(state, ownRecord, 0, get(state, row, TWAP.ACCOUNT), -1, flags) : -refused
  note(state, N.PARENT, 0)
  if (result >= 0) count(state, row, result)
  else if (FOR_EVER.includes(-result)) endTwap(state, row, TwapState.FAILED, TwapReason.FAILED, -result)
  else skip(state, row, -result)
}

function skip(state: State, row: number, code: number): void {
  set(state, row, TWAP.CODE, code)
  tellTwap(state, row, TwapReason.SKIPPED, -1, code)
}

/** True when the touch is beyond the limit of the TWAP order. A book without a touch is not: the order finds nothing to trade with. */
function isBeyond(state: State, row: number): boolean {
  const limit = get(state, row, TWAP.PRICE)
  const sell = get(state, row, TWAP.FLAGS) & Flag.SELL
  const best = bestOpposite(state, get(state, row, TWAP.PAIR), sell)
  if (limit === 0 || best === 0 || best === NO_ASK) return false
  return sell !== 0 ? best < limit : best > limit
}

/**
 * Where a passive slice rests: at the touch of its own side, not beyond its limit; one tick from the other side where its own is empty, and
 * at the price of now where both are. 0: there is none.
 */
function restingPrice(state: State, row: number): number {
  const pair = get(state, row, TWAP.PAIR)
  const sell = get(state, row, TWAP.FLAGS) & Flag.SELL
  const limit = get(state, row, TWAP.PRICE)
  const [own, other] = [bestOpposite(state, pair, sell === 0 ? Flag.SELL : 0), bestOpposite(state, pair, sell)]
  if (sell === 0) {
    const bid = own !== 0 ? own : other !== NO_ASK ? other - 1 : lastPrice(state, row)
    return limit !== 0 && bid > limit ? limit : bid
  }
  const ask = own !== NO_ASK ? own : other !== 0 && other + 1 < state.priceTicks ? other + 1 : lastPrice(state, row)
  return limit !== 0 && ask < limit ? limit : ask
}

/** Writes the order of a slice, of `lots` or as many as one order may have; its flags. */
function writeOrder(state: State, row: number, price: number, lots: number, passive: boolean): number {
  const pair = get(state, row, TWAP.PAIR)
  const given = get(state, row, TWAP.FLAGS)
  const kind = passive ? Flag.POST_ONLY | Flag.EXPIRES : Flag.MARKET
  const flags = (passive ? given & ~Flag.SLIPPAGE : given) | kind | originFlags(Origin.TWAP)
  const slippage = get(state, row, TWAP.SLIPPAGE_BPS)
  const worst = passive ? price : marketLimit(state, pair, flags, slippage)
  const most = worst === 0 ? lots : mostLots(state, pair, (given & Flag.SELL) !== 0, worst)
  writeOwnOrder(pair, flags, price, lots < most ? lots : most)
  write(ownRecord, 0, C.slippageBps, passive ? 0 : slippage)
  if (passive) writeF64(ownRecord, 0, C.expiresAt, getF64(state, row, TWAP.END_AT))
  write(ownRecord, 0, C.leverage, get(state, row, TWAP.LEVERAGE))
  write(ownRecord, 0, C.marginAccount, get(state, row, TWAP.MARGIN_ACCOUNT))
  write(ownRecord, 0, C.bucket, get(state, row, TWAP.BUCKET))
  write(ownRecord, 0, C.keyLow, get(state, row, TWAP.KEY_LOW))
  write(ownRecord, 0, C.keyHigh, get(state, row, TWAP.KEY_HIGH))
  writeF64(ownRecord, 0, C.namedSequence, getF64(state, row, TWAP.NAMED_SEQUENCE))
  return flags
}

/** The slice at `result` of the outbox was placed: it rests, or it is over and what it filled counts. */
function count(state: State, row: number, result: number): void {
  const { outbox } = state
  const slot = outbox.i32[result + ORDER_ANSWER.at.slot]!
  const remaining = outbox.i32[result + ORDER_ANSWER.at.remaining]!
  const outcome = outbox.i32[result + ORDER_ANSWER.at.outcome]!
  const rests = remaining > 0 && outcome >>> 8 === Reason.NONE
  add(state, row, TWAP.PLACED, 1)
  set(state, row, TWAP.CODE, 0)
  if (rests) set(state, row, TWAP.CHILD, slot + 1)
  else {
    add(state, row, TWAP.FILLED, outbox.i32[result + ORDER_ANSWER.at.lots]! - remaining)
    setI64(state, row, TWAP.FILLED_QUOTE, getI64(state, row, TWAP.FILLED_QUOTE) + outbox.i64[(result + ORDER_ANSWER.at.filledQuote) >>> 1]!)
    setI64(state, row, TWAP.FEE, getI64(state, row, TWAP.FEE) + outbox.i64[(result + ORDER_ANSWER.at.fee) >>> 1]!)
  }
  tellTwap(state, row, TwapReason.SLICE, slot, 0)
  if (!rests && get(state, row, TWAP.FILLED) === get(state, row, TWAP.LOTS)) {
    endTwap(state, row, TwapState.COMPLETED, TwapReason.COMPLETED, 0)
  }
}
