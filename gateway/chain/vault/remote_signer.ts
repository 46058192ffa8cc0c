/**
 * A key somewhere else (signer_thread.ts): a signer that speaks JSON-RPC over HTTP, as clef and web3signer do. It holds one account. What
 * it signs is compared with what was asked for, and with whose it is; everything else is no answer.
 */
import { keccak256, parseTransaction, recoverTransactionAddress, recoverTypedDataAddress, type TransactionSerializedEIP1559 } from 'viem'
import { ChainUnavailable, post } from '../client.ts'
import type { KeyHolder } from './key_holder.ts'
import { dataOf, fieldsOf, hexOf } from './node_records.ts'
import { DOMAIN_TYPES, withdrawalTypedData } from './typed_data.ts'
import type { Hex, Unsigned } from './types.ts'

const ANSWER_BYTES_MAX = 1 << 20
/** Order of the curve. */
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const wrong = (what: string): ChainUnavailable => new ChainUnavailable(`the remote signer ${what}`)

/** Asks the signer at this URL; each answer may take so many ms. Everything throws ChainUnavailable. */
export function createRemoteSigner(url: string, timeoutMs: number): KeyHolder {
  let next = 1
  let known: Hex | null = null

  async function ask(method: string, params: unknown[]): Promise<unknown> {
    let answer
    try {
      answer = await post(url, { jsonrpc: '2.0', id: next++, method, params }, AbortSignal.timeout(timeoutMs), ANSWER_BYTES_MAX)
    } catch (error) {
      throw error instanceof ChainUnavailable ? error : wrong(`does not answer: ${(error as Error).name}`)
    }
    if ('error' in answer) throw wrong(`refuses ${method}`)
    return answer.result
  }

  async function address(): Promise<Hex> {
    if (known !== null) return known
    const accounts = await ask('eth_accounts', [])
    if (!Array.isArray(accounts) || accounts.length !== 1) throw wrong('must hold exactly one account')
    known = hexOf(accounts[0], 20, 'account')
    return known
  }

  return {
    address,
    async authorise(hub, authorisation) {
      const own = await address()
      const { domain, types, primaryType, message } = withdrawalTypedData(hub, authorisation)
      const said = { domain, types: { ...DOMAIN_TYPES, ...types }, primaryType, message }
      const json = JSON.stringify(said, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
      const signature = canonical(hexOf(await ask('eth_signTypedData_v4', [own, JSON.parse(json)]), 65, 'signature'))
      const signer = await recoverTypedDataAddress({ domain, types, primaryType, message, signature } as never).catch(() => null)
      if (signer?.toLowerCase() !== own) throw wrong('signed something else')
      return signature
    },
    async sign(transaction) {
      const own = await address()
      const answer = await ask('eth_signTransaction', [fieldsFor(own, transaction)])
      const raw = dataOf(typeof answer === 'string' ? answer : fieldsOf(answer, 'transaction')['raw'], 'transaction')
      if (!(await isSigned(raw, own, transaction))) throw wrong('signed something else')
      return { raw, hash: keccak256(raw) }
    },
  }
}

/** With v of 27 or 28 and the lower s, of which the vault takes no other. */
function canonical(signature: Hex): Hex {
  const [r, s, v] = [signature.slice(2, 66), BigInt(`0x${signature.slice(66, 130)}`), Number(`0x${signature.slice(130)}`)]
  const parity = v >= 27 ? v - 27 : v
  const high = s > N / 2n
  const low = (high ? N - s : s).toString(16).padStart(64, '0')
  return `0x${r}${low}${((high ? 1 - parity : parity) + 27).toString(16)}`
}

function fieldsFor(from: Hex, { chainId, nonce, to, data, gas, maxFeePerGas, maxPriorityFeePerGas }: Unsigned): Record<string, Hex> {
  const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`
  return {
    type: '0x2', from, to, data, value: '0x0', chainId: quantity(chainId), nonce: quantity(nonce), gas: quantity(gas),
    maxFeePerGas: quantity(maxFeePerGas), maxPriorityFeePerGas: quantity(maxPriorityFeePerGas),
  }
}

/** Whether this is the transaction that was asked for, signed by the account. */
async function isSigned(raw: Hex, own: Hex, asked: Unsigned): Promise<boolean> {
  try {
    const found = parseTransaction(raw as TransactionSerializedEIP1559)
    const same = found.type === 'eip1559' && found.chainId === asked.chainId && (found.nonce ?? 0) === asked.nonce
      && found.to?.toLowerCase() === asked.to && (found.data ?? '0x') === asked.data && (found.value ?? 0n) === 0n
      && (found.gas ?? 0n) === asked.gas && (found.maxFeePerGas ?? 0n) === asked.maxFeePerGas
      && (found.maxPriorityFeePerGas ?? 0n) === asked.maxPriorityFeePerGas && (found.accessList ?? []).length === 0
    const signer = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerializedEIP1559 })
    return same && signer.toLowerCase() === own
  } catch {
    return false
  }
}
