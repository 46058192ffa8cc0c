/**
 * Promise: money goes round. A wallet deposits on the embedded chain, by the vault and by its deposit address, trades with what was
 * credited, withdraws it and has the tokens; trades are settled on the chain; a kill in the middle changes nothing of it. Real sockets,
 * viem.
 */
import t from 'tap'
import type { Hex } from 'viem'
import { createClient } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import {
  calldataOf, deposit, hubOf, sendCall, tokensOf, transferTokens, until, withdraw, withdrawalIs, type Hub,
} from '../support/money.ts'
import { newTrader, newWallet, pairOf, sodiumSigner, type Trader } from '../support/traders.ts'

t.setTimeout(600_000)

const FLAGS = ['--vault', '1', '--settlement-seconds', '1', '--chain-poll-ms', '100']

interface Funds {
  readonly id: string
  readonly token: string
  /** Units of the token. */
  readonly available: number
  readonly locked: number
}

async function fundsOf({ client }: Trader, symbol: string): Promise<Funds> {
  const { balances } = await client.ListBalances()
  const { assetId, token, availableBalance, lockedBalance } = balances.find((each) => each.symbol === symbol)!
  return { id: assetId, token, available: Number(availableBalance), locked: Number(lockedBalance) }
}
const hasOf = (trader: Trader, symbol: string, available: number): Promise<true> =>
  until(`${available} ${symbol}`, async () => (await fundsOf(trader, symbol)).available === available && true)

/** Withdraws and waits for the tokens: what it had before. */
async function tokensFor(hub: Hub, trader: Trader, symbol: string, amount: string): Promise<Funds> {
  const funds = await fundsOf(trader, symbol)
  await withdrawalIs(trader.client, await withdraw(hub, trader, funds.id, amount), 'CONFIRMED')
  return funds
}

t.test('deposits, a trade, withdrawals, settlement, and a kill', async (t) => {
  const directory = temporaryDirectory()
  let exchange = await startExchange(directory, FLAGS)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const [ann, bob] = [await newTrader(exchange.baseUrl), await newTrader(exchange.baseUrl)]
  const hub = await hubOf(exchange, ann.client)

  const usdc = await tokensFor(hub, ann, 'USDC', '5000')
  t.equal(await tokensOf(hub, usdc.token, ann.address), 5_000_000_000n, 'the tokens arrived')
  t.match(await fundsOf(ann, 'USDC'), { available: 5000, locked: 0 })

  await deposit(hub, ann, usdc.token, 3_000_000_000n)
  await hasOf(ann, 'USDC', 8000)
  const { depositAddress } = await ann.client.GetProfile()
  await transferTokens(hub, ann.account, usdc.token, depositAddress!, 1_500_000_000n)
  await hasOf(ann, 'USDC', 9500)
  t.equal(await tokensOf(hub, usdc.token, ann.address), 500_000_000n)

  const cat = newWallet(exchange.baseUrl)
  await deposit(hub, ann, usdc.token, 500_000_000n, cat.address)
  await cat.client.signIn()
  await hasOf(cat, 'USDC', 500)
  t.pass('what came before its owner waited for him')

  const tradingPairId = await pairOf(ann.client, 'BTC/USDC')
  await bob.client.CreateOrder({ tradingPairId, orderType: 'LIMIT', side: 'SELL', quantity: '0.1', price: '60000' })
  await ann.client.CreateOrder({ tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '60000' })
  const btc = await fundsOf(ann, 'BTC')
  await until('settlement', async () => {
    const { trades } = await ann.client.ListTrades({ tradingPairId })
    return trades[0]?.settlementStatus === 'SETTLED_ON_CHAIN'
  })

  const { id } = await ann.client.InitiateWithdrawal({ assetId: btc.id, amount: '0.25' })
  const before = await calldataOf(ann.client, id)
  await exchange.kill()
  exchange = await startExchange(directory, FLAGS)
  const again = newAt(exchange.baseUrl, ann)
  await again.client.signIn()
  const after = await hubOf(exchange, again.client)
  t.equal(after.vault, hub.vault, 'the same contracts')
  const { to, data } = await calldataOf(again.client, id)
  t.equal(data, before.data, 'the same bytes')
  const { hash } = await sendCall(after, ann.account, to as Hex, data as Hex)
  await withdrawalIs(again.client, id, 'CONFIRMED')
  t.match(await again.client.GetWithdrawal({ withdrawalId: id }), { status: 'CONFIRMED', txHash: hash, amount: '0.25' })
  t.equal(await tokensOf(after, btc.token, ann.address), 25_000_000n)
  t.match(await fundsOf(again, 'BTC'), { locked: 0 })
})

/** The same wallet, at another address of the exchange. */
function newAt(baseUrl: string, { account, wallet, address }: Trader): Trader {
  const signer = sodiumSigner()
  return { client: createClient({ baseUrl, wallet, signer }), signer, account, wallet, address }
}
