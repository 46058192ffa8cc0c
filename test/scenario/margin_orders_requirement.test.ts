/**
 * Promise: what an order needs and brings. The requirement is of the worse side, with what is lost at once against the mark; an order
 * brings what is short from the margin account, or riskBucketCollateral when that is more; only fills commit it; what is left comes back
 * with the end of the order, as far as no other order counts on it. A refused order changes nothing.
 */
import t from 'tap'
import { MarginScene, play } from '../support/margin_scene.ts'

play(t, 'bids and asks count the worse side', {
  given: ['ann 100', 'bob 1000'],
  when: [
    ['ann buys 10 at 100 x10', 'SUBMITTED'],
    ['ann sells 10 at 101 x10', 'SUBMITTED'],
    ['ann buys 1 at 99 x10', 'refused INSUFFICIENT_MARGIN 10 of 0'],
    ['ann sells 1 at 102 x10', 'refused INSUFFICIENT_MARGIN 10 of 0'],
    ['bob buys 10 at 101 x10', 'FILLED'],
  ],
  positions: ['ann short 10 at 101 x10'],
  // The ask brought nothing: what the bid brought backs the position.
  money: ['ann free 0: allocated 90, pending 10, realized 0'],
})

play(t, 'what is lost against the mark is needed beside the margin', {
  given: ['ann 29', 'bob 1000'],
  when: [
    ['ann buys 2 at 105 x10', 'refused INSUFFICIENT_MARGIN 30 of 29'],
    ['ann sells 2 at 95 x10', 'refused INSUFFICIENT_MARGIN 30 of 29'],
    ['ann buys 2 at 104 x10', 'SUBMITTED'],
  ],
  money: ['ann free 1: allocated 0, pending 28, realized 0'],
})

play(t, 'riskBucketCollateral is pending until fills commit it, in parts of the lots', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ['ann buys 4 at 100 x10 collateral=1001', 'refused INSUFFICIENT_COLLATERAL 1001 of 1000'],
    ['ann buys 4 at 100 x10 collateral=400', 'SUBMITTED'],
    ['bob sells 1 at 100 x10', 'FILLED'],
  ],
  money: ['ann free 600: allocated 100, pending 300, realized 0'],
})

play(t, 'a cancel gives back what no fill committed', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ['a: ann buys 4 at 100 x10 collateral=400', 'SUBMITTED'],
    ['bob sells 1 at 100 x10', 'FILLED'],
    ['ann cancels a', 'CANCELLED USER_CANCELLED, filled 1'],
    ['b: ann buys 2 at 100 x10', 'SUBMITTED'],
    ['mark 20', 'done'],
    ['ann cancels b', 'CANCELLED USER_CANCELLED'],
  ],
  // The bucket had lost 80 of its 100 by then, and needs 2 for what it has: what the second order brought, 0, was enough.
  money: ['ann free 900: allocated 100, pending 0, realized 0'],
})

play(t, 'a bucket that is short keeps nothing of an order that filled nothing', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ['bob sells 10 at 100 x10', 'SUBMITTED'],
    ['ann buys 10 at 100 x10', 'FILLED'],
    ['mark 95', 'done'],
    // It brings 45 that the position lacks, and 95 of its own.
    ['a: ann buys 10 at 90 x10', 'SUBMITTED'],
    ['mark 89', 'done'],
    ['ann cancels a', 'CANCELLED USER_CANCELLED'],
    ['mark 95', 'done'],
    ['b: ann buys 10 at 90 x10 expires=10', 'SUBMITTED'],
    ['wait 11', 'waited'],
    ['timer expires b', 'done'],
    ['ann buys 10 at 90 x10 ioc', 'CANCELLED IOC_REMAINDER'],
    ['ann buys 10 at 90 x10 collateral=300 fok', 'CANCELLED INSUFFICIENT_DEPTH'],
  ],
  money: ['ann free 900: allocated 100, pending 0, realized 0'],
})

/** A position that lacks 45 of its 95, and a small order that brings them: 45 + 9.5, at any price below the mark. */
const SHORT: [step: string, outcome: string][] = [
  ['bob sells 10 at 100 x10', 'SUBMITTED'],
  ['ann buys 10 at 100 x10', 'FILLED'],
  ['mark 95', 'done'],
  ['small: ann buys 1 at 90 x10', 'SUBMITTED'],
]

play(t, 'what a bucket lacks is not brought by an order, counted on by another, and taken away', {
  given: ['ann 1000', 'bob 1000'],
  when: [...SHORT, ['large: ann buys 10 at 90 x10', 'SUBMITTED'], ['ann cancels small', 'CANCELLED USER_CANCELLED']],
  // 45 stay with the large order, which brought 95.
  money: ['ann free 760: allocated 100, pending 140, realized 0'],
})

play(t, 'the last order gives back what the others left with it', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ...SHORT, ['large: ann buys 10 at 90 x10', 'SUBMITTED'], ['ann cancels small', 'CANCELLED USER_CANCELLED'],
    ['ann cancels large', 'CANCELLED USER_CANCELLED'],
  ],
  money: ['ann free 900: allocated 100, pending 0, realized 0'],
})

play(t, 'a fill commits what other orders left with its order', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ...SHORT, ['ann buys 10 at 90 x10', 'SUBMITTED'], ['ann cancels small', 'CANCELLED USER_CANCELLED'],
    ['bob sells 10 at 90 x10', 'FILLED'],
  ],
  money: ['ann free 760: allocated 240, pending 0, realized 0'],
})

