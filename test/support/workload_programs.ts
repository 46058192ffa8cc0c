/** The builder-codes and the referral program in the streams of workload.ts and workload_margin.ts, each where it was asked for. */
import type { Genesis } from '../../core/state/genesis.ts'
import type { Views } from '../../core/layout/table.ts'
import { BuilderWorkload } from './workload_builder.ts'
import type { Command } from './workload_margin_known.ts'
import type { WorkloadOptions } from './workload_options.ts'
import { ReferralWorkload } from './workload_referrals.ts'
import type { World } from './workload_waiting.ts'

export class ProgramWorkload {
  private readonly builder: BuilderWorkload | null
  private readonly referrals: ReferralWorkload | null

  constructor(seed: number, genesis: Genesis, { builder = false, referrals = false }: WorkloadOptions) {
    this.builder = builder ? new BuilderWorkload(seed, genesis) : null
    this.referrals = referrals ? new ReferralWorkload(seed, genesis) : null
  }

  /** A command of one of them, or what `other` gives. `made`: sequences that made accounts, by row. */
  command(world: World, made: ReadonlyMap<number, number>, other: () => Command): Command {
    const build = (): Command => this.builder?.command(world, other) ?? other()
    return this.referrals?.command(world, made, build) ?? build()
  }

  /** Time that passes sometimes, ms. */
  pause(): number {
    return this.builder?.pause() ?? 0
  }

  /** Takes notice of the events of one command. */
  learn(events: Views, count: number): void {
    this.referrals?.learn(events, count)
  }
}
