/**
 * The list of blank accounts, by the time when their wallets used them last (programs/blank_accounts.ts, which says what they are). Links
 * are rows + 1; 0 is none.
 */
import { ACCOUNT, SCALAR } from './columns.ts'
import { accountRow, get, now, scalar, set, setF64, setScalar } from './rows.ts'
import type { State } from './state.ts'

const { BLANK_OLDER, BLANK_NEWER, BLANK_SINCE } = ACCOUNT
const { BLANK_OLDEST, BLANK_NEWEST } = SCALAR

/** True when the account is in the list. */
export const isBlank = (state: State, account: number): boolean =>
  get(state, accountRow(state, account), BLANK_OLDER) !== 0 || scalar(state, BLANK_OLDEST) === account + 1

/** Puts an account, new or taken out of the list, behind all others, as used now. */
export function appendBlank(state: State, account: number): void {
  const row = accountRow(state, account)
  const newest = scalar(state, BLANK_NEWEST)
  set(state, row, BLANK_OLDER, newest)
  if (newest === 0) setScalar(state, BLANK_OLDEST, account + 1)
  else set(state, accountRow(state, newest - 1), BLANK_NEWER, account + 1)
  setScalar(state, BLANK_NEWEST, account + 1)
  setF64(state, row, BLANK_SINCE, now(state))
}

/** From now on the row is its wallet's for good. */
export function keepAccount(state: State, account: number): void {
  if (!isBlank(state, account)) return
  const row = accountRow(state, account)
  const older = get(state, row, BLANK_OLDER)
  const newer = get(state, row, BLANK_NEWER)
  if (older === 0) setScalar(state, BLANK_OLDEST, newer)
  else set(state, accountRow(state, older - 1), BLANK_NEWER, newer)
  if (newer === 0) setScalar(state, BLANK_NEWEST, older)
  else set(state, accountRow(state, newer - 1), BLANK_OLDER, older)
  set(state, row, BLANK_OLDER, 0)
  set(state, row, BLANK_NEWER, 0)
  setF64(state, row, BLANK_SINCE, 0)
}
