/**
 * Margin accounts and risk buckets as commands of whoever owns them (margin/buckets.ts): OPEN_MARGIN_ACCOUNT makes a margin sub-account,
 * CLOSE_MARGIN_ACCOUNT takes it back, OPEN_RISK_BUCKET makes the bucket of a strategy key. The parent is made with the first thing that
 * needs it. Delegated agents may do neither of the first two; they open the buckets that they may place orders in (grants.ts).
 *
 * A sub-account closes only when all its buckets are flat and solvent. They are settled and given up in the same step, and everything that
 * is deposited goes to the parent; both are bounded by `limits.bucketsPerMarginAccount`. A refusal changes nothing.
 *
 * The rows of margin accounts are shared out among families (state/shares.ts). What a family has is counted when it is asked for, which is
 * bounded by `limits.subAccountsPerMaster`.
 */
import { CLOSED_MARGIN_ACCOUNT_ANSWER, MARGIN_ACCOUNT_ANSWER, RISK_BUCKET_ANSWER } from '../layout/answers.ts'
import { CLOSE_MARGIN_ACCOUNT_COMMAND, OPEN_MARGIN_ACCOUNT_COMMAND, OPEN_RISK_BUCKET_COMMAND } from '../layout/margin.ts'
import { CollateralReason } from '../layout/margin_events.ts'
import { read, readF64, writeF64, writeI64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import {
  closeOut, findBucket, findMarginAccount, giveUpBucket, giveUpMarginAccount, isFlat, isInLiquidation, makeBucket, makeMarginAccount,
  isOfFollow, makeParent, marginAccountsOfFamily, mayMakeBucket, parentOf,
} from '../margin/buckets.ts'
import { isSettleable } from '../margin/collateral.ts'
import { isPerpetual } from '../margin/mark_price.ts'
import { R } from '../state/balances.ts'
import { ACCOUNT, SCALAR } from '../state/columns.ts'
import { sameWords } from '../state/indexes.ts'
import {
  BucketState, MARGIN_ACCOUNT, MarginAccountKind, MarginMode, RISK_BUCKET, STRATEGY_KEY_BYTES, STRATEGY_KEY_WORDS,
} from '../state/margin_rows.ts'
import {
  accountRow, bucketAt, bucketRow, get, getF64, getI64, marginAccountAt, scalar, setWords, wordOf,
} from '../state/rows.ts'
import { mayTake } from '../state/shares.ts'
import type { State } from '../state/state.ts'
import { keepAccount } from '../state/blank_list.ts'
import { changeDeposit } from './collateral.ts'
import { lacksMarginAccount, lacksToOpenBucket } from './grants.ts'
import { ownerAccount, refuse, sessionAccount, sessionAgent } from './sessions.ts'

const O = OPEN_MARGIN_ACCOUNT_COMMAND.at
const X = CLOSE_MARGIN_ACCOUNT_COMMAND.at
const B = OPEN_RISK_BUCKET_COMMAND.at
const LABEL_BYTES = 32

/** The account that signed, or the number of the refusal, negated: who may not, maintenance, an exchange without perpetuals. */
function signer(state: State, command: Views, base: number): number {
  const account = ownerAccount(state, command, base)
  if (account < 0) return account
  if (scalar(state, SCALAR.MAINTENANCE) !== 0) return -REFUSALS.OPERATIONS_BLOCKED.number
  return state.collateralAsset < 0 ? -REFUSALS.NOT_FOUND.number : account
}

/** MARGIN_ACCOUNT_ANSWER. */
export function openMarginAccount(state: State, command: Views, base: number): void {
  const account = signer(state, command, base)
  const code = account < 0 ? -account : openRefusal(state, command, base, account)
  if (code !== 0) return refuse(state, command, base, code)
  makeParent(state, account)
  const sub = makeMarginAccount(state, account, MarginAccountKind.SUB)
  setWords(state, sub, MARGIN_ACCOUNT.LABEL, LABEL_BYTES / 4, command.i32, base + O.label)
  keepAccount(state, account)
  const result = emitResult(state, command, base, 0, account, marginAccountAt(state, sub), 0)
  writeF64(state.outbox, result, MARGIN_ACCOUNT_ANSWER.at.createdSequence, getF64(state, sub, MARGIN_ACCOUNT.CREATED_SEQUENCE))
}

function openRefusal(state: State, command: Views, base: number, account: number): number {
  return isText(command, base + O.label, LABEL_BYTES, 0xff) ? mayOpenSub(state, account) : REFUSALS.VALIDATION_ERROR.number
}

/** Why `account` may not have a margin sub-account more: number of a refusal; 0: it may. */
export function mayOpenSub(state: State, account: number): number {
  const { marginAccounts, marginSubAccounts } = state.genesis.limits
  const parents = parentOf(state, account) < 0 ? 0 : 1
  const subs = get(state, accountRow(state, account), ACCOUNT.MARGIN_ACCOUNTS) - parents
  if (subs >= marginSubAccounts) return REFUSALS.TOO_MANY_MARGIN_ACCOUNTS.number
  // A parent that is not made yet takes a row too.
  const free = marginAccounts - scalar(state, SCALAR.MARGIN_ACCOUNTS_LIVE) - (1 - parents)
  const held = marginAccountsOfFamily(state, account) + 1 - parents
  return mayTake(held, marginAccounts, free) ? 0 : REFUSALS.TOO_MANY_MARGIN_ACCOUNTS.number
}

/** Bytes from 0x20 to `most` but DEL, then zeros. */
function isText(command: Views, word: number, length: number, most: number): boolean {
  let ended = false
  for (let at = word * 4; at < word * 4 + length; at++) {
    const byte = command.bytes[at]!
    if (byte === 0) ended = true
    else if (ended || byte < 0x20 || byte === 0x7f || byte > most) return false
  }
  return true
}

/** CLOSED_MARGIN_ACCOUNT_ANSWER. COLLATERAL of each bucket that is settled, of the sub-account and of its parent. */
export function closeMarginAccount(state: State, command: Views, base: number): void {
  const account = signer(state, command, base)
  const sub = account < 0
    ? -1 : findMarginAccount(state, account, read(command, base, X.marginAccount), readF64(command, base, X.createdSequence))
  const copies = isOfFollow(state, sub) ? REFUSALS.COPY_MARGIN_ACCOUNT.number : 0
  const code = account < 0 ? -account : copies || closeRefusal(state, sub)
  if (code !== 0) return refuse(state, command, base, code)
  const row = marginAccountAt(state, sub)
  closeSub(state, account, sub)
  const result = emitResult(state, command, base, 0, account, row, 0)
  writeI64(state.outbox, result, CLOSED_MARGIN_ACCOUNT_ANSWER.at.amount, state.registers[R.AMOUNT]!)
}

/** Settles the buckets of a sub-account that {@link closeRefusal} lets close, and gives it up. Register AMOUNT: what went to the parent. */
export function closeSub(state: State, account: number, sub: number): void {
  const { registers } = state
  settleBuckets(state, sub)
  registers[R.AMOUNT] = -getI64(state, sub, MARGIN_ACCOUNT.DEPOSITED)
  changeDeposit(state, sub, CollateralReason.CLOSED)
  registers[R.AMOUNT] = -registers[R.AMOUNT]!
  changeDeposit(state, parentOf(state, account), CollateralReason.CLOSED)
  giveUpMarginAccount(state, sub)
}

/** In liquidation comes first: whoever has such a bucket is not flat either, and must know why. */
export function closeRefusal(state: State, sub: number): number {
  if (sub < 0 || get(state, sub, MARGIN_ACCOUNT.KIND) !== MarginAccountKind.SUB) return REFUSALS.NOT_FOUND.number
  let [flat, solvent] = [true, true]
  let next = get(state, sub, MARGIN_ACCOUNT.FIRST_BUCKET)
  while (next !== 0) {
    const bucket = bucketRow(state, next - 1)
    next = get(state, bucket, RISK_BUCKET.NEXT)
    if (!isFlat(state, bucket)) flat = false
    if (isInLiquidation(state, bucket) || (isFlat(state, bucket) && !isSettleable(state, bucket))) solvent = false
  }
  if (!solvent) return REFUSALS.RISK_BUCKET_IN_LIQUIDATION.number
  if (get(state, sub, MARGIN_ACCOUNT.TWAPS) !== 0) return REFUSALS.MARGIN_ACCOUNT_NOT_FLAT.number
  return flat ? 0 : REFUSALS.MARGIN_ACCOUNT_NOT_FLAT.number
}

/** Settles and gives up all buckets, which are flat and solvent. */
function settleBuckets(state: State, margin: number): void {
  let next = get(state, margin, MARGIN_ACCOUNT.FIRST_BUCKET)
  while (next !== 0) {
    const bucket = bucketRow(state, next - 1)
    if (get(state, bucket, RISK_BUCKET.STATE) !== BucketState.CLOSED) closeOut(state, bucket)
    giveUpBucket(state, margin, bucket)
    next = get(state, margin, MARGIN_ACCOUNT.FIRST_BUCKET)
  }
}

/** RISK_BUCKET_ANSWER; done as well when the margin account has such a bucket, closed ones too. */
export function openRiskBucket(state: State, command: Views, base: number): void {
  const pair = read(command, base, B.pair)
  const account = opener(state, command, base, pair)
  if (account < 0) return refuse(state, command, base, -account)
  const agent = sessionAgent(state, command, base)
  const margin = findMarginAccount(state, account, read(command, base, B.marginAccount), readF64(command, base, B.createdSequence))
  const unknown = margin < 0 && read(command, base, B.marginAccount) >= 0
  let lacking = agent < 0 ? 0 : lacksToOpenBucket(state, agent, pair)
  if (agent >= 0 && lacking === 0 && !unknown) lacking = lacksMarginAccount(state, agent, margin)
  if (lacking !== 0) return void emitResult(state, command, base, REFUSALS.AGENT_NOT_ALLOWED.number, account, lacking, 0)
  const mode = pair < 0 ? MarginMode.CROSS : MarginMode.ISOLATED
  const [low, high] = [read(command, base, B.keyLow), read(command, base, B.keyHigh)]
  const known = findBucket(state, margin, mode, pair, low, high)
  const code = bucketRefusal(state, command, base, account, margin, known)
  if (code !== 0) return refuse(state, command, base, code)
  const bucket = known >= 0 ? known : makeBucket(state, margin < 0 ? makeParent(state, account) : margin, mode, pair, low, high)
  if (known < 0) {
    setWords(state, bucket, RISK_BUCKET.STRATEGY_KEY, STRATEGY_KEY_WORDS, command.i32, base + B.strategyKey)
    keepAccount(state, account)
  }
  const result = emitResult(state, command, base, 0, account, bucketAt(state, bucket), known < 0 ? 1 : 0)
  writeF64(state.outbox, result, RISK_BUCKET_ANSWER.at.createdSequence, getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE))
}

