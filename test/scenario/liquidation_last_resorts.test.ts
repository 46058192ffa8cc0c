/**
 * Promise: what neither the book nor the fund takes is closed against those who gain most with the most leverage, at the bankruptcy price;
 * a bucket whose price is stale is left alone until it is fresh; the fund pays what is owed, and what it cannot is bad debt until it can; a
 * perpetual settles to the atom. Figures are reckoned by hand.
 */
import t, { type Test } from 'tap'
import { CommandType, PairStatus } from '../../core/layout/command.ts'
import { PerpMode } from '../../core/layout/margin.ts'
import { PERP, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bucketAt, get, getF64, perpRow } from '../../core/state/rows.ts'
import { STEPS_MAX } from '../../core/sequencer/liquidation_timers.ts'
import { BTC, DOLLAR, ETH, LiquidationStage } from '../support/liquidation_stage.ts'

t.test('deleveraging asks by profit and leverage, ties by row', async (t) => {
  const stage = new LiquidationStage()
  stage.give({
    ann: { lots: 10, price: 1000, collateral: 1000 }, zoe: { lots: 9, price: 1000, collateral: 9000 },
    // At 923: 77 / 1,000 x 10 = 0.77; 177 / 1,100 x 5 = 0.80; 77 / 1,000 x 20 = 1.54, twice; a loss.
    one: { lots: -6, price: 1000, collateral: 6000, leverage: 1000 }, two: { lots: -4, price: 1100, collateral: 4000, leverage: 500 },
    three: { lots: -3, price: 1000, collateral: 3000, leverage: 2000 }, four: { lots: -2, price: 1000, collateral: 3000, leverage: 2000 },
    five: { lots: -4, price: 900, collateral: 4000, leverage: 5000 },
  })
  stage.price(BTC, 923)
  const ran = stage.run()
  t.same(ran.told, ['ann STARTED', 'ann DELEVERAGED 10 at 900', 'ann COMPLETED'])
  const lots = ['ann', 'zoe', 'one', 'two', 'three', 'four', 'five'].map((name) => stage.lots(name))
  t.same(lots, [0, 9, -5, 0, 0, 0, -4])
  const asked = ran.events.filter(({ event, reason }) => event === 'POSITION' && reason === 3).map(({ profit }) => profit)
  t.same(asked, [300n, 200n, 800n, 100n, -1000n].map((profit) => profit * DOLLAR), 'three, four, two, one; then ann herself')
})

t.test('a gap through the bankruptcy price: the others bear it, nobody owes', async (t) => {
  const stage = new LiquidationStage()
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 1000 } })
  stage.price(BTC, 700)
  t.same(stage.run().told, ['ann STARTED', 'ann DELEVERAGED 10 at 900', 'ann COMPLETED'])
  t.same([stage.equity('ann'), stage.equity('bob'), stage.badDebt], [0n, 2000n * DOLLAR, 0n])
  const funded = new LiquidationStage()
  funded.fund(10_000)
  funded.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 1000 } })
  funded.price(BTC, 700)
  t.same(funded.run().told, ['ann STARTED', 'ann TAKEN_OVER 10 at 900', 'ann COMPLETED'])
  t.equal(funded.equity('fund'), 8000n * DOLLAR, 'which bears it')
})

t.test('simultaneous bankruptcies: the fund as far as it goes, then the others; a turn is bounded', async (t) => {
  const stage = new LiquidationStage()
  stage.fund(1000)
  const many = Array.from({ length: 90 }, (_, index) => [`long${index}`, { lots: 5, price: 1000, collateral: 500 }] as const)
  const few = Array.from({ length: 5 }, (_, index) => [`short${index}`, { lots: -90, price: 1000, collateral: 90_000 }] as const)
  stage.give(Object.fromEntries([...many, ...few]))
  stage.price(BTC, 880)
  const turn = stage.turn()
  t.equal(turn.commands, STEPS_MAX / 2, 'half of a turn for what guards found')
  const rest = stage.run()
  const told = [...turn.told, ...rest.told]
  t.equal(told.filter((line) => line.endsWith('COMPLETED')).length, 90)
  t.ok(told.some((line) => line.includes('TAKEN_OVER')) && told.some((line) => line.includes('DELEVERAGED')))
  t.same(many.map(([name]) => stage.lots(name)).filter((lots) => lots !== 0), [])
  t.equal(stage.badDebt, 0n)
})

