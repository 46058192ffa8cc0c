/** Promise: a clientOrderId is a label claimed only while the order rests: unique among the caller's resting orders, free afterwards. */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD', 'cat 1000 USD']

play(t, 'taken while the order rests, by this account only', {
  given,
  when: [
    ['ann sells 1 at 100 id=x', 'SUBMITTED'],
    ['ann sells 1 at 101 id=x', 'refused CLIENT_ORDER_ID_CONFLICT'],
    ['ann buys 1 at 1 ioc id=x', 'refused CLIENT_ORDER_ID_CONFLICT'],
    ['cat buys 1 at 50 id=x', 'SUBMITTED'],
    ['ann sells 1 at 101 id=xy', 'SUBMITTED'],
  ],
  book: ['ann sells 1 at 100', 'ann sells 1 at 101', 'cat buys 1 at 50'],
})

play(t, 'free after a fill, a cancel, an expiry and for orders that never rest', {
  given,
  when: [
    ['ann sells 1 at 100 id=x', 'SUBMITTED'],
    ['cat buys 1 at 100', 'FILLED'],
    ['a: ann sells 1 at 100 id=x', 'SUBMITTED'],
    ['ann cancels a', 'CANCELLED USER_CANCELLED'],
    ['b: ann sells 1 at 100 id=x expires=1', 'SUBMITTED'],
    ['wait 1', 'waited'],
    ['timer expires b', 'done'],
    ['ann sells 1 at 100 ioc id=x', 'CANCELLED IOC_REMAINDER'],
    ['ann sells 1 at 100 id=x', 'SUBMITTED'],
  ],
  book: ['ann sells 1 at 100'],
})

play(t, 'a replacement keeps the label, takes a new one, or is refused for one that is taken', {
  given,
  when: [
    ['a: ann sells 1 at 100 id=x', 'SUBMITTED'],
    ['ann sells 1 at 101 id=y', 'SUBMITTED'],
    ['ann replaces a price=102 id=y', 'refused CLIENT_ORDER_ID_CONFLICT'],
    ['b: ann replaces a price=102', 'SUBMITTED'],
    ['ann sells 1 at 103 id=x', 'refused CLIENT_ORDER_ID_CONFLICT'],
    ['c: ann replaces b price=102 id=x', 'SUBMITTED'],
    ['ann replaces c price=102 id=z', 'SUBMITTED'],
    ['ann sells 1 at 103 id=x', 'SUBMITTED'],
  ],
  book: ['ann sells 1 at 101', 'ann sells 1 at 102', 'ann sells 1 at 103'],
})
