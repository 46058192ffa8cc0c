/** Promise: a directory that cannot be trusted, or that another process uses, is not opened, and the message says why. */
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { keyOf } from '../../core/journal/frame.ts'
import { openJournal } from '../../core/journal/file.ts'
import { lastSequence } from '../../core/journal/reader.ts'
import { EXIT } from '../../core/threads.ts'
import { removeDirectory, startExchange, StartFailed, temporaryDirectory } from '../support/exchange.ts'
import { newTrader } from '../support/traders.ts'

t.setTimeout(900_000)
const genesisPath = join(import.meta.dirname, '..', '..', 'data', 'genesis', 'genesis.json')

/** Expects the start to fail with this code and a message that matches. */
async function refused(t: Test, directory: string, code: number, message: RegExp, flags: string[] = []): Promise<void> {
  const failed = await startExchange(directory, flags).then(
    async (exchange) => {
      await exchange.kill()
      return null
    },
    (error: unknown) => error as StartFailed,
  )
  t.ok(failed instanceof StartFailed, 'the start failed')
  t.equal(failed?.code, code, 'with its own code')
  t.match(failed?.log.at(-1)?.['msg'], message, 'and said why')
}

t.test('a second process on the same directory', async (t) => {
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  await refused(t, directory, EXIT.LOCKED, /another process uses/)
  t.equal((await fetch(`${exchange.baseUrl}/api/v1/health`, { headers: { 'User-Agent': 'test' } })).status, 200, 'the first goes on')
  await exchange.kill()
  const next = await startExchange(directory)
  t.equal(await next.stop(), EXIT.OK, 'after kill -9 the directory is free at once')
})

t.test('another genesis than the directory was made with', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  t.equal(await (await startExchange(directory)).stop(), EXIT.OK)
  const other = join(directory, 'other.json')
  writeFileSync(other, JSON.stringify({ ...JSON.parse(readFileSync(genesisPath, 'utf8')), name: 'other' }))
  await refused(t, directory, EXIT.CONFIG, /made with another genesis/, ['--genesis', other])
  writeFileSync(other, '{"name":')
  await refused(t, directory, EXIT.CONFIG, /other\.json: .*JSON/, ['--genesis', other])
  writeFileSync(other, '{"name":"x"}')
  const fresh = temporaryDirectory()
  t.teardown(() => removeDirectory(fresh))
  await refused(t, fresh, EXIT.CONFIG, /genesis: assets are missing/, ['--genesis', other])
})

t.test('an index of the own book where the faucet gives nothing, unless it is accepted', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const real = join(directory, 'real.json')
  writeFileSync(real, JSON.stringify({ ...JSON.parse(readFileSync(genesisPath, 'utf8')), faucet: { dailyLimit: 0 } }))
  const flags = ['--genesis', real, '--price-feed', '1']
  await refused(t, join(directory, 'data'), EXIT.CONFIG, /spot book of this exchange.*BTC\/USDC-PERP.*--price-sources/, flags)
  t.equal(await (await startExchange(join(directory, 'data'), [...flags, '--own-book-index', '1'])).stop(), EXIT.OK)
  t.equal(await (await startExchange(join(directory, 'data'), ['--genesis', real, '--price-feed', '0'])).stop(), EXIT.OK)
})

t.test('a directory whose genesis the shipped one has left behind is served as it was made', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const older = join(directory, 'older.json')
  const { feeTiers: _, ...document } = JSON.parse(readFileSync(genesisPath, 'utf8'))
  writeFileSync(older, JSON.stringify({ ...document, pairs: document.pairs.slice(0, 1) }))
  t.equal(await (await startExchange(directory, ['--genesis', older])).stop(), EXIT.OK)
  const exchange = await startExchange(directory)
  t.teardown(() => exchange.kill())
  const pairs = await fetch(`${exchange.baseUrl}/api/v1/market/pairs`, { headers: { 'User-Agent': 'test' } })
  t.match(await pairs.json(), { total: 1 })
  t.ok(exchange.log.some(({ msg }) => /the shipped genesis has changed/.test(String(msg))), 'and says so')
  t.equal(await exchange.stop(), EXIT.OK)
})

t.test('a key of page tokens that is none', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  writeFileSync(join(directory, 'page_token.key'), 'x')
  await refused(t, directory, EXIT.CONFIG, /page_token\.key must hold exactly 32 bytes/)
})

t.test('a damaged journal', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const exchange = await startExchange(directory)
  await newTrader(exchange.baseUrl, 3)
  await exchange.kill()
  const path = join(directory, 'journal', 'data.mdb')
  const intact = join(directory, 'intact.mdb')
  copyFileSync(path, intact)
  truncateSync(path, 8192)
  await refused(t, directory, EXIT.JOURNAL, /truncated/)
  copyFileSync(intact, path)
  const database = openJournal(directory, false)
  const last = lastSequence(database)
  for (const sequence of [2, last]) {
    const value = Buffer.from(database.get(keyOf(sequence))!)
    const damaged = Buffer.from(value)
    damaged[100]! ^= 1
    await database.put(keyOf(sequence), damaged)
    await refused(t, directory, EXIT.JOURNAL, new RegExp(`sequence ${sequence}: checksum mismatch`))
    if (sequence !== last) await database.put(keyOf(sequence), value)
  }
  await refused(t, directory, EXIT.JOURNAL, /checksum mismatch/, ['--cut-tail', '2'])
  await database.close()
  const cut = await startExchange(directory, ['--cut-tail', String(last)])
  t.ok(cut.log.some((entry) => String(entry['msg']).includes('was cut as asked')), 'the operator may cut the last batch by naming it')
  t.equal(await cut.stop(), EXIT.OK)
})
