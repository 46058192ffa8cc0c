/** Small files that a crash leaves whole or as they were: written beside, made durable, renamed. */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { realIo } from './io.ts'

/**
 * Writes file `name` of `directory`, for its owner only; it and its name are durable when this returns. `check` looks at the written file
 * at the path it is given; when it throws, the file does not come under its name, and one that was there before stays.
 */
export function writeDurably(
  directory: string, name: string, content: string | Uint8Array, check: (path: string) => void = () => undefined,
): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const path = join(directory, name)
  const file = openSync(`${path}.new`, 'w', 0o600)
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  check(`${path}.new`)
  renameSync(`${path}.new`, path)
  realIo.syncDirectory(directory)
}
