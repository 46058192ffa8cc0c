/**
 * Promise: a delegated agent may do what its owner granted, and each thing that was not granted is refused by its name; what counts is
 * the grant at the moment the order is sequenced.
 */
import t from 'tap'
import { play } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD', 'cat 10 BTC, 1000 USD']

play(t, 'actions', {
  given,
  when: [
    ['a: ann sells 1 at 110', 'SUBMITTED'],
    ['ann grants bot cancel', 'done'],
    ['bot@ann sells 1 at 110', 'refused AGENT_NOT_ALLOWED ACTION'],
    ['bot@ann replaces a price=120', 'refused AGENT_NOT_ALLOWED ACTION'],
    ['bot@ann cancels a', 'CANCELLED USER_CANCELLED'],
    ['ann grants bot create', 'done'],
    ['b: bot@ann sells 1 at 110', 'SUBMITTED'],
    ['bot@ann replaces b price=120', 'refused AGENT_NOT_ALLOWED ACTION'],
    ['bot@ann cancels b', 'refused AGENT_NOT_ALLOWED ACTION'],
    ['bot@ann cancels all', 'refused AGENT_NOT_ALLOWED ACTION'],
    ['ann grants bot replace', 'done'],
    ['c: bot@ann replaces b price=120', 'SUBMITTED'],
    ['bot@ann cancels c', 'refused AGENT_NOT_ALLOWED ACTION'],
    ['ann cancels c', 'CANCELLED USER_CANCELLED'],
    ['bot@ann asks the faucet', 'refused AGENT_NOT_ALLOWED OPERATION'],
    ['bot@ann grants bot create,cancel,replace', 'refused AGENT_NOT_ALLOWED OPERATION'],
    ['bot@ann grants dog create', 'refused AGENT_NOT_ALLOWED OPERATION'],
    ['bot@ann revokes bot', 'refused AGENT_NOT_ALLOWED OPERATION'],
  ],
  book: [],
  balances: ['ann 10 BTC, 1000 USD'],
})

play(t, 'pairs', {
  given,
  when: [
    ['ann grants bot create,cancel,replace pairs=1', 'done'],
    ['a: ann sells 1 at 110', 'SUBMITTED'],
    ['bot@ann sells 1 at 110', 'refused AGENT_NOT_ALLOWED PAIR'],
    ['bot@ann replaces a price=120', 'refused AGENT_NOT_ALLOWED PAIR'],
    ['bot@ann cancels a', 'refused AGENT_NOT_ALLOWED PAIR'],
    ['b: bot@ann sells 1 at 0.02 pair=1', 'SUBMITTED'],
    ['ann sells 2 at 0.02 pair=1', 'SUBMITTED'],
    ['c: bot@ann replaces b price=0.03', 'SUBMITTED'],
    ['bot@ann cancels all', '2 cancelled, none left'],
    ['bot@ann cancels all pair', '0 cancelled, none left'],
    ['ann grants bot cancel pairs=0,1', 'done'],
    ['bot@ann cancels all', '1 cancelled, none left'],
    ['ann grants bot create pairs=2', 'refused VALIDATION_ERROR'],
  ],
  book: [],
})

play(t, 'order types and times in force', {
  given,
  when: [
    ['cat sells 5 at 100', 'SUBMITTED'],
    ['ann grants bot create,replace types=limit times=ioc', 'done'],
    ['bot@ann buys 1 at market', 'refused AGENT_NOT_ALLOWED ORDER_TYPE'],
    ['bot@ann buys 1 at 99', 'refused AGENT_NOT_ALLOWED TIME_IN_FORCE'],
    ['bot@ann buys 1 at 99 post-only', 'refused AGENT_NOT_ALLOWED TIME_IN_FORCE'],
    ['bot@ann buys 1 at 100 fok', 'refused AGENT_NOT_ALLOWED TIME_IN_FORCE'],
    ['bot@ann buys 1 at 100 ioc', 'FILLED'],
    ['a: ann buys 1 at 99', 'SUBMITTED'],
    ['bot@ann replaces a price=98', 'refused AGENT_NOT_ALLOWED TIME_IN_FORCE'],
    ['ann grants bot create,replace types=market', 'done'],
    ['bot@ann buys 1 at 99', 'refused AGENT_NOT_ALLOWED ORDER_TYPE'],
    ['bot@ann replaces a price=98', 'refused AGENT_NOT_ALLOWED ORDER_TYPE'],
    ['bot@ann buys 1 at market', 'FILLED'],
    ['ann grants bot create,replace types=market,limit times=gtc,fok', 'done'],
    ['bot@ann buys 1 at 99 ioc', 'refused AGENT_NOT_ALLOWED TIME_IN_FORCE'],
    ['bot@ann buys 1 at 100 fok', 'FILLED'],
    ['bot@ann replaces a price=98', 'SUBMITTED'],
  ],
  book: ['cat sells 2 at 100', 'ann buys 1 at 98'],
})

