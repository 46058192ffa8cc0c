/**
 * Promise: a trailing stop fires at the mark at which it must, in the order in which it must, whatever the marks did before: on random
 * paths with gaps, many marks before anything is looked at, halts, indexes that go stale and forced marks meanwhile, cancels, and restarts
 * in between, in which the engine is made of the columns that a snapshot keeps. Many stops of both sides, of the same distance and of
 * others, armed at different marks, at once or at an activation price, against an array of {armed mark, best mark}
 * (support/trailing_model.ts): which of them each step fires or arms, and the watermark and trigger that it tells; and the watermarks of
 * all others, as readers see them.
 *
 * A mark that fires nothing touches no row of a stop: every word that is read is looked at.
 *
 * One run again: ROUNDS=1 SEED=7 npm test -- test/property/trailing_stop_model.test.ts
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { CONDITIONAL_WORDS } from '../../core/state/conditional_rows.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import { get, perpRow, scalar } from '../../core/state/rows.ts'
import { CountedStage } from '../support/counted_stage.ts'
import { BTC, LiquidationStage } from '../support/liquidation_stage.ts'
import { holdersOf, TRAILING_LIMITS, Walk } from '../support/trailing_walk.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

const ACTS = 700

const seed = seedOf(1)
t.comment(`seed ${seed}; again: SEED=${seed} npm test -- test/property/trailing_stop_model.test.ts`)

t.test('random paths, against the model', async (t) => {
  const met = new Map<string, number>()
  for (const round of eachRound(t, { short: 8, deep: 400 })) {
    const walk = new Walk(seed * 1000 + round)
    t.doesNotThrow(() => walk.run(ACTS), `round ${round}`)
    for (const [what, times] of walk.counts) met.set(what, (met.get(what) ?? 0) + times)
  }
  t.pass([...met].map(([what, times]) => `${what}: ${times}`).join(', '))
  const must = [
    'FIRED', 'ARMED', 'pending', 'armed at once', 'cancelled', 'drained', 'halts', 'freezes', 'forced', 'restarts',
    'marks that do not count',
  ]
  t.strictSame(must.filter((what) => !met.has(what)), [], 'all of it is met')
})

t.test('a mark that fires nothing touches no row of a stop', async (t) => {
  const rows = { accounts: 1024, sessions: 1024, positions: 1024, riskBuckets: 1024, marginAccounts: 1024 }
  const stage = new LiquidationStage({ indexBandBps: '10000' }, { ...TRAILING_LIMITS, ...rows })
  const holders = holdersOf(stage, 150)
  stage.price(BTC, 10_000)
  // Armed at marks that fall, then rise, so that the sides have stacks of some hundred groups.
  holders.forEach(({ signed, named }, index) => {
    if (index % 3 === 0) stage.price(BTC, 10_000 - index)
    stage.send(CommandType.ATTACH_CONDITIONALS, { ...signed, ...named, trailBps: 1000 + index }, 1)
  })
  const touched = new Set<number>()
  const { state } = stage
  const end = state.conditionalsAt + scalar(state, SCALAR.CONDITIONALS_USED) * CONDITIONAL_WORDS
  const counted = new CountedStage(stage.bench, (view, word) => {
    const words = view === 'f64' || view === 'i64' ? 2 * word : view === 'i32' ? word : -1
    const address = view.startsWith('conditionals') ? state.conditionalsAt : words
    if (address >= state.conditionalsAt && address < end) touched.add(address)
  })
  counted.time = stage.time
  for (const price of [9700, 9701, 9690, 9705, 9720, 9712, 9650]) {
    touched.clear()
    counted.count(CommandType.SET_INDEX_PRICE, { pair: BTC, price, source: 0, force: 1, observedAt: counted.time })
    while (get(state, perpRow(state, BTC), PERP.MARKS) > 0) counted.count(CommandType.TRIGGER_STEP, { pair: BTC })
    t.equal(touched.size, 0, `${price}: ${counted.steps} words are read, none of them of a stop`)
  }
  touched.clear()
  counted.count(CommandType.SET_INDEX_PRICE, { pair: BTC, price: 8000, source: 0, force: 1, observedAt: counted.time })
  counted.count(CommandType.TRIGGER_STEP, { pair: BTC })
  t.ok(touched.size > 0, 'and one that fires does')
})
