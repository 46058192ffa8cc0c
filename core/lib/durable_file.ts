/** Small files that a crash leaves whole or as they were: written beside, made durable, renamed. */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { realIo } from './io.ts'

/** Writes file `name` of `directory`, for its owner only; it and its name are durable when this returns. */
export function writeDurably(directory: string, name: string, content: string | Uint8Array): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const path = join(directory, name)
  const file = openSync(`${path}.new`, 'w', 0o600)
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
  realIo.syncDirectory(directory)
}
