/**
 * Conditional orders of an account that wait, from the shared columns, in one consistent copy: take-profit, stop-loss and trailing stop.
 * The starts of TWAP orders stand in the same list and are none of them.
 *
 * How much one closes is at most what its position is of now, so the size of the position in its direction is part of it. The watermark of
 * a trailing stop moves with prices, which change no version of the account: it is read by itself, between two batches where that can be,
 * and never worse than the mark at which the stop was armed.
 */
import { ConditionalState, ConditionType, LegFlag } from '../layout/conditional.ts'
import { trailTick, watermarkOf } from '../margin/trails.ts'
import { APPLYING } from '../ring/counters.ts'
import { ACCOUNT, CLOCK } from '../state/columns.ts'
import { CONDITIONAL, WAITING } from '../state/conditional_rows.ts'
import { POSITION } from '../state/margin_rows.ts'
import { accountRow, conditionalRow, get, getF64, positionRow, waitingRow, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { consistently } from './consistent.ts'
import { copyPlace, type PlaceView } from './order_margin.ts'

/** A conditional order as numbers: as it waits, or as its end was told. */
export interface ConditionalView {
  account: number
  /** Identity: the sequence of the command that made it, and ConditionType. */
  createdSequence: number
  kind: number
  /** ConditionalState. */
  state: number
  pair: number
  /** LegFlag bits. */
  flags: number
  /** Ticks: where it fires; of a trailing stop where it fires now, 0 before it is armed. */
  trigger: number
  /** Ticks, of a LIMIT order. */
  limit: number
  /** At most so many lots; 0: the whole position. */
  lots: number
  slippageBps: number
  /** Of a trailing stop, with ticks of its activation price and of its best mark; 0: none. */
  trailBps: number
  activation: number
  watermark: number
  /** Unix ms; 0: never, not yet. */
  expiresAt: number
  armedAt: number
  createdAt: number
  updatedAt: number
  /** The order that it entered; while it is PENDING its entry order. 0: none. */
  orderSequence: number
  orderSlot: number
  /** Its position: the sequence that opened it, 0: none yet; and the row. */
  openedSequence: number
  position: number
  /** Number of the refusal of its order; 0: none. */
  code: number
  /** Lots of the order that it entered; 0: none. */
  ordered: number
  /** Lots that the position has in its direction; 0: none, or it ended. */
  held: number
  /** Where the position stands; absent: that is not known any more. */
  place?: PlaceView
}

/** Those that wait of an account, newest first, when every command up to `sequence` was applied and none behind it. */
export interface LiveConditionals {
  readonly sequence: number
  readonly conditionals: readonly ConditionalView[]
}

/** {@link LiveConditionals} of `account`; `null` when they are unreadable. */
export function readConditionals(state: State, gate: Int32Array, account: number): LiveConditionals | null {
  return consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () => {
    const sequence = state.clock[CLOCK.SEQUENCE]!
    const conditionals: ConditionalView[] = []
    for (const number of rowsOf(state, account)) conditionals.push(copyConditional(state, gate, conditionalRow(state, number)))
    return { sequence, conditionals }
  })
}

/** The one of `account` that is leg `kind` of the command `sequence`; `undefined`: none waits by that name, `null`: unreadable. */
export function readConditional(
  state: State, gate: Int32Array, account: number, kind: number, sequence: number,
): ConditionalView | undefined | null {
  return consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () => {
    for (const number of rowsOf(state, account)) {
      const row = conditionalRow(state, number)
      const named = get(state, row, CONDITIONAL.KIND) === kind && getF64(state, row, CONDITIONAL.CREATED_SEQUENCE) === sequence
      if (named) return copyConditional(state, gate, row)
    }
    return undefined
  })
}

