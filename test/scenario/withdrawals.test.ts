/**
 * Promise: what a user withdraws is locked at once and is then exactly one of paid and given back; nothing is signed before its deadline is
 * in the journal, and who may withdraw how much, when, is as the terms say. Every step is checked for every invariant.
 */
import t, { type Test } from 'tap'
import { TOTAL } from '../../core/state/columns.ts'
import { getI64, totalRow } from '../../core/state/rows.ts'
import { canWithdraw, openWithdrawals, vaultTotals, withdrawalAt, withdrawalsOf } from '../../core/view/vault.ts'
import { Scene, type SceneOptions } from '../support/scenario.ts'

/** Room for withdrawals, so that shares of it do not matter. */
const ROOM = { limits: { withdrawals: 4096, withdrawalsPerAccount: 100 } }
const [BTC, USD] = [0, 1]
const HOUR = 3600
/** Until 2023-11-15T00:00:00Z, s: scenes begin at 22:13:20. */
const MIDNIGHT = 6400

function stage(t: Test, given: readonly string[] = ['ann 10 BTC, 1000 USD'], options: SceneOptions = ROOM): [
  Scene, (steps: readonly (readonly [string, string])[]) => void, (...lines: string[]) => void,
] {
  const made = new Scene(options)
  for (const line of given) made.give(line)
  const does = (steps: readonly (readonly [string, string])[]): void => {
    for (const [step, outcome] of steps) t.equal(made.step(step), outcome, step)
  }
  return [made, does, (...lines) => { for (const line of lines) t.equal(made.balances(line.split(' ')[0]!), line, line) }]
}
const issued = ({ bench }: Scene, asset: number): bigint => getI64(bench.state, totalRow(bench.state, asset), TOTAL.ISSUED)

void t.test('paid: locked at once, gone with the confirmation and not before', async (t) => {
  const [scene, does, shows] = stage(t)
  does([['w: ann withdraws 2 BTC to=cold', 'PENDING']])
  shows('ann 8 BTC, 1000 USD, 2 BTC locked')
  does([['vault w signed in=60', 'SIGNED'], ['vault w submitted tx=1 block=5', 'SUBMITTED']])
  shows('ann 8 BTC, 1000 USD, 2 BTC locked')
  t.equal(issued(scene, BTC), 10_0000_0000n)
  t.match(vaultTotals(scene.bench.state, BTC), { locked: 2_0000_0000n, withdrawn: 0n, usedToday: 2_0000_0000n })
  does([['vault w confirmed tx=1 block=5', 'CONFIRMED']])
  shows('ann 8 BTC, 1000 USD')
  t.equal(issued(scene, BTC), 8_0000_0000n)
  t.match(vaultTotals(scene.bench.state, BTC), { locked: 0n, withdrawn: 2_0000_0000n, faucetOutstanding: 10_0000_0000n })
  t.same(scene.vault.told, [
    'ann 2 BTC to cold: PENDING', 'ann 2 BTC to cold: PENDING > SIGNED until 1700000060000',
    'ann 2 BTC to cold: SIGNED > SUBMITTED until 1700000060000 by tx',
    'ann 2 BTC to cold: SUBMITTED > CONFIRMED until 1700000060000 by tx',
  ])
  does([['vault w expired', 'refused NOT_FOUND'], ['vault w confirmed', 'refused NOT_FOUND'], ['operator refuses w', 'refused NOT_FOUND']])
})

