/**
 *   D    due queue: a heap by (moment, sequence, place) that has each place of rows in use once, and no key is after an order of its
 *        place; the keys of others are deadlines of accounts, expiries of conditional orders and times of TWAP orders; mass cancels under
 *        way are in their list once, first those that go on
 *        by themselves, then the others in the order of their last part
 *
 * See invariants.ts.
 */
import { broken } from '../lib/assert.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, CLOCK, DISCONNECT, DISCONNECT_WORDS, DUE_ROWS, duePlaces, ORDER, ORDER_WORDS, SCALAR, SWEEP, SWEEP_WORDS, SweptBy,
} from './columns.ts'
import { CONDITIONAL, CONDITIONAL_WORDS, TWAP, TWAP_WORDS } from './conditional_rows.ts'
import { dueCount } from './due.ts'
import type { State } from './state.ts'

export function checkDue(state: State, live: readonly number[]): void {
  const { dueAt, dueHeap, dueKeys, ordersF64, scalars } = state
  const places = duePlaces(scalars[SCALAR.ORDERS_USED]!)
  const count = places + checkMoments(state)
  if (dueCount(state) !== count) broken('D', `the due queue has ${dueCount(state)} places of ${count}`)
  const keyOf = (place: number): number[] => [dueKeys[2 * place]!, dueKeys[2 * place + 1]!, place]
  for (let at = 1; at <= count; at++) {
    const place = dueHeap[at]!
    const isUsed = place >= state.dueOrderPlaces || (place >= 0 && place < places)
    if (!isUsed || dueAt[place] !== at) broken('D', `place ${place} of the due queue is not where it stands`)
    const above = at === 1 ? place : dueHeap[((at - 2) >>> 2) + 1]!
    if (isAfter(keyOf(above), keyOf(place))) broken('D', `place ${above} of the due queue stands above ${place} and is later`)
  }
  for (const slot of live) {
    const row = (slot * ORDER_WORDS) >>> 1
    const expiry = [ordersF64[row + ORDER.EXPIRES_AT / 2]!, ordersF64[row + ORDER.SEQUENCE / 2]!]
    const place = Math.floor(slot / DUE_ROWS)
    if (isAfter(keyOf(place), expiry)) broken('D', `the order in slot ${slot} expires at ${expiry[0]}, before its place in the due queue`)
  }
}

/**
 * Each account with a deadline, conditional order with an expiry and TWAP order that is looked at again has its place, with that as its
 * key; those that had one once have it too. How many places.
 */
function checkMoments(state: State): number {
  const { accountsF64, conditionalsF64, disconnectsF64, dueOrderPlaces, scalars, twapsF64 } = state
  const { accounts, conditionalOrders, twapOrders } = state.genesis.limits
  const deadlineOf = (account: number): number => {
    const deadline = accountsF64[(account * ACCOUNT_WORDS + ACCOUNT.DEADLINE) >>> 1]!
    const returnBy = disconnectsF64[(account * DISCONNECT_WORDS + DISCONNECT.RETURN_BY) >>> 1]!
    const first = Math.min(deadline || Infinity, returnBy || Infinity)
    return first === Infinity ? 0 : first
  }
  const expiryOf = (conditional: number): number => conditionalsF64[(conditional * CONDITIONAL_WORDS + CONDITIONAL.EXPIRES_AT) >>> 1]!
  const nextOf = (twap: number): number => twapsF64[(twap * TWAP_WORDS + TWAP.NEXT_AT) >>> 1]!
  return checkPlaces(state, dueOrderPlaces, accounts, scalars[SCALAR.ACCOUNTS]!, deadlineOf, 'account') +
    checkPlaces(state, dueOrderPlaces + accounts, conditionalOrders, scalars[SCALAR.CONDITIONALS_USED]!, expiryOf, 'conditional order') +
    checkPlaces(state, dueOrderPlaces + accounts + conditionalOrders, twapOrders, scalars[SCALAR.TWAPS_USED]!, nextOf, 'TWAP order')
}

/** Places of one kind, from `first` on; `momentOf`: of a row that is used, 0: none. */
function checkPlaces(
  { dueAt, dueKeys }: State, first: number, rows: number, used: number, momentOf: (row: number) => number, what: string,
): number {
  let places = 0
  for (let row = 0; row < rows; row++) {
    const place = first + row
    const moment = row < used ? momentOf(row) : 0
    if (dueAt[place] !== 0) places++
    else if (moment !== 0) broken('D', `${what} ${row} has a moment and no place in the due queue`)
    if (dueAt[place] !== 0 && dueKeys[2 * place] !== (moment === 0 ? Infinity : moment)) {
      broken('D', `the moment of ${what} ${row} is not the key of its place in the due queue`)
    }
  }
  return places
}

/** Compares number by number, as far as both go. */
function isAfter(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! > b[i]!
  return false
}

/** Mass cancels under way: a list in the order of their last part, with each account that has one, and no other. */
export function checkSweeps(state: State): void {
  const { scalars, sweeps, sweepsF64 } = state
  let [before, since, met, lastByItself] = [0, 0, 0, 0]
  for (let next = scalars[SCALAR.SWEEPS_OLDEST]!; next !== 0; next = sweeps[(next - 1) * SWEEP_WORDS + SWEEP.NEWER]!) {
    const row = (next - 1) * SWEEP_WORDS
    const heard = sweepsF64[(row + SWEEP.SINCE) >>> 1]!
    if (sweeps[row + SWEEP.BY] === 0) broken('D', `account ${next - 1} is in the list of mass cancels and has none`)
    if (sweeps[row + SWEEP.OLDER] !== before) broken('D', `account ${next - 1} does not link back in the list of mass cancels`)
    if (heard < since) broken('D', `the mass cancel of account ${next - 1} was heard before those before it`)
    if (sweeps[row + SWEEP.BY] === SweptBy.ITSELF) lastByItself = next
    const hasNoTime = heard === 0
    if ((sweeps[row + SWEEP.BY] === SweptBy.ITSELF) !== hasNoTime) broken('D', `the mass cancel of account ${next - 1} has a wrong time`)
    const [began, from] = [sweepsF64[(row + SWEEP.BEGAN) >>> 1]!, sweepsF64[(row + SWEEP.FROM_SEQUENCE) >>> 1]!]
    if (began < 1 || began > state.clock[CLOCK.SEQUENCE]! || from < 1) {
      broken('D', `the mass cancel of account ${next - 1} has no beginning`)
    }
    before = next
    since = heard
    if (++met > scalars[SCALAR.ACCOUNTS]!) broken('D', 'the list of mass cancels leads in circles')
  }
  if (scalars[SCALAR.SWEEPS_NEWEST] !== before) broken('D', 'the list of mass cancels ends elsewhere')
  if (scalars[SCALAR.SWEEPS_BY_ITSELF] !== lastByItself) broken('D', 'another mass cancel is the last that goes on by itself')
  let underWay = 0
  for (let account = 0; account < scalars[SCALAR.ACCOUNTS]!; account++) if (sweeps[account * SWEEP_WORDS + SWEEP.BY] !== 0) underWay++
  if (underWay !== met) broken('D', `${underWay} mass cancels are under way, ${met} in their list`)
}
