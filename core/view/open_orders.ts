/**
 * Open orders of one account as a listing: what the history would answer of the orders that rest, exact and without it.
 *
 * Filters look at the columns and only the rows of the page are copied, so that the first page of an account with ten thousand open
 * orders costs a walk along its list, not ten thousand objects.
 */
import type { Listing, OrdersAsk } from './listing.ts'
import { ACCOUNT, CLOCK, ORDER } from '../state/columns.ts'
import { accountRow, get, getF64, orderRow, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { Flag, CLIENT_ORDER_ID_SHIFT } from '../layout/command.ts'
import { Status } from '../layout/event.ts'
import { copyOrder, type OrderView } from './accounts.ts'
import { consistently } from './consistent.ts'

/** The resting orders that `ask` asks for, newest first, in one consistent copy; `null` when they are unreadable. */
export function listOpenOrders(state: State, gate: Int32Array, ask: OrdersAsk): Listing<OrderView> | null {
  const row = accountRow(state, ask.account)
  return consistently(gate, state.i32, wordOf(row, ACCOUNT.VERSION), () => {
    const { orders, openOrdersPerAccount } = state.genesis.limits
    const most = Math.min(get(state, row, ACCOUNT.OPEN_ORDERS), openOrdersPerAccount)
    const rows: OrderView[] = []
    let found = 0
    let older = 0
    let slot = get(state, row, ACCOUNT.ORDERS_HEAD)
    // A copy that turns out torn may follow any link: the slots are checked and the steps counted.
    for (let step = 0; step < most && slot >= 0 && slot < orders; step++) {
      if (matches(state, slot, ask)) {
        found++
        if (isAfter(state, slot, ask)) {
          if (older >= ask.skip && rows.length < ask.limit) rows.push(copyOrder(state, slot))
          older++
        }
      }
      slot = get(state, orderRow(state, slot), ORDER.ACCOUNT_NEXT)
    }
    return { rows, total: Math.min(found, ask.countMost), more: older > ask.skip + rows.length }
  })
}

/** All resting orders of an account, newest first, as they are when every command up to `sequence` was applied and none behind it. */
export interface OpenOrders {
  readonly sequence: number
  readonly orders: readonly OrderView[]
}

/** {@link OpenOrders} of `account`; `null` when they are unreadable. */
export function readOpenOrders(state: State, gate: Int32Array, account: number): OpenOrders | null {
  const row = accountRow(state, account)
  return consistently(gate, state.i32, wordOf(row, ACCOUNT.VERSION), () => {
    // Before the orders: whatever is applied from here on to other accounts leaves these as they were at this sequence.
    const sequence = state.clock[CLOCK.SEQUENCE]!
    const { orders: slots, openOrdersPerAccount } = state.genesis.limits
    const most = Math.min(get(state, row, ACCOUNT.OPEN_ORDERS), openOrdersPerAccount)
    const orders: OrderView[] = []
    let slot = get(state, row, ACCOUNT.ORDERS_HEAD)
    for (let step = 0; step < most && slot >= 0 && slot < slots; step++) {
      orders.push(copyOrder(state, slot))
      slot = get(state, orderRow(state, slot), ORDER.ACCOUNT_NEXT)
    }
    return { sequence, orders }
  })
}

const isAfter = (state: State, slot: number, { after }: OrdersAsk): boolean =>
  after === null || getF64(state, orderRow(state, slot), ORDER.SEQUENCE) < after.sequence

function matches(state: State, slot: number, ask: OrdersAsk): boolean {
  const row = orderRow(state, slot)
  const flags = get(state, row, ORDER.FLAGS)
  if (ask.pair !== undefined && ask.pair !== get(state, row, ORDER.PAIR)) return false
  if (ask.sell !== undefined && ask.sell !== ((flags & Flag.SELL) !== 0)) return false
  if (ask.market !== undefined && ask.market !== ((flags & Flag.MARKET) !== 0)) return false
  if (ask.margin !== undefined && ask.margin !== ((flags & Flag.MARGIN) !== 0)) return false
  if (ask.statuses !== undefined) {
    const filled = get(state, row, ORDER.REMAINING) < get(state, row, ORDER.LOTS)
    if (!ask.statuses.includes(filled ? Status.PARTIALLY_FILLED : Status.SUBMITTED)) return false
  }
  if (ask.from !== undefined || ask.to !== undefined) {
    const createdAt = getF64(state, row, ORDER.CREATED_AT)
    if (createdAt < (ask.from ?? 0) || createdAt > (ask.to ?? Infinity)) return false
  }
  if (ask.clientOrderId === undefined) return true
  return flags >>> CLIENT_ORDER_ID_SHIFT === ask.clientOrderId.length && copyOrder(state, slot).clientOrderId === ask.clientOrderId
}
