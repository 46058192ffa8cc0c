/**
 * A storm of liquidations on a real exchange: many small leveraged positions, each in a bucket of its own, some with a resting order, and
 * a price at which all of them fail at once. Against all of them stands one account that can bear it.
 */
import { createClient, type Client } from '../../gateway/client/index.ts'
import { askOperator, operate, type Exchange } from './exchange.ts'
import { shippedGenesis } from './shipped_genesis.ts'
import { newTrader, pairOf, type Trader } from './traders.ts'

export const STORM_PAIR = 'BTC/USDC-PERP'
/** Index price before, and that at which longs of 25 times fail by far. */
const [CALM, FALLEN] = ['65000', '60000']
/** One position; the lot is 0.0001. */
const QUANTITY = '0.001'
export const LOTS = 10
/** One bucket of so many has a resting order. */
export const RESTS_EVERY = 3
/** Orders under way at once. */
const ABREAST = 16

export interface Storm {
  /** Ids of orders that were acknowledged, all storms. */
  readonly acknowledged: string[]
  /** Owners of the buckets, each of which has so many. */
  readonly longs: readonly Trader[]
  readonly short: Trader
  readonly buckets: number
}

/** The shipped exchange with few rows, so that it starts soon. */
export function stormGenesis(): string {
  const document = shippedGenesis(true)
  Object.assign(document.limits, {
    orders: 4096, accounts: 64, sessions: 256, receipts: 4096, receiptPages: 1, openOrdersPerAccount: 1000, spendLimits: 64, agents: 64,
    marginAccounts: 64, riskBuckets: 1024, positions: 1024,
  })
  return JSON.stringify(document)
}

/** Wallets with collateral for so many buckets each. */
export async function gatherStorm(exchange: Exchange, owners: number, buckets: number): Promise<Storm> {
  const longs: Trader[] = []
  for (let owner = 0; owner < owners; owner++) longs.push(await newTrader(exchange.baseUrl))
  const short = await newTrader(exchange.baseUrl, 4)
  for (const { client } of longs) await deposit(client, '9000')
  await deposit(short.client, '39000')
  return { acknowledged: [], longs, short, buckets }
}

async function deposit(client: Client, amount: string): Promise<void> {
  const { accounts } = await client.ListMarginAccounts()
  await client.DepositCollateral({ marginAccountId: accounts[0]!.marginAccountId, amount })
}

/** Sets the index price, which is fresh from then on. */
async function setPrice(exchange: Exchange, price: string): Promise<void> {
  const { status, json } = await operate(exchange, '/perps/price', { pair: STORM_PAIR, price, force: true })
  if (status !== 200) throw new Error(`no price: ${JSON.stringify(json)}`)
}

/** Positions in every bucket, at a calm price. */
export async function buildUp(exchange: Exchange, storm: Storm): Promise<void> {
  await setPrice(exchange, CALM)
  // Sessions go on after a start, at another port.
  const of = ({ signer }: Trader): Client => createClient({ baseUrl: exchange.baseUrl, signer, timeoutMs: 20_000 })
  const client = of(storm.short)
  const tradingPairId = await pairOf(client, STORM_PAIR)
  const order = { tradingPairId, tradingMode: 'MARGIN', orderType: 'LIMIT', price: CALM } as const
  const all = (Number(QUANTITY) * storm.buckets * storm.longs.length).toFixed(3)
  storm.acknowledged.push((await client.CreateOrder({ ...order, side: 'SELL', quantity: all, leverage: '5' })).orderId)
  const wanted = storm.longs.map(of).flatMap((trader) => Array.from({ length: storm.buckets }, (_, key) => ({ trader, key })))
  const place = async (): Promise<void> => {
    for (let next = wanted.pop(); next !== undefined; next = wanted.pop()) {
      const mine = { ...order, leverage: '25', strategyKey: `key ${next.key}`, side: 'BUY', quantity: QUANTITY } as const
      storm.acknowledged.push((await next.trader.CreateOrder(mine)).orderId)
      if (next.key % RESTS_EVERY !== 0) continue
      // It rests far below, and ends with the liquidation.
      storm.acknowledged.push((await next.trader.CreateOrder({ ...mine, price: '50000' })).orderId)
    }
  }
  await Promise.all(Array.from({ length: ABREAST }, place))
}

/** The price at which all of them fail. */
export const breakOut = (exchange: Exchange): Promise<void> => setPrice(exchange, FALLEN)

/** Buckets that are in liquidation. */
export const liquidating = async (exchange: Exchange): Promise<number> => (await askOperator(exchange, '/liquidations'))['total']

/** Size of all longs. */
export async function openInterest(exchange: Exchange): Promise<string> {
  const { perps } = (await askOperator(exchange, '/perps')) as { perps: { symbol: string; openInterest: string }[] }
  return perps.find(({ symbol }) => symbol === STORM_PAIR)!.openInterest
}
