/** Blocks and logs of a node: each block is the one that was asked for, each log of a block that the node still has. */
import { ChainUnavailable } from '../client.ts'
import type { Questions } from './node_questions.ts'
import { blockOf, logsOf } from './node_records.ts'
import type { At, Hex, LogQuery, NodeBlock, NodeLog } from './types.ts'

/** Ranges of at most so many blocks are read block by block. */
export const SINGLE_BLOCKS = 16
/** Most blocks that are asked for their logs at once. */
export const RANGE_BLOCKS = 2_000
/** How far the time of a block may be ahead of this machine's, ms. */
export const AHEAD_MS = 120_000

export const quantity = (value: number): Hex => `0x${value.toString(16)}`

export interface Blocks {
  /** The newest one, with the fee of its gas. */
  head(): Promise<NodeBlock & { readonly baseFee: bigint | null }>
  block(number: number): Promise<NodeBlock | null>
  /** Throws ChainUnavailable unless that block is the one of its number. */
  mustBe(at: At): Promise<void>
}

/** `now`: Unix ms. */
export function readBlocks(asked: Questions, now: () => number): Blocks {
  const read = (found: unknown): NodeBlock & { readonly baseFee: bigint | null } => blockOf(found, now() + AHEAD_MS)

  async function block(number: number): Promise<NodeBlock | null> {
    const found = await asked.ask('eth_getBlockByNumber', [quantity(number), false])
    if (found === null) return null
    const { baseFee: _, ...at } = read(found)
    if (at.number !== number) throw new ChainUnavailable('the node says another block')
    return at
  }
  return {
    head: async () => read(await asked.ask('eth_getBlockByNumber', ['latest', false])),
    block,
    async mustBe({ number, hash }) {
      if ((await block(number))?.hash !== hash) throw new ChainUnavailable(`block ${number} is another one by now`)
    },
  }
}

/** Reads logs. */
export function logReader(asked: Questions, { block, mustBe }: Blocks): (query: LogQuery) => Promise<readonly NodeLog[]> {
  async function logsOfRange(query: LogQuery, from: number, to: number): Promise<readonly NodeLog[]> {
    const { addresses, topics } = query
    const answer = await asked.tryAsk('eth_getLogs', [{ fromBlock: quantity(from), toBlock: quantity(to), address: addresses, topics }])
    if ('result' in answer) return logsOf(answer.result, query, from, to)
    // Too many of them: nodes have bounds of their own.
    if (from === to) throw new ChainUnavailable('no logs')
    const middle = Math.floor((from + to) / 2)
    return [...(await logsOfRange(query, from, middle)), ...(await logsOfRange(query, middle + 1, to))]
  }

  /** Block by block, from the last one back, each the parent of the one behind it. */
  async function logsOneByOne(query: LogQuery): Promise<NodeLog[]> {
    const { from, to, addresses, topics } = query
    const found: NodeLog[][] = []
    let hash = to.hash
    for (let number = to.number; number >= from; number--) {
      const at = await block(number)
      if (at?.hash !== hash) throw new ChainUnavailable(`block ${number} is another one by now`)
      const logs = logsOf(await asked.ask('eth_getLogs', [{ blockHash: hash, address: addresses, topics }]), query, number, number)
      if (logs.some(({ blockHash }) => blockHash !== hash)) throw new ChainUnavailable('logs of another block')
      found.push(logs)
      hash = at.parentHash
    }
    return found.reverse().flat()
  }

  return async function logs(query: LogQuery): Promise<readonly NodeLog[]> {
    const { from, to } = query
    if (from > to.number || query.addresses.length === 0) return []
    if (to.number - from < SINGLE_BLOCKS) return logsOneByOne(query)
    await mustBe(to)
    const found: NodeLog[] = []
    for (let first = from; first <= to.number; first += RANGE_BLOCKS) {
      found.push(...(await logsOfRange(query, first, Math.min(to.number, first + RANGE_BLOCKS - 1))))
    }
    const hashes = new Map(found.map((log) => [log.block, log.blockHash]))
    if (found.some((log) => hashes.get(log.block) !== log.blockHash)) throw new ChainUnavailable('logs of two blocks with one number')
    for (const [number, hash] of hashes) await mustBe({ number, hash })
    await mustBe(to)
    return found
  }
}
