/**
 * BatchCreateOrders over HTTP by autocannon against the real exchange: one signature carries 20 orders, each of which is journaled with
 * fsync, matched and answered. The load generator shares the two cores. V is measured before and after, in the same run.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type autocannon from 'autocannon'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { signRequest } from '../../gateway/client/index.ts'
import type { Trader } from '../../test/support/traders.ts'
import { amount, median, type Result } from '../result.ts'
import { round, type Round } from './http_load.ts'
import { makeTraders, verifiesPerSecond } from './orders.ts'
import { ownDirectory, removeDirectory, startExchange } from './own_exchange.ts'

const ITEMS = 20
const CONNECTIONS = 16
const SECONDS = amount(4, 1)
const ROUNDS = amount(3, 1)
/** Different batches; each is sent many times within its thirty seconds. */
const BATCHES = 120
const PATH = '/api/v1/orders/batch-create'

/**
 * The genesis of the tree with accounts that run out of neither funds nor room for orders while a bench lasts, and other limits where
 * `limits` says so; its path.
 */
export function richGenesis(directory: string, limits: Readonly<Record<string, number>> = {}): string {
  const source = join(import.meta.dirname, '..', '..', 'data', 'genesis', 'genesis.json')
  const genesis = JSON.parse(readFileSync(source, 'utf8')) as { limits: Record<string, number>; assets: { faucetAmount: string }[] }
  genesis.limits['openOrdersPerAccount'] = genesis.limits['orders']!
  Object.assign(genesis.limits, limits)
  for (const asset of genesis.assets) asset.faucetAmount += '00'
  const path = join(directory, 'genesis.json')
  writeFileSync(path, JSON.stringify(genesis))
  return path
}

/**
 * Ten orders that buy and ten that sell the same quantities, every bid at or above every ask: about half of them rest until they are
 * taken, the others take.
 */
function batchOrders(random: Prng, pair: string): object[] {
  const order = (side: string, quantity: string, price: number): object =>
    ({ tradingPairId: pair, orderType: 'LIMIT', side, quantity, price: price.toFixed(4), timeInForce: 'GTC' })
  return Array.from({ length: ITEMS / 2 }, () => {
    const quantity = String(10 + random.below(40))
    const away = random.below(5) * 0.0001
    const both = [order('BUY', quantity, 0.25 + away), order('SELL', quantity, 0.25 - away)]
    // Which comes first is random, because the second may meet the first, its own, and be cancelled.
    return random.below(2) === 0 ? both : both.reverse()
  }).flat()
}

function signBatches(traders: readonly Trader[], pair: string, seed: number): autocannon.Request[] {
  const random = createPrng(seed)
  return Array.from({ length: BATCHES }, (_, i) => {
    const { signer } = traders[i % traders.length]!
    const body = JSON.stringify({ orders: batchOrders(random, pair) })
    const headers = signRequest(signer, 'POST', PATH, Buffer.from(body), Date.now())
    return { method: 'POST', path: PATH, headers: { ...headers, 'Content-Type': 'application/json', 'User-Agent': 'bench' }, body }
  })
}

/** Part of one more batch's orders that the exchange accepted: the rate counts answers, this says what they answered. */
async function acceptedPart(baseUrl: string, request: autocannon.Request): Promise<number> {
  const { headers, body } = request as { headers: Record<string, string>; body: string }
  const answer = await fetch(baseUrl + PATH, { method: 'POST', headers, body })
  const { totalSucceeded } = (await answer.json()) as { totalSucceeded: number }
  return totalSucceeded / ITEMS
}

export async function run(): Promise<Result> {
  const before = verifiesPerSecond(2)
  const directory = ownDirectory()
  const exchange = await startExchange(directory, ['--genesis', richGenesis(directory)])
  const rounds: Round[] = []
  let accepted = 1
  try {
    const { traders, pair } = await makeTraders(exchange.baseUrl, 20)
    await round(exchange.baseUrl, signBatches(traders, pair, 1), 4, CONNECTIONS)
    for (let i = 0; i < ROUNDS; i++) {
      const batches = signBatches(traders, pair, 2 + i)
      rounds.push(await round(exchange.baseUrl, batches, SECONDS, CONNECTIONS))
      accepted = Math.min(accepted, await acceptedPart(exchange.baseUrl, batches[0]!))
    }
  } finally {
    await exchange.stop()
    removeDirectory(directory)
  }
  const verifies = (before + verifiesPerSecond(2)) / 2
  // Orders accepted or refused for themselves in a 200.
  const rate = median(rounds.map((r) => r.rate)) * ITEMS
  return {
    name: `batch: ${ITEMS} orders per signature, durable`,
    settings: {
      client: 'autocannon 9, same two cores',
      connections: CONNECTIONS,
      seconds: SECONDS,
      rounds: ROUNDS,
      accounts: 20,
      batches: `${BATCHES} of ${ITEMS} LIMIT GTC orders, half of them taking, signed before each round`,
      gateways: 'default',
    },
    figures: {
      'orders/s (median of rounds)': rate,
      'V, verifies/s of one core': verifies,
      'orders/s as multiple of V': rate / verifies,
      'saturated, p50, ms': median(rounds.map((r) => r.p50)),
      'saturated, p99, ms': median(rounds.map((r) => r.p99)),
      'answers other than 2xx': rounds.reduce((sum, r) => sum + r.other, 0),
      'least part of a batch accepted after a round': accepted,
    },
    targets: [{ figure: 'orders/s as multiple of V', atLeast: 3, unit: 'V' }],
  }
}
