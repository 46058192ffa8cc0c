/**
 * Promise: a bucket is left alone for as long as it has its maintenance margin, to the tick; then its orders end, it is reduced through the
 * book down to the tier below, and what the book does not take goes to the insurance fund at the bankruptcy price. Figures are reckoned by
 * hand: test/support/liquidation_stage.ts has the terms.
 */
import t from 'tap'
import { Flag } from '../../core/layout/flags.ts'
import { REASON_NAMES } from '../../core/layout/event.ts'
import { PositionReason } from '../../core/layout/margin_events.ts'
import { originOf, Origin } from '../../core/layout/flags.ts'
import { BTC, DOLLAR, LiquidationStage, type Ran } from '../support/liquidation_stage.ts'

const dollars = (amount: number): bigint => BigInt(Math.round(amount * 1_000_000))
const eventsOf = ({ events }: Ran, name: string) => events.filter(({ event }) => event === name)

t.test('a bucket with its maintenance margin is left alone, to the tick', async (t) => {
  const stage = new LiquidationStage()
  stage.fund(10_000)
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 1000 } })
  // At 924: equity 240, maintenance 2.5 % of 9,240 = 231. At 923: 230 and 230.75.
  stage.price(BTC, 924)
  t.equal(stage.run().commands, 0, 'no command at all')
  stage.price(BTC, 923)
  t.same(stage.run().told, ['ann STARTED', 'ann TAKEN_OVER 10 at 900', 'ann COMPLETED'])
  // Of the short at 1071: equity 290, maintenance 5 % of 10,710 - 250 = 285.50; at 1072: 280 and 286.
  const other = new LiquidationStage()
  other.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 1000 } })
  other.price(BTC, 1071)
  t.equal(other.run().commands, 0)
  other.price(BTC, 1072)
  t.equal(other.run().told[0], 'bob STARTED')
})

t.test('the fund takes over at the bankruptcy price what no book takes, and closes it in its own time', async (t) => {
  const stage = new LiquidationStage()
  stage.fund(10_000)
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.price(BTC, 923)
  const ran = stage.run()
  t.equal(ran.commands, 1)
  const { TAKE_OVER } = PositionReason
  t.same(eventsOf(ran, 'POSITION').map(({ lots, reason }) => [lots, reason]), [[0, TAKE_OVER], [10, TAKE_OVER]])
  t.same([stage.lots('ann'), stage.lots('fund'), stage.lots('bob')], [0, 10, -10])
  t.equal(stage.equity('ann'), 0n, '1,000 - 10 x 100')
  t.equal(stage.equity('fund'), dollars(10_230), '10 x 23 more')
  t.equal(stage.deposited('fund'), dollars(10_000))
  t.equal(stage.stateOf('ann'), 'ACTIVE')
  stage.deposit('mia', 50_000)
  stage.order('mia', 20, 923)
  // A fifth a second, rounded up: 2 of 10, 8 and 6, then one of 4, 3, 2 and 1.
  const left = []
  for (let second = 0; second < 10; second++) {
    stage.time += 1000
    stage.price(BTC, 923)
    stage.run()
    left.push(stage.lots('fund'))
  }
  t.same(left, [8, 6, 4, 3, 2, 1, 0, 0, 0, 0])
  // Fees of 0.05 % of 9,230 = 4.615.
  t.equal(stage.deposited('fund'), dollars(10_000 + 230 - 4.615), 'what the position made is settled')
})

t.test('reduced through the book down to the tier below, with the liquidation fee; then it has enough', async (t) => {
  const stage = new LiquidationStage()
  stage.give({ ann: { lots: 100, price: 1000, collateral: 11_700 }, bob: { lots: -100, price: 1000, collateral: 50_000 } })
  // At 950: equity 6,700; maintenance 10 % of 95,000 - 2,750 = 6,750. 52 lots are worth 49,400, in the tier below.
  stage.price(BTC, 950)
  stage.deposit('mia', 90_000)
  stage.order('mia', 100, 950)
  const ran = stage.run()
  t.same(ran.told, ['ann STARTED', 'ann REDUCED 48 at 950', 'ann COMPLETED'])
  // Taker fee 0.05 % and liquidation fee 0.5 % of 45,600: 22.80 and 228.
  t.equal(stage.equity('ann'), dollars(6700 - 22.8 - 228))
  t.equal(stage.deposited('fund'), dollars(228))
  t.same([stage.lots('ann'), stage.lots('mia')], [52, 48])
  const [fill] = eventsOf(ran, 'FILL')
  t.equal(originOf(Number(fill!['takerFlags'])), Origin.LIQUIDATION)
  t.equal(Number(fill!['takerFlags']) & (Flag.IOC | Flag.REDUCE_ONLY), Flag.IOC | Flag.REDUCE_ONLY)
  t.equal(eventsOf(ran, 'LIQUIDATION').find(({ lots }) => lots === 48)!['amount'], dollars(228))
})

