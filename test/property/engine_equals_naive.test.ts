/**
 * Promise: the engine does what the specification says, to the byte (T1; I1-I3, I6-I12). 1,830,000 random commands,
 * realistic and hostile, through the engine and the naive exchange of test/support; a part of the runs checks every
 * invariant after every command. Every refusal that the engine's source knows is met by fixed seeds, or named below
 * with the test that meets it.
 *
 * `npm test` has an eighth of the commands; `npm run test:deep` all, and then other seeds.
 * One run again: SEED=7 VARIANT=tight COMMANDS=5000 node ... test/property/engine_equals_naive.test.ts
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { REFUSALS, refusalByNumber } from '../../core/layout/refusals.ts'
import { MARGIN_REFUSALS } from '../support/margin_refusals.ts'
import { duel, type DuelOptions } from '../support/naive_compare.ts'
import { DEEP, eachRound } from '../suite/rounds.ts'

const { SEED, VARIANT, COMMANDS } = process.env
const ROUNDS = { short: 1, deep: 30 }
/** What the commands are divided by in `npm test`, and of runs that meet a refusal late. */
const [SHORT, LATE] = [8, 4]
/** Variants and seeds of those: the rows of assets and of sub-accounts are used up. */
const LATE_RUNS = ['listing 30', 'family 10']
/** Rooms of the core that refuse commands. */
const ENGINE = ['engine', 'state', 'events', 'ledger', 'margin', 'book', 'orders', 'programs', 'liquidation']
/** Refusals of the engine that these workloads do not meet; others are met by property/margin_equals_naive.test.ts. */
const ELSEWHERE: Record<string, string> = {
  APPLICATION_INACTIVE: 'property/applications_equal_naive.test.ts',
  CLIENT_ID_IN_USE: 'property/applications_equal_naive.test.ts',
  TOO_MANY_APPLICATIONS: 'property/applications_equal_naive.test.ts',
  TOO_MANY_LAUNCHES: 'scenario/launches.test.ts',
  TOO_MANY_FOLLOWS: 'scenario/copy_trading.test.ts',
  LEADER_FULL: 'scenario/copy_trading.test.ts',
  // Reasons why a follow was passed by, in FOLLOW events.
  LEADER_EQUITY: 'property/margin_equals_naive.test.ts',
  COPY_PARTLY_FILLED: 'property/margin_equals_naive.test.ts',
  COPY_TRADING_OFF: 'property/margin_equals_naive.test.ts',
  COPY_PRICE: 'property/margin_equals_naive.test.ts',
}
const RUNS: DuelOptions[] = [
  { variant: 'market', seed: 1, commands: 200_000, checkEvery: 997 },
  { variant: 'paged', seed: 16, commands: 60_000, checkEvery: 97 },
  { variant: 'tight', seed: 2, commands: 200_000, checkEvery: 97 },
  { variant: 'tight', seed: 3, commands: 40_000, checkEvery: 1 },
  { variant: 'older', seed: 12, commands: 20_000, checkEvery: 97 },
  { variant: 'crowded', seed: 13, commands: 20_000, checkEvery: 97, workload: { clients: 36 } },
  { variant: 'visited', seed: 14, commands: 12_000, checkEvery: 7 },
  { variant: 'olderVisited', seed: 15, commands: 8_000, checkEvery: 7 },
  { variant: 'fees', seed: 4, commands: 220_000, checkEvery: 499, outboxRecords: 2 },
  { variant: 'fees', seed: 5, commands: 10_000, checkEvery: 1 },
  { variant: 'deep', seed: 6, commands: 220_000, checkEvery: 4999, outboxRecords: 7 },
  { variant: 'market', seed: 7, commands: 10_000, checkEvery: 1 },
  { variant: 'tiers', seed: 8, commands: 90_000, checkEvery: 199 },
  { variant: 'tiers', seed: 9, commands: 10_000, checkEvery: 1 },
  { variant: 'family', seed: 10, commands: 120_000, checkEvery: 199 },
  { variant: 'family', seed: 11, commands: 10_000, checkEvery: 1, outboxRecords: 3 },
  { variant: 'listing', seed: 30, commands: 30_000, checkEvery: 97 },
  { variant: 'listing', seed: 36, commands: 8_000, checkEvery: 1, outboxRecords: 3 },
  { variant: 'olderFamily', seed: 13, commands: 20_000, checkEvery: 97 },
  { variant: 'waiting', seed: 60, commands: 60_000, checkEvery: 97, workload: { deadlines: true } },
  { variant: 'waiting', seed: 61, commands: 10_000, checkEvery: 1, outboxRecords: 3 },
  { variant: 'builder', seed: 70, commands: 60_000, checkEvery: 97 },
  { variant: 'builder', seed: 71, commands: 10_000, checkEvery: 1, outboxRecords: 3 },
  { variant: 'referred', seed: 72, commands: 60_000, checkEvery: 97 },
  { variant: 'referred', seed: 73, commands: 10_000, checkEvery: 1, outboxRecords: 3 },
  { variant: 'referredVisitors', seed: 74, commands: 16_000, checkEvery: 7 },
  { variant: 'vault', seed: 100, commands: 120_000, checkEvery: 97 },
  { variant: 'vault', seed: 101, commands: 10_000, checkEvery: 1, outboxRecords: 3 },
  { variant: 'vaultVisitors', seed: 102, commands: 16_000, checkEvery: 7 },
  { variant: 'launches', seed: 80, commands: 60_000, checkEvery: 97 },
  { variant: 'launches', seed: 81, commands: 10_000, checkEvery: 1, outboxRecords: 3 },
  ...['market', 'family', 'builder'].map((variant): DuelOptions =>
    ({ variant, seed: 95, commands: 24_000, checkEvery: 97, sellsAll: true })),
  ...['market', 'tight', 'visited', 'older', 'family'].map((variant): DuelOptions =>
    ({ variant, seed: 90, commands: 16_000, checkEvery: 7, workload: { deadlines: true } })),
]

