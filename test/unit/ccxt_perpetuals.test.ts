/**
 * Promise: ccxt's verbs for perpetuals tell funding with its sign, its market and in its order, whatever pages it comes in, and never close
 * a position that was not named where there are several. Against a client in this file; the real exchange is in e2e/ccxt_adapter.deep.ts.
 */
import t from 'tap'
import { ArgumentsRequired, BadSymbol, NotSupported, Ringbook } from '../../gateway/client/ccxt/index.ts'
import type { Client } from '../../gateway/client/index.ts'

const pairOf = (id: string, symbol: string, marketType: string): object => ({
  id, symbol, marketType, baseToken: symbol.split('/')[0], quoteToken: 'USDC', baseAssetId: 'b', quoteAssetId: 'q', isActive: true,
  takerFeeBps: '5', makerFeeBps: '1', lotSize: '0.001', tickSize: '0.5', minOrderSize: '0.001', maxOrderSize: '10', minNotional: '1',
  baseAmountDecimals: 8, quoteAmountDecimals: 6,
})
const PAIRS = [pairOf('btc', 'BTC/USDC-PERP', 'MARGIN'), pairOf('eth', 'ETH/USDC-PERP', 'MARGIN'), pairOf('spot', 'BTC/USDC', 'SPOT')]
const timeOf = (minute: number): string => `2026-01-01T00:0${minute}:00.000Z`
const positionOf = (positionId: string, tradingPairId: string, side: string): object => ({
  positionId, tradingPairId, side, status: 'OPEN', size: '0.02', entryPrice: '100', markPrice: '110', leverage: '5', marginMode: 'CROSS',
  initialMarginRequired: '0.44', maintenanceMarginRequired: '0.022', realizedPnl: '0', unrealizedPnl: '0.2', accruedFunding: '0',
  version: 3, createdAt: timeOf(0), updatedAt: timeOf(1), riskBucketId: 'r', marginAccountId: 'm', symbol: 'X',
})
const POSITIONS = [positionOf('p1', 'btc', 'LONG'), positionOf('p2', 'btc', 'SHORT'), positionOf('p3', 'eth', 'SHORT')] as
  { positionId: string; tradingPairId: string }[]

/** Newest first, as the service lists them. */
const MOVEMENTS = [['p3', 'DEBIT', 9], ['p1', 'DEBIT', 7], ['p2', 'CREDIT', 5], ['p3', 'CREDIT', 3], ['p1', 'CREDIT', 1]].map(
  ([referenceId, entryType, minute]) =>
    ({ id: `m${minute}`, referenceId, entryType, amount: '1.5', symbol: 'USDC', token: '0x', createdAt: timeOf(Number(minute)) }),
)

const RATES = [8, 4].map((minute) => ({ fundingRate: `0.00${minute}`, fundingTime: timeOf(minute) }))

/** A client that answers this, in pages of `rows`, of a perpetual that pays funding every so many seconds; what was called is kept. */
function venueOf(rows = 2, seconds = 28_800): { venue: Ringbook; called: [string, Record<string, unknown>][] } {
  const called: [string, Record<string, unknown>][] = []
  const page = (name: string, all: readonly object[], token: unknown): object => {
    const from = Number(token)
    return { [name]: all.slice(from, from + rows), nextPageToken: from + rows < all.length ? String(from + rows) : '' }
  }
  const answers: Record<string, (input: Record<string, unknown>) => object> = {
    ListTradingPairs: () => ({ tradingPairs: PAIRS, totalPages: 1 }),
    ListPositions: ({ tradingPairId, pageToken }) =>
      page('positions', POSITIONS.filter((each) => tradingPairId === undefined || each.tradingPairId === tradingPairId), pageToken),
    GetPosition: ({ positionId }) => POSITIONS.find((each) => each.positionId === positionId)!,
    GetPositionRisk: ({ positionId }) =>
      ({ ...POSITIONS.find((each) => each.positionId === positionId)!, equity: '2.5', marginRatio: '0.01' }),
    GetMarketMetadata: () =>
      ({ symbol: 'BTC/USDC-PERP', markPrice: '110', indexPrice: '109', nextFundingTime: timeOf(9), predictedFundingRate: '-0.0025' }),
    ListFundingRates: ({ pageSize }) => ({ fundingRates: RATES.slice(0, Number(pageSize)) }),
    GetPerpConfig: () => ({ symbol: 'BTC/USDC-PERP', fundingIntervalSeconds: seconds }),
    ListMovements: ({ startTime = 0, pageToken }) =>
      page('movements', MOVEMENTS.filter(({ createdAt }) => Date.parse(createdAt) >= Number(startTime)), pageToken),
    ClosePosition: ({ quantity = '0.02' }) => ({
      closeOrderId: 'o', submittedQuantity: quantity, engineTime: timeOf(9),
      matchResult: { status: 'FILLED', totalFilled: quantity, remainingQuantity: '0', averageFillPrice: '110', tradesCount: 1 },
    }),
  }
  const entries = Object.entries(answers).map(([name, answer]) => [name, async (input: Record<string, unknown> = {}) => {
    called.push([name, input])
    return answer(input)
  }])
  return { venue: new Ringbook({ client: { signer: {}, ...Object.fromEntries(entries) } as Client }), called }
}

