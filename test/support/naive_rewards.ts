/** Referral rewards as a history must tell them: added up from the events, one by one, nothing left out. */
import type { HistoryReward, Queries } from '../../core/history/answer/queries.ts'
import { CREDIT, CreditSource, EventType, eventTypeOf, REFERRAL_REWARD } from '../../core/layout/event.ts'
import { decode, RECORD_WORDS, type Decoded, type Views } from '../../core/layout/table.ts'

/** Entries and sources that are told. */
export const TOLD = 100

/** What an account earned of another. */
interface Source {
  level: number
  time: number
  readonly earned: Map<number, bigint>
}
/** What an account earned, added up event by event. */
class Earned {
  readonly totals = new Map<string, { level: number; asset: number; amount: bigint }>()
  /** Oldest first. */
  readonly entries: HistoryReward[] = []
  /** By source, that of the newest reward last. */
  readonly sources = new Map<number, Source>()
  /** Taken of it, by the CREDIT events. */
  readonly taken: [asset: number, amount: bigint][] = []

  add(reward: HistoryReward): void {
    const { level, asset, amount, source, time } = reward
    this.entries.push(reward)
    const total = this.totals.get(`${level} ${asset}`) ?? { level, asset, amount: 0n }
    this.totals.set(`${level} ${asset}`, total)
    total.amount += amount
    const { earned } = this.sources.get(source) ?? { earned: new Map<number, bigint>() }
    this.sources.delete(source)
    this.sources.set(source, { level, time, earned })
    earned.set(asset, (earned.get(asset) ?? 0n) + amount)
  }

  rewards(): Queries['rewards']['answer'] {
    return { totals: [...this.totals.values()], entries: this.entries.slice(-TOLD).reverse() }
  }

  rewardSources(): Queries['rewardSources']['answer'] {
    const sources = [...this.sources].slice(-TOLD).reverse().map(([source, { level, time, earned }]) =>
      ({ source, level, time, earned: [...earned].map(([asset, amount]) => ({ asset, amount })) }))
    return { totals: [...this.totals.values()], sources }
  }
}

export class NaiveRewards {
  /** Of all accounts. */
  count = 0
  readonly #accounts = new Map<number, Earned>()

  of(account: number): Earned {
    const known = this.#accounts.get(account) ?? new Earned()
    this.#accounts.set(account, known)
    return known
  }

  take(records: Views): void {
    for (let base = 0; base < records.i32.length; base += RECORD_WORDS) {
      const type = eventTypeOf(records.u32[base]!)
      if (type === EventType.REFERRAL_REWARD) this.reward(decode(REFERRAL_REWARD, records, base))
      if (type === EventType.CREDIT) this.#credit(decode(CREDIT, records, base))
    }
  }

  /** REFERRAL_REWARD. */
  reward(event: Decoded): void {
    const n = (name: string): number => Number(event[name])
    for (const [place, level] of ['first', 'second', 'third'].entries()) {
      const amount = event[`${level}Amount`] as bigint
      if (amount === 0n) continue
      this.count++
      this.of(n(level)).add({
        sequence: n('sequence'), index: n('index'), time: n('time'), level: place + 1, source: n('source'), asset: n('asset'), amount,
      })
    }
  }

  #credit(event: Decoded): void {
    if (event['source'] !== CreditSource.REFERRAL_REWARD) return
    this.of(Number(event['account'])).taken.push([Number(event['asset']), event['amount'] as bigint])
  }
}
