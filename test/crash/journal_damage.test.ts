/**
 * Promise: a damaged journal is never half believed. Whatever happens to a batch, reading gives the batches before it and then names the
 * sequence; only a damaged last batch may be cut, and only by name; a file shorter than its header is refused without touching it.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { checkJournalFile, JournalError, openJournal, type JournalDatabase } from '../../core/journal/file.ts'
import { HEADER_BYTES, keyOf, open, seal, type Batch } from '../../core/journal/frame.ts'
import { HEAD_KEY } from '../../core/journal/head.ts'
import { JournalFault, lastSequence, readBatches, START, type Fault } from '../../core/journal/reader.ts'
import { catchUp, cutTail, rebuild } from '../../core/recovery/recover.ts'
import { Divergence } from '../../core/recovery/replayer.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal } from '../support/journal.ts'
import { snapshotFiles } from '../../core/snapshot/file.ts'

const BATCHES = 20
const SEED = Number(process.env['SEED'] ?? 7)
const RERUN = `SEED=${SEED} node_modules/.bin/node --disable-warning=ExperimentalWarning test/crash/journal_damage.test.ts`

const dataDir = temporaryDirectory()
t.teardown(() => removeDirectory(dataDir))
const { database, after } = makeJournal(dataDir, { seed: SEED, batches: BATCHES })
const values = after.map(({ first }) => Buffer.from(database.get(keyOf(first))!))
const head = Buffer.from(database.get(HEAD_KEY)!)
t.comment(RERUN)

const put = (sequence: number, value: Buffer): void => database.transactionSync(() => database.putSync(keyOf(sequence), value))
/** Puts the journal back as it was written. */
function restore(): void {
  database.transactionSync(() => {
    after.forEach(({ first }, index) => database.putSync(keyOf(first), values[index]!))
    database.putSync(HEAD_KEY, head)
  })
}

/** First sequences of the batches that read well, and what ended the reading. */
function readAll(from: JournalDatabase = database): { read: number[]; fault: Fault | null } {
  const read: number[] = []
  try {
    for (const batch of readBatches(from, START)) read.push(batch.sequence)
    return { read, fault: null }
  } catch (error) {
    if (!(error instanceof JournalFault)) throw error
    return { read, fault: error.fault }
  }
}

const firsts = (count: number): number[] => after.slice(0, count).map(({ first }) => first)
const ignore = (): void => undefined

/** Replays as a start does; the digest and events it stands at and what stopped it. */
function recover(): { digest: string; events: number; stopped: unknown } {
  const { replayer } = rebuild(database, snapshotFiles(dataDir), Infinity, ignore)
  let stopped: unknown = null
  try {
    catchUp(database, replayer, Infinity, () => 0, ignore)
  } catch (error) {
    stopped = error
  }
  return { digest: stateDigest(replayer.state), events: replayer.events, stopped }
}

/** Reads with batch `index` replaced and says how that differs from what must happen; null: as it must be. */
function misread(index: number, value: Buffer, last: boolean): string | null {
  put(after[index]!.first, value)
  const { read, fault } = readAll()
  if (fault === null) return 'not noticed'
  if (JSON.stringify(read) !== JSON.stringify(firsts(index))) return `read ${read}`
  if (fault.sequence !== after[index]!.first || fault.last !== last) return `${fault.sequence} ${fault.last} ${fault.reason}`
  return null
}

/** What is wrong with reading each of these damaged values, all within one transaction, so that the disk need not follow. */
function misreadings(index: number, damaged: Buffer[], last: boolean): string[] {
  const wrong: string[] = []
  database.transactionSync(() => {
    damaged.forEach((value, number) => {
      const problem = misread(index, value, last)
      if (problem !== null) wrong.push(`${number}: ${problem}`)
    })
    put(after[index]!.first, values[index]!)
  })
  return damaged.length > HEADER_BYTES ? wrong : ['too few']
}

function flipped(value: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(value)
  copy[at]! ^= 1 << bit
  return copy
}

t.test('the journal is what the engine beside it says', async (t) => {
  const { read, fault } = readAll()
  t.same(read, firsts(BATCHES + 1), 'every batch is read')
  t.equal(fault, null)
  const { digest, events, stopped } = recover()
  t.equal(stopped, null)
  t.equal(digest, after[BATCHES]!.digest)
  t.equal(events, after[BATCHES]!.events)
})

for (const [name, index, last] of [['last', BATCHES, true], ['middle', 9, false]] as const) {
  t.test(`the ${name} batch truncated at every length`, async (t) => {
    const value = values[index]!
    const lengths = Array.from(value, (_, length) => value.subarray(0, length))
    t.same(misreadings(index, lengths, last), [])
  })

  t.test(`the ${name} batch with every byte flipped`, async (t) => {
    const value = values[index]!
    const flips = Array.from(value, (_, at) => flipped(value, at, (at * 5 + SEED) % 8))
    t.same(misreadings(index, flips, last), [])
  })

  t.test(`recovery stops before the damaged ${name} batch, at the state recorded there`, async (t) => {
    const value = values[index]!
    const before = after[index - 1]!
    const cuts = [0, 63, value.length - 1].map((length) => value.subarray(0, length))
    for (const damaged of [...cuts, flipped(value, 0, 0), flipped(value, 70, 3)]) {
      put(after[index]!.first, damaged)
      const { digest, events, stopped } = recover()
      t.ok(stopped instanceof JournalFault)
      t.match((stopped as JournalFault).fault, { sequence: after[index]!.first, last })
      t.match((stopped as Error).message, new RegExp(`sequence ${after[index]!.first}: `), 'the message names it')
      t.equal(digest, before.digest)
      t.equal(events, before.events)
    }
    restore()
  })
}