void t.test('a transaction that vanished: SIGNED again, with the deadline that it had; expired, it is the user\'s', async (t) => {
  const [scene, does, shows] = stage(t)
  does([
    ['w: ann withdraws 2 BTC', 'PENDING'], ['vault w signed in=60', 'SIGNED'], ['vault w submitted tx=1 block=5', 'SUBMITTED'],
    ['vault w signed in=9000', 'SIGNED'],
  ])
  const [view] = withdrawalsOf(scene.bench.state, 0)
  t.match(view, { deadline: 1_700_000_060_000, txHash: null, block: 0, status: 2, needsApproval: false })
  shows('ann 8 BTC, 1000 USD, 2 BTC locked')
  does([['vault w submitted tx=2', 'SUBMITTED'], ['vault w expired block=9', 'EXPIRED']])
  shows('ann 10 BTC, 1000 USD')
  t.equal(issued(scene, BTC), 10_0000_0000n)
  t.match(vaultTotals(scene.bench.state, BTC), { locked: 0n, withdrawn: 0n, usedToday: 0n })
})

void t.test('every edge there is, and no other', async (t) => {
  const to = ['signed', 'submitted', 'confirmed', 'failed', 'expired']
  const reached: Record<string, readonly string[]> = { PENDING: [], SIGNED: ['signed'], SUBMITTED: ['signed', 'submitted'] }
  const edges: Record<string, readonly string[]> = {
    PENDING: ['signed', 'failed'], SIGNED: ['submitted', 'confirmed', 'expired'], SUBMITTED: ['signed', 'confirmed', 'expired'],
  }
  for (const [from, path] of Object.entries(reached)) {
    for (const next of to) {
      const [scene, does, shows] = stage(t)
      does([['w: ann withdraws 2 BTC', 'PENDING'], ...path.map((word) => [`vault w ${word}`, word.toUpperCase()] as const)])
      const may = edges[from]!.includes(next)
      does([[`vault w ${next}`, may ? next.toUpperCase() : 'refused WITHDRAWAL_STATUS']])
      const [paid, back] = [may && next === 'confirmed', may && (next === 'failed' || next === 'expired')]
      shows(paid ? 'ann 8 BTC, 1000 USD' : back ? 'ann 10 BTC, 1000 USD' : 'ann 8 BTC, 1000 USD, 2 BTC locked')
      if (from !== 'PENDING') does([['operator refuses w', paid || back ? 'refused NOT_FOUND' : 'refused WITHDRAWAL_STATUS']])
      t.equal(openWithdrawals(scene.bench.state).length, paid || back ? 0 : 1, `${from} ${next}`)
    }
  }
})

void t.test('a deadline is a whole second that is not over', async (t) => {
  const [scene, does] = stage(t)
  does([['w: ann withdraws 2 BTC', 'PENDING']])
  scene.time += 1500
  does([
    ['vault w signed in=0.5', 'refused VALIDATION_ERROR'], ['vault w signed in=0', 'refused VALIDATION_ERROR'],
    ['vault w signed in=2.5', 'refused VALIDATION_ERROR'], ['vault w signed in=1', 'SIGNED'],
  ])
})

void t.test('another one of the same row, or none', async (t) => {
  const [scene, does] = stage(t)
  does([
    ['vault w signed', 'refused NOT_FOUND'], ['w: ann withdraws 2 BTC', 'PENDING'], ['vault w failed', 'FAILED'],
    ['again: ann withdraws 3 BTC', 'PENDING'], ['vault w signed', 'refused NOT_FOUND'], ['vault again signed', 'SIGNED'],
  ])
  const [view] = openWithdrawals(scene.bench.state)
  t.equal(view!.row, 0, 'the row of the first one')
  t.same(withdrawalAt(scene.bench.state, 0, view!.sequence), view)
  for (const [row, sequence] of [[0, 2], [1, view!.sequence], [-1, 0], [0, 0], [2 ** 29, 1]] as const) {
    t.equal(withdrawalAt(scene.bench.state, row, sequence), null, `row ${row}, ${sequence}`)
  }
})

