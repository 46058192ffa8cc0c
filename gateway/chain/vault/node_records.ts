/**
 * What a node says, read strictly: a record that is not whole, or is of something else than was asked for, was not said. Everything throws
 * ChainUnavailable.
 */
import { ChainUnavailable } from '../client.ts'
import type { Hex, LogQuery, NodeBlock, NodeLog, NodeReceipt } from './types.ts'

const wrong = (what: string): ChainUnavailable => new ChainUnavailable(`the node says a wrong ${what}`)

type Fields = Readonly<Record<string, unknown>>

export function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(what)
  return value as Fields
}

export function hexOf(value: unknown, bytes: number, what: string): Hex {
  if (typeof value !== 'string' || value.length !== 2 + 2 * bytes || !/^0x[0-9a-f]*$/i.test(value)) throw wrong(what)
  return value.toLowerCase() as Hex
}

export function dataOf(value: unknown, what: string): Hex {
  if (typeof value !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(value)) throw wrong(what)
  return value.toLowerCase() as Hex
}

export function bigOf(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw wrong(what)
  return BigInt(value)
}

export function numberOf(value: unknown, what: string): number {
  const number = bigOf(value, what)
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) throw wrong(what)
  return Number(number)
}

/** 32 bytes as a number. */
export const wordOf = (value: unknown, what: string): bigint => BigInt(hexOf(value, 32, what))

/** A block, with the fee of its gas where it has one. `latest`: latest time that is believed, Unix ms. */
export function blockOf(value: unknown, latest: number): NodeBlock & { readonly baseFee: bigint | null } {
  const { number, hash, parentHash, timestamp, baseFeePerGas } = fieldsOf(value, 'block')
  const time = numberOf(timestamp, 'time') * 1000
  if (time > latest) throw new ChainUnavailable('the node has blocks of the future')
  return {
    number: numberOf(number, 'block'), hash: hexOf(hash, 32, 'hash'), parentHash: hexOf(parentHash, 32, 'hash'), time,
    baseFee: baseFeePerGas === undefined || baseFeePerGas === null ? null : bigOf(baseFeePerGas, 'fee'),
  }
}

export function logOf(value: unknown): NodeLog {
  const { address, topics, data, blockNumber, blockHash, transactionHash, logIndex, removed } = fieldsOf(value, 'log')
  if (removed === true || !Array.isArray(topics) || topics.length > 4) throw wrong('log')
  return {
    address: hexOf(address, 20, 'address'),
    topics: topics.map((topic) => hexOf(topic, 32, 'topic')),
    data: dataOf(data, 'log'),
    block: numberOf(blockNumber, 'block'),
    blockHash: hexOf(blockHash, 32, 'hash'),
    txHash: hexOf(transactionHash, 32, 'hash'),
    logIndex: numberOf(logIndex, 'log'),
  }
}

/** The logs, in order; each is what was asked for, none stands there twice. */
export function logsOf(value: unknown, { addresses, topics }: Pick<LogQuery, 'addresses' | 'topics'>, from: number, to: number): NodeLog[] {
  if (!Array.isArray(value)) throw wrong('list of logs')
  const logs = value.map(logOf).sort((a, b) => a.block - b.block || a.logIndex - b.logIndex)
  logs.forEach((log, index) => {
    const before = logs[index - 1]
    const repeated = before !== undefined && before.block === log.block && before.logIndex === log.logIndex
    if (repeated || log.block < from || log.block > to || !addresses.includes(log.address)) throw wrong('log')
    const matches = topics.every((wanted, at) =>
      wanted === null || (typeof wanted === 'string' ? wanted === log.topics[at] : wanted.includes(log.topics[at]!)))
    if (!matches) throw wrong('log')
  })
  return logs
}

/** The receipt of this transaction. */
export function receiptOf(value: unknown, txHash: Hex): NodeReceipt {
  const { transactionHash, blockNumber, blockHash, status, from, to, logs } = fieldsOf(value, 'receipt')
  if (hexOf(transactionHash, 32, 'hash') !== txHash || !Array.isArray(logs)) throw wrong('receipt')
  const succeeded = bigOf(status, 'status')
  if (succeeded > 1n) throw wrong('status')
  const receipt = {
    txHash,
    block: numberOf(blockNumber, 'block'),
    blockHash: hexOf(blockHash, 32, 'hash'),
    succeeded: succeeded === 1n,
    from: hexOf(from, 20, 'address'),
    to: to === null || to === undefined ? null : hexOf(to, 20, 'address'),
    logs: logs.map(logOf),
  }
  for (const log of receipt.logs) {
    if (log.txHash !== txHash || log.blockHash !== receipt.blockHash || log.block !== receipt.block) throw wrong('receipt')
  }
  return receipt
}
