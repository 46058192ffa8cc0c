/**
 * Promise: a TWAP order trades its quantity in slices over its window, never more than it has, never after the end; what was not filled is
 * its shortfall. The same seed is the same schedule. Figures: test/support/liquidation_stage.ts; slices are 30 s apart.
 */
import t from 'tap'
import { CommandType, Flag, originOf, Origin } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { TwapOption } from '../../core/layout/twap.ts'
import { BTC } from '../support/liquidation_stage.ts'
import { WaitingStage } from '../support/waiting_stage.ts'

const MINUTE = 60_000
const BUY = { flags: Flag.MARGIN, leverage: 200, lots: 100, durationMs: 5 * MINUTE }

function stageOf(): WaitingStage {
  const stage = new WaitingStage()
  for (const name of ['ann', 'mia', 'zoe']) stage.deposit(name, 900_000)
  return stage
}
/** Goes on by so much time with fresh prices; what is told, and when, s. */
function wait(stage: WaitingStage, ms: number, price = 1000, each = 1000): [number, string][] {
  const begin = stage.time
  const told: [number, string][] = []
  for (let gone = each; gone <= ms; gone += each) {
    stage.time = begin + gone
    stage.price(BTC, price)
    told.push(...stage.settleDown().told.map((line): [number, string] => [gone / 1000, line]))
  }
  return told
}
const lines = (told: readonly [number, string][]): string[] => told.map(([, line]) => line)
const sliceLots = (told: readonly [number, string][]): number[] =>
  lines(told).flatMap((line) => /TWAP FILLED (\d+)\//.exec(line)?.slice(1).map(Number) ?? [])

t.test('without randomize: even slices at even times, all filled, COMPLETED', async (t) => {
  const stage = stageOf()
  stage.order('zoe', -100, 1000)
  const { told, events } = stage.twap('ann', BUY)
  t.same(told, ['ann TWAP ACTIVE CREATED 0'])
  t.match(events.at(-1), { detail2: 10, outcome: 2 }, 'ten slices')
  const first = stage.settleDown()
  t.same(first.told, ['ann TWAP FILLED 10/10', 'ann TWAP ACTIVE SLICE 10'], 'the first one at once')
  t.same(first.events.map(({ event }) => event).filter((event) => event === 'CHILD_ORDER').length, 1)
  const all = wait(stage, 5 * MINUTE)
  t.same(all.filter(([, line]) => line.includes('TWAP FILLED')).map(([at]) => at), [30, 60, 90, 120, 150, 180, 210, 240, 270])
  t.same(sliceLots(all), Array.from({ length: 9 }, () => 10))
  t.equal(lines(all).at(-1), 'ann TWAP COMPLETED COMPLETED 100')
  t.equal(stage.lots('ann'), 100)
})

t.test('slices are orders of origin TWAP that name their parent before their RESULT', async (t) => {
  const stage = stageOf()
  stage.order('zoe', -100, 1000)
  const opened = stage.twap('ann', { ...BUY, labelLength: 3, label: Buffer.from('abc').toString('hex') }).events
  t.match(opened[0], { event: 'TWAP_OPENED', labelLength: 3, durationMs: 300_000, leverage: 200 })
  const { events } = stage.settleDown()
  const child = events.findIndex(({ event }) => event === 'CHILD_ORDER')
  const result = events.findIndex(({ event }) => event === 'RESULT of ENTER_ORDER')
  t.ok(child >= 0 && child < result)
  const { orderSequence, slot } = events[result]!
  t.match(events[child], { orderSequence, slot, twapSequence: opened[0]!['createdSequence'] })
  t.equal(originOf(Number(events[result]!['flags'])), Origin.TWAP)
})

t.test('randomized: times and sizes vary by a fifth, the sum is exact; the same seed is the same schedule', async (t) => {
  const run = (seed: bigint): [number, string][] => {
    const stage = stageOf()
    stage.order('zoe', -500, 1000)
    stage.twap('ann', { ...BUY, lots: 500, options: TwapOption.RANDOMIZE, seed })
    const told = [...stage.settleDown().told.map((line): [number, string] => [0, line]), ...wait(stage, 5 * MINUTE)]
    t.equal(stage.lots('ann'), 500)
    return told
  }
  const [one, same, other] = [run(7n), run(7n), run(8n)]
  t.same(one, same)
  t.notSame(one, other)
  const lots = sliceLots(one)
  t.equal(lots.length, 10)
  t.equal(lots.reduce((sum, each) => sum + each, 0), 500)
  const times = one.filter(([, line]) => line.includes('TWAP FILLED')).map(([at]) => at)
  for (const [k, at] of times.entries()) t.ok(k === 0 ? at === 0 : Math.abs(at - 30 * k) <= 7, `slice ${k} at ${at}`)
  t.ok(new Set(lots).size > 3, lots.join(' '))
})

t.test('what one slice does not get goes to those that follow; the window ends with a shortfall, and that is all', async (t) => {
  const stage = stageOf()
  stage.order('zoe', -15, 1000)
  stage.twap('ann', BUY)
  const told = [...stage.settleDown().told.map((line): [number, string] => [0, line]), ...wait(stage, 4 * MINUTE)]
  t.equal(stage.lots('ann'), 15)
  t.ok(lines(told).some((line) => line.includes('CANCELLED INSUFFICIENT_DEPTH')))
  const end = wait(stage, MINUTE)
  t.same(end.at(-1), [60, 'ann TWAP EXPIRED WINDOW_OVER 15'])
  stage.order('zoe', -100, 1000)
  t.same(wait(stage, 10 * MINUTE, 1000, 10_000), [])
  t.equal(stage.lots('ann'), 15)
  t.notOk(lines(told).some((line) => Number(/(\d+)$/.exec(line)?.[1]) > 100))
})

t.test('a limit price: beyond it no order is placed, and none trades beyond it', async (t) => {
  const stage = stageOf()
  stage.order('zoe', -5, 1000)
  stage.order('zoe', -100, 1010)
  stage.twap('ann', { ...BUY, price: 1005 })
  t.same(stage.settleDown().told, ['ann TWAP CANCELLED SLIPPAGE_LIMIT 5/10', 'ann TWAP ACTIVE SLICE 5'])
  t.same(lines(wait(stage, 30_000)), ['ann TWAP ACTIVE SKIPPED 5 BEYOND_LIMIT_PRICE'])
  stage.order('zoe', -100, 1004)
  t.same(lines(wait(stage, 30_000)), ['ann TWAP FILLED 11/11', 'ann TWAP ACTIVE SLICE 16'], '95 lots of 8 slices')
})

t.test('start time; an end time instead of a duration; windows that cannot be', async (t) => {
  const stage = stageOf()
  stage.order('zoe', -100, 1000)
  const startAt = stage.time + 20_000
  const { told } = stage.twap('ann', { ...BUY, durationMs: 0, startAt, endAt: startAt + 60_000 })
  t.same(told, ['ann TWAP PENDING CREATED 0'])
  t.same(lines(wait(stage, 19_000)), [])
  t.same(lines(wait(stage, 1000)), ['ann TWAP ACTIVE STARTED 0', 'ann TWAP FILLED 50/50', 'ann TWAP ACTIVE SLICE 50'])
  const refused: [Decoded, string][] = [
    [{ durationMs: 0 }, 'INVALID_SCHEDULE'], [{ durationMs: 0, endAt: stage.time }, 'INVALID_SCHEDULE'],
    [{ durationMs: 604_800_001 }, 'INVALID_SCHEDULE'], [{ lots: 0 }, 'BELOW_MIN_ORDER_SIZE'], [{ leverage: 0 }, 'LEVERAGE_TOO_LOW'],
    [{ leverage: 100_000 }, 'LEVERAGE_TOO_HIGH'],
    [{ price: 70_000 }, 'INVALID_TICK'], [{ flags: 0 }, 'WRONG_TRADING_MODE'], [{ pair: 2 }, 'PAIR_NOT_ACTIVE'],
    [{ trigger: 900, conditionalExpiry: 5 }, 'INVALID_EXPIRATION'], [{ flags: Flag.MARGIN | Flag.IOC }, 'VALIDATION_ERROR'],
  ]
  for (const [over, code] of refused) {
    t.equal(WaitingStage.codeOf(stage.twap('ann', { ...BUY, ...over }).events), code, JSON.stringify(over))
  }
})

t.test('a conditional start: by the mark, in its direction, until its expiry', async (t) => {
  const stage = stageOf()
  stage.order('zoe', -100, 960)
  t.same(stage.twap('ann', { ...BUY, trigger: 950, conditionalExpiry: stage.time + MINUTE }).told, ['ann TWAP PENDING CREATED 0'])
  t.same(stage.twap('mia', { ...BUY, trigger: 950, conditionalExpiry: stage.time + MINUTE }).told, ['mia TWAP PENDING CREATED 0'])
  t.same(stage.twap('zoe', { ...BUY, trigger: 990, options: TwapOption.ABOVE, flags: Flag.MARGIN | Flag.SELL }).told,
    ['zoe TWAP ACTIVE CREATED 0'], 'it is there')
  stage.send(CommandType.CANCEL_ALL, { ...stage.signed('zoe'), pair: -1, limit: 100 }, 1)
  stage.order('zoe', -15, 960)
  t.same(stage.move(951), [])
  t.same(stage.move(950), [
    'ann TWAP ACTIVE CREATED 0', 'mia TWAP ACTIVE CREATED 0', 'ann TWAP FILLED 10/10', 'ann TWAP ACTIVE SLICE 10',
    'mia TWAP CANCELLED INSUFFICIENT_DEPTH 5/10', 'mia TWAP ACTIVE SLICE 5',
  ])
  const late = stageOf()
  late.twap('ann', { ...BUY, trigger: 950, conditionalExpiry: late.time + MINUTE })
  t.same(lines(wait(late, MINUTE)), ['ann TWAP EXPIRED CONDITION_EXPIRED 0'])
  t.same(late.move(900), [])
})

t.test('passive: a slice rests at its own side until the next one, and what it filled counts', async (t) => {
  const stage = stageOf()
  stage.order('mia', 50, 990)
  stage.twap('ann', { ...BUY, options: TwapOption.PASSIVE })
  t.same(stage.settleDown().told, ['ann TWAP SUBMITTED 0/10', 'ann TWAP ACTIVE SLICE 0'])
  stage.order('zoe', -54, 990)
  t.equal(stage.lots('ann'), 4, 'behind mia')
  t.same(lines(wait(stage, 30_000)), ['ann TWAP SUBMITTED 0/10', 'ann TWAP ACTIVE SLICE 4'], '96 of 9')
  stage.order('zoe', -10, 980)
  t.equal(stage.lots('ann'), 14)
  const rest = wait(stage, 4.5 * MINUTE)
  t.equal(lines(rest).at(-1), 'ann TWAP EXPIRED WINDOW_OVER 14')
  stage.order('zoe', -10, 980)
  t.equal(stage.lots('ann'), 14, 'nothing rests after the end')
})

t.test('reduce-only, cancelled, its session revoked, refused for ever', async (t) => {
  const stage = stageOf()
  stage.give({ bob: { lots: 20, price: 1000, collateral: 10_000 }, cem: { lots: -20, price: 1000, collateral: 50_000 } })
  stage.order('mia', 100, 1000)
  const sell = { ...BUY, flags: Flag.MARGIN | Flag.SELL | Flag.REDUCE_ONLY, leverage: 0, lots: 40 }
  stage.twap('bob', sell)
  const told = [...stage.settleDown().told, ...lines(wait(stage, 5 * MINUTE))]
  t.equal(stage.lots('bob'), 0)
  t.ok(told.some((line) => line.includes('REDUCE_ONLY_REJECTED')))
  t.equal(told.at(-1), 'bob TWAP EXPIRED WINDOW_OVER 20')
  const { events } = stage.twap('ann', BUY)
  const named = { twap: events[0]!['twap']!, createdSequence: events[0]!['createdSequence']! }
  const cancel = (name: string) => stage.events(CommandType.CANCEL_TWAP, { ...stage.signed(name), ...named }, 1)
  t.equal(WaitingStage.codeOf(cancel('zoe')), 'ORDER_NOT_FOUND')
  t.same(stage.toldOf(cancel('ann')), ['ann TWAP CANCELLED USER_CANCELLED 0'])
  t.equal(WaitingStage.codeOf(cancel('ann')), 'ORDER_NOT_FOUND')
  stage.twap('ann', BUY)
  t.same(stage.toldOf(stage.events(CommandType.REVOKE_SESSION, stage.signed('ann'), 1)), ['ann TWAP CANCELLED SESSION_REVOKED 0'])
  stage.twap('zoe', BUY)
  stage.settle(BTC, 1000)
  t.same(stage.settleDown().told.filter((line) => line.startsWith('zoe TWAP')), ['zoe TWAP FAILED FAILED 0 WRONG_PERP_MODE'])
})

t.test('late after an outage: one slice for all that went by', async (t) => {
  const stage = stageOf()
  stage.order('zoe', -100, 1000)
  stage.twap('ann', BUY)
  stage.settleDown()
  stage.time += 4 * MINUTE
  stage.price(BTC, 1000)
  t.same(stage.settleDown().told, ['ann TWAP FILLED 45/45', 'ann TWAP ACTIVE SLICE 55'], '90 lots, two slices are left')
  stage.time += MINUTE
  stage.price(BTC, 1000)
  t.same(stage.settleDown().told, ['ann TWAP EXPIRED WINDOW_OVER 55'], 'at the end nothing is made up for')
})

t.test('a client id is claimed while its TWAP order runs; an account has so many', async (t) => {
  const stage = new WaitingStage({}, { twapOrders: 4096 })
  stage.account('ann')
  const label = { labelLength: 1, label: Buffer.from('x').toString('hex') }
  const code = (over: Decoded = {}): string =>
    WaitingStage.codeOf(stage.twap('ann', { ...BUY, startAt: stage.time + MINUTE, ...over }).events)
  t.same([code(label), code(label)], ['', 'CLIENT_ORDER_ID_CONFLICT'])
  for (let more = 1; more < 50; more++) t.equal(code(), '')
  t.equal(code(), 'TOO_MANY_TWAP_ORDERS')
  const all = stage.events(CommandType.CANCEL_ALL, { ...stage.signed('ann'), pair: -1, limit: 100 }, 1)
  t.same([stage.toldOf(all).length, all.at(-1)!['detail']], [50, 50], 'a mass cancel ends them too')
  t.equal(code(label), '')
})
