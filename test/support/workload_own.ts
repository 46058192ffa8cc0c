/** Orders that nobody asked for over the wire, in the stream of a workload: some of the orders that clients would have placed. */
import { CommandType, FLAG_ORDER_MASK, Option } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'

/** By the time and not by chance, so that the rest of the stream is as it was before there were any. */
export const isOwnOrder = (time: number): boolean => time % 5 === 1

/** The same order as one of the exchange; now and then of an account or an origin that there is not, or with flags no order has. */
export function ownOrder(time: number, order: Decoded, account: number, made: number): { type: CommandType; values: Decoded } {
  const { pair, price, lots, slippageBps, expiresAt } = order as Record<string, number>
  const odd = Math.floor(time / 5) % 40
  const flags = Number(order['flags']) & (odd === 0 ? ~Option.KEYED : FLAG_ORDER_MASK)
  const values = {
    session: -1, pair: pair!, flags: flags >>> 0, price: price!, lots: lots!, slippageBps: slippageBps!, expiresAt: expiresAt!,
    origin: odd === 1 ? 0 : odd === 2 ? 5 : 1 + (time % 4), account: odd === 3 ? -1 : account, createdSequence: odd === 4 ? made + 1 : made,
    options: Number(order['flags']) & Option.TELL_SELF_TRADE,
  }
  return { type: CommandType.ENTER_ORDER, values }
}
