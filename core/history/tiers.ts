/**
 * Fee tiers: which accounts have earned another tier than the engine gives them.
 *
 * Volume is that of 30 UTC days up to and including today, as taker and maker, in the asset of the genesis' fee tiers; the days are those
 * of the sequenced time. Looked at are the accounts that traded since the last time and, at the first look and on every new
 * day, all of them, some thousands at a time. Nothing is changed here: a change is a command of the operator.
 */
import { ACCOUNT, CLOCK, SCALAR } from '../state/columns.ts'
import { accountRow, get } from '../state/rows.ts'
import type { TierChange } from '../threads.ts'
import { HOUR_MS, TALLY, wideAt } from './project/accounts.ts'
import { CheckedStore } from './store/page_reader.ts'
import { createHourReader } from './answer/hour_reader.ts'
import type { Projection } from './project/projection.ts'

const DAY_HOURS = 24
const DAYS = 30
/** Accounts looked at per call, and changes it may come to. */
const SLICE = 2_000

export interface TierWatch {
  /** Begins a look at what changed since the last one. */
  begin(): void
  /** Looks on; the changes found. Call until {@link TierWatch.pending} is 0. */
  look(): TierChange[]
  /** Accounts still to be looked at. */
  readonly pending: number
}

export function createTierWatch(projection: Pick<Projection, 'state' | 'genesis' | 'projector' | 'database'>): TierWatch {
  const { state, genesis, database } = projection
  const { tiers } = genesis.feeTiers
  const store = new CheckedStore(database)
  const hours = createHourReader(store, genesis)
  let day = -1
  let queue: number[] = []
  /** Accounts whose change was told since the last look: it may be lost on its way to the engine, so they are looked at again. */
  let told: number[] = []

  const tierOf = (account: number): number => {
    const since = (day - DAYS + 1) * DAY_HOURS
    const { accounts } = projection.projector
    const row = accounts.look(account)
    const then = hours.talliesBefore(account, since)
    const volume = wideAt(accounts.rows, row + TALLY.VOLUME) - (then === null ? 0n : wideAt(then, TALLY.VOLUME))
    return tiers.findLastIndex((tier) => tier.minVolumeAtoms <= volume)
  }
  return {
    begin: () => {
      if (tiers.length === 1) return projection.projector.traded.clear()
      const today = Math.floor(state.clock[CLOCK.TIME]! / (DAY_HOURS * HOUR_MS))
      const { traded } = projection.projector
      const accounts = new Set(today === day ? [...queue, ...told, ...traded] : Array(state.scalars[SCALAR.ACCOUNTS]!).keys())
      day = today
      projection.projector.traded.clear()
      queue = [...accounts]
      told = []
    },
    look: () => {
      store.forget()
      hours.forget()
      return queue.splice(0, SLICE).flatMap((account) => {
        const tier = tierOf(account)
        if (tier === get(state, accountRow(state, account), ACCOUNT.TIER)) return []
        told.push(account)
        return [{ account, tier }]
      })
    },
    get pending() {
      return queue.length
    },
  }
}
