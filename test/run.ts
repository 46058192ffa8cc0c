/**
 * Runs the tests with tap and ends with a line `N passed, N failed` (assertions). Arguments: test files; none: every
 * `*.test.ts` at most two folders down; with `--torture` first, none is every `test/torture/*.torture.ts`, each has hours, and
 * {@link TORTURE_HELP} says which numbers may be given. A failing file's whole output is printed, of a passing one a line.
 * With CI=true a skipped test is a failure: what a machine of CI lacks must be installed there.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const tap = join(root, 'node_modules', '.bin', 'tap')
const torture = process.argv[2] === '--torture'
/** Seconds one file may take. */
const FILE_SECONDS = torture ? 4 * 3600 : 600

const TORTURE_HELP = `Torture: damage with the truth known, over and over. No part of npm test; each file keeps a share of it there.

  npm run test:torture -- [FILE...] [--flips N] [--seed N] [--rounds N]

  journal_flips     single bits over all of data.mdb: complete, refused by name, or ended by a signal; never silently short
  history_damage    the same of the history's store
  system_calls      writes and flushes of the journal that fail at the k-th call under load (wants strace)
  small_disk        a file system of a few MB that fills up under load (wants root)

  --flips N    bits of journal_flips (default 500)
  --seed N     what is chosen at random, so that a run can be had again; each file prints its own
  --rounds N   how often: damages of history_damage, rounds of system_calls and small_disk
  --help       this text

  npm run test:torture -- test/torture/journal_flips.torture.ts --flips 2000 --seed 7
`

/** The files that are named; the numbers go to them as environment variables. Ends the process for help and a wrong call. */
function tortured(): string[] {
  const number = { type: 'string' } as const
  const options = { flips: number, seed: number, rounds: number, help: { type: 'boolean' } } as const
  try {
    const { values, positionals } = parseArgs({ args: process.argv.slice(3), allowPositionals: true, options })
    if (values.help === true) {
      console.log(TORTURE_HELP)
      process.exit(0)
    }
    for (const name of ['flips', 'seed', 'rounds'] as const) {
      const value = values[name]
      if (value === undefined) continue
      if (!/^[1-9]\d{0,8}$/.test(value)) throw new TypeError(`--${name} must be a whole number from 1 on`)
      process.env[name.toUpperCase()] = value
    }
    return positionals
  } catch (error) {
    console.error(`${(error as Error).message.split('. ')[0]}. Try --help`)
    process.exit(2)
  }
}

const given = torture ? tortured() : process.argv.slice(2)
const every = torture ? ['test/torture/*.torture.ts'] : ['test/*.test.ts', 'test/*/*.test.ts', 'test/*/*/*.test.ts']
const files = given.length > 0 ? given : globSync(every, { cwd: root }).sort()

// tap keeps its generated set of plugins in .tap; without its TypeScript plugin, because Node strips types itself.
// The pinned Node runs tap and, through PATH, what tap starts.
const env = {
  ...process.env,
  NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
}
if (!existsSync(join(root, '.tap', 'plugins'))) spawnSync(process.execPath, [tap, 'build'], { cwd: root, env, stdio: 'inherit' })

const child = spawn(
  process.execPath,
  [tap, 'run', '--disable-coverage', '--reporter=tap', '--jobs=1', `--timeout=${FILE_SECONDS}`, ...files],
  {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)

let block: string[] = []
const totals = { total: 0, pass: 0, fail: 0, skip: 0 }
for await (const line of createInterface({ input: child.stdout })) {
  const summary = /^# \{ (.*) \}$/.exec(line)
  if (summary !== null) {
    for (const [, name, count] of summary[1]!.matchAll(/(\w+): (\d+)/g))
      if (name! in totals) totals[name as keyof typeof totals] = Number(count)
  } else if (/^(not )?ok \d+/.test(line)) {
    const failed = line.startsWith('not ok')
    if (failed) console.log(block.join('\n'))
    else for (const note of block) if (/^\s*# (?!Subtest|time=)/.test(note)) console.log(note)
    console.log(line)
    block = []
  } else block.push(line)
}
const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? 1)))
const skipped = process.env['CI'] === 'true' ? totals.skip : 0
if (skipped > 0) console.log(`${skipped} skipped, and in CI that is a failure`)
const failed = (totals.fail > 0 || code === 0 ? totals.fail : 1) + skipped
console.log(`${totals.pass} passed, ${failed} failed${totals.skip > 0 ? `, ${totals.skip} skipped` : ''}`)
process.exitCode = code === 0 && skipped > 0 ? 1 : code
