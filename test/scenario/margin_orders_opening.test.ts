/**
 * Promise: opening and closing a position. The taker and the maker bring what their positions need, fills commit it, lots and cost are
 * exact, fees are the buckets', and what an order did not need goes back.
 */
import t from 'tap'
import { play } from '../support/margin_scene.ts'

const given = ['ann 1000', 'bob 1000']

play(t, 'a long and a short', {
  given,
  when: [
    ['ann buys 4 at 100 x10', 'SUBMITTED'],
    ['bob sells 3 at 100 x5', 'FILLED'],
  ],
  positions: ['ann long 3 at 100 x10', 'bob short 3 at 100 x5'],
  resting: ['ann bids 1, asks 0, reduces 0', 'bob bids 0, asks 0, reduces 0'],
  // A tenth of 400, of which three quarters are committed; a fifth of 300.
  money: ['ann free 960: allocated 30, pending 10, realized 0', 'bob free 940: allocated 60, pending 0, realized 0'],
})

play(t, 'fees are paid by the buckets', {
  given, fees: ['1', '5'],
  when: [
    ['ann buys 4 at 100 x10', 'SUBMITTED'],
    ['bob sells 4 at 100 x10', 'FILLED'],
  ],
  // Each brought the fee of its whole value at the higher rate; 5 bps of 400 are 0.20, 1 bps 0.04.
  money: ['ann free 959.8: allocated 40.2, pending 0, realized -0.04', 'bob free 959.8: allocated 40.2, pending 0, realized -0.2'],
})

play(t, 'a market order needs what its path costs', {
  given,
  when: [
    ['bob sells 2 at 101 x10', 'SUBMITTED'],
    ['bob sells 2 at 103 x10', 'SUBMITTED'],
    ['ann buys 5 market x10', 'CANCELLED INSUFFICIENT_DEPTH, filled 4'],
  ],
  positions: ['ann long 4 at 102 x10', 'bob short 4 at 102 x10'],
  // A tenth of 400 at the mark, and 8 that are lost at once.
  money: ['ann free 952: allocated 48, pending 0, realized 0'],
})

play(t, 'a position is closed in parts, with profit', {
  given,
  when: [
    ['bob sells 4 at 100 x10', 'SUBMITTED'],
    ['ann buys 4 at 100 x10', 'FILLED'],
    ['mark 110', 'done'],
    ['bob buys 3 at 110 x10', 'SUBMITTED'],
    ['ann sells 3 at 110 x10', 'FILLED'],
  ],
  positions: ['ann long 1 at 100 x10', 'bob short 1 at 100 x10'],
  // Bob's bucket had lost all it had, so his order brought what it needs: a tenth of 440.
  money: ['ann free 960: allocated 40, pending 0, realized 30', 'bob free 916: allocated 84, pending 0, realized -30'],
})

play(t, 'a position is turned', {
  given,
  when: [
    ['bob sells 2 at 100 x10', 'SUBMITTED'],
    ['ann buys 2 at 100 x10', 'FILLED'],
    ['bob buys 5 at 100 x10', 'SUBMITTED'],
    ['ann sells 5 at 100 x10', 'FILLED'],
  ],
  positions: ['ann short 3 at 100 x10', 'bob long 3 at 100 x10'],
  // Of the 20 that it has, the position of 3 needs 30.
  money: ['ann free 970: allocated 30, pending 0, realized 0', 'bob free 970: allocated 30, pending 0, realized 0'],
})
