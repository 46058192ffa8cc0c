/**
 * Promise: an order of a perpetual meets so many resting orders and no more: what is left of it is cancelled as if the book ended there,
 * and one that is filled whole or not at all, or must be known beforehand, is refused. Reduce-only orders that end because a fill closes
 * their position count as met, so nobody makes the order of another one work for a hundred thousand of them.
 */
import t from 'tap'
import { PERP_PATH_MAX } from '../../core/book/match.ts'
import { CommandType } from '../../core/layout/command.ts'
import { Flag } from '../../core/layout/flags.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { REDUCE_ORDERS_MAX } from '../../core/margin/order_lists.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { CountedStage } from '../support/counted_stage.ts'
import { LiquidationStage, type Given } from '../support/liquidation_stage.ts'
import { MarginScene } from '../support/margin_scene.ts'

const MORE = 10
/** Words of the state that the end of an order reads, fills of its path included. */
const END = 150

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

t.test('reduce-only orders that end with fills', async (t) => {
  const stage = new LiquidationStage({ maxPositionSize: '100000' }, {
    accounts: 512, sessions: 512, marginAccounts: 512, riskBuckets: 16_384, positions: 16_384, orders: 65_536, openOrdersPerAccount: 2048,
  })
  stage.checks = false
  const LOTS = REDUCE_ORDERS_MAX
  // Each of these is an order and 32 others that end with it.
  const makers = Math.ceil(PERP_PATH_MAX / (1 + REDUCE_ORDERS_MAX)) + 10
  const names = Array.from({ length: makers }, (_, index) => `long${index}`)
  const held = (lots: number, collateral: number): Given => ({ lots, price: 1000, collateral })
  stage.give({ ...Object.fromEntries(names.map((name) => [name, held(LOTS, 40_000)])), whale: held(-makers * LOTS, 900_000) })
  for (const name of names) {
    stage.deposit(name, 100_000)
    for (let order = 0; order < REDUCE_ORDERS_MAX; order++) stage.order(name, -1, 1100, { flags: Flag.REDUCE_ONLY, leverage: 0 })
    stage.order(name, -LOTS, 1000)
  }
  stage.deposit('mia', 900_000)
  const counted = new CountedStage(stage.bench)
  counted.time = stage.time
  const resting = (): number => stage.state.scalars[SCALAR.ORDERS_LIVE]!
  t.equal(resting(), makers * (1 + REDUCE_ORDERS_MAX))
  const buy = (flags: number, code = 0): void => {
    const values = { pair: 0, price: 1000, lots: makers * LOTS, leverage: 500, flags: Flag.MARGIN | flags }
    counted.count(CommandType.PLACE_ORDER, { ...stage.signed('mia'), ...values }, code)
  }
  buy(Flag.FOK, REFUSALS.ABOVE_MAX_ORDER_SIZE.number)
  t.equal(resting(), makers * (1 + REDUCE_ORDERS_MAX), 'one that must be filled whole is refused')
  const [orders, fills] = [resting(), stage.state.clock[CLOCK.FILLS]!]
  buy(Flag.IOC)
  const ended = orders - resting()
  t.ok(ended > PERP_PATH_MAX - 2 * REDUCE_ORDERS_MAX && ended <= PERP_PATH_MAX + REDUCE_ORDERS_MAX, `${ended} ended`)
  t.equal(stage.state.clock[CLOCK.FILLS]! - fills, Math.ceil(PERP_PATH_MAX / (1 + REDUCE_ORDERS_MAX)))
  t.ok(counted.steps < PERP_PATH_MAX * END, `${counted.steps} words`)
  checkInvariants(stage.state)
})
