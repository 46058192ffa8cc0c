/**
 * Promise: when pages of receipts cannot be written (their disk is full, their directory is gone), new orders are refused by name, also
 * after a kill and a start; cancels and reads go on, no receipt is lost, and with room everything goes on by itself.
 *
 * A file stands where the directory should be: as good as a full disk, and of this directory alone.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeBackup } from '../../core/backup/backup.ts'
import { restore } from '../../core/backup/restore.ts'
import { pageFilesBytes, receiptDirectory } from '../../core/lib/page_files.ts'
import { verify } from '../../core/replay/verify.ts'
import { loadSnapshot, receiptPagesOf } from '../../core/snapshot/file.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { EXIT } from '../../core/threads.ts'
import { createClient, type RingbookError } from '../../gateway/client/index.ts'
import { logged, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import { newTrader, pairOf } from '../support/traders.ts'

const codeOf = (call: Promise<unknown>): Promise<string> => call.then(() => 'done', (error: RingbookError) => error.code ?? error.message)

t.test('pages of receipts that cannot be written', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const genesis = join(dataDir, 'genesis-of-test.json')
  writeFileSync(genesis, testGenesis({ receiptPages: 1, receipts: 65_536 }))
  const receipts = join(dataDir, 'receipts')
  writeFileSync(receipts, '')
  const flags = ['--genesis', genesis, '--chain', '0', '--gateways', '1', '--grpc-thread', '0']
  let exchange = await startExchange(dataDir, flags)
  t.teardown(() => exchange.kill())
  const { client, signer } = await newTrader(exchange.baseUrl, 3)
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' } as const
  const first = await client.CreateOrder({ ...order, idempotencyKey: 'first' })

  let refusal = 'done'
  let placed = 0
  for (; placed < 2_000 && refusal === 'done'; placed += 20) {
    const orders = Array.from({ length: 20 }, (_, i) => ({ ...order, timeInForce: 'IOC' as const, idempotencyKey: `key ${placed + i}` }))
    refusal = await codeOf(client.BatchCreateOrders({ orders }))
  }
  t.equal(refusal, 'DISK_RESERVE', `refused by name after ${placed} orders`)
  const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  t.ok(Number(/^exchange_receipt_pages_waiting (\d+)/m.exec(await metrics())?.[1]) > 0)
  await logged(exchange, /their pages cannot be written/)
  t.match(exchange.log.map(({ msg }) => msg).join('\n'), /their pages cannot be written.*\n?.*directory receipts/s)
  t.equal(await codeOf(client.ListBalances({})), 'done', 'reads go on')
  t.equal(await codeOf(client.CancelOrder({ orderId: first.orderId })), 'done', 'cancels go on')

  await exchange.kill()
  exchange = await startExchange(dataDir, flags)
  const again = createClient({ baseUrl: exchange.baseUrl, signer })
  const keyed = { ...order, timeInForce: 'IOC', idempotencyKey: 'key 7' } as const
  let code = ''
  for (let look = 0; look < 500 && code !== 'DISK_RESERVE'; look++) {
    code = await codeOf(again.CreateOrder(keyed))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.equal(code, 'DISK_RESERVE', 'a start has as little room')

  rmSync(receipts)
  for (let look = 0; look < 1_000 && code !== 'done'; look++) {
    code = await codeOf(again.CreateOrder(keyed))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.equal(code, 'done', 'with room everything goes on by itself')
  t.equal(/^exchange_receipt_pages_waiting (\d+)/m.exec(await metrics())?.[1], '0')
  t.match(await metrics(), /exchange_file_bytes\{file="receipts\/\*\.pages"\} [1-9]/)
  const { orderId } = await again.CreateOrder({ ...order, idempotencyKey: 'first' })
  t.equal(orderId, first.orderId, 'the first receipt is there')
  t.equal(await exchange.stop(), EXIT.OK)
  verify(dataDir, () => undefined)
  await backedUp(t, dataDir)
})

/** A backup takes the pages along that its snapshot names, and what is restored from it starts at that snapshot. */
async function backedUp(t: Test, dataDir: string): Promise<void> {
  const root = temporaryDirectory()
  t.teardown(() => removeDirectory(root))
  const options = { history: false, rate: 1000, full: true, said: () => undefined }
  const [backup, restored] = [join(root, 'backup'), join(root, 'restored')]
  const { sequence } = await makeBackup(dataDir, backup, options)
  await restore(backup, restored, options)
  const { from, to } = receiptPagesOf(restored, sequence)
  t.ok(to > from, `pages ${from} to ${to} are in files`)
  t.ok(pageFilesBytes(receiptDirectory(restored)) > 0)
  checkInvariants(loadSnapshot(restored, sequence).state)
}
