/** Steps of liquidation and settlement, counted in an exchange with more positions than one walks and a book that is deep. */
import { CommandType } from '../../core/layout/command.ts'
import { Flag } from '../../core/layout/flags.ts'
import { WALK_MAX } from '../../core/liquidation/ranking.ts'
import { isSettling } from '../../core/liquidation/settle_pair.ts'
import { RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bucketAt, getF64 } from '../../core/state/rows.ts'
import { CountedStage } from './counted_stage.ts'
import { BTC, ETH, LiquidationStage, type Given } from './liquidation_stage.ts'

const SHORTS = WALK_MAX + 200
/** Lots of one position, a fifth of which the book takes, one by one. */
const LARGE = 5000

/**
 * Steps of a position that is ranked before all others, with its part of sorting them; of a fill of a perpetual with the guards and
 * figures of its bucket.
 */
const RANKED = 300
export const MARGIN_FILL = 1000

/** Most steps of each type. */
export function countLiquidation(): Map<number, number> {
  const stage = new LiquidationStage({ maxPositionSize: '100000' }, {
    accounts: 8192, sessions: 8192, marginAccounts: 8192, riskBuckets: 16_384, positions: 16_384, openOrdersPerAccount: 16_384,
    orders: 32_768,
  })
  stage.checks = false
  // Each is ranked before all that were looked at already.
  const shorts = Array.from({ length: SHORTS }, (_, index): [string, Given] =>
    [`short${index}`, { lots: -1, price: 1000, collateral: 1000, leverage: 100 + index }])
  stage.give(Object.fromEntries([['ann', { lots: SHORTS, price: 1000, collateral: 100_000 }], ...shorts]))
  stage.give({
    dan: { pair: ETH, lots: LARGE, price: 1000, collateral: 900_000, cross: true },
    eve: { pair: ETH, lots: -LARGE, price: 1000, collateral: 900_000 },
  })
  // Reduce-only orders of those who will be asked first.
  for (let index = SHORTS - 32; index < SHORTS; index++) stage.order(`short${index}`, 1, 900, { flags: Flag.REDUCE_ONLY, leverage: 0 })
  stage.price(BTC, 900)
  stage.price(ETH, 830)
  stage.deposit('mia', 900_000)
  for (let order = 0; order < LARGE / 5; order++) stage.order('mia', 1, 830 - (order % 10), {}, ETH)
  const counted = new CountedStage(stage.bench)
  counted.time = stage.time
  const step = (bucket: number, most: number): void => {
    const createdSequence = getF64(stage.state, bucket, RISK_BUCKET.CREATED_SEQUENCE)
    counted.count(CommandType.LIQUIDATION_STEP, { bucket: bucketAt(stage.state, bucket), createdSequence })
    if (counted.steps > most) throw new Error(`a step of liquidation took ${counted.steps} steps of ${most}`)
  }
  for (let part = 0; part < 4; part++) step(stage.bucket('ann'), WALK_MAX * RANKED)
  step(stage.bucket('dan', ETH, true), (LARGE / 5) * MARGIN_FILL)
  if (stage.lots('ann') > SHORTS - 64 || stage.lots('dan', ETH, true) === LARGE) throw new Error('nothing was closed')
  stage.settle(ETH, 800)
  stage.settle(BTC, 900)
  while (isSettling(stage.state, ETH)) counted.count(CommandType.SETTLEMENT_STEP, { pair: ETH })
  for (let part = 0; part < 4; part++) counted.count(CommandType.SETTLEMENT_STEP, { pair: BTC })
  return counted.most
}
