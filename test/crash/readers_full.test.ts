/**
 * Promise: a journal that as many read as may is not called damaged: a start and a tool say who reads it, the exit code is the one of what
 * somebody can set right, and once the readers are gone it opens. Readers that died do not count.
 */
import { fork, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { journalPath, lockFile, openJournal } from '../../core/journal/file.ts'
import { EXIT } from '../../core/threads.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'

/** Readers that this table has room for: the first process that opens the journal says it. */
const ROOM = 4

/** Takes a reader for each message until there is no room for another. A reader of the same commit would be the same one. */
const HOLDER = `
  import { open } from '${join(import.meta.dirname, '../../node_modules/lmdb/index.js')}'
  const database = open({ path: process.argv[2], readOnly: true, maxReaders: ${ROOM}, keyEncoding: 'binary', encoding: 'binary' })
  const held = []
  process.on('message', () => {
    try {
      const transaction = database.useReadTransaction()
      database.get(Buffer.from('a'), { transaction })
      held.push(transaction)
      database.resetReadTxn()
      process.send('more')
    } catch (error) {
      process.send(error.message)
    }
  })
  process.send('ready')
`

/** A process that has every place of the table, but for the one of the writer, which is closed then. */
async function holdAll(t: Test, root: string, dataDir: string): Promise<ChildProcess> {
  const main = join(root, 'holder.mjs')
  writeFileSync(main, HOLDER)
  const child = fork(main, [journalPath(dataDir)])
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  const database = openJournal(dataDir, false)
  const key = Buffer.from('a key of this test')
  let said = 'more'
  for (let commits = 0; commits <= ROOM && said === 'more'; commits++) {
    database.transactionSync(() => database.putSync(key, Buffer.from([commits])))
    child.send('next')
    said = (await once(child, 'message') as [string])[0]
  }
  t.match(said, /MDB_READERS_FULL/)
  database.transactionSync(() => database.removeSync(key))
  await database.close()
  // The place of the writer.
  child.send('next')
  await once(child, 'message')
  return child
}

/** Makes a journal. In a process of its own, so that the first that opens it afterwards is the holder. */
const MAKER = `
  import { makeJournal } from '${join(import.meta.dirname, '../support/journal.ts')}'
  makeJournal(process.argv[2], { batches: 3 })
  process.exit()
`

/** Opens the journal as a start does, in a process of its own, and says what comes of it. */
const OPENER = `
  import { openJournal } from '${join(import.meta.dirname, '../../core/journal/file.ts')}'
  import { exitCode } from '${join(import.meta.dirname, '../../core/sequencer/matcher.ts')}'
  try {
    openJournal(process.argv[2], process.argv[3] === 'true').entryCount()
    console.log('opened')
  } catch (error) {
    console.log(error.name + ' ' + error.message)
    process.exitCode = exitCode(error)
  }
`

t.test('who reads it is named, and it opens when they are gone', async (t) => {
  const root = temporaryDirectory()
  t.teardown(() => removeDirectory(root))
  const [dataDir, main] = [join(root, 'data'), join(root, 'main.ts')]
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  const run = (script: string, ...more: string[]): { status: number | null; said: string } => {
    writeFileSync(main, script)
    const args = ['--disable-warning=ExperimentalWarning', main, dataDir, ...more]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    return { status, said: stdout.trim() || stderr }
  }
  t.equal(run(MAKER).status, 0)
  // It is as long as the table of the process that made it.
  rmSync(lockFile(dataDir))
  const holder = await holdAll(t, root, dataDir)
  for (const readOnly of [true, false]) {
    const { status, said } = run(OPENER, String(readOnly))
    t.match(said, /^ReadersFull as many read the journal in .+ as may: process /)
    t.ok(said.includes(`${holder.pid} (`), said)
    t.notMatch(said, /backup/, 'nothing is damaged')
    t.equal(status, EXIT.CONFIG)
  }
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  t.same(run(OPENER, 'false'), { status: 0, said: 'opened' }, 'readers that died do not count')
})
