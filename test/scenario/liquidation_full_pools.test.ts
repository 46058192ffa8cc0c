/**
 * Promise: where rows are used up, users are refused by name and liquidation ends all the same: without a row of a position the fund takes
 * nothing over and others are asked; when no order more may rest its own still go through the book.
 */
import t from 'tap'
import { BTC, ETH, LiquidationStage } from '../support/liquidation_stage.ts'

t.test('no position is left', async (t) => {
  const stage = new LiquidationStage({}, { positions: 4 })
  stage.fund(10_000)
  stage.give({
    ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 },
    cat: { pair: ETH, lots: 1, price: 1000, collateral: 900 }, dan: { pair: ETH, lots: -1, price: 1000, collateral: 900 },
  })
  stage.deposit('mia', 50_000)
  t.throws(() => stage.order('mia', 1, 900), /TOO_MANY_POSITIONS/)
  stage.price(BTC, 923)
  t.same(stage.run().told, ['ann STARTED', 'ann DELEVERAGED 10 at 900', 'ann COMPLETED'], 'the fund could have paid for it')
  t.same([stage.lots('ann'), stage.lots('bob'), stage.lots('fund')], [0, 0, 0])
})

t.test('no order more may rest', async (t) => {
  const stage = new LiquidationStage({}, { orders: 16 })
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.price(BTC, 923)
  const refused: string[] = []
  for (let wallet = 0; wallet < 20; wallet++) {
    stage.deposit(`mia${wallet}`, 10_000)
    try {
      stage.order(`mia${wallet}`, 1, 920)
    } catch (error) {
      refused.push((error as Error).message)
    }
  }
  t.same(refused, Array.from({ length: 5 }, () => 'RESULT of PLACE_ORDER: OVERLOADED'), '15 rest')
  // The last row is for orders that do not rest, such as that of a liquidation.
  t.same(stage.run().told, ['ann STARTED', 'ann REDUCED 10 at 920', 'ann COMPLETED'])
  t.equal(stage.lots('ann'), 0)
})