const SWAP = 'BTC/USDC:USDC'

t.test('funding has its sign, its market and its order', async (t) => {
  const { venue, called } = venueOf()
  const all = await venue.fetchFundingHistory()
  t.same(all.map(({ id, amount }) => [id, amount]), [['m1', 1.5], ['m3', 1.5], ['m5', 1.5], ['m7', -1.5], ['m9', -1.5]])
  t.match(all[0], { symbol: SWAP, code: 'USDC', datetime: timeOf(1), timestamp: Date.parse(timeOf(1)) })
  t.equal(called.filter(([name]) => name === 'GetPosition').length, 3, 'each position is looked up once')
  t.same((await venue.fetchFundingHistory(SWAP)).map(({ id }) => id), ['m1', 'm5', 'm7'])
  t.same((await venue.fetchFundingHistory(SWAP, undefined, 2)).map(({ id }) => id), ['m5', 'm7'], 'the newest')
  t.same((await venue.fetchFundingHistory(SWAP, Date.parse(timeOf(2)), 1)).map(({ id }) => id), ['m5'], 'the oldest from a time on')
  t.same((await venue.fetchFundingHistory('ETH/USDC:USDC', 0)).map(({ id }) => id), ['m3', 'm9'])
  await t.rejects(venue.fetchFundingHistory('BTC/USDC'), BadSymbol)
})

t.test('the rate of the running interval and the one that was paid last', async (t) => {
  const rate = await venueOf().venue.fetchFundingRate(SWAP)
  const [fundingDatetime, previousFundingDatetime] = [timeOf(9), timeOf(8)]
  t.match(rate, {
    symbol: SWAP, markPrice: 110, indexPrice: 109, interval: '8h',
    fundingRate: -0.0025, fundingDatetime, fundingTimestamp: Date.parse(fundingDatetime),
    previousFundingRate: 0.008, previousFundingDatetime, previousFundingTimestamp: Date.parse(previousFundingDatetime),
  })
  t.same([rate.nextFundingRate, rate.nextFundingTimestamp, rate.nextFundingDatetime], [undefined, undefined, undefined], 'nobody knows')
  for (const [seconds, interval] of [[3600, '1h'], [60, '1m'], [5400, '90m'], [61, '61s']] as const) {
    t.equal((await venueOf(2, seconds).venue.fetchFundingRate(SWAP)).interval, interval)
  }
  await t.rejects(venueOf().venue.fetchFundingRate('BTC/USDC'), BadSymbol)
})

t.test('one of several positions has to be named', async (t) => {
  const { venue, called } = venueOf()
  t.same((await venue.fetchPositions()).map(({ id, side }) => [id, side]), [['p1', 'long'], ['p2', 'short'], ['p3', 'short']])
  t.same((await venue.fetchPositions(['ETH/USDC:USDC'])).map(({ id }) => id), ['p3'])
  await t.rejects(venue.fetchPosition(SWAP), ArgumentsRequired)
  await t.rejects(venue.closePosition(SWAP), ArgumentsRequired)
  await t.rejects(venue.closePosition(SWAP, 'long', { positionId: 'p2' }), BadSymbol)
  await t.rejects(venue.closePosition(SWAP, 'long', { positionId: 'p1', reduceOnly: true }), NotSupported)
  t.notOk(called.some(([name]) => name === 'ClosePosition'), 'nothing was sent')
  const risk = await venue.fetchPosition(SWAP, { positionId: 'p2' })
  t.match(risk, { id: 'p2', collateral: 2.5, marginRatio: 0.01, marginMode: 'cross', percentage: 0.2 / 0.44 * 100, notional: 0.02 * 110 })
  const whole = await venue.closePosition(SWAP, 'sell', { positionId: 'p2' })
  t.match(whole, { id: 'o', side: 'buy', type: 'market', amount: 0.02, reduceOnly: true })
  const part = { positionId: 'p1', quantity: 0.0119, closeType: 'limit', price: 110.3 }
  t.match(await venue.closePosition(SWAP, undefined, part), { side: 'sell', type: 'limit' })
  t.same(called.filter(([name]) => name === 'ClosePosition').map(([, input]) => input), [
    { positionId: 'p2', closeType: 'MARKET' }, { positionId: 'p1', closeType: 'LIMIT', quantity: '0.011', price: '110.5' },
  ])
  await t.rejects(venue.setMarginMode(), NotSupported)
})