/** Rows of those that wait, newest first. A copy that turns out torn may follow any link: rows are checked and steps counted. */
function rowsOf(state: State, account: number): number[] {
  const { conditionalOrders, conditionalOrdersPerAccount } = state.genesis.limits
  const rows: number[] = []
  let number = get(state, waitingRow(state, account), WAITING.FIRST_CONDITIONAL) - 1
  for (let left = conditionalOrdersPerAccount; left > 0 && number >= 0 && number < conditionalOrders; left--) {
    const row = conditionalRow(state, number)
    if (get(state, row, CONDITIONAL.KIND) !== ConditionType.TWAP_START) rows.push(number)
    number = get(state, row, CONDITIONAL.ACCOUNT_NEXT) - 1
  }
  return rows
}

/** The one at address `row` as it is now: consistent only inside {@link consistently}. */
function copyConditional(state: State, gate: Int32Array, row: number): ConditionalView {
  const [kind, flags] = [get(state, row, CONDITIONAL.KIND), get(state, row, CONDITIONAL.FLAGS)]
  const trails = kind === ConditionType.TRAILING_STOP
  const watermark = trails ? readWatermark(state, gate, row) : 0
  const trailBps = get(state, row, CONDITIONAL.TRAIL_BPS)
  const trigger = get(state, row, CONDITIONAL.TRIGGER)
  const position = inRange(get(state, row, CONDITIONAL.OF), state.genesis.limits.positions)
  const size = get(state, positionRow(state, position), POSITION.LOTS)
  return {
    account: get(state, row, CONDITIONAL.ACCOUNT),
    createdSequence: getF64(state, row, CONDITIONAL.CREATED_SEQUENCE),
    kind,
    state: get(state, row, CONDITIONAL.STATE),
    pair: inRange(get(state, row, CONDITIONAL.PAIR), state.genesis.limits.pairs),
    flags,
    trigger: !trails ? trigger : watermark === 0 ? 0 : trailTick((flags & LegFlag.SELL) !== 0 ? 0 : 1, watermark, trailBps),
    limit: get(state, row, CONDITIONAL.LIMIT),
    lots: get(state, row, CONDITIONAL.LOTS),
    slippageBps: get(state, row, CONDITIONAL.SLIPPAGE_BPS),
    trailBps,
    activation: trails ? trigger : 0,
    watermark,
    expiresAt: getF64(state, row, CONDITIONAL.EXPIRES_AT),
    armedAt: getF64(state, row, CONDITIONAL.ARMED_AT),
    createdAt: getF64(state, row, CONDITIONAL.CREATED_AT),
    updatedAt: getF64(state, row, CONDITIONAL.UPDATED_AT),
    orderSequence: getF64(state, row, CONDITIONAL.ORDER_SEQUENCE),
    orderSlot: get(state, row, CONDITIONAL.ORDER_SLOT),
    openedSequence: getF64(state, row, CONDITIONAL.OPENED),
    position,
    code: 0,
    ordered: 0,
    held: Math.max(0, (flags & LegFlag.SELL) !== 0 ? size : -size),
    place: copyPlace(state, position),
  }
}

/** A row number that may be torn, made one of the column. */
const inRange = (row: number, rows: number): number => (row >= 0 && row < rows ? row : 0)

/** Looks for a moment without a batch under way. */
const LOOKS = 4

/** Best mark since the trailing stop at address `row` was armed; 0: it is not. */
function readWatermark(state: State, gate: Int32Array, row: number): number {
  if (get(state, row, CONDITIONAL.STATE) === ConditionalState.PENDING) return 0
  const armedAt = get(state, row, CONDITIONAL.WATERMARK)
  const long = (get(state, row, CONDITIONAL.FLAGS) & LegFlag.SELL) !== 0
  let best = armedAt
  for (let look = 0; look < LOOKS; look++) {
    const before = Atomics.add(gate, APPLYING, 0)
    const watermark = watermarkOf(state, row)
    if ((before & 1) === 0 && Atomics.add(gate, APPLYING, 0) === before) return watermark
    // A group that is just being given to others may read as none, or as one of theirs.
    if (watermark > 0 && (long ? watermark > best : watermark < best)) best = watermark
  }
  return best
}
