/** The exit code of an error that ended the start before anything was served. */
import { BackupError } from './backup/manifest.ts'
import { ConfigError } from './config.ts'
import { DirectoryLocked } from './data_dir.ts'
import { SystemFault } from './lib/system_fault.ts'
import { EXIT } from './threads.ts'

/** What nobody foresaw is a fault of the program: starting again may help, setting something right does not. */
export function startCode(error: Error): number {
  if (error instanceof DirectoryLocked) return EXIT.LOCKED
  if (error instanceof SystemFault) return error.disk ? EXIT.DISK : EXIT.CONFIG
  return error instanceof ConfigError || error instanceof BackupError ? EXIT.CONFIG : EXIT.THREAD
}
