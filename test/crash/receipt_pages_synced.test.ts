/**
 * Promise: the pages of receipts that a snapshot names are durable before the snapshot is begun: each of their files, and
 * their names.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { receiptDirectory } from '../../core/lib/page_files.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import { parseTrace, reasonToSkip, traceTo } from '../support/strace.ts'

t.test('synced before the snapshot', { skip: reasonToSkip() }, async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const [trace, genesis] = [join(dataDir, 'trace'), join(dataDir, 'genesis-of-test.json')]
  writeFileSync(genesis, testGenesis())
  const script = join(import.meta.dirname, '..', 'support', 'page_writer.ts')
  const [command, ...words] = [...traceTo(trace), process.execPath, '--disable-warning=ExperimentalWarning', script, dataDir, genesis]
  const { status, stderr } = spawnSync(command!, words, { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  const calls = parseTrace(readFileSync(trace, 'utf8'))
  const begun = calls.find(({ on }) => on.includes('.sqlite.unfinished'))?.began ?? 0
  const directory = receiptDirectory(dataDir)
  const written = calls.filter(({ name, on }) => name.startsWith('pwrite') && on.includes(`${directory}/`))
  const syncedBy = (file: string, since: number): boolean =>
    calls.some(({ name, on, began, returned, result }) => name === 'fsync' && on.endsWith(`<${file}>`) && result === 0
      && began > since && returned < begun)
  t.equal(written.length, 2, 'both pages are seen written')
  for (const { on, returned } of written) t.ok(syncedBy(on.slice(on.indexOf('<') + 1, -1), returned), on)
  t.ok(syncedBy(directory, Math.max(...written.map(({ returned }) => returned))), 'the directory')
})
