/**
 * Who signs the commands of workload_margin.ts: wallets, sub-accounts that masters make and send money to and fro, and delegated agents
 * whose owners grant them leverage, margin accounts, closes and the rest, narrow it and end it.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import type { Prng } from '../../core/lib/prng.ts'
import { grantValues } from './workload_agents.ts'
import type { Client, Command } from './workload_margin_known.ts'

const MINUTE = 60_000
const ALL_ACTIONS = 15
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')
/** Masters of the sub-accounts, and whose agents there are: numbers of wallets; below 0: of sub-accounts, the first one. */
const MASTERS = [0, 0, 1]
const OWNERS = [0, 1, 2, -1]

export class MarginPeople {
  readonly clients: Client[]
  private readonly genesis: Genesis
  private readonly random: Prng
  /** Who is meant by the command in flight: the sub-account that is made, the agent that is granted something. */
  private meant = 0

  constructor(genesis: Genesis, random: Prng, wallets: number) {
    this.genesis = genesis
    this.random = random
    const person = (address: string, over: Partial<Client> = {}): Client => ({
      address: hex(address, 20), master: -1, owner: -1, session: -1, generation: 0, account: -1, minted: 0, made: false, agent: -1,
      agentSequence: 0, ...over,
    })
    this.clients = [
      ...Array.from({ length: wallets }, (_, number) => person(`wallet ${number}`)),
      ...MASTERS.map((master, number) => person(`desk ${number}`, { master })),
      ...OWNERS.map((owner, number) => person(`agent ${number}`, { owner: owner < 0 ? wallets : owner, minted: 2 })),
    ]
  }

  private below(n: number): number {
    return this.random.below(n)
  }

  private readonly chance = (n: number, of: number): boolean => this.below(of) < n

  /** Number of somebody who signs for `account`: its wallet, or now and then its agent or whoever. */
  signerOf(account: number): number {
    const theirs = this.clients.flatMap((each, number) => (each.account === account && each.session >= 0 ? [number] : []))
    if (theirs.length === 0 || this.chance(1, 60)) return this.below(this.clients.length)
    return this.chance(3, 4) ? theirs[0]! : theirs[this.below(theirs.length)]!
  }

  /** What a client without a session does first, and who signs it; null: somebody else must do something before. */
  enter(number: number, time: number): { signer: number; command: Command } | null {
    const { address, master, owner, made, agent } = this.clients[number]!
    this.meant = number
    const publicKey = hex(`key ${number}`, 32)
    if (owner >= 0) {
      if (this.clients[owner]!.session < 0) return null
      if (agent < 0) return { signer: owner, command: this.grant(number, time) }
      const values = { session: -1, application: 0, owner: this.clients[owner]!.address, agent: address, publicKey }
      return { signer: number, command: { type: CommandType.OPEN_DELEGATED_SESSION, values } }
    }
    if (master >= 0 && !made) {
      if (this.clients[master]!.session < 0) return null
      const values = { address, consented: 1, username: hex(`desk ${number}`, 32) }
      return { signer: master, command: { type: CommandType.CREATE_SUB_ACCOUNT, values } }
    }
    const values = { session: -1, application: 0, address, publicKey, master: 0 }
    return { signer: number, command: { type: CommandType.OPEN_SESSION, values } }
  }

  /** An owner grants his agent something else, or ends it; null: there is none to ask. Who signs it. */
  agentCommand(time: number): { signer: number; command: Command } | null {
    const agents = this.clients.filter(({ owner, agent }) => owner >= 0 && agent >= 0 && this.clients[owner]!.session >= 0)
    if (agents.length === 0) return null
    const chosen = agents[this.below(agents.length)]!
    const number = this.clients.indexOf(chosen)
    this.meant = number
    // An agent grants nobody anything.
    const signer = this.chance(1, 20) ? number : chosen.owner
    if (!this.chance(1, 5)) return { signer, command: this.grant(number, time) }
    const values = { agent: chosen.agent, createdSequence: chosen.agentSequence }
    return { signer, command: { type: CommandType.REVOKE_AGENT, values } }
  }

  /** Mostly everything but for one bound: of leverage, margin accounts, or what an agent of a spot market may be bound by. */
  private grant(number: number, time: number): Command {
    const { address } = this.clients[number]!
    const drawn = grantValues(this.random, this.genesis, time)
    const every = Buffer.alloc(32)
    for (const { index } of this.genesis.pairs) every[index >>> 3]! |= 1 << (index & 7)
    const whole: Decoded = {
      ...drawn, address, grants: ALL_ACTIONS, expiresAt: 0, maxNotional: 0n, maxLeverage: 0, maxOpenOrders: 0, pairs: every.toString('hex'),
    }
    const bound = this.below(10)
    if (bound < 3) whole['maxLeverage'] = [100, 300, 500, 1000, 2000][this.below(5)]!
    else if (bound === 3) whole['grants'] = ALL_ACTIONS + 2 ** 24
    else if (bound === 4) whole['grants'] = 1 + this.below(ALL_ACTIONS)
    else if (bound === 5) Object.assign(whole, { maxNotional: drawn['maxNotional'], maxOpenOrders: drawn['maxOpenOrders'] })
    else if (bound === 6) whole['expiresAt'] = time + this.below(5 * MINUTE)
    else if (bound === 7) Object.assign(whole, { grants: drawn['grants'], pairs: drawn['pairs'], maxLeverage: drawn['maxLeverage'] })
    return { type: CommandType.UPSERT_AGENT, values: whole }
  }

  /** A master and his sub-account move something of the wallet's collateral; null: there is no sub-account. */
  transfer(collateral: number): { signer: number; command: Command } | null {
    const subs = this.clients.filter(({ master, account }) => master >= 0 && account >= 0)
    if (subs.length === 0) return null
    const { master, account } = subs[this.below(subs.length)]!
    const amount = BigInt(1 + this.below(1_000_000)) * BigInt([1, 1000, 20_000][this.below(3)]!)
    const values = { asset: collateral, subAccount: account, toSub: this.below(2), options: 0, amount }
    return { signer: this.chance(1, 30) ? this.below(this.clients.length) : master, command: { type: CommandType.TRANSFER, values } }
  }

  /** RESULT without a refusal of a command of these. */
  learn(type: number, { account, detail, detail2, originalSequence }: Decoded, signer: number): void {
    if (type === CommandType.OPEN_SESSION || type === CommandType.OPEN_DELEGATED_SESSION) {
      Object.assign(this.clients[signer]!, { session: detail, generation: detail2, account })
    } else if (type === CommandType.CREATE_SUB_ACCOUNT) this.clients[this.meant]!.made = true
    else if (type === CommandType.UPSERT_AGENT) Object.assign(this.clients[this.meant]!, { agent: detail, agentSequence: originalSequence })
    else if (type === CommandType.REVOKE_AGENT) Object.assign(this.clients[this.meant]!, { agent: -1, session: -1 })
  }

  /** The session of who signed is over, or was not opened: whoever has no grant any more must be granted something. */
  signedOff(signer: number): void {
    Object.assign(this.clients[signer]!, { session: -1, agent: -1 })
  }
}
