/**
 * The part of the workload that grants: what owners allow their delegated agents, mostly sensible, now and then nonsense. See workload.ts.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import type { Decoded } from '../../core/layout/table.ts'
import type { Prng } from '../../core/lib/prng.ts'

/** Who signs: somebody's own wallet, or that of a delegated agent. */
export interface Client {
  application: number
  address: string
  keys: string[]
  session: number
  generation: number
  /** Of a delegated agent: number of the client it works for, and what it was granted last. */
  owner: number
  agent: number
  agentSequence: number
  /** Row of the account; -1: not known yet. */
  account: number
}

const MINUTE = 60_000

/** Who the agents of a stream work for, by number of the client, and their wallets: one for two owners, clients' own, too many. */
export const AGENT_WALLETS: readonly (readonly [owner: number, wallet: string])[] = [
  [0, 'agent-a'], [0, 'agent-b'], [0, 'wallet-3'], [1, 'agent-a'], [2, 'wallet-0'],
]

/** All actions, order types and times in force but for a few. */
function grantsOf(random: Prng): number {
  const actions = random.below(3) === 0 ? random.below(16) : 7
  const orderTypes = random.below(4) === 0 ? random.below(4) : 0
  const timesInForce = random.below(4) === 0 ? random.below(8) : 0
  const hostile = random.below(60) === 0 ? 2 ** (3 + random.below(29)) : 0
  return (actions + orderTypes * 256 + timesInForce * 65_536 + random.below(2) * 2 ** 24 + hostile) % 2 ** 32
}

/** 32 bytes of bits in hex: every pair, or some, or none, or one that is not there. */
function pairsOf(random: Prng, count: number): string {
  const bytes = Buffer.alloc(32)
  const whole = random.below(2) === 0
  for (let pair = 0; pair < count; pair++) if (whole || random.below(2) === 0) bytes[pair >>> 3]! |= 1 << (pair & 7)
  if (random.below(40) === 0) {
    const beyond = count + random.below(256 - count)
    bytes[beyond >>> 3]! |= 1 << (beyond & 7)
  }
  return bytes.toString('hex')
}

/** The fields of UPSERT_AGENT but for header and address. */
export function grantValues(random: Prng, genesis: Genesis, time: number): Decoded {
  const hostile = random.below(40) === 0
  const notional = BigInt(random.below(1_000_000)) * 10n ** BigInt(random.below(13))
  const lifetime = [0, 0, 1, 5000, MINUTE, 60 * MINUTE, 30 * 60 * MINUTE][random.below(7)]!
  return {
    grants: grantsOf(random),
    expiresAt: hostile ? [time, time - 1, -1, NaN, time + 0.5, 1e18][random.below(6)]! : lifetime === 0 ? 0 : time + lifetime,
    maxNotional: random.below(2) === 0 ? 0n : random.below(60) === 0 ? -1n : notional,
    maxLeverage: random.below(80) === 0 ? -1 : random.below(10_000),
    maxOpenOrders: random.below(3) > 0 ? 0 : random.below(60) === 0 ? [-1, 1001][random.below(2)]! : 1 + random.below(4),
    pairs: pairsOf(random, genesis.pairs.length),
    name: Buffer.from(`agent ${random.below(9)}`).toString('hex').padEnd(64, '0'),
  }
}
