/**
 * Promise: candles, trades and statistics on the socket are what REST answers; wrong parameters are refused; a history that is away, fails
 * or is behind costs the snapshot and nothing else, and the snapshot follows; places of what is still to come are empty and private.
 */
import t, { type Test } from 'tap'
import { CLOCK } from '../../core/state/columns.ts'
import type { HistoryTrade } from '../../core/history/answer/queries.ts'
import { Flag } from '../../core/layout/command.ts'
import { EventType, eventTypeOf, FILL, RESULT } from '../../core/layout/event.ts'
import { decode, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { attachBroadcast, createReader, read } from '../../core/ring/broadcast.ts'
import { HISTORY, historyCounters } from '../../core/ring/counters.ts'
import { call, request, startHarness, testGenesis, type Historian } from '../support/gateway_harness.ts'
import { answerNaively, createNaiveHistory } from '../support/naive_history.ts'
import { signerOf, SocketClient, type Frame } from '../support/sockets.ts'

const history = createNaiveHistory()
/** What the history does: answers; fails; or answers, this many times, as of a moment before the newest command. */
let mode: 'answers' | 'fails' | 'behind' = 'answers'
let behind = 0
let take = (): number => 0
const historian: Historian = (asked) => {
  if (mode === 'fails') return { id: asked.id, failed: 'disk' }
  const before = [...history.trades]
  const reached = take()
  if (mode === 'answers' || behind === 0) return { ...answerNaively(history, asked), sequence: reached }
  behind--
  return { ...answerNaively({ ...history, trades: before.slice(0, -1) }, asked), sequence: asked.atLeast - 1 }
}
const harness = await startHarness(['--event-ring', '4096'], testGenesis(), historian)
t.teardown(() => harness.close())
const { genesis, port } = harness
history.genesis = genesis
take = followEvents()
const [pair, other, third] = ['ETH/USDC', 'BTC/USDC', 'SEI/USDC'].map((name) => genesis.pairs.find(({ symbol }) => symbol === name)!) as
  [(typeof genesis.pairs)[0], (typeof genesis.pairs)[0], (typeof genesis.pairs)[0]]
const up = historyCounters(harness.shared.counters)

/** Takes in what the event ring has; the sequence of the last command. */
function followEvents(): () => number {
  const reader = createReader(attachBroadcast(harness.shared.events), 256, 0)
  const views = viewsOf(reader.copy.buffer)
  let sequence = 0
  return () => {
    for (let count = read(reader); count > 0; count = read(reader)) {
      for (let base = 0; base < count * RECORD_WORDS; base += RECORD_WORDS) {
        const type = eventTypeOf(views.u32[base]!)
        if (type === EventType.RESULT) sequence = views.f64[(base + RESULT.at.sequence) >>> 1]!
        if (type !== EventType.FILL) continue
        const fill = decode(FILL, views, base) as unknown as HistoryTrade & { makerFlags: number }
        history.trades.push({ ...fill, makerSells: (fill.makerFlags & Flag.SELL) !== 0 })
      }
    }
    return sequence
  }
}

const trader = async () => {
  const session = await harness.openSession()
  await call(harness, session, 'POST', '/api/v1/faucet/mint', {})
  return session
}
const [maker, taker] = [await trader(), await trader()]
/** One trade. */
async function trade(quantity = '0.01', price = '3000', of = pair): Promise<void> {
  for (const [session, side] of [[maker, 'SELL'], [taker, 'BUY']] as const) {
    const order = { tradingPairId: of.id, orderType: 'LIMIT', side, quantity, price }
    const { status, text } = await call(harness, session, 'POST', '/api/v1/orders', order)
    if (status !== 200) throw new Error(text)
  }
}
/** What REST answers when the history has everything: an answer to an order may be here before its events are. */
async function rest(target: string): Promise<any> {
  for (let i = 0; i < 10_000 && take() < harness.state.clock[CLOCK.SEQUENCE]!; i++) await new Promise((resolve) => setTimeout(resolve, 1))
  return (await request(port, 'GET', `/api/v1/${target}`)).json
}
const INTERVALS = ['1m', '5m', '15m', '30m', '1h', '4h', '1d', '1w'] as const
const isOf = (channel: string, type: string) => (frame: Frame): boolean => frame['channel'] === channel && frame['type'] === type
const candlesOf = async (interval: string) => (await rest(`market/pairs/${pair.id}/candles?interval=${interval}`)).candles

/** Waits until what a client has of candles is what REST answers. */
async function followsCandles(t: Test, client: SocketClient, interval: string): Promise<void> {
  let has: Frame[] = []
  const wanted = await candlesOf(interval)
  const candles = (frame: Frame): Frame[] => (frame['data']?.interval === interval ? frame['data'].candles : [])
  await client.next((frame) => {
    if (frame['type'] === 'snapshot' && frame['data'].interval === interval) has = []
    for (const candle of candles(frame)) has = [...has.filter((each) => each['t'] !== candle['t']), candle]
    return has.length > 0 && JSON.stringify(has.at(-1)) === JSON.stringify(wanted.at(-1))
  })
  t.strictSame(has, wanted, interval)
}

t.test('parameters that are wrong', async (t) => {
  const client = await SocketClient.open(port)
  t.teardown(() => client.close())
  const { id: tradingPairId } = pair
  const unknown = '7a1c0000-0000-4000-8000-00000000dead'
  for (const [channel, params, message] of [
    ['ohlcv', {}, /tradingPairId/], ['ohlcv', { tradingPairId }, /interval/], ['ohlcv', { tradingPairId, interval: '2m' }, /interval/],
    ['ohlcv', { tradingPairId, interval: '1M' }, /interval/], ['ohlcv', { tradingPairId, interval: 60 }, /interval/],
    ['ohlcv', { tradingPairId, interval: ['1m'] }, /interval/], ['ohlcv', { tradingPairId, interval: null }, /interval/],
    ['ohlcv', { tradingPairId: unknown, interval: '1m' }, /names no trading pair/], ['trades', {}, /tradingPairId/],
    ['trades', { tradingPairId: 'x' }, /tradingPairId/], ['market_stats', { tradingPairId: unknown }, /names no trading pair/],
    ['market_stats', { tradingPairId: 7 }, /tradingPairId/],
  ] as const) t.match(await client.subscribe(channel, params), { type: 'error', code: 'INVALID_SUBSCRIPTION', message, channel })
  t.match(await client.subscribe('market_stats', { tradingPairId: null, surprise: 1 }), { type: 'subscribed', params: {} })
  t.match(await client.subscribe('ohlcv', { tradingPairId: tradingPairId.toUpperCase(), interval: '1w' }), {
    type: 'subscribed', params: { tradingPairId, interval: '1w' },
  })
})

t.test('before any trade', async (t) => {
  const client = await SocketClient.open(port)
  t.teardown(() => client.close())
  await client.subscribe('ohlcv', { tradingPairId: pair.id, interval: '1m' })
  await client.subscribe('trades', { tradingPairId: pair.id })
  await client.subscribe('market_stats', { tradingPairId: pair.id })
  t.strictSame((await client.next(isOf('ohlcv', 'snapshot')))['data'], { tradingPairId: pair.id, interval: '1m', candles: [] })
  t.strictSame((await client.next(isOf('trades', 'snapshot')))['data'], { tradingPairId: pair.id, trades: [] })
  const { data } = await client.next(isOf('market_stats', 'snapshot'))
  t.strictSame(data, { tradingPairId: pair.id, markets: [await rest(`market/pairs/${pair.id}/metadata`)] })
  t.equal(data.markets[0].lastPrice, null)
})

t.test('candles of every interval: snapshot, updates, a new snapshot, and no more when it is over', async (t) => {
  await trade('0.02', '2990')
  const client = await SocketClient.open(port)
  t.teardown(() => client.close())
  for (const interval of INTERVALS) {
    t.match(await client.subscribe('ohlcv', { tradingPairId: pair.id, interval }), { type: 'subscribed', params: { interval } })
  }
  await trade('0.01', '3000')
  await trade('0.03', '2980.5')
  for (const interval of INTERVALS) await followsCandles(t, client, interval)
  const frames = client.of('ohlcv').filter(({ data }) => data.interval === '1d')
  t.equal(frames.filter(({ type }) => type === 'snapshot').length, 1)
  t.ok(frames.every(({ sequence }, i) => i === 0 || sequence > frames[i - 1]!['sequence']), 'sequences grow')
  const params = { tradingPairId: pair.id, interval: '1d' }
  const from = client.frames.length
  await client.subscribe('ohlcv', params)
  const again = await client.next(isOf('ohlcv', 'snapshot'), from)
  t.strictSame(again['data'].candles, await candlesOf('1d'), 'subscribed again')
  t.match(await client.ask({ type: 'unsubscribe', channel: 'ohlcv', params }), { type: 'unsubscribed', params })
  t.match(await client.ask({ type: 'unsubscribe', channel: 'ohlcv', params }), { type: 'error', code: 'INVALID_SUBSCRIPTION' })
  const over = client.frames.length
  await trade()
  await followsCandles(t, client, '1m')
  t.strictSame(client.of('ohlcv', over).filter(({ data }) => data.interval === '1d'), [])
})

t.test('the newest trades, then those that follow', async (t) => {
  for (let i = 0; i < 50; i++) await trade()
  const client = await SocketClient.open(port)
  t.teardown(() => client.close())
  const newest = async () => (await rest(`trades?tradingPairId=${pair.id}&pageSize=50`)).trades.reverse()
  const before = await newest()
  await client.subscribe('trades', { tradingPairId: pair.id })
  const snapshot = await client.next(isOf('trades', 'snapshot'))
  t.strictSame(snapshot['data'], { tradingPairId: pair.id, trades: before })
  await trade('0.05')
  const update = await client.next(isOf('trades', 'trades_update'))
  t.match(update['data'], { tradingPairId: pair.id, trades: [{ quantity: '0.05' }] })
  t.ok(update['sequence'] > snapshot['sequence'])
  const late = await SocketClient.open(port)
  t.teardown(() => late.close())
  await late.subscribe('trades', { tradingPairId: pair.id })
  const known = { sequence: update['sequence'], data: { trades: await newest() } }
  t.match(await late.next(isOf('trades', 'snapshot')), known, 'who comes later')
})

t.test('statistics of one pair and of all: the same frames, of what changed alone', async (t) => {
  const [one, all] = [await SocketClient.open(port), await SocketClient.open(port)]
  t.teardown(() => [one, all].forEach((client) => client.close()))
  await one.subscribe('market_stats', { tradingPairId: pair.id })
  await all.subscribe('market_stats')
  const metadata = ({ id }: { id: string }) => rest(`market/pairs/${id}/metadata`)
  t.strictSame((await all.next(isOf('market_stats', 'snapshot')))['data'], { markets: await Promise.all(genesis.pairs.map(metadata)) })
  t.strictSame((await one.next(isOf('market_stats', 'snapshot')))['data'].markets, [await metadata(pair)])
  await trade('0.07', '3333')
  const isUpdate = (frame: Frame): boolean => isOf('market_stats', 'market_stats_update')(frame) && frame['data'].lastPrice === '3333'
  const [mine, everybodys] = [await one.next(isUpdate), await all.next(isUpdate)]
  t.strictSame(mine, everybodys)
  t.strictSame(mine['data'], await metadata(pair))
  await trade('0.001', '60000', other)
  t.match(await all.next(({ data }) => data?.tradingPairId === other.id), { data: await metadata(other) })
  t.notOk(one.frames.some(({ data }) => data?.tradingPairId === other.id), 'not of other pairs')
  t.notOk(all.frames.some(({ type, data }) => type === 'market_stats_update' && ![pair.id, other.id].includes(data.tradingPairId)))
})

const CHANNELS = [['ohlcv', { interval: '5m' }], ['trades', {}], ['market_stats', {}]] as const

t.test('a history that is away: the subscription stands, trades go on, and the snapshots follow', async (t) => {
  up[HISTORY.up] = 0
  const client = await SocketClient.open(port)
  t.teardown(() => client.close())
  for (const [channel, params] of CHANNELS) {
    const from = client.frames.length
    t.match(await client.subscribe(channel, { tradingPairId: other.id, ...params }), { type: 'subscribed' })
    t.match(await client.next(({ type }) => type === 'error', from), { code: 'SNAPSHOT_UNAVAILABLE', channel, id: String })
  }
  await trade('0.002', '60000', other)
  t.match(await client.next(isOf('trades', 'trades_update')), { data: { trades: [{ quantity: '0.002' }] } }, 'trades go on')
  t.notOk(client.frames.some(({ type }) => type === 'snapshot'))
  up[HISTORY.up] = 1
  for (const [channel] of CHANNELS) t.ok(await client.next(isOf(channel, 'snapshot')), channel)
  t.equal(client.frames.filter(({ type }) => type === 'error').length, CHANNELS.length, 'it was said once')
  t.strictSame((await client.next(isOf('market_stats', 'snapshot')))['data'].markets, [await rest(`market/pairs/${other.id}/metadata`)])
})

t.test('a history that fails says so, once, and the snapshots follow', async (t) => {
  mode = 'fails'
  const client = await SocketClient.open(port)
  t.teardown(() => client.close())
  const { id: tradingPairId } = third
  for (const [channel, params] of CHANNELS) {
    await client.subscribe(channel, { tradingPairId, ...params })
    t.match(await client.next(({ type, channel: of }) => type === 'error' && of === channel), { code: 'SNAPSHOT_UNAVAILABLE' })
  }
  mode = 'answers'
  for (const [channel] of CHANNELS) t.ok(await client.next(isOf(channel, 'snapshot')), channel)
  t.equal(client.frames.filter(({ type }) => type === 'error').length, CHANNELS.length)
})

t.test('a history that is behind is asked again: no snapshot has less than the events that were missed', async (t) => {
  await trade('0.011')
  const client = await SocketClient.open(port)
  t.teardown(() => client.close())
  for (const [channel, params] of [['ohlcv', { interval: '1h' }], ['trades', {}]] as const) {
    mode = 'behind'
    behind = 3
    await client.subscribe(channel, { tradingPairId: pair.id, ...params })
    t.ok(await client.next(isOf(channel, 'snapshot')))
    t.equal(behind, 0, 'it was asked until it was far enough')
  }
  mode = 'answers'
  t.match((await client.next(isOf('trades', 'snapshot')))['data'].trades.at(-1), { quantity: '0.011' })
  await followsCandles(t, client, '1h')
})

t.test('places of what is still to come: private, empty, and nobody\'s margin account is there', async (t) => {
  const client = await SocketClient.open(port)
  t.teardown(() => client.close())
  const { id: tradingPairId } = pair
  for (const [channel, params, snapshot] of [
    ['conditionalOrders', {}, { data: { conditionalOrders: [] } }], ['twapOrders', {}, { reason: 'snapshot', data: { twapOrders: [] } }],
    ['twapOrders', { tradingPairId }, { reason: 'snapshot', data: { tradingPairId, twapOrders: [] } }],
    ['positions', {}, { data: { positions: [] } }], ['account', {}, { data: { accounts: [] } }],
    ['liquidations', {}, { data: { liquidations: [] } }],
  ] as const) {
    t.match(await client.subscribe(channel, params), { type: 'error', code: 'AUTH_REQUIRED', channel }, channel)
    const mine = await SocketClient.open(port)
    await mine.authenticate(signerOf(maker))
    t.match(await mine.subscribe(channel, params), { type: 'subscribed', channel, params })
    const { timestamp: _, ...told } = await mine.next(isOf(channel, 'snapshot'))
    t.strictSame(told, { channel, type: 'snapshot', ...snapshot })
    t.match(await mine.ask({ type: 'unsubscribe', channel, params }), { type: 'unsubscribed' })
    mine.close()
  }
  await client.authenticate(signerOf(maker))
  const unknown = '7a1c0000-0000-4000-8000-00000000dead'
  for (const [channel, params, message] of [
    ['account', { marginAccountId: unknown }, /names no margin account/], ['account', { marginAccountId: 'x' }, /marginAccountId/],
    ['twapOrders', { tradingPairId: unknown }, /names no trading pair/],
  ] as const) t.match(await client.subscribe(channel, params), { type: 'error', code: 'INVALID_SUBSCRIPTION', message, channel })
})
