/** Logs of the contracts as what they say; `null`: it is not such a log. */
import { toEventSelector } from 'viem'
import type { Hex, NodeLog } from './types.ts'

export const DEPOSIT_TOPIC = toEventSelector('Deposit(uint256,address,address,bytes16,uint256,address)')
export const WITHDRAWAL_TOPIC = toEventSelector('Withdrawal(uint256,address,address,uint256)')
export const BATCH_TOPIC = toEventSelector('BatchPosted(uint64,uint64,uint32,bytes32,uint32,bytes32)')
export const MINTED_TOPIC = toEventSelector('Minted(bytes32,address,uint256)')
export const TRANSFER_TOPIC = toEventSelector('Transfer(address,address,uint256)')

interface Place {
  readonly block: number
  readonly blockHash: Hex
  readonly txHash: Hex
  readonly logIndex: number
}

export interface DepositLog extends Place {
  readonly token: Hex
  readonly beneficiary: Hex
  /** 16 bytes. */
  readonly application: Hex
  /** Base units. */
  readonly amount: bigint
}

/** A withdrawal that the vault paid. */
export interface PaidLog extends Place {
  readonly nonce: bigint
  readonly token: Hex
  readonly destination: Hex
  readonly amount: bigint
}

export interface MintedLog extends Place {
  readonly id: Hex
  readonly to: Hex
  readonly amount: bigint
}

const placeOf = ({ block, blockHash, txHash, logIndex }: NodeLog): Place => ({ block, blockHash, txHash, logIndex })

/** Word `at` of the data: 32 bytes as hex digits. */
const word = ({ data }: NodeLog, at: number): string => data.slice(2 + 64 * at, 2 + 64 * (at + 1))
const address = (digits: string): Hex => `0x${digits.slice(-40)}`
const has = (log: NodeLog, topic: Hex, topics: number, words: number): boolean =>
  log.topics[0] === topic && log.topics.length === topics && log.data.length >= 2 + 64 * words

/** 32 bytes that are an address or a number, as a topic. */
export const topicOf = (value: bigint | Hex): Hex =>
  `0x${(typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`

export function readDeposit(log: NodeLog): DepositLog | null {
  if (!has(log, DEPOSIT_TOPIC, 4, 3)) return null
  return {
    ...placeOf(log), token: address(log.topics[2]!), beneficiary: address(log.topics[3]!), application: `0x${word(log, 0).slice(0, 32)}`,
    amount: BigInt(`0x${word(log, 1)}`),
  }
}

export function readPaid(log: NodeLog): PaidLog | null {
  if (!has(log, WITHDRAWAL_TOPIC, 4, 1)) return null
  return {
    ...placeOf(log), nonce: BigInt(log.topics[1]!), token: address(log.topics[2]!), destination: address(log.topics[3]!),
    amount: BigInt(`0x${word(log, 0)}`),
  }
}

export function readMinted(log: NodeLog): MintedLog | null {
  if (!has(log, MINTED_TOPIC, 3, 1)) return null
  return { ...placeOf(log), id: log.topics[1]!, to: address(log.topics[2]!), amount: BigInt(`0x${word(log, 0)}`) }
}

/** Whom a transfer paid; `null` of one of nothing too. */
export function readTransferred(log: NodeLog): { readonly token: Hex; readonly to: Hex } | null {
  if (!has(log, TRANSFER_TOPIC, 3, 1) || /^0*$/.test(word(log, 0))) return null
  return { token: log.address, to: address(log.topics[2]!) }
}
