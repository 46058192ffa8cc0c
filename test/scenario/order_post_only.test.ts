/** Promise: a post-only order never takes: it rests, or it is refused because it would cross. */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD', 'cat 10 BTC, 1000 USD']

play(t, 'refused when it would cross, even its own order; accepted one tick away', {
  given,
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 1 at 100 post-only', 'refused POST_ONLY_WOULD_CROSS'],
    ['cat buys 1 at 101 post-only', 'refused POST_ONLY_WOULD_CROSS'],
    ['ann buys 1 at 100 post-only', 'refused POST_ONLY_WOULD_CROSS'],
    ['cat buys 1 at 99.99 post-only', 'SUBMITTED'],
    ['ann sells 1 at 99.99 post-only', 'refused POST_ONLY_WOULD_CROSS'],
  ],
  trades: [],
  book: ['ann sells 1 at 100', 'cat buys 1 at 99.99'],
})

play(t, 'an order whose time is over is not in its way', {
  given,
  when: [
    ['ann sells 1 at 100 expires=5', 'SUBMITTED'],
    ['wait 5', 'waited'],
    ['cat buys 1 at 100 post-only', 'SUBMITTED'],
  ],
  trades: [],
  book: ['cat buys 1 at 100'],
  balances: ['ann 10 BTC, 1000 USD'],
})

play(t, 'a replacement keeps the flag and is refused as a whole when it would cross', {
  given,
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['b: cat buys 1 at 98 post-only', 'SUBMITTED'],
    ['cat replaces b price=100', 'refused POST_ONLY_WOULD_CROSS'],
    ['cat replaces b price=99', 'SUBMITTED'],
  ],
  book: ['ann sells 1 at 100', 'cat buys 1 at 99'],
})
