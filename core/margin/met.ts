/**
 * Whom a position was opened against: the positions that it met in fills which opened or enlarged both, each with its lots, so that a
 * bankruptcy is closed against them first (liquidation/first_asked.ts).
 *
 * A position remembers {@link MET_MAX} others. One that it meets again has more lots and counts from then on. A new one takes an empty
 * place, or that of one that it met longer ago than the term DELEVERAGE_MINUTES; when there is none, the place of the one with the fewest
 * lots, if that has no more than the new one. So an owner drives a counterparty out only by opening as much against others. All is
 * forgotten when the position is opened anew. A term of 0 minutes remembers nothing. Before the rules 5 nothing is remembered.
 *
 * Names are rows with the sequence that opened them: a closed position, or another in its row, is none. Lots stay below 2^31.
 */
import { SCALAR } from '../state/columns.ts'
import { MET, MET_MAX, MET_WORDS, PERP_TERMS, POSITION } from '../state/margin_rows.ts'
import { clearWords, get, getF64, now, perpTermsRow, positionAt, positionRow, scalar, set, setF64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const MINUTE_MS = 60_000
const LOTS_MOST = 2 ** 31 - 1

const metRow = (position: number, place: number): number => position + POSITION.FIRST_MET + place * MET_WORDS

/** Minutes for which a position remembers another. */
const minutesOf = (state: State, position: number): number =>
  scalar(state, SCALAR.RULES) < 5 ? 0 : get(state, perpTermsRow(state, get(state, position, POSITION.PAIR)), PERP_TERMS.DELEVERAGE_MINUTES)

const minuteOf = (state: State): number => Math.floor(now(state) / MINUTE_MS)

/** The position is opened: it met no other yet. */
export const forgetMet = (state: State, position: number): void => clearWords(state, position, POSITION.FIRST_MET, MET_MAX * MET_WORDS)

/** A fill moved `lots` from one position to the other; `change`, signed, is that of `one`. */
export function noteMeeting(state: State, one: number, other: number, change: number, lots: number): void {
  const minutes = minutesOf(state, one)
  if (minutes === 0) return
  const held = get(state, one, POSITION.LOTS)
  const against = get(state, other, POSITION.LOTS)
  if (held === 0 || against === 0 || (held > 0) !== (change > 0) || (against > 0) !== (change < 0)) return
  noteOther(state, one, other, Math.min(lots, Math.abs(held)), minutes)
  noteOther(state, other, one, Math.min(lots, Math.abs(against)), minutes)
}

function noteOther(state: State, position: number, other: number, lots: number, minutes: number): void {
  const number = positionAt(state, other)
  const opened = getF64(state, other, POSITION.OPENED_SEQUENCE)
  const minute = minuteOf(state)
  let chosen = -1
  let fewest = lots
  for (let place = 0; place < MET_MAX; place++) {
    const met = metRow(position, place)
    if (getF64(state, met, MET.OPENED_SEQUENCE) === opened && get(state, met, MET.POSITION) === number) {
      set(state, met, MET.LOTS, Math.min(LOTS_MOST, get(state, met, MET.LOTS) + lots))
      set(state, met, MET.MINUTE, minute)
      return
    }
    const free = getF64(state, met, MET.OPENED_SEQUENCE) === 0 || minute - get(state, met, MET.MINUTE) > minutes
    const has = free ? 0 : get(state, met, MET.LOTS)
    if (has > fewest || (chosen >= 0 && has === fewest)) continue
    chosen = met
    fewest = has
  }
  if (chosen < 0) return
  setF64(state, chosen, MET.OPENED_SEQUENCE, opened)
  set(state, chosen, MET.POSITION, number)
  set(state, chosen, MET.LOTS, lots)
  set(state, chosen, MET.MINUTE, minute)
}

/** The open position of the other side that stands at `place` of those that the open position remembers, or -1. */
export function metAt(state: State, position: number, place: number): number {
  const met = metRow(position, place)
  const opened = getF64(state, met, MET.OPENED_SEQUENCE)
  if (opened === 0 || minuteOf(state) - get(state, met, MET.MINUTE) > minutesOf(state, position)) return -1
  const other = positionRow(state, get(state, met, MET.POSITION))
  const same = getF64(state, other, POSITION.OPENED_SEQUENCE) === opened
  return same && get(state, other, POSITION.LOTS) > 0 !== get(state, position, POSITION.LOTS) > 0 ? other : -1
}
