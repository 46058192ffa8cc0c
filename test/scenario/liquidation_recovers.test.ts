/**
 * Promise: a price that comes back while a liquidation goes on ends it: what is left of positions and orders stays, the owner may act
 * again, and the bucket is looked at anew when the price turns. Figures are reckoned by hand: test/support/liquidation_stage.ts.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bucketAt, getF64 } from '../../core/state/rows.ts'
import { BTC, DOLLAR, ETH, LiquidationStage } from '../support/liquidation_stage.ts'

/** One step of the bucket of ann, and no more. */
function step(stage: LiquidationStage): void {
  const bucket = stage.bucket('ann', BTC, true)
  const named = { bucket: bucketAt(stage.state, bucket), createdSequence: getF64(stage.state, bucket, RISK_BUCKET.CREATED_SEQUENCE) }
  stage.send(CommandType.LIQUIDATION_STEP, named)
}

/** A cross bucket with two longs, of which the first step closed one: equity 0, and 125 needed for the other one. */
function running(): LiquidationStage {
  const stage = new LiquidationStage()
  stage.give({
    'ann 1': { pair: BTC, lots: 10, price: 1000, collateral: 2000, cross: true },
    'ann 2': { pair: ETH, lots: 5, price: 1000, collateral: 0, cross: true },
    'bob 1': { pair: BTC, lots: -10, price: 1000, collateral: 9000 }, 'bob 2': { pair: ETH, lots: -5, price: 1000, collateral: 9000 },
  })
  stage.price(BTC, 830)
  step(stage)
  return stage
}

t.test('in the middle of it the price rises: the rest stays', async (t) => {
  const stage = running()
  t.same([stage.stateOf('ann', BTC, true), stage.lots('ann', BTC, true), stage.lots('ann', ETH, true)], ['LIQUIDATING', 0, 5])
  t.equal(stage.equity('ann', BTC, true), 0n)
  stage.deposit('ann', 9000)
  t.throws(() => stage.order('ann', 1, 1000, { flags: 1 << 11 }, ETH), /RISK_BUCKET_IN_LIQUIDATION/, 'the owner may do nothing')
  // 5 x 200 against 2.5 % of 6,000.
  stage.price(ETH, 1200)
  t.same(stage.run().told, ['ann COMPLETED'])
  const now = [stage.stateOf('ann', BTC, true), stage.lots('ann', ETH, true), stage.equity('ann', BTC, true)]
  t.same(now, ['ACTIVE', 5, 1000n * DOLLAR])
  t.equal(stage.order('ann', 1, 1000, { flags: 1 << 11 }, ETH)['code'], 0, 'and again everything')
})

t.test('it rises by too little: the liquidation goes on', async (t) => {
  const stage = running()
  // 5 x 25 against 2.5 % of 5,125 = 128.125: the price that leaves nothing is 1,025 - 25.
  stage.price(ETH, 1025)
  t.same(stage.run().told, ['ann DELEVERAGED 5 at 1000', 'ann COMPLETED'])
})

t.test('to the tick, and it falls again: another liquidation begins', async (t) => {
  const stage = running()
  // 5 x 26 = 130 against 128.25.
  stage.price(ETH, 1026)
  t.same(stage.run().told, ['ann COMPLETED'])
  t.equal(stage.run().commands, 0, 'nobody looks at it')
  stage.price(ETH, 1025)
  t.same(stage.run().told, ['ann STARTED', 'ann DELEVERAGED 5 at 1000', 'ann COMPLETED'])
})
