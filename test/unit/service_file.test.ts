/** Promise: systemd does not start again what cannot get better by that, and the flags of its file exist. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { EXIT } from '../../core/threads.ts'

const root = join(import.meta.dirname, '..', '..')

t.test('the unit does not restart what cannot get better', (t) => {
  const unit = readFileSync(join(root, 'data', 'ops', 'ringbook.service'), 'utf8')
  t.ok(unit.includes(`\nRestartPreventExitStatus=${EXIT.CONFIG} ${EXIT.JOURNAL} ${EXIT.LOCKED}\n`))
  t.match(unit, /\nRestart=on-failure\n/)
  t.match(unit, /\nProtectSystem=strict\n/)
  t.match(unit, /\nCacheDirectory=ringbook\nCacheDirectoryMode=0700\n/, 'bundles are kept over restarts')
  const words = /ExecStart=.* core\/supervisor\/main\.ts (.*)/.exec(unit)![1]!.split(' ')
  const flags = words.filter((word) => word.startsWith('--') && word !== '--config')
  for (const flag of flags) t.ok(readConfig([flag, 'x'], {}), flag)
  t.end()
})
