/**
 * What the operator decides: maintenance, what a pair lets happen, the fee tier of an account. Rare commands that change a word or
 * two; orders read those words when they are placed.
 *
 * They carry no session and are taken from the operator's lane only. Gateways never encode them; a record of another lane that
 * claims to be one is refused, so that no fault of a gateway gives somebody another rate.
 */
import {
  gatewayOfKind, PAIR_STATUS_NAMES, SET_FEE_TIER_COMMAND, SET_MAINTENANCE_COMMAND, SET_PAIR_STATUS_COMMAND, SET_RULES_COMMAND,
} from '../layout/command.ts'
import { SETTING_ANSWER } from '../layout/answers.ts'
import type { Views } from '../layout/table.ts'
import { ACCOUNT, CLOCK, PAIR, SCALAR } from '../state/columns.ts'
import { emitResult } from '../events/emit.ts'
import { isPerpetual } from '../margin/mark_price.ts'
import { isBehind, noteMark } from '../margin/pending_marks.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { pairCount } from '../state/rows.ts'
import { RULES } from '../state/rules.ts'
import { accountRow, get, getF64, pairRow, set } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { touchAccount } from '../state/balances.ts'
import { findBlank } from './blank_accounts.ts'
import { keepAccount } from '../state/blank_list.ts'
import { noteEnds, shortenLists } from '../state/session_lists.ts'

/** OPERATOR_ONLY unless the command came through lane 0. */
export const laneRefusal = (command: Views, base: number): number =>
  gatewayOfKind(command.u32[base]!) === 0 ? 0 : REFUSALS.OPERATOR_ONLY.number

/** Blocks or opens the service for what changes something; cancels stay open. SETTING_ANSWER: 1 on, 0 off. */
export function setMaintenance(state: State, command: Views, base: number): void {
  const code = laneRefusal(command, base)
  if (code === 0) state.scalars[SCALAR.MAINTENANCE] = command.i32[base + SET_MAINTENANCE_COMMAND.at.on]! === 0 ? 0 : 1
  emitResult(state, command, base, code, -1, code === 0 ? state.scalars[SCALAR.MAINTENANCE]! : 0, 0)
}

/** Sets what a pair lets happen. Resting orders stay. NOT_FOUND: no such pair; VALIDATION_ERROR: no such status. */
export function setPairStatus(state: State, command: Views, base: number): void {
  const pair = command.i32[base + SET_PAIR_STATUS_COMMAND.at.pair]!
  const status = command.i32[base + SET_PAIR_STATUS_COMMAND.at.status]!
  let code = laneRefusal(command, base)
  if (code === 0 && (pair < 0 || pair >= pairCount(state))) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && PAIR_STATUS_NAMES[status] === undefined) code = REFUSALS.VALIDATION_ERROR.number
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const row = pairRow(state, pair)
  const before = get(state, row, PAIR.STATUS)
  set(state, row, PAIR.STATUS, status)
  // What waits is held against the mark of now: while the pair took no orders, no mark counted.
  if (before !== status && isPerpetual(state, pair) && !isBehind(state, pair)) noteMark(state, pair)
  const at = emitResult(state, command, base, 0, -1, status, before)
  state.outbox.i32[at + SETTING_ANSWER.at.pair] = pair
}

const madeBy = (state: State, account: number): number => getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE)

/**
 * Puts an account into a fee tier. Orders placed from now on have its rates; a resting order keeps the maker rate it was placed
 * with. NOT_FOUND: no such account; VALIDATION_ERROR: no such tier.
 */
export function setFeeTier(state: State, command: Views, base: number): void {
  const account = command.i32[base + SET_FEE_TIER_COMMAND.at.account]!
  const tier = command.i32[base + SET_FEE_TIER_COMMAND.at.tier]!
  const terms = state.genesis.feeTiers.tiers[tier]
  const made = command.f64[(base + SET_FEE_TIER_COMMAND.at.createdSequence) >>> 1]!
  let code = laneRefusal(command, base)
  if (code === 0 && (account < 0 || account >= state.scalars[SCALAR.ACCOUNTS]!)) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && made !== 0 && madeBy(state, account) !== made) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && terms === undefined) code = REFUSALS.VALIDATION_ERROR.number
  if (code !== 0 || terms === undefined) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const row = accountRow(state, account)
  const before = get(state, row, ACCOUNT.TIER)
  set(state, row, ACCOUNT.TIER, tier)
  set(state, row, ACCOUNT.MAKER_DISCOUNT, terms.makerDiscountPpm)
  set(state, row, ACCOUNT.TAKER_DISCOUNT, terms.takerDiscountPpm)
  keepAccount(state, account)
  touchAccount(state, account)
  emitResult(state, command, base, 0, account, tier, before)
}

/** Puts newer rules in force. VALIDATION_ERROR: not above those in force, or unknown to this version. */
export function setRules(state: State, command: Views, base: number): void {
  const rules = command.i32[base + SET_RULES_COMMAND.at.rules]!
  const before = state.scalars[SCALAR.RULES]!
  let code = laneRefusal(command, base)
  if (code === 0 && (rules <= before || rules > RULES)) code = REFUSALS.VALIDATION_ERROR.number
  if (code === 0) {
    state.scalars[SCALAR.RULES] = rules
    if (before < 1) noteEnds(state)
    if (before < 1) findBlank(state)
    if (before < 3 && rules >= 3) shortenLists(state)
    if (before < 4 && rules >= 4) state.clock[CLOCK.FORMS_AT] = state.clock[CLOCK.TIME]!
  }
  emitResult(state, command, base, code, -1, code === 0 ? rules : 0, code === 0 ? before : 0)
}

/** Accepts the wall clock: a record of who decided it and when. What follows from it is the time of the commands behind it. */
export function acceptClock(state: State, command: Views, base: number): void {
  emitResult(state, command, base, laneRefusal(command, base), -1, 0, 0)
}
