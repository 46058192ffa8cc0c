/**
 * `npm run history`: looks at the history store, proves it and makes it anew. Results go to standard output, progress and errors to
 * standard error. Exit code 0: all is well; 1: verify found a difference; 2: the call was wrong or something cannot be read or written.
 */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { DirectoryLocked, lockDirectory, makeFilesPrivate } from '../data_dir.ts'
import { openJournal } from '../journal/file.ts'
import { endSequence } from '../journal/reader.ts'
import { dataDirOf, saidVersion } from '../lib/about.ts'
import { realIo } from '../lib/io.ts'
import { openProjection, type Projection } from './project/projection.ts'
import { checkpoint, historyPath, openReader, readPosition, removeStore, type StorePosition } from './store/store.ts'
import { compareStores } from './store/verify.ts'

makeFilesPrivate()

const HELP = `The history: orders, trades, movements and portfolios of an exchange, projected from its journal into history.sqlite.

  npm run history -- status     how far the store is and what it holds; also while the exchange runs
  npm run history -- verify [--archive DIR]
                                projects the journal once more, up to where the store is, and compares every row;
                                also while the exchange runs; needs as much free disk as two stores
  npm run history -- rebuild [--archive DIR]
                                makes the store anew from the journal and puts it in the place of the old one;
                                not while the exchange runs

  --archive DIR    where the oldest batches of the journal are, when they were archived and dropped
                   (default: the archive they were dropped for)
  --data-dir DIR   the data directory (default: RINGBOOK_DATA_DIR of the environment, data/var)
  --help           this text
  --version        the version of the program

The exchange keeps the store up to date by itself, goes on where it stopped, and makes it anew when it does not belong to the journal.
Nothing is lost with it: everything in it comes from the journal. Rebuild it when verify says so, or after its file was damaged or removed.
`

/** Commands between two looks at the clock. */
const SLICE = 65_536
const REPORT_MS = 1_000

const warn = (text: string): void => console.error(text)

/** Projects until the journal, or what the projection may see of it, is at its end. */
function projectAll(projection: Projection, end: number): void {
  const started = performance.now()
  let reported = started
  for (let more = true; more; ) {
    more = projection.step(SLICE)
    const now = performance.now()
    if (more && now - reported < REPORT_MS) continue
    reported = now
    const { sequence, events } = projection
    const [rate, eventRate] = [sequence, events].map((count) => Math.round((count / (now - started)) * 1000)) as [number, number]
    warn(`${sequence} of ${end} commands, ${rate}/s, ${eventRate} events/s, ${Math.ceil((end - sequence) / rate)} s left`)
  }
}

/** The position of an existing store; throws when it cannot be read. */
function positionOf(dataDir: string): StorePosition {
  if (!existsSync(historyPath(dataDir))) throw new Error(`there is no history in ${dataDir}; rebuild it, or start the exchange`)
  const database = openReader(historyPath(dataDir))
  try {
    return readPosition(database)!
  } finally {
    database.close()
  }
}

async function status(dataDir: string): Promise<number> {
  const journal = openJournal(dataDir, true)
  const end = endSequence(journal)
  await journal.close()
  const { sequence, time_ms: time, events, format } = positionOf(dataDir)
  const path = historyPath(dataDir)
  const bytes = (name: string): number => statSync(name, { throwIfNoEntry: false })?.size ?? 0
  console.log(
    JSON.stringify(
      { sequence, time: new Date(time).toISOString(), journal: end, behind: end - sequence, events, format,
        bytes: bytes(path), logBytes: bytes(`${path}-wal`) },
      null, 2,
    ),
  )
  return 0
}

async function rebuild(dataDir: string, archive: string | undefined): Promise<number> {
  const lock = await lockDirectory(dataDir)
  const path = historyPath(dataDir)
  const unfinished = `${path}.rebuilding`
  try {
    removeStore(unfinished)
    const projection = openProjection(dataDir, unfinished, { warn, archive })
    projectAll(projection, projection.end())
    const { sequence, events } = projection
    checkpoint(projection.database, true)
    await projection.close()
    // The old log must not outlive its file. What is lost between these two lines is made anew by the next start.
    removeStore(path)
    renameSync(unfinished, path)
    realIo.syncDirectory(dataDir)
    console.log(JSON.stringify({ sequence, events, bytes: statSync(path).size }, null, 2))
    return 0
  } finally {
    removeStore(unfinished)
    lock.release()
  }
}

/** A copy of the store as it is now, so that a running exchange is not kept from writing back its log. */
function copyStore(dataDir: string, to: string): void {
  rmSync(to, { force: true })
  const database = openReader(historyPath(dataDir))
  try {
    database.prepare('vacuum into ?').run(to)
  } finally {
    database.close()
  }
}

async function verify(dataDir: string, archive: string | undefined): Promise<number> {
  const path = historyPath(dataDir)
  const [copyPath, truthPath] = [`${path}.copy`, `${path}.verifying`]
  positionOf(dataDir)
  try {
    copyStore(dataDir, copyPath)
    removeStore(truthPath)
    const copy = new Database(copyPath, { readonly: true })
    const position = readPosition(copy)!
    const projection = openProjection(dataDir, truthPath, { warn, archive, last: position.sequence })
    projectAll(projection, position.sequence)
    const truth = readPosition(projection.database)!
    const { rows, differences } = compareStores(copy, projection.database)
    // One that a version before wrote last says its format, and has no roots of tables that came later, until it goes on.
    const wanted = { ...truth, format: position.format, roots: truth.roots.subarray(0, position.roots.length) }
    const positions = JSON.stringify(wanted) === JSON.stringify(position)
    copy.close()
    await projection.close()
    const verdict = differences.length > 0 ? 'DIFFERENT' : positions ? 'ok' : 'ANOTHER POSITION'
    console.log(JSON.stringify({ sequence: position.sequence, events: position.events, verdict, rows, differences }, null, 2))
    return verdict === 'ok' ? 0 : 1
  } finally {
    rmSync(copyPath, { force: true })
    removeStore(truthPath)
  }
}

async function run(): Promise<number> {
  if (saidVersion()) return 0
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'data-dir': { type: 'string' }, help: { type: 'boolean' }, archive: { type: 'string' } },
  })
  const tools: Record<string, (dataDir: string, archive: string | undefined) => Promise<number>> = { status, rebuild, verify }
  const [tool, ...rest] = positionals
  if (values.help === true || tool === undefined) {
    console.log(HELP)
    return values.help === true ? 0 : 2
  }
  const chosen = Object.hasOwn(tools, tool) ? tools[tool] : undefined
  if (chosen === undefined || rest.length > 0) throw new Error(`unknown call: ${positionals.join(' ')}`)
  return chosen(dataDirOf(values['data-dir']), values.archive)
}

try {
  process.exitCode = await run()
} catch (error) {
  const locked = error instanceof DirectoryLocked
  console.error(locked ? 'history: the exchange runs on this directory; stop it first' : `history: ${(error as Error).message}. Try --help`)
  process.exitCode = 2
}
