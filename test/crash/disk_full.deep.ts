/**
 * Promise: a full disk costs new orders and nothing else. Below the reserve they are refused by name while cancels and reads go on, also
 * with no byte free and also by a process that starts like that; with room again orders are accepted, the journal has room ahead of it and
 * the history catches up, without a restart and as often as it happens. Each crossing is in the log once.
 *
 * On a small file system in memory, which root may mount; skipped elsewhere, but for a reserve that is more than the disk has.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { dataFile, journalPath, openJournal, usedBytes } from '../../core/journal/file.ts'
import { keepRoom } from '../../core/journal/room.ts'
import { verify } from '../../core/replay/verify.ts'
import { EXIT } from '../../core/threads.ts'
import { createClient, type Client } from '../../gateway/client/index.ts'
import { historyReached, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(900_000)
const SIZE_MIB = 96
const RESERVE_MIB = 24
/** Least room ahead of a journal (core/journal/room.ts). */
const ROOM = 4 << 20

const directory = temporaryDirectory()
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m`, 'tmpfs', directory]).status === 0
t.teardown(() => {
  if (mounted) spawnSync('umount', ['-l', directory])
  removeDirectory(directory)
})

/** Writes zeros until `leave` bytes are free. */
function fill(path: string, leave: number): void {
  const file = openSync(path, 'a')
  const piece = Buffer.alloc(64 << 10)
  try {
    for (let looks = 0; looks < 100_000; looks++) {
      const { bavail, bsize } = statfsSync(directory)
      const over = bavail * bsize - leave
      if (over <= 0) return
      writeSync(file, piece, 0, Math.min(piece.length, over))
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 1_000; look++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`not so: ${what}`)
}

const level = async ({ operatorPort }: Exchange): Promise<number> =>
  Number(/^exchange_disk_level (\d)/m.exec(await (await fetch(`http://127.0.0.1:${operatorPort}/metrics`)).text())?.[1])
const crossings = ({ log }: Exchange): unknown[] =>
  log.flatMap(({ msg }) => /new orders are (refused|accepted)|nothing is recorded/.exec(String(msg))?.[1] ?? [])
/** Lines come behind the answers that tell the same. */
async function crossed(t: Test, exchange: Exchange, wanted: readonly string[]): Promise<void> {
  await until(wanted.join(), () => crossings(exchange).length >= wanted.length)
  t.same(crossings(exchange), wanted)
}
const room = (dataDir: string): number => statSync(dataFile(dataDir)).size - usedBytes(dataDir)
const codeOf = (call: Promise<unknown>): Promise<unknown> => call.then(() => 'done', (error: { code?: string }) => error.code)

/** With room again everything goes on without a restart: orders, the room ahead of the journal, and the history. */
async function comesBack(t: Test, exchange: Exchange, dataDir: string): Promise<void> {
  await until('orders are accepted again', async () => (await level(exchange)) === 2)
  await until('the journal has room ahead again', () => room(dataDir) >= ROOM)
  await historyReached(exchange)
  const degraded = async (): Promise<readonly string[]> => {
    const answer = await fetch(`http://127.0.0.1:${exchange.operatorPort}/ready`)
    return ((await answer.json()) as Ready).degraded ?? []
  }
  await until('nothing is degraded', async () => (await degraded()).length === 0)
  t.pass('orders, the room ahead of the journal and the history came back')
}

interface Ready {
  readonly degraded?: readonly string[]
}

