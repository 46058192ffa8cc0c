/**
 * Promise: screener, metadata and candles give every field of the specification as exact text, `null` where something is not known, in
 * pages and ranges as asked for; what is malformed is refused by its field.
 */
import t, { type Test } from 'tap'
import { INTERVALS, type HistoryTrade } from '../../core/history/answer/queries.ts'
import { compile } from '../../gateway/operations/operation.ts'
import { type OperationName, OPERATIONS, TABLE } from '../../gateway/operations/index.ts'
import { changePercent } from '../../gateway/operations/amounts.ts'
import { request, startHarness, testGenesis, type Reply } from '../support/gateway_harness.ts'
import { farFromMidnight } from '../support/midnight.ts'
import { answerNaively, createNaiveHistory } from '../support/naive_history.ts'

const history = createNaiveHistory()
const harness = await startHarness([], testGenesis(), (asked) => answerNaively(history, asked))
t.teardown(() => harness.close())
const { genesis } = harness
history.genesis = genesis
const [btc, eth, sei, cross] = genesis.pairs as [(typeof genesis.pairs)[0], ...(typeof genesis.pairs)[0][]]
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
t.setTimeout(300_000)
await farFromMidnight()
const NOW = Date.now()
const TODAY = NOW - (NOW % DAY)

const SCREENER = '/api/v1/market/screener'
const about = (pair: string, what: 'metadata' | 'candles'): string => `/api/v1/market/pairs/${pair}/${what}`
const get = (target: string): Promise<Reply> => request(harness.port, 'GET', target)
const outputs = new Map(OPERATIONS.map(({ name, operation }) => [name, compile(operation.output as Parameters<typeof compile>[0])]))

/** The answer of operation `name`, which has the shape it declares. */
async function read(t: Test, name: OperationName, target: string): Promise<any> {
  const reply = await get(target)
  t.equal(reply.status, 200, `${target}: ${reply.text}`)
  t.equal(outputs.get(name)!.check(reply.json), null, `${name} answers what it declares`)
  return reply.json
}

/** A trade at `time`, `price` in ticks. */
function trade(pair: number, time: number, price: number, lots: number): void {
  const sequence = history.trades.length + 1
  const made: HistoryTrade = {
    sequence, index: 0, pair, time, price, lots, quote: BigInt(price) * BigInt(lots) * genesis.pairs[pair]!.tickLotAtoms, makerSells: true,
    makerAccount: 1, takerAccount: 2, makerSequence: 3, makerSlot: 9, takerSlot: 4, makerFee: 0n, takerFee: 0n,
  }
  history.trades.push(made)
}

const UNKNOWN = {
  lastPrice: null, lastPriceTimestamp: null, quoteVolume1h: null, quoteVolume24h: null, quoteVolume7d: null, priceChangePercent1h: null,
  priceChangePercent24h: null, priceChangePercent7d: null, totalQuoteVolumeLtd: null, totalTradeCountLtd: null,
}
const PERPETUAL = {
  latestFundingRate: null, lastFundingTime: null, openInterestBase: null, openInterestNotional: null, openInterestNotionalAvg1h: null,
  openInterestNotionalAvg24h: null, openInterestNotionalAvg7d: null,
}

t.test('before any trade nothing is known', async (t) => {
  const { items, ...page } = await read(t, 'GetScreener', SCREENER)
  t.strictSame(page, { page: 1, pageSize: 20, total: 4, totalPages: 1 })
  t.same(items.map(({ symbol }: { symbol: string }) => symbol), ['BTC/USDC', 'ETH/BTC', 'ETH/USDC', 'SEI/USDC'], 'by symbol')
  const { snapshot7d, ...item } = items[0]
  t.strictSame(item, {
    tradingPairId: btc.id, symbol: 'BTC/USDC', baseIconUrl: null, quoteIconUrl: null, category: 'major', ...UNKNOWN, ...PERPETUAL,
  })
  t.equal(snapshot7d.length, 7)
  for (const { bucketStart, ...day } of snapshot7d) {
    t.equal(Number(bucketStart) % DAY, 0)
    t.strictSame(day, { quoteVolume: null, priceChangePercent: null, openInterestNotionalAvg: null })
  }
  t.strictSame(await read(t, 'GetMarketMetadata', about(btc.id, 'metadata')), {
    tradingPairId: btc.id, symbol: 'BTC/USDC', lastPrice: null, volume24h: null, quoteVolume24h: null, high24h: null, low24h: null,
    priceChangePercent24h: null,
  })
  t.strictSame(await read(t, 'GetCandles', about(btc.id, 'candles')), { tradingPairId: btc.id, interval: '1m', candles: [] })
})

