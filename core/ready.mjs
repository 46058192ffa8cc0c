// Installs what is missing: runs before every npm script, on whatever Node the machine has, so it is plain JavaScript and
// needs nothing installed. `npm ci` runs when node_modules is absent or older than the lock file.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const lock = join(root, 'package-lock.json')
const installed = join(root, 'node_modules', '.package-lock.json')
const pinned = join(root, 'node_modules', '.bin', 'node')

if (!existsSync(installed) || !existsSync(pinned) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
  console.error('ringbook: installing dependencies (npm ci), a minute or two ...')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { status } = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    console.error('ringbook: npm ci failed; see above')
    process.exit(status ?? 1)
  }
}
