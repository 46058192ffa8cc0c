/**
 * Promise: property/margin_equals_naive would notice. Faults are planted one at a time in copies of the engine's source, and each must be
 * caught by a comparison or an invariant that names what differs; canary.test.ts says the rest. A few of them in `npm test`, others each
 * time, all in `npm run test:deep`. `FAULT=TEXT` plants only those whose place has this text.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { shuffled } from '../suite/files.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Faults that `npm test` plants. */
const SHORT = 2
/** File, what stands there, what it becomes. */
const FAULTS: [file: string, from: string, to: string][] = [
  // Requirements rounded down; a deduction added; the better side of an exposure; the tier below at its bound.
  ['margin/tiers.ts', '+ 999_999n', '+ 0n'],
  ['margin/tiers.ts', '- getI64(state, tier, TIER.MAINTENANCE_DEDUCTION)', '+ getI64(state, tier, TIER.MAINTENANCE_DEDUCTION)'],
  ['margin/figures.ts', 'if (registers[R.M1]! > registers[R.INITIAL]!)', 'if (registers[R.M1]! < registers[R.INITIAL]!)'],
  // Lots change and funding is forgotten; it is paid at a stale index.
  ['margin/positions.ts', '  settleFunding(state, row)\n  const held', '  const held'],
  ['programs/funding.ts', 'isFresh(state, pair) ? rateSoFar(state, pair) : 0', 'rateSoFar(state, pair)'],
  // Reduce-only orders keep a lot too many; a fill commits too little; a maker's fee is not looked at; an order brings no fee.
  ['book/reduce_only.ts', 'if (over <= 0) return', 'if (over <= 1) return'],
  ['margin/order_collateral.ts', ' + BigInt((left - 1) | 0)', ''],
  ['orders/margin_admission.ts', '+ registers[R.REQUIRED]! - registers[R.COST]!', ''],
  // The book is no voice of the mark; a bucket gives back what its positions, or it itself, lost.
  ['margin/mark_price.ts', 'median(index, fair, bookPrice(state, pair, fair))', 'fair'],
  ['margin/collateral.ts', ' - registers[R.SUM_LOSS]!', ''],
  ['margin/collateral.ts', 'if (signOf(state, bucket, RISK_BUCKET.REALIZED) < 0)', 'if (signOf(state, bucket, RISK_BUCKET.REALIZED) > 0)'],
  // The liquidation fee is rounded down; leverage does not count in the ranking.
  ['liquidation/liquidate.ts', '+ 999_999n', '+ 0n'],
  ['liquidation/ranking.ts', ' * get(state, position, POSITION.LEVERAGE)', ''],
]

const RUNNER = `
import { MarginDuel } from "./test/support/margin_duel.ts"
const runs = [['perps', 10000, 1], ['perpsTight', 7000, 4], ['perps', 8000, 13], ['perps', 20000, 11]]
try {
  for (const [variant, commands, seed] of runs) new MarginDuel({ variant, seed, commands, checkEvery: 50, stormEvery: 1500 }).run()
} catch (error) {
  console.log(error.message.split('\\n')[0])
  if (['Differs', 'InvariantBroken'].includes((error.cause ?? error).name)) process.exit(3)
  console.log((error.cause ?? error).stack)
  process.exit(4)
}
`
/** Seconds after which a copy is ended, which is a failure. */
const COPY_SECONDS = 200

/** Runs the duel over a copy of the engine; its exit code (3: caught, null: it did not end) and what it said first. */
function runCopy(directory: string): { status: number | null; said: string } {
  const options = { cwd: directory, env: {}, timeout: COPY_SECONDS * 1000, killSignal: 'SIGKILL', encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', 'runner.ts'], options)
  return { status, said: stdout.trim() || stderr.trim().split('\n').at(-1) || 'nothing noticed' }
}

t.test('faults in the source of margin trading are caught', async (t) => {
  const seed = seedOf()
  t.comment(`seed ${seed}; again: SEED=${seed} npm test -- test/property/margin_canary.test.ts`)
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-canary-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  cpSync(join(ROOT, 'core'), join(directory, 'core'), { recursive: true })
  cpSync(join(ROOT, 'test/support'), join(directory, 'test/support'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  writeFileSync(join(directory, 'runner.ts'), RUNNER)
  const chosen = FAULTS.filter(([, from]) => from.includes(process.env['FAULT'] ?? ''))
  const gone = chosen.filter(([file, from]) => !readFileSync(join(directory, 'core', file), 'utf8').includes(from))
  t.strictSame(gone, [], 'every fault has its place in the source; plant anew those that have none')
  const faults = shuffled(chosen.filter((fault) => !gone.includes(fault)), seed)
  const short = process.env['FAULT'] === undefined ? Math.min(SHORT, faults.length) : faults.length
  for (const each of eachRound(t, { short, deep: faults.length })) {
    if (each >= faults.length) break
    const [file, from, to] = faults[each]!
    const path = join(directory, 'core', file)
    const source = readFileSync(path, 'utf8')
    writeFileSync(path, source.replace(from, () => to))
    const { status, said } = runCopy(directory)
    t.equal(status, 3, `${file}: ${from} -> ${to || 'nothing'}: ${said.slice(0, status === 3 ? 160 : 1000)}`)
    writeFileSync(path, source)
  }
})
