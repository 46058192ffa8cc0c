/** Promise: a walk through a listing goes on after a restart of the exchange, and another exchange does not know its tokens. */
import t from 'tap'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { newTrader, pairOf, type Trader } from '../support/traders.ts'
import { createClient } from '../../gateway/client/index.ts'

t.setTimeout(900_000)

/** The same session against the exchange at another address. */
const moved = ({ signer }: Trader, baseUrl: string): ReturnType<typeof createClient> => createClient({ baseUrl, signer })

t.test('page tokens outlive the process', async (t) => {
  const [directory, elsewhere] = [temporaryDirectory(), temporaryDirectory()]
  t.teardown(() => [directory, elsewhere].forEach(removeDirectory))
  const first = await startExchange(directory)
  t.teardown(() => first.kill())
  const trader = await newTrader(first.baseUrl)
  const tradingPairId = await pairOf(trader.client, 'BTC/USDC')
  const placed: string[] = []
  for (const price of ['1000', '1001', '1002']) {
    const { orderId } = await trader.client.CreateOrder({ tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.01', price })
    placed.push(orderId)
  }
  const start = await trader.client.ListOrders({ pageToken: '', pageSize: 1, status: ['SUBMITTED'] })
  t.same(start.orders.map(({ orderId }) => orderId), placed.slice(2))
  await first.stop()

  const second = await startExchange(directory)
  t.teardown(() => second.kill())
  const next = { pageToken: start.nextPageToken!, pageSize: 5, status: ['SUBMITTED' as const] }
  const { orders, nextPageToken } = await moved(trader, second.baseUrl).ListOrders(next)
  t.same(orders.map(({ orderId }) => orderId), [placed[1], placed[0]])
  t.equal(nextPageToken, '')
  await second.stop()

  const other = await startExchange(elsewhere)
  t.teardown(() => other.kill())
  const stranger = await newTrader(other.baseUrl)
  await t.rejects(stranger.client.ListOrders(next), { code: 'VALIDATION_ERROR' }, 'another exchange has another key')
  await other.stop()
})
