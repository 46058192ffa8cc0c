/**
 * What a previewed order would meet: the walk of match.ts over the live book, without a command.
 *
 * What a maker does when its turn comes depends on what was filled before it: whether its bucket bears the fill (margin/fills.ts), and how
 * much a reduce-only order still has. So the walk supposes each fill in the rows that are looked at later, order, position and bucket of
 * the maker, by the rules of fills.ts, order_collateral.ts and reduce_only.ts; rows are kept before they are changed, and put back at the
 * end, newest first. Lists, books, guards and totals are not touched, and no event is written. Readers must be kept away meanwhile.
 *
 * A supposed fill adds its value to the cost of the position, also where it closes: equity knows only the difference of cost and realised
 * profit, and nothing else is asked for here. The taker has no rows yet: what its fills make of its bucket is counted in {@link Taker}.
 *
 * What ends by time is passed over and not ended: timers end it before anybody's command.
 */
import { Flag } from '../layout/flags.ts'
import { headOf, tickAbove, tickBelow } from '../book/levels.ts'
import { bestOpposite, crosses, PERP_PATH_MAX } from '../book/match.ts'
import { addOnOf, addOnOfFill } from '../ledger/add_ons.ts'
import { feeOfFill } from '../ledger/fees.ts'
import { bucketHealth, fundingOf, markOf } from '../margin/figures.ts'
import { bearsFill, isAdverse, maintenanceAfter, reduces } from '../margin/fills.ts'
import { commitCollateral, commitShort, heirOf, returnCollateral } from '../margin/order_collateral.ts'
import { addLots, positionOf, REDUCE_ORDERS_MAX } from '../margin/order_lists.ts'
import { bucketOf } from '../margin/positions.ts'
import { marginAccountOf } from '../margin/buckets.ts'
import { N, R } from '../state/balances.ts'
import { ACCOUNT, NO_ASK, ORDER, ORDER_WORDS, TERMS } from '../state/columns.ts'
import {
  MARGIN_ACCOUNT_WORDS, ORDER_MARGIN, PERP, POSITION, POSITION_WORDS, RISK_BUCKET, RISK_BUCKET_WORDS,
} from '../state/margin_rows.ts'
import {
  accountRow, add, gain, get, getF64, getI64, lose, noted, orderMarginRow, orderRow, perpRow, set, setI64, termsRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'

/**
 * What there is to say, as numbers. Amounts stand in registers: BROUGHT, and of that RELEASE, what no fill would commit; REQUIRED and
 * AMOUNT of a shortfall; COST, ticks × lots of what it would fill.
 */
export interface Preview {
  /** Number of a refusal; 0: it would be accepted. */
  code: number
  /** Lots of the order: what was asked for, of a reduce-only one at most what is open. */
  lots: number
  /** Worst tick that it may trade at; 0: the book is empty. */
  limit: number
  /** Best tick of the other side; 0: none. */
  touch: number
  filled: number
  trades: number
  /** First and last tick that it would trade at; 0 without fills. */
  best: number
  worst: number
  /** 1: an order of the same account stands in the path. */
  meetsOwn: number
  /** 1: the path is longer than an order may meet, and this is only its beginning. */
  tooLong: number
  /** 1: its bucket would not bear the next fill, and what is left of it would be cancelled. */
  unborne: number
  /** Addresses of bucket and margin account; -1: there is none yet. */
  bucket: number
  margin: number
}

export const noPreview = (): Preview => ({
  code: 0, lots: 0, limit: 0, touch: 0, filled: 0, trades: 0, best: 0, worst: 0, meetsOwn: 0, tooLong: 0, unborne: 0,
  bucket: -1, margin: -1,
})

const MILLION = 1_000_000n

/** Rows as they were: words, then address and number of words, one row behind the other. */
const kept = { words: new Int32Array(1 << 14), used: 0 }

function keep(state: State, row: number, words: number): void {
  if (kept.used + words + 2 > kept.words.length) {
    const larger = new Int32Array(kept.words.length * 2)
    larger.set(kept.words)
    kept.words = larger
  }
  kept.words.set(state.i32.subarray(row, row + words), kept.used)
  kept.words[kept.used + words] = row
  kept.words[kept.used + words + 1] = words
  kept.used += words + 2
}

function putBack(state: State): void {
  while (kept.used > 0) {
    const words = kept.words[kept.used - 1]!
    const row = kept.words[kept.used - 2]!
    kept.used -= words + 2
    state.i32.set(kept.words.subarray(kept.used, kept.used + words), row)
  }
}

/** The bucket of the order itself: before its fills, with what it brings; and what those made of it so far. */
interface Taker { there: bigint; maintenance: bigint; held: number; ppm: number; addOn: number; change: number; value: bigint }

/**
 * Orders best first, in each level oldest first, until one of the same account, or one that the order's own bucket would not bear. Register
 * COST: ticks × lots; RELEASE: what no fill would commit of BROUGHT.
 */
export function walkPreview(state: State, pair: number, flags: number, account: number, time: number, preview: Preview): void {
  const { registers } = state
  Object.assign(preview, { filled: 0, trades: 0, best: 0, worst: 0, meetsOwn: 0, tooLong: 0, unborne: 0 })
  const [required, available] = [registers[R.REQUIRED]!, registers[R.AMOUNT]!]
  const taker = takerOf(state, pair, account)
  const said = { cost: 0n, release: registers[R.BROUGHT]!, looks: PERP_PATH_MAX }
  const sell = flags & Flag.SELL
  let tick = bestOpposite(state, pair, sell)
  let goes = true
  while (goes && preview.filled < preview.lots && tick !== 0 && tick !== NO_ASK && crosses(sell, preview.limit, tick)) {
    let row = headOf(state, pair, tick)
    while (goes) {
      goes = meet(state, row, tick, flags, account, time, preview, taker, said)
      const next = get(state, row, ORDER.NEXT)
      if (next < 0 || preview.filled === preview.lots) break
      row = orderRow(state, next)
    }
    tick = sell !== 0 ? tickBelow(state, pair, tick) : tickAbove(state, pair, tick)
  }
  putBack(state)
  registers[R.REQUIRED] = required
  registers[R.AMOUNT] = available
  registers[R.COST] = said.cost
  registers[R.RELEASE] = said.release
}

/** Meets the maker at `row`; false: the order goes no further. */
function meet(
  state: State, row: number, tick: number, flags: number, account: number, time: number, preview: Preview, taker: Taker,
  said: { cost: bigint; release: bigint; looks: number },
): boolean {
  const open = get(state, row, ORDER.REMAINING)
  if (open === 0) return true
  if (said.looks-- <= 0) {
    preview.tooLong = 1
    return false
  }
  if (getF64(state, row, ORDER.EXPIRES_AT) <= time) return true
  if (get(state, row, ORDER.ACCOUNT) === account) {
    preview.meetsOwn = 1
    return false
  }
  const left = preview.lots - preview.filled
  const lots = open < left ? open : left
  const pair = get(state, row, ORDER.PAIR)
  if (preview.code === 0 && !takerBears(state, pair, flags, tick, lots, taker)) {
    preview.unborne = 1
    return false
  }
  if (!bearsFill(state, row, tick, lots, get(state, row, ORDER.MAKER_PPM))) {
    end(state, row)
    return true
  }
  fill(state, row, tick, lots)
  taker.change += (flags & Flag.SELL) !== 0 ? -lots : lots
  taker.value += valueOf(state, pair, tick, lots)
  said.cost += BigInt(tick) * BigInt(lots)
  said.release -= committed(said.release, lots, left)
  preview.filled += lots
  preview.trades++
  if (preview.best === 0) preview.best = tick
  preview.worst = tick
  return true
}

/** What a fill of `lots` of the `left` ones commits of `held` (margin/order_collateral.ts). */
const committed = (held: bigint, lots: number, left: number): bigint => (held * BigInt(lots) + BigInt(left - 1)) / BigInt(left)

const valueOf = (state: State, pair: number, tick: number, lots: number): bigint =>
  BigInt(tick) * BigInt(lots) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)

