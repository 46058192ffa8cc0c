/**
 * Collateral of risk buckets: what goes in and what is given back, with the acceptance that is not monotone; buckets that are made, reused
 * and given up; every refusal moves nothing.
 */
import t from 'tap'
import { withdrawable } from '../../core/margin/collateral.ts'
import { R } from '../../core/state/balances.ts'
import { POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { get, getF64, positionRow } from '../../core/state/rows.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import { MarginAccountScene, playAccounts, type MarginAccountScenario } from '../support/margin_account_scene.ts'

/** Ann and bob each have 900 in their parents and 100 in a bucket, a and b. */
const BOTH: MarginAccountScenario['when'] = [
  ['ann deposits 1000', 'done'], ['bob deposits 1000', 'done'], ['ann keys a BTC', 'new'], ['bob keys b BTC', 'new'],
  ['ann adds 100 to a', 'done'], ['bob adds 100 to b', 'done'],
]
const GIVEN = ['ann 1000', 'bob 1000']

playAccounts(t, 'a bucket takes what is free and no more', {
  given: GIVEN,
  when: [
    ...BOTH,
    ['ann adds 900.000001 to a', 'refused INSUFFICIENT_COLLATERAL 900.000001 of 900'],
    ['ann adds 0 to a', 'refused VALIDATION_ERROR'],
    ['ann adds 900 to a', 'done'],
    ['ann withdraws 1', 'refused INSUFFICIENT_COLLATERAL 1 of 0'],
    ['ann adds 1 to b', 'refused NOT_FOUND'],
    ['ann adds 1 to nothing', 'refused NOT_FOUND'],
    ['ann opens s1', 'done'],
    ['ann adds 1 to a in=s1', 'refused RISK_BUCKET_MISMATCH'],
    ['ann removes 1000.1 from a', 'refused INSUFFICIENT_COLLATERAL 1000.1 of 1000'],
    ['ann removes 300 from a', 'done'],
  ],
  money: ['ann 0: 1000 deposited, 700 earmarked'],
  buckets: ['a ACTIVE 700 + 0'],
})

playAccounts(t, 'a flat bucket with a loss of 0.3 gives back up to 99.7, and all of its 100, and nothing between', {
  given: GIVEN,
  when: [
    ...BOTH,
    ['a trades 100 at 50000 with b', 'done'],
    ['b trades 100 at 49970 with a', 'done'],
    ['ann removes 99.999999 from a', 'refused INSUFFICIENT_COLLATERAL 99.999999 of 99.7'],
    ['ann removes 99.700001 from a', 'refused INSUFFICIENT_COLLATERAL 99.700001 of 99.7'],
    ['ann removes 100.000001 from a', 'refused INSUFFICIENT_COLLATERAL 100.000001 of 99.7'],
    ['ann removes 99.7 from a', 'done'],
    ['ann removes 0.000001 from a', 'refused INSUFFICIENT_COLLATERAL 0.000001 of 0'],
    ['ann removes 0.3 from a', 'done'],
    ['bob removes 100 from b', 'done'],
  ],
  money: ['ann 0: 999.7 deposited, 0 earmarked', 'bob 0: 1000.3 deposited, 0 earmarked'],
  buckets: ['a CLOSED 0 + 0', 'b CLOSED 0 + 0'],
})

playAccounts(t, 'a flat bucket that lost more than half is not given back in part beyond what is left, but as a whole', {
  given: GIVEN,
  when: [
    ...BOTH,
    ['a trades 100 at 50000 with b', 'done'],
    ['b trades 100 at 42000 with a', 'done'],
    ['ann removes 20.000001 from a', 'refused INSUFFICIENT_COLLATERAL 20.000001 of 20'],
    ['ann removes 100 from a', 'done'],
  ],
  money: ['ann 0: 920 deposited, 0 earmarked'],
})

playAccounts(t, 'a flat bucket that lost more than it has gives back nothing, not even all of it', {
  given: GIVEN,
  when: [
    ...BOTH,
    ['a trades 100 at 50000 with b', 'done'],
    ['b trades 100 at 39999 with a', 'done'],
    ['ann removes 100 from a', 'refused INSUFFICIENT_COLLATERAL 100 of 0'],
    ['ann removes 0.000001 from a', 'refused INSUFFICIENT_COLLATERAL 0.000001 of 0'],
    ['ann adds 0.01 to a', 'done'],
    ['ann removes 100.01 from a', 'done'],
  ],
  money: ['ann 0: 899.99 deposited, 0 earmarked'],
})

playAccounts(t, 'gains of an open position never count, losses do, and its initial margin stays', {
  given: GIVEN,
  when: [
    ...BOTH,
    // 0.01 BTC for 500 at 10 times: 50 of initial margin.
    ['a trades 100 at 50000 with b', 'done'],
    ['ann removes 50.000001 from a', 'refused INSUFFICIENT_COLLATERAL 50.000001 of 50'],
    ['mark 51000', 'done'],
    // 510 need 51; the gain of 10 is not given back.
    ['ann removes 49.000001 from a', 'refused INSUFFICIENT_COLLATERAL 49.000001 of 49'],
    ['bob removes 39.000001 from b', 'refused INSUFFICIENT_COLLATERAL 39.000001 of 39'],
    ['mark 49000', 'done'],
    ['ann removes 41.000001 from a', 'refused INSUFFICIENT_COLLATERAL 41.000001 of 41'],
    ['ann removes 41 from a', 'done'],
    ['ann removes 0.000001 from a', 'refused INSUFFICIENT_COLLATERAL 0.000001 of 0'],
    ['bob removes 51 from b', 'done'],
  ],
  buckets: ['a ACTIVE 59 + 0', 'b ACTIVE 49 + 0'],
})

playAccounts(t, 'realised gains never count either, realised losses do', {
  given: GIVEN,
  when: [
    ...BOTH,
    ['a trades 200 at 50000 with b', 'done'],
    ['b trades 100 at 50500 with a', 'done'],
    // Ann won 5 and bob lost 5; each still has 0.01 BTC, which needs 50; 5 more are open on either side at 50,500.
    ['mark 50000', 'done'],
    ['ann removes 50.000001 from a', 'refused INSUFFICIENT_COLLATERAL 50.000001 of 50'],
    ['bob removes 45.000001 from b', 'refused INSUFFICIENT_COLLATERAL 45.000001 of 45'],
  ],
  buckets: ['a ACTIVE 100 + 5', 'b ACTIVE 100 + -5'],
})

playAccounts(t, 'nothing is given back at a price that is stale; collateral may be added', {
  given: GIVEN,
  when: [
    ...BOTH,
    ['a trades 100 at 50000 with b', 'done'],
    ['stale', 'done'],
    ['ann removes 1 from a', 'refused PRICE_STALE'],
    ['ann adds 1 to a', 'done'],
    ['fresh', 'done'],
    ['ann removes 51 from a', 'done'],
  ],
  buckets: ['a ACTIVE 50 + 0'],
})

playAccounts(t, 'nothing moves into or out of a bucket in liquidation or in bad debt', {
  given: GIVEN,
  when: [
    ...BOTH,
    ['state a LIQUIDATING', 'done'],
    ['ann adds 1 to a', 'refused RISK_BUCKET_IN_LIQUIDATION'],
    ['ann removes 1 from a', 'refused RISK_BUCKET_IN_LIQUIDATION'],
    ['state a BAD_DEBT', 'done'],
    ['ann adds 1 to a', 'refused RISK_BUCKET_IN_LIQUIDATION'],
    ['ann removes 100 from a', 'refused RISK_BUCKET_IN_LIQUIDATION'],
    ['state a ACTIVE', 'done'],
    ['ann removes 100 from a', 'done'],
  ],
})

playAccounts(t, 'a bucket is found again by its key, closed ones too, and each (mode, pair, key, margin account) has its own', {
  given: ['ann 1000'],
  when: [
    ['ann deposits 500', 'done'],
    ['ann opens s1', 'done'],
    ['ann keys a BTC as=k', 'new'],
    ['ann keys a BTC as=k', 'known'],
    ['ann keys b ETH as=k', 'new'],
    ['ann keys c cross as=k', 'new'],
    ['ann keys c cross as=k', 'known'],
    ['ann keys d cross as=l', 'new'],
    ['ann keys e BTC as=k in=s1', 'new'],
    ['ann keys f BTC as=k in=nobody', 'refused NOT_FOUND'],
    ['ann adds 5 to a', 'done'],
    ['ann removes 5 from a', 'done'],
    ['ann keys a BTC as=k', 'known'],
    ['ann adds 7 to a', 'done'],
  ],
  buckets: ['a ACTIVE 7 + 0'],
})

playAccounts(t, 'when there is no row for another bucket, the one that was closed longest ago becomes it, then the oldest empty one', {
  given: ['ann 1000'],
  limits: { bucketsPerMarginAccount: 3 },
  when: [
    ['ann deposits 500', 'done'],
    ['ann keys a', 'new'], ['ann keys b', 'new'], ['ann keys c', 'new'],
    ['ann adds 1 to a', 'done'], ['ann adds 1 to b', 'done'], ['ann adds 1 to c', 'done'],
    ['ann keys d', 'refused TOO_MANY_RISK_BUCKETS'],
    ['ann removes 1 from c', 'done'],
    ['wait 1', 'done'],
    ['ann removes 1 from b', 'done'],
    ['ann keys d', 'new'],
    ['ann adds 1 to c', 'refused NOT_FOUND'],
    ['ann keys b', 'known'],
    ['ann keys e', 'new'],
    ['ann adds 1 to b', 'refused NOT_FOUND'],
    ['ann keys f', 'refused TOO_MANY_RISK_BUCKETS'],
    ['wait 60000', 'done'],
    ['ann keys f', 'new'],
    ['ann adds 1 to d', 'refused NOT_FOUND'],
    ['ann adds 1 to e', 'done'], ['ann adds 1 to f', 'done'],
    ['ann keys g', 'refused TOO_MANY_RISK_BUCKETS'],
  ],
})

playAccounts(t, 'buckets are shared out among families', {
  given: ['ann 1000', 'bob 1000'],
  limits: { riskBuckets: 32 },
  when: [
    ['ann deposits 500', 'done'],
    ['ann keys a', 'new'], ['ann keys b', 'new'], ['ann keys c', 'new'],
    ['ann adds 1 to a', 'done'], ['ann adds 1 to b', 'done'], ['ann adds 1 to c', 'done'],
    ['ann keys d', 'refused TOO_MANY_RISK_BUCKETS'],
    ['bob keys d', 'new'],
  ],
})

t.test('withdrawable is the largest amount that is accepted', async (t) => {
  const scene = new MarginAccountScene()
  for (const line of GIVEN) scene.give(line)
  for (const [step, outcome] of BOTH) t.equal(scene.step(step), outcome)
  const told = (name: string): string => {
    withdrawable(scene.state, scene.bucket(name))
    return formatDecimal(scene.state.registers[R.AMOUNT]!, 6)
  }
  t.equal(told('a'), '100')
  scene.step('a trades 100 at 50000 with b')
  t.equal(told('a'), '50')
  scene.step('mark 45000')
  t.equal(told('a'), '5', '45 of margin and 50 of losses')
  scene.step('mark 40000')
  t.equal(told('a'), '0')
  t.equal(told('b'), '60', '40 of margin')
  scene.step('b trades 100 at 45000 with a')
  t.equal(told('a'), '100', 'flat with a loss of 50: all of it, which settles the loss')
  t.equal(scene.step('ann removes 50.000001 from a'), 'refused INSUFFICIENT_COLLATERAL 50.000001 of 50')
  t.equal(scene.step('ann removes 100 from a'), 'done')
  t.equal(told('a'), '0')
  scene.step('state b LIQUIDATING')
  t.equal(told('b'), '0')
})

t.test('events say what moved', async (t) => {
  const scene = new MarginAccountScene()
  for (const line of GIVEN) scene.give(line)
  scene.step('ann deposits 300')
  t.same(scene.kinds, ['CREDIT', 'COLLATERAL', 'RESULT'])
  t.match(scene.said[0], { amount: -300_000_000n, source: 3, available: 700_000_000n })
  t.match(scene.said[1], { amount: 300_000_000n, deposited: 300_000_000n, earmarked: 0n, reason: 0, bucket: -1 })
  t.match(scene.said[2], { filledQuote: 300_000_000n, detail2: -1 }, 'COLLATERAL_ANSWER: deposited, no bucket')
  scene.step('ann opens s1')
  scene.step('ann gives s1 100')
  t.same(scene.kinds, ['COLLATERAL', 'COLLATERAL', 'RESULT'])
  t.match(scene.said[0], { amount: -100_000_000n, deposited: 200_000_000n, accountKind: 0 })
  t.match(scene.said[1], { amount: 100_000_000n, deposited: 100_000_000n, accountKind: 1 })
  for (const [step, outcome] of BOTH.slice(1, 4)) t.equal(scene.step(step), outcome)
  scene.step('ann adds 60 to a')
  t.same(scene.kinds, ['COLLATERAL', 'RESULT'])
  t.match(scene.said[0], { amount: 60_000_000n, allocated: 60_000_000n, earmarked: 60_000_000n, reason: 3, state: 1 })
  scene.step('bob adds 60 to b')
  scene.step('a trades 100 at 50000 with b')
  const position = positionRow(scene.state, get(scene.state, scene.bucket('a'), RISK_BUCKET.FIRST_POSITION) - 1)
  const version = getF64(scene.state, position, POSITION.VERSION)
  scene.step('ann removes 10 from a')
  t.same(scene.kinds, ['COLLATERAL', 'POSITION', 'RESULT'], 'an isolated position has another margin')
  t.match(scene.said[1], { allocated: 50_000_000n, reason: 5, profit: 0n, version: version + 1, lots: 100 })
  scene.step('b trades 100 at 50100 with a')
  scene.step('ann removes 50 from a')
  t.same(scene.kinds, ['COLLATERAL', 'RESULT'])
  t.match(scene.said[0], { amount: -51_000_000n, allocated: 0n, realized: 0n, reason: 5, state: 4, deposited: 201_000_000n })
})
