/**
 * Promise: nobody fills the pools of orders and receipts for others. A family has a share that shrinks as a pool fills, however many
 * sub-accounts it has; the last tenth is for those who hold few; the last row is for orders that do not rest; cancels, replacements and
 * orders without keys do not depend on it (core/state/shares.ts).
 */
import t from 'tap'
import { ACCOUNT, ACCOUNT_WORDS, SCALAR } from '../../core/state/columns.ts'
import { Scene } from '../support/scenario.ts'

const MANY = 'refused TOO_MANY_OPEN_ORDERS'

/** How many orders `who` gets to rest, sold at ticks of its own, until one is refused for `refusal`. */
function fill(scene: Scene, who: string, refusal: string, words = ''): number {
  for (let placed = 0; placed < 1000; placed++) {
    const outcome = scene.step(`${who} sells 0.001 at ${100 + placed} ${words.replace('#', `${who}-${placed}`)}`.trim())
    if (outcome === refusal) return placed
    if (outcome !== 'SUBMITTED') throw new Error(`${who}: ${outcome}`)
  }
  throw new Error('never refused')
}

t.test('orders: one after another takes less, and the next still gets one', async (t) => {
  const scene = new Scene({ limits: { orders: 64, openOrdersPerAccount: 1000 } })
  const names = Array.from({ length: 40 }, (_, index) => `t${index}`)
  for (const name of names) scene.give(`${name} 1 BTC`)
  const taken = names.map((name) => fill(scene, name, MANY))
  t.same(taken.slice(0, 6), [5, 4, 3, 2, 2, 2], 'an eighth by the fourth power of what is free')
  t.same(taken, [...taken].sort((a, b) => b - a), 'nobody gets more than somebody before')
  t.equal(taken.at(-1), 1, 'forty families, and everybody has one')

  t.equal(scene.step('t0 cancels all'), '5 cancelled, none left', 'cancels need no room')
  t.equal(scene.step('t0 sells 0.001 at 90'), 'SUBMITTED', 'and make some')
  t.equal(scene.step('x: t39 sells 0.001 at 500'), MANY)
  t.equal(scene.step('t39 sells 0.001 at 501 ioc'), 'CANCELLED IOC_REMAINDER', 'what does not rest needs no share')
})

t.test('orders: sub-accounts multiply nothing', async (t) => {
  const scene = new Scene({ limits: { orders: 64, openOrdersPerAccount: 1000 } })
  scene.give('ann 10 BTC')
  for (const sub of ['s1', 's2', 's3']) {
    t.equal(scene.step(`ann makes ${sub}`), 'done')
    t.equal(scene.step(`ann gives ${sub} 1 BTC`), 'done')
  }
  t.equal(fill(scene, 's1', MANY), 5)
  for (const each of ['ann', 's2', 's3']) t.equal(fill(scene, each, MANY), 0, `${each}: the family has its share`)
  t.equal(scene.step('s1 cancels all limit=2'), '2 cancelled, more left')
  t.equal(fill(scene, 'ann', MANY), 2, 'a row that one gives back is another\'s')
  scene.give('bob 1 BTC')
  t.equal(fill(scene, 'bob', MANY), 4, 'another family has its own')
})

t.test('orders: when nothing is left', async (t) => {
  const scene = new Scene({ limits: { orders: 16, openOrdersPerAccount: 1000 } })
  const names = Array.from({ length: 20 }, (_, index) => `t${index}`)
  for (const name of names) scene.give(`${name} 1 BTC, 1000 USD`)
  const outcomes = names.map((name) => scene.step(`a${name}: ${name} sells 0.001 at 100`))
  t.same(outcomes, names.map((_, index) => (index < 15 ? 'SUBMITTED' : 'refused OVERLOADED')), 'all but one row rest')
  t.equal(scene.step('t19 sells 0.001 at 200 ioc'), 'CANCELLED IOC_REMAINDER')
  t.equal(scene.step('t0 replaces at0 price=101'), 'SUBMITTED', 'a replacement takes the place of its original')
  t.equal(scene.step('t1 cancels at1'), 'CANCELLED USER_CANCELLED')
  t.equal(scene.step('t19 sells 0.001 at 100'), 'SUBMITTED')
})

