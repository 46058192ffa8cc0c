/**
 * Promise: accounts that take all they can of the orders and receipts leave room for a newcomer, who signs in, asks the faucet and places a
 * keyed order, after a restart too; cancels go on, and the operator sees who holds most and ends it. The whole exchange with small pools.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { operate, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../../support/exchange.ts'
import { newTrader, pairOf, type Trader } from '../../support/traders.ts'

t.setTimeout(120_000)

const POOL = 1024
const ATTACKERS = 8
const BATCHES_MOST = 5

type Holders = { accounts: { userId: string; held: number }[]; families: { userId: string; held: number }[] }

async function ask<T>({ operatorPort, operatorToken }: Exchange, path: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${operatorPort}${path}`, { headers: { 'x-operator-token': operatorToken } })
  return (await response.json()) as T
}

/** Places keyed orders that rest until some are refused; how many rest, and what the others were told. */
async function takeAll({ client }: Trader, tradingPairId: string): Promise<{ rest: number; refused: string[] }> {
  let rest = 0
  for (let batch = 0; batch < BATCHES_MOST; batch++) {
    const orders = Array.from({ length: 50 }, (_, index) => ({
      tradingPairId, side: 'BUY' as const, orderType: 'LIMIT' as const, quantity: '0.01', price: String(100 + index),
      idempotencyKey: `${batch}-${index}`,
    }))
    const { results } = await client.BatchCreateOrders({ orders })
    const refused = results.flatMap(({ error }) => (error === undefined || error === null ? [] : [String(error.code ?? error)]))
    rest += results.length - refused.length
    if (refused.length > 0) return { rest, refused }
  }
  return { rest, refused: [] }
}

/** A wallet that was never here trades. */
async function newcomer(t: Test, exchange: Exchange, tradingPairId: string): Promise<void> {
  const { client } = await newTrader(exchange.baseUrl, 1)
  const order = { tradingPairId, side: 'BUY', orderType: 'LIMIT', quantity: '0.01', price: '100', idempotencyKey: 'mine' } as const
  const { orderId } = await client.CreateOrder(order)
  t.equal((await client.CreateOrder(order)).orderId, orderId, 'kept under its key')
  t.equal((await client.CancelOrder({ orderId })).status, 'SUCCESS')
}

t.test('orders and receipts', async (t) => {
  const directory = temporaryDirectory()
  const source = join(import.meta.dirname, '..', '..', '..', 'data', 'genesis', 'genesis.json')
  const genesis = JSON.parse(readFileSync(source, 'utf8')) as { limits: Record<string, number> }
  Object.assign(genesis.limits, { orders: POOL, receipts: POOL })
  const path = join(directory, 'genesis.json')
  writeFileSync(path, JSON.stringify(genesis))
  const flags = ['--genesis', path, '--gateways', '1']
  let exchange = await startExchange(directory, flags)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const attackers: Trader[] = []
  for (let each = 0; each < ATTACKERS; each++) attackers.push(await newTrader(exchange.baseUrl, 1))
  const tradingPairId = await pairOf(attackers[0]!.client, 'ETH/USDC')
  const taken: number[] = []
  for (const attacker of attackers) {
    const { rest, refused } = await takeAll(attacker, tradingPairId)
    t.ok(refused.length > 0, `${rest} rest, then: ${[...new Set(refused)].join(', ')}`)
    taken.push(rest)
  }
  t.same(taken, [...taken].sort((a, b) => b - a), `each gets less than the one before: ${taken.join(' ')}`)
  await newcomer(t, exchange, tradingPairId)
  await exchange.stop()
  exchange = await startExchange(directory, flags)
  await newcomer(t, exchange, tradingPairId)

  const { pools } = await ask<{ pools: { pool: string; used: number; capacity: number; share: number | null }[] }>(exchange, '/pools')
  const sum = taken.reduce((all, each) => all + each, 0)
  t.match(pools.find(({ pool }) => pool === 'orders'), { used: sum, capacity: POOL, share: Number })
  const metrics = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  t.match(metrics, new RegExp(`^exchange_pool_used\\{pool="orders"\\} ${sum}$`, 'm'))
  const { accounts, families } = await ask<Holders>(exchange, '/holders?pool=orders&top=3')
  t.same(accounts.map(({ held }) => held), taken.slice(0, 3), 'the largest first')
  t.same(families, accounts)
  const { json } = await operate(exchange, '/orders/cancel', { userId: accounts[0]!.userId, family: true, pair: 'ETH/USDC' })
  t.match(json, { cancelled: taken[0], left: 0, accounts: 1 })
  t.same((await ask<Holders>(exchange, '/holders?pool=orders&top=1')).accounts.map(({ held }) => held), [taken[1]])
  const isLogged = (): boolean => exchange.log.some(({ msg }) => msg === 'orders cancelled by the operator')
  for (let look = 0; look < 500 && !isLogged(); look++) await delay(10)
  t.ok(isLogged(), 'the log says so')
})
