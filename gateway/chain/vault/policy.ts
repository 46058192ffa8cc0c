/**
 * What the vault's key signs, and nothing else: authorisations of its own vault, and calls without value of the functions that the exchange
 * uses. Whoever takes over the vault thread can neither move the roles of the vault nor its unlisted tokens, nor spend more on gas than
 * the scope says.
 */
import { toFunctionSelector } from 'viem'
import { CREATE2_DEPLOYER } from './artifacts.ts'
import type { Authorisation, Hex, SignerScope, Unsigned } from './types.ts'

const selectors = (...signatures: string[]): ReadonlySet<string> => new Set(signatures.map((signature) => toFunctionSelector(signature)))

const VAULT_CALLS = selectors(
  'postBatch(uint64,uint64,uint32,bytes32,uint32,bytes32)', 'pause()', 'acceptOperator()',
  'withdraw(address,uint256,address,uint256,uint256,bytes)',
)
const FACTORY_CALLS = selectors('sweep(address,bytes16,address)', 'sweepMany((address,bytes16,address)[])')
const TOKEN_CALLS = selectors('mint(bytes32,address,uint256)')
/** When contracts are deployed. */
const VAULT_SETUP = selectors('setToken(address,bool,uint256)')
const FACTORY_SETUP = selectors('setVault(address)')
const TOKEN_SETUP = selectors('initialize(string,string,uint8,address)')

/** Longest data of a call, bytes; of a deployment it is the code. */
const DATA_BYTES_MAX = 128 * 1024
const UINT256 = 1n << 256n

const isAddress = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value)
const isAmount = (value: unknown): value is bigint => typeof value === 'bigint' && value >= 0n && value < UINT256
const isWhole = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** Why a scope is none, or `null`. */
export function flawOfScope({ hub, tokens, chains, deploys, gasMax, feeMax }: SignerScope): string | null {
  const good = isWhole(hub.chainId) && [hub.vault, hub.factory, ...tokens].every(isAddress) && chains.every(isWhole)
    && chains.includes(hub.chainId) && typeof deploys === 'boolean' && isAmount(gasMax) && isAmount(feeMax)
  return good ? null : 'no scope'
}

/** Why this is not authorised, or `null`. */
export function flawOfAuthorisation(scope: SignerScope, { token, amount, destination, nonce, deadline }: Authorisation): string | null {
  if (![token, destination].every(isAddress) || ![amount, nonce, deadline].every(isAmount)) return 'no authorisation'
  if (!scope.tokens.includes(token)) return 'a token of nobody'
  if (amount === 0n || nonce === 0n || deadline === 0n) return 'an authorisation of nothing'
  if (BigInt(destination) === 0n || destination === scope.hub.vault) return 'a destination that the vault refuses'
  return null
}

/** Why this transaction of `own` is not signed, or `null`. */
export function flawOfTransaction(scope: SignerScope, own: Hex, transaction: Unsigned): string | null {
  const { chainId, nonce, to, data, gas, maxFeePerGas, maxPriorityFeePerGas } = transaction
  const whole = isWhole(nonce) && isAddress(to) && /^0x([0-9a-f]{2})*$/.test(data) && data.length <= 2 + 2 * DATA_BYTES_MAX
    && [gas, maxFeePerGas, maxPriorityFeePerGas].every(isAmount) && maxPriorityFeePerGas <= maxFeePerGas
  if (!whole) return 'no transaction'
  if (!scope.chains.includes(chainId)) return 'another chain'
  if (gas > scope.gasMax) return 'too much gas'
  if (gas * maxFeePerGas > scope.feeMax) return 'too high a fee'
  return mayCall(scope, own, to, data) ? null : 'a call that is none of the exchange'
}

function mayCall({ hub, tokens, deploys }: SignerScope, own: Hex, to: Hex, data: Hex): boolean {
  if (to === own) return data === '0x'
  if (to === CREATE2_DEPLOYER) return deploys
  const selector = data.slice(0, 10)
  const one = (calls: ReadonlySet<string>, setup: ReadonlySet<string>): boolean => calls.has(selector) || (deploys && setup.has(selector))
  if (to === hub.vault) return one(VAULT_CALLS, VAULT_SETUP)
  if (to === hub.factory) return one(FACTORY_CALLS, FACTORY_SETUP)
  return tokens.includes(to) && one(TOKEN_CALLS, TOKEN_SETUP)
}
