/**
 * Copies on a real exchange: one leader, whom many small accounts follow, and one account that makes the market for all of them. Each order
 * of the leader takes as many commands as he has followers.
 */
import { createClient, type Client } from '../../gateway/client/index.ts'
import { askOperator, operate, type Exchange } from './exchange.ts'
import { shippedGenesis } from './shipped_genesis.ts'
import { newTrader, pairOf, type Trader } from './traders.ts'

const PAIR = 'BTC/USDC-PERP'
/** Index price, and what the market maker bids and asks. */
const [PRICE, BID, ASK] = ['65000', '64990', '65010']
/** What the leader has, and what follows him in each account: so a copy is a tenth of his. */
const [EQUITY, ALLOCATION] = ['9000', '900']
/** Of one order of the leader; the lot is 0.0001. */
const QUANTITY = '0.012'
const HANDLE = 'storm'
/** Requests under way at once. */
const ABREAST = 4

export interface Storm {
  readonly leader: Trader
  readonly maker: Trader
  readonly followers: readonly Trader[]
  /** Follows by place of their followers, oldest first. */
  readonly follows: readonly string[]
}

/** The shipped exchange with few rows, so that it starts soon. */
export function copyGenesis(): string {
  const document = shippedGenesis(true)
  Object.assign(document.limits, {
    orders: 4096, accounts: 512, sessions: 1024, receipts: 4096, receiptPages: 1, openOrdersPerAccount: 1000, spendLimits: 64, agents: 64,
    marginAccounts: 1024, riskBuckets: 2048, positions: 2048, leaders: 64, follows: 1024,
  })
  return JSON.stringify(document)
}

async function deposit(client: Client, amount: string): Promise<void> {
  const { accounts } = await client.ListMarginAccounts()
  await client.DepositCollateral({ marginAccountId: accounts[0]!.marginAccountId, amount })
}

/** Does `work` for every one of them, some at once. */
async function forEach<T>(all: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  const left = [...all].reverse()
  const go = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await work(next)
  }
  await Promise.all(Array.from({ length: ABREAST }, go))
}

/** Sets the index price, which is fresh from then on. */
export async function setPrice(exchange: Exchange): Promise<void> {
  const { status, json } = await operate(exchange, '/perps/price', { pair: PAIR, price: PRICE, force: true })
  if (status !== 200) throw new Error(`no price: ${JSON.stringify(json)}`)
}

/** Wallets with collateral, the handle, and the follows, one after the other. */
export async function gatherStorm(exchange: Exchange, count: number): Promise<Storm> {
  const leader = await newTrader(exchange.baseUrl)
  const maker = await newTrader(exchange.baseUrl, 4)
  await deposit(leader.client, EQUITY)
  await deposit(maker.client, '39000')
  await leader.client.RegisterLeader({ handle: HANDLE })
  const followers: Trader[] = []
  await forEach(Array.from({ length: count }, (_, index) => index), async () => {
    const follower = await newTrader(exchange.baseUrl)
    await deposit(follower.client, '1000')
    followers.push(follower)
  })
  const follows: string[] = []
  for (const { client } of followers) follows.push((await client.CreateFollow({ leader: HANDLE, allocation: ALLOCATION })).followId)
  return { leader, maker, followers, follows }
}

/** Sessions go on after a start, at another port. */
export const clientOf = (exchange: Exchange, { signer }: Trader): Client =>
  createClient({ baseUrl: exchange.baseUrl, signer, timeoutMs: 20_000 })

/** Bids and asks for more than everybody together wants with `orders` orders of the leader. */
export async function makeMarket(exchange: Exchange, { maker, followers }: Storm, orders: number): Promise<void> {
  await setPrice(exchange)
  const client = clientOf(exchange, maker)
  await client.BatchCancelAllOrders()
  const quantity = (Number(QUANTITY) * orders * (2 + followers.length / 10)).toFixed(4)
  const tradingPairId = await pairOf(client, PAIR)
  for (const [side, price] of [['BUY', BID], ['SELL', ASK]] as const) {
    await client.CreateOrder({ tradingPairId, tradingMode: 'MARGIN', orderType: 'LIMIT', leverage: '25', side, price, quantity })
  }
}

/** The leader buys or sells, so often; an order whose answer does not come is the last. */
export async function lead(exchange: Exchange, { leader }: Storm, side: 'BUY' | 'SELL', orders: number): Promise<void> {
  const client = clientOf(exchange, leader)
  const tradingPairId = await pairOf(client, PAIR)
  const order = { tradingPairId, tradingMode: 'MARGIN', orderType: 'MARKET', leverage: '5', side, quantity: QUANTITY } as const
  for (let index = 0; index < orders; index++) await client.CreateOrder(order)
}

/** How many perpetuals of leaders have something that is not mirrored to everybody. */
export const waiting = async (exchange: Exchange): Promise<number> => (await askOperator(exchange, '/copies'))['waiting']

/** Lots of the copy of each follower, signed, as he reads them, by follow. */
export async function copied(exchange: Exchange, storm: Storm): Promise<Map<string, number>> {
  const all = new Map(storm.follows.map((follow) => [follow, 0]))
  await forEach(storm.followers, async (follower) => {
    for (const { strategyKey, side, size } of (await clientOf(exchange, follower).ListPositions()).positions) {
      all.set(strategyKey!.slice('copy:'.length), Math.round(Number(size) * 10_000) * (side === 'LONG' ? 1 : -1))
    }
  })
  return all
}
