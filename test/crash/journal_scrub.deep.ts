/**
 * Promise: damage of the journal that no start would meet, because a snapshot is behind it, is found: by `npm run journal -- scrub`, which
 * names each place, and by the exchange itself while it runs, which raises an alarm, says so in `/ready` and goes on trading.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { dataFile, openJournal } from '../../core/journal/file.ts'
import { keyOf } from '../../core/journal/frame.ts'
import { Scrub } from '../../core/journal/scrub.ts'
import { EXIT } from '../../core/threads.ts'
import { logged, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal } from '../support/journal.ts'
import { newTrader } from '../support/traders.ts'

t.setTimeout(900_000)
const main = join(import.meta.dirname, '..', '..', 'core', 'journal', 'main.ts')

/** Flips a bit of this batch in the file, wherever LMDB has a copy of it. */
async function damage(directory: string, sequence: number): Promise<void> {
  const database = openJournal(directory, true)
  const value = Buffer.from(database.get(keyOf(sequence))!)
  await database.close()
  const file = readFileSync(dataFile(directory))
  for (let at = file.indexOf(value); at >= 0; at = file.indexOf(value, at + 1)) file[at + 100]! ^= 8
  writeFileSync(dataFile(directory), file)
}

function tool(directory: string): { code: number | null; said: Record<string, unknown> } {
  const run = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', main, 'scrub', '--data-dir', directory])
  return { code: run.status, said: JSON.parse(run.stdout.toString() || '{}') as Record<string, unknown> }
}

t.test('each damaged place is named, and the rest is read all the same', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const { database, after } = makeJournal(directory, { seed: 5, batches: 40 })
  await database.close()
  const last = after.at(-1)!.last
  const whole = tool(directory)
  t.equal(whole.code, EXIT.OK)
  t.match(whole.said, { verdict: 'ok', sequence: last, batches: after.length, damaged: 0 })
  for (const index of [7, 20, 21]) await damage(directory, after[index]!.first)
  const { code, said } = tool(directory)
  t.equal(code, EXIT.JOURNAL)
  t.match(said, { verdict: 'DAMAGED', sequence: last, batches: after.length - 3, damaged: 2 }, 'two damaged batches in a row are one place')
  const places = [7, 20].map((index) => after[index]!.first)
  t.same((said['faults'] as string[]).map((words) => Number(/sequence (\d+): checksum mismatch/.exec(words)?.[1])), places)
  const opened = openJournal(directory, true)
  const scrub = new Scrub(opened)
  let slices = 1
  while (scrub.slice(1)) slices++
  t.equal(scrub.damaged, 2, 'however small its slices are')
  t.ok(slices > after.length - 4, `${slices} slices`)
  await opened.close()
})

t.test('damage behind the newest snapshot, while the exchange runs', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const flags = ['--chain', '0', '--grpc-thread', '0']
  const first = await startExchange(directory, flags)
  await newTrader(first.baseUrl, 2)
  t.equal(await first.stop(), EXIT.OK, 'a snapshot is written')
  await damage(directory, 3)
  const exchange = await startExchange(directory, flags)
  t.teardown(() => exchange.kill())
  const ask = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${exchange.operatorPort}${path}`)).text()
  let ready = await ask('/ready')
  for (let look = 0; look < 1200 && !ready.includes('JOURNAL_DAMAGED'); look++) {
    await pause(50)
    ready = await ask('/ready')
  }
  t.match(JSON.parse(ready), { ready: true, degraded: ['JOURNAL_DAMAGED'] }, 'it is named, and orders are matched')
  t.match(await ask('/metrics'), /^exchange_journal_damaged_places 1$/m)
  t.match(await logged(exchange, /the journal is damaged: .*sequence 3: checksum/), { level: 'error' })
  await newTrader(exchange.baseUrl, 1)
  t.equal(await exchange.stop(), EXIT.OK, 'trading goes on')
})
