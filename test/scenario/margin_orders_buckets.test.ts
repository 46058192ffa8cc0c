/**
 * Promise: an order finds its bucket: the isolated one of its pair, the cross one of the margin account, the one that it names, or one that
 * is made for it; a cross bucket shares what it has among its pairs, and remembers those it traded.
 */
import t from 'tap'
import { MarginScene, play } from '../support/margin_scene.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { BucketState, POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { get, set } from '../../core/state/rows.ts'

const given = ['ann 1000', 'bob 1000']

play(t, 'one bucket for each pair, one for all that is cross', {
  given,
  when: [
    ['ann buys 1 at 100 x10', 'SUBMITTED'],
    ['ann buys 2 at 100 x10 on B', 'SUBMITTED'],
    ['ann buys 3 at 100 x10 cross', 'SUBMITTED'],
    ['ann buys 4 at 100 x10 on B cross', 'SUBMITTED'],
    ['ann buys 5 at 99 x10', 'SUBMITTED'],
  ],
  money: [
    'ann free 850: allocated 0, pending 60, realized 0; allocated 0, pending 20, realized 0; allocated 0, pending 70, realized 0',
  ],
  resting: ['ann bids 6, asks 0, reduces 0; bids 2, asks 0, reduces 0; bids 3, asks 0, reduces 0; bids 4, asks 0, reduces 0'],
})

play(t, 'profit in one pair of a cross bucket backs another', {
  given: ['ann 100', 'bob 1000'],
  when: [
    ['bob sells 10 at 100 x10', 'SUBMITTED'],
    ['ann buys 10 at 100 x10 cross', 'FILLED'],
    ['ann buys 1 at 100 x10 cross on B', 'refused INSUFFICIENT_MARGIN 10 of 0'],
    ['mark 110', 'done'],
    ['ann buys 9 at 100 x10 cross on B', 'SUBMITTED'],
    ['ann buys 1 at 100 x10 cross on B', 'refused INSUFFICIENT_MARGIN 10 of 0'],
  ],
})

t.test('named buckets, their mismatches, and those that are not for orders', async (t) => {
  const scene = new MarginScene()
  for (const line of given) scene.give(line)
  scene.step('a: ann buys 1 at 100 x10')
  scene.step('c: ann buys 1 at 100 x10 cross')
  t.equal(scene.step('ann buys 1 at 99 x10 in=a'), 'SUBMITTED')
  t.equal(scene.step('ann buys 1 at 99 x10 in=c'), 'refused RISK_BUCKET_MISMATCH')
  t.equal(scene.step('ann buys 1 at 99 x10 in=c cross on B'), 'SUBMITTED')
  t.equal(scene.step('ann buys 1 at 99 x10 in=a on B'), 'refused RISK_BUCKET_MISMATCH')
  t.equal(scene.step('ann buys 1 at 99 x10 in=a key=k'), 'refused RISK_BUCKET_MISMATCH')
  t.equal(scene.step('bob buys 1 at 99 x10 in=a'), 'refused NOT_FOUND')
  const [bucket] = scene.buckets('ann') as [number]
  for (const state of [BucketState.LIQUIDATING, BucketState.BAD_DEBT]) {
    set(scene.state, bucket, RISK_BUCKET.STATE, state)
    // No liquidation began, so the invariants say that the bucket is in no list.
    t.throws(() => scene.step('ann buys 1 at 99 x10'), { message: /in the list of/ })
    t.equal(scene.said.at(-1)!['code'], REFUSALS.RISK_BUCKET_IN_LIQUIDATION.number)
  }
})

t.test('a cross bucket remembers the pairs that it traded, an isolated one none', async (t) => {
  const scene = new MarginScene()
  for (const line of given) scene.give(line)
  scene.step('ann buys 1 at 100 x10')
  scene.step('ann buys 1 at 100 x10 cross')
  scene.step('ann buys 1 at 100 x10 cross on B')
  const scopes = (): number[] => scene.buckets('ann').map((row) => get(scene.state, row, RISK_BUCKET.SCOPE))
  t.same(scopes(), [0, 0], 'an order is not a trade')
  scene.step('bob sells 2 at 100 x10')
  t.same(scopes(), [0, 1])
  scene.step('bob sells 1 at 100 x10 on B')
  t.same(scopes(), [0, 3])
  scene.step('ann closes 1 at 100')
  scene.step('bob buys 1 at 100 x10')
  t.same(scopes(), [0, 3], 'for ever')
  t.equal(get(scene.state, scene.positionRows('ann')[0]!, POSITION.LOTS), 1)
})