void t.test('who may: a master, with his own wallet, outside of maintenance, while they are not stopped', async (t) => {
  const [scene, does, shows] = stage(t)
  does([
    ['ann makes kid', 'done'], ['ann gives kid 5 BTC', 'done'], ['kid withdraws 1 BTC', 'refused MASTER_ONLY'],
    ['ann grants bot create', 'done'], ['bot@ann withdraws 1 BTC', 'refused AGENT_NOT_ALLOWED OPERATION'],
    ['maintenance on', 'done'], ['ann withdraws 1 BTC', 'refused OPERATIONS_BLOCKED'],
  ])
  const [ann, kid] = [0, 1].map((account) => canWithdraw(scene.bench.state, account))
  t.same([ann, kid], [false, false], 'in maintenance')
  does([['maintenance off', 'done'], ['w: ann withdraws 1 BTC', 'PENDING']])
  t.same([0, 1].map((account) => canWithdraw(scene.bench.state, account)), [true, false])
  does([['stop operator', 'OPERATOR, was NONE'], ['ann withdraws 1 BTC', 'refused WITHDRAWALS_STOPPED']])
  t.equal(canWithdraw(scene.bench.state, 0), false)
  shows('ann 4 BTC, 1000 USD, 1 BTC locked')
})

void t.test('a stop: nothing is signed, all that is under way goes on; the higher cause stands', async (t) => {
  const [, does] = stage(t)
  does([
    ['a: ann withdraws 1 BTC', 'PENDING'], ['b: ann withdraws 1 BTC', 'PENDING'], ['c: ann withdraws 1 BTC', 'PENDING'],
    ['d: ann withdraws 1 BTC', 'PENDING'], ['vault b signed', 'SIGNED'], ['vault c signed', 'SIGNED'],
    ['stop solvency', 'SOLVENCY, was NONE'], ['vault a signed', 'refused WITHDRAWALS_STOPPED'], ['vault b submitted tx=1', 'SUBMITTED'],
    ['vault b confirmed tx=1', 'CONFIRMED'], ['vault c expired', 'EXPIRED'], ['operator refuses d', 'CANCELLED'],
    ['stop operator', 'SOLVENCY, was SOLVENCY'], ['stop none', 'NONE, was SOLVENCY'], ['stop operator', 'OPERATOR, was NONE'],
    ['stop solvency', 'SOLVENCY, was OPERATOR'], ['stop nothing', 'refused VALIDATION_ERROR'], ['stop none', 'NONE, was SOLVENCY'],
    ['vault a signed', 'SIGNED'],
  ])
})

void t.test('amounts: at least the minimum, no more than there is, an asset, a destination', async (t) => {
  const [scene, does, shows] = stage(t)
  does([
    ['ann withdraws 0 BTC', 'refused VALIDATION_ERROR'], ['ann withdraws -1 BTC', 'refused VALIDATION_ERROR'],
    ['ann withdraws 90000000000 BTC', 'refused VALIDATION_ERROR'], ['ann withdraws 1 BTC to=nobody', 'refused VALIDATION_ERROR'],
    ['ann withdraws 1 DOGE', 'refused NOT_FOUND'], ['ann withdraws 10.00000001 BTC', 'refused INSUFFICIENT_BALANCE'],
  ])
  t.match(scene.result, { hold: 10_0000_0001n, filledQuote: 10_0000_0000n, detail2: BTC, account: -1 })
  does([['a: ann sells 9 at 100', 'SUBMITTED'], ['ann withdraws 1.00000001 BTC', 'refused INSUFFICIENT_BALANCE']])
  does([['ann withdraws 0.00000001 BTC', 'PENDING'], ['ann withdraws 0.99999999 BTC', 'PENDING']])
  shows('ann 1000 USD, 10 BTC locked')
  does([['ann cancels a', 'CANCELLED USER_CANCELLED']])
  shows('ann 9 BTC, 1000 USD, 1 BTC locked')
  does([
    ['terms BTC min=0.5', 'done'], ['ann withdraws 0.49999999 BTC', 'refused WITHDRAWAL_TOO_SMALL'], ['ann withdraws 0.5 BTC', 'PENDING'],
  ])
})

