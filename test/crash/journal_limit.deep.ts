/**
 * Promise: `--journal-gb` is a limit. Near it new orders are refused by name while cancels and reads go on, the file does not
 * grow beyond it, no commit has to fail, a restart finds the same, and with a higher limit orders are accepted again. Should nobody have
 * looked in time, the commit that might pass it is not begun.
 */
import { mkdirSync, statSync } from 'node:fs'
import t from 'tap'
import { dataFile, journalPath, openJournal, usedBytes } from '../../core/journal/file.ts'
import { readBatches, START } from '../../core/journal/reader.ts'
import { createWriter, JournalFull } from '../../core/journal/writer.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { EXIT } from '../../core/threads.ts'
import { createClient, RingbookError } from '../../gateway/client/index.ts'
import { logged, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(900_000)
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
  t.match(await logged(exchange, /near its limit: raise --journal-gb/), { level: 'warn' }, 'it says so')
  t.equal(await exchange.stop(), EXIT.OK, 'an orderly stop')
  const { size } = statSync(dataFile(directory))
  t.ok(size <= LIMIT * 2 ** 30, `${size} bytes are within the limit, room ahead included`)

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

for (const [seed, most] of [[1, 30], [2, 400], [3, 2048]] as const) {
  t.test(`batches of up to ${most} records, with nobody looking at the disk`, async (t) => {
    const directory = temporaryDirectory()
    t.teardown(() => removeDirectory(directory))
    mkdirSync(journalPath(directory))
    const megabytes = 3
    const database = openJournal(directory, false, megabytes / 1024)
    const writer = createWriter(database, most)
    const random = createPrng(seed)
    let sequence = 1
    let full: unknown = null
    for (let batch = 0; batch < 100_000 && full === null; batch++) {
      const slots = 1 + random.below(most)
      try {
        writer.commit(sequence, 1, slots, slots, 0)
        sequence += slots
      } catch (error) {
        full = error
      }
    }
    t.ok(full instanceof JournalFull, String(full))
    const { size } = statSync(dataFile(directory))
    t.ok(size <= megabytes << 20, `${size} bytes`)
    t.ok(usedBytes(directory) > (megabytes - 1) << 20, 'no more than a mebibyte is left unused')
    t.equal([...readBatches(database, START)].at(-1)?.next, sequence, 'what was committed is whole')
    t.throws(() => writer.commit(sequence, 1, most, most, 0), JournalFull, 'and it stays so')
    writer.close()
    await database.close()
  })
}
