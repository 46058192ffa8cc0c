/**
 * Promise: before the insurance fund takes a position over, those that it was opened against within the window are closed against it, and
 * those that hold more than their part of the other side; then the fund, then all others. So two accounts of one owner win nothing from the
 * fund, and the owner's 1x short comes before an honest 10x one.
 */
import t from 'tap'
import { BTC, DOLLAR, LiquidationStage } from '../support/liquidation_stage.ts'

const MINUTE = 60_000
const WINDOW = { deleverageWindowMinutes: 1440 }

/** A fund, and cat, an honest short with the most leverage; dan is on the other side. */
function staged(terms: object): LiquidationStage {
  const stage = new LiquidationStage({ ...terms, fundShareBps: '10000' })
  stage.fund(100_000)
  stage.give({ cat: { lots: -10, price: 1000, collateral: 1500 }, dan: { lots: 10, price: 1000, collateral: 9000 } })
  return stage
}

/** The long trades with the short, at 1000. */
function meet(stage: LiquidationStage, long: string, short: string, lots = 9, leverage = 100): void {
  stage.order(short, -lots, 1000, { leverage })
  stage.order(long, lots, 1000, { leverage: 1000 })
}

function ready(stage: LiquidationStage, ...names: string[]): void {
  for (const name of names) stage.deposit(name, 40_000)
}

/** What ended with lots, without the price. */
const steps = (stage: LiquidationStage): string[] =>
  stage.run().told.filter((line) => line.includes(' at ')).map((line) => line.replace(/ at .*/, ''))

t.test('whom it was opened against comes first, whatever its leverage', async (t) => {
  const stage = staged(WINDOW)
  ready(stage, 'ann', 'bob')
  meet(stage, 'ann', 'bob')
  stage.price(BTC, 880)
  t.same(steps(stage), ['ann DELEVERAGED 9'])
  t.same([stage.lots('ann'), stage.lots('bob'), stage.lots('cat')], [0, 0, -10])
  t.same([stage.lots('fund'), stage.equity('fund')], [0, 100_000n * DOLLAR], 'the fund lost nothing')
})

t.test('a window of 0 remembers nobody: the fund takes it', async (t) => {
  const stage = staged({ deleverageWindowMinutes: 0 })
  ready(stage, 'ann', 'bob')
  meet(stage, 'ann', 'bob')
  stage.price(BTC, 880)
  t.same(steps(stage), ['ann TAKEN_OVER 9'])
})

t.test('the window ends after its last minute; another fill with the same begins it again', async (t) => {
  for (const [minutes, again, expected] of [
    [60, false, 'DELEVERAGED'], [61, false, 'TAKEN_OVER'], [61, true, 'DELEVERAGED'],
  ] as const) {
    const stage = staged({ deleverageWindowMinutes: 60 })
    ready(stage, 'ann', 'bob')
    meet(stage, 'ann', 'bob', 8)
    stage.time += minutes * MINUTE
    stage.price(BTC, 1000)
    if (again) meet(stage, 'ann', 'bob', 1)
    stage.price(BTC, 880)
    t.same(steps(stage).map((line) => line.split(' ')[1]), [expected], `${minutes} ${again}`)
  }
})

t.test('only fills that open on both sides count: bob, who sold what he had, and now is short against another', async (t) => {
  const stage = staged(WINDOW)
  ready(stage, 'ann', 'bob', 'eva', 'fay')
  meet(stage, 'bob', 'fay')
  meet(stage, 'ann', 'bob')
  t.equal(stage.lots('bob'), 0)
  meet(stage, 'eva', 'bob', 1)
  stage.price(BTC, 880)
  const told = steps(stage)
  t.ok(told.includes('ann TAKEN_OVER 9'), told.join())
  t.equal(stage.lots('bob'), 0, 'eva was opened against bob')
})

t.test('what those that it was opened against do not hold any more the fund takes', async (t) => {
  const stage = staged(WINDOW)
  ready(stage, 'ann', 'bob', 'eva')
  meet(stage, 'ann', 'bob')
  // Eva takes five of the nine shorts over.
  stage.order('eva', -5, 1000)
  stage.order('bob', 5, 1000)
  t.equal(stage.lots('bob'), -4)
  stage.price(BTC, 880)
  t.same(steps(stage), ['ann DELEVERAGED 4', 'ann TAKEN_OVER 5'])
  t.same([stage.lots('bob'), stage.lots('eva')], [0, -5])
})

t.test('who holds more than a part of the other side comes before the fund, exactly the part does not', async (t) => {
  for (const [part, expected] of [['2999', ['ann DELEVERAGED 3', 'ann TAKEN_OVER 7']], ['3000', ['ann TAKEN_OVER 10']]] as const) {
    const stage = new LiquidationStage({ deleverageHolderBps: part, fundShareBps: '10000' })
    stage.fund(100_000)
    const small = Array.from({ length: 7 }, (_, index) => [`small${index}`, { lots: -1, price: 1000, collateral: 900 }] as const)
    stage.give({
      ann: { lots: 10, price: 1000, collateral: 1000 }, big: { lots: -3, price: 1000, collateral: 3000, leverage: 100 },
      ...Object.fromEntries(small),
    })
    stage.price(BTC, 890)
    t.same(steps(stage), [...expected], part)
  }
})
