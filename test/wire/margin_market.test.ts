/**
 * Perpetuals in market data over the wire: mark, index, funding and open interest in metadata and screener, means where the history has
 * them, and nothing of it for spot pairs. What is not known is absent or null, never zero.
 */
import t from 'tap'
import type { OpenInterest } from '../../core/history/answer/queries.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import { perpRow, set, setI64 } from '../../core/state/rows.ts'
import { marginStage } from '../support/margin_stage.ts'

t.setTimeout(300_000)
const DAY = 86_400_000
const interest: OpenInterest = { '1h': 6_000_000_000n, '24h': null, '7d': null, days: [null, null, null, null, null, null, 1n] }
const stage = await marginStage(({ id, name, ask, atLeast }) => {
  const pairs = stage === undefined ? [] : stage.harness.genesis.pairs
  if (name !== 'screener') return { id, answer: null, sequence: atLeast }
  const { limit } = ask as { limit: number }
  const rows = pairs.map(({ index, perp }) => ({ pair: index, stats: null, openInterest: perp === null ? null : interest }))
  return { id, answer: { rows: rows.slice(0, limit), total: rows.length }, sequence: atLeast }
})
t.teardown(() => stage.harness.close())

const anybody = await stage.user('0')
const read = async (path: string): Promise<Record<string, unknown>> =>
  (await anybody.get(`/market/${path}`)).json as Record<string, unknown>

t.test('metadata', async (t) => {
  const before = await read(`pairs/${stage.btc.id}/metadata`)
  t.match(before, { symbol: 'BTC/USDC-PERP', markPrice: '60000', indexPrice: '60000', openInterest: '0', lastPrice: null })
  t.equal(before['predictedFundingRate'], '0', 'no sample yet')
  t.notOk('fundingRate' in before, 'nothing was paid yet')
  const [long, short] = [await stage.user(), await stage.user()]
  await short.order('SELL', '0.1', '60000')
  await long.order('BUY', '0.1', '60000')
  t.match(await read(`pairs/${stage.btc.id}/metadata`), { openInterest: '0.1', markPrice: '60000' })
  // A premium far beyond the cap, so that a sample that is taken meanwhile changes nothing.
  const { state } = stage.harness
  const perp = perpRow(state, stage.btc.index)
  setI64(state, perp, PERP.PREMIUM_SUM, -10_000_000_000n)
  set(state, perp, PERP.SAMPLES, 1)
  t.match(await read(`pairs/${stage.btc.id}/metadata`), { predictedFundingRate: '-0.01' }, 'shorts would pay')
  setI64(state, perp, PERP.PREMIUM_SUM, 0n)
  set(state, perp, PERP.SAMPLES, 0)
  const spot = stage.harness.genesis.pairs.find(({ perp }) => perp === null)!
  const plain = await read(`pairs/${spot.id}/metadata`)
  for (const field of ['markPrice', 'indexPrice', 'fundingRate', 'nextFundingTime', 'openInterest', 'predictedFundingRate']) {
    t.notOk(field in plain, field)
  }
})

t.test('screener', async (t) => {
  const { items } = await read('screener?pageSize=100') as { items: Record<string, unknown>[] }
  const perp = items.find(({ symbol }) => symbol === 'BTC/USDC-PERP')!
  t.match(perp, {
    openInterestBase: '0.1', openInterestNotional: '6000', openInterestNotionalAvg1h: '6000', openInterestNotionalAvg24h: null,
    openInterestNotionalAvg7d: null, latestFundingRate: null, lastFundingTime: null,
  })
  const days = perp['snapshot7d'] as { openInterestNotionalAvg: string | null; bucketStart: string }[]
  t.strictSame(days.map(({ openInterestNotionalAvg }) => openInterestNotionalAvg), [null, null, null, null, null, null, '0.000001'])
  t.equal(Number(days[1]!.bucketStart) - Number(days[0]!.bucketStart), DAY)
  const spot = items.find(({ symbol }) => symbol === 'BTC/USDC')!
  for (const field of ['latestFundingRate', 'openInterestBase', 'openInterestNotional', 'openInterestNotionalAvg1h']) {
    t.equal(spot[field], null, field)
  }
})
