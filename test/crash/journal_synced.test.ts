/**
 * Promise: no order is acknowledged before it is durable. The whole exchange runs under strace; for every order that was acknowledged a
 * sync of the journal returned between its write and its answer.
 *
 * Everything else in test/ reads back what the kernel was given, which is there after kill -9 too, synced or not.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { dataFile } from '../../core/journal/file.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { parseTrace, reasonToSkip, traceTo, unsynced, type Acknowledged } from '../support/strace.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(600_000)
const FLAGS = ['--chain', '0', '--grpc-thread', '0', '--gateways', '1', '--snapshot-every', '1000000000']
/** Clients at once, and orders of each: batches of one and of several. */
const CLIENTS = 4
const ORDERS = 12

t.test('every acknowledged order was synced before its answer', { skip: reasonToSkip() }, async (t) => {
  const dataDir = temporaryDirectory()
  const trace = join(dataDir, 'trace')
  const exchange = await startExchange(dataDir, FLAGS, {}, traceTo(trace))
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(dataDir)
  })
  const { client } = await newTrader(exchange.baseUrl, 3)
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' } as const
  const acknowledged: Acknowledged[] = []
  const place = async (client_: number): Promise<void> => {
    for (let number = 0; number < ORDERS; number++) {
      const clientOrderId = `order-${client_}-${number}-of-the-trace`
      const { orderId } = await client.CreateOrder({ ...order, timeInForce: number % 2 === 0 ? 'GTC' : 'IOC', clientOrderId })
      acknowledged.push({ clientOrderId, orderId })
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, client_) => place(client_)))
  await exchange.kill()
  t.equal(acknowledged.length, CLIENTS * ORDERS)
  const calls = parseTrace(readFileSync(trace, 'utf8'))
  t.same(unsynced(calls, dataFile(dataDir), acknowledged), [], `${calls.length} calls were seen`)
})
