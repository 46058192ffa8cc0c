/**
 * Promise: a deposit is credited exactly once, to the user it was for, however often and from wherever in a reorganised chain it is told;
 * what is nobody's waits in suspense and is part of what the exchange owes. Every step is checked for every invariant.
 */
import t, { type Test } from 'tap'
import { recentRequests, hasMinted } from '../../core/programs/faucet.ts'
import { faucetOf } from '../../core/state/rows.ts'
import { readPools } from '../../core/view/pools.ts'
import { lostDeposits, chainCursors, suspenseRows, vaultTotals } from '../../core/view/vault.ts'
import { Scene, type SceneOptions } from '../support/scenario.ts'
import { vaultHash } from '../support/scenario_vault.ts'

const [BTC, USD] = [0, 1]
type Steps = readonly (readonly [string, string])[]

/** A scene in which chain 0 was read up to block 100. */
function stage(t: Test, given: readonly string[] = ['ann 1 BTC'], options: SceneOptions = {}): [
  Scene, (steps: Steps) => void, (...lines: string[]) => void,
] {
  const scene = new Scene(options)
  for (const line of given) scene.give(line)
  const does = (steps: Steps): void => {
    for (const [step, outcome] of steps) t.equal(scene.step(step), outcome, step)
  }
  does([['chain 0 at 100', 'done']])
  return [scene, does, (...lines) => { for (const line of lines) t.equal(scene.balances(line.split(' ')[0]!), line, line) }]
}
const totals = ({ bench }: Scene, asset: number): bigint[] => {
  const { issued, deposited, suspense, faucetOutstanding } = vaultTotals(bench.state, asset)
  return [issued, deposited, suspense, faucetOutstanding]
}

void t.test('credited to its account, which keeps its row; less than an atom is nobody\'s', async (t) => {
  const [scene, does, shows] = stage(t)
  does([
    ['bob signs in', 'done'], ['deposit 2 BTC of bob at 101.3 rest=7', 'credited'], ['deposit 0 BTC of bob at 101.4 rest=9', 'nothing'],
    ['deposit 0 BTC of nobody at 101.5', 'nothing'], ['deposit 5 USD of ann at 102.0', 'credited'],
  ])
  shows('bob 2 BTC', 'ann 1 BTC, 5 USD')
  t.same(totals(scene, BTC), [3_0000_0000n, 2_0000_0000n, 0n, 1_0000_0000n])
  t.same(totals(scene, USD), [5_000_000n, 5_000_000n, 0n, 0n])
  t.same(scene.vault.told, [
    'credit 2 BTC bob', 'deposit 2 BTC bob at 0.101.3, rest 7', 'deposit 0 BTC nobody at 0.101.4, rest 9',
    'deposit 0 BTC nobody at 0.101.5', 'credit 5 USD ann', 'deposit 5 USD ann at 0.102.0',
  ])
  t.match(chainCursors(scene.bench.state), [{
    chain: 0, chainId: 1, block: 100, blockTime: 1_700_000_000_000, depositBlock: 102, depositLog: 0, rewinds: 0,
    blockHash: `0x${Buffer.from('block 100').toString('hex').padEnd(64, '0')}`,
  }])
})

void t.test('told again it is repeated and nothing changes; places only rise', async (t) => {
  const [scene, does, shows] = stage(t)
  does([
    ['deposit 2 BTC of ann at 101.3', 'credited'], ['deposit 2 BTC of ann at 101.3', 'repeated'],
    ['deposit 2 BTC of ann at 101.2 tx=2', 'repeated'],
    ['deposit 2 BTC of ann at 100.9 tx=3', 'repeated'], ['deposit 2 BTC of ann at 100.99 tx=4', 'repeated'],
    ['deposit 2 BTC of ann at 101.4 tx=101.3', 'credited'], ['deposit 2 BTC of ann at 102.3 tx=101.3', 'repeated'],
    ['chain 0 at 200', 'done'], ['deposit 1 BTC of ann at 103.0', 'credited'], ['deposit 1 BTC of ann at 103.0', 'repeated'],
  ])
  shows('ann 6 BTC')
  t.equal(scene.vault.told.length, 6)
})