/** What admission noted of the order that is previewed. */
function takerOf(state: State, pair: number, account: number): Taker {
  const { registers } = state
  const [bucket, position] = [noted(state, N.BUCKET), noted(state, N.POSITION)]
  registers[R.SUM_MAINTENANCE] = 0n
  let there = registers[R.BROUGHT]!
  if (bucket >= 0) {
    bucketHealth(state, bucket)
    there += registers[R.EQUITY]! + getI64(state, bucket, RISK_BUCKET.PENDING)
  }
  const ppm = get(state, termsRow(state, pair), TERMS.TAKER_PPM) - get(state, accountRow(state, account), ACCOUNT.TAKER_DISCOUNT)
  const addOn = addOnOf(state, account, 0, false)
  const held = position < 0 ? 0 : get(state, position, POSITION.LOTS)
  return { there, maintenance: registers[R.SUM_MAINTENANCE]!, held, ppm, addOn, change: 0, value: 0n }
}

/** As bearsFill of margin/fills.ts, of an order that has no row. */
function takerBears(state: State, pair: number, flags: number, tick: number, lots: number, taker: Taker): boolean {
  const { registers } = state
  const sell = (flags & Flag.SELL) !== 0
  const [mark, change] = [markOf(state, pair), sell ? -lots : lots]
  const before = taker.held + taker.change
  if (reduces(before, change) && !isAdverse(change, tick, mark)) return true
  const after = surplus(state, pair, flags, mark, taker, taker.change + change, taker.value + valueOf(state, pair, tick, lots))
  if (after >= 0n) return true
  if (!reduces(before, change) || after + registers[R.NEEDED]! < 0n) return false
  return after >= surplus(state, pair, flags, mark, taker, taker.change, taker.value)
}

