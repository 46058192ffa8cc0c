/**
 * Single bits flipped over all of data.mdb with the truth known, and truncations, zeroed pages, older copies, damages of the head file:
 * none of them is silently short or different. `FLIPS`, `SEED` choose others. A share of it is in test/crash/journal_flips.test.ts.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

t.setTimeout(0)
const SEED = process.env['SEED'] ?? '3'
const FLIPS = process.env['FLIPS'] ?? '500'
const file = join('test', 'crash', 'journal_flips.test.ts')
const run = spawnSync(process.execPath, [file], { encoding: 'utf8', env: { ...process.env, SEED, FLIPS } })
t.equal(run.status, 0, `seed ${SEED}, ${FLIPS} flips${run.status === 0 ? '' : `: ${run.stdout.slice(-4000)}${run.stderr}`}`)
for (const [, said] of run.stdout.matchAll(/# (\w[\w ]*: .*)/g)) t.comment(said!)