void t.test('a key: the same request again is the same withdrawal, another one a conflict', async (t) => {
  const [scene, does, shows] = stage(t)
  does([['w: ann withdraws 2 BTC key=k', 'PENDING'], ['vault w signed', 'SIGNED'], ['w: ann withdraws 2 BTC key=k', 'PENDING, repeated']])
  t.match(scene.result, { detail: 0, pair: BTC, hold: 2_0000_0000n }, 'as it was when it was made')
  does([['ann withdraws 3 BTC key=k', 'refused IDEMPOTENCY_KEY_CONFLICT'], ['vault w submitted', 'SUBMITTED']])
  shows('ann 8 BTC, 1000 USD, 2 BTC locked')
  does([['ann withdraws 20 BTC key=l', 'refused INSUFFICIENT_BALANCE'], ['ann withdraws 1 BTC key=l', 'PENDING']])
})

void t.test('approval: above the threshold nothing is signed before it', async (t) => {
  const [scene, does, shows] = stage(t, ['ann 10 BTC'], { ...ROOM, withdrawals: { BTC: { approvalAbove: '1' } } })
  does([
    ['small: ann withdraws 1 BTC', 'PENDING'], ['vault small signed', 'SIGNED'],
    ['w: ann withdraws 1.00000001 BTC', 'PENDING, needs approval'],
    ['vault w signed', 'refused WITHDRAWAL_STATUS'], ['operator approves small', 'refused WITHDRAWAL_STATUS'],
    ['operator approves w', 'PENDING'], ['operator approves w', 'refused WITHDRAWAL_STATUS'], ['vault w signed', 'SIGNED'],
    ['operator refuses w', 'refused WITHDRAWAL_STATUS'], ['x: ann withdraws 2 BTC', 'PENDING, needs approval'],
    ['operator refuses x', 'CANCELLED, needs approval'], ['y: ann withdraws 3 BTC', 'PENDING, needs approval'],
    ['vault y failed', 'FAILED, needs approval'], ['operator approves y', 'refused NOT_FOUND'],
  ])
  shows('ann 7.99999999 BTC, 2.00000001 BTC locked')
  const told = ['ann 1.00000001 BTC to ann: PENDING needs approval', 'ann 1.00000001 BTC to ann: PENDING > PENDING']
  t.same(scene.vault.told.slice(2, 4), told)
  t.same(openWithdrawals(scene.bench.state).map(({ needsApproval }) => needsApproval), [false, false])
})

void t.test('the day of a user is one, for all assets: parts of his limits, rounded up', async (t) => {
  const [scene, does] = stage(t)
  does([
    ['terms BTC user=4', 'done'], ['terms USD user=300', 'done'], ['ann withdraws 4.00000001 BTC', 'refused WITHDRAWAL_LIMIT'],
    ['w: ann withdraws 1 BTC', 'PENDING'], ['ann withdraws 225.000001 USD', 'refused WITHDRAWAL_LIMIT'],
    // A third is rounded up: two of them and a third less one millionth are more than a day.
    ['u: ann withdraws 100 USD', 'PENDING'], ['ann withdraws 124.999999 USD', 'PENDING'],
    ['ann withdraws 0.000001 USD', 'refused WITHDRAWAL_LIMIT'], ['ann withdraws 0.00000001 BTC', 'refused WITHDRAWAL_LIMIT'],
  ])
  does([['vault u failed', 'FAILED'], ['ann withdraws 100 USD', 'PENDING'], ['ann withdraws 0.000001 USD', 'refused WITHDRAWAL_LIMIT']])
  scene.step(`wait ${MIDNIGHT - 1}`)
  does([['ann withdraws 0.000001 USD', 'refused WITHDRAWAL_LIMIT'], ['wait 1', 'waited'], ['ann withdraws 0.000001 USD', 'PENDING']])
  // What comes back a day later was used on its own day.
  does([['operator refuses w', 'CANCELLED'], ['ann withdraws 4 BTC', 'refused WITHDRAWAL_LIMIT'], ['ann withdraws 3.9 BTC', 'PENDING']])
})

