/**
 * Promise: the engine does what the specification says, to the byte (T1; I1-I3, I6-I12). 1,000,000 random commands, realistic and
 * hostile, through the engine and the naive exchange of test/support; a part of the runs checks every invariant after every command.
 *
 * One run again: SEED=7 VARIANT=tight COMMANDS=5000 node ... test/property/engine_equals_naive.test.ts
 * A long night: ROUNDS=50 multiplies the seeds.
 */
import t from 'tap'
import { duel, type DuelOptions } from '../support/naive_compare.ts'

const { SEED, VARIANT, COMMANDS, ROUNDS } = process.env
const RUNS: DuelOptions[] = [
  { variant: 'market', seed: 1, commands: 200_000, checkEvery: 997 },
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
  { variant: 'olderFamily', seed: 13, commands: 20_000, checkEvery: 97 },
]

function runs(): DuelOptions[] {
  if (SEED !== undefined || VARIANT !== undefined) {
    return [{ variant: VARIANT ?? 'market', seed: Number(SEED ?? 1), commands: Number(COMMANDS ?? 5000), checkEvery: 1 }]
  }
  return Array.from({ length: Number(ROUNDS ?? 1) }, (_, round) => RUNS.map((run) => ({ ...run, seed: run.seed + round * 100 }))).flat()
}

for (const run of runs()) {
  const started = performance.now()
  const { events, seen } = duel(run)
  const ms = Math.round(performance.now() - started)
  t.ok(events >= run.commands, `${run.variant}, seed ${run.seed}: ${run.commands} commands, ${events} events, ${ms} ms`)
  if (process.env['SEEN'] !== undefined) t.comment([...seen].sort().map(([name, times]) => `${name}: ${times}`).join('\n'))
}
