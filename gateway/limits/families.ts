/**
 * Who shares a rate budget, and how many items a request counts for (specification, Order rate limits, rules 1 to 3).
 */
import type { State } from '../../core/state/state.ts'
import { hasConsented, masterOf } from '../../core/view/families.ts'
import type { JsonObject } from '../http/body.ts'
import { TABLE, type Row } from '../operations/table.ts'

/**
 * Row of the master of an account's family: its own, if it is no sub-account, or one that has not agreed to its master yet, who could use
 * up its budget otherwise.
 */
export function familyOf(state: State, account: number): number {
  const master = masterOf(state, account)
  return master < 0 || !hasConsented(state, account) ? account : master
}

/** Batch operations and the list whose elements are their items. Whatever is not here counts as one item, whatever it carries. */
const ITEM_LISTS: ReadonlyMap<Row, string> = new Map<Row, string>([
  [TABLE.BatchCreateOrders, 'orders'], [TABLE.BatchReplaceOrders, 'orders'], [TABLE.BatchCancelOrders, 'orderIds'],
])

/** Items of a checked request: the elements of a batch, 1 for everything else. Mass cancels count as one (rule 2). */
export function itemsOf(row: Row, input: JsonObject): number {
  const list = ITEM_LISTS.get(row)
  return list === undefined ? 1 : Math.max(1, (input[list] as readonly unknown[]).length)
}
