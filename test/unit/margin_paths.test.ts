/**
 * Promise: an order of a perpetual meets so many resting orders and no more: what is left of it is cancelled as if the book ended there,
 * and one that is filled whole or not at all, or must be known beforehand, is refused.
 */
import t from 'tap'
import { PERP_PATH_MAX } from '../../core/book/match.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { MarginScene } from '../support/margin_scene.ts'

const MORE = 10

t.test('a long path', async (t) => {
  const scene = new MarginScene({ limits: { openOrdersPerAccount: 8192, orders: 65_536 }, most: 10_000 })
  scene.checks = false
  const makers = ['ann', 'bob', 'cat', 'dan', 'eve']
  for (const who of [...makers, 'taker', 'other']) scene.give(`${who} 1000000`)
  const orders = 2 * PERP_PATH_MAX + MORE
  for (let order = 0; order < orders; order++) scene.step(`${makers[order % 5]} sells 1 at 100 x5`)
  const resting = (): number => scene.state.scalars[SCALAR.ORDERS_LIVE]!
  t.equal(resting(), orders)
  const most = PERP_PATH_MAX + MORE
  t.equal(scene.step(`taker buys ${most} at 100 x5 fok`), 'refused ABOVE_MAX_ORDER_SIZE')
  t.equal(scene.step(`taker buys ${most} market x5`), 'refused ABOVE_MAX_ORDER_SIZE')
  t.equal(scene.step(`taker buys ${most} at 100 x5`), `CANCELLED INSUFFICIENT_DEPTH, filled ${PERP_PATH_MAX}`)
  t.equal(resting(), PERP_PATH_MAX + MORE)
  t.equal(scene.step(`other buys ${PERP_PATH_MAX} at 100 x5 fok`), 'FILLED', 'and what is within it is filled whole')
  t.equal(resting(), MORE)
  checkInvariants(scene.state)
  t.equal(scene.positions('taker'), `taker long ${PERP_PATH_MAX} at 100 x5`)
})
