/**
 * What the position of a follow should be, after its leader went from P0 to P1 lots on a perpetual. Exact, in millionths of a lot, rounded
 * towards zero at the end; the copy has X0: its own lots and what was left over before.
 *
 *   the leader has less than before, on the same side      X1 = X0 × P1 / P0: the same part is closed
 *   the leader has none left, or is on the other side      X1 = 0; the rest, from 0 to P1, comes as a step of its own
 *   the leader has more                                    X1 = X0 + (P1 - P0) × allocation / equity of the leader
 *
 * The allocation counts up to `ratio` times that equity; of a leader with less than `least` nothing is opened.
 *
 * So a leader who closes all he has leaves no copy behind, whatever his equity is by then, and a copy is never more than its part.
 * Nothing here is hot: once for each follow and walk.
 */
import { FollowState } from '../layout/copying.ts'
import { REFUSALS } from '../layout/refusals.ts'

/** Millionths. */
export const LOT = 1_000_000n
/** Lots that no position has: shares of an equity of next to nothing are cut to it. */
const MOST = 2n ** 31n * LOT

export interface Terms {
  /** FollowState. */
  state: number
  /** Copy trading is switched off. */
  isOff: boolean
  /** Atoms. */
  allocation: bigint
  /** Of the leader, atoms; the least with which it is copied. */
  equity: bigint
  least: bigint
  /** Most of the allocation that counts for each atom of that; 0: all of it. */
  ratio: bigint
}

export interface Target {
  /** X1. */
  share: bigint
  /** P as of which that is: P1, or 0 on the way to the other side. */
  seen: number
  /** Number of the refusal for which what the leader opened is left out; 0: none of it is, or the follow is CLOSE_ONLY. */
  left: number
}

/**
 * X0 of a copy of `held` lots, of which `residual` millionths were left over when its leader was seen with `seen` lots. A copy that others
 * closed meanwhile, its owner or a liquidation, is not owed to the other side of its leader.
 */
export function shareOf(held: number, residual: bigint, seen: number): bigint {
  const share = BigInt(held) * LOT + residual
  return seen === 0 || (share > 0n) !== (seen > 0) ? 0n : share
}

/** `share`: X0; from P0 `seen` to P1 `lots`, which are whole numbers. */
export function targetOf(share: bigint, seen: number, lots: number, { state, isOff, allocation, equity, least, ratio }: Terms): Target {
  const turned = seen !== 0 && (lots === 0 || (lots > 0) !== (seen > 0))
  if (turned) return { share: 0n, seen: 0, left: 0 }
  if (Math.abs(lots) < Math.abs(seen)) return { share: (share * BigInt(lots)) / BigInt(seen), seen: lots, left: 0 }
  const opened = lots - seen
  if (opened === 0 || state !== FollowState.ACTIVE) return { share, seen: lots, left: 0 }
  if (isOff) return { share, seen: lots, left: REFUSALS.COPY_TRADING_OFF.number }
  if (equity < least) return { share, seen: lots, left: REFUSALS.LEADER_EQUITY.number }
  const counted = ratio !== 0n && allocation > equity * ratio ? equity * ratio : allocation
  const part = (BigInt(opened) * LOT * counted) / equity
  return { share: held(share + held(part)), seen: lots, left: 0 }
}

const held = (share: bigint): bigint => (share > MOST ? MOST : share < -MOST ? -MOST : share)
