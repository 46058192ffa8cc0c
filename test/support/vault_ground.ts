/**
 * The exchange's contracts on the machine of the embedded chain, without blocks and transactions: a call takes a millisecond, the time is
 * the test's own, and what went wrong comes back as the contract's error, what happened as its events.
 */
import { createBlock } from '@ethereumjs/block'
import type { EVMMockBlockchainInterface } from '@ethereumjs/evm'
import { MerklePatriciaTrie } from '@ethereumjs/mpt'
import { Caches, MerkleStateManager } from '@ethereumjs/statemanager'
import { createAddressFromString, MapDB } from '@ethereumjs/util'
import { join } from 'node:path'
import {
  decodeErrorResult, decodeEventLog, decodeFunctionResult, encodeAbiParameters, encodeFunctionData, getAddress, getCreate2Address,
  padHex, toHex, type Abi, type AbiParameter, type Hex,
} from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { commonOf, createMachine, type Machine } from '../../gateway/chain/machine.ts'
import { Nodes } from '../../gateway/chain/nodes.ts'
import { putCode } from '../../gateway/chain/set_code.ts'
import { toBytes } from '../../gateway/chain/values.ts'
import { artifact, CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE, type ArtifactName } from '../../gateway/chain/vault/artifacts.ts'
import { withdrawalTypedData } from '../../gateway/chain/vault/typed_data.ts'
import type { Authorisation } from '../../gateway/chain/vault/types.ts'
import { compile, sourcesOf } from '../../gateway/generate/contracts.ts'

/** Gas of a call, more than any of them needs, so that one without an end ends soon; and of a creation. */
const GAS = 1_000_000n
const CREATION_GAS = 5_000_000n
const CALL_MS = 30_000
export const DAY = 86_400n
/** When a day begins, UTC. */
export const MIDNIGHT = 1_800_057_600n
export const MAX = 2n ** 256n - 1n
export const ZERO: Hex = `0x${'00'.repeat(20)}`
/** The default application, and another. */
export const DEFAULT: Hex = `0x${'00'.repeat(16)}`
export const OTHER: Hex = '0x0b5b6d1e2f3a4c5d8e9f00112233445f'

export interface Placed {
  readonly address: Hex
  readonly abi: Abi
}
export interface Event {
  readonly address: Hex
  readonly name: string
  readonly args: Record<string, unknown>
}
export interface Outcome {
  /** `null`: done; else the contract's error as `Name(args)`, or the machine's own words. */
  readonly error: string | null
  readonly events: readonly Event[]
  readonly returned: unknown
  /** Of the execution alone, before refunds. */
  readonly gas: bigint
}

/** Keys are of small numbers, so that a run can be had again. */
export const keyOf = (n: number): PrivateKeyAccount => privateKeyToAccount(padHex(toHex(n), { size: 32 }))
export const addressAt = (n: number): Hex => keyOf(n).address
export const OWNER = keyOf(1)
export const OPERATOR = keyOf(2)
export const ALICE = keyOf(3)
export const BOB = keyOf(4)
/** Who has no role. */
export const STRANGER = keyOf(5)

let hostile: { abi: Abi; bytecode: Hex } | undefined
/** The token that is wrong in every way (contracts/HostileToken.sol). Compiled once, in a second. */
export function hostileToken(): { abi: Abi; bytecode: Hex } {
  if (hostile !== undefined) return hostile
  const { abi, evm } = compile(sourcesOf('HostileToken.sol', {}, join(import.meta.dirname, 'contracts')))['HostileToken']!
  hostile = { abi, bytecode: `0x${evm.bytecode.object}` }
  return hostile
}

const names: readonly ArtifactName[] = ['Vault', 'DepositFactory', 'DepositForwarder', 'TestToken']
/** All errors of all contracts; the same error of two of them stands once. */
const errors: Abi = [...new Map(
  names.flatMap((name) => artifact(name).abi as Abi).filter(({ type }) => type === 'error').map((entry) => [JSON.stringify(entry), entry]),
).values()]

export class Ground {
  readonly #machine: Machine
  readonly #abis = new Map<string, Abi>()
  readonly chainId: number
  /** Of the block that every call is in, Unix seconds. */
  time: bigint
  #salt = 0

  constructor(machine: Machine, chainId: number, time: bigint) {
    this.#machine = machine
    this.chainId = chainId
    this.time = time
  }

