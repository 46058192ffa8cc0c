/**
 * Promise: a user gives others a code, and whoever signs in with it for the first time was brought by him; of their fees three levels earn,
 * to the atom; the operator sets what; rewards outlive a kill of the exchange and become a balance once. Everything over real sockets.
 */
import t, { type Test } from 'tap'
import type { Client } from '../../gateway/client/index.ts'
import { historyReached, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { operator } from '../support/operator_command.ts'
import { newTrader, newWallet, pairOf } from '../support/traders.ts'

t.setTimeout(600_000)

const codeOf = async (client: Client): Promise<string> => (await client.GetReferralPosition()).referralCode

/** A new user whom `referralCode` brought; what the sign-in said of it must be `applied`. */
async function signIn(t: Test, baseUrl: string, referralCode: string, applied = true, clientId?: string): Promise<Client> {
  const { client } = newWallet(baseUrl, clientId === undefined ? {} : { clientId })
  t.match(await client.signIn({ referralCode }), { isNewUser: true, referralApplied: applied }, referralCode)
  return client
}

/** `taker` buys 0.01 BTC at 60000 of `maker`. */
async function trade(maker: Client, taker: Client, tradingPairId: string): Promise<void> {
  const order = { tradingPairId, orderType: 'LIMIT', quantity: '0.01', price: '60000' } as const
  await maker.CreateOrder({ ...order, side: 'SELL' })
  await taker.CreateOrder({ ...order, side: 'BUY' })
}

t.test('codes at sign-in, rewards of three levels, the shares of the operator, and a kill', async (t) => {
  const directory = temporaryDirectory()
  let exchange = await startExchange(directory)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const { baseUrl } = exchange
  const { client: ann } = newWallet(baseUrl)
  t.match(await ann.signIn({ referralCode: 'AAAA-BBBB-CCCC' }), { isNewUser: true, referralApplied: false }, 'nobody has this code')
  const annCode = await codeOf(ann)
  t.match(annCode, /^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/)
  t.match(await ann.signIn({ referralCode: annCode }), { isNewUser: false, referralApplied: false }, 'her own')
  const bob = await signIn(t, baseUrl, annCode.toLowerCase().replaceAll('-', ''))
  t.match(await bob.signIn({ referralCode: annCode }), { isNewUser: false, referralApplied: false }, 'only the first counts')
  const cat = await signIn(t, baseUrl, await codeOf(bob))
  const dan = await signIn(t, baseUrl, await codeOf(cat))
  await signIn(t, baseUrl, `${annCode.slice(0, -1)}${annCode.endsWith('0') ? '1' : '0'}`, false)
  await signIn(t, baseUrl, 'x'.repeat(256), false)
  const { address } = await bob.GetProfile()
  t.match(await codeOf(bob), /-/)

  const { client: eve } = await newTrader(baseUrl)
  await dan.Mint()
  const tradingPairId = await pairOf(dan, 'BTC/USDC')
  await trade(eve, dan, tradingPairId)
  // 600 USDC: 0.3 of dan less 0.03 of eve's rebate; 20 %, 5 % and 2.5 %.
  const { token } = (await dan.ListBalances()).balances.find(({ symbol }) => symbol === 'USDC')!
  for (const [client, available] of [[cat, '0.054'], [bob, '0.0135'], [ann, '0.00675']] as const) {
    t.strictSame(await client.GetRewardsBalance(), { balances: [{ token, available }] })
  }
  t.strictSame(await eve.GetRewardsBalance(), { balances: [] })
  await historyReached(exchange)
  t.match(await ann.GetReferralPosition(), { referrer: null, totalEarned: [{ token, amount: '0.00675' }], rewards: [{ level: 3 }] })
  t.match(await ann.GetReferralDownline(), {
    directReferees: [{ walletAddress: address }], complete: true, summary: [{ referees: 1 }, { referees: 1 }, { referees: 1 }],
  })

  t.match(await operator(exchange, 'referrals', 'show'), [0, /1 +0\.2\n +2 +0\.05\n +3 +0\.025\n\nASSET +OWED\nUSDC +0\.07425/])
  t.match(await operator(exchange, 'referrals', 'set', '0.6', '0.3', '0.2'), [1, /the shares must together be at most 1/])
  t.match(await operator(exchange, 'referrals', 'set', '0.5', '0', '0'), [0, /shares are 0\.5, 0, 0 \(sequence \d+\)/])
  await trade(eve, dan, tradingPairId)
  t.strictSame(await cat.GetRewardsBalance(), { balances: [{ token, available: '0.189' }] })

  const transfer = { token, amount: '0.1', idempotencyKey: 'first' }
  const moved = await cat.TransferRewards(transfer)
  await exchange.kill()
  exchange = await startExchange(directory, ['--port', new URL(baseUrl).port])
  t.strictSame(await cat.TransferRewards(transfer), moved, 'repeated, not run again')
  await t.rejects(cat.TransferRewards({ token, amount: '0.0891' }), {
    status: 400, code: 'INSUFFICIENT_BALANCE', details: { available: '0.089', required: '0.0891' },
  })
  await cat.TransferRewards({ token, amount: '0.089' })
  t.strictSame(await cat.GetRewardsBalance(), { balances: [] })
  t.match((await cat.ListBalances()).balances.find(({ symbol }) => symbol === 'USDC'), { availableBalance: '0.189', version: 2 })
  await historyReached(exchange)
  const { movements } = await cat.ListMovements({ transactionType: 'REFERRAL_REWARD' })
  t.match(movements, [{ entryType: 'CREDIT', amount: '0.089' }, { id: moved.movementId, entryType: 'CREDIT', amount: '0.1' }])
  t.match(await cat.GetReferralPosition(), { totalEarned: [{ token, amount: '0.189' }] })
  t.match(await operator(exchange, 'referrals', 'show'), [0, /1 +0\.5\n +2 +0\n +3 +0\n/])
})
