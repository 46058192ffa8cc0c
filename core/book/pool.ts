/**
 * The pool of order rows and each account's list of resting orders, newest first.
 *
 * Every accepted order takes a slot, even one that never rests: the slot is part of its public id. Free slots form a stack in
 * their NEXT words, so the slot used last is used next and stays in cache; SEQUENCE 0 marks a free row. An order is named by the
 * address of its row here (columns.ts); links are slots.
 */
import { Flag, LABEL_SHIFT, ORDER_COMMAND, PairStatus } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { broken } from '../lib/assert.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, ADDRESS_BITS, AGENT, AGENT_WORDS, CLOCK, CLOCK_AT, LABEL_WORDS, ORDER, ORDER_WORDS, PAIR as PAIRS,
  PAIR_WORDS, SCALAR, SCALARS_AT, TERMS, TERMS_WORDS,
} from '../state/columns.ts'
import { insertLabel, removeLabel } from '../state/indexes.ts'
import type { State } from '../state/state.ts'

const [USED, FREE, LIVE] = [SCALARS_AT + SCALAR.ORDERS_USED, SCALARS_AT + SCALAR.ORDERS_FREE, SCALARS_AT + SCALAR.ORDERS_LIVE]
const [NOW_SEQUENCE, NOW] = [CLOCK_AT + CLOCK.SEQUENCE, CLOCK_AT + CLOCK.TIME]

/** Takes a slot and returns the address of its row; the caller checked that the pool is not full. */
export function takeSlot(state: State): number {
  const { i32 } = state
  i32[LIVE]!++
  let slot = i32[FREE]!
  let row = 0
  if (slot < 0) {
    slot = i32[USED]!
    i32[USED] = slot + 1
    row = (state.ordersAt + slot * ORDER_WORDS) & ADDRESS_BITS
  } else {
    row = (state.ordersAt + slot * ORDER_WORDS) & ADDRESS_BITS
    i32[FREE] = i32[row + ORDER.NEXT]!
  }
  i32[row + ORDER.SLOT] = slot
  return row
}

/** Frees the slot of an order that is in no queue and holds nothing any more; one that still does is atoms nobody could ever move. */
export function giveSlot(state: State, row: number): void {
  row &= ADDRESS_BITS
  const { i32, f64 } = state
  if ((i32[row + ORDER.HOLD]! | i32[row + ORDER.HOLD + 1]!) !== 0) stopHolding(state, row)
  f64[(row + ORDER.SEQUENCE) >>> 1] = 0
  i32[row + ORDER.NEXT] = i32[FREE]!
  i32[FREE] = i32[row + ORDER.SLOT]!
  i32[LIVE]!--
}

/** Stops everything. Out of the way of {@link giveSlot}, which is hot. */
function stopHolding({ f64, i64 }: State, row: number): never {
  broken('I2', `order ${f64[(row + ORDER.SEQUENCE) >>> 1]} ended and still holds ${i64[(row + ORDER.HOLD) >>> 1]} atoms`)
}

/**
 * Fills a fresh row: everything but SLOT, LEVEL, EXPIRES_AT and the queue and list links. The maker rate is that of the account's
 * tier now, and stays.
 */
export function writeOrder(state: State, row: number, account: number, pair: number, flags: number, price: number, lots: number): void {
  row &= ADDRESS_BITS
  const { i32, f64, i64 } = state
  f64[(row + ORDER.UPDATED_AT) >>> 1] = f64[NOW]!
  i32[row + ORDER.ACCOUNT] = account | 0
  i32[row + ORDER.PAIR] = pair | 0
  i32[row + ORDER.FLAGS] = flags | 0
  i32[row + ORDER.PRICE] = price | 0
  i32[row + ORDER.LOTS] = lots | 0
  i32[row + ORDER.REMAINING] = lots | 0
  const discount = i32[(state.accountsAt + account * ACCOUNT_WORDS + ACCOUNT.MAKER_DISCOUNT) & ADDRESS_BITS]!
  i32[row + ORDER.MAKER_PPM] = i32[(state.termsAt + pair * TERMS_WORDS + TERMS.MAKER_PPM) & ADDRESS_BITS]! - discount
  i32[row + ORDER.TRADES] = 0
  i64[(row + ORDER.FILLED_QUOTE) >>> 1] = 0n
  i64[(row + ORDER.FEE) >>> 1] = 0n
  i64[(row + ORDER.HOLD) >>> 1] = 0n
  // BEST_PRICE and WORST_PRICE are neighbours.
  i64[(row + ORDER.BEST_PRICE) >>> 1] = 0n
  f64[(row + ORDER.SEQUENCE) >>> 1] = f64[NOW_SEQUENCE]!
  i64[(row + ORDER.FEE_NUMERATOR) >>> 1] = 0n
  f64[(row + ORDER.CREATED_AT) >>> 1] = f64[NOW]!
}

/** Notes that a delegated agent placed the order that was just written at `row`. */
export function markAgent(state: State, row: number, agent: number): void {
  state.i32[row + ORDER.FLAGS] = state.i32[row + ORDER.FLAGS]! | Flag.BY_AGENT
  state.orderAgents[state.i32[row + ORDER.SLOT]!] = agent + 1
}

