/**
 * Promise: what is restored comes to the state that the backup says it has, or it is refused by the name of what differs and cannot be
 * started on. So a backup whose files and whose description were both changed is not taken for a whole one.
 */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeBackup } from '../../core/backup/backup.ts'
import { refuseBackup, type Manifest } from '../../core/backup/manifest.ts'
import { restore } from '../../core/backup/restore.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal } from '../support/journal.ts'

const root = temporaryDirectory()
t.teardown(() => removeDirectory(root))
const OPTIONS = { rate: Infinity, full: false, said: () => undefined }
const whole = join(root, 'backup')
const dataDir = join(root, 'data')
const { after } = makeJournal(dataDir, { batches: 12, snapshots: [6] })
const made = await makeBackup(dataDir, whole, { ...OPTIONS, history: false })

/** Restores a backup that says `wrong` of itself. */
function restoreWith(name: string, wrong: Partial<Manifest>): Promise<Manifest> {
  const backup = join(root, `of ${name}`)
  cpSync(whole, backup, { recursive: true })
  const path = join(backup, 'backup.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')) as Manifest, ...wrong }))
  return restore(backup, join(root, name), OPTIONS)
}

t.test('a whole one is restored', async (t) => {
  const last = after.at(-1)!
  t.match(made, { sequence: last.last, digest: last.digest, eventsChecksum: last.events, batchChecksum: last.checksum, history: null })
  t.match(await restoreWith('restored', {}), made)
  t.doesNotThrow(() => refuseBackup(join(root, 'restored')))
})

const WRONG: Partial<Manifest> = {
  sequence: made.sequence - 1, batchChecksum: made.batchChecksum ^ 1, eventsChecksum: made.eventsChecksum ^ 1, history: 7,
  digest: made.digest.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
}
for (const [name, value] of Object.entries(WRONG)) {
  t.test(`another ${name} is refused`, async (t) => {
    const said = `the restored ${name} is ${made[name as keyof Manifest]}, the backup has ${value}`
    await t.rejects(restoreWith(name, { [name]: value }), new Error(said))
    t.ok(existsSync(join(root, name)))
    t.throws(() => refuseBackup(join(root, name)), /not restored to its end/, 'it is not started on')
  })
}
