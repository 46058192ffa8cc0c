/** Parts of the adapter with ccxt's verbs: errors by the register, precision, what a `watch` verb waits for. */
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { REFUSALS, type Refusal } from '../../core/layout/refusals.ts'
import * as ccxt from '../../gateway/client/ccxt/errors.ts'
import { Feed } from '../../gateway/client/ccxt/feed.ts'
import { rowsOf, type Answer, type Page } from '../../gateway/client/ccxt/listing.ts'
import { inSteps, stepOf } from '../../gateway/client/ccxt/precision.ts'
import { currenciesOf, marketOf, placedOf } from '../../gateway/client/ccxt/shapes.ts'
import { NetworkError, RingbookError, StreamError } from '../../gateway/client/errors.ts'
import { pair } from '../../gateway/operations/example_values.ts'

const classes = ccxt as unknown as Record<string, new () => Error>

t.test('each refusal is the class that the register names; what may have been applied is a timeout', async (t) => {
  for (const { http, code, error, message, ccxt: name } of Object.values<Refusal>(REFUSALS)) {
    const refused = new RingbookError({ error, code, message, statusCode: http })
    const made = ccxt.unified(refused) as Error
    const expected = refused.outcome === 'not-applied' ? name : 'RequestTimeout'
    t.equal(made.name, expected, code)
    t.ok(made instanceof classes[expected]! && made instanceof ccxt.BaseError, code)
    t.equal(made.cause, refused)
  }
})

t.test('other failures', async (t) => {
  const envelope = { error: 'UNEXPECTED_RESPONSE', message: 'm' }
  const cases: [error: unknown, name: string][] = [
    [new NetworkError('m', undefined), 'RequestTimeout'],
    [new NetworkError('m', undefined, 'not-applied'), 'NetworkError'],
    [new NetworkError('m', new DOMException('late', 'TimeoutError'), 'not-applied'), 'RequestTimeout'],
    [new RingbookError({ ...envelope, statusCode: 502 }), 'RequestTimeout'],
    [new RingbookError({ ...envelope, statusCode: 502 }, 'not-applied'), 'ExchangeNotAvailable'],
    [new RingbookError({ ...envelope, statusCode: 429 }), 'RateLimitExceeded'],
    [new RingbookError({ ...envelope, statusCode: 401 }), 'AuthenticationError'],
    [new RingbookError({ ...envelope, code: 'constructor', statusCode: 418 }), 'ExchangeError'],
    [new StreamError('SESSION_INVALID', 'm'), 'AuthenticationError'],
    [new StreamError('SUBSCRIPTION_LIMIT', 'm'), 'ExchangeError'],
    [new TypeError('m'), 'TypeError'],
  ]
  for (const [error, name] of cases) t.equal((ccxt.unified(error) as Error).name, name)
  t.ok(new ccxt.OnMaintenance('m') instanceof ccxt.NetworkError, 'the hierarchy')
  t.ok(new ccxt.UpdatesLost('m') instanceof ccxt.NetworkError, 'the hierarchy')
  t.ok(new ccxt.OrderNotFound('m') instanceof ccxt.InvalidOrder, 'the hierarchy')
})

t.test('precisions of currencies are what amounts take, not what the token has on its chain', async (t) => {
  const market = marketOf({ ...pair, baseDecimals: 18, baseAmountDecimals: 9 })
  t.same(market.precision, { amount: 0.0001, price: 0.01, base: 1e-9, quote: 1e-6 })
  t.same(currenciesOf(market), [
    { id: pair.baseAssetId, code: 'BTC', precision: 1e-9 }, { id: pair.quoteAssetId, code: 'USDC', precision: 1e-6 },
  ])
  t.same([stepOf(0), stepOf(1), stepOf(18)], ['1', '0.1', '0.000000000000000001'])
})

t.test('rows from a time on are the oldest, whatever there is behind them', async (t) => {
  const random = createPrng(7)
  for (let round = 0; round < 40; round++) {
    // Bursts in one millisecond and gaps of days, newest first as the service lists them.
    const times: number[] = []
    for (let at = 1_700_000_000_000; times.length < 6000;) {
      at += random.below(4) === 0 ? random.below(200_000_000) : random.below(3)
      for (let burst = random.below(40) === 0 ? random.below(2500) : 1; burst > 0; burst--) times.push(at)
    }
    const rows = times.map((at, id) => ({ id, at })).reverse()
    let asked = 0
    const ask = async ({ startTime = '0', endTime = '9e15', pageToken, pageSize }: Page): Promise<Answer<(typeof rows)[number]>> => {
      asked++
      if (pageSize > 1000 || pageSize < 1) throw new Error(`${pageSize} rows in a page`)
      const found = rows.filter(({ at }) => at >= Number(startTime) && at <= Number(endTime))
      const end = Number(pageToken) + pageSize
      return { rows: found.slice(Number(pageToken), end), nextPageToken: end < found.length ? String(end) : '' }
    }
    const listing = { ask, timeOf: ({ at }: { at: number }) => new Date(at).toISOString() }
    const since = [0, -5, times[random.below(times.length)]!, times[random.below(times.length)]! + 0.5, 1e14][random.below(5)]!
    const limit = [undefined, 1, 7, 100, 1500][random.below(5)]
    const found = (await rowsOf(listing, since, limit)).map(({ id }) => id)
    const wanted = times.flatMap((at, id) => (at >= since ? [id] : [])).slice(0, limit ?? 100)
    t.same(found, wanted, `since ${since}, ${limit} rows`)
    t.ok(asked <= 100 * Math.ceil((limit ?? 100) / 1000), `${asked} requests for ${limit} rows`)
    const newest = (await rowsOf(listing, undefined, limit)).map(({ id }) => id)
    t.same(newest, times.map((_, id) => id).slice(-(limit ?? 100)), 'without a time the newest')
  }
})

