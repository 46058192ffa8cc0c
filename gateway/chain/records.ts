/** Blocks, transactions, receipts and logs of the embedded chain as JSON-RPC gives them. */
import type { Block } from '@ethereumjs/block'
import type { Log } from '@ethereumjs/evm'
import { TransactionType, type TypedTransaction } from '@ethereumjs/tx'
import type { PostByzantiumTxReceipt, RunTxResult } from '@ethereumjs/vm'
import { quantity, toBytes, toHex, type Hex } from './values.ts'

/**
 * A block with what its one transaction did; the first block has none. It keeps records, not the library's objects: each of those holds a
 * copy of the chain's parameters, ten times as much as the block.
 */
export interface Mined {
  readonly number: number
  readonly hash: Hex
  /** Unix seconds. */
  readonly timestamp: number
  readonly stateRoot: Uint8Array
  /** As JSON-RPC gives it, but for its transactions. */
  readonly header: Fields
  readonly done: Done | null
}
export interface Done {
  readonly hash: Hex
  readonly gasUsed: bigint
  readonly logs: readonly Log[]
  /** As JSON-RPC gives them. */
  readonly transaction: Fields
  readonly receipt: Fields
}

export type Fields = Readonly<Record<string, unknown>>
type Place = Pick<Mined, 'hash' | 'number' | 'timestamp'>

/** A block without its transactions. */
export function headerRecord({ hash, number, timestamp }: Place, block: Block): Fields {
  const { header } = block
  return {
    number: quantity(number),
    hash,
    parentHash: toHex(header.parentHash),
    timestamp: quantity(timestamp),
    nonce: toHex(header.nonce),
    sha3Uncles: toHex(header.uncleHash),
    logsBloom: toHex(header.logsBloom),
    transactionsRoot: toHex(header.transactionsTrie),
    stateRoot: toHex(header.stateRoot),
    receiptsRoot: toHex(header.receiptTrie),
    miner: header.coinbase.toString(),
    difficulty: '0x0',
    extraData: toHex(header.extraData),
    mixHash: toHex(header.mixHash),
    gasLimit: quantity(header.gasLimit),
    gasUsed: quantity(header.gasUsed),
    baseFeePerGas: quantity(header.baseFeePerGas!),
    withdrawalsRoot: toHex(header.withdrawalsRoot!),
    blobGasUsed: quantity(header.blobGasUsed!),
    excessBlobGas: quantity(header.excessBlobGas!),
    parentBeaconBlockRoot: toHex(header.parentBeaconBlockRoot!),
    requestsHash: toHex(header.requestsHash!),
    size: quantity(block.serialize().length),
    withdrawals: [],
    uncles: [],
  }
}

/** A block; with whole transactions or with their hashes. */
export const blockRecord = ({ header, done }: Mined, whole: boolean): Fields =>
  ({ ...header, transactions: done === null ? [] : [whole ? done.transaction : done.hash] })

/** What a transaction did in the block at this place. */
export function doneRecord(place: Place, transaction: TypedTransaction, result: RunTxResult): Done {
  const hash = toHex(transaction.hash())
  const from = transaction.getSenderAddress().toString()
  const [gasUsed, { logs }] = [result.totalGasSpent, result.receipt]
  const succeeded = (result.receipt as PostByzantiumTxReceipt).status === 1
  const position = { blockHash: place.hash, blockNumber: quantity(place.number), transactionIndex: '0x0' }
  const receipt = {
    ...position,
    transactionHash: hash,
    from,
    to: transaction.to?.toString() ?? null,
    contractAddress: succeeded && transaction.to === undefined ? (result.createdAddress?.toString() ?? null) : null,
    type: quantity(transaction.type),
    status: succeeded ? '0x1' : '0x0',
    gasUsed: quantity(gasUsed),
    cumulativeGasUsed: quantity(gasUsed),
    effectiveGasPrice: prices(transaction)['gasPrice'],
    logsBloom: toHex(result.bloom.bitvector),
  }
  return { hash, gasUsed, logs, transaction: { ...position, hash, from, ...transactionFields(transaction) }, receipt }
}

