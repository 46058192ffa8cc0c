/**
 * Promise: every program says its version when it is asked for it, on one line and with exit code 0, and does nothing else; the tools that
 * read a data directory find it by RINGBOOK_DATA_DIR when they are not told.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '..', '..')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
const QUICK = 'core/lib/quick.mjs'
const PROGRAMS = {
  start: ['core/supervisor/main.ts'], operator: ['gateway/operator/main.ts'], chain: ['gateway/chain/main.ts'],
  journal: ['core/journal/main.ts'], history: [QUICK, 'core/history/main.ts'], replay: [QUICK, 'core/replay/main.ts'],
}

function run(words: readonly string[], env: Record<string, string> = {}): { status: number | null; stdout: string; stderr: string } {
  const options = { cwd: ROOT, encoding: 'utf8', env: { ...process.env, ...env } } as const
  return spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...words], options)
}

for (const [name, words] of Object.entries(PROGRAMS)) {
  t.test(`npm run ${name}`, async (t) => {
    const { status, stdout, stderr } = run([...words, '--version'])
    t.same([status, stdout, stderr], [0, `ringbook ${version}\n`, ''])
    t.match(run([...words, '--help']).stdout, /--version/, 'help names it')
  })
}

t.test('the data directory of the environment', async (t) => {
  const env = { RINGBOOK_DATA_DIR: join(ROOT, 'no such directory') }
  for (const words of [
    ['core/journal/main.ts', 'scrub'], [QUICK, 'core/history/main.ts', 'status'], [QUICK, 'core/replay/main.ts', 'verify'],
  ]) {
    const { status, stdout, stderr } = run(words, env)
    t.not(status, 0, words.join(' '))
    t.ok(`${stdout}${stderr}`.includes('no such directory'), `${words.join(' ')}: ${stdout}${stderr}`)
  }
})
