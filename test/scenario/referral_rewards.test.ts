/**
 * Promise: whoever brought a user earns a part of what the house keeps of his fees, and so do the two before, to the atom and never more
 * than there is; and what was earned becomes a balance when its owner says so (specification, Referral program). Worked by hand.
 */
import t, { type Test } from 'tap'
import { Scene, type SceneOptions } from '../support/scenario.ts'

const FEES = { pair: { makerFeeBps: '-0.5', takerFeeBps: '5' } }
/** ann brings bob, bob brings cat, cat brings dan. */
const CHAIN: [string, string][] =
  [['bob signs in by=ann', 'done, brought'], ['cat signs in by=bob', 'done, brought'], ['dan signs in by=cat', 'done, brought']]

/** A scene in which dan, the last of the chain, has USD, and eve, whom nobody brought, BTC. */
function chained(t: Test, options: SceneOptions = FEES): Scene {
  const scene = new Scene(options)
  scene.give('ann 0.000001 USD')
  does(t, scene, CHAIN)
  scene.give('dan 1000 USD')
  scene.give('eve 10 BTC')
  return scene
}
const does = (t: Test, scene: Scene, steps: readonly (readonly [string, string])[]): void => {
  for (const [step, outcome] of steps) t.equal(scene.step(step), outcome, step)
}
const shows = (t: Test, scene: Scene, lines: readonly string[]): void => {
  for (const line of lines) t.equal(scene.balances(line.split(' ')[0]!), line, line)
}
const TRADE = [['eve sells 1 at 100', 'SUBMITTED'], ['dan buys 1 at 100', 'FILLED']] as const

void t.test('the taker was brought: three levels of 0.05 less 0.005', async (t) => {
  const scene = chained(t)
  does(t, scene, TRADE)
  shows(t, scene, [
    'cat 0.009 USD rewards', 'bob 0.00225 USD rewards', 'ann 0.000001 USD, 0.001125 USD rewards', 'dan 1 BTC, 899.95 USD',
    'house 0.032625 USD',
  ])
})

void t.test('the maker was brought and pays 2 bps; the taker was not', async (t) => {
  const scene = chained(t, { pair: { makerFeeBps: '2', takerFeeBps: '5' } })
  does(t, scene, [['dan buys 1 at 100', 'SUBMITTED'], ['eve sells 1 at 100', 'FILLED']])
  // 0.02 of dan; the 0.05 of eve are the house's.
  shows(t, scene, ['cat 0.004 USD rewards', 'bob 0.001 USD rewards', 'ann 0.000001 USD, 0.0005 USD rewards', 'house 0.0645 USD'])
})

void t.test('a rebate as large as the fee leaves nothing to earn', async (t) => {
  const scene = chained(t, { pair: { makerFeeBps: '-5', takerFeeBps: '5' } })
  does(t, scene, TRADE)
  shows(t, scene, ['cat nothing', 'bob nothing', 'ann 0.000001 USD', 'house nothing'])
})

void t.test('add-ons of the application are no income; its share of the revenue goes before the rewards', async (t) => {
  const scene = chained(t)
  scene.give('app 0.000001 USD')
  does(t, scene, [['program share=0.5', 'done'], ['enroll app taker=100', 'done'], ...TRADE])
  // 0.045: 0.0225 to the application, whose add-on is 1; of the other half 20 %, 5 % and 2.5 %.
  shows(t, scene, [
    'app 1.022501 USD', 'cat 0.0045 USD rewards', 'bob 0.001125 USD rewards', 'ann 0.000001 USD, 0.000562 USD rewards',
    'house 0.016313 USD',
  ])
})

void t.test('a fill before a change of the shares earns what was before, one behind it what is now', async (t) => {
  const scene = chained(t)
  does(t, scene, [...TRADE, ['shares 0 0.5 0.5', 'done'], ...TRADE, ['shares 0 0 0', 'done'], ...TRADE])
  // 0.00225 + 0.0225 and 0.001125 + 0.0225: the whole of the second fill, nothing of the third.
  shows(t, scene, ['cat 0.009 USD rewards', 'bob 0.02475 USD rewards', 'ann 0.000001 USD, 0.023625 USD rewards', 'house 0.077625 USD'])
  does(t, scene, [['shares 0.5 0.5 0.000001', 'refused VALIDATION_ERROR']])
})

