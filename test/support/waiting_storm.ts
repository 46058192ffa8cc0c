/**
 * A storm of triggers and slices on a real exchange: many small positions, each in a bucket of its own with a stop-loss, a price that
 * crosses all of them at once, and TWAP orders whose slices come several times a second. Against all of them stands one account.
 */
import { createClient, type Client } from '../../gateway/client/index.ts'
import { operate, type Exchange } from './exchange.ts'
import { shippedGenesis } from './shipped_genesis.ts'
import { newTrader, pairOf, type Trader } from './traders.ts'

export const STORM_PAIR = 'BTC/USDC-PERP'
/** Index price before, the stops' trigger, and the price that crosses them; nobody lacks margin there. */
export const [CALM, TRIGGER, FALLEN] = ['65000', '64000', '63500']
/** One position; the lot is 0.0001. */
const QUANTITY = '0.001'
export const LOTS = 10
/** Orders under way at once. */
const ABREAST = 16
export const TWAP_LOTS = 200
/** Each TWAP order: so many lots in so many seconds; slices are 100 ms apart. */
const TWAP = { quantity: '0.02', durationSeconds: 4 } as const

export interface Storm {
  readonly longs: readonly Trader[]
  readonly short: Trader
  readonly buckets: number
  /** Ids of stop-losses that were answered, of all storms; of TWAP orders. */
  readonly stops: string[]
  readonly twaps: string[]
}

export function waitingGenesis(): string {
  const document = shippedGenesis(true)
  Object.assign(document.limits, {
    orders: 4096, accounts: 64, sessions: 256, receipts: 4096, receiptPages: 1, openOrdersPerAccount: 1000, spendLimits: 64, agents: 64,
    marginAccounts: 64, riskBuckets: 1024, positions: 1024, conditionalOrders: 4096, twapOrders: 1024, twapSliceMs: 100,
  })
  return JSON.stringify(document)
}

/** Wallets with collateral. */
export async function gatherStorm(exchange: Exchange, owners: number, buckets: number): Promise<Storm> {
  const longs: Trader[] = []
  for (let owner = 0; owner < owners; owner++) longs.push(await newTrader(exchange.baseUrl))
  const short = await newTrader(exchange.baseUrl, 4)
  for (const { client } of longs) await deposit(client, '9000')
  await deposit(short.client, '39000')
  return { longs, short, buckets, stops: [], twaps: [] }
}

async function deposit(client: Client, amount: string): Promise<void> {
  const { accounts } = await client.ListMarginAccounts()
  await client.DepositCollateral({ marginAccountId: accounts[0]!.marginAccountId, amount })
}

/** Sets the index price, which is fresh from then on. */
export async function setPrice(exchange: Exchange, price: string): Promise<void> {
  const { status, json } = await operate(exchange, '/perps/price', { pair: STORM_PAIR, price, force: true })
  if (status !== 200) throw new Error(`no price: ${JSON.stringify(json)}`)
}

/** Sessions go on after a start, at another port. */
const clientOf = (exchange: Exchange, { signer }: Trader): Client =>
  createClient({ baseUrl: exchange.baseUrl, signer, timeoutMs: 20_000 })

/** Positions with stop-losses in every bucket at a calm price, bids that take them below, and TWAP orders that buy and sell. */
export async function buildUp(exchange: Exchange, storm: Storm): Promise<void> {
  await setPrice(exchange, CALM)
  const short = clientOf(exchange, storm.short)
  const tradingPairId = await pairOf(short, STORM_PAIR)
  const order = { tradingPairId, tradingMode: 'MARGIN', orderType: 'LIMIT', price: CALM } as const
  const lots = LOTS * storm.buckets * storm.longs.length
  await short.CreateOrder({ ...order, side: 'SELL', quantity: (lots / 10_000).toFixed(4), leverage: '5' })
  const wanted = storm.longs.flatMap((owner) =>
    Array.from({ length: storm.buckets }, (_, key) => ({ trader: clientOf(exchange, owner), key })))
  const place = async (): Promise<void> => {
    for (let next = wanted.pop(); next !== undefined; next = wanted.pop()) {
      const stopLoss = { triggerPrice: TRIGGER, orderType: 'MARKET' } as const
      const mine = { ...order, leverage: '5', strategyKey: `key ${next.key}`, side: 'BUY', quantity: QUANTITY, stopLoss } as const
      storm.stops.push((await next.trader.CreateOrder(mine)).stopLossOrderId!)
    }
  }
  await Promise.all(Array.from({ length: ABREAST }, place))
  const bids = { ...order, side: 'BUY', price: FALLEN, quantity: (lots / 10_000).toFixed(4), leverage: '5', reduceOnly: true } as const
  await short.CreateOrder(bids)
  await startTwaps(exchange, storm, tradingPairId)
}

/** A TWAP order of each owner, in a bucket of its own, that buys what the account against them offers. */
async function startTwaps(exchange: Exchange, storm: Storm, tradingPairId: string): Promise<void> {
  const short = clientOf(exchange, storm.short)
  const offer = { tradingPairId, tradingMode: 'MARGIN', orderType: 'LIMIT', side: 'SELL', leverage: '5', strategyKey: 'offer' } as const
  await short.CreateOrder({ ...offer, price: '65500', quantity: ((TWAP_LOTS * storm.longs.length) / 10_000).toFixed(4) })
  for (const owner of storm.longs) {
    const terms = { ...TWAP, tradingPairId, side: 'BUY', tradingMode: 'MARGIN', leverage: '5', strategyKey: 'twap' } as const
    storm.twaps.push((await clientOf(exchange, owner).CreateTwapOrder(terms)).twapOrderId)
  }
}

/** Sells what the TWAP orders bought, so that the next storm begins like the first. */
export async function tidyUp(exchange: Exchange, storm: Storm): Promise<void> {
  const short = clientOf(exchange, storm.short)
  const tradingPairId = await pairOf(short, STORM_PAIR)
  // The one of before the start may be stale by now.
  await setPrice(exchange, FALLEN)
  await short.BatchCancelAllOrders()
  for (const owner of storm.longs) await clientOf(exchange, owner).BatchCancelAllOrders()
  const bid = { tradingPairId, tradingMode: 'MARGIN', orderType: 'LIMIT', side: 'BUY', price: FALLEN, leverage: '5' } as const
  await short.CreateOrder({ ...bid, strategyKey: 'offer', quantity: ((TWAP_LOTS * storm.longs.length) / 10_000).toFixed(4) })
  for (const owner of storm.longs) {
    const client = clientOf(exchange, owner)
    const { positions } = await client.ListPositions()
    for (const { positionId } of positions) await client.ClosePosition({ positionId })
  }
  await short.BatchCancelAllOrders()
}

/** Conditional orders that wait, and TWAP orders that run. */
export async function waiting(exchange: Exchange, storm: Storm): Promise<{ stops: number; twaps: number }> {
  let [stops, twaps] = [0, 0]
  for (const owner of storm.longs) {
    const client = clientOf(exchange, owner)
    stops += (await client.ListConditionalOrders({ state: ['PENDING', 'ARMED'], pageSize: 1000 })).conditionalOrders.length
    twaps += (await client.ListTwapOrders({ state: ['PENDING', 'ACTIVE'], pageSize: 1000 })).twapOrders.length
  }
  return { stops, twaps }
}
