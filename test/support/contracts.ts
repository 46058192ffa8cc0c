/**
 * The test contracts of `data/contracts/`, compiled by solc once per process, and a chain client that deploys and calls them. Gas is
 * free on the embedded chain, so that any key may send.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  createPublicClient, createWalletClient, defineChain, encodeDeployData, getAddress, http,
  type Abi, type Address, type Hex, type PublicClient,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'

const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string }

export interface Contract {
  readonly abi: Abi
  readonly bytecode: Hex
}
export type ContractName =
  | 'OwnedWallet' | 'LengthWallet' | 'SayingWallet' | 'HugeWallet' | 'RevertingWallet' | 'EndlessWallet' | 'InvalidWallet'
  | 'CountingWallet'

let compiled: Record<ContractName, Contract> | undefined

/** The contracts by name. Takes a second the first time. */
export function contracts(): Record<ContractName, Contract> {
  if (compiled !== undefined) return compiled
  const file = 'Wallets.sol'
  const content = readFileSync(join(import.meta.dirname, '..', '..', 'data', 'contracts', file), 'utf8')
  const settings = { optimizer: { enabled: true }, outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } }
  const output = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources: { [file]: { content } }, settings }))) as {
    errors?: { severity: string; formattedMessage: string }[]
    contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>
  }
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const found = Object.entries(output.contracts[file]!)
  const entries = found.map(([name, { abi, evm }]): [string, Contract] => [name, { abi, bytecode: `0x${evm.bytecode.object}` }])
  compiled = Object.fromEntries(entries) as Record<ContractName, Contract>
  return compiled
}

/** Bytes that deploy this contract. */
export function deployData(name: ContractName, args: readonly unknown[] = []): Hex {
  const { abi, bytecode } = contracts()[name]
  return encodeDeployData({ abi, bytecode, args })
}

/** Any key, as somebody who sends to the chain. */
export const newKey = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey())

const chain = defineChain({
  id: 1328, name: 'Ringbook', nativeCurrency: { name: 'none', symbol: 'NONE', decimals: 18 }, rpcUrls: { default: { http: [] } },
})

/** A client of the chain behind this URL, as anybody would make one. */
export const publicClient = (url: string): PublicClient =>
  createPublicClient({ chain, transport: http(url, { retryCount: 0 }), pollingInterval: 5, cacheTime: 0 })

/** A client that signs with a key. */
export const walletClient = (url: string, account: PrivateKeyAccount = newKey()) =>
  createWalletClient({ account, chain, transport: http(url, { retryCount: 0 }) })

/** Gas of a deployment of any of the contracts. */
const DEPLOY_GAS = 2_000_000n

/** Deploys a contract on the chain behind this URL; its address. Fails when it was not created. */
export async function deploy(url: string, name: ContractName, args: readonly unknown[] = []): Promise<Address> {
  return deployFrom(url, newKey(), 0, deployData(name, args))
}

async function deployFrom(url: string, account: PrivateKeyAccount, nonce: number, data: Hex): Promise<Address> {
  const raw = await account.signTransaction({
    chainId: chain.id, type: 'eip1559', nonce, gas: DEPLOY_GAS, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, data,
  })
  const client = publicClient(url)
  const hash = await client.sendRawTransaction({ serializedTransaction: raw })
  const receipt = await client.getTransactionReceipt({ hash })
  if (receipt.status !== 'success' || receipt.contractAddress == null) throw new Error('the contract was not created')
  return getAddress(receipt.contractAddress)
}

export interface OwnedWallet {
  readonly address: Address
  readonly owner: PrivateKeyAccount
}

/** Deploys `count` good wallets, each with an owner of its own. */
export async function deployWallets(url: string, count: number): Promise<OwnedWallet[]> {
  const sender = newKey()
  const wallets: OwnedWallet[] = []
  for (let nonce = 0; nonce < count; nonce++) {
    const owner = newKey()
    wallets.push({ owner, address: await deployFrom(url, sender, nonce, deployData('OwnedWallet', [owner.address])) })
  }
  return wallets
}
