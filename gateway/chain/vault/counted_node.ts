/** A node whose questions are counted. */
import type { ChainNode } from './types.ts'

export interface Asked {
  calls: number
  failures: number
}

/** The same node; `asked` counts what is asked of it and what it does not answer. */
export function countedNode(node: ChainNode, asked: Asked): ChainNode {
  const counted = <A extends unknown[], T>(ask: (...args: A) => Promise<T>) => async (...args: A): Promise<T> => {
    asked.calls++
    try {
      return await ask(...args)
    } catch (error) {
      asked.failures++
      throw error
    }
  }
  return {
    chainId: node.chainId, move: (url) => node.move(url), head: counted(node.head), block: counted(node.block), logs: counted(node.logs),
    call: counted(node.call), balanceOf: counted(node.balanceOf), isNonceUsed: counted(node.isNonceUsed), code: counted(node.code),
    receipt: counted(node.receipt), knows: counted(node.knows), nonce: counted(node.nonce), fees: counted(node.fees),
    estimateGas: counted(node.estimateGas), send: counted(node.send),
  }
}
