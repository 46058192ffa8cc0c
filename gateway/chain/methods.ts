/**
 * Methods of the embedded chain over JSON-RPC: those that libraries, wallets and tools use to read, call and send. There are no accounts
 * to sign with, no filters to poll, no mempool and no state overrides.
 *
 * Bounds: a call runs {@link TRANSACTION_GAS_LIMIT} gas at most and as long as its request has time left; logs are looked for in
 * {@link LOG_BLOCKS_MAX} blocks and found up to {@link LOGS_MAX}.
 */
import { BLOCK_GAS_LIMIT, TRANSACTION_GAS_LIMIT, type CallRequest, type Devnet, type EstimateRequest } from './devnet.ts'
import { RPC, RpcError } from './errors.ts'
import { blockRecord, matchingLogs, receiptRecord, revertReason, type LogFilter, type Mined } from './records.ts'
import {
  fields, quantity, readAddress, readBlock, readBlockTag, readData, readHash, readQuantity, toBytes, toHex, type BlockReference, type Hex,
} from './values.ts'

export const LOG_BLOCKS_MAX = 10_000
export const LOGS_MAX = 10_000
const FEE_BLOCKS_MAX = 1_024
const ZERO = `0x${'00'.repeat(20)}` as Hex
/** Gas beyond what is needed that an estimate may name. */
const ESTIMATE_SLACK = 64n

type Params = readonly unknown[]
/** `milliseconds`: how long it may execute contracts. */
export type Method = (chain: Devnet, params: Params, milliseconds: number) => unknown

function known(chain: Devnet, reference: BlockReference): Mined {
  const mined = chain.find(reference)
  if (mined === null) throw new RpcError(RPC.SERVER, 'header not found')
  return mined
}

function readCall(value: unknown): CallRequest {
  const call = fields(value, 'transaction')
  const given = call['gas'] === undefined ? TRANSACTION_GAS_LIMIT : readQuantity(call['gas'], 'gas')
  return {
    from: call['from'] === undefined ? ZERO : readAddress(call['from'], 'from'),
    to: call['to'] === undefined || call['to'] === null ? null : readAddress(call['to'], 'to'),
    data: readData(call['input'] ?? call['data'] ?? '0x', 'input'),
    value: call['value'] === undefined ? 0n : readQuantity(call['value'], 'value'),
    gas: given < TRANSACTION_GAS_LIMIT ? given : TRANSACTION_GAS_LIMIT,
  }
}

function readEstimate(value: unknown): EstimateRequest {
  const { accessList = [], authorizationList = [] } = fields(value, 'transaction')
  if (!Array.isArray(accessList) || !Array.isArray(authorizationList)) throw new RpcError(RPC.INVALID_PARAMS, 'invalid transaction')
  return { ...readCall(value), accessList: accessList as EstimateRequest['accessList'], authorizationList }
}

/** Throws what the execution ended with, when that was an exception. */
function failed(error: string, returned: Uint8Array): RpcError {
  if (error !== 'revert') return new RpcError(RPC.SERVER, error)
  const reason = revertReason(returned)
  return new RpcError(RPC.REVERTED, reason === null ? 'execution reverted' : `execution reverted: ${reason}`, toHex(returned))
}

async function call(chain: Devnet, [request, block, overrides]: Params, milliseconds: number): Promise<Hex> {
  if (overrides !== undefined && overrides !== null) throw new RpcError(RPC.INVALID_PARAMS, 'state overrides are not supported')
  const { exceptionError, returnValue } = await chain.call(readCall(request), known(chain, readBlock(block)), milliseconds)
  if (exceptionError !== undefined) throw failed(exceptionError.error, returnValue)
  return toHex(returnValue)
}

/** Gas with which the transaction succeeds now: found by halving, within 1/64 of the least. */
async function estimateGas(chain: Devnet, [value]: Params, milliseconds: number): Promise<Hex> {
  const request = readEstimate(value)
  const end = performance.now() + milliseconds
  const attempt = (gas: bigint): ReturnType<Devnet['simulate']> => chain.simulate({ ...request, gas }, end - performance.now())
  const { execResult, totalGasSpent, gasRefund = 0n } = await attempt(request.gas)
  if (execResult.exceptionError !== undefined) throw failed(execResult.exceptionError.error, execResult.returnValue)
  const succeeds = async (gas: bigint): Promise<boolean> => {
    try {
      return (await attempt(gas)).execResult.exceptionError === undefined
    } catch (error) {
      // Less than a transaction costs before it is executed; or no time is left, which the caller hears.
      if (performance.now() >= end) throw error
      return false
    }
  }
  let low = totalGasSpent - 1n
  let high = request.gas
  // What was spent, and what came back, is often enough already.
  const spent = totalGasSpent + gasRefund
  if (spent < high && (await succeeds(spent))) high = spent
  while (high - low > 1n && high - low > high / ESTIMATE_SLACK) {
    const middle = (low + high) / 2n
    if (await succeeds(middle)) high = middle
    else low = middle
  }
  return quantity(high)
}

