/**
 * Promise: of orders that were told to be filled the orders channel tells SETTLED and then SETTLED_ON_CHAIN, once each and the oldest fill
 * of an account first, whatever batches come; memory for it is bounded in all and for each account, the last part is for accounts that
 * have few, and what found no room is counted.
 */
import t from 'tap'
import { outcomeOf, Reason, Status } from '../../core/layout/event.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import type { OrderFacts } from '../../gateway/operations/order_record.ts'
import { SettledOrders, type Settled } from '../../gateway/ws/channels/settled_orders.ts'

const FILLED = outcomeOf(Status.FILLED, Reason.NONE)
const ROOM = { all: 12, account: 5, reserve: 4, few: 2 }

function setUp() {
  const counters = new Float64Array(256)
  const orders = new SettledOrders(counters, ROOM)
  const told = (most = 1000): [account: number, order: number, status: number, by: number][] => {
    const all: Settled[] = []
    orders.tell(most, (settled) => all.push(settled))
    return all.map(({ order, sequence }) => [order.account, order.sequence, order.outcome! & 0xff, sequence])
  }
  const fill = (account: number, sequence: number): void =>
    orders.remember({ account, sequence, outcome: FILLED } as OrderFacts, sequence)
  return { orders, told, fill, leftOut: () => counters[GATEWAY.ws_settled_left_out]! }
}

t.test('opened, then confirmed', async (t) => {
  const { orders, told, fill } = setUp()
  for (const sequence of [10, 20, 30]) fill(1, sequence)
  fill(2, 15)
  orders.settle(20, false, 100, 1)
  t.strictSame(told(), [[1, 10, Status.SETTLED, 100], [1, 20, Status.SETTLED, 100], [2, 15, Status.SETTLED, 100]])
  t.strictSame(told(), [], 'once')
  orders.settle(30, false, 101, 2)
  t.strictSame(told(), [[1, 30, Status.SETTLED, 101]])
  orders.settle(20, true, 102, 3)
  const final = Status.SETTLED_ON_CHAIN
  t.strictSame(told(), [[1, 10, final, 102], [1, 20, final, 102], [2, 15, final, 102]])
  orders.settle(40, true, 103, 4)
  t.strictSame(told(), [[1, 30, final, 103]])
  orders.settle(50, true, 104, 5)
  t.strictSame(told(), [], 'nothing is left')
})

t.test('a batch of which only the confirmation was seen is told whole', async (t) => {
  const { orders, told, fill } = setUp()
  fill(1, 10)
  orders.settle(10, true, 100, 1)
  t.strictSame(told(), [[1, 10, Status.SETTLED, 100], [1, 10, Status.SETTLED_ON_CHAIN, 100]])
})

t.test('what is told at once is bounded, and the rest says since when it waits', async (t) => {
  const { orders, told, fill } = setUp()
  for (const sequence of [10, 11, 12]) fill(1, sequence)
  orders.settle(11, false, 100, 7)
  orders.settle(12, false, 101, 9)
  t.equal(orders.tell(2, () => undefined), 9)
  t.strictSame(told(1), [[1, 12, Status.SETTLED, 101]])
  t.equal(orders.tell(2, () => t.fail('nothing is left')), 0)
})

t.test('room', async (t) => {
  const { orders, told, fill, leftOut } = setUp()
  for (let sequence = 1; sequence <= 7; sequence++) fill(1, sequence)
  t.equal(leftOut(), 2, 'an account has five')
  for (let sequence = 11; sequence <= 14; sequence++) fill(2, sequence)
  t.equal(leftOut(), 3, 'eight are for all; the last four for who has less than two')
  for (const account of [3, 4, 5, 6, 7]) fill(account, 20)
  t.equal(leftOut(), 4)
  orders.forget(1)
  fill(8, 30)
  t.equal(leftOut(), 4, 'who left gave its room back')
  orders.settle(100, true, 200, 1)
  t.equal(told().filter(([account]) => account === 1).length, 0)
  for (let sequence = 201; sequence <= 205; sequence++) fill(9, sequence)
  t.equal(leftOut(), 4, 'and so does what was told')
})
