/**
 * Promise: what the exchange acknowledged is there after any crash, exactly once and to the atom; and what it did not
 * acknowledge is there once or not at all. On the simulated machine (world.ts), with a new seed each time.
 */
import t from 'tap'
import { eachRound, seedOf } from '../suite/rounds.ts'
import { again, simulate, trial, TURNS } from './simulate.ts'

const SEED = seedOf()
const SHORT = 240

t.test('the same seed is the same run', async (t) => {
  const [one, two] = [simulate(SEED, SHORT), simulate(SEED, SHORT)]
  t.equal(one.digest, two.digest)
  t.not(one.digest, simulate(SEED + 1, SHORT).digest, 'and another seed another one')
})

t.test('crashes lose nothing and double nothing', async (t) => {
  t.comment(`seeds from ${SEED} on; one of them again: ${again({ seed: SEED, turns: TURNS })}`)
  for (const round of eachRound(t, { short: 4, deep: 4000 })) {
    const failure = trial(SEED + round, TURNS)
    if (failure !== null) return t.fail(`seed ${failure.seed}: ${failure.message}\nagain: ${again(failure)}`)
  }
  t.pass('none of them broke a promise')
})

t.test('a run meets what it is there for', async (t) => {
  const { counts } = simulate(4, 1500)
  const wanted = [
    'power failures', 'kills', 'failed syncs', 'follower killed', 'follower compared', 'snapshots', 'full rings', 'clock jumps', 'repeated',
    'crash: applied, not answered', 'crash: answered', 'crash: written journal/data', 'crash: synced journal/data',
  ]
  for (const name of wanted) t.ok((counts[name] ?? 0) > 0, name)
})
