/**
 * A node, asked over JSON-RPC by the vault thread. viem makes the requests, and nothing of an answer is believed before it was compared:
 * the chain's id (once a minute, and after every failure), the hash of the block at which something is said, what a log or receipt is of.
 *
 * - Nodes may lag: behind one name there are often several, and the newest block may go back. Few blocks are asked for their logs one by
 *   one, by their hashes, so that a node without them cannot answer with none. A long range is asked as a whole, and then whether its last
 *   block is still that.
 * - A reorganisation while something is read is ChainUnavailable, as everything else: whoever asks does it again.
 */
import { encodeFunctionData, keccak256 } from 'viem'
import { ChainUnavailable, isOfContract } from '../client.ts'
import { TOKEN_ABI, VAULT_ABI } from './artifacts.ts'
import { logReader, readBlocks, type Blocks } from './node_blocks.ts'
import { Questions } from './node_questions.ts'
import { bigOf, dataOf, fieldsOf, hexOf, numberOf, receiptOf } from './node_records.ts'
import { stateReader } from './node_state.ts'
import { SendRefused, type ChainNode, type Fees, type Hex } from './types.ts'

export interface NodeOptions {
  readonly chainId: number
  readonly url: string | null
  /** Longest wait for an answer, ms. */
  readonly timeoutMs: number
  /** Unix ms. */
  readonly now: () => number
}

/** A client of one node. */
export function createChainNode({ chainId, url, timeoutMs, now }: NodeOptions): ChainNode {
  const asked = new Questions(chainId, url, timeoutMs, now)
  const ask = asked.ask.bind(asked)
  const blocks = readBlocks(asked, now)
  const { call, word, moved } = stateReader(asked, blocks)

  return {
    chainId, call, block: blocks.block, logs: logReader(asked, blocks),
    move: (next) => {
      asked.move(next)
      moved()
    },
    async head() {
      const { baseFee: _, ...at } = await blocks.head()
      return at
    },
    balanceOf: (token, owner, at) => word(token, encodeFunctionData({ abi: TOKEN_ABI, functionName: 'balanceOf', args: [owner] }), at),
    async isNonceUsed(vault, nonce, at) {
      const used = await word(vault, encodeFunctionData({ abi: VAULT_ABI, functionName: 'isNonceUsed', args: [nonce] }), at)
      if (used > 1n) throw new ChainUnavailable('neither used nor unused')
      return used === 1n
    },
    code: async (address) => dataOf(await ask('eth_getCode', [address, 'latest']), 'code'),
    async receipt(txHash) {
      const found = await ask('eth_getTransactionReceipt', [txHash])
      if (found === null) return null
      const receipt = receiptOf(found, txHash)
      await blocks.mustBe({ number: receipt.block, hash: receipt.blockHash })
      return receipt
    },
    async knows(txHash) {
      const found = await ask('eth_getTransactionByHash', [txHash])
      return found !== null && hexOf(fieldsOf(found, 'transaction')['hash'], 32, 'hash') === txHash
    },
    async nonce(address) {
      const count = async (tag: string): Promise<number> => numberOf(await ask('eth_getTransactionCount', [address, tag]), 'nonce')
      return { mined: await count('latest'), pending: await count('pending') }
    },
    fees: () => feesOf(asked, blocks),
    async estimateGas(from, to, data) {
      const answer = await asked.tryAsk('eth_estimateGas', [{ from, to, data, value: '0x0' }])
      if ('result' in answer) return bigOf(answer.result, 'gas')
      if (isOfContract(answer.error)) return null
      throw new ChainUnavailable('no estimate')
    },
    send: (raw) => send(asked, raw),
  }
}

/** Twice the fee of the newest block, so that it does for the next few, and what miners want on top. */
async function feesOf(asked: Questions, blocks: Blocks): Promise<Fees> {
  const { baseFee } = await blocks.head()
  if (baseFee === null) {
    const price = bigOf(await asked.ask('eth_gasPrice', []), 'fee')
    return { maxFeePerGas: price, maxPriorityFeePerGas: price }
  }
  const tip = bigOf(await asked.ask('eth_maxPriorityFeePerGas', []), 'fee')
  return { maxFeePerGas: 2n * baseFee + tip, maxPriorityFeePerGas: tip }
}

/** Words of nodes for a transaction that they have. */
const KNOWN = /already known|known transaction|already imported|already exists/i

async function send(asked: Questions, raw: Hex): Promise<Hex> {
  const hash = keccak256(raw)
  const answer = await asked.tryAsk('eth_sendRawTransaction', [raw])
  if ('result' in answer) {
    if (hexOf(answer.result, 32, 'hash') !== hash) throw new ChainUnavailable('the hash of another transaction')
    return hash
  }
  const words = String(answer.error.message).slice(0, 200)
  if (KNOWN.test(words)) return hash
  // Of the transaction itself; everything else is of the node.
  if ([-32000, -32003, -32010, 3].includes(answer.error.code as number)) throw new SendRefused(words)
  throw new ChainUnavailable('the transaction was not taken')
}
