/** Whether the contracts on a chain are those that an exchange needs, read from them. */
import { decodeFunctionResult, encodeFunctionData, hashDomain, type Abi } from 'viem'
import { FACTORY_ABI, TOKEN_ABI, VAULT_ABI } from './artifacts.ts'
import { DEFAULT_APPLICATION, depositAddresses } from './deposit_address.ts'
import { DOMAIN, DOMAIN_TYPES } from './typed_data.ts'
import type { ChainNode, Hex, Places } from './types.ts'

export class DeployError extends Error {
  override name = 'DeployError'
}

export interface TokenPlan {
  readonly address: Hex
  readonly symbol: string
  readonly decimals: number
  /** What may leave in a day by the vault, base units. */
  readonly dailyLimit: bigint
  /** Whether it is a TestToken that the operator mints. */
  readonly test: boolean
}

/** Reads a contract; addresses in lowercase. Throws {@link DeployError} when it is another one. */
export function readerOf(node: ChainNode) {
  return async (address: Hex, abi: Abi, functionName: string, ...args: unknown[]): Promise<unknown> => {
    const returned = await node.call(address, encodeFunctionData({ abi, functionName, args } as never))
    try {
      if (returned === null) throw new Error('reverted')
      const value = decodeFunctionResult({ abi, functionName, data: returned } as never) as unknown
      return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) ? value.toLowerCase() : value
    } catch {
      throw new DeployError(`what is at ${address} does not answer ${functionName}() as ours does`)
    }
  }
}

/** What is wrong with the contracts for an exchange whose signer is `operator`, in words; empty: nothing. Throws ChainUnavailable. */
export async function problemsOf(
  node: ChainNode, places: Places, operator: Hex, tokens: readonly TokenPlan[],
): Promise<readonly string[]> {
  const see = readerOf(node)
  const found: string[] = []
  const check = async (good: () => Promise<boolean>, problem: string): Promise<void> => {
    try {
      if (!(await good())) found.push(problem)
    } catch (error) {
      if (!(error instanceof DeployError)) throw error
      found.push(error.message)
    }
  }
  const { vault, factory, chainId } = places
  for (const [name, address] of [['vault', vault], ['factory', factory]] as const) {
    if ((await node.code(address)) === '0x') found.push(`there is no ${name} at ${address}`)
  }
  if (found.length > 0) return found
  const domain = hashDomain({ domain: { ...DOMAIN, chainId: BigInt(chainId), verifyingContract: vault }, types: DOMAIN_TYPES })
  const is = (address: Hex, abi: Abi, name: string, wanted: unknown, problem: string, ...args: unknown[]): Promise<void> =>
    check(async () => (await see(address, abi, name, ...args)) === wanted, problem)
  await is(vault, VAULT_ABI, 'domainSeparator', domain, `at ${vault} is no vault of this version on chain ${chainId}`)
  await is(vault, VAULT_ABI, 'operator', operator, `the vault's operator is not ${operator}, whose key this is`)
  await is(vault, VAULT_ABI, 'paused', false, 'the vault is paused')
  await is(factory, FACTORY_ABI, 'vault', vault, 'the factory sweeps into another vault')
  const derived = depositAddresses(factory)(operator, DEFAULT_APPLICATION)
  const others = 'the factory has other deposit addresses than this version'
  await is(factory, FACTORY_ABI, 'addressOf', derived, others, operator, DEFAULT_APPLICATION)
  for (const { address, symbol, decimals, test } of tokens) {
    const listed = async (): Promise<boolean> => ((await see(vault, VAULT_ABI, 'tokens', address)) as [boolean])[0]
    await check(listed, `the vault does not list ${symbol} at ${address}`)
    await is(address, TOKEN_ABI, 'decimals', decimals, `${symbol} at ${address} has not ${decimals} decimals`)
    if (test) await is(address, TOKEN_ABI, 'minter', operator, `${symbol} at ${address} is minted by somebody else`)
  }
  return found
}
