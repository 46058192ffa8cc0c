/**
 * Sub-accounts: a master makes one for a wallet that has no account in its application yet and that agreed; from then on that wallet signs
 * in to it. A family is a master and its sub-accounts; it has two levels and never changes otherwise.
 *
 * Before the rules 1 a master did not need the wallet's word. Sub-accounts of then stay; until their wallets agree, by a sign-in whose text
 * names the master or by a CREATE_SUB_ACCOUNT once more, nothing leaves them at the master's word.
 *
 * A transfer moves available atoms between a master and one of its sub-accounts, either way, at the master's word. What is locked by
 * orders is not touched, and the sum over the family stays as it is.
 */
import { SUB_ACCOUNT_ANSWER, TRANSFER_ANSWER } from '../layout/answers.ts'
import { CREATE_SUB_ACCOUNT_COMMAND, Flag, Option, TRANSFER_COMMAND } from '../layout/command.ts'
import { CreditSource } from '../layout/event.ts'
import { write, writeF64 } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import {
  accountRow, add, assetCount, balanceRow, get, getF64, getI64, profileRow, set, setWords,
} from '../state/rows.ts'
import { ACCOUNT, BALANCE, CLOCK, PROFILE, SCALAR } from '../state/columns.ts'
import { addShort, emitResult } from '../events/emit.ts'
import { credit } from '../ledger/credit.ts'
import { MAX_ISSUED } from '../state/genesis.ts'
import { findAccount } from '../state/indexes.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { State } from '../state/state.ts'
import { R, touchAccount } from '../state/balances.ts'
import { admitKey, keepReceipt, REPEATED } from './receipts.ts'
import { createAccount, joinFamily, makeRoom } from './accounts.ts'
import { keepAccount } from '../state/blank_list.ts'
import { consent, hasConsented, needsConsent } from './consent.ts'
import { ownerAccount, refuse } from './sessions.ts'

const C = CREATE_SUB_ACCOUNT_COMMAND.at
const T = TRANSFER_COMMAND.at
const USERNAME_BYTES = 32

/** The account that signed the command when it is a master and its own wallet signed; otherwise the refusal's number, negated. */
export function masterAccount(state: State, command: Views, base: number): number {
  const account = ownerAccount(state, command, base)
  if (account < 0) return account
  return get(state, profileRow(state, account), PROFILE.MASTER) === 0 ? account : -REFUSALS.MASTER_ONLY.number
}

/** True when row `sub` is a sub-account of `master`. */
export const hasSubAccount = (state: State, master: number, sub: number): boolean =>
  sub >= 0 && sub < state.scalars[SCALAR.ACCOUNTS]! && get(state, profileRow(state, sub), PROFILE.MASTER) === master + 1

/**
 * Signed by the master, with the consent of the wallet, which may also be that of a sub-account it has already. SUB_ACCOUNT_ANSWER: the
 * account is the master; Flag.REPEATED when an earlier command made the sub-account.
 */
export function createSubAccount(state: State, command: Views, base: number): void {
  const master = masterAccount(state, command, base)
  const code = master < 0 ? -master : subAccountRefusal(state, command, base, master)
  if (code !== 0) return refuse(state, command, base, code)
  const known = findSub(state, command, base, master)
  const sub = known >= 0 ? known : makeSub(state, command, base, master)
  if (command.i32[base + C.consented] !== 0) consent(state, sub, master)
  const result = emitResult(state, command, base, 0, master, sub, 0)
  if (known >= 0) write(state.outbox, result, SUB_ACCOUNT_ANSWER.at.flags, Flag.REPEATED)
  const made = getF64(state, accountRow(state, sub), ACCOUNT.CREATED_SEQUENCE)
  writeF64(state.outbox, result, SUB_ACCOUNT_ANSWER.at.createdSequence, made)
}

/** The account of the command's wallet in the application of `master`, or -1. */
const findSub = (state: State, command: Views, base: number, master: number): number =>
  findAccount(state, get(state, accountRow(state, master), ACCOUNT.APPLICATION), command.i32, base + C.address)

function makeSub(state: State, command: Views, base: number, master: number): number {
  const application = get(state, accountRow(state, master), ACCOUNT.APPLICATION)
  const sub = createAccount(state, application, command.i32, base + C.address)
  const family = profileRow(state, master)
  const row = profileRow(state, sub)
  set(state, row, PROFILE.MASTER, master + 1)
  joinFamily(state, sub, master)
  keepAccount(state, sub)
  keepAccount(state, master)
  set(state, row, PROFILE.NEXT_SUB, get(state, family, PROFILE.FIRST_SUB))
  setWords(state, row, PROFILE.USERNAME, USERNAME_BYTES / 4, command.i32, base + C.username)
  set(state, family, PROFILE.FIRST_SUB, sub + 1)
  add(state, family, PROFILE.SUBS, 1)
  touchAccount(state, master)
  return sub
}

