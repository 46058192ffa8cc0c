/**
 * The replay tools: read-only, usable while the exchange runs. Results go to standard output, progress and errors to standard error.
 * Exit code 0: all is well; 1: verify or diff found something; 2: the call was wrong or the journal cannot be read.
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { diff } from './diff.ts'
import { inspect } from './inspect.ts'
import { openSource, printable } from './steps.ts'
import { isGood, verify } from './verify.ts'

const HELP = `Replay tools: read a journal without changing it, also while the exchange runs.

  npm run replay -- verify                    replay everything; check every checksum, snapshot digest and invariant
  npm run replay -- export --format ndjson    one JSON line per command with its events   [--from SEQ] [--to SEQ]
  npm run replay -- inspect --at SEQ          one command, its events, and the state right after it
  npm run replay -- diff A B                  the first command in which two data directories differ

  --data-dir DIR   the data directory (default: data/var; not for diff)
  --archive DIR    what "npm run journal -- archive" wrote, of a journal that does not go back to its beginning any more; for diff that
                   of A, and given once more that of B
`

function whole(text: string | undefined, name: string, fallback?: number): number {
  if (text === undefined && fallback !== undefined) return fallback
  const value = Number(text)
  if (text === undefined || !Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} takes a sequence, 1 or more`)
  return value
}

function exportSteps(dataDir: string, archive: string | undefined, from: number, to: number): void {
  let lines = ''
  const flush = (): void => {
    const bytes = Buffer.from(lines)
    for (let at = 0; at < bytes.length; ) at += writeAll(bytes, at)
    lines = ''
  }
  for (const step of openSource(dataDir, from, archive).steps) {
    if (step.sequence > to) break
    if (step.sequence < from) continue
    lines += `${JSON.stringify(printable(step))}\n`
    if (lines.length > 1 << 16) flush()
  }
  flush()
}

/** A pipe may be full or gone: wait for the one, end quietly for the other. */
function writeAll(bytes: Buffer, at: number): number {
  try {
    return writeSync(1, bytes, at)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'EPIPE') process.exit(0)
    if (code !== 'EAGAIN') throw error
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    return 0
  }
}

function run(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'data-dir': { type: 'string' }, format: { type: 'string' }, at: { type: 'string' }, from: { type: 'string' }, to: { type: 'string' },
      archive: { type: 'string', multiple: true }, help: { type: 'boolean' },
    },
  })
  const [tool, a, b] = positionals
  const archives = values.archive ?? []
  const dataDir = values['data-dir'] ?? join(import.meta.dirname, '..', '..', 'data', 'var')
  if (values.help === true || tool === undefined) {
    console.log(HELP)
    return values.help === true ? 0 : 2
  }
  if (tool === 'verify') {
    const result = verify(dataDir, (done, end, rate) =>
      console.error(`${done} of ${end} commands, ${Math.round(rate)}/s, ${Math.ceil((end - done) / rate)} s left`), archives[0],
    )
    console.log(JSON.stringify({ ...result, rate: Math.round(result.rate) }, null, 2))
    return result.snapshots.every((snapshot) => isGood(snapshot.verdict)) ? 0 : 1
  }
  if (tool === 'export') {
    if ((values.format ?? 'ndjson') !== 'ndjson') throw new Error('--format: only ndjson')
    exportSteps(dataDir, archives[0], whole(values.from, 'from', 2), whole(values.to, 'to', Number.MAX_SAFE_INTEGER))
    return 0
  }
  if (tool === 'inspect') {
    console.log(JSON.stringify(inspect(dataDir, whole(values.at, 'at'), archives[0]), null, 2))
    return 0
  }
  if (tool === 'diff' && a !== undefined && b !== undefined) {
    const difference = diff(a, b, archives)
    console.log(JSON.stringify(difference, null, 2))
    return difference.sequence === null && difference.what.startsWith('equal') ? 0 : 1
  }
  throw new Error(`unknown call: ${positionals.join(' ')}`)
}

try {
  process.exitCode = run()
} catch (error) {
  console.error(`replay: ${(error as Error).message}. Try --help`)
  process.exitCode = 2
}
