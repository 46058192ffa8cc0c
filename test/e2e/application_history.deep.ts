/**
 * Promise: two applications on one real exchange, trading with each other: the backend of each reads orders, movements and statistics of
 * its own users and nothing of the other's, from the history in its file, and reads the same after a restart.
 */
import t, { type Test } from 'tap'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createClient, type Client } from '../../gateway/client/index.ts'
import {
  historyReached, issueServerKey, operate, removeDirectory, startExchange, temporaryDirectory, type Exchange,
} from '../support/exchange.ts'
import { pairOf } from '../support/traders.ts'

t.setTimeout(600_000)
const DESK = 'desk'

/** A new user of the application, with test funds. */
async function arrive(baseUrl: string, clientId: string): Promise<{ client: Client; id: string }> {
  const account = privateKeyToAccount(generatePrivateKey())
  const wallet = { address: account.address, signMessage: (message: string) => account.signMessage({ message }) }
  const client = createClient({ baseUrl, wallet, clientId })
  await client.signIn()
  await client.Mint()
  return { client, id: (await client.GetProfile()).id }
}

/** An answer without the time at which the history was read: that differs each time. */
const withoutTime = <T extends { asOf: string }>({ asOf: _, ...answer }: T): Omit<T, 'asOf'> => answer

/** Everything the backend with this key is told. */
async function readAll(baseUrl: string, serverKey: string, since: string) {
  const backend = createClient({ baseUrl, serverKey })
  const { orders, total } = await backend.ListApplicationOrders({ pageSize: 100 })
  const { movements } = await backend.ListApplicationMovements({ pageSize: 100 })
  return {
    orders, total, movements, stats: withoutTime(await backend.GetApplicationStats()),
    late: withoutTime(await backend.GetApplicationStats({ since })),
  }
}
type Told = Awaited<ReturnType<typeof readAll>>

const usersOf = ({ orders, movements }: Told): string[] => [...new Set([...orders, ...movements].map(({ userId }) => userId))].sort()

/** What each backend is told of one trade of 200 between a seller of the first application and a buyer of the second. */
function check(t: Test, [one, two]: readonly [Told, Told], seller: string, buyers: readonly string[], fee: string): void {
  t.strictSame(usersOf(one), [seller])
  t.strictSame(usersOf(two), [...buyers].sort())
  t.match([one.total, two.total], [1, 2])
  t.match(one.orders, [{ userId: seller, side: 'SELL', status: 'FILLED' }])
  t.match(one.stats, { volume: '0', takerFee: '0', totalUsers: 1, activeUsers: 1, totalTrades: 1 }, 'its user was the maker')
  t.match(two.stats, { volume: '200', makerFee: '0', takerFee: fee, totalUsers: 2, activeUsers: 1, totalTrades: 1 })
  t.match(two.late, { volume: '0', takerFee: '0', totalUsers: 2, activeUsers: 0, totalTrades: 0 })
}

t.test('two applications, before and after a restart', async (t) => {
  const directory = temporaryDirectory()
  let exchange: Exchange = await startExchange(directory)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  t.equal((await operate(exchange, '/applications', { clientId: DESK, name: 'Desk', allowedOrigins: [] })).status, 200)
  const keys = [await issueServerKey(exchange), await issueServerKey(exchange, DESK)] as const
  const seller = await arrive(exchange.baseUrl, 'ringbook')
  const buyer = await arrive(exchange.baseUrl, DESK)
  const idle = await arrive(exchange.baseUrl, DESK)
  const tradingPairId = await pairOf(seller.client, 'ETH/USDC')
  const limit = { tradingPairId, orderType: 'LIMIT', quantity: '0.1', price: '2000' } as const
  await seller.client.CreateOrder({ ...limit, side: 'SELL' })
  const { takerFee } = await buyer.client.SimulateFees({ ...limit, side: 'BUY' })
  await buyer.client.CreateOrder({ ...limit, side: 'BUY' })
  await idle.client.CreateOrder({ ...limit, side: 'BUY', price: '1000' })
  const late = '2099-01-01T00:00:00Z'
  const read = (key: string): Promise<Told> => readAll(exchange.baseUrl, key, late)
  await historyReached(exchange)
  const before = [await read(keys[0]), await read(keys[1])] as const
  check(t, before, seller.id, [buyer.id, idle.id], takerFee)
  for (const [key, other] of [[keys[0], buyer.id], [keys[1], seller.id]] as const) {
    const backend = createClient({ baseUrl: exchange.baseUrl, serverKey: key })
    t.match(await backend.ListApplicationOrders({ userId: other }), { orders: [], total: 0 })
    t.match(await backend.ListApplicationMovements({ userId: other }), { movements: [], total: 0 })
  }
  await exchange.stop()
  exchange = await startExchange(directory)
  await historyReached(exchange)
  t.strictSame([await read(keys[0]), await read(keys[1])], before, 'the same after a restart')
})
