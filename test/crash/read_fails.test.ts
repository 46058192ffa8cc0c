/**
 * Promise: a journal that cannot be read at a start is a refusal with words and its exit code, and nothing of it is changed; when the disk
 * reads again, the next start serves what was there.
 *
 * strace makes calls that read the journal's files fail with EIO. LMDB itself reads its file through a map, where the kernel answers a bad
 * page with SIGBUS: that is the supervisor's (test/crash/journal_taken.test.ts), as is the binding's death when its first reads fail.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { dataFile } from '../../core/journal/file.ts'
import { headPath } from '../../core/journal/head_file.ts'
import { EXIT } from '../../core/threads.ts'
import { removeDirectory, startExchange, StartFailed, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal } from '../support/journal.ts'
import { failing, reasonToSkip } from '../support/strace.ts'

t.setTimeout(600_000)
const skip = reasonToSkip()
const program = join(import.meta.dirname, '..', 'support', 'committing.ts')
const made = temporaryDirectory()
t.teardown(() => removeDirectory(made))
const { database } = makeJournal(made, { batches: 20, snapshots: [10] })
await database.close()

/** The journal's files that count; LMDB's lock file is its own. */
const contents = (dataDir: string): Buffer[] => [dataFile(dataDir), headPath(dataDir)].map((path) => readFileSync(path))

const copied = (): string => {
  const dataDir = temporaryDirectory()
  cpSync(made, dataDir, { recursive: true })
  t.teardown(() => removeDirectory(dataDir))
  return dataDir
}

/** What fails: which file's reads, from which on; the 4th read of the journal is that of its list of free pages. */
const FAULTS = [
  ['the header of the journal', dataFile, 'pread64:error=EIO:when=1'],
  ['its list of free pages', dataFile, 'pread64:error=EIO:when=4'],
  ['journal/head as a witness', headPath, 'read:error=EIO:when=1'],
  ['journal/head before it is written', headPath, 'read:error=EIO:when=2'],
] as const

t.test('each read refuses the start', { skip }, async (t) => {
  const dataDir = copied()
  const before = contents(dataDir)
  const run = (words: readonly string[]): { status: number | null; stdout: string } =>
    spawnSync(words[0]!, [...words.slice(1), '--disable-warning=ExperimentalWarning', program, dataDir, '1', 'x'], {
      encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' },
    })
  for (const [what, path, fault] of FAULTS) {
    const { status, stdout } = run([...failing(path(dataDir), [fault]), process.execPath])
    t.equal(status, EXIT.DISK, what)
    t.match(stdout, /^stopped SystemFault: .*\/journal.* cannot be used \(EIO.*the disk fails/m, `${what}: its words`)
    t.same(contents(dataDir), before, `${what}: nothing is changed`)
  }
  const { status, stdout } = run([process.execPath])
  t.match({ status, stdout }, { status: 0, stdout: /answered/ }, 'a disk that reads again')
})

t.test('so the exchange says it', { skip }, async (t) => {
  const dataDir = copied()
  const before = contents(dataDir)
  const flags = ['--chain', '0', '--grpc-thread', '0', '--gateways', '1']
  const faults = failing(headPath(dataDir), ['read:error=EIO:when=1'])
  const failed = await startExchange(dataDir, flags, {}, faults).then((one) => one.kill(), (thrown: unknown) => thrown as StartFailed)
  t.match(failed, { name: 'StartFailed', code: EXIT.DISK })
  t.match(failed?.log.at(-1), { level: 'fatal', code: EXIT.DISK, msg: /journal\/head cannot be used \(EIO.*the disk fails: look at/ })
  t.same(contents(dataDir), before)
})
