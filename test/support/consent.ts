/** The word of a wallet that becomes somebody's sub-account: what every test that makes one goes through. */
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Session } from './gateway_harness.ts'
import type { Json, Transport } from './transports.ts'

/** Fields of CreateSubAccount: the wallet's address, and its signature of the text that names `master`, whose session will send them. */
export async function consentOf(
  call: Transport, wallet: PrivateKeyAccount, master: Session, clientId?: string,
): Promise<{ address: string; nonce: string; signature: string }> {
  const { address } = wallet
  const application = clientId === undefined ? {} : { clientId }
  const asked = { address, sessionPublicKey: master.publicKey, subAccountOf: master.address, ...application }
  const { nonce, message }: Json = await call('Challenge', asked, null)
  return { address, nonce, signature: await wallet.signMessage({ message }) }
}
