/**
 * Promise: what the operator decides holds for everybody at once and outlives the process: a pair that is halted or open for cancels
 * only, a fee tier given by hand, and the tiers that accounts earn by their volume without anybody's doing.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createClient } from '../../gateway/client/index.ts'
import { operate as post, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

const root = join(import.meta.dirname, '..', '..')
const directory = temporaryDirectory()
/** Volumes that a test can reach: 100 USDC lead to tier 1. */
const genesisPath = join(directory, 'genesis.json')
const genesis = JSON.parse(readFileSync(join(root, 'data', 'genesis', 'genesis.json'), 'utf8')) as {
  limits: object; feeTiers: { tiers: { minVolume: string }[] }
}
genesis.limits = { ...genesis.limits, orders: 4096, accounts: 1024, sessions: 1024, receipts: 4096 }
genesis.feeTiers.tiers.forEach((tier, index) => (tier.minVolume = String(index * 100)))
writeFileSync(genesisPath, JSON.stringify(genesis))
/** Tiers are worked out at the start and then so often, seconds: at first not again while this test runs. */
const flags = (seconds: number): string[] => ['--genesis', genesisPath, '--fee-tier-seconds', String(seconds), '--grpc-thread', '0']
const NEVER = 86_400

let exchange: Exchange = await startExchange(directory, flags(NEVER))
t.teardown(async () => {
  await exchange.stop()
  removeDirectory(directory)
})

/** Posts to the operator's port. */
const operate = (path: string, body: object): ReturnType<typeof post> => post(exchange, path, body)

const limit = (pair: string, side: 'BUY' | 'SELL', quantity: string, price: string) =>
  ({ tradingPairId: pair, orderType: 'LIMIT' as const, side, quantity, price })

t.test('a pair is halted, stays so over a kill, lets people leave, and opens again', async (t) => {
  const { client, signer } = await newTrader(exchange.baseUrl)
  const pair = await pairOf(client, 'BTC/USDC')
  const other = await pairOf(client, 'ETH/USDC')
  const active = async (): Promise<(boolean | undefined)[]> => {
    const { tradingPairs } = await client.ListTradingPairs({})
    return [pair, other].map((id) => tradingPairs.find((each) => each.id === id)?.isActive)
  }
  const { orderId } = await client.CreateOrder(limit(pair, 'BUY', '0.1', '50'))
  t.same(await active(), [true, true])
  t.match(await operate('/pairs', { pair: 'BTC/USDC', status: 'HALTED' }), { status: 200, json: { status: 'HALTED', before: 'ACTIVE' } })
  t.same(await active(), [false, true])
  const notActive = { code: 'PAIR_NOT_ACTIVE', status: 400 }
  await t.rejects(client.CreateOrder(limit(pair, 'BUY', '0.1', '50')), notActive)
  await t.rejects(client.ReplaceOrder({ orderId, price: '51' }), notActive)
  await t.rejects(client.CancelOrder({ orderId }), notActive)
  const elsewhere = await client.CreateOrder(limit(other, 'BUY', '0.1', '50'))
  const all = await client.BatchCancelAllOrders()
  t.same(all.orderIds, [elsewhere.orderId], 'a mass cancel ends what it can')

  await exchange.kill()
  exchange = await startExchange(directory, flags(NEVER))
  const again = createClient({ baseUrl: exchange.baseUrl, signer })
  await t.rejects(again.CancelOrder({ orderId }), notActive, 'still halted')
  const softer = await operate('/pairs', { pair, status: 'CANCEL_ONLY' })
  t.match(softer, { json: { symbol: 'BTC/USDC', status: 'CANCEL_ONLY', before: 'HALTED' } })
  await t.rejects(again.ReplaceOrder({ orderId, price: '51' }), notActive)
  t.match(await again.CancelOrder({ orderId }), { orderId })
  t.match(await operate('/pairs', { pair, status: 'ACTIVE' }), { status: 200 })
  t.match(await again.CreateOrder(limit(pair, 'BUY', '0.1', '50')), { matchResult: { status: 'SUBMITTED' } })
  await again.BatchCancelAllOrders()
})

t.test('tiers: by hand at once; by volume when the history has seen it', async (t) => {
  const [maker, taker] = [await newTrader(exchange.baseUrl), await newTrader(exchange.baseUrl)]
  const pair = await pairOf(maker.client, 'BTC/USDC')
  const rates = async ({ signer }: typeof maker): Promise<string> => {
    const client = createClient({ baseUrl: exchange.baseUrl, signer })
    const { makerFeeBps, takerFeeBps } = await client.SimulateFees(limit(pair, 'BUY', '0.1', '60'))
    return `${makerFeeBps} ${takerFeeBps}`
  }
  t.equal(await rates(taker), '-0.5 5')
  const { id } = await taker.client.GetProfile()
  t.match(await operate('/fee-tier', { userId: id, tier: 4 }), { status: 200, json: { userId: id, tier: 4, before: 0 } })
  t.equal(await rates(taker), '-1 3')
  await maker.client.CreateOrder(limit(pair, 'SELL', '1', '150'))
  const bought = await taker.client.CreateOrder(limit(pair, 'BUY', '1', '150'))
  t.equal(bought.matchResult.status, 'FILLED')
  const { balances } = await taker.client.ListBalances()
  t.match(balances.find(({ symbol }) => symbol === 'USDC'), { availableBalance: '9849.955' }, '150 and 3 bps of it')

  await exchange.stop()
  exchange = await startExchange(directory, flags(1))
  // Both have traded 150 USDC: tier 1, which for the taker is less than what the operator gave it.
  for (let look = 0; look < 600; look++) {
    if ((await rates(maker)) === '-0.5 4.5' && (await rates(taker)) === '-0.5 4.5') break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  t.same([await rates(maker), await rates(taker)], ['-0.5 4.5', '-0.5 4.5'])
  const metrics = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  t.match(metrics, /^exchange_fee_tier_changes_total [2-9]$/m)
})
