/**
 * Promise: an operator configures the maker of a market on the command line; two processes of that wallet, each with a session and an owner
 * id of its own, never both quote; and a lease outlives a kill of the exchange, replayed from the journal: who was fenced out still is.
 */
import t, { type Test } from 'tap'
import { createClient } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { operator } from '../support/operator_command.ts'
import { newTrader, pairOf, sodiumSigner } from '../support/traders.ts'

t.setTimeout(600_000)

/** Sets a launch up on the command line, whose mistakes are said. */
async function configure(t: Test, exchange: Exchange, userId: string, wallet: string): Promise<void> {
  const run = (...words: string[]): ReturnType<typeof operator> => operator(exchange, 'launches', ...words)
  const terms = ['--pair', 'BTC/USDC', '--user', userId]
  const [wrong, said] = await run('add', 'launch-7', ...terms, '--wallet', `0x${'1'.repeat(40)}`)
  t.ok(wrong !== 0 && said.includes('wallet is not that of the user'), said)
  const named = ['--wallet', wallet, '--application', 'ringbook', '--lease-ms', '3600000', '--generation', '4']
  const added = await run('add', 'launch-7', ...terms, ...named)
  t.match(added, [0, new RegExp(`launch launch-7 on BTC/USDC is PREPARING, its maker ${userId} \\(sequence \\d+\\)`)])
  t.not((await run('add', 'launch-8', ...terms))[0], 0, 'one is under way on this pair')
  t.not((await run('set', 'launch-7'))[0], 0, 'nothing shall change')
  t.match(await run('set', 'launch-7', '--phase', 'LIVE'), [0, /launch-7 on BTC\/USDC is LIVE/])
  t.match(await run('list'), [0, /launch-7 +BTC\/USDC +LIVE +unclaimed +4 +-/])
}

t.test('a second process of a maker fences the first one out, over a kill of the exchange', async (t) => {
  const directory = temporaryDirectory()
  let exchange = await startExchange(directory)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const { client: first, wallet, address } = await newTrader(exchange.baseUrl, 1)
  const second = createClient({ baseUrl: exchange.baseUrl, wallet, signer: sodiumSigner() })
  await second.signIn()
  await configure(t, exchange, (await first.GetProfile()).id, address)
  const tradingPairId = await pairOf(first, 'BTC/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.001', price: '60000' } as const
  const claim = { launchId: 'launch-7', ownerId: 'process-1', expectedGeneration: '4' }
  t.match(await first.ClaimLease(claim), { generation: '5', quoteRevision: '3', phase: 'LIVE', refreshIntervalMs: 1_200_000 })
  await first.CreateOrder(order)
  const mine = { launchId: 'launch-7', ownerId: 'process-2', expectedGeneration: '5' }
  t.match(await second.ClaimLease(mine), { generation: '6', quoteRevision: '4' })
  await t.rejects(first.CreateOrder(order), { status: 409, code: 'LEASE_LOST' })
  await t.rejects(first.ClaimLease({ ...claim, expectedGeneration: '5' }), {
    status: 409, code: 'LEASE_CONFLICT', details: { generation: '6' },
  })

  await exchange.kill()
  exchange = await startExchange(directory)
  const [again, other] = [first, second].map(({ signer }) => createClient({ baseUrl: exchange.baseUrl, signer: signer! }))
  await t.rejects(again!.CreateOrder(order), { status: 409, code: 'LEASE_LOST' }, 'still')
  t.ok((await other!.CreateOrder(order)).orderId)
  t.match(await other!.ClaimLease({ ...mine, expectedGeneration: '6' }), { generation: '6', quoteRevision: '4' })
  t.match(await operator(exchange, 'launches', 'list'), [0, /LIVE +live +6 +process-2/])
  const metrics = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  t.match(metrics, /exchange_maker_leases\{phase="LIVE",lease="live"\} 1/)
})
