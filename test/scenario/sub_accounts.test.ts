/**
 * Promise: a master makes sub-accounts for wallets that have no account yet; they sign in with their own wallets, have their own balances,
 * and may do nothing of what only a master may.
 */
import t from 'tap'
import { readProfile } from '../../core/view/families.ts'
import { play, Scene } from '../support/scenario.ts'

play(t, 'a sub-account trades for itself', {
  given: ['ann 10 BTC', 'cat 500 USD'],
  when: [
    ['ann makes bob', 'done'],
    ['ann gives bob 2 BTC', 'done'],
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['cat buys 1 at 100', 'FILLED'],
  ],
  trades: ['cat buys 1 at 100 from bob'],
  balances: ['ann 8 BTC', 'bob 1 BTC, 100 USD', 'cat 1 BTC, 400 USD'],
})

play(t, 'a family trades with itself when each pays for itself', {
  given: ['ann 10 BTC, 1000 USD'],
  when: [
    ['ann makes bob', 'done'],
    ['ann gives bob 2 BTC', 'done'],
    ['bob sells 1 at 100', 'SUBMITTED'],
    ['ann buys 1 at 100', 'FILLED'],
  ],
  trades: ['ann buys 1 at 100 from bob'],
})

play(t, 'a wallet that has an account becomes nobody\'s sub-account', {
  given: ['ann 1 BTC', 'cat 1 BTC'],
  when: [
    ['ann makes cat', 'refused ADDRESS_IN_USE'],
    ['ann makes ann', 'refused ADDRESS_IN_USE'],
    ['ann makes bob', 'done'],
    ['ann makes bob', 'done, repeated'],
    ['cat makes bob', 'refused ADDRESS_IN_USE'],
  ],
})

play(t, 'a sub-account is no master', {
  given: ['ann 10 BTC'],
  when: [
    ['ann makes bob', 'done'],
    ['bob makes dan', 'refused MASTER_ONLY'],
    ['bob gives ann 1 BTC', 'refused MASTER_ONLY'],
    ['bob limits bob to 5 BTC', 'refused MASTER_ONLY'],
    ['bob changes bob BTC max=5', 'refused MASTER_ONLY'],
  ],
})

t.test('so many and no more', async (t) => {
  const scene = new Scene({ limits: { accounts: 4, subAccountsPerMaster: 2 } })
  const outcomes: [step: string, outcome: string][] = [
    ['ann makes b1', 'done'],
    ['ann makes b2', 'done'],
    ['ann makes b3', 'refused TOO_MANY_SUB_ACCOUNTS'],
    // The last account is cat's own.
    ['cat makes b3', 'refused OVERLOADED'],
  ]
  for (const [step, outcome] of outcomes) t.equal(scene.step(step), outcome, step)
})

t.test('what is known of a family', async (t) => {
  const scene = new Scene()
  scene.give('ann 1 BTC')
  for (const step of ['ann makes bob name=desk-1', 'ann makes cat']) t.equal(scene.step(step), 'done', step)
  const read = (account: number) => readProfile(scene.bench.state, new Int32Array(1024), account)
  const check = (): void => {
    t.same(read(0), { account: 0, master: -1, username: '', subAccounts: [1, 2] }, 'the master, sub-accounts oldest first')
    t.same(read(1), { account: 1, master: 0, username: 'desk-1', subAccounts: [] }, 'a sub-account with a name')
    t.same(read(2), { account: 2, master: 0, username: '', subAccounts: [] }, 'a sub-account without')
  }
  check()
  scene.reload()
  check()
})
