/**
 * Promise: every order pays one fee over all its fills, rounded once in the house's favour; the taker rate on arrival, the maker rate
 * while resting; a negative maker rate is a rebate. Nobody gains by trading in crumbs.
 */
import t from 'tap'
import { play, Scene } from '../support/scenario.ts'

play(t, 'taker pays 5 bps, maker earns 0.5 bps, the house keeps the difference', {
  given: ['ann 1 BTC', 'cat 200 USD'],
  pair: { makerFeeBps: '-0.5', takerFeeBps: '5' },
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 1 at 100', 'FILLED'],
  ],
  balances: ['ann 100.005 USD', 'cat 1 BTC, 99.95 USD', 'house 0.045 USD'],
})

play(t, 'a resting bid locks its value and its maker fee, and pays out of that', {
  given: ['ann 1 BTC', 'cat 101 USD'],
  pair: { makerFeeBps: '100', takerFeeBps: '5' },
  when: [
    ['cat buys 1 at 100', 'SUBMITTED'],
    ['ann sells 0.5 at 100', 'FILLED'],
  ],
  balances: ['ann 0.5 BTC, 49.975 USD', 'cat 0.5 BTC, 50.5 USD locked', 'house 0.525 USD'],
})

play(t, 'a bid that cannot pay its fee is refused; one that crosses must afford the taker rate', {
  given: ['ann 1 BTC', 'cat 100.03 USD', 'bob 100 USD'],
  pair: { makerFeeBps: '0', takerFeeBps: '5' },
  when: [
    ['bob buys 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['cat buys 0.99 at 101', 'refused INSUFFICIENT_BALANCE'],
    ['cat buys 1 at 100', 'SUBMITTED'],
  ],
  trades: [],
})

play(t, 'taker on arrival, maker with the rest', {
  given: ['ann 2 BTC', 'bob 2 BTC', 'cat 300 USD'],
  pair: { makerFeeBps: '10', takerFeeBps: '20' },
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 2 at 100', 'PARTIALLY_FILLED, filled 1'],
    ['bob sells 1 at 100', 'FILLED'],
  ],
  balances: ['ann 1 BTC, 99.9 USD', 'bob 1 BTC, 99.8 USD', 'cat 2 BTC, 99.7 USD', 'house 0.6 USD'],
})

play(t, 'a fee below one atom is one atom, a rebate below one atom is none', {
  given: ['ann 1 BTC', 'cat 1 USD'],
  pair: { makerFeeBps: '-1', takerFeeBps: '1' },
  when: [
    ['ann sells 0.001 at 0.01', 'SUBMITTED'],
    ['cat buys 0.001 at 0.01', 'FILLED'],
  ],
  balances: ['ann 0.999 BTC, 0.00001 USD', 'cat 0.001 BTC, 0.999989 USD', 'house 0.000001 USD'],
})

const FILLS = 10_000

t.test(`${FILLS} dust fills of a resting order pay like one`, async (t) => {
  const scene = new Scene({ pair: { makerFeeBps: '1', takerFeeBps: '0' } })
  scene.give('ann 10 BTC')
  scene.give('cat 100 USD')
  scene.step('ann sells 10 at 0.07')
  for (let fill = 0; fill < FILLS; fill++) scene.step('cat buys 0.001 at 0.07')
  t.equal(scene.trades.length, FILLS)
  t.equal(scene.balances('house'), 'house 0.00007 USD', '0.7 USD × 1 bp; rounded up fill by fill it would be 0.01')
  t.equal(scene.balances('ann'), 'ann 0.69993 USD')
})

t.test(`${FILLS} dust rebates are not worth more than one`, async (t) => {
  const scene = new Scene({ pair: { makerFeeBps: '-1', takerFeeBps: '1' } })
  scene.give('ann 10 BTC')
  scene.give('cat 100 USD')
  scene.step('ann sells 10 at 0.07')
  for (let fill = 0; fill < FILLS; fill++) scene.step('cat buys 0.001 at 0.07')
  t.equal(scene.balances('ann'), 'ann 0.70007 USD', 'the rebate of 0.7 USD, once')
  t.equal(scene.balances('house'), 'house 0.00993 USD', 'every taker order paid its own atom')
})

t.test('an order that takes 250 crumbs pays one rounding', async (t) => {
  const scene = new Scene({ pair: { makerFeeBps: '0', takerFeeBps: '1' } })
  scene.give('ann 10 BTC')
  scene.give('cat 100 USD')
  for (let order = 0; order < 250; order++) scene.step('ann sells 0.001 at 0.07')
  t.equal(scene.step('cat buys 0.25 at 0.07'), 'FILLED')
  t.equal(scene.balances('house'), 'house 0.000002 USD', '0.0175 USD × 1 bp = 1.75 atoms, rounded up once over 250 fills')
})
