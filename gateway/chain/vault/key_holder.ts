/** A key in this thread (signer_thread.ts): signs what it is given, deterministically (RFC 6979). */
import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { withdrawalTypedData } from './typed_data.ts'
import type { Authorisation, Hex, Places, Unsigned } from './types.ts'

export interface KeyHolder {
  address(): Promise<Hex>
  authorise(hub: Places, authorisation: Authorisation): Promise<Hex>
  sign(transaction: Unsigned): Promise<{ readonly raw: Hex; readonly hash: Hex }>
}

export function createKeyHolder(key: Hex): KeyHolder {
  const account = privateKeyToAccount(key)
  return {
    address: async () => account.address.toLowerCase() as Hex,
    authorise: (hub, authorisation) => account.signTypedData(withdrawalTypedData(hub, authorisation)),
    async sign({ chainId, nonce, to, data, gas, maxFeePerGas, maxPriorityFeePerGas }) {
      // By name: what else came with the question is not signed.
      const fields = { chainId, nonce, to, data, gas, maxFeePerGas, maxPriorityFeePerGas, value: 0n, type: 'eip1559' } as const
      const raw = await account.signTransaction(fields)
      return { raw, hash: keccak256(raw) }
    },
  }
}
