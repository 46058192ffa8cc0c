/**
 * Launches and leases in the stream of workload.ts: launches that are added, changed and ended, good and bad, and claims of their makers.
 * It has a random stream of its own, so that what others draw is as it was without it.
 */
import { CommandType } from '../../core/layout/command.ts'
import { answeredTypeOf, EventType, eventTypeOf, RESULT } from '../../core/layout/event.ts'
import { decode, RECORD_WORDS, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import type { World } from './workload_waiting.ts'

type Command = { type: CommandType; values: Decoded }

interface Known { id: string; account: number; generation: number; ended: boolean }

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')
const ENDED = 3
/** Commands of the first lane. */
export const LAUNCH_COMMANDS: ReadonlySet<CommandType> = new Set([CommandType.SET_LAUNCH])

export class LaunchWorkload {
  private readonly genesis: Genesis
  private readonly random: Prng
  private readonly known: Known[] = []
  private names = 0
  /** The launch that the command in flight is about. */
  private asked = ''

  constructor(seed: number, genesis: Genesis) {
    this.genesis = genesis
    this.random = createPrng(seed * 6151 + 80)
  }

  private below(n: number): number {
    return this.random.below(n)
  }

  private readonly chance = (n: number, of: number): boolean => this.below(of) < n
  private readonly pick = <T>(list: readonly T[]): T => list[this.below(list.length)]!

  /** The next command when it is one of these. */
  command(world: World): Command | null {
    const accounts = world.accounts()
    if (accounts.length === 0 || !this.chance(1, 9)) return null
    const open = this.known.filter(({ ended }) => !ended)
    if (open.length === 0 || this.chance(1, 12)) return this.add(world, accounts)
    const launch = this.chance(1, 20) ? this.pick(this.known) : this.pick(open)
    return this.chance(1, 7) ? this.change(world, accounts, launch) : this.claim(world, accounts, launch)
  }

  private maker(world: World, accounts: readonly number[]): Decoded {
    const account = this.chance(1, 30) ? this.pick([-1, 9999]) : this.pick(accounts)
    return { account, createdSequence: this.chance(1, 30) ? 3 : world.madeBy(account) }
  }

  private add(world: World, accounts: readonly number[]): Command {
    const again = this.known.length > 0 && this.chance(1, 15)
    const id = again ? this.pick(this.known).id : this.chance(1, 30) ? this.pick(['', 'a b']) : `launch-${this.names++}`
    this.asked = id
    const values = {
      pair: this.chance(1, 30) ? -1 : this.below(this.genesis.pairs.length), ...this.maker(world, accounts),
      phase: this.chance(1, 15) ? this.pick([-1, ENDED]) : this.below(ENDED), leaseMs: this.length(), isNew: 1,
      generation: this.chance(1, 30) ? 2 ** 41 : this.below(5), launchId: hex(id, 40),
    }
    return { type: CommandType.SET_LAUNCH, values: { session: -1, ...values } }
  }

  private length(): number {
    return this.chance(1, 20) ? this.pick([-1, 0, 999, 3_600_001]) : this.pick([1000, 5000, 60_000, 3_600_000])
  }

  private change(world: World, accounts: readonly number[], launch: Known): Command {
    this.asked = launch.id
    const moves = this.chance(1, 3)
    const values = {
      pair: this.chance(1, 30) ? 0 : -1, ...(moves ? this.maker(world, accounts) : { account: -1, createdSequence: 0 }),
      phase: this.chance(1, 6) ? ENDED : this.below(ENDED + 1) - 1, leaseMs: this.chance(1, 2) ? -1 : this.length(), isNew: 0,
      generation: 0, launchId: hex(this.chance(1, 30) ? 'nobody' : launch.id, 40),
    }
    return { type: CommandType.SET_LAUNCH, values: { session: -1, ...values } }
  }

  private claim(world: World, accounts: readonly number[], launch: Known): Command {
    this.asked = launch.id
    const by = this.chance(1, 8) ? this.pick(accounts) : launch.account
    const values = {
      expectedGeneration: this.chance(1, 6) ? this.below(9) : launch.generation,
      launchId: hex(this.chance(1, 40) ? 'nobody' : launch.id, 40),
      owner: hex(this.chance(1, 40) ? this.pick(['', 'a b', '\u00e4']) : this.pick(['one', 'two']), 64),
    }
    return { type: CommandType.CLAIM_LEASE, values: { ...world.sign(by), ...values } }
  }

  /** What became of the command that was asked last. */
  learn(events: Views, records: number): void {
    const { u32 } = events
    for (let record = 0; record < records; record++) {
      const base = record * RECORD_WORDS
      if (eventTypeOf(u32[base]!) !== EventType.RESULT) continue
      const type = answeredTypeOf(u32[base]!)
      if (type !== CommandType.SET_LAUNCH && type !== CommandType.CLAIM_LEASE) continue
      const { code, account, detail2, originalSequence } = decode(RESULT, events, base)
      if (code !== 0) continue
      this.take({ id: this.asked, account: Number(account), generation: Number(originalSequence), ended: detail2 === ENDED })
    }
  }

  private take(launch: Known): void {
    const at = this.known.findIndex(({ id }) => id === launch.id)
    if (at >= 0) this.known[at] = launch
    else this.known.push(launch)
  }
}
