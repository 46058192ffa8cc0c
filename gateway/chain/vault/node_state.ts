/** What a node says of the state at a block: by the block's hash, or by its number and then whether it still is that block. */
import { ChainUnavailable, isOfContract } from '../client.ts'
import { quantity, type Blocks } from './node_blocks.ts'
import type { Answer, Questions } from './node_questions.ts'
import { dataOf, wordOf } from './node_records.ts'
import type { At, Hex, Returned } from './types.ts'

/** Gas of a call. */
const CALL_GAS = '0x2dc6c0'
/** Codes by which nodes refuse a block given by its hash (EIP-1898). */
const PARAMS_CODES = [-32602, -32600]

export interface StateReader {
  /** Another node is asked from now on. */
  moved(): void
  call(to: Hex, data: Hex, at?: At): Promise<Returned>
  /** Of a call that returns 32 bytes. */
  word(to: Hex, data: Hex, at?: At): Promise<bigint>
}

export function stateReader(asked: Questions, blocks: Blocks): StateReader {
  let byHash = true

  /** Asks something of the state at a block. */
  async function askAt(method: string, params: unknown[], at: At | undefined): Promise<Answer> {
    if (at === undefined) return asked.tryAsk(method, [...params, 'latest'])
    if (byHash) {
      const answer = await asked.tryAsk(method, [...params, { blockHash: at.hash, requireCanonical: true }])
      if ('result' in answer || !PARAMS_CODES.includes(answer.error.code as number)) return answer
      byHash = false
    }
    const answer = await asked.tryAsk(method, [...params, quantity(at.number)])
    await blocks.mustBe(at)
    return answer
  }

  async function call(to: Hex, data: Hex, at?: At): Promise<Hex | null> {
    const answer = await askAt('eth_call', [{ to, data, gas: CALL_GAS }], at)
    if ('result' in answer) return dataOf(answer.result, 'result')
    if (isOfContract(answer.error)) return null
    throw new ChainUnavailable('no call')
  }

  async function word(to: Hex, data: Hex, at?: At): Promise<bigint> {
    const returned = await call(to, data, at)
    if (returned === null) throw new ChainUnavailable('a contract reverts that should answer')
    return wordOf(returned, 'result')
  }

  return { call, word, moved: () => void (byHash = true) }
}
