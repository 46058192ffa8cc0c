/** All of test/crash/history_damage.test.ts: more damages, of several journals. `SEED`, `ROUNDS` run one again. */
import { spawnSync } from 'node:child_process'
import t from 'tap'

const ROUNDS = process.env['ROUNDS'] ?? '150'
const SEEDS = process.env['SEED'] === undefined ? ['11', '12', '13'] : [process.env['SEED']]
t.setTimeout(0)
for (const seed of SEEDS) {
  const file = 'test/crash/history_damage.test.ts'
  const run = spawnSync(process.execPath, [file], { encoding: 'utf8', env: { ...process.env, SEED: seed, ROUNDS } })
  t.equal(run.status, 0, `seed ${seed}, ${ROUNDS} damages${run.status === 0 ? '' : `: ${run.stdout.slice(-4000)}${run.stderr}`}`)
  for (const [, said] of run.stdout.matchAll(/ok \d+ - (\d+ (?:damages kept|answers as before|stores).*)/g)) t.comment(said!)
}
