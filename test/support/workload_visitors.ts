/** The part of the workload in which wallets just look in: they sign in, refresh and sign out, while days pass; see workload.ts. */
import type { Prng } from '../../core/lib/prng.ts'

const HOUR = 3_600_000

/** The last `most` of `clients` clients; none: the stream is as it was without them. */
export class Visitors {
  private readonly random: Prng
  private readonly first: number
  private readonly last: number

  constructor(random: Prng, clients: number, most = 0) {
    this.random = random
    this.first = clients - most
    this.last = clients - 1
  }

  has(client: number): boolean {
    return client >= this.first && client <= this.last
  }

  /** Application of a client that would be in the first. */
  applicationOf(client: number): number {
    return this.first <= this.last && client % 3 === 2 ? 1 : 0
  }

  /** Milliseconds until the next command. */
  pause(): number {
    if (this.first > this.last || this.random.below(2) === 0) return 0
    return this.random.below(this.random.below(10) === 0 ? 8 * HOUR : HOUR)
  }

  /** What one of them does; null: what everybody does. */
  visit(): 'open' | 'rules' | 'refresh' | 'revoke' | 'cancel' | null {
    const dice = this.random.below(100)
    if (dice < 20) return 'open'
    if (dice === 20) return 'rules'
    if (dice < 40) return 'refresh'
    if (dice < 55) return 'revoke'
    return dice < 98 ? 'cancel' : null
  }
}
