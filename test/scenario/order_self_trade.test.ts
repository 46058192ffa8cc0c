/**
 * Promise: nobody trades with themselves. CANCEL_TAKER, the default, ends the incoming order; CANCEL_BOTH also ends the resting
 * one; what was met before it trades. Only FOK with CANCEL_BOTH is an error (specification, Errors, rule 2).
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC, 10000 USD', 'bob 10 BTC, 10000 USD']

play(t, 'cancel-taker: fills up to the own order, then the remainder is cancelled', {
  given,
  when: [
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['bob sells 1 at 102', 'SUBMITTED'],
    ['ann buys 3 at 102', 'CANCELLED SELF_TRADE_PREVENTION, filled 1'],
  ],
  trades: ['ann buys 1 at 100 from bob'],
  book: ['ann sells 1 at 101', 'bob sells 1 at 102'],
  balances: ['ann 10 BTC, 9900 USD, 1 BTC locked'],
})

play(t, 'cancel-both: the resting order ends too', {
  given,
  when: [
    ['a: ann sells 1 at 100', 'SUBMITTED'],
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['ann buys 1 at 100 cancel-both', 'CANCELLED SELF_TRADE_PREVENTION'],
    ['ann cancels a', 'refused ORDER_NOT_FOUND'],
  ],
  trades: [],
  book: ['bob sells 1 at 100'],
  balances: ['ann 10 BTC, 10000 USD'],
})

play(t, 'the mode of the incoming order counts, not of the resting one', {
  given,
  when: [
    ['ann sells 1 at 100 cancel-both', 'SUBMITTED'],
    ['ann buys 1 at 100', 'CANCELLED SELF_TRADE_PREVENTION'],
  ],
  book: ['ann sells 1 at 100'],
})

play(t, 'an own order behind what is needed does not matter', {
  given,
  when: [
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['ann buys 1 at 100 fok cancel-both', 'FILLED'],
  ],
  trades: ['ann buys 1 at 100 from bob'],
  book: ['ann sells 1 at 100'],
})

play(t, 'market and ioc orders end the same way', {
  given,
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['ann buys 1 at market', 'CANCELLED SELF_TRADE_PREVENTION'],
    ['ann buys 1 at 100 ioc cancel-both', 'CANCELLED SELF_TRADE_PREVENTION'],
  ],
  trades: [],
  book: [],
})

play(t, 'fok with cancel-both is refused and nothing changes', {
  given,
  when: [
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['ann buys 2 at 101 fok cancel-both', 'refused SELF_TRADE_NOT_ALLOWED'],
  ],
  trades: [],
  book: ['bob sells 1 at 100', 'ann sells 1 at 101'],
})

play(t, 'fok with cancel-taker is cancelled and nothing fills', {
  given,
  when: [
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['ann buys 2 at 101 fok', 'CANCELLED SELF_TRADE_PREVENTION'],
  ],
  trades: [],
  book: ['bob sells 1 at 100', 'ann sells 1 at 101'],
})
