/**
 * The builder-codes program in the streams of workload.ts and workload_margin.ts: an operator who enrolls applications, sets cap, switches
 * and share, payout wallets that change what is added, and all others who try to. It has a random stream of its own, so that what others
 * draw is as it was without it.
 */
import { CommandType } from '../../core/layout/command.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import type { Command } from './workload_margin_known.ts'
import type { World } from './workload_waiting.ts'

const HOUR = 3_600_000

export class BuilderWorkload {
  private readonly genesis: Genesis
  private readonly random: Prng
  /** Accounts that the operator enrolled. */
  private readonly payouts: number[] = []
  private begun = 0

  constructor(seed: number, genesis: Genesis) {
    this.genesis = genesis
    this.random = createPrng(seed + 0x6b1d)
  }

  private readonly below = (n: number): number => this.random.below(n)
  private readonly pick = <T>(list: readonly T[]): T => list[this.below(list.length)]!

  /** A command of the program, or what `other` gives; ms that pass with it. */
  command(world: World, other: () => Command): Command {
    const accounts = world.accounts()
    const soon = this.begun < 3
    if (accounts.length === 0 || this.below(soon ? 30 : 100) >= 4) return other()
    const dice = soon ? this.begun++ : this.below(30)
    if (dice === 0) return { type: CommandType.SET_BUILDER_PROGRAM, values: { session: -1, ...this.program() } }
    if (dice <= 3) return { type: CommandType.ENROLL_APPLICATION, values: { session: -1, ...this.enrollment(world, accounts) } }
    const payout = this.payouts.filter((account) => accounts.includes(account))
    const account = payout.length > 0 && this.below(8) !== 0 ? payout.at(-1)! : this.pick(accounts)
    return { type: CommandType.SET_BUILDER_FEE, values: { ...world.sign(account), bps: this.fee(), makerBps: this.pick([-1, this.fee()]) } }
  }

  /** Time that passes sometimes, so that changes are left again; ms. */
  pause(): number {
    return this.below(200) === 0 ? this.pick([HOUR, 11 * HOUR, 24 * HOUR]) : 0
  }

  private fee(): number {
    return this.pick([0, 1, 3, 10, 25, 60, 100, 100, this.below(104)])
  }

  private program(): { capBps: number; builderFees: number; revenueSharePpm: number } {
    return {
      capBps: this.pick([100, 100, 100, 50, 7, 0, 101]), builderFees: this.below(6) === 0 ? 0 : 1,
      revenueSharePpm: this.pick([0, 0, 1, 200_000, 999_999, 1_000_000, 1_000_001]),
    }
  }

  private enrollment(world: World, accounts: readonly number[]): Command['values'] {
    const application = this.below(12) === 0 ? this.pick([-1, 1, this.genesis.applications.length]) : 0
    const account = this.below(5) === 0 ? this.pick([-1, -1, this.genesis.limits.accounts - 1]) : this.pick(accounts)
    if (account >= 0) this.payouts.push(account)
    if (this.payouts.length > 8) this.payouts.shift()
    const created = account < 0 ? 0 : this.below(12) === 0 ? 1 : world.madeBy(account)
    return {
      application, account, createdSequence: created, active: this.below(6) === 0 ? 0 : 1, bps: this.pick([-1, this.fee()]),
      makerBps: this.pick([-1, this.fee()]),
    }
  }
}