/** What the order's bucket has beyond its maintenance margin, NEEDED, after fills of `change` lots, signed, that are worth `value`. */
function surplus(state: State, pair: number, flags: number, mark: number, taker: Taker, change: number, value: bigint): bigint {
  const { registers } = state
  const numerator = value * BigInt(taker.ppm)
  const fee = (numerator >= 0n ? numerator + MILLION - 1n : numerator) / MILLION + (value * BigInt(taker.addOn)) / MILLION
  registers[R.SUM_MAINTENANCE] = taker.maintenance
  maintenanceAfter(state, pair, taker.held, taker.held + change, mark)
  const paid = (flags & Flag.SELL) !== 0 ? -value : value
  return taker.there + valueOf(state, pair, mark, change) - paid - fee - registers[R.NEEDED]!
}

/** Supposes a fill of the maker at `row`. */
function fill(state: State, row: number, tick: number, lots: number): void {
  const { registers } = state
  const position = positionOf(state, row)
  const bucket = bucketOf(state, position)
  const pair = get(state, row, ORDER.PAIR)
  keep(state, row, ORDER_WORDS)
  keep(state, position, POSITION_WORDS)
  keep(state, bucket, RISK_BUCKET_WORDS)
  fundingOf(state, position)
  gain(state, bucket, RISK_BUCKET.REALIZED, R.FUNDING)
  setI64(state, position, POSITION.FUNDED_TO, getI64(state, perpRow(state, pair), PERP.CUMULATIVE))
  registers[R.QUOTE] = valueOf(state, pair, tick, lots)
  feeOfFill(state, row, get(state, row, ORDER.MAKER_PPM), R.MAKER_FEE)
  lose(state, bucket, RISK_BUCKET.REALIZED, R.MAKER_FEE)
  addOnOfFill(state, row)
  lose(state, bucket, RISK_BUCKET.REALIZED, R.ADD_ON)
  commitCollateral(state, row, bucket, lots)
  addLots(state, row, -lots)
  add(state, row, ORDER.REMAINING, -lots)
  const sells = (get(state, row, ORDER.FLAGS) & Flag.SELL) !== 0
  add(state, position, POSITION.LOTS, sells ? -lots : lots)
  if (sells) lose(state, position, POSITION.COST, R.QUOTE)
  else gain(state, position, POSITION.COST, R.QUOTE)
  if (get(state, position, POSITION.LOTS) === 0) {
    registers[R.M0] = getI64(state, position, POSITION.COST)
    lose(state, bucket, RISK_BUCKET.REALIZED, R.M0)
    setI64(state, position, POSITION.COST, 0n)
  }
  fitReduceOnly(state, position)
  commitShort(state, bucket)
}

/** Supposes that the maker at `row` is ended: what it brought and did not commit goes back, or to another order. */
function end(state: State, row: number): void {
  const position = positionOf(state, row)
  const bucket = bucketOf(state, position)
  keep(state, row, ORDER_WORDS)
  keep(state, position, POSITION_WORDS)
  keep(state, bucket, RISK_BUCKET_WORDS)
  keep(state, marginAccountOf(state, bucket), MARGIN_ACCOUNT_WORDS)
  addLots(state, row, -get(state, row, ORDER.REMAINING))
  set(state, row, ORDER.REMAINING, 0)
  const heir = heirOf(state, bucket)
  if (heir >= 0) keep(state, heir, ORDER_WORDS)
  returnCollateral(state, row, bucket)
}

/** Reduce-only orders of a position that shrank, whose row is kept: smaller, or of no lots, newest first, until they fit. */
function fitReduceOnly(state: State, position: number): void {
  let next = get(state, position, POSITION.REDUCE_HEAD)
  for (let looked = 0; next !== 0 && looked < REDUCE_ORDERS_MAX; looked++) {
    const row = orderRow(state, next - 1)
    next = get(state, orderMarginRow(state, next - 1), ORDER_MARGIN.REDUCE_NEXT)
    const left = get(state, row, ORDER.REMAINING)
    if (left === 0) continue
    const held = get(state, position, POSITION.LOTS)
    const size = (get(state, row, ORDER.FLAGS) & Flag.SELL) !== 0 ? held : -held
    const over = get(state, position, POSITION.REDUCE_LOTS) - (size > 0 ? size : 0)
    if (over <= 0) return
    keep(state, row, ORDER_WORDS)
    const less = over < left ? over : left
    addLots(state, row, -less)
    add(state, row, ORDER.REMAINING, -less)
  }
}
