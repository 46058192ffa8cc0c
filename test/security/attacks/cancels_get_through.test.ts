/**
 * Promise: cancels get through. Accounts of one host that rest many orders and have two dozen mass cancels each in flight on open sockets,
 * of everything and of pairs whose orders are few and old, make nobody else's requests OVERLOADED: an honest trader beside them is never
 * refused, orders or cancels, and the attackers' own cancels end what they name. Whole exchange, default settings but for one gateway
 * thread, so that everybody shares its room for answers.
 */
import t from 'tap'
import { besideAttack } from '../../support/attack.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../../support/exchange.ts'
import { fetchFrom } from '../../support/fetch_from.ts'
import { newTrader, pairOf, type Trader } from '../../support/traders.ts'

t.setTimeout(600_000)
const ACCOUNTS = 3
/** Mass cancels of one account in flight. */
const IN_FLIGHT = 24
const BATCHES = 6
const BATCH = 100

const dataDir = temporaryDirectory()
const exchange = await startExchange(dataDir, ['--gateways', '1', '--chain', '0'])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(dataDir)
})

type Order = { tradingPairId: string; side: 'BUY'; orderType: 'LIMIT'; quantity: string; price: string }

t.test('mass cancels without end', async (t) => {
  const { fetch, close } = fetchFrom('127.0.0.2', ACCOUNTS * IN_FLIGHT)
  t.teardown(close)
  const attackers: Trader[] = []
  for (let each = 0; each < ACCOUNTS; each++) attackers.push(await newTrader(exchange.baseUrl, 5, fetch))
  const [few, many] = [await pairOf(attackers[0]!.client, 'BTC/USDC'), await pairOf(attackers[0]!.client, 'ETH/USDC')]
  const order = (tradingPairId: string): Order => ({ tradingPairId, side: 'BUY', orderType: 'LIMIT', quantity: '0.01', price: '100' })
  const fill = async ({ client }: Trader): Promise<number> => {
    let rest = 0
    for (let batch = 0; batch < BATCHES; batch++) {
      const orders = Array.from({ length: BATCH }, (_, index) => order(batch === 0 && index < 10 ? few : many))
      const { results } = await client.BatchCreateOrders({ orders })
      rest += results.filter(({ error }) => error === undefined || error === null).length
    }
    return rest
  }
  for (const attacker of attackers) t.equal(await fill(attacker), BATCHES * BATCH)

  const codes = new Map<string, number>()
  let calls = 0
  let cancelled = 0
  /** One mass cancel after the other: of a pair with ten old orders behind 590 that stay, which are only looked at, now and then of all. */
  const exits = async (attacker: Trader, number: number, ended: AbortSignal): Promise<void> => {
    for (let call = number; !ended.aborted; call++) {
      const { client } = attacker
      const asked = call % 40 === 39 ? client.BatchCancelAllOrders({}) : client.BatchCancelOrdersByPair({ tradingPairId: few })
      const code = await asked.then(({ totalCancelled }) => {
        cancelled += totalCancelled
        return 'done'
      }, (error: { code: string }) => error.code)
      codes.set(code, (codes.get(code) ?? 0) + 1)
      calls++
    }
  }
  const { attacked } = await besideAttack(t, exchange, {
    name: `${ACCOUNTS} accounts with ${IN_FLIGHT} mass cancels in flight each`,
    attack: async (ended) => {
      const floods = attackers.flatMap((attacker) => Array.from({ length: IN_FLIGHT }, (_, number) => exits(attacker, number, ended)))
      await Promise.all(floods)
    },
  })
  t.comment(`${calls} mass cancels, ${cancelled} orders: ${JSON.stringify(Object.fromEntries(codes))}`)
  t.same(attacked.refused, {}, 'whoever trades beside them is never refused')
  t.ok(attacked.done > 0)
  t.same([...codes.keys()], ['done'], 'and no mass cancel either')
  t.ok(calls > ACCOUNTS * IN_FLIGHT, `${calls} calls`)
  for (const attacker of attackers) {
    await attacker.client.BatchCancelAllOrders({})
    const { orders } = await attacker.client.ListOrders({ status: ['SUBMITTED', 'PARTIALLY_FILLED'], pageSize: 10 })
    t.equal(orders.length, 0, 'what they wanted to end has ended')
  }
})
