/**
 * Guards of margin trading: the closed form is the first tick at which a bucket fails, found by bisection; of a bucket of several
 * positions no prices fail it before one of its guards; funding never makes a guard late; what is due is named, and nothing else.
 */
import t from 'tap'
import { bucketHealth } from '../../core/margin/figures.ts'
import { ALONG_MAX, armBucket, buildGuards, guardOf, nextGuard, takeGuard } from '../../core/margin/guards.ts'
import { findPosition, makePosition } from '../../core/margin/positions.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { BucketState, GUARD_DRIFT, MarginMode, PERP, POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bucketAt, getI64, guardDriftRow, perpRow, set, setF64, setI64 } from '../../core/state/rows.ts'
import { R } from '../../core/state/balances.ts'
import type { State } from '../../core/state/state.ts'
import { bucketWith, exchange, NOW, setMark } from '../support/margin_rows.ts'

const MILLION = 1_000_000n
const ceiling = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

/** A position as the formulas of the specification see it. */
interface Held { pair: number; lots: number; cost: bigint; funding: bigint }

const maintenance = (state: State, pair: number, notional: bigint): bigint => {
  const tier = state.genesis.pairs[pair]!.perp!.tiers.findLast(({ lowerBound }) => lowerBound <= notional)!
  return ceiling(notional * BigInt(tier.maintenancePpm), MILLION) - tier.maintenanceDeduction
}

/** Equity less maintenance margin at these marks. */
function slackAt(state: State, collateral: bigint, held: readonly Held[], marks: readonly number[]): bigint {
  return held.reduce((slack, { pair, lots, cost, funding }) => {
    const value = BigInt(lots) * BigInt(marks[pair]!) * state.genesis.pairs[pair]!.tickLotAtoms
    return slack + value - cost + funding - maintenance(state, pair, value < 0n ? -value : value)
  }, collateral)
}

/** The first tick at which an isolated bucket fails: of a long the highest, of a short the lowest; 0: none. By bisection. */
function failsAt(state: State, collateral: bigint, held: Held): number {
  const fails = (mark: number): boolean => slackAt(state, collateral, [held], [mark, mark]) < 0n
  const last = state.priceTicks - 1
  let [healthy, failing] = held.lots > 0 ? [last + 1, 0] : [0, last + 1]
  while (Math.abs(healthy - failing) > 1) {
    const middle = (healthy + failing) >> 1
    if (fails(middle)) failing = middle
    else healthy = middle
  }
  return failing > last ? 0 : failing
}

/** Puts the position into the bucket as it is. */
function hold(state: State, bucket: number, { pair, lots, cost }: Held): number {
  const known = findPosition(state, bucket, pair)
  const row = known < 0 ? makePosition(state, bucket, pair) : known
  set(state, row, POSITION.LOTS, lots)
  setI64(state, row, POSITION.COST, cost)
  setI64(state, row, POSITION.FUNDED_TO, getI64(state, perpRow(state, pair), PERP.CUMULATIVE))
  return row
}

/** What a load leaves of guards. */
function forget(state: State): void {
  for (const column of [state.guards, state.guardKeys, state.guardDrifts]) column.fill(0)
}

const random = createPrng(20_261)
const signed = (size: number): number => (random.below(2) === 0 ? size : -size)
/** Lots of any order of magnitude up to the largest position, so that every tier is met. */
const someLots = (): number => signed(1 + Math.floor(10_000_000 ** random.unit()))

function someHeld(state: State, pair: number, mark: number): Held {
  const lots = someLots()
  // Bought within 30 % of the mark, with a remainder.
  const price = Math.max(1, Math.floor(mark * (0.7 + 0.6 * random.unit())))
  const cost = BigInt(lots) * BigInt(price) * state.genesis.pairs[pair]!.tickLotAtoms + BigInt(signed(random.below(100)))
  return { pair, lots, cost, funding: 0n }
}

const notionalOf = (state: State, { pair, lots }: Held, mark: number): number =>
  Math.abs(lots) * mark * Number(state.genesis.pairs[pair]!.tickLotAtoms)

