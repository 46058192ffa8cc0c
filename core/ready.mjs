// Installs what is missing: runs before every npm script, on whatever Node the machine has, so it is plain JavaScript
// and needs nothing installed.
//
//   node core/ready.mjs          what running the exchange needs: production packages (npm start, operator, replay ...)
//   node core/ready.mjs --all    what tests, types and benches need too
//
// What is installed is told by npm's own list of it, node_modules/.package-lock.json, held against package-lock.json:
// package by package, never by times of files, which copying a tree changes. Nothing missing: nothing is run, written
// or asked of a network.
//
// Development packages are added to a production tree that is whole, so that an exchange that runs from it keeps its
// files. Otherwise the tree is made anew by `npm ci`. A tree that had development packages keeps having them.
//
// `.installing` says that an install is under way: who comes meanwhile waits for it. One that is older than STALE_MS
// was left by an install that was interrupted; what it may have left half unpacked is not trusted, and made anew.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const BEAT_MS = 1_000
const STALE_MS = 6_000
const WAIT_MS = 600_000

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const list = join(root, 'node_modules', '.package-lock.json')
const mark = join(root, '.installing')
/** Made by an install script of the package `node`. */
const pinned = 'node_modules/.bin/node'
const wantsAll = process.argv.includes('--all')

const packagesOf = (path) => JSON.parse(readFileSync(path, 'utf8')).packages
const isDevelopment = ({ dev, devOptional }) => dev === true || devOptional === true

/** What npm says is installed, by folder; nothing when it does not say. */
function installed() {
  try {
    return packagesOf(list)
  } catch {
    return {}
  }
}

/** The first package that is wanted and not in its folder in the version that is locked; undefined: all are. */
function missing(all) {
  const have = installed()
  const stands = (folder, locked) => {
    if (folder === '' || (!all && isDevelopment(locked))) return true
    const there = have[folder]
    // Packages for other machines.
    if (there === undefined) return locked.optional === true || locked.devOptional === true
    const same = there.version === locked.version && there.integrity === locked.integrity
    return same && existsSync(join(root, folder, 'package.json'))
  }
  for (const [folder, locked] of Object.entries(packagesOf(join(root, 'package-lock.json')))) {
    if (!stands(folder, locked)) return folder
  }
  return existsSync(join(root, pinned)) ? undefined : pinned
}

/** Ms since who has the mark showed life; `null`: nobody has it. */
function markAge() {
  const stat = statSync(mark, { throwIfNoEntry: false })
  return stat === undefined ? null : Date.now() - stat.mtimeMs
}

function touch(time) {
  if (existsSync(mark)) utimesSync(mark, time, time)
}

const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Takes the mark, after waiting while another process installs. `interrupted`: an unfinished install left one. */
async function takeMark() {
  for (let waited = 0; waited < WAIT_MS; waited += 200) {
    const age = markAge()
    if (age === null || age > STALE_MS) {
      if (age !== null) rmSync(mark, { force: true })
      try {
        writeFileSync(mark, String(process.pid), { flag: 'wx' })
        return { interrupted: age !== null }
      } catch (error) {
        if (error.code !== 'EEXIST') throw error
      }
    } else if (waited === 0) console.error('ringbook: another process installs dependencies; waiting for it ...')
    await rest(200)
  }
  throw new Error(`another process has been installing for ${WAIT_MS / 60_000} minutes: see ${mark}`)
}

/** Runs npm with its output on standard error; its exit code. */
function runNpm(args) {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  return new Promise((resolve, reject) => {
    const child = spawn(npm, [...args, ...quiet], { cwd: root, stdio: ['ignore', 2, 2] })
    child.on('error', reject).on('close', (code) => resolve(code ?? 1))
    // A terminal tells npm itself too; whoever starts again need not wait for this one.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.on(signal, () => {
        child.kill(signal)
        touch(new Date(0))
        process.exit(1)
      })
    }
  })
}

async function install(interrupted) {
  const kept = Object.values(installed()).some(isDevelopment)
  const all = wantsAll || kept
  const what = all ? 'running and developing it' : 'running it'
  console.error(`ringbook: installing packages for ${what}, up to a minute or two ...`)
  if (all && !interrupted && missing(false) === undefined) return runNpm(['install', '--no-save', '--include=dev'])
  // Gone before anything else is: a tree that is half removed must not pass for whole.
  rmSync(list, { force: true })
  return runNpm(['ci', all ? '--include=dev' : '--omit=dev'])
}

async function makeReady() {
  const { interrupted } = await takeMark()
  const beat = setInterval(() => touch(new Date()), BEAT_MS)
  try {
    // Who had the mark before may have installed it all.
    if (missing(wantsAll) === undefined) return rmSync(mark, { force: true })
    if ((await install(interrupted)) !== 0) throw new Error('npm failed, and says why above')
    const still = missing(wantsAll)
    const hint = 'does its configuration omit packages or ignore scripts?'
    if (still !== undefined) throw new Error(`npm installed everything but ${still}; ${hint}`)
    rmSync(mark, { force: true })
  } finally {
    clearInterval(beat)
    // Still there when it failed: what stands there now is not trusted. Old, so that nobody waits for it.
    touch(new Date(0))
  }
}

if (missing(wantsAll) !== undefined) {
  try {
    await makeReady()
  } catch (error) {
    console.error(`ringbook: installing failed: ${error.message}`)
    process.exit(1)
  }
}
