/** Rows of copy trading, of the engine and of the naive exchange: each as a reader sees it. See margin_duel.ts, naive_compare.ts. */
import { isClosing } from '../../core/programs/copy_closing.ts'
import { COPYING, FOLLOW, FOLLOW_PAIR, LEAD, LEADER } from '../../core/state/copy_rows.ts'
import { PERP_TERMS } from '../../core/state/margin_rows.ts'
import {
  copyingRow, followPairRow, followRow, get, getF64, getI64, leaderRow, leadRow, perpTermsRow,
} from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import type { NaiveExchange } from './naive.ts'
import { Differs } from './naive_compare.ts'
import { followersOf, leadLots, type Follow } from './naive_copies.ts'
import { isPerp } from './naive_margin.ts'

const same = (what: string, engine: unknown, expected: unknown): void => {
  if (String(engine) !== String(expected)) throw new Differs(`${what}: engine ${String(engine)}, naive ${String(expected)}`)
}

/** Every leader and follow, and what waits to be mirrored. */
export function compareCopies(state: State, naive: NaiveExchange): void {
  const { leaders, follows, leads, closing } = naive.copies
  const copying = copyingRow(state)
  same('leaders', get(state, copying, COPYING.LEADERS), leaders.length)
  same('follows', get(state, copying, COPYING.FOLLOWS), follows.length)
  const pairs = naive.genesis.pairs.map(({ index }) => index).filter((pair) => isPerp(naive, pair))
  const { perps } = naive.genesis.limits
  const numberOf = (pair: number): number => get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER)
  for (const leader of leaders) {
    const row = leaderRow(state, leader.row)
    same(`state of leader ${leader.row}`, get(state, row, LEADER.STATE), leader.state)
    const theirs = followersOf(naive, leader)
    same(`followers of leader ${leader.row}`, get(state, row, LEADER.FOLLOWERS), theirs.length)
    const sum = theirs.reduce((all, { allocation }) => all + allocation, 0n)
    same(`atoms that follow leader ${leader.row}`, getI64(state, row, LEADER.ALLOCATED), sum)
    for (const pair of pairs) {
      const lead = leadRow(state, leader.row * perps + numberOf(pair) - 1)
      same(`lots of leader ${leader.row} of ${pair}`, getF64(state, lead, LEAD.LOTS), leadLots(naive, leader, pair))
      const waits = leads.find((each) => each.leader === leader && each.pair === pair)
      same(`price of leader ${leader.row} of ${pair}`, get(state, lead, LEAD.PRICE), leader.prices.get(pair) ?? 0)
      same(`leader ${leader.row} waits with ${pair}`, get(state, lead, LEAD.WAITS), waits === undefined ? 0 : 1)
      same(`where the walk of leader ${leader.row} stands`, get(state, lead, LEAD.CURSOR) - 1, waits?.cursor?.row ?? -1)
    }
  }
  for (const follow of follows) {
    const row = followRow(state, follow.row)
    same(`state of follow ${follow.row}`, get(state, row, FOLLOW.STATE), follow.state)
    same(`margin account of follow ${follow.row}`, get(state, row, FOLLOW.MARGIN_ACCOUNT), follow.margin.row)
    same(`allocation of follow ${follow.row}`, getI64(state, row, FOLLOW.ALLOCATION), follow.allocation)
    same(`until when ${follow.row} waits for a price`, getF64(state, row, FOLLOW.OPEN_UNTIL), follow.openUntil)
    same(`what slippage cost follow ${follow.row}`, getI64(state, row, FOLLOW.SLIPPAGE_COST), follow.slippageCost)
    compareLast(state, row, follow)
    const queue = closing.findIndex((each) => each.includes(follow))
    same(`whether follow ${follow.row} has something to close`, isClosing(state, row), queue >= 0)
    if (queue >= 0) {
      same(`pause of follow ${follow.row}`, get(state, row, FOLLOW.CLOSE_QUEUE), queue)
      same(`when follow ${follow.row} is looked at`, getF64(state, row, FOLLOW.CLOSE_AT), follow.closeAt)
    }
    for (const pair of pairs) {
      const seen = followPairRow(state, follow.row, perps, numberOf(pair))
      same(`what follow ${follow.row} saw of ${pair}`, getF64(state, seen, FOLLOW_PAIR.SEEN), follow.seen.get(pair))
      same(`what is left of ${pair} for ${follow.row}`, getI64(state, seen, FOLLOW_PAIR.RESIDUAL), follow.residual.get(pair) ?? 0n)
    }
  }
}

/** The last order of a follow that traded. */
function compareLast(state: State, row: number, { lastCopy, row: number }: Follow): void {
  const engine = [FOLLOW.COPY_PAIR, FOLLOW.COPY_LOTS, FOLLOW.REFERENCE, FOLLOW.SLIPPAGE].map((word) => get(state, row, word))
  const { pair, lots, reference, slippage, at } = lastCopy ?? { pair: -1, lots: 0, reference: 0, slippage: 0, at: 0 }
  same(`last copy of ${number}`, [...engine, getF64(state, row, FOLLOW.COPIED_AT)], [pair + 1, lots, reference, slippage, at])
}
