/**
 * Promise: an agent signs in with its own wallet for the account that granted, and its sessions never outlast the grant: not when they
 * are opened, not when they are refreshed, not when the grant is cut short.
 */
import t from 'tap'
import { SCALAR } from '../../core/state/columns.ts'
import { play, Scene } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD', 'cat 10 BTC, 1000 USD']

play(t, 'who may sign in', {
  given,
  when: [
    ['bot@ann signs in', 'refused AGENT_NOT_ALLOWED'],
    ['ann grants bot create', 'done'],
    ['bot@ann signs in', 'done'],
    ['bot@cat signs in', 'refused AGENT_NOT_ALLOWED'],
    ['bot@eve signs in', 'refused AGENT_NOT_ALLOWED'],
    ['cat@ann signs in', 'refused AGENT_NOT_ALLOWED'],
    ['ann grants cat create', 'done'],
    ['cat@ann sells 1 at 110', 'SUBMITTED'],
    ['cat sells 1 at 110', 'SUBMITTED'],
  ],
  book: ['ann sells 1 at 110', 'cat sells 1 at 110'],
  balances: ['ann 9 BTC, 1000 USD, 1 BTC locked', 'cat 9 BTC, 1000 USD, 1 BTC locked'],
})

play(t, 'it ends with its grant, its orders stay', {
  given,
  when: [
    ['ann grants bot create expires=60', 'done'],
    ['bot@ann sells 1 at 110', 'SUBMITTED'],
    ['wait 59.999', 'waited'],
    ['bot@ann sells 1 at 111', 'SUBMITTED'],
    ['wait 0.001', 'waited'],
    ['bot@ann sells 1 at 112', 'refused SESSION_INVALID'],
    ['bot@ann signs in', 'refused AGENT_NOT_ALLOWED'],
    ['ann revokes bot', '2 ended'],
  ],
  book: [],
})

play(t, 'it signs out like any other', {
  given,
  when: [
    ['ann grants bot create', 'done'],
    ['bot@ann signs in', 'done'],
    ['bot@ann#2 signs in', 'done'],
    ['bot@ann signs out', 'done'],
    ['bot@ann sells 1 at 110', 'refused SESSION_INVALID'],
    ['bot@ann#2 sells 1 at 110', 'SUBMITTED'],
  ],
})

t.test('expiry is the smaller of lifetime and grant', async (t) => {
  const hour = 3_600_000
  const scene = new Scene({ limits: { sessionLifetimeMs: 24 * hour } })
  const lasts = (step: string): number => {
    t.equal(scene.step(step), 'done', step)
    return (Number(scene.result['expiresAt']) - scene.time) / hour
  }
  scene.step('ann grants bot create expires=36000')
  t.equal(lasts('bot@ann signs in'), 10, 'opened')
  scene.step('wait 3600')
  t.equal(lasts('bot@ann refreshes'), 9, 'refreshed')
  t.equal(scene.step('ann grants bot create expires=7200'), 'done')
  t.equal(lasts('bot@ann refreshes'), 2, 'after a shorter grant')
  t.equal(scene.step('ann grants bot create'), 'done')
  t.equal(lasts('bot@ann refreshes'), 24, 'after one without an end')
  t.equal(scene.step('ann grants bot create expires=3600'), 'done')
  scene.step('wait 3600')
  t.equal(scene.step('bot@ann sells 1 at 110'), 'refused SESSION_INVALID', 'cut without a refresh')
  t.equal(lasts('ann refreshes'), 24, 'the owner\'s own is not touched')
})

t.test('signing in again with the same key takes no other row', async (t) => {
  const scene = new Scene()
  scene.step('ann grants bot create')
  for (const time of ['first', 'second', 'third']) {
    t.equal(scene.step('bot@ann signs in'), 'done', time)
    t.equal(scene.bench.state.scalars[SCALAR.SESSIONS_USED], 2, 'the owner\'s and the agent\'s')
  }
})