void t.test('chains are read each for itself', async (t) => {
  const [scene, does, shows] = stage(t)
  does([
    ['chain 1 at 5 id=7', 'done'], ['deposit 1 BTC of ann at 101.3 tx=1', 'credited'],
    ['deposit 1 BTC of ann at 6.3 tx=1 chain=1', 'credited'],
    ['deposit 1 BTC of ann at 5.9 chain=1', 'repeated'], ['deposit 1 BTC of ann at 6.0 chain=2', 'refused NOT_FOUND'],
    ['deposit 1 BTC of ann at 6.0 chain=-1', 'refused NOT_FOUND'],
  ])
  shows('ann 3 BTC')
  const cursors = chainCursors(scene.bench.state).map(({ chainId, block, depositBlock }) => [chainId, block, depositBlock])
  t.same(cursors, [[1, 100, 101], [7, 5, 6]])
})

void t.test('what can be no deposit', async (t) => {
  const [, does] = stage(t)
  for (const place of ['-1.0', '101.-1']) does([[`deposit 1 BTC of ann at ${place}`, 'refused VALIDATION_ERROR']])
  does([
    ['deposit -1 BTC of ann at 101.0', 'refused VALIDATION_ERROR'], ['deposit 1 BTC of ann at 101.0 rest=-1', 'refused VALIDATION_ERROR'],
    ['deposit 46000000001 BTC of ann at 101.0', 'refused VALIDATION_ERROR'], ['deposit 1 ? of ann at 101.0', 'refused VALIDATION_ERROR'],
    ['deposit 1 BTC of ann at 101.0', 'credited'],
  ])
})

void t.test('suspense: nobody has the wallet, or not there, or the token is unknown; until it is assigned', async (t) => {
  const [scene, does, shows] = stage(t)
  does([
    ['s: deposit 2 BTC of bob at 101.0', 'suspense 0'], ['x: deposit 3 BTC of ann at 101.1 application=1', 'suspense 1'],
    ['y: deposit 4 BTC of ann at 101.2 application=-1', 'suspense 2'], ['u: deposit 0 DOGE of ann at 101.3 rest=77', 'suspense 3'],
  ])
  t.same(totals(scene, BTC), [10_0000_0000n, 9_0000_0000n, 9_0000_0000n, 1_0000_0000n])
  t.match(suspenseRows(scene.bench.state), [
    { row: 0, asset: BTC, application: 0, amount: 2_0000_0000n, deposits: 1, counted: true, chain: 0, block: 101, logIndex: 0 },
    { row: 1, application: 1 }, { row: 2, application: -1 },
    { row: 3, asset: -1, amount: 0n, remainder: 77n, counted: false, txHash: `0x${vaultHash('101.3')}` },
  ])
  does([
    ['assign s to bob', 'done'], ['assign s to bob', 'refused NOT_FOUND'], ['assign x to bob', 'done'],
    ['assign u to ann', 'refused VALIDATION_ERROR'], ['assign z to ann', 'refused NOT_FOUND'],
  ])
  shows('bob 5 BTC', 'ann 1 BTC')
  t.same(totals(scene, BTC), [10_0000_0000n, 9_0000_0000n, 4_0000_0000n, 1_0000_0000n])
  t.same(scene.vault.told.slice(4), [
    'credit 2 BTC bob', 'deposit 2 BTC bob at 0.101.0, suspense 0', 'credit 3 BTC bob', 'deposit 3 BTC bob at 0.101.1, suspense 1',
  ])
  scene.reload()
  // The row that was freed last comes first, and is another one's now.
  does([
    ['n: deposit 1 BTC of cat at 102.0', 'suspense 1'], ['m: deposit 1 BTC of cat at 102.1', 'suspense 0'],
    ['assign x to bob', 'refused NOT_FOUND'],
  ])
  does([['assign y to ann', 'done'], ['assign n to ann', 'done'], ['assign m to ann', 'done']])
  shows('ann 7 BTC')
})

void t.test('assigned to somebody who is no more, or never was', async (t) => {
  const [scene, does] = stage(t)
  does([['s: deposit 2 BTC of bob at 101.0', 'suspense 0']])
  const { made } = scene as unknown as { made: (name: string) => { account: number; createdSequence: number } }
  const ann = made.call(scene, 'ann')
  for (const over of [{ createdSequence: ann.createdSequence + 1 }, { account: 1 }, { account: -1 }, { account: 99, createdSequence: 0 }]) {
    Object.assign(scene, { made: () => ({ ...ann, ...over }) })
    does([['assign s to ann', 'refused NOT_FOUND']])
  }
  Object.assign(scene, { made: () => ann })
  does([['assign s to ann', 'done']])
})

