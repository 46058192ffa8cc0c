/**
 * Timers: what is due becomes commands, so that time acts through the journal like everything else.
 *
 * Margin trading comes first (margin_timers.ts), with a quarter of a batch and {@link MARGIN_MAX} commands at most. Then the due queue
 * (state/due.ts) says what is due and in which order: orders whose time is over, by expiry and then by sequence, one EXPIRE_ORDER each,
 * accounts whose deadline is over (orders/dead_man.ts), one CONTINUE_CANCEL each, conditional orders whose time is over, one
 * EXPIRE_CONDITIONAL each, and TWAP orders, one TWAP_STEP each, {@link SLICES_MAX} at most: {@link TIMED_MAX} commands in all. What prices
 * lead to stands between margin trading and these (trigger_timers.ts), and so does what leaders did (copy_timers.ts). Then come parts of
 * mass cancels that nobody goes on with, {@link SWEEPS_MAX}. Of each turn timers take half of a batch at most, so that however many orders
 * expire in one moment everybody else's commands go along; what is left has its part of the next turn. Until its command came an order is
 * at rest for readers, but it never fills (book/match.ts). The engine checks each command again.
 */
import { CommandType, CONTINUE_CANCEL_COMMAND, kindOf, ORDER_COMMAND } from '../layout/command.ts'
import { EXPIRE_CONDITIONAL_COMMAND } from '../layout/conditional.ts'
import { encode, RECORD_WORDS, type Views } from '../layout/table.ts'
import { TWAP_STEP_COMMAND } from '../layout/twap.ts'
import { nextByItself, nextSilent } from '../orders/sweep_rows.ts'
import { ORDER, SWEEP } from '../state/columns.ts'
import { CONDITIONAL, TWAP } from '../state/conditional_rows.ts'
import { DueKind, LOOK_AGAIN, NOT_DUE, placeTaken, takeExpired } from '../state/due.ts'
import { conditionalRow, getF64, orderRow, sweepRow, twapRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { type CopyTimers, createCopyTimers, writeCopies } from './copy_timers.ts'
import { createLiquidationTimers, type LiquidationTimers, writeLiquidations } from './liquidation_timers.ts'
import { MARGIN_MAX, writeMarginDue } from './margin_timers.ts'
import { createTriggerTimers, type TriggerTimers, writeTriggers } from './trigger_timers.ts'

/** Commands of timers in one turn, at most: they take about 0.4 ms. */
export const TIMED_MAX = 512
/** Slices of TWAP orders in one turn, at most: each is an order. */
export const SLICES_MAX = 64
/** Parts of mass cancels in one turn, at most, each of 256 orders. */
export const SWEEPS_MAX = 4
/** Places of the due queue that are looked at in one turn, at most. */
export const LOOKS_MAX = 4 * TIMED_MAX

export interface Timers {
  /** More was due than had room in the last turn. */
  behind: boolean
  readonly liquidation: LiquidationTimers
  readonly triggers: TriggerTimers
  readonly copies: CopyTimers
}

export const createTimers = (): Timers =>
  ({ behind: false, liquidation: createLiquidationTimers(), triggers: createTriggerTimers(), copies: createCopyTimers() })

/** Writes commands for what is due at `now` into `batch` from slot `used`, below `maxSlots`; returns the slots then used. */
export function writeDue(timers: Timers, state: State, now: number, batch: Views, used: number, maxSlots: number): number {
  const marginEnd = Math.min(used + Math.max(1, maxSlots >>> 1), used + MARGIN_MAX)
  used = writeMarginDue(state, now, batch, used, marginEnd)
  const steps = used
  used = writeLiquidations(timers.liquidation, state, now, batch, used, marginEnd)
  // Full: there may be more. A liquidation that was gone on with goes on in the next turn.
  const marginBehind = used === marginEnd || used > steps || timers.liquidation.building
  const triggers = used
  used = writeTriggers(timers.triggers, state, batch, used, maxSlots)
  const triggersBehind = used > triggers
  const copies = used
  used = writeCopies(timers.copies, state, now, batch, used, maxSlots)
  const copiesBehind = used > copies
  const end = Math.min(maxSlots, used + TIMED_MAX)
  let looks = LOOKS_MAX
  let slices = 0
  let fired = false
  timers.behind = true
  while (used < end && slices < SLICES_MAX && looks-- > 0) {
    const slot = takeExpired(state, now)
    if (slot === NOT_DUE) {
      timers.behind = false
      break
    }
    if (slot === LOOK_AGAIN) continue
    if (slot < 0) {
      const { kind, row } = placeTaken(state, slot)
      if (kind === DueKind.ACCOUNT) fired = true
      else if (kind === DueKind.TWAP) slices++
      writePlace(state, batch, used++, kind, row)
      continue
    }
    encode(ORDER_COMMAND, batch, used * RECORD_WORDS, {
      kind: kindOf(CommandType.EXPIRE_ORDER, 1, 0),
      session: -1,
      targetSlot: slot,
      targetSequence: getF64(state, orderRow(state, slot), ORDER.SEQUENCE),
    })
    used++
  }
  // What a deadline began is gone on with in the next turn, whether or not more is due.
  if (fired || marginBehind || triggersBehind || copiesBehind) timers.behind = true
  return writeSweeps(timers, state, now, batch, used, Math.min(maxSlots, used + SWEEPS_MAX))
}

/** The time has come of what stands in `row` of its kind: a deadline, a conditional order's end, a TWAP order's next slice. */
function writePlace(state: State, batch: Views, slot: number, kind: number, row: number): void {
  const at = slot * RECORD_WORDS
  if (kind === DueKind.ACCOUNT) {
    encode(CONTINUE_CANCEL_COMMAND, batch, at, { kind: kindOf(CommandType.CONTINUE_CANCEL, 1, 0), session: -1, account: row, fires: 1 })
  } else if (kind === DueKind.CONDITIONAL) {
    const createdSequence = getF64(state, conditionalRow(state, row), CONDITIONAL.CREATED_SEQUENCE)
    const values = { kind: kindOf(CommandType.EXPIRE_CONDITIONAL, 1, 0), session: -1, conditional: row, createdSequence }
    encode(EXPIRE_CONDITIONAL_COMMAND, batch, at, values)
  } else {
    const createdSequence = getF64(state, twapRow(state, row), TWAP.CREATED_SEQUENCE)
    encode(TWAP_STEP_COMMAND, batch, at, { kind: kindOf(CommandType.TWAP_STEP, 1, 0), session: -1, twap: row, createdSequence })
  }
}

/** Writes a part of each mass cancel that nobody goes on with, up to slot `end`: half of them at least of each kind, when both wait. */
function writeSweeps(timers: Timers, state: State, now: number, batch: Views, used: number, end: number): number {
  const first = used
  const half = nextByItself(state, -1) < 0 ? end : used + Math.ceil((end - used) / 2)
  for (let account = nextSilent(state, -1, now); account >= 0 && used < half; account = nextSilent(state, account, now)) {
    writePart(state, batch, used++, account)
  }
  for (let account = nextByItself(state, -1); account >= 0 && used < end; account = nextByItself(state, account)) {
    writePart(state, batch, used++, account)
  }
  if (used > first) timers.behind = true
  return used
}

function writePart(state: State, batch: Views, slot: number, account: number): void {
  encode(CONTINUE_CANCEL_COMMAND, batch, slot * RECORD_WORDS, {
    kind: kindOf(CommandType.CONTINUE_CANCEL, 1, 0),
    session: -1,
    account,
    began: getF64(state, sweepRow(state, account), SWEEP.BEGAN),
  })
}
