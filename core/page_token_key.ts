/**
 * The key of page tokens: 32 random bytes in the data directory, made at the first start. It outlives restarts, so that a client's walk
 * through a listing does. Whoever has it can make tokens; tokens only name positions in listings that are checked anyway.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const BYTES = 32

/**
 * Reads the key of `dataDir`, or makes it: readable by the owner only, and on disk before it is used. A file of another length is not
 * ours to replace: it throws. Only for the process that holds the directory's lock.
 */
export function readPageTokenKey(dataDir: string): Uint8Array {
  const path = join(dataDir, 'page_token.key')
  const key = readIfThere(path) ?? make(dataDir, path)
  if (key.length !== BYTES) throw new Error(`${path} must hold exactly ${BYTES} bytes; remove it to have a new key made`)
  return new Uint8Array(key)
}

function readIfThere(path: string): Uint8Array | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Written beside and renamed, so that a crash leaves a whole key or none. */
function make(dataDir: string, path: string): Uint8Array {
  const key = randomBytes(BYTES)
  const file = openSync(`${path}.new`, 'w', 0o600)
  writeSync(file, key)
  fsyncSync(file)
  closeSync(file)
  renameSync(`${path}.new`, path)
  const directory = openSync(dataDir, 'r')
  fsyncSync(directory)
  closeSync(directory)
  return key
}