t.test('receipts: a share of a family, given back after a day', async (t) => {
  const scene = new Scene({ limits: { receipts: 64, openOrdersPerAccount: 1000, sessionLifetimeMs: 10 * 86_400_000 } })
  const full = 'refused ORDER_SUBMISSION_CAPACITY_EXCEEDED'
  for (const name of ['ann', 'bob', 'cat']) scene.give(`${name} 10 BTC`)
  t.equal(scene.step('ann makes sub'), 'done')
  t.equal(scene.step('ann gives sub 1 BTC key=t1'), 'done', 'a transfer has a receipt too')
  t.equal(fill(scene, 'ann', full, 'key=#'), 4)
  t.equal(scene.step('sub sells 0.001 at 100 key=s'), full, 'sub-accounts multiply nothing')
  t.equal(scene.step('sub sells 0.001 at 100'), 'SUBMITTED', 'without a key nothing is kept')
  t.equal(scene.step('ann sells 0.001 at 100 key=ann-0'), 'SUBMITTED, repeated', 'what is kept is answered')
  t.equal(fill(scene, 'bob', full, 'key=#'), 4)
  t.equal(scene.step('cat sells 0.001 at 300 key=k'), 'SUBMITTED', 'a newcomer has room')
  t.equal(scene.step('wait 86400'), 'waited')
  t.equal(scene.step('sub sells 0.001 at 100 key=s'), 'SUBMITTED')
  const { accounts, scalars } = scene.bench.state
  const held = [0, 1, 2, 3].map((account) => accounts[account * ACCOUNT_WORDS + ACCOUNT.FAMILY_RECEIPTS])
  t.same([scalars[SCALAR.RECEIPTS_COUNT], held], [1, [1, 0, 0, 0]], 'and nobody is charged for what is gone')
})

/** How many of these steps are done until one is refused for `refusal`. */
function done(scene: Scene, steps: readonly string[], refusal: string): number {
  for (const [count, step] of steps.entries()) {
    const outcome = scene.step(step)
    if (outcome === refusal) return count
    if (outcome !== 'done') throw new Error(`${step}: ${outcome}`)
  }
  return steps.length
}

t.test('agents: a share of a family, and a revoked one gives its row', async (t) => {
  const scene = new Scene({ limits: { agents: 64, agentsPerAccount: 32 } })
  const full = 'refused TOO_MANY_AGENTS'
  const grants = (who: string): string[] => Array.from({ length: 32 }, (_, index) => `${who} grants bot${index} create`)
  const names = ['ann', ...Array.from({ length: 30 }, (_, index) => `t${index}`)]
  for (const name of names) scene.give(`${name} 1 BTC`)
  t.equal(scene.step('ann makes sub'), 'done')
  const taken = names.map((name) => done(scene, grants(name), full))
  t.equal(taken[0], 5, 'an eighth by the fourth power of what is free')
  t.same(taken, [...taken].sort((a, b) => b - a), 'nobody gets more than somebody before')
  t.equal(taken.at(-1), 1, 'thirty families and one, and everybody has one')
  t.equal(done(scene, grants('sub'), full), 0, 'sub-accounts multiply nothing')
  t.equal(scene.step('ann revokes bot0'), '0 ended')
  t.equal(scene.step('ann grants another create'), 'done')
  t.equal(scene.step('ann grants bot1 create,cancel'), 'done', 'who is there may be granted something else')
})

t.test('spend limits: a share of a family', async (t) => {
  const scene = new Scene({ limits: { spendLimits: 64, subAccountsPerMaster: 16 } })
  const family = (who: string): string[] => {
    scene.give(`${who} 10 BTC`)
    return Array.from({ length: 8 }, (_, index) => `${who}${index}`).flatMap((sub) => {
      scene.step(`${who} makes ${sub}`)
      return [`${who} limits ${sub} to 1 BTC`, `${who} limits ${sub} to 1 USD`]
    })
  }
  const taken = ['ann', 'bob', 'cat'].map((who) => done(scene, family(who), 'refused OVERLOADED'))
  t.same(taken, [5, 4, 3])
  t.equal(scene.step('ann drops ann0 BTC'), 'done')
  t.equal(scene.step('ann limits ann0 to 2 BTC'), 'done', 'a row stays who it was made for')
  t.equal(scene.step('ann limits ann7 to 2 BTC'), 'refused OVERLOADED')
})
