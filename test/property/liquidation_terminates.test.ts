/**
 * Promise: liquidation always ends. Random markets, cross and isolated, books and funds, and prices that jump: after a bounded number of
 * commands nothing is written any more, and no bucket with fresh prices is below its maintenance margin but those in bad debt, whom the
 * fund cannot pay. Invariants hold after every command.
 */
import t from 'tap'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { bucketHealth } from '../../core/margin/figures.ts'
import { R } from '../../core/state/balances.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { BucketState, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bucketRow, get, scalar } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { BTC, ETH, LiquidationStage, type Given } from '../support/liquidation_stage.ts'

const SEED = Number(process.env['SEED'] ?? 20_261)
const MARKETS = 12
const JUMPS = 12
/** Commands that one jump may take: some for each of the buckets. */
const MOST = 1500

/** Buckets below their maintenance margin, bad debts left out. */
function failing(state: State): number {
  let count = 0
  for (let row = 0; row < scalar(state, SCALAR.BUCKETS_USED); row++) {
    const bucket = bucketRow(state, row)
    const now = get(state, bucket, RISK_BUCKET.STATE)
    if (now === BucketState.FREE || now === BucketState.BAD_DEBT) continue
    bucketHealth(state, bucket)
    if (state.registers[R.EQUITY]! < state.registers[R.SUM_MAINTENANCE]!) count++
  }
  return count
}

/** Longs and shorts of one pair, at one price, with anything from almost nothing to plenty behind them. */
function positionsOf(random: Prng, pair: number): Record<string, Given> {
  const given: Record<string, Given> = {}
  for (let couple = 0; couple < 12; couple++) {
    const lots = 1 + random.below(60)
    for (const side of [1, -1]) {
      const collateral = Math.ceil(lots * (60 + random.below(600)))
      given[`${pair}${couple}${side > 0 ? 'l' : 's'} ${pair}`] = {
        pair, lots: side * lots, price: 1000, collateral, cross: random.below(2) === 0, leverage: 100 + random.below(1900),
      }
    }
  }
  return given
}

function playMarket(seed: number): { commands: number; told: string[] } {
  const random = createPrng(seed)
  const stage = new LiquidationStage()
  if (random.below(3) > 0) stage.fund(1 + random.below(30_000))
  stage.give(positionsOf(random, BTC))
  stage.give(positionsOf(random, ETH))
  stage.deposit('mia', 900_000)
  const all = { commands: 0, told: [] as string[] }
  const prices = [1000, 1000]
  for (let jump = 0; jump < JUMPS; jump++) {
    stage.time += 1000 + random.below(5000)
    for (const pair of [BTC, ETH]) {
      prices[pair] = Math.min(5000, Math.max(20, Math.round((prices[pair]! * (70 + random.below(70))) / 100)))
      stage.price(pair, prices[pair])
      // A book that is deep, thin or empty, on either side.
      if (random.below(3) > 0) {
        const lots = 1 + random.below(20)
        const away = 1 + random.below(Math.max(1, Math.floor(prices[pair] / 25)))
        stage.order('mia', random.below(2) === 0 ? lots : -lots, prices[pair] + (random.below(2) === 0 ? away : -away), {}, pair)
      }
    }
    const { commands, told } = stage.run(MOST)
    all.commands += commands
    all.told.push(...told)
    const left = failing(stage.state)
    if (left > 0) throw new Error(`jump ${jump}: ${left} buckets are still below their maintenance margin`)
  }
  return all
}

t.test(`liquidation ends, whatever the market; SEED=${SEED}`, async (t) => {
  const told = new Set<string>()
  let commands = 0
  for (let market = 0; market < MARKETS; market++) {
    try {
      const played = playMarket(SEED + market)
      commands += played.commands
      for (const line of played.told) told.add(line.split(' ')[1]!)
    } catch (error) {
      throw new Error(`SEED=${SEED + market}: ${(error as Error).message}`, { cause: error })
    }
  }
  t.ok(commands > 100, `${commands} commands`)
  for (const status of ['STARTED', 'REDUCED', 'TAKEN_OVER', 'DELEVERAGED', 'COMPLETED']) t.ok(told.has(status), status)
})
