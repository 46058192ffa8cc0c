/**
 * What a mass cancel left on the book: the orders of an account that rested before it began and rest still.
 *
 * A mass cancel that came to its end has ended every order it was meant for but those on a halted pair and, when a
 * delegated agent asked, those of pairs and margin accounts that it is not granted. So whatever rests from before it began
 * was left for one of these reasons, whatever the status of its pair is by now.
 */
import { isPairHalted } from '../book/pool.ts'
import { hasMarginBound, lacksToCancelEverything, mayTrade } from '../programs/grants.ts'
import { ACCOUNT, ORDER, TERMS } from '../state/columns.ts'
import { accountRow, get, getF64, orderRow, termsRow, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { consistently } from './consistent.ts'

export interface LeftOrder {
  readonly slot: number
  readonly sequence: number
  readonly pair: number
}

/** Newest first. */
export interface LeftOrders {
  readonly orders: readonly LeftOrder[]
  /** How many there are, more than `orders` when there are more than were asked for. */
  readonly total: number
}

/**
 * Orders of `account` on `pair` (-1: on any) that the commands before sequence `before` placed and that rest, `most` of them; `null` when
 * they are unreadable.
 */
export function readLeftOrders(
  state: State, gate: Int32Array, account: number, pair: number, before: number, most: number,
): LeftOrders | null {
  const row = accountRow(state, account)
  return consistently(gate, state.i32, wordOf(row, ACCOUNT.VERSION), () => {
    const { orders: slots, openOrdersPerAccount } = state.genesis.limits
    const steps = Math.min(get(state, row, ACCOUNT.OPEN_ORDERS), openOrdersPerAccount)
    const orders: LeftOrder[] = []
    let total = 0
    let slot = get(state, row, ACCOUNT.ORDERS_HEAD)
    // A copy that turns out torn may follow any link: the slots are checked and the steps counted.
    for (let step = 0; step < steps && slot >= 0 && slot < slots; step++) {
      const order = orderRow(state, slot)
      const [of, sequence] = [get(state, order, ORDER.PAIR), getF64(state, order, ORDER.SEQUENCE)]
      if (sequence < before && (pair < 0 || of === pair)) {
        if (total++ < most) orders.push({ slot, sequence, pair: of })
      }
      slot = get(state, order, ORDER.ACCOUNT_NEXT)
    }
    return { orders, total }
  })
}

/** Whether the agent in row `agent` may cancel whatever its account has; the engine decides it again (orders/dead_man.ts). */
export const mayCancelEverything = (state: State, agent: number): boolean => lacksToCancelEverything(state, agent) === 0

/**
 * Whether the agent in row `agent` was not granted what a mass cancel left on `pair`, by its pair or, on a perpetual that is not halted, by
 * its margin account.
 */
export function isNotGranted(state: State, agent: number, pair: number): boolean {
  if (!mayTrade(state, agent, pair)) return true
  return get(state, termsRow(state, pair), TERMS.PERP) !== 0 && !isPairHalted(state, pair) && hasMarginBound(state, agent)
}
