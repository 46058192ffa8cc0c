/**
 * Promise: an exchange whose disk is filled by its own journal and history under load goes read-only at its reserve, takes cancels and
 * reads for as long as anything can be recorded, loses nothing that was acknowledged, and comes back by itself when room is made.
 *
 * test/crash/disk_full.deep.ts fills the disk from outside and looks at each level once; here traders fill it, `--rounds` times. On a file
 * system in memory, which root may mount; skipped elsewhere.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verify } from '../../core/replay/verify.ts'
import { EXIT } from '../../core/threads.ts'
import { createClient, type Client, type RingbookError } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import { newTrader, pairOf } from '../support/traders.ts'
import { eachRound } from '../suite/rounds.ts'

t.setTimeout(0)
/** A start takes about 20 of it. */
const SIZE_MIB = 56
const RESERVE_MIB = 8
const FILLER_MIB = 12
const ITEMS = 100
const FLAGS = ['--disk-reserve-mb', String(RESERVE_MIB), '--chain', '0', '--gateways', '1', '--grpc-thread', '0']

const root = temporaryDirectory()
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m`, 'tmpfs', root]).status === 0
t.teardown(() => {
  if (mounted) spawnSync('umount', ['-l', root])
  removeDirectory(root)
})
const dataDir = join(root, 'data')
const filler = join(root, 'filler')

const codeOf = (call: Promise<unknown>): Promise<string | undefined> =>
  call.then(() => 'done', (error: RingbookError) => error.code ?? error.message)
const levels = ({ log }: Exchange): number => log.filter(({ msg }) => /new orders are accepted/.test(String(msg))).length

/** Fills the disk with orders that end at once; those that rest are put down. How many orders it took. */
async function fill(client: Client, tradingPairId: string, resting: Set<string>): Promise<number> {
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' } as const
  const orders = Array.from({ length: ITEMS }, () => ({ ...order, timeInForce: 'IOC' as const }))
  let placed = 0
  let refusal = 'done'
  const one = async (): Promise<void> => {
    for (let batch = 0; batch < 10_000 && refusal === 'done'; batch++) {
      refusal = (await codeOf(client.BatchCreateOrders({ orders }))) ?? 'none'
      placed += ITEMS
      if (batch % 50 === 0) await client.CreateOrder(order).then(({ orderId }) => resting.add(orderId), () => undefined)
    }
  }
  await Promise.all([one(), one(), one()])
  if (refusal !== 'DISK_RESERVE' && refusal !== 'DISK_FULL') throw new Error(`refused with ${refusal}`)
  return placed
}

async function round(t: Test, exchange: Exchange, client: Client, resting: Set<string>): Promise<void> {
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' } as const
  const before = levels(exchange)
  writeFileSync(filler, Buffer.alloc(FILLER_MIB << 20))
  t.comment(`${await fill(client, tradingPairId, resting)} orders filled the disk`)
  t.match(await codeOf(client.CreateOrder(order)), /DISK_RESERVE|DISK_FULL/, 'new orders are refused by name')
  const [first] = resting
  t.equal(await codeOf(client.CancelOrder({ orderId: first! })), 'done', 'cancels go on')
  resting.delete(first!)
  t.equal(await codeOf(client.ListBalances({})), 'done', 'reads go on')
  rmSync(filler)
  let back = ''
  for (let look = 0; look < 1_000 && levels(exchange) === before; look++) await new Promise((resolve) => setTimeout(resolve, 50))
  const made = await client.CreateOrder(order).then(({ orderId }) => orderId, (error: RingbookError) => void (back = String(error.code)))
  t.ok(made !== undefined, `with room orders are accepted again ${back}`)
  resting.add(made!)
}

t.test('a disk that fills up under load', { skip: mounted ? false : 'it needs root, to mount a file system in memory' }, async (t) => {
  mkdirSync(dataDir)
  const genesis = join(root, 'genesis.json')
  writeFileSync(genesis, testGenesis())
  const flags = [...FLAGS, '--genesis', genesis, '--snapshot-every', '1000000000']
  let exchange = await startExchange(dataDir, flags)
  t.teardown(() => exchange.kill())
  const { client, signer } = await newTrader(exchange.baseUrl, 3)
  const resting = new Set<string>()
  for (const _round of eachRound(t, { short: 1, deep: 3 })) await round(t, exchange, client, resting)
  await exchange.kill()
  exchange = await startExchange(dataDir, flags)
  const again = createClient({ baseUrl: exchange.baseUrl, signer })
  const open: string[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const listed = await again.ListOrders({ status: ['SUBMITTED'], page, pageSize: 100 })
    open.push(...listed.orders.map(({ orderId }) => orderId))
    pages = listed.totalPages!
  }
  t.same(open.sort(), [...resting].sort(), 'after kill -9 everything that was acknowledged is there, and nothing else')
  t.equal(await exchange.stop(), EXIT.OK)
  verify(dataDir, () => undefined)
})
