/** Wallets that sign in to a running exchange, for end-to-end tests and benches. */
import sodium from 'sodium-native'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createClient, type Client, type Signer, type Wallet } from '../../gateway/client/index.ts'

/** A session key on sodium-native: 40 times faster than the browser's. */
export function sodiumSigner(): Signer {
  const publicKey = Buffer.alloc(32)
  const secretKey = Buffer.alloc(64)
  sodium.crypto_sign_keypair(publicKey, secretKey)
  return {
    publicKey: publicKey.toString('hex'),
    sign: (bytes) => {
      const signature = Buffer.alloc(64)
      sodium.crypto_sign_detached(signature, Buffer.from(bytes), secretKey)
      return signature
    },
  }
}

export interface Trader {
  readonly client: Client
  readonly signer: Signer
  readonly wallet: Wallet
  readonly address: string
}

/** A new wallet with an open session; `mint` faucet requests are made for it. */
export async function newTrader(baseUrl: string, mints = 1, fetch: typeof globalThis.fetch = globalThis.fetch): Promise<Trader> {
  const account = privateKeyToAccount(generatePrivateKey())
  const signer = sodiumSigner()
  const wallet = { address: account.address, signMessage: (message: string) => account.signMessage({ message }) }
  const client = createClient({ baseUrl, wallet, signer, fetch })
  await client.signIn()
  for (let i = 0; i < mints; i++) await client.Mint()
  return { client, signer, wallet, address: account.address }
}

/** The pair with this symbol. */
export async function pairOf(client: Client, symbol: string): Promise<string> {
  const { tradingPairs } = await client.ListTradingPairs({ pageSize: 100 })
  return tradingPairs.find((pair) => pair.symbol === symbol)!.id
}
