/** Rebuilding what snapshots leave out: indexes, directory and bitmaps are functions of the stored columns. */
import { LABEL_SHIFT } from '../layout/command.ts'
import { setBit } from './bitmaps.ts'
import { ORDER, ORDER_WORDS, PAGE, PAGE_WORDS, SCALAR, SESSION, SESSION_WORDS } from './columns.ts'
import { rebuildDue } from './due.ts'
import { indexAccount, indexSession, insertLabel } from './indexes.ts'
import { rebuildReceiptIndex } from './receipt_index.ts'
import { writeTerms } from './listing.ts'
import { pairCount } from './rows.ts'
import type { State } from './state.ts'

/** Rebuilds every derived column from the stored ones. The derived columns must be all zero. */
export function rebuildDerived(state: State): void {
  const { scalars } = state
  for (let pair = 0; pair < pairCount(state); pair++) writeTerms(state, pair)
  for (let page = 0; page < scalars[SCALAR.PAGES_USED]!; page++) {
    const row = page * PAGE_WORDS
    if ((state.pages[row + PAGE.BIDS]! | state.pages[row + PAGE.ASKS]!) === 0) continue
    const pair = state.pages[row + PAGE.PAIR]!
    const ticks = state.pages[row + PAGE.TICKS]!
    state.directory[pair * state.pagesPerPair + ticks] = page + 1
    if (state.pages[row + PAGE.BIDS] !== 0) setBit(state, pair * 2, ticks)
    if (state.pages[row + PAGE.ASKS] !== 0) setBit(state, pair * 2 + 1, ticks)
  }
  for (let slot = 0; slot < scalars[SCALAR.ORDERS_USED]!; slot++) {
    const row = slot * ORDER_WORDS
    const labelled = state.orders[row + ORDER.FLAGS]! >>> LABEL_SHIFT !== 0
    if (state.ordersF64[(row + ORDER.SEQUENCE) >>> 1] !== 0 && labelled) insertLabel(state, slot)
  }
  for (let account = 0; account < scalars[SCALAR.ACCOUNTS]!; account++) indexAccount(state, account)
  for (let session = 0; session < scalars[SCALAR.SESSIONS_USED]!; session++) {
    if (state.sessions[session * SESSION_WORDS + SESSION.GENERATION] !== 0) indexSession(state, session)
  }
  rebuildReceiptIndex(state)
  rebuildDue(state)
}
