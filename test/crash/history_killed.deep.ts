/**
 * Promise: the history follower may die at any moment. Killed again and again under load (kill -9), trading goes on, it comes back, and
 * what it wrote is what a rebuild writes; an exchange killed with it loses nothing either.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openProjection } from '../../core/history/project/projection.ts'
import { historyPath, openReader, readPosition } from '../../core/history/store/store.ts'
import { compareStores } from '../../core/history/store/verify.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { createClient } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf, type Trader } from '../support/traders.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

const SEED = seedOf()
const KILLS = { short: 40, deep: 40 }
const FLAGS = ['--gateways', '1', '--snapshot-every', '200']
t.setTimeout(0)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm run test:deep -- test/crash/history_killed.deep.ts`)

const random = createPrng(SEED)
const directory = temporaryDirectory()
let exchange: Exchange
let answered = 0
let refused = 0
let trading = true
t.teardown(async () => {
  trading = false
  await exchange?.kill()
  removeDirectory(directory)
})

/** Places, crosses and cancels until told to stop; a broken connection is the end of it. */
async function trade(trader: Trader, pair: string): Promise<void> {
  const client = createClient({ baseUrl: exchange.baseUrl, signer: trader.signer, timeoutMs: 10_000 })
  const mine: string[] = []
  while (trading) {
    const side = random.below(2) === 0 ? 'BUY' : 'SELL'
    const price = (0.3 + (side === 'BUY' ? -1 : 1) * (random.below(6) - 2) * 0.0005).toFixed(4)
    try {
      const orderId = mine.length > 20 ? mine.shift()! : null
      if (orderId !== null) await client.CancelOrder({ orderId })
      else mine.push((await client.CreateOrder({ tradingPairId: pair, orderType: 'LIMIT', side, quantity: '10', price })).orderId)
      answered++
    } catch (error) {
      const { status } = error as { status?: number }
      if (status === undefined || status >= 500) return
      refused++
    }
  }
}

/** Waits until `is` holds, looking often; the test's own time limit ends it. */
async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await is())) await new Promise((resolve) => setTimeout(resolve, 20))
}

const followers = (): number[] =>
  exchange.log.filter(({ msg }) => msg === 'history follower started').map(({ pid }) => Number(pid))
const counters = async (): Promise<Record<string, number>> => {
  const answer = await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`).catch((cause: unknown) => {
    throw new Error(`the exchange is gone: ${JSON.stringify(exchange.log.slice(-5))} ${exchange.output.slice(-3).join('')}`, { cause })
  })
  const text = await answer.text()
  return Object.fromEntries([...text.matchAll(/^(exchange_[a-z_]+) (\S+)$/gm)].map(([, name, value]) => [name!, Number(value)]))
}

/** Projects the whole journal once more and compares. */
async function equalsRebuild(t: Test, name: string): Promise<number> {
  const projection = openProjection(directory, join(directory, `${name}.sqlite`), { warn: () => undefined })
  while (projection.step(65_536));
  const store = openReader(historyPath(directory))
  const { rows, differences } = compareStores(store, projection.database)
  t.strictSame(differences, [], `${name}: ${JSON.stringify(rows)}`)
  t.strictSame(readPosition(store), readPosition(projection.database), 'at one position')
  const { sequence } = projection
  store.close()
  await projection.close()
  return sequence
}

t.test('kills of the follower under load', async (t) => {
  exchange = await startExchange(directory, FLAGS)
  const traders = [await newTrader(exchange.baseUrl, 3), await newTrader(exchange.baseUrl, 3)]
  const pair = await pairOf(traders[0]!.client, 'SEI/USDC')
  const loads = traders.map((trader) => trade(trader, pair))
  let kills = 0
  for (const _round of eachRound(t, KILLS)) {
    const goal = answered + 50 + random.below(200)
    await until(() => answered >= goal)
    process.kill(followers().at(-1)!, 'SIGKILL')
    const before = answered
    await until(() => answered >= before + 50)
    t.pass(`trading went on after kill ${++kills}`)
    await until(() => followers().length === kills + 1)
    await until(async () => (await counters())['exchange_history_up'] === 1)
  }
  trading = false
  await Promise.all(loads)
  t.ok(answered > kills * 100, `${answered} answers, ${refused} refusals`)
  t.equal(await exchange.stop(), 0, 'an orderly stop')
  const sequence = await equalsRebuild(t, 'after_kills')
  t.ok(sequence > answered, 'the stop let the follower catch up')
})

t.test('the exchange and its follower killed at once', async (t) => {
  exchange = await startExchange(directory, FLAGS)
  const traders = [await newTrader(exchange.baseUrl, 3), await newTrader(exchange.baseUrl, 3)]
  const pair = await pairOf(traders[0]!.client, 'SEI/USDC')
  trading = true
  const goal = answered + 300
  const loads = traders.map((trader) => trade(trader, pair))
  await until(() => answered >= goal)
  await exchange.kill()
  await Promise.all(loads)
  exchange = await startExchange(directory, FLAGS)
  t.equal(await exchange.stop(), 0, 'started and stopped again')
  await equalsRebuild(t, 'after_crash')
})
