/** Promise: FOK fills completely at once or not at all; IOC fills what it can at once; neither ever rests; GTC does. */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC', 'cat 10000 USD']

play(t, 'a fok that finds enough fills over several levels', {
  given,
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['cat buys 2 at 101 fok', 'FILLED'],
  ],
  trades: ['cat buys 1 at 100 from ann', 'cat buys 1 at 101 from ann'],
  book: [],
})

play(t, 'a fok that does not is cancelled with nothing filled', {
  given,
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['cat buys 2 at 100 fok', 'CANCELLED INSUFFICIENT_DEPTH'],
    ['cat buys 3 at 101 fok', 'CANCELLED INSUFFICIENT_DEPTH'],
    ['cat buys 3 at market fok', 'CANCELLED INSUFFICIENT_DEPTH'],
  ],
  trades: [],
  book: ['ann sells 1 at 100', 'ann sells 1 at 101'],
  balances: ['cat 10000 USD'],
})

play(t, 'a fok does not count orders whose time is over', {
  given,
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 100 expires=10', 'SUBMITTED'],
    ['wait 10', 'waited'],
    ['cat buys 2 at 100 fok', 'CANCELLED INSUFFICIENT_DEPTH'],
    ['cat buys 1 at 100 fok', 'FILLED'],
  ],
  trades: ['cat buys 1 at 100 from ann'],
})

play(t, 'an ioc takes what is there and cancels the rest', {
  given,
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['cat buys 3 at 100 ioc', 'CANCELLED IOC_REMAINDER, filled 1'],
    ['cat buys 1 at 99 ioc', 'CANCELLED IOC_REMAINDER'],
    ['cat buys 1 at 101 ioc', 'FILLED'],
  ],
  trades: ['cat buys 1 at 100 from ann', 'cat buys 1 at 101 from ann'],
  book: [],
  balances: ['cat 2 BTC, 9799 USD'],
})

play(t, 'a gtc rests with what it could not fill', {
  given,
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 3 at 100', 'PARTIALLY_FILLED, filled 1'],
  ],
  book: ['cat buys 2 at 100'],
  balances: ['cat 1 BTC, 9700 USD, 200 USD locked'],
})
