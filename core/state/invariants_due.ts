/**
 *   D    due queue: a heap by (moment, sequence, place) that has each place of rows in use once, and no key is after an order of its place
 *
 * See invariants.ts.
 */
import { broken } from '../lib/assert.ts'
import { DUE_ROWS, duePlaces, ORDER, ORDER_WORDS, SCALAR } from './columns.ts'
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
