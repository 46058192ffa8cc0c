/**
 * Making a backup of a data directory, while the exchange runs on it or not.
 *
 * First what follows the journal (snapshot, history), then the journal, up to where it ends by then: so nothing in it is ahead of the
 * journal. It is written beside its name, verified as it stands on disk, described, and then given its name. One at a time.
 */
import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import Database from 'better-sqlite3'
import { OPERATOR_TOKEN_FILE, VAULT_KEY_FILE } from '../config.ts'
import { historyPath, removeStore } from '../history/store/store.ts'
import { dataFile, openJournal, usedBytes } from '../journal/file.ts'
import { tailOf } from '../journal/tail.ts'
import { versionOf } from '../lib/about.ts'
import { realIo } from '../lib/io.ts'
import { pageFilesBytes, receiptDirectory } from '../lib/page_files.ts'
import { balancesPath, listBalances } from '../settlement/balances_file.ts'
import { listSnapshots, loadSnapshot, receiptPagesOf, snapshotPath } from '../snapshot/file.ts'
import { LAST_BACKUP } from './last.ts'
import { writeDurably } from '../lib/durable_file.ts'
import { paceOf, type Pace } from '../lib/pace.ts'
import { copyBalances, copyDatabase, copyFile, copyHistory, copyJournal, copyReceipts } from './copy.ts'
import {
  BackupError, readManifest, refuseBackup, sha256Of, UNFINISHED_BACKUP, writeManifest, type BackupFile, type Manifest,
} from './manifest.ts'
import { verifyCopy } from './verify.ts'

export interface BackupOptions {
  readonly history: boolean
  /** MiB a second. */
  readonly rate: number
  /** Verify from the genesis, not only from the snapshot. */
  readonly full: boolean
  readonly said: (text: string) => void
}

const CHAIN = 'chain.sqlite'
/** Secrets, and where the vault of the embedded chain is. */
const SMALL = [OPERATOR_TOKEN_FILE, 'page_token.key', VAULT_KEY_FILE, 'vault.json']
const MIB = 2 ** 20
/** Room that is asked for besides the bytes of the files, and beside a journal's LMDB pages. */
const SPARE_BYTES = 64 * MIB
const GIB = 2 ** 30
/** How often snapshot and history are copied at most. */
const TRIES = 3

/** Backs `dataDir` up into `to`, which must not be there, or be empty. Throws {@link BackupError}. */
export async function makeBackup(dataDir: string, to: string, options: BackupOptions): Promise<Manifest> {
  if (!existsSync(dataFile(dataDir))) throw new BackupError(`${dataDir} is no data directory: it has no journal`)
  refuseBackup(dataDir)
  const target = resolve(to)
  if (existsSync(target) && readdirSync(target).length > 0) throw new BackupError(`${target} is not empty`)
  mkdirSync(dirname(target), { recursive: true })
  const beside = join(realpathSync(dirname(target)), '.')
  if (`${beside}${sep}`.startsWith(`${realpathSync(dataDir)}${sep}`)) throw new BackupError('a backup does not go into its data directory')
  const release = takeTurn(dataDir, options.said)
  const unfinished = `${target}.unfinished`
  try {
    checkRoom(dataDir, dirname(target), options.history)
    // Of a backup that was interrupted: the lock says that nobody is at it.
    if (existsSync(unfinished) && !existsSync(join(unfinished, UNFINISHED_BACKUP))) throw new BackupError(`${unfinished} is in the way`)
    rmSync(unfinished, { recursive: true, force: true })
    mkdirSync(unfinished, { mode: 0o700 })
    writeDurably(unfinished, UNFINISHED_BACKUP, '')
    const manifest = await fill(dataDir, unfinished, options)
    rmSync(target, { recursive: true, force: true })
    renameSync(unfinished, target)
    realIo.syncDirectory(dirname(target))
    remember(dataDir, target, manifest, options.said)
    return manifest
  } finally {
    release()
  }
}

/** Copies, verifies and describes. */
async function fill(dataDir: string, to: string, { history, rate, full, said }: BackupOptions): Promise<Manifest> {
  const pace = paceOf(rate, (bytes) => said(`${Math.round(bytes / MIB)} MiB written`))
  await copyFollowing(dataDir, to, history, pace, said)
  for (const name of SMALL) if (existsSync(join(dataDir, name))) copyFile(join(dataDir, name), join(to, name), pace)
  const gibibytes = Math.ceil((4 * usedBytes(dataDir)) / GIB) + 1
  const end = await copyJournal(dataDir, to, gibibytes, pace)
  said(`journal copied, up to sequence ${end.sequence - 1}`)
  // Behind the journal: what that knows of the chain is in the copy of the chain, and a withdrawal that was paid stays paid.
  if (existsSync(join(dataDir, CHAIN))) copyDatabase(join(dataDir, CHAIN), join(to, CHAIN))
  const verified = await verifyCopy(to, full, said)
  const same = verified.sequence === end.sequence - 1 && verified.batchChecksum === end.checksum
  if (!same) throw new BackupError('the copy is not what was read')
  syncTree(to)
  writeManifest(to, { version: versionOf(), time: new Date().toISOString(), ...verified, files: describe(to) })
  rmSync(join(to, UNFINISHED_BACKUP))
  realIo.syncDirectory(to)
  return readManifest(to)
}