void t.test('fills of a sub-account count for who brought its master', async (t) => {
  const scene = chained(t)
  does(t, scene, [['dan makes kid', 'done'], ['dan gives kid 200 USD', 'done']])
  does(t, scene, [['eve sells 1 at 100', 'SUBMITTED'], ['kid buys 1 at 100', 'FILLED']])
  shows(t, scene, ['cat 0.009 USD rewards', 'kid 1 BTC, 99.95 USD'])
})

void t.test('only the first sign-in counts, in one application, by somebody who is there', async (t) => {
  const scene = new Scene(FEES)
  does(t, scene, [
    ['ann signs in', 'done'], ['bob signs in by=ann', 'done, brought'], ['bob signs in by=ann', 'done'], ['ann signs in by=bob', 'done'],
    ['ann signs in by=ann', 'done'], ['cat signs in', 'done'], ['cat signs in by=ann', 'done'],
    ['dan signs in by=ann application=1', 'done'],
  ])
})

void t.test('a transfer makes rewards available, once for a key, never more than there are', async (t) => {
  const scene = chained(t)
  does(t, scene, [
    ...TRADE,
    ['cat sells 0.001 at 0.01', 'refused INSUFFICIENT_BALANCE'],
    ['cat collects 0.009001 USD', 'refused INSUFFICIENT_BALANCE'],
    ['cat collects 0.000001 BTC', 'refused INSUFFICIENT_BALANCE'],
    ['cat collects 0 USD', 'refused VALIDATION_ERROR'],
    ['maintenance on', 'done'], ['cat collects 0.005 USD', 'refused OPERATIONS_BLOCKED'], ['maintenance off', 'done'],
    ['cat collects 0.005 USD first', 'done'], ['cat collects 0.005 USD first', 'done, repeated'],
    ['cat collects 0.004 USD first', 'refused IDEMPOTENCY_KEY_CONFLICT'],
  ])
  shows(t, scene, ['cat 0.005 USD, 0.004 USD rewards'])
  scene.reload()
  does(t, scene, [['cat collects 0.004 USD', 'done'], ['cat collects 0.000001 USD', 'refused INSUFFICIENT_BALANCE'], ...TRADE])
  shows(t, scene, ['cat 0.009 USD, 0.009 USD rewards'])
})

void t.test('an agent collects nothing for its owner', async (t) => {
  const scene = chained(t)
  does(t, scene, TRADE)
  scene.step('cat grants bot create,cancel')
  t.equal(scene.step('bot@cat collects 0.001 USD'), 'refused AGENT_NOT_ALLOWED OPERATION')
  shows(t, scene, ['cat 0.009 USD rewards'])
})

void t.test('a ring of wallets that bring each other and trade with each other loses with every trade', async (t) => {
  const scene = chained(t, { pair: { makerFeeBps: '0', takerFeeBps: '5' } })
  scene.give('cat 10 BTC, 1 USD')
  does(t, scene, [['cat sells 1 at 100', 'SUBMITTED'], ['dan buys 1 at 100', 'FILLED']])
  does(t, scene, [['dan sells 1 at 100', 'SUBMITTED'], ['cat buys 1 at 100', 'FILLED']])
  // Two fees of 0.05; of the first cat, bob and ann have 0.01, 0.0025 and 0.00125, of the second bob and ann 0.01 and 0.0025. Of what the
  // four had together, 0.07375 are gone.
  shows(t, scene, [
    'dan 999.95 USD', 'cat 10 BTC, 0.95 USD, 0.01 USD rewards', 'bob 0.0125 USD rewards', 'ann 0.000001 USD, 0.00375 USD rewards',
    'house 0.07375 USD',
  ])
})
