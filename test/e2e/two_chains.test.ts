/**
 * Promise: what is deposited on another chain than the hub is credited, counts as covered, and is paid on the hub as far as that has it;
 * while the other chain's node is away nothing is authorised, nothing is stopped and everybody trades; when it is back all goes on.
 */
import t from 'tap'
import { createWalletClient, http, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { TOKEN_ABI } from '../../gateway/chain/vault/artifacts.ts'
import { startDevnet } from '../support/devnet_node.ts'
import { askOperator, operate, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { startLyingNode } from '../support/lying_node.ts'
import { deposit, hubOf, signedWithdrawal, transferTokens, until, withdraw, withdrawalIs } from '../support/money.ts'
import { moneyGenesis } from '../support/money_storm.ts'
import { setUpOutsideVault } from '../support/outside_vault.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(600_000)

/** Six digits behind the point, on both chains. */
const USDC = 1_000_000n
/** Of authorisations: none ends here. */
const LIFETIME_MS = 600_000

t.test('deposits on another chain', async (t) => {
  const text = moneyGenesis(LIFETIME_MS)
  const genesis = parseGenesis(text)
  const other = genesis.sweeperChains.find(({ hub }) => !hub)!
  const own = { chainId: other.chainId, sweeperChains: [{ ...other, hub: true }] }
  const chain = await startDevnet(t, own)
  const token = other.assets.find(({ symbol }) => symbol === 'USDC')!.tokenAddress as Hex

  // The same key sets up the same contracts at the same addresses.
  const { vault, key, keyFile, genesisFile } = await setUpOutsideVault(chain, own, text)

  const node = await startLyingNode(t, chain.url)
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory, [
    '--genesis', genesisFile, '--vault', '1', '--vault-key-file', keyFile, '--deposit-rpc-urls', `${other.chainId}=${node.url}`,
    '--chain-poll-ms', '100',
  ])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const ann = await newTrader(exchange.baseUrl)
  const hub = await hubOf(exchange, ann.client)
  t.equal(hub.vault.toLowerCase(), vault, 'the same address on both chains')
  const elsewhere = await hubOf({ chainPort: Number(new URL(chain.url).port) }, ann.client)
  const usdc = async (): Promise<{ id: string; available: number }> => {
    const { balances } = await ann.client.ListBalances()
    const { assetId, availableBalance } = balances.find(({ symbol }) => symbol === 'USDC')!
    return { id: assetId, available: Number(availableBalance) }
  }
  const has = (wanted: number): Promise<true> => until(`${wanted} USDC`, async () => (await usdc()).available === wanted && true)
  const ask = (path: string): ReturnType<typeof askOperator> => askOperator(exchange, path)
  const covered = async (): Promise<Record<string, string>> =>
    (await ask('/solvency'))['tokens'].find((each: any) => each.symbol === 'USDC')
  const { id, available } = await usdc()
  t.equal(available, 10_000, 'of the faucet')

  const minter = createWalletClient({ account: privateKeyToAccount(key), transport: http(chain.url, { retryCount: 0 }) })
  await minter.writeContract({
    address: token, abi: TOKEN_ABI, functionName: 'mint', args: [`0x${'01'.repeat(32)}`, ann.account.address, 5_000n * USDC],
    chain: null, gas: 1_000_000n, gasPrice: 0n,
  })
  const txHash = await deposit(elsewhere, ann, token, 3_000n * USDC)
  await has(13_000)
  const { depositAddress } = await ann.client.GetProfile()
  await transferTokens(elsewhere, ann.account, token, depositAddress!, 1_000n * USDC)
  await has(14_000)
  await until('the movement', async () => {
    const { movements } = await ann.client.ListMovements({ transactionType: 'DEPOSIT' })
    return movements.length === 2 && movements.some((each) => each.txHash === txHash && each.amount === '3000')
  })
  await until('a look at both chains', async () => (await covered())['elsewhere'] === '4000')
  t.match(await ask('/solvency'), { solvent: true, stopped: 'NONE' })

  const paid = await withdraw(hub, ann, id, '2000')
  await withdrawalIs(ann.client, paid, 'CONFIRMED')
  const { id: large } = await ann.client.InitiateWithdrawal({ assetId: id, amount: '9000' })
  await signedWithdrawal(ann.client, id)
  t.equal((await ann.client.GetWithdrawal({ withdrawalId: large })).status, 'PENDING', 'the hub has 8000; a smaller one goes before it')

  node.change = () => 'cut'
  await until('that it is away', async () =>
    (await ask('/chain'))['chains'].some((each: any) => each.chainId === other.chainId && !each.connected))
  const { id: meanwhile } = await ann.client.InitiateWithdrawal({ assetId: id, amount: '10' })
  const { rpcFailures } = await ask('/chain')
  await until('turns without it', async () => (await ask('/chain'))['rpcFailures'] >= rpcFailures + 10)
  t.equal((await ann.client.GetWithdrawal({ withdrawalId: meanwhile })).status, 'PENDING', 'nobody knows whether it is covered')
  t.equal((await ask('/withdrawals'))['stopped'], 'NONE')
  const tradingPairId = await pairOf(ann.client, 'BTC/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.01', price: '50000' } as const
  t.equal((await ann.client.CreateOrder(order)).matchResult.status, 'SUBMITTED', 'trading goes on')

  node.change = null
  await withdrawalIs(ann.client, meanwhile, 'SIGNED')
  const cancelled = await operate(exchange, '/withdrawals/review', { id: large, to: 'cancel' })
  t.equal(cancelled.status, 200, 'what the hub cannot pay the operator may cancel')
  t.match(await ask('/solvency'), { solvent: true, stopped: 'NONE' })
})
