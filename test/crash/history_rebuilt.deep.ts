/**
 * Promise: a running exchange whose history is damaged never answers from the damage, says so, and mends it by itself: a question that
 * meets it is refused, what nobody asks for is found by the scrub, and in both cases the follower makes the store anew and everything is
 * answered as before. Trading does not notice.
 */
import t, { type Test } from 'tap'
import { historyPath, openWriter } from '../../core/history/store/store.ts'
import { createClient } from '../../gateway/client/index.ts'
import { historyReached, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

const ORDERS = 80
const FLAGS = ['--gateways', '1']
t.setTimeout(600_000)
const directory = temporaryDirectory()
let exchange: Exchange = await startExchange(directory, FLAGS)
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})
const trader = await newTrader(exchange.baseUrl, 3)
const tradingPairId = await pairOf(trader.client, 'SEI/USDC')
const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.2' } as const
const placed: string[] = []
const place = async (): Promise<void> => {
  const client = createClient({ baseUrl: exchange.baseUrl, signer: trader.signer, timeoutMs: 20_000 })
  const { orderId } = await client.CreateOrder(order)
  await client.CancelOrder({ orderId })
  placed.unshift(orderId)
}
for (let made = 0; made < ORDERS; made++) await place()

/** Everything the account ever ordered, newest first, or the code of the refusal. */
async function recorded(): Promise<string[] | string> {
  const client = createClient({ baseUrl: exchange.baseUrl, signer: trader.signer, timeoutMs: 20_000 })
  try {
    return (await client.ListOrders({ pageSize: 100 })).orders.map(({ id }: { id: string }) => id)
  } catch (error) {
    return String((error as { code?: string }).code)
  }
}
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)![1])
}
/** Waits until `is` holds, looking often; the test's own time limit ends it. */
async function until(is: () => Promise<boolean>): Promise<void> {
  while (!(await is())) await new Promise((resolve) => setTimeout(resolve, 30))
}

/** Stops the exchange, changes one bit of the oldest orders, which nobody reads at a start, and starts again. */
async function damage(t: Test, ...flags: string[]): Promise<void> {
  await historyReached(exchange)
  t.strictSame(await recorded(), placed, 'everything is recorded')
  t.equal(await exchange.stop(), 0)
  const database = openWriter(historyPath(directory))
  const { id, records } = database.prepare<[], { id: number; records: Buffer }>('select * from order_page order by id limit 1').get()!
  records[100]! ^= 4
  database.prepare('update order_page set records = ? where id = ?').run(records, id)
  database.close()
  exchange = await startExchange(directory, [...FLAGS, ...flags])
}

async function mended(t: Test): Promise<void> {
  await until(async () => (await metric('exchange_history_rebuilds_total')) === 1)
  await place()
  t.pass('trading went on')
  await until(async () => (await metric('exchange_history_up')) === 1)
  await historyReached(exchange)
  t.strictSame(await recorded(), placed, 'and everything is answered as before')
  const said = exchange.log.filter(({ msg }) => String(msg).startsWith('the history is not what was written'))
  t.match(said, [{ by: 'follower', damage: /order_page, owner \d+, page 0/ }], 'the log names the page')
}

t.test('a question meets the damage', async (t) => {
  await damage(t, '--history-scrub-pages', '0')
  t.equal(await metric('exchange_history_faults_total'), 0, 'nobody knows yet')
  t.equal(await recorded(), 'HISTORY_UNAVAILABLE', 'it is not answered')
  await until(async () => (await metric('exchange_history_faults_total')) > 0)
  await mended(t)
})

t.test('nobody asks: the scrub finds it', async (t) => {
  await damage(t, '--history-scrub-pages', '5000')
  await mended(t)
  await until(async () => (await metric('exchange_history_scrub_passes')) > 1)
  t.equal(await metric('exchange_history_faults_total'), 0, 'no question met it')
  t.equal(await exchange.stop(), 0)
})
