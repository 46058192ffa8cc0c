/**
 * Ending resting orders of one account, some with each command: CANCEL_ALL and CANCEL_ACCOUNT_ORDERS.
 *
 * Conditional orders and TWAP orders of the account end first, newest first, and count as orders do; they stand in lists of their own
 * (sweep_waiting.ts).
 *
 * One command goes along the account's list, newest first, and stops when it ended `limit` orders or looked at LOOKS_MORE more than that,
 * so that a command is bounded whatever the account has: also when all its orders stay, being of another pair or on a halted one. Its
 * RESULT then names the order to go on from (slot, orderSequence) and has 1 in `more`; at the end of the list it has 0. The next
 * command begins where it is told to. When that order has ended meanwhile it begins with the newest again: orders that stay are looked at
 * twice, and none is left out. What was placed after the first command is not meant, and a mass cancel whose parts stop coming is gone
 * on with (sweep_rows.ts). A command that stops at an order which is not meant names its slot, with the sequence up to which they are: who
 * goes on without a row of its own knows by it what is not meant, and a newer order in that slot is as good a place.
 *
 * Before the rules 3 it named that order's own sequence, and a part without a row ended what was placed meanwhile. Before the rules 2
 * what was placed meanwhile ended when a later command began anew. Before the rules 1 a command looked at every order of the account, and
 * `more` was the number of those left.
 */
import { SWEEP_ANSWER } from '../layout/answers.ts'
import { CANCEL_ALL_COMMAND, CANCEL_ALL_MAX, Flag } from '../layout/command.ts'
import { Reason, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { ACCOUNT, ORDER, SCALAR, SweptBy } from '../state/columns.ts'
import { emitResult } from '../events/emit.ts'
import { accountRow, get, getF64, orderRow, scalar, sequence, set } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { isGranted } from '../programs/grants.ts'
import { endOrder } from '../book/end.ts'
import { isHalted, restingAt } from '../book/pool.ts'
import { marginAccountOfOrder } from './margin_account_of.ts'
import { beganAt, endSweep, goesOnByItself, noteSweep, type Meant } from './sweep_rows.ts'
import { hasWaiting, sweepWaiting } from './sweep_waiting.ts'

/** Orders that one command looks at beyond those it may end. */
export const LOOKS_MORE = 256

/** Whose orders, and which of them. */
export interface Sweep extends Meant {
  /** Only orders of this pair; -1: of all. */
  readonly pair: number
  /** Only orders of pairs and margin accounts that this delegated agent is granted; -1: nobody signed but the owner. */
  readonly agent: number
  /** The operator ends orders on halted pairs too, and they say whose doing it was. */
  readonly by: SweptBy
  /** At most this many; {@link CANCEL_ALL_MAX} when it is more. */
  readonly limit: number
  /** Where to begin: slot and sequence of an order; sequence 0: with the newest. */
  readonly fromSlot: number
  readonly fromSequence: number
  /** Whoever asked sent this part; otherwise the sequencer did. */
  readonly heard: boolean
}

/** Ends orders; SWEEP_ANSWER: account, orders ended, whether there may be more, and then where to go on. Its place. */
export function sweepOrders(state: State, command: Views, base: number, sweep: Sweep): number {
  const correlation = command.u32[base + CANCEL_ALL_COMMAND.at.correlation]!
  const limit = Math.min(CANCEL_ALL_MAX, sweep.limit)
  const bounded = state.scalars[SCALAR.RULES]! >= 1
  const byOperator = sweep.by === SweptBy.OPERATOR
  const began = beginning(state, sweep)
  let [ended, left, looked] = [sweepWaiting(state, sweep, began, limit), 0, 0]
  let slot = firstSlot(state, sweep)
  while (slot >= 0 && !(bounded && (ended >= limit || looked >= limit + LOOKS_MORE))) {
    const row = orderRow(state, slot)
    slot = get(state, row, ORDER.ACCOUNT_NEXT)
    looked++
    if (getF64(state, row, ORDER.SEQUENCE) > began || !isMeant(state, row, sweep)) continue
    if (ended >= limit) left++
    else {
      if (byOperator) set(state, row, ORDER.FLAGS, get(state, row, ORDER.FLAGS) | Flag.BY_OPERATOR)
      endOrder(state, row, Status.CANCELLED, Reason.USER_CANCELLED, correlation, false)
      ended++
    }
  }
  const goesOn = bounded && (slot >= 0 || (ended >= limit && hasWaiting(state, sweep, began)))
  const from = goesOn ? placeOf(state, slot, began) : 0
  note(state, sweep, began, goesOn, slot, from)
  const result = emitResult(state, command, base, 0, sweep.account, ended, goesOn ? 1 : left)
  if (goesOn) {
    state.outbox.i32[result + SWEEP_ANSWER.at.nextSlot] = slot
    state.outbox.f64[(result + SWEEP_ANSWER.at.nextSequence) >>> 1] = from
  }
  return result
}

/** The sequence that names the order in `slot` as a place to go on from; -1: only conditional and TWAP orders are left. */
function placeOf(state: State, slot: number, began: number): number {
  if (slot < 0) return began
  const own = getF64(state, orderRow(state, slot), ORDER.SEQUENCE)
  return scalar(state, SCALAR.RULES) >= 3 ? Math.min(own, began) : own
}

/** The sequence of the command that began it: what was placed later is not meant. Before the rules 2 everything was. */
function beginning(state: State, sweep: Sweep): number {
  if (scalar(state, SCALAR.RULES) < 2) return Infinity
  if (sweep.fromSequence === 0) return sequence(state)
  const began = sweep.agent < 0 ? beganAt(state, sweep) : 0
  return began === 0 ? sweep.fromSequence : began
}

/** Notes where it goes on, or that it does not. One whose place another has is not noted. */
function note(state: State, sweep: Sweep, began: number, goesOn: boolean, slot: number, from: number): void {
  if (scalar(state, SCALAR.RULES) < 2 || sweep.agent >= 0) return
  const known = beganAt(state, sweep)
  if (goesOn) {
    if (known === 0 && (sweep.fromSequence !== 0 || goesOnByItself(state, sweep.account))) return
    noteSweep(state, sweep, began, slot, from, sweep.heard || sweep.by === SweptBy.ITSELF)
  } else if (known !== 0) endSweep(state, sweep.account)
}

/** Slot of the order to begin with, -1: the account has none. */
function firstSlot(state: State, { account, fromSlot, fromSequence }: Sweep): number {
  const row = fromSequence === 0 ? -1 : restingFrom(state, fromSlot, fromSequence)
  if (row >= 0 && get(state, row, ORDER.ACCOUNT) === account) return fromSlot
  return get(state, accountRow(state, account), ACCOUNT.ORDERS_HEAD)
}

/** The row of the resting order that slot and sequence name as a place to go on from; -1: it does not rest any more. */
function restingFrom(state: State, slot: number, from: number): number {
  const own = slot >= 0 && slot < scalar(state, SCALAR.ORDERS_USED) ? getF64(state, orderRow(state, slot), ORDER.SEQUENCE) : 0
  return restingAt(state, slot, scalar(state, SCALAR.RULES) >= 3 && own > from ? own : from)
}

function isMeant(state: State, row: number, { pair, agent, by }: Sweep): boolean {
  const of = get(state, row, ORDER.PAIR)
  if (pair >= 0 && of !== pair) return false
  if (by !== SweptBy.OPERATOR && isHalted(state, row)) return false
  return agent < 0 || isGranted(state, agent, of, marginAccountOfOrder(state, row))
}
