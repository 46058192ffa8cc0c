/**
 * The journal's LMDB environment, and a look at its file before LMDB maps it.
 *
 * LMDB maps the file; reading a page beyond a truncated end would kill the process with SIGBUS instead of an error. So the two
 * meta pages are read first: the file must be as long as they say. `overlappingSync: false`: a failed flush must never leave a
 * readable batch. One writer, any number of read-only readers in other processes.
 *
 * What the system or LMDB says of a file that cannot be opened becomes one line that says what to do: SystemFault when the system will not
 * have it (lib/system_fault.ts), {@link JournalError} when the file is at fault, {@link ReadersFull} when others only read it.
 */
import { accessSync, constants, existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { open as openLmdb, type RootDatabase } from 'lmdb'
import { orSystemFault, SystemFault, systemFault } from '../lib/system_fault.ts'
import { keepCounting, openCounter, putRight } from './counter.ts'
import { HEAD_KEY } from './head.ts'
import { checkFreeList } from './free_list.ts'
import { headFileOf, headPath, knowsNothing } from './head_file.ts'
import { dataFile, JournalError, journalPath, lockFile, PAGE_BYTES, ReadersFull, usedBytes } from './pages.ts'
import type { JournalStore } from './store.ts'

/**
 * The journal in LMDB. `pages` are `gibibytes` of {@link openJournal}: LMDB itself would enlarge its map when that is full. Nothing stands
 * between its methods and their callers, but that transactions survive others who open the journal (counter.ts).
 */
export type JournalDatabase = Omit<RootDatabase<Buffer, Buffer>, keyof JournalStore> & JournalStore & { readonly dataDir: string }

export { dataFile, JournalError, journalPath, lockFile, PAGE_BYTES, ReadersFull, usedBytes, usedIn } from './pages.ts'

/** Who reads the journal at once, counted over all processes. LMDB keeps 64 bytes of each. */
export const READERS_MAX = 1022

/** What a file that is shorter than others know may be, besides damaged. */
export const PLAIN_COPY = 'if this is a plain copy of a running directory, make one with "npm run operator -- backup" instead'

/** Throws {@link JournalError} when the journal file is shorter than its own meta pages say. */
export function checkJournalFile(dataDir: string): void {
  if (!existsSync(dataFile(dataDir))) return
  const needs = usedBytes(dataDir)
  const { size } = statSync(dataFile(dataDir))
  if (size >= needs) return
  throw new JournalError(`the journal file is truncated: ${size} bytes, its header says ${needs}; restore it from a backup; ${PLAIN_COPY}`)
}

/**
 * Opens the journal of a data directory. Throws {@link JournalError}, {@link ReadersFull} or SystemFault.
 * @param gibibytes address space, the most the file may grow to
 */
export function openJournal(dataDir: string, readOnly: boolean, gibibytes = 64): JournalDatabase {
  try {
    checkAccess(dataDir, readOnly)
    checkJournalFile(dataDir)
    if (readOnly && (!existsSync(dataFile(dataDir)) || usedBytes(dataDir) === 0)) throw new JournalError(`no journal in ${dataDir}`)
    const database = openLmdb<Buffer, Buffer>({
      path: journalPath(dataDir),
      keyEncoding: 'binary',
      encoding: 'binary',
      overlappingSync: false,
      mapSize: gibibytes * 2 ** 30,
      maxReaders: READERS_MAX,
      readOnly,
    })
    const headless = database.get(HEAD_KEY) === undefined && knowsNothing(headFileOf(dataDir))
    return withStore(database, dataDir, readOnly, headless, Math.floor((gibibytes * 2 ** 30) / PAGE_BYTES))
  } catch (error) {
    throw named(dataDir, error as NodeJS.ErrnoException)
  }
}

/**
 * Commits between two looks for readers that died. No page that was in use when they began is used again until somebody looks, and LMDB
 * does so only when the journal is opened: a tool that was interrupted made the file grow by 20 KB a commit.
 */
const READERS_EVERY = 1024

/** LMDB's object with what else the core asks of the storage of a journal (store.ts). */
function withStore(
  database: RootDatabase<Buffer, Buffer>, dataDir: string, readOnly: boolean, headless: boolean, pages: number,
): JournalDatabase {
  const { env } = database as unknown as { env: { info(): Record<'lastPageNumber' | 'lastTxnId', number> } }
  const latest = (): number => env.info().lastTxnId
  // Where it may not be written, LMDB does without a lock file.
  if (readOnly && existsSync(lockFile(dataDir))) putRight(openCounter(dataDir), latest)
  if (!readOnly) {
    const transact = database.transactionSync.bind(database) as (write: () => void) => void
    const counting = keepCounting(openCounter(dataDir), { latest, current: () => database.getWriteTxnId(), transact })
    let commits = 0
    const transactionSync = (write: () => void): void => {
      if (++commits % READERS_EVERY === 0) database.readerCheck()
      counting(write)
    }
    Object.assign(database, { transactionSync })
  }
  return Object.assign(database, {
    dataDir, headless, pages,
    headFile: headFileOf(dataDir),
    refresh: () => database.resetReadTxn(),
    // It looks at the list of free pages for it, which may be damaged.
    entryCount: () => (database.getStats() as { entryCount: number }).entryCount,
    // By the meta page in its map: costs no call of the system.
    usedPages: () => env.info().lastPageNumber + 1,
    checkFree: () => orSystemFault(dataFile(dataDir), () => checkFreeList(dataDir)),
  }) as unknown as JournalDatabase
}

/** LMDB ends the process with SIGSEGV when it may not write its lock file, as readers do too; that is found out before it tries. */
function checkAccess(dataDir: string, readOnly: boolean): void {
  const locks = lockFile(dataDir)
  for (const path of [journalPath(dataDir), dataFile(dataDir), locks, headPath(dataDir)]) {
    const wanted = readOnly && path !== locks ? constants.R_OK : constants.R_OK | constants.W_OK
    if (existsSync(path)) accessSync(path, wanted)
  }
}

const END_READERS = 'end tools that read it, or wait for them, and start again'

const isReadersFull = ({ message }: Error): boolean => message.startsWith('MDB_READERS_FULL')

/** Processes that a message names. */
const NAMED_MAX = 8

/** Processes that have the journal open, as far as the system tells; ''. */
function readersOf(dataDir: string): string {
  const locks = realpathSync(lockFile(dataDir))
  const hasOpen = (pid: string): boolean => quietly(() => readdirSync(`/proc/${pid}/fd`), [])
    .some((fd) => quietly(() => readlinkSync(`/proc/${pid}/fd/${fd}`), '') === locks)
  const processes = quietly(() => readdirSync('/proc'), []).filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
  const found = processes.filter(hasOpen)
  const named = found.slice(0, NAMED_MAX).map((pid) => `${pid} (${quietly(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), '?')})`)
  const more = found.length > NAMED_MAX ? ` and ${found.length - NAMED_MAX} more` : ''
  return named.length === 0 ? '' : `: process ${named.join(', ')}${more}`
}

/** What `ask` returns; `otherwise` when what it asks of is gone, or another user's. */
function quietly<T>(ask: () => T, otherwise: T): T {
  try {
    return ask()
  } catch {
    return otherwise
  }
}

/** What LMDB says of damage in the middle of reading or writing, as a {@link JournalError}; any other error as it is. */
export function lmdbFault(error: unknown): unknown {
  const { message } = error as Error
  if (isReadersFull(error as Error)) return new ReadersFull(`the journal cannot be read now: ${message}; ${END_READERS}`)
  return message.startsWith('MDB_') ? new JournalError(`${message}; restore the journal from a backup`) : error
}

/** The error that says what to do about what was thrown while the journal was opened. */
function named(dataDir: string, error: NodeJS.ErrnoException): Error {
  if (error instanceof JournalError) return error
  if (isReadersFull(error)) {
    return new ReadersFull(`as many read the journal in ${journalPath(dataDir)} as may${readersOf(dataDir)}; ${END_READERS}`)
  }
  const fault = systemFault(error, error.path ?? journalPath(dataDir))
  if (fault instanceof SystemFault) return fault
  return new JournalError(`the journal in ${journalPath(dataDir)} cannot be opened: ${error.message}; restore it from a backup`)
}
