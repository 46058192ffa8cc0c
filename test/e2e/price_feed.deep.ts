/**
 * Promise: a running exchange takes its index prices from the sources of --price-sources, over HTTP and WebSockets: the median of those
 * that agree. A source that lies is outvoted, one that hangs or falls silent is passed over, a price outside of the band is refused and
 * counted. When all are silent the price gets stale: orders that open are refused, orders that reduce are taken, until there is a price
 * again. A perpetual without sources follows its spot pair within a fifth of the reference of the genesis.
 */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { logged, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import { StreamServer } from '../support/stream_server.ts'
import { newTrader, pairOf, type Trader } from '../support/traders.ts'

t.setTimeout(600_000)

const [BTC, ETH, SEI] = ['BTC/USDC-PERP', 'ETH/USDC-PERP', 'SEI/USDC-PERP'] as const
/** After which the price of ETH is stale; those of the others are after 30. */
const STALE_SECONDS = 4
const PUSH_MS = 200
const LOOKS = 1200
const LOOK_MS = 50

/** What each source says now, by path; a source that is not here is silent: a request hangs, a socket stays open. */
const said = new Map<string, number>([
  ['/btc-one', 65_000], ['/btc-two', 65_010], ['/btc-stream', 65_020], ['/btc-liar', 100_000],
  ['/eth-one', 3500], ['/eth-stream', 3502],
])

const http = createServer(({ url }, response) => {
  const price = said.get(url!)
  if (price !== undefined) response.end(JSON.stringify({ data: [{ price: String(price) }] }))
})
await new Promise<void>((settle) => http.listen(0, '127.0.0.1', settle))
const streams = await StreamServer.open(t)
const pushing = setInterval(() => {
  for (const socket of streams.sockets) if (said.has(socket.path)) socket.send({ p: said.get(socket.path) })
}, PUSH_MS)
t.teardown(() => {
  clearInterval(pushing)
  http.closeAllConnections()
  http.close()
})

const asked = (name: string): object =>
  ({ name, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/${name}`, path: 'data.0.price', everySeconds: 1 })
const heard = (name: string): object =>
  ({ name, url: `${streams.baseUrl.replace('http', 'ws')}/${name}`, path: 'p', everySeconds: 1, send: { op: 'subscribe' } })

const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))
const [genesisFile, sourcesFile] = [join(directory, 'genesis_of_test.json'), join(directory, 'sources.json')]
const genesis = JSON.parse(testGenesis({}, true)) as { pairs: { symbol: string; perp?: object }[] }
Object.assign(genesis.pairs.find(({ symbol }) => symbol === ETH)!.perp!, { staleSeconds: STALE_SECONDS })
writeFileSync(genesisFile, JSON.stringify(genesis))
writeFileSync(sourcesFile, JSON.stringify({
  [BTC]: { least: 2, sources: [...['btc-one', 'btc-two', 'btc-liar', 'btc-hangs'].map(asked), heard('btc-stream')] },
  [ETH]: { sources: [asked('eth-one'), heard('eth-stream')] },
}))
const exchange = await startExchange(join(directory, 'data'), [
  '--genesis', genesisFile, '--price-feed', '1', '--price-sources', sourcesFile, '--sign-in-per-ip', '1000', '--chain', '0',
])
t.teardown(() => exchange.kill())
const operator = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${exchange.operatorPort}${path}`)

interface Perp {
  readonly symbol: string
  readonly indexPrice: string | null
  readonly source: string
  readonly stale: boolean
}
const perp = async (symbol: string): Promise<Perp> => {
  const { perps } = (await (await operator('/perps')).json()) as { perps: Perp[] }
  return perps.find((each) => each.symbol === symbol)!
}

/** A sample of a metric of the operator's port. */
async function metric(name: string, labels: string): Promise<number> {
  const lines = (await (await operator('/metrics')).text()).split('\n')
  const line = lines.find((each) => each.startsWith(`${name}{${labels}}`))
  if (line === undefined) throw new Error(`no ${name}{${labels}}`)
  return Number(line.slice(line.lastIndexOf(' ')).replace('+Inf', 'Infinity'))
}

/** Resolves when this holds, which it must within a minute. */
async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  throw new Error(`in vain: ${what}; ${JSON.stringify(await Promise.all([BTC, ETH, SEI].map(perp)))}`)
}
const indexIs = (symbol: string, price: string): Promise<void> =>
  eventually(`${symbol} at ${price}`, async () => (await perp(symbol)).indexPrice === price)

const [long, short]: Trader[] = await Promise.all([newTrader(exchange.baseUrl), newTrader(exchange.baseUrl)])
for (const { client } of [long!, short!]) {
  const { accounts } = await client.ListMarginAccounts()
  await client.DepositCollateral({ marginAccountId: accounts[0]!.marginAccountId, amount: '2000' })
}
const ethPerp = await pairOf(long!.client, ETH)
const order = (side: 'BUY' | 'SELL', price: string) =>
  ({ tradingPairId: ethPerp, tradingMode: 'MARGIN', orderType: 'LIMIT', side, quantity: '0.1', price, leverage: '5' }) as const

t.test('what makes each index is said by /status, a metric and the log', async (t) => {
  const makers = { [BTC]: 'SOURCES', [ETH]: 'SOURCES', [SEI]: 'OWN_BOOK' }
  t.same(((await (await operator('/status')).json()) as { indexMakers: unknown }).indexMakers, makers)
  for (const [symbol, maker] of Object.entries(makers)) {
    t.equal(await metric('exchange_perp_index_maker', `pair="${symbol}",maker="${maker}"`), 1)
  }
  t.match(await logged(exchange, 'what makes the index price of each perpetual'), makers)
})

t.test('the median of the sources that agree; a lie is outvoted, one that hangs is passed over', async (t) => {
  await indexIs(BTC, '65010')
  t.equal((await perp(BTC)).source, 'POLLED')
  await indexIs(ETH, '3501')
  t.same((await streams.socket()).messages, [{ op: 'subscribe' }], 'the subscription was sent')
  t.equal(await metric('exchange_index_source_age_seconds', `pair="${BTC}",source="btc-hangs"`), Infinity)
})

t.test('without sources: what the spot book can bear; two orders of some dollars move nothing', async (t) => {
  await indexIs(SEI, '0.25')
  t.equal((await perp(SEI)).source, 'EMBEDDED')
  const { client } = long!
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const place = (side: 'BUY' | 'SELL', price: string, quantity: string) =>
    client.CreateOrder({ tradingPairId, orderType: 'LIMIT', side, quantity, price })
  await place('BUY', '0.26', '100')
  await place('SELL', '0.27', '100')
  const taken = (): Promise<number> => metric('exchange_index_prices_total', `pair="${SEI}"`)
  const before = await taken()
  await eventually('more prices', async () => (await taken()) > before + 1)
  t.equal((await perp(SEI)).indexPrice, '0.25', 'a thin book')
  await place('BUY', '0.26', '20000')
  await place('SELL', '0.27', '20000')
  await eventually('a price of the book', async () => (await perp(SEI)).indexPrice !== '0.25')
  const index = Number((await perp(SEI)).indexPrice)
  t.ok(index > 0.25 && index <= 0.265, `it drifts towards 0.265: ${index}`)
  t.equal(await metric('exchange_index_prices_refused_total', `pair="${SEI}"`), 0, 'in steps that the engine takes')
})

t.test('silent sources, the band, and a price that is stale', async (t) => {
  await short!.client.CreateOrder(order('SELL', '3501'))
  t.match(await long!.client.CreateOrder(order('BUY', '3501')), { matchResult: { status: 'FILLED' } })
  for (const path of ['/btc-stream', '/eth-one', '/eth-stream']) said.delete(path)

  await indexIs(BTC, '65005')
  t.ok(await metric('exchange_index_source_age_seconds', `pair="${BTC}",source="btc-stream"`) > 3, 'the silent one is passed over')
  await eventually('the one that hangs is counted', async () =>
    (await metric('exchange_index_source_failures_total', `pair="${BTC}",source="btc-hangs"`)) > 0)
  t.equal(await metric('exchange_index_prices_refused_total', `pair="${BTC}"`), 0)
  for (const path of ['/btc-one', '/btc-two']) said.set(path, 80_000)
  await eventually('a step', async () => (await metric('exchange_index_prices_bounded_total', `pair="${BTC}"`)) > 0)
  for (const path of ['/btc-one', '/btc-two']) said.set(path, 65_100)
  await indexIs(BTC, '65100')
  t.equal(await metric('exchange_index_prices_refused_total', `pair="${BTC}"`), 0, 'each step is one that the engine takes')

  await eventually('stale', async () => (await perp(ETH)).stale)
  await t.rejects(long!.client.CreateOrder(order('BUY', '3400')), { code: 'PRICE_STALE' })
  await t.rejects(short!.client.CreateOrder(order('SELL', '3600')), { code: 'PRICE_STALE' })
  await t.rejects(long!.client.CreateOrder(order('SELL', '3550')), { code: 'PRICE_STALE' }, 'an order reduces when it says so')
  const reducing = { ...order('SELL', '3550'), leverage: undefined, reduceOnly: true }
  t.match(await long!.client.CreateOrder(reducing), { matchResult: { status: 'SUBMITTED' } })
  const { positions } = await short!.client.ListPositions()
  const closing = { positionId: positions[0]!.positionId, closeType: 'LIMIT', price: '3450' } as const
  t.match(await short!.client.ClosePosition(closing), { matchResult: { status: 'SUBMITTED' } })
  said.set('/eth-one', 3510).set('/eth-stream', 3512)
  await indexIs(ETH, '3511')
  t.equal((await perp(ETH)).stale, false)
  t.match(await short!.client.CreateOrder(order('SELL', '3600')), { matchResult: { status: 'SUBMITTED' } })
})
