/**
 * Promise: a snapshot is used whole or not at all. Whatever happens to its file, it loads to exactly what was written or it is skipped with
 * a warning, and an older one or the genesis leads to the same state.
 */
import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { keyOf } from '../../core/journal/frame.ts'
import type { JournalDatabase } from '../../core/journal/file.ts'
import { headPath } from '../../core/journal/head_file.ts'
import { JournalFault } from '../../core/journal/reader.ts'
import { catchUp, cutTail, fromGenesis, rebuild } from '../../core/recovery/recover.ts'
import { CommandType, kindOf, SET_MAINTENANCE_COMMAND } from '../../core/layout/command.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import {
  listSnapshots, loadSnapshot, pruneSnapshots, readSnapshotInfo, snapshotDirectory, snapshotPath, snapshotFiles,
} from '../../core/snapshot/file.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { GENESIS, makeJournal, post, startMatcher } from '../support/journal.ts'

const SEED = Number(process.env['SEED'] ?? 11)
t.comment(`SEED=${SEED} node_modules/.bin/node --disable-warning=ExperimentalWarning test/crash/snapshot_damage.test.ts`)

function directory(): string {
  const path = temporaryDirectory()
  t.teardown(() => removeDirectory(path))
  return path
}

const BATCHES = 40
const dataDir = directory()
const { database, after } = makeJournal(dataDir, { seed: SEED, batches: BATCHES, snapshots: [10, 20, 30] })
const end = after[BATCHES]!.digest
const [older, old, newest] = [after[10]!, after[20]!, after[30]!]
const path = snapshotPath(dataDir, newest.last)
const original = readFileSync(path)
const restore = (): void => writeFileSync(path, original)

/** Recovers: where it began, what it warned of and the digest at the end. */
function recover(from: JournalDatabase = database, dir: string = dataDir): { began: number; warnings: string[]; digest: string } {
  const warnings: string[] = []
  const { replayer } = rebuild(from, snapshotFiles(dir), Infinity, (text) => warnings.push(text))
  const began = replayer.place.sequence - 1
  catchUp(from, replayer, Infinity, () => 0, () => undefined)
  return { began, warnings, digest: stateDigest(replayer.state) }
}

/** How loading the newest snapshot ends: with what was written, with an error, or with something else. */
function load(): string {
  try {
    const { state, info } = loadSnapshot(dataDir, newest.last)
    const { digest, checksum, events, last, time } = newest
    const expected = { sequence: last, timeMs: time, batchChecksum: checksum, eventsChecksum: events, digest, genesis: GENESIS }
    return stateDigest(state) === digest && JSON.stringify(info) === JSON.stringify(expected) ? 'as written' : 'something else'
  } catch (error) {
    return error instanceof Error ? 'refused' : 'something else'
  }
}

t.test('a snapshot loads to what was written, and recovery begins there', async (t) => {
  t.equal(load(), 'as written')
  t.same(listSnapshots(dataDir), [newest.last, old.last, older.last], 'newest first')
  t.same(recover(), { began: newest.last, warnings: [], digest: end })
})

t.test('recovery from every snapshot and from the genesis ends at the same digest', async (t) => {
  const starts = [[Infinity, newest.last], [newest.last - 1, old.last], [old.last - 1, older.last], [older.last - 1, 1]] as const
  for (const [most, began] of starts) {
    const { replayer } = rebuild(database, snapshotFiles(dataDir), most, (text) => t.fail(text))
    t.equal(replayer.place.sequence - 1, began)
    catchUp(database, replayer, Infinity, () => 0, () => undefined)
    t.equal(stateDigest(replayer.state), end, `from ${began}`)
    t.equal(replayer.events, after[BATCHES]!.events)
  }
})

t.test('flipped bytes anywhere: as written or refused', async (t) => {
  const random = createPrng(SEED)
  const outcomes: Record<string, number> = {}
  const wrong: number[] = []
  for (let flip = 0; flip < 1000; flip++) {
    const at = random.below(original.length)
    const copy = Buffer.from(original)
    copy[at]! ^= 1 << random.below(8)
    writeFileSync(path, copy)
    const outcome = load()
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    if (outcome === 'something else') wrong.push(at)
  }
  restore()
  t.same(wrong, [], 'positions of bytes that changed what was loaded')
  t.ok(outcomes['refused']! > 50, `of 1000 flips ${outcomes['refused']} were refused, the others hit unused bytes`)
})

