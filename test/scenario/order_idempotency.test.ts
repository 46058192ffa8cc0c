/**
 * Promise: one key and one payload have one effect and one answer for 24 hours; another payload is a conflict; after that the key
 * is free. A refused order leaves no trace of its key (specification, Orders, rule 2; Errors, rules 4 and 7).
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC', 'cat 10000 USD']
const DAY = 86_400

play(t, 'a retry gets the original answer and nothing happens', {
  given,
  when: [
    ['ann sells 1 at 100 key=k1', 'SUBMITTED'],
    ['cat buys 1 at 100', 'FILLED'],
    ['ann sells 1 at 100 key=k1', 'SUBMITTED, repeated'],
    ['ann sells 2 at 100 key=k1', 'refused IDEMPOTENCY_KEY_CONFLICT'],
  ],
  trades: ['cat buys 1 at 100 from ann'],
  book: [],
})

play(t, 'keys belong to their account', {
  given,
  when: [
    ['ann sells 1 at 101 key=k1', 'SUBMITTED'],
    ['cat buys 1 at 100 key=k1', 'SUBMITTED'],
  ],
  book: ['ann sells 1 at 101', 'cat buys 1 at 100'],
})

play(t, 'for 24 hours, not longer', {
  given,
  limits: { sessionLifetimeMs: 10 * DAY * 1000 },
  when: [
    ['ann sells 1 at 100 key=k1', 'SUBMITTED'],
    [`wait ${DAY - 1}`, 'waited'],
    ['ann sells 1 at 100 key=k1', 'SUBMITTED, repeated'],
    ['wait 1', 'waited'],
    ['ann sells 1 at 100 key=k1', 'SUBMITTED'],
  ],
  book: ['ann sells 1 at 100', 'ann sells 1 at 100'],
})

play(t, 'a refused order may be sent again with its key', {
  given: ['ann 1 BTC', 'cat 100 USD'],
  when: [
    ['ann sells 2 at 100 key=k1', 'refused INSUFFICIENT_BALANCE'],
    ['ann sells 1 at 100 key=k1', 'SUBMITTED'],
  ],
  book: ['ann sells 1 at 100'],
})

play(t, 'when receipts are at capacity a new key is refused, a known one answered, an unkeyed order taken', {
  given,
  limits: { receipts: 2 },
  when: [
    ['ann sells 1 at 101 key=k1', 'SUBMITTED'],
    ['cat buys 1 at 100 key=k2', 'SUBMITTED'],
    ['ann sells 1 at 102 key=k3', 'refused ORDER_SUBMISSION_CAPACITY_EXCEEDED'],
    ['bob sells 1 at 102 key=k3', 'refused ORDER_SUBMISSION_CAPACITY_EXCEEDED'],
    ['ann sells 1 at 101 key=k1', 'SUBMITTED, repeated'],
    ['ann sells 1 at 103', 'SUBMITTED'],
  ],
  book: ['ann sells 1 at 101', 'ann sells 1 at 103', 'cat buys 1 at 100'],
})

play(t, 'a known key is answered during maintenance, and a replacement has keys too', {
  given,
  when: [
    ['a: ann sells 1 at 100 key=k1', 'SUBMITTED'],
    ['b: ann replaces a price=101 key=k2', 'SUBMITTED'],
    ['maintenance on', 'done'],
    ['ann replaces a price=101 key=k2', 'SUBMITTED, repeated'],
    ['ann sells 1 at 100 key=k1', 'SUBMITTED, repeated'],
    ['ann sells 1 at 100 key=k3', 'refused OPERATIONS_BLOCKED'],
    ['ann cancels b', 'CANCELLED USER_CANCELLED'],
  ],
  book: [],
})
