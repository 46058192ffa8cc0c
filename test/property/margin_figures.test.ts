/**
 * Promise: the figures of margin trading that readers work out from copies are those of the engine's registers, to the atom, for random
 * positions, resting orders, marks and funding; prices of liquidation are the first marks at which a bucket fails, and prices at which a
 * liquidation closes positions the worst that leave nothing owed.
 */
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { bucketFigures as engineFigures, requirementOf as engineRequirement } from '../../core/margin/figures.ts'
import { armBucket, guardOf } from '../../core/margin/guards.ts'
import { withdrawable } from '../../core/margin/collateral.ts'
import { bankruptcyTick, worstTick } from '../../core/liquidation/bankruptcy.ts'
import { R } from '../../core/state/balances.ts'
import { MarginMode, PERP, POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bucketAt, getF64, perpRow, positionRow, set, setF64, setI64 } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { readBucket, type BucketView } from '../../core/view/margin.ts'
import {
  bankruptcyPrice, bucketFigures, liquidationPrice, maintenanceOf, notionalOf, requirementOf, withdrawableOf, type LadderOf,
} from '../../core/view/margin_figures.ts'
import { bucketWith, exchange, setMark, trade } from '../support/margin_rows.ts'

const ROUNDS = 400
const gate = new Int32Array(new SharedArrayBuffer(64))

const ladderOf = (state: State): LadderOf => (pair) => {
  const { perp, tickLotAtoms } = state.genesis.pairs[pair]!
  return { tiers: perp!.tiers, tickLotAtoms }
}

/** A bucket with random positions, resting orders and funding that is not settled; `rich`: times as much collateral. */
function random(prng: ReturnType<typeof createPrng>, rich = 1): { state: State; bucket: number; view: BucketView } {
  const within = (low: number, high: number): number => low + prng.below(high - low + 1)
  const marks = [within(20_000, 90_000), within(10_000, 60_000)]
  const state = exchange(marks)
  const cross = prng.below(2) === 1
  const bucket = bucketWith(state, BigInt(rich * within(0, 2_000_000_000)), cross ? MarginMode.CROSS : MarginMode.ISOLATED)
  setI64(state, bucket, RISK_BUCKET.PENDING, BigInt(within(0, 10_000_000)))
  setI64(state, bucket, RISK_BUCKET.REALIZED, BigInt(within(-50_000_000, 50_000_000)))
  for (let pair = 0; pair < (cross ? 2 : 1); pair++) {
    const lots = within(-60_000, 60_000)
    if (lots === 0) continue
    const price = Math.max(1, Math.round(marks[pair]! * (0.9 + prng.below(200) / 1000)))
    const position = trade(state, bucket, pair, lots, price)
    set(state, position, POSITION.LEVERAGE, within(100, 5000))
    const [bids, asks] = [within(0, 40_000), within(0, 40_000)]
    setF64(state, position, POSITION.BID_LOTS, bids)
    setF64(state, position, POSITION.ASK_LOTS, asks)
    setI64(state, position, POSITION.BID_VALUE, BigInt(bids) * BigInt(within(1, 2 * price)) * 100n)
    setI64(state, position, POSITION.ASK_VALUE, BigInt(asks) * BigInt(within(1, 2 * price)) * 100n)
    setI64(state, perpRow(state, pair), PERP.CUMULATIVE, BigInt(within(-2_000_000_000, 2_000_000_000)))
    setMark(state, pair, Math.max(1, Math.round(price * (0.9 + prng.below(200) / 1000))))
  }
  const found = readBucket(state, gate, 0, bucketAt(state, bucket), getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE))
  if (found === null || found === undefined) throw new Error('the bucket is there')
  return { state, bucket, view: found.bucket }
}

t.test('figures of a bucket are those of the registers', async (t) => {
  const prng = createPrng(20_261_123)
  const wrong: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const { state, bucket, view } = random(prng)
    const figures = bucketFigures(ladderOf(state), view)
    engineFigures(state, bucket)
    const said = [R.EQUITY, R.SUM_INITIAL, R.SUM_MAINTENANCE, R.SUM_UNREALIZED, R.SUM_NOTIONAL, R.SUM_LOSS].map((r) => state.registers[r]!)
    const { equity, requirement, maintenance, unrealized, notional, loss } = figures
    const ours = [equity, requirement, maintenance, unrealized, notional, loss]
    if (ours.join() !== said.join()) wrong.push(`round ${round}: ${ours.join()} instead of ${said.join()}`)
    for (const position of view.positions) {
      engineRequirement(state, positionRow(state, position.row))
      const needed = requirementOf(ladderOf(state)(position.pair), position, position.mark)
      if (needed !== state.registers[R.INITIAL]) wrong.push(`round ${round}`)
    }
  }
  t.strictSame(wrong, [])
})

t.test('what may be taken out of a bucket is what the engine gives back', async (t) => {
  const prng = createPrng(5)
  const wrong: string[] = []
  let some = 0
  for (let round = 0; round < ROUNDS; round++) {
    const { state, bucket, view } = random(prng, 200)
    const taken = withdrawableOf(view, bucketFigures(ladderOf(state), view))
    withdrawable(state, bucket)
    if (taken > 0n) some++
    if (taken !== state.registers[R.AMOUNT]) wrong.push(`round ${round}: ${taken} instead of ${state.registers[R.AMOUNT]}`)
  }
  t.ok(some > 20, 'there was something')
  t.strictSame(wrong, [])
})

