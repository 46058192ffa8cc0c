/**
 * RESULT of an order that was refused for want of funds or of room. Since the rules 4 it says how much was asked for
 * and how much there was (SHORT_REFUSAL), so that the answer can. Only what is refused comes here: an order that is
 * placed pays nothing for it.
 *
 *   INSUFFICIENT_BALANCE         asset, what the order may cost, and what its payer has; what a master has is not told
 *   SUB_ACCOUNT_LIMIT_EXCEEDED   asset, what the order may cost, and what the limit leaves
 *   INSUFFICIENT_MARGIN          the collateral asset, what the order needs, and what there is for it in bucket and margin account
 *   INSUFFICIENT_COLLATERAL      the same asset, what the order was to bring, and what is free in the margin account
 *   TOO_MANY_OPEN_ORDERS         how many the account, or its family, may have
 *
 * A MARKET BUY is told the cost of its path as far as it was walked (admission.ts), so it may cost more than is said.
 */
import { SHORT_REFUSAL } from '../layout/answers.ts'
import { Flag } from '../layout/command.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { write } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import { addShort, emitResult } from '../events/emit.ts'
import { payerFor } from '../ledger/holds.ts'
import { assetSpent, leftToSpend } from '../ledger/spending.ts'
import { R } from '../state/balances.ts'
import { ACCOUNT, BALANCE, SCALAR } from '../state/columns.ts'
import { accountRow, balanceRow, get, getI64, scalar } from '../state/rows.ts'
import { shareOf } from '../state/shares.ts'
import type { State } from '../state/state.ts'

const at = SHORT_REFUSAL.at

/**
 * Refuses an order of `account` on a pair that is known, with these flags. Registers REQUIRED, AMOUNT and RELEASE are as the
 * admission left them. `lacking`: AgentGrant of AGENT_NOT_ALLOWED.
 */
export function refuseOrder(
  state: State, command: Views, base: number, code: number, account: number, lacking: number, pair: number, flags: number,
): void {
  const result = emitResult(state, command, base, code, account, lacking, 0)
  if (scalar(state, SCALAR.RULES) < 4) return
  const { outbox } = state
  write(outbox, result, at.pair, pair)
  if (code === REFUSALS.TOO_MANY_OPEN_ORDERS.number) tellRoom(state, result, account)
  // Registers REQUIRED and AMOUNT say it already (margin_admission.ts).
  const margin = code === REFUSALS.INSUFFICIENT_MARGIN.number || code === REFUSALS.INSUFFICIENT_COLLATERAL.number
  if (margin) return addShort(state, result, state.collateralAsset)
  const short = code === REFUSALS.INSUFFICIENT_BALANCE.number
  if (!short && code !== REFUSALS.SUB_ACCOUNT_LIMIT_EXCEEDED.number) return
  const asset = assetSpent(state, pair, flags)
  if (short) tellFunds(state, account, asset, flags)
  else leftToSpend(state, account, asset)
  addShort(state, result, asset)
}

/** Register AMOUNT: what the payer has, what a replaced order gives back included; -1: that is not told. */
function tellFunds(state: State, account: number, asset: number, flags: number): void {
  const { registers } = state
  registers[R.AMOUNT] = -1n
  if ((flags & Flag.MASTER_FUNDED) !== 0) return
  registers[R.AMOUNT] = getI64(state, balanceRow(state, payerFor(state, account, flags), asset), BALANCE.AVAILABLE) + registers[R.RELEASE]!
}

/** As checkRoom compared: the account's own bound first. */
function tellRoom(state: State, result: number, account: number): void {
  const own = get(state, accountRow(state, account), ACCOUNT.OPEN_ORDERS) >= state.maxOpenOrders
  const share = shareOf(state.maxOrders, state.maxOrders - scalar(state, SCALAR.ORDERS_LIVE) - 1)
  write(state.outbox, result, at.limit, own ? state.maxOpenOrders : share)
  write(state.outbox, result, at.ofFamily, own ? 0 : 1)
}
