/**
 * Copy trading, in the streams of workload_margin.ts: leaders that come and go, follows of all sizes, their updates and stops, and steps of
 * the sequencer when nothing is due. It has a random stream of its own, so that what others draw is as it was without it; and it learns
 * from events as a client would.
 */
import { CommandType } from '../../core/layout/command.ts'
import { FOLLOW_CHANGED, FollowState, followStateOf } from '../../core/layout/copying.ts'
import { EventType, eventTypeOf } from '../../core/layout/event.ts'
import { decode, RECORD_WORDS, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import type { Command } from './workload_margin_known.ts'
import type { World } from './workload_waiting.ts'

const HANDLES = ['Alpha', 'alpha', 'beta_2', 'BETA_2', 'gam-ma', 'delta-of-24-bytes-no-less', 'del', 'epsilon']
const BAD = ['', 'ab', 'has space', 'dot.ted', 'x'.repeat(24)]
/** Of these so many in a hundred commands. */
const OFTEN = 14

interface Known { row: number; sequence: number; account: number; allocation: bigint }

export class CopyWorkload {
  private readonly unit: bigint
  private readonly random: Prng
  /** Of the operator's switch. */
  private readonly switches: Prng
  private on = true
  private readonly follows = new Map<number, Known>()

  constructor(seed: number, genesis: Genesis) {
    const collateral = genesis.pairs.find(({ perp }) => perp !== null)!.quote
    this.unit = 10n ** BigInt(genesis.assets[collateral]!.scale)
    this.random = createPrng(seed * 6007 + 5)
    this.switches = createPrng(seed * 6011 + 7)
  }

  private below(n: number): number {
    return this.random.below(n)
  }

  private readonly chance = (n: number, of: number): boolean => this.below(of) < n
  private readonly pick = <T>(list: readonly T[]): T => list[this.below(list.length)]!

  /** One of these, or null. */
  command(world: World): Command | null {
    const accounts = world.accounts()
    if (this.below(100) >= OFTEN || accounts.length === 0) return null
    const account = this.pick(accounts)
    const dice = this.below(100)
    if (this.switches.below(this.on ? 150 : 6) === 0) {
      // Now and then it is set to what it is.
      if (this.switches.below(8) !== 0) this.on = !this.on
      return { type: CommandType.SET_COPY_PROGRAM, values: { session: -1, on: this.on ? 1 : 0 } }
    }
    // A few lead and the others follow, mostly.
    const leads = account % 3 === 0
    if (dice < 16) return leads !== this.chance(1, 12) ? this.register(world, account) : this.create(world, account)
    if (dice < 20) return { type: CommandType.RELEASE_LEADER, values: world.sign(account) }
    if (dice < 48) return leads !== this.chance(1, 15) ? null : this.create(world, account)
    const known = [...this.follows.values()]
    const follow = known.length === 0 ? { row: this.below(3) - 1, sequence: 3, account, allocation: 0n } : this.pick(known)
    if (dice < 70) return this.update(world, follow)
    if (dice < 82) return { type: CommandType.STOP_FOLLOW, values: { ...this.signed(world, follow), ...this.named(follow) } }
    // Who follows does not lead.
    if (dice < 84) return this.register(world, follow.account)
    return { type: CommandType.COPY_STEP, values: { session: -1, work: this.below(2) } }
  }

  private handle(): Decoded {
    const text = this.chance(1, 15) ? this.pick(BAD) : this.pick(HANDLES)
    const bytes = Buffer.from(text).subarray(0, 24)
    return { length: this.chance(1, 60) ? 5 : bytes.length, handle: bytes.toString('hex').padEnd(48, '0') }
  }

  private register(world: World, account: number): Command {
    return { type: CommandType.REGISTER_LEADER, values: { ...world.sign(account), ...this.handle() } }
  }

  private size(): bigint {
    if (this.chance(1, 25)) return this.pick([-1n, 0n, 1n, 2n ** 62n])
    return this.unit * BigInt(this.pick([9, 10, 100, 1000, 5000, 20_000])) + BigInt(this.below(1000))
  }

  private create(world: World, account: number): Command {
    const maxLeverage = this.chance(1, 2) ? 0 : this.pick([50, 100, 300, 1000, 5000])
    const values = { mode: this.below(2), allocation: this.size(), maxLeverage }
    return { type: CommandType.CREATE_FOLLOW, values: { ...world.sign(account), ...this.handle(), ...values } }
  }

  private signed(world: World, { account }: Known): Decoded {
    return world.sign(this.chance(1, 30) ? this.pick(world.accounts()) : account)
  }

  private named({ row, sequence }: Known): Decoded {
    return { follow: row, createdSequence: this.chance(1, 40) ? sequence + 1 : sequence }
  }

  private update(world: World, follow: Known): Command {
    const allocation = this.chance(1, 3) ? this.size() : (follow.allocation * BigInt(50 + this.below(120))) / 100n
    const values = { fields: this.below(4), state: 1 + this.below(2), allocation }
    return { type: CommandType.UPDATE_FOLLOW, values: { ...this.signed(world, follow), ...this.named(follow), ...values } }
  }

  /** Takes notice of the events of one command. */
  learn(events: Views, count: number): void {
    for (let record = 0; record < count; record++) {
      const base = record * RECORD_WORDS
      if (eventTypeOf(events.u32[base]!) !== EventType.FOLLOW) continue
      const { follow, createdSequence, account, allocation, what } = decode(FOLLOW_CHANGED, events, base)
      const row = Number(follow)
      if (followStateOf(Number(what)) === FollowState.STOPPED) this.follows.delete(row)
      else this.follows.set(row, { row, sequence: Number(createdSequence), account: Number(account), allocation: BigInt(allocation!) })
    }
  }
}
