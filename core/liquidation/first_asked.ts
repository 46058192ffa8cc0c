/**
 * Who is asked before the insurance fund takes a position over, and before all others in auto-deleveraging:
 *
 *   1. those that the position was opened against within DELEVERAGE_MINUTES (margin/met.ts), the best score of the ranking first, ties: the
 *      lower row
 *   2. of the ranking (ranking.ts), in its order, those of the same family of accounts, and those that hold more than DELEVERAGE_PPM of all
 *      lots of the other side; 10^6: nobody is asked so
 *
 * So an owner of both sides has the gain of the one taken for the loss of the other, instead of the fund; and whoever makes most of a thin
 * market bears it with those who gain. Both are closed at the bankruptcy price, as every counterparty is. A command closes some of the
 * lots so, or goes on with the ranking, or finds that there is nobody: then the fund takes what is left, or the ranking is asked.
 *
 * **Work.** {@link MET_MAX} and RANKED_MAX looks beside the ranking; each that is asked counts as in deleverage.ts.
 *
 * Widest products, in doubles: lots × 10^6 < 2^51; OPEN_LOTS × ppm: exact up to 2^33 lots, rounded beyond.
 */
import { N } from '../state/balances.ts'
import { SCALAR } from '../state/columns.ts'
import { MET_MAX, PERP, PERP_TERMS, POSITION, RANKING } from '../state/margin_rows.ts'
import { get, getF64, noted, perpRow, perpTermsRow, positionAt, scalar } from '../state/rows.ts'
import { familyRow } from '../state/shares.ts'
import type { State } from '../state/state.ts'
import { metAt } from '../margin/met.ts'
import { bankruptcyTick } from './bankruptcy.ts'
import { closeAgainst, finishDeleverage } from './deleverage.ts'
import { rankedAt, rankingOf, scoreOf } from './ranking.ts'

const MILLION = 1_000_000

/** What {@link askFirst} did: the next command goes on; or there is nobody, and no ranking was needed. Otherwise the row of the ranking. */
export const GOES_ON = -2
export const NO_RANKING = -1

/** Closes lots of the open position of the bucket against those who are asked first. Register EQUITY is that of the bucket. */
export function askFirst(state: State, bucket: number, position: number): number {
  if (scalar(state, SCALAR.RULES) < 5) return NO_RANKING
  const pair = get(state, position, POSITION.PAIR)
  const lots = get(state, position, POSITION.LOTS)
  const price = bankruptcyTick(state, position)
  const size = Math.abs(lots)
  let left = size
  for (let other = bestMet(state, position); other >= 0 && left > 0 && noted(state, N.LOOKS) > 0; other = bestMet(state, position)) {
    left -= closeAgainst(state, other, lots > 0, left, price)
  }
  if (left < size) return finished(state, bucket, position, size - left, price)
  const most = get(state, perpTermsRow(state, pair), PERP_TERMS.DELEVERAGE_PPM)
  if (most >= MILLION) return NO_RANKING
  const ranking = rankingOf(state, pair, lots > 0)
  if (ranking < 0) return GOES_ON
  const holds = getF64(state, perpRow(state, pair), PERP.OPEN_LOTS) * most
  const family = familyOf(state, position)
  for (let place = get(state, ranking, RANKING.NEXT); place < get(state, ranking, RANKING.COUNT) && left > 0; place++) {
    const other = rankedAt(state, ranking, place, pair, lots > 0)
    if (other < 0 || noted(state, N.LOOKS) <= 0) continue
    if (Math.abs(get(state, other, POSITION.LOTS)) * MILLION <= holds && familyOf(state, other) !== family) continue
    left -= closeAgainst(state, other, lots > 0, left, price)
  }
  return left === size ? ranking : finished(state, bucket, position, size - left, price)
}

const familyOf = (state: State, position: number): number => familyRow(state, get(state, position, POSITION.ACCOUNT))

function finished(state: State, bucket: number, position: number, lots: number, price: number): number {
  finishDeleverage(state, bucket, position, lots, price)
  return GOES_ON
}

/** The open position with the best score of those that this one was opened against, or -1. */
function bestMet(state: State, position: number): number {
  let best = -1
  let most = 0
  for (let place = 0; place < MET_MAX; place++) {
    const other = metAt(state, position, place)
    if (other < 0) continue
    const score = scoreOf(state, other)
    if (best >= 0 && (score < most || (score === most && positionAt(state, other) > positionAt(state, best)))) continue
    best = other
    most = score
  }
  return best
}