function feeHistory(chain: Devnet, [count, newest, percentiles]: Params): unknown {
  const last = known(chain, readBlockTag(newest)).number
  const wanted = readQuantity(typeof count === 'number' ? quantity(count) : count, 'blockCount')
  if (wanted < 1n || wanted > BigInt(FEE_BLOCKS_MAX)) throw new RpcError(RPC.INVALID_PARAMS, `blockCount must be 1 to ${FEE_BLOCKS_MAX}`)
  if (percentiles !== undefined && percentiles !== null && (!Array.isArray(percentiles) || percentiles.length > 100)) {
    throw new RpcError(RPC.INVALID_PARAMS, 'invalid rewardPercentiles')
  }
  const first = Math.max(0, last + 1 - Number(wanted))
  const blocks = chain.blocks.slice(first, last + 1)
  return {
    oldestBlock: quantity(first),
    baseFeePerGas: Array.from({ length: blocks.length + 1 }, () => '0x0'),
    gasUsedRatio: blocks.map(({ done }) => Number(done?.gasUsed ?? 0n) / Number(BLOCK_GAS_LIMIT)),
    ...(Array.isArray(percentiles) ? { reward: blocks.map(() => percentiles.map(() => '0x0')) } : {}),
  }
}

function readLogFilter({ address, topics = [] }: Readonly<Record<string, unknown>>): LogFilter {
  const set = (value: unknown, read: (one: unknown) => string): ReadonlySet<string> | null => {
    if (value === undefined || value === null) return null
    const all = Array.isArray(value) ? value : [value]
    if (all.length > 1_000) throw new RpcError(RPC.INVALID_PARAMS, 'invalid filter: too many values')
    return all.length === 0 ? null : new Set(all.map(read))
  }
  if (!Array.isArray(topics) || topics.length > 4) throw new RpcError(RPC.INVALID_PARAMS, 'invalid topics')
  return {
    addresses: set(address, (one) => readAddress(one, 'address')),
    topics: topics.map((topic) => set(topic, (one) => readHash(one, 'topic'))),
  }
}

function getLogs(chain: Devnet, [value]: Params): unknown {
  const filter = fields(value, 'filter')
  const wanted = readLogFilter(filter)
  const { blockHash, fromBlock, toBlock } = filter
  if (blockHash !== undefined) return matchingLogs(known(chain, { hash: readHash(blockHash, 'blockHash') }), wanted)
  const newest = chain.blocks.length - 1
  const from = readBlockTag(fromBlock, 'fromBlock')
  const to = readBlockTag(toBlock, 'toBlock')
  const [first, last] = [from === 'latest' ? newest : from, Math.min(newest, to === 'latest' ? newest : to)]
  if (last - first >= LOG_BLOCKS_MAX) throw new RpcError(RPC.LIMIT, `block range too large: at most ${LOG_BLOCKS_MAX}`)
  const found: unknown[] = []
  for (let number = first; number <= last; number++) {
    found.push(...matchingLogs(chain.blocks[number]!, wanted))
    if (found.length > LOGS_MAX) throw new RpcError(RPC.LIMIT, `more than ${LOGS_MAX} logs`)
  }
  return found
}

const blockOrNull = (mined: Mined | null, whole: unknown): unknown => (mined === null ? null : blockRecord(mined, whole === true))

export const METHODS: Readonly<Record<string, Method>> = {
  eth_chainId: (chain) => quantity(chain.chainId),
  net_version: (chain) => String(chain.chainId),
  web3_clientVersion: () => 'Ringbook/1.0.0',
  eth_syncing: () => false,
  eth_accounts: () => [],
  eth_blockNumber: (chain) => quantity(chain.blocks.length - 1),
  eth_gasPrice: () => '0x0',
  eth_maxPriorityFeePerGas: () => '0x0',
  eth_feeHistory: feeHistory,
  eth_getBalance: async (chain, [address, block]) =>
    quantity((await chain.account(readAddress(address, 'address'), known(chain, readBlock(block)))).balance),
  eth_getTransactionCount: async (chain, [address, block]) =>
    quantity((await chain.account(readAddress(address, 'address'), known(chain, readBlock(block)))).nonce),
  eth_getCode: (chain, [address, block]) => chain.code(readAddress(address, 'address'), known(chain, readBlock(block))),
  eth_getStorageAt: (chain, [address, slot, block]) => {
    const position = `0x${readQuantity(slot, 'position').toString(16).padStart(64, '0')}` as Hex
    return chain.storage(readAddress(address, 'address'), position, known(chain, readBlock(block)))
  },
  eth_call: call,
  eth_estimateGas: estimateGas,
  eth_sendRawTransaction: (chain, [raw]) => chain.send(toBytes(readData(raw, 'transaction'))),
  eth_getTransactionByHash: (chain, [hash]) => {
    const mined = chain.findTransaction(readHash(hash, 'hash'))
    return mined === null ? null : mined.done!.transaction
  },
  eth_getTransactionReceipt: (chain, [hash]) => {
    const mined = chain.findTransaction(readHash(hash, 'hash'))
    return mined === null ? null : receiptRecord(mined, mined.done!)
  },
  eth_getBlockByNumber: (chain, [number, whole]) => blockOrNull(chain.find(readBlockTag(number)), whole),
  eth_getBlockByHash: (chain, [hash, whole]) => blockOrNull(chain.find({ hash: readHash(hash, 'hash') }), whole),
  eth_getLogs: getLogs,
}