async function fullAndAgain(t: Test): Promise<void> {
  const dataDir = join(directory, 'data')
  mkdirSync(dataDir)
  const genesis = join(directory, 'genesis.json')
  writeFileSync(genesis, testGenesis())
  const flags = ['--genesis', genesis, '--disk-reserve-mb', String(RESERVE_MIB), '--chain', '0', '--gateways', '1', '--grpc-thread', '0']
  let exchange = await startExchange(dataDir, flags)
  t.teardown(() => exchange.kill())
  const { client, signer } = await newTrader(exchange.baseUrl, 1)
  const pair = await pairOf(client, 'SEI/USDC')
  const order = { tradingPairId: pair, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' } as const
  const resting: string[] = []
  for (let i = 0; i < 6; i++) resting.push((await client.CreateOrder(order)).orderId)
  const filler = join(directory, 'filler')

  const readOnly = async (with_: Client): Promise<void> => {
    t.equal(await codeOf(with_.CreateOrder(order)), 'DISK_RESERVE')
    t.equal(await codeOf(with_.CancelOrder({ orderId: resting.pop()! })), 'done', 'cancels go on')
    t.equal(await codeOf(with_.ListBalances({})), 'done', 'reads go on')
  }
  fill(filler, (RESERVE_MIB - 2) << 20)
  await until('below the reserve', async () => (await level(exchange)) === 1)
  await readOnly(client)
  t.match(await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/ready`)).json(), { degraded: ['DISK_RESERVE'] })
  fill(filler, 0)
  await readOnly(client)
  await crossed(t, exchange, ['refused'])
  rmSync(filler)
  await comesBack(t, exchange, dataDir)
  resting.push((await client.CreateOrder(order)).orderId)
  await crossed(t, exchange, ['refused', 'accepted'])
  fill(filler, 0)
  await until('full once more', async () => (await level(exchange)) < 2)
  await readOnly(client)
  await exchange.kill()

  fill(filler, 0)
  exchange = await startExchange(dataDir, flags)
  const again = createClient({ baseUrl: exchange.baseUrl, signer })
  t.equal(await level(exchange), 1, 'it starts read-only')
  t.ok(room(dataDir) > 0)
  await readOnly(again)
  await crossed(t, exchange, ['refused'])
  rmSync(filler)
  await comesBack(t, exchange, dataDir)
  resting.push((await again.CreateOrder(order)).orderId)
  await crossed(t, exchange, ['refused', 'accepted'])
  const { orders } = await again.ListOrders({ status: ['SUBMITTED'], pageSize: 100 })
  t.same(orders.map(({ orderId }) => orderId).sort(), [...resting].sort(), 'nothing was lost on the way')
  t.equal(await exchange.stop(), EXIT.OK)
  verify(dataDir, () => undefined)
}

async function roomLater(t: Test): Promise<void> {
  const dataDir = join(directory, 'room')
  mkdirSync(journalPath(dataDir), { recursive: true })
  const database = openJournal(dataDir, false, 1)
  await database.put(Buffer.from('key'), Buffer.from('value'))
  const filler = join(directory, 'filler')
  fill(filler, 0)
  const said: (string | null)[] = []
  keepRoom(dataDir, Infinity, (failure) => said.push(failure?.message ?? null))
  await until('it failed', () => said.length > 0)
  t.match(said, [/ENOSPC/])
  rmSync(filler)
  await until('there is room', () => said.length > 1 && room(dataDir) >= ROOM)
  t.match(said, [/ENOSPC/, null], 'each is said once')
  await database.close()
}

t.test('a reserve that the disk does not have', async (t) => {
  const dataDir = temporaryDirectory()
  const exchange = await startExchange(dataDir, ['--disk-reserve-mb', '1000000', '--chain', '0', '--gateways', '1', '--grpc-thread', '0'])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(dataDir)
  })
  const { client } = await newTrader(exchange.baseUrl, 0)
  t.equal(await codeOf(client.Mint({})), 'DISK_RESERVE')
  t.equal(await codeOf(client.BatchCancelAllOrders({})), 'done')
  t.equal(await codeOf(client.ListBalances({})), 'done')
})

const skip = mounted ? false : 'it needs root, to mount a file system in memory'
t.test('full, and again, and full once more', { skip }, fullAndAgain)
t.test('room that cannot be made is made later', { skip }, roomLater)
