/**
 * Promise: a book is heard in the mark by its impact prices alone, by tables worked out by hand: a thin, wide or one-sided book moves
 * nothing, the basis is bounded, and two quotes of 7 USD liquidate nobody.
 */
import t from 'tap'
import { impactNotional, impactPrice, LEVELS } from '../../core/margin/impact_price.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import { get, getI64, perpRow, set, setF64, setI64 } from '../../core/state/rows.ts'
import { PAIR } from '../../core/state/columns.ts'
import { pairRow } from '../../core/state/rows.ts'
import { BTC, LiquidationStage } from '../support/liquidation_stage.ts'

type Quote = readonly [lots: number, price: number]

/** One lot at one tick is a dollar; index 1,000; each quote is of a maker with enough margin. */
function stageOf(quotes: readonly Quote[], perp: ConstructorParameters<typeof LiquidationStage>[0] = {}): LiquidationStage {
  const stage = new LiquidationStage(perp)
  stage.deposit('mak', 500_000)
  for (const [lots, price] of quotes) stage.order('mak', lots, price)
  return stage
}
const bothOf = (stage: LiquidationStage): number[] => {
  const notional = impactNotional(stage.state, BTC)
  return [impactPrice(stage.state, BTC, notional, 0), impactPrice(stage.state, BTC, notional, 1)]
}
const markOf = (stage: LiquidationStage): number => get(stage.state, perpRow(stage.state, BTC), PERP.MARK)
const basisOf = (stage: LiquidationStage): bigint => getI64(stage.state, perpRow(stage.state, BTC), PERP.BASIS)

t.test('impact prices are averages over 3,000 USD, bids rounded down, asks up', async (t) => {
  const table: [what: string, quotes: Quote[], bid: number, ask: number][] = [
    ['no book', [], 0, 0],
    ['one level', [[3, 1000], [-3, 1001]], 1_000_000_000, 1_001_000_000],
    ['3,020 for 3, 3,023 for 3', [[1, 1010], [2, 1005], [-1, 1017], [-2, 1018]], 1_006_666_666, 1_017_666_667],
    ['of the last level as many lots as it takes: 1,010 and 2 × 1,005 of 90', [[1, 1010], [90, 1005]], 1_006_666_666, 0],
    ['a lot is lacking: 2,999 USD', [[1, 1001], [2, 999], [-1, 1010], [-1, 1011]], 0, 0],
    ['orders of one price together', [[1, 1000], [1, 1000], [1, 1000], [-1, 1002], [-2, 1002]], 1_000_000_000, 1_002_000_000],
  ]
  for (const [what, quotes, bid, ask] of table) t.same(bothOf(stageOf(quotes, { impactNotional: '3000' })), [bid, ask], what)
})

t.test('the notional is that of the terms, and at least a hundredth of what is open', async (t) => {
  const stage = stageOf([])
  t.equal(impactNotional(stage.state, BTC), 5000, 'of a genesis that says none')
  for (const [open, notional] of [[599, 5000], [699, 6000], [700, 7000], [2 ** 50, 2 ** 46]] as const) {
    setF64(stage.state, perpRow(stage.state, BTC), PERP.OPEN_LOTS, open)
    t.equal(impactNotional(stage.state, BTC), notional, `${open} lots at 1,000`)
  }
})

t.test('more levels than are looked at bear nothing', async (t) => {
  const stage = new LiquidationStage({ impactNotional: '1000000' }, { orders: 8192, openOrdersPerAccount: 4096 })
  stage.checks = false
  for (const name of ['one', 'two', 'six']) stage.deposit(name, 900_000)
  for (let level = 0; level < LEVELS; level++) stage.order(level < 500 ? 'one' : 'two', 1, 2000 - level, { leverage: 500 })
  const sum = 1_500_500
  t.equal(impactPrice(stage.state, BTC, sum, 0), 1_500_500_000, 'all 1,000')
  stage.order('six', 1, 1000, { leverage: 500 })
  t.equal(impactPrice(stage.state, BTC, sum + 1, 0), 0, 'the level behind them counts for nothing, though it is there')
  t.ok(impactPrice(stage.state, BTC, sum - 500, 0) > 0)
})

