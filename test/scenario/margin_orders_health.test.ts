/**
 * Promise: no fill leaves a bucket below its maintenance margin. A maker that does not bear a fill is ended and matching goes on; a taker
 * stops. An all-or-nothing order is filled whole or not at all, whatever happens to the makers of its path. What only reduces, at the mark
 * or better, is always filled; liquidations too.
 */
import t from 'tap'
import { play } from '../support/margin_scene.ts'

play(t, 'a maker whose bucket does not bear the fill is ended, and the next one is filled', {
  given: ['ann 20', 'bob 1000', 'cat 1000'],
  when: [
    ['ann sells 10 at 100 x50', 'SUBMITTED'],
    ['cat sells 10 at 101 x10', 'SUBMITTED'],
    ['mark 103', 'done'],
    ['bob buys 10 at 101 x10', 'FILLED'],
  ],
  ended: ['ann sells 10 at 100 INSUFFICIENT_MARGIN'],
  positions: ['ann none', 'bob long 10 at 101 x10', 'cat short 10 at 101 x10'],
  money: ['ann free 20: allocated 0, pending 0, realized 0'],
})

play(t, 'all or nothing: a maker that may fail does not count', {
  given: ['ann 20', 'bob 1000', 'cat 1000'],
  when: [
    ['ann sells 10 at 100 x50', 'SUBMITTED'],
    ['cat sells 10 at 101 x10', 'SUBMITTED'],
    ['mark 103', 'done'],
    ['bob buys 11 at 101 x10 fok', 'CANCELLED INSUFFICIENT_DEPTH'],
    ['bob buys 10 at 101 x10 fok', 'FILLED'],
  ],
  ended: ['ann sells 10 at 100 INSUFFICIENT_MARGIN'],
  positions: ['bob long 10 at 101 x10'],
})

play(t, 'all or nothing: a reduce-only order that an earlier fill would shrink does not count', {
  given: ['ann 1000', 'bob 1000', 'cat 1000'],
  when: [
    ['bob sells 10 at 100 x10', 'SUBMITTED'],
    ['ann buys 10 at 100 x10', 'FILLED'],
    ['ann sells 10 at 101 reduce-only', 'SUBMITTED'],
    ['ann sells 10 at 100 x10', 'SUBMITTED'],
    ['cat buys 20 at 101 x10 fok', 'CANCELLED INSUFFICIENT_DEPTH'],
    ['cat buys 20 at 101 x10 ioc', 'CANCELLED IOC_REMAINDER, filled 10'],
  ],
  ended: ['ann sells 10 at 101 REDUCE_ONLY'],
})

play(t, 'a market order counts with the worst it may cost', {
  given: ['ann 20', 'bob 101', 'cat 1000'],
  when: [
    ['ann sells 10 at 100 x50', 'SUBMITTED'],
    ['cat sells 10 at 105 x10', 'SUBMITTED'],
    ['mark 103', 'done'],
    // A tenth of 1,030, and 20 that it loses if it meets cat alone.
    ['bob buys 10 market x10', 'refused INSUFFICIENT_MARGIN 123 of 101'],
    ['bob buys 8 market x10', 'FILLED'],
  ],
  positions: ['bob long 8 at 105 x10'],
})

play(t, 'nobody sells away from the mark what his bucket cannot lose', {
  given: ['ann 100', 'bob 10000'],
  when: [
    ['bob sells 20 at 100 x20', 'SUBMITTED'],
    ['ann buys 20 at 100 x20', 'FILLED'],
    ['bob buys 20 at 60 x20', 'SUBMITTED'],
    ['ann sells 20 market reduce-only', 'CANCELLED INSUFFICIENT_MARGIN'],
    ['ann sells 20 at 60 reduce-only', 'CANCELLED INSUFFICIENT_MARGIN'],
    ['ann sells 20 at 60 reduce-only fok', 'CANCELLED INSUFFICIENT_DEPTH'],
    ['ann sells 2 at 60 reduce-only', 'FILLED'],
    ['liquidation of ann sells 1 at 60 ioc reduce-only', 'FILLED'],
  ],
  positions: ['ann long 17 at 100 x20'],
  money: ['ann free 0: allocated 100, pending 0, realized -120'],
})

play(t, 'nor as a maker, with a bid far above the mark and another far below it', {
  given: ['ann 30', 'bob 10000'],
  when: [
    ['bob buys 10 at 100 x10', 'SUBMITTED'],
    ['ann sells 10 at 100 x50', 'FILLED'],
    ['ann buys 5 at 120 x50', 'refused INSUFFICIENT_MARGIN 80 of 10'],
    ['ann buys 5 at 80 x50', 'SUBMITTED'],
    ['ann buys 5 at 120 x50', 'SUBMITTED'],
    ['bob sells 5 at 120 x10', 'SUBMITTED'],
  ],
  ended: ['ann buys 5 at 120 INSUFFICIENT_MARGIN'],
  positions: ['ann short 10 at 100 x50'],
})

play(t, 'a position in distress is closed at the mark or better', {
  given: ['ann 100', 'bob 10000'],
  when: [
    ['bob sells 20 at 100 x20', 'SUBMITTED'],
    ['ann buys 20 at 100 x20', 'FILLED'],
    ['mark 90', 'done'],
    ['bob buys 20 at 90 x20', 'SUBMITTED'],
    ['ann closes 5 market', 'FILLED'],
  ],
  positions: ['ann long 15 at 100 x20'],
})