  /** Creates a contract through the deployer, at an address of its own unless a salt is given. */
  async create(what: ArtifactName | { abi: Abi; bytecode: Hex }, args: readonly unknown[] = [], salt?: bigint): Promise<Placed> {
    const { abi, bytecode } = typeof what === 'string' ? { ...artifact(what), abi: artifact(what).abi as Abi } : what
    const code = `${bytecode}${constructorData(abi, args).slice(2)}` as Hex
    const salted = padHex(toHex(salt ?? BigInt(++this.#salt)), { size: 32 })
    const outcome = await this.send(ADMIN, CREATE2_DEPLOYER, `${salted}${code.slice(2)}` as Hex, undefined, CREATION_GAS)
    const address = getCreate2Address({ from: CREATE2_DEPLOYER, salt: salted, bytecode: code })
    if (outcome.error !== null || (await this.code(address)) === '0x') throw new Error(`not created: ${outcome.error}`)
    return this.know(address, abi)
  }

  /** Events of this address are read with this interface. */
  know(address: Hex, abi: Abi): Placed {
    this.#abis.set(address.toLowerCase(), abi)
    return { address: getAddress(address), abi }
  }

  /** Calls a function as a transaction would; what it did stays when it did not revert. */
  act(from: Hex | PrivateKeyAccount, on: Placed, functionName: string, args: readonly unknown[] = []): Promise<Outcome> {
    const data = encodeFunctionData({ abi: on.abi, functionName, args })
    return this.send(typeof from === 'string' ? from : from.address, on.address, data, (returned) =>
      decodeFunctionResult({ abi: on.abi, functionName, data: returned }))
  }

  /** What a view says. Throws when it reverts. */
  async read<T = unknown>(on: Placed, functionName: string, args: readonly unknown[] = []): Promise<T> {
    const data = encodeFunctionData({ abi: on.abi, functionName, args })
    const outcome = await this.send(STRANGER.address, on.address, data, (returned) =>
      decodeFunctionResult({ abi: on.abi, functionName, data: returned }))
    if (outcome.error !== null) throw new Error(`${functionName}: ${outcome.error}`)
    return outcome.returned as T
  }

  async send(
    from: Hex, to: Hex, data: Hex, decode: (returned: Hex) => unknown = (returned) => returned, gasLimit = GAS,
  ): Promise<Outcome> {
    const { vm, common } = this.#machine
    const block = createBlock({ header: { number: 1n, timestamp: this.time, gasLimit: 30_000_000n } }, { common })
    const { execResult } = await this.#machine.within(CALL_MS, () => vm.evm.runCall({
      block, caller: createAddressFromString(from), to: createAddressFromString(to), data: toBytes(data), gasLimit, skipBalance: true,
    }), async ({ execResult }) => execResult.exceptionError === undefined)
    // What was kept is not to be forgotten with the next call that is not.
    this.#machine.nodes.take()
    const answer = toHex(execResult.returnValue)
    const gas = execResult.executionGasUsed
    if (execResult.exceptionError !== undefined) {
      return { error: errorOf(answer, execResult.exceptionError.error), events: [], returned: null, gas }
    }
    const logs = execResult.logs ?? []
    const events = logs.map(([by, topics, content]) => this.#event(toHex(by), topics.map((topic) => toHex(topic)), toHex(content)))
    return { error: null, events, returned: decode(answer), gas }
  }

  #event(address: Hex, topics: Hex[], data: Hex): Event {
    const abi = this.#abis.get(address)
    if (abi === undefined) return { address: getAddress(address), name: 'unknown', args: {} }
    const { eventName, args } = decodeEventLog({ abi, topics: topics as [Hex], data })
    return { address: getAddress(address), name: eventName!, args: (args ?? {}) as unknown as Record<string, unknown> }
  }

