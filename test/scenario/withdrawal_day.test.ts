/**
 * Promise: what is asked for takes nothing of the day of all, only what is signed does; a part of each day is kept for small and for first
 * withdrawals; and approval counts what an account asks for in a day, however it is split. Every step is checked for every invariant.
 */
import t, { type Test } from 'tap'
import { vaultTotals } from '../../core/view/vault.ts'
import { Scene, type SceneOptions } from '../support/scenario.ts'

const USD = 1
/** As the genesis that is shipped has them for USDC. */
const TERMS = { minimum: '0.1', userDailyLimit: '100000', dailyLimit: '2000000', approvalAbove: '50000' }
const ROOM: SceneOptions = {
  limits: { withdrawals: 4096, withdrawalsPerAccount: 100, accounts: 128, sessions: 256, sessionsPerAccount: 64 },
  withdrawals: { USD: TERMS },
}
const THIEVES = Array.from({ length: 40 }, (_, at) => `thief${at}`)
/** Until 2023-11-15T00:00:00Z, s: scenes begin at 22:13:20. */
const MIDNIGHT = 6400

type Does = (...steps: readonly (readonly [string, string])[]) => void

function stage(t: Test, given: readonly string[], options: SceneOptions = ROOM): [Scene, Does, () => bigint] {
  const scene = new Scene(options)
  for (const line of given) scene.give(line)
  const does: Does = (...steps) => { for (const [step, outcome] of steps) t.equal(scene.step(step), outcome, step) }
  /** Whole USD of the day of all. */
  return [scene, does, () => vaultTotals(scene.bench.state, USD).usedToday / 1_000_000n]
}

const RICH = ['hal', 'ida', 'jon', 'kim'].map((name) => `${name} 1000000 USD`)
const FORTY = THIEVES.map((name) => `${name} 50000 USD`)

void t.test('forty withdrawals of 50,000 that are never signed leave 2,000,000 of the day to others', async (t) => {
  const [, does, used] = stage(t, [...FORTY, ...RICH])
  for (const name of THIEVES) does([`${name}: ${name} withdraws 50000 USD`, 'PENDING'])
  t.equal(used(), 0n, 'nothing is signed')
  does(['w: hal withdraws 50000 USD', 'PENDING'], ['vault w signed', 'SIGNED'])
  t.equal(used(), 50_000n)
})

void t.test('forty that are signed stop at three quarters: first ones have an eighth more, small ones all of it', async (t) => {
  const [scene, does, used] = stage(t, [...FORTY, ...RICH, ...Array.from({ length: 12 }, (_, at) => `first${at} 20000 USD`)])
  for (const name of THIEVES) does([`${name}: ${name} withdraws 50000 USD`, 'PENDING'])
  for (const [at, name] of THIEVES.entries()) does([`vault ${name} signed`, at < 30 ? 'SIGNED' : 'refused WITHDRAWAL_LIMIT'])
  t.equal(used(), 1_500_000n)
  does(['hal withdraws 50000 USD', 'refused WITHDRAWAL_LIMIT'], ['hal withdraws 20000.000001 USD', 'refused WITHDRAWAL_LIMIT'])
  does(['h: hal withdraws 20000 USD', 'PENDING'], ['vault h signed', 'SIGNED'])
  does(['hal withdraws 20000 USD', 'refused WITHDRAWAL_LIMIT'], ['s: hal withdraws 2000 USD', 'PENDING'], ['vault s signed', 'SIGNED'])
  does(['hal withdraws 2000.000001 USD', 'refused WITHDRAWAL_LIMIT'])
  for (let at = 0; at < 12; at++) does([`f${at}: first${at} withdraws 20000 USD`, 'PENDING'])
  for (let at = 0; at < 12; at++) does([`vault f${at} signed`, at < 11 ? 'SIGNED' : 'refused WITHDRAWAL_LIMIT'])
  t.equal(used(), 1_742_000n)
  for (const name of ['ida', 'jon']) {
    for (let at = 0; at < 25; at++) does([`${name}${at}: ${name} withdraws 1980 USD`, 'PENDING'], [`vault ${name}${at} signed`, 'SIGNED'])
    does([`${name} withdraws 1980 USD`, 'PENDING, needs approval'])
  }
  t.equal(used(), 1_841_000n, 'small ones beyond seven eighths')
  scene.step(`wait ${MIDNIGHT}`)
  for (const name of THIEVES.slice(30)) does([`vault ${name} signed`, 'SIGNED'])
  t.equal(used(), 500_000n, 'what waited is signed on another day, and counts there')
})

