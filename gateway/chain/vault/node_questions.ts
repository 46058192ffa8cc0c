/** Questions to a node, and how long they may take. viem makes the requests; the node's chain is checked before anything is asked. */
import { createPublicClient, custom, type PublicClient } from 'viem'
import { ChainUnavailable, post, type RpcFailure } from '../client.ts'
import { numberOf } from './node_records.ts'

/** For how long a node that named the right chain is believed, ms. */
const CHAIN_ID_MS = 60_000
/** Longest answer, bytes: that of a range of logs. */
const ANSWER_BYTES_MAX = 16 << 20

/** The result, or the error that the node answers with. */
export type Answer = { readonly result: unknown } | { readonly error: RpcFailure }

/** The node says that it cannot; its own words go no further than to whoever asked. */
class NodeError extends Error {
  readonly failure: RpcFailure
  constructor(failure: RpcFailure) {
    super('the node answers with an error')
    this.failure = failure
  }
}

/** Questions to one node, each bounded in time, and once more when the connection failed. */
export class Questions {
  readonly #chainId: number
  readonly #timeoutMs: number
  readonly #now: () => number
  readonly #client: PublicClient
  #url: string | null
  /** Until when the node is known to be of the right chain. */
  #trusted = 0
  #next = 1

  constructor(chainId: number, url: string | null, timeoutMs: number, now: () => number) {
    this.#chainId = chainId
    this.#url = url
    this.#timeoutMs = timeoutMs
    this.#now = now
    const request = ({ method, params = [] }: { method: string; params?: unknown }): Promise<unknown> =>
      this.#post(method, params as readonly unknown[])
    this.#client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }), cacheTime: 0 })
  }

  move(url: string | null): void {
    this.#url = url
    this.#trusted = 0
  }

  /** The result. */
  async ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const answer = await this.tryAsk(method, params)
    if ('result' in answer) return answer.result
    throw new ChainUnavailable('the node answers with an error')
  }

  /** The result, or the error that the node answers with. */
  async tryAsk(method: string, params: readonly unknown[]): Promise<Answer> {
    await this.#checkChain()
    return this.#request(method, params)
  }

  async #checkChain(): Promise<void> {
    if (this.#now() < this.#trusted) return
    const url = this.#url
    const answer = await this.#request('eth_chainId', [])
    if (!('result' in answer) || numberOf(answer.result, 'chain') !== this.#chainId) throw new ChainUnavailable('another chain')
    if (url === this.#url) this.#trusted = this.#now() + CHAIN_ID_MS
  }

  async #request(method: string, params: readonly unknown[]): Promise<Answer> {
    try {
      return { result: await this.#client.request({ method, params } as never) }
    } catch (error) {
      for (let at: unknown = error; at instanceof Error; at = at.cause) if (at instanceof NodeError) return { error: at.failure }
      // Whoever answers next may be somebody else.
      this.#trusted = 0
      for (let at: unknown = error; at instanceof Error; at = at.cause) if (at instanceof ChainUnavailable) throw at
      throw new ChainUnavailable((error as Error).name)
    }
  }

  async #post(method: string, params: readonly unknown[]): Promise<unknown> {
    const end = AbortSignal.timeout(this.#timeoutMs)
    for (let again = true; ; again = false) {
      if (this.#url === null) throw new ChainUnavailable('the chain is away')
      try {
        const call = { jsonrpc: '2.0', id: this.#next++, method, params }
        const answer = await post(this.#url, call, end, ANSWER_BYTES_MAX)
        if ('error' in answer) throw new NodeError(answer.error)
        return answer.result
      } catch (error) {
        if (error instanceof NodeError) throw error
        // A connection that was closed meanwhile; what was answered wrongly once is not asked again.
        if (again && error instanceof TypeError && !end.aborted) continue
        throw error instanceof ChainUnavailable ? error : new ChainUnavailable((error as Error).name)
      }
    }
  }
}
