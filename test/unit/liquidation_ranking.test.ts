/**
 * Promise: auto-deleveraging asks the best by profit x leverage first, ties by row, as many as a ranking names, however the rows stand and
 * in however many parts they are walked.
 */
import t from 'tap'
import { nextRanked, rankingOf } from '../../core/liquidation/ranking.ts'
import { N } from '../../core/state/balances.ts'
import { POSITION, RANKED_MAX } from '../../core/state/margin_rows.ts'
import { get, note, positionAt, positionRow } from '../../core/state/rows.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { BTC, LiquidationStage, type Given } from '../support/liquidation_stage.ts'
import { seedOf } from '../suite/rounds.ts'

const SHORTS = 700
const LIMITS = { accounts: 1024, sessions: 1024, marginAccounts: 1024, riskBuckets: 2048, positions: 2048 }

/** Leverages of shorts that were opened at one price and gain the same, so leverage alone ranks them. */
function asked(leverages: readonly number[], rows: number): { row: number; leverage: number }[] {
  const stage = new LiquidationStage({ maxPositionSize: '100000' }, LIMITS)
  stage.checks = false
  const short = (leverage: number): Given => ({ lots: -1, price: 1000, collateral: 900, leverage })
  const shorts = leverages.map((leverage, index): [string, Given] => [`short${index}`, short(leverage)])
  stage.give(Object.fromEntries([['ann', { lots: leverages.length, price: 1000, collateral: 400_000 }], ...shorts]))
  stage.price(BTC, 950)
  const { state } = stage
  let ranking = -1
  for (let part = 0; ranking < 0 && part <= Math.ceil((leverages.length + 2) / rows); part++) {
    note(state, N.ROWS, rows)
    ranking = rankingOf(state, BTC, true)
  }
  const found = []
  for (let at = nextRanked(state, ranking, BTC, true); at >= 0; at = nextRanked(state, ranking, BTC, true)) {
    found.push({ row: positionAt(state, at), leverage: get(state, positionRow(state, positionAt(state, at)), POSITION.LEVERAGE) })
  }
  return found
}

const best = (leverages: readonly number[]): { row: number; leverage: number }[] =>
  leverages.map((leverage, index) => ({ row: index + 1, leverage }))
    .sort((a, b) => b.leverage - a.leverage || a.row - b.row).slice(0, RANKED_MAX)

t.test('drawn leverages, many of them the same', async (t) => {
  const seed = seedOf()
  t.comment(`seed ${seed}; again: SEED=${seed} npm test -- test/unit/liquidation_ranking.test.ts`)
  const draw = createPrng(seed)
  const leverages = Array.from({ length: SHORTS }, () => 100 + draw.below(120))
  const expected = best(leverages)
  t.equal(expected.length, RANKED_MAX)
  for (const rows of [1, 64, 4096]) t.same(asked(leverages, rows), expected, `${rows} rows at a time`)
})

t.test('rising, falling, all the same, fewer than a ranking names', async (t) => {
  for (const leverages of [
    Array.from({ length: SHORTS }, (_, index) => 100 + index), Array.from({ length: SHORTS }, (_, index) => 900 - index),
    Array.from({ length: SHORTS }, () => 500), [300, 200, 300], [700],
  ]) t.same(asked(leverages, 4096), best(leverages))
})
