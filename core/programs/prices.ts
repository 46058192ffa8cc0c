/**
 * Index prices come as commands of lane 0, from a price feeder or an operator, so that replay has them as they came. Their time is the
 * sequenced one: when the source saw a price is kept for people, and decides nothing.
 *
 * A price far from the one before is more often a fault of a source than news: a step beyond the bound (margin/index_step.ts) is refused,
 * unless an operator who looked forces it. Around a stale index too: it is the first price behind an outage that liquidates, and one bad
 * tick must not. But then the market may have gone anywhere, so the third in a row is taken, if each came a second or more after the one
 * before and is within the band around it. So an outage ends by itself, two seconds later when prices moved far. What comes sooner counts
 * for nothing, one that contradicts begins anew, and one within the band of the index is taken at once. This memory is the only thing that
 * a refused price changes. The first price of a perpetual has none before it.
 */
import { PRICE_ANSWER } from '../layout/answers.ts'
import { PerpMode, PRICE_SOURCE_NAMES, SET_INDEX_PRICE_COMMAND } from '../layout/margin.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitMark, emitResult } from '../events/emit.ts'
import { rateSoFar } from '../margin/funding_rate.ts'
import { noteIndex } from '../margin/index_jump.ts'
import { indexStepPpm } from '../margin/index_step.ts'
import { isFresh, isPerpetual, setMark, smoothBasis } from '../margin/mark_price.ts'
import { isBehind, noteMark } from '../margin/pending_marks.ts'
import { PERP } from '../state/margin_rows.ts'
import { get, getF64, now, perpRow, set, setF64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { scheduleFunding } from './funding.ts'
import { beginFund } from './insurance.ts'
import { laneRefusal } from './policy.ts'

const P = SET_INDEX_PRICE_COMMAND.at

/** Prices in a row that agree about what a stale index is far from, and the least time between two of them, ms. */
const AGREEING = 3
const APART_MS = 1000

/**
 * The index price of a perpetual, and with it basis and mark. MARK, PRICE_ANSWER. NOT_FOUND: no such perpetual; VALIDATION_ERROR: no price
 * of 1 .. priceTicks - 1, or no such source; WRONG_PERP_MODE: it settles or is settled; PRICE_OUT_OF_BAND: see above; TRIGGERS_BEHIND: so
 * many marks before it still have to be looked at (margin/pending_marks.ts).
 */
export function setIndexPrice(state: State, command: Views, base: number): void {
  const pair = command.i32[base + P.pair]!
  const code = laneRefusal(command, base) || priceRefusal(state, command, base, pair)
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const perp = perpRow(state, pair)
  const before = get(state, perp, PERP.INDEX)
  if (before === 0) scheduleFunding(state, pair)
  beginFund(state)
  noteIndex(state, pair, before, command.i32[base + P.price]!, command.i32[base + P.force] !== 0)
  set(state, perp, PERP.INDEX, command.i32[base + P.price]!)
  forgetSuspects(state, perp)
  set(state, perp, PERP.SOURCE, command.i32[base + P.source]!)
  setF64(state, perp, PERP.INDEX_AT, now(state))
  setF64(state, perp, PERP.OBSERVED_AT, command.f64[(base + P.observedAt) >>> 1]!)
  smoothBasis(state, pair)
  setMark(state, pair)
  noteMark(state, pair)
  emitMark(state, pair, rateSoFar(state, pair))
  const at = emitResult(state, command, base, 0, -1, get(state, perp, PERP.MARK), before)
  state.outbox.i32[at + PRICE_ANSWER.at.pair] = pair
}

function priceRefusal(state: State, command: Views, base: number, pair: number): number {
  const price = command.i32[base + P.price]!
  if (!isPerpetual(state, pair)) return REFUSALS.NOT_FOUND.number
  if (price < 1 || price >= state.priceTicks || PRICE_SOURCE_NAMES[command.i32[base + P.source]!] === undefined) {
    return REFUSALS.VALIDATION_ERROR.number
  }
  const perp = perpRow(state, pair)
  if (get(state, perp, PERP.MODE) >= PerpMode.SETTLING) return REFUSALS.WRONG_PERP_MODE.number
  if (isBehind(state, pair)) return REFUSALS.TRIGGERS_BEHIND.number
  const before = get(state, perp, PERP.INDEX)
  if (command.i32[base + P.force] !== 0 || before === 0 || isNear(state, pair, before, price)) return 0
  return !isFresh(state, pair) && isConfirmed(state, pair, perp, price) ? 0 : REFUSALS.PRICE_OUT_OF_BAND.number
}

/** True within the band around a price. Both products are below 2^50: a price has 30 bits, a band 20. */
const isNear = (state: State, pair: number, around: number, price: number): boolean =>
  Math.abs(price - around) * 1_000_000 <= around * indexStepPpm(state, pair)

/** Counts a price that is far from a stale index; true: enough agree. */
function isConfirmed(state: State, pair: number, perp: number, price: number): boolean {
  const count = get(state, perp, PERP.SUSPECTS)
  const agrees = count > 0 && isNear(state, pair, get(state, perp, PERP.SUSPECT), price)
  if (agrees && now(state) - getF64(state, perp, PERP.SUSPECT_AT) < APART_MS) return false
  set(state, perp, PERP.SUSPECT, price)
  set(state, perp, PERP.SUSPECTS, agrees ? count + 1 : 1)
  setF64(state, perp, PERP.SUSPECT_AT, now(state))
  return agrees && count + 1 >= AGREEING
}

function forgetSuspects(state: State, perp: number): void {
  set(state, perp, PERP.SUSPECT, 0)
  set(state, perp, PERP.SUSPECTS, 0)
  setF64(state, perp, PERP.SUSPECT_AT, 0)
}