void t.test('a limit that is none counts nothing; one that is set later counts what comes then', async (t) => {
  const [, does] = stage(t)
  does([
    ['ann withdraws 5 BTC', 'PENDING'], ['terms BTC user=2', 'done'], ['ann withdraws 2 BTC', 'PENDING'],
    ['ann withdraws 0.1 BTC', 'refused WITHDRAWAL_LIMIT'], ['terms BTC user=0', 'done'], ['ann withdraws 0.1 BTC', 'PENDING'],
  ])
})

void t.test('before the rules 5 the day of all counts what is asked for', async (t) => {
  const [scene, does] = stage(t, ['ann 10 BTC', 'bob 10 BTC'], { ...ROOM, rules: 4 })
  does([
    ['terms BTC all=5', 'done'], ['w: ann withdraws 3 BTC', 'PENDING'], ['bob withdraws 2.00000001 BTC', 'refused WITHDRAWAL_LIMIT'],
    ['v: bob withdraws 2 BTC', 'PENDING'], ['bob withdraws 0.00000001 BTC', 'refused WITHDRAWAL_LIMIT'],
    ['vault w signed', 'SIGNED'], ['vault w confirmed', 'CONFIRMED'], ['ann withdraws 0.1 BTC', 'refused WITHDRAWAL_LIMIT'],
    ['operator refuses v', 'CANCELLED'], ['ann withdraws 2 BTC', 'PENDING'], ['bob withdraws 0.1 BTC', 'refused WITHDRAWAL_LIMIT'],
  ])
  scene.step(`wait ${MIDNIGHT}`)
  does([['bob withdraws 5 BTC', 'PENDING'], ['bob withdraws 0.1 BTC', 'refused WITHDRAWAL_LIMIT']])
})

void t.test('terms: what is not given stays, of the genesis first', async (t) => {
  const genesis = { minimum: '0.5', userDailyLimit: '4', dailyLimit: '6', approvalAbove: '2' }
  const [scene, does] = stage(t, ['ann 10 BTC, 100 USD', 'bob 10 BTC'], { ...ROOM, withdrawals: { BTC: genesis } })
  const terms = (asset: number): bigint[] => {
    const { minimum, userDaily, totalDaily, approvalAbove } = vaultTotals(scene.bench.state, asset)
    return [minimum, userDaily, totalDaily, approvalAbove]
  }
  t.same(terms(BTC), [5000_0000n, 4_0000_0000n, 6_0000_0000n, 2_0000_0000n])
  t.same(terms(USD), [1n, 0n, 0n, 0n])
  does([
    ['ann withdraws 0.4 BTC', 'refused WITHDRAWAL_TOO_SMALL'], ['ann withdraws 4.1 BTC', 'refused WITHDRAWAL_LIMIT'],
    ['ann withdraws 4 BTC', 'PENDING, needs approval'], ['bob withdraws 4.1 BTC', 'refused WITHDRAWAL_LIMIT'],
    ['terms BTC min=0', 'refused VALIDATION_ERROR'], ['terms BTC min=-2', 'refused VALIDATION_ERROR'],
    ['terms BTC user=-2', 'refused VALIDATION_ERROR'], ['terms BTC all=-2', 'refused VALIDATION_ERROR'],
    ['terms BTC approval=-2', 'refused VALIDATION_ERROR'], ['terms BTC all=90000000000', 'refused VALIDATION_ERROR'],
    ['terms DOGE min=1', 'refused NOT_FOUND'],
  ])
  t.same(terms(BTC), [5000_0000n, 4_0000_0000n, 6_0000_0000n, 2_0000_0000n])
  does([['terms BTC all=0', 'done']])
  t.same(terms(BTC), [5000_0000n, 4_0000_0000n, 0n, 2_0000_0000n])
  does([['terms BTC min=0.1 user=8 approval=3', 'done'], ['terms BTC', 'done']])
  t.same(terms(BTC), [1000_0000n, 8_0000_0000n, 0n, 3_0000_0000n])
  scene.reload()
  t.same(terms(BTC), [1000_0000n, 8_0000_0000n, 0n, 3_0000_0000n], 'after a snapshot')
})

