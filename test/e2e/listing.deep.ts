/**
 * Promise: an exchange that lists an asset and a pair goes on. From the command line to orders over REST, frames, gRPC and the history,
 * over a kill and a replay, with two gateways and nobody restarted; a full table is told by name and by a metric.
 */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createClient } from '../../gateway/client/index.ts'
import { historyReached, operate, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { connectGrpc } from '../support/grpc.ts'
import { SocketClient } from '../support/sockets.ts'
import { newTrader } from '../support/traders.ts'
import { grpcTransport, type Json } from '../support/transports.ts'
import { shippedGenesis } from '../support/shipped_genesis.ts'

t.setTimeout(900_000)

const root = join(import.meta.dirname, '..', '..')
const directory = temporaryDirectory()
const genesisPath = join(directory, 'genesis.json')
const genesis = shippedGenesis()
genesis.limits = { ...genesis.limits, orders: 4096, accounts: 1024, sessions: 1024, assets: 6, pairs: 6, receipts: 4096 }
writeFileSync(genesisPath, JSON.stringify(genesis))
const start = () => startExchange(directory, ['--genesis', genesisPath, '--gateways', '2'])
let exchange = await start()
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})

/** A program of the tree with these words: what it printed and its exit code. */
async function run(program: readonly string[], words: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const all = ['--disable-warning=ExperimentalWarning', join(root, ...program), ...words]
  const child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString('utf8')))
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString('utf8')))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, ...said }
}
const operator = (...words: string[]) =>
  run(['gateway', 'operator', 'main.ts'], [...words, '--port', String(exchange.operatorPort), '--data-dir', directory])

const TOKEN = `0x${'c0'.repeat(20)}`
const pairWords = [
  '--tick', '0.01', '--lot', '0.01', '--min', '0.01', '--max', '100000', '--min-notional', '1', '--maker=-0.5', '--taker', '5',
]

t.test('listed on the command line, seen by everybody at once, traded', async (t) => {
  const watcher = await SocketClient.open(exchange.port)
  t.teardown(() => watcher.close())
  watcher.send({ type: 'subscribe', channel: 'instruments', params: {} })
  await watcher.next(({ type }) => type === 'snapshot')
  const asset = await operator('assets', 'add', 'SOL', '--token', TOKEN, '--decimals', '9', '--faucet', '100')
  t.match(asset, { code: 0, out: /^SOL is listed/ })
  t.match(await operator('pairs', 'add', 'SOL', 'USDC', ...pairWords), { code: 0, out: /^SOL\/USDC is listed and CANCEL_ONLY/ })
  const update = await watcher.next(({ type }) => type === 'instruments_update')
  t.match(update, { data: { instruments: [{ symbol: 'SOL/USDC', isActive: false }] } })
  const traders = await Promise.all([0, 1].map(() => newTrader(exchange.baseUrl)))
  const [seller, buyer] = traders.map(({ client }) => client) as [typeof traders[0]['client'], typeof traders[0]['client']]
  const { tradingPairs } = await seller.ListTradingPairs({ pageSize: 100 })
  const pair = tradingPairs.find(({ symbol }) => symbol === 'SOL/USDC')!
  t.match(pair, { isActive: false, baseTokenContract: TOKEN, makerFeeBps: '-0.5', tickSize: '0.01' })
  const order = { tradingPairId: pair.id, orderType: 'LIMIT' as const, quantity: '2', price: '20' }
  await t.rejects(seller.CreateOrder({ ...order, side: 'SELL' }), { code: 'PAIR_NOT_ACTIVE' })
  t.match(await operator('pairs', 'set', 'SOL/USDC', 'ACTIVE'), { code: 0 })

  watcher.send({ type: 'subscribe', channel: 'trades', params: { tradingPairId: pair.id } })
  await watcher.next(({ type, channel }) => type === 'snapshot' && channel === 'trades')
  await seller.CreateOrder({ ...order, side: 'SELL' })
  t.match(await buyer.CreateOrder({ ...order, side: 'BUY' }), { matchResult: { status: 'FILLED' } })
  t.match(await watcher.next(({ type }) => type === 'trades_update'), { data: { trades: [{ price: '20' }] } })
  const { balances } = await buyer.ListBalances()
  t.match(balances.find(({ symbol }) => symbol === 'SOL'), { availableBalance: '102' })

  await historyReached(exchange)
  t.match((await buyer.ListTrades({ tradingPairId: pair.id })), { trades: [{ price: '20' }] })
  t.match(await seller.GetCandles({ tradingPairId: pair.id, interval: '1m' }), { candles: [{ c: '20' }] })
  const grpcClient = connectGrpc(exchange.grpcPort)
  const grpc = grpcTransport(grpcClient, '')
  const listed: Json = await grpc('ListTradingPairs', { pageSize: 100 }, null)
  grpcClient.close()
  t.ok(listed['tradingPairs'].some(({ symbol }: Json) => symbol === 'SOL/USDC'), 'over gRPC too')
})

