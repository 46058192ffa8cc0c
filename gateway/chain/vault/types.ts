/**
 * What the parts of the vault thread say to each other: places, the node that is asked (node.ts), who signs (signer.ts) and who sends
 * (sender.ts). Hashes, addresses and data are lowercase hex with 0x; times of blocks are Unix ms, deadlines Unix seconds.
 */
import type { Hex } from '../values.ts'

export type { Hex } from '../values.ts'

/** Where the contracts of an exchange are: the same addresses on every chain that it uses. */
export interface Places {
  readonly chainId: number
  readonly vault: Hex
  readonly factory: Hex
}

export interface NodeBlock {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  /** Unix ms, whole seconds. */
  readonly time: number
}

/** A block by its hash, and its number for nodes that know no EIP-1898. */
export type At = Pick<NodeBlock, 'number' | 'hash'>

export interface NodeLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly block: number
  readonly blockHash: Hex
  readonly txHash: Hex
  /** Place in its block. */
  readonly logIndex: number
}

export interface LogQuery {
  readonly from: number
  /** The last block of the range, as the caller knows it: a node that has another one there has nothing to say. */
  readonly to: At
  readonly addresses: readonly Hex[]
  /** By position; a list is any of them, `null` anything. */
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
}

export interface NodeReceipt {
  readonly txHash: Hex
  readonly block: number
  readonly blockHash: Hex
  readonly succeeded: boolean
  readonly from: Hex
  readonly to: Hex | null
  readonly logs: readonly NodeLog[]
}

/** Of a call: what it returned; `null`: the contract reverted. */
export type Returned = Hex | null

/** Wei per gas (EIP-1559). */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Any EVM node. Everything throws ChainUnavailable (../client.ts) and nothing else. */
export interface ChainNode {
  readonly chainId: number
  /** Where to ask from now on; `null`: nowhere for now. */
  move(url: string | null): void
  head(): Promise<NodeBlock>
  /** `null`: the node has no such block. */
  block(number: number): Promise<NodeBlock | null>
  /** In order of (block, logIndex); each of a block that the node still has under that hash. */
  logs(query: LogQuery): Promise<readonly NodeLog[]>
  /** At the newest block, or at that one. */
  call(to: Hex, data: Hex, at?: At): Promise<Returned>
  /** Base units. */
  balanceOf(token: Hex, owner: Hex, at?: At): Promise<bigint>
  isNonceUsed(vault: Hex, nonce: bigint, at?: At): Promise<boolean>
  /** `0x`: none. */
  code(address: Hex): Promise<Hex>
  /** `null`: in no block. Its block is one that the node has. */
  receipt(txHash: Hex): Promise<NodeReceipt | null>
  /** Whether the node has it, in a block or waiting. */
  knows(txHash: Hex): Promise<boolean>
  /** Transactions of the account: at the newest block, and with those that wait. */
  nonce(address: Hex): Promise<{ readonly mined: number; readonly pending: number }>
  /** What the next blocks take. */
  fees(): Promise<Fees>
  /** `null`: it would revert. */
  estimateGas(from: Hex, to: Hex, data: Hex): Promise<bigint | null>
  /** Its hash. A transaction that the node has already is no fault. Throws {@link SendRefused} when the node says it never takes it. */
  send(raw: Hex): Promise<Hex>
}

/** Why a node refused a transaction, in its words. */
export class SendRefused extends Error {
  override name = 'SendRefused'
}

/** What an authorisation says (Vault.withdraw). */
export interface Authorisation {
  readonly token: Hex
  /** Base units. */
  readonly amount: bigint
  readonly destination: Hex
  readonly nonce: bigint
  /** Unix seconds. */
  readonly deadline: bigint
}

/** What may be signed, said once; another scope is refused for good. */
export interface SignerScope {
  /** Authorisations are for this chain and this vault alone. */
  readonly hub: Places
  /** Tokens that may be authorised on the hub. */
  readonly tokens: readonly Hex[]
  /** Chains on which transactions may be sent; the hub among them. */
  readonly chains: readonly number[]
  /** Whether contracts may be deployed and set up (deploy.ts). */
  readonly deploys: boolean
  /** Most gas of a transaction, and most wei for one. */
  readonly gasMax: bigint
  readonly feeMax: bigint
}

/** A transaction without value (EIP-1559). */
export interface Unsigned extends Fees {
  readonly chainId: number
  readonly nonce: number
  readonly to: Hex
  readonly data: Hex
  readonly gas: bigint
}

/** Who holds the key. Everything throws SignerUnavailable, and SignerRefused when it is out of scope. */
export interface Signer {
  /** Whose key it is. */
  address(): Promise<Hex>
  bind(scope: SignerScope): Promise<void>
  /** 65 bytes, low s, v 27 or 28; the same for the same authorisation. */
  authorise(authorisation: Authorisation): Promise<Hex>
  /** The raw transaction and its hash. */
  sign(transaction: Unsigned): Promise<{ readonly raw: Hex; readonly hash: Hex }>
  /** Asks no more; the key is gone when it was held for this one alone. */
  close(): void
}

/** The signer does not answer: try again. */
export class SignerUnavailable extends Error {
  override name = 'SignerUnavailable'
}

/** It never signs this. */
export class SignerRefused extends Error {
  override name = 'SignerRefused'
}

/** Sends transactions of one account on one chain, one after the other, replacing what is stuck. */
export interface Sender {
  readonly address: Hex
  /**
   * Sends and waits for the block: the receipt, succeeded or not. Throws ChainUnavailable when it takes too long or the chain is gone:
   * the transaction may still come, so what is sent must be safe to send twice. Throws {@link SendRefused} when it would revert.
   */
  send(to: Hex, data: Hex): Promise<NodeReceipt>
  /** An empty transaction to itself: makes a block on a chain that has one only with a transaction. */
  tick(): Promise<NodeReceipt>
}