/**
 * Copies snapshot and history, which go on in the journal: once more when it no longer goes back to the snapshot, because what is behind it
 * was archived and dropped meanwhile. The history is copied after the snapshot, so it needs no more than that.
 */
async function copyFollowing(
  dataDir: string, to: string, history: boolean, pace: Pace, said: (text: string) => void,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    for (const name of ['snapshots', 'receipts', 'settlement']) rmSync(join(to, name), { recursive: true, force: true })
    removeStore(historyPath(to))
    const snapshot = copySnapshot(dataDir, to, pace, said)
    copyBalances(dataDir, to, pace)
    said(snapshot === null ? 'there is no snapshot' : `snapshot ${snapshot} copied`)
    if (history && existsSync(historyPath(dataDir))) said(`history copied, up to sequence ${copyHistory(dataDir, to, pace)}`)
    const journal = openJournal(dataDir, true)
    const { sequence } = tailOf(journal)
    await journal.close()
    if (snapshot === null || sequence <= snapshot + 1) return
    said(`what is before sequence ${sequence} was dropped meanwhile`)
  }
  throw new BackupError('batches that the backup needs were dropped while it was made')
}

/** The newest snapshot that is what it says; its sequence. */
function copySnapshot(dataDir: string, to: string, pace: Pace, said: (text: string) => void): number | null {
  mkdirSync(join(to, 'snapshots'), { mode: 0o700 })
  for (const sequence of listSnapshots(dataDir)) {
    try {
      copyFile(snapshotPath(dataDir, sequence), snapshotPath(to, sequence), pace)
      copyReceipts(dataDir, to, receiptPagesOf(to, sequence), pace)
      loadSnapshot(to, sequence)
      return sequence
    } catch (error) {
      // Removed by the exchange meanwhile, of another version, or damaged: the one before does as well.
      said(`snapshot ${sequence} is left out: ${(error as Error).message}`)
      rmSync(snapshotPath(to, sequence), { force: true })
      rmSync(receiptDirectory(to), { recursive: true, force: true })
    }
  }
  return null
}

/** Every file of a directory, but for what says that it is not finished. */
export function filesIn(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(directory, join(entry.parentPath, entry.name))).sort()
}

const describe = (directory: string): BackupFile[] =>
  filesIn(directory).filter((name) => name !== UNFINISHED_BACKUP).map((name) => {
    const path = join(directory, name)
    return { name, bytes: statSync(path).size, sha256: sha256Of(path) }
  })

/** Makes names durable; the files are. */
export function syncTree(directory: string): void {
  for (const name of ['journal', 'snapshots', 'receipts', 'settlement']) {
    if (existsSync(join(directory, name))) realIo.syncDirectory(join(directory, name))
  }
  realIo.syncDirectory(directory)
}

/** Throws unless there is room for a copy of everything. */
function checkRoom(dataDir: string, at: string, history: boolean): void {
  const bytes = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const newest = listSnapshots(dataDir)[0]
  const needs = usedBytes(dataDir) * 1.1 + (newest === undefined ? 0 : bytes(snapshotPath(dataDir, newest)))
    + pageFilesBytes(receiptDirectory(dataDir)) + listBalances(dataDir).reduce((sum, batch) => sum + bytes(balancesPath(dataDir, batch)), 0)
    + (history ? bytes(historyPath(dataDir)) + bytes(`${historyPath(dataDir)}-wal`) : 0) + SPARE_BYTES
  const { bavail, bsize } = statfsSync(at)
  if (bavail * bsize >= needs) return
  throw new BackupError(`${at} has ${Math.floor((bavail * bsize) / MIB)} MiB free, a backup may need ${Math.ceil(needs / MIB)}`)
}

/** Keeps others from backing up the same directory at the same time; a directory that cannot be written is backed up without. */
function takeTurn(dataDir: string, said: (text: string) => void): () => void {
  let database: Database.Database
  try {
    database = new Database(join(dataDir, 'backup.lock.sqlite'), { timeout: 0 })
  } catch (error) {
    said(`no lock can be taken in ${dataDir}: ${(error as Error).message}`)
    return () => undefined
  }
  try {
    // Written, because a file that may only be read would be locked without an effect.
    database.exec('begin exclusive; create table if not exists held (one integer)')
  } catch (error) {
    database.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new BackupError(`${dataDir} is being backed up already`)
    said(`no lock can be taken in ${dataDir}: ${(error as Error).message}`)
    return () => undefined
  }
  return () => void database.close()
}

/** Leaves word for the exchange, whose metrics say when the last backup was. */
function remember(dataDir: string, path: string, { time, sequence }: Manifest, said: (text: string) => void): void {
  try {
    writeDurably(dataDir, LAST_BACKUP, `${JSON.stringify({ time, sequence, path })}\n`)
  } catch (error) {
    said(`the exchange is not told: ${(error as Error).message}`)
  }
}