t.test('a flipped byte of its description is refused', async (t) => {
  const begins = original.indexOf(newest.digest)
  t.ok(begins > 0, 'the row was found')
  const accepted: number[] = []
  for (let at = begins; at < begins + newest.digest.length + GENESIS.length + 64; at += 13) {
    const copy = Buffer.from(original)
    copy[at]! ^= 1
    writeFileSync(path, copy)
    if (load() !== 'refused') accepted.push(at)
  }
  restore()
  t.same(accepted, [])
})

t.test('a truncated file is refused and skipped', async (t) => {
  const lengths = [0, 1, 16, 99, 100, 4095, 4096, original.length >> 2, original.length >> 1, original.length - 4096]
  for (const length of lengths) {
    truncateSync(path, length)
    t.equal(load(), 'refused', `${length} of ${original.length} bytes`)
    const { began, warnings, digest } = recover()
    t.match({ began, warnings, digest }, { began: old.last, warnings: [`snapshot ${newest.last} is skipped`], digest: end })
    restore()
  }
  // The last bytes of a page may be unused: SQLite takes missing ones for zeros.
  for (let missing = 1; missing < 200; missing += 9) {
    truncateSync(path, original.length - missing)
    t.not(load(), 'something else', `${missing} bytes are missing`)
    restore()
  }
  t.equal(recover().digest, end)
})

const STATEMENTS: Record<string, [sql: string, reason: RegExp]> = {
  'no descriptive row': ['delete from snapshot', /incomplete/],
  'another format': ['update snapshot set format = format + 1', /format 6, this version reads 5/],
  'another sequence': ['update snapshot set sequence = sequence + 1', /says it is/],
  'another batch checksum': ['update snapshot set batch_checksum = batch_checksum + 1', /seal/],
  'another events checksum': ['update snapshot set events_checksum = events_checksum + 1', /seal/],
  'another time': ['update snapshot set time_ms = time_ms + 1', /seal/],
  'another fee in its genesis': [`update snapshot set genesis = replace(genesis, '"takerFeeBps":"5"', '"takerFeeBps":"6"')`, /seal/],
  'no seal': [`update snapshot set seal = ''`, /seal/],
  'a missing column': [`delete from chunk where column_name = 'accounts'`, /digest/],
  'an unknown column': [`insert into chunk values ('extra', 0, zeroblob(8))`, /extra/],
  'a changed column': [`update chunk set bytes = zeroblob(length(bytes)) where column_name = 'accounts'`, /digest/],
  // Counters that would send the rebuilding of indexes far outside the tables.
  'absurd counters': [
    `update chunk set bytes = cast(unhex(replace(hex(zeroblob(length(bytes))), '00', '7f')) as blob) where column_name = 'scalars'`, /./,
  ],
}
for (const [name, [sql, reason]] of Object.entries(STATEMENTS)) {
  t.test(`${name}: skipped with a warning`, async (t) => {
    const file = new Database(path)
    t.ok(file.prepare(sql).run().changes > 0, 'the file was changed')
    file.close()
    t.throws(() => loadSnapshot(dataDir, newest.last), reason)
    const { began, warnings, digest } = recover()
    t.match(warnings, [new RegExp(`^snapshot ${newest.last} is skipped: `)])
    t.equal(began, old.last, 'the older one is used')
    t.equal(digest, end)
    restore()
  })
}

t.test('with no snapshot that verifies, the genesis leads to the same state', async (t) => {
  const copy = directory()
  cpSync(snapshotDirectory(dataDir), snapshotDirectory(copy), { recursive: true })
  for (const sequence of listSnapshots(copy)) truncateSync(snapshotPath(copy, sequence), 5000)
  const { began, warnings, digest } = recover(database, copy)
  t.equal(began, 1)
  t.equal(warnings.length, 3)
  t.equal(digest, end)
})

