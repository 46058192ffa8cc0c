/**
 * Promise: sign-ins alone never fill the exchange. When no row of accounts is left, that of the wallet which was there longest ago and has
 * nothing goes to a new one, a day after its last session can have ended; whatever held, ordered, linked or granted anything stays for
 * good. Its key is refused to others until then, and what one command does about it is bounded (core/programs/blank_accounts.ts).
 */
import t from 'tap'
import { PROFILE, SCALAR, SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { RELEASED_MOST } from '../../core/programs/blank_accounts.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { readPools } from '../../core/view/pools.ts'
import { Scene } from '../support/scenario.ts'

const DAY_S = 86_400
const MINUTE_S = 60
const FULL = 'refused OVERLOADED'
const limits = { accounts: 4, sessions: 1000, sessionsPerAccount: 200, sessionLifetimeMs: MINUTE_S * 1000 }

/** A scene in which these have signed in, a second apart, and no row is left. */
function crowd(names: readonly string[], options: { rules?: number } = {}): Scene {
  const scene = new Scene({ limits: { ...limits, accounts: names.length }, ...options })
  for (const name of names) {
    scene.step(`${name} signs in`)
    scene.step('wait 1')
  }
  return scene
}

/** Row and making sequence that a step of a sign-in was answered with. */
const answered = ({ result }: Scene): unknown[] => [result['account'], result['originalSequence']]

t.test('the one that was there longest ago goes, when its time is over and not before', async (t) => {
  const scene = crowd(['a', 'b', 'c', 'd'])
  const old = readAccount(scene.bench.state, 0)
  t.equal(scene.step('e signs in'), FULL)
  // a signed in 4 seconds ago, for a minute; its key is kept for a day more.
  t.equal(scene.step(`wait ${DAY_S + MINUTE_S - 5}`), 'waited')
  t.equal(scene.step('e signs in'), FULL, 'a second too early')
  t.equal(scene.step('e signs in with=a'), 'refused SESSION_KEY_IN_USE', 'the key is a\'s still')
  t.equal(scene.step('wait 1'), 'waited')
  t.equal(scene.step('e signs in'), 'done')
  t.same(answered(scene), [0, 8], 'in the row of a, as a user of its own')
  const now = readAccount(scene.bench.state, 0)
  t.notSame([now.createdSequence, now.address], [old.createdSequence, old.address], 'so that ids of a name nobody any more')
  t.equal(scene.step('f signs in'), FULL, 'the next one is a second younger')
  t.equal(scene.step('a refreshes'), 'refused SESSION_INVALID')
  t.equal(scene.step('e sells 1 at 100'), 'refused INSUFFICIENT_BALANCE')
  t.equal(scene.step('wait 1'), 'waited')
  t.equal(scene.step('a signs in'), 'done', 'whoever went may come again, also with the same key')
  t.same(answered(scene), [1, 12], 'as a new user')
  scene.reload()
  t.equal(scene.step('wait 1'), 'waited')
  t.equal(scene.step('f signs in'), 'done', 'as before after a snapshot was loaded')
  t.same(answered(scene), [2, 13])
  t.equal(scene.step(`wait ${2 * DAY_S}`), 'waited')
  t.equal(scene.step('d signs in with=c'), 'done', 'the key of an account that went is free, its time was over')
})

t.test('who looks in stays longer', async (t) => {
  const scene = crowd(['a', 'b', 'c', 'd'])
  t.equal(scene.step('a refreshes'), 'done')
  t.equal(scene.step('wait 10'), 'waited')
  t.equal(scene.step('b#2 signs in'), 'done')
  t.equal(scene.step(`wait ${DAY_S + MINUTE_S + 10}`), 'waited')
  const rows = ['e', 'f', 'g', 'h'].map((name) => [scene.step(`${name} signs in`), scene.result['account']])
  t.same(rows, [['done', 2], ['done', 3], ['done', 0], ['done', 1]])
  t.equal(scene.step('i signs in'), FULL)
})

const KEPT: [what: string, steps: string[]][] = [
  ['the faucet gave something', ['a asks the faucet']],
  ['an order was accepted, even one that finds nothing', ['a buys 1 at market']],
  ['an agent was granted something', ['a grants bot create']],
  ['an agent was granted something and revoked', ['a grants bot create', 'a revokes bot']],
  ['the operator set its tier', ['tier 1 a']],
  ['the operator set its tier and took it back', ['tier 1 a', 'tier 0 a']],
]
for (const [what, steps] of KEPT) {
  t.test(`an account stays for good: ${what}`, async (t) => {
    const scene = new Scene({ limits, tiers: [['0', '0']] })
    for (const name of ['a', 'b', 'c', 'd']) scene.step(`${name} signs in`)
    for (const step of steps) t.notMatch(scene.step(step), /refused/, step)
    t.equal(scene.step(`wait ${3 * DAY_S}`), 'waited')
    const rows = ['e', 'f', 'g'].map((name) => [scene.step(`${name} signs in`), scene.result['account']])
    t.same(rows, [['done', 1], ['done', 2], ['done', 3]])
    t.equal(scene.step('h signs in'), FULL)
    t.equal(scene.step('a signs in'), 'done')
    t.same(answered(scene), [0, 1])
  })
}

t.test('masters and sub-accounts stay, and a sub-account may take a row that goes', async (t) => {
  const scene = crowd(['a', 'b', 'c', 'd'])
  t.equal(scene.step('a makes s'), FULL)
  t.equal(scene.step(`wait ${2 * DAY_S}`), 'waited')
  t.equal(scene.step('d signs in'), 'done')
  t.equal(scene.step('d makes s'), 'done')
  t.equal(scene.result['detail'], 0, 'the row of a')
  t.equal(scene.step(`wait ${2 * DAY_S}`), 'waited')
  t.equal(scene.step('e signs in'), 'done')
  t.equal(scene.step('f signs in'), 'done')
  t.equal(scene.step('g signs in'), FULL, 'd and s stay')
  t.equal(scene.step('d makes s'), 'refused SESSION_INVALID')
  t.equal(scene.step('s signs in'), 'done')
  t.same(scene.result['account'], 0)
})

t.test('one command takes so many sessions from the account that goes and no more', async (t) => {
  const scene = crowd(['a', 'b', 'c', 'd'])
  const { state } = scene.bench
  for (let number = 2; number <= RELEASED_MOST + 30; number++) t.equal(scene.step(`a#${number} signs in`), 'done')
  for (const name of ['b', 'c', 'd']) scene.step(`${name} asks the faucet`)
  t.equal(scene.step(`wait ${2 * DAY_S}`), 'waited')
  const gone = (): number =>
    Array.from({ length: state.scalars[SCALAR.SESSIONS_USED]! }, (_, row) => state.sessions[row * SESSION_WORDS + SESSION.ACCOUNT])
      .filter((account) => account === -1).length
  t.equal(scene.step('e signs in'), FULL)
  t.equal(gone(), RELEASED_MOST)
  t.not(state.profiles[PROFILE.FIRST_SESSION], 0, 'the rest is a\'s still')
  t.equal(scene.step('e signs in'), 'done')
  t.same([scene.result['account'], state.scalars[SCALAR.ACCOUNT_TURNS]], [0, 2])
})

t.test('what was there before such rows went begins as used when the rules come into force', async (t) => {
  const scene = crowd(['a', 'b', 'c', 'd'], { rules: 0 })
  t.equal(scene.step('b asks the faucet'), 'done')
  t.equal(scene.step('c signs out'), 'done')
  t.equal(scene.step(`wait ${9 * DAY_S}`), 'waited')
  t.equal(scene.step('e signs in'), FULL)
  t.equal(scene.step('rules 1'), 'done')
  t.equal(scene.step(`wait ${DAY_S}`), 'waited')
  t.equal(scene.step('e signs in'), FULL)
  t.equal(scene.step(`wait ${MINUTE_S}`), 'waited')
  const rows = ['e', 'f', 'g'].map((name) => [scene.step(`${name} signs in`), scene.result['account']])
  t.same(rows, [['done', 0], ['done', 2], ['done', 3]])
  t.equal(scene.step('h signs in'), FULL)
})

t.test('rows that may go do not count as used', async (t) => {
  const scene = crowd(['a', 'b', 'c', 'd'])
  const used = (): number => readPools(scene.bench.state, scene.time).find(({ pool }) => pool === 'accounts')!.used
  scene.step('b asks the faucet')
  t.equal(used(), 4)
  scene.step(`wait ${DAY_S + MINUTE_S}`)
  t.equal(used(), 1)
})
