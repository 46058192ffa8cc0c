/**
 * Promise: a session key is the user's who registered it, also after its session ended: nobody else registers it within 24 hours, nor as
 * long as its row is kept. The rows that are kept for this are shared out, so that they fill no table.
 */
import t from 'tap'
import { SCALAR } from '../../core/state/columns.ts'
import { heldRows } from '../../core/state/session_lists.ts'
import { play, Scene } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD', 'cat 10 BTC']
const DAY_S = 86_400
const limits = { sessionLifetimeMs: 60_000, sessionsPerAccount: 4, sessions: 1000 }

play(t, 'a key that somebody signed out with is refused to others, and good for himself', {
  given,
  limits,
  when: [
    ['ann signs out', 'done'],
    ['cat signs in with=ann', 'refused SESSION_KEY_IN_USE'],
    [`wait ${DAY_S - 1}`, 'waited'],
    ['cat signs in with=ann', 'refused SESSION_KEY_IN_USE'],
    ['ann signs in', 'done'],
    ['ann sells 1 at 110', 'SUBMITTED'],
  ],
})

play(t, 'so is one that ended by itself, by a newer one, or by a revocation', {
  given,
  limits: { ...limits, sessionsPerAccount: 2 },
  when: [
    ['ann grants bot create', 'done'],
    ['bot@ann sells 1 at 110', 'SUBMITTED'],
    ['ann revokes bot', '1 ended'],
    ['cat signs in with=bot@ann', 'refused SESSION_KEY_IN_USE'],
    ['ann signs in with=bot@ann', 'refused SESSION_KEY_IN_USE'],
    ['ann#2 signs in', 'done'],
    ['ann#3 signs in', 'done'],
    ['cat signs in with=ann', 'refused SESSION_KEY_IN_USE'],
    ['wait 60', 'waited'],
    ['cat signs in with=ann#3', 'refused SESSION_KEY_IN_USE'],
    ['cat#2 signs in', 'done'],
  ],
})

play(t, 'before it was so, an ended session freed its key', {
  given,
  limits,
  rules: 0,
  when: [
    ['ann signs out', 'done'],
    ['cat signs in with=ann', 'done'],
    ['cat signs out', 'done'],
    ['ann#2 signs out', 'done'],
    ['rules 1', 'done'],
    ['cat#3 signs in with=ann#2', 'refused SESSION_KEY_IN_USE'],
    ['ann#3 signs in with=ann', 'refused SESSION_KEY_IN_USE'],
  ],
})

t.test('whoever had signed out when keys began to be kept has a day from then', async (t) => {
  const scene = new Scene({ limits: { ...limits, sessions: 4 }, rules: 0 })
  for (const who of ['a', 'b', 'c', 'd']) {
    t.equal(scene.step(`${who} signs in`), 'done')
    t.equal(scene.step(`${who} signs out`), 'done')
  }
  t.equal(scene.step(`wait ${2 * DAY_S}`), 'waited')
  t.equal(scene.step('rules 1'), 'done')
  t.equal(scene.step('e signs in'), 'refused OVERLOADED')
  t.equal(scene.step(`wait ${DAY_S}`), 'waited')
  t.equal(scene.step('e signs in'), 'done')
})

t.test('an agent whose row another agent got leaves its key to nobody', async (t) => {
  const scene = new Scene({ limits: { agents: 1, agentsPerAccount: 1 } })
  const steps: [string, string][] = [
    ['ann grants bot create', 'done'],
    ['bot@ann signs in', 'done'],
    ['ann revokes bot', '0 ended'],
    ['ann grants dog create', 'done'],
    ['dog@ann signs in with=bot@ann', 'refused SESSION_KEY_IN_USE'],
    ['ann signs in with=bot@ann', 'refused SESSION_KEY_IN_USE'],
    ['dog@ann signs in', 'done'],
  ]
  for (const [step, outcome] of steps) t.equal(scene.step(step), outcome, step)
})

t.test('one wallet that signs in and out for ever has twice the rows of its limit', async (t) => {
  const scene = new Scene({ limits })
  for (let i = 0; i < 100; i++) {
    t.equal(scene.step(`ann#${i} signs in`), 'done')
    if (i % 3 !== 0) t.equal(scene.step(`ann#${i} signs out`), 'done')
  }
  t.equal(scene.bench.state.scalars[SCALAR.SESSIONS_USED], 8)
  t.equal(scene.step('cat signs in with=ann#99'), 'refused SESSION_KEY_IN_USE')
  t.equal(scene.step('cat signs in with=ann#0'), 'done', 'which its own sign-ins of the last day pushed out')
})

t.test('nor more by keys that it had before keys were kept', async (t) => {
  const scene = new Scene({ limits, rules: 0 })
  const keys = Array.from({ length: 20 }, (_, i) => `ann#${i}`)
  for (const key of keys) for (const step of [`${key} signs in`, `${key} signs out`]) t.equal(scene.step(step), 'done')
  t.equal(scene.step('rules 3'), 'done')
  for (const key of keys) for (const step of [`${key} signs in`, `${key} signs out`]) t.equal(scene.step(step), 'done')
  t.equal(heldRows(scene.bench.state, 0, -1).count, 8, 'and the invariants hold')
  t.equal(scene.step('cat signs in with=ann#11'), 'done', 'which was pushed out')
  t.equal(scene.step('cat signs in with=ann#12'), 'refused SESSION_KEY_IN_USE')
})

t.test('rows that a wallet had beyond them are given up when the rules 3 come into force', async (t) => {
  const scene = new Scene({ limits, rules: 0 })
  const keys = Array.from({ length: 20 }, (_, i) => `ann#${i}`)
  for (const key of keys) for (const step of [`${key} signs in`, `${key} signs out`]) t.equal(scene.step(step), 'done')
  t.equal(scene.step('rules 2'), 'done')
  for (const key of keys) t.equal(scene.step(`${key} signs in`), 'done')
  t.equal(heldRows(scene.bench.state, 0, -1).count, 20, 'the rules before had no bound here')
  t.equal(scene.step('rules 3'), 'done')
  t.equal(heldRows(scene.bench.state, 0, -1).count, 8)
  t.equal(scene.step('ann#19 cancels all'), '0 cancelled, none left')
  t.equal(scene.step('cat signs in with=ann#11'), 'done')
  t.equal(scene.step('cat signs in with=ann#12'), 'refused SESSION_KEY_IN_USE')
})

t.test('a table full of kept rows keeps a tenth for wallets with few', async (t) => {
  const scene = new Scene({ limits: { ...limits, sessions: 40, accounts: 64 } })
  for (const who of ['a', 'b', 'c', 'd', 'e']) {
    for (let i = 0; i < 12; i++) {
      t.equal(scene.step(`${who}#${i} signs in`), 'done')
      scene.step(`${who}#${i} signs out`)
    }
  }
  const used = (): number => scene.bench.state.scalars[SCALAR.SESSIONS_USED]!
  t.equal(used(), 36, 'nine tenths')
  for (const who of ['g', 'h', 'i', 'j']) t.equal(scene.step(`${who} signs in`), 'done', `${who} has none yet`)
  t.equal(used(), 40)
  t.equal(scene.step('k signs in'), 'refused OVERLOADED')
  t.equal(scene.step('a#99 signs in'), 'done', 'in a row of its own')
  t.equal(scene.step(`wait ${DAY_S + 60}`), 'waited')
  t.equal(scene.step('k signs in'), 'done', 'after a day there is room')
})