t.test('the screener by hand', async (t) => {
  trade(0, TODAY - 9 * DAY, 5_000_000, 10)
  trade(0, TODAY - 2 * DAY, 6_400_000, 5)
  trade(0, NOW, 6_000_000, 20)
  trade(1, NOW, 200_000, 4000)
  trade(3, NOW, 3_333, 300_000)
  const { items } = await read(t, 'GetScreener', SCREENER)
  t.same(items.map(({ symbol }: { symbol: string }) => symbol), ['ETH/USDC', 'BTC/USDC', 'ETH/BTC', 'SEI/USDC'], 'by volume, unknown last')
  const { snapshot7d, ...item } = items[1]
  t.strictSame(item, {
    tradingPairId: btc.id, symbol: 'BTC/USDC', baseIconUrl: null, quoteIconUrl: null, category: 'major', ...PERPETUAL,
    lastPrice: '60000', lastPriceTimestamp: String(NOW), quoteVolume1h: '120', quoteVolume24h: '120', quoteVolume7d: '152',
    priceChangePercent1h: '-6.25', priceChangePercent24h: '-6.25', priceChangePercent7d: '20', totalQuoteVolumeLtd: '202',
    totalTradeCountLtd: 3,
  })
  const days = snapshot7d.map(({ quoteVolume, priceChangePercent }: Record<string, string>) => [quoteVolume, priceChangePercent])
  const quiet = ['0', '0']
  t.strictSame(days, [quiet, quiet, quiet, quiet, ['32', '28'], quiet, ['120', '-6.25']], 'quiet days are known to be quiet')
  t.equal(snapshot7d.at(-1).bucketStart, String(TODAY))
  t.match(items[0], { quoteVolume24h: '8000', priceChangePercent24h: null, totalTradeCountLtd: 1 }, 'new today: no price to compare with')
  const news = items[0].snapshot7d.map(({ quoteVolume }: { quoteVolume: string | null }) => quoteVolume)
  t.strictSame(news, [null, null, null, null, null, null, '8000'])
  t.match(items[2], { quoteVolume24h: '9.999', lastPrice: '0.03333' }, 'in units of its own quote asset')
})

t.test('pages and market types', async (t) => {
  const symbols = async (query: string): Promise<string[]> =>
    (await read(t, 'GetScreener', `${SCREENER}?${query}`)).items.map(({ symbol }: { symbol: string }) => symbol)
  const all = await symbols('pageSize=100')
  t.same(await symbols('pageSize=3'), all.slice(0, 3))
  t.same(await symbols('pageSize=3&page=2'), all.slice(3))
  t.same(await symbols('pageSize=3&page=10000'), [])
  t.same(await symbols('marketType=SPOT'), all)
  t.match(await read(t, 'GetScreener', `${SCREENER}?marketType=MARGIN`), { items: [], total: 0, totalPages: 0, page: 1, pageSize: 20 })
  for (const [query, field] of [
    ['page=0', 'page'], ['page=10001', 'page'], ['pageSize=0', 'pageSize'], ['pageSize=101', 'pageSize'], ['marketType=', 'marketType'],
    ['marketType=spot', 'marketType'], ['marketType=SPOT&marketType=SPOT', 'marketType'],
  ]) {
    t.match((await get(`${SCREENER}?${query}`)).json, { statusCode: 400, code: 'VALIDATION_ERROR', details: { field } }, query)
  }
})

t.test('metadata by hand', async (t) => {
  trade(0, NOW, 6_100_050, 1)
  trade(0, NOW, 5_900_000, 1)
  t.strictSame(await read(t, 'GetMarketMetadata', about(btc.id.toUpperCase(), 'metadata')), {
    tradingPairId: btc.id, symbol: 'BTC/USDC', lastPrice: '59000', volume24h: '0.0022', quoteVolume24h: '132.00005', high24h: '61000.5',
    low24h: '59000', priceChangePercent24h: '-7.8125',
  })
  t.match(await read(t, 'GetMarketMetadata', about(sei!.id, 'metadata')), { symbol: 'SEI/USDC', lastPrice: null, volume24h: null })
})