  async code(address: Hex): Promise<Hex> {
    return toHex(await this.#machine.state.getCode(createAddressFromString(address)))
  }

  async putCode(address: Hex, code: Hex): Promise<void> {
    await putCode(this.#machine, { address, code })
    this.#machine.nodes.take()
  }
}

const ADMIN = addressAt(99)

function constructorData(abi: Abi, args: readonly unknown[]): Hex {
  const inputs = abi.find((entry) => entry.type === 'constructor')?.inputs ?? []
  return encodeAbiParameters(inputs as readonly AbiParameter[], args as unknown[])
}

function errorOf(answer: Hex, otherwise: string): string {
  if (answer === '0x') return otherwise
  try {
    const { errorName, args } = decodeErrorResult({ abi: errors, data: answer })
    return `${errorName}(${(args ?? []).map(String).join(', ')})`
  } catch {
    return answer
  }
}

/** An empty chain with the deployer on it. */
export async function newGround(chainId = 1328, time = MIDNIGHT + 43_200n): Promise<Ground> {
  const blockchain = {
    getBlock: async () => ({ hash: () => new Uint8Array(32) }), putBlock: async () => undefined, shallowCopy: () => blockchain,
  } as unknown as EVMMockBlockchainInterface
  const common = commonOf(chainId)
  const nodes = new Nodes()
  const trie = new MerklePatriciaTrie({ useKeyHashing: true, common, db: new MapDB<string, string>(nodes) })
  const state = new MerkleStateManager({ common, trie, caches: new Caches() })
  // Nobody asks for a root: all stays in the caches, and nothing is hashed into the tries, which is most of the work of a call.
  await state.checkpoint()
  const ground = new Ground(await createMachine(common, blockchain, nodes, state), chainId, time)
  await ground.putCode(CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE)
  return ground
}

export interface Stage {
  readonly ground: Ground
  readonly vault: Placed
  readonly factory: Placed
  /** An honest token with 6 decimals, listed without a limit. Alice and Bob have a million atoms each and let the vault take them. */
  readonly token: Placed
}

/** The contracts at addresses that are the same on every ground. */
export async function newStage(chainId = 1328, salt = 0n): Promise<Stage> {
  const ground = await newGround(chainId)
  const vault = await ground.create('Vault', [OWNER.address, OPERATOR.address], salt)
  const factory = await ground.create('DepositFactory', [OWNER.address], salt)
  const token = await newToken(ground, 'TestToken', salt)
  await done(ground.act(OWNER, vault, 'setToken', [token.address, true, MAX]))
  await done(ground.act(OWNER, factory, 'setVault', [vault.address]))
  for (const who of [ALICE, BOB]) {
    await give(ground, token, who.address, 1_000_000n)
    await done(ground.act(who, token, 'approve', [vault.address, MAX]))
  }
  return { ground, vault, factory, token }
}

/** A token set up; not listed. */
export async function newToken(ground: Ground, what: ArtifactName | { abi: Abi; bytecode: Hex }, salt?: bigint): Promise<Placed> {
  const token = await ground.create(what, [], salt)
  if (what === 'TestToken') await done(ground.act(OWNER, token, 'initialize', ['Test dollar', 'TUSD', 6, OPERATOR.address]))
  return token
}

let mints = 0
/** Gives somebody atoms of a test token, or of the hostile one. */
export async function give(ground: Ground, token: Placed, to: Hex, amount: bigint): Promise<void> {
  const isHostile = token.abi.some((entry) => entry.type === 'function' && entry.name === 'give')
  if (isHostile) await done(ground.act(OWNER, token, 'give', [to, amount]))
  else await done(ground.act(OPERATOR, token, 'mint', [padHex(toHex(++mints), { size: 32 }), to, amount]))
}

/** What was done; throws when it was not. */
export async function done(outcome: Promise<Outcome>): Promise<Outcome> {
  const { error } = await outcome
  if (error !== null) throw new Error(error)
  return outcome
}

export const balanceOf = (ground: Ground, token: Placed, who: Hex): Promise<bigint> => ground.read<bigint>(token, 'balanceOf', [who])

/** The events of the vault or the factory alone, as `Name {args}` of plain values. */
export const told = ({ events }: Outcome, by: Placed): [string, Record<string, unknown>][] =>
  events.filter(({ address }) => address === by.address).map(({ name, args }) => [name, args])

/** An authorisation of a stage: 100 atoms to Alice for an hour, unless said otherwise. */
export const authorisation = ({ ground, token }: Stage, other: Partial<Authorisation> = {}): Authorisation =>
  ({ token: token.address, amount: 100n, destination: ALICE.address, nonce: 7n, deadline: ground.time + 3_600n, ...other })

/** Signed by the operator, or another, for this vault or another one. */
export const authorise = (
  { ground, vault, factory }: Stage, message: Authorisation, by = OPERATOR, chainId = ground.chainId, at: Hex = vault.address,
): Promise<Hex> => by.signTypedData(withdrawalTypedData({ chainId, vault: at, factory: factory.address }, message))

/** Arguments of `withdraw`. */
export const withdrawal = ({ token, amount, destination, nonce, deadline }: Authorisation, signature: Hex): readonly unknown[] =>
  [token, amount, destination, nonce, deadline, signature]

/** Signs and sends: what the operator authorised, paid by whoever it is. */
export async function withdraw(
  stage: Stage, other: Partial<Authorisation> = {}, from: Hex | PrivateKeyAccount = STRANGER,
): Promise<Outcome> {
  const message = authorisation(stage, other)
  return stage.ground.act(from, stage.vault, 'withdraw', withdrawal(message, await authorise(stage, message)))
}

/** Alice deposits. */
export const deposit = (stage: Stage, amount: bigint, token = stage.token): Promise<Outcome> =>
  stage.ground.act(ALICE, stage.vault, 'deposit', [token.address, amount, ALICE.address, DEFAULT])