void t.test('a rewind: deposits behind it come again, wherever their transactions are now, and none twice', async (t) => {
  const [scene, does, shows] = stage(t)
  does([
    ['deposit 1 BTC of ann at 101.0 tx=a', 'credited'], ['deposit 2 BTC of ann at 102.5 tx=b', 'credited'],
    ['deposit 3 BTC of ann at 102.6 tx=b', 'credited'], ['deposit 4 BTC of ann at 103.0 tx=c', 'credited'], ['chain 0 at 110', 'done'],
    ['chain 0 at 101 back', 'done'],
  ])
  t.match(chainCursors(scene.bench.state), [{ block: 101, depositBlock: 101, rewinds: 1 }])
  does([
    ['deposit 1 BTC of ann at 101.0 tx=a', 'repeated'],
    // The transaction with two deposits is in another block now, and behind the other one.
    ['deposit 4 BTC of ann at 102.1 tx=c', 'repeated'], ['deposit 2 BTC of ann at 104.8 tx=b', 'repeated'],
    ['deposit 3 BTC of ann at 104.9 tx=b', 'repeated'], ['deposit 2 BTC of ann at 104.8 tx=b', 'repeated'],
    ['deposit 5 BTC of ann at 105.0 tx=d', 'credited'], ['deposit 6 BTC of ann at 105.1 tx=e', 'credited'],
  ])
  shows('ann 22 BTC')
  // What moved stands where it is now: a second rewind takes back what is behind it.
  does([
    ['chain 0 at 110', 'done'], ['chain 0 at 104 back', 'done'], ['deposit 5 BTC of ann at 106.0 tx=d', 'repeated'],
    ['deposit 6 BTC of ann at 107.3 tx=e', 'repeated'], ['deposit 7 BTC of ann at 107.4 tx=e', 'credited'],
  ])
  shows('ann 29 BTC')
})

void t.test('a rewind to where the last deposit is keeps its place', async (t) => {
  const [scene, does] = stage(t)
  does([['deposit 1 BTC of ann at 101.4', 'credited'], ['chain 0 at 110', 'done'], ['chain 0 at 105 back', 'done']])
  t.match(chainCursors(scene.bench.state), [{ block: 105, depositBlock: 101, depositLog: 4, rewinds: 1 }])
  does([['chain 0 at 105 back', 'done'], ['chain 0 at 100 back', 'done'], ['deposit 1 BTC of ann at 101.9 tx=101.4', 'repeated']])
})

void t.test('never to before a deposit that the ring of 1,024 forgot', async (t) => {
  const [scene, does] = stage(t)
  does([['chain 1 at 100', 'done'], ['deposit 0.1 BTC of ann at 105.0', 'credited'], ['deposit 0.1 BTC of ann at 106.0', 'credited']])
  for (let log = 0; log < 1022; log++) scene.step(`deposit 0.001 BTC of ann at 200.${log} chain=1`)
  does([['chain 0 at 300', 'done'], ['chain 0 at 104 back', 'done'], ['deposit 0.1 BTC of ann at 105.7 tx=105.0', 'repeated']])
  does([
    ['chain 0 at 300', 'done'], ['deposit 1 BTC of ann at 200.2000 chain=1', 'credited'],
    ['chain 0 at 104 back', 'refused CHAIN_ORDER'],
  ])
  does([['chain 0 at 105 back', 'done'], ['deposit 0.1 BTC of ann at 106.1 tx=106.0', 'repeated'], ['chain 0 at 300', 'done']])
  does([
    ['deposit 1 BTC of ann at 200.2001 chain=1', 'credited'], ['chain 0 at 105 back', 'refused CHAIN_ORDER'],
    ['chain 0 at 106 back', 'done'],
  ])
  does([
    ['chain 1 at 300', 'done'], ['chain 1 at 199 back', 'done'], ['deposit 1 BTC of ann at 201.0 chain=1 tx=new', 'credited'],
    ['chain 1 at 199 back', 'refused CHAIN_ORDER'], ['chain 1 at 300', 'done'], ['chain 1 at 200 back', 'done'],
  ])
})

