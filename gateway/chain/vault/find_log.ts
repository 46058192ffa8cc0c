/** The newest log of a contract with these topics, looked for from the newest block back, a bounded way. */
import type { ChainNode, Hex, NodeBlock, NodeLog } from './types.ts'

const RANGE = 2_000
const RANGES = 200

/** `null`: there is none between `first` and `last`, or it is too far back. Throws ChainUnavailable. */
export async function findLog(
  node: ChainNode, address: Hex, topics: readonly (Hex | null)[], first: number, last: NodeBlock,
): Promise<NodeLog | null> {
  let to: NodeBlock | null = last
  for (let range = 0; to !== null && to.number >= first && range < RANGES; range++) {
    const from: number = Math.max(first, to.number - RANGE + 1)
    const found = await node.logs({ from, to, addresses: [address], topics })
    if (found.length > 0) return found.at(-1)!
    to = from <= first ? null : await node.block(from - 1)
  }
  return null
}
