/**
 * TWAP orders: a quantity that is traded in slices over a window of time. CREATE_TWAP and CANCEL_TWAP are of whoever owns it, never of a
 * delegated agent (the cancel may be); TWAP_STEP is the sequencer's, when the time of one has come, and places one slice (twap_slice.ts).
 *
 *             start time, or price        all filled
 *   PENDING --------------------> ACTIVE -----------> COMPLETED
 *      |  its price did not come     |  the window is over: shortfall
 *      +-----------> EXPIRED <-------+                                    CANCELLED: owner, operator, its session was revoked
 *                                                                         FAILED: no later slice can get over what refused this one
 *
 * - **Nothing is held.** Each slice is an order of the account like any other and needs its funds or margin when its time comes. One that
 *   is refused is left out, and what it would have had goes to those that follow. At the end of the window nothing is made up for.
 * - **The price** it may wait for is the mark of a perpetual, by a conditional order of its own (ConditionType.TWAP_START), and the last
 *   trade of a spot pair, as the sequencer finds it. A price that is there already starts it at once.
 * - **Schedule.** One slice each `twapSliceMs`, fewer when lots or value of a slice would be less than an order's least.
 * - A client's TWAP id is claimed while its TWAP order is not over.
 */
import { TWAP_ANSWER } from '../layout/answers.ts'
import { Flag, FLAG_ORDER_MASK } from '../layout/command.ts'
import { ConditionType, LegFlag } from '../layout/conditional.ts'
import { read, readF64, write, writeF64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import {
  CANCEL_TWAP_COMMAND, CREATE_TWAP_COMMAND, TWAP_DURATION_MAX, TWAP_LABEL_BYTES, TWAP_OPTION_MASK, TwapOption, TwapReason, TwapState,
} from '../layout/twap.ts'
import { emitResult, emitTwapOpened } from '../events/emit.ts'
import { payerFor } from '../ledger/holds.ts'
import {
  freeConditional, makeConditional, mayFire, mayMakeConditionals, setExpiry, takeAway, watchPrice,
} from '../margin/conditionals.ts'
import { spotPrice } from '../margin/impact_price.ts'
import { isFresh, isPerpetual } from '../margin/mark_price.ts'
import { isOfFollow, marginAccountOf } from '../margin/buckets.ts'
import { keepAccount } from '../state/blank_list.ts'
import { hasLaunch, isFenced } from '../programs/launches.ts'
import { ownerAccount, refuse, sessionAccount } from '../programs/sessions.ts'
import { endTwap, lookAt, makeTwap, mayMakeTwap, tellTwap, twapFunding } from '../programs/twaps.ts'
import { N } from '../state/balances.ts'
import { SCALAR, TERMS } from '../state/columns.ts'
import { CONDITIONAL, TWAP, TWAP_LABEL_WORDS, WAITING } from '../state/conditional_rows.ts'
import { sameWords } from '../state/indexes.ts'
import { MARGIN_ACCOUNT, MarginAccountKind, PERP_TERMS, TIER } from '../state/margin_rows.ts'
import {
  add, conditionalAt, conditionalRow, get, getF64, marginAccountAt, noted, now, perpTermsRow, scalar, set, setF64,
  setWords, termsRow, tierRow, twapAt, twapRow, waitingRow, wordOf,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { meets } from '../state/trigger_heap.ts'
import { answerCancelled, refusesCancel } from './cancel_waiting.ts'
import { marginAccountOfTwap, NO_MARGIN } from './margin_account_of.ts'
import { findPlace } from './margin_admission.ts'
import { checkOpen, isOfPair } from './place.ts'
import { lastPrice, leastLots, sliceAt } from './twap_schedule.ts'

const C = CREATE_TWAP_COMMAND.at
const X = CANCEL_TWAP_COMMAND.at
const SLICE_FLAGS = Flag.SELL | Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CROSS | Flag.MASTER_FUNDED | Flag.SLIPPAGE

/**
 * TWAP_OPENED, TWAP, TWAP_ANSWER. AGENT_NOT_ALLOWED; OPERATIONS_BLOCKED; PAIR_NOT_ACTIVE; LEASE_LOST; WRONG_TRADING_MODE;
 * VALIDATION_ERROR, INVALID_TICK, BELOW_MIN_ORDER_SIZE, LEVERAGE_TOO_LOW, LEVERAGE_TOO_HIGH: terms;
 * INVALID_SCHEDULE, INVALID_EXPIRATION: times;
 * CLIENT_ORDER_ID_CONFLICT; NOT_FOUND, RISK_BUCKET_MISMATCH, STRATEGY_KEY_UNKNOWN, NOT_SUB_ACCOUNT, MASTER_BALANCE_NOT_ALLOWED: what it
 * names; TOO_MANY_TWAP_ORDERS, TOO_MANY_CONDITIONAL_ORDERS: room; INSUFFICIENT_BALANCE, INSUFFICIENT_MARGIN: places are scarce and it holds
 * nothing of what it would trade.
 */
export function createTwap(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  const code = account < 0 ? -account : createRefusal(state, command, base, account)
  if (code !== 0) return refuse(state, command, base, code)
  keepAccount(state, account)
  const row = makeTwap(state, account)
  writeTwap(state, row, command, base)
  emitTwapOpened(state, row)
  const waits = get(state, row, TWAP.TRIGGER) !== 0 && !isReached(state, row)
  if (waits) waitForPrice(state, row)
  else begin(state, row)
  const at = emitResult(state, command, base, 0, account, twapAt(state, row), get(state, row, TWAP.SLICES))
  write(state.outbox, at, TWAP_ANSWER.at.state, get(state, row, TWAP.STATE))
  writeF64(state.outbox, at, TWAP_ANSWER.at.firstSliceAt, getF64(state, row, TWAP.START_AT))
  writeF64(state.outbox, at, TWAP_ANSWER.at.endAt, getF64(state, row, TWAP.END_AT))
}

function createRefusal(state: State, command: Views, base: number, account: number): number {
  const pair = read(command, base, C.pair)
  const flags = read(command, base, C.flags)
  let code = checkOpen(state, pair, 0)
  if (code === 0 && hasLaunch(state, pair) && isFenced(state, command, base, account, pair, flags)) code = REFUSALS.LEASE_LOST.number
  if (code === 0 && (flags & FLAG_ORDER_MASK & ~SLICE_FLAGS) !== 0) code = REFUSALS.VALIDATION_ERROR.number
  if (code === 0 && !isOfPair(state, pair, flags)) code = REFUSALS.WRONG_TRADING_MODE.number
  if (code === 0) code = termsRefusal(state, command, base, pair, flags)
  if (code === 0) code = timeRefusal(state, command, base)
  if (code === 0 && isClaimed(state, command, base, account)) code = REFUSALS.CLIENT_ORDER_ID_CONFLICT.number
  if (code === 0) code = placeRefusal(state, command, base, account, flags)
  if (code === 0) code = mayMakeTwap(state, account)
  const isMargin = (flags & Flag.MARGIN) !== 0
  if (code === 0) code = twapFunding(state, account, pair, flags, isMargin ? noted(state, N.MARGIN_ACCOUNT) : -1)
  const waits = read(command, base, C.trigger) !== 0
  return code === 0 && waits ? mayMakeConditionals(state, account, -1, 1) : code
}

function termsRefusal(state: State, command: Views, base: number, pair: number, flags: number): number {
  const isTick = (ticks: number): boolean => ticks === 0 || (ticks >= 1 && ticks < state.priceTicks)
  if (!isTick(read(command, base, C.price)) || !isTick(read(command, base, C.trigger))) return REFUSALS.INVALID_TICK.number
  const options = read(command, base, C.options)
  const length = read(command, base, C.labelLength)
  if ((options & ~TWAP_OPTION_MASK) !== 0 || length < 0 || length > TWAP_LABEL_BYTES) return REFUSALS.VALIDATION_ERROR.number
  if (read(command, base, C.lots) < get(state, termsRow(state, pair), TERMS.MIN_LOTS)) return REFUSALS.BELOW_MIN_ORDER_SIZE.number
  const opens = (flags & Flag.MARGIN) !== 0 && (flags & Flag.REDUCE_ONLY) === 0
  const least = opens ? get(state, perpTermsRow(state, pair), PERP_TERMS.MIN_LEVERAGE) : 0
  if (read(command, base, C.leverage) < least) return REFUSALS.LEVERAGE_TOO_LOW.number
  // What the first tier allows: the tier of a slice is known when it is placed.
  const most = opens && scalar(state, SCALAR.RULES) >= 5 ? get(state, tierRow(state, pair, 0), TIER.MAX_LEVERAGE) : 0
  return most !== 0 && read(command, base, C.leverage) > most ? REFUSALS.LEVERAGE_TOO_HIGH.number : 0
}

/** Start of its window, if it starts now; its end, of one that says so; Unix ms. */
const startOf = (state: State, startAt: number): number => Math.max(now(state), startAt)

function timeRefusal(state: State, command: Views, base: number): number {
  const start = startOf(state, readF64(command, base, C.startAt))
  const duration = read(command, base, C.durationMs)
  const end = duration > 0 ? start + duration : readF64(command, base, C.endAt)
  if (duration < 0 || end <= start || end - start > TWAP_DURATION_MAX) return REFUSALS.INVALID_SCHEDULE.number
  if (start - now(state) > state.orderLifetimeMs) return REFUSALS.INVALID_SCHEDULE.number
  const expiry = readF64(command, base, C.conditionalExpiry)
  return expiry !== 0 && expiry <= now(state) ? REFUSALS.INVALID_EXPIRATION.number : 0
}

/** True when another TWAP order of the account has the client's id. Walks those of the account. */
function isClaimed(state: State, command: Views, base: number, account: number): boolean {
  const length = read(command, base, C.labelLength)
  let next = length === 0 ? 0 : get(state, waitingRow(state, account), WAITING.FIRST_TWAP)
  while (next !== 0) {
    const row = twapRow(state, next - 1)
    const same = get(state, row, TWAP.LABEL_LENGTH) === length &&
      sameWords(state.i32, wordOf(row, TWAP.LABEL), command.i32, base + C.label, TWAP_LABEL_WORDS)
    if (same) return true
    next = get(state, row, TWAP.NEXT)
  }
  return false
}

/** What it names must be there, or able to come about. */
function placeRefusal(state: State, command: Views, base: number, account: number, flags: number): number {
  const margin = (flags & Flag.MARGIN) !== 0
  if ((flags & Flag.MASTER_FUNDED) !== 0) {
    if (margin) return REFUSALS.MASTER_BALANCE_NOT_ALLOWED.number
    return payerFor(state, account, flags) < 0 ? REFUSALS.NOT_SUB_ACCOUNT.number : 0
  }
  if (!margin) return 0
  const code = findPlace(state, command, base, account, flags)
  return code === 0 && isOfFollow(state, noted(state, N.MARGIN_ACCOUNT)) ? REFUSALS.COPY_MARGIN_ACCOUNT.number : code
}

function writeTwap(state: State, row: number, command: Views, base: number): void {
  const copy = [
    [TWAP.PAIR, C.pair], [TWAP.FLAGS, C.flags], [TWAP.OPTIONS, C.options], [TWAP.LOTS, C.lots], [TWAP.PRICE, C.price],
    [TWAP.SLIPPAGE_BPS, C.slippageBps], [TWAP.TRIGGER, C.trigger], [TWAP.LEVERAGE, C.leverage], [TWAP.MARGIN_ACCOUNT, C.marginAccount],
    [TWAP.BUCKET, C.bucket], [TWAP.KEY_LOW, C.keyLow], [TWAP.KEY_HIGH, C.keyHigh], [TWAP.LABEL_LENGTH, C.labelLength],
    [TWAP.SESSION, C.session], [TWAP.GENERATION, C.sessionGeneration], [TWAP.SEED_LOW, C.seed], [TWAP.SEED_HIGH, C.seed + 1],
  ] as const
  for (const [field, word] of copy) set(state, row, field, command.i32[base + word]!)
  setF64(state, row, TWAP.NAMED_SEQUENCE, readF64(command, base, C.namedSequence))
  setF64(state, row, TWAP.DURATION, read(command, base, C.durationMs))
  setF64(state, row, TWAP.START_AT, readF64(command, base, C.startAt))
  if (read(command, base, C.durationMs) === 0) setF64(state, row, TWAP.END_AT, readF64(command, base, C.endAt))
  if (get(state, row, TWAP.LABEL_LENGTH) !== 0) setWords(state, row, TWAP.LABEL, TWAP_LABEL_WORDS, command.i32, base + C.label)
  if (get(state, row, TWAP.TRIGGER) !== 0) {
    const expiry = readF64(command, base, C.conditionalExpiry)
    const end = getF64(state, row, TWAP.END_AT)
    const last = end === 0 ? now(state) + state.orderLifetimeMs : end
    setF64(state, row, TWAP.CONDITIONAL_EXPIRY, expiry === 0 || expiry > last ? last : expiry)
  }
  if ((get(state, row, TWAP.FLAGS) & Flag.MARGIN) !== 0) countOnMargin(state, row)
}

/** It counts on the margin account that it named, or whose bucket it did, so that this one is not closed meanwhile; notes of findPlace. */
function countOnMargin(state: State, row: number): void {
  const bucket = get(state, row, TWAP.BUCKET) === 0 ? -1 : noted(state, N.BUCKET)
  const margin = bucket >= 0 ? marginAccountOf(state, bucket) : noted(state, N.MARGIN_ACCOUNT)
  if (margin < 0 || get(state, margin, MARGIN_ACCOUNT.KIND) === MarginAccountKind.PARENT) return
  set(state, row, TWAP.COUNTED, marginAccountAt(state, margin) + 1)
  add(state, margin, MARGIN_ACCOUNT.TWAPS, 1)
}

/** True when the price that it waits for is there. */
function isReached(state: State, row: number): boolean {
  const pair = get(state, row, TWAP.PAIR)
  if (!mayFire(state, pair) || (isPerpetual(state, pair) && !isFresh(state, pair))) return false
  const price = isPerpetual(state, pair) ? lastPrice(state, row) : spotPrice(state, pair)
  return price !== 0 && meets((get(state, row, TWAP.OPTIONS) & TwapOption.ABOVE) !== 0, get(state, row, TWAP.TRIGGER), price)
}

function waitForPrice(state: State, row: number): void {
  const above = (get(state, row, TWAP.OPTIONS) & TwapOption.ABOVE) !== 0
  const start = makeConditional(
    state, get(state, row, TWAP.ACCOUNT), ConditionType.TWAP_START, get(state, row, TWAP.PAIR), twapAt(state, row),
  )
  set(state, start, CONDITIONAL.TRIGGER, get(state, row, TWAP.TRIGGER))
  set(state, start, CONDITIONAL.FLAGS, above ? LegFlag.ABOVE : 0)
  setExpiry(state, start, getF64(state, row, TWAP.CONDITIONAL_EXPIRY))
  set(state, row, TWAP.CONDITIONAL, conditionalAt(state, start) + 1)
  watchPrice(state, start)
  const duration = getF64(state, row, TWAP.DURATION)
  const window = duration === 0 ? getF64(state, row, TWAP.END_AT) - startOf(state, getF64(state, row, TWAP.START_AT)) : duration
  plan(state, row, window)
  tellTwap(state, row, TwapReason.CREATED, -1, 0)
}

/** How many slices there will be in a window of so many ms. */
function plan(state: State, row: number, window: number): void {
  const { twapSliceMs } = state.genesis.limits
  const byTime = Math.max(1, Math.floor(window / twapSliceMs))
  const byLots = Math.max(1, Math.floor(get(state, row, TWAP.LOTS) / leastLots(state, row)))
  set(state, row, TWAP.SLICES, Math.min(byTime, byLots))
}

/** Its window is known from now on: it begins now, or at its start time. */
function begin(state: State, row: number): void {
  const start = startOf(state, getF64(state, row, TWAP.START_AT))
  const duration = getF64(state, row, TWAP.DURATION)
  setF64(state, row, TWAP.START_AT, start)
  if (duration !== 0) setF64(state, row, TWAP.END_AT, start + duration)
  plan(state, row, getF64(state, row, TWAP.END_AT) - start)
  if (start <= now(state)) set(state, row, TWAP.STATE, TwapState.ACTIVE)
  lookAt(state, row, sliceAt(state, row, 0))
  tellTwap(state, row, TwapReason.CREATED, -1, 0)
}

/** The price came that the TWAP order at `row` waited for. */
export function startTwap(state: State, row: number): void {
  const start = conditionalRow(state, get(state, row, TWAP.CONDITIONAL) - 1)
  takeAway(state, start)
  freeConditional(state, start)
  set(state, row, TWAP.CONDITIONAL, 0)
  const end = getF64(state, row, TWAP.END_AT)
  if (end !== 0 && end <= startOf(state, getF64(state, row, TWAP.START_AT))) {
    endTwap(state, row, TwapState.EXPIRED, TwapReason.WINDOW_OVER, 0)
    return
  }
  begin(state, row)
}

/** CANCELLED_WAITING_ANSWER. ORDER_NOT_FOUND: none of the signer's has that name; PAIR_NOT_ACTIVE: its pair is halted. */
export function cancelTwap(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  const number = read(command, base, X.twap)
  const known = account >= 0 && number >= 0 && number < scalar(state, SCALAR.TWAPS_USED)
  const row = known ? twapRow(state, number) : -1
  const own = row >= 0 && get(state, row, TWAP.STATE) !== 0 && get(state, row, TWAP.ACCOUNT) === account &&
    getF64(state, row, TWAP.CREATED_SEQUENCE) === readF64(command, base, X.createdSequence)
  const pair = own ? get(state, row, TWAP.PAIR) : -1
  if (refusesCancel(state, command, base, account, pair, own ? marginAccountOfTwap(state, row) : NO_MARGIN)) return
  endTwap(state, row, TwapState.CANCELLED, TwapReason.USER_CANCELLED, 0)
  answerCancelled(state, command, base, account, pair)
}
