/**
 * What a stranger's program does with the package, in Node and in a page: it signs in, trades, keeps a verified book and sends orders over
 * a socket. `api` is the package, `wallet` what signs; the answer is what the test looks at.
 */
export async function trade(api, { baseUrl, makers }) {
  const { createClient, RingbookError, outcomeOf } = api
  const [maker, taker] = makers.map((wallet) => createClient({ baseUrl, wallet, retry: { attempts: 3 } }))
  for (const client of [maker, taker]) {
    await client.signIn()
    await client.Mint()
  }
  const { tradingPairs } = await maker.ListTradingPairs()
  const pair = tradingPairs[0]
  const tradingPairId = pair.id
  const book = maker.book({ tradingPairId })
  const trades = []
  const events = []
  const listening = [
    taker.subscribe('trades', { tradingPairId }, { update: (data) => trades.push(data) }),
    taker.subscribe('orders', {}, { update: (data, { type }) => events.push(type) }),
  ]
  await Promise.all([book.ready, ...listening.map(({ ready }) => ready)])
  const { bids: before } = await maker.GetOrderbook({ tradingPairId })
  // Above what rests, so that both orders meet each other.
  const price = before.length > 0 ? String(Number(before[0].price) * 2) : '100'
  const order = { tradingPairId, orderType: 'LIMIT', quantity: '0.1', price }
  const rests = await maker.CreateOrder({ ...order, side: 'SELL', idempotencyKey: `key ${Math.random()}` })
  const takes = await taker.CreateOrder({ ...order, side: 'BUY', timeInForce: 'IOC' })
  const other = await maker.orders.CreateOrder({ ...order, side: 'BUY', price: String(Number(price) / 2) })
  await until(() => events.length > 0)
  const { sequence, bids, asks, checksum } = await maker.GetOrderbook({ tradingPairId })
  await until(() => book.live && book.sequence >= sequence)
  const sameBook = book.checksum === checksum && book.bids.length === bids.length && book.asks.length === asks.length
  const refused = await maker.CreateOrder({ ...order, side: 'BUY', price: '0.00001' }).catch((error) => error)
  await maker.orders.CancelOrder({ orderId: other.orderId })
  const told = {
    platform: typeof document === 'object' ? 'page' : `node ${process.versions.node.split('.')[0]}`,
    status: (await taker.GetOrder({ orderId: takes.orderId })).status,
    rested: rests.orderId !== undefined,
    events: events.length,
    sameBook,
    refused: refused instanceof RingbookError ? [refused.code, refused.outcome] : String(refused),
    batchItem: outcomeOf(200, 'SERVICE_UNAVAILABLE'),
    socket: maker.orders.status,
  }
  for (const each of listening) each.close()
  book.close()
  maker.orders.close()
  for (const client of [maker, taker]) client.closeStreams()
  return told
}

async function until(holds) {
  for (let look = 0; look < 4000; look++) {
    if (holds()) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`in vain: ${holds}`)
}
