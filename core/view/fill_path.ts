/**
 * What an order would meet if it were placed now, without placing it: the walk of book/walk.ts for readers, which must not touch the
 * engine's registers and see the book while it changes.
 *
 * Exact for the moment it was read at: it visits orders, not levels, passes over expired ones and stops at one of the caller's own, as
 * matching would. Whether an order has expired is the caller's clock here and the sequenced time there.
 */
import { Flag } from '../layout/command.ts'
import { isOwn, payerFor } from '../ledger/holds.ts'
import { LEVEL, NO_ASK, ORDER, PAIR } from '../state/columns.ts'
import { get, getF64, levelRow, orderRow, pairRow, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { PATH_MAX } from '../book/match.ts'
import { levelOf, tickAbove, tickBelow } from '../book/levels.ts'
import { protectiveLimit } from '../orders/admission.ts'
import { BRIEF, consistently } from './consistent.ts'

/** What is asked. */
export interface Incoming {
  account: number
  pair: number
  /** {@link Flag} bits; SELL, MARKET and MASTER_FUNDED matter. */
  flags: number
  /** Limit in ticks; ignored for MARKET, whose limit is the protective band. */
  price: number
  lots: number
}

export interface FillPath {
  /** Lots that would trade now. */
  filled: number
  /** Their value: the sum of ticks × lots. */
  tickLots: bigint
  /** An order of the same account, or one that the same account pays for, stands in the path, so that what is left would be cancelled. */
  meetsOwn: boolean
  /** The path has more than {@link PATH_MAX} orders, and this is only its beginning. */
  tooLong: boolean
}

export { PATH_MAX } from '../book/match.ts'

/** The fill path of `incoming` at `now` (Unix ms); `null` when no consistent copy could be made. */
export function readFillPath(state: State, gate: Int32Array, incoming: Incoming, now: number): FillPath | null {
  const version = wordOf(pairRow(state, incoming.pair), PAIR.VERSION)
  return consistently(gate, state.i32, version, () => walkPath(state, incoming, now), BRIEF)
}

/** The sum of a walk: as an element of an array it is no garbage at every level. */
const sum = new BigInt64Array(1)

/** The path as it is now: consistent only inside {@link consistently}, or in the thread that writes the book. */
export function walkPath(state: State, { account, pair, flags, price, lots }: Incoming, now: number): FillPath {
  const { orders } = state.genesis.limits
  const sell = (flags & Flag.SELL) !== 0
  const path: FillPath = { filled: 0, tickLots: 0n, meetsOwn: false, tooLong: false }
  sum[0] = 0n
  const payer = payerFor(state, account, flags)
  let limit = (flags & Flag.MARKET) !== 0 ? 0 : price
  let visited = 0
  // A torn copy may lead anywhere: slots stay in range, visits are bounded and so are levels; that copy is thrown away.
  let levelsLeft = PATH_MAX
  let tick = get(state, pairRow(state, pair), sell ? PAIR.BEST_BID : PAIR.BEST_ASK)
  while (tick !== 0 && tick !== NO_ASK && (limit === 0 || (sell ? tick >= limit : tick <= limit)) && levelsLeft-- > 0) {
    let met = 0
    const level = levelOf(state, pair, tick)
    let slot = level < 0 ? -1 : get(state, levelRow(state, level), LEVEL.HEAD)
    for (; slot >= 0 && slot < orders && path.filled + met < lots; visited++) {
      if (visited === PATH_MAX) return { ...path, tickLots: sum[0]!, tooLong: true }
      const row = orderRow(state, slot)
      if (getF64(state, row, ORDER.EXPIRES_AT) > now) {
        // The touch that a MARKET order is banded by is the first order that can trade.
        if (limit === 0) limit = protectiveLimit(state, tick, sell)
        path.meetsOwn = isOwn(state, row, account, payer)
        if (path.meetsOwn) break
        met += Math.min(get(state, row, ORDER.REMAINING), lots - path.filled - met)
      }
      slot = get(state, row, ORDER.NEXT)
    }
    path.filled += met
    sum[0] = sum[0]! + BigInt(tick | 0) * BigInt(met | 0)
    const next = sell ? tickBelow(state, pair, tick) : tickAbove(state, pair, tick)
    if (path.filled >= lots || path.meetsOwn || (sell ? next >= tick : next <= tick)) break
    tick = next
  }
  path.tickLots = sum[0]!
  return path
}
