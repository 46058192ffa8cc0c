/**
 * Promise: nobody makes the mark of a thin market, leaves a liquidation by what he holds beside it, or sells dear to the insurance fund.
 * Each is an attack that pays where it succeeds: somebody else's money is what the attacker takes out. Figures are reckoned by hand.
 */
import t from 'tap'
import { PERP } from '../../core/state/margin_rows.ts'
import { get, perpRow } from '../../core/state/rows.ts'
import { BTC, LiquidationStage } from '../support/liquidation_stage.ts'

const markOf = (stage: LiquidationStage, pair = BTC): number => get(stage.state, perpRow(stage.state, pair), PERP.MARK)

t.test('who owns both sides of a thin book and trades with himself moves no mark', async (t) => {
  const stage = new LiquidationStage()
  stage.give({ vic: { lots: -10, price: 1000, collateral: 450 }, bob: { lots: 10, price: 1000, collateral: 5000 } })
  for (const name of ['mal', 'lam']) stage.deposit(name, 50_000)
  stage.order('mal', 1, 1028)
  stage.order('lam', -2, 1032)
  stage.order('mal', 1, 1032)
  stage.time += 1000
  stage.price(BTC, 1000)
  t.equal(markOf(stage), 1000, 'the index did not move')
  t.same(stage.run().told, [], 'and nobody is liquidated')
  stage.time += 29_000
  stage.price(BTC, 1000)
  t.ok(markOf(stage) <= 1006, 'half a minute of it moves the basis by a sixth of the way')
})
