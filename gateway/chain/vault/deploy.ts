/**
 * Sets up the contracts of an exchange on a chain: vault and factory through the deterministic deployer, the factory's vault, the list of
 * tokens, and on the embedded chain the tokens themselves. Every step looks first at what is there, so that it may be done again after
 * a crash anywhere; what is there and is not ours is a {@link DeployError}, and nothing is changed.
 *
 * The addresses follow from code, owner and operator. Those of the embedded chain are kept in `vault.json` of the data directory all the
 * same: a later version of the contracts would have others, and the money is where it was.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { concat, encodeDeployData, encodeFunctionData, getContractAddress, type Abi } from 'viem'
import { writeDurably } from '../../../core/lib/durable_file.ts'
import type { Genesis } from '../../../core/state/genesis.ts'
import { artifact, type ArtifactName } from './artifact_file.ts'
import { CREATE2_DEPLOYER, FACTORY_ABI, SALT, TOKEN_ABI, VAULT_ABI } from './artifacts.ts'
import { DeployError, readerOf, type TokenPlan } from './check.ts'
import { createSender } from './sender.ts'
import { SendRefused, type ChainNode, type Hex, type Places, type Sender, type Signer, type SignerScope } from './types.ts'

/** File of the data directory. */
export const PLACES_FILE = 'vault.json'
const ZERO: Hex = `0x${'00'.repeat(20)}`
/** No limit of the vault itself; the engine has limits of its own. */
export const NO_LIMIT = 2n ** 256n - 1n
/** Most gas of a transaction: vault and factory take less than half. */
export const GAS_MAX = 8_000_000n

export interface Plan {
  readonly chainId: number
  /** Sets things up: whoever sends. */
  readonly owner: Hex
  /** Signs withdrawals and posts batches. */
  readonly operator: Hex
  readonly tokens: readonly TokenPlan[]
}

/** Tokens of the chain of settlement, as the genesis lists them. */
export function hubTokens({ sweeperChains }: Pick<Genesis, 'sweeperChains'>, test: boolean): readonly TokenPlan[] {
  const assets = sweeperChains.find(({ hub }) => hub)?.assets ?? []
  return assets.map(({ symbol, tokenAddress, decimals }) =>
    ({ address: tokenAddress.toLowerCase() as Hex, symbol, decimals, dailyLimit: NO_LIMIT, test }))
}

function creation(name: ArtifactName, args: readonly Hex[]): { readonly address: Hex; readonly data: Hex } {
  const { abi, bytecode } = artifact(name)
  const code = encodeDeployData({ abi: abi as Abi, bytecode, args })
  const address = getContractAddress({ opcode: 'CREATE2', from: CREATE2_DEPLOYER, salt: SALT, bytecode: code })
  return { address: address.toLowerCase() as Hex, data: concat([SALT, code]) }
}

const creationsOf = ({ owner, operator }: Pick<Plan, 'owner' | 'operator'>) =>
  ({ factory: creation('DepositFactory', [owner]), vault: creation('Vault', [owner, operator]) })

/** Where the contracts of this plan are, or will be. */
export function placesOf(plan: Pick<Plan, 'chainId' | 'owner' | 'operator'>): Places {
  const { factory, vault } = creationsOf(plan)
  return { chainId: plan.chainId, vault: vault.address, factory: factory.address }
}

/** What a signer may sign for these contracts. `feePerGasMax`: wei. */
export function scopeOf(
  hub: Places, { tokens, chains = [hub.chainId], deploys, feePerGasMax }: {
    tokens: readonly Hex[]; chains?: readonly number[]; deploys: boolean; feePerGasMax: bigint
  },
): SignerScope {
  return { hub, tokens, chains, deploys, gasMax: GAS_MAX, feeMax: GAS_MAX * feePerGasMax }
}

/** Does what is missing. `said` hears of each step. Throws {@link DeployError}, and what node and sender throw. */
export async function deploy(
  node: ChainNode, sender: Sender, plan: Plan, places: Places, said: (step: string) => void = () => undefined,
): Promise<void> {
  const see = readerOf(node)
  const step = (name: string, to: Hex, data: Hex): Promise<void> => sendStep(sender, said, name, to, data)
  const { factory, vault } = creationsOf(plan)
  for (const [name, address, made] of [['factory', places.factory, factory], ['vault', places.vault, vault]] as const) {
    if ((await node.code(address)) !== '0x') continue
    if (made.address !== address) throw new DeployError(`there is no ${name} at ${address}`)
    if ((await node.code(CREATE2_DEPLOYER)) === '0x') throw new DeployError(`no deployer of contracts is at ${CREATE2_DEPLOYER}`)
    await step(`the ${name} is created`, CREATE2_DEPLOYER, made.data)
    if ((await node.code(address)) === '0x') throw new DeployError(`the ${name} was not created at ${address}`)
  }
  const set = await see(places.factory, FACTORY_ABI, 'vault')
  if (set === ZERO) {
    const data = encodeFunctionData({ abi: FACTORY_ABI, functionName: 'setVault', args: [places.vault] })
    await step('the factory is told the vault', places.factory, data)
  } else if (set !== places.vault) throw new DeployError(`the factory sweeps into another vault, ${set}`)
  for (const token of plan.tokens) {
    if ((await node.code(token.address)) === '0x') throw new DeployError(`there is no token ${token.symbol} at ${token.address}`)
    if (token.test) await setUpToken(see, step, token, plan.operator)
    const [listed] = (await see(places.vault, VAULT_ABI, 'tokens', token.address)) as [boolean]
    if (listed) continue
    const data = encodeFunctionData({ abi: VAULT_ABI, functionName: 'setToken', args: [token.address, true, token.dailyLimit] })
    await step(`the vault lists ${token.symbol}`, places.vault, data)
  }
}

