/** The builder-codes program from the shared columns (programs/builder.ts): the program as a whole, and what orders placed now get. */
import { addOnOf } from '../ledger/add_ons.ts'
import { SCALAR } from '../state/columns.ts'
import { scalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'

export interface BuilderProgramView {
  /** Most that an application may add for a side, bps. */
  readonly capBps: number
  readonly feesOn: boolean
  /** Part of net fee income that goes to the application of whoever paid it, ppm; 0: switched off. */
  readonly revenueSharePpm: number
}

export const readBuilderProgram = (state: State): BuilderProgramView => ({
  capBps: scalar(state, SCALAR.BUILDER_CAP_BPS), feesOn: scalar(state, SCALAR.BUILDER_FEES) !== 0,
  revenueSharePpm: scalar(state, SCALAR.REVENUE_SHARE_PPM),
})

/** What the application of `account` adds to orders placed now, ppm. */
export const addOnsOf = (state: State, account: number): { readonly maker: number; readonly taker: number } =>
  ({ maker: addOnOf(state, account, 0, true), taker: addOnOf(state, account, 0, false) })
