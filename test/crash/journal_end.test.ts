/**
 * Promise: the end of the journal is known from two places, and a journal that ends earlier is refused with what is missing. A commit on
 * top of somebody else's batch fails and overwrites nothing. What a crash or a power failure leaves is no damage.
 */
import { fork, spawnSync } from 'node:child_process'
import { closeSync, cpSync, existsSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { dataFile, JournalError, lockFile, openJournal, type JournalDatabase } from '../../core/journal/file.ts'
import { encodeHead, HEAD_BYTES, HEAD_KEY, headRecord, NO_HEAD, type Head } from '../../core/journal/head.ts'
import { headFileOf, headPath, openHeadFile, readHeadFile, SecondWriter } from '../../core/journal/head_file.ts'
import { endSequence, JournalFault, lastSequence, readBatches, START } from '../../core/journal/reader.ts'
import { setAside, writeLoss } from '../../core/recovery/loss.ts'
import { catchUp, cutTail, dropLast, rebuild } from '../../core/recovery/recover.ts'
import { shortfallOf, type Shortfall, sourcesOf } from '../../core/recovery/witnesses.ts'
import { createWriter } from '../../core/journal/writer.ts'
import { openProjection } from '../../core/history/project/projection.ts'
import { verify } from '../../core/replay/verify.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal, openAccount, startMatcher } from '../support/journal.ts'
import { snapshotFiles } from '../../core/snapshot/file.ts'

const SEED = Number(process.env['SEED'] ?? 11)
t.comment(`SEED=${SEED} node_modules/.bin/node --disable-warning=ExperimentalWarning test/crash/journal_end.test.ts`)
t.setTimeout(600_000)

const PAGE = 4096
const LEAF = 2
const made = temporaryDirectory()
const { after, database: original } = makeJournal(made, { seed: SEED, batches: 60 })
const last = after.at(-1)!.last
await original.close()
t.teardown(() => removeDirectory(made))

/** A copy of the journal with these bytes of its data file changed. */
function copy(t: Test, damage: (file: Buffer) => void = () => undefined): string {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  cpSync(join(made, 'journal'), join(directory, 'journal'), { recursive: true })
  const file = readFileSync(dataFile(directory))
  damage(file)
  writeFileSync(dataFile(directory), file)
  return directory
}

/** What `use` says of the journal, opened read-only. */
async function look<T>(directory: string, use: (database: JournalDatabase) => T): Promise<T> {
  const database = openJournal(directory, true, 1)
  try {
    return use(database)
  } finally {
    await database.close()
  }
}

const ignore = (): void => undefined
const readAll = (database: JournalDatabase): number => [...readBatches(database, START)].at(-1)!.next - 1
const newestMeta = (file: Buffer): number => (file.readBigUInt64LE(152) > file.readBigUInt64LE(PAGE + 152) ? 0 : PAGE)
const thrown = (run: () => unknown): Error | null => {
  try {
    run()
    return null
  } catch (error) {
    return error as Error
  }
}

t.test('a whole journal is read to its end, and all say the same', async (t) => {
  const directory = copy(t)
  t.equal(await look(directory, readAll), last)
  t.equal(await look(directory, endSequence), last)
  t.equal(readHeadFile(headFileOf(directory)).head?.next, last + 1)
  t.equal(await look(directory, (database) => shortfallOf(database, sourcesOf(directory), ignore)), null)
  t.equal(verify(directory, ignore).commands, last)
})

t.test('LMDB falls back to its older meta page', async (t) => {
  // The newest meta page says it is of transaction 0: LMDB takes the other one, in which the last batch never was.
  const directory = copy(t, (file) => file.writeBigUInt64LE(0n, newestMeta(file) + 152))
  const before = after.at(-2)!.last
  t.equal(await look(directory, readAll), before, 'nothing inside LMDB tells')
  const shortfall = await look(directory, (database) => shortfallOf(database, sourcesOf(directory), ignore))
  t.match(shortfall, { end: before, known: last, witnesses: [{ name: 'journal/head', sequence: last }] })
  const named = new RegExp(`older than journal/head \\(${last}\\): it ends at sequence ${before}, so ${before + 1} to ${last} are missing`)
  t.throws(() => verify(directory, ignore), named, 'verify says which')
  // A directory of its own: a process opens an LMDB file once, to read or to write.
  t.throws(() => startMatcher(copyOf(t, directory)), /journal\/head says/, 'nobody writes to it')
})

/** Leaf pages of the file whose header, with one bit of its number of entries flipped, hides batches. */
function shortened(file: Buffer): { at: number; bit: number }[] {
  const found: { at: number; bit: number }[] = []
  for (let page = 2 * PAGE; page < file.length; page += PAGE) {
    const lower = file.readUInt16LE(page + 20)
    if (file.readUInt16LE(page + 18) !== LEAF || lower < 4) continue
    for (let bit = 1; bit < 12; bit++) if ((lower ^ (1 << bit)) < lower) found.push({ at: page + 20, bit })
  }
  return found
}

t.test('one bit in a page header hides batches', async (t) => {
  const flips = shortened(readFileSync(dataFile(made)))
  let hidden = 0
  for (const { at, bit } of flips) {
    const directory = copy(t, (file) => file.writeUInt16LE(file.readUInt16LE(at) ^ (1 << bit), at))
    const raw = await look(directory, (database) => {
      let batches = 0
      for (const key of database.getKeys()) if (!HEAD_KEY.equals(key)) batches++
      return batches
    })
    if (raw >= after.length) continue
    hidden++
    const error = thrown(() => verify(directory, ignore))
    t.ok(error instanceof JournalFault || error instanceof JournalError, `${raw} of ${after.length} batches: ${error?.message}`)
    const read = await look(directory, (database) => thrown(() => readAll(database)))
    t.ok(read instanceof JournalFault || read instanceof JournalError, 'nor does reading end')
    if (hidden === 1) t.throws(() => projectAll(directory), 'nor does the history think that it caught up')
  }
  t.ok(hidden > 3, `${hidden} of ${flips.length} flips hide batches`)
})

function projectAll(directory: string): void {
  const projection = openProjection(directory, ':memory:', { warn: ignore })
  while (projection.step(1000));
}

t.test('what is missing is named', async (t) => {
  const directory = copy(t)
  const database = openJournal(directory, false, 1)
  database.transactionSync(() => database.removeSync(Buffer.from(keyBytes(lastSequence(database)))))
  const { first } = after.at(-1)!
  t.throws(() => readAll(database), new RegExp(`sequences ${first} to ${last} are missing: the head record of the journal says`))
  database.transactionSync(() => database.removeSync(HEAD_KEY))
  t.throws(() => readAll(database), /head record cannot be read: it is missing/)
  await database.close()
  t.throws(() => verify(directory, ignore), /head record of the journal cannot be read/)
})

t.test('a head record that ends where the batches do and names another last batch', async (t) => {
  const directory = copy(t)
  const database = openJournal(directory, false, 1)
  const head = headRecord(database) as Head
  const record = Buffer.alloc(HEAD_BYTES)
  encodeHead(record, 0, { ...head, checksum: (head.checksum ^ 1) >>> 0 })
  database.transactionSync(() => database.putSync(HEAD_KEY, record))
  t.throws(() => readAll(database), /names another last batch/)
  await database.close()
})

function keyBytes(sequence: number): Uint8Array {
  const key = Buffer.alloc(8)
  key.writeBigUInt64BE(BigInt(sequence))
  return key
}

t.test('what a crash or a power failure leaves of the head file is no damage', async (t) => {
  const head = readHeadFile(headFileOf(made)).head!
  const slot = (head.number % 2) * 512
  const states: Record<string, { change: (file: Buffer) => Buffer | null; warns: boolean }> = {
    'the newest slot was not written': { change: (file) => withSlot(file, slot, file.subarray(512 - slot, 576 - slot)), warns: true },
    'the newest slot is torn': { change: (file) => withSlot(file, slot + 20, Buffer.alloc(20, 0xee)), warns: true },
    'both slots are gone': { change: (file) => Buffer.alloc(file.length), warns: true },
    'an empty file': { change: () => Buffer.alloc(0), warns: true },
    'no file': { change: () => null, warns: true },
    'as it was': { change: (file) => file, warns: false },
  }
  for (const [name, { change, warns }] of Object.entries(states)) {
    const directory = copy(t)
    const bytes = change(readFileSync(headPath(directory)))
    if (bytes === null) rmSync(headPath(directory))
    else writeFileSync(headPath(directory), bytes)
    const warnings: string[] = []
    const shortfall = await look(directory, (database) => shortfallOf(database, sourcesOf(directory), (text) => warnings.push(text)))
    t.equal(shortfall, null, name)
    t.equal(warnings.length, warns ? 1 : 0, warnings.join())
    const matcher = startMatcher(directory)
    openAccount(matcher, 1, 'somebody')
    await matcher.database.close()
    t.match(readHeadFile(headFileOf(directory)), { damage: [], head: { next: last + 3 } }, 'it is written anew')
    t.equal(verify(directory, ignore).commands, last + 2)
  }
})

function withSlot(file: Buffer, at: number, bytes: Buffer): Buffer {
  const changed = Buffer.from(file)
  bytes.copy(changed, at)
  return changed
}

t.test('a journal of before heads is read once to its end and gets both', async (t) => {
  const directory = headless(t)
  t.equal(verify(copyOf(t, directory), ignore).commands, last)
  const matcher = startMatcher(directory)
  t.match(headRecord(matcher.database), { next: last + 1, batches: after.length, first: after.at(-1)!.first })
  t.match(readHeadFile(headFileOf(directory)).head, { next: last + 1, batches: after.length })
  await matcher.database.close()
  t.equal(verify(directory, ignore).commands, last)
})

/** The journal as a version before heads left it. */
function headless(t: Test): string {
  const directory = copy(t)
  const database = openJournal(directory, false, 1)
  database.transactionSync(() => database.removeSync(HEAD_KEY))
  void database.close()
  rmSync(headPath(directory))
  return directory
}

t.test('a journal of before heads whose pages hide batches is refused', async (t) => {
  const directory = headless(t)
  const file = readFileSync(dataFile(directory))
  let refused = 0
  for (const { at, bit } of shortened(file)) {
    const damaged = Buffer.from(file)
    damaged.writeUInt16LE(damaged.readUInt16LE(at) ^ (1 << bit), at)
    const copied = copy(t, ignore)
    rmSync(headPath(copied))
    writeFileSync(dataFile(copied), damaged)
    let whole = false
    const error = thrown(() => (whole = verify(copied, ignore).commands === last))
    t.ok(whole || error instanceof JournalFault || error instanceof JournalError, error?.message ?? 'whole')
    if (error !== null) refused++
  }
  t.ok(refused > 3, `${refused} refused`)
})

/** Another process that writes one batch to the journal of a directory. */
const RIVAL = `
  import { openAccount, startMatcher } from '${import.meta.dirname}/../support/journal.ts'
  const matcher = startMatcher(process.argv[1])
  openAccount(matcher, 1, 'rival')
  await matcher.database.close()`

for (const withoutLock of [false, true]) {
  t.test(`a second writer, ${withoutLock ? 'with the lock file of LMDB removed' : 'as LMDB lets it'}`, async (t) => {
    const directory = copy(t)
    const matcher = startMatcher(directory)
    openAccount(matcher, 1, 'first')
    if (withoutLock) rmSync(lockFile(directory))
    const child = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', RIVAL, directory])
    t.equal(child.status, 0, child.stderr.toString())
    t.throws(() => openAccount(matcher, 2, 'again'), SecondWriter, 'the first finds out before it writes')
    const kept = copyOf(t, directory)
    t.equal(verify(kept, ignore).commands, last + 4, 'what the second was told is durable is there')
    await matcher.database.close()
  })
}

function copyOf(t: Test, directory: string): string {
  const to = temporaryDirectory()
  t.teardown(() => removeDirectory(to))
  cpSync(join(directory, 'journal'), join(to, 'journal'), { recursive: true })
  return to
}

t.test('a head file that somebody wrote to stops the writer', async (t) => {
  const directory = copy(t)
  const matcher = startMatcher(directory)
  const byte = 520
  const fd = openSync(headPath(directory), 'r+')
  writeSync(fd, Buffer.from([readFileSync(headPath(directory))[byte]! ^ 1]), 0, 1, byte)
  closeSync(fd)
  t.throws(() => openAccount(matcher, 1, 'first'), SecondWriter)
  t.equal(endSequence(matcher.database), last, 'nothing was written')
  await matcher.database.close()
})

t.test('a writer does not open behind another end than it was told', async (t) => {
  const directory = copy(t)
  const database = openJournal(directory, false, 1)
  const head = headRecord(database) as Head
  t.throws(() => createWriter(database, 16, { sequence: head.next - 1, checksum: head.checksum }), JournalError)
  t.throws(() => createWriter(database, 16, { sequence: head.next, checksum: (head.checksum ^ 1) >>> 0 }), JournalError)
  await database.close()
  t.ok(existsSync(headPath(directory)))
})

/** Entries of LMDB's main database in a meta page, and the newest of which says so. */
const ENTRIES = 128

t.test('followers do not go on with a journal of which LMDB counts other batches', async (t) => {
  for (const more of [-1n, 1n, 4096n]) {
    const directory = copy(t, (file) => {
      const at = newestMeta(file) + ENTRIES
      file.writeBigUInt64LE(file.readBigUInt64LE(at) + more, at)
    })
    t.equal(await look(directory, readAll), last, 'reading alone does not tell')
    t.throws(() => projectAll(directory), /LMDB counts \d+ batches, its head record says/, 'the history')
    const follower = fork(join(import.meta.dirname, '..', '..', 'core', 'snapshot', 'follower.ts'), [directory, '1000', '3'])
    const words: string[] = []
    follower.on('message', ({ type, message }: { type: string; message?: string }) => {
      words.push(message ?? '')
      if (type === 'beat') follower.kill('SIGKILL')
    })
    t.equal(await new Promise((resolve) => follower.once('exit', resolve)), 1)
    t.match(words.join(), /JournalError: LMDB counts/, 'the snapshots')
  }
})

/** The journal with its last batch damaged, and what reading says of it. */
async function withBadTail(t: Test, headFile: boolean): Promise<{ directory: string; database: JournalDatabase; fault: JournalFault }> {
  const directory = copy(t)
  const database = openJournal(directory, false, 1)
  const { first } = after.at(-1)!
  const value = Buffer.from(database.get(Buffer.from(keyBytes(first)))!)
  value[70]! ^= 1
  await database.put(Buffer.from(keyBytes(first)), value)
  if (!headFile) rmSync(headPath(directory))
  return { directory, database, fault: thrown(() => readAll(database)) as JournalFault }
}

/** What a start finds missing in the directory as it is, which nobody has open. */
const missing = (directory: string): Promise<unknown> => look(directory, (database) => shortfallOf(database, sourcesOf(directory), ignore))

for (const headFile of [true, false]) {
  t.test(`a crash between cutting the tail and writing the loss, ${headFile ? 'with' : 'without'} a head file`, async (t) => {
    const { directory, database, fault } = await withBadTail(t, headFile)
    const { first } = after.at(-1)!
    const end = cutTail(database, fault, first)
    await database.close()
    const expected = { end, known: last, witnesses: [{ name: 'journal/head', sequence: last }] }
    t.match(await missing(copyOf(t, directory)), expected, 'the next start finds out')
    // Once more, now when the writer was opened and nothing was committed.
    const again = openJournal(directory, false, 1)
    const { checksum } = after.at(-2)!
    createWriter(again, 16, { sequence: first, checksum }, { loss: true }).close()
    await again.close()
    t.match(await missing(copyOf(t, directory)), expected, 'and the one after it')
  })
}

t.test('a crash between writing the loss and putting aside who knows more', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const { database, after: batches } = makeJournal(directory, { seed: SEED, batches: 30, snapshots: [20, 30] })
  const known = batches.at(-1)!.last
  dropLast(database)
  const place = { sequence: batches.at(-1)!.first, checksum: batches.at(-2)!.checksum }
  const { replayer } = rebuild(database, snapshotFiles(directory), place.sequence - 1, ignore)
  catchUp(database, replayer, Infinity, () => 0, ignore)
  const writer = createWriter(database, 16, place, { loss: true })
  const resume = writeLoss(database, writer, replayer, known)
  writer.close()
  await database.close()
  const shortfall = await missing(copyWhole(t, directory)) as Shortfall
  t.match(shortfall, { end: resume, known: resume, witnesses: [{ sequence: known, name: /snapshots/ }] }, 'the next start names it again')
  setAside({ ...shortfall, witnesses: shortfall.witnesses.map((one) => ({ ...one, path: join(directory, one.name) })) })
  t.equal(await missing(directory), null, 'until it is put aside')
})

function copyWhole(t: Test, directory: string): string {
  const to = temporaryDirectory()
  t.teardown(() => removeDirectory(to))
  cpSync(directory, to, { recursive: true })
  return to
}

t.test('a first start that ended before its first commit is begun again', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const first = openJournal(directory, false, 1)
  // What createWriter does before it writes to LMDB.
  openHeadFile(headFileOf(directory), NO_HEAD).close()
  await first.close()
  const database = openJournal(directory, false, 1)
  t.equal(shortfallOf(database, sourcesOf(directory), (text) => t.fail(text)), null)
  createWriter(database, 16).close()
  t.match(headRecord(database), { next: 1, batches: 0 })
  await database.close()
})
