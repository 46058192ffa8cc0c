/**
 * The key of page tokens: 32 random bytes in the data directory (secret_file.ts). It outlives restarts, so that a client's walk through a
 * listing does. Whoever has it can make tokens; tokens only name positions in listings that are checked anyway.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { ConfigError } from './config.ts'
import { readOrMakeSecret } from './secret_file.ts'

const NAME = 'page_token.key'
const BYTES = 32

/** Reads the key of `dataDir`, or makes it. A file of another length is not ours to replace: {@link ConfigError}. */
export function readPageTokenKey(dataDir: string): Uint8Array {
  const key = readOrMakeSecret(dataDir, NAME, () => randomBytes(BYTES))
  if (key.length !== BYTES) {
    throw new ConfigError(`${join(dataDir, NAME)} must hold exactly ${BYTES} bytes; remove it to have a new key made`)
  }
  return new Uint8Array(key)
}
