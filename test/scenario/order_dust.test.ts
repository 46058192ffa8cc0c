/**
 * Promise: what is left of a spot balance can always be sold. A SELL of all that is available may be smaller and worth
 * less than an order must be; of one that may rest nothing else of the base is locked, so that one balance puts one small
 * order into a book.
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const pair = { minOrderSize: '0.01', minNotional: '1' }
const bid: [string, string] = ['cat buys 10 at 100', 'SUBMITTED']

play(t, 'all of a small balance leaves, at market and at a price', {
  given: ['ann 0.002 BTC', 'bob 0.003 BTC', 'dan 0.004 BTC', 'cat 100000 USD'], pair,
  when: [
    bid,
    ['ann sells 0.001 at market', 'refused BELOW_MIN_ORDER_SIZE'],
    ['ann sells 0.003 at market', 'refused BELOW_MIN_ORDER_SIZE'],
    ['ann sells 0.002 at market', 'FILLED'],
    ['ann sells 0.001 at market', 'refused BELOW_MIN_ORDER_SIZE'],
    ['bob sells 0.003 at 100 ioc', 'FILLED'],
    ['dan sells 0.004 at 101', 'SUBMITTED'],
    ['cat buys 0.004 at 101', 'refused BELOW_MIN_ORDER_SIZE'],
    ['cat buys 0.01 at 101', 'PARTIALLY_FILLED, filled 0.004'],
  ],
})

play(t, 'a value below the least', {
  given: ['ann 0.05 BTC', 'cat 100000 USD'], pair: { minOrderSize: '0.01', minNotional: '10' },
  when: [
    bid,
    ['ann sells 0.04 at market', 'refused BELOW_MIN_NOTIONAL'],
    ['ann sells 0.05 at market', 'FILLED'],
  ],
})

play(t, 'one small order of a balance rests, and its successor', {
  given: ['ann 0.025 BTC', 'cat 100000 USD'], pair,
  when: [
    bid,
    ['large: ann sells 0.02 at 120', 'SUBMITTED'],
    ['ann sells 0.005 at 120', 'refused BELOW_MIN_ORDER_SIZE'],
    ['ann sells 0.005 at 100 fok', 'FILLED'],
    ['ann replaces large quantity=0.009', 'refused BELOW_MIN_ORDER_SIZE'],
    ['ann cancels large', 'CANCELLED USER_CANCELLED'],
    ['ann sells 0.016 at 100 ioc', 'FILLED'],
    ['small: ann sells 0.004 at 120', 'SUBMITTED'],
    ['next: ann replaces small price=110', 'SUBMITTED'],
    ['ann replaces next quantity=0.003', 'refused BELOW_MIN_ORDER_SIZE'],
  ],
  book: ['ann sells 0.004 at 110', 'cat buys 9.979 at 100'],
})

play(t, 'the rules before know no such order', {
  given: ['ann 0.002 BTC', 'cat 100000 USD'], pair, rules: 4,
  when: [
    bid,
    ['ann sells 0.002 at market', 'refused BELOW_MIN_ORDER_SIZE'],
    ['rules 5', 'done'],
    ['ann sells 0.002 at market', 'FILLED'],
  ],
})
