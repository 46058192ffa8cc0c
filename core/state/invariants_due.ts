/**
 *   D    due queue: a heap by (moment, sequence, place) that has each place of rows in use once, and no key is after an order of its
 *        place; mass cancels under way are in their list once, in the order of their last part
 *
 * See invariants.ts.
 */
import { broken } from '../lib/assert.ts'
import { CLOCK, DUE_ROWS, duePlaces, ORDER, ORDER_WORDS, SCALAR, SWEEP, SWEEP_WORDS } from './columns.ts'
import { dueCount } from './due.ts'
import type { State } from './state.ts'

export function checkDue(state: State, live: readonly number[]): void {
  const { dueAt, dueHeap, dueKeys, ordersF64, scalars } = state
  const places = duePlaces(scalars[SCALAR.ORDERS_USED]!)
  if (dueCount(state) !== places) broken('D', `the due queue has ${dueCount(state)} places of ${places}`)
  const keyOf = (place: number): number[] => [dueKeys[2 * place]!, dueKeys[2 * place + 1]!, place]
  for (let at = 1; at <= places; at++) {
    const place = dueHeap[at]!
    if (place < 0 || place >= places || dueAt[place] !== at) broken('D', `place ${place} of the due queue is not where it stands`)
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

/** Compares number by number, as far as both go. */
function isAfter(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! > b[i]!
  return false
}

/** Mass cancels under way: a list in the order of their last part, with each account that has one, and no other. */
export function checkSweeps(state: State): void {
  const { scalars, sweeps, sweepsF64 } = state
  let [before, since, met] = [0, 0, 0]
  for (let next = scalars[SCALAR.SWEEPS_OLDEST]!; next !== 0; next = sweeps[(next - 1) * SWEEP_WORDS + SWEEP.NEWER]!) {
    const row = (next - 1) * SWEEP_WORDS
    const heard = sweepsF64[(row + SWEEP.SINCE) >>> 1]!
    if (sweeps[row + SWEEP.STATE] === 0) broken('D', `account ${next - 1} is in the list of mass cancels and has none`)
    if (sweeps[row + SWEEP.OLDER] !== before) broken('D', `account ${next - 1} does not link back in the list of mass cancels`)
    if (heard < since) broken('D', `the mass cancel of account ${next - 1} was heard before those before it`)
    const [began, from] = [sweepsF64[(row + SWEEP.BEGAN) >>> 1]!, sweepsF64[(row + SWEEP.FROM_SEQUENCE) >>> 1]!]
    if (began < 1 || began > state.clock[CLOCK.SEQUENCE]! || from < 1) {
      broken('D', `the mass cancel of account ${next - 1} has no beginning`)
    }
    before = next
    since = heard
    if (++met > scalars[SCALAR.ACCOUNTS]!) broken('D', 'the list of mass cancels leads in circles')
  }
  if (scalars[SCALAR.SWEEPS_NEWEST] !== before) broken('D', 'the list of mass cancels ends elsewhere')
  let underWay = 0
  for (let account = 0; account < scalars[SCALAR.ACCOUNTS]!; account++) if (sweeps[account * SWEEP_WORDS + SWEEP.STATE] !== 0) underWay++
  if (underWay !== met) broken('D', `${underWay} mass cancels are under way, ${met} in their list`)
}
