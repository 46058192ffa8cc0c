/**
 * Promise: the operator can stop a pair in two steps. CANCEL_ONLY: nobody places or replaces, everybody can leave. HALTED: nothing
 * moves but expiry, and a mass cancel neither ends nor counts what stands on a halted pair. Resting orders keep their place through
 * both.
 */
import t from 'tap'
import { CommandType, kindOf, SET_FEE_TIER_COMMAND, SET_PAIR_STATUS_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { createBench } from '../support/naive_compare.ts'
import { play } from '../support/scenario.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const given = ['ann 10 BTC, 1000 USD', 'cat 1000 USD']

play(t, 'cancel only: no orders, no replacements; cancels and mass cancels work', {
  given,
  when: [
    ['a: ann sells 1 at 100', 'SUBMITTED'],
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['c: cat buys 1 at 99', 'SUBMITTED'],
    ['pair cancel-only', 'done'],
    ['cat buys 1 at 100', 'refused PAIR_NOT_ACTIVE'],
    ['cat buys 1 at market', 'refused PAIR_NOT_ACTIVE'],
    ['ann replaces a price=102', 'refused PAIR_NOT_ACTIVE'],
    ['ann replaces a quantity=0.5', 'refused PAIR_NOT_ACTIVE'],
    ['cat cancels c', 'CANCELLED USER_CANCELLED'],
    ['ann cancels all limit=1', '1 cancelled, more left'],
  ],
  book: ['ann sells 1 at 100'],
  trades: [],
  balances: ['ann 9 BTC, 1000 USD, 1 BTC locked', 'cat 1000 USD'],
})

play(t, 'halted: cancels are refused too, a mass cancel ends and counts nothing', {
  given,
  when: [
    ['a: ann sells 1 at 100', 'SUBMITTED'],
    ['pair halted', 'done'],
    ['cat buys 1 at 100', 'refused PAIR_NOT_ACTIVE'],
    ['ann replaces a price=102', 'refused PAIR_NOT_ACTIVE'],
    ['ann cancels a', 'refused PAIR_NOT_ACTIVE'],
    ['cat cancels a', 'refused ORDER_NOT_FOUND'],
    ['ann cancels all', '0 cancelled, none left'],
    ['ann cancels all pair', '0 cancelled, none left'],
  ],
  book: ['ann sells 1 at 100'],
  balances: ['ann 9 BTC, 1000 USD, 1 BTC locked'],
})

play(t, 'halted: orders expire, what they held is free again', {
  given,
  when: [
    ['a: ann sells 1 at 100 expires=60', 'SUBMITTED'],
    ['b: ann sells 1 at 101', 'SUBMITTED'],
    ['pair halted', 'done'],
    ['timer expires a', 'refused ORDER_NOT_FOUND'],
    ['wait 60', 'waited'],
    ['ann cancels a', 'refused ORDER_NOT_FOUND'],
    ['timer expires a', 'done'],
    ['timer expires b', 'refused ORDER_NOT_FOUND'],
  ],
  book: ['ann sells 1 at 101'],
  balances: ['ann 9 BTC, 1000 USD, 1 BTC locked'],
})

play(t, 'active again: the queue is as it was', {
  given: ['ann 10 BTC', 'bob 10 BTC', 'cat 1000 USD'],
  when: [
    ['a: ann sells 1 at 100', 'SUBMITTED'],
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['pair halted', 'done'],
    ['pair active', 'done'],
    ['cat buys 1 at 100', 'FILLED'],
    ['ann cancels a', 'refused ORDER_NOT_FOUND'],
  ],
  trades: ['cat buys 1 at 100 from ann'],
  book: ['bob sells 1 at 100'],
})

play(t, 'a known idempotency key is answered on a halted pair; a new one leaves no trace', {
  given,
  when: [
    ['a: ann sells 1 at 100 key=k1', 'SUBMITTED'],
    ['pair halted', 'done'],
    ['ann sells 1 at 100 key=k1', 'SUBMITTED, repeated'],
    ['ann sells 1 at 101 key=k2', 'refused PAIR_NOT_ACTIVE'],
    ['pair active', 'done'],
    ['ann sells 1 at 101 key=k2', 'SUBMITTED'],
  ],
  book: ['ann sells 1 at 100', 'ann sells 1 at 101'],
})

play(t, 'maintenance is said before the status of the pair; cancels are open in maintenance unless the pair is halted', {
  given,
  when: [
    ['a: ann sells 1 at 100', 'SUBMITTED'],
    ['maintenance on', 'done'],
    ['pair halted', 'done'],
    ['ann sells 1 at 101', 'refused OPERATIONS_BLOCKED'],
    ['ann cancels a', 'refused PAIR_NOT_ACTIVE'],
    ['pair cancel-only', 'done'],
    ['ann cancels a', 'CANCELLED USER_CANCELLED'],
  ],
  book: [],
})

const bench = createBench(genesisText(VARIANTS['market']!))
/** Sends one command of lane `lane` and returns its RESULT. */
function send(lane: number, type: CommandType, layout: Layout, values: Decoded): Decoded {
  const command = viewsOf(new ArrayBuffer(RECORD_BYTES))
  encode(layout, command, 0, { kind: kindOf(type, 1, lane), session: -1, ...values })
  const count = bench.run(command, 0, 1_700_000_000_000)
  checkInvariants(bench.state)
  return decode(RESULT, bench.said, (count - 1) * RECORD_WORDS)
}
const status = (lane: number, pair: number, to: number): Decoded =>
  send(lane, CommandType.SET_PAIR_STATUS, SET_PAIR_STATUS_COMMAND, { pair, status: to })
const tier = (lane: number, account: number, to: number): Decoded =>
  send(lane, CommandType.SET_FEE_TIER, SET_FEE_TIER_COMMAND, { account, tier: to })

t.test('the answer says pair, status and the status before; each pair has its own', async (t) => {
  t.match(status(0, 1, 2), { code: 0, account: -1, pair: 1, detail: 2, detail2: 1 })
  t.match(status(0, 1, 0), { code: 0, pair: 1, detail: 0, detail2: 2 })
  t.match(status(0, 0, 1), { code: 0, pair: 0, detail: 1, detail2: 1 })
})

t.test('unknown pairs, statuses and accounts are refused, and whatever does not come from the operator', async (t) => {
  for (const pair of [-1, 3, 2 ** 31 - 1]) t.equal(status(0, pair, 1)['code'], 600, `pair ${pair}`)
  for (const to of [-1, 3, 2 ** 31 - 1]) t.equal(status(0, 0, to)['code'], 200, `status ${to}`)
  for (const account of [-1, 0, 2 ** 31 - 1]) t.equal(tier(0, account, 0)['code'], 600, `account ${account}`)
  for (const lane of [1, 2, 65_535]) {
    t.equal(status(lane, 0, 0)['code'], 117, `lane ${lane}`)
    t.equal(tier(lane, 0, 0)['code'], 117, `lane ${lane}`)
  }
  t.match(status(0, 0, 1), { code: 0, detail2: 1 }, 'nothing of that changed anything')
})
