/** Orders that nobody asked for over the wire, in the naive exchange. */
import { FLAG_ORDER_MASK } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { enter, type Refuse } from './naive_orders.ts'
import { openRefusal, type Ex } from './naive_terms.ts'

/** ENTER_ORDER: an order of the exchange itself for an account, with its origin in the flags; a refusal says what was wanted. */
export function enterOwn(ex: Ex, command: Decoded): void {
  const account = Number(command['account'])
  const [given, origin, pair] = [Number(command['flags']), Number(command['origin']), Number(command['pair'])]
  const flags = ((given & FLAG_ORDER_MASK) | ((origin & 7) << 21)) >>> 0
  const refuse: Refuse = (code) =>
    void ex.result(command, { code, account, pair, flags, price: command['price']!, lots: command['lots']! })
  if (ex.accounts[account]?.createdSequence !== command['createdSequence']) return refuse(CODE.NOT_FOUND)
  if (![1, 2, 3, 4].includes(origin) || (given & ~FLAG_ORDER_MASK) !== 0) return refuse(CODE.VALIDATION_ERROR)
  const early = openRefusal(ex, pair)
  if (early !== 0) return refuse(early)
  enter(ex, command, account, null, flags, refuse)
}