t.test('resting orders end first, and what they had brought goes back', async (t) => {
  const stage = new LiquidationStage()
  stage.fund(10_000)
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.deposit('ann', 6000)
  stage.order('ann', 5, 900, { leverage: 1000 })
  stage.order('ann', -4, 1100, { flags: Flag.REDUCE_ONLY, leverage: 0 })
  stage.price(BTC, 923)
  const ran = stage.run()
  t.same(ran.told, ['ann STARTED', 'ann ORDERS_CANCELLED 2', 'ann TAKEN_OVER 10 at 900', 'ann COMPLETED'])
  t.same(eventsOf(ran, 'ORDER_ENDED').map(({ outcome }) => REASON_NAMES[Number(outcome) >> 8]), ['LIQUIDATION', 'LIQUIDATION'])
  t.same([stage.equity('ann'), stage.deposited('ann')], [0n, dollars(7000)], 'the position lost what it had, and no more')
})

t.test('orders end, and no fill comes before', async (t) => {
  const stage = new LiquidationStage()
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  for (let price = 1100; price < 1110; price++) stage.order('ann', -1, price, { flags: Flag.REDUCE_ONLY, leverage: 0 })
  stage.price(BTC, 923)
  stage.deposit('mia', 50_000)
  stage.order('mia', 20, 920)
  const ran = stage.run()
  t.same(ran.told, ['ann STARTED', 'ann ORDERS_CANCELLED 10', 'ann REDUCED 10 at 920', 'ann COMPLETED'])
  const kinds = ran.events.map(({ event }) => event)
  t.ok(kinds.lastIndexOf('ORDER_ENDED') < kinds.indexOf('FILL'))
  // 1,000 - 800 - 4.60 - 46.
  t.equal(stage.equity('ann'), dollars(149.4))
})

t.test('no more of the fee than there is equity', async (t) => {
  const stage = new LiquidationStage({ liquidationFeeBps: '1000' })
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.price(BTC, 923)
  stage.deposit('mia', 50_000)
  stage.order('mia', 20, 920)
  stage.run()
  t.equal(stage.equity('ann'), 0n)
  t.equal(stage.deposited('fund'), dollars(200 - 4.6), '10 % of 9,200 would be 920')
})

t.test('never beyond the price that leaves something after the fee, nor beyond the band', async (t) => {
  const stage = new LiquidationStage()
  stage.fund(10_000)
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.price(BTC, 923)
  stage.deposit('mia', 50_000)
  // The bankruptcy price is 900; with 0.05 % it is 900.45.
  stage.order('mia', 20, 900)
  t.same(stage.run().told, ['ann STARTED', 'ann TAKEN_OVER 10 at 900', 'ann COMPLETED'])
  t.equal(stage.lots('mia'), 0, 'nor does the fund sell so far below the mark')
  const other = new LiquidationStage({ markBandBps: '100' })
  other.fund(10_000)
  other.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  other.price(BTC, 923)
  other.deposit('mia', 50_000)
  // 1 % below 923 is 914.
  other.order('mia', 20, 913)
  t.same(other.run().told, ['ann STARTED', 'ann TAKEN_OVER 10 at 900', 'ann COMPLETED'])
})

t.test('an illiquid book takes what it can, the fund the rest', async (t) => {
  const stage = new LiquidationStage()
  stage.fund(10_000)
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.price(BTC, 923)
  stage.deposit('mia', 50_000)
  stage.order('mia', 1, 920)
  const ran = stage.run()
  // After it equity is 230 - 3 - 0.46 - 4.60 = 221.94, maintenance of 9 lots 207.675.
  t.same(ran.told, ['ann STARTED', 'ann REDUCED 1 at 920', 'ann COMPLETED'])
  // At 922: 212.94 and 207.45; at 921: 203.94 and 207.225. Nobody is left; 921 - floor(203.94 / 9) = 899.
  stage.price(BTC, 921)
  t.same(stage.run().told, ['ann STARTED', 'ann TAKEN_OVER 9 at 899', 'ann COMPLETED'])
  t.equal(stage.equity('ann'), dollars(203.94 - 9 * 22))
})

t.test('own orders of another bucket stand in nobody\'s way', async (t) => {
  const stage = new LiquidationStage()
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  stage.price(BTC, 923)
  stage.deposit('ann', 20_000)
  for (let order = 0; order < 5; order++) stage.order('ann', 1, 923, { flags: Flag.CROSS })
  stage.deposit('mia', 50_000)
  stage.order('mia', 20, 923)
  const ran = stage.run()
  t.same(ran.told, ['ann STARTED', 'ann REDUCED 10 at 923', 'ann COMPLETED'])
  t.equal(eventsOf(ran, 'ORDER_ENDED').length, 5)
  t.equal(stage.equity('ann'), 230n * DOLLAR - dollars(4.615 + 46.15))
})
