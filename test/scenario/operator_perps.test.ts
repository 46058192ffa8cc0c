/**
 * Promise: an operator sees perpetuals, the insurance fund and liquidations as they are, and changes them by decimals that become the
 * numbers of the engine's commands; what is no price, size or perpetual is refused with the field at fault. A file of prices is replayed as
 * it stands.
 */
import t from 'tap'
import { answerOf } from '../../core/layout/answers.ts'
import { COMMAND_LAYOUTS, COMMAND_SLOTS, kindOf, type CommandType } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { TOTAL } from '../../core/state/columns.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import { setI64, totalRow } from '../../core/state/rows.ts'
import { OperatorError } from '../../gateway/operator/client.ts'
import {
  ForceMark, FundInsurance, ListLiquidations, ListPerps, SetIndexPrice, SetOpenInterestCap, SetPerpMode, ShowInsurance,
} from '../../gateway/operator/perps.ts'
import { SetFundCover, SetJumpWindow } from '../../gateway/operator/perp_terms.ts'
import { samplePerps } from '../../gateway/operator/perp_metrics.ts'
import { lineOf, replayPrices } from '../../gateway/operator/replay_prices.ts'
import type { OperatorContext, OperatorRoute } from '../../gateway/operator/route.ts'
import { Refused } from '../../gateway/refused.ts'
import { HOUR_0, PerpStage } from '../support/perp_stage.ts'

const SYMBOL = 'BTC/USD-PERP'

/** Routes over an engine of its own. */
function desk(): { stage: PerpStage; ask: (route: OperatorRoute, input?: object) => Promise<Record<string, unknown>> } {
  const stage = new PerpStage()
  const send = async (type: number, _: unknown, values: Decoded): Promise<Decoded> => {
    const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type as CommandType, 1, 0) })
    const at = (stage.bench.run(command, 0, stage.time) - 1) * RECORD_WORDS
    return decode(answerOf(type, stage.bench.said.i32[at + RESULT.at.code]!), stage.bench.said, at)
  }
  const context = { state: stage.state, time: () => stage.time, tell: () => undefined, admin: { send } } as unknown as OperatorContext
  const ask = async (route: OperatorRoute, input: object = {}): Promise<Record<string, unknown>> => {
    const wrong = route.check(input)
    const answer = wrong ?? await route.run(context, input as never)
    return answer instanceof Refused ? { code: answer.code, ...answer.details } : answer as Record<string, unknown>
  }
  return { stage, ask }
}

t.test('prices: set, forced, listed', async (t) => {
  const { stage, ask } = desk()
  t.match(await ask(ListPerps), { perps: [{ symbol: SYMBOL, indexPrice: null, markPrice: null, ageSeconds: null, stale: true }] })
  t.match(await ask(SetIndexPrice, { pair: SYMBOL, price: '100' }), { indexPrice: '100', markPrice: '100', before: null, sequence: 1 })
  t.match(await ask(SetIndexPrice, { pair: SYMBOL, price: '111' }), { code: 'PRICE_OUT_OF_BAND' })
  t.match(await ask(SetIndexPrice, { pair: SYMBOL, price: '111', force: true }), { indexPrice: '111', before: '100' })
  stage.time += 1500
  t.match(await ask(ForceMark, { pair: SYMBOL, price: '90.5', seconds: 10 }), { markPrice: '90.5', until: '2026-01-01T00:00:16.500Z' })
  t.match(await ask(ListPerps), { perps: [{
    mode: 'NORMAL', indexPrice: '111', markPrice: '90.5', source: 'OPERATOR', ageSeconds: 1.5, stale: false, indexStepBps: '445',
    forcedUntil: '2026-01-01T00:00:16.500Z', openInterest: '0', openInterestCap: null, positions: 0, fundingRate: '0',
    nextFundingAt: '2026-01-01T01:00:00.000Z',
  }] })
  t.match(await ask(ForceMark, { pair: SYMBOL, price: '90.5', seconds: 0 }), { until: null })
  t.equal(stage.mark, 11_100)
  t.match(await ask(SetIndexPrice, { pair: SYMBOL, price: '110', source: 'REPLAY', observedAt: 5 }), { indexPrice: '110' })
  t.equal(stage.moment(PERP.OBSERVED_AT), 5)
})

