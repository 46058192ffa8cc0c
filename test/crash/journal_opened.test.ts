/**
 * Promise: whoever opens the journal beside the exchange takes no commit back. LMDB's opener stores an old number of the last transaction
 * in the lock file (journal/counter.ts); the writer puts it back, and begins again what began behind it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { keepCounting, openCounter, putRight } from '../../core/journal/counter.ts'
import { journalPath, openJournal, type JournalDatabase } from '../../core/journal/file.ts'
import { keyOf } from '../../core/journal/frame.ts'
import { HEAD_BYTES, HEAD_KEY } from '../../core/journal/head.ts'
import { SecondWriter } from '../../core/journal/head_file.ts'
import { readBatches, START } from '../../core/journal/reader.ts'
import { tailOf } from '../../core/journal/tail.ts'
import { createWriter, type JournalWriter } from '../../core/journal/writer.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { eachRound } from '../suite/rounds.ts'

interface Stage {
  readonly dataDir: string
  readonly database: JournalDatabase
  readonly writer: JournalWriter
  /** Makes one more batch of one command durable. */
  readonly commit: () => void
}

function stage(t: Test): Stage {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  mkdirSync(journalPath(dataDir))
  const database = openJournal(dataDir, false, 1)
  const writer = createWriter(database, 1)
  let next = 1
  return { dataDir, database, writer, commit: () => void writer.commit(next++, 0, 1, 1, 0) }
}

/** Sequences of the batches, as they follow one another by their checksums. */
function sequences(database: JournalDatabase): number[] {
  database.refresh()
  return [...readBatches(database, START)].map(({ sequence }) => sequence)
}
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

t.test('a number that went back is put back before the next commit', async (t) => {
  const { dataDir, database, writer, commit } = stage(t)
  const counter = openCounter(dataDir)
  for (let i = 0; i < 5; i++) commit()
  for (let back = 1; back <= 4; back++) {
    const number = counter.read()
    counter.write(number - back)
    commit()
    t.equal(counter.read(), number + 1, `${back} back`)
  }
  t.same(sequences(database), upTo(9))
  writer.close()
  await database.close()
  const again = openJournal(dataDir, true)
  t.same(sequences(again), upTo(9), 'after another start')
  await again.close()
})

/** Another process that reads how many batches there are. */
const ONCE = `
  import { openJournal } from '${import.meta.dirname}/../../core/journal/file.ts'
  import { readBatches, START } from '${import.meta.dirname}/../../core/journal/reader.ts'
  const database = openJournal(process.argv[1], true)
  process.stdout.write(String([...readBatches(database, START)].length))
  await database.close()`

t.test('whoever opens the journal to read puts the number right', async (t) => {
  const { dataDir, database, writer, commit } = stage(t)
  for (let i = 0; i < 5; i++) commit()
  const counter = openCounter(dataDir)
  const number = counter.read()
  for (const back of [1, 2, 3]) {
    counter.write(number - back)
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', ONCE, dataDir]
    t.equal(spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout, '5', 'and sees everything')
    t.equal(counter.read(), number, `${back} back`)
  }
  // Of a journal that this process has open LMDB stores nothing, so that it is as if somebody had committed meanwhile.
  counter.write(number - 1)
  const beside = openJournal(dataDir, true)
  t.equal(counter.read(), number, 'when LMDB itself does not')
  await beside.close()
  const said = [8, 9, 9]
  let now = 7
  putRight({ read: () => now, write: (value) => void (now = value) }, () => said.shift()!)
  t.equal(now, 9, 'also when somebody commits meanwhile')
  writer.close()
  await database.close()
})

t.test('without that, commits on top of an older number fail', async (t) => {
  for (const back of [1, 2, 3, 4]) {
    const { dataDir, database, writer, commit } = stage(t)
    for (let i = 0; i < 5; i++) commit()
    const counter = openCounter(dataDir)
    const plain = Object.getPrototypeOf(database) as JournalDatabase
    const rewound = createRewound(database, () => counter.write(counter.read() - back), plain.transactionSync)
    t.throws(rewound, { message: back % 2 === 1 ? 'another transaction is last' : /MDB_BAD_TXN/ }, `${back} back`)
    writer.close()
    await database.close()
  }
})

/** A transaction that begins when the number has just been `moved` back, and finds out whether it stands on what was written last. */
function createRewound(database: JournalDatabase, moved: () => void, transact: (write: () => void) => void): () => void {
  const key = keyOf(1_000)
  transact.call(database, () => database.putSync(key, Buffer.from('last')))
  return () => {
    moved()
    transact.call(database, () => {
      if (database.get(key)?.toString() !== 'last') throw new Error('another transaction is last')
      database.putSync(key, Buffer.from('next'))
    })
  }
}

interface Disturbed {
  /** `write` in a transaction before which the number goes back by each of these, one try after the other. */
  readonly transact: (backs: readonly number[], write: () => void) => void
  /** Transactions begun for the last of them. */
  begun: number
}

/** A database whose count goes back in the very moment in which a transaction begins. */
function disturb(database: JournalDatabase): Disturbed {
  const counter = openCounter(database.dataDir)
  const plain = (Object.getPrototypeOf(database) as JournalDatabase).transactionSync.bind(database)
  const { env } = database as unknown as { env: { info(): { lastTxnId: number } } }
  let left: number[] = []
  const transactionSync = keepCounting(counter, {
    latest: () => env.info().lastTxnId,
    current: () => database.getWriteTxnId(),
    transact: (write) => {
      disturbed.begun++
      counter.write(counter.read() - (left.shift() ?? 0))
      plain(write)
    },
  })
  Object.assign(database, { transactionSync })
  const disturbed: Disturbed = {
    begun: 0,
    transact: (backs, write) => {
      disturbed.begun = 0
      left = [...backs]
      write()
    },
  }
  return disturbed
}

