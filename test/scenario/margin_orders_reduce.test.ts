/**
 * Promise: reduce-only orders and closes never enlarge or turn a position. They are cut to it, shrink and end with it, newest first, need
 * no margin, and a position is closed in maintenance, at stale prices and while the pair only takes what reduces.
 */
import t from 'tap'
import { play } from '../support/margin_scene.ts'

const given = ['ann 1000', 'bob 1000']
const long10: [string, string][] = [
  ['bob sells 10 at 100 x10', 'SUBMITTED'],
  ['ann buys 10 at 100 x10', 'FILLED'],
]

play(t, 'only against a position, and never more than it', {
  given,
  when: [
    ['ann sells 1 at 100 reduce-only', 'refused REDUCE_ONLY_REJECTED'],
    ...long10,
    ['ann buys 1 at 90 reduce-only', 'refused REDUCE_ONLY_REJECTED'],
    ['bob buys 30 at 99 x10', 'SUBMITTED'],
    ['ann sells 25 at 99 reduce-only', 'FILLED'],
    ['ann sells 1 at 99 reduce-only', 'refused REDUCE_ONLY_REJECTED'],
  ],
  positions: ['ann none', 'bob none'],
  resting: ['ann none', 'bob bids 20, asks 0, reduces 0'],
})

play(t, 'what would rest is cut to what is left of the position', {
  given,
  when: [
    ...long10,
    ['ann sells 7 at 105 reduce-only', 'SUBMITTED'],
    ['ann sells 7 at 106 reduce-only', 'SUBMITTED'],
    ['ann sells 7 at 107 reduce-only', 'CANCELLED REDUCE_ONLY'],
  ],
  orders: ['ann: sells 3 at 106 reduce-only, sells 7 at 105 reduce-only'],
})

play(t, 'they shrink with the position, newest first, and keep their place', {
  given,
  when: [
    ...long10,
    ['ann sells 6 at 105 reduce-only', 'SUBMITTED'],
    ['ann sells 4 at 105 reduce-only', 'SUBMITTED'],
    ['bob buys 5 at 100 x10', 'SUBMITTED'],
    ['ann sells 5 at 100 x10', 'FILLED'],
  ],
  orders: ['ann: sells 5 at 105 reduce-only'],
  ended: ['ann sells 4 at 105 REDUCE_ONLY'],
})

play(t, 'they end with it, of the maker too', {
  given,
  when: [
    ...long10,
    ['ann sells 6 at 105 reduce-only', 'SUBMITTED'],
    ['bob buys 3 at 95 reduce-only', 'SUBMITTED'],
    ['bob buys 12 at 100 x10', 'SUBMITTED'],
    ['ann sells 12 at 100 x10', 'FILLED'],
  ],
  positions: ['ann short 2 at 100 x10', 'bob long 2 at 100 x10'],
  orders: ['ann: none', 'bob: none'],
  ended: ['bob buys 3 at 95 REDUCE_ONLY', 'ann sells 6 at 105 REDUCE_ONLY'],
})

play(t, 'their own fills shrink nothing', {
  given,
  when: [
    ...long10,
    ['ann sells 6 at 105 reduce-only', 'SUBMITTED'],
    ['ann sells 4 at 106 reduce-only', 'SUBMITTED'],
    ['bob buys 2 at 105 x10', 'FILLED'],
  ],
  orders: ['ann: sells 4 at 106 reduce-only, sells 4 at 105 reduce-only'],
  ended: [],
})

play(t, 'a close needs no margin, in maintenance, at a stale price, while the pair only reduces', {
  given: ['ann 100', 'bob 1000'],
  when: [
    ...long10,
    ['bob buys 30 at 100 x10', 'SUBMITTED'],
    ['maintenance on', 'done'],
    ['ann sells 1 at 100 reduce-only', 'refused OPERATIONS_BLOCKED'],
    ['ann closes 2 at 100', 'FILLED'],
    ['maintenance off', 'done'],
    ['wait 31', 'waited'],
    ['ann buys 1 at 90 x10', 'refused PRICE_STALE'],
    ['ann sells 1 at 110 x10', 'refused PRICE_STALE'],
    ['ann closes 2 at 100', 'FILLED'],
    ['ann sells 2 at 100 reduce-only', 'FILLED'],
    ['mark 100', 'done'],
    ['mode REDUCE_ONLY', 'done'],
    ['ann sells 1 at 100 x10', 'refused PAIR_REDUCE_ONLY'],
    ['ann closes 9 market', 'FILLED'],
    ['ann closes 1 market', 'refused POSITION_NOT_FOUND'],
  ],
  positions: ['ann none', 'bob none'],
})

play(t, 'a close names a position of one\'s own', {
  given,
  when: [
    ...long10,
    ['bob closes 1 at 100 of=ann', 'refused POSITION_NOT_FOUND'],
    ['ann closes 4 at 105', 'SUBMITTED'],
    ['bob buys 1 at 105 x10', 'FILLED'],
  ],
  orders: ['ann: sells 3 at 105 reduce-only'],
  positions: ['ann long 9 at 100 x10'],
})

t.test('so many rest on one position', async (t) => {
  const { MarginScene } = await import('../support/margin_scene.ts')
  const { REDUCE_ORDERS_MAX } = await import('../../core/margin/order_lists.ts')
  const scene = new MarginScene()
  for (const line of ['ann 10000', 'bob 10000']) scene.give(line)
  scene.step('bob sells 50 at 100 x10')
  scene.step('ann buys 50 at 100 x10')
  for (let order = 0; order < REDUCE_ORDERS_MAX; order++) t.equal(scene.step('a: ann sells 1 at 105 reduce-only'), 'SUBMITTED')
  t.equal(scene.step('ann sells 1 at 105 reduce-only'), 'refused TOO_MANY_REDUCE_ONLY')
  t.equal(scene.step('b: ann replaces a price=106'), 'SUBMITTED', 'a replacement is none more')
  t.equal(scene.step('bob buys 1 at 100 x10'), 'SUBMITTED')
  t.equal(scene.step('ann sells 1 at 100 reduce-only ioc'), 'FILLED', 'nor is one that does not rest')
  scene.step('bob buys 60 at 100 x10')
  t.equal(scene.step('ann sells 60 at 100 x10'), 'FILLED')
  t.equal(scene.ended.filter((line) => line.endsWith('REDUCE_ONLY')).length, REDUCE_ORDERS_MAX, 'all end when it turns')
})
