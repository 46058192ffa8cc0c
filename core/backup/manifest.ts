/**
 * A backup is a directory laid out like a data directory, with `backup.json` beside it: what it holds, up to which sequence, and the
 * SHA-256 of every file. That file is written last, made durable, and only then the directory gets its name, so nothing that was
 * interrupted passes for a backup. A backup is not run on: it is restored into a data directory first.
 */
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '../lib/durable_file.ts'

const FORMAT = 1
const NAME = 'backup.json'
/** Stands in a directory while it is written. */
export const UNFINISHED_BACKUP = 'backup.unfinished'
export const UNFINISHED_RESTORE = 'restore.unfinished'
/** Bytes read at once. */
const PIECE = 1 << 20

/** What cannot be backed up or restored, and why; for people. */
export class BackupError extends Error {
  override name = 'BackupError'
}

export interface BackupFile {
  /** Relative to the directory. */
  readonly name: string
  readonly bytes: number
  /** Hex. */
  readonly sha256: string
}

export interface Manifest {
  readonly format: number
  /** Of the program that made it. */
  readonly version: string
  /** When it was finished, RFC 3339. */
  readonly time: string
  /** Last command in it, and its sequenced time, Unix ms. */
  readonly sequence: number
  readonly sequencedTime: number
  /** Of the last batch, and chained over all events. */
  readonly batchChecksum: number
  readonly eventsChecksum: number
  /** SHA-256 of the state after the last command. */
  readonly digest: string
  /** Sequence of the snapshot and of the history in it; `null`: there is none. */
  readonly snapshot: number | null
  readonly history: number | null
  readonly files: readonly BackupFile[]
}

export function sha256Of(path: string): string {
  const hash = createHash('sha256')
  const piece = Buffer.alloc(PIECE)
  const file = openSync(path, 'r')
  try {
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) hash.update(piece.subarray(0, read))
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}

export const writeManifest = (directory: string, manifest: Omit<Manifest, 'format'>): void =>
  writeDurably(directory, NAME, `${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`)

/** Throws {@link BackupError} when the directory is no whole backup of this format. */
export function readManifest(directory: string): Manifest {
  const path = join(directory, NAME)
  if (existsSync(join(directory, UNFINISHED_BACKUP))) throw new BackupError(`${directory} is a backup that was not finished`)
  if (!existsSync(path)) throw new BackupError(`${directory} is no backup: it has no ${NAME}`)
  let manifest: Manifest
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
  } catch (error) {
    throw new BackupError(`${path} cannot be read: ${(error as Error).message}`)
  }
  if (manifest.format !== FORMAT) throw new BackupError(`${path} has format ${manifest.format}, this version reads ${FORMAT}`)
  return manifest
}

/** Throws {@link BackupError} when a data directory is a backup, or one that is being written or restored. */
export function refuseBackup(dataDir: string): void {
  const restore = 'npm run operator -- restore'
  if (existsSync(join(dataDir, NAME)) || existsSync(join(dataDir, UNFINISHED_BACKUP))) {
    throw new BackupError(`${dataDir} is a backup, which is not run on; restore it into a data directory: ${restore}`)
  }
  if (existsSync(join(dataDir, UNFINISHED_RESTORE))) {
    throw new BackupError(`${dataDir} was not restored to its end; remove it and restore it again: ${restore}`)
  }
}
