/**
 * Promise: no product and no sum of margin trading leaves 64 bits. At the bounds that the genesis is held to, every figure is that of
 * integers without a width; one lot beyond, the genesis is refused and says what to lower.
 *
 * One lot at the highest price is worth 2^36 atoms here, which is the most there may be, so a position of 2^24 - 1 lots is the largest,
 * and two of them and one lot are the most of all perpetuals together: 2^61 - 2^36 atoms.
 */
import t from 'tap'
import { bankruptcyTick } from '../../core/liquidation/bankruptcy.ts'
import { movedMark, lotsToReduce } from '../../core/liquidation/reduce.ts'
import { partlyWithdrawable } from '../../core/margin/collateral.ts'
import { bucketFigures, bucketHealth, fundingOf } from '../../core/margin/figures.ts'
import { payableBy } from '../../core/margin/fund.ts'
import { R } from '../../core/state/balances.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { MarginMode, PERP, POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { MAX_ISSUED } from '../../core/state/pair_terms.ts'
import { LOT_VALUE_MOST, NOTIONAL_MOST, NOTIONAL_SUM_MOST, type RiskTier } from '../../core/state/perp_terms.ts'
import { getI64, perpRow, set, setF64, setI64 } from '../../core/state/rows.ts'
import { createState, type State } from '../../core/state/state.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import { bucketWith, NOW, setMark, trade } from '../support/margin_rows.ts'
import { genesisText, pairSpec, perpPair } from '../support/variants.ts'

const TICKS = 2 ** 17
/** Atoms of a lot at one tick. */
const T = LOT_VALUE_MOST / BigInt(TICKS)
const LARGEST = 2 ** 24 - 1
const HIGH = TICKS - 1
const MILLION = 1_000_000n
const size = (lots: number): string => formatDecimal(BigInt(lots) * T, 6)

/** A genesis with a perpetual for each of these largest positions, in lots, and a spot pair. */
function document(most: readonly number[], ticks = TICKS): string {
  const terms = { tickSize: '1', lotSize: size(1), minOrderSize: size(1), maxOrderSize: size(1), makerFeeBps: '1', takerFeeBps: '5' }
  const bases = most.map((_, index) => `B${index}`)
  const perpetuals = most.map((lots, index) => perpPair(`B${index}/USD-PERP`, { maxPositionSize: size(lots) }, terms))
  return genesisText({
    limits: { priceTicks: ticks },
    dailyLimit: 5,
    assets: [['USD', 6, '1'], ...bases.map((base): [string, number, string] => [base, 6, '1'])],
    pairs: [...perpetuals, pairSpec('B0/USD', terms)],
  })
}

const BOUND = [LARGEST, LARGEST, 1]

t.test('the largest position: at the bound and one lot beyond', async (t) => {
  t.equal(parseGenesis(document([LARGEST])).pairs[0]!.perp!.maxPositionLots, LARGEST)
  t.ok(BigInt(LARGEST) * LOT_VALUE_MOST < NOTIONAL_MOST && BigInt(LARGEST + 1) * LOT_VALUE_MOST === NOTIONAL_MOST)
  t.throws(() => parseGenesis(document([LARGEST + 1])), { message: /B0\/USD-PERP: maxPositionSize at the highest price is beyond 2\^60/ })
})

t.test('the largest positions of all perpetuals: at the bound and one lot beyond', async (t) => {
  t.equal(parseGenesis(document(BOUND)).limits.perps, 3)
  const beyond = [LARGEST, LARGEST, 2]
  t.equal(beyond.reduce((sum, lots) => sum + BigInt(lots) * LOT_VALUE_MOST, 0n), NOTIONAL_SUM_MOST)
  const message = `genesis: the largest positions of all perpetuals are worth ${2n ** 61n} atoms at the highest price, and must be below ` +
    '2^61: lower their maxPositionSize, or limits.priceTicks'
  t.throws(() => parseGenesis(document(beyond)), { message })
  t.throws(() => parseGenesis(document(Array.from({ length: 8 }, () => LARGEST))), { message: /lower their maxPositionSize/ })
  t.equal(parseGenesis(document(beyond, TICKS / 2)).limits.perps, 3, 'lower prices: what the message says helps')
})

t.test('one lot at the highest price: at the bound and beyond', async (t) => {
  t.throws(() => parseGenesis(document([1], TICKS * 2)), { message: /one lot at the highest price is worth/ })
})

/** An exchange at the bound, without prices. */
function exchange(): State {
  const state = createState(parseGenesis(document(BOUND)))
  state.clock[CLOCK.TIME] = NOW
  state.clock[CLOCK.SEQUENCE] = 1
  return state
}

