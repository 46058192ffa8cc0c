/**
 * Contract wallets (EIP-1271): whether the contract at an address accepts these bytes as its signature of a text.
 *
 * The chain is asked: is there code (else the address is an ordinary one, and this is no signature of it), and what does
 * `isValidSignature` of it say. The bytes go to the contract as they came; an account that delegates its code (EIP-7702) is asked like any
 * contract. Of a wrapper for a contract that may be yet to be deployed (ERC-6492) the contract is asked about the signature inside; nothing
 * is deployed for it, so without code nothing was signed.
 *
 * A contract is asked with little gas first, which is enough for most wallets to accept. What it then does not accept it is asked again
 * with {@link CALL_GAS}, {@link HEAVY_AT_ONCE} contracts at a time and each address once: contracts whose code never ends wait for each
 * other, and others do not wait for them.
 *
 * Accepted is an answer of at least 32 and at most {@link ANSWER_BYTES_MAX} bytes whose first word is the magic value and zeros. A
 * chain that does not answer, or not in time, gives no verdict, and neither do questions beyond the bounds.
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { SIGN_IN } from '../../core/ring/counters.ts'
import { CALL_GAS, type ChainClient } from '../chain/client.ts'
import { createInFlight } from './in_flight.ts'
import type { Rejection } from './rejection.ts'
import { unwrapped } from './wrapper.ts'

/** `isValidSignature(bytes32,bytes)`, and what it returns to accept. */
const SELECTOR = '1626ba7e'
const ACCEPTED = `0x${SELECTOR}${'0'.repeat(56)}`
/** No contract has a reason to say more. */
export const ANSWER_BYTES_MAX = 1_024
/** Gas of the first question: twenty milliseconds of the embedded chain, and several signatures of keys. Besides what its bytes cost. */
export const LIGHT_GAS = 300_000
const GAS_OF_BYTE = 40
/** Contracts that are asked with all the gas at a time. */
export const HEAVY_AT_ONCE = 2

export interface ContractTask {
  /** Lowercase. */
  readonly address: string
  /** The text as the wallet showed it. */
  readonly message: string
  /** 1 to 8192 bytes as lowercase hex digits. */
  readonly signature: string
}

/** `busy`: no verdict, because a bound was reached or the chain did not answer; `late`: not in time. */
export type ContractVerdict = 'signed' | 'busy' | 'late' | Rejection

export interface ContractCheck {
  /** `network`: who asks (limits/network.ts). */
  verify(task: ContractTask, network: string): Promise<ContractVerdict>
  /** What is under way, and everything after it, has no verdict. */
  close(): void
}

/** A check over `chain` with at most `most` questions at once and `timeoutMs` for each. `counters` is the sign-in thread's block. */
export function createContractCheck(chain: ChainClient, most: number, timeoutMs: number, counters: Float64Array): ContractCheck {
  const inFlight = createInFlight(most)
  const closed = new AbortController()

  const heavy = createTurns(HEAVY_AT_ONCE)

  async function decide({ address, message, signature }: ContractTask, signal: AbortSignal): Promise<ContractVerdict> {
    const wrapper = unwrapped(signature)
    if ((await chain.code(address, signal)) === '0x') return wrapper === null ? 'NO_CODE' : 'NOT_DEPLOYED'
    const data = callData(messageHash(message), wrapper ?? signature)
    const light = await chain.call(address, data, LIGHT_GAS + GAS_OF_BYTE * (data.length / 2 - 1), signal)
    if (light !== null && accepts(light)) return 'signed'
    const answer = await heavy.run(address, signal, () => chain.call(address, data, CALL_GAS, signal))
    if (answer === null) return 'CONTRACT_REVERTED'
    return accepts(answer) ? 'signed' : 'WRONG_SIGNER'
  }

  async function ask(task: ContractTask): Promise<ContractVerdict> {
    const time = AbortSignal.timeout(timeoutMs)
    try {
      return await decide(task, AbortSignal.any([closed.signal, time]))
    } catch {
      return time.aborted ? 'late' : 'busy'
    }
  }

  return {
    async verify(task, network) {
      if (closed.signal.aborted || !inFlight.enter(network)) {
        counters[SIGN_IN.contract_unavailable]!++
        return 'busy'
      }
      const started = performance.now()
      counters[SIGN_IN.contract_checks] = inFlight.size
      try {
        const verdict = await ask(task)
        const isVerdict = verdict !== 'busy' && verdict !== 'late'
        counters[SIGN_IN[verdict === 'signed' ? 'contract_signed' : isVerdict ? 'contract_rejected' : 'contract_unavailable']]!++
        return verdict
      } finally {
        inFlight.leave(network)
        counters[SIGN_IN.contract_checks] = inFlight.size
        counters[SIGN_IN.contract_seconds]! += (performance.now() - started) / 1000
      }
    },
    close: () => closed.abort(),
  }
}

const accepts = (answer: string): boolean => answer.length <= 2 + 2 * ANSWER_BYTES_MAX && answer.slice(0, ACCEPTED.length) === ACCEPTED

/** What a wallet signs of a text (EIP-191, version 0x45), as hex digits. */
export function messageHash(message: string): string {
  const bytes = Buffer.from(message, 'utf8')
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`, 'utf8')
  return Buffer.from(keccak_256(Buffer.concat([prefix, bytes]))).toString('hex')
}

/** The ABI encoding of a call with a hash and bytes: the hash, where the bytes begin, their length, the bytes in whole words. */
function callData(hash: string, signature: string): string {
  const word = (value: number): string => value.toString(16).padStart(64, '0')
  const padded = signature.padEnd(Math.ceil(signature.length / 64) * 64, '0')
  return `0x${SELECTOR}${hash}${word(64)}${word(signature.length / 2)}${padded}`
}

interface Turn {
  readonly key: string
  readonly begin: () => void
}

/** Lets `most` pieces of work run at a time, one of a key; the others wait, in order, until their signal aborts. */
function createTurns(most: number): { run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> } {
  const running = new Set<string>()
  const waiting: Turn[] = []

  function next(): void {
    for (let i = 0; i < waiting.length && running.size < most;) {
      const { key, begin } = waiting[i]!
      if (running.has(key)) i++
      else {
        waiting.splice(i, 1)
        running.add(key)
        begin()
      }
    }
  }

  const place = (key: string, signal: AbortSignal): Promise<void> => new Promise((resolve, reject) => {
    const leave = (): void => {
      waiting.splice(waiting.indexOf(turn), 1)
      reject(signal.reason as Error)
    }
    const turn: Turn = {
      key,
      begin: () => {
        signal.removeEventListener('abort', leave)
        resolve()
      },
    }
    if (signal.aborted) return reject(signal.reason as Error)
    signal.addEventListener('abort', leave, { once: true })
    waiting.push(turn)
    next()
  })

  return {
    async run(key, signal, work) {
      await place(key, signal)
      try {
        return await work()
      } finally {
        running.delete(key)
        next()
      }
    },
  }
}
