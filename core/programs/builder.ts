/**
 * The builder-codes program: applications that charge their users for fills, beside the fee of the house (specification, Builder fee;
 * ledger/add_ons.ts has what is charged).
 *
 * - **The operator** sets the cap, switches builder fees and the revenue share, and enrolls applications with their payout accounts. An
 *   account that was one once stays kept, and orders at rest go on paying the one that is set when they fill.
 * - **The payout wallet** sets what the application adds: at most {@link CHANGES_MOST} changes in {@link CHANGES_MS} of sequenced time.
 *   Both sides in one command are one change, values that are set already none; what the operator sets is none either.
 * - **In force** for orders placed from the next command on. With builder fees off, or not enrolled, what is set is stored and nothing is
 *   charged; a cap that was lowered binds at once.
 */
import { BUILDER_FEE_ANSWER, BUILDER_PROGRAM_ANSWER, ENROLLMENT_ANSWER } from '../layout/answers.ts'
import {
  BUILDER_CAP_MOST_BPS, ENROLL_APPLICATION_COMMAND, SET_BUILDER_FEE_COMMAND, SET_BUILDER_PROGRAM_COMMAND, UNCHANGED,
} from '../layout/builder.ts'
import { read, readF64, write, writeF64 } from '../layout/record.ts'
import { WHOLE_PPM } from '../lib/ppm.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import { ACCOUNT, APPLICATION, SCALAR } from '../state/columns.ts'
import { accountRow, add, applicationRow, get, getF64, now, scalar, set, setF64, setScalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { keepAccount } from '../state/blank_list.ts'
import { laneRefusal } from './policy.ts'
import { ownerAccount } from './sessions.ts'

const P = SET_BUILDER_PROGRAM_COMMAND.at
const E = ENROLL_APPLICATION_COMMAND.at
const F = SET_BUILDER_FEE_COMMAND.at
const { VALIDATION_ERROR, NOT_FOUND } = REFUSALS

/** Changes of an application's own in {@link CHANGES_MS}. */
export const CHANGES_MOST = 2
export const CHANGES_MS = 86_400_000

const isWithin = (value: number, most: number): boolean => value >= 0 && value <= most

/** Cap, switches and share of the program. VALIDATION_ERROR: out of range. */
export function setBuilderProgram(state: State, command: Views, base: number): void {
  const [cap, share] = [read(command, base, P.capBps), read(command, base, P.revenueSharePpm)]
  let code = laneRefusal(command, base)
  if (code === 0 && !(isWithin(cap, BUILDER_CAP_MOST_BPS) && isWithin(share, WHOLE_PPM))) code = VALIDATION_ERROR.number
  const before = scalar(state, SCALAR.BUILDER_CAP_BPS)
  if (code === 0) {
    setScalar(state, SCALAR.BUILDER_CAP_BPS, cap)
    setScalar(state, SCALAR.BUILDER_FEES, read(command, base, P.builderFees) === 0 ? 0 : 1)
    setScalar(state, SCALAR.REVENUE_SHARE_PPM, share)
  }
  const at = emitResult(state, command, base, code, -1, 0, 0)
  if (code !== 0) return
  write(state.outbox, at, BUILDER_PROGRAM_ANSWER.at.capBps, cap)
  write(state.outbox, at, BUILDER_PROGRAM_ANSWER.at.before, before)
}

/**
 * An application takes part, or does not any more. NOT_FOUND: no such application or account; VALIDATION_ERROR: the account is another
 * application's, or there never was one; BUILDER_FEE_ABOVE_CAP.
 */
export function enrollApplication(state: State, command: Views, base: number): void {
  const application = read(command, base, E.application)
  const code = laneRefusal(command, base) || enrollmentRefusal(state, command, base, application)
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const row = applicationRow(state, application)
  const account = read(command, base, E.account)
  if (account >= 0) {
    set(state, row, APPLICATION.PAYOUT, account + 1)
    keepAccount(state, account)
  }
  set(state, row, APPLICATION.ENROLLED, read(command, base, E.active) === 0 ? 0 : 1)
  setFees(state, row, read(command, base, E.bps), read(command, base, E.makerBps))
  const at = emitResult(state, command, base, 0, get(state, row, APPLICATION.PAYOUT) - 1, application, 0)
  write(state.outbox, at, ENROLLMENT_ANSWER.at.active, get(state, row, APPLICATION.ENROLLED))
}

function enrollmentRefusal(state: State, command: Views, base: number, application: number): number {
  if (application < 0 || application >= scalar(state, SCALAR.APPLICATIONS)) return NOT_FOUND.number
  const account = read(command, base, E.account)
  if (account >= scalar(state, SCALAR.ACCOUNTS)) return NOT_FOUND.number
  const cap = scalar(state, SCALAR.BUILDER_CAP_BPS)
  for (const bps of [read(command, base, E.bps), read(command, base, E.makerBps)]) {
    if (bps !== UNCHANGED && !isWithin(bps, cap)) return REFUSALS.BUILDER_FEE_ABOVE_CAP.number
  }
  if (account < 0) return get(state, applicationRow(state, application), APPLICATION.PAYOUT) === 0 ? VALIDATION_ERROR.number : 0
  const row = accountRow(state, account)
  if (getF64(state, row, ACCOUNT.CREATED_SEQUENCE) !== readF64(command, base, E.createdSequence)) return NOT_FOUND.number
  return get(state, row, ACCOUNT.APPLICATION) === application && account !== scalar(state, SCALAR.FUND) - 1 ? 0 : VALIDATION_ERROR.number
}

/** Sets what was given of the fees of the application at `row`. */
function setFees(state: State, row: number, bps: number, makerBps: number): void {
  if (bps !== UNCHANGED) set(state, row, APPLICATION.BUILDER_BPS, bps)
  if (makerBps !== UNCHANGED) set(state, row, APPLICATION.BUILDER_MAKER_BPS, makerBps)
  if (makerBps > get(state, row, APPLICATION.MOST_MAKER_BPS)) set(state, row, APPLICATION.MOST_MAKER_BPS, makerBps)
  add(state, row, APPLICATION.VERSION, 1)
}

/**
 * Signed by the payout wallet. BUILDER_FEE_ANSWER, of a refusal too: what is left and when the next change may be. In this order:
 * SESSION_INVALID, AGENT_NOT_ALLOWED; BUILDER_FEES_OFF: neither builder fees nor the revenue share is on; BUILDER_FEE_ABOVE_CAP;
 * NOT_ENROLLED; NOT_PAYOUT_WALLET; NO_FEE_CHANGES_LEFT.
 */
export function setBuilderFee(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  const row = account < 0 ? -1 : applicationRow(state, get(state, accountRow(state, account), ACCOUNT.APPLICATION))
  const [bps, makerBps] = [read(command, base, F.bps), read(command, base, F.makerBps)]
  const code = account < 0 ? -account : feeRefusal(state, account, row, bps, makerBps)
  const before = row < 0 ? 0 : get(state, row, APPLICATION.BUILDER_BPS)
  const makerBefore = row < 0 ? 0 : get(state, row, APPLICATION.BUILDER_MAKER_BPS)
  if (code === 0 && isChange(state, row, bps, makerBps)) {
    setF64(state, row, APPLICATION.CHANGED_BEFORE, getF64(state, row, APPLICATION.CHANGED_AT))
    setF64(state, row, APPLICATION.CHANGED_AT, now(state))
    setFees(state, row, bps, makerBps)
  }
  const { outbox } = state
  const at = emitResult(state, command, base, code, code === 0 ? account : -1, 0, 0)
  const tells = code === 0 || code === REFUSALS.NO_FEE_CHANGES_LEFT.number
  writeF64(outbox, at, BUILDER_FEE_ANSWER.at.nextChangeAt, tells && changesLeft(state, row) === 0 ? nextChange(state, row) : 0)
  if (code !== 0) return
  write(outbox, at, BUILDER_FEE_ANSWER.at.bps, bps)
  write(outbox, at, BUILDER_FEE_ANSWER.at.previousBps, before)
  write(outbox, at, BUILDER_FEE_ANSWER.at.makerBps, get(state, row, APPLICATION.BUILDER_MAKER_BPS))
  write(outbox, at, BUILDER_FEE_ANSWER.at.previousMakerBps, makerBefore)
  write(outbox, at, BUILDER_FEE_ANSWER.at.changesLeft, changesLeft(state, row))
}

function feeRefusal(state: State, account: number, row: number, bps: number, makerBps: number): number {
  const on = scalar(state, SCALAR.BUILDER_FEES) !== 0 || scalar(state, SCALAR.REVENUE_SHARE_PPM) !== 0
  // Before the rules 5 it was told behind the others.
  if (!on && scalar(state, SCALAR.RULES) >= 5) return REFUSALS.BUILDER_FEES_OFF.number
  const cap = scalar(state, SCALAR.BUILDER_CAP_BPS)
  if (!isWithin(bps, cap) || (makerBps !== UNCHANGED && !isWithin(makerBps, cap))) return REFUSALS.BUILDER_FEE_ABOVE_CAP.number
  if (get(state, row, APPLICATION.ENROLLED) === 0) return REFUSALS.NOT_ENROLLED.number
  if (get(state, row, APPLICATION.PAYOUT) !== account + 1) return REFUSALS.NOT_PAYOUT_WALLET.number
  if (!on) return REFUSALS.BUILDER_FEES_OFF.number
  return isChange(state, row, bps, makerBps) && changesLeft(state, row) === 0 ? REFUSALS.NO_FEE_CHANGES_LEFT.number : 0
}

const isChange = (state: State, row: number, bps: number, makerBps: number): boolean =>
  bps !== get(state, row, APPLICATION.BUILDER_BPS) ||
  (makerBps !== UNCHANGED && makerBps !== get(state, row, APPLICATION.BUILDER_MAKER_BPS))

/** Changes that the application at `row` may make now. */
function changesLeft(state: State, row: number): number {
  const since = now(state) - CHANGES_MS
  const [last, before] = [getF64(state, row, APPLICATION.CHANGED_AT), getF64(state, row, APPLICATION.CHANGED_BEFORE)]
  return CHANGES_MOST - (last > since ? 1 : 0) - (before > since ? 1 : 0)
}

/** When one more may be made, Unix ms, of an application that has none left. */
const nextChange = (state: State, row: number): number => getF64(state, row, APPLICATION.CHANGED_BEFORE) + CHANGES_MS
