/** Steps of the referral program in scenarios; the words are in scenario.ts. */
import { CommandType, Option } from '../../core/layout/command.ts'
import { SET_REFERRAL_SHARES_COMMAND, TRANSFER_REWARDS_COMMAND } from '../../core/layout/referrals.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'
import { parseDecimal } from '../../core/lib/decimal.ts'
import type { Asset } from '../../core/state/genesis.ts'

interface ReferralStep {
  readonly layout: Layout
  readonly type: CommandType
  readonly values: Decoded
  /** Who signs; null: the operator. */
  readonly signer: string | null
}

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

/** The command of a step about rewards; `null`: it is about something else. */
export function referralStep(who: string, verb: string, words: readonly string[], asset: (symbol: string) => Asset): ReferralStep | null {
  if (who === 'shares') {
    const [first, second, third] = [verb, ...words].map((share) => Number(parseDecimal(share, 6))) as [number, number, number]
    const values = { session: -1, first, second, third }
    return { layout: SET_REFERRAL_SHARES_COMMAND, type: CommandType.SET_REFERRAL_SHARES, signer: null, values }
  }
  if (verb !== 'collects') return null
  const [quantity, symbol, given] = words as [string, string, string | undefined]
  const { index, scale } = asset(symbol)
  const key = (text: string): Decoded => ({ key: hex(text, 16), payload: hex(`${quantity} ${symbol}`, 16), options: Option.KEYED })
  const keyed = given === undefined ? {} : key(given)
  const values = { asset: index, amount: parseDecimal(quantity, scale)!, ...keyed }
  return { layout: TRANSFER_REWARDS_COMMAND, type: CommandType.TRANSFER_REWARDS, values, signer: who }
}
