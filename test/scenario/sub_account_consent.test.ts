/**
 * Promise: nobody becomes a sub-account without the word of its wallet. Of those that were made before the word was asked for, nothing is
 * taken until the wallet agreed: by a sign-in whose text named the master, or by being made once more with its word.
 */
import t from 'tap'
import { readProfile, hasConsented } from '../../core/view/families.ts'
import { play, Scene } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD', 'cat 5 BTC']

play(t, 'without its word no wallet is linked, and nothing is told about it', {
  given,
  when: [
    ['ann makes bob unasked', 'refused CONSENT_REQUIRED'],
    ['ann makes cat unasked', 'refused CONSENT_REQUIRED'],
    ['bob signs in', 'done'],
    ['ann makes bob unasked', 'refused CONSENT_REQUIRED'],
    ['ann takes 1 BTC from bob', 'refused NOT_FOUND'],
    ['ann makes bob', 'refused ADDRESS_IN_USE'],
  ],
})

play(t, 'one who agreed is there once, and a repeated word changes nothing', {
  given,
  when: [
    ['ann makes bob', 'done'],
    ['ann gives bob 2 BTC', 'done'],
    ['ann takes 1 BTC from bob', 'done'],
    ['ann makes bob', 'done, repeated'],
    ['cat makes bob', 'refused ADDRESS_IN_USE'],
    ['ann takes 1 BTC from bob', 'done'],
  ],
  balances: ['ann 10 BTC, 1000 USD', 'bob nothing', 'cat 5 BTC'],
})

/** Made before the word was asked for; then it is. */
const linked: [string, string][] = [
  ['ann makes bob unasked', 'done'],
  ['ann gives bob 2 BTC', 'done'],
  ['ann takes 1 BTC from bob', 'done'],
  ['rules 1', 'done'],
  ['ann makes dan unasked', 'refused CONSENT_REQUIRED'],
  ['ann takes 1 BTC from bob', 'refused CONSENT_REQUIRED'],
  ['ann gives bob 1 BTC', 'done'],
]

play(t, 'what was linked before stays linked, and gives nothing until its wallet signs in under its master', {
  given,
  rules: 0,
  when: [
    ...linked,
    ['bob#2 signs in', 'done'],
    ['ann takes 1 BTC from bob', 'refused CONSENT_REQUIRED'],
    ['bob#3 signs in under=cat', 'done'],
    ['ann takes 1 BTC from bob', 'refused CONSENT_REQUIRED'],
    ['bob#4 signs in under=ann', 'done'],
    ['ann takes 2 BTC from bob', 'done'],
  ],
  balances: ['ann 10 BTC, 1000 USD', 'bob nothing'],
})

play(t, 'or until it is made once more with its word', {
  given,
  rules: 0,
  when: [
    ...linked,
    ['cat makes bob', 'refused ADDRESS_IN_USE'],
    ['ann takes 1 BTC from bob', 'refused CONSENT_REQUIRED'],
    ['ann makes bob', 'done, repeated'],
    ['ann takes 2 BTC from bob', 'done'],
  ],
})

play(t, 'a refused transfer says nothing of a balance', {
  given,
  rules: 0,
  when: [
    ...linked,
    ['ann takes 99 BTC from bob', 'refused CONSENT_REQUIRED'],
    ['cat takes 1 BTC from bob', 'refused NOT_FOUND'],
  ],
})

t.test('who agreed is kept in the state, and naming a master who is none means nothing', async (t) => {
  const scene = new Scene({ rules: 0 })
  scene.give('ann 1 BTC')
  const steps = ['ann makes bob unasked', 'ann makes dan', 'rules 1', 'ann#2 signs in under=bob']
  for (const step of steps) t.equal(scene.step(step), 'done', step)
  const consents = (): boolean[] => [1, 2].map((sub) => hasConsented(scene.bench.state, sub))
  t.same(consents(), [false, true])
  scene.reload()
  t.same(consents(), [false, true])
  t.equal(scene.step('bob signs in under=ann'), 'done')
  t.same(consents(), [true, true])
  t.same(readProfile(scene.bench.state, new Int32Array(1024), 0)!.subAccounts, [1, 2])
})
