/**
 * Promise: on the whole exchange whoever listens to candles, trades and statistics, from the start or from the middle of trading, through
 * either gateway thread, has at rest what REST answers; also when the history was killed meanwhile.
 */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { historyReached, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { SocketClient, type Frame } from '../support/sockets.ts'
import { newTrader, pairOf } from '../support/traders.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const TRADES = 60
const INTERVALS = ['1m', '15m', '1h', '1w'] as const
t.setTimeout(600_000)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/e2e/ws_market_streams.test.ts`)

const directory = temporaryDirectory()
const exchange = await startExchange(directory, ['--gateways', '2', '--sign-in-per-ip', '1000', '--chain', '0'])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})
const random = createPrng(SEED)
const [maker, taker] = [await newTrader(exchange.baseUrl, 5), await newTrader(exchange.baseUrl, 5)]
const { client } = maker
const tradingPairId = await pairOf(client, 'SEI/USDC')
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** One trade, or several in one command. */
async function trade(): Promise<void> {
  const price = (0.3 + random.below(50) * 0.0001).toFixed(4)
  const parts = 1 + random.below(3)
  for (let part = 0; part < parts; part++) {
    await client.CreateOrder({ tradingPairId, orderType: 'LIMIT', side: 'SELL', quantity: '5', price })
  }
  await taker.client.CreateOrder({ tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: String(5 * parts), price })
}

async function listen(): Promise<SocketClient> {
  const socket = await SocketClient.open(exchange.port)
  for (const interval of INTERVALS) await socket.subscribe('ohlcv', { tradingPairId, interval })
  await socket.subscribe('trades', { tradingPairId })
  await socket.subscribe('market_stats')
  return socket
}

/** What a client has that followed all frames: candles by interval, trades, and statistics by pair. */
function followed(socket: SocketClient) {
  const candles = new Map<string, Frame[]>()
  const markets = new Map<string, Frame>()
  let trades: Frame[] = []
  for (const { channel, type, data } of socket.frames.filter((frame) => frame['data'] !== undefined)) {
    if (channel === 'trades') trades = type === 'snapshot' ? data.trades : [...trades, ...data.trades]
    if (channel === 'market_stats') for (const record of data.markets ?? [data]) markets.set(record.tradingPairId, record)
    if (channel !== 'ohlcv') continue
    const before: Frame[] = type === 'snapshot' ? [] : candles.get(data.interval)!
    const byTime = new Map([...before, ...(data.candles as Frame[])].map((candle) => [candle['t'], candle]))
    candles.set(data.interval, [...byTime.values()].slice(-100))
  }
  return { candles: Object.fromEntries(candles), trades, markets: Object.fromEntries(markets) }
}

/** What REST answers. */
async function atRest() {
  await historyReached(exchange)
  const pairs = (await client.ListTradingPairs({ pageSize: 100 })).tradingPairs
  const candles = INTERVALS.map(async (interval) => [interval, (await client.GetCandles({ tradingPairId, interval })).candles] as const)
  const markets = pairs.map(async ({ id }) => [id, await client.GetMarketMetadata({ tradingPairId: id })] as const)
  const { trades } = await client.ListTrades({ tradingPairId, pageSize: 1000, pageToken: '' })
  return {
    candles: Object.fromEntries(await Promise.all(candles)), markets: Object.fromEntries(await Promise.all(markets)),
    trades: trades.reverse(),
  }
}

t.test('whoever listens has what REST answers', async (t) => {
  const first = [await listen(), await listen()]
  for (const socket of first) await socket.next(({ channel, type }) => channel === 'trades' && type === 'snapshot')
  const late: SocketClient[] = []
  t.teardown(() => [...first, ...late].forEach((socket) => socket.close()))
  for (let i = 0; i < TRADES; i++) {
    await trade()
    if (i % 8 === 4) late.push(await listen())
    if (i === TRADES / 2) process.kill(Number(exchange.log.find(({ msg }) => msg === 'history follower started')!['pid']), 'SIGKILL')
  }
  const rest = await atRest()
  const problems = (socket: SocketClient): string[] => {
    const has = followed(socket)
    const wanted = { ...rest, trades: rest.trades.slice(-Math.max(has.trades.length, Math.min(50, rest.trades.length))) }
    return (['candles', 'trades', 'markets'] as const).filter((what) => !isDeepStrictEqual(has[what], wanted[what]))
  }
  for (const socket of [...first, ...late]) {
    for (let look = 0; look < 3_000 && problems(socket).length > 0; look++) await pause(20)
    t.strictSame(problems(socket), [])
  }
  for (const socket of first) t.equal(followed(socket).trades.length, rest.trades.length, 'every trade, once')
  t.ok(first[0]!.of('ohlcv').some(({ type }) => type === 'ohlcv_update'))
})