t.test('amounts and prices in whole steps', async (t) => {
  const cases: [value: number | string, step: string, cut: string, round: string][] = [
    [0.1 + 0.2, '0.1', '0.3', '0.3'],
    [1.23456789, '0.001', '1.234', '1.235'],
    [1e-7, '0.00000001', '0.0000001', '0.0000001'],
    [1.5e21, '0.01', '1500000000000000000000', '1500000000000000000000'],
    ['0.10', '0.01', '0.1', '0.1'],
    [100, '10', '100', '100'],
    [105, '10', '100', '110'],
    [7, '0.25', '7', '7'],
    [7.2, '0.25', '7', '7.25'],
    [0.29, '0.01', '0.29', '0.29'],
    ['9007199254740993.01', '0.01', '9007199254740993.01', '9007199254740993.01'],
    [0.004, '0.01', '0', '0'],
  ]
  for (const [value, step, cut, round] of cases) {
    t.same([inSteps(value, step, 'cut'), inSteps(value, step, 'round')], [cut, round], `${value} in ${step}`)
  }
  for (const value of ['', 'x', NaN, Infinity, '1,5', undefined, null, {}, '1_0'] as never[]) {
    t.throws(() => inSteps(value, '1', 'cut'), ccxt.InvalidOrder, String(value))
  }
})

t.test('a feed gives what came since the last call, or waits for the next', async (t) => {
  const feed = new Feed<number>()
  const first = feed.next()
  feed.push([0])
  t.same(await first, [0])
  feed.push([1])
  feed.push([2])
  t.same(await feed.next(), [1, 2])
  const [one, other] = [feed.next(), feed.next()]
  feed.push([])
  await Promise.allSettled([one, other])
  const [same, also] = [feed.next(), feed.next()]
  feed.push([3])
  t.same([await same, await also], [[3], [3]], 'who waits gets the same')
  feed.push(Array.from({ length: 1500 }, (_, i) => i))
  const many = [feed.next(), feed.next()]
  t.same((await Promise.all(many)).map(({ length }) => length), [1500, 1500])
  const failed = [feed.next(), feed.next()]
  feed.fail(new Error('over'))
  for (const each of failed) await t.rejects(each, /over/)
  const next = [feed.next(), feed.next()]
  feed.push([4])
  t.same(await Promise.all(next), [[4], [4]], 'it goes on')
})

t.test('an order that was placed has what it traded on arrival', async (t) => {
  const asked = { tradingPairId: 'p', orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '101' } as const
  const answer = { orderId: 'o', status: 'SUCCESS', message: '', sequence: 7, engineTime: '2026-01-15T09:30:02.125Z' } as const
  const resting = { tradesCount: 0, totalFilled: '0', remainingQuantity: '0.5', status: 'SUBMITTED' } as const
  t.match(placedOf({ ...answer, matchResult: resting }, asked, 'ETH/USDC'), {
    status: 'open', filled: 0, remaining: 0.5, average: undefined, cost: 0, trades: [], fee: undefined, fees: [],
  })
  const fills = [
    { tradeId: 't1', price: '100', quantity: '0.2', fee: '0.01' }, { tradeId: 't2', price: '101', quantity: '0.1', fee: '0.00505' },
  ]
  const matchResult = {
    tradesCount: 2, totalFilled: '0.3', remainingQuantity: '0.2', averageFillPrice: '100.3333333333', totalFilledQuote: '30.1',
    totalFee: '0.01505', status: 'PARTIALLY_FILLED', fills,
  } as const
  const placed = placedOf({ ...answer, matchResult: { ...matchResult, fills } }, asked, 'ETH/USDC')
  const moment = { timestamp: 1_768_469_402_125, datetime: '2026-01-15T09:30:02.125Z' }
  t.match(placed, { ...moment, status: 'open', filled: 0.3, average: 100.3333333333, cost: 30.1, fee: { cost: 0.01505, currency: 'USDC' } })
  const fee = { cost: 0.00505, currency: 'USDC' }
  t.same(placed.trades.map(({ id }) => id), ['t1', 't2'])
  t.strictSame(placed.trades[1], {
    id: 't2', symbol: 'ETH/USDC', ...moment, order: 'o', type: undefined, side: 'buy', takerOrMaker: 'taker', price: 101, amount: 0.1,
    cost: 101 * 0.1, fee, fees: [fee], info: fills[1],
  })
})
