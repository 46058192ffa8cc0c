/** Wallets that sign in to a running exchange, for end-to-end tests and benches. */
import sodium from 'sodium-native'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { createClient, type Client, type ClientOptions, type Signer, type Wallet } from '../../gateway/client/index.ts'

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
  /** The wallet's key, for what it does on the chain. */
  readonly account: PrivateKeyAccount
}

/** A wallet of nobody yet, with a client that did not sign in. */
export function newWallet(baseUrl: string, more: Partial<Pick<ClientOptions, 'clientId' | 'fetch'>> = {}): Trader {
  const account = privateKeyToAccount(generatePrivateKey())
  const signer = sodiumSigner()
  const wallet = { address: account.address, signMessage: (message: string) => account.signMessage({ message }) }
  return { client: createClient({ baseUrl, wallet, signer, ...more }), signer, wallet, address: account.address, account }
}

/** A new wallet with an open session, brought by whoever has `referralCode`; `mints` faucet requests are made for it. */
export async function newTrader(
  baseUrl: string, mints = 1, fetch: typeof globalThis.fetch = globalThis.fetch, referralCode?: string,
): Promise<Trader> {
  const trader = newWallet(baseUrl, { fetch })
  await trader.client.signIn(referralCode === undefined ? {} : { referralCode })
  for (let i = 0; i < mints; i++) await trader.client.Mint()
  return trader
}

/** `referrer` brings somebody who buys of it at this limit; token and amount of what it earned. */
export async function earnReward(
  baseUrl: string, referrer: Client, limit: { readonly tradingPairId: string; readonly quantity: string; readonly price: string },
  fetch?: typeof globalThis.fetch,
): Promise<{ readonly token: string; readonly amount: string }> {
  const { client: referee } = await newTrader(baseUrl, 1, fetch, (await referrer.GetReferralPosition()).referralCode)
  await referrer.CreateOrder({ ...limit, orderType: 'LIMIT', side: 'SELL' })
  await referee.CreateOrder({ ...limit, orderType: 'LIMIT', side: 'BUY' })
  const { balances: [reward] } = await referrer.GetRewardsBalance()
  return { token: reward!.token, amount: reward!.available }
}

/** The pair with this symbol. */
export async function pairOf(client: Client, symbol: string): Promise<string> {
  const { tradingPairs } = await client.ListTradingPairs({ pageSize: 100 })
  return tradingPairs.find((pair) => pair.symbol === symbol)!.id
}