void t.test('a day that is full to the atom; what expires unused on the day of its signature is given back', async (t) => {
  const [scene, does, used] = stage(t, RICH, { ...ROOM, withdrawals: { USD: { ...TERMS, userDailyLimit: '0', approvalAbove: '0' } } })
  does(['a: hal withdraws 750000 USD', 'PENDING'], ['b: ida withdraws 750000.000001 USD', 'PENDING'])
  does(['c: jon withdraws 750000 USD', 'PENDING'])
  does(['vault a signed', 'SIGNED'], ['vault b signed', 'refused WITHDRAWAL_LIMIT'], ['vault c signed', 'SIGNED'])
  does(['vault a expired', 'EXPIRED'])
  t.equal(used(), 750_000n)
  does(['vault b signed', 'refused WITHDRAWAL_LIMIT'], ['operator refuses b', 'CANCELLED'])
  t.equal(used(), 750_000n, 'what was not signed gives nothing back')
  scene.reload()
  does(['d: hal withdraws 750000 USD', 'PENDING'], ['vault d signed', 'SIGNED'])
  does(['kim withdraws 1500000 USD', 'refused INSUFFICIENT_BALANCE'], [`wait ${MIDNIGHT}`, 'waited'], ['vault c expired', 'EXPIRED'])
  t.equal(used(), 0n, 'what is given back a day later counted on its own day')
  does(['terms USD all=0', 'done'], ['e: ida withdraws 1000000 USD', 'PENDING'], ['vault e signed', 'SIGNED'])
})

void t.test('approval is by account and day: splitting does not evade it', async (t) => {
  const [scene, does] = stage(t, ['hal 1000000 USD, 10 BTC', 'ida 1000000 USD'], {
    ...ROOM, withdrawals: { USD: { ...TERMS, userDailyLimit: '0' }, BTC: { approvalAbove: '2' } },
  })
  does(['a: hal withdraws 30000 USD', 'PENDING'], ['hal withdraws 20000 USD', 'PENDING'])
  does(['b: hal withdraws 0.1 USD', 'PENDING, needs approval'], ['vault b signed', 'refused WITHDRAWAL_STATUS'])
  does(['ida withdraws 50000 USD', 'PENDING'], ['hal withdraws 0.1 BTC', 'PENDING, needs approval'])
  does(['vault a signed', 'SIGNED'], ['vault a expired', 'EXPIRED'], ['hal withdraws 25000 USD', 'PENDING'])
  scene.reload()
  does(['hal withdraws 10000 USD', 'PENDING, needs approval'])
  does([`wait ${MIDNIGHT}`, 'waited'], ['half: hal withdraws 25000 USD', 'PENDING'], ['hal withdraws 1 BTC', 'PENDING'])
  does(['hal withdraws 0.00000001 BTC', 'PENDING, needs approval'])
  does(['large: ida withdraws 60000 USD', 'PENDING, needs approval'], ['ida withdraws 1 USD', 'PENDING, needs approval'])
  does(['operator refuses large', 'CANCELLED, needs approval'], ['ida withdraws 50000 USD', 'PENDING'])
})

void t.test('what was asked for before the rules 5 is counted once, when they come in force between', async (t) => {
  const [, does, used] = stage(t, RICH, { ...ROOM, rules: 4 })
  does(['a: hal withdraws 50000 USD', 'PENDING'], ['b: ida withdraws 50000 USD', 'PENDING'])
  t.equal(used(), 100_000n)
  does(['rules 5', 'done'], ['vault a signed', 'SIGNED'], ['operator refuses b', 'CANCELLED'])
  t.equal(used(), 50_000n)
  does(['c: jon withdraws 20000 USD', 'PENDING'], ['hal withdraws 40000 USD', 'PENDING'])
  t.equal(used(), 50_000n)
  does(['vault c signed', 'SIGNED'])
  t.equal(used(), 70_000n)
})
