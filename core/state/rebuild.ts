/** Rebuilding what snapshots leave out: indexes, directory and bitmaps are functions of the stored columns. */
import { CLIENT_ORDER_ID_SHIFT } from '../layout/command.ts'
import { setBit } from './bitmaps.ts'
import { ORDER, PAGE, SCALAR, SESSION } from './columns.ts'
import { LeaderState } from '../layout/copying.ts'
import { CONDITIONAL, Standing } from './conditional_rows.ts'
import { LEADER } from './copy_rows.ts'
import { rebuildDue } from './due.ts'
import { indexAccount, indexLeader, indexSession, insertClientOrderId } from './indexes.ts'
import { rebuildReceiptIndex } from './receipt_index.ts'
import { writeTerms } from './listing.ts'
import { writePerpTerms } from './perp_rows.ts'
import { conditionalRow, get, getF64, leaderRow, orderRow, pageRow, pairCount, sessionRow } from './rows.ts'
import type { State } from './state.ts'
import { rebuildQueue } from './trail_queues.ts'
import { enterHeap } from './trigger_heap.ts'

/** Rebuilds every derived column from the stored ones. The derived columns must be all zero. */
export function rebuildDerived(state: State): void {
  const { scalars } = state
  for (let pair = 0; pair < pairCount(state); pair++) writeTerms(state, pair)
  writePerpTerms(state)
  for (let page = 0; page < scalars[SCALAR.PAGES_USED]!; page++) {
    const row = pageRow(state, page)
    if ((get(state, row, PAGE.BIDS) | get(state, row, PAGE.ASKS)) === 0) continue
    const pair = get(state, row, PAGE.PAIR)
    const ticks = get(state, row, PAGE.TICKS)
    state.directory[pair * state.pagesPerPair + ticks] = page + 1
    if (get(state, row, PAGE.BIDS) !== 0) setBit(state, pair * 2, ticks)
    if (get(state, row, PAGE.ASKS) !== 0) setBit(state, pair * 2 + 1, ticks)
  }
  for (let slot = 0; slot < scalars[SCALAR.ORDERS_USED]!; slot++) {
    const row = orderRow(state, slot)
    const labelled = get(state, row, ORDER.FLAGS) >>> CLIENT_ORDER_ID_SHIFT !== 0
    if (getF64(state, row, ORDER.SEQUENCE) !== 0 && labelled) insertClientOrderId(state, slot)
  }
  for (let account = 0; account < scalars[SCALAR.ACCOUNTS]!; account++) indexAccount(state, account)
  for (let session = 0; session < scalars[SCALAR.SESSIONS_USED]!; session++) {
    if (get(state, sessionRow(state, session), SESSION.GENERATION) !== 0) indexSession(state, session)
  }
  for (let leader = 0; leader < scalars[SCALAR.LEADERS_USED]!; leader++) {
    const now = get(state, leaderRow(state, leader), LEADER.STATE)
    if (now === LeaderState.REGISTERED || now === LeaderState.RELEASED) indexLeader(state, leader)
  }
  rebuildReceiptIndex(state)
  rebuildTriggers(state)
  rebuildDue(state)
}

/** Heaps of triggers and ends of the queues of trailing stops; which is next does not depend on the order in which they come here. */
function rebuildTriggers(state: State): void {
  for (let conditional = 0; conditional < state.scalars[SCALAR.CONDITIONALS_USED]!; conditional++) {
    const row = conditionalRow(state, conditional)
    const standing = get(state, row, CONDITIONAL.STANDING)
    if (standing === Standing.HEAP) enterHeap(state, row)
    else if (standing === Standing.TRAIL) rebuildQueue(state, row)
  }
}
