/** Promise: best price first; at one price, the order that came first. Trades happen at the price of the order that was there. */
import t from 'tap'
import { play } from '../support/scenario.ts'

play(t, 'the older order at a price trades first', {
  given: ['ann 1 BTC', 'bob 1 BTC', 'cat 1000 USD'],
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['cat buys 1.5 at 100', 'FILLED'],
  ],
  trades: ['cat buys 1 at 100 from ann', 'cat buys 0.5 at 100 from bob'],
  book: ['bob sells 0.5 at 100'],
  balances: ['ann 100 USD', 'bob 50 USD, 0.5 BTC locked', 'cat 1.5 BTC, 850 USD'],
})

play(t, 'a better price goes before an older order', {
  given: ['ann 1 BTC', 'bob 1 BTC', 'cat 1000 USD'],
  when: [
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['cat buys 2 at 105', 'FILLED'],
  ],
  trades: ['cat buys 1 at 100 from bob', 'cat buys 1 at 101 from ann'],
  book: [],
  balances: ['ann 101 USD', 'bob 100 USD', 'cat 2 BTC, 799 USD'],
})

play(t, 'a seller meets the highest bid first and is paid its price', {
  given: ['ann 500 USD', 'bob 500 USD', 'cat 2 BTC'],
  when: [
    ['ann buys 1 at 99', 'SUBMITTED'],
    ['bob buys 1 at 100', 'SUBMITTED'],
    ['cat sells 2 at 98', 'FILLED'],
  ],
  trades: ['cat sells 1 at 100 to bob', 'cat sells 1 at 99 to ann'],
  balances: ['ann 1 BTC, 401 USD', 'bob 1 BTC, 400 USD', 'cat 199 USD'],
})

play(t, 'a partly filled order keeps its place, and what crosses partly rests with its remainder', {
  given: ['ann 3 BTC', 'bob 3 BTC', 'cat 1000 USD'],
  when: [
    ['ann sells 2 at 100', 'SUBMITTED'],
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['cat buys 1 at 100', 'FILLED'],
    ['cat buys 3 at 100', 'PARTIALLY_FILLED, filled 2'],
  ],
  trades: ['cat buys 1 at 100 from ann', 'cat buys 1 at 100 from ann', 'cat buys 1 at 100 from bob'],
  book: ['cat buys 1 at 100'],
  balances: ['cat 3 BTC, 600 USD, 100 USD locked'],
})

play(t, 'an order that is cancelled and placed again goes to the back', {
  given: ['ann 1 BTC', 'bob 1 BTC', 'cat 1000 USD'],
  when: [
    ['a: ann sells 1 at 100', 'SUBMITTED'],
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['ann cancels a', 'CANCELLED USER_CANCELLED'],
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 1 at 100', 'FILLED'],
  ],
  trades: ['cat buys 1 at 100 from bob'],
  book: ['ann sells 1 at 100'],
})