t.test('a full table is refused by name and told by a metric', async (t) => {
  t.match(await operator('pairs', 'add', 'SOL', 'BTC', '--tick', '0.0001', '--lot', '0.01', '--min', '0.01', '--max', '1000',
    '--min-notional', '0', '--maker', '1', '--taker', '5'), { code: 0 })
  const body = {
    base: 'SOL', quote: 'ETH', tickSize: '0.01', lotSize: '0.01', minOrderSize: '0.01', maxOrderSize: '10', minNotional: '0',
    makerFeeBps: '1', takerFeeBps: '5',
  }
  t.match(await operate(exchange, '/pairs/add', body), { status: 409, json: { code: 'TOO_MANY_PAIRS' } })
  const fine = await operate(exchange, '/pairs/add', { ...body, tickSize: '0.00000001' })
  t.match(fine, { status: 400, json: { code: 'LISTING_TERMS', message: /whole number of quote atoms/ } })
  const wrong = await operate(exchange, '/pairs/terms', { pair: 'SOL/USDC', takerFeeBps: 'x' })
  t.match(wrong, { status: 400, json: { details: { field: 'takerFeeBps' } } })
  const terms = await operator('pairs', 'terms', 'SOL/USDC', '--max', '5', '--taker', '6')
  t.match(terms, { code: 0, out: /orders of 0.01 to 5, .* taker 6 bps/ })
  const metrics = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  t.match(metrics, /^exchange_pool_used\{pool="pairs"\} 6$/m)
  t.match(metrics, /^exchange_pool_capacity\{pool="pairs"\} 6$/m)
  t.match(metrics, /^exchange_pair_status\{pair="SOL\/USDC"\} 1$/m)
})

t.test('after a kill it is all there, and the journal replays to it', async (t) => {
  const before = await (await fetch(`${exchange.baseUrl}/api/v1/market/pairs?pageSize=100`)).json()
  await exchange.kill()
  exchange = await start()
  t.same(await (await fetch(`${exchange.baseUrl}/api/v1/market/pairs?pageSize=100`)).json(), before)
  const { client } = await newTrader(exchange.baseUrl)
  const { tradingPairs } = await createClient({ baseUrl: exchange.baseUrl }).ListTradingPairs({ pageSize: 100 })
  const pair = tradingPairs.find(({ symbol }) => symbol === 'SOL/USDC')!
  const order = { tradingPairId: pair.id, orderType: 'LIMIT' as const, side: 'SELL' as const, price: '20' }
  await t.rejects(client.CreateOrder({ ...order, quantity: '6' }), { code: 'ABOVE_MAX_ORDER_SIZE' }, 'terms that were changed')
  t.match(await client.CreateOrder({ ...order, quantity: '5' }), { matchResult: { status: 'SUBMITTED' } })
  await exchange.stop()
  t.match(await run(['core', 'replay', 'main.ts'], ['verify', '--data-dir', directory]), { code: 0 })
  t.match(await run(['core', 'history', 'main.ts'], ['verify', '--data-dir', directory]), { code: 0 })
  exchange = await start()
})

