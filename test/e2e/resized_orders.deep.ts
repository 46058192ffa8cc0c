/**
 * Promise: a reduce-only order that shrank with its position reads the same wherever it is read: alone and in lists, while it rests, when
 * it has ended and after a restart. Its quantity is what it had filled and what it has left; its trades are what they were. And what the
 * account made of it is in the portfolio, also of a short whose cost is below nothing.
 */
import t from 'tap'
import { historyReached, operate, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'
import { createClient, type Client } from '../../gateway/client/index.ts'

t.setTimeout(600_000)
const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))
let exchange: Exchange = await startExchange(directory)
t.teardown(() => exchange.stop())

const price = async (): Promise<void> => {
  const { status } = await operate(exchange, '/perps/price', { pair: 'BTC/USDC-PERP', price: '60000' })
  if (status !== 200) throw new Error(`no price: ${status}`)
}

/** One order as it is read alone, and in the list. */
async function bothReads(client: Client, orderId: string): Promise<Record<string, unknown>> {
  await historyReached(exchange)
  const alone = (await client.GetOrder({ orderId })) as unknown as Record<string, unknown>
  const { orders } = await client.ListOrders({ pageSize: 50 })
  const listed = orders.find((each) => each.orderId === orderId) as unknown as Record<string, unknown>
  t.same(listed, alone, 'alone and in the list')
  return alone
}

t.test('an order that shrank with its position', async (t) => {
  await price()
  const [short, other] = [await newTrader(exchange.baseUrl), await newTrader(exchange.baseUrl)]
  const client = short.client
  for (const each of [client, other.client]) {
    const { accounts } = await each.ListMarginAccounts()
    await each.DepositCollateral({ marginAccountId: accounts[0]!.marginAccountId, amount: '5000' })
  }
  const tradingPairId = await pairOf(client, 'BTC/USDC-PERP')
  const order = { tradingPairId, tradingMode: 'MARGIN', orderType: 'LIMIT' } as const
  await other.client.CreateOrder({ ...order, side: 'BUY', quantity: '0.1', price: '60000', leverage: '10' })
  await client.CreateOrder({ ...order, side: 'SELL', quantity: '0.1', price: '60000', leverage: '10' })
  const reducing = { ...order, side: 'BUY', quantity: '0.1', price: '59000', reduceOnly: true, clientOrderId: 'out' } as const
  const { orderId } = await client.CreateOrder(reducing)
  // 0.03 of it are filled; then 0.05 of the position are closed otherwise, which leaves 0.02 for it.
  await other.client.CreateOrder({ ...order, side: 'SELL', quantity: '0.03', price: '59000', leverage: '10' })
  await other.client.CreateOrder({ ...order, side: 'SELL', quantity: '0.05', price: '60100', leverage: '10' })
  const [position] = (await client.ListPositions()).positions
  await client.ClosePosition({ positionId: position!.positionId, quantity: '0.05' })
  const resting = await bothReads(client, orderId)
  t.match(resting, {
    status: 'PARTIALLY_FILLED', quantity: '0.05', filledQuantity: '0.03', remainingQuantity: '0.02', reduceOnly: true, side: 'BUY',
    price: '59000', averageFillPrice: '59000', clientOrderId: 'out', tradingMode: 'MARGIN', marginMode: 'ISOLATED',
    marginAccountId: position!.marginAccountId, riskBucketId: position!.riskBucketId,
  })
  t.notOk('leverage' in resting, 'it has none of its own')
  await client.CancelOrder({ orderId })
  const ended = await bothReads(client, orderId)
  t.match(ended, { status: 'CANCELLED', quantity: '0.05', filledQuantity: '0.03', terminalReason: 'USER_CANCELLED' })
  const { trades } = await client.ListAccountTrades({ pageSize: 10 })
  t.same(trades.filter((trade) => trade.orderId === orderId).map(({ quantity, price, role }) => [quantity, price, role]),
    [['0.03', '59000', 'maker']])

  // Sold 0.1 at 60,000; bought 0.03 at 59,000 and 0.05 at 60,100: 30 - 5. Fees: 5 bps of 6,000 and of 3,005, 1 bp of 1,770.
  const portfolio = await client.GetPortfolio({ period: '24h' })
  t.match(portfolio, { realizedPnl: '25', volume: '10775', fees: '4.6795' })
  const read = (await client.GetPosition({ positionId: position!.positionId })) as unknown as Record<string, unknown>
  t.match(read, { size: '0.02', entryPrice: '60000', realizedPnl: '25', side: 'SHORT' })

  await exchange.stop()
  exchange = await startExchange(directory)
  await price()
  const again = createClient({ baseUrl: exchange.baseUrl, wallet: short.wallet, signer: short.signer })
  await again.signIn()
  t.same(await bothReads(again, orderId), ended, 'after a restart')
  t.match(await again.GetPortfolio({ period: 'all' }), { realizedPnl: '25', volume: '10775', fees: '4.6795' })
})
