/**
 * Promise: a position that is larger than one order may be can be closed. An order that reduces is cut to what one order may have, by size
 * and by value, and the next one closes the next part; it is never refused for what it asks beyond that.
 */
import t from 'tap'
import { MAX_NOTIONAL } from '../../core/state/genesis.ts'
import { play } from '../support/margin_scene.ts'

const given = ['ann 100000', 'bob 100000']
/** 500 lots, of which one order may have 200. */
const long500: [string, string][] = [
  ['bob sells 200 at 100 x5', 'SUBMITTED'],
  ['bob sells 200 at 100 x5', 'SUBMITTED'],
  ['bob sells 100 at 100 x5', 'SUBMITTED'],
  ['ann buys 200 at 100 x5', 'FILLED'],
  ['ann buys 200 at 100 x5', 'FILLED'],
  ['ann buys 100 at 100 x5', 'FILLED'],
  ['bob buys 200 at 99 x5', 'SUBMITTED'],
  ['bob buys 200 at 98 x5', 'SUBMITTED'],
  ['bob buys 200 at 97 x5', 'SUBMITTED'],
]

play(t, 'a close of everything, by several orders', {
  given, largest: 200,
  when: [
    ...long500,
    ['ann buys 201 at 100 x5', 'refused ABOVE_MAX_ORDER_SIZE'],
    ['ann sells 500 market x5', 'refused ABOVE_MAX_ORDER_SIZE'],
    ['ann closes 500 market', 'FILLED'],
    ['ann closes 300 market', 'FILLED'],
    ['ann closes 100 market', 'FILLED'],
    ['ann closes 1 market', 'refused POSITION_NOT_FOUND'],
  ],
  positions: ['ann none', 'bob none'],
})

play(t, 'reduce-only orders of every kind', {
  given, largest: 200,
  when: [
    ...long500,
    ['ann sells 500 market reduce-only', 'FILLED'],
    ['ann sells 2147483647 at 98 reduce-only ioc', 'FILLED'],
    ['ann sells 2147483647 at 97 reduce-only fok', 'FILLED'],
  ],
  positions: ['ann none', 'bob none'],
})

play(t, 'what rests has as much as one order may have, and a successor too', {
  given, largest: 200,
  when: [
    ...long500,
    ['a: ann sells 500 at 105 reduce-only', 'SUBMITTED'],
    ['ann sells 500 at 106 reduce-only', 'SUBMITTED'],
    ['ann replaces a price=104 quantity=500', 'SUBMITTED'],
    ['ann sells 500 at 107 reduce-only', 'SUBMITTED'],
    ['ann sells 500 at 108 reduce-only', 'CANCELLED REDUCE_ONLY'],
  ],
  orders: ['ann: sells 100 at 107 reduce-only, sells 200 at 104 reduce-only, sells 200 at 106 reduce-only'],
})

/** Lots at a price of 100 USD, of six digits each, that are worth all that one order may be. */
const MOST = MAX_NOTIONAL / (100 * 1e6)
play(t, 'a limit by value alone', {
  given: ['ann 500000000', 'bob 500000000'], largest: 20_000_000, most: 20_000_000,
  when: [
    [`bob sells ${MOST} at 100 x2`, 'SUBMITTED'],
    [`ann buys ${MOST} at 100 x2`, 'FILLED'],
    ['bob sells 1000 at 100 x2', 'SUBMITTED'],
    ['ann buys 1000 at 100 x2', 'FILLED'],
    [`bob buys ${MOST} at 100 x2`, 'SUBMITTED'],
    ['bob buys 1000 at 100 x2', 'SUBMITTED'],
    [`ann sells ${MOST + 1000} at 100 x2`, 'refused ABOVE_MAX_ORDER_SIZE'],
    [`ann closes ${MOST + 1000} market`, 'FILLED'],
    ['ann closes 1000 market', 'FILLED'],
  ],
  positions: ['ann none', 'bob none'],
})

play(t, 'what an agent may place is held to what is left after the cut', {
  given, largest: 200,
  when: [
    ...long500,
    ['ann grants bot create,close notional=20000', 'done'],
    ['bot@ann closes 500 market', 'FILLED'],
    ['bot@ann sells 500 at 120 reduce-only', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
  ],
  positions: ['ann long 300 at 100 x5', 'bob short 300 at 100 x5'],
})