t.test('bytes beyond the end of a batch are noticed', async (t) => {
  t.equal(misread(BATCHES, Buffer.concat([values[BATCHES]!, Buffer.alloc(128)]), true), null)
  restore()
})

t.test('every missing batch is named', async (t) => {
  for (let index = 0; index < BATCHES; index++) {
    database.transactionSync(() => database.removeSync(keyOf(after[index]!.first)))
    const { read, fault } = readAll()
    t.same(read, firsts(index))
    t.match(fault, { sequence: after[index]!.first, last: false, reason: /missing/ }, `batch ${index}`)
    restore()
  }
})

t.test('batches exchanged or put in another place are noticed', async (t) => {
  const moved = (to: number, from: number): void => put(after[to]!.first, values[from]!)
  moved(5, 6)
  moved(6, 5)
  t.match(readAll(), { read: firsts(5), fault: { sequence: after[5]!.first, last: false } }, 'exchanged')
  restore()
  moved(BATCHES, 4)
  t.match(readAll(), { read: firsts(BATCHES), fault: { sequence: after[BATCHES]!.first, last: true } }, 'an older one at the end')
  restore()
  // A batch of another history that is whole in itself: right sequence, right size, other commands before it.
  const other = open(values[8]!) as Batch
  const forged = Buffer.from(values[8]!)
  seal(forged, { ...other, previous: (other.previous ^ 1) >>> 0 })
  put(after[8]!.first, forged)
  t.match(readAll(), { read: firsts(8), fault: { sequence: after[8]!.first, last: false, reason: /continue/ } }, 'of another history')
  restore()
})

t.test('a batch whose journal knows of other events diverges there', async (t) => {
  for (const index of [3, BATCHES]) {
    const altered = Buffer.from(values[index]!)
    const batch = open(altered) as Batch
    seal(altered, { ...batch, events: (batch.events ^ 0x100) >>> 0 })
    put(after[index]!.first, altered)
    const { digest, stopped } = recover()
    t.ok(stopped instanceof Divergence)
    t.equal((stopped as Divergence).sequence, after[index]!.first)
    t.equal(digest, after[index - 1]!.digest, 'nothing of it is applied')
    restore()
  }
})

t.test('a tail is cut only when it is the last one and named', async (t) => {
  const fault = (): JournalFault => recover().stopped as JournalFault
  const first = after[BATCHES]!.first
  put(after[9]!.first, flipped(values[9]!, 80, 1))
  const middle = fault()
  for (const named of [0, after[9]!.first, first]) t.throws(() => cutTail(database, middle, named), middle, `middle, named ${named}`)
  restore()
  put(first, flipped(values[BATCHES]!, 80, 1))
  const last = fault()
  for (const named of [0, first - 1, first + 1]) t.throws(() => cutTail(database, last, named), last, `last, named ${named}`)
  t.equal(lastSequence(database), first, 'nothing was cut')
  cutTail(database, last, first)
  t.equal(lastSequence(database), after[BATCHES - 1]!.first)
  const { digest, stopped } = recover()
  t.equal(stopped, null)
  t.equal(digest, after[BATCHES - 1]!.digest)
  restore()
})

t.test('a gap before the last batch is no tail to cut', async (t) => {
  database.transactionSync(() => database.removeSync(keyOf(after[BATCHES - 1]!.first)))
  const fault = recover().stopped as JournalFault
  for (const named of [after[BATCHES - 1]!.first, after[BATCHES]!.first]) t.throws(() => cutTail(database, fault, named), fault)
  restore()
})

/** Reads copies of the journal, truncated to the lengths given, and prints what happened to each. */
const CHILD = `
  import { openJournal } from '${import.meta.dirname}/../../core/journal/file.ts'
  import { readBatches, START } from '${import.meta.dirname}/../../core/journal/reader.ts'
  for (const directory of process.argv.slice(1)) {
    let outcome = 'read'
    try {
      for (const batch of readBatches(openJournal(directory, true, 1), START)) void batch.records[batch.records.length - 1]
    } catch (error) {
      outcome = error.name
    }
    console.log(outcome)
  }`

t.test('a file cut short is refused, never mapped', async (t) => {
  const { size } = statSync(join(dataDir, 'journal', 'data.mdb'))
  const lengths = [0, 1, 23, 4095, 4096, 8191, 8192, 8193, 12_288, size >> 1, size - 8192, size - 4097, size - 4096, size - 1, size]
  const copies = lengths.map((length) => {
    const copy = temporaryDirectory()
    t.teardown(() => removeDirectory(copy))
    cpSync(join(dataDir, 'journal'), join(copy, 'journal'), { recursive: true })
    truncateSync(join(copy, 'journal', 'data.mdb'), length)
    return copy
  })
  const arguments_ = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', CHILD, ...copies]
  const child = spawnSync(process.execPath, arguments_, { encoding: 'utf8' })
  t.equal(child.signal, null, 'no signal')
  t.equal(child.status, 0, child.stderr)
  const outcomes = child.stdout.trim().split('\n')
  lengths.forEach((length, index) => t.equal(outcomes[index], length === size ? 'read' : 'JournalError', `${length} of ${size} bytes`))
})

t.test('a file that is no journal is refused', async (t) => {
  t.throws(() => openJournal(join(dataDir, 'nothing'), true), JournalError, 'none to read')
  t.doesNotThrow(() => checkJournalFile(join(dataDir, 'nothing')), 'a fresh directory is no damage')
})
