/**
 * The insurance fund (margin/fund.ts) is made with the first index price there is, because before it nothing can be liquidated; when there
 * is no room for it then, with the first one that finds room. The operator funds it from the fee income of the house.
 */
import { FUND_ANSWER } from '../layout/answers.ts'
import { FUND_INSURANCE_COMMAND } from '../layout/margin.ts'
import { CollateralReason } from '../layout/margin_events.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import { makeBucket, makeParent, marginAccountOf, roomForMarginAccount } from '../margin/buckets.ts'
import { addToFund, fundBucket } from '../margin/fund.ts'
import { R } from '../state/balances.ts'
import { SCALAR, TOTAL } from '../state/columns.ts'
import { MARGIN_ACCOUNT, MarginMode } from '../state/margin_rows.ts'
import { getI64, lose, scalar, setScalar, totalRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { createAccount, makeRoom } from './accounts.ts'
import { keepAccount } from '../state/blank_list.ts'
import { laneRefusal } from './policy.ts'

/** The fund belongs to the first application, and its address is nobody's. */
const APPLICATION = 0
const NOBODY = new Int32Array(5)

/** Makes the fund unless there is one, or no room for it. */
export function beginFund(state: State): void {
  if (scalar(state, SCALAR.FUND) !== 0 || !hasRoom(state)) return
  const account = createAccount(state, APPLICATION, NOBODY, 0)
  keepAccount(state, account)
  setScalar(state, SCALAR.FUND, account + 1)
  makeBucket(state, makeParent(state, account), MarginMode.CROSS, -1, 0, 0)
}

/** Whoever has no bucket may have one as long as one is free (state/shares.ts). */
const hasRoom = (state: State): boolean =>
  roomForMarginAccount(state) && scalar(state, SCALAR.BUCKETS_LIVE) < state.genesis.limits.riskBuckets && makeRoom(state)

/**
 * Fee income of the collateral asset to the fund. COLLATERAL, FUND_ANSWER. VALIDATION_ERROR: less than 1 atom; NOT_FOUND: there is no fund
 * yet; INSUFFICIENT_BALANCE: more than the house earned.
 */
export function fundInsurance(state: State, command: Views, base: number): void {
  const { registers } = state
  registers[R.AMOUNT] = command.i64[(base + FUND_INSURANCE_COMMAND.at.amount) >>> 1]!
  const code = laneRefusal(command, base) || fundRefusal(state)
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const bucket = fundBucket(state)
  lose(state, totalRow(state, state.collateralAsset), TOTAL.FEES, R.AMOUNT)
  addToFund(state, bucket, CollateralReason.INSURANCE)
  const at = emitResult(state, command, base, 0, -1, 0, 0)
  state.outbox.i64[(at + FUND_ANSWER.at.deposited) >>> 1] = getI64(state, marginAccountOf(state, bucket), MARGIN_ACCOUNT.DEPOSITED)
}

/** Of register AMOUNT. */
function fundRefusal(state: State): number {
  const { registers } = state
  if (registers[R.AMOUNT]! < 1n) return REFUSALS.VALIDATION_ERROR.number
  if (fundBucket(state) < 0) return REFUSALS.NOT_FOUND.number
  return getI64(state, totalRow(state, state.collateralAsset), TOTAL.FEES) < registers[R.AMOUNT]! ? REFUSALS.INSUFFICIENT_BALANCE.number : 0
}