type See = ReturnType<typeof readerOf>
type Step = (name: string, to: Hex, data: Hex) => Promise<void>

async function setUpToken(see: See, step: Step, { address, symbol, decimals }: TokenPlan, minter: Hex): Promise<void> {
  if ((await see(address, TOKEN_ABI, 'minter')) === ZERO) {
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'initialize', args: [symbol, symbol, decimals, minter] })
    await step(`the token ${symbol} is set up`, address, data)
  }
  const found = await see(address, TOKEN_ABI, 'minter')
  if (found !== minter) throw new DeployError(`the token ${symbol} at ${address} is minted by somebody else, ${found}`)
}

/** A step that fails because somebody was quicker is none that failed: what is there then is looked at again by whoever goes on. */
async function sendStep(sender: Sender, said: (step: string) => void, name: string, to: Hex, data: Hex): Promise<void> {
  try {
    const { succeeded, txHash } = await sender.send(to, data)
    if (!succeeded) throw new DeployError(`${name}: the transaction ${txHash} failed`)
    said(name)
  } catch (error) {
    if (error instanceof SendRefused) throw new DeployError(`${name}: ${error.message}`)
    throw error
  }
}

export interface OwnVault {
  readonly node: ChainNode
  readonly signer: Signer
  readonly genesis: Pick<Genesis, 'chainId' | 'sweeperChains'>
  readonly dataDir: string
  /** Other chains on which the signer may send, and wei that it may spend on a unit of gas there; on the embedded one gas is free. */
  readonly chains?: readonly number[]
  readonly feePerGasMax: bigint
  readonly said?: (step: string) => void
}

/**
 * The vault of the embedded chain, whose owner is its operator: set up as far as it is not. Tells the signer its scope, too. To be tried
 * again after ChainUnavailable and SignerUnavailable; a {@link DeployError} stays.
 */
export async function setUpOwnVault({ node, signer, genesis, dataDir, feePerGasMax, chains = [], said }: OwnVault): Promise<Places> {
  const operator = await signer.address()
  const plan: Plan = { chainId: genesis.chainId, owner: operator, operator, tokens: hubTokens(genesis, true) }
  const places = await ownPlaces(node, dataDir, plan)
  const tokens = plan.tokens.map(({ address }) => address)
  const scope = { tokens, chains: [...new Set([places.chainId, ...chains])], deploys: true, feePerGasMax }
  await signer.bind(scopeOf(places, scope))
  const sender = createSender({ node, signer, address: operator, feePerGasMax: 0n, stuckMs: 10_000, waitMs: 30_000, pollMs: 20 })
  await deploy(node, sender, plan, places, said)
  return places
}

async function ownPlaces(node: ChainNode, dataDir: string, plan: Plan): Promise<Places> {
  const kept = readPlaces(dataDir)
  if (kept !== null && kept.chainId === plan.chainId && (await node.code(kept.vault)) !== '0x') {
    if (kept.operator !== plan.operator) {
      throw new DeployError(`the vault of this exchange is that of the key ${kept.operator}; the key is now ${plan.operator}`)
    }
    return { chainId: kept.chainId, vault: kept.vault, factory: kept.factory }
  }
  const places = placesOf(plan)
  writeDurably(dataDir, PLACES_FILE, `${JSON.stringify({ ...places, operator: plan.operator })}\n`)
  return places
}

/** What the file says; `null` when there is none, or it is damaged: then it is worked out again. */
function readPlaces(dataDir: string): (Places & { readonly operator: Hex }) | null {
  try {
    const { chainId, vault, factory, operator } = JSON.parse(readFileSync(join(dataDir, PLACES_FILE), 'utf8')) as Record<string, unknown>
    const whole = typeof chainId === 'number' && [vault, factory, operator].every((one) => /^0x[0-9a-f]{40}$/.test(String(one)))
    return whole ? ({ chainId, vault, factory, operator } as Places & { operator: Hex }) : null
  } catch {
    return null
  }
}
