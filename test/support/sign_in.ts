/** Wallets that sign in over any transport: as themselves, and as delegated agents of somebody. */
import { newWallet, type Json, type Transport, type Wallet } from './transports.ts'

/** What signs a challenge of the wallet: the fields that every sign-in has. */
async function proof(call: Transport, { wallet, session }: Wallet, clientId: string): Promise<Json> {
  const fields = { sessionPublicKey: session.publicKey, clientId }
  const { nonce, message } = (await call('Challenge', { ...fields, address: wallet.address }, null)) as Json
  return { ...fields, nonce, signature: await wallet.signMessage({ message }) }
}

/** Opens a session of the wallet's own account; what Verify answered. */
export async function signIn(call: Transport, who: Wallet, clientId = 'ringbook'): Promise<Json> {
  return call('Verify', { ...await proof(call, who, clientId), address: who.wallet.address }, null)
}

/** Opens a session of the wallet as an agent of `owner`; what CreateDelegatedSession answered. */
export async function signInFor(call: Transport, owner: string, who: Wallet, clientId = 'ringbook'): Promise<Json> {
  const wallets = { agentAddress: who.wallet.address, ownerAddress: owner }
  return call('CreateDelegatedSession', { ...await proof(call, who, clientId), ...wallets }, null)
}

/** A new wallet with an open session and test funds. */
export async function newUser(call: Transport): Promise<Wallet> {
  const user = newWallet()
  await signIn(call, user)
  await call('Mint', {}, user.session)
  return user
}
