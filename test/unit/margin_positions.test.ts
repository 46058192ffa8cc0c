/**
 * Positions: what a fill does to lots, cost and profit, against average cost in unbounded integers; fees, flips, funding and its rounding;
 * rows that come and go; requirements of resting orders. In all of it the sum of realised less cost changes by the value alone.
 */
import t from 'tap'
import { bucketFigures, fundingOf, requirementOf } from '../../core/margin/figures.ts'
import { changeLots, findPosition, giveUpPosition, makePosition, mayMakePosition, settleFunding } from '../../core/margin/positions.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { R } from '../../core/state/balances.ts'
import { ACCOUNT, CLOCK, SCALAR, TOTAL } from '../../core/state/columns.ts'
import { EventType, eventTypeOf } from '../../core/layout/event.ts'
import { RECORD_WORDS, type Decoded } from '../../core/layout/table.ts'
import { MarginMode, MARGIN_TOTAL, PERP, POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import {
  accountRow, get, getF64, getI64, marginTotalRow, perpRow, scalar, set, setF64, setI64, totalRow, wordOf,
} from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { bucketWith, exchange, trade } from '../support/margin_rows.ts'
import { decodeEvent } from '../support/naive_events.ts'

/** Atoms of a lot at one tick, of both perpetuals. */
const T = 100n

/** Events since they were asked for last. */
function said(state: State): Decoded[] {
  const events = Array.from({ length: state.outbox.count }, (_, record) => decodeEvent(state.outbox, record * RECORD_WORDS))
  state.outbox.count = 0
  return events
}

const figures = (state: State, bucket: number, row: number) => ({
  lots: get(state, row, POSITION.LOTS), cost: getI64(state, row, POSITION.COST), realized: getI64(state, row, POSITION.REALIZED),
  bucket: getI64(state, bucket, RISK_BUCKET.REALIZED),
})

t.test('entry price is the average, exactly; closing realises against it', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n)
  const row = trade(state, bucket, 0, 1, 50_000)
  trade(state, bucket, 0, 2, 50_001)
  t.same(figures(state, bucket, row), { lots: 3, cost: 150_002n * T, realized: 0n, bucket: 0n })
  // A third of 15,000,200 is not whole: what is cut off stays in the cost.
  trade(state, bucket, 0, -1, 50_010)
  t.same(figures(state, bucket, row), { lots: 2, cost: 10_000_134n, realized: 5_001_000n - 5_000_066n, bucket: 934n })
  trade(state, bucket, 0, -2, 50_000)
  t.same(figures(state, bucket, row), { lots: 0, cost: 0n, realized: 800n, bucket: 800n }, '15,001,000 - 15,000,200')
})

t.test('whatever the order of its fills, a position realises what it was sold for less what it was bought for', async (t) => {
  const random = createPrng(7)
  const state = exchange()
  const bucket = bucketWith(state, 0n)
  for (let round = 0; round < 300; round++) {
    setI64(state, bucket, RISK_BUCKET.REALIZED, 0n)
    let [lots, value] = [0, 0n]
    for (let fill = 0; fill < 12; fill++) {
      const change = fill === 11 ? -lots : (random.below(2) === 0 ? 1 : -1) * (1 + random.below(1000))
      if (change === 0) continue
      const price = 1 + random.below(100_000)
      const row = trade(state, bucket, 0, change, price)
      lots += change
      value -= BigInt(change) * BigInt(price) * T
      const { cost, bucket: realized } = figures(state, bucket, row)
      if (realized - cost !== value) t.equal(realized - cost, value, `round ${round}, fill ${fill}`)
      if (lots !== 0 && (cost < 0n) !== (lots < 0)) t.fail(`${lots} lots cost ${cost}`)
    }
    t.equal(getI64(state, bucket, RISK_BUCKET.REALIZED), value, 'flat: all of it is realised')
  }
  t.equal(getF64(state, perpRow(state, 0), PERP.OPEN_LOTS), 0)
  t.equal(get(state, perpRow(state, 0), PERP.POSITIONS), 0)
})

t.test('the largest position at the highest price does not wrap', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n)
  const [most, high] = [state.genesis.pairs[0]!.perp!.maxPositionLots, state.priceTicks - 1]
  const row = trade(state, bucket, 0, most - 1, high)
  trade(state, bucket, 0, 1, 1)
  t.equal(getI64(state, row, POSITION.COST), (BigInt(most - 1) * BigInt(high) + 1n) * T)
  trade(state, bucket, 0, 1 - most, high)
  trade(state, bucket, 0, -1, high)
  t.equal(getI64(state, bucket, RISK_BUCKET.REALIZED), BigInt(high - 1) * T)
})