t.test('a stale price freezes it; a fresh one lets it go on, or recover', async (t) => {
  const stage = new LiquidationStage()
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.price(BTC, 923)
  stage.time += 60_000
  t.same(stage.run().told, [], 'not on the price of a minute ago')
  t.equal(stage.lots('ann'), 10)
  stage.price(BTC, 990)
  t.same(stage.run().told, [])
  stage.price(BTC, 923)
  t.equal(stage.run().told.length, 3)
})

t.test('a pair that does not trade freezes it', async (t) => {
  const stage = new LiquidationStage()
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.send(CommandType.SET_PAIR_STATUS, { pair: BTC, status: PairStatus.HALTED })
  stage.price(BTC, 923)
  t.same(stage.run().told, [])
  t.equal(stage.run().commands, 0, 'and nothing is written meanwhile')
  stage.send(CommandType.SET_PAIR_STATUS, { pair: BTC, status: PairStatus.ACTIVE })
  t.same(stage.run().told, ['ann STARTED', 'ann DELEVERAGED 10 at 900', 'ann COMPLETED'])
})

t.test('a cross bucket: both pairs must be fresh; the one that needs most is closed first', async (t) => {
  const stage = new LiquidationStage()
  stage.give({
    'ann 1': { pair: BTC, lots: 10, price: 1000, collateral: 2000, cross: true },
    'ann 2': { pair: ETH, lots: 5, price: 1000, collateral: 0, cross: true },
    'bob 1': { pair: BTC, lots: -10, price: 1000, collateral: 9000 }, 'bob 2': { pair: ETH, lots: -5, price: 1000, collateral: 9000 },
  })
  stage.time += 31_000
  // ETH is stale. BTC at 830: equity 300, maintenance 207.50 + 125.
  stage.price(BTC, 830)
  t.same(stage.run().told, [])
  t.equal(stage.run().commands, 0)
  stage.price(ETH, 1000)
  // Of BTC the bankruptcy price is 800; then 300 - 300 = 0 is left, and ETH goes at its mark.
  t.same(stage.run().told, ['ann STARTED', 'ann DELEVERAGED 10 at 800', 'ann DELEVERAGED 5 at 1000', 'ann COMPLETED'])
  t.equal(stage.equity('ann', BTC, true), 0n)
})

t.test('the fund is deleveraged when it fails itself', async (t) => {
  const stage = new LiquidationStage()
  stage.fund(300)
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.price(BTC, 923)
  t.equal(stage.run().told[1], 'ann TAKEN_OVER 10 at 900')
  // 10 at 900 with 300: at 880 equity 100, maintenance 220. 880 - 100 / 10 = 870.
  stage.price(BTC, 880)
  t.same(stage.run().told, ['fund STARTED', 'fund DELEVERAGED 10 at 870', 'fund COMPLETED'])
  t.same([stage.equity('fund'), stage.deposited('fund'), stage.lots('bob')], [0n, 0n, 0])
})

t.test('settlement: all at one price, to the atom; what is owed is the fund\'s, then bad debt until the fund can pay', async (t) => {
  const stage = new LiquidationStage()
  stage.fund(600)
  stage.give({
    ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -7, price: 1006, collateral: 5000 },
    cat: { lots: -3, price: 986, collateral: 5000 },
  })
  stage.deposit('mia', 20_000)
  stage.order('mia', 3, 400)
  stage.settle(BTC, 800)
  const ran = stage.run()
  t.equal(get(stage.state, perpRow(stage.state, BTC), PERP.MODE), PerpMode.SETTLED)
  t.equal(ran.events.filter(({ event }) => event === 'ORDER_ENDED').length, 1)
  t.same([stage.lots('ann'), stage.lots('bob'), stage.lots('cat')], [0, 0, 0])
  t.same([stage.equity('bob'), stage.equity('cat')], [5000n + 7n * 206n, 5000n + 3n * 186n].map((amount) => amount * DOLLAR))
  t.same(ran.told, ['ann STARTED', 'ann BAD_DEBT'])
  const now = [stage.stateOf('ann'), stage.badDebt, stage.equity('ann'), stage.deposited('fund')]
  t.same(now, ['BAD_DEBT', 400n * DOLLAR, -400n * DOLLAR, 0n])
  t.equal(stage.run().commands, 0, 'it waits without commands')
  stage.fund(150)
  t.same(stage.run().told, ['ann BAD_DEBT'])
  t.equal(stage.badDebt, 250n * DOLLAR)
  stage.fund(1000)
  t.same(stage.run().told, ['ann COMPLETED'])
  t.same([stage.stateOf('ann'), stage.badDebt, stage.deposited('fund')], ['ACTIVE', 0n, 750n * DOLLAR])
})

