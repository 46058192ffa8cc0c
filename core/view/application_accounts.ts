/**
 * The accounts of one application, from the shared columns, a slice at a time: nothing indexes accounts by application, so every row is
 * looked at, and between slices other work of the thread goes on.
 *
 * Accounts are walked in the order of their rows, as many as there were at the beginning. What is read is as of the moment its row is
 * reached, so a listing is consistent row by row and not as a whole. The row of a blank account may go to another wallet, also of another
 * application, while the walk goes on: whoever reads a row later than `visit` asks whose it is (readAccount).
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ACCOUNT, BALANCE, SCALAR } from '../state/columns.ts'
import { accountRow, balanceRow, get, isZero } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { consistently } from './consistent.ts'

/** Longest time one slice takes, ms, and rows between two looks at the clock. */
const SLICE_MS = 2
const LOOK_ROWS = 1024

/**
 * Calls `visit` with the rows of the application's accounts until it returns false. Resolves with false when the accounts could not be
 * counted because the matcher stands still in the middle of a batch.
 */
export async function walkAccounts(
  state: State, gate: Int32Array, application: number, visit: (account: number) => boolean,
): Promise<boolean> {
  const { scalars } = state
  // A row is counted before it is written; between batches all that are counted are whole.
  const count = consistently(gate, scalars, SCALAR.ACCOUNTS, () => scalars[SCALAR.ACCOUNTS]!)
  if (count === null) return false
  let until = performance.now() + SLICE_MS
  for (let account = 0; account < count; account++) {
    if (account % LOOK_ROWS === LOOK_ROWS - 1 && performance.now() >= until) {
      await nextTurn()
      until = performance.now() + SLICE_MS
    }
    if (get(state, accountRow(state, account), ACCOUNT.APPLICATION) === application && !visit(account)) return true
  }
  return true
}

/** Whether the account has any of this asset, available or locked, right now; a walk allocates nothing for it. */
export function hasBalance(state: State, account: number, asset: number): boolean {
  const row = balanceRow(state, account, asset)
  return !isZero(state, row, BALANCE.AVAILABLE) || !isZero(state, row, BALANCE.LOCKED)
}
