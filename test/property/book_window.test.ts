/**
 * Promise: who has the best levels of a side and takes in what each turn says has the best levels again, whatever happened below them and
 * however levels entered and left the window; and a book that is contradicted throws.
 */
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { BookSide } from '../../gateway/ws/book_side.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const RUNS = 300
const TURNS = 60

t.test('the window followed is the window seen', async (t) => {
  t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/property/book_window.test.ts`)
  let moved = 0
  for (let run = 0; run < RUNS; run++) {
    const random = createPrng(SEED + run)
    const [bids, group, depth] = [random.below(2) === 0, [1, 10][random.below(2)]!, 1 + random.below(8)]
    const ticks = new Map<number, number>()
    for (let i = random.below(30); i > 0; i--) ticks.set(1 + random.below(200), 1 + random.below(9))
    const side = new BookSide(bids, group, grouped(ticks, bids, group).map((level) => ({ ...level, orders: 1 })), depth)
    const client = new Map(side.best(depth).map(({ price, lots }) => [price, lots]))
    for (let turn = 0; turn < TURNS; turn++) {
      for (let changes = random.below(6); changes > 0; changes--) {
        const tick = 1 + random.below(200)
        const lots = ticks.get(tick) ?? 0
        const change = random.below(2) === 0 ? 1 + random.below(9) : -Math.min(lots, 1 + random.below(9))
        if (change === 0) continue
        side.add(tick, change)
        if (lots + change === 0) ticks.delete(tick)
        else ticks.set(tick, lots + change)
      }
      for (const { price, lots } of side.takeChanges()) {
        if (lots === 0) client.delete(price)
        else client.set(price, lots)
      }
      const expected = grouped(ticks, bids, group).slice(0, depth)
      const seen = [...client].map(([price, lots]) => ({ price, lots })).sort((a, b) => (bids ? b.price - a.price : a.price - b.price))
      if (JSON.stringify(seen) !== JSON.stringify(expected)) t.strictSame(seen, expected, `run ${run}, turn ${turn}`)
      const best = side.best(depth)
      if (JSON.stringify(best) !== JSON.stringify(expected)) t.strictSame(best, expected, `run ${run}, turn ${turn}`)
      if (expected.length === depth) moved++
    }
  }
  t.ok(moved > RUNS, `${moved} turns with a full window`)
})

/** Levels by price, best first. */
function grouped(ticks: ReadonlyMap<number, number>, bids: boolean, group: number): { price: number; lots: number }[] {
  const levels = new Map<number, number>()
  for (const [tick, lots] of ticks) {
    const price = (bids ? Math.floor(tick / group) : Math.ceil(tick / group)) * group
    levels.set(price, (levels.get(price) ?? 0) + lots)
  }
  return [...levels].map(([price, lots]) => ({ price, lots })).sort((a, b) => (bids ? b.price - a.price : a.price - b.price))
}

t.test('a level below nothing throws', async (t) => {
  const side = new BookSide(true, 1, [{ price: 5, lots: 2, orders: 1 }])
  side.add(5, -2)
  t.throws(() => side.add(5, -1), /mirrored book/)
  t.throws(() => side.add(7, -1), /mirrored book/)
})
