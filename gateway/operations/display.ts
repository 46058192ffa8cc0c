/** Other users as anybody may see them: by public wallet and display alone. */
import Type, { type Static } from 'typebox'
import { readHandles } from '../../core/view/copying.ts'
import type { AccountView } from '../../core/view/accounts.ts'
import type { Gateway } from '../context.ts'
import { addressText } from './accounts.ts'
import { field, record } from './schema.ts'

export const PUBLIC_USER = {
  walletAddress: field(Type.String(), 'Wallet of the user.'),
  display: field(Type.String(), 'Handle of the user, or the wallet in short.'),
}
export const PublicUser = record('PublicUser', 'Another user: wallet, and handle or wallet in short.', Type.Object(PUBLIC_USER))
export type PublicUser = Static<typeof PublicUser>

/** `0x1234…abcd`. */
export const shortWallet = (wallet: string): string => `${wallet.slice(0, 6)}…${wallet.slice(-4)}`

/** Users by their accounts, in their order; `null`: they cannot be read. */
export function publicUsers({ state, gate }: Gateway, accounts: readonly AccountView[]): PublicUser[] | null {
  const handles = readHandles(state, gate, accounts.map(({ account }) => account))
  if (handles === null) return null
  return accounts.map(({ address }, index) => {
    const walletAddress = addressText(address)
    return { walletAddress, display: handles[index] === '' ? shortWallet(walletAddress) : handles[index]! }
  })
}
