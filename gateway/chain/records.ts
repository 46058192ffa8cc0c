/** Blocks, transactions, receipts and logs of the embedded chain as JSON-RPC gives them. */
import type { Log } from '@ethereumjs/evm'
import type { TypedTransaction } from '@ethereumjs/tx'
import type { Done, Mined } from './devnet.ts'
import { quantity, toBytes, toHex, type Hex } from './values.ts'

type Fields = Readonly<Record<string, unknown>>

/** A block; with whole transactions or with their hashes. */
export function blockRecord({ block, hash, number, timestamp, done }: Mined, whole: boolean): Fields {
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
    transactions: done === null ? [] : [whole ? transactionRecord({ hash, number, timestamp }, done) : done.hash],
  }
}

export function transactionRecord(block: Pick<Mined, 'hash' | 'number' | 'timestamp'>, { transaction, hash, from }: Done): Fields {
  const { v, r, s } = transaction.toJSON()
  const legacy = transaction.type === 0
  return {
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    transactionIndex: '0x0',
    hash,
    type: quantity(transaction.type),
    chainId: quantity(transaction.common.chainId()),
    nonce: quantity(transaction.nonce),
    from,
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
    ...(legacy ? {} : { yParity: v }),
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

export function receiptRecord(mined: Mined, done: Done): Fields {
  return {
    transactionHash: done.hash,
    transactionIndex: '0x0',
    blockHash: mined.hash,
    blockNumber: quantity(mined.number),
    from: done.from,
    to: done.transaction.to?.toString() ?? null,
    contractAddress: done.succeeded ? done.created : null,
    type: quantity(done.transaction.type),
    status: done.succeeded ? '0x1' : '0x0',
    gasUsed: quantity(done.gasUsed),
    cumulativeGasUsed: quantity(done.gasUsed),
    effectiveGasPrice: prices(done.transaction)['gasPrice'],
    logsBloom: done.bloom,
    logs: done.logs.map((log, index) => logRecord(mined, done, log, index)),
  }
}

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