t.test('candles by hand', async (t) => {
  const start = Date.UTC(2024, 1, 29, 23, 58)
  trade(2, start + 59_999, 1000, 10)
  trade(2, start + MINUTE, 1100, 5)
  trade(2, start + MINUTE, 900, 5)
  trade(2, start + 4 * MINUTE, 950, 1)
  const target = about(sei!.id, 'candles')
  const { candles } = await read(t, 'GetCandles', target)
  const candle = (minute: number, o: string, h: string, l: string, c: string, v: string, q: string, n: number): object =>
    ({ t: start + minute * MINUTE, T: start + minute * MINUTE + 59_999, o, h, l, c, v, q, n })
  const all = [
    candle(0, '0.1', '0.1', '0.1', '0.1', '1', '0.1', 1),
    candle(1, '0.11', '0.11', '0.09', '0.09', '1', '0.1', 2),
    candle(2, '0.09', '0.09', '0.09', '0.09', '0', '0', 0),
    candle(3, '0.09', '0.09', '0.09', '0.09', '0', '0', 0),
    candle(4, '0.095', '0.095', '0.095', '0.095', '0.1', '0.0095', 1),
  ]
  t.strictSame(candles, all, 'flat between trades, none before the first and after the last')
  const asked = async (query: string): Promise<object[]> => (await read(t, 'GetCandles', `${target}?${query}`)).candles
  t.strictSame(await asked('limit=2'), all.slice(3), 'the last ones')
  t.strictSame(await asked(`limit=2&endTime=${start + 2 * MINUTE}`), all.slice(1, 3))
  t.strictSame(await asked(`limit=2&endTime=${start + 2 * MINUTE - 1}`), all.slice(0, 2), 'a candle belongs where it begins')
  t.strictSame(await asked(`limit=2&startTime=${start + MINUTE}`), all.slice(1, 3), 'the first ones from there')
  t.strictSame(await asked(`startTime=${start + MINUTE + 1}`), all.slice(2))
  t.strictSame(await asked('startTime=2024-03-01T00:00:00Z&endTime=2024-03-01T00:01:00.5Z'), all.slice(2, 4), 'RFC 3339')
  t.strictSame(await asked(`startTime=${start + 3 * MINUTE}&endTime=${start}`), [])
  t.strictSame(await asked(`startTime=${start + HOUR}`), [])
  t.strictSame(await asked(`endTime=${start - 1}`), [])
  for (const [interval, length] of Object.entries(INTERVALS)) {
    const answer = await read(t, 'GetCandles', `${target}?interval=${interval}`)
    t.equal(answer.interval, interval)
    t.equal(answer.candles.reduce((sum: number, { n }: { n: number }) => sum + n, 0), 4, `${interval} has every trade`)
    for (const { t: begin, T: end } of answer.candles) t.equal(end - begin, length - 1)
  }
  const [week] = await asked('interval=1w') as { t: number }[]
  t.equal(week!.t, Date.UTC(2024, 1, 26), 'weeks begin on Mondays')
})

t.test('what is malformed or not there', async (t) => {
  const target = about(eth!.id, 'candles')
  for (const [query, field] of [
    ['interval=', 'interval'], ['interval=2m', 'interval'], ['interval=1M', 'interval'], ['interval=1m&interval=1m', 'interval'],
    ['limit=0', 'limit'], ['limit=501', 'limit'], ['limit=1.5', 'limit'], ['startTime=x', 'startTime'], ['endTime=1.5', 'endTime'],
  ]) {
    t.match((await get(`${target}?${query}`)).json, { statusCode: 400, code: 'VALIDATION_ERROR', details: { field } }, query)
  }
  for (const field of ['startTime', 'endTime']) {
    const { json } = await get(`${target}?${field}=1768467600`)
    t.match(json, { statusCode: 400, details: { field }, message: /must be Unix milliseconds, not seconds/ }, `${field} in seconds`)
  }
  for (const limit of [1, 500]) t.equal((await get(`${target}?limit=${limit}&startTime=0&endTime=999999999999999`)).status, 200)
  for (const what of ['metadata', 'candles'] as const) {
    t.match((await get(about('7a1c0000-0000-4000-8000-00000000dead', what))).json, { statusCode: 404, code: 'NOT_FOUND' }, what)
    t.match((await get(about('x', what))).json, { statusCode: 400, details: { field: 'tradingPairId' } }, what)
  }
  t.equal(TABLE.GetCandles.access, 'public')
  t.equal((await get(about(cross!.id, 'metadata'))).status, 200)
})

t.test('changes in percent', async (t) => {
  for (const [before, now, text] of [
    [100, 100, '0'], [100, 101, '1'], [101, 100, '-0.9901'], [3, 4, '33.3333'], [3, 5, '66.6667'], [2_000_000, 2_000_001, '0.0001'],
    [2_000_000, 1_999_999, '-0.0001'], [2_000_001, 2_000_002, '0'], [2_000_001, 2_000_000, '0'], [1, 2 ** 30, '107374182300'],
  ] as const) t.equal(changePercent(before, now), text, `${before} to ${now}`)
})
