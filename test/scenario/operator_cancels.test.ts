/**
 * Promise: the operator cancels the orders of any account, of one pair or of all, so many at a time, whatever their pair lets happen; funds
 * come back, and the end of each says that it was the operator's doing. Nobody else can (core/orders/cancel_account.ts).
 */
import t from 'tap'
import { apply } from '../../core/engine/apply.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { CANCEL_ACCOUNT_ORDERS_COMMAND, CommandType, Flag, kindOf } from '../../core/layout/command.ts'
import { EventType, ORDER_ENDED, RESULT } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { play, Scene } from '../support/scenario.ts'

play(t, 'all of them, the newest first, and the rest with the next command', {
  given: ['ann 10 BTC', 'cat 500 USD, 1 BTC'],
  when: [
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['ann sells 1 at 102', 'SUBMITTED'],
    ['cat buys 1 at 99', 'SUBMITTED'],
    ['ann sells 1 at 103 key=k', 'SUBMITTED'],
    ['operator cancels ann limit=2', '2 cancelled, more left'],
    ['operator cancels ann', '1 cancelled, none left'],
    ['operator cancels ann', '0 cancelled, none left'],
    ['ann sells 1 at 103 key=k', 'SUBMITTED, repeated'],
  ],
  ended: ['ann sells 1 at 103 USER_CANCELLED', 'ann sells 1 at 102 USER_CANCELLED', 'ann sells 1 at 101 USER_CANCELLED'],
  book: ['cat buys 1 at 99'],
  balances: ['ann 10 BTC'],
})

play(t, 'of one pair, on a halted one, in maintenance', {
  given: ['ann 10 BTC'],
  when: [
    ['ann sells 1 at 101', 'SUBMITTED'],
    ['ann sells 0.01 at 2 pair=1', 'refused INSUFFICIENT_BALANCE'],
    ['pair halted', 'done'],
    ['ann cancels all', '0 cancelled, none left'],
    ['maintenance on', 'done'],
    ['operator cancels ann pair', '1 cancelled, none left'],
  ],
  book: [],
  balances: ['ann 10 BTC'],
})

/** Applies CANCEL_ACCOUNT_ORDERS as it stands and returns what was said. */
function send(scene: Scene, lane: number, values: Decoded): { code: number; ended: Decoded[] } {
  const { state } = scene.bench
  const command = viewsOf(new ArrayBuffer(RECORD_BYTES))
  const kind = kindOf(CommandType.CANCEL_ACCOUNT_ORDERS, 1, lane)
  encode(CANCEL_ACCOUNT_ORDERS_COMMAND, command, 0, { kind, session: -1, pair: -1, limit: 1000, ...values })
  state.outbox.count = 0
  apply(state, command, 0)
  const said = Array.from({ length: state.outbox.count }, (_, record) => record * RECORD_WORDS)
  const ended = said.filter((at) => (state.outbox.i32[at]! & 0xff) === EventType.ORDER_ENDED)
  const code = state.outbox.i32[said.at(-1)! + RESULT.at.code]!
  const events = ended.map((at) => decode(ORDER_ENDED, state.outbox, at))
  state.outbox.count = 0
  return { code, ended: events }
}

t.test('who may, and what must be named', async (t) => {
  const scene = new Scene({ limits: {} })
  scene.give('ann 10 BTC')
  scene.step('a: ann sells 1 at 100')
  const account = Number(scene.result['account'])
  const createdSequence = scene.bench.state.accountsF64.find((_, at) => at === (account * 32 + 24) / 2)!
  const good = { account, createdSequence }
  const refused: [string, number, Decoded, keyof typeof REFUSALS][] = [
    ['a gateway', 1, good, 'OPERATOR_ONLY'],
    ['no such row', 0, { ...good, account: 99 }, 'NOT_FOUND'],
    ['no row', 0, { ...good, account: -1 }, 'NOT_FOUND'],
    ['somebody who had the row before', 0, { ...good, createdSequence: createdSequence - 1 }, 'NOT_FOUND'],
    ['no such pair', 0, { ...good, pair: 7 }, 'NOT_FOUND'],
    ['none at all', 0, { ...good, limit: 0 }, 'VALIDATION_ERROR'],
  ]
  for (const [who, lane, values, code] of refused) {
    t.same(send(scene, lane, values), { code: REFUSALS[code].number, ended: [] }, who)
  }
  const { code, ended } = send(scene, 0, good)
  t.equal(code, 0)
  t.equal(ended.length, 1)
  t.not(Number(ended[0]!['flags']) & Flag.BY_OPERATOR, 0, 'the end says who')
})
