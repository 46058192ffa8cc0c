/** A journal of test/recorded/ as a data directory of its own. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { journalPath } from '../../core/journal/file.ts'
import { removeDirectory, temporaryDirectory } from './exchange.ts'

export const RECORDED = join(import.meta.dirname, '..', 'recorded')

/** An empty directory, gone when the test is over. */
export function ownDirectory(t: Test): string {
  const path = temporaryDirectory()
  t.teardown(() => removeDirectory(path))
  return path
}

export function recordedJournal(t: Test, name: string): string {
  const dataDir = ownDirectory(t)
  mkdirSync(journalPath(dataDir), { recursive: true })
  writeFileSync(join(journalPath(dataDir), 'data.mdb'), gunzipSync(readFileSync(join(RECORDED, `${name}.mdb.gz`))))
  return dataDir
}