t.test('a flip closes one position and opens another: two events, the closed one first, the fee in parts', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n)
  const row = trade(state, bucket, 0, 30, 50_000)
  state.clock[CLOCK.SEQUENCE] = 9
  state.registers[R.FILL_FEE] = 1001n
  changeLots(state, row, -100, 50_100, 0)
  const [closed, opened] = said(state)
  t.match(closed, { lots: 0, cost: 0n, realized: 30n * 100n * T, profit: 30n * 100n * T, fees: 300n, openedSequence: 1, version: 2 })
  t.match(opened, { lots: -70, cost: -70n * 50_100n * T, realized: 0n, profit: 0n, fees: 701n, openedSequence: 9, version: 3 })
  t.equal(getI64(state, bucket, RISK_BUCKET.REALIZED), 300_000n - 1001n)
  t.equal(getI64(state, totalRow(state, 0), TOTAL.FEES), 1001n)
  t.equal(state.registers[R.FILL_FEE], 0n, 'and nobody pays it again')
  t.equal(getF64(state, perpRow(state, 0), PERP.OPEN_LOTS), 0, 'it was the only long')
  t.equal(get(state, perpRow(state, 0), PERP.POSITIONS), 1)
})

t.test('a rebate is the bucket\'s', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n)
  const row = makePosition(state, bucket, 0)
  state.registers[R.FILL_FEE] = -5n
  changeLots(state, row, 1, 50_000, 0)
  t.match(said(state)[0], { fees: -5n })
  t.equal(getI64(state, bucket, RISK_BUCKET.REALIZED), 5n)
  t.equal(getI64(state, totalRow(state, 0), TOTAL.FEES), -5n)
})

t.test('funding is settled before lots change: who pays is rounded up, who gets down, the pool keeps the rest', async (t) => {
  const state = exchange()
  const [long, short] = [bucketWith(state, 0n, MarginMode.ISOLATED, 0, 1), bucketWith(state, 0n, MarginMode.ISOLATED, 0, 2)]
  const [pays, gets] = [trade(state, long, 0, 3, 50_000), trade(state, short, 0, -3, 50_000)]
  const perp = perpRow(state, 0)
  const pool = (): bigint => getI64(state, marginTotalRow(state, 0), MARGIN_TOTAL.FUNDING_POOL)
  setI64(state, perp, PERP.CUMULATIVE, 1_500_001n)
  changeLots(state, pays, -1, 50_000, 0)
  const events = said(state)
  t.same(events.map(({ kind }) => eventTypeOf(Number(kind))), [EventType.FUNDING_PAYMENT, EventType.POSITION])
  t.match(events[0], { amount: -5n, lots: 3, from: 0n, to: 1_500_001n }, '3 × 1.500001 atoms are 4.500003')
  t.match(events[1], { funding: -5n })
  t.equal(pool(), 5n)
  settleFunding(state, gets)
  t.match(said(state)[0], { amount: 4n, lots: -3 })
  t.equal(pool(), 1n)
  settleFunding(state, gets)
  t.same(said(state), [], 'once')
  t.equal(getI64(state, short, RISK_BUCKET.REALIZED), 4n)
})

t.test('differences of the cumulative funding are right when it wraps', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n)
  const perp = perpRow(state, 0)
  setI64(state, perp, PERP.CUMULATIVE, 2n ** 63n - 1n)
  const row = trade(state, bucket, 0, 7, 50_000)
  setI64(state, perp, PERP.CUMULATIVE, -(2n ** 63n) + 2_000_000n - 1n)
  fundingOf(state, row)
  t.equal(state.registers[R.FUNDING], -14n, 'two atoms a lot')
  setI64(state, perp, PERP.CUMULATIVE, 2n ** 63n - 1n - 1n)
  fundingOf(state, row)
  t.equal(state.registers[R.FUNDING], 0n, 'a millionth of an atom to get, rounded down')
  setI64(state, perp, PERP.CUMULATIVE, -(2n ** 63n))
  fundingOf(state, row)
  t.equal(state.registers[R.FUNDING], -1n, 'and one to pay, rounded up')
})

