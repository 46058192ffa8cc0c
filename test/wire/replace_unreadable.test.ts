/**
 * Promise: the repeat of a keyed replacement is answered as the first, or with ORDER_SUBMISSION_UNAVAILABLE while nobody can tell what the
 * key was used for (specification, Errors); never with ORDER_NOT_FOUND, on which a client would place another order.
 */
import t from 'tap'
import { APPLYING } from '../../core/ring/counters.ts'
import { call, startHarness } from '../support/gateway_harness.ts'

const harness = await startHarness()
t.teardown(() => harness.close())
const gate = new Int32Array(harness.shared.gate)
const order = { tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '100' }

t.test('while the matcher is in the middle of a batch', async (t) => {
  const ann = await harness.openSession()
  await call(harness, ann, 'POST', '/api/v1/faucet/mint')
  const made = await call(harness, ann, 'POST', '/api/v1/orders', order)
  const target = `/api/v1/orders/${String(made.json.orderId)}`
  const replacement = { price: '101', idempotencyKey: 'r1' }
  const first = await call(harness, ann, 'PUT', target, replacement)
  t.match(first, { status: 200 })
  t.same((await call(harness, ann, 'PUT', target, replacement)).json, first.json, 'at rest it has the first answer')
  Atomics.add(gate, APPLYING, 1)
  const meanwhile = await call(harness, ann, 'PUT', target, replacement)
  Atomics.add(gate, APPLYING, 1)
  t.match(meanwhile, { status: 503, json: { code: 'ORDER_SUBMISSION_UNAVAILABLE' } })
  t.same((await call(harness, ann, 'PUT', target, replacement)).json, first.json, 'and again afterwards')
  const unknown = await call(harness, ann, 'PUT', target, { price: '102', idempotencyKey: 'r2' })
  t.match(unknown, { status: 404, json: { code: 'ORDER_NOT_FOUND' } })
})
