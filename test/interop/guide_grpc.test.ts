/**
 * Promise: the gRPC program of the guide, as it stands there, signs calls and sends signed orders on a stream, many in flight; with the
 * .proto files as they are served.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { webcrypto } from 'node:crypto'
import t from 'tap'
import { FILES, protoPaths } from '../../gateway/docs/files.ts'
import { Grpc } from '../../gateway/docs/guide/grpc.ts'
import { call, startHarness } from '../support/gateway_harness.ts'

const harness = await startHarness(['--grpc-thread', '1'])
t.teardown(() => harness.close())
const { id: tradingPairId } = harness.genesis.pairs[0]!

t.test('signed calls, and orders in flight on a stream', async (t) => {
  const protos = t.testdir({})
  for (const path of protoPaths()) {
    mkdirSync(dirname(join(protos, path)), { recursive: true })
    writeFileSync(join(protos, path), FILES[`/docs/proto/${path}`]!.read())
  }
  const session = await harness.openSession()
  t.equal((await call(harness, session, 'POST', '/api/v1/faucet/mint', {})).status, 200)
  const der = session.privateKey.export({ format: 'der', type: 'pkcs8' })
  const privateKey = await webcrypto.subtle.importKey('pkcs8', der, 'Ed25519', false, ['sign'])
  const grpc = new Grpc(`127.0.0.1:${harness.grpcPort}`, protos, { publicKey: session.publicKey, keys: { privateKey } as CryptoKeyPair })
  t.teardown(() => grpc.client.close())

  const { balances } = await grpc.call('AccountsService', 'ListBalances', {})
  t.ok(balances.length > 0)
  await t.rejects(grpc.call('OrdersService', 'GetOrder', { orderId: tradingPairId }), { code: 5, details: String })

  const stream = grpc.streamOrders()
  const order = { tradingPairId, orderType: 'ORDER_TYPE_LIMIT', side: 'SIDE_BUY', quantity: '0.1' }
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => stream.send({ createOrder: { ...order, price: String(100 + i) } })))
  const ids = made.map(({ createOrder }) => createOrder.orderId as string)
  t.equal(new Set(ids).size, 20)
  t.equal((await grpc.call('OrdersService', 'GetOrder', { orderId: ids[7] })).price, '107', 'each answer has come to its question')
  t.match(await stream.send({ createOrder: { ...order, price: '100.001' } }), { error: { code: 3 } }, 'a refusal is an answer')
  const ended = await Promise.all(ids.map((orderId) => stream.send({ cancelOrder: { orderId } })))
  t.strictSame(ended.map(({ cancelOrder }) => cancelOrder.orderId), ids)
  stream.close()
  await t.rejects(stream.send({ cancelOrder: { orderId: ids[0] } }))
})