t.test('of an isolated bucket the guard is the first tick at which equity < maintenance margin', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n)
  const kinds = new Map<string, number>()
  for (let round = 0; round < 20_000; round++) {
    const mark = 1 + random.below(state.priceTicks - 1)
    setMark(state, 0, mark)
    const held = someHeld(state, 0, mark)
    const allocated = BigInt(Math.floor(notionalOf(state, held, mark) * random.unit() * (round % 3 === 0 ? 1.5 : 0.2)))
    const realized = BigInt(signed(Math.floor(Number(allocated) * 0.5 * random.unit())))
    setI64(state, bucket, RISK_BUCKET.ALLOCATED, allocated)
    setI64(state, bucket, RISK_BUCKET.REALIZED, realized)
    const row = hold(state, bucket, held)
    armBucket(state, bucket)
    const expected = failsAt(state, allocated + realized, held)
    const found = guardOf(state, row)
    if (found !== expected) t.equal(found, expected, `${held.lots} lots at ${mark}, ${allocated} + ${realized}, cost ${held.cost}`)
    const due = expected !== 0 && (held.lots > 0 ? mark <= expected : mark >= expected)
    if ((nextGuard(state, 0) >= 0) !== due) t.fail(`${held.lots} lots at ${mark}, guard ${expected}: due ${due}`)
    const kind = `${held.lots > 0 ? 'long' : 'short'} ${expected === 0 ? 'never' : due ? 'now' : 'later'}`
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    set(state, row, POSITION.LOTS, 0)
    armBucket(state, bucket)
  }
  for (const kind of ['long never', 'long now', 'long later', 'short never', 'short now', 'short later']) {
    t.ok((kinds.get(kind) ?? 0) > 100, `${kind}: ${kinds.get(kind)}`)
  }
})

t.test('no prices fail a bucket of several positions before one of its guards is reached', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n, MarginMode.CROSS)
  let [reached, failed] = [0, 0]
  for (let round = 0; round < 4000; round++) {
    const marks = [10_000 + random.below(80_000), 10_000 + random.below(80_000)]
    marks.forEach((mark, pair) => setMark(state, pair, mark))
    const held = [someHeld(state, 0, marks[0]!), someHeld(state, 1, marks[1]!)]
    const collateral = BigInt(Math.floor((notionalOf(state, held[0]!, marks[0]!) + notionalOf(state, held[1]!, marks[1]!)) * random.unit()))
    setI64(state, bucket, RISK_BUCKET.ALLOCATED, collateral)
    const rows = held.map((one) => hold(state, bucket, one))
    armBucket(state, bucket)
    for (let move = 0; move < 8; move++) {
      const moved = marks.map((mark) => Math.max(1, Math.min(state.priceTicks - 1, Math.floor(mark * (0.8 + 0.4 * random.unit())))))
      moved.forEach((mark, pair) => setMark(state, pair, mark))
      const fails = slackAt(state, collateral, held, moved) < 0n
      const named = nextGuard(state, 0) >= 0 || nextGuard(state, 1) >= 0
      if (fails && !named) t.fail(`round ${round}: fails at ${moved.join()} and no guard is reached`)
      if (named) reached++
      if (fails) failed++
    }
    for (const row of rows) set(state, row, POSITION.LOTS, 0)
    armBucket(state, bucket)
  }
  t.ok(failed > 500 && reached < 32_000, `${failed} failed, ${reached} of 32000 were looked at`)
})

t.test('funding brings guards of who pays near, never late', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n)
  const perp = perpRow(state, 0)
  let [failed, late] = [0, 0]
  for (let round = 0; round < 3000; round++) {
    const mark = 20_000 + random.below(60_000)
    setMark(state, 0, mark)
    const held = someHeld(state, 0, mark)
    const collateral = BigInt(Math.floor(notionalOf(state, held, mark) * (0.2 + 0.3 * random.unit())))
    setI64(state, bucket, RISK_BUCKET.ALLOCATED, collateral)
    const row = hold(state, bucket, held)
    armBucket(state, bucket)
    const from = getI64(state, perp, PERP.CUMULATIVE)
    for (let interval = 0; interval < 5; interval++) {
      // Up to 1 % of the value of a lot, either way.
      const paid = BigInt(signed(random.below(mark))) * 1_000_000n + BigInt(random.below(1_000_000))
      setI64(state, perp, PERP.CUMULATIVE, getI64(state, perp, PERP.CUMULATIVE) + paid)
      const moved = Math.max(1, Math.floor(mark * (0.7 + 0.6 * random.unit())))
      setMark(state, 0, moved)
      const owed = -BigInt(held.lots) * (getI64(state, perp, PERP.CUMULATIVE) - from)
      const funding = owed >= 0n ? owed / MILLION : -ceiling(-owed, MILLION)
      const fails = slackAt(state, collateral, [{ ...held, funding }], [moved, moved]) < 0n
      if (fails && nextGuard(state, 0) < 0) late++
      if (fails) failed++
    }
    set(state, row, POSITION.LOTS, 0)
    armBucket(state, bucket)
  }
  t.equal(late, 0)
  t.ok(failed > 300, `${failed} failed`)
})

