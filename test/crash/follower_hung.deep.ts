/**
 * Promise: a follower that hangs (SIGSTOP: it is there, its connection is open, it says nothing) is seen and ended. Its silence and how far
 * it is behind are in the metrics, counted by the exchange and not by itself, `/ready` names it, it is killed and the next one goes on;
 * trading does not notice. The same for the follower of the snapshots.
 */
import t, { type Test } from 'tap'
import { historyReached, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(900_000)
const directory = temporaryDirectory()
const exchange = await startExchange(directory, ['--gateways', '1', '--follower-silence-seconds', '3'])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})
const trader = await newTrader(exchange.baseUrl, 3)
const tradingPairId = await pairOf(trader.client, 'SEI/USDC')

/** Waits until `is` gives something, looking often; the test's own time limit ends it. */
async function until<T>(is: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await is()
    if (found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
const port = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${exchange.operatorPort}${path}`)
async function metric(name: string): Promise<number> {
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(await (await port('/metrics')).text())?.[1] ?? NaN)
}
const ready = async (): Promise<{ status: number; degraded: string[] }> => {
  const response = await port('/ready')
  return { status: response.status, degraded: ((await response.json()) as { degraded: string[] }).degraded }
}
const started = (what: string): number[] => exchange.log.filter(({ msg }) => msg === `${what} started`).map(({ pid }) => Number(pid))
async function trade(): Promise<void> {
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.2' } as const
  const { orderId } = await trader.client.CreateOrder(order)
  await trader.client.CancelOrder({ orderId })
}

const FOLLOWERS = [
  { what: 'history follower', prefix: 'exchange_history', lag: 'exchange_history_lag_records', reason: 'HISTORY_SILENT' },
  { what: 'snapshot follower', prefix: 'exchange_snapshots', lag: 'exchange_snapshots_lag_records', reason: 'SNAPSHOTS_SILENT' },
] as const

/** What clients are told while the history stands behind the engine. */
async function lags(t: Test): Promise<void> {
  const before = Date.now()
  const { asOf, sequence } = await trader.client.GetPortfolio()
  const health = await trader.client.Check()
  t.ok(Date.parse(asOf) < before && sequence < health.sequence, 'a portfolio that is behind says how old it is')
  // It is killed after three seconds without a word: late or gone, it is named.
  await until(async () => (await trader.client.Check()).degraded.includes('history'))
  t.equal((await fetch(`${exchange.baseUrl}/ready`)).status, 200)
  t.match(await (await fetch(`${exchange.baseUrl}/health`)).json(), { status: 'degraded', degraded: ['history'] })
}

for (const { what, prefix, lag, reason } of FOLLOWERS) {
  t.test(`a ${what} that hangs`, async (t: Test) => {
    await until(async () => (await metric(`${prefix}_up`)) === 1)
    await until(async () => (await ready()).degraded.length === 0)
    const pids = started(what)
    process.kill(pids.at(-1)!, 'SIGSTOP')
    for (let order = 0; order < 20; order++) await trade()
    const seen = await until(async () => ((await ready()).degraded.includes(reason) ? await ready() : undefined))
    t.equal(seen.status, 200, 'orders are matched: ready, and it says what is not well')
    t.ok((await metric(`${prefix}_silence_seconds`)) > 0, 'its silence is told')
    t.ok((await metric(lag)) > 0, 'it is behind by what it has not heard of')
    if (what === 'history follower') await lags(t)
    await trade()
    t.pass('trading goes on')
    await until(async () => started(what).length === pids.length + 1)
    t.not(started(what).at(-1), pids.at(-1), 'another one was started')
    await until(async () => (await metric(lag)) === 0 && (await ready()).degraded.length === 0)
    t.match(await trader.client.Check(), { status: 'ok', degraded: [] })
    const kills = exchange.log.filter(({ msg }) => String(msg).startsWith(`the ${what} says nothing`)).length
    t.ok(kills >= 1, 'the kill is logged')
    t.equal(await metric(`${prefix}_killed_total`), kills, 'and counted')
  })
}

t.test('an orderly stop does not wait for one that hangs', async (t) => {
  await historyReached(exchange)
  process.kill(started('history follower').at(-1)!, 'SIGSTOP')
  t.equal(await exchange.stop(), 0, 'it was ended with the others')
})
