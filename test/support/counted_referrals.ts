/** The referral program, counted (counted_stage.ts): shares, a sign-in with three referrers before it, and a transfer of rewards. */
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { ACCOUNT, BALANCE, SESSION, TOTAL } from '../../core/state/columns.ts'
import { accountRow, balanceRow, get, getF64, getI64, sessionRow, setI64, totalRow } from '../../core/state/rows.ts'
import type { CountedStage } from './counted_stage.ts'

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

/** What a sign-in says that `by` brought: whoever signs with that session. */
export function broughtBy({ state }: CountedStage, by: Decoded): Decoded {
  const account = get(state, sessionRow(state, Number(by['session'])), SESSION.ACCOUNT)
  return { referrer: account + 1, referrerSequence: getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE) }
}

/** `earner` was brought over two links. */
export function countReferrals(stage: CountedStage, earner: Decoded): void {
  const { state } = stage
  stage.count(CommandType.SET_REFERRAL_SHARES, { first: 200_000, second: 50_000, third: 25_000 })
  const wallet = { address: hex('brought', 20), publicKey: hex('key of brought', 32) }
  stage.count(CommandType.OPEN_SESSION, { ...wallet, ...broughtBy(stage, earner) })
  const account = get(state, sessionRow(state, Number(earner['session'])), SESSION.ACCOUNT)
  const total = totalRow(state, 0)
  setI64(state, balanceRow(state, account, 0), BALANCE.REWARDS, getI64(state, balanceRow(state, account, 0), BALANCE.REWARDS) + 1n)
  setI64(state, total, TOTAL.REWARDS, getI64(state, total, TOTAL.REWARDS) + 1n)
  setI64(state, total, TOTAL.FEES, getI64(state, total, TOTAL.FEES) - 1n)
  stage.count(CommandType.TRANSFER_REWARDS, { ...earner, asset: 0, amount: 1n })
}
