/**
 * Promise: an order on a master's balance needs a limit of the asset it spends, and fits it to the atom: what is on hold and what it needs
 * within the amount, with what was spent since midnight UTC within the day's. Limits never end what rests.
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC, 10000 USD', 'cat 100 BTC, 10000 USD']
const FAMILY: [string, string] = ['ann makes bob', 'done']

play(t, 'no limit, no order', {
  given,
  when: [
    FAMILY,
    ['bob buys 1 at 100 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['ann limits bob to 5 BTC', 'done'],
    ['bob buys 1 at 100 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['bob sells 1 at 100 funded', 'SUBMITTED'],
    ['ann limits bob to 500 USD inactive', 'done'],
    ['bob buys 1 at 99 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['ann changes bob USD active', 'done'],
    ['bob buys 1 at 99 funded', 'SUBMITTED'],
  ],
  spending: ['bob 5 BTC: 1 held, 0 spent; 500 USD: 99 held, 0 spent'],
})

play(t, 'up to the amount, exactly; what ends gives room again', {
  given,
  when: [
    FAMILY,
    ['ann limits bob to 300 USD', 'done'],
    ['a: bob buys 1 at 100 funded', 'SUBMITTED'],
    ['bob buys 2 at 100.01 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['bob buys 2 at 100 funded', 'SUBMITTED'],
    ['bob buys 0.001 at 1 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['bob cancels a', 'CANCELLED USER_CANCELLED'],
    ['bob buys 0.001 at 1 funded', 'SUBMITTED'],
  ],
  spending: ['bob 300 USD: 200.001 held, 0 spent'],
})

play(t, 'fills leave the amount and count for the day', {
  given,
  when: [
    FAMILY,
    ['ann limits bob to 300 USD daily=400', 'done'],
    ['bob buys 3 at 100 funded', 'SUBMITTED'],
    ['cat sells 1 at 100', 'FILLED'],
    // 200 held, 100 spent: a hundred more fits the amount and the day.
    ['bob buys 1.001 at 100 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['bob buys 1 at 100 funded', 'SUBMITTED'],
    ['cat sells 3 at 100', 'FILLED'],
    ['bob buys 0.001 at 0.01 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
  ],
  spending: ['bob 300 USD, 400 a day: 0 held, 400 spent'],
  balances: ['ann 14 BTC, 9600 USD', 'bob nothing'],
})

play(t, 'the day begins at midnight UTC, to the millisecond', {
  given,
  when: [
    FAMILY,
    ['ann limits bob to 300 USD daily=100', 'done'],
    ['cat sells 10 at 100', 'SUBMITTED'],
    ['bob buys 1 at 100 funded', 'FILLED'],
    ['bob buys 0.01 at 100 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    // Scenes begin at 2023-11-14T22:13:20Z.
    ['wait 6399.999', 'waited'],
    ['bob buys 0.01 at 100 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['wait 0.001', 'waited'],
    ['bob buys 1.01 at 100 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['bob buys 1 at 100 funded', 'FILLED'],
    ['bob buys 0.01 at 100 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
  ],
  spending: ['bob 300 USD, 100 a day: 0 held, 100 spent'],
})

play(t, 'what rests over midnight counts for the day it fills in', {
  given,
  when: [
    FAMILY,
    ['ann limits bob to 300 USD daily=100', 'done'],
    ['bob buys 1 at 100 funded', 'SUBMITTED'],
    ['wait 6400', 'waited'],
    ['bob buys 0.01 at 100 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['cat sells 1 at 100', 'FILLED'],
    ['bob buys 0.01 at 100 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
  ],
  spending: ['bob 300 USD, 100 a day: 0 held, 100 spent'],
})

play(t, 'a limit below what is on hold ends nothing and lets nothing new in', {
  given,
  when: [
    FAMILY,
    ['ann limits bob to 300 USD', 'done'],
    ['a: bob buys 3 at 100 funded', 'SUBMITTED'],
    ['ann changes bob USD max=50', 'done'],
    ['bob buys 0.001 at 1 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['cat sells 2 at 100', 'FILLED'],
    ['bob buys 0.001 at 1 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['bob replaces a quantity=0.5', 'SUBMITTED'],
    ['bob buys 0.001 at 1 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['ann changes bob USD max=51', 'done'],
    ['bob buys 1 at 1 funded', 'SUBMITTED'],
  ],
  spending: ['bob 51 USD: 51 held, 200 spent'],
})

play(t, 'a limit is made once, changed in part and dropped; what was counted stays counted', {
  given,
  when: [
    FAMILY,
    ['ann changes bob USD max=1', 'refused NOT_FOUND'],
    ['ann drops bob USD', 'refused NOT_FOUND'],
    ['ann limits bob to 300 USD daily=200', 'done'],
    ['ann limits bob to 999 USD', 'refused LIMIT_EXISTS'],
    ['cat sells 1 at 100', 'SUBMITTED'],
    ['bob buys 2 at 100 funded', 'PARTIALLY_FILLED, filled 1'],
    ['ann drops bob USD', 'done'],
    ['bob buys 0.001 at 1 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['ann drops bob USD', 'refused NOT_FOUND'],
    ['ann limits bob to 300 USD daily=200', 'done'],
    ['bob buys 0.001 at 1 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
    ['ann changes bob USD daily=none', 'done'],
    ['bob buys 1 at 1 funded', 'SUBMITTED'],
  ],
  spending: ['bob 300 USD: 101 held, 100 spent'],
})

play(t, 'limits are the master\'s to set, with amounts that are amounts', {
  given,
  when: [
    FAMILY,
    ['cat limits bob to 300 USD', 'refused NOT_FOUND'],
    ['ann limits cat to 300 USD', 'refused NOT_FOUND'],
    ['ann limits bob to -1 USD', 'refused VALIDATION_ERROR'],
    ['ann limits bob to 5 USD daily=-2', 'refused VALIDATION_ERROR'],
    ['ann limits bob to 0 USD daily=0', 'done'],
    ['bob buys 0.001 at 1 funded', 'refused SUB_ACCOUNT_LIMIT_EXCEEDED'],
  ],
  spending: ['bob 0 USD, 0 a day: 0 held, 0 spent'],
})
