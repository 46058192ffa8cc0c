/**
 * Signed orders made beforehand, so that the load generator only sends. An identical signed request stays fresh for 30 s and the
 * service keeps no replay cache, so each request may be sent several times; without an idempotency key each is an order.
 */
import sodium from 'sodium-native'
import { signRequest } from '../../gateway/client/index.ts'
import { newTrader, pairOf, type Trader } from '../../test/support/traders.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'

export interface SignedOrder {
  readonly method: 'POST'
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

export const PATH = '/api/v1/orders'

export async function makeTraders(baseUrl: string, count: number): Promise<{ traders: Trader[]; pair: string }> {
  const traders: Trader[] = []
  for (let i = 0; i < count; i++) traders.push(await newTrader(baseUrl, 5))
  return { traders, pair: await pairOf(traders[0]!.client, 'SEI/USDC') }
}

/**
 * Ends what rests, between rounds: a family's share of the order pool shrinks as it fills (core/state/shares.ts), and few accounts that
 * leave all their orders would soon have theirs.
 */
export async function endOrders(traders: readonly Trader[]): Promise<void> {
  for (const { client } of traders) await client.BatchCancelAllOrders({})
}

/** A limit order of small size around one price. */
export const randomOrder = (pair: string, random: Prng): Record<string, string> => ({
  tradingPairId: pair,
  orderType: 'LIMIT',
  side: random.below(2) === 0 ? 'BUY' : 'SELL',
  quantity: String(10 + random.below(40)),
  price: (0.25 + random.below(21) * 0.0001).toFixed(4),
  timeInForce: 'GTC',
})

/** `count` limit orders of small size around one price, signed now, spread over the traders. */
export function signOrders(traders: readonly Trader[], pair: string, count: number, seed: number): SignedOrder[] {
  const random = createPrng(seed)
  return Array.from({ length: count }, (_, i) => {
    const { signer } = traders[i % traders.length]!
    const body = JSON.stringify(randomOrder(pair, random))
    const headers = signRequest(signer, 'POST', PATH, Buffer.from(body), Date.now())
    return { method: 'POST', path: PATH, headers: { ...headers, 'Content-Type': 'application/json', 'User-Agent': 'bench' }, body }
  })
}

/** V: bare sodium-native verifications per second of one core, of a 250-byte message. */
export function verifiesPerSecond(seconds: number): number {
  const publicKey = Buffer.alloc(32)
  const secretKey = Buffer.alloc(64)
  sodium.crypto_sign_keypair(publicKey, secretKey)
  const message = Buffer.alloc(250, 7)
  const signature = Buffer.alloc(64)
  sodium.crypto_sign_detached(signature, message, secretKey)
  const until = performance.now() + seconds * 1000
  const started = performance.now()
  let count = 0
  while (performance.now() < until) {
    for (let i = 0; i < 100; i++) if (!sodium.crypto_sign_verify_detached(signature, message, publicKey)) throw new Error('verify failed')
    count += 100
  }
  return count / ((performance.now() - started) / 1000)
}
