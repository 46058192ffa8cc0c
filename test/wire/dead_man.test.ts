/**
 * Promise: a request with `afterMs` cancels nothing and says when everything will be; then the exchange itself does it,
 * with no request and no connection. 0 takes it away. What is no whole number from 0 to a day is refused.
 */
import t from 'tap'
import { SCALAR } from '../../core/state/columns.ts'
import { call, startHarness } from '../support/gateway_harness.ts'

const ALL = '/api/v1/orders/batch-cancel-all'

t.test('set, repeated, taken away, fired', async (t) => {
  const harness = await startHarness([], undefined, undefined, undefined, true)
  t.teardown(() => harness.close())
  const session = await harness.openSession()
  await call(harness, session, 'POST', '/api/v1/faucet/mint')
  const bid = async (price: string): Promise<unknown> => {
    const terms = { tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price }
    return (await call(harness, session, 'POST', '/api/v1/orders', terms)).json.orderId
  }
  const set = async (afterMs: unknown) => (await call(harness, session, 'POST', ALL, { afterMs })).json
  const open = (): number => harness.state.scalars[SCALAR.ORDERS_LIVE]!
  await bid('90')
  for (const wrong of [-1, 86_400_001, 1.5, '5']) t.match(await set(wrong), { code: 'VALIDATION_ERROR', details: { field: 'afterMs' } })
  const far = await set(86_400_000)
  t.match(far, { totalCancelled: 0, orderIds: [] })
  t.match(far.cancelAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.ok(Date.parse(far.cancelAt) > Date.now() + 86_000_000)
  t.same(await set(0), { totalCancelled: 0, orderIds: [], cancelAt: null })
  t.equal(open(), 1)
  await set(1)
  for (let look = 0; look < 500 && open() > 0; look++) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(open(), 0)
  await bid('91')
  t.equal(open(), 1, 'once')
  t.same(Object.keys((await call(harness, session, 'POST', ALL, {})).json).includes('cancelAt'), false, 'as before without it')
})
