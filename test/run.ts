/**
 * Runs a suite, or the files that are named, and ends with a line `N passed, N failed` (assertions). Of a passing
 * file its seconds and its comments are printed, of a failing one everything. With CI=true a skipped test is a
 * failure: what a machine of CI lacks must be installed there. `--help` says the rest; test/README.md which file
 * belongs where.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { deepFiles, quickFiles, shareOf, shuffled } from './suite/files.ts'
import { runAll } from './suite/lanes.ts'
import { installLine, skippedIn } from './suite/packages.ts'
import { endAll, type Outcome } from './suite/run_file.ts'
import { startBusy } from './suite/stress.ts'

const HELP = `npm test [-- FILE...] [--jobs N] [--stress]
    everything once, random parts short: for whoever has just cloned

npm run test:deep [-- FILE...] [--minutes N] [--seed N] [--share K/N] [--rounds N] [--jobs N] [--stress]
    the rest: *.deep.ts, and with more rounds the tests that ask how many (test/suite/rounds.ts). All of it takes hours.

  --minutes N   begins no file after N minutes and gives each that goes in rounds a part of the time; prints what was left out.
                Which files come first the seed decides, so that runs take turns
  --seed N      the same order and the same draws again; without it another each time, printed first
  --share K/N   every N-th file beginning with the K-th: all N shares together leave out nothing
  --rounds N    rounds of each file that asks how many
  --jobs N      files side by side (three on two cores; one when files are named)
  --stress      two processes that are always busy beside it: what fails then and not otherwise waits for a time, not a condition

  npm run test:deep -- --minutes 20
  npm run test:deep -- test/crash/journal_flips.test.ts --rounds 2000 --seed 7
`

/** Seconds one file may take: in npm test, in the deep suite with a limit, and without one. */
const FILE_SECONDS = { quick: 600, limited: 900, deep: 12 * 3600 }

/** Processes beside a suite under stress. */
const BUSY = 2

/** Files side by side, at most: many wait more than they work. */
const LANES = 3

interface Call {
  readonly deep: boolean
  readonly files: string[]
  readonly minutes: number
  readonly seed: number
  readonly rounds: number | undefined
  readonly jobs: number
  readonly stress: boolean
}

function whole(name: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^[1-9]\d{0,8}$/.test(text)) throw new TypeError(`--${name} must be a whole number from 1 on`)
  return text === undefined ? undefined : Number(text)
}

/** What the command line asks for. Throws TypeError. */
function called(args: string[]): Call {
  const [number, flag] = [{ type: 'string' }, { type: 'boolean' }] as const
  const numbers = { minutes: number, seed: number, share: number, rounds: number, jobs: number } as const
  const options = { ...numbers, stress: flag, deep: flag, help: flag } as const
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options })
  if (values.help === true) {
    console.log(HELP)
    process.exit(0)
  }
  const deep = values.deep === true
  const only = (['minutes', 'share', 'rounds'] as const).find((name) => values[name] !== undefined)
  if (only !== undefined && !deep) throw new TypeError(`--${only} is for npm run test:deep`)
  const share = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(values.share ?? '1/1')
  if (share === null || Number(share[1]) > Number(share[2])) throw new TypeError('--share must be K/N, K from 1 to N')
  const seed = whole('seed', values.seed) ?? (Date.now() % 1_000_000) + 1
  const every = positionals.length > 0 ? positionals : deep ? deepFiles() : quickFiles()
  const files = shareOf(every, { k: Number(share[1]), n: Number(share[2]) })
  return {
    deep,
    seed,
    files: deep ? shuffled(files, seed) : files,
    minutes: whole('minutes', values.minutes) ?? Infinity,
    rounds: whole('rounds', values.rounds),
    stress: values.stress === true,
    jobs: whole('jobs', values.jobs) ?? (positionals.length > 0 ? 1 : Math.min(LANES, availableParallelism() + 1)),
  }
}

function call(): Call {
  try {
    return called(process.argv.slice(2))
  } catch (error) {
    console.error(`${(error as Error).message.split('. ')[0]}. Try --help`)
    process.exit(2)
  }
}

/** The same words with the seed. */
const again = (words: readonly string[], seed: number): string =>
  [...words, ...(words.some((word) => word.startsWith('--seed')) ? [] : ['--seed', String(seed)])].join(' ')

let files = 0
/** Names and reasons of tests that were skipped. */
const skips: string[] = []
const total = { passed: 0, failed: 0, skipped: 0 }

function report({ file, seconds, passed, failed, skipped, lines }: Outcome): void {
  files++
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
  const reasons = skippedIn(lines)
  skips.push(...reasons)
  const notes = lines.filter((line) => /^\s*# (?!Subtest|time=|\{ )/.test(line))
  for (const line of failed > 0 ? lines : [...notes, ...reasons.map((reason) => `# skipped: ${reason}`)]) console.log(line)
  console.log(`${failed > 0 ? 'not ok' : 'ok'} ${files} - ${file} # time=${seconds.toFixed(1)}s`)
}

const { deep, files: chosen, minutes, seed, rounds, jobs, stress } = call()
const busy = startBusy(stress ? BUSY : 0)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    endAll()
    busy.end()
    process.exit(1)
  })
}
const given: Record<string, string> = deep ? { SUITE: 'deep', SUITE_SEED: String(seed) } : {}
if (rounds !== undefined) given['ROUNDS'] = String(rounds)
if (deep) console.log(`# seed ${seed}; again: npm run test:deep -- ${again(process.argv.slice(3), seed)}`)
const fileSeconds = !deep ? FILE_SECONDS.quick : minutes < Infinity ? FILE_SECONDS.limited : FILE_SECONDS.deep
const began = performance.now()
const left = await runAll({ files: chosen, lanes: jobs, environment: given, fileSeconds, seconds: minutes * 60 }, report)
busy.end()
if (left.length > 0) console.log(`# left out for want of time: ${left.sort().join(' ')}`)
console.log(`# ${files} files in ${Math.round((performance.now() - began) / 1000)} s`)
const install = installLine(skips)
if (install !== null) console.log(`# to run what was skipped: ${install}`)
const skipped = process.env['CI'] === 'true' ? total.skipped : 0
if (skipped > 0) console.log(`${skipped} skipped, and in CI that is a failure`)
const failed = total.failed + skipped
console.log(`${total.passed} passed, ${failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`)
process.exitCode = failed > 0 ? 1 : 0
