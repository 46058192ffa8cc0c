/** What the operator decides about withdrawals: terms of an asset, and whether there are any at all. Commands of lane 0. */
import { read, readI64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { I64Field, Views } from '../layout/table.ts'
import { SET_WITHDRAWAL_TERMS_COMMAND, STOP_WITHDRAWALS_COMMAND, WITHDRAWAL_STOP_NAMES, WithdrawalStop } from '../layout/vault.ts'
import { emitResult } from '../events/emit.ts'
import { MAX_ISSUED } from '../state/genesis.ts'
import { add, assetCount, get, set, setI64, vaultRow, vaultTotalRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { withdrawalTerms } from '../state/vault_pools.ts'
import { VAULT, VAULT_TOTAL } from '../state/vault_rows.ts'
import { laneRefusal } from './policy.ts'
import { refuse } from './sessions.ts'

const T = SET_WITHDRAWAL_TERMS_COMMAND.at

/** What is given as this stays as it is. */
const SAME = -1n

/** NOT_FOUND: no such asset; VALIDATION_ERROR: a number below 0, a minimum of 0, or more than may be issued. */
export function setWithdrawalTerms(state: State, command: Views, base: number): void {
  const asset = read(command, base, T.asset)
  const given = (field: I64Field, low: bigint): boolean => {
    const value = readI64(command, base, field)
    return value === SAME || (value >= low && value <= MAX_ISSUED)
  }
  let code = laneRefusal(command, base)
  if (code === 0 && (asset < 0 || asset >= assetCount(state))) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && !(given(T.minimum, 1n) && given(T.userDaily, 0n) && given(T.totalDaily, 0n) && given(T.approvalAbove, 0n))) {
    code = REFUSALS.VALIDATION_ERROR.number
  }
  if (code !== 0) return refuse(state, command, base, code)
  const before = withdrawalTerms(state, asset)
  const row = vaultTotalRow(state, asset)
  const write = (field: I64Field, from: I64Field, known: bigint): void => {
    const value = readI64(command, base, from)
    setI64(state, row, field, value === SAME ? known : value)
  }
  set(state, row, VAULT_TOTAL.TERMS_SET, 1)
  write(VAULT_TOTAL.MINIMUM, T.minimum, before.minimum)
  write(VAULT_TOTAL.USER_DAILY, T.userDaily, before.userDaily)
  write(VAULT_TOTAL.TOTAL_DAILY, T.totalDaily, before.totalDaily)
  write(VAULT_TOTAL.APPROVAL_ABOVE, T.approvalAbove, before.approvalAbove)
  add(state, vaultRow(state), VAULT.CHANGES, 1)
  emitResult(state, command, base, 0, -1, 0, 0)
}

/** SETTING_ANSWER: the stop now and before. A lower one does not end a higher one, NONE ends any. VALIDATION_ERROR: no such stop. */
export function stopWithdrawals(state: State, command: Views, base: number): void {
  const cause = read(command, base, STOP_WITHDRAWALS_COMMAND.at.cause)
  let code = laneRefusal(command, base)
  if (code === 0 && WITHDRAWAL_STOP_NAMES[cause] === undefined) code = REFUSALS.VALIDATION_ERROR.number
  if (code !== 0) return refuse(state, command, base, code)
  const row = vaultRow(state)
  const before = get(state, row, VAULT.STOPPED)
  set(state, row, VAULT.STOPPED, cause === WithdrawalStop.NONE ? cause : Math.max(cause, before))
  add(state, row, VAULT.CHANGES, 1)
  emitResult(state, command, base, 0, -1, get(state, row, VAULT.STOPPED), before)
}
