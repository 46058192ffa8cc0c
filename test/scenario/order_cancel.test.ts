/**
 * Promise: an order can be cancelled by its owner at any time, maintenance or not; a mass cancel ends the newest first and says what
 * is left.
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD', 'cat 1000 USD']

play(t, 'what it held is free again, filled parts stay', {
  given,
  when: [
    ['a: ann sells 2 at 100', 'SUBMITTED'],
    ['cat buys 0.5 at 100', 'FILLED'],
    ['cat cancels a', 'refused ORDER_NOT_FOUND'],
    ['ann cancels a', 'CANCELLED USER_CANCELLED, filled 0.5'],
    ['ann cancels a', 'refused ORDER_NOT_FOUND'],
  ],
  book: [],
  balances: ['ann 9.5 BTC, 1050 USD', 'cat 0.5 BTC, 950 USD'],
})

play(t, 'a slot used again is another order', {
  given,
  when: [
    ['a: ann sells 1 at 100', 'SUBMITTED'],
    ['ann cancels a', 'CANCELLED USER_CANCELLED'],
    ['b: ann sells 1 at 101', 'SUBMITTED'],
    ['ann cancels a', 'refused ORDER_NOT_FOUND'],
    ['ann cancels b', 'CANCELLED USER_CANCELLED'],
  ],
  book: [],
})

play(t, 'cancel all: newest first, as many as asked for, in maintenance too', {
  given,
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['ann buys 1 at 99', 'SUBMITTED'],
    ['cat buys 1 at 98', 'SUBMITTED'],
    ['ann sells 1 at 102', 'SUBMITTED'],
    ['maintenance on', 'done'],
    ['ann cancels all limit=1', '1 cancelled, more left'],
    ['ann cancels all pair limit=2', '2 cancelled, more left'],
    ['ann sells 1 at 103', 'refused OPERATIONS_BLOCKED'],
  ],
  book: ['ann sells 1 at 100', 'cat buys 1 at 98'],
})
