/**
 * Promise: replace is one step. The original ends and the successor stands, or nothing changed. Fewer lots at the same price
 * keep their place in the queue, anything else goes to the back; terms that are not named stay as they were.
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD', 'bob 10 BTC, 1000 USD', 'cat 10 BTC, 1000 USD']
const QUEUE: [string, string][] = [
  ['a: ann sells 2 at 100', 'SUBMITTED'],
  ['bob sells 1 at 100', 'SUBMITTED'],
]

play(t, 'a lower quantity keeps its place', {
  given,
  when: [...QUEUE, ['ann replaces a quantity=1', 'SUBMITTED'], ['cat buys 1 at 100', 'FILLED']],
  trades: ['cat buys 1 at 100 from ann'],
  book: ['bob sells 1 at 100'],
  balances: ['ann 9 BTC, 1100 USD'],
})

for (const [change, book] of [
  ['quantity=3', ['bob sells 1 at 100', 'ann sells 3 at 100']],
  ['quantity=2', ['bob sells 1 at 100', 'ann sells 2 at 100']],
  ['price=100', ['bob sells 1 at 100', 'ann sells 2 at 100']],
  ['price=99 quantity=1', ['ann sells 1 at 99', 'bob sells 1 at 100']],
  ['price=101', ['bob sells 1 at 100', 'ann sells 2 at 101']],
] as const) {
  play(t, `${change} goes to the back of its queue`, {
    given,
    when: [...QUEUE, [`ann replaces a ${change}`, 'SUBMITTED']],
    trades: [],
    book: [...book],
  })
}

play(t, 'an omitted quantity is what is still open', {
  given,
  when: [...QUEUE, ['cat buys 0.5 at 100', 'FILLED'], ['ann replaces a price=101', 'SUBMITTED']],
  book: ['bob sells 1 at 100', 'ann sells 1.5 at 101'],
  balances: ['ann 8 BTC, 1050 USD, 1.5 BTC locked'],
})

play(t, 'a new price that crosses trades at once', {
  given,
  when: [
    ['b: bob buys 1 at 99', 'SUBMITTED'],
    ['ann sells 1 at 100', 'SUBMITTED'],
    ['bob replaces b price=100 quantity=2', 'PARTIALLY_FILLED, filled 1'],
  ],
  trades: ['bob buys 1 at 100 from ann'],
  book: ['bob buys 1 at 100'],
})

play(t, 'a retry after success finds no such order, nor does anybody else', {
  given,
  when: [
    ...QUEUE,
    ['bob replaces a quantity=1', 'refused ORDER_NOT_FOUND'],
    ['ann replaces a quantity=1', 'SUBMITTED'],
    ['ann replaces a quantity=1', 'refused ORDER_NOT_FOUND'],
    ['ann cancels a', 'refused ORDER_NOT_FOUND'],
  ],
  book: ['ann sells 1 at 100', 'bob sells 1 at 100'],
})

play(t, 'a refused replacement leaves the original where it was', {
  given,
  when: [
    ...QUEUE,
    ['ann replaces a quantity=11', 'refused INSUFFICIENT_BALANCE'],
    ['ann replaces a price=0', 'refused INVALID_TICK'],
    ['maintenance on', 'done'],
    ['ann replaces a quantity=1', 'refused OPERATIONS_BLOCKED'],
    ['maintenance off', 'done'],
    ['cat buys 2 at 100', 'FILLED'],
  ],
  trades: ['cat buys 2 at 100 from ann'],
  book: ['bob sells 1 at 100'],
})

play(t, 'what the original holds pays for the successor', {
  given: ['cat 100 USD'],
  when: [
    ['a: cat buys 1 at 100', 'SUBMITTED'],
    ['cat buys 1 at 1', 'refused INSUFFICIENT_BALANCE'],
    ['b: cat replaces a price=50 quantity=2', 'SUBMITTED'],
    ['cat replaces b price=50.01', 'refused INSUFFICIENT_BALANCE'],
  ],
  book: ['cat buys 2 at 50'],
  balances: ['cat 100 USD locked'],
})