void t.test('how far a chain was read only rises, and its row is its own', async (t) => {
  const [, does] = stage(t)
  does([
    ['chain 0 at 100', 'refused CHAIN_ORDER'], ['chain 0 at 99', 'refused CHAIN_ORDER'], ['chain 0 at 101', 'done'],
    ['chain 0 at 102 id=9', 'refused CHAIN_ORDER'], ['chain 0 at 102 back', 'refused CHAIN_ORDER'],
    ['chain 0 at 50 id=9 back', 'refused CHAIN_ORDER'],
    ['chain 2 at 5', 'refused CHAIN_ORDER'], ['chain 1 at 5 id=1', 'refused CHAIN_ORDER'], ['chain 1 at 5 back', 'refused CHAIN_ORDER'],
    ['chain -1 at 5', 'refused VALIDATION_ERROR'], ['chain 8 at 5', 'refused VALIDATION_ERROR'],
    ['chain 1 at 5 id=0', 'refused VALIDATION_ERROR'],
    ['chain 1 at -5', 'refused VALIDATION_ERROR'], ['chain 1 at 5.5', 'refused VALIDATION_ERROR'],
    ['chain 1 at 5 id=-1', 'refused VALIDATION_ERROR'],
  ])
  for (let chain = 1; chain < 8; chain++) does([[`chain ${chain} at 5`, 'done']])
  does([['chain 8 at 5', 'refused VALIDATION_ERROR']])
})

void t.test('more than may be issued stands in suspense, in no total, for good; withdrawals make no room', async (t) => {
  const [scene, does, shows] = stage(t, ['ann 4599999999998 USD, 1 BTC'], { limits: { withdrawals: 4096 } })
  does([
    ['s: deposit 2.000001 USD of ann at 101.0', 'suspense 0'], ['assign s to ann', 'refused OVERLOADED'],
    ['deposit 1 USD of ann at 101.1', 'credited'], ['w: ann withdraws 1000 USD', 'PENDING'], ['vault w signed', 'SIGNED'],
    ['vault w confirmed', 'CONFIRMED'], ['assign s to ann', 'refused OVERLOADED'], ['deposit 1.000001 USD of ann at 101.2', 'suspense 1'],
    ['deposit 1 USD of ann at 101.3', 'credited'], ['deposit 0.000001 USD of ann at 101.4', 'suspense 2'],
  ])
  shows('ann 1 BTC, 4599999999000 USD')
  t.same(totals(scene, USD), [4_599_999_999_000_000_000n, 2_000_000n, 0n, 4_599_999_999_998_000_000n])
})

void t.test('the faucet mints what has room, of all that was ever issued; and says later what it minted', async (t) => {
  const [scene, does, shows] = stage(t, ['ann 4599999999998 USD'], { limits: { withdrawals: 4096 } })
  does([['deposit 1 USD of ann at 101.0', 'credited'], ['ann asks the faucet', 'done'], ['ann asks the faucet', 'done']])
  shows('ann 2 BTC, 4600000000000 USD')
  does([
    ['w: ann withdraws 1000 USD', 'PENDING'], ['vault w signed', 'SIGNED'], ['vault w confirmed', 'CONFIRMED'],
    ['ann asks the faucet', 'done'],
  ])
  shows('ann 3 BTC, 4599999999000 USD')
  const { state } = scene.bench
  const minted = recentRequests(faucetOf(state, 0), 5).map((request) => [hasMinted(state, request, BTC), hasMinted(state, request, USD)])
  t.same(minted, [[true, false], [true, false], [true, true]])
  const { used } = readPools(state, scene.time).find(({ pool }) => pool === 'faucet USD')!
  t.equal(used, 4.6e18, 'a withdrawal makes no room')
})

