/**
 * The referral program in the streams of workload.ts and workload_margin.ts: sign-ins that name who brought them, mostly somebody who is
 * there, referrers that move what they earned, or more, and an operator who changes the shares. It has a random stream of its own, so that
 * what others draw is as it was without it, and it learns from events who earned what.
 */
import { CommandType, Option } from '../../core/layout/command.ts'
import { EventType, eventTypeOf, REFERRAL_REWARD } from '../../core/layout/event.ts'
import { decode, RECORD_WORDS, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import type { Command } from './workload_margin_known.ts'
import type { World } from './workload_waiting.ts'

const KNOWN_MOST = 40
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

interface Earned { account: number; asset: number; amount: bigint }

export class ReferralWorkload {
  private readonly genesis: Genesis
  private readonly random: Prng
  private readonly earned: Earned[] = []

  constructor(seed: number, genesis: Genesis) {
    this.genesis = genesis
    this.random = createPrng(seed + 0x7e5)
  }

  private readonly below = (n: number): number => this.random.below(n)
  private readonly pick = <T>(list: readonly T[]): T => list[this.below(list.length)]!

  /** A command of the program, or what `other` gives. `made`: sequences that made accounts, by row. */
  command(world: World, made: ReadonlyMap<number, number>, other: () => Command): Command {
    const accounts = world.accounts()
    const dice = this.below(1000)
    if (dice < 2) return { type: CommandType.SET_REFERRAL_SHARES, values: { session: -1, ...this.shares() } }
    if (dice < 30 && accounts.length > 0) return { type: CommandType.TRANSFER_REWARDS, values: this.transfer(world, accounts) }
    const { type, values } = other()
    return { type, values: type === CommandType.OPEN_SESSION ? { ...values, ...this.referrer(made) } : values }
  }

  /** The next who earned something moves it, or a part, or more; sometimes anybody tries. */
  private transfer(world: World, accounts: readonly number[]): Decoded {
    const known = this.earned.filter(({ account }) => accounts.includes(account))
    const anybody = { account: this.pick(accounts), asset: this.below(this.genesis.assets.length + 1), amount: BigInt(this.below(4)) }
    const { account, asset, amount } = known.length === 0 || this.below(6) === 0 ? anybody : this.pick(known)
    const share = this.pick([amount, amount, amount / 2n, amount + 1n, -amount, 2n ** 62n])
    const keyed = this.below(3) === 0
    const key = { key: hex(`reward ${this.below(4)}`, 16), payload: hex(`reward ${this.below(2)}`, 16) }
    return {
      ...world.sign(account), asset: Math.min(asset, this.genesis.limits.assets - 1), amount: share, options: keyed ? Option.KEYED : 0,
      ...(keyed ? key : {}),
    }
  }

  private shares(): Decoded {
    const [first, second, third] = this.pick([
      [200_000, 50_000, 25_000], [200_000, 50_000, 25_000], [0, 300_000, 100_000], [1_000_000, 0, 0], [333_333, 333_333, 333_334],
      [500_000, 500_000, 1], [1, 1, 1], [0, 0, 0],
    ])
    return { first: first!, second: second!, third: third! }
  }

  private referrer(made: ReadonlyMap<number, number>): Decoded {
    if (made.size === 0 || this.below(8) === 0) return {}
    const row = this.below(6) === 0 ? this.below(this.genesis.limits.accounts) : this.pick([...made.keys()])
    const sequence = this.below(12) === 0 ? this.below(200) : made.get(row) ?? 1
    return { referrer: row + 1, referrerSequence: sequence }
  }

  /** Takes notice of the events of one command. */
  learn(events: Views, count: number): void {
    for (let record = 0; record < count; record++) {
      const base = record * RECORD_WORDS
      if (eventTypeOf(events.u32[base]!) !== EventType.REFERRAL_REWARD) continue
      const event = decode(REFERRAL_REWARD, events, base)
      for (const level of ['first', 'second', 'third']) {
        this.earn(Number(event[level]), Number(event['asset']), BigInt(event[`${level}Amount`]!))
      }
    }
  }

  private earn(account: number, asset: number, amount: bigint): void {
    if (account < 0) return
    const known = this.earned.find((each) => each.account === account && each.asset === asset)
    if (known !== undefined) known.amount += amount
    else this.earned.push({ account, asset, amount })
    if (this.earned.length > KNOWN_MOST) this.earned.shift()
  }
}
