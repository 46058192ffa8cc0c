/**
 * Who shares a rate budget (specification, Order rate limits, rule 3).
 */
import type { State } from '../../core/state/state.ts'
import { hasConsented, masterOf } from '../../core/view/families.ts'

/**
 * Row of the master of an account's family: its own, if it is no sub-account, or one that has not agreed to its master yet, who could use
 * up its budget otherwise.
 */
export function familyOf(state: State, account: number): number {
  const master = masterOf(state, account)
  return master < 0 || !hasConsented(state, account) ? account : master
}