interface Held {
  lots: number
  cost: bigint
  mark: number
  bids: number
  bidValue: bigint
  asks: number
  askValue: bigint
}

const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const ceiling = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

/** Leverage 1: the most margin that there is. */
function marginOf(notional: bigint, tiers: readonly RiskTier[]): { initial: bigint; maintenance: bigint } {
  const tier = tiers.findLast(({ lowerBound }) => lowerBound <= notional)!
  return {
    initial: most(ceiling(notional * BigInt(tier.initialPpm), MILLION) - tier.initialDeduction, notional),
    maintenance: ceiling(notional * BigInt(tier.maintenancePpm), MILLION) - tier.maintenanceDeduction,
  }
}

/** The figures of a bucket, in integers without a width. */
function expected(held: readonly Held[], collateral: bigint, tiers: readonly RiskTier[]): bigint[] {
  let [equity, requirement, maintenance, unrealized, notional, loss] = [collateral, 0n, 0n, 0n, 0n, 0n]
  for (const { lots, cost, mark, bids, bidValue, asks, askValue } of held) {
    const value = (count: number): bigint => BigInt(count) * BigInt(mark) * T
    const profit = value(lots) - cost
    const longSide = marginOf(value(Math.max(0, lots + bids)), tiers).initial + most(0n, bidValue - value(bids))
    const shortSide = marginOf(value(Math.max(0, asks - lots)), tiers).initial + most(0n, value(asks) - askValue)
    equity += profit
    requirement += most(longSide, shortSide)
    maintenance += marginOf(value(Math.abs(lots)), tiers).maintenance
    unrealized += profit
    notional += value(Math.abs(lots))
    loss += most(0n, -profit)
  }
  return [equity, requirement, maintenance, unrealized, notional, loss]
}

/** A cross bucket at the bound: the largest position of each perpetual, `side` 1 or -1, and what admission lets rest beside it. */
function filled(state: State, { side, entry, mark, resting }: { side: number; entry: number; mark: number; resting: boolean }) {
  const bucket = bucketWith(state, MAX_ISSUED, MarginMode.CROSS)
  const held = BOUND.map((largest, pair): Held => {
    setMark(state, pair, mark)
    const position = trade(state, bucket, pair, side * largest, entry)
    set(state, position, POSITION.LEVERAGE, 100)
    // On the other side the position and as much again; bids at the highest price, asks at the lowest.
    const [bids, asks] = resting ? [side < 0 ? 2 * largest : 0, side > 0 ? 2 * largest : 0] : [0, 0]
    const [bidValue, askValue] = [BigInt(bids) * BigInt(HIGH) * T, BigInt(asks) * T]
    setF64(state, position, POSITION.BID_LOTS, bids)
    setF64(state, position, POSITION.ASK_LOTS, asks)
    setI64(state, position, POSITION.BID_VALUE, bidValue)
    setI64(state, position, POSITION.ASK_VALUE, askValue)
    const cost = BigInt(side * largest) * BigInt(entry) * T
    t.equal(getI64(state, position, POSITION.COST), cost, 'the cost')
    return { lots: side * largest, cost, mark, bids, bidValue, asks, askValue }
  })
  return { bucket, held }
}

for (const side of [1, -1]) {
  for (const [entry, mark] of [[1, HIGH], [HIGH, 1], [HIGH, HIGH], [HIGH, HIGH / 2 | 0]] as const) {
    for (const resting of [false, true]) {
      const name = `${side > 0 ? 'longs' : 'shorts'} of ${entry} at ${mark}${resting ? ' with orders' : ''}`
      t.test(`every figure of a cross bucket at the bound: ${name}`, async (t) => {
        const state = exchange()
        const { registers } = state
        const { tiers } = state.genesis.pairs[0]!.perp!
        const { bucket, held } = filled(state, { side, entry, mark, resting })
        const figures = expected(held, MAX_ISSUED, tiers)
        const [equity, requirement, maintenance, , , loss] = figures as [bigint, bigint, bigint, bigint, bigint, bigint]
        for (const figure of figures) t.ok(figure < 2n ** 63n && figure > -(2n ** 63n), 'it fits')
        t.ok(requirement + loss < 3n * NOTIONAL_SUM_MOST, 'as the head of figures.ts says')
        bucketFigures(state, bucket)
        const said = [R.EQUITY, R.SUM_INITIAL, R.SUM_MAINTENANCE, R.SUM_UNREALIZED, R.SUM_NOTIONAL, R.SUM_LOSS]
        t.same(said.map((register) => registers[register]), figures)
        t.equal(bucketHealth(state, bucket), BOUND.length)
        t.same([registers[R.EQUITY], registers[R.SUM_MAINTENANCE]], [equity, maintenance])
        partlyWithdrawable(state, bucket)
        t.equal(registers[R.AMOUNT], most(0n, MAX_ISSUED - requirement - loss), 'what may be taken out')
        payableBy(state, bucket)
        const payable = equity - requirement
        t.equal(registers[R.AMOUNT], most(0n, payable < MAX_ISSUED ? payable : MAX_ISSUED), 'what a fund could pay')
      })
    }
  }
}

