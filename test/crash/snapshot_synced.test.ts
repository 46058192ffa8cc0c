/**
 * Promise: a snapshot is on the disk, under its name, before an older one is removed: the file was synced after the last write to it,
 * then it got its name, then the directory was synced, and only then the older file goes. The real writer runs under strace.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { reasonToSkip } from '../support/strace.ts'

const CALLS = 'openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,rmdir'

/** Writes snapshots of two moments of a new exchange and keeps the newer one. */
const script = (core: string, support: string): string => `
  import { snapshotFiles } from '${core}/snapshot/file.ts'
  import { CLOCK } from '${core}/state/columns.ts'
  import { createBench } from '${support}/naive_compare.ts'
  import { GENESIS } from '${support}/journal.ts'
  const { state } = createBench(GENESIS)
  const snapshots = snapshotFiles(process.argv[2])
  for (const sequence of [1, 2]) {
    state.clock[CLOCK.SEQUENCE] = sequence
    snapshots.write(state, GENESIS, 0, 0, () => undefined)
    snapshots.prune(1)
  }
`

t.test('write, sync, name, sync of the directory, and then the older one is removed', { skip: reasonToSkip() }, async (t) => {
  const root = temporaryDirectory()
  t.teardown(() => removeDirectory(root))
  const [dataDir, trace, main] = [join(root, 'data'), join(root, 'trace'), join(root, 'main.ts')]
  mkdirSync(dataDir)
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  writeFileSync(main, script(join(import.meta.dirname, '../../core'), join(import.meta.dirname, '../support')))
  const strace = ['-f', '--seccomp-bpf', '-qq', '-y', '-o', trace, '-e', 'signal=none', '-e', `trace=${CALLS}`]
  const { status, stderr } = spawnSync('strace', [...strace, process.execPath, '--disable-warning=ExperimentalWarning', main, dataDir])
  t.equal(status, 0, String(stderr))
  const lines = readFileSync(trace, 'utf8').split('\n').filter((line) => line.includes('/snapshots'))
  const [older, newer] = [1, 2].map((sequence) => `${String(sequence).padStart(16, '0')}.sqlite`) as [string, string]
  /** The line of the first, or last, successful call on a path that ends so. */
  const at = (calls: RegExp, ends: string, last = false): number => {
    const is = (line: string): boolean => calls.test(line) && line.includes(ends) && !line.includes(' = -1')
    return last ? lines.findLastIndex(is) : lines.findIndex(is)
  }
  const renamed = lines.findIndex((line) => /rename(at2?)?\(/.test(line) && line.includes(`${newer}.unfinished"`))
  const written = at(/ (p?write(64)?)\(/, `${newer}.unfinished>`, true)
  const synced = at(/ f(data)?sync\(/, `${newer}.unfinished>`, true)
  const directory = lines.findIndex((line, place) => place > renamed && / fsync\(\d+<[^>]*\/snapshots>\)/.test(line))
  const removed = at(/ unlink(at)?\(/, `${older}"`)
  const order = [written, synced, renamed, directory, removed]
  t.ok(order.every((place) => place >= 0), `all of them were seen: ${order.join(', ')}`)
  t.same([...order].sort((a, b) => a - b), order, 'in this order')
})
