/** What the compiler must take of a stranger, and what it must not. Never run. */
import { createClient, NetworkError, RingbookError, type Client, type Input, type Order, type Outcome, type Output } from '@ringbook/client'

const wallet = { address: '0x', signMessage: async (text: string): Promise<string> => text }
const client: Client = createClient({ baseUrl: 'http://127.0.0.1:8080', wallet, retry: { attempts: 3 } })

export async function right(): Promise<unknown[]> {
  await client.signIn()
  const order: Input<'CreateOrder'> = { tradingPairId: 'p', orderType: 'LIMIT', side: 'BUY', quantity: '1', price: '2' }
  const placed: Output<'CreateOrder'> = await client.CreateOrder(order, { signal: new AbortController().signal })
  const batch = await client.BatchCreateOrders({ orders: [order, { ...order, idempotencyKey: 'k' }] })
  const { orders } = await client.ListOrders({ status: ['FILLED'] })
  const named: Order[] = orders
  const book = client.book({ tradingPairId: 'p' }, { changed: ({ bestBid }) => bestBid?.price.length })
  const subscription = client.subscribe('orders', {}, {
    snapshot: (data) => data.orders.length,
    update: (_, frame) => (frame.data.orderId.length > 0 ? frame.type : undefined),
  })
  const over = await client.orders.CancelOrder({ orderId: placed.orderId })
  return [batch.totalSucceeded, named, book.checksum, subscription, over.orderId]
}

export function outcome(error: unknown): Outcome {
  return error instanceof RingbookError || error instanceof NetworkError ? error.outcome : 'unknown'
}

export async function wrong(): Promise<void> {
  // @ts-expect-error: a required field is missing
  await client.CreateOrder({ tradingPairId: 'p' })
  // @ts-expect-error: the path parameter is missing
  await client.CancelOrder()
  // @ts-expect-error: no such operation
  await client.call('Nothing', {})
  // @ts-expect-error: not a side
  await client.CreateOrder({ tradingPairId: 'p', orderType: 'LIMIT', side: 'LONG', quantity: '1' })
  // @ts-expect-error: amounts are text
  await client.CreateOrder({ tradingPairId: 'p', orderType: 'LIMIT', side: 'BUY', quantity: 1 })
  // @ts-expect-error: an element of a batch has the fields of an order
  await client.BatchCreateOrders({ orders: [{ tradingPairId: 'p' }] })
  // @ts-expect-error: no such output
  ;(await client.GetProfile()).nothing
  // @ts-expect-error: no such channel
  client.subscribe('nothing', {}, {})
  // @ts-expect-error: a book is of a pair
  client.book({})
  // @ts-expect-error: not an operation of order entry
  await client.orders.Mint()
  // @ts-expect-error: an outcome is one of three
  const said: Outcome = 'perhaps'
  void said
}
