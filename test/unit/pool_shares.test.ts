/**
 * Promise: no family takes a pool from everybody else. However many come one after another and take all they may, the next one still
 * gets the share that core/state/shares.ts says, and a share never grows while a pool fills.
 */
import t from 'tap'
import { fewOf, lastTenthOf, mayTake, shareOf } from '../../core/state/shares.ts'
import { share } from '../support/naive_families.ts'

/** What family number `number` may hold of a pool after those before it took all they could, one after another. */
function sharesAfter(capacity: number, numbers: readonly number[], most = Infinity): Map<number, number> {
  const shares = new Map<number, number>()
  let free = capacity
  for (let family = 0; family <= Math.max(...numbers); family++) {
    if (numbers.includes(family)) shares.set(family, shareOf(capacity, free))
    for (let held = 0; held < most && mayTake(held, capacity, free); held++) free--
  }
  return shares
}

t.test('what greedy families leave', async (t) => {
  const said: [families: number, share: number][] = [
    [0, 131_072], [1, 91_115], [16, 10_682], [128, 750], [911, 64], [1605, 64], [6500, 4], [13_000, 1], [28_600, 0],
  ]
  const shares = sharesAfter(1_048_576, said.map(([families]) => families))
  for (const [families, expected] of said) t.equal(shares.get(families), expected, `${families} before`)
  // The attack of 128 accounts with 10,000 orders each, the most that one account may have.
  t.equal(sharesAfter(1_048_576, [128], 10_000).get(128), 1110)
})

t.test('bounds', async (t) => {
  for (const capacity of [1, 2, 9, 10, 24, 100, 4096, 65_536, 1_000_000, 1_048_576, 2 ** 24, 2 ** 27]) {
    const tenth = lastTenthOf(capacity)
    const few = fewOf(capacity)
    let before = 0
    let good = true
    for (let free = 0; free <= capacity; free += free < 5000 || free > capacity - 5000 ? 1 : Math.max(997, capacity >>> 14)) {
      const each = shareOf(capacity, free)
      good &&= each >= before && each === share(capacity, free)
      good &&= free === 0 ? each === 0 : each >= 1 && each <= Math.max(few, capacity >>> 3)
      good &&= free > tenth ? each >= few : each <= few
      before = each
    }
    t.ok(good, `capacity ${capacity}: grows with what is free, few in the last tenth, one as long as there is one, as the naive one`)
  }
})
