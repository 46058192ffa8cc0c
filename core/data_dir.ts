/**
 * The data directory: journal/, snapshots/, history.sqlite, page_token.key, lock.sqlite. One process at a time may own it.
 *
 * Two locks, both held by the kernel for the life of the process, so that there is no stale lock to remove and no process number to
 * mistake:
 *
 * - An exclusive SQLite transaction on lock.sqlite. It has written, because SQLite opens a file that it may not write for reading, and
 *   then nothing is locked although nothing failed. It is never committed: a power failure finds nothing half written.
 * - On Linux a socket in the abstract namespace, named after the directory's device and inode. No file stands for it, so removing or
 *   replacing files does not free it; whoever finds it taken is told by it who has the directory. It is of one network namespace:
 *   between containers only the first lock holds.
 *
 * Somebody may still remove or replace the lock file or the directory under a running exchange: {@link DirectoryLock.lost} notices. What
 * comes in between is caught by the journal, where a commit on top of somebody else's batch fails.
 */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { createConnection, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { systemFault } from './lib/system_fault.ts'
import { makeFilesPrivate } from './private_files.ts'

export class DirectoryLocked extends Error {
  override name = 'DirectoryLocked'
}

export interface DirectoryLock {
  /** Why this lock no longer keeps others away, or `null`. Costs two stats. */
  lost(): string | null
  release(): void
}

const HAS_ABSTRACT_SOCKETS = process.platform === 'linux'
/** How long the process that has the directory may take to say who it is, ms, and how much it may say. */
const ASK_MS = 500
const ANSWER_LENGTH = 200

/** Device and inode; `null` when there is nothing. */
function identity(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.dev}-${stat.ino}`
}

/**
 * Creates the directory if need be and takes it; what this process makes from then on is its owner's alone (private_files.ts).
 * Throws {@link DirectoryLocked} when another process has it, and a
 * {@link SystemFault} when it cannot be used.
 */
export async function lockDirectory(dataDir: string): Promise<DirectoryLock> {
  makeFilesPrivate()
  try {
    for (const name of ['journal', 'snapshots']) mkdirSync(join(dataDir, name), { recursive: true })
  } catch (error) {
    throw systemFault(error, `the data directory ${dataDir}`)
  }
  const socket = HAS_ABSTRACT_SOCKETS ? await takeSocket(dataDir) : null
  const path = join(dataDir, 'lock.sqlite')
  let database: Database.Database
  try {
    database = takeFile(dataDir, path)
  } catch (error) {
    socket?.close()
    throw error
  }
  const taken = [dataDir, path].map((place) => [place, identity(place)] as const)
  return {
    lost: () => {
      const other = taken.find(([place, what]) => identity(place) !== what)
      return other === undefined ? null : `${other[0]} was removed or replaced while the exchange ran on it`
    },
    release: () => {
      database.close()
      socket?.close()
    },
  }
}

function takeFile(dataDir: string, path: string): Database.Database {
  let database: Database.Database | null = null
  try {
    database = new Database(path, { timeout: 0 })
    database.pragma('journal_mode = memory')
    database.exec('begin exclusive')
    // Held in memory until the transaction ends with the process. Of a file that is open for reading only, this is what fails.
    database.pragma('user_version = 1')
    return database
  } catch (error) {
    database?.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new DirectoryLocked(`another process uses ${dataDir}`)
    throw systemFault(reasonOf(error, dataDir), path)
  }
}

/** SQLite has one word for a file that may not be written and one that stands on a read-only file system; the system has two. */
function reasonOf(error: unknown, dataDir: string): unknown {
  try {
    accessSync(dataDir, constants.W_OK)
    return error
  } catch (denied) {
    return denied
  }
}

/** Listens on the socket of the directory; whoever connects is told who this is. */
async function takeSocket(dataDir: string): Promise<Server> {
  const name = `\0ringbook-${identity(dataDir)}`
  const since = new Date().toISOString()
  const server = createServer((connection) => {
    connection.on('error', () => undefined)
    connection.end(`process ${process.pid}, since ${since}`)
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ path: name, exclusive: true }, resolve)
  try {
    await promise
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw systemFault(error, `the lock socket of ${dataDir}`)
    throw new DirectoryLocked(`another process uses ${dataDir} (${await ask(name)})`)
  }
  server.on('error', () => undefined)
  return server.unref()
}

/** Who holds the socket, in its words. */
function ask(name: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const connection = createConnection(name)
    const done = (): void => {
      clearTimeout(timer)
      connection.destroy()
      resolve(answer === '' ? 'it does not say which' : answer.slice(0, ANSWER_LENGTH))
    }
    const timer = setTimeout(done, ASK_MS)
    connection.setEncoding('utf8')
    connection.on('data', (text: string) => (answer += text).length >= ANSWER_LENGTH && done())
    connection.on('error', done)
    connection.on('close', done)
  })
}
