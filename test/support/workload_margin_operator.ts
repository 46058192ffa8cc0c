/**
 * The operator of workload_margin.ts: index prices that wander, jump, gap, freeze and go stale; perpetuals that only reduce, settle and
 * trade again; forced marks and caps; maintenance; fee tiers of accounts.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import { CommandType } from '../../core/layout/command.ts'
import { PerpSetting } from '../../core/layout/margin.ts'
import type { Decoded } from '../../core/layout/table.ts'
import type { Prng } from '../../core/lib/prng.ts'
import type { Command } from './workload_margin_known.ts'

const MINUTE = 60_000

/** Commands of the first lane. */
export const OPERATORS: ReadonlySet<CommandType> = new Set([
  CommandType.SET_INDEX_PRICE, CommandType.SET_PERP, CommandType.FUND_INSURANCE, CommandType.SET_MAINTENANCE, CommandType.LIQUIDATION_STEP,
  CommandType.FUNDING_STEP, CommandType.SETTLEMENT_STEP, CommandType.SET_FEE_TIER, CommandType.EXPIRE_CONDITIONAL, CommandType.TRIGGER_STEP,
  CommandType.TWAP_STEP, CommandType.SET_PAIR_STATUS, CommandType.CANCEL_ACCOUNT_ORDERS,
])

export class MarginOperator {
  /** Index that it believes in, by pair. */
  readonly index: number[]
  maintenance = false
  private readonly genesis: Genesis
  private readonly random: Prng
  /** No prices come until then. */
  private frozen = 0
  /** PerpMode by pair, as it was told. */
  private readonly modes: number[] = []

  constructor(genesis: Genesis, random: Prng) {
    this.genesis = genesis
    this.random = random
    this.index = genesis.pairs.map(({ perp }) => perp?.reference ?? 0)
  }

  private below(n: number): number {
    return this.random.below(n)
  }

  private readonly chance = (n: number, of: number): boolean => this.below(of) < n
  private readonly pick = <T>(list: readonly T[]): T => list[this.below(list.length)]!

  /** The next index price of `pair`: mostly near, sometimes far; null: none for a while. */
  price(pair: number, time: number): Command | null {
    if (this.frozen > time) return null
    if (this.chance(1, 120)) this.frozen = time + this.below(3 * MINUTE)
    const { reference } = this.genesis.pairs[pair]!.perp!
    const dice = this.below(100)
    const parts = dice < 62 ? 300 : dice < 84 ? 2500 : dice < 96 ? 9000 : 30_000
    const moved = Math.round(this.index[pair]! * (1 + (this.random.unit() - 0.5) * 2 * (parts / 100_000)))
    // It comes back to where it began, so that nothing runs to an end of the grid.
    const pulled = moved + Math.round((reference - moved) / 200)
    const price = this.chance(1, 80) ? this.pick([0, -1, this.genesis.limits.priceTicks]) : Math.max(2, pulled)
    // Most large steps are beyond the bound, so most are forced.
    const force = this.chance(2, 3) ? 1 : 0
    const source = this.chance(1, 100) ? 4 : this.below(4)
    return {
      type: CommandType.SET_INDEX_PRICE,
      values: { session: -1, pair: this.chance(1, 100) ? this.below(6) - 1 : pair, price, source, force, observedAt: time - 5 },
    }
  }

  /** A perpetual that does not trade as usual trades again; null: all do. */
  tradesAgain(): Command | null {
    const odd = this.modes.findIndex((mode) => mode === 1 || mode === 3)
    return odd < 0 ? null : this.setMode(odd, 0)
  }

  /** A perpetual is delisted at a price near its index, or trades again. */
  setMode(pair: number, mode: number): Command {
    const price = mode === 2 ? this.around(pair, 40) : 0
    return { type: CommandType.SET_PERP, values: { session: -1, pair, setting: PerpSetting.MODE, value: mode, price, number: 0 } }
  }

  setPerp(perps: readonly number[], time: number): Command {
    const pair = this.chance(1, 20) ? this.below(6) - 1 : this.pick(perps)
    const setting = this.below(5)
    const values: Decoded = { session: -1, pair, setting, value: 0, price: 0, number: 0 }
    if (setting === PerpSetting.MODE) values['value'] = this.pick([0, 0, 1, 2, 3, 4, -1])
    else if (setting === PerpSetting.OPEN_CAP) values['number'] = this.pick([0, 0, 0, 0, 200, 200_000])
    else if (setting === PerpSetting.FUND_COVER) {
      const cover = { value: this.pick([1e6, 1e6, 250_000, 0, -1, 1_000_001]), number: this.pick([1e15, 1e15, 5e7, 0, -1, 0.5]) }
      Object.assign(values, cover)
    } else if (setting === PerpSetting.JUMP_WINDOW) values['value'] = this.pick([60, 60, 10, 0, -1, 3601])
    else Object.assign(values, { value: this.chance(1, 2) ? 0 : this.around(pair, 60), number: time + this.below(2 * MINUTE) })
    return { type: CommandType.SET_PERP, values }
  }

  setMaintenance(on: number): Command {
    this.maintenance = on === 1
    return { type: CommandType.SET_MAINTENANCE, values: { session: -1, on } }
  }

  /** Another fee tier for an account, from which its next orders are charged. */
  setFeeTier(accounts: readonly number[]): Command {
    const { tiers } = this.genesis.feeTiers
    const account = this.chance(1, 30) || accounts.length === 0 ? this.pick([-1, this.genesis.limits.accounts]) : this.pick(accounts)
    const tier = this.chance(1, 30) ? this.pick([-1, tiers.length]) : this.below(tiers.length)
    return { type: CommandType.SET_FEE_TIER, values: { session: -1, account, tier, createdSequence: 0 } }
  }

  /** A price near the index of a pair. */
  around(pair: number, range: number): number {
    const at = this.index[pair] ?? 100
    const step = Math.max(1, Math.round(at / 5000))
    return Math.max(1, at + step * (this.below(2 * range + 1) - range))
  }

  learnMark({ pair, index, mode }: Decoded): void {
    this.index[Number(pair)] = Number(index) || this.index[Number(pair)]!
    this.modes[Number(pair)] = Number(mode)
  }
}