/** Runs it and notes which refusals came. */
function compare(run: DuelOptions, reached: Set<string>): void {
  const started = performance.now()
  const { events, seen } = duel(run)
  const ms = Math.round(performance.now() - started)
  t.ok(events >= run.commands, `${run.variant}, seed ${run.seed}: ${run.commands} commands, ${events} events, ${ms} ms`)
  for (const name of seen.keys()) {
    const number = Number(/^RESULT \S+ (\d+)$/.exec(name)?.[1] ?? 0)
    if (number !== 0) reached.add(refusalByNumber(number).code)
  }
  if (process.env['SEEN'] !== undefined) t.comment([...seen].sort().map(([name, times]) => `${name}: ${times}`).join('\n'))
}

/** Codes that stand in the engine's source. */
function refusalsOfTheEngine(): string[] {
  const core = join(import.meta.dirname, '..', '..', 'core')
  const names = new Set<string>()
  for (const file of globSync(`{${ENGINE.join(',')}}/**/*.ts`, { cwd: core })) {
    const source = readFileSync(join(core, file), 'utf8')
    for (const [, name] of source.matchAll(/\bREFUSALS\.([A-Z_]+)/g)) names.add(name!)
  }
  return [...names].map((name) => REFUSALS[name as keyof typeof REFUSALS].code).sort()
}

if (SEED !== undefined || VARIANT !== undefined) {
  compare({ variant: VARIANT ?? 'market', seed: Number(SEED ?? 1), commands: Number(COMMANDS ?? 5000), checkEvery: 1 }, new Set())
} else {
  const reached = new Set<string>()
  const known = refusalsOfTheEngine()
  for (const round of eachRound(t, ROUNDS)) {
    for (const run of RUNS) {
      const part = DEEP ? 1 : LATE_RUNS.includes(`${run.variant} ${run.seed}`) ? LATE : SHORT
      compare({ ...run, seed: run.seed + round * 100, commands: Math.ceil(run.commands / part) }, reached)
    }
    if (round > 0) continue
    const met = new Set([...reached, ...Object.keys(ELSEWHERE), ...MARGIN_REFUSALS])
    t.strictSame([...met].sort(), known, 'every refusal of the engine is met, here or elsewhere')
  }
}
