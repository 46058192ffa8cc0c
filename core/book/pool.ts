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

// Local constants: the compiler folds them; an imported binding is read each time.
const ADDRESS = ADDRESS_BITS
const { NEXT, ACCOUNT_NEXT, ACCOUNT_PREV, UPDATED_AT, ACCOUNT: OWNER, PAIR, FLAGS, SLOT, PRICE, LOTS, REMAINING, MAKER_PPM, TRADES } = ORDER
const { FILLED_QUOTE, FEE, HOLD, BEST_PRICE, SEQUENCE, FEE_NUMERATOR, CREATED_AT } = ORDER
const { ORDERS_HEAD, OPEN_ORDERS, MAKER_DISCOUNT, FAMILY, FAMILY_ORDERS } = ACCOUNT
const [ORDER_ROW, ACCOUNT_ROW, TERMS_ROW, PAIR_ROW] = [ORDER_WORDS, ACCOUNT_WORDS, TERMS_WORDS, PAIR_WORDS]
const PAIR_STATUS = PAIRS.STATUS
const { HALTED } = PairStatus
const [USED, FREE, LIVE] = [SCALARS_AT + SCALAR.ORDERS_USED, SCALARS_AT + SCALAR.ORDERS_FREE, SCALARS_AT + SCALAR.ORDERS_LIVE]
const [NOW_SEQUENCE, NOW] = [CLOCK_AT + CLOCK.SEQUENCE, CLOCK_AT + CLOCK.TIME]
const { RESTING, BY_AGENT } = Flag
const LABEL_AT = LABEL_SHIFT
const TERM_MAKER_PPM = TERMS.MAKER_PPM
const { targetSlot: TARGET_SLOT, targetSequence: TARGET_SEQUENCE } = ORDER_COMMAND.at

const countForAgent = countAgentOrder
const findResting = restingAt
const stillHolds = stopHolding

/** Takes a slot and returns the address of its row; the caller checked that the pool is not full. */
export function takeSlot(state: State): number {
  const { i32 } = state
  i32[LIVE]!++
  let slot = i32[FREE]!
  let row = 0
  if (slot < 0) {
    slot = i32[USED]!
    i32[USED] = slot + 1
    row = (state.ordersAt + slot * ORDER_ROW) & ADDRESS
  } else {
    row = (state.ordersAt + slot * ORDER_ROW) & ADDRESS
    i32[FREE] = i32[row + NEXT]!
  }
  i32[row + SLOT] = slot
  return row
}

/** Frees the slot of an order that is in no queue and holds nothing any more; one that still does is atoms nobody could ever move. */
export function giveSlot(state: State, row: number): void {
  row &= ADDRESS
  const { i32, f64 } = state
  if ((i32[row + HOLD]! | i32[row + HOLD + 1]!) !== 0) stillHolds(state, row)
  f64[(row + SEQUENCE) >>> 1] = 0
  i32[row + NEXT] = i32[FREE]!
  i32[FREE] = i32[row + SLOT]!
  i32[LIVE]!--
}

/** Stops everything. Out of the way of {@link giveSlot}, which is hot. */
function stopHolding({ f64, i64 }: State, row: number): never {
  broken('I2', `order ${f64[(row + SEQUENCE) >>> 1]} ended and still holds ${i64[(row + HOLD) >>> 1]} atoms`)
}

/**
 * Fills a fresh row: everything but SLOT, LEVEL, EXPIRES_AT and the queue and list links. The maker rate is that of the account's
 * tier now, and stays.
 */
export function writeOrder(state: State, row: number, account: number, pair: number, flags: number, price: number, lots: number): void {
  row &= ADDRESS
  const { i32, f64, i64 } = state
  f64[(row + UPDATED_AT) >>> 1] = f64[NOW]!
  i32[row + OWNER] = account | 0
  i32[row + PAIR] = pair | 0
  i32[row + FLAGS] = flags | 0
  i32[row + PRICE] = price | 0
  i32[row + LOTS] = lots | 0
  i32[row + REMAINING] = lots | 0
  const discount = i32[(state.accountsAt + account * ACCOUNT_ROW + MAKER_DISCOUNT) & ADDRESS]!
  i32[row + MAKER_PPM] = i32[(state.termsAt + pair * TERMS_ROW + TERM_MAKER_PPM) & ADDRESS]! - discount
  i32[row + TRADES] = 0
  i64[(row + FILLED_QUOTE) >>> 1] = 0n
  i64[(row + FEE) >>> 1] = 0n
  i64[(row + HOLD) >>> 1] = 0n
  // BEST_PRICE and WORST_PRICE are neighbours.
  i64[(row + BEST_PRICE) >>> 1] = 0n
  f64[(row + SEQUENCE) >>> 1] = f64[NOW_SEQUENCE]!
  i64[(row + FEE_NUMERATOR) >>> 1] = 0n
  f64[(row + CREATED_AT) >>> 1] = f64[NOW]!
}