void t.test('how many: of one account, of a family, of all', async (t) => {
  const [, does] = stage(t, ['ann 10 BTC', 'bob 10 BTC'], { limits: { withdrawals: 4096, withdrawalsPerAccount: 2 } })
  does([
    ['a: ann withdraws 1 BTC', 'PENDING'], ['b: ann withdraws 1 BTC', 'PENDING'], ['ann withdraws 1 BTC', 'refused TOO_MANY_WITHDRAWALS'],
    ['vault a failed', 'FAILED'], ['ann withdraws 1 BTC', 'PENDING'], ['ann withdraws 1 BTC', 'refused TOO_MANY_WITHDRAWALS'],
  ])
  // Of 4 rows a family has one while any is free, and all have 4.
  const limits = { withdrawals: 4, withdrawalsPerAccount: 9 }
  const [, few] = stage(t, ['ann 10 BTC', 'bob 10 BTC', 'cat 1 BTC', 'dan 1 BTC', 'eve 1 BTC'], { limits })
  few([
    ['a: ann withdraws 1 BTC', 'PENDING'], ['ann withdraws 1 BTC', 'refused TOO_MANY_WITHDRAWALS'], ['bob withdraws 1 BTC', 'PENDING'],
    ['cat withdraws 1 BTC', 'PENDING'], ['dan withdraws 1 BTC', 'PENDING'], ['eve withdraws 1 BTC', 'refused TOO_MANY_WITHDRAWALS'],
    ['vault a failed', 'FAILED'], ['eve withdraws 1 BTC', 'PENDING'],
  ])
  const [, before] = stage(t, ['ann 10 BTC'], { limits, rules: 0 })
  const four = Array.from({ length: 4 }, () => ['ann withdraws 1 BTC', 'PENDING'] as const)
  before([...four, ['ann withdraws 1 BTC', 'refused TOO_MANY_WITHDRAWALS']])
})

void t.test('lists: newest first, whichever ends; a snapshot in the middle of it', async (t) => {
  const [scene, does, shows] = stage(t, ['ann 10 BTC', 'bob 10 BTC'])
  const names = 'abcde'.split('')
  for (const name of names) does([[`${name}: ann withdraws 1 BTC`, 'PENDING'], [`bob withdraws 1 BTC`, 'PENDING']])
  const rows = (): number[] => withdrawalsOf(scene.bench.state, 0).map(({ row }) => row)
  t.same(rows(), [8, 6, 4, 2, 0])
  does([['vault c failed', 'FAILED'], ['vault e failed', 'FAILED'], ['vault a failed', 'FAILED']])
  t.same(rows(), [6, 2])
  scene.reload()
  does([['f: ann withdraws 1 BTC', 'PENDING'], ['vault b signed', 'SIGNED']])
  t.same(rows(), [0, 6, 2], 'the row that was freed last')
  t.same(withdrawalsOf(scene.bench.state, 1).map(({ row }) => row), [9, 7, 5, 3, 1])
  t.equal(openWithdrawals(scene.bench.state).length, 8)
  shows('ann 7 BTC, 3 BTC locked', 'bob 5 BTC, 5 BTC locked')
})

void t.test('the order of time is that of the commands, over days', async (t) => {
  const [scene, does] = stage(t)
  does([['w: ann withdraws 2 BTC', 'PENDING'], [`wait ${25 * HOUR}`, 'waited'], ['vault w signed', 'SIGNED']])
  t.match(withdrawalsOf(scene.bench.state, 0), [{
    createdAt: 1_700_000_000_000, updatedAt: 1_700_090_000_000, destination: `0x${Buffer.from('to ann').toString('hex').padEnd(40, '0')}`,
    amount: 2_0000_0000n, account: 0, asset: BTC,
  }])
})
