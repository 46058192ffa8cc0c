/**
 * Trading for tests of streams: accounts over REST and gRPC, a sub-account and a delegated agent, random orders of every kind, and the few
 * that make each event and each reason happen for certain.
 */
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import type { Prng } from '../../core/lib/prng.ts'
import { createClient, type Client } from '../../gateway/client/index.ts'
import type { OperationName } from '../../gateway/operations/index.ts'
import type { Exchange } from './exchange.ts'
import type { GrpcClient } from './grpc.ts'
import { signerOf, type SocketSigner } from './sockets.ts'
import { newTrader, sodiumSigner } from './traders.ts'
import { grpcTransport, newWallet, signIn, type Json } from './transports.ts'

/** Somebody who trades. `does` throws an error with a `code` when he is refused. */
export interface Dealer {
  readonly signer: SocketSigner
  readonly does: (name: OperationName, input: Json) => Promise<Json>
}

const MINTS = 5
type Call = (input: Json) => Promise<Json>
const through = (client: Client): Dealer['does'] => (name, input) => (client[name] as unknown as Call)(input)

export async function restDealer({ baseUrl }: Exchange): Promise<Dealer & { client: Client; address: string }> {
  const { client, signer, address } = await newTrader(baseUrl, MINTS)
  return { client, address, signer, does: through(client) }
}

export async function grpcDealer(connection: GrpcClient): Promise<Dealer> {
  const transport = grpcTransport(connection)
  const wallet = newWallet()
  await signIn(transport, wallet)
  const does: Dealer['does'] = async (name, input) => {
    const answer = (await transport(name, input, wallet.session)) as Json
    if (answer['refused'] !== undefined) throw Object.assign(new Error(answer['message']), { code: answer['refused'] })
    return answer
  }
  for (let i = 0; i < MINTS; i++) await does('Mint', {})
  return { signer: signerOf(wallet.session), does }
}

function newClient({ baseUrl }: Exchange): { client: Client; address: string; signer: SocketSigner } {
  const account = privateKeyToAccount(generatePrivateKey())
  const signer = sodiumSigner()
  const wallet = { address: account.address, signMessage: (message: string) => account.signMessage({ message }) }
  return { client: createClient({ baseUrl, wallet, signer }), address: account.address, signer: signer as SocketSigner }
}

/** A sub-account of `master` that may spend of its balances. */
export async function subDealer(exchange: Exchange, master: Dealer, assets: readonly string[]): Promise<Dealer & { id: string }> {
  const { client, signer } = newClient(exchange)
  const { address: wallet } = (await master.does('GetProfile', {})) as { address: string }
  const { subAccount } = await master.does('CreateSubAccount', { ...(await client.consentTo(wallet, master.signer.publicKey)) })
  const { id } = subAccount as { id: string }
  for (const assetId of assets) await master.does('CreateSubAccountLimit', { subAccountId: id, assetId, maxAmount: '1000000' })
  await client.signIn()
  return { id, signer, does: through(client) }
}

/** An agent of `owner` that may do all an agent may on one pair. */
export async function agentDealer(
  exchange: Exchange, owner: Dealer & { address: string }, tradingPairId: string,
): Promise<Dealer & { agentId: string }> {
  const { client, address, signer } = newClient(exchange)
  const allowedActions = ['CREATE_ORDER', 'CANCEL_ORDER', 'REPLACE_ORDER']
  const { id } = await owner.does('UpsertDelegatedAgent', { agentAddress: address, allowedActions, allowedTradingPairIds: [tradingPairId] })
  await client.signInFor(owner.address)
  return { agentId: id as string, signer, does: through(client) }
}

/** What the exchange refuses is refused; anything else is an error. */
async function attempt(act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!((error as { code?: string }).code! in REFUSALS)) throw error
  }
}

export interface RandomTrading {
  readonly pair: string
  readonly steps: number
  readonly random: Prng
  /** A sub-account that may spend of its master's balances. */
  readonly funded: boolean
}

/** Random orders, cancels, replacements and test funds. */
export async function tradeAtRandom({ does }: Dealer, { pair, steps, random, funded }: RandomTrading): Promise<void> {
  const open: string[] = []
  const some = <T>(list: readonly T[]): T => list[random.below(list.length)]!
  const drop = (): string => open.splice(random.below(open.length), 1)[0]!
  const place = async (): Promise<void> => {
    const market = random.unit() < 0.1
    const terms = market ? { orderType: 'MARKET' } : {
      orderType: 'LIMIT', price: String(3000 + random.below(60) - 30), timeInForce: some(['GTC', 'GTC', 'GTC', 'IOC', 'FOK']),
      postOnly: random.unit() < 0.1,
    }
    const { orderId } = await does('CreateOrder', {
      tradingPairId: pair, side: some(['BUY', 'SELL']), quantity: String(0.01 * (1 + random.below(8))).slice(0, 4), ...terms,
      ...(random.unit() < 0.3 ? { clientOrderId: `c${random.u32()}` } : {}),
      ...(random.unit() < 0.3 ? { selfTradePreventionMode: some(['CANCEL_BOTH', 'CANCEL_TAKER']) } : {}),
      ...(!market && random.unit() < 0.05 ? { expirationDate: new Date(Date.now() + 300 + random.below(1000)).toISOString() } : {}),
      ...(funded && random.unit() < 0.7 ? { useMasterBalance: true } : {}),
    })
    open.push(orderId)
  }
  for (let step = 0; step < steps; step++) {
    const dice = random.unit()
    await attempt(async () => {
      if (dice < 0.15 && open.length > 0) await does('CancelOrder', { orderId: drop() })
      else if (dice < 0.3 && open.length > 0) {
        const terms = random.unit() < 0.5 ? { price: String(3000 + random.below(60) - 30) } : { quantity: '0.01' }
        open.push((await does('ReplaceOrder', { orderId: drop(), ...terms }))['orderId'])
      } else if (dice < 0.32) await does('BatchCancelAllOrders', {})
      else await place()
    })
  }
}