function subAccountRefusal(state: State, command: Views, base: number, master: number): number {
  const consented = command.i32[base + C.consented] !== 0
  if (!isUsername(command, base)) return REFUSALS.VALIDATION_ERROR.number
  // First of all that depends on the wallet: whether it is a user is told to nobody it did not agree to.
  if (!consented && needsConsent(state)) return REFUSALS.CONSENT_REQUIRED.number
  const sub = findSub(state, command, base, master)
  if (sub >= 0) return consented && hasSubAccount(state, master, sub) ? 0 : REFUSALS.ADDRESS_IN_USE.number
  const { subAccountsPerMaster } = state.genesis.limits
  if (get(state, profileRow(state, master), PROFILE.SUBS) >= subAccountsPerMaster) return REFUSALS.TOO_MANY_SUB_ACCOUNTS.number
  return makeRoom(state) ? 0 : REFUSALS.OVERLOADED.number
}

/** Printable ASCII, then zeros. */
function isUsername(command: Views, base: number): boolean {
  let ended = false
  for (let at = (base + C.username) * 4; at < (base + C.username) * 4 + USERNAME_BYTES; at++) {
    const byte = command.bytes[at]!
    if (byte === 0) ended = true
    else if (ended || byte < 0x20 || byte > 0x7e) return false
  }
  return true
}

/**
 * Signed by the master. Two CREDIT events, the giver's first, then TRANSFER_ANSWER: the account is the
 * master.
 */
export function transfer(state: State, command: Views, base: number): void {
  const master = masterAccount(state, command, base)
  const keyed = (command.i32[base + T.options]! & Option.KEYED) !== 0
  let code = master < 0 ? -master : 0
  if (code === 0 && keyed) code = admitKey(state, master, command, base)
  if (code === REPEATED) return
  const sub = command.i32[base + T.subAccount]!
  const asset = command.i32[base + T.asset]!
  const toSub = command.i32[base + T.toSub] !== 0
  const [from, to] = toSub ? [master, sub] : [sub, master]
  if (code === 0) code = transferRefusal(state, command, base, master, from)
  if (code === REFUSALS.INSUFFICIENT_BALANCE.number) return refuseShort(state, command, base, from, asset)
  if (code !== 0) return refuse(state, command, base, code)
  const atoms = command.i64[(base + T.amount) >>> 1]!
  state.registers[R.AMOUNT] = -atoms
  credit(state, from, asset, CreditSource.TRANSFER)
  state.registers[R.AMOUNT] = atoms
  credit(state, to, asset, CreditSource.TRANSFER)
  const result = emitResult(state, command, base, 0, master, sub, asset)
  state.outbox.f64[(result + TRANSFER_ANSWER.at.transferSequence) >>> 1] = state.clock[CLOCK.SEQUENCE]!
  if (keyed) keepReceipt(state, master, command, base, result)
}

function transferRefusal(state: State, command: Views, base: number, master: number, from: number): number {
  const asset = command.i32[base + T.asset]!
  const atoms = command.i64[(base + T.amount) >>> 1]!
  if (state.scalars[SCALAR.MAINTENANCE] !== 0) return REFUSALS.OPERATIONS_BLOCKED.number
  if (!hasSubAccount(state, master, command.i32[base + T.subAccount]!)) return REFUSALS.NOT_FOUND.number
  if (from !== master && needsConsent(state) && !hasConsented(state, from)) return REFUSALS.CONSENT_REQUIRED.number
  if (asset < 0 || asset >= assetCount(state)) return REFUSALS.NOT_FOUND.number
  if (atoms < 1n || atoms > MAX_ISSUED) return REFUSALS.VALIDATION_ERROR.number
  return getI64(state, balanceRow(state, from, asset), BALANCE.AVAILABLE) < atoms ? REFUSALS.INSUFFICIENT_BALANCE.number : 0
}

/** INSUFFICIENT_BALANCE; since the rules 4 with what `from` has (SHORT_REFUSAL). */
function refuseShort(state: State, command: Views, base: number, from: number, asset: number): void {
  const result = emitResult(state, command, base, REFUSALS.INSUFFICIENT_BALANCE.number, -1, 0, 0)
  if (state.scalars[SCALAR.RULES]! < 4) return
  state.registers[R.REQUIRED] = command.i64[(base + T.amount) >>> 1]!
  state.registers[R.AMOUNT] = getI64(state, balanceRow(state, from, asset), BALANCE.AVAILABLE)
  addShort(state, result, asset)
}
