/**
 * Liquidation of a risk bucket: LIQUIDATION_STEP, a command of the sequencer itself, looks at the health of one bucket and takes the next
 * bounded step. The sequencer writes it for buckets whose guard a mark reached and for those of the list (sequencer/liquidation_timers.ts).
 *
 *                          healthy: nothing
 *   ACTIVE ---------------------------------------------+
 *      | equity < maintenance margin: STARTED           |
 *      v                                                |
 *   LIQUIDATING  1. its resting orders end, some with each command              ORDERS_CANCELLED
 *      |         2. the position that needs most is reduced through the book    REDUCED, with the liquidation fee       reduce.ts
 *      |         3. the book takes little: those that it was opened against,
 *      |            or that hold much of the other side, are asked first        DELEVERAGED                             first_asked.ts
 *      |            the fund takes what is left                                 TAKEN_OVER                              take_over.ts
 *      |         4. the fund cannot: it is closed against others                DELEVERAGED                             deleverage.ts
 *      |         5. no position is left and it owes: the fund pays              BAD_DEBT, if it cannot pay all          deficit.ts
 *      v
 *   healthy again: COMPLETED, ACTIVE
 *
 * After each of them the bucket is looked at again: whoever has enough margin is left alone from then on.
 *
 * **Work.** A command says how many orders it may meet or end: its part of what the sequencer gives to one turn
 * (sequencer/liquidation_timers.ts). Where the book has more of them, the next command goes on.
 *
 * **It ends.** A bucket in liquidation takes no orders and no lots but those that close. Each command ends at least one of its orders,
 * meets as many of the book as it may, which end or close some of its lots, or closes at least one of its lots otherwise, or goes on with
 * a ranking that ends after as many commands as there are rows; then lots are closed, for there are as many lots on the other side. Where
 * the whole book takes less than a fifth of what was asked, steps 3 and 4 take all that is left, so nobody draws it out with small orders.
 * Bad debt waits without commands until the fund can pay.
 *
 * **What stops it.** Of a position whose price is stale, or whose pair takes no orders or settles, nothing is closed: the bucket is in
 * the list and looked at again when that is over. Others of the same bucket are closed meanwhile (frozen.ts). Maintenance does not stop
 * it: positions can be closed then, too.
 *
 * **The fund's bucket** is looked at in the same way, and nobody takes it over. While it is healthy its positions are closed, step by step
 * (unwind.ts).
 *
 * Widest product: the fee of a reduction: its value < 2^49 (reduce.ts), split at 10^6, × ppm, 10^5 at most (state/perp_terms.ts): < 2^46.
 */