t.test('a snapshot ahead of the journal is skipped', async (t) => {
  const shorter = directory()
  const made = makeJournal(shorter, { seed: SEED, batches: 25 })
  cpSync(snapshotDirectory(dataDir), snapshotDirectory(shorter), { recursive: true })
  const { began, warnings, digest } = recover(made.database, shorter)
  t.equal(began, old.last, 'the one within the journal is used')
  t.match(warnings, [/ahead of the journal/])
  t.equal(digest, made.after[25]!.digest)
})

t.test('a snapshot of another journal is skipped', async (t) => {
  const other = directory()
  const made = makeJournal(other, { seed: SEED + 8, batches: BATCHES })
  cpSync(snapshotDirectory(dataDir), snapshotDirectory(other), { recursive: true })
  const { began, warnings, digest } = recover(made.database, other)
  t.equal(began, 1)
  t.match(warnings, [/no batch that it continues/, /no batch that it continues/, /no batch that it continues/])
  t.equal(digest, made.after[BATCHES]!.digest)
})

t.test('a snapshot that holds a batch which was cut never comes back', async (t) => {
  const cut = directory()
  const made = makeJournal(cut, { seed: SEED, batches: 12, snapshots: [6, 12] })
  const { first, last } = made.after[12]!
  made.database.transactionSync(() => made.database.putSync(keyOf(first), Buffer.from('damaged')))
  const { replayer } = rebuild(made.database, snapshotFiles(cut), Infinity, () => undefined)
  try {
    catchUp(made.database, replayer, Infinity, () => 0, () => undefined)
    t.fail('the damage was not noticed')
  } catch (error) {
    cutTail(made.database, error as JournalFault, first)
  }
  // A real start would skip sequences; here they are used again, so that only the checksum tells the snapshot's batch from another.
  rmSync(headPath(cut))
  const matcher = startMatcher(cut)
  matcher.clock = made.after[12]!.time
  const command = viewsOf(new ArrayBuffer(RECORD_BYTES))
  encode(SET_MAINTENANCE_COMMAND, command, 0, { kind: kindOf(CommandType.SET_MAINTENANCE, 1, 0), session: -1, on: 1 })
  for (let sequence = first; sequence <= last + 2; sequence++) {
    post(matcher, command)
    t.equal(matcher.turn(), 1)
    const { began, warnings, digest } = recover(matcher.database, cut)
    t.equal(began, made.after[6]!.last, `journal ends at ${sequence}, the snapshot is of ${last}`)
    t.equal(warnings.length, 1)
    t.equal(digest, stateDigest(matcher.sequencer.state))
  }
  const whole = fromGenesis(matcher.database).replayer
  catchUp(matcher.database, whole, Infinity, () => 0, () => undefined)
  t.equal(stateDigest(whole.state), stateDigest(matcher.sequencer.state))
  t.equal(whole.state.clock[CLOCK.SEQUENCE], last + 2)
})

t.test('pruning keeps the newest, unfinished files are never listed', async (t) => {
  const copy = directory()
  cpSync(snapshotDirectory(dataDir), snapshotDirectory(copy), { recursive: true })
  const unfinished = `${snapshotPath(copy, newest.last + 5)}.unfinished`
  writeFileSync(unfinished, 'half')
  writeFileSync(join(snapshotDirectory(copy), 'notes.txt'), 'not ours')
  t.same(listSnapshots(copy), [newest.last, old.last, older.last])
  t.match(recover(database, copy), { began: newest.last, warnings: [] })
  pruneSnapshots(copy, 2)
  t.same(listSnapshots(copy), [newest.last, old.last])
  t.notOk(existsSync(unfinished), 'what an interrupted writer left is removed')
  t.ok(existsSync(join(snapshotDirectory(copy), 'notes.txt')), 'nothing else is')
  t.equal(readSnapshotInfo(copy, newest.last).digest, newest.digest)
  pruneSnapshots(copy, 5)
  t.same(listSnapshots(copy), [newest.last, old.last], 'fewer than kept: all stay')
})