function transactionFields(transaction: TypedTransaction): Fields {
  const { v, r, s } = transaction.toJSON()
  return {
    type: quantity(transaction.type),
    chainId: quantity(transaction.common.chainId()),
    nonce: quantity(transaction.nonce),
    to: transaction.to?.toString() ?? null,
    value: quantity(transaction.value),
    gas: quantity(transaction.gasLimit),
    input: toHex(transaction.data),
    ...prices(transaction),
    ...('accessList' in transaction
      ? { accessList: transaction.accessList.map(([address, keys]) => ({ address: toHex(address), storageKeys: keys.map(toHex) })) }
      : {}),
    ...('authorizationList' in transaction ? { authorizationList: transaction.authorizationList.map(authorization) } : {}),
    v, r, s,
    ...(transaction.type === TransactionType.Legacy ? {} : { yParity: v }),
  }
}

function authorization(tuple: readonly Uint8Array[]): Fields {
  const [chainId, address, nonce, yParity, r, s] = tuple.map(toHex)
  const number = (hex: Hex | undefined): Hex => quantity(BigInt(hex === undefined || hex === '0x' ? '0x0' : hex))
  return { chainId: number(chainId), address, nonce: number(nonce), yParity: number(yParity), r: number(r), s: number(s) }
}

function prices(transaction: TypedTransaction): Fields {
  if (!('maxFeePerGas' in transaction)) return { gasPrice: quantity(transaction.gasPrice) }
  const { maxFeePerGas, maxPriorityFeePerGas } = transaction
  return {
    // The base fee is zero, so that what is paid is the priority fee.
    gasPrice: quantity(maxPriorityFeePerGas), maxFeePerGas: quantity(maxFeePerGas), maxPriorityFeePerGas: quantity(maxPriorityFeePerGas),
  }
}

/** The receipt of a block's transaction, with its logs. */
export const receiptRecord = (mined: Mined, done: Done): Fields =>
  ({ ...done.receipt, logs: done.logs.map((log, index) => logRecord(mined, done, log, index)) })

function logRecord(mined: Mined, done: Done, [address, topics, data]: Log, index: number): Fields {
  return {
    address: toHex(address),
    topics: topics.map(toHex),
    data: toHex(data),
    blockHash: mined.hash,
    blockNumber: quantity(mined.number),
    blockTimestamp: quantity(mined.timestamp),
    transactionHash: done.hash,
    transactionIndex: '0x0',
    logIndex: quantity(index),
    removed: false,
  }
}

/** What logs are looked for; `null` is anything. */
export interface LogFilter {
  readonly addresses: ReadonlySet<string> | null
  /** By position; more positions than a log has topics match nothing. */
  readonly topics: readonly (ReadonlySet<string> | null)[]
}

/** The logs of a block that match. */
export function matchingLogs(mined: Mined, { addresses, topics }: LogFilter): Fields[] {
  const { done } = mined
  if (done === null) return []
  return done.logs.flatMap((log, index) => {
    const fits =
      (addresses === null || addresses.has(toHex(log[0]))) &&
      topics.every((wanted, i) => log[1][i] !== undefined && (wanted === null || wanted.has(toHex(log[1][i]))))
    return fits ? [logRecord(mined, done, log, index)] : []
  })
}

/** What `Error(string)` and `Panic(uint256)` say, for the message of a revert. */
export function revertReason(data: Uint8Array): string | null {
  const hex = toHex(data)
  if (hex.startsWith('0x4e487b71') && data.length === 36) return `panic code ${quantity(BigInt(`0x${hex.slice(10)}`))}`
  if (!hex.startsWith('0x08c379a0') || data.length < 68) return null
  const length = BigInt(`0x${hex.slice(10 + 64, 10 + 128)}`)
  if (length > BigInt(data.length - 68)) return null
  return Buffer.from(toBytes(`0x${hex.slice(138, 138 + 2 * Number(length))}`)).toString('utf8')
}