import { CollateralReason, LiquidationStatus } from '../layout/margin_events.ts'
import { LIQUIDATION_STEP_COMMAND } from '../layout/margin.ts'
import { Reason, Status } from '../layout/event.ts'
import { read, readF64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { assert } from '../lib/assert.ts'
import { emitCollateral, emitResult } from '../events/emit.ts'
import { N, R } from '../state/balances.ts'
import { SCALAR, TERMS } from '../state/columns.ts'
import { BucketState, PERP_TERMS, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import {
  bucketRow, get, getF64, getI64, lose, note, noted, orderRow, perpTermsRow, positionRow, scalar, sequence, set, setF64, termsRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { marginAccountOf, touchBucket } from '../margin/buckets.ts'
import { bucketHealth, unrealizedOf } from '../margin/figures.ts'
import { addToFund, fundBucket } from '../margin/fund.ts'
import { armBucket } from '../margin/guards.ts'
import { delistBucket, enlistBucket } from '../margin/liquidation_list.ts'
import { maintenanceMargin } from '../margin/tiers.ts'
import { endOrder } from '../book/end.ts'
import { PERP_PATH_MAX } from '../book/match.ts'
import { mostLots } from '../orders/most_lots.ts'
import { laneRefusal } from '../programs/policy.ts'
import { coverDeficit } from './deficit.ts'
import { deleverage } from './deleverage.ts'
import { askFirst, GOES_ON } from './first_asked.ts'
import { goesOn, isFrozen, isHealthy, trades } from './frozen.ts'
import { WALK_MAX } from './ranking.ts'
import { liquidationTick, lotsToReduce, meetsBook, reduce } from './reduce.ts'
import { takeOver } from './take_over.ts'
import { notePosition, tell, tellBucket } from './tell.ts'
import { unwind } from './unwind.ts'

/** Orders that one command ends. */
export const ENDED_MAX = 64
/** Less than one part in so many of what was asked, and the book is left alone. */
const LITTLE = 5
/** Rows of positions that are ranked for one order that may be met: they take as long. */
export const ROWS_PER_LOOK = 16
const PPM = 1_000_000n

/** NOT_FOUND: no such bucket, or the row is another's by now. */
export function liquidationStep(state: State, command: Views, base: number): void {
  const { at } = LIQUIDATION_STEP_COMMAND
  const number = read(command, base, at.bucket)
  const bucket = number >= 0 && number < scalar(state, SCALAR.BUCKETS_USED) ? bucketRow(state, number) : -1
  const known = bucket >= 0 && get(state, bucket, RISK_BUCKET.STATE) !== BucketState.FREE &&
    getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE) === readF64(command, base, at.createdSequence)
  let code = laneRefusal(command, base)
  if (code === 0 && !known) code = REFUSALS.NOT_FOUND.number
  if (code === 0) lookWithin(state, bucket, read(command, base, at.looks))
  emitResult(state, command, base, code, code === 0 ? get(state, bucket, RISK_BUCKET.ACCOUNT) : -1, 0, 0)
}

/**
 * As {@link look}, which meets or ends `looks` orders at most and ranks {@link ROWS_PER_LOOK} rows for each of them; 0: as many as an
 * order of a user meets.
 */
function lookWithin(state: State, bucket: number, looks: number): void {
  const most = looks > 0 && looks < PERP_PATH_MAX ? looks : PERP_PATH_MAX
  note(state, N.STEPS, 1)
  note(state, N.LOOKS, most)
  note(state, N.ROWS, Math.min(WALK_MAX, most * ROWS_PER_LOOK))
  look(state, bucket)
  note(state, N.STEPS, 0)
}

/** Looks at a bucket and takes its next step. */
function look(state: State, bucket: number): void {
  const own = bucket === fundBucket(state)
  const open = bucketHealth(state, bucket)
  const frozen = open > 0 && isFrozen(state, bucket)
  if (frozen) enlistBucket(state, bucket)
  if (isHealthy(state)) {
    if (!frozen) recover(state, bucket)
    if (own) unwind(state, bucket)
    return
  }
  if (frozen && !goesOn(state, bucket)) return
  begin(state, bucket)
  if (get(state, bucket, RISK_BUCKET.ORDERS) > 0) endOrders(state, bucket)
  else if (open > 0) closeNext(state, bucket)
  else if (!coverDeficit(state, bucket)) return
  bucketHealth(state, bucket)
  if (isHealthy(state)) recover(state, bucket)
}

function begin(state: State, bucket: number): void {
  if (get(state, bucket, RISK_BUCKET.STATE) !== BucketState.ACTIVE) return
  set(state, bucket, RISK_BUCKET.STATE, BucketState.LIQUIDATING)
  setF64(state, bucket, RISK_BUCKET.LIQUIDATION, sequence(state))
  touchBucket(state, bucket)
  enlistBucket(state, bucket)
  state.registers[R.AMOUNT] = 0n
  tellBucket(state, bucket, LiquidationStatus.STARTED, 0)
  // From now on the list names it, and no guard.
  armBucket(state, bucket)
}

/** The bucket has enough margin. */
function recover(state: State, bucket: number): void {
  delistBucket(state, bucket)
  if (getF64(state, bucket, RISK_BUCKET.LIQUIDATION) !== 0) {
    set(state, bucket, RISK_BUCKET.STATE, BucketState.ACTIVE)
    touchBucket(state, bucket)
    state.registers[R.AMOUNT] = 0n
    tellBucket(state, bucket, LiquidationStatus.COMPLETED, 0)
    setF64(state, bucket, RISK_BUCKET.LIQUIDATION, 0)
    set(state, bucket, RISK_BUCKET.STEP, 0)
  }
  armBucket(state, bucket)
}

/** Ends resting orders of the bucket, newest first of each position. */
function endOrders(state: State, bucket: number): void {
  const most = Math.min(ENDED_MAX, noted(state, N.LOOKS))
  let ended = 0
  for (let position = firstWithOrders(state, bucket); position >= 0; position = firstWithOrders(state, bucket)) {
    // The row may be free after its last order.
    for (let slot = get(state, position, POSITION.ORDERS_HEAD); slot !== 0 && ended < most; ended++) {
      endOrder(state, orderRow(state, slot - 1), Status.CANCELLED, Reason.LIQUIDATION, 0, false)
      slot = get(state, position, POSITION.ORDERS_HEAD)
    }
    if (ended === most) break
  }
  state.registers[R.AMOUNT] = 0n
  tellBucket(state, bucket, LiquidationStatus.ORDERS_CANCELLED, ended)
}

function firstWithOrders(state: State, bucket: number): number {
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    if (get(state, position, POSITION.ORDERS_HEAD) !== 0) return position
    next = get(state, position, POSITION.NEXT)
  }
  return -1
}

/**
 * The open position to close next, of those that can be: the one with the largest maintenance margin; of a bucket whose equity, register
 * EQUITY, is below 0 the one that lost most. What such a bucket owes is taken from the other side of the position that is closed, and
 * there are those who gained it; on the other side of any other position nobody did.
 */
function nextPosition(state: State, bucket: number): number {
  const { registers } = state
  const bankrupt = registers[R.EQUITY]! < 0n
  registers[R.LARGEST] = 0n
  let largest = -1
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    next = get(state, position, POSITION.NEXT)
    const pair = get(state, position, POSITION.PAIR)
    if (get(state, position, POSITION.LOTS) === 0 || !trades(state, pair)) continue
    unrealizedOf(state, position)
    if (!bankrupt) maintenanceMargin(state, pair)
    else registers[R.MAINTENANCE] = -registers[R.UNREALIZED]!
    if (largest >= 0 && registers[R.MAINTENANCE]! <= registers[R.LARGEST]!) continue
    registers[R.LARGEST] = registers[R.MAINTENANCE]!
    largest = position
  }
  assert(largest >= 0, 'a bucket whose liquidation goes on has a position that trades')
  return largest
}