play(t, 'a bid and an ask that fill nothing commit nothing', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ['bid: ann buys 10 at 99 x10', 'SUBMITTED'],
    ['ask: ann sells 10 at 101 x10', 'SUBMITTED'],
    ['ann cancels bid', 'CANCELLED USER_CANCELLED'],
  ],
  // The ask, which brought nothing, has what it needs.
  money: ['ann free 900: allocated 0, pending 100, realized 0'],
})

play(t, 'a bid and an ask that fill nothing give everything back', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ['bid: ann buys 10 at 99 x10', 'SUBMITTED'],
    ['ask: ann sells 10 at 101 x10', 'SUBMITTED'],
    ['ann cancels bid', 'CANCELLED USER_CANCELLED'],
    ['ann cancels ask', 'CANCELLED USER_CANCELLED'],
  ],
  money: ['ann free 1000: allocated 0, pending 0, realized 0'],
})

play(t, 'what is filled in part is covered before the rest goes back', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ['bob sells 10 at 100 x10', 'SUBMITTED'],
    ['ann buys 10 at 100 x10', 'FILLED'],
    ['mark 95', 'done'],
    ['bob sells 1 at 95 x10', 'SUBMITTED'],
    ['ann buys 10 at 95 x10 ioc', 'CANCELLED IOC_REMAINDER, filled 1'],
  ],
  // 11 lots at 95 with 50 lost need 104.5 + 50.
  money: ['ann free 845.5: allocated 154.5, pending 0, realized 0'],
})

play(t, 'of an order that does not rest everything is settled at once', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ['bob sells 2 at 100 x10', 'SUBMITTED'],
    ['ann buys 10 at 100 x10 ioc', 'CANCELLED IOC_REMAINDER, filled 2'],
    ['ann buys 10 at 100 x10 fok', 'CANCELLED INSUFFICIENT_DEPTH'],
    ['ann buys 10 market x10', 'CANCELLED INSUFFICIENT_DEPTH'],
  ],
  money: ['ann free 980: allocated 20, pending 0, realized 0'],
})

play(t, 'a bucket below its margin is topped up by the next order', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ['bob sells 10 at 100 x10', 'SUBMITTED'],
    ['ann buys 10 at 100 x10', 'FILLED'],
    ['mark 95', 'done'],
    ['ann buys 1 at 95 x10', 'SUBMITTED'],
  ],
  // 50 are left of 100 and 95 are needed: 45, and 9.5 for the order.
  money: ['ann free 845.5: allocated 100, pending 54.5, realized 0'],
})

play(t, 'expiry, replacement and self-trade prevention give back too', {
  given: ['ann 1000'],
  when: [
    ['a: ann buys 10 at 100 x10 expires=5', 'SUBMITTED'],
    ['b: ann buys 10 at 99 x10', 'SUBMITTED'],
    ['c: ann replaces b quantity=4', 'SUBMITTED'],
    ['d: ann replaces c price=98 quantity=6', 'SUBMITTED'],
    ['wait 6', 'waited'],
    ['timer expires a', 'done'],
    ['ann sells 1 at 98 x10 cancel-both', 'CANCELLED SELF_TRADE_PREVENTION'],
  ],
  // When the bid ended the ask that met it was still there, and needed 12 of what the bid had brought: its own end gives them back.
  money: ['ann free 1000: allocated 0, pending 0, realized 0'],
  ended: [
    'ann buys 10 at 99 REPLACED', 'ann buys 4 at 99 REPLACED', 'ann buys 10 at 100 EXPIRED', 'ann buys 6 at 98 SELF_TRADE_PREVENTION',
  ],
})

t.test('a refused order changes nothing', async (t) => {
  const scene = new MarginScene()
  for (const line of ['ann 100', 'bob 1000']) scene.give(line)
  scene.step('ann buys 5 at 100 x10')
  const before = [scene.money('ann'), scene.resting('ann'), scene.orderLines('ann').join()]
  const refused: [string, string][] = [
    ['ann buys 10 at 100 x10', 'refused INSUFFICIENT_MARGIN 100 of 50'],
    ['ann buys 100 at 100 x10 cross', 'refused INSUFFICIENT_MARGIN 1000 of 50'],
    ['ann buys 1 at 100 x10 on B collateral=51', 'refused INSUFFICIENT_COLLATERAL 51 of 50'],
    ['ann buys 1 at 100 x10 key=none', 'refused STRATEGY_KEY_UNKNOWN'],
    ['ann buys 1 at 100 x51', 'refused LEVERAGE_TOO_HIGH'],
    ['ann buys 1 at 100', 'refused LEVERAGE_TOO_LOW'],
    ['ann buys 1 at 100 x10 funded', 'refused MASTER_BALANCE_NOT_ALLOWED'],
    ['ann buys 1 at 100 spot', 'refused WRONG_TRADING_MODE'],
    ['ann buys 1 at 100 x10 on S', 'refused WRONG_TRADING_MODE'],
    ['ann buys 1 at 100 spot on S reduce-only', 'refused WRONG_TRADING_MODE'],
  ]
  for (const [step, outcome] of refused) {
    t.equal(scene.step(step), outcome, step)
    t.same([scene.money('ann'), scene.resting('ann'), scene.orderLines('ann').join()], before)
    t.equal(scene.said.length, 1, 'and says nothing but its refusal')
  }
})