t.test('an isolated bucket is looked at where its liquidation price is', async (t) => {
  const prng = createPrng(7)
  const wrong: string[] = []
  let guarded = 0
  for (let round = 0; round < ROUNDS; round++) {
    const { state, bucket, view } = random(prng)
    if (view.mode !== MarginMode.ISOLATED || view.positions.length === 0) continue
    armBucket(state, bucket)
    const [position] = view.positions as [BucketView['positions'][number]]
    const guard = guardOf(state, positionRow(state, position.row))
    const price = liquidationPrice(ladderOf(state), view, position, state.priceTicks) ?? 0
    if (guard !== 0) guarded++
    if (price !== guard) wrong.push(`round ${round}: ${price} instead of ${guard}`)
  }
  t.ok(guarded > 20, 'there were guards')
  t.strictSame(wrong, [])
})

t.test('liquidation and bankruptcy prices are the marks where a bucket begins to fail', async (t) => {
  const prng = createPrng(11)
  const wrong: string[] = []
  let found = 0
  for (let round = 0; round < ROUNDS; round++) {
    const { state, view } = random(prng)
    const ladders = ladderOf(state)
    for (const position of view.positions) {
      /** Equity, and what it has over maintenance margin, with this position at `mark`. */
      const at = (mark: number): [bigint, bigint] => {
        const moved = { ...view, positions: view.positions.map((each) => (each === position ? { ...each, mark } : each)) }
        const { equity, maintenance } = bucketFigures(ladders, moved)
        return [equity, equity - maintenance]
      }
      const toward = position.lots > 0 ? 1 : -1
      const liquidated = liquidationPrice(ladders, view, position, state.priceTicks)
      const bankrupt = bankruptcyPrice(ladders, view, position, state.priceTicks)
      const inside = (mark: number): boolean => mark >= 1 && mark < state.priceTicks
      if (liquidated !== null) {
        found++
        if (at(liquidated)[1] >= 0n) wrong.push(`round ${round}: healthy at ${liquidated}`)
        if (inside(liquidated + toward) && at(liquidated + toward)[1] < 0n) wrong.push(`round ${round}: failed before ${liquidated}`)
      }
      if (bankrupt !== null) {
        if (at(bankrupt)[0] < 0n) wrong.push(`round ${round}: below zero at ${bankrupt}`)
        if (inside(bankrupt - toward) && at(bankrupt - toward)[0] >= 0n) wrong.push(`round ${round}: not the last: ${bankrupt}`)
      }
    }
  }
  t.ok(found > 100, 'there were prices')
  t.strictSame(wrong, [])
})

/** The last of the ticks from `from` on, in steps of `toward`, at which `holds` does, by bisection; it holds at `from`, then no more. */
function lastTick(from: number, end: number, holds: (tick: number) => boolean): number {
  let [good, bad] = [from, end]
  if (holds(end)) return end
  while (Math.abs(good - bad) > 1) {
    const middle = Math.trunc((good + bad) / 2)
    if (holds(middle)) good = middle
    else bad = middle
  }
  return good
}

t.test('the prices at which a liquidation closes are those of a bisection, to the tick', async (t) => {
  const prng = createPrng(13)
  const wrong: string[] = []
  const met = { within: 0, under: 0, grid: 0 }
  for (let round = 0; round < ROUNDS / 2; round++) {
    const { state, bucket, view } = random(prng)
    for (const { row, lots, pair, mark } of view.positions) {
      if (lots === 0) continue
      const position = positionRow(state, row)
      engineFigures(state, bucket)
      const equity = state.registers[R.EQUITY]!
      /** What is left of the equity when all lots are closed at a price, with a fee that is rounded up. */
      const after = (price: number, ppm: bigint): bigint => {
        const { tickLotAtoms } = state.genesis.pairs[pair]!
        const value = BigInt(Math.abs(lots)) * BigInt(price) * tickLotAtoms
        return equity + BigInt(lots) * BigInt(price - mark) * tickLotAtoms - (value * ppm + 999_999n) / 1_000_000n
      }
      const [best, worst] = lots > 0 ? [state.priceTicks - 1, 1] : [1, state.priceTicks - 1]
      for (const ppm of [0, 500, 20_000]) {
        state.registers[R.EQUITY] = equity
        const tick = ppm === 0 ? bankruptcyTick(state, position) : worstTick(state, position, ppm)
        const bears = (price: number): boolean => after(price, BigInt(ppm)) >= 0n
        // No price of the grid leaves anything: then it is the best one there is, or beyond the mark as far as it has to be.
        const wanted = bears(best) ? lastTick(best, worst, bears) : best
        if (!bears(best)) met.grid++
        else if (equity < 0n) met.under++
        else met.within++
        // An atom is kept for the fee that is rounded up, so with a fee it may be one tick short of that, never beyond it.
        const short = (tick - wanted) * (lots > 0 ? 1 : -1)
        if (short < 0 || short > (ppm === 0 ? 0 : 1)) wrong.push(`round ${round}: ${tick} instead of ${wanted} at ${ppm} ppm, ${lots} lots`)
      }
    }
  }
  t.strictSame(wrong.slice(0, 3), [])
  t.ok(met.within > 50 && met.under > 20, JSON.stringify(met))
})

t.test('a requirement is continuous at the bounds of tiers', async (t) => {
  const state = exchange()
  const ladder = ladderOf(state)(0)
  for (const [place, { lowerBound }] of ladder.tiers.entries()) {
    if (place === 0) continue
    const below = { ...ladder, tiers: ladder.tiers.slice(0, place) }
    t.equal(maintenanceOf(ladder, lowerBound), maintenanceOf(below, lowerBound), `tier ${place + 1}`)
    t.ok(maintenanceOf(ladder, lowerBound - 1n) <= maintenanceOf(ladder, lowerBound))
  }
  t.equal(notionalOf(ladder, -3, 7), 2100n)
})