t.test('more funding than there is money stops everything, and what is just below does not', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n)
  const row = trade(state, bucket, 0, 1_000_000, 50_000)
  const perp = perpRow(state, 0)
  const most = 2n ** 62n / 1_000_000n
  for (const sign of [1n, -1n]) {
    setI64(state, perp, PERP.CUMULATIVE, sign * (most - 1n) * 1_000_000n)
    fundingOf(state, row)
    t.equal(state.registers[R.FUNDING], -sign * (most - 1n) * 1_000_000n)
    setI64(state, perp, PERP.CUMULATIVE, sign * most * 1_000_000n)
    t.throws(() => fundingOf(state, row), /I4/)
  }
})

t.test('rows: found by bucket and pair, given back without lots and orders, used again without an older version', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n, MarginMode.CROSS)
  const [btc, eth] = [trade(state, bucket, 0, 5, 50_000), trade(state, bucket, 1, -5, 30_000)]
  t.equal(findPosition(state, bucket, 0), btc)
  t.equal(findPosition(state, bucket, 1), eth)
  t.equal(findPosition(state, -1, 0), -1)
  t.equal(state.i32[wordOf(bucket, RISK_BUCKET.SCOPE)], 3, 'the scope of a cross bucket is what it traded')
  t.notOk(giveUpPosition(state, btc), 'it has lots')
  trade(state, bucket, 0, -5, 50_000)
  set(state, btc, POSITION.ORDERS, 1)
  t.notOk(giveUpPosition(state, btc), 'it has an order')
  set(state, btc, POSITION.ORDERS, 0)
  const version = getF64(state, btc, POSITION.VERSION)
  t.ok(giveUpPosition(state, btc))
  t.equal(findPosition(state, bucket, 0), -1)
  t.equal(findPosition(state, bucket, 1), eth, 'the other one is still there')
  t.equal(get(state, bucket, RISK_BUCKET.POSITIONS), 1)
  const again = makePosition(state, bucket, 0)
  t.equal(again, btc)
  t.equal(getF64(state, again, POSITION.VERSION), version)
  t.equal(scalar(state, SCALAR.POSITIONS_LIVE), 2)
})

t.test('a family has its share of the rows', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n, MarginMode.CROSS)
  let made = 0
  for (; mayMakePosition(state, 0) === 0; made++) makePosition(state, bucket, made)
  t.equal(mayMakePosition(state, 0), 426)
  t.ok(made > 1 && made < 200, `${made} of 1024`)
  set(state, accountRow(state, 1), ACCOUNT.FAMILY, 1)
  t.equal(mayMakePosition(state, 1), 0, 'others may have some')
})

t.test('REQ is the worse side: margin of what it may become, and what its orders lose at once', async (t) => {
  const state = exchange()
  const bucket = bucketWith(state, 0n)
  const row = trade(state, bucket, 0, 100, 50_000)
  const requirement = (bids: [number, number], asks: [number, number]): bigint => {
    setF64(state, row, POSITION.BID_LOTS, bids[0])
    setF64(state, row, POSITION.ASK_LOTS, asks[0])
    setI64(state, row, POSITION.BID_VALUE, BigInt(bids[0] * bids[1]) * T)
    setI64(state, row, POSITION.ASK_VALUE, BigInt(asks[0] * asks[1]) * T)
    requirementOf(state, row)
    return state.registers[R.INITIAL]!
  }
  const value = (lots: number): bigint => BigInt(lots * 50_000) * T
  t.equal(requirement([0, 0], [0, 0]), value(100) / 10n, 'at 10 times')
  t.equal(requirement([20, 49_000], [0, 0]), value(120) / 10n, 'bids below the mark lose nothing')
  t.equal(requirement([20, 50_500], [0, 0]), value(120) / 10n + 20n * 500n * T, 'those above do')
  t.equal(requirement([0, 0], [100, 50_000]), value(100) / 10n, 'asks that close need nothing')
  t.equal(requirement([0, 0], [250, 50_000]), value(150) / 10n, 'but what they open beyond')
  t.equal(requirement([0, 0], [250, 49_000]), value(150) / 10n + 250n * 1000n * T)
  t.equal(requirement([10, 50_000], [250, 50_000]), value(150) / 10n, 'the worse of both')
  bucketFigures(state, bucket)
  t.equal(state.registers[R.SUM_INITIAL], value(150) / 10n)
  t.equal(state.registers[R.SUM_NOTIONAL], value(100))
  t.equal(state.registers[R.SUM_MAINTENANCE], value(100) / 100n)
})
