/**
 * Promise: leverage is bounded by the tier of what the position may become, sizes by maxPositionSize and the cap of open interest; orders
 * that rest count. The newest order's leverage is the position's.
 */
import t from 'tap'
import { play } from '../support/margin_scene.ts'

const given = ['ann 100000', 'bob 100000']

play(t, 'leverage by tier, resting orders included', {
  given,
  when: [
    ['ann buys 1 at 100 x0.99', 'refused LEVERAGE_TOO_LOW'],
    ['ann buys 1 at 100 x50.01', 'refused LEVERAGE_TOO_HIGH'],
    ['ann buys 99 at 90 x50', 'SUBMITTED'],
    ['ann buys 1 at 90 x50', 'refused LEVERAGE_TOO_HIGH'],
    ['ann buys 1 at 90 x20.01', 'refused LEVERAGE_TOO_HIGH'],
    ['ann buys 1 at 90 x20', 'SUBMITTED'],
    ['ann sells 99 at 110 x20', 'SUBMITTED'],
    ['ann sells 400 at 110 x20', 'SUBMITTED'],
    ['ann sells 1 at 110 x20', 'refused LEVERAGE_TOO_HIGH'],
  ],
})

play(t, 'a higher leverage frees margin of the position, a lower one asks for more', {
  given: ['ann 100', 'bob 1000'],
  when: [
    ['bob sells 10 at 100 x10', 'SUBMITTED'],
    ['ann buys 10 at 100 x10', 'FILLED'],
    ['a: ann buys 1 at 90 x5', 'refused INSUFFICIENT_MARGIN 120 of 0'],
    ['a: ann buys 10 at 90 x20', 'SUBMITTED'],
  ],
  positions: ['ann long 10 at 100 x20'],
  money: ['ann free 0: allocated 100, pending 0, realized 0'],
})

play(t, 'maxPositionSize counts what may be filled', {
  given,
  when: [
    ['ann buys 999 at 90 x10', 'SUBMITTED'],
    ['ann buys 2 at 90 x10', 'refused POSITION_LIMIT_EXCEEDED'],
    ['ann buys 1 at 90 x10', 'SUBMITTED'],
    ['ann sells 1000 at 110 x10', 'SUBMITTED'],
    ['ann sells 1 at 110 x10', 'refused POSITION_LIMIT_EXCEEDED'],
  ],
})

play(t, 'no cap of open interest makes maxPositionSize larger', {
  given,
  when: [
    ['cap 9007199254740991', 'done'],
    ['ann buys 1001 at 90 x10', 'refused POSITION_LIMIT_EXCEEDED'],
    ['ann buys 1000 at 90 x10', 'SUBMITTED'],
  ],
})

play(t, 'the cap of open interest bounds what opens', {
  given,
  when: [
    ['cap 10', 'done'],
    ['bob sells 8 at 100 x10', 'SUBMITTED'],
    ['ann buys 8 at 100 x10', 'FILLED'],
    ['ann buys 3 at 100 x10', 'refused OPEN_INTEREST_LIMIT'],
    ['ann sells 11 at 101 x10', 'refused OPEN_INTEREST_LIMIT'],
    ['ann sells 10 at 101 x10', 'SUBMITTED'],
    ['bob buys 8 at 99 reduce-only', 'SUBMITTED'],
    ['cap 0', 'done'],
    ['ann buys 3 at 99 x10', 'SUBMITTED'],
  ],
})

play(t, 'modes of the pair', {
  given,
  when: [
    ['mode REDUCE_ONLY', 'done'],
    ['ann buys 1 at 100 x10', 'refused PAIR_REDUCE_ONLY'],
    ['mode SETTLING', 'done'],
    ['ann buys 1 at 100 x10', 'refused WRONG_PERP_MODE'],
    ['ann buys 1 at 100 reduce-only', 'refused WRONG_PERP_MODE'],
  ],
})

play(t, 'an order that rests is larger than maxPositionSize at no time, also when the position that it would turn is closed before', {
  given: ['ann 1000000', 'bob 1000000', 'cat 1000000'],
  most: 10,
  when: [
    ['bob buys 10 at 100 x10', 'SUBMITTED'],
    ['ann sells 10 at 100 x10', 'FILLED'],
    ['ann buys 20 at 95 x10', 'refused POSITION_LIMIT_EXCEEDED'],
    ['ann buys 11 at 95 x10', 'refused POSITION_LIMIT_EXCEEDED'],
    ['ann buys 10 at 95 x10', 'SUBMITTED'],
    ['cat sells 10 at 100 x10', 'SUBMITTED'],
    ['ann buys 10 at 100 x10 reduce-only', 'FILLED'],
    ['bob sells 10 at 95 x10', 'FILLED'],
    ['ann sells 1 at 105 x10', 'SUBMITTED'],
    ['ann sells 10 at 105 x10', 'refused POSITION_LIMIT_EXCEEDED'],
    ['bob buys 20 at 94 x10', 'refused POSITION_LIMIT_EXCEEDED'],
  ],
  positions: ['ann long 10 at 95 x10'],
})

play(t, 'what does not rest may turn the largest position', {
  given: ['ann 1000000', 'bob 1000000', 'cat 1000000', 'dan 1000000'],
  most: 10,
  when: [
    ['bob buys 10 at 100 x10', 'SUBMITTED'],
    ['ann sells 10 at 100 x10', 'FILLED'],
    ['cat sells 10 at 100 x10', 'SUBMITTED'],
    ['dan sells 10 at 100 x10', 'SUBMITTED'],
    ['ann buys 21 at 100 x10 ioc', 'refused POSITION_LIMIT_EXCEEDED'],
    ['ann buys 20 at 100 x10 ioc', 'FILLED'],
  ],
  positions: ['ann long 10 at 100 x10'],
})
