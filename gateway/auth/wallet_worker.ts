/** The task of the wallet pool: one EIP-191 recovery, about 1.4 ms of a core. Knows nothing of nonces or sessions. */
import { recoverMessageAddress } from 'viem/utils'
import { workInBackground } from '../background.ts'

workInBackground()

export interface WalletTask {
  /** Lowercase. */
  readonly address: string
  /** The text as the wallet showed it. */
  readonly message: string
  /** 65 bytes, v 27 or 28. */
  readonly signature: `0x${string}`
}

/** Whether `address` signed `message`. A signature that recovers to no key at all is one that it did not make. */
export default async function signedBy({ address, message, signature }: WalletTask): Promise<boolean> {
  try {
    return (await recoverMessageAddress({ message, signature })).toLowerCase() === address
  } catch {
    return false
  }
}
