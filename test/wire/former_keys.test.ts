/**
 * Promise: a gateway sends the payload hash of before the rules 4 beside today's for as long as receipts may have it, so that a key from
 * before the upgrade has its first answer over the wire. property/keys_over_upgrades.test.ts has every kind of payload.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { CommandType, Option, ORDER_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { call, startHarness, testGenesis } from '../support/gateway_harness.ts'

for (const [rules, answered] of [[3, 200], [4, 409]] as const) {
  t.test(`an exchange of the rules ${rules}`, async (t) => {
    const harness = await startHarness([], JSON.stringify({ ...JSON.parse(testGenesis()), rules }))
    t.teardown(() => harness.close())
    const session = await harness.openSession()
    await call(harness, session, 'POST', '/api/v1/faucet/mint')
    const account = harness.state.sessions[session.row * SESSION_WORDS + SESSION.ACCOUNT]!
    // A bid for 1 at 10 of the first pair, in the words of the first layout, as gateways of before hashed it.
    const [price, lots] = [1000, 10_000]
    const words = new Int32Array(32)
    words.set([CommandType.PLACE_ORDER, 0, 0, 0, 0, (1 << 9) | (1 << 19), price, lots])
    const hash = (what: string | Int32Array): string => createHash('sha256').update(what).digest('hex').slice(0, 32)
    const placed = await harness.operate(CommandType.PLACE_ORDER, ORDER_COMMAND, {
      session: session.row, sessionGeneration: session.generation, pair: 0, price, lots, options: Option.KEYED | Option.TELL_SELF_TRADE,
      key: hash(`${account}:before`), payload: hash(words),
    })
    t.equal(placed[RESULT.at.code], 0)
    const body = {
      tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', price: '10', quantity: '1', idempotencyKey: 'before',
    }
    t.equal((await call(harness, session, 'POST', '/api/v1/orders', body)).status, answered)
    t.equal((await call(harness, session, 'POST', '/api/v1/orders', { ...body, quantity: '2' })).status, 409)
  })
}