t.test('a number that goes back in the moment in which a commit begins: once more, and the batch is written once', async (t) => {
  const { dataDir, database } = stage(t)
  const disturbed = disturb(database)
  const writer = createWriter(database, 1)
  let next = 1
  const commit = (...backs: number[]): void => {
    disturbed.transact(backs, () => void writer.commit(next++, 0, 1, 1, 0))
    if (backs.length > 0) t.equal(disturbed.begun, backs.length + 1, `back by ${backs.join(', ')}`)
  }
  const kept = (of: JournalDatabase): number[] => {
    of.refresh()
    return [...readBatches(of, tailOf(of))].map(({ sequence }) => sequence)
  }
  const disturbing = (): void => {
    for (let back = 1; back <= 20; back++) commit(back)
    commit(2, 1, 2, 2, 4, 3, 17, 1)
  }
  for (let i = 0; i < 39; i++) commit()
  disturbing()
  t.same(kept(database), upTo(60))
  writer.dropBefore(100)
  disturbing()
  // Each drops about what it writes: one batch of one slot.
  const left = upTo(81).slice(21)
  t.equal(writer.first, 22)
  t.same(kept(database), left)
  const always = Array.from({ length: 1_000 }, () => 2)
  t.throws(() => commit(...always), { message: /goes back again and again/ }, 'not for ever')
  t.same(kept(database), left, 'and nothing of it stays')
  writer.close()
  await database.close()
  const again = openJournal(dataDir, true)
  t.same(kept(again), left, 'after another start')
  t.equal(again.entryCount(), left.length + 2, 'with the two records, and nothing before them')
  await again.close()
})

t.test('what fails for another reason fails at once, and a commit of another writer is found by its head', async (t) => {
  const { database, writer, commit } = stage(t)
  const disturbed = disturb(database)
  commit()
  t.throws(() => disturbed.transact([1], () => database.transactionSync(() => { throw new Error('its own') })), { message: 'its own' })
  t.equal(disturbed.begun, 2)
  const plain = (Object.getPrototypeOf(database) as JournalDatabase).transactionSync.bind(database)
  plain(() => database.putSync(HEAD_KEY, Buffer.alloc(HEAD_BYTES)))
  t.throws(() => disturbed.transact([2], commit), SecondWriter)
  t.equal(disturbed.begun, 2, 'once more, behind the commit that it did not make')
  writer.close()
  await database.close()
})

/** A reader that begins to read and says so, and then does nothing. */
const READER = `
  import { openJournal } from '${import.meta.dirname}/../../core/journal/file.ts'
  const database = openJournal(process.argv[1], true)
  const range = database.getRange({ start: Buffer.alloc(8) })[Symbol.iterator]()
  range.next()
  process.stdout.write('reading')
  setInterval(() => range, 1_000)`

t.test('a reader that was killed keeps no pages from being used again', async (t) => {
  const { dataDir, database, writer, commit } = stage(t)
  const grown = (commits: number): number => {
    const before = database.usedPages()
    for (let i = 0; i < commits; i++) commit()
    return database.usedPages() - before
  }
  const alone = grown(200)
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', READER, dataDir]
  const reader = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(reader.stdout, 'data')
  const ended = once(reader, 'exit')
  reader.kill('SIGKILL')
  await ended
  const beside = grown(100)
  t.ok(beside > 100, `${beside} pages more in 100 commits while nobody looked for it, ${alone} in 200 before`)
  grown(1_024)
  const after = grown(200)
  t.ok(after < 2 * alone + 20, `${after} afterwards`)
  writer.close()
  await database.close()
})

/** Another process that opens the journal to read it and closes it again, until it is ended. */
const OPENER = `
  import { openJournal } from '${import.meta.dirname}/../../core/journal/file.ts'
  for (let opened = 0; ; opened++) {
    const database = openJournal(process.argv[1], true)
    database.entryCount()
    await database.close()
    if (opened % 50 === 49) process.stdout.write('50\\n')
  }`

t.test('a process that opens the journal again and again', async (t) => {
  const { dataDir, database, writer, commit } = stage(t)
  for (let i = 0; i < 5; i++) commit()
  const openers = [1, 2].map(() => spawn(process.execPath, [
    '--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', OPENER, dataDir,
  ], { stdio: ['ignore', 'pipe', 'inherit'] }))
  t.teardown(() => openers.forEach((opener) => opener.kill('SIGKILL')))
  let opened = 0
  for (const { stdout } of openers) {
    stdout!.on('data', (text: Buffer) => (opened += 50 * text.toString().split('\n').filter(Boolean).length))
  }
  await Promise.all(openers.map(({ stdout }) => once(stdout!, 'data')))
  let commits = 5
  for (const _round of eachRound(t, { short: 4, deep: 100 })) {
    const goal = opened + 500
    for (let turn = 0; opened < goal && turn < 110_000; turn++) {
      commit()
      commits++
      // On a quick disk many commits are made while others have no core: then those have a minute more, with a commit in each millisecond.
      await new Promise<void>((resolve) => void (turn < 50_000 ? setImmediate(resolve) : setTimeout(resolve, 1)))
    }
    t.ok(opened >= goal, `${opened} opened beside ${commits} commits`)
  }
  const ended = openers.map((opener) => once(opener, 'exit'))
  for (const opener of openers) opener.kill('SIGKILL')
  await Promise.all(ended)
  t.same(sequences(database), upTo(commits))
  writer.close()
  await database.close()
})