/** Notes that a delegated agent placed the order that was just written at `row`. */
export function markAgent(state: State, row: number, agent: number): void {
  state.i32[row + FLAGS] = state.i32[row + FLAGS]! | BY_AGENT
  state.orderAgents[state.i32[row + SLOT]!] = agent + 1
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
  i32[row + FLAGS] = (i32[row + FLAGS]! & ((1 << LABEL_SHIFT) - 1)) | (length << LABEL_SHIFT)
  if (length === 0) return
  const at = i32[row + SLOT]! * LABEL_WORDS
  for (let word = 0; word < LABEL_WORDS; word++) labels[at + word] = command.i32[base + ORDER_COMMAND.at.label + word]!
}

/** Puts an order at the head of its account's list and claims its label: it rests from now on. */
export function enlist(state: State, row: number): void {
  row &= ADDRESS
  const { i32 } = state
  const slot = i32[row + SLOT]!
  const account = (state.accountsAt + i32[row + OWNER]! * ACCOUNT_ROW) & ADDRESS
  const head = i32[account + ORDERS_HEAD]!
  i32[row + ACCOUNT_PREV] = -1
  i32[row + ACCOUNT_NEXT] = head
  if (head >= 0) i32[(state.ordersAt + head * ORDER_ROW + ACCOUNT_PREV) & ADDRESS] = slot
  i32[account + ORDERS_HEAD] = slot
  i32[account + OPEN_ORDERS]!++
  i32[(state.accountsAt + i32[account + FAMILY]! * ACCOUNT_ROW + FAMILY_ORDERS) & ADDRESS]!++
  const flags = i32[row + FLAGS]! | RESTING
  i32[row + FLAGS] = flags
  if (flags >>> LABEL_AT !== 0) insertLabel(state, slot)
  if ((flags & BY_AGENT) !== 0) countForAgent(state, slot, 1)
}

/** The opposite of {@link enlist}. */
export function delist(state: State, row: number): void {
  row &= ADDRESS
  const { i32, ordersAt } = state
  const flags = i32[row + FLAGS]!
  if (flags >>> LABEL_AT !== 0) removeLabel(state, i32[row + SLOT]!)
  if ((flags & BY_AGENT) !== 0) countForAgent(state, i32[row + SLOT]!, -1)
  i32[row + FLAGS] = flags & ~RESTING
  const account = (state.accountsAt + i32[row + OWNER]! * ACCOUNT_ROW) & ADDRESS
  const prev = i32[row + ACCOUNT_PREV]!
  const next = i32[row + ACCOUNT_NEXT]!
  if (prev < 0) i32[account + ORDERS_HEAD] = next
  else i32[(ordersAt + prev * ORDER_ROW + ACCOUNT_NEXT) & ADDRESS] = next
  if (next >= 0) i32[(ordersAt + next * ORDER_ROW + ACCOUNT_PREV) & ADDRESS] = prev
  i32[account + OPEN_ORDERS]!--
  i32[(state.accountsAt + i32[account + FAMILY]! * ACCOUNT_ROW + FAMILY_ORDERS) & ADDRESS]!--
}

/** The row of the resting order that a command names by targetSlot and targetSequence, or -1. */
export function restingTarget(state: State, command: Views, base: number): number {
  base &= ADDRESS
  return findResting(state, command.i32[base + TARGET_SLOT]!, command.f64[(base + TARGET_SEQUENCE) >>> 1]!)
}

/** The row of the resting order in `slot` that the command of `sequence` placed, or -1. */
export function restingAt(state: State, slot: number, sequence: number): number {
  const { i32, f64 } = state
  if (slot < 0 || slot >= i32[USED]!) return -1
  const row = (state.ordersAt + slot * ORDER_ROW) & ADDRESS
  const rests = f64[(row + SEQUENCE) >>> 1] === sequence && sequence !== 0 && (i32[row + FLAGS]! & RESTING) !== 0
  return rests ? row : -1
}

/** True when not even cancels may touch the pair of the order at `row`. */
export function isHalted(state: State, row: number): boolean {
  const { i32 } = state
  return i32[(state.pairsAt + i32[row + PAIR]! * PAIR_ROW + PAIR_STATUS) & ADDRESS] === HALTED
}
