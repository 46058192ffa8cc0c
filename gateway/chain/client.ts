/**
 * Questions to a chain over JSON-RPC, for the sign-in thread: small, strict, and never in doubt about who spoke.
 *
 * What a contract itself did is an answer: it returned, or it ended with an exception. Everything else is {@link ChainUnavailable}: no
 * connection, no answer in time, an HTTP status, an answer that is too long, no JSON, of another question or another chain, and every
 * error that may be the node's own.
 */
import { SIGN_IN } from '../../core/ring/counters.ts'

/** Gas a contract has to check a signature, and by it the bound on what its check costs a node. */
export const CALL_GAS = 3_000_000
/**
 * Longest answer, bytes: with that gas a contract can fill 1.3 MB of memory, twice as many digits. What is longer was not said
 * by a contract.
 */
export const ANSWER_BYTES_MAX = 3 << 20
/** For how long a node that named the right chain is believed. */
const CHAIN_ID_MS = 60_000
/** Codes by which nodes say that a contract reverted (EIP-1474 as geth has it), or that it ended with an exception (Nethermind). */
const CONTRACT_CODES = [3, -32015]
/** What nodes call the exceptions of the machine, behind the code for any error. */
const EXCEPTION = new RegExp(
  '^(execution reverted|vm execution error|(evm error: )?(out ?of ?gas|invalid ?jump|stack ?(under|over)flow|stack limit reached)' +
    '|gas uint64 overflow|invalid (opcode|instruction)|write protection|static state change' +
    '|return data out of bounds|value out of range|contract creation code storage|max code size|revert$)',
  'i',
)

export class ChainUnavailable extends Error {
  override name = 'ChainUnavailable'
}

/** How a call ended: with this data (lowercase hex), or `null` with an exception. */
export type CallAnswer = string | null

export interface ChainClient {
  /** Where to ask; `null`: nowhere for now. */
  move(url: string | null): void
  /** Code at the address, lowercase hex; `0x` when there is none. Throws {@link ChainUnavailable}, as the next. */
  code(address: string, signal: AbortSignal): Promise<string>
  /** With so much gas. */
  call(address: string, data: string, gas: number, signal: AbortSignal): Promise<CallAnswer>
}

export interface RpcFailure {
  readonly code: unknown
  readonly message: unknown
}

/** A client for one chain. `counters` is the sign-in thread's block (core/ring/counters.ts), `now` Unix ms. */
export function createChainClient(chainId: number, counters: Float64Array, now: () => number): ChainClient {
  let at: string | null = null
  let next = 1
  /** Until when `at` is known to be the right chain. */
  let trusted = 0

  async function ask(method: string, params: unknown[], signal: AbortSignal): Promise<{ result: unknown } | { error: RpcFailure }> {
    const started = performance.now()
    counters[SIGN_IN.chain_calls]!++
    try {
      if (at === null) throw new ChainUnavailable('the chain is away')
      return await post(at, { jsonrpc: '2.0', id: next++, method, params }, signal)
    } catch (error) {
      counters[SIGN_IN.chain_failures]!++
      throw error instanceof ChainUnavailable ? error : new ChainUnavailable((error as Error).name)
    } finally {
      counters[SIGN_IN.chain_seconds]! += (performance.now() - started) / 1000
    }
  }

  function unusable(reason: string): ChainUnavailable {
    counters[SIGN_IN.chain_failures]!++
    return new ChainUnavailable(reason)
  }

  async function checkChain(signal: AbortSignal): Promise<void> {
    if (now() < trusted) return
    const url = at
    const answer = await ask('eth_chainId', [], signal)
    const right = 'result' in answer && typeof answer.result === 'string' && answer.result.toLowerCase() === `0x${chainId.toString(16)}`
    if (!right) throw unusable('another chain')
    if (url === at) trusted = now() + CHAIN_ID_MS
  }

  const dataOf = (value: unknown): string => {
    if (typeof value !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(value)) throw unusable('no data')
    return value.toLowerCase()
  }

  return {
    move(url) {
      at = url
      trusted = 0
    },
    async code(address, signal) {
      await checkChain(signal)
      const answer = await ask('eth_getCode', [address, 'latest'], signal)
      if ('error' in answer) throw unusable('no code')
      return dataOf(answer.result)
    },
    async call(address, data, gas, signal) {
      await checkChain(signal)
      const answer = await ask('eth_call', [{ to: address, data, gas: `0x${gas.toString(16)}` }, 'latest'], signal)
      if ('result' in answer) return dataOf(answer.result)
      if (isOfContract(answer.error)) return null
      throw unusable('no call')
    },
  }
}

/** Whether an error says what a contract did, and not what the node could not. */
export const isOfContract = ({ code, message }: RpcFailure): boolean =>
  CONTRACT_CODES.includes(code as number) || (code === -32000 && EXCEPTION.test(String(message)))

export interface RpcCall {
  readonly jsonrpc: string
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** Posts one call; the result or error of its reply, of `bytesMax` at most. Throws whatever went wrong. */
export async function post(
  url: string, call: RpcCall, signal: AbortSignal, bytesMax = ANSWER_BYTES_MAX,
): Promise<{ result: unknown } | { error: RpcFailure }> {
  const stop = new AbortController()
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(call),
      redirect: 'error',
      signal: AbortSignal.any([signal, stop.signal]),
    })
    if (response.status !== 200 || response.body === null) throw new ChainUnavailable(`status ${response.status}`)
    const reply = JSON.parse(await bounded(response.body, bytesMax)) as Record<string, unknown> | null
    if (typeof reply !== 'object' || reply === null) throw new ChainUnavailable('no reply')
    if (reply['jsonrpc'] !== '2.0' || reply['id'] !== call.id) throw new ChainUnavailable('a reply to something else')
    const { result, error } = reply
    if (typeof error === 'object' && error !== null && result === undefined) return { error: error as RpcFailure }
    if (result === undefined || error !== undefined) throw new ChainUnavailable('neither result nor error')
    return { result }
  } finally {
    // Lets go of a body that was not read to its end.
    stop.abort()
  }
}

/** The text of a body of at most so many bytes, read in pieces. */
async function bounded(body: ReadableStream<Uint8Array>, bytesMax: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    length += piece.length
    if (length > bytesMax) throw new ChainUnavailable('too long an answer')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
