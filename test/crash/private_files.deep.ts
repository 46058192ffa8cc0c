/**
 * Promise: everything the exchange keeps is readable and writable for its owner only, whatever the umask is; what was left open to
 * others is closed at the start, and the log says so. Without enforced rate limits a start says that, and the production configuration
 * enforces them.
 */
import { chmodSync, lstatSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { mendModes } from '../../core/data_dir.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(900_000)

/** Modes that others have something of, by path. */
function openPaths(path: string, found: Record<string, string> = {}): Record<string, string> {
  const stat = lstatSync(path)
  if (!stat.isSymbolicLink() && (stat.mode & 0o077) !== 0) found[path] = (stat.mode & 0o777).toString(8)
  if (stat.isDirectory()) for (const name of readdirSync(path)) openPaths(join(path, name), found)
  return found
}

/** The most generous umask, for a process that is started meanwhile. */
async function generously<T>(work: () => Promise<T>): Promise<T> {
  const before = process.umask(0)
  try {
    return await work()
  } finally {
    process.umask(before)
  }
}

t.test('all files of an exchange are private, with any umask; old ones are mended', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const first = await generously(() => startExchange(dataDir, ['--snapshot-every', '1', '--gateways', '1']))
  const { client } = await newTrader(first.baseUrl, 5)
  await pairOf(client, 'SEI/USDC')
  t.match(first.log.find(({ knob }) => knob === 'enforceRateLimits'), { level: 'warn' }, 'open limits are said')
  t.equal(await first.stop(), 0)
  t.ok(readdirSync(dataDir).includes('chain.sqlite'))
  t.ok(readdirSync(join(dataDir, 'journal')).length > 0)
  t.same(openPaths(dataDir), {})

  const paths = ['history.sqlite', 'journal', join('journal', 'data.mdb')].map((name) => join(dataDir, name))
  chmodSync(paths[0]!, 0o644)
  chmodSync(paths[1]!, 0o755)
  chmodSync(paths[2]!, 0o666)
  const again = await generously(() => startExchange(dataDir, ['--gateways', '1', '--enforce-rate-limits', '1']))
  t.match(again.log.find(({ mended }) => mended !== undefined), { level: 'warn', mended: 3 })
  t.equal(again.log.find(({ knob }) => knob === 'enforceRateLimits'), undefined)
  t.equal(await again.stop(), 0)
  t.same(openPaths(dataDir), {})
})

t.test('links are not followed, and what is private already is left alone', async (t) => {
  const [dataDir, outside] = [temporaryDirectory(), temporaryDirectory()]
  t.teardown(() => [dataDir, outside].forEach(removeDirectory))
  const theirs = join(outside, 'theirs')
  writeFileSync(theirs, '')
  chmodSync(theirs, 0o644)
  symlinkSync(theirs, join(dataDir, 'link'))
  symlinkSync(outside, join(dataDir, 'directory'))
  t.same(mendModes(dataDir), { mended: 0, failure: null })
  t.equal(lstatSync(theirs).mode & 0o777, 0o644)
})

t.test('the production configuration parses, and enforces budgets', async (t) => {
  const path = join(import.meta.dirname, '..', '..', 'data', 'ops', 'config.json')
  const config = readConfig(['--config', path], {})!
  t.equal(config.enforceRateLimits, 1)
  t.ok(config.diskReserveMb >= 1024)
  t.equal(config.dataDir, '/var/lib/ringbook')
  const dataDir = temporaryDirectory()
  const small = ['--gateways', '1', '--rate-create-per-second', '1', '--disk-reserve-mb', '0']
  const exchange = await startExchange(dataDir, ['--config', path, ...small])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(dataDir)
  })
  const { client } = await newTrader(exchange.baseUrl, 5)
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const codes = new Set<string>()
  for (let i = 0; i < 100 && codes.size === 0; i++) {
    const order = { tradingPairId, side: 'BUY', orderType: 'LIMIT', price: '0.1', quantity: '10' } as const
    await client.CreateOrder(order).catch((error: { code: string }) => codes.add(error.code))
  }
  t.same([...codes], ['RATE_LIMIT_EXCEEDED'], 'orders over the budget are refused')
})
