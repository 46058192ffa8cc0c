/**
 * MOVE_COLLATERAL: the wallet, margin accounts and risk buckets of whoever signs (margin/collateral.ts says what buckets give back).
 *
 *   DEPOSIT, WITHDRAW        wallet <-> margin account; the parent is made by its first deposit
 *   TO_SUB, FROM_SUB         parent <-> one of its margin sub-accounts
 *   TO_BUCKET, FROM_BUCKET   free collateral of a margin account <-> one of its risk buckets
 *
 * A refused move moves nothing. Those for want of atoms carry what was asked for and what there was (SHORT_REFUSAL). Delegated agents move
 * nothing. With an idempotency key a repeated command is answered as the first time.
 */
import { COLLATERAL_ANSWER } from '../layout/answers.ts'
import { Option } from '../layout/command.ts'
import { CreditSource } from '../layout/event.ts'
import { CollateralMove, MOVE_COLLATERAL_COMMAND } from '../layout/margin.ts'
import { CollateralReason } from '../layout/margin_events.ts'
import { read, readF64, readI64, writeF64, writeI64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { addShort, emitCollateral, emitCredit, emitResult } from '../events/emit.ts'
import {
  closeOut, findMarginAccount, isInLiquidation, isOfFollow, makeParent, marginAccountOf, mayMakeParent, namedBucket, parentOf, touchMargin,
} from '../margin/buckets.ts'
import { allocate, freeOf, hasFreshPrices, isSettleable, partlyWithdrawable } from '../margin/collateral.ts'
import { R, touchAccount } from '../state/balances.ts'
import { BALANCE, SCALAR } from '../state/columns.ts'
import { MAX_ISSUED } from '../state/genesis.ts'
import { MARGIN_ACCOUNT, MarginAccountKind, RISK_BUCKET } from '../state/margin_rows.ts'
import {
  balanceRow, bucketAt, gain, get, getF64, getI64, lose, marginAccountAt, scalar, sequence, touchBalance,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { keepAccount } from '../state/blank_list.ts'
import { admitKey, keepReceipt, REPEATED } from './receipts.ts'
import { ownerAccount, refuse } from './sessions.ts'

const C = MOVE_COLLATERAL_COMMAND.at
const { DEPOSIT, WITHDRAW, TO_SUB, FROM_SUB, FROM_BUCKET } = CollateralMove
const { INSUFFICIENT_BALANCE, INSUFFICIENT_COLLATERAL } = REFUSALS

/** COLLATERAL_ANSWER. Events: CREDIT of the wallet, then COLLATERAL of who gives, then of who gets. */
export function moveCollateral(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  const keyed = (read(command, base, C.options) & Option.KEYED) !== 0
  let code = account < 0 ? -account : 0
  if (code === 0 && keyed) code = admitKey(state, account, command, base)
  if (code === REPEATED) return
  const move = read(command, base, C.move)
  const bucket = code === 0 && isBucketMove(move)
    ? namedBucket(state, account, read(command, base, C.bucket), sequenceOf(command, base)) : -1
  const margin = code === 0 ? marginAccountFor(state, command, base, account, bucket) : -1
  if (code === 0) code = refusalOf(state, command, base, account, margin, bucket)
  if (code === INSUFFICIENT_BALANCE.number || code === INSUFFICIENT_COLLATERAL.number) return refuseShort(state, command, base, code)
  if (code !== 0) return refuse(state, command, base, code)
  const used = margin < 0 ? makeParent(state, account) : margin
  keepAccount(state, account)
  state.registers[R.AMOUNT] = readI64(command, base, C.amount)
  if (move === DEPOSIT || move === WITHDRAW) moveWallet(state, account, used, move === DEPOSIT)
  else if (isBucketMove(move)) moveBucket(state, bucket, move === FROM_BUCKET)
  else moveSub(state, account, used, move === TO_SUB)
  const result = answer(state, command, base, account, used, bucket)
  if (keyed) keepReceipt(state, account, command, base, result)
}

const isBucketMove = (move: number): boolean => move > FROM_SUB
const sequenceOf = (command: Views, base: number): number => readF64(command, base, C.createdSequence)

/** The margin account that is moved to or from: the named one, or that of the bucket. -1: none, or a parent that is not made yet. */
function marginAccountFor(state: State, command: Views, base: number, account: number, bucket: number): number {
  if (bucket >= 0) return marginAccountOf(state, bucket)
  return findMarginAccount(state, account, read(command, base, C.marginAccount), sequenceOf(command, base))
}

/** Why the move is refused, 0: it is not. For want of atoms register AMOUNT is what there is. */
function refusalOf(state: State, command: Views, base: number, account: number, margin: number, bucket: number): number {
  const move = read(command, base, C.move)
  const named = read(command, base, C.marginAccount)
  const atoms = readI64(command, base, C.amount)
  if (scalar(state, SCALAR.MAINTENANCE) !== 0) return REFUSALS.OPERATIONS_BLOCKED.number
  if (state.collateralAsset < 0) return REFUSALS.NOT_FOUND.number
  if (isBucketMove(move)) {
    if (bucket < 0) return REFUSALS.NOT_FOUND.number
    if (named >= 0 && named !== marginAccountAt(state, margin)) return REFUSALS.RISK_BUCKET_MISMATCH.number
  } else if (named >= 0 && margin < 0) return REFUSALS.NOT_FOUND.number
  if (move === TO_SUB || move === FROM_SUB) {
    if (margin < 0 || get(state, margin, MARGIN_ACCOUNT.KIND) !== MarginAccountKind.SUB) return REFUSALS.NOT_FOUND.number
  }
  if (isOfFollow(state, margin)) return REFUSALS.COPY_MARGIN_ACCOUNT.number
  if (atoms < 1n || atoms > MAX_ISSUED) return REFUSALS.VALIDATION_ERROR.number
  if (move === DEPOSIT) return depositRefusal(state, account, margin, atoms)
  if (isBucketMove(move) && isInLiquidation(state, bucket)) return REFUSALS.RISK_BUCKET_IN_LIQUIDATION.number
  if (move === FROM_BUCKET) return takeOutRefusal(state, bucket, atoms)
  freeOf(state, move === TO_SUB ? parentOf(state, account) : margin)
  return state.registers[R.AMOUNT]! < atoms ? INSUFFICIENT_COLLATERAL.number : 0
}

function depositRefusal(state: State, account: number, margin: number, atoms: bigint): number {
  state.registers[R.AMOUNT] = getI64(state, balanceRow(state, account, state.collateralAsset), BALANCE.AVAILABLE)
  if (state.registers[R.AMOUNT]! < atoms) return INSUFFICIENT_BALANCE.number
  return margin >= 0 ? 0 : mayMakeParent(state, account)
}

function takeOutRefusal(state: State, bucket: number, atoms: bigint): number {
  if (!hasFreshPrices(state, bucket)) return REFUSALS.PRICE_STALE.number
  if (isCloseOut(state, bucket, atoms)) return 0
  partlyWithdrawable(state, bucket)
  return state.registers[R.AMOUNT]! < atoms ? INSUFFICIENT_COLLATERAL.number : 0
}

/** True when taking out so much settles and closes the bucket. */
const isCloseOut = (state: State, bucket: number, atoms: bigint): boolean =>
  isSettleable(state, bucket) && getI64(state, bucket, RISK_BUCKET.ALLOCATED) === atoms

/** The refusal `code` with what was asked for and register AMOUNT, what there is. */
function refuseShort(state: State, command: Views, base: number, code: number): void {
  const result = emitResult(state, command, base, code, -1, 0, 0)
  state.registers[R.REQUIRED] = readI64(command, base, C.amount)
  addShort(state, result, state.collateralAsset)
}

/** Register AMOUNT between the wallet and the margin account. */
function moveWallet(state: State, account: number, margin: number, deposits: boolean): void {
  const { registers } = state
  const balance = balanceRow(state, account, state.collateralAsset)
  if (deposits) registers[R.AMOUNT] = -registers[R.AMOUNT]!
  gain(state, balance, BALANCE.AVAILABLE, R.AMOUNT)
  lose(state, margin, MARGIN_ACCOUNT.DEPOSITED, R.AMOUNT)
  touchBalance(state, balance)
  touchAccount(state, account)
  touchMargin(state, margin)
  emitCredit(state, account, state.collateralAsset, CreditSource.COLLATERAL)
  registers[R.AMOUNT] = -registers[R.AMOUNT]!
  emitCollateral(state, margin, -1, deposits ? CollateralReason.DEPOSIT : CollateralReason.WITHDRAW)
}

/** Register AMOUNT between the parent and a sub-account. */
export function moveSub(state: State, account: number, sub: number, toSub: boolean): void {
  const parent = parentOf(state, account)
  const { registers } = state
  registers[R.AMOUNT] = -registers[R.AMOUNT]!
  changeDeposit(state, toSub ? parent : sub, CollateralReason.SUB_ACCOUNT)
  registers[R.AMOUNT] = -registers[R.AMOUNT]!
  changeDeposit(state, toSub ? sub : parent, CollateralReason.SUB_ACCOUNT)
}

/** Adds register AMOUNT, signed, to what is deposited, and says so. */
export function changeDeposit(state: State, margin: number, reason: number): void {
  gain(state, margin, MARGIN_ACCOUNT.DEPOSITED, R.AMOUNT)
  touchMargin(state, margin)
  emitCollateral(state, margin, -1, reason)
}

/** Register AMOUNT between the bucket and its margin account. */
function moveBucket(state: State, bucket: number, takesOut: boolean): void {
  const { registers } = state
  if (takesOut && isCloseOut(state, bucket, registers[R.AMOUNT]!)) return closeOut(state, bucket)
  if (takesOut) registers[R.AMOUNT] = -registers[R.AMOUNT]!
  allocate(state, bucket)
}

function answer(state: State, command: Views, base: number, account: number, margin: number, bucket: number): number {
  const { outbox } = state
  const result = emitResult(state, command, base, 0, account, marginAccountAt(state, margin), bucket < 0 ? -1 : bucketAt(state, bucket))
  writeF64(outbox, result, COLLATERAL_ANSWER.at.createdSequence, getF64(state, margin, MARGIN_ACCOUNT.CREATED_SEQUENCE))
  writeI64(outbox, result, COLLATERAL_ANSWER.at.deposited, getI64(state, margin, MARGIN_ACCOUNT.DEPOSITED))
  if (bucket >= 0) writeI64(outbox, result, COLLATERAL_ANSWER.at.allocated, getI64(state, bucket, RISK_BUCKET.ALLOCATED))
  writeF64(outbox, result, COLLATERAL_ANSWER.at.moveSequence, sequence(state))
  return result
}
