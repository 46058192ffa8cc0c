/** The part of the workload in which the operator lists assets and pairs and changes terms; see workload.ts. */
import { RAISABLE } from '../../core/layout/limits.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import { CommandType, PairStatus } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import type { Prng } from '../../core/lib/prng.ts'

type Listed = { type: CommandType; values: Decoded }
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

export class ListingWorkload {
  readonly #genesis: Genesis
  readonly #random: Prng
  #named = 0

  /** `genesis`: with what is listed now. */
  constructor(genesis: Genesis, random: Prng) {
    this.#genesis = genesis
    this.#random = random
  }

  #below = (n: number): number => this.#random.below(n)
  #pick = <T>(list: readonly T[]): T => list[this.#below(list.length)]!

  command(): Listed {
    const dice = this.#below(10)
    if (dice === 0) return this.#asset()
    if (dice < 3) return this.#pair()
    if (dice < 6) return this.#open()
    return dice < 8 ? this.#terms() : this.#limits()
  }

  /** Mostly a new name, now and then one that is taken in another case, or none at all. */
  #name(taken: readonly { symbol: string }[], fresh: string): string {
    const dice = this.#below(12)
    if (dice === 0) return this.#pick(taken).symbol.toLowerCase()
    return dice === 1 ? this.#pick(['', 'a b', 'tab\t', 'ünicode']) : `${fresh}${++this.#named}`
  }

  #asset(): Listed {
    const { assets } = this.#genesis
    const decimals = this.#pick([0, 2, 3, 6, 18, 18, 19, -1])
    const scale = this.#pick([decimals, Math.min(decimals, 4), Math.min(decimals, 3), decimals + 1])
    const token = this.#below(10) === 0 ? this.#pick(assets).token.slice(2) : this.#random.u32().toString(16).padStart(40, 'c')
    const faucet = this.#pick([0n, 1n, 100_000n, 5_000_000n, -1n, 4_600_000_000_000_000_000n, 4_600_000_000_000_000_001n])
    const symbol = hex(this.#name(assets, 'T'), 16)
    return { type: CommandType.LIST_ASSET, values: { session: -1, decimals, scale, faucet, symbol, token } }
  }

  #pair(): Listed {
    const { assets, pairs } = this.#genesis
    const asset = (): number => this.#below(assets.length + (this.#below(12) === 0 ? 1 : 0))
    const values = {
      base: asset(), quote: asset(), priceScale: this.#below(4), tickUnits: this.#pick([1, 1, 5, 10, 0, 2_147_483_647]),
      lotScale: this.#below(4), lotUnits: this.#pick([1, 1, 1, 2, 25, 0]),
      symbol: hex(this.#name(pairs, 'P/'), 32), category: hex(this.#pick(['', 'major', 'a b']), 16),
    }
    // Drawn so wildly it is hardly ever good.
    const tame: Decoded = this.#below(2) === 0 ? {} : {
      base: this.#below(assets.length), priceScale: 0, tickUnits: 1, lotScale: 0, lotUnits: 1, symbol: hex(`P/${++this.#named}`, 32),
      category: hex('', 16), minLots: 1, maxLots: 1000, minNotional: 0n, makerPpm: 0, takerPpm: 500,
    }
    return { type: CommandType.LIST_PAIR, values: { session: -1, ...values, ...this.#changeable(), ...tame } }
  }

  /** What was listed is let through. */
  #open(): Listed {
    const pair = this.#below(this.#genesis.pairs.length)
    return { type: CommandType.SET_PAIR_STATUS, values: { session: -1, pair, status: PairStatus.ACTIVE } }
  }

  #changeable(): Decoded {
    const takerPpm = this.#pick([500, 600, 1000, 3000, 0, 50, -1, 20_000, 20_001])
    return {
      minLots: this.#pick([1, 1, 2, 10, 0, 100_000]), maxLots: this.#pick([100_000, 5000, 50, 2_147_483_647]),
      minNotional: this.#pick([0n, 0n, 10n, 1000n, -1n]), takerPpm,
      makerPpm: this.#pick([0, 100, -50, -takerPpm, -takerPpm - 1, 500, -20_001]),
    }
  }

  /** Mostly a little more of something; then, or not yet, the start that puts it in force. */
  #limits(): Listed {
    if (this.#below(3) === 0) return { type: CommandType.LIMITS_IN_FORCE, values: { session: -1 } }
    const limit = this.#below(RAISABLE.length)
    const now = this.#genesis.limits[RAISABLE[limit]![0]]
    const value = this.#pick([now + 1, now + 1 + this.#below(8), now, now - 1, 2 ** 40])
    return { type: CommandType.RAISE_LIMIT, values: { session: -1, limit: this.#below(20) === 0 ? -1 : limit, value } }
  }

  /** Half of the time one thing only, so that much is accepted. */
  #terms(): Listed {
    const { pairs } = this.#genesis
    const pair = this.#below(pairs.length + (this.#below(20) === 0 ? 1 : 0))
    const { minLots = 1, maxLots = 1, minNotionalAtoms = 0n, makerPpm = 0, takerPpm = 0 } = pairs[pair] ?? {}
    const now: Decoded = { minLots, maxLots, minNotional: minNotionalAtoms, makerPpm, takerPpm }
    const next = this.#changeable()
    const name = this.#pick(Object.keys(now))
    const values = this.#below(2) === 0 ? { ...now, [name]: next[name]! } : next
    return { type: CommandType.SET_PAIR_TERMS, values: { session: -1, pair, ...values } }
  }
}
