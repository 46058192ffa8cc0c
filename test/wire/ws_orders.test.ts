/**
 * Promise: an order entered on a WebSocket is the order it would be over REST: every type, signed by itself or in a session, with the same
 * answers and the same refusals.
 */
import t from 'tap'
import { call, startHarness, type Session } from '../support/gateway_harness.ts'
import { OrderSocket } from '../support/order_socket.ts'
import { signerOf, SocketClient } from '../support/sockets.ts'

const harness = await startHarness(['--ws-order-entry', '1'])
t.teardown(() => harness.close())
const { port } = harness
const pair = harness.genesis.pairs[0]!
const BODY = { tradingPairId: pair.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '100' }

async function trader(): Promise<Session> {
  const session = await harness.openSession()
  const minted = await call(harness, session, 'POST', '/api/v1/faucet/mint', {})
  if (minted.status !== 200) throw new Error(`no funds: ${minted.text}`)
  return session
}

for (const mode of ['signed', 'counted'] as const) {
  t.test(`every type, ${mode}`, async (t) => {
    const signer = signerOf(await trader())
    const socket = mode === 'signed' ? await OrderSocket.open(port, signer) : await OrderSocket.inSession(port, signer)
    const ask = (type: string, body?: object) => (mode === 'signed' ? socket.signed(type, body) : socket.counted(type, body))
    const created = await ask('order.create', BODY)
    t.match(created, {
      type: 'result', status: 200, data: { status: 'SUCCESS', matchResult: { status: 'SUBMITTED' } },
      budget: { limitSecond: 50, limitMinute: 1500, remainingSecond: Number, remainingMinute: Number },
    })
    const { orderId } = created['data']
    const replaced = await ask('order.replace', { orderId, price: '101' })
    t.equal(replaced['data'].originalOrderId, orderId)
    const cancelled = { orderId: replaced['data'].orderId, status: 'SUCCESS', message: 'Order cancelled' }
    t.strictSame((await ask('order.cancel', { orderId: cancelled.orderId }))['data'], cancelled)
    const { data: batch } = await ask('order.batch', { orders: [BODY, { ...BODY, price: '0.001' }, BODY, BODY] })
    t.match(batch, { totalRequested: 4, totalSucceeded: 3, totalFailed: 1 })
    t.equal(batch.results[1].error.code, 'INVALID_TICK')
    const ids = batch.results.flatMap((each: { orderId?: string }) => each.orderId ?? [])
    const { data: moved } = await ask('order.batch_replace', { orders: [{ orderId: ids[0], price: '99' }] })
    t.equal(moved.results[0].originalOrderId, ids[0])
    t.match((await ask('order.batch_cancel', { orderIds: [moved.results[0].newOrderId, ids[0]] }))['data'], {
      totalSucceeded: 1, totalFailed: 1,
    })
    t.equal((await ask('order.cancel_by_pair', { tradingPairId: pair.id }))['data'].totalCancelled, 2)
    t.strictSame((await ask('order.cancel_all'))['data'], { totalCancelled: 0, orderIds: [] })
    socket.close()
  })
}

t.test('off by default: an error frame says so, and nothing else happens', async (t) => {
  const plain = await startHarness()
  const client = await SocketClient.open(plain.port)
  for (const type of ['order.create', 'order.cancel', 'session.open']) {
    const answer = await client.ask({ type, body: '{}', counter: 1 })
    t.match(answer, { type: 'error', code: 'ORDER_ENTRY_DISABLED', message: 'Order entry is not switched on' })
  }
  client.close()
  await plain.close()
})
