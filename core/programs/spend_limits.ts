/**
 * SET_SPEND_LIMIT: what a master lets orders of a sub-account spend of its balance of one asset (specification, Sub-account limits).
 * What limits mean for orders and how they are counted is in ledger/spending.ts.
 *
 * There is one row per (sub-account, asset) for ever. Deleting a limit clears its state only: what rests and what was spent today go
 * on being counted, and a limit made again on the row, with a new identity, begins with them. So no sequence of deleting and making
 * lets a sub-account spend a day's limit twice. A limit below what is outstanding ends nothing: it only refuses new orders.
 */
import { SPEND_LIMIT_ANSWER } from '../layout/answers.ts'
import { LimitChange, LimitField, SET_SPEND_LIMIT_COMMAND } from '../layout/command.ts'
import { writeF64 } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import { ACCOUNT, PROFILE, SCALAR, SPEND_LIMIT, SpendLimitState } from '../state/columns.ts'
import { emitResult } from '../events/emit.ts'
import { MAX_ISSUED } from '../state/genesis.ts'
import {
  assetCount, get, getF64, limitAt, limitRow, now, profileRow, sequence, set, setF64, setI64,
} from '../state/rows.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { countForFamily, familyMayTake } from '../state/shares.ts'
import type { State } from '../state/state.ts'
import { touchAccount } from '../state/balances.ts'
import { addressOfLimit, midnightOf } from '../ledger/spending.ts'
import { refuse } from './sessions.ts'
import { hasSubAccount, masterAccount } from './sub_accounts.ts'

const C = SET_SPEND_LIMIT_COMMAND.at
const { EXISTS, ACTIVE } = SpendLimitState

/** Signed by the master. SPEND_LIMIT_ANSWER: the account is the master. */
export function setSpendLimit(state: State, command: Views, base: number): void {
  const master = masterAccount(state, command, base)
  let code = master < 0 ? -master : 0
  const sub = command.i32[base + C.subAccount]!
  const asset = command.i32[base + C.asset]!
  if (code === 0 && !hasSubAccount(state, master, sub)) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && (asset < 0 || asset >= assetCount(state))) code = REFUSALS.NOT_FOUND.number
  let row = code === 0 ? limitOf(state, sub, asset) : -1
  if (code === 0) code = changeRefusal(state, command, base, sub, row)
  if (code !== 0) return refuse(state, command, base, code)
  if (row < 0) row = newRow(state, sub, asset)
  writeLimit(state, row, command, base)
  touchAccount(state, sub)
  const result = emitResult(state, command, base, 0, master, row, 0)
  const created = getF64(state, limitRow(state, row), SPEND_LIMIT.CREATED_SEQUENCE)
  writeF64(state.outbox, result, SPEND_LIMIT_ANSWER.at.createdSequence, created)
}

/** The row of (sub-account, asset), whatever its state, or -1. */
function limitOf(state: State, sub: number, asset: number): number {
  const at = addressOfLimit(state, sub, asset)
  return at < 0 ? -1 : limitAt(state, at)
}

function changeRefusal(state: State, command: Views, base: number, sub: number, row: number): number {
  const change = command.i32[base + C.change]!
  if (change !== LimitChange.CREATE && change !== LimitChange.UPDATE && change !== LimitChange.DELETE) {
    return REFUSALS.VALIDATION_ERROR.number
  }
  const fields = fieldsOf(command, base)
  const max = command.i64[(base + C.maxAmount) >>> 1]!
  const daily = command.i64[(base + C.dailyLimit) >>> 1]!
  if ((fields & LimitField.MAX_AMOUNT) !== 0 && (max < 0n || max > MAX_ISSUED)) return REFUSALS.VALIDATION_ERROR.number
  if ((fields & LimitField.DAILY_LIMIT) !== 0 && (daily < -1n || daily > MAX_ISSUED)) return REFUSALS.VALIDATION_ERROR.number
  const exists = row >= 0 && (get(state, limitRow(state, row), SPEND_LIMIT.STATE) & EXISTS) !== 0
  if (change !== LimitChange.CREATE) return exists ? 0 : REFUSALS.NOT_FOUND.number
  if (exists) return REFUSALS.LIMIT_EXISTS.number
  if (row >= 0) return 0
  const used = state.scalars[SCALAR.SPEND_LIMITS_USED]!
  return familyMayTake(state, sub, ACCOUNT.FAMILY_LIMITS, used, state.genesis.limits.spendLimits) ? 0 : REFUSALS.OVERLOADED.number
}

/** {@link LimitField} bits that the command sets. */
function fieldsOf(command: Views, base: number): number {
  const change = command.i32[base + C.change]!
  if (change === LimitChange.DELETE) return 0
  return change === LimitChange.CREATE ? LimitField.MAX_AMOUNT | LimitField.DAILY_LIMIT | LimitField.ACTIVE : command.i32[base + C.fields]!
}

/** A fresh row at the head of the sub-account's list. */
function newRow(state: State, sub: number, asset: number): number {
  const row = state.scalars[SCALAR.SPEND_LIMITS_USED]!++
  countForFamily(state, sub, ACCOUNT.FAMILY_LIMITS)
  const at = limitRow(state, row)
  const profile = profileRow(state, sub)
  set(state, at, SPEND_LIMIT.SUB, sub)
  set(state, at, SPEND_LIMIT.ASSET, asset)
  set(state, at, SPEND_LIMIT.NEXT, get(state, profile, PROFILE.FIRST_LIMIT))
  set(state, profile, PROFILE.FIRST_LIMIT, row + 1)
  return row
}

function writeLimit(state: State, row: number, command: Views, base: number): void {
  const at = limitRow(state, row)
  const change = command.i32[base + C.change]!
  const fields = fieldsOf(command, base)
  setF64(state, at, SPEND_LIMIT.UPDATED_AT, now(state))
  if (change === LimitChange.DELETE) set(state, at, SPEND_LIMIT.STATE, 0)
  if (change === LimitChange.CREATE) {
    set(state, at, SPEND_LIMIT.STATE, EXISTS)
    setF64(state, at, SPEND_LIMIT.CREATED_SEQUENCE, sequence(state))
    setF64(state, at, SPEND_LIMIT.CREATED_AT, now(state))
    beginDay(state, at)
  }
  if ((fields & LimitField.MAX_AMOUNT) !== 0) setI64(state, at, SPEND_LIMIT.MAX, command.i64[(base + C.maxAmount) >>> 1]!)
  if ((fields & LimitField.DAILY_LIMIT) !== 0) setI64(state, at, SPEND_LIMIT.DAILY, command.i64[(base + C.dailyLimit) >>> 1]!)
  if ((fields & LimitField.ACTIVE) !== 0) set(state, at, SPEND_LIMIT.STATE, EXISTS | (command.i32[base + C.active]! !== 0 ? ACTIVE : 0))
}

/** What was spent on an earlier day is forgotten. */
function beginDay(state: State, at: number): void {
  const midnight = midnightOf(now(state))
  if (getF64(state, at, SPEND_LIMIT.RESET_AT) === midnight) return
  setF64(state, at, SPEND_LIMIT.RESET_AT, midnight)
  setI64(state, at, SPEND_LIMIT.SPENT, 0n)
}
