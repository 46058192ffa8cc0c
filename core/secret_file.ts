/**
 * Secrets of the exchange in files of the data directory: random bytes made at the first start, readable by the owner only, and on disk
 * before they are used. They outlive restarts. Only for the process that holds the directory's lock.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** The content of file `name` of `dataDir`; made of what `make` gives when there is none. */
export function readOrMakeSecret(dataDir: string, name: string, make: () => Buffer): Buffer {
  const path = join(dataDir, name)
  return readIfThere(path) ?? write(dataDir, path, make())
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Written beside and renamed, so that a crash leaves a whole secret or none. */
function write(dataDir: string, path: string, secret: Buffer): Buffer {
  const file = openSync(`${path}.new`, 'w', 0o600)
  writeSync(file, secret)
  fsyncSync(file)
  closeSync(file)
  renameSync(`${path}.new`, path)
  const directory = openSync(dataDir, 'r')
  fsyncSync(directory)
  closeSync(directory)
  return secret
}
