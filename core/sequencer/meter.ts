/** The matcher's counters in shared memory: one store each, read by the operator thread. */
import { ConditionalReason, conditionalReasonOf } from '../layout/conditional.ts'
import { LIQUIDATION_STATUS_NAMES } from '../layout/margin_events.ts'
import { TwapReason, twapReasonOf } from '../layout/twap.ts'
import { CLOCK, SCALAR } from '../state/columns.ts'
import type { State } from '../state/state.ts'
import { COMMIT_BUCKETS, COMMIT_HISTOGRAM, MATCHER } from '../ring/counters.ts'
import type { Io } from '../lib/io.ts'

export interface Meter {
  /** Idle, about to wait. */
  beat(): void
  /** Back from waiting: the time spent there is no stall. */
  awake(): void
  committing(): void
  /** So many bytes are durable; the seconds that it took. */
  committed(bytes: number): number
  applied(state: State, commands: number): void
  published(events: number): void
  /** One command was refused. */
  refused(): void
  /** One record was refused before it was journaled. */
  invalid(): void
  /** A step of a liquidation was told: LiquidationStatus. */
  liquidated(status: number): void
  /** A conditional order was told of: what, as CONDITIONAL has it. */
  waited(what: number): void
  /** A TWAP order was told of: what, as TWAP has it. */
  sliced(what: number): void
  /** Timer commands of a batch. */
  timed(commands: number): void
  /** Pages of receipts that could not be written yet. */
  waiting(pages: number): void
  /** Slots one drain found waiting. */
  drained(slots: number): void
  /** A question was answered, which took so long. */
  answered(seconds: number): void
  /** Monotonic seconds. */
  seconds(): number
}

/** The counters that are figures of the state: after each batch, and once after recovery, which may have been long ago. */
export function countState(counters: Float64Array, state: State): void {
  counters[MATCHER.sequence] = state.clock[CLOCK.SEQUENCE]!
  counters[MATCHER.sequenced_ms] = state.clock[CLOCK.TIME]!
  counters[MATCHER.fills] = state.clock[CLOCK.FILLS]!
  counters[MATCHER.live_orders] = state.scalars[SCALAR.ORDERS_LIVE]!
  counters[MATCHER.accounts] = state.scalars[SCALAR.ACCOUNTS]!
  counters[MATCHER.receipts] = state.scalars[SCALAR.RECEIPTS_COUNT]!
  counters[MATCHER.maintenance] = state.scalars[SCALAR.MAINTENANCE]!
}

/** The counter of each LiquidationStatus, ConditionalReason and TwapReason that has one. */
const OF_STATUS: readonly (number | undefined)[] = LIQUIDATION_STATUS_NAMES.map((name) =>
  (name === 'ORDERS_CANCELLED' ? undefined : MATCHER[`liquidations_${name.toLowerCase() as Lowercase<Counted>}`]))
type Counted = Exclude<(typeof LIQUIDATION_STATUS_NAMES)[number], 'ORDERS_CANCELLED'>
const OF_CONDITIONAL: Readonly<Record<number, number>> = {
  [ConditionalReason.TRIGGERED]: MATCHER.conditionals_fired, [ConditionalReason.FAILED]: MATCHER.conditionals_failed,
}
const OF_TWAP: Readonly<Record<number, number>> = {
  [TwapReason.SLICE]: MATCHER.twap_slices, [TwapReason.SKIPPED]: MATCHER.twap_slices_skipped,
}

export function createMeter(counters: Float64Array, io: Io): Meter {
  let started = 0
  let committed = 0
  let turned = io.seconds()
  const highest = (index: number, value: number): void => {
    if (value > counters[index]!) counters[index] = value
  }
  const count = (index: number | undefined): void => {
    if (index !== undefined) counters[index]!++
  }
  return {
    beat: () => {
      counters[MATCHER.heartbeat_ms] = io.now()
    },
    awake: () => {
      turned = io.seconds()
    },
    committing: () => {
      started = io.seconds()
    },
    committed: (bytes) => {
      committed = io.seconds()
      const seconds = committed - started
      counters[MATCHER.journal_bytes]! += bytes
      counters[MATCHER.commit_seconds]! += seconds
      highest(MATCHER.commit_seconds_max, seconds)
      let bucket = 0
      while (bucket < COMMIT_BUCKETS.length && seconds > COMMIT_BUCKETS[bucket]!) bucket++
      counters[COMMIT_HISTOGRAM + bucket]!++
      return seconds
    },
    applied: (state, commands) => {
      const seconds = io.seconds()
      counters[MATCHER.apply_seconds]! += seconds - committed
      counters[MATCHER.commands]! += commands
      counters[MATCHER.batches]!++
      highest(MATCHER.batch_max, commands)
      // A stall is a whole turn without the commit, which has its own figure: draining, applying, publishing, and being descheduled.
      highest(MATCHER.loop_stall_seconds_max, seconds - turned - (committed - started))
      turned = seconds
      countState(counters, state)
      counters[MATCHER.heartbeat_ms] = io.now()
    },
    refused: () => {
      counters[MATCHER.refusals]!++
    },
    liquidated: (status) => count(OF_STATUS[status]),
    waited: (what) => count(OF_CONDITIONAL[conditionalReasonOf(what)]),
    sliced: (what) => count(OF_TWAP[twapReasonOf(what)]),
    invalid: () => {
      counters[MATCHER.invalid_records]!++
    },
    timed: (commands) => {
      counters[MATCHER.timers]! += commands
    },
    seconds: () => io.seconds(),
    answered: (seconds) => {
      counters[MATCHER.answers]!++
      counters[MATCHER.answer_seconds]! += seconds
    },
    waiting: (pages) => {
      counters[MATCHER.receipt_pages_waiting] = pages
    },
    drained: (slots) => highest(MATCHER.ring_high_water, slots),
    published: (events) => {
      counters[MATCHER.events]! += events
    },
  }
}