t.test('the median of index, index and basis, and what impact prices are beyond the index', async (t) => {
  const deep = (bid: number, ask: number): Quote[] => [[10, bid], [-10, ask]]
  const table: [what: string, basis: number, quotes: Quote[], mark: number][] = [
    ['nothing but the index', 0, [], 1000],
    ['without a basis the book is outvoted', 0, deep(1010, 1012), 1000],
    ['without a book the basis is all there is', 10, [], 1010],
    ['index < book < basis: the bids', 10, deep(1006, 1012), 1006],
    ['the asks below the index', -10, deep(990, 994), 994],
    ['a book beyond the basis', 10, deep(1020, 1030), 1010],
    ['on the other side of the index', 10, deep(980, 990), 1000],
    ['an index between bids and asks: the index', 10, deep(970, 1030), 1000],
    ['a thin book: the basis', 10, [[4, 1006], [-10, 1012]], 1010],
    ['a thin book on the other side', 10, [[10, 1006], [-4, 1012]], 1010],
    ['one side is no book', 10, [[10, 1006]], 1010],
    ['a tiny quote before a deep book', 10, [[1, 1009], [10, 1004], [-10, 1012]], 1005],
  ]
  for (const [what, basis, quotes, mark] of table) {
    const stage = stageOf(quotes)
    setI64(stage.state, perpRow(stage.state, BTC), PERP.BASIS, BigInt(basis) * 1_000_000n)
    set(stage.state, pairRow(stage.state, BTC), PAIR.LAST_PRICE, 1008)
    stage.price(BTC, 1000)
    t.equal(markOf(stage), mark, what)
  }
})

t.test('the basis goes to the premium, to its bound at most, and back to 0 without a book', async (t) => {
  // 5 % initial and 2.5 % maintenance margin: 1.25 % of 1,000 ticks. 30 s of 180 s are a sixth.
  const after = (quotes: Quote[], basis: bigint): bigint => {
    const stage = stageOf(quotes)
    setI64(stage.state, perpRow(stage.state, BTC), PERP.BASIS, basis)
    stage.time += 30_000
    stage.price(BTC, 1000)
    return basisOf(stage)
  }
  const deep = (bid: number, ask: number): Quote[] => [[10, bid], [-10, ask]]
  t.equal(after(deep(1006, 1008), 0n), 1_000_000n, 'a sixth of 6')
  t.equal(after(deep(994, 996), 0n), -666_666n, 'a sixth of -4')
  t.equal(after(deep(1029, 1030), 0n), 2_083_333n, 'a sixth of 12.5, not of 29')
  t.equal(after(deep(970, 971), 0n), -2_083_333n)
  t.equal(after([], 6_000_000n), 5_000_000n, 'no book: a sixth of it is gone')
  t.equal(after([[4, 1020], [-4, 1030]], 6_000_000n), 5_000_000n, 'a thin one')
  t.equal(after(deep(990, 1010), 6_000_000n), 5_000_000n, 'a wide one')
})

t.test('two quotes of 7 USD on a thin book move no mark in 65 s and liquidate nobody', async (t) => {
  const tiers = [{ lowerBoundNotional: '0', maxLeverage: '50', maintenanceMarginRatio: '0.01' }]
  // One lot is 0.001: 7 USD at 7,000 ticks.
  const stage = new LiquidationStage({ riskTiers: tiers }, {}, { lotSize: '0.001', minOrderSize: '0.001' })
  stage.price(BTC, 7000)
  stage.give({ vic: { lots: 100, price: 7000, collateral: 14, leverage: 5000 }, bob: { lots: -100, price: 7000, collateral: 700 } })
  stage.deposit('mal', 1000)
  stage.order('mal', 1, 6790)
  stage.order('mal', -1, 6791)
  for (let second = 0; second < 65; second++) {
    stage.time += 1000
    stage.price(BTC, 7000)
    t.equal(markOf(stage), 7000)
    t.same(stage.run().told, [])
  }
  t.equal(basisOf(stage), 0n)
  t.equal(stage.lots('vic'), 100)
})
