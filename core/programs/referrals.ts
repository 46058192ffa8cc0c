/**
 * The referral program: who brought whom, and rewards of fees (specification, Referral program; ledger/rewards.ts has what is earned).
 *
 * - **A referral** is recorded with the first sign-in of a wallet to an application, or never (accounts.ts): OPEN_SESSION names the account
 *   whose code was given. It must be of the same application; otherwise, or when the account is no more, nothing is recorded and the
 *   sign-in goes on. An account is younger than who brought it, so nobody is his own referrer, over however many links.
 * - **A blank account** may bring others. When its row goes to another wallet, links to it name nobody from then on; with its first reward
 *   it is blank no more. The row of a blank account that was brought leaves the list of who brought it. So sign-ins alone keep no row.
 * - **Shares** are those of the genesis until the operator sets others, for the fills behind that command.
 * - **A transfer** moves rewards to what the account has available. Rewards are no balance before: they cannot be traded or withdrawn.
 *
 * Every command looks at {@link REFERRAL_LEVELS} accounts at most.
 */
import { REFERRAL_SHARES_ANSWER, REWARDS_ANSWER } from '../layout/answers.ts'
import { Option } from '../layout/command.ts'
import { CreditSource } from '../layout/event.ts'
import { read, readI64, write, writeF64 } from '../layout/record.ts'
import { REFERRAL_LEVELS, SET_REFERRAL_SHARES_COMMAND, TRANSFER_REWARDS_COMMAND } from '../layout/referrals.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { addShort, emitResult } from '../events/emit.ts'
import { credit } from '../ledger/credit.ts'
import { R } from '../state/balances.ts'
import { BALANCE, SCALAR, TOTAL } from '../state/columns.ts'
import { MAX_ISSUED } from '../state/genesis.ts'
import { areShares } from '../state/referral_shares.ts'
import { referralShare } from '../state/referral_links.ts'
import { REFERRING } from '../state/referral_rows.ts'
import { assetCount, balanceRow, getI64, lose, referringRow, scalar, sequence, set, setScalar, totalRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { laneRefusal } from './policy.ts'
import { admitKey, keepReceipt, REPEATED } from './receipts.ts'
import { ownerAccount, refuse } from './sessions.ts'

const S = SET_REFERRAL_SHARES_COMMAND.at
const T = TRANSFER_REWARDS_COMMAND.at

/** VALIDATION_ERROR: a share below 0, or together more than all of it. */
export function setReferralShares(state: State, command: Views, base: number): void {
  const shares = [read(command, base, S.first), read(command, base, S.second), read(command, base, S.third)]
  let code = laneRefusal(command, base)
  if (code === 0 && !areShares(shares)) code = REFUSALS.VALIDATION_ERROR.number
  const before = referralShare(state, 0)
  if (code === 0) {
    setScalar(state, SCALAR.REFERRING, 1)
    const row = referringRow(state)
    set(state, row, REFERRING.SET, 1)
    for (let level = 0; level < REFERRAL_LEVELS; level++) set(state, row, REFERRING.FIRST_PPM + level, shares[level]!)
  }
  const at = emitResult(state, command, base, code, -1, 0, 0)
  if (code !== 0) return
  write(state.outbox, at, REFERRAL_SHARES_ANSWER.at.before, before)
  write(state.outbox, at, REFERRAL_SHARES_ANSWER.at.first, shares[0]!)
  write(state.outbox, at, REFERRAL_SHARES_ANSWER.at.second, shares[1]!)
  write(state.outbox, at, REFERRAL_SHARES_ANSWER.at.third, shares[2]!)
}

/**
 * Signed by the account's own wallet. A CREDIT event, then REWARDS_ANSWER. OPERATIONS_BLOCKED in maintenance; NOT_FOUND: no such asset;
 * VALIDATION_ERROR: the amount; INSUFFICIENT_BALANCE with what there is (SHORT_REFUSAL).
 */
export function transferRewards(state: State, command: Views, base: number): void {
  const account = ownerAccount(state, command, base)
  const keyed = (read(command, base, T.options) & Option.KEYED) !== 0
  let code = account < 0 ? -account : 0
  if (code === 0 && keyed) code = admitKey(state, account, command, base)
  if (code === REPEATED) return
  const asset = read(command, base, T.asset)
  const { registers, outbox } = state
  registers[R.REQUIRED] = readI64(command, base, T.amount)
  if (code === 0) code = transferRefusal(state, account, asset)
  if (code === REFUSALS.INSUFFICIENT_BALANCE.number) {
    registers[R.AMOUNT] = getI64(state, balanceRow(state, account, asset), BALANCE.REWARDS)
    return addShort(state, emitResult(state, command, base, code, -1, 0, 0), asset)
  }
  if (code !== 0) return refuse(state, command, base, code)
  registers[R.AMOUNT] = registers[R.REQUIRED]!
  lose(state, balanceRow(state, account, asset), BALANCE.REWARDS, R.AMOUNT)
  lose(state, totalRow(state, asset), TOTAL.REWARDS, R.AMOUNT)
  credit(state, account, asset, CreditSource.REFERRAL_REWARD)
  const result = emitResult(state, command, base, 0, account, 0, asset)
  writeF64(outbox, result, REWARDS_ANSWER.at.transferSequence, sequence(state))
  if (keyed) keepReceipt(state, account, command, base, result)
}

/** Of register REQUIRED. */
function transferRefusal(state: State, account: number, asset: number): number {
  const { registers } = state
  if (scalar(state, SCALAR.MAINTENANCE) !== 0) return REFUSALS.OPERATIONS_BLOCKED.number
  if (asset < 0 || asset >= assetCount(state)) return REFUSALS.NOT_FOUND.number
  if (registers[R.REQUIRED]! < 1n || registers[R.REQUIRED]! > MAX_ISSUED) return REFUSALS.VALIDATION_ERROR.number
  return getI64(state, balanceRow(state, account, asset), BALANCE.REWARDS) < registers[R.REQUIRED]!
    ? REFUSALS.INSUFFICIENT_BALANCE.number : 0
}
