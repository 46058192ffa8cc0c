/**
 * Promise: nobody makes the mark of a thin market, leaves a liquidation by what he holds beside it, or sells dear to the insurance fund.
 * Each is an attack that pays where it succeeds: somebody else's money is what the attacker takes out. Figures are reckoned by hand.
 */
import t from 'tap'
import { CommandType, Flag, PairStatus } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import { get, perpRow } from '../../core/state/rows.ts'
import { BTC, DOLLAR, ETH, LiquidationStage } from '../support/liquidation_stage.ts'

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

/** A cross bucket of mal with 10 BTC and 1 ETH, and who is on the other side. */
function crossed(collateral: number): LiquidationStage {
  const stage = new LiquidationStage()
  stage.give({
    'mal 1': { pair: BTC, lots: 10, price: 1000, collateral, cross: true },
    'mal 2': { pair: ETH, lots: 1, price: 1000, collateral: 0, cross: true },
    'bob 1': { pair: BTC, lots: -10, price: 1000, collateral: 9000 }, 'bob 2': { pair: ETH, lots: -1, price: 1000, collateral: 9000 },
  })
  return stage
}

t.test('one lot of a pair that is halted holds up no liquidation of the others', async (t) => {
  const stage = crossed(1100)
  stage.send(CommandType.SET_PAIR_STATUS, { pair: ETH, status: PairStatus.HALTED })
  stage.price(BTC, 890)
  t.same(stage.run().told, ['mal STARTED', 'mal DELEVERAGED 10 at 890', 'mal ORDERS_CANCELLED'].slice(0, 2), 'equity 0, so at the mark')
  t.equal(stage.lots('mal', BTC, true), 0)
  t.equal(stage.run().commands, 0, 'what is left waits without commands')
  t.equal(stage.stateOf('mal', BTC, true), 'LIQUIDATING')
  stage.send(CommandType.SET_PAIR_STATUS, { pair: ETH, status: PairStatus.ACTIVE })
  t.same(stage.run().told, ['mal DELEVERAGED 1 at 1000', 'mal COMPLETED'])
})

t.test('nor does one whose price is stale; but what it lost at its last price liquidates nothing else', async (t) => {
  const stage = crossed(1100)
  stage.time += 31_000
  stage.price(BTC, 890)
  t.same(stage.run().told, ['mal STARTED', 'mal DELEVERAGED 10 at 890'])
  t.same([stage.lots('mal', BTC, true), stage.lots('mal', ETH, true)], [0, 1])
  stage.price(ETH, 1000)
  t.same(stage.run().told, ['mal DELEVERAGED 1 at 1000', 'mal COMPLETED'])
  // ETH lost 100 of 1,130, so BTC alone would be healthy at 922: 250 of equity without ETH, maintenance 230.50.
  const other = crossed(1030)
  other.price(ETH, 900)
  other.time += 31_000
  other.price(BTC, 922)
  t.same(other.run().told, [])
  t.equal(other.run().commands, 0)
  other.price(ETH, 900)
  t.equal(other.run().told[0], 'mal STARTED')
})

t.test('who is bankrupt is deleveraged where he lost: those who gained there pay', async (t) => {
  const stage = new LiquidationStage({}, {})
  stage.give({
    'ann 1': { pair: BTC, lots: 10, price: 1000, collateral: 4000, cross: true },
    'ann 2': { pair: ETH, lots: 9, price: 1000, collateral: 0, cross: true },
    bob: { pair: BTC, lots: -10, price: 1000, collateral: 1000 },
    cat: { pair: ETH, lots: -9, price: 1000, collateral: 1000 },
  })
  // Equity 4,000 - 5,000. BTC needs 125, ETH 225 of maintenance: ETH at 1,111 would take all that cat has, and she did not gain.
  stage.price(BTC, 500)
  t.same(stage.run().told, ['ann STARTED', 'ann DELEVERAGED 10 at 600', 'ann DELEVERAGED 9 at 1000', 'ann COMPLETED'])
  t.same(['bob', 'cat'].map((name) => stage.equity(name, name === 'bob' ? BTC : ETH)), [5000n * DOLLAR, 1000n * DOLLAR])
  t.equal(stage.badDebt, 0n)
})

t.test('the fund sells nothing to who waits for it far from the mark', async (t) => {
  const stage = new LiquidationStage()
  stage.fund(10_000)
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.price(BTC, 923)
  t.equal(stage.run().told[1], 'ann TAKEN_OVER 10 at 900')
  stage.deposit('mal', 50_000)
  stage.order('mal', 10, 917)
  stage.time += 1000
  t.equal(stage.run().commands, 0, '0.65 % below: more than the liquidation fee of 0.5 %')
  t.equal(stage.lots('fund', BTC, true), 10)
  stage.order('mal', 10, 919)
  stage.time += 1000
  stage.run()
  t.ok(stage.lots('fund', BTC, true) < 10, 'within it')
})

t.test('nothing is opened with what a position is worth whose price is stale', async (t) => {
  const stage = new LiquidationStage()
  stage.give({
    mal: { pair: ETH, lots: 10, price: 500, collateral: 1000, cross: true },
    bob: { pair: ETH, lots: -10, price: 500, collateral: 9000 },
  })
  stage.time += 31_000
  stage.price(BTC, 1000)
  const open = (): Decoded => stage.order('mal', 4, 1000, { flags: Flag.CROSS, leverage: 1000 })
  t.throws(open, { message: /PRICE_STALE/ }, 'of ETH it may have 5,000 of profit, or none any more')
  stage.price(ETH, 1000)
  t.equal(open()['code'], 0)
})

t.test('who lacks margin may still reduce in parts, for no more than the margin that they no longer need', async (t) => {
  const stage = new LiquidationStage()
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.deposit('mia', 50_000)
  // Equity 220, maintenance 230.50. Each lot needs 23.05: at 900 it would cost 22 and the fee, at 880 more than that.
  stage.order('mia', 1, 900)
  stage.order('mia', 1, 880)
  stage.price(BTC, 922)
  const close = { flags: Flag.REDUCE_ONLY | Flag.IOC }
  t.equal(stage.order('ann', -5, 800, close)['remaining'], 4)
  t.same([stage.lots('ann'), stage.lots('mia')], [9, 1])
  t.equal(stage.equity('ann'), 197_550_000n, '220 - 22 - 0.45')
})
