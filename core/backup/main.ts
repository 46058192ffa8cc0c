/**
 * `backup` and `restore` as a process of its own, started by the operator's command line (gateway/operator/backup.ts): beside the exchange,
 * not in it, and behind it in the queue for the processors. Progress goes to standard error, the outcome to standard output as one JSON
 * line: the manifest, or {"code", "message"}. Exit code 0: done; 1: not done, and nothing is left that could be taken for it.
 */
import { setPriority } from 'node:os'
import { parseArgs } from 'node:util'
import { makeBackup } from './backup.ts'
import { BackupError } from './manifest.ts'
import { restore } from './restore.ts'

/** Niceness: the exchange comes first. */
const NICE = 10

process.umask(0o077)
setPriority(NICE)
const { positionals: [tool, from, to], values } = parseArgs({
  allowPositionals: true,
  options: { rate: { type: 'string' }, full: { type: 'boolean' }, 'without-history': { type: 'boolean' } },
})
const rate = Number(values.rate)
const full = values.full === true
const said = (text: string): void => console.error(`${tool}: ${text}`)
try {
  const manifest = tool === 'backup'
    ? await makeBackup(from!, to!, { rate, full, said, history: values['without-history'] !== true })
    : await restore(from!, to!, { rate, full, said })
  console.log(JSON.stringify(manifest))
} catch (error) {
  const { message, stack } = error as Error
  if (!(error instanceof BackupError)) said(String(stack))
  console.log(JSON.stringify({ code: tool === 'backup' ? 'BACKUP_FAILED' : 'RESTORE_FAILED', message }))
  process.exitCode = 1
}
