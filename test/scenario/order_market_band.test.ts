/**
 * Promise: a MARKET order trades no further from the touch than its slippage tolerance, and never beyond the protective band of
 * 1,000 bps; what is left is cancelled. Bounds are rounded toward the touch.
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 100 BTC, 100000 USD', 'cat 100 BTC, 100000 USD']

play(t, 'without a tolerance the band is 10 % of the touch', {
  given,
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 110', 'SUBMITTED'],
    ['ann sells 1 at 110.01', 'SUBMITTED'],
    ['cat buys 3 at market', 'CANCELLED SLIPPAGE_LIMIT, filled 2'],
  ],
  trades: ['cat buys 1 at 100 from ann', 'cat buys 1 at 110 from ann'],
  book: ['ann sells 1 at 110.01'],
})

play(t, 'a tolerance makes it narrower, never wider', {
  given,
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 100.5', 'SUBMITTED'],
    ['ann sells 1 at 100.51', 'SUBMITTED'],
    ['ann sells 1 at 111', 'SUBMITTED'],
    ['cat buys 4 at market slippage=50', 'CANCELLED SLIPPAGE_LIMIT, filled 2'],
    ['cat buys 2 at market slippage=5000', 'CANCELLED SLIPPAGE_LIMIT, filled 1'],
    ['cat buys 1 at market slippage=0', 'FILLED'],
  ],
  trades: ['cat buys 1 at 100 from ann', 'cat buys 1 at 100.5 from ann', 'cat buys 1 at 100.51 from ann', 'cat buys 1 at 111 from ann'],
})

play(t, 'a sale stops where the band ends below the touch', {
  given,
  when: [
    ['ann buys 1 at 100', 'SUBMITTED'],
    ['ann buys 1 at 90', 'SUBMITTED'],
    ['ann buys 1 at 89.99', 'SUBMITTED'],
    ['cat sells 3 at market', 'CANCELLED SLIPPAGE_LIMIT, filled 2'],
  ],
  trades: ['cat sells 1 at 100 to ann', 'cat sells 1 at 90 to ann'],
})

play(t, 'bounds that fall between two ticks are rounded toward the touch', {
  given,
  when: [
    ['ann sells 1 at 0.33', 'SUBMITTED'],
    ['ann sells 1 at 0.36', 'SUBMITTED'],
    ['ann sells 1 at 0.37', 'SUBMITTED'],
    ['cat buys 3 at market', 'CANCELLED SLIPPAGE_LIMIT, filled 2'],
    ['cat buys 1 at 0.33', 'SUBMITTED'],
    ['cat buys 1 at 0.3', 'SUBMITTED'],
    ['cat buys 1 at 0.29', 'SUBMITTED'],
    ['ann sells 3 at market', 'CANCELLED SLIPPAGE_LIMIT, filled 2'],
  ],
})

play(t, 'an empty book or one that runs out says so', {
  given,
  when: [
    ['cat buys 1 at market', 'CANCELLED INSUFFICIENT_DEPTH'],
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 2 at market', 'CANCELLED INSUFFICIENT_DEPTH, filled 1'],
  ],
  book: [],
})

play(t, 'a buyer needs what the path really costs, not the band', {
  given: ['ann 100 BTC', 'cat 100 USD'],
  pair: { takerFeeBps: '10' },
  when: [
    ['ann sells 1 at 99', 'SUBMITTED'],
    ['cat buys 1 at market', 'FILLED'],
    ['ann sells 1 at 1', 'SUBMITTED'],
    ['cat buys 1 at market', 'refused INSUFFICIENT_BALANCE'],
  ],
  balances: ['cat 1 BTC, 0.901 USD', 'house 0.099 USD'],
})