t.test('a limit is raised, and the next start makes room', async (t) => {
  const room = async (pool = 'pairs'): Promise<string | undefined> => {
    const metrics = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
    return new RegExp(`^exchange_pool_capacity\\{pool="${pool}"\\} (\\d+)$`, 'm').exec(metrics)?.[1]
  }
  t.match(await operator('limits', 'raise', 'pairs', '9'), { code: 0, out: /^pairs is 6 and will be 9 after the next start/ })
  t.match(await operator('limits', 'raise', 'accounts', '5000'), { code: 0, out: /^accounts is 1,024 and will be 5,000/ })
  t.match(await operator('limits', 'raise', 'pairs', '8'), { code: 1, err: /LIMIT_NOT_RAISED/ })
  t.match(await operator('limits', 'raise', 'orders', '16777216'), { code: 1, err: /LIMIT_TOO_LARGE/ })
  t.match(await operator('limits', 'raise', 'receipts', '90000'), { code: 0, out: /^receipts is 4,096 and will be 90,000/ })
  const { client: holder, wallet, signer } = await newTrader(exchange.baseUrl)
  const [known] = (await holder.ListTradingPairs({ pageSize: 100 })).tradingPairs
  const bid = { tradingPairId: known!.id, orderType: 'LIMIT' as const, side: 'BUY' as const, price: '20', quantity: '5' }
  const placed = await holder.CreateOrder({ ...bid, idempotencyKey: 'k' })
  const list = ['pairs', 'add', 'SOL', 'ETH', ...pairWords]
  t.match(await operator(...list), { code: 1, err: /TOO_MANY_PAIRS/ }, 'not yet')
  t.same([await room(), await room('receipts')], ['6', '4096'])
  const before = await (await fetch(`${exchange.baseUrl}/api/v1/market/pairs?pageSize=100`)).json()
  await exchange.kill()
  exchange = await start()
  t.same([await room(), await room('receipts')], ['9', '90000'])
  const later = createClient({ baseUrl: exchange.baseUrl, wallet, signer })
  await later.signIn()
  t.equal((await later.CreateOrder({ ...bid, idempotencyKey: 'k' })).orderId, placed.orderId, 'the receipt of before is answered')
  await t.rejects(later.CreateOrder({ ...bid, quantity: '6', idempotencyKey: 'k' }), { code: 'IDEMPOTENCY_KEY_CONFLICT' })
  t.same(await (await fetch(`${exchange.baseUrl}/api/v1/market/pairs?pageSize=100`)).json(), before)
  t.match(await operator('limits', 'list'), { code: 0, out: /^pairs +9 +9 +256$/m })
  t.match(await operator(...list), { code: 0, out: /^SOL\/ETH is listed/ })
  t.match(await operator('pairs', 'set', 'SOL/ETH', 'ACTIVE'), { code: 0 })
  const { client } = await newTrader(exchange.baseUrl)
  const { tradingPairs } = await client.ListTradingPairs({ pageSize: 100 })
  const pair = tradingPairs.find(({ symbol }) => symbol === 'SOL/ETH')!
  const order = { tradingPairId: pair.id, orderType: 'LIMIT' as const, side: 'SELL' as const, price: '2', quantity: '5' }
  t.match(await client.CreateOrder(order), { matchResult: { status: 'SUBMITTED' } })
  await historyReached(exchange)
  await exchange.stop()
  t.match(await run(['core', 'replay', 'main.ts'], ['verify', '--data-dir', directory]), { code: 0 })
  t.match(await run(['core', 'history', 'main.ts'], ['verify', '--data-dir', directory]), { code: 0 })
  exchange = await start()
  t.equal(await room(), '9', 'once')
})