/** As {@link signer}, of a perpetual or of none; also for an agent, whose grants are looked at when the pair is known to be there. */
function opener(state: State, command: Views, base: number, pair: number): number {
  const account = sessionAccount(state, command, base)
  if (account < 0) return -REFUSALS.SESSION_INVALID.number
  if (scalar(state, SCALAR.MAINTENANCE) !== 0) return -REFUSALS.OPERATIONS_BLOCKED.number
  const isThere = state.collateralAsset >= 0 && (pair < 0 || isPerpetual(state, pair))
  return isThere ? account : -REFUSALS.NOT_FOUND.number
}

function bucketRefusal(state: State, command: Views, base: number, account: number, margin: number, known: number): number {
  const text = base + B.strategyKey
  const hashed = (read(command, base, B.keyLow) | read(command, base, B.keyHigh)) !== 0
  // A key and no hash, or a hash and no key: the two would not find each other.
  const keyed = command.bytes[text * 4] !== 0
  if (!isText(command, text, STRATEGY_KEY_BYTES, 0x7e) || hashed !== keyed) return REFUSALS.VALIDATION_ERROR.number
  if (read(command, base, B.marginAccount) >= 0 && margin < 0) return REFUSALS.NOT_FOUND.number
  if (known < 0) return isOfFollow(state, margin) ? REFUSALS.COPY_MARGIN_ACCOUNT.number : mayMakeBucket(state, account, margin)
  // Another key with the same hash.
  const same = sameWords(state.i32, wordOf(known, RISK_BUCKET.STRATEGY_KEY), command.i32, text, STRATEGY_KEY_WORDS)
  return same ? 0 : REFUSALS.RISK_BUCKET_MISMATCH.number
}
