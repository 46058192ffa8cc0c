/**
 * Promise: `--journal-gb` is a limit. Near it new orders are refused by name while cancels and reads go on, the file does not
 * grow beyond it, no commit has to fail, a restart finds the same, and with a higher limit orders are accepted again.
 */
import { statSync } from 'node:fs'
import t from 'tap'
import { dataFile } from '../../core/journal/file.ts'
import { EXIT } from '../../core/threads.ts'
import { createClient, RingbookError } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(180_000)
const FLAGS = ['--gateways', '1', '--grpc-thread', '0', '--chain', '0']
/** GiB: a little more than the room that is kept for cancels. */
const LIMIT = 0.012
const ITEMS = 100

t.test('a journal that reaches its limit', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const flags = [...FLAGS, '--journal-gb', String(LIMIT)]
  const exchange = await startExchange(directory, flags)
  t.teardown(() => exchange.kill())
  const { client, signer } = await newTrader(exchange.baseUrl, 5)
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' } as const
  const resting = (await client.CreateOrder(order)).orderId
  const orders = Array.from({ length: ITEMS }, () => ({ ...order, timeInForce: 'IOC' as const }))
  let refusal: unknown
  for (let batch = 0; batch < 5_000 && refusal === undefined; batch++) {
    await client.BatchCreateOrders({ orders }).catch((error: unknown) => (refusal = error))
  }
  t.ok(refusal instanceof RingbookError)
  t.equal((refusal as RingbookError).code, 'DISK_RESERVE')
  t.ok((await client.ListBalances()).balances.length > 0, 'reads go on')
  await client.CancelOrder({ orderId: resting })
  t.pass('and cancels')
  t.ok(exchange.log.some(({ level, msg }) => level === 'warn' && /near its limit: raise --journal-gb/.test(String(msg))), 'it says so')
  t.equal(await exchange.stop(), EXIT.OK, 'an orderly stop')
  const { size } = statSync(dataFile(directory))
  t.ok(size <= LIMIT * 2 ** 30 + (256 << 10), `${size} bytes are within the limit and a piece of room`)

  const codeOf = async (limit: number): Promise<string> => {
    const again = await startExchange(directory, [...FLAGS, '--journal-gb', String(limit)])
    t.teardown(() => again.kill())
    const same = createClient({ baseUrl: again.baseUrl, signer })
    const code = await same.CreateOrder(order).then(() => 'done', (error: RingbookError) => error.code)
    t.equal(await again.stop(), EXIT.OK)
    return code
  }
  t.equal(await codeOf(LIMIT), 'DISK_RESERVE', 'the next start refuses too')
  t.equal(await codeOf(1), 'done', 'a higher limit is good at once')
})