/** A fund of 300 that took 10 BTC over at 900; cat is long of 10 ETH with 1,500 against dan. */
function fundThatTookOver(t: Test): LiquidationStage {
  const stage = new LiquidationStage()
  stage.fund(300)
  stage.give({
    ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 9000 },
    cat: { pair: ETH, lots: 10, price: 1000, collateral: 1500 }, dan: { pair: ETH, lots: -10, price: 1000, collateral: 9000 },
  })
  stage.price(BTC, 923)
  t.equal(stage.run().told[1], 'ann TAKEN_OVER 10 at 900')
  return stage
}

t.test('a fund that owed something itself pays others as soon as it has more, and bad debt is what is owed', async (t) => {
  const stage = fundThatTookOver(t)
  // It has 300 + 10 x 15, less than the 457.50 that its position needs: nothing for cat, who loses 10 x 200 and has 1,500.
  stage.price(BTC, 915)
  stage.settle(ETH, 800)
  t.same(stage.run().told, ['cat STARTED', 'cat BAD_DEBT'])
  // Now it loses 10 x 100 itself.
  stage.settle(BTC, 800)
  t.same(stage.run().told, ['fund STARTED', 'fund BAD_DEBT'])
  t.equal(stage.badDebt, (500n + 700n) * DOLLAR)
  // Of 1,000 it keeps 700 and pays 300, before anybody looks at it again.
  stage.fund(1000)
  t.equal(stage.badDebt, 500n * DOLLAR)
  const cat = stage.bucket('cat', ETH)
  const named = { bucket: bucketAt(stage.state, cat), createdSequence: getF64(stage.state, cat, RISK_BUCKET.CREATED_SEQUENCE) }
  stage.send(CommandType.LIQUIDATION_STEP, named)
  t.same([stage.stateOf('fund'), stage.badDebt], ['BAD_DEBT', 200n * DOLLAR])
  t.same(stage.run().told, ['fund COMPLETED'])
  t.same([stage.badDebt, stage.equity('cat', ETH), stage.equity('fund')], [200n * DOLLAR, -200n * DOLLAR, 0n])
  stage.fund(250)
  t.same(stage.run().told, ['cat COMPLETED'])
  t.same([stage.badDebt, stage.equity('fund')], [0n, 50n * DOLLAR])
})

t.test('the fund pays of what it has, never out of what its positions gained and did not realise', async (t) => {
  const stage = fundThatTookOver(t)
  // 300 and a gain of 1,000, of which 500 are margin: 800 are free, and 300 are money.
  stage.price(BTC, 1000)
  t.equal(stage.equity('fund'), 1300n * DOLLAR)
  stage.settle(ETH, 780)
  t.same(stage.run().told, ['cat STARTED', 'cat BAD_DEBT'])
  t.same([stage.badDebt, stage.equity('fund')], [400n * DOLLAR, 1000n * DOLLAR], 'of 700 that cat owed')
})

t.test('the whole market is liquidated, both sides', async (t) => {
  const stage = new LiquidationStage()
  stage.give(Object.fromEntries(Array.from({ length: 40 }, (_, index) =>
    [`who${index}`, { lots: index % 2 === 0 ? 3 : -3, price: 1000, collateral: 160 + index }])))
  for (const price of [900, 1300, 700, 1000]) {
    stage.price(BTC, price)
    stage.run()
  }
  t.same(Array.from({ length: 40 }, (_, index) => stage.lots(`who${index}`)).filter((lots) => lots !== 0), [])
  t.equal(get(stage.state, perpRow(stage.state, BTC), PERP.POSITIONS), 0)
})