/** Adds to what the agent that placed the order in `slot` has resting. */
function countAgentOrder(state: State, slot: number, change: number): void {
  const row = (state.orderAgents[slot]! - 1) * AGENT_WORDS
  state.agents[row + AGENT.OPEN_ORDERS] = state.agents[row + AGENT.OPEN_ORDERS]! + change
}

/** Copies the client order id of a command into the row and its FLAGS; an empty one clears it. */
export function writeLabel(state: State, row: number, command: Views, base: number): void {
  const { i32, labels } = state
  const length = command.u32[base + ORDER_COMMAND.at.flags]! >>> LABEL_SHIFT
  i32[row + ORDER.FLAGS] = (i32[row + ORDER.FLAGS]! & ((1 << LABEL_SHIFT) - 1)) | (length << LABEL_SHIFT)
  if (length === 0) return
  const at = i32[row + ORDER.SLOT]! * LABEL_WORDS
  for (let word = 0; word < LABEL_WORDS; word++) labels[at + word] = command.i32[base + ORDER_COMMAND.at.label + word]!
}

/** Puts an order at the head of its account's list and claims its label: it rests from now on. */
export function enlist(state: State, row: number): void {
  row &= ADDRESS_BITS
  const { i32 } = state
  const slot = i32[row + ORDER.SLOT]!
  const account = (state.accountsAt + i32[row + ORDER.ACCOUNT]! * ACCOUNT_WORDS) & ADDRESS_BITS
  const head = i32[account + ACCOUNT.ORDERS_HEAD]!
  i32[row + ORDER.ACCOUNT_PREV] = -1
  i32[row + ORDER.ACCOUNT_NEXT] = head
  if (head >= 0) i32[(state.ordersAt + head * ORDER_WORDS + ORDER.ACCOUNT_PREV) & ADDRESS_BITS] = slot
  i32[account + ACCOUNT.ORDERS_HEAD] = slot
  i32[account + ACCOUNT.OPEN_ORDERS]!++
  i32[(state.accountsAt + i32[account + ACCOUNT.FAMILY]! * ACCOUNT_WORDS + ACCOUNT.FAMILY_ORDERS) & ADDRESS_BITS]!++
  const flags = i32[row + ORDER.FLAGS]! | Flag.RESTING
  i32[row + ORDER.FLAGS] = flags
  if (flags >>> LABEL_SHIFT !== 0) insertLabel(state, slot)
  if ((flags & Flag.BY_AGENT) !== 0) countAgentOrder(state, slot, 1)
}

/** The opposite of {@link enlist}. */
export function delist(state: State, row: number): void {
  row &= ADDRESS_BITS
  const { i32, ordersAt } = state
  const flags = i32[row + ORDER.FLAGS]!
  if (flags >>> LABEL_SHIFT !== 0) removeLabel(state, i32[row + ORDER.SLOT]!)
  if ((flags & Flag.BY_AGENT) !== 0) countAgentOrder(state, i32[row + ORDER.SLOT]!, -1)
  i32[row + ORDER.FLAGS] = flags & ~Flag.RESTING
  const account = (state.accountsAt + i32[row + ORDER.ACCOUNT]! * ACCOUNT_WORDS) & ADDRESS_BITS
  const prev = i32[row + ORDER.ACCOUNT_PREV]!
  const next = i32[row + ORDER.ACCOUNT_NEXT]!
  if (prev < 0) i32[account + ACCOUNT.ORDERS_HEAD] = next
  else i32[(ordersAt + prev * ORDER_WORDS + ORDER.ACCOUNT_NEXT) & ADDRESS_BITS] = next
  if (next >= 0) i32[(ordersAt + next * ORDER_WORDS + ORDER.ACCOUNT_PREV) & ADDRESS_BITS] = prev
  i32[account + ACCOUNT.OPEN_ORDERS]!--
  i32[(state.accountsAt + i32[account + ACCOUNT.FAMILY]! * ACCOUNT_WORDS + ACCOUNT.FAMILY_ORDERS) & ADDRESS_BITS]!--
}

/** The row of the resting order that a command names by targetSlot and targetSequence, or -1. */
export function restingTarget(state: State, command: Views, base: number): number {
  base &= ADDRESS_BITS
  return restingAt(state, command.i32[base + ORDER_COMMAND.at.targetSlot]!, command.f64[(base + ORDER_COMMAND.at.targetSequence) >>> 1]!)
}

/** The row of the resting order in `slot` that the command of `sequence` placed, or -1. */
export function restingAt(state: State, slot: number, sequence: number): number {
  const { i32, f64 } = state
  if (slot < 0 || slot >= i32[USED]!) return -1
  const row = (state.ordersAt + slot * ORDER_WORDS) & ADDRESS_BITS
  const rests = f64[(row + ORDER.SEQUENCE) >>> 1] === sequence && sequence !== 0 && (i32[row + ORDER.FLAGS]! & Flag.RESTING) !== 0
  return rests ? row : -1
}

/** True when not even cancels may touch the pair of the order at `row`. */
export function isHalted(state: State, row: number): boolean {
  const { i32 } = state
  return i32[(state.pairsAt + i32[row + ORDER.PAIR]! * PAIR_WORDS + PAIRS.STATUS) & ADDRESS_BITS] === PairStatus.HALTED
}
