/**
 * Promise: the insurance fund covers a bankruptcy only up to the share of the market and the allowance of the owner for the day; beyond
 * them the position is deleveraged at once, and what is owed stays bad debt until the next day. The operator changes both. Reckoned by
 * hand.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { PerpSetting } from '../../core/layout/margin.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { BTC, DOLLAR, ETH, LiquidationStage, type Given } from '../support/liquidation_stage.ts'

const DAY = 86_400_000
/** Ten lots at 1000 with 1000: at 890 the bankruptcy price is 900 and the fund gives away 100. */
const pairOf = (long: string, short: string, pair = BTC): Record<string, Given> => ({
  [long]: { pair, lots: 10, price: 1000, collateral: 1000 }, [short]: { pair, lots: -10, price: 1000, collateral: 9000 },
})

t.test('an owner: what is beyond the allowance of the day is deleveraged at once; the next day the fund takes it', async (t) => {
  const stage = new LiquidationStage({ fundOwnerAllowance: '100' })
  stage.fund(100_000)
  stage.give(pairOf('ann', 'bob'))
  stage.price(BTC, 890)
  t.same(stage.run().told, ['ann STARTED', 'ann TAKEN_OVER 10 at 900', 'ann COMPLETED'], '100 of 100')
  stage.price(BTC, 1000)
  stage.give(pairOf('ann', 'cat'))
  stage.price(BTC, 899)
  t.same(stage.run().told, ['ann STARTED', 'ann DELEVERAGED 10 at 900', 'ann COMPLETED'], 'nothing is left, and 10 are asked for')
  stage.price(BTC, 1000)
  stage.give(pairOf('dan', 'eva'))
  stage.price(BTC, 890)
  t.same(stage.run().told[1], 'dan TAKEN_OVER 10 at 900', 'another owner has an allowance of his own')
  stage.time += DAY
  stage.price(BTC, 1000)
  stage.give(pairOf('ann', 'fay'))
  stage.price(BTC, 889)
  t.same(stage.run().told[1], 'ann DELEVERAGED 10 at 900', '110 are never within 100')
  stage.price(BTC, 1000)
  stage.give(pairOf('ann', 'gus'))
  stage.price(BTC, 890)
  t.same(stage.run().told[1], 'ann TAKEN_OVER 10 at 900')
})

t.test('a take-over that costs the fund nothing needs no allowance', async (t) => {
  const stage = new LiquidationStage({ fundOwnerAllowance: '0' })
  stage.fund(100_000)
  stage.give(pairOf('ann', 'bob'))
  stage.price(BTC, 910)
  t.same(stage.run().told[1], 'ann TAKEN_OVER 10 at 900')
})

t.test('a market: its share bounds what a day costs and the notional that the fund has of it; other markets have their own', async (t) => {
  const stage = new LiquidationStage({ fundShareBps: '1000' })
  stage.fund(90_000)
  // 9,000 of 90,000: ten lots at 890 are 8,900; another lot is not within them.
  stage.give({ ...pairOf('ann', 'bob'), ...pairOf('cat', 'dan'), ...pairOf('eva', 'fay', ETH) })
  stage.price(BTC, 890)
  const { told } = stage.run()
  t.same(told.filter((line) => line.includes(' at ')).toSorted(), ['ann TAKEN_OVER 10 at 900', 'cat DELEVERAGED 10 at 900'])
  stage.price(ETH, 890)
  t.same(stage.run().told[1], 'eva TAKEN_OVER 10 at 900')
  t.equal(stage.deposited('fund'), 90_000n * DOLLAR)
})

t.test('what a settled bucket owes is paid within the allowance of each day, without commands in between', async (t) => {
  const stage = new LiquidationStage({ fundOwnerAllowance: '400' })
  stage.fund(100_000)
  stage.give(pairOf('ann', 'bob'))
  stage.settle(BTC, 800)
  t.same(stage.run().told, ['ann STARTED', 'ann BAD_DEBT'])
  t.equal(stage.badDebt, 600n * DOLLAR, '1,000 less 400')
  t.equal(stage.run().commands, 0)
  stage.time += DAY
  stage.price(ETH, 1000)
  stage.run()
  t.equal(stage.badDebt, 200n * DOLLAR)
  stage.time += DAY
  stage.price(ETH, 1000)
  stage.run()
  t.same([stage.badDebt, stage.deposited('fund')], [0n, 99_000n * DOLLAR])
})

t.test('the operator changes share and allowance; wrong ones are refused, and all of it before the rules 5', async (t) => {
  const stage = new LiquidationStage()
  const cover = (value: number, number: number): unknown =>
    stage.events(CommandType.SET_PERP, { pair: BTC, setting: PerpSetting.FUND_COVER, value, number }).at(-1)!['code']
  for (const [value, number] of [[-1, 0], [1_000_001, 0], [0, -1], [0, 0.5], [0, Number.NaN], [0, 2 ** 53]] as const) {
    t.equal(cover(value, number), REFUSALS.VALIDATION_ERROR.number, `${value} ${number}`)
  }
  t.equal(cover(1_000_000, 0), 0)
  stage.fund(100_000)
  stage.give(pairOf('ann', 'bob'))
  stage.price(BTC, 890)
  t.same(stage.run().told[1], 'ann DELEVERAGED 10 at 900')
})
