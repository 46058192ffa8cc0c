/**
 * Orders of copies: writing, entering and telling of them, and of those that were not entered. What they are for is in copy_step.ts and
 * copy_close.ts.
 */
import { ORDER_ANSWER } from '../layout/answers.ts'
import { Flag, ORDER_COMMAND, Origin, originFlags } from '../layout/command.ts'
import { FollowReason } from '../layout/copying.ts'
import { read, write, writeF64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { addSlippage } from '../events/copying.ts'
import { emitFollow } from '../events/emit.ts'
import { findBucket, makeBucket, mayMakeBucket } from '../margin/buckets.ts'
import { findPosition } from '../margin/positions.ts'
import { touchAccount } from '../state/balances.ts'
import { FOLLOW, LEAD } from '../state/copy_rows.ts'
import { MARGIN_ACCOUNT, MarginMode, POSITION, RISK_BUCKET, STRATEGY_KEY_WORDS } from '../state/margin_rows.ts'
import { add, get, getF64, getI64, marginAccountRow, now, set, setF64, setI64, setWords, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { marketLimit } from './admission.ts'
import { isPriced, slippageCost, slippageOf } from './copy_price.ts'
import { mostLots } from './most_lots.ts'
import { closingFlags, namePosition, ownRecord, writeOwnOrder } from './own_record.ts'
import { checkOpen, enterOrder } from './place.ts'

const C = ORDER_COMMAND.at

/** The bucket of the follow for this pair, or -1. */
export function bucketOfFollow(state: State, row: number, pair: number): number {
  const margin = marginAccountRow(state, get(state, row, FOLLOW.MARGIN_ACCOUNT))
  const [low, high] = [get(state, row, FOLLOW.KEY_LOW), get(state, row, FOLLOW.KEY_HIGH)]
  return findBucket(state, margin, get(state, row, FOLLOW.MODE), pair, low, high)
}

/** Lots of the copy position of the follow for this pair. */
export function heldOf(state: State, row: number, pair: number): number {
  const position = findPosition(state, bucketOfFollow(state, row, pair), pair)
  return position < 0 ? 0 : get(state, position, POSITION.LOTS)
}

/** Writes an order that closes `lots` at most of the position, at `limit` ticks at worst, 0: any; how many it is for. */
export function writeClose(state: State, position: number, sell: number, lots: number, limit: number): number {
  const pair = get(state, position, POSITION.PAIR)
  const flags = closingFlags(state, position, sell, Origin.COPY) | Flag.MARKET
  const size = sizeOf(state, pair, flags, lots)
  writeOwnOrder(pair, flags, limit, size)
  namePosition(state, position)
  return size
}

/** As many of `lots` as one MARKET order may have. */
function sizeOf(state: State, pair: number, flags: number, lots: number): number {
  const worst = marketLimit(state, pair, flags, 0)
  const most = worst === 0 ? lots : mostLots(state, pair, (flags & Flag.SELL) !== 0, worst)
  return lots < most ? lots : most
}

/** Writes an order that opens `lots` at most in the bucket of the follow, at `limit` ticks at worst, 0: any; how many it is for. */
export function writeOpening(state: State, lead: number, row: number, sell: number, lots: number, limit: number): number {
  const pair = get(state, lead, LEAD.PAIR)
  const cross = get(state, row, FOLLOW.MODE) === MarginMode.CROSS ? Flag.CROSS : 0
  const flags = sell | cross | Flag.MARKET | Flag.MARGIN | originFlags(Origin.COPY)
  const size = sizeOf(state, pair, flags, lots)
  const [leads, most] = [get(state, lead, LEAD.LEVERAGE), get(state, row, FOLLOW.MAX_LEVERAGE)]
  const margin = get(state, row, FOLLOW.MARGIN_ACCOUNT)
  writeOwnOrder(pair, flags, limit, size)
  write(ownRecord, 0, C.leverage, most !== 0 && most < leads ? most : leads)
  write(ownRecord, 0, C.marginAccount, margin + 1)
  writeF64(ownRecord, 0, C.namedSequence, getF64(state, marginAccountRow(state, margin), MARGIN_ACCOUNT.CREATED_SEQUENCE))
  write(ownRecord, 0, C.keyLow, get(state, row, FOLLOW.KEY_LOW))
  write(ownRecord, 0, C.keyHigh, get(state, row, FOLLOW.KEY_HIGH))
  return size
}

/** What became of an order. */
export const Entered = { FILLED: 0, PARTLY: 1, REFUSED: 2 } as const
export type Entered = (typeof Entered)[keyof typeof Entered]

/**
 * Enters the order that was written for `lots`, and tells what became of it, for a FollowReason. `reference`: ticks that its slippage is
 * measured from, 0: not known.
 */
export function enterCopy(state: State, row: number, pair: number, lots: number, reason: number, reference: number): Entered {
  const flags = read(ownRecord, 0, C.flags)
  const account = get(state, row, FOLLOW.ACCOUNT)
  let refused = checkOpen(state, pair, flags)
  if (refused === 0 && (flags & Flag.CLOSE) === 0) refused = haveBucket(state, row, pair)
  const result = refused === 0 ? enterOrder(state, ownRecord, 0, account, -1, flags) : -refused
  if (result < 0) {
    skip(state, row, pair, -result)
    return Entered.REFUSED
  }
  const { outbox } = state
  const full = outbox.i32[result + ORDER_ANSWER.at.remaining] === 0
  const code = full ? 0 : REFUSALS.COPY_PARTLY_FILLED.number
  add(state, row, FOLLOW.COPIED, 1)
  if (!full) noteSkip(state, row, pair, code)
  setF64(state, row, FOLLOW.UPDATED_AT, now(state))
  const signed = (flags & Flag.SELL) !== 0 ? -lots : lots
  const at = emitFollow(state, row, reason, pair, signed, outbox.i32[result + ORDER_ANSWER.at.slot]!, code)
  if (isPriced(state) && reference !== 0) noteSlippage(state, row, result, at, reference)
  return full ? Entered.FILLED : Entered.PARTLY
}

/** What the order with this RESULT cost more than at the reference, in its FOLLOW at `at` and on the follow; of one that traded. */
function noteSlippage(state: State, row: number, result: number, at: number, reference: number): void {
  const { i32, i64 } = state.outbox
  const lots = i32[result + ORDER_ANSWER.at.lots]! - i32[result + ORDER_ANSWER.at.remaining]!
  if (lots === 0) return
  const pair = i32[result + ORDER_ANSWER.at.pair]!
  const sell = (i32[result + ORDER_ANSWER.at.flags]! & Flag.SELL) !== 0
  const cost = slippageCost(state, pair, sell, lots, i64[(result + ORDER_ANSWER.at.filledQuote) >>> 1]!, reference)
  const slippage = slippageOf(state, pair, lots, cost, reference)
  addSlippage(state, at, reference, slippage)
  set(state, row, FOLLOW.COPY_PAIR, pair + 1)
  set(state, row, FOLLOW.COPY_LOTS, sell ? -lots : lots)
  set(state, row, FOLLOW.REFERENCE, reference)
  set(state, row, FOLLOW.SLIPPAGE, slippage)
  setF64(state, row, FOLLOW.COPIED_AT, now(state))
  setI64(state, row, FOLLOW.SLIPPAGE_COST, getI64(state, row, FOLLOW.SLIPPAGE_COST) + cost)
}

/** The bucket of the follow for this pair is there, made with its strategy key if it was not. Number of a refusal; 0: it is. */
function haveBucket(state: State, row: number, pair: number): number {
  if (bucketOfFollow(state, row, pair) >= 0) return 0
  const margin = marginAccountRow(state, get(state, row, FOLLOW.MARGIN_ACCOUNT))
  const code = mayMakeBucket(state, get(state, row, FOLLOW.ACCOUNT), margin)
  if (code !== 0) return code
  const [low, high] = [get(state, row, FOLLOW.KEY_LOW), get(state, row, FOLLOW.KEY_HIGH)]
  const bucket = makeBucket(state, margin, get(state, row, FOLLOW.MODE), pair, low, high)
  setWords(state, bucket, RISK_BUCKET.STRATEGY_KEY, STRATEGY_KEY_WORDS, state.i32, wordOf(row, FOLLOW.STRATEGY_KEY))
  return 0
}

export function noteSkip(state: State, row: number, pair: number, code: number): void {
  add(state, row, FOLLOW.SKIPPED, 1)
  set(state, row, FOLLOW.SKIP_CODE, code)
  set(state, row, FOLLOW.SKIP_PAIR, pair)
  setF64(state, row, FOLLOW.SKIPPED_AT, now(state))
}

/** SKIPPED: no order was entered, for that reason; `pair` -1: it is of no pair. */
export function skip(state: State, row: number, pair: number, code: number): void {
  noteSkip(state, row, pair, code)
  setF64(state, row, FOLLOW.UPDATED_AT, now(state))
  touchAccount(state, get(state, row, FOLLOW.ACCOUNT))
  emitFollow(state, row, FollowReason.SKIPPED, pair, 0, -1, code)
}
