/**
 * Promise: an order whose time is over never trades again, whether the timer has come by or not; a resting order without a date
 * lives 90 days. What it held is free again.
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC', 'bob 10 BTC', 'cat 10000 USD']
const DAY = 86_400

play(t, 'an expired order at the touch is passed over and ended', {
  given,
  when: [
    ['a: ann sells 1 at 100 expires=60', 'SUBMITTED'],
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['wait 60', 'waited'],
    ['ann cancels a', 'refused ORDER_NOT_FOUND'],
    ['cat buys 1 at 100', 'FILLED'],
  ],
  trades: ['cat buys 1 at 100 from bob'],
  book: [],
  balances: ['ann 10 BTC'],
})

play(t, 'a millisecond before, it trades', {
  given,
  when: [
    ['ann sells 1 at 100 expires=60', 'SUBMITTED'],
    ['wait 59.999', 'waited'],
    ['cat buys 1 at 100', 'FILLED'],
  ],
  trades: ['cat buys 1 at 100 from ann'],
})

play(t, 'one that expired behind others is ended when it is reached', {
  given,
  when: [
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 101 expires=60', 'SUBMITTED'],
    ['bob sells 1 at 102', 'SUBMITTED'],
    ['wait 61', 'waited'],
    ['cat buys 2 at 102', 'FILLED'],
  ],
  trades: ['cat buys 1 at 100 from bob', 'cat buys 1 at 102 from bob'],
  book: [],
})

play(t, 'the timer ends what is due and nothing else', {
  given,
  when: [
    ['a: ann sells 1 at 100 expires=60', 'SUBMITTED'],
    ['timer expires a', 'refused ORDER_NOT_FOUND'],
    ['wait 60', 'waited'],
    ['timer expires a', 'done'],
    ['timer expires a', 'refused ORDER_NOT_FOUND'],
  ],
  book: [],
  balances: ['ann 10 BTC'],
})

play(t, 'without a date it lives 90 days, and not longer', {
  given,
  when: [
    ['a: ann sells 1 at 100', 'SUBMITTED'],
    [`wait ${90 * DAY - 1}`, 'waited'],
    ['timer expires a', 'refused ORDER_NOT_FOUND'],
    ['wait 1', 'waited'],
    ['timer expires a', 'done'],
  ],
  book: [],
})

play(t, 'the default lifetime ends trading on the spot as well', {
  given,
  limits: { orderLifetimeMs: 60_000 },
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['wait 60', 'waited'],
    ['cat buys 1 at 100', 'SUBMITTED'],
  ],
  trades: [],
  book: ['cat buys 1 at 100'],
})

play(t, 'a date in the past is refused; a replacement keeps the date', {
  given,
  when: [
    ['ann sells 1 at 100 expires=0', 'refused INVALID_EXPIRATION'],
    ['a: ann sells 1 at 100 expires=60', 'SUBMITTED'],
    ['wait 30', 'waited'],
    ['b: ann replaces a price=101', 'SUBMITTED'],
    ['wait 30', 'waited'],
    ['ann replaces b price=102', 'refused ORDER_NOT_FOUND'],
    ['timer expires b', 'done'],
  ],
  book: [],
})
