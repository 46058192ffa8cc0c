/** Who signs in a workload: wallets, agents that work for the first of them, and wallets that a master may make accounts for. */
import { AGENT_WALLETS, type Client } from './workload_agents.ts'
import { SUB_WALLETS } from './workload_families.ts'
import type { Visitors } from './workload_visitors.ts'

/** Account of a client that waits for a master to make its account; now and then it does not wait. */
export const UNBORN = -2

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

/** `count` wallets, those that look in among them, their agents, and with `families` those that masters link. */
export function clientsOf(count: number, visitors: Visitors, families: boolean): Client[] {
  const unsigned = { session: -1, generation: 0, account: -1, owner: -1, agent: -1, agentSequence: 0 }
  const keysOf = (name: string): string[] => [hex(`${name}-a`, 32), hex(`${name}-b`, 32), hex('a key that two clients share', 32)]
  const clients: Client[] = Array.from({ length: count }, (_, index) => ({
    application: index === 7 ? 1 : visitors.applicationOf(index), keys: keysOf(`key-${index}`), ...unsigned,
    address: hex(`wallet-${index === 6 ? 0 : index === 7 ? 1 : index}`, 20),
  }))
  const agents = AGENT_WALLETS.filter(([owner]) => owner < clients.length).map(([owner, wallet], index): Client => ({
    application: 0, address: hex(wallet, 20), keys: keysOf(`agent-key-${index}`), ...unsigned, owner,
  }))
  const subs = Array.from({ length: families ? SUB_WALLETS : 0 }, (_, index): Client => ({
    application: 0, address: hex(`sub-${index}`, 20), keys: keysOf(`sub-key-${index}`), ...unsigned, account: UNBORN,
  }))
  return [...clients, ...agents, ...subs]
}