/** Closes lots of the position that needs most: through the book, by the fund, against others. */
function closeNext(state: State, bucket: number): void {
  bucketHealth(state, bucket)
  const position = nextPosition(state, bucket)
  const limit = liquidationTick(state, position)
  if (meetsBook(state, position, limit)) {
    const sells = get(state, position, POSITION.LOTS) > 0
    const asked = Math.min(lotsToReduce(state, position), mostLots(state, get(state, position, POSITION.PAIR), sells, limit))
    const taken = reduceThrough(state, bucket, position, asked, limit)
    // What it took is not all that the book has: the next command goes on with it.
    if (taken * LITTLE >= asked || noted(state, N.LOOKS) <= 0) return
    bucketHealth(state, bucket)
    if (isHealthy(state)) return
  }
  const ranking = askFirst(state, bucket, position)
  if (ranking === GOES_ON || takeOver(state, bucket, position)) return
  bucketHealth(state, bucket)
  deleverage(state, bucket, position, ranking)
}

/** An order for `asked` lots, and the liquidation fee of what it filled, which is returned. */
function reduceThrough(state: State, bucket: number, position: number, asked: number, limit: number): number {
  const { registers } = state
  const pair = get(state, position, POSITION.PAIR)
  notePosition(state, position)
  const taken = reduce(state, position, asked, limit)
  if (taken === 0) return 0
  registers[R.M0] = registers[R.QUOTE]! / (BigInt(taken | 0) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS))
  const price = Number(registers[R.M0]!)
  chargeFee(state, bucket, get(state, perpTermsRow(state, pair), PERP_TERMS.LIQUIDATION_FEE_PPM))
  tell(state, bucket, pair, LiquidationStatus.REDUCED, taken, price)
  return taken
}

/** The fund gets `ppm` of register QUOTE, rounded up, of what equity the bucket has left; register AMOUNT says how much. */
function chargeFee(state: State, bucket: number, ppm: number): void {
  const { registers } = state
  const fund = fundBucket(state)
  bucketHealth(state, bucket)
  registers[R.LIQUIDATION_FEE] = (registers[R.QUOTE]! % PPM) * BigInt(ppm | 0) + 999_999n
  registers[R.LIQUIDATION_FEE] = (registers[R.QUOTE]! / PPM) * BigInt(ppm | 0) + registers[R.LIQUIDATION_FEE]! / PPM
  if (registers[R.LIQUIDATION_FEE]! > registers[R.EQUITY]!) registers[R.LIQUIDATION_FEE] = registers[R.EQUITY]!
  if (registers[R.LIQUIDATION_FEE]! < 0n || fund < 0 || fund === bucket) registers[R.LIQUIDATION_FEE] = 0n
  if (registers[R.LIQUIDATION_FEE]! !== 0n) {
    lose(state, bucket, RISK_BUCKET.REALIZED, R.LIQUIDATION_FEE)
    lose(state, bucket, RISK_BUCKET.LIFETIME, R.LIQUIDATION_FEE)
    touchBucket(state, bucket)
    registers[R.AMOUNT] = -registers[R.LIQUIDATION_FEE]!
    emitCollateral(state, marginAccountOf(state, bucket), bucket, CollateralReason.LIQUIDATION_FEE)
    registers[R.AMOUNT] = registers[R.LIQUIDATION_FEE]!
    addToFund(state, fund, CollateralReason.LIQUIDATION_FEE)
  }
  registers[R.AMOUNT] = registers[R.LIQUIDATION_FEE]!
}
