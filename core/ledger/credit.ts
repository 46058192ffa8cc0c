/** Atoms that come to an account, or leave it, and no trade moved. */
import { emitCredit } from '../events/emit.ts'
import { R, touchAccount } from '../state/balances.ts'
import { BALANCE } from '../state/columns.ts'
import { balanceRow, gain, touchBalance } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Adds register AMOUNT, which may be negative, to what `account` has available of `asset`; CREDIT says where from, CreditSource. */
export function credit(state: State, account: number, asset: number, source: number): void {
  const balance = balanceRow(state, account, asset)
  gain(state, balance, BALANCE.AVAILABLE, R.AMOUNT)
  touchBalance(state, balance)
  touchAccount(state, account)
  emitCredit(state, account, asset, source)
}
