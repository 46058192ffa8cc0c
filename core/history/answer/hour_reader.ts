/** Accounts as they were by the hour, from the pages of the store (project/accounts.ts). */
import type { Genesis } from '../../state/genesis.ts'
import { hourWords, partIn, PARTS_MOST, stateWords, TALLY_WORDS } from '../project/accounts.ts'
import { createPageReader, type CheckedStore } from '../store/page_reader.ts'

export interface HourReader {
  /** Tallies and holdings of `account` as they stood before `hour`; `null`: it had nothing yet. */
  before(account: number, hour: number): BigInt64Array | null
  /** The tallies alone. */
  talliesBefore(account: number, hour: number): BigInt64Array | null
  /** The first hour in which something happened to it. */
  first(account: number): number | null
  /** The store may have changed, and was told so. */
  forget(): void
}

export function createHourReader(store: CheckedStore, genesis: Genesis): HourReader {
  const { firstAssets, limits: { assets } } = genesis
  const hours = createPageReader(store, 'account_hour_page', hourWords(genesis))
  const parts = createPageReader(store, 'holding_hour_page')
  const { f64, i64 } = hours.views

  /** 64-bit word of the newest record before `hour`; -1: there is none. */
  const newestBefore = (account: number, hour: number): number => {
    const number = hours.search(account, hours.count(account), (at) => f64[at >>> 1]! < hour) - 1
    return number < 0 ? -1 : hours.locate(account, number) >>> 1
  }
  /** Fills in what the account held at the end of `hour` of assets behind the first ones. */
  const addParts = (state: BigInt64Array, account: number, hour: number): void => {
    const count = parts.count(account)
    const begin = parts.search(account, count, (at) => parts.views.f64[at >>> 1]! < hour)
    for (let part = 0; part < PARTS_MOST && begin + part < count; part++) {
      const at = parts.locate(account, begin + part) >>> 1
      if (parts.views.f64[at] !== hour) return
      const [from, words] = partIn(state.length, genesis, part)
      state.set(parts.views.i64.subarray(at + 1, at + 1 + words), from)
    }
  }
  return {
    before: (account, hour) => {
      const at = newestBefore(account, hour)
      if (at < 0) return null
      const state = new BigInt64Array(stateWords(assets))
      state.set(i64.subarray(at + 1, at + 1 + stateWords(firstAssets)))
      if (assets > firstAssets) addParts(state, account, f64[at]!)
      return state
    },
    talliesBefore: (account, hour) => {
      const at = newestBefore(account, hour)
      return at < 0 ? null : i64.slice(at + 1, at + 1 + TALLY_WORDS)
    },
    first: (account) => (hours.count(account) === 0 ? null : f64[hours.locate(account, 0) >>> 1]!),
    forget: () => {
      hours.forget()
      parts.forget()
    },
  }
}
