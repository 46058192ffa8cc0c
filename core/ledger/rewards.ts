/**
 * Rewards: what the referrers of whoever traded get of a fill (specification, Referral program).
 *
 *   source    The owner of the order, or its master: fills of sub-accounts count for who brought the master.
 *   levels    Who brought the source, who brought that one, and who brought that one. A link to an account that is no more ends the walk
 *             (state/referral_rows.ts). Referrers are older than the source and its sub-accounts younger, so nobody of a family earns of
 *             its own fees.
 *   income    What the house keeps of the order's fee of this fill: of the taker less the rebate of the maker, and less the application's
 *             share of the revenue (fill_shares.ts). Add-ons of applications are no income of the house.
 *   reward    income × share of the level / 10^6, truncated; the shares are together at most all of it, so rewards are never more than the
 *             income, and nothing of an income below zero is anybody's.
 *
 * A reward is its owner's at once, in the asset of the fee, as BALANCE.REWARDS of his row; TRANSFER_REWARDS makes it available
 * (programs/referrals.ts). Each fill looks at three accounts a side at most.
 */
import { WHOLE_PPM } from '../lib/ppm.ts'
import { REFERRAL_LEVELS, REWARD_AMOUNTS, REWARD_EARNERS } from '../layout/referrals.ts'
import { writeI64, write } from '../layout/record.ts'
import { emitReferralReward } from '../events/emit.ts'
import { R, touchAccount } from '../state/balances.ts'
import { ACCOUNT, BALANCE, ORDER, TOTAL } from '../state/columns.ts'
import { keepAccount } from '../state/blank_list.ts'
import { referralShare, referrerOf } from '../state/referral_links.ts'
import { accountRow, balanceRow, gain, get, lose, totalRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const ALL = BigInt(WHOLE_PPM)

/** Gives the referrers of the owner of the order at `row` their parts of register M0, what the house keeps of the last fill of `taker`. */
export function rewardReferrers(state: State, row: number, taker: number, asset: number): void {
  const { registers, outbox } = state
  if (registers[R.M0]! <= 0n) return
  const owner = get(state, row, ORDER.ACCOUNT)
  const source = get(state, accountRow(state, owner), ACCOUNT.FAMILY)
  let told = -1
  let earner = source
  for (let level = 0; level < REFERRAL_LEVELS; level++) {
    earner = referrerOf(state, earner)
    if (earner < 0) return
    registers[R.AMOUNT] = registers[R.M0]! * BigInt(referralShare(state, level) | 0)
    registers[R.AMOUNT] = registers[R.AMOUNT]! / ALL
    if (registers[R.AMOUNT]! === 0n) continue
    if (told < 0) told = emitReferralReward(state, row, taker, source, asset)
    write(outbox, told, REWARD_EARNERS[level]!, earner)
    writeI64(outbox, told, REWARD_AMOUNTS[level]!, registers[R.AMOUNT]!)
    earn(state, earner, asset)
  }
}

/** Register AMOUNT of what the house earned becomes a reward of `account`. */
function earn(state: State, account: number, asset: number): void {
  const total = totalRow(state, asset)
  lose(state, total, TOTAL.FEES, R.AMOUNT)
  gain(state, total, TOTAL.REWARDS, R.AMOUNT)
  gain(state, balanceRow(state, account, asset), BALANCE.REWARDS, R.AMOUNT)
  touchAccount(state, account)
  // It has something now, so its row is its own for good.
  keepAccount(state, account)
}
