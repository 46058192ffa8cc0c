/**
 * Promise: an exchange that runs forgets what was archived, on its operator's word alone; it is killed and goes on; archive and journal
 * together replay to what it is; and the history can be made anew once the archive was put back. Over sockets and by the command line.
 */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { EXIT } from '../../core/threads.ts'
import { createClient } from '../../gateway/client/index.ts'
import { historyReached, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(600_000)
const FLAGS = ['--gateways', '1', '--grpc-thread', '0', '--chain', '0', '--snapshot-every', '150', '--snapshots-kept', '2']
const ITEMS = 50
const core = join(import.meta.dirname, '..', '..', 'core')

/** Runs a tool of the core; its exit code, what it printed and what it said. */
function tool(name: string, ...args: string[]): { code: number | null; out: Record<string, unknown>; said: string } {
  const run = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', join(core, name, 'main.ts'), ...args])
  const out = run.stdout.toString()
  return { code: run.status, out: out.startsWith('{') ? (JSON.parse(out) as Record<string, unknown>) : {}, said: run.stderr.toString() }
}

async function metric({ operatorPort }: Exchange, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${operatorPort}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
}

t.test('archive, drop, die, go on, restore', async (t) => {
  const directory = temporaryDirectory()
  const archived = `${directory}.archive`
  t.teardown(() => [directory, archived].forEach(removeDirectory))
  const exchange = await startExchange(directory, FLAGS)
  t.teardown(() => exchange.kill())
  const { client, signer } = await newTrader(exchange.baseUrl, 5)
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000', timeInForce: 'IOC' } as const
  const orders = Array.from({ length: ITEMS }, () => order)
  const first = (): Promise<number> => metric(exchange, 'exchange_journal_first_sequence')
  for (let batch = 0; batch < 30; batch++) await client.BatchCreateOrders({ orders })
  await historyReached(exchange)
  t.equal(await first(), 1, 'it keeps everything')

  let taken = tool('journal', 'archive', '--to', archived, '--data-dir', directory)
  for (let tries = 0; tries < 100 && Number(taken.out['upTo'] ?? 0) < 100; tries++) {
    // The follower writes the snapshots whose oldest decides.
    await sleep(100)
    taken = tool('journal', 'archive', '--to', archived, '--data-dir', directory)
  }
  t.equal(taken.code, EXIT.OK)
  t.match(taken.out, { mayBeDropped: false, journalBeginsAt: 1, warnings: [] })
  await client.BatchCreateOrders({ orders })
  t.equal(await first(), 1, 'without --drop it goes on keeping it')
  const dropped = tool('journal', 'archive', '--to', archived, '--drop', '--data-dir', directory)
  const upTo = Number(dropped.out['upTo'])
  t.ok(upTo > 100, `up to ${upTo}`)
  for (let tries = 0; tries < 600 && (await first()) < 100; tries++) {
    await client.BatchCreateOrders({ orders })
    await sleep(20)
  }
  t.ok((await first()) >= 100 && (await first()) <= upTo + 1, `the journal begins at ${await first()}`)
  const { balances } = await client.ListBalances()
  await exchange.kill()

  const again = await startExchange(directory, FLAGS)
  t.teardown(() => again.kill())
  const same = createClient({ baseUrl: again.baseUrl, signer })
  t.strictSame((await same.ListBalances()).balances, balances, 'it goes on from its snapshot')
  await same.BatchCreateOrders({ orders })
  await historyReached(again)
  t.equal(await again.stop(), EXIT.OK)

  t.match(tool('replay', 'verify', '--data-dir', directory), { code: 2, said: /is archived: read it with --archive DIR/ })
  const proof = tool('replay', 'verify', '--data-dir', directory, '--archive', archived)
  t.equal(proof.code, 0, proof.said)
  t.match(proof.out, { warnings: [] })
  t.equal(tool('journal', 'scrub', '--data-dir', directory).code, EXIT.OK)
  t.equal(tool('journal', 'compact', '--data-dir', directory).code, EXIT.OK)
  t.equal(tool('replay', 'verify', '--data-dir', directory, '--archive', archived).out['digest'], proof.out['digest'])

  for (const suffix of ['', '-wal', '-shm']) rmSync(join(directory, `history.sqlite${suffix}`), { force: true })
  const back = tool('journal', 'restore', '--from', archived, '--data-dir', directory)
  t.match(back.out, { journalBeginsAt: 1 }, back.said)
  t.equal(tool('replay', 'verify', '--data-dir', directory).out['digest'], proof.out['digest'], 'the journal is whole again')
  const third = await startExchange(directory, FLAGS)
  t.teardown(() => third.kill())
  await historyReached(third)
  const { orders: listed } = await createClient({ baseUrl: third.baseUrl, signer }).ListOrders({ pageSize: 10 })
  t.equal(listed.length, 10, 'and a new history has it all')
  t.equal(await third.stop(), EXIT.OK)
})