t.test('the heaps name every bucket whose guard is reached, and nobody else', async (t) => {
  const state = exchange()
  const buckets: { bucket: number; guard: number; lots: number }[] = []
  for (let account = 0; account < 16; account++) {
    const bucket = bucketWith(state, 0n, MarginMode.ISOLATED, 0, account + 1)
    const lots = account % 2 === 0 ? 100 : -100
    // A long that fails at 40,000 and below, a short at 60,000 and above, and so on, 1,000 ticks apart.
    const row = hold(state, bucket, { pair: 0, lots, cost: BigInt(lots) * 50_000n * 100n, funding: 0n })
    setI64(state, bucket, RISK_BUCKET.ALLOCATED, BigInt((10 + account) * 1000 * 100 * 100))
    armBucket(state, bucket)
    buckets.push({ bucket, guard: guardOf(state, row), lots })
  }
  const named = (): number[] => {
    const found: number[] = []
    for (let next = takeGuard(state, 0); next >= 0; next = takeGuard(state, 0)) found.push(next)
    return found.sort((a, b) => a - b)
  }
  const due = (mark: number): number[] =>
    buckets.filter(({ guard, lots }) => (lots > 0 ? mark <= guard : mark >= guard)).map(({ bucket }) => bucketAt(state, bucket))
  for (const mark of [50_000, 44_000, 36_500, 33_000, 30_000, 62_000, 66_123, 70_000, 50_000]) {
    setMark(state, 0, mark)
    const expected = due(mark).sort((a, b) => a - b)
    t.equal(nextGuard(state, 0) >= 0, expected.length > 0)
    t.same(named(), expected, `at ${mark}`)
    t.same(named(), [], 'each of them once')
    for (const { bucket } of buckets) armBucket(state, bucket)
    t.same(named(), expected, 'and again when it was armed')
    forget(state)
    t.same(named(), [], 'after a load there are none')
    buildGuards(state, Infinity)
  }
  t.test('not while the price is stale', async (t) => {
    setMark(state, 0, 30_000)
    t.ok(nextGuard(state, 0) >= 0)
    setF64(state, perpRow(state, 0), PERP.INDEX_AT, NOW - 30_001)
    t.equal(nextGuard(state, 0), -1)
    setF64(state, perpRow(state, 0), PERP.INDEX_AT, NOW - 30_000)
    t.ok(nextGuard(state, 0) >= 0)
  })
  t.test('not of a bucket in liquidation', async (t) => {
    for (const { bucket } of buckets) {
      set(state, bucket, RISK_BUCKET.STATE, BucketState.LIQUIDATING)
      armBucket(state, bucket)
    }
    t.equal(nextGuard(state, 0), -1)
    t.equal(state.guards[0], 0)
  })
})

t.test('funding brings a guard into the grid: a bucket that fails at no price is looked at when it has paid too much', async (t) => {
  for (const side of [1, -1]) {
    const state = exchange()
    // Everything is paid for: a long down to a price of 0, a short up to the end of the grid and the maintenance margin there.
    const bucket = bucketWith(state, side > 0 ? 100n * 50_000n * 100n : 100n * 100n * BigInt(state.priceTicks) * 2n)
    const row = hold(state, bucket, { pair: 0, lots: side * 100, cost: BigInt(side) * 100n * 50_000n * 100n, funding: 0n })
    armBucket(state, bucket)
    t.same([guardOf(state, row), nextGuard(state, 0)], [0, -1], 'no price fails it')
    const perp = perpRow(state, 0)
    let paid = 0
    for (bucketHealth(state, bucket); state.registers[R.EQUITY]! >= state.registers[R.SUM_MAINTENANCE]!; bucketHealth(state, bucket)) {
      t.equal(state.registers[R.FUNDING]! <= 0n, true)
      if (nextGuard(state, 0) >= 0) {
        takeGuard(state, 0)
        armBucket(state, bucket)
      }
      // A hundredth of the value of a lot.
      setI64(state, perp, PERP.CUMULATIVE, getI64(state, perp, PERP.CUMULATIVE) + BigInt(side) * 50_000n * 1_000_000n)
      if (++paid > 1000) throw new Error('it never fails')
    }
    t.ok(nextGuard(state, 0) >= 0, `found after ${paid} payments`)
  }
})

