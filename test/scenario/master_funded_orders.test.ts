/**
 * Promise: a master-funded order of a sub-account spends and earns on its master's balance alone, holds, fees and releases included, while
 * the order, its rates and its place in the book are the sub-account's. Nobody trades with themselves, whichever of them owns the order.
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD', 'cat 10 BTC, 1000 USD']
const FAMILY: [string, string][] = [
  ['ann makes bob', 'done'],
  ['ann limits bob to 500 USD', 'done'],
  ['ann limits bob to 5 BTC', 'done'],
]

play(t, 'a resting order holds the master\'s funds, trades with them and releases them', {
  given,
  when: [
    ...FAMILY,
    ['a: bob buys 3 at 100 funded', 'SUBMITTED'],
    ['cat sells 1 at 100', 'FILLED'],
    ['bob cancels a', 'CANCELLED USER_CANCELLED, filled 1'],
    ['bob sells 2 at 101 funded', 'SUBMITTED'],
    ['cat buys 1 at 101', 'FILLED'],
  ],
  trades: ['cat sells 1 at 100 to bob', 'cat buys 1 at 101 from bob'],
  book: ['bob sells 1 at 101'],
  balances: ['ann 9 BTC, 1001 USD, 1 BTC locked', 'bob nothing', 'cat 10 BTC, 999 USD'],
  spending: ['bob 5 BTC: 1 held, 1 spent; 500 USD: 0 held, 100 spent'],
})

play(t, 'fees are the master\'s to pay, at the rates of the sub-account', {
  given,
  pair: { makerFeeBps: '10', takerFeeBps: '100' },
  tiers: [['0', '90']],
  when: [
    ...FAMILY,
    ['tier 1 bob', 'done'],
    ['cat sells 1 at 100', 'SUBMITTED'],
    ['bob buys 2 at 100 funded', 'PARTIALLY_FILLED, filled 1'],
    ['cat sells 1 at 100', 'FILLED'],
  ],
  // 0.1 % as taker by its tier and 0.1 % as maker, of 100 each.
  balances: ['ann 12 BTC, 799.8 USD', 'bob nothing', 'cat 8 BTC, 1198.9 USD', 'house 1.3 USD'],
  spending: ['bob 5 BTC: 0 held, 0 spent; 500 USD: 0 held, 200.2 spent'],
})

play(t, 'the master\'s funds decide, not the sub-account\'s', {
  given: ['ann 100 USD'],
  when: [
    ...FAMILY,
    ['bob buys 2 at 100 funded', 'refused INSUFFICIENT_BALANCE'],
    ['bob buys 1 at 100', 'refused INSUFFICIENT_BALANCE'],
    ['bob buys 1 at 100 funded', 'SUBMITTED'],
    ['ann buys 1 at 1', 'refused INSUFFICIENT_BALANCE'],
    ['ann gives bob 1 USD', 'refused INSUFFICIENT_BALANCE'],
  ],
  balances: ['ann 100 USD locked', 'bob nothing'],
})

play(t, 'only a sub-account has a master', {
  given,
  when: [
    ...FAMILY,
    ['ann buys 1 at 100 funded', 'refused NOT_SUB_ACCOUNT'],
    ['a: ann buys 1 at 100', 'SUBMITTED'],
    ['ann replaces a price=99 funded', 'refused NOT_SUB_ACCOUNT'],
    ['ann replaces a price=99 own-funds', 'SUBMITTED'],
  ],
})

play(t, 'market, ioc and fok orders need what they cost and spend what they trade', {
  given,
  when: [
    ...FAMILY,
    ['cat sells 4 at 100', 'SUBMITTED'],
    ['cat sells 4 at 105', 'SUBMITTED'],
    // 400 + 105 is more than the limit.
    ['bob buys 5 at market funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['bob buys 1 at market funded', 'FILLED'],
    ['bob buys 4 at 100 ioc funded', 'CANCELLED IOC_REMAINDER, filled 3'],
    ['bob buys 5 at 105 fok funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['bob buys 4 at 105 fok funded', 'FILLED'],
  ],
  balances: ['ann 18 BTC, 180 USD', 'bob nothing'],
  spending: ['bob 5 BTC: 0 held, 0 spent; 500 USD: 0 held, 820 spent'],
})

for (const [name, first, second] of [
  ['master and sub-account', 'ann sells 1 at 100', 'bob buys 1 at 100 funded'],
  ['sub-account and master', 'bob sells 1 at 100 funded', 'ann buys 1 at 100'],
  ['two sub-accounts', 'bob sells 1 at 100 funded', 'dan buys 1 at 100 funded'],
  ['one sub-account, two purses', 'bob sells 1 at 100 funded', 'bob buys 1 at 100'],
] as const) {
  const [maker] = first.split(' ')
  play(t, `no trade between ${name}`, {
    given,
    when: [
      ...FAMILY,
      ['ann makes dan', 'done'],
      ['ann limits dan to 500 USD', 'done'],
      ['ann gives bob 100 USD', 'done'],
      [`a: ${first}`, 'SUBMITTED'],
      [`${second} fok cancel-both`, 'refused SELF_TRADE_NOT_ALLOWED'],
      [second, 'CANCELLED SELF_TRADE_PREVENTION'],
      [`${second} cancel-both`, 'CANCELLED SELF_TRADE_PREVENTION'],
      [`${maker} cancels a`, 'refused ORDER_NOT_FOUND'],
    ],
    trades: [],
    book: [],
    balances: ['ann 10 BTC, 900 USD', 'bob 100 USD', 'dan nothing'],
    spending: ['bob 5 BTC: 0 held, 0 spent; 500 USD: 0 held, 0 spent', 'dan 500 USD: 0 held, 0 spent'],
  })
}

play(t, 'a replacement is paid as the original, from what it gives back', {
  given: ['ann 500 USD'],
  when: [
    ...FAMILY,
    ['a: bob buys 5 at 100 funded', 'SUBMITTED'],
    ['b: bob replaces a price=50 quantity=10', 'SUBMITTED'],
    ['bob replaces b price=50.01', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['c: bob replaces b quantity=4', 'SUBMITTED'],
    ['bob replaces c price=125', 'SUBMITTED'],
  ],
  book: ['bob buys 4 at 125'],
  balances: ['ann 500 USD locked', 'bob nothing'],
  spending: ['bob 5 BTC: 0 held, 0 spent; 500 USD: 500 held, 0 spent'],
})

play(t, 'a replacement that changes the purse needs the other one\'s funds in full', {
  given,
  when: [
    ...FAMILY,
    ['ann gives bob 250 USD', 'done'],
    ['a: bob buys 3 at 100 funded', 'SUBMITTED'],
    ['bob replaces a own-funds', 'refused INSUFFICIENT_BALANCE'],
    // Fewer lots at the same price keep their place, whoever pays.
    ['b: bob replaces a quantity=2 own-funds', 'SUBMITTED'],
    ['c: bob replaces b quantity=1', 'SUBMITTED'],
    ['d: bob replaces c price=99 quantity=5 funded', 'SUBMITTED'],
    ['bob replaces d price=101 quantity=5', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
  ],
  book: ['bob buys 5 at 99'],
  balances: ['ann 10 BTC, 255 USD, 495 USD locked', 'bob 250 USD'],
  spending: ['bob 5 BTC: 0 held, 0 spent; 500 USD: 495 held, 0 spent'],
})

play(t, 'expiry, mass cancels and limits that are gone release to the master all the same', {
  given,
  when: [
    ...FAMILY,
    ['a: bob buys 1 at 100 funded expires=10', 'SUBMITTED'],
    ['bob sells 1 at 200 funded', 'SUBMITTED'],
    ['bob buys 1 at 50 funded', 'SUBMITTED'],
    ['ann drops bob BTC', 'done'],
    ['wait 10', 'waited'],
    ['timer expires a', 'done'],
    ['bob cancels all', '2 cancelled, none left'],
  ],
  book: [],
  balances: ['ann 10 BTC, 1000 USD', 'bob nothing'],
  spending: ['bob 500 USD: 0 held, 0 spent'],
})
