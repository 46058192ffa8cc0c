/**
 * Restoring a backup into a data directory that is not there, or empty. Every file is held against the backup's description as it is
 * copied, and the copy is replayed: it must come to the state that the backup has. Until then the directory cannot be started on.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { realIo } from '../lib/io.ts'
import { syncTree } from './backup.ts'
import { writeDurably } from '../lib/durable_file.ts'
import { paceOf } from '../lib/pace.ts'
import { copyFile } from './copy.ts'
import { BackupError, readManifest, sha256Of, UNFINISHED_RESTORE, type Manifest } from './manifest.ts'
import { verifyCopy } from './verify.ts'

export interface RestoreOptions {
  readonly rate: number
  readonly full: boolean
  readonly said: (text: string) => void
}

const MIB = 2 ** 20

export async function restore(backup: string, dataDir: string, { rate, full, said }: RestoreOptions): Promise<Manifest> {
  const manifest = readManifest(backup)
  if (existsSync(dataDir) && (!statSync(dataDir).isDirectory() || readdirSync(dataDir).length > 0)) {
    throw new BackupError(`${dataDir} is not empty: a backup is restored into a directory of its own`)
  }
  mkdirSync(join(dataDir, 'journal'), { recursive: true, mode: 0o700 })
  mkdirSync(join(dataDir, 'snapshots'), { mode: 0o700 })
  writeDurably(dataDir, UNFINISHED_RESTORE, '')
  const pace = paceOf(rate, (bytes) => said(`${Math.round(bytes / MIB)} MiB written`))
  for (const { name, bytes, sha256 } of manifest.files) {
    if (isAbsolute(name) || normalize(name) !== name || name.startsWith('..')) throw new BackupError(`the backup names a file ${name}`)
    const to = join(dataDir, name)
    if (!existsSync(join(backup, name))) throw new BackupError(`the backup lacks ${name}`)
    copyFile(join(backup, name), to, pace)
    if (statSync(to).size !== bytes || sha256Of(to) !== sha256) throw new BackupError(`${name} of the backup is not what was written`)
  }
  said(`${manifest.files.length} files restored`)
  const verified = await verifyCopy(dataDir, full, said)
  for (const name of ['sequence', 'batchChecksum', 'eventsChecksum', 'digest', 'history'] as const) {
    if (verified[name] === manifest[name]) continue
    throw new BackupError(`the restored ${name} is ${verified[name]}, the backup has ${manifest[name]}`)
  }
  syncTree(dataDir)
  rmSync(join(dataDir, UNFINISHED_RESTORE))
  realIo.syncDirectory(dataDir)
  return manifest
}
