/**
 * Promise: an application charges its users what was in force when an order was placed, on top of the fee of the house and beside it, and
 * its payout account gets all of it (specification, Builder fee). Worked by hand.
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const FEES = { pair: { makerFeeBps: '-0.5', takerFeeBps: '5' } }

play(t, 'a taker pays the add-on on top, a maker what was fixed when its order was placed; the house has its own fees', {
  ...FEES,
  given: ['ann 1 BTC', 'cat 200 USD', 'app 0.000001 USD'],
  when: [
    ['program', 'done'],
    ['enroll app taker=20 maker=10', 'done'],
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 1 at 100', 'FILLED'],
  ],
  // cat: 100, 5 bps and 20 bps; ann: 100, a rebate of 0.5 bps less 10 bps; app: 0.2 and 0.1.
  balances: ['ann 99.905 USD', 'cat 1 BTC, 99.75 USD', 'app 0.300001 USD', 'house 0.045 USD'],
})

play(t, 'an order before a change pays what was before it, one behind it what is now: taker and maker', {
  ...FEES,
  given: ['ann 2 BTC', 'cat 300 USD', 'app 0.000001 USD'],
  when: [
    ['program', 'done'],
    ['enroll app taker=20 maker=10', 'done'],
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['app charges 100 maker=0', 'done'],
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 2 at 100', 'FILLED'],
  ],
  // cat: 200, 5 bps, 100 bps of now; ann: her first order 10 bps, her second none, rebates of both.
  balances: ['ann 199.91 USD', 'cat 2 BTC, 97.9 USD', 'app 2.100001 USD', 'house 0.09 USD'],
})

play(t, 'a resting bid holds what its application may charge, pays out of that, and gets back what is left', {
  pair: { makerFeeBps: '0', takerFeeBps: '0' },
  given: ['ann 1 BTC', 'cat 101 USD', 'app 0.000001 USD'],
  when: [
    ['program', 'done'],
    ['enroll app taker=0 maker=100', 'done'],
    ['b: cat buys 1 at 100', 'SUBMITTED'],
    ['cat buys 0.01 at 1', 'refused INSUFFICIENT_BALANCE'],
    ['ann sells 0.4 at 100', 'FILLED'],
    ['cat cancels b', 'CANCELLED USER_CANCELLED, filled 0.4'],
  ],
  balances: ['cat 0.4 BTC, 60.6 USD', 'app 0.400001 USD', 'ann 0.6 BTC, 40 USD'],
})

play(t, 'nobody buys what he cannot pay with the add-on; to the atom it goes', {
  pair: { makerFeeBps: '0', takerFeeBps: '0' },
  given: ['ann 1 BTC', 'cat 100.999999 USD', 'dan 101 USD', 'app 0.000001 USD'],
  when: [
    ['program', 'done'],
    ['enroll app taker=100', 'done'],
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 1 at market', 'refused INSUFFICIENT_BALANCE'],
    ['dan buys 1 at market', 'FILLED'],
  ],
  balances: ['dan 1 BTC', 'app 1.000001 USD'],
})

play(t, 'crumbs cost no more than the whole: one rounding an order, downward, and a seller never pays more than he gets', {
  pair: { makerFeeBps: '0', takerFeeBps: '0', lotSize: '0.001', minOrderSize: '0.001', tickSize: '0.01' },
  scale: 5,
  given: ['ann 0.005 BTC', 'cat 1 USD', 'app 0.00001 USD'],
  when: [
    ['program', 'done'],
    ['enroll app taker=0 maker=100', 'done'],
    ['ann sells 0.005 at 0.01', 'SUBMITTED'],
    ...[1, 2, 3, 4, 5].map((): [string, string] => ['cat buys 0.001 at 0.01', 'FILLED']),
  ],
  // Five fills of one atom each: 1 % of five atoms is no atom.
  balances: ['ann 0.00005 USD', 'app 0.00001 USD'],
})

const CRUMBS = { pair: { makerFeeBps: '99', takerFeeBps: '0', lotSize: '0.001', minOrderSize: '0.001', tickSize: '0.01' }, scale: 5 }
const CRUMB_STEPS: [string, string][] = [
  ['program', 'done'],
  ['enroll app maker=99', 'done'],
  ['ann sells 0.103 at 0.01', 'SUBMITTED'],
  ['cat buys 0.101 at 0.01', 'FILLED'],
  ['cat buys 0.001 at 0.01', 'FILLED'],
]
// 101 atoms: 0.9999 of each fee, the house's rounded up, the application's down. With the 102nd both would be an atom more, of one atom.
play(t, 'a fill never costs a seller more than it brings', {
  ...CRUMBS, given: ['ann 0.103 BTC', 'cat 1 USD', 'app 0.00001 USD'], when: CRUMB_STEPS,
  balances: ['ann 0.001 USD, 0.001 BTC locked', 'app 0.00001 USD', 'house 0.00002 USD'],
})
play(t, 'what was cut comes with a later fill', {
  ...CRUMBS, given: ['ann 0.103 BTC', 'cat 1 USD', 'app 0.00001 USD'], when: [...CRUMB_STEPS, ['cat buys 0.001 at 0.01', 'FILLED']],
  balances: ['ann 0.001 USD', 'app 0.00002 USD', 'house 0.00002 USD'],
})

play(t, 'switched off, not enrolled, or above the cap: stored, and not charged', {
  pair: { makerFeeBps: '0', takerFeeBps: '0' },
  given: ['ann 4 BTC', 'cat 500 USD', 'app 0.000001 USD'],
  when: [
    ['program', 'done'],
    ['enroll app taker=100', 'done'],
    ['ann sells 4 at 100', 'SUBMITTED'],
    ['program off share=0.5', 'done'],
    ['app charges 50', 'done'],
    ['cat buys 1 at 100', 'FILLED'],
    ['program', 'done'],
    ['enroll app inactive', 'done'],
    ['cat buys 1 at 100', 'FILLED'],
    ['enroll app', 'done'],
    ['program cap=10', 'done'],
    ['cat buys 1 at 100', 'FILLED'],
    ['program', 'done'],
    ['cat buys 1 at 100', 'FILLED'],
  ],
  // Two for nothing, one at the cap of 10 bps, one at the 50 that are stored.
  balances: ['cat 4 BTC, 99.4 USD', 'app 0.600001 USD'],
})

play(t, 'only the payout wallet changes it, twice in 24 hours; what is set already is no change', {
  limits: { sessionLifetimeMs: 3 * 86_400_000 },
  given: ['app 1 USD', 'ann 1 USD'],
  when: [
    ['program off', 'done'],
    ['app charges 0', 'refused BUILDER_FEES_OFF'],
    ['app charges 51', 'refused BUILDER_FEES_OFF'],
    ['program cap=50', 'done'],
    ['app charges 0', 'refused NOT_ENROLLED'],
    ['program off', 'done'],
    ['enroll app', 'done'],
    ['ann charges 1', 'refused BUILDER_FEES_OFF'],
    ['app charges 1', 'refused BUILDER_FEES_OFF'],
    ['program cap=50', 'done'],
    ['ann charges 1', 'refused NOT_PAYOUT_WALLET'],
    ['app charges 51', 'refused BUILDER_FEE_ABOVE_CAP'],
    ['app charges 1 maker=51', 'refused BUILDER_FEE_ABOVE_CAP'],
    ['app charges 10 maker=5', 'done'],
    ['wait 10', 'waited'],
    ['app charges 10', 'done'],
    ['app charges 10 maker=6', 'done'],
    ['app charges 11', 'refused NO_FEE_CHANGES_LEFT'],
    ['app charges 10 maker=6', 'done'],
    ['enroll app taker=30', 'done'],
    ['wait 86389', 'waited'],
    ['app charges 11', 'refused NO_FEE_CHANGES_LEFT'],
    ['wait 1', 'waited'],
    ['app charges 11', 'done'],
    ['app charges 12', 'refused NO_FEE_CHANGES_LEFT'],
    ['wait 10', 'waited'],
    ['app charges 12', 'done'],
  ],
})

play(t, 'the revenue share is a part of what the house keeps, after rebates, and never more', {
  ...FEES,
  given: ['ann 1 BTC', 'cat 200 USD', 'app 0.000001 USD'],
  when: [
    ['program off share=0.2', 'done'],
    ['enroll app', 'done'],
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 1 at 100', 'FILLED'],
  ],
  // The house had 0.05 less 0.005: a fifth of that is the application's.
  balances: ['app 0.009001 USD', 'house 0.036 USD', 'cat 1 BTC, 99.95 USD', 'ann 100.005 USD'],
})
