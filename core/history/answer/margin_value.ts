/**
 * What margin trading of an account was worth at the beginning of an hour, from its hours (project/exposures.ts): collateral, and what its
 * positions would have brought at the marks of that moment. By asset in which it is worth that, in atoms; a loss is less than nothing.
 */
import type { Genesis } from '../../state/genesis.ts'
import { HOUR_MS } from '../project/accounts.ts'
import { NO_PAIR } from '../project/exposures.ts'
import { MARGIN_HOUR, MARK_MINUTE } from '../store/margin_layout.ts'
import { createPageReader, type CheckedStore, type PageReader } from '../store/page_reader.ts'

const { at: H } = MARGIN_HOUR
const { at: M } = MARK_MINUTE

export interface MarginValueReader {
  /** Atoms of the collateral asset before `hour`; `null`: something had no mark. */
  before(account: number, hour: number): bigint | null
  /** The store may have changed, and was told so. */
  forget(): void
}

/** `marks`: mark_page. */
export function createMarginValueReader(store: CheckedStore, genesis: Genesis, marks: PageReader): MarginValueReader {
  const hours = createPageReader(store, 'margin_hour_page')
  /** Mark of a pair before `time`, ticks; 0: it had none. */
  const markOf = (pair: number, time: number): number => {
    const { f64, i32 } = marks.views
    const number = marks.search(pair, marks.count(pair), (at) => f64[(at + M.time) >>> 1]! < time) - 1
    return number < 0 ? 0 : i32[marks.locate(pair, number) + M.mark]!
  }
  return {
    before: (account, hour) => {
      const { f64, i32, i64 } = hours.views
      const end = hours.search(account, hours.count(account), (at) => f64[(at + H.hour) >>> 1]! < hour)
      let value = 0n
      let last = -1
      for (let number = end - 1; number >= 0; number--) {
        const at = hours.locate(account, number)
        const its = f64[(at + H.hour) >>> 1]!
        if (last >= 0 && its !== last) break
        last = its
        const [pair, lots, atoms] = [i32[at + H.pair]!, f64[(at + H.lots) >>> 1]!, i64[(at + H.atoms) >>> 1]!]
        if (pair === NO_PAIR) value += atoms
        // Long and short lots of a pair may be none together and have a cost all the same: a profit that is certain.
        else if (lots === 0) value -= atoms
        else {
          const mark = markOf(pair, hour * HOUR_MS)
          if (mark === 0) return null
          value += BigInt(lots) * BigInt(mark) * genesis.pairs[pair]!.tickLotAtoms - atoms
        }
      }
      return value
    },
    forget: () => hours.forget(),
  }
}
