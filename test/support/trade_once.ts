/**
 * A program of its own: signs a new wallet in at the address of its first argument, places an order over REST and one over a socket, and
 * prints what books and balances tell of it as one line of JSON. A test gives it the certificate to trust in NODE_EXTRA_CA_CERTS, which is
 * read when a process begins.
 */
import { newTrader, pairOf } from './traders.ts'

const { client } = await newTrader(process.argv[2]!)
const tradingPairId = await pairOf(client, 'BTC/USDC')
const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '100' } as const
const balances = Promise.withResolvers<number>()
client.subscribe('balances', {}, { snapshot: (frame) => balances.resolve(frame.balances.length), update: () => undefined })
const book = client.book({ tradingPairId })
const { orderId } = await client.CreateOrder(order)
const socketed = await client.orders.CreateOrder(order)
for (let look = 0; look < 1_000 && (book.bids[0]?.quantity ?? '') !== '0.2'; look++) await new Promise((resolve) => setTimeout(resolve, 10))
const told = { orderId, socketed: socketed.orderId, balances: await balances.promise, best: book.bids[0] }
process.stdout.write(`${JSON.stringify(told)}\n`)
client.closeStreams()
client.orders.close()
