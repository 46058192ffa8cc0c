/**
 * Promise: a master moves what is available between itself and its own sub-accounts, either way, exactly, and a repeated key moves it
 * once. Locked funds, other families and maintenance are out of reach.
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD']

play(t, 'there and back', {
  given,
  when: [
    ['ann makes bob', 'done'],
    ['ann gives bob 3.00000001 BTC', 'done'],
    ['ann gives bob 400 USD', 'done'],
    ['ann takes 150.5 USD from bob', 'done'],
  ],
  balances: ['ann 6.99999999 BTC, 750.5 USD', 'bob 3.00000001 BTC, 249.5 USD'],
})

play(t, 'all of it, and not an atom more', {
  given,
  when: [
    ['ann makes bob', 'done'],
    ['ann gives bob 10.00000001 BTC', 'refused INSUFFICIENT_BALANCE'],
    ['ann gives bob 10 BTC', 'done'],
    ['ann gives bob 0.00000001 BTC', 'refused INSUFFICIENT_BALANCE'],
    ['ann takes 10.00000001 BTC from bob', 'refused INSUFFICIENT_BALANCE'],
    ['ann takes 10 BTC from bob', 'done'],
  ],
  balances: ['ann 10 BTC, 1000 USD', 'bob nothing'],
})

play(t, 'what orders lock stays', {
  given,
  when: [
    ['ann makes bob', 'done'],
    ['ann gives bob 300 USD', 'done'],
    ['a: bob buys 2 at 100', 'SUBMITTED'],
    ['ann takes 101 USD from bob', 'refused INSUFFICIENT_BALANCE'],
    ['ann takes 100 USD from bob', 'done'],
    ['bob cancels a', 'CANCELLED USER_CANCELLED'],
    ['ann takes 200 USD from bob', 'done'],
  ],
  balances: ['ann 10 BTC, 1000 USD', 'bob nothing'],
})

play(t, 'amounts are positive', {
  given,
  when: [
    ['ann makes bob', 'done'],
    ['ann gives bob 0 BTC', 'refused VALIDATION_ERROR'],
    ['ann gives bob -1 BTC', 'refused VALIDATION_ERROR'],
    ['ann takes -1 BTC from bob', 'refused VALIDATION_ERROR'],
  ],
  balances: ['ann 10 BTC, 1000 USD', 'bob nothing'],
})

play(t, 'another family\'s sub-account is as one that does not exist', {
  given: [...given, 'cat 5 BTC'],
  when: [
    ['ann makes bob', 'done'],
    ['ann gives bob 1 BTC', 'done'],
    ['cat takes 1 BTC from bob', 'refused NOT_FOUND'],
    ['cat gives bob 1 BTC', 'refused NOT_FOUND'],
    ['ann gives cat 1 BTC', 'refused NOT_FOUND'],
    ['ann gives ann 1 BTC', 'refused NOT_FOUND'],
  ],
  balances: ['ann 9 BTC, 1000 USD', 'bob 1 BTC', 'cat 5 BTC'],
})

play(t, 'a key moves once', {
  given,
  when: [
    ['ann makes bob', 'done'],
    ['ann gives bob 1 BTC key=k', 'done'],
    ['ann gives bob 1 BTC key=k', 'done, repeated'],
    ['ann gives bob 2 BTC key=k', 'refused IDEMPOTENCY_KEY_CONFLICT'],
    ['ann gives bob 99 BTC key=other', 'refused INSUFFICIENT_BALANCE'],
    ['ann gives bob 3 BTC key=other', 'done'],
    ['wait 86399.999', 'waited'],
    ['ann gives bob 1 BTC key=k', 'done, repeated'],
    ['wait 0.001', 'waited'],
    // The receipt is over, and so is the session that was opened with it.
    ['ann gives bob 1 BTC key=k', 'refused SESSION_INVALID'],
  ],
  balances: ['ann 6 BTC, 1000 USD', 'bob 4 BTC'],
})

play(t, 'maintenance stops transfers', {
  given,
  when: [
    ['ann makes bob', 'done'],
    ['maintenance on', 'done'],
    ['ann gives bob 1 BTC', 'refused OPERATIONS_BLOCKED'],
    ['maintenance off', 'done'],
    ['ann gives bob 1 BTC', 'done'],
  ],
})
