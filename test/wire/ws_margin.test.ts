/**
 * Promise: over a socket, who subscribes to the health of a margin account that is missing or another's is refused, in the same words; a
 * mark is told as market statistics of its pair; and a deposit as a balance that is newer than the one before.
 */
import t from 'tap'
import { CLOCK } from '../../core/state/columns.ts'
import { marginAccountId } from '../../core/layout/ids.ts'
import { marginStage } from '../support/margin_stage.ts'
import { signerOf, SocketClient, type Frame } from '../support/sockets.ts'

t.setTimeout(300_000)
const stage = await marginStage(({ id, name, ask }) => {
  // A history as far as the engine, of pairs that never traded.
  const pairs = name === 'markets' ? (ask as { pairs: number[] }).pairs : []
  return { id, answer: pairs.map(() => null), sequence: stage.harness.state.clock[CLOCK.SEQUENCE]! }
})
t.teardown(() => stage.harness.close())
const { port } = stage.harness
const isOf = (channel: string, type: string) => (frame: Frame): boolean => frame['channel'] === channel && frame['type'] === type
async function socket(): Promise<SocketClient> {
  const client = await SocketClient.open(port)
  t.teardown(() => client.close())
  return client
}

t.test('health of a margin account that is not one\'s own', async (t) => {
  const [user, other] = [await stage.user(), await stage.user()]
  const client = await socket()
  await client.authenticate(signerOf(user.session))
  const sub = (await other.post('/margin/sub-accounts', { label: 'theirs' })).json.marginAccountId as string
  const refused = { type: 'error', code: 'INVALID_SUBSCRIPTION', message: 'Margin account not found', channel: 'account' }
  for (const id of [other.parent, sub, marginAccountId(3, 900)]) {
    t.match(await client.subscribe('account', { marginAccountId: id }), refused)
  }
  t.same(client.of('account'), [], 'no snapshot')
  t.match(await client.subscribe('account', { marginAccountId: user.parent }), { type: 'subscribed' })
  const { data } = await client.next(isOf('account', 'snapshot'))
  t.match(data, { marginAccountId: user.parent, accounts: [{ marginAccountId: user.parent, equity: '5000' }] })

  const own = (await user.post('/margin/sub-accounts', { label: 'mine' })).json.marginAccountId as string
  const params = { marginAccountId: own }
  t.match(await client.subscribe('account', params), { type: 'subscribed', params })
  await user.post(`/margin/sub-accounts/${own}/close`)
  t.match(await client.subscribe('account', params), refused, 'closed meanwhile')
  t.match(await client.ask({ type: 'unsubscribe', channel: 'account', params }), { type: 'unsubscribed', params })
})

t.test('a mark, as statistics of its pair', async (t) => {
  const client = await socket()
  await client.subscribe('market_stats', { tradingPairId: stage.btc.id })
  const { data } = await client.next(isOf('market_stats', 'snapshot'))
  t.match(data.markets, [{ symbol: 'BTC/USDC-PERP', markPrice: '60000', indexPrice: '60000' }])
  await stage.price(stage.eth, 3_100)
  await stage.price(stage.btc, 60_300)
  const update = await client.next(isOf('market_stats', 'market_stats_update'))
  t.match(update, { sequence: Number, data: { tradingPairId: stage.btc.id, markPrice: '60300', indexPrice: '60300', lastPrice: null } })
  const from = client.frames.length
  await stage.price(stage.btc, 60_600)
  t.match((await client.next(isOf('market_stats', 'market_stats_update'), from))['data'], { markPrice: '60600' })
  t.ok(client.of('market_stats').every(({ data: told }) => told.symbol !== 'ETH/USDC-PERP'), 'of no other pair')
})

t.test('a deposit, as a balance', async (t) => {
  const user = await stage.user('0')
  const client = await socket()
  await client.authenticate(signerOf(user.session))
  await client.subscribe('balances')
  const { data } = await client.next(isOf('balances', 'snapshot'))
  const { version } = (data.balances as Frame[]).find(({ symbol }) => symbol === 'USDC')!
  await user.post(`/margin/accounts/${user.parent}/collateral/transfer-in`, { amount: '10' })
  const update = await client.next(isOf('balances', 'balance_update'))
  t.match(update, { reason: 'transfer', data: { symbol: 'USDC', availableBalance: '9990' } })
  t.ok(update['data'].version > version)
})
