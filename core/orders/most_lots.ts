/** How large one order may be that closes a position: a larger one is closed by several. */
import { Flag } from '../layout/command.ts'
import { bestOpposite } from '../book/match.ts'
import { NO_ASK, TERMS } from '../state/columns.ts'
import { MAX_NOTIONAL } from '../state/genesis.ts'
import { get, getF64, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** The most lots that one order that sells or buys on `pair` may have, with this limit or band in ticks. */
export function mostLots(state: State, pair: number, sells: boolean, limit: number): number {
  const terms = termsRow(state, pair)
  const best = bestOpposite(state, pair, sells ? Flag.SELL : 0)
  const highest = sells && best !== NO_ASK && best > limit ? best : limit
  const byValue = Math.floor(MAX_NOTIONAL / (highest * getF64(state, terms, TERMS.TICK_LOT_ATOMS_F64)))
  return Math.min(get(state, terms, TERMS.MAX_LOTS), byValue)
}
