/**
 * The fills of an order on arrival, and the legs that were made with it, found again in the event ring.
 *
 * A RESULT says what an order traded in all and not each fill. The FILL records are in the event ring before the answer is out: the events
 * of a batch are published first, its answers then (core/sequencer/loop.ts). So who has the answer finds the fills by the sequence of the
 * command. The matcher copies nothing for it, no reply ring needs room for it, and an order that traded with nobody is never looked for.
 *
 * Every event has the sequence of its command in the same word, and in the ring sequences never fall. So the search steps back from the
 * newest record, each step twice the one before, and then halves what is left: a few looks for an answer that just came.
 *
 * The writer may change words while they are looked at. That leads a search astray and never makes an answer wrong, because what was found
 * counts only if it is whole: it begins with fill 0, none is missing, and the writer did not come as far as its first record. Anything else
 * is `null`: the ring went on over it, as it does before an old answer is repeated.
 */
import { CONDITIONAL_ORDER, conditionalReasonOf, conditionOf, ConditionalReason } from '../../core/layout/conditional.ts'
import { EventType, eventTypeOf, FILL } from '../../core/layout/event.ts'
import { RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { isOverrun, writtenTo, type Broadcast } from '../../core/ring/broadcast.ts'

/** Fills of one order that are read at most: the first. */
export const FILLS_MAX = 20
/** Events of a command that are looked through for them at most; orders whose time was over may have ended between. */
const LOOKED_THROUGH_MAX = 4096

/** A fill as its taker sees it. */
export interface ArrivalFill {
  /** Number of the fill within its command. */
  readonly index: number
  /** Ticks. */
  readonly price: number
  readonly lots: number
  /** Quote atoms; negative is a rebate. */
  readonly fee: bigint
}

export interface ArrivalFills {
  readonly ring: Broadcast
  readonly records: Views
}

export const createArrivalFills = (ring: Broadcast): ArrivalFills =>
  ({ ring, records: viewsOf(ring.buffer, ring.words.byteOffset) })

/**
 * The first {@link FILLS_MAX} fills, oldest first, of the order that the command `sequence` placed and that had `trades` of them then;
 * `null` when they are not in the ring any more.
 */
export function readArrivalFills(fills: ArrivalFills, sequence: number, trades: number): ArrivalFill[] | null {
  const { ring, records } = fills
  const written = writtenTo(ring)
  const first = firstOf(fills, sequence, written)
  const last = Math.min(written, first + LOOKED_THROUGH_MAX)
  const wanted = Math.min(trades, FILLS_MAX)
  const found: ArrivalFill[] = []
  for (let position = first; position < last && found.length < wanted; position++) {
    const base = placeOf(ring, position)
    if (sequenceAt(fills, position) !== sequence) break
    if (eventTypeOf(records.u32[base]!) !== EventType.FILL) continue
    const index = records.i32[base + FILL.at.index]!
    if (index !== found.length) break
    found.push({
      index, price: records.i32[base + FILL.at.price]!, lots: records.i32[base + FILL.at.lots]!,
      fee: records.i64[(base + FILL.at.takerFee) >>> 1]!,
    })
  }
  return found.length === wanted && !isOverrun(ring, first) ? found : null
}

/**
 * Bits 1 << ConditionType of the conditional orders that the command `sequence` made; `null` when its events are not in the ring any more.
 */
export function readMadeLegs(fills: ArrivalFills, sequence: number): number | null {
  const { ring, records } = fills
  const written = writtenTo(ring)
  const first = firstOf(fills, sequence, written)
  const last = Math.min(written, first + LOOKED_THROUGH_MAX)
  let made = 0
  let position = first
  for (; position < last && sequenceAt(fills, position) === sequence; position++) {
    const base = placeOf(ring, position)
    if (eventTypeOf(records.u32[base]!) !== EventType.CONDITIONAL) continue
    if (records.f64[(base + CONDITIONAL_ORDER.at.createdSequence) >>> 1] !== sequence) continue
    const what = records.i32[base + CONDITIONAL_ORDER.at.what]!
    if (conditionalReasonOf(what) === ConditionalReason.CREATED) made |= 1 << conditionOf(what)
  }
  // All of the command's events were seen: something of it is there, nothing before it is gone, and it ended within what was looked at.
  const whole = position > first && (first === 0 || first > written - ring.capacity) && position < first + LOOKED_THROUGH_MAX
  return whole && !isOverrun(ring, first) ? made : null
}

/** Word of the record at this position. */
const placeOf = ({ capacity }: Broadcast, position: number): number => (position % capacity) * RECORD_WORDS

/** Sequence of the command that the record at this position is of. */
const sequenceAt = ({ ring, records }: ArrivalFills, position: number): number =>
  records.f64[(placeOf(ring, position) + FILL.at.sequence) >>> 1]!

/** Position of the first record of the ring, before `written`, whose sequence is this one or above. */
function firstOf(fills: ArrivalFills, sequence: number, written: number): number {
  const oldest = Math.max(0, written - fills.ring.capacity)
  let above = written
  let below = written - 1
  for (let step = 1; below >= oldest && sequenceAt(fills, below) >= sequence; step *= 2) {
    above = below
    below = Math.max(oldest, below - step)
    if (above === oldest) return oldest
  }
  // Of the records between, those from `above` on are of this command or later ones, `below` is of one before.
  while (above - below > 1) {
    const middle = below + Math.floor((above - below) / 2)
    if (sequenceAt(fills, middle) >= sequence) above = middle
    else below = middle
  }
  return above
}
