/**
 * Whom a position was opened against, and who is asked before the insurance fund, in the naive exchange: since the rules 5, those who were
 * met within the window of the perpetual, best first, then who holds more than its part of the other side.
 */
import { familyOf } from './naive_families.ts'
import type { Position } from './naive_margin.ts'
import type { Ex } from './naive_terms.ts'

/** A position that was met. */
export interface Met { other: Position; openedSequence: number; lots: number; minute: number }

const PLACES = 3
const minuteOf = (ex: Ex): number => Math.floor(ex.now / 60_000)
const windowOf = (ex: Ex, { pair }: Position): number => (ex.inForce < 5 ? 0 : ex.genesis.pairs[pair]!.perp!.deleverageMinutes)
const isOld = (ex: Ex, position: Position, { minute }: Met): boolean => minuteOf(ex) - minute > windowOf(ex, position)

/** After a fill that moved `lots`: both sides opened or were enlarged by it. `change`, signed, is that of the first. */
export function meet(ex: Ex, one: Position, other: Position, change: number, lots: number): void {
  if (windowOf(ex, one) === 0 || Math.sign(one.lots) !== Math.sign(change) || Math.sign(other.lots) !== -Math.sign(change)) return
  remember(ex, one, other, Math.min(lots, Math.abs(one.lots)))
  remember(ex, other, one, Math.min(lots, Math.abs(other.lots)))
}

function remember(ex: Ex, position: Position, other: Position, lots: number): void {
  const { met } = position
  const known = met.find((each) => each?.other === other && each.openedSequence === other.openedSequence)
  if (known !== undefined && known !== null) {
    known.lots = Math.min(2 ** 31 - 1, known.lots + lots)
    known.minute = minuteOf(ex)
    return
  }
  const sizes = Array.from({ length: PLACES }, (_, place) => {
    const at = met[place] ?? null
    return at === null || isOld(ex, position, at) ? 0 : at.lots
  })
  const least = Math.min(...sizes)
  if (least > lots) return
  met[sizes.indexOf(least)] = { other, openedSequence: other.openedSequence, lots, minute: minuteOf(ex) }
}

/** Those that the position was opened against and that are still there on the other side, best first. */
export function metOf(ex: Ex, position: Position, score: (of: Position) => number): Position[] {
  const there = position.met.filter((each): each is Met => each !== null && each !== undefined && !isOld(ex, position, each) &&
    each.other.openedSequence === each.openedSequence && Math.sign(each.other.lots) === -Math.sign(position.lots))
  return there.map(({ other }) => other).sort((a, b) => score(b) - score(a) || a.row - b.row)
}

/** Whether a counterparty is of the same family, or holds more than its part of the other side, which has `open` lots. */
export const comesFirst = (ex: Ex, position: Position, { pair, lots, bucket }: Position, open: number): boolean =>
  familyOf(ex, bucket.margin.account) === familyOf(ex, position.bucket.margin.account) ||
  BigInt(Math.abs(lots)) * 1_000_000n > BigInt(open) * BigInt(ex.genesis.pairs[pair]!.perp!.deleveragePpm)

export const asksHolders = (ex: Ex, pair: number): boolean =>
  ex.inForce >= 5 && ex.genesis.pairs[pair]!.perp!.deleveragePpm < 1e6
