/**
 * Promise: two calls never write one archive at the same time: from its first segment until its word to drop a call has the directory, and
 * when it dies in between the next one goes on. Reading needs no lock. By the command line.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openArchive, readArchive } from '../../core/archive/archive.ts'
import { droppable } from '../../core/archive/retention.ts'
import { START } from '../../core/journal/reader.ts'
import { EXIT } from '../../core/threads.ts'
import { archiveStage, forget, givesBack, printed, type ArchiveStage } from '../support/archive_stage.ts'

t.setTimeout(600_000)
const TOOL = join(import.meta.dirname, '..', '..', 'core', 'journal', 'main.ts')

const call = ({ directory, archived }: ArchiveStage): string[] =>
  ['--disable-warning=ExperimentalWarning', TOOL, 'archive', '--to', archived, '--drop', '--data-dir', directory]

/** A call that stops itself right before it renames a file to `name`; what kills it. */
async function callHeld(t: Test, staged: ArchiveStage, name: string): Promise<() => Promise<unknown>> {
  const held = join(staged.archived, 'held')
  const hook = `import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { renameSync } = fs
    fs.renameSync = (from, to) => {
      if (to.endsWith(${JSON.stringify(name)})) {
        fs.writeFileSync(${JSON.stringify(held)}, '')
        process.kill(process.pid, 'SIGSTOP')
      }
      renameSync(from, to)
    }
    syncBuiltinESMExports()`
  const child = spawn(process.execPath, [`--import=data:text/javascript,${encodeURIComponent(hook)}`, ...call(staged)], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const end = (): Promise<unknown> => (child.kill('SIGKILL'), ended)
  t.teardown(end)
  for (let tries = 0; tries < 1_000 && !existsSync(held); tries++) await sleep(20)
  t.ok(existsSync(held), `a call is about to write ${name}`)
  rmSync(held, { force: true })
  return end
}

t.test('one call at a time has an archive, until it gives its word or dies', async (t) => {
  const staged = await archiveStage(t, [4])
  const before = printed(readArchive(openArchive(staged.archived), START))
  for (const name of ['.rba', 'archived.json']) {
    const end = await callHeld(t, staged, name)
    const second = spawnSync(process.execPath, call(staged), { encoding: 'utf8' })
    t.equal(second.status, EXIT.LOCKED, second.stderr)
    t.match(second.stderr, `journal: another process uses ${staged.archived} (`)
    t.equal(droppable(staged.directory), 1)
    t.same(printed(readArchive(openArchive(staged.archived), START)).slice(0, before.length), before, 'reading needs no lock')
    await end()
  }
  const next = spawnSync(process.execPath, call(staged), { encoding: 'utf8' })
  t.equal(next.status, EXIT.OK, next.stderr)
  t.equal(await forget(staged.directory), openArchive(staged.archived).end.sequence)
  await givesBack(t, staged)
})