t.test('prices and lots of liquidation at the bound', async (t) => {
  const state = exchange()
  const { bucket } = filled(state, { side: 1, entry: HIGH, mark: HIGH, resting: false })
  const position = trade(state, bucket, 0, -1, HIGH)
  trade(state, bucket, 0, 1, HIGH)
  const worth = BigInt(LARGEST) * T
  for (const equity of [MAX_ISSUED, 5n * worth, 5n * worth + 1n, 0n, -1n, -MAX_ISSUED]) {
    state.registers[R.EQUITY] = equity
    const floor = equity >= 0n ? equity / worth : -ceiling(-equity, worth)
    const tick = BigInt(HIGH) - floor
    const grid = tick < 1n ? 1n : tick > BigInt(HIGH) ? BigInt(HIGH) : tick
    t.equal(bankruptcyTick(state, position), Number(grid), `equity ${equity}`)
  }
  const { lowerBound } = state.genesis.pairs[0]!.perp!.tiers.at(-1)!
  const left = Number((lowerBound - 1n) / (BigInt(HIGH) * T))
  t.equal(lotsToReduce(state, position), Math.max(LARGEST - left, Math.ceil(LARGEST / 5)))
  t.equal(movedMark(state, 0, true, 500_000), HIGH - Number((BigInt(HIGH) * 500_000n) / MILLION))
})

t.test('funding of 2,000 intervals at the highest rate, of longs and shorts of the largest size', async (t) => {
  const state = exchange()
  // One interval: 4 % of a lot at the highest price, in 10^-6 atoms.
  const interval = BigInt(HIGH) * T * 40_000n
  t.ok(interval < 2n ** 52n)
  for (const [key, side] of [1, -1].entries()) {
    setMark(state, 0, HIGH)
    const bucket = bucketWith(state, MAX_ISSUED, MarginMode.ISOLATED, 0, key)
    const position = trade(state, bucket, 0, side, HIGH)
    for (const [intervals, lots] of [[1n, LARGEST], [25n, LARGEST], [75n, LARGEST], [2000n, 2 ** 19]] as const) {
      for (const cumulative of [intervals * interval, -intervals * interval, intervals * interval - 1n]) {
        set(state, position, POSITION.LOTS, side * lots)
        setI64(state, perpRow(state, 0), PERP.CUMULATIVE, cumulative)
        fundingOf(state, position)
        const owed = BigInt(-side * lots) * cumulative
        t.equal(state.registers[R.FUNDING], owed >= 0n ? owed / MILLION : -ceiling(-owed, MILLION), `${intervals} of ${side * lots} lots`)
      }
    }
    set(state, position, POSITION.LOTS, side * LARGEST)
    setI64(state, perpRow(state, 0), PERP.CUMULATIVE, 2000n * interval)
    t.throws(() => fundingOf(state, position), /more funding to settle than there is money/, 'beyond 2^62 it stops')
    setI64(state, perpRow(state, 0), PERP.CUMULATIVE, 0n)
  }
})

t.test('parts of the cost of the largest position', async (t) => {
  const state = exchange()
  for (const [key, lots] of [1, 2, LARGEST - 1, LARGEST].entries()) {
    setMark(state, 1, HIGH)
    const bucket = bucketWith(state, 0n, MarginMode.ISOLATED, 1, key)
    trade(state, bucket, 1, LARGEST - 1, HIGH)
    const position = trade(state, bucket, 1, 1, 1)
    const cost = (BigInt(LARGEST - 1) * BigInt(HIGH) + 1n) * T
    const part = (cost / BigInt(LARGEST)) * BigInt(lots) + ((cost % BigInt(LARGEST)) * BigInt(lots)) / BigInt(LARGEST)
    t.equal(part, (cost * BigInt(lots)) / BigInt(LARGEST), 'in two steps as in one')
    trade(state, bucket, 1, -lots, HIGH)
    t.equal(getI64(state, position, POSITION.COST), cost - part)
    t.equal(getI64(state, bucket, RISK_BUCKET.REALIZED), BigInt(lots) * BigInt(HIGH) * T - part)
  }
})