t.test('mode, cap, and what is refused with its field', async (t) => {
  const { stage, ask } = desk()
  await ask(SetIndexPrice, { pair: SYMBOL, price: '100' })
  t.match(await ask(SetOpenInterestCap, { pair: SYMBOL, size: '5000.001' }), { size: '5000.001' })
  t.equal(stage.moment(PERP.OPEN_CAP), 5_000_001)
  t.match(await ask(SetOpenInterestCap, { pair: SYMBOL, size: '0' }), { size: '0' })
  t.match(await ask(SetFundCover, { pair: SYMBOL, share: '1250.5', allowance: '99.5' }), { share: '1250.5', allowance: '99.5' })
  t.match(await ask(ListPerps), { perps: [{ fundShareBps: '1250.5', fundOwnerAllowance: '99.5' }] })
  t.match(await ask(SetJumpWindow, { pair: SYMBOL, seconds: 30 }), { seconds: 30 })
  t.match(await ask(SetPerpMode, { pair: SYMBOL, mode: 'REDUCE_ONLY' }), { mode: 'REDUCE_ONLY' })
  for (const [route, input, code, field] of [
    [SetIndexPrice, { pair: SYMBOL, price: '0' }, 'VALIDATION_ERROR', 'price'],
    [SetIndexPrice, { pair: SYMBOL, price: '1.001' }, 'VALIDATION_ERROR', 'price'],
    [SetIndexPrice, { pair: 'BTC/USD', price: '1' }, 'NOT_FOUND', 'pair'],
    [SetOpenInterestCap, { pair: SYMBOL, size: '0.0001' }, 'VALIDATION_ERROR', 'size'],
    [SetPerpMode, { pair: SYMBOL, mode: 'SETTLING' }, 'VALIDATION_ERROR', 'price'],
    [SetPerpMode, { pair: SYMBOL, mode: 'NORMAL', price: '1' }, 'VALIDATION_ERROR', 'price'],
    [SetFundCover, { pair: SYMBOL, share: '10000.01', allowance: '1' }, 'VALIDATION_ERROR', 'share'],
    [SetFundCover, { pair: SYMBOL, share: '1', allowance: '-1' }, 'VALIDATION_ERROR', 'allowance'],
    [ForceMark, { pair: SYMBOL, price: 'x', seconds: 1 }, 'VALIDATION_ERROR', 'price'],
  ] as const) t.match(await ask(route, input), { code, field }, JSON.stringify(input))
  t.match(await ask(SetPerpMode, { pair: SYMBOL, mode: 'SETTLING', price: '95' }), { mode: 'SETTLING' })
  t.match(await ask(ListPerps), { perps: [{ mode: 'SETTLING', markPrice: '95', stale: false, nextFundingAt: null }] })
  t.match(await ask(SetPerpMode, { pair: SYMBOL, mode: 'NORMAL' }), { code: 'WRONG_PERP_MODE' })
})

t.test('the insurance fund, liquidations and metrics', async (t) => {
  const { stage, ask } = desk()
  t.match(await ask(FundInsurance, { amount: '1' }), { code: 'NOT_FOUND' })
  await ask(SetIndexPrice, { pair: SYMBOL, price: '100' })
  setI64(stage.state, totalRow(stage.state, 0), TOTAL.FEES, 2_500_000n)
  t.match(await ask(FundInsurance, { amount: '3' }), { code: 'INSUFFICIENT_BALANCE' })
  t.match(await ask(FundInsurance, { amount: '2' }), { deposited: '2' })
  t.same(await ask(ShowInsurance), { asset: 'USD', deposited: '2', equity: '2', positions: 0, badDebt: '0', feeIncome: '0.5' })
  t.same(await ask(ListLiquidations), { total: 0, buckets: [] })
  const samples = new Map<string, number>()
  samplePerps(({ name }, value, labels = '') => samples.set(name + labels, value), stage.state, [], HOUR_0 + 8000)
  t.match(Object.fromEntries(samples), {
    [`exchange_perp_index_pricepair="${SYMBOL}"`]: 100, [`exchange_perp_mark_pricepair="${SYMBOL}"`]: 100,
    [`exchange_perp_index_age_secondspair="${SYMBOL}"`]: 3, exchange_insurance_fund_equity: 2, exchange_liquidating_buckets: 0,
  })
})

t.test('a file of prices is replayed in its order; what is refused is counted, what is no line ends it', async (t) => {
  t.same(lineOf('2026-01-01T00:00:00Z, A-PERP, 1.5', 2), { time: HOUR_0, symbol: 'A-PERP', price: '1.5' })
  t.same([lineOf('time,symbol,price', 1), lineOf('', 3)], [null, null])
  t.throws(() => lineOf('1767225600,A-PERP,1', 4), { message: /^line 4 has the time 1767225600, before 2001: .*milliseconds/ })
  t.equal(lineOf('0,A-PERP,1', 4)!.time, 0)
  t.equal(lineOf('2026-01-01T02:00:00+02:00,A-PERP,1', 4)!.time, HOUR_0)
  const noTimes = ['2026-01-01T00:00:00', '2026-01-01', '2026-01-01 00:00:00', '2026-02-30T00:00:00Z', 'Jan 1 2026']
  const lines = ['x,A,1', '1,,1', '1,A,-1', '1,A,1,2', '1,A', ...noTimes.map((time) => `${time},A,1`)]
  for (const wrong of lines) t.throws(() => lineOf(wrong, 7), { message: /^line 7 / }, wrong)
  const asked: unknown[] = []
  const prices = async function* (): AsyncGenerator<string> {
    yield* ['time,symbol,price', `${HOUR_0},A-PERP,10`, `${HOUR_0 + 500},A-PERP,99`, `${HOUR_0 + 1000},A-PERP,11`]
  }
  const done = await replayPrices(async (path, body) => {
    asked.push([path, body])
    if ((body as { price: string }).price === '99') throw new OperatorError('PRICE_OUT_OF_BAND', 'no')
    return { status: 200, text: '', json: {} }
  }, prices(), 100_000, false, () => undefined)
  t.same(done, { prices: 2, refused: 1 })
  t.same(asked[2], ['/perps/price', { pair: 'A-PERP', price: '11', source: 'REPLAY', observedAt: HOUR_0 + 1000 }])
  const back = async function* (): AsyncGenerator<string> {
    yield* [`${HOUR_0 + 2},A-PERP,10`, `${HOUR_0 + 1},A-PERP,10`]
  }
  const replayed = replayPrices(async () => ({ status: 200, text: '', json: {} }), back(), 1, false, () => undefined)
  await t.rejects(replayed, { message: /^line 2 is before the line above it/ }, 'time that goes back')
  const other = replayPrices(() => Promise.reject(new OperatorError('NOT_RUNNING', 'gone')), prices(), 1, false, () => undefined)
  await t.rejects(other, { code: 'NOT_RUNNING' })
})