t.test('a drift of any size moves nothing else', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n)
  const perp = perpRow(state, 0)
  // More than all rates of a century may add up to, and near the most that a key may be.
  for (const drift of [0, 2 ** 31, 2 ** 40, 2 ** 53 - 2 ** 31]) {
    for (const field of [GUARD_DRIFT.LONGS, GUARD_DRIFT.SHORTS]) setF64(state, guardDriftRow(state, 1), field, drift)
    for (const lots of [100, -100]) {
      setMark(state, 0, 50_000)
      const held = { pair: 0, lots, cost: BigInt(lots) * 50_000n * 100n, funding: 0n }
      const row = hold(state, bucket, held)
      setI64(state, bucket, RISK_BUCKET.ALLOCATED, 100_000_000n)
      armBucket(state, bucket)
      const guard = guardOf(state, row)
      t.equal(guard, failsAt(state, 100_000_000n, held), `${lots} at ${drift}`)
      setMark(state, 0, guard + Math.sign(lots))
      t.equal(nextGuard(state, 0), -1)
      // What is paid brings it one tick nearer and more.
      setI64(state, perp, PERP.CUMULATIVE, getI64(state, perp, PERP.CUMULATIVE) + BigInt(Math.sign(lots)) * 100_000_000n)
      t.equal(nextGuard(state, 0), bucketAt(state, bucket))
      set(state, row, POSITION.LOTS, 0)
      armBucket(state, bucket)
    }
  }
})

t.test('after a load guards are built in parts', async (t) => {
  // Of one account: the share of a family is a ninth of what there is.
  const state = exchange([50_000, 30_000], { riskBuckets: 65_536, positions: 65_536, bucketsPerMarginAccount: 256 })
  const MANY = 240
  const buckets = Array.from({ length: MANY }, (_, key) => {
    const bucket = bucketWith(state, 0n, MarginMode.ISOLATED, 0, key + 1)
    hold(state, bucket, { pair: 0, lots: 100, cost: 100n * 50_000n * 100n, funding: 0n })
    setI64(state, bucket, RISK_BUCKET.ALLOCATED, BigInt(100_000_000 + key * 1000))
    return bucket
  })
  setMark(state, 0, 1)
  const armed = (): number => state.guards[0]!
  t.test('a turn looks at so many rows', async (t) => {
    forget(state)
    let parts = 0
    for (let done = false; !done; parts++) {
      const before = armed()
      done = buildGuards(state, 64)
      // A bucket and its position each.
      t.ok(armed() - before <= 32, `${armed() - before} in one part`)
    }
    t.equal(armed(), MANY)
    t.equal(parts, Math.ceil(MANY / 32), 'each of them once')
    t.ok(buildGuards(state, 64), 'and then no more')
  })
  t.test('a command that arms a bucket takes a few with it', async (t) => {
    forget(state)
    t.equal(nextGuard(state, 0), -1)
    let commands = 0
    while (armed() < MANY) {
      const before = armed()
      armBucket(state, buckets[MANY - 1]!)
      if (armed() - before > ALONG_MAX + 1) t.fail(`${armed() - before} with one command`)
      commands++
    }
    t.ok(commands <= MANY / ALONG_MAX, `${commands} commands`)
  })
  t.test('funding while they are being built makes none late', async (t) => {
    forget(state)
    setMark(state, 0, 50_000)
    buildGuards(state, MANY)
    t.equal(nextGuard(state, 0), -1)
    // Who was armed before it and who is armed after it pay the same: all of them fail.
    const perp = perpRow(state, 0)
    setI64(state, perp, PERP.CUMULATIVE, getI64(state, perp, PERP.CUMULATIVE) + 1_000_000_000_000n)
    buildGuards(state, Infinity)
    let named = 0
    while (takeGuard(state, 0) >= 0) named++
    t.equal(named, MANY)
  })
})
