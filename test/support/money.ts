/**
 * Money on the embedded chain, for tests and benches: what a user does there with his own wallet, through viem alone. The chain has no
 * fees, so a wallet needs nothing but its key.
 *
 * Tokens come from the exchange: who asked the faucet withdraws, and has them.
 */
import {
  createPublicClient, createWalletClient, erc20Abi, http, parseAbi, type Hex, type PublicClient, type Transport, type WalletClient,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Client } from '../../gateway/client/index.ts'
import type { Exchange } from './exchange.ts'
import type { Trader } from './traders.ts'

/** The application of the default genesis: all zero is the default one. */
const DEFAULT_APPLICATION: Hex = `0x${'00'.repeat(16)}`
const VAULT_ABI = parseAbi(['function deposit(address token, uint256 amount, address beneficiary, bytes16 application)'])
/** More than any test deposits. */
const ENOUGH = 2n ** 200n
const LOOK_MS = 50

/** The hub as a user sees it. */
export interface Hub {
  readonly node: PublicClient
  readonly wallet: WalletClient<Transport>
  readonly chainId: number
  readonly vault: Hex
  readonly factory: Hex
  /** Longest wait for the block of a transaction, ms. */
  readonly blockMs: number
}

/** Waits until `reached`, for a minute at most, and no longer than nothing `isOver`; what throws meanwhile is asked again. */
export async function until<T>(
  what: string, reached: () => Promise<T | null | false | undefined>, ms = 60_000, isOver: () => boolean = () => false,
): Promise<T> {
  let last: unknown = null
  for (const end = performance.now() + ms; performance.now() < end && !isOver(); ) {
    try {
      const found = await reached()
      if (found !== null && found !== false && found !== undefined) return found
    } catch (error) {
      last = error
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  throw new Error(`${what} did not come`, { cause: last })
}

/** Waits until the exchange knows its vault. */
export async function hubOf({ chainPort }: Pick<Exchange, 'chainPort'>, client: Client, blockMs = 30_000): Promise<Hub> {
  const transport = http(`http://127.0.0.1:${chainPort}`, { retryCount: 0 })
  const known = await until('the vault', async () => {
    const { chains } = await client.ListSweeperChains()
    const { chainId, vault, factory } = chains.find(({ isHub }) => isHub)!
    return typeof vault === 'string' && typeof factory === 'string' && { chainId, vault: vault as Hex, factory: factory as Hex }
  })
  return { node: createPublicClient({ transport }), wallet: createWalletClient({ transport }), blockMs, ...known }
}

/** Sends a call and waits for its block. Throws when it fails. */
export async function sendCall(
  { node, wallet, blockMs }: Hub, account: PrivateKeyAccount, to: Hex, data: Hex,
): Promise<{ hash: Hex; block: bigint }> {
  const hash = await wallet.sendTransaction({ account, chain: null, to, data, gas: 1_000_000n, gasPrice: 0n })
  const { status, blockNumber } = await node.waitForTransactionReceipt({ hash, pollingInterval: LOOK_MS, timeout: blockMs })
  if (status !== 'success') throw new Error(`${hash} failed`)
  return { hash, block: blockNumber }
}

/** Base units of the token that this wallet has. */
export const tokensOf = ({ node }: Hub, token: string, owner: string): Promise<bigint> =>
  node.readContract({ address: token as Hex, abi: erc20Abi, functionName: 'balanceOf', args: [owner as Hex] })

/** Deposits by the vault's own function, with an approval before the first one. */
export async function deposit(
  hub: Hub, { account }: Pick<Trader, 'account'>, token: string, raw: bigint, beneficiary: string = account.address,
): Promise<Hex> {
  const { node, wallet, vault, blockMs } = hub
  const [address, asked] = [token as Hex, { account, chain: null, gas: 1_000_000n, gasPrice: 0n } as const]
  const allowed = await node.readContract({ address, abi: erc20Abi, functionName: 'allowance', args: [account.address, vault] })
  if (allowed < raw) await wallet.writeContract({ ...asked, address, abi: erc20Abi, functionName: 'approve', args: [vault, ENOUGH] })
  const args = [address, raw, beneficiary as Hex, DEFAULT_APPLICATION] as const
  const hash = await wallet.writeContract({ ...asked, address: vault, abi: VAULT_ABI, functionName: 'deposit', args })
  const { status } = await node.waitForTransactionReceipt({ hash, pollingInterval: LOOK_MS, timeout: blockMs })
  if (status !== 'success') throw new Error(`the deposit ${hash} failed`)
  return hash
}

/** Pays tokens to any address: to a personal deposit address, say. */
export async function transferTokens(
  { node, wallet, blockMs }: Hub, account: PrivateKeyAccount, token: string, to: string, raw: bigint,
): Promise<Hex> {
  const asked = { account, chain: null, gas: 1_000_000n, gasPrice: 0n, address: token as Hex, abi: erc20Abi } as const
  const hash = await wallet.writeContract({ ...asked, functionName: 'transfer', args: [to as Hex, raw] })
  const { status } = await node.waitForTransactionReceipt({ hash, pollingInterval: LOOK_MS, timeout: blockMs })
  if (status !== 'success') throw new Error(`the transfer ${hash} failed`)
  return hash
}

/** Asks for the authorisation until there is one; throws when it `isOver` before that. */
export const calldataOf = (client: Client, withdrawalId: string, isOver?: () => boolean): ReturnType<Client['GetWithdrawalCalldata']> =>
  until(`the calldata of ${withdrawalId}`, () => client.GetWithdrawalCalldata({ withdrawalId }), undefined, isOver)

/** Withdraws and submits it: the id of the withdrawal, whose tokens the wallet has. */
export async function withdraw(hub: Hub, trader: Trader, assetId: string, amount: string): Promise<string> {
  const { id } = await trader.client.InitiateWithdrawal({ assetId, amount })
  const { to, data } = await calldataOf(trader.client, id)
  await sendCall(hub, trader.account, to as Hex, data as Hex)
  return id
}

/** Waits until the withdrawal has this status. */
export const withdrawalIs = (client: Client, withdrawalId: string, wanted: string): Promise<true> =>
  until(`${wanted} of ${withdrawalId}`, async () => (await client.GetWithdrawal({ withdrawalId })).status === wanted && true)

/** Waits until this user may withdraw: the exchange knows its vault. */
export const vaultOpens = (client: Pick<Client, 'GetProfile'>): Promise<true> =>
  until('the vault', async () => (await client.GetProfile()).canWithdraw && true)

/** A withdrawal of 1 that may be submitted, once there is a vault: its id. */
export async function signedWithdrawal(client: Client, assetId: string): Promise<string> {
  await vaultOpens(client)
  const { id } = await client.InitiateWithdrawal({ assetId, amount: '1', idempotencyKey: 'signed' })
  await withdrawalIs(client, id, 'SIGNED')
  return id
}
