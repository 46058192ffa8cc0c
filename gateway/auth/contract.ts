/**
 * Contract wallets (EIP-1271): whether the contract at an address accepts these bytes as its signature of a text.
 *
 * The chain is asked twice: is there code (else the address is an ordinary one, and this is no signature of it), and what does
 * `isValidSignature` of it say. The bytes go to the contract as they came; an account that delegates its code (EIP-7702) is asked like any
 * contract, and a wrapper for a contract that is yet to be deployed (ERC-6492) is not opened: without code nothing was signed.
 *
 * Accepted is an answer of at least 32 and at most {@link ANSWER_BYTES_MAX} bytes whose first word is the magic value and zeros. A
 * chain that does not answer, or not in time, gives no verdict, and neither do questions beyond the bounds.
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { SIGN_IN } from '../../core/ring/counters.ts'
import type { ChainClient } from '../chain/client.ts'
import { createInFlight } from './in_flight.ts'
import type { Verdict } from './wallet.ts'

/** `isValidSignature(bytes32,bytes)`, and what it returns to accept. */
const SELECTOR = '1626ba7e'
const ACCEPTED = `0x${SELECTOR}${'0'.repeat(56)}`
/** No contract has a reason to say more. */
export const ANSWER_BYTES_MAX = 1_024

export interface ContractTask {
  /** Lowercase. */
  readonly address: string
  /** The text as the wallet showed it. */
  readonly message: string
  /** 1 to 8192 bytes as lowercase hex digits. */
  readonly signature: string
}

export interface ContractCheck {
  /** `network`: who asks (limits/network.ts). */
  verify(task: ContractTask, network: string): Promise<Verdict>
  /** What is under way, and everything after it, has no verdict. */
  close(): void
}

/** A check over `chain` with at most `most` questions at once and `timeoutMs` for each. `counters` is the sign-in thread's block. */
export function createContractCheck(chain: ChainClient, most: number, timeoutMs: number, counters: Float64Array): ContractCheck {
  const inFlight = createInFlight(most)
  const closed = new AbortController()

  async function ask({ address, message, signature }: ContractTask): Promise<Verdict> {
    const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(timeoutMs)])
    try {
      if ((await chain.code(address, signal)) === '0x') return 'rejected'
      const answer = await chain.call(address, callData(messageHash(message), signature), signal)
      return answer !== null && accepts(answer) ? 'signed' : 'rejected'
    } catch {
      return 'busy'
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
        const outcome = verdict === 'signed' ? 'contract_signed' : verdict === 'rejected' ? 'contract_rejected' : 'contract_unavailable'
        counters[SIGN_IN[outcome]]!++
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
