/**
 * Promise: an account's fee tier sets the rates of the orders it places from then on. A resting order keeps the maker rate it was
 * placed with, whatever becomes of its owner; the taker pays the rate of the tier it has when it trades. Funds are checked and locked
 * at the account's own rates, to the atom.
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

/** BTC/USD at maker 10 bps and taker 30 bps; tier 1 pays 5 and 20, tier 2 earns 10 as maker and pays 10 as taker. */
const pair = { makerFeeBps: '10', takerFeeBps: '30' }
const tiers: [string, string][] = [['5', '10'], ['20', '20']]

play(t, 'each side pays the rate of its own tier', {
  pair, tiers,
  given: ['ann 1 BTC', 'bob 1 BTC', 'cat 1000 USD', 'dan 1000 USD'],
  when: [
    ['tier 1 ann', 'done'],
    ['tier 2 dan', 'done'],
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 1 at 100', 'FILLED'],
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['dan buys 1 at 100', 'FILLED'],
  ],
  balances: ['ann 99.95 USD', 'cat 1 BTC, 899.7 USD', 'bob 99.9 USD', 'dan 1 BTC, 899.9 USD', 'house 0.55 USD'],
})

play(t, 'a resting order keeps its maker rate when its owner rises', {
  pair, tiers,
  given: ['ann 1000 USD', 'cat 3 BTC'],
  when: [
    ['ann buys 1 at 100', 'SUBMITTED'],
    ['tier 2 ann', 'done'],
    ['ann buys 1 at 99', 'SUBMITTED'],
    ['cat sells 1 at 100', 'FILLED'],
    ['cat sells 1 at 99', 'FILLED'],
  ],
  // 10 bps of 100 paid, then 10 bps of 99 earned; 30 bps of both paid by the taker.
  balances: ['ann 2 BTC, 800.999 USD', 'cat 1 BTC, 198.403 USD', 'house 0.598 USD'],
})

play(t, 'and when its owner falls: the rebate it was placed with stays', {
  pair, tiers,
  given: ['ann 100 USD', 'cat 1 BTC'],
  when: [
    ['tier 2 ann', 'done'],
    ['ann buys 1 at 100', 'SUBMITTED'],
    ['tier 0 ann', 'done'],
    ['cat sells 0.5 at 100', 'FILLED'],
    ['cat sells 0.5 at 100', 'FILLED'],
  ],
  balances: ['ann 1 BTC, 0.1 USD', 'cat 99.7 USD', 'house 0.2 USD'],
})

play(t, 'a replacement is a new order: it has the rate of the tier now, even when it keeps its place', {
  pair, tiers,
  given: ['ann 100.1 USD, 2 BTC', 'cat 1000 USD, 1 BTC'],
  when: [
    ['a: ann sells 1 at 101', 'SUBMITTED'],
    ['b: ann sells 1 at 102', 'SUBMITTED'],
    ['tier 2 ann', 'done'],
    ['ann replaces a quantity=0.5', 'SUBMITTED'],
    ['ann replaces b price=102.5', 'SUBMITTED'],
    ['cat buys 0.5 at 101', 'FILLED'],
    ['cat buys 1 at 102.5', 'FILLED'],
  ],
  // 50.5 and 102.5 with 10 bps each earned.
  balances: ['ann 0.5 BTC, 253.253 USD', 'cat 2.5 BTC, 846.541 USD', 'house 0.306 USD'],
})

play(t, 'a fall can make a replacement too dear: refused, and the original stands', {
  pair, tiers,
  given: ['ann 100.05 USD'],
  when: [
    ['tier 1 ann', 'done'],
    ['a: ann buys 1 at 100', 'SUBMITTED'],
    ['tier 0 ann', 'done'],
    ['ann replaces a price=100.01', 'refused INSUFFICIENT_BALANCE'],
    ['ann replaces a quantity=0.999', 'SUBMITTED'],
  ],
  book: ['ann buys 0.999 at 100'],
  // 99.9 and 10 bps of it.
  balances: ['ann 0.0501 USD, 99.9999 USD locked'],
})

play(t, 'a resting bid locks its value and the maker fee of its tier', {
  pair, tiers,
  given: ['ann 100.05 USD', 'bob 100.05 USD', 'cat 100 USD'],
  when: [
    ['bob buys 1 at 100', 'refused INSUFFICIENT_BALANCE'],
    ['tier 1 ann', 'done'],
    ['ann buys 1 at 100', 'SUBMITTED'],
    ['tier 2 cat', 'done'],
    ['cat buys 1 at 100', 'SUBMITTED'],
  ],
  balances: ['ann 100.05 USD locked', 'bob 100.05 USD', 'cat 100 USD locked'],
})

play(t, 'a bid that crosses must afford the taker rate of its tier, a market order the exact cost at it', {
  pair, tiers,
  given: ['ann 4 BTC', 'bob 100.2 USD', 'cat 100.2 USD', 'dan 100.1 USD'],
  when: [
    ['ann sells 4 at 100', 'SUBMITTED'],
    ['bob buys 1 at 100', 'refused INSUFFICIENT_BALANCE'],
    ['bob buys 1 at market', 'refused INSUFFICIENT_BALANCE'],
    ['tier 1 bob', 'done'],
    ['tier 1 cat', 'done'],
    ['tier 2 dan', 'done'],
    ['bob buys 1 at 100', 'FILLED'],
    ['cat buys 1 at market', 'FILLED'],
    ['dan buys 1 at market', 'FILLED'],
  ],
  balances: ['bob 1 BTC', 'cat 1 BTC', 'dan 1 BTC', 'ann 299.7 USD, 1 BTC locked', 'house 0.8 USD'],
})

play(t, 'an order that takes and then rests pays its taker rate at once and keeps its maker rate for the rest', {
  pair, tiers,
  given: ['ann 1 BTC', 'cat 300 USD', 'bob 1 BTC'],
  when: [
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['tier 1 cat', 'done'],
    ['cat buys 2 at 100', 'PARTIALLY_FILLED, filled 1'],
    ['tier 0 cat', 'done'],
    ['bob sells 1 at 100', 'FILLED'],
  ],
  // 20 bps of the first 100, 5 bps of the second.
  balances: ['cat 2 BTC, 99.75 USD', 'ann 99.9 USD', 'bob 99.7 USD', 'house 0.65 USD'],
})

play(t, 'a tier that does not exist changes nothing', {
  pair, tiers,
  given: ['ann 1 BTC', 'cat 200 USD'],
  when: [
    ['tier 1 cat', 'done'],
    ['tier 3 cat', 'refused VALIDATION_ERROR'],
    ['tier -1 cat', 'refused VALIDATION_ERROR'],
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['cat buys 1 at 100', 'FILLED'],
  ],
  balances: ['cat 1 BTC, 99.8 USD'],
})
