/**
 * Promise: an account's wallet, and each agent, has at most so many live sessions; opening one more ends the oldest of its own and of
 * nobody else.
 */
import t from 'tap'
import { play, Scene } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD', 'cat 10 BTC, 1000 USD']

play(t, 'the oldest of the wallet ends', {
  given,
  limits: { sessionsPerAccount: 2 },
  when: [
    ['ann#2 signs in', 'done'],
    ['ann sells 1 at 110', 'SUBMITTED'],
    ['ann#3 signs in', 'done'],
    ['ann sells 1 at 110', 'refused SESSION_INVALID'],
    ['ann#2 sells 1 at 111', 'SUBMITTED'],
    ['cat sells 1 at 112', 'SUBMITTED'],
    // Refreshing makes nothing younger; signing in again with the same key does.
    ['ann#2 refreshes', 'done'],
    ['ann#3 signs in', 'done'],
    ['ann#2 sells 1 at 113', 'SUBMITTED'],
    ['ann#2 signs in', 'done'],
    ['ann#4 signs in', 'done'],
    ['ann#3 sells 1 at 114', 'refused SESSION_INVALID'],
    ['ann#2 sells 1 at 114', 'SUBMITTED'],
  ],
})

play(t, 'what ended already does not count', {
  given,
  limits: { sessionsPerAccount: 2, sessionLifetimeMs: 60_000 },
  when: [
    ['ann#2 signs in', 'done'],
    ['ann#2 signs out', 'done'],
    ['wait 30', 'waited'],
    ['ann#3 signs in', 'done'],
    ['ann sells 1 at 110', 'SUBMITTED'],
    ['wait 30', 'waited'],
    ['ann#4 signs in', 'done'],
    ['ann#3 sells 1 at 110', 'SUBMITTED'],
    ['ann#4 sells 1 at 110', 'SUBMITTED'],
  ],
})

play(t, 'agents have their own', {
  given,
  limits: { sessionsPerAccount: 1 },
  when: [
    ['ann grants bot create', 'done'],
    ['ann grants dog create', 'done'],
    ['bot@ann sells 1 at 110', 'SUBMITTED'],
    ['dog@ann sells 1 at 111', 'SUBMITTED'],
    ['ann sells 1 at 112', 'SUBMITTED'],
    ['bot@ann#2 signs in', 'done'],
    ['bot@ann sells 1 at 113', 'refused SESSION_INVALID'],
    ['dog@ann sells 1 at 113', 'SUBMITTED'],
    ['ann sells 1 at 113', 'SUBMITTED'],
  ],
})

t.test('an agent has 16 at most, however many an account may have', async (t) => {
  const scene = new Scene({ limits: { sessionsPerAccount: 60 } })
  scene.step('ann grants bot create,cancel')
  for (let number = 1; number <= 17; number++) t.equal(scene.step(`bot@ann#${number} signs in`), 'done')
  t.equal(scene.step('bot@ann#1 cancels all'), 'refused SESSION_INVALID')
  for (let number = 2; number <= 17; number++) t.equal(scene.step(`bot@ann#${number} cancels all`), '0 cancelled, none left')
})

t.test('it holds after a restart from a snapshot', async (t) => {
  const scene = new Scene({ limits: { sessionsPerAccount: 2 } })
  for (const who of ['ann', 'ann#2']) scene.step(`${who} signs in`)
  scene.reload()
  scene.step('ann#3 signs in')
  t.equal(scene.step('ann cancels all'), 'refused SESSION_INVALID')
  t.equal(scene.step('ann#2 cancels all'), '0 cancelled, none left')
})
