/**
 * The data directory: journal/, snapshots/, history.sqlite, page_token.key, operator.token, lock.sqlite. Who owns it, who may read it, and
 * the secrets in it.
 *
 * One process at a time may own it. Two locks, both held by the kernel for the life of the process, so that there is no stale lock to
 * remove and no process number to mistake:
 *
 * - An exclusive SQLite transaction on lock.sqlite. It has written, because SQLite opens a file that it may not write for reading, and
 *   then nothing is locked although nothing failed. It is never committed: a power failure finds nothing half written.
 * - On Linux a socket in the abstract namespace, named after the directory's device and inode. No file stands for it, so removing or
 *   replacing files does not free it; whoever finds it taken is told by it who has the directory. It is of one network namespace:
 *   between containers only the first lock holds.
 *
 * Somebody may still remove or replace the lock file or the directory under a running exchange: {@link DirectoryLock.lost} notices. What
 * comes in between is caught by the journal, where a commit on top of somebody else's batch fails.
 *
 * Files of the exchange are its own: journal, snapshots, history, chain and keys are readable and writable for their owner only (0600, and
 * 0700 for directories), whatever the umask and the modes of the directory around them. What is made from here on, by this process and
 * by those it starts, is made so; what is there already is mended at the start.
 *
 * Secrets are random bytes made at the first start and on disk before they are used. They outlive restarts. Only for the process that
 * holds the lock.
 */
import { randomBytes } from 'node:crypto'
import { accessSync, chmodSync, constants, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createConnection, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { ConfigError } from './config.ts'
import { writeDurably } from './lib/durable_file.ts'
import { systemFault } from './lib/system_fault.ts'

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
 * Creates the directory if need be and takes it; what this process makes from then on is its owner's alone. Throws
 * {@link DirectoryLocked} when another process has it, and a {@link SystemFault} when it cannot be used.
 */
export async function lockDirectory(dataDir: string): Promise<DirectoryLock> {
  makeFilesPrivate()
  try {
    for (const name of ['journal', 'snapshots']) mkdirSync(join(dataDir, name), { recursive: true })
  } catch (error) {
    throw systemFault(error, `the data directory ${dataDir}`)
  }
  return takeDirectory(dataDir)
}

/** Takes a directory that is there, with both locks. Throws like {@link lockDirectory}. An archive is taken so, too. */
export async function takeDirectory(directory: string): Promise<DirectoryLock> {
  const socket = HAS_ABSTRACT_SOCKETS ? await takeSocket(directory) : null
  const path = join(directory, 'lock.sqlite')
  let database: Database.Database
  try {
    database = takeFile(directory, path)
  } catch (error) {
    socket?.close()
    throw error
  }
  const taken = [directory, path].map((place) => [place, identity(place)] as const)
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

const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700
const PERMISSIONS = 0o777
/** Everything for group and others is taken away. */
const PRIVATE_UMASK = 0o077

/** From now on. Main threads only: worker threads and child processes have what their process has. */
export function makeFilesPrivate(): void {
  process.umask(PRIVATE_UMASK)
}

/** What {@link mendModes} did. */
export interface Mended {
  /** Files and directories that others could read or change until now. */
  readonly mended: number
  /** Why one could not be mended; `null`: all could. */
  readonly failure: string | null
}

/** Takes a data directory, and all in it, away from everybody but its owner. Links are not followed. */
export function mendModes(dataDir: string): Mended {
  let mended = 0
  let failure: string | null = null
  const mend = (path: string): void => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined || !(stat.isFile() || stat.isDirectory())) return
    if ((stat.mode & PERMISSIONS & PRIVATE_UMASK) !== 0) {
      try {
        chmodSync(path, stat.isDirectory() ? DIRECTORY_MODE : FILE_MODE)
        mended++
      } catch (error) {
        failure = (error as Error).message
      }
    }
    if (stat.isDirectory()) for (const name of readdirSync(path)) mend(join(path, name))
  }
  mend(dataDir)
  return { mended, failure }
}

/** The content of file `name` of `dataDir`; made of what `make` gives when there is none. */
export function readOrMakeSecret(dataDir: string, name: string, make: () => Buffer): Buffer {
  const found = readIfThere(join(dataDir, name))
  if (found !== null) return found
  const made = make()
  writeDurably(dataDir, name, made)
  return made
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The key of page tokens. Whoever has it can make tokens; tokens only name positions in listings that are checked anyway. */
const PAGE_TOKEN_KEY = 'page_token.key'
const PAGE_TOKEN_KEY_BYTES = 32

/** Reads the key of `dataDir`, or makes it. A file of another length is not ours to replace: {@link ConfigError}. */
export function readPageTokenKey(dataDir: string): Uint8Array {
  const key = readOrMakeSecret(dataDir, PAGE_TOKEN_KEY, () => randomBytes(PAGE_TOKEN_KEY_BYTES))
  if (key.length !== PAGE_TOKEN_KEY_BYTES) {
    throw new ConfigError(
      `${join(dataDir, PAGE_TOKEN_KEY)} must hold exactly ${PAGE_TOKEN_KEY_BYTES} bytes; remove it to have a new key made`,
    )
  }
  return new Uint8Array(key)
}
