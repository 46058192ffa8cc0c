/**
 * The part of a workload (workload.ts) that families send: masters who make sub-accounts, move money to and from them and limit what
 * they may spend, sub-accounts whose orders spend it, and all of them now and then doing what is not theirs to do.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import { CommandType, Flag, LimitChange, Option } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import type { Prng } from '../../core/lib/prng.ts'

/** A sub-account as its master knows it: its row and the client that has the master's wallet. */
interface KnownSub {
  row: number
  master: number
}

const hex = (text: string, bytes: number): string => Buffer.from(text, 'latin1').toString('hex').padEnd(bytes * 2, '0')
const DAY_MS = 86_400_000
const MOST = 4_600_000_000_000_000_000n
/** Wallets that become sub-accounts. */
export const SUB_WALLETS = 6

export class FamilyWorkload {
  private readonly genesis: Genesis
  private readonly random: Prng
  /** Known sub-accounts by row. */
  private readonly subs = new Map<number, KnownSub>()
  /** A time about midnight, and how many more commands have it. */
  private midnight = 0
  private midnightFor = 0

  constructor(genesis: Genesis, random: Prng) {
    this.genesis = genesis
    this.random = random
  }

  /** Time stands still at it. */
  get isMidnight(): boolean {
    return this.midnightFor > 0
  }

  private below(n: number): number {
    return this.random.below(n)
  }

  private pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  /** Client `master` was told that it made the sub-account in row `row`. */
  learn(row: number, master: number): void {
    this.subs.set(row, { row, master })
  }

  /** Row + 1 of the master that the sign-in text of the account in row `account` named: mostly none, so that consent comes late. */
  named(account: number, clients: readonly { readonly account: number }[]): number {
    const sub = this.subs.get(account)
    const dice = this.below(24)
    if (dice < 2) return this.below(8)
    return dice < 6 && sub !== undefined ? clients[sub.master]!.account + 1 : 0
  }

  /** Sometimes the next midnight, give or take a millisecond, for a while: that is where the days of limits end. */
  nextTime(time: number): number {
    if (this.midnightFor > 0) {
      this.midnightFor--
      return this.midnight
    }
    if (this.below(150) !== 0) return time
    this.midnight = Math.max(time, (Math.floor(time / DAY_MS) + 1) * DAY_MS + this.below(3) - 1)
    this.midnightFor = this.below(12)
    return this.midnight
  }

  /** Flags that say who pays for an order of the account in row `account`. */
  funding(account: number): number {
    return this.below(60) < (this.subs.has(account) ? 40 : 1) ? Flag.MASTER_FUNDED : 0
  }

  /** Flags of a replacement that says who pays from now on; mostly none. */
  newFunding(): number {
    return this.below(5) === 0 ? Option.NEW_FUNDING | (this.below(2) === 0 ? Flag.MASTER_FUNDED : 0) : 0
  }

  /** A command and the client who signs it: `client`, or rather the master of the sub-account it is about. */
  command(client: number, addresses: readonly string[]): { type: CommandType; client: number; values: Decoded } {
    const dice = this.below(100)
    if (dice < 12 || this.subs.size === 0) return { type: CommandType.CREATE_SUB_ACCOUNT, client, values: this.subAccount(addresses) }
    const sub = this.pick([...this.subs.values()])
    const signer = this.below(20) === 0 ? client : sub.master
    const subAccount = this.below(60) === 0 ? this.pick([-1, 0, this.genesis.limits.accounts, sub.row + 1]) : sub.row
    const asset = this.below(60) === 0 ? this.pick([-1, this.genesis.assets.length]) : this.below(this.genesis.assets.length)
    if (dice < 50) return { type: CommandType.TRANSFER, client: signer, values: { asset, subAccount, ...this.transfer(asset) } }
    return { type: CommandType.SET_SPEND_LIMIT, client: signer, values: { asset, subAccount, ...this.limit(asset) } }
  }

  private subAccount(addresses: readonly string[]): Decoded {
    const wallet = this.below(6) === 0 ? this.pick(addresses) : addresses.at(-1 - this.below(SUB_WALLETS))!
    const wrong = this.below(20) === 0
    const username = this.pick(wrong ? ['tab\there', 'gap\0gap', '\x7f'] : ['', 'desk', 'thirty-two bytes of a long name!'])
    return { address: wallet, username: hex(username, 32), consented: this.below(5) < 2 ? 0 : 1 }
  }

  /** Atoms: mostly about what an order costs, or exactly what a sale of some lots does; sometimes nothing, everything or nonsense. */
  private atoms(asset: number): bigint {
    const unit = 10n ** BigInt(this.genesis.assets[asset]?.scale ?? 0)
    const dice = this.below(100)
    const lot = this.genesis.pairs.find(({ base }) => base === asset)?.lotAtoms ?? unit
    if (dice < 35) return (BigInt(this.below(30_000)) * unit) / 1000n
    if (dice < 60) return BigInt(this.below(16)) * lot
    if (dice < 80) return (BigInt(this.below(2_000_000)) * unit) / 1000n
    if (dice < 92) return BigInt(this.below(40))
    return this.pick([0n, -1n, -2n, MOST, MOST + 1n, -MOST, 1n << 62n])
  }

  private transfer(asset: number): Decoded {
    const keyed = this.below(6) === 0
    return {
      flags: keyed ? Option.KEYED : 0, toSub: this.below(3) === 0 ? 0 : this.below(3) + 1, amount: this.atoms(asset),
      key: keyed ? hex(`key ${this.below(12)}`, 16) : '', payload: keyed ? hex(`payload ${this.below(2)}`, 16) : '',
    }
  }

  private limit(asset: number): Decoded {
    const changes = [LimitChange.CREATE, LimitChange.CREATE, LimitChange.CREATE, LimitChange.UPDATE, LimitChange.UPDATE, LimitChange.DELETE]
    const change = this.below(100) === 0 ? this.pick([-1, 3]) : this.pick(changes)
    const dailyLimit = this.below(3) === 0 ? -1n : this.atoms(asset) * (this.below(3) === 0 ? 2n : 1n)
    const active = this.below(6) === 0 ? 0 : this.below(2) + 1
    return { change, fields: this.below(8), maxAmount: this.atoms(asset), dailyLimit, active }
  }
}
