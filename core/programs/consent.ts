/**
 * Consent of a sub-account's wallet to its master. A sub-account that was made before consent was asked for (rules 1) is without it until
 * its wallet signs in with a text that names the master, or signs for a CREATE_SUB_ACCOUNT once more.
 */
import { PROFILE, SCALAR } from '../state/columns.ts'
import { get, profileRow, set } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { touchAccount } from '../state/balances.ts'

/** Whether a master needs it. */
export const needsConsent = (state: State): boolean => state.scalars[SCALAR.RULES]! >= 1

/** True when the wallet of sub-account `sub` agreed to its master. */
export const hasConsented = (state: State, sub: number): boolean => get(state, profileRow(state, sub), PROFILE.CONSENTED) !== 0

/** The wallet of `sub` agreed to `master`; without meaning when the account is no sub-account of it. */
export function consent(state: State, sub: number, master: number): void {
  const row = profileRow(state, sub)
  if (get(state, row, PROFILE.MASTER) !== master + 1 || get(state, row, PROFILE.CONSENTED) !== 0) return
  set(state, row, PROFILE.CONSENTED, 1)
  touchAccount(state, sub)
  touchAccount(state, master)
}