void t.test('the last row of suspense stands for all that found no other, and for no atom', async (t) => {
  const [scene, does] = stage(t, ['ann 1 BTC'], { limits: { suspense: 4 } })
  does([
    ['a: deposit 1 BTC of bob at 101.0', 'suspense 0'], ['b: deposit 2 BTC of bob at 101.1', 'suspense 1'],
    ['c: deposit 4 BTC of bob at 101.2', 'suspense 2'], ['z: deposit 8 BTC of bob at 101.3 rest=5', 'suspense 3'],
    ['deposit 9 USD of bob at 101.4', 'suspense 3'], ['deposit 0 DOGE of bob at 101.5', 'suspense 3'],
  ])
  t.match(suspenseRows(scene.bench.state).at(-1), {
    row: 3, asset: -1, application: -1, amount: 0n, remainder: 0n, deposits: 3, counted: false, block: 101, logIndex: 3,
  })
  t.same([...totals(scene, BTC), ...totals(scene, USD)], [8_0000_0000n, 7_0000_0000n, 7_0000_0000n, 1_0000_0000n, 0n, 0n, 0n, 0n])
  does([['assign z to ann', 'refused VALIDATION_ERROR'], ['assign b to ann', 'done'], ['d: deposit 16 BTC of bob at 101.6', 'suspense 1']])
  scene.reload()
  does([
    ['deposit 32 BTC of bob at 101.7', 'suspense 3'], ['assign d to ann', 'done'], ['assign a to ann', 'done'],
    ['assign c to ann', 'done'],
  ])
  t.match(suspenseRows(scene.bench.state), [{ row: 3, deposits: 4 }])
  t.same(scene.vault.told.filter((line) => line.includes('suspense 3')), [
    'deposit 8 BTC nobody at 0.101.3, suspense 3, rest 5', 'deposit 9 USD nobody at 0.101.4, suspense 3',
    'deposit 0 ? nobody at 0.101.5, suspense 3', 'deposit 32 BTC nobody at 0.101.7, suspense 3',
  ])
})

void t.test('one that found no row is credited when it comes again and its account is there, or gets a free row', async (t) => {
  const [scene, does, shows] = stage(t, ['ann 1 BTC'], { limits: { suspense: 4 } })
  const lost = (): string[] => lostDeposits(scene.bench.state).lost.map(({ block, logIndex }) => `${block}.${logIndex}`)
  does([
    ['a: deposit 1 BTC of bob at 101.0', 'suspense 0'], ['b: deposit 2 BTC of bob at 101.1', 'suspense 1'],
    ['c: deposit 4 BTC of bob at 101.2', 'suspense 2'], ['deposit 8 BTC of cat at 101.3 rest=5', 'suspense 3'],
    ['deposit 2 BTC of cat at 101.4', 'suspense 3'], ['deposit 1 BTC of dan at 101.5', 'suspense 3'],
    ['deposit 0 DOGE of dan at 101.6', 'suspense 3'], ['deposit 8 BTC of cat at 101.3', 'repeated'],
  ])
  t.same(lost(), ['101.3', '101.4', '101.5', '101.6'])
  t.match(lostDeposits(scene.bench.state).lost[0], { chain: 0, beneficiary: `0x${Buffer.from('cat').toString('hex').padEnd(40, '0')}` })
  t.same(totals(scene, BTC), [8_0000_0000n, 7_0000_0000n, 7_0000_0000n, 1_0000_0000n])
  scene.reload()
  scene.step('cat signs in')
  does([['deposit 8 BTC of cat at 101.3 rest=5', 'credited'], ['deposit 8 BTC of cat at 101.3', 'repeated']])
  does([['deposit 8 BTC of cat at 101.3 tx=other', 'repeated'], ['deposit 2 BTC of cat at 101.5 tx=101.4', 'repeated']])
  shows('cat 8 BTC')
  t.same(lost(), ['101.6', '101.4', '101.5'])
  does([['deposit 1 BTC of dan at 101.5', 'repeated'], ['assign a to ann', 'done'], ['d: deposit 1 BTC of dan at 101.5', 'suspense 0']])
  does([['assign d to ann', 'done'], ['deposit 0 DOGE of dan at 101.6', 'suspense 0'], ['deposit 2 BTC of cat at 101.4', 'credited']])
  shows('cat 10 BTC', 'ann 3 BTC')
  t.same([lost(), suspenseRows(scene.bench.state).map(({ row }) => row)], [[], [0, 1, 2]], 'the last row ends with the last of them')
  does([['deposit 1 BTC of eve at 102.0', 'suspense 3'], ['chain 0 at 103', 'done']])
  does([['chain 0 at 101 back', 'done'], ['deposit 1 BTC of eve at 102.0', 'repeated']])
  t.same(lost(), ['102.0'])
  // Before the rules 5 nothing is known of them.
  const [older, did] = stage(t, ['ann 1 BTC'], { limits: { suspense: 4 }, rules: 4 })
  for (let at = 0; at < 5; at++) did([[`deposit 1 BTC of cat at 101.${at}`, `suspense ${Math.min(at, 3)}`]])
  older.step('cat signs in')
  did([['deposit 1 BTC of cat at 101.4', 'repeated']])
})
