/**
 * The builder-codes and the referral program, and money in and out, in the streams of workload.ts and workload_margin.ts, each where it was
 * asked for.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import type { Views } from '../../core/layout/table.ts'
import { BuilderWorkload } from './workload_builder.ts'
import type { Command } from './workload_margin_known.ts'
import type { WorkloadOptions } from './workload_options.ts'
import { ReferralWorkload } from './workload_referrals.ts'
import { VaultWorkload } from './workload_vault.ts'
import type { World } from './workload_waiting.ts'

export class ProgramWorkload {
  private readonly builder: BuilderWorkload | null
  private readonly referrals: ReferralWorkload | null
  private readonly vault: VaultWorkload | null

  constructor(seed: number, genesis: Genesis, { builder = false, referrals = false, vault = false }: WorkloadOptions) {
    this.builder = builder ? new BuilderWorkload(seed, genesis) : null
    this.referrals = referrals ? new ReferralWorkload(seed, genesis) : null
    this.vault = vault ? new VaultWorkload(seed, genesis) : null
  }

  /** A command of one of them, or what `other` gives. `made`: sequences that made accounts, by row. */
  command(world: World, made: ReadonlyMap<number, number>, other: () => Command): Command {
    const build = (): Command => this.builder?.command(world, other) ?? other()
    const bring = (): Command => this.referrals?.command(world, made, build) ?? build()
    return this.vault?.command(world, bring) ?? bring()
  }

  /** Time that passes sometimes, ms. */
  pause(): number {
    return (this.builder?.pause() ?? 0) + (this.vault?.pause() ?? 0)
  }

  /** Takes notice of the events of one command. */
  learn(events: Views, count: number): void {
    this.referrals?.learn(events, count)
    this.vault?.learn(events, count)
  }
}