play(t, 'the value of an order is compared to the last digit', {
  given,
  when: [
    ['ann grants bot create,replace notional=100', 'done'],
    ['a: bot@ann buys 1 at 100', 'SUBMITTED'],
    ['bot@ann buys 1 at 100.01', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
    ['bot@ann buys 1.001 at 100', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
    ['bot@ann replaces a price=100.01', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
    ['bot@ann replaces a quantity=1.001', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
    ['b: bot@ann replaces a quantity=0.5 price=200', 'SUBMITTED'],
    ['ann grants bot create,replace notional=99.999999999', 'done'],
    ['bot@ann buys 1 at 100', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
    ['bot@ann buys 1 at 99.99', 'SUBMITTED'],
    ['bot@ann replaces b quantity=0.4', 'SUBMITTED'],
    ['ann buys 3 at 99', 'SUBMITTED'],
  ],
  book: ['ann buys 0.4 at 200', 'ann buys 1 at 99.99', 'ann buys 3 at 99'],
})

for (const scale of [5, 9, 12]) {
  play(t, `a USD of ${scale} digits`, {
    given: ['ann 10 BTC, 400 USD'],
    scale,
    when: [
      ['ann grants bot create notional=0.1', 'done'],
      ['bot@ann buys 0.001 at 100', 'SUBMITTED'],
      ['bot@ann buys 0.001 at 100.01', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
      ['ann grants bot create notional=0.099999999', 'done'],
      ['bot@ann buys 0.001 at 100', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
      ['ann grants bot create notional=0.000000001', 'done'],
      ['bot@ann buys 0.001 at 0.01', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
    ],
    book: ['ann buys 0.001 at 100'],
  })
}

play(t, 'neither a low limit nor a market order hides a value', {
  given,
  when: [
    ['cat buys 5 at 100', 'SUBMITTED'],
    ['ann grants bot create notional=100', 'done'],
    ['bot@ann sells 2 at 1', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
    ['bot@ann sells 2 at market', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
    ['bot@ann sells 1 at 1', 'FILLED'],
    ['bot@ann sells 1 at market', 'FILLED'],
    ['cat sells 5 at 102', 'SUBMITTED'],
    // The band of a market order is a tenth above the touch.
    ['bot@ann buys 0.9 at market', 'refused AGENT_NOT_ALLOWED NOTIONAL'],
    ['bot@ann buys 0.891 at market', 'FILLED'],
    ['bot@ann buys 0.9 at market slippage=0', 'FILLED'],
  ],
  book: ['cat sells 3.209 at 102', 'cat buys 3 at 100'],
})

play(t, 'open orders: what the agent has resting, not what its owner has', {
  given,
  when: [
    ['ann grants bot create,replace,cancel orders=2', 'done'],
    ['mine: ann buys 1 at 90', 'SUBMITTED'],
    ['a: bot@ann buys 1 at 91', 'SUBMITTED'],
    ['b: bot@ann buys 1 at 92', 'SUBMITTED'],
    ['bot@ann buys 1 at 93', 'refused AGENT_NOT_ALLOWED OPEN_ORDERS'],
    ['bot@ann buys 1 at 93 ioc', 'CANCELLED IOC_REMAINDER'],
    ['bot@ann replaces mine price=89', 'refused AGENT_NOT_ALLOWED OPEN_ORDERS'],
    ['c: bot@ann replaces a price=91.5', 'SUBMITTED'],
    // The owner's successor is the owner's: there is room again.
    ['d: ann replaces c quantity=0.5', 'SUBMITTED'],
    ['e: bot@ann replaces mine quantity=0.5', 'SUBMITTED'],
    ['bot@ann buys 1 at 93', 'refused AGENT_NOT_ALLOWED OPEN_ORDERS'],
    ['cat sells 1 at 92', 'FILLED'],
    ['bot@ann buys 1 at 92', 'SUBMITTED'],
    ['ann grants bot create,replace orders=1', 'done'],
    ['bot@ann buys 1 at 93', 'refused AGENT_NOT_ALLOWED OPEN_ORDERS'],
    ['bot@ann replaces e price=90.5', 'SUBMITTED'],
  ],
  book: ['ann buys 1 at 92', 'ann buys 0.5 at 91.5', 'ann buys 0.5 at 90.5'],
})

play(t, 'a narrower grant holds for the next command of an open session', {
  given,
  when: [
    ['ann grants bot create,cancel', 'done'],
    ['a: bot@ann buys 1 at 90', 'SUBMITTED'],
    ['ann grants bot cancel', 'done'],
    ['bot@ann buys 1 at 90', 'refused AGENT_NOT_ALLOWED ACTION'],
    ['bot@ann cancels a', 'CANCELLED USER_CANCELLED'],
  ],
  book: [],
})

play(t, 'grants that make no sense are refused, and maintenance keeps the ones there are', {
  given,
  when: [
    ['ann grants ann create', 'refused VALIDATION_ERROR'],
    ['ann grants bot create orders=1001', 'refused VALIDATION_ERROR'],
    ['ann grants bot create orders=-1', 'refused VALIDATION_ERROR'],
    ['ann grants bot create notional=-1', 'refused VALIDATION_ERROR'],
    ['ann grants bot create expires=0', 'refused VALIDATION_ERROR'],
    ['ann grants bot create', 'done'],
    ['bot@ann buys 1 at 90', 'SUBMITTED'],
    ['maintenance on', 'done'],
    ['ann grants bot cancel', 'refused OPERATIONS_BLOCKED'],
    ['ann revokes bot', 'refused OPERATIONS_BLOCKED'],
    ['bot@ann#2 signs in', 'done'],
    ['bot@ann buys 1 at 90', 'refused OPERATIONS_BLOCKED'],
    ['maintenance off', 'done'],
    ['bot@ann#2 buys 1 at 90', 'SUBMITTED'],
  ],
})
