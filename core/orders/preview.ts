/**
 * What an order of a perpetual would come to if it were placed now: whether it would be accepted, and what it would meet. Only the matcher
 * asks, between two batches. It changes nothing that is kept: admission supposes the order in its position's row and takes it out again
 * (margin_admission.ts), the walk does the same with fills (preview_walk.ts), so readers must be kept away meanwhile; otherwise only
 * registers and notes are written.
 *
 * It is what {@link enterOrder} of place.ts does before it accepts an order, and a walk over the live book. What only time tells is taken
 * at `time`, which the next command has at least: an order that expired by then is passed over, and an index price may be stale by then.
 * Maintenance is not looked at: it ends, and previews stay available in it.
 *
 * Bounded like an order: it looks at PERP_PATH_MAX orders for the walk, and at as many for the cost of a MARKET order.
 */
import { ORDER_COMMAND, PairStatus } from '../layout/command.ts'
import { Flag } from '../layout/flags.ts'
import { PerpMode } from '../layout/margin.ts'
import { read, readF64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { bestOpposite } from '../book/match.ts'
import { findMarginAccount } from '../margin/buckets.ts'
import { N, R } from '../state/balances.ts'
import { NO_ASK, PAIR } from '../state/columns.ts'
import { PERP, PERP_TERMS, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { get, getF64, note, noted, pairRow, perpRow, perpTermsRow, positionRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { checkRoom, checkTerms, marketLimit } from './admission.ts'
import { checkMargin, checkPlaced } from './margin_admission.ts'
import { walkPreview, type Preview } from './preview_walk.ts'

const C = ORDER_COMMAND.at

/** Refusals that are looked for behind a stale price. */
const BEHIND_STALE: readonly number[] = [
  REFUSALS.LEVERAGE_TOO_LOW, REFUSALS.LEVERAGE_TOO_HIGH, REFUSALS.POSITION_LIMIT_EXCEEDED, REFUSALS.OPEN_INTEREST_LIMIT,
  REFUSALS.TOO_MANY_RISK_BUCKETS, REFUSALS.TOO_MANY_POSITIONS, REFUSALS.INSUFFICIENT_MARGIN, REFUSALS.INSUFFICIENT_COLLATERAL,
].map(({ number }) => number)

/** Says in `preview` what the PLACE_ORDER at word `base` of `command` would come to for `account` at `time`, Unix ms. */
export function previewOrder(state: State, command: Views, base: number, account: number, time: number, preview: Preview): void {
  const pair = read(command, base, C.pair)
  const flags = read(command, base, C.flags)
  const given = read(command, base, C.lots)
  const market = (flags & Flag.MARKET) !== 0
  const touch = bestOpposite(state, pair, flags & Flag.SELL)
  preview.touch = touch === NO_ASK ? 0 : touch
  preview.limit = market ? marketLimit(state, pair, flags, read(command, base, C.slippageBps)) : read(command, base, C.price)
  note(state, N.BUCKET, -1)
  note(state, N.MARGIN_ACCOUNT, -1)
  note(state, N.POSITION, -1)
  note(state, N.LOTS, given)
  state.registers[R.BROUGHT] = 0n
  state.registers[R.REQUIRED] = 0n
  state.registers[R.AMOUNT] = 0n
  preview.code = check(state, command, base, account, pair, flags, preview.limit, given)
  const opens = (flags & Flag.REDUCE_ONLY) === 0
  if (opens && countsStale(state, pair, noted(state, N.BUCKET), time) && (preview.code === 0 || BEHIND_STALE.includes(preview.code))) {
    preview.code = REFUSALS.PRICE_STALE.number
  }
  preview.lots = noted(state, N.LOTS)
  preview.bucket = noted(state, N.BUCKET)
  preview.margin = noted(state, N.MARGIN_ACCOUNT)
  walkPreview(state, pair, flags, account, time, preview)
}

function check(
  state: State, command: Views, base: number, account: number, pair: number, flags: number, limit: number, lots: number,
): number {
  if (get(state, pairRow(state, pair), PAIR.STATUS) !== PairStatus.ACTIVE) return REFUSALS.PAIR_NOT_ACTIVE.number
  let code = checkRoom(state, account, flags)
  if (code === 0) code = checkTerms(state, account, pair, flags, limit, lots)
  if (code === 0) code = checkMargin(state, command, base, account, pair, flags, limit, lots)
  if (code !== REFUSALS.STRATEGY_KEY_UNKNOWN.number) return code
  // Whoever places an order with a new strategy key makes its bucket first (OPEN_RISK_BUCKET), which is an empty one.
  const named = read(command, base, C.marginAccount) - 1
  note(state, N.MARGIN_ACCOUNT, findMarginAccount(state, account, named, readF64(command, base, C.namedSequence)))
  return checkPlaced(state, command, base, account, pair, flags, limit, lots)
}

/** Whether the price of the pair, or one that the equity of the bucket (-1: of none) depends on, is stale at `time`. */
function countsStale(state: State, pair: number, bucket: number, time: number): boolean {
  if (isStale(state, pair, time)) return true
  let next = bucket < 0 ? 0 : get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    if (isStale(state, get(state, position, POSITION.PAIR), time)) return true
    next = get(state, position, POSITION.NEXT)
  }
  return false
}

/** Whether the index price is stale at `time`; no orders that open are taken then (margin/mark_price.ts, by the time of a command). */
function isStale(state: State, pair: number, time: number): boolean {
  const perp = perpRow(state, pair)
  if (get(state, perp, PERP.MODE) >= PerpMode.SETTLING) return false
  const at = getF64(state, perp, PERP.INDEX_AT)
  return at === 0 || time - at > getF64(state, perpTermsRow(state, pair), PERP_TERMS.STALE_MS)
}
